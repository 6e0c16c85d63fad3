"""The compact integer programme of the placement problem, for any solver: sets, parameters, sparse arrays."""

from exact.compact.arrays import CompactArrays, compact_arrays
from exact.compact.problem import MODEL, CompactProblem, Formulation, compact_problem
from exact.compact.sets import CompactSets, compact_sets

__all__ = [
    "MODEL",
    "CompactArrays",
    "CompactProblem",
    "CompactSets",
    "Formulation",
    "compact_arrays",
    "compact_problem",
    "compact_sets",
]
