"""Classical problems as placement problems, and planted instances: optima known at any size."""

from instances.reductions.facility_location import FacilityLocation, UflProblem, facility_location
from instances.reductions.graphs import GRAPHS, Cut, independence, maximum_cut, named_graph
from instances.reductions.independent_set import IndependentSet, independent_set
from instances.reductions.max_cut import MaxCut, max_cut
from instances.reductions.packing import BinPacking, BinPackingProblem, ThreePartition, bin_packing
from instances.reductions.parity import ParityBlocked
from instances.reductions.planted import PlantedOptimum
from instances.reductions.set_packing import SetPacking, set_packing

__all__ = [
    "GRAPHS",
    "BinPacking",
    "BinPackingProblem",
    "Cut",
    "FacilityLocation",
    "IndependentSet",
    "MaxCut",
    "ParityBlocked",
    "PlantedOptimum",
    "SetPacking",
    "ThreePartition",
    "UflProblem",
    "bin_packing",
    "facility_location",
    "independence",
    "independent_set",
    "max_cut",
    "maximum_cut",
    "named_graph",
    "set_packing",
]
