"""The paper's planner: greedy, refinement, baselines, multi-start, and the table of methods."""

from prefixplace.planner.methods import METHODS, Method, solve

__all__ = ["METHODS", "Method", "solve"]
