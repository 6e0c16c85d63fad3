"""Readers of literature formats; the files stay where users have them.

Each reader gives the original problem; :func:`import_instance` turns it into a placement problem.
"""

from instances.importers.bin_packing import read_bin_packing
from instances.importers.dispatch import KINDS, import_instance
from instances.importers.facility_location import read_facility_location
from instances.importers.graphs import read_dimacs, read_rudy

__all__ = [
    "KINDS",
    "import_instance",
    "read_bin_packing",
    "read_dimacs",
    "read_facility_location",
    "read_rudy",
]
