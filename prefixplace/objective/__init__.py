"""The two objectives: milliseconds saved per epoch against recomputing everything."""

from prefixplace.objective.pairwise import Pairwise
from prefixplace.objective.requester import RequesterSide
from prefixplace.objective.state import State

__all__ = ["Objective", "Pairwise", "RequesterSide", "State"]

Objective = RequesterSide | Pairwise
