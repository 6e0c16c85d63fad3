"""The compact integer programme of an instance as an MPS or LP file, for any solver."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from exact.backends.highs import new_highs, pass_model
from exact.compact import MODEL, CompactProblem, compact_arrays, compact_problem
from prefixplace.errors import InputError
from prefixplace.instance import Instance

__all__ = ["export_programme", "variable_names"]


def export_programme(instance: Instance, path: Path, form: Literal["mps", "lp"]) -> tuple[int, int]:
    """Write max Σ a·x + Σ Δ·y (or Σ s·z) with its constraints, in ms and unscaled; HiGHS does the writing.

    Variables are named by worker number and chunk number of the instance's file: ``x_m_b`` (m keeps b, binary),
    ``y_b`` (somebody keeps b), ``z_r_h_b`` (r is served b by h). Chunks that nobody wants have none.

    Returns
    -------
    (int, int)
        Rows and columns written.

    Raises
    ------
    InputError
        When the path cannot be written, or nothing in the instance is worth keeping.
    """
    problem = compact_problem(instance, MODEL)
    if problem.num_variables == 0:
        raise InputError("nothing in this instance is worth keeping: the programme has no variables")
    arrays = compact_arrays(problem)
    highs = new_highs()
    pass_model(highs, arrays, 1.0)
    for column, name in enumerate(variable_names(problem)):
        highs.passColName(column, name)
    row = 0
    for family, count in arrays.row_family:
        for number in range(count):
            highs.passRowName(row + number, f"{family}_{number}")
        row += count
    # HiGHS chooses the form by the suffix and reports a failure only as a code
    draft = path.with_name(f".{path.name}.part.{form}")
    try:
        draft.touch()
        highs.writeModel(str(draft))
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    return arrays.num_rows, problem.num_variables


def variable_names(problem: CompactProblem) -> list[str]:
    """Names of all variables in the order of a solution vector."""
    chunk = problem.instance.tree.origin[problem.reduction.last]
    keeps = zip(problem.holder.tolist(), chunk[problem.chunk].tolist(), strict=True)
    links = zip(
        problem.link_requester.tolist(),
        problem.link_holder.tolist(),
        chunk[problem.link_chunk].tolist(),
        strict=True,
    )
    return [
        *(f"x_{m}_{b}" for m, b in keeps),
        *(f"y_{b}" for b in chunk[problem.covered].tolist()),
        *(f"z_{r}_{h}_{b}" for r, h, b in links),
    ]
