"""Replay of a search over holder states, step by step; see :mod:`exact.certificates.states` for what the steps mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exact.certificates.enumeration import enumerate_all
from exact.certificates.evaluation import ExactInstance
from exact.certificates.states import LARGEST, Branch, Malformed, StateBounds

__all__ = ["replay"]


def replay(
    data: ExactInstance,
    denominator: int,
    quantum: int,
    floor: int,
    search: Sequence[Any],
    position: Sequence[int],
) -> int:
    """Follow every step of a search; the bound (times the denominator of `data`) that it proves.

    Parameters
    ----------
    data : ExactInstance
        Over a common denominator that is a multiple of `denominator`.
    denominator, quantum, floor : int
        The claim is that no plan is worth more than floor/denominator when values are rounded to multiples of
        quantum/denominator.
    search : list
        The steps in preorder, see :class:`~exact.certificates.certificate.Certificate`.
    position : sequence of int
        Preorder position of each chunk of the file.

    Raises
    ------
    Malformed
        When a step is malformed, or a branch is not closed where the search says so.
    """
    run = StateBounds(data, denominator, quantum, floor)
    n, workers = len(data.parent), len(data.budgets)
    largest = 2 * run.top  # no more is ever needed, and rounding may have moved the largest value

    def numbers(given: Any, length: int, what: str) -> list[int]:
        if not isinstance(given, list) or len(given) != length:
            raise Malformed(f"{what} is not a list of {length} entries")
        for entry in given:
            # a multiplier above all values together proves nothing, and might overflow
            if type(entry) is not int or not 0 <= entry <= largest:
                raise Malformed(f"{what} holds {entry!r}, which is not a whole number from 0 to {largest}")
        if sum(given) >= LARGEST:
            raise Malformed(f"{what} add up to more than {LARGEST}")
        return given

    def budget_prices(given: Any) -> list[int]:
        prices = numbers(given, workers, "prices")
        if sum(p * k for p, k in zip(prices, run.budgets, strict=True)) >= LARGEST:
            raise Malformed(f"budgets at the given prices cost more than {LARGEST}")
        return prices

    def in_preorder(given: Any, what: str) -> list[int]:
        row = numbers(given, n, what)
        result = [0] * n
        for chunk, entry in enumerate(row):
            result[position[chunk]] = entry
        return result

    def rows(given: Any) -> list[list[int]]:
        if not isinstance(given, list) or len(given) != workers:
            raise Malformed(f"joint multipliers are not {workers} lists")
        return [in_preorder(row, "a row of joint multipliers") for row in given]

    branch: Branch | None = None if n == 0 or run.top <= floor else run.start()
    waiting: list[Branch | None] = []  # the second halves of splits
    ended = False
    for step in search:
        if ended:
            raise Malformed("the search goes on after its last branch is closed")
        if not isinstance(step, list) or not step or not isinstance(step[0], str):
            raise Malformed(f"{step!r} is no step")
        kind, *arguments = step
        if (kind, len(arguments)) not in _STEPS:
            raise Malformed(f"{kind!r} with {len(arguments)} arguments is no step")
        if kind == "closed":
            if branch is not None:
                raise Malformed("a branch is said to be closed, but has states left")
            ended = not waiting
            branch = waiting.pop() if waiting else None
        elif kind in ("split", "cover"):
            limits = (workers, n) if kind == "split" else (n,)
            if not all(type(a) is int and 0 <= a < limit for a, limit in zip(arguments, limits, strict=True)):
                raise Malformed(f"{step!r} names a worker or chunk that does not exist")
            chunk = position[arguments[-1]]
            parts: tuple[Branch | None, Branch | None] = (None, None)
            if branch is not None:
                parts = (
                    run.split(branch, arguments[0], chunk) if kind == "split" else run.cover(branch, chunk)
                )
            branch = parts[0]
            waiting.append(parts[1])
        elif branch is None:
            continue  # more than was needed
        elif kind == "prices":
            branch = run.by_prices(branch, budget_prices(arguments[0]))
        elif kind == "joint":
            branch = run.by_joint(branch, rows(arguments[0]))
        elif kind == "coverage":
            prices = None if arguments[1] is None else budget_prices(arguments[1])
            branch = run.by_coverage(branch, in_preorder(arguments[0], "coverage multipliers"), prices)
        else:
            multipliers = None if arguments[2] is None else rows(arguments[2])
            vectors = [budget_prices(v) for v in _listed(arguments[1])]
            _exhaust(run, branch, numbers(arguments[0], n, "order"), position, vectors, multipliers)
            branch = None
    if not ended:
        raise Malformed("the search ends before all its branches are closed")
    return (floor - floor % quantum) * (data.denominator // denominator) + run.excess


def _exhaust(
    run: StateBounds,
    branch: Branch,
    chunks: list[int],
    position: Sequence[int],
    vectors: list[list[int]],
    multipliers: list[list[int]] | None,
) -> None:
    """Enumerate a branch; :class:`Malformed` unless nothing in it is worth more than the floor."""
    if sorted(chunks) != list(range(len(chunks))):
        raise Malformed("an order does not name each chunk once")
    twins = [members for members in branch.classes if len(members) > 1]
    for members in twins:
        for m in members[1:]:
            alike = all(v[m] == v[members[0]] for v in vectors)
            if not alike or (multipliers is not None and multipliers[m] != multipliers[members[0]]):
                raise Malformed(f"interchangeable workers {members[0]} and {m} have different multipliers")
    order = [position[chunk] for chunk in chunks]
    try:
        left = enumerate_all(
            run.parent, run.states(branch), run.budgets, order, vectors, multipliers, twins, run.floor
        )
    except ValueError as error:
        raise Malformed(str(error)) from None
    if left:
        raise Malformed("an enumeration leaves plans that may be worth more than the floor")


def _listed(given: Any) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise Malformed("an enumeration needs at least one list of prices")
    return given


_STEPS = {
    ("closed", 0),
    ("prices", 1),
    ("joint", 1),
    ("coverage", 2),
    ("split", 2),
    ("cover", 1),
    ("enumerate", 3),
}
