"""The library: a small versioned set of instances with the best bounds known, and what proves them."""

from instances.library.checking import RowCheck, check_row
from instances.library.rows import PACKAGED, Library, Row
from instances.library.updating import update_row

__all__ = ["PACKAGED", "Library", "Row", "RowCheck", "check_row", "update_row"]
