"""The compact programme as a file for any other solver, and its answer back as a placement."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from exact.backend import closed_part
from exact.compact import MODEL, CompactArrays, CompactProblem, Formulation, compact_arrays, compact_problem
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement

__all__ = ["FORMATS", "read_solution", "write_model"]

FORMATS = ("mps", "lp")

_VALUE = re.compile(r"\b(x_\d+_\d+)(?:[ \t=]+|\"[^\n>]*?\bvalue=\")([-+]?[\d.]+(?:[eE][-+]?\d+)?)")

_LINE = 16  # terms per line of an LP file, well below the 510 characters that readers must accept


def write_model(
    instance: Instance,
    path: str | os.PathLike[str],
    *,
    formulation: Formulation | None = None,
    minimise: bool = False,
) -> None:
    """Write the compact programme of `instance`; the suffix ``.mps`` or ``.lp`` chooses the format.

    It is a maximisation in ms per epoch, and says so (``OBJSENSE MAX``, ``Maximize``). Variables are named
    ``x_worker_chunk``, ``y_chunk`` and ``z_requester_holder_chunk`` with the chunk numbers of the instance's file
    (of a merged run: its last chunk). Coefficients are written with all their digits.

    Parameters
    ----------
    instance : Instance
    path : path
    formulation : Formulation, optional
        :data:`exact.compact.MODEL`, the programme as it is defined, when left out.
    minimise : bool, default False
        Write the minimisation of the negated objective instead, for readers that ignore ``OBJSENSE`` and would
        answer a maximisation with the empty placement: CBC 2.10 does unless told ``-max``.

    Raises
    ------
    InputError
        For another suffix, a file that cannot be written, or an instance in which nothing is worth keeping.
    """
    file = Path(path)
    if file.suffix.lower().lstrip(".") not in FORMATS:
        raise InputError(f"{file}: a model is written to a name that ends in .mps or .lp")
    problem = compact_problem(instance, formulation or MODEL)
    if problem.num_variables == 0:
        raise InputError("nothing in this instance is worth keeping: the programme has no variables")
    lines = _mps if file.suffix.lower() == ".mps" else _lp
    try:
        with file.open("w", encoding="ascii") as stream:
            stream.writelines(line + "\n" for line in lines(problem, compact_arrays(problem), minimise))
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from None


def read_solution(
    instance: Instance, path: str | os.PathLike[str], *, formulation: Formulation | None = None
) -> Placement:
    """The placement in a solution file of a model that :func:`write_model` wrote with the same `formulation`.

    Any text is read in which a name ``x_worker_chunk`` is followed by its value, as the next word or as the attribute
    ``value="…"``: the solution files of HiGHS, CBC, SCIP, Gurobi and CPLEX. Names that are missing are 0.

    Raises
    ------
    InputError
        When there is no such line, a name does not belong to the instance, or the placement breaks a budget.
    """
    file = Path(path)
    problem = compact_problem(instance, formulation or MODEL)
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    number = {name: i for i, name in enumerate(_names(problem))}
    solution = np.zeros(problem.num_variables)
    found = 0
    for name, value in _VALUE.findall(text):
        if name not in number:
            raise InputError(f"{file}: {name} is no variable of this instance")
        solution[number[name]] = float(value)
        found += 1
    if not found and problem.holder.size:
        raise InputError(f"{file}: holds no value of any variable x_worker_chunk")
    mask = closed_part(instance, problem.placement_values(solution))
    try:
        return Placement(instance.tree, mask, instance.budgets)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _names(problem: CompactProblem) -> list[str]:
    chunk = problem.instance.tree.origin[problem.reduction.last].tolist()
    x = [f"x_{m}_{chunk[b]}" for m, b in zip(problem.holder.tolist(), problem.chunk.tolist(), strict=True)]
    y = [f"y_{chunk[b]}" for b in problem.covered.tolist()]
    links = zip(
        problem.link_requester.tolist(),
        problem.link_holder.tolist(),
        problem.link_chunk.tolist(),
        strict=True,
    )
    return x + y + [f"z_{r}_{h}_{chunk[b]}" for r, h, b in links]


def _rows(arrays: CompactArrays) -> list[str]:
    return [f"{family}_{i}" for family, count in arrays.row_family for i in range(count)]


def _objective(arrays: CompactArrays, minimise: bool) -> list[float]:
    return [-cost for cost in arrays.cost.tolist()] if minimise else arrays.cost.tolist()


def _number(value: float) -> str:
    return str(int(value)) if value == math.trunc(value) and abs(value) < 2**53 else repr(value)


def _mps(problem: CompactProblem, arrays: CompactArrays, minimise: bool) -> Iterator[str]:
    """Free-format MPS, column by column."""
    names, rows = _names(problem), _rows(arrays)
    yield from ("NAME compact", "OBJSENSE", f"    {'MIN' if minimise else 'MAX'}", "ROWS", " N saving")
    yield from (f" L {row}" for row in rows)
    yield from ("COLUMNS", " marker 'MARKER' 'INTORG'")
    row_of = np.repeat(np.arange(arrays.num_rows), np.diff(arrays.start))
    order = np.argsort(arrays.index, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(arrays.index, minlength=len(names))))).tolist()
    row, value = row_of[order].tolist(), arrays.value[order].tolist()
    for column, cost in enumerate(_objective(arrays, minimise)):
        if column == problem.holder.size:
            yield " marker 'MARKER' 'INTEND'"
        yield f" {names[column]} saving {_number(cost)}"
        for i in range(first[column], first[column + 1]):
            yield f" {names[column]} {rows[row[i]]} {_number(value[i])}"
    if problem.holder.size == len(names):
        yield " marker 'MARKER' 'INTEND'"
    yield "RHS"
    yield from (
        f" rhs {r} {_number(limit)}"
        for r, limit in zip(rows, arrays.row_upper.tolist(), strict=True)
        if limit
    )
    yield "BOUNDS"
    yield from (f" UP bound {name} 1" for name in names)
    yield "ENDATA"


def _lp(problem: CompactProblem, arrays: CompactArrays, minimise: bool) -> Iterator[str]:
    """LP format, row by row."""
    names, rows = _names(problem), _rows(arrays)
    yield "Minimize" if minimise else "Maximize"
    yield from _terms("saving", list(zip(names, _objective(arrays, minimise), strict=True)), "")
    yield "Subject To"
    start, index, value = arrays.start.tolist(), arrays.index.tolist(), arrays.value.tolist()
    for i, (row, limit) in enumerate(zip(rows, arrays.row_upper.tolist(), strict=True)):
        terms = [(names[index[e]], value[e]) for e in range(start[i], start[i + 1])]
        if not terms:  # a worker that keeps nothing in any case
            continue
        yield from _terms(row, terms, f" <= {_number(limit)}")
    yield "Bounds"
    yield from (f" 0 <= {name} <= 1" for name in names[problem.holder.size :])
    yield "Binary"
    yield from (f" {name}" for name in names[: problem.holder.size])
    yield "End"


def _terms(row: str, terms: list[tuple[str, float]], end: str) -> Iterator[str]:
    """One row: its terms, a few per line, and its end."""
    written = [f"{'-' if value < 0 else '+'} {_number(abs(value))} {name}" for name, value in terms]
    head = f" {row}:"
    for i in range(0, len(written), _LINE):
        last = i + _LINE >= len(written)
        yield f"{head} {' '.join(written[i : i + _LINE])}{end if last else ''}"
        head = "   "
