"""Uncapacitated facility location as source-dependent placement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.checks import require
from instances.construction import Construction, Drawn, from_costs
from instances.known import Known
from prefixplace.errors import InputError

__all__ = ["FacilityLocation", "UflProblem", "enumerate_facilities", "facility_location"]

ENUMERATION_LIMIT = 16
"""Facilities up to which :func:`enumerate_facilities` is asked for."""


@dataclass(frozen=True, eq=False)
class UflProblem:
    """Open facilities and connect every client to one, at least total cost.

    Parameters
    ----------
    opening : float array, shape (F,)
        Cost of opening each facility, ≥ 0.
    connection : float array, shape (F, C)
        Cost of serving each client from each facility, ≥ 0.
    name : str
    """

    opening: NDArray[np.float64]
    connection: NDArray[np.float64]
    name: str = ""

    def __init__(self, opening: ArrayLike, connection: ArrayLike, name: str = "") -> None:
        costs = {"opening": np.array(opening, np.float64), "connection": np.array(connection, np.float64)}
        if costs["opening"].ndim != 1 or costs["opening"].size == 0 or costs["connection"].ndim != 2:
            raise InputError(f"facility location {name!r}: needs one opening cost and one row per facility")
        if costs["connection"].shape[1] == 0:
            raise InputError(f"facility location {name!r}: needs at least one client")
        if len(costs["connection"]) != costs["opening"].size:
            raise InputError(
                f"facility location {name!r}: {costs['opening'].size} opening costs, "
                f"{len(costs['connection'])} rows of connection costs"
            )
        for field, array in costs.items():
            if not (np.isfinite(array) & (array >= 0)).all():
                place = np.argwhere(~(np.isfinite(array) & (array >= 0)))[0].tolist()
                raise InputError(f"facility location {name!r}: {field}{place} must be finite and ≥ 0")
            array.setflags(write=False)
            object.__setattr__(self, field, array)
        object.__setattr__(self, "name", name)

    def cost(self, opened: list[int]) -> Fraction:
        """Exact cost of opening `opened` (at least one) and connecting each client to the cheapest of them."""
        total = sum((Fraction(float(self.opening[i])) for i in opened), Fraction(0))
        return total + sum((Fraction(float(c)) for c in self.connection[opened].min(axis=0)), Fraction(0))


def enumerate_facilities(problem: UflProblem) -> list[int]:
    """A cheapest set of facilities by enumeration of all 2^F − 1."""
    facilities = range(problem.opening.size)
    sets = ([i for i in facilities if code >> i & 1] for code in range(1, 1 << len(facilities)))
    return min(
        sets, key=lambda s: (float(problem.opening[s].sum() + problem.connection[s].min(axis=0).sum()), s)
    )


def facility_location(
    problem: UflProblem,
    *,
    minimum: Fraction | int | None = None,
    opened: list[int] | None = None,
    **header: Any,
) -> Drawn:
    """The pairwise placement problem of facility location: OPT = Σ f + Σ C_j − UFL.

    A holder with budget 1 for every facility keeps either the common chunk (the facility is open) or a private
    chunk worth its opening cost to it. Client j is a requester that keeps nothing, wants the common chunk once,
    recomputes it at C_j and fetches it from facility i at its connection cost. C_j is the dearest connection of
    j; the first client's is raised by the cheapest opening cost, so that opening nothing is never better than
    opening one.

    Parameters
    ----------
    problem : UflProblem
    minimum : Fraction or int, optional
        The least cost, where the caller knows it.
    opened : list of int, optional
        A cheapest set of facilities; gives the minimum and a witness.
    header
        ``name`` and ``meta`` of the instance; the name is the problem's when left out.

    Raises
    ------
    InputError
        When `opened` is empty, repeats a facility or names one that does not exist.
    """
    facilities, clients = problem.connection.shape
    recompute = problem.connection.max(axis=0).copy()
    recompute[0] += problem.opening.min()
    workers = facilities + clients
    demand = np.zeros((workers, facilities + 1))
    demand[np.arange(facilities), 1 + np.arange(facilities)] = problem.opening
    demand[facilities:, 0] = 1
    cost = np.ones((workers, facilities + 1))
    cost[facilities:, 0] = recompute
    fetch = np.full((workers, workers, facilities + 1), np.inf)
    fetch[facilities:, :facilities, 0] = problem.connection.T
    known, witness = Known(), None
    if opened is not None:
        if not opened or not all(0 <= i < facilities for i in opened) or len(set(opened)) < len(opened):
            raise InputError(f"facilities {opened} to open are not distinct numbers below {facilities}")
        minimum = problem.cost(opened)
        inside = set(opened)
        witness = [[0] if i in inside else [1 + i] for i in range(facilities)] + [[] for _ in range(clients)]
    if minimum is not None:
        constant = sum((Fraction(float(x)) for x in (*problem.opening, *recompute)), Fraction(0))
        known = Known(
            opt=constant - minimum,
            reasons={"opt": f"Σ f + Σ C_j − UFL with Σ f + Σ C_j = {constant} and UFL = {minimum}"},
        )
    header.setdefault("name", problem.name)
    instance = from_costs(
        [-1] * (facilities + 1),
        demand=demand,
        recompute=cost,
        fetch=fetch,
        budgets=[1] * facilities + [0] * clients,
        known=known,
        **header,
    )
    return Drawn(instance, witness)


@dataclass(frozen=True, kw_only=True)
class FacilityLocation(Construction):
    """Pairwise uncapacitated facility location: OPT = Σ f + Σ C_j − UFL.

    Random whole costs. The least cost is enumerated for at most 16 facilities, and not stated above.

    Parameters
    ----------
    facilities, clients : int
        ≥ 1.
    largest : int
        Connection costs are uniform in 0 … largest ≥ 1.
    opening : int
        Opening costs are uniform in opening … 2·opening; ≥ 0.
    """

    facilities: int = 6
    clients: int = 12
    largest: int = 20
    opening: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("facilities", 1), ("clients", 1), ("largest", 1), ("opening", 0)):
            require(self, getattr(self, name) >= least, f"{name} >= {least}")

    def draw(self, seed: int = 0) -> Drawn:
        """Costs independent and uniform."""
        rng = np.random.default_rng(seed)
        opening = rng.integers(self.opening, 2 * self.opening, self.facilities, endpoint=True)
        connection = rng.integers(self.largest, size=(self.facilities, self.clients), endpoint=True)
        problem = UflProblem(opening, connection)
        opened = enumerate_facilities(problem) if self.facilities <= ENUMERATION_LIMIT else None
        return facility_location(problem, opened=opened, **self._header(seed))
