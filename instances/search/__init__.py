"""Search for hard instances: factor-revealing LPs, adversarial ascent, MIP hardness."""

from instances.search.realism import LEVELS
from instances.search.records import Record
from instances.search.run import SearchParams, SearchProgress, search
from instances.search.targets import TARGETS
from instances.search.verify import exact_ratio

__all__ = ["LEVELS", "TARGETS", "Record", "SearchParams", "SearchProgress", "exact_ratio", "search"]
