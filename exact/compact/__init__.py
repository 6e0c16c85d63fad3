"""The compact integer programme of the placement problem, for any solver: sets, parameters, sparse arrays."""

from exact.compact.arrays import CompactArrays, compact_arrays
from exact.compact.problem import MODEL, CompactProblem, Formulation, compact_problem

__all__ = ["MODEL", "CompactArrays", "CompactProblem", "Formulation", "compact_arrays", "compact_problem"]
