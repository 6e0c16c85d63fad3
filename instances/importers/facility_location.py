"""Uncapacitated facility location files of the OR-Library and of UflLib."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np

from instances.importers.text import PathLike, Tokens, fail, lines_of
from instances.reductions.facility_location import UflProblem

__all__ = ["read_facility_location"]


def read_facility_location(path: PathLike) -> UflProblem:
    """Read a facility location file in the OR-Library (``cap``) or the UflLib simple format.

    * OR-Library: ``facilities clients``, then for each facility ``capacity opening-cost``, then for each client
      its demand and the cost of serving it from each facility. Capacities (also the word ``capacity``) and
      demands are read and not used: the problem is uncapacitated.
    * UflLib: ``FILE: name``, ``facilities clients 0``, then for each facility its number, opening cost and cost of
      serving each client. Files of the same layout without the ``FILE:`` line are recognised by the third
      number in the first line.

    Raises
    ------
    InputError
        Naming file and line of whatever does not fit: too few or too many numbers, a negative cost.
    """
    rows = lines_of(path)
    first = next(rows, None)
    if first is None:
        raise fail(path, 1, "the file is empty")
    name = Path(path).name.removesuffix(".gz")
    if first[1][0].upper().startswith("FILE:"):
        first = next(rows, None)
        if first is None:
            raise fail(path, 1, "the file ends after its name")
        simple = True
    else:
        simple = len(first[1]) == 3
    tokens = Tokens(path, chain([first], rows))
    facilities = tokens.whole("the number of facilities", 1)
    clients = tokens.whole("the number of clients", 1)
    opening, connection = np.empty(facilities), np.empty((facilities, clients))
    if simple:
        tokens.number("the third number of the first line")
        for i in range(facilities):
            tokens.word(f"the number of facility {i}")
            opening[i] = _cost(tokens, f"the opening cost of facility {i}")
            for j in range(clients):
                connection[i, j] = _cost(tokens, f"the cost of client {j} at facility {i}")
    else:
        for i in range(facilities):
            tokens.word(f"the capacity of facility {i}")
            opening[i] = _cost(tokens, f"the opening cost of facility {i}")
        for j in range(clients):
            tokens.number(f"the demand of client {j}")
            for i in range(facilities):
                connection[i, j] = _cost(tokens, f"the cost of client {j} at facility {i}")
    tokens.end()
    return UflProblem(opening, connection, name)


def _cost(tokens: Tokens, what: str) -> float:
    value = tokens.number(what)
    if value < 0:
        raise fail(tokens.path, tokens.line, f"{what} is {value:g}, must be ≥ 0")
    return value
