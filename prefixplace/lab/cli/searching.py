"""``prefixplace search …``: hard instances from nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, Seed, facts, print_json, show

__all__ = ["search"]

_HARDNESS, _TABLE = "mip-nodes", "table"


def search(
    target: str,
    /,
    *,
    realism: Annotated[str | None, Parameter(help="any, identical, requests or served.")] = None,
    workers: Annotated[int | None, Parameter(help="Number of workers M.")] = None,
    chunks: Annotated[int | None, Parameter(help="Largest forest.")] = None,
    size: Annotated[int | None, Parameter(help="mip-nodes: n·M of the instances.")] = None,
    node_limit: Annotated[int | None, Parameter(help="mip-nodes: nodes that HiGHS may use.")] = None,
    seed: Seed = 0,
    restarts: Annotated[
        int | None, Parameter(help="Stop when so many are done, earlier ones included.")
    ] = None,
    time_limit: Annotated[
        float | None, Parameter(name="--time-limit", help="Seconds of this session.")
    ] = None,
    folder: Annotated[
        Path | None, Parameter(help="Where record and state are kept; a stopped search goes on from there.")
    ] = None,
    json: Json = False,
) -> int:
    """Search for instances that make a target as small as possible; Ctrl-C keeps the record.

    Methods against the optimum: greedy, refined, all-orders, order-starts, multi-start. Relaxations:
    configuration-gap, compact-gap. HiGHS: mip-nodes (with --size, --node-limit). All of them at every realism level:
    table. Restart number i depends on the seed and i alone. Without a limit, 60 seconds (a table: 40 restarts a cell).

    ```
    prefixplace search greedy
    prefixplace search configuration-gap --time-limit 120 --folder records/gap
    prefixplace search order-starts --realism identical --chunks 6
    prefixplace search table --restarts 40 --folder records
    ```

    Parameters
    ----------
    target
        What to make small.
    """
    from instances.search import TARGETS
    from prefixplace import InputError

    if target not in (*TARGETS, _HARDNESS, _TABLE):
        known = ", ".join((*TARGETS, _HARDNESS, _TABLE))
        raise InputError(f"unknown search target {target!r}; known: {known}")
    given = {"realism": realism, "workers": workers, "chunks": chunks, "size": size, "nodes": node_limit}
    only = {_HARDNESS: ("workers", "size", "nodes"), _TABLE: ("workers", "chunks")}
    allowed = only.get(target, ("realism", "workers", "chunks"))
    for name, value in given.items():
        if value is not None and name not in allowed:
            option = "node-limit" if name == "nodes" else name
            raise InputError(f"--{option} does not belong to the search target {target!r}")
    fields = {name: value for name, value in given.items() if value is not None}
    if target == _TABLE:
        if time_limit is not None:
            raise InputError("a table is limited by --restarts, so that its cells are comparable")
        return _table(fields, seed, 40 if restarts is None else restarts, folder, json)
    if restarts is None and time_limit is None:
        time_limit = 60.0
    run = _hardness if target == _HARDNESS else _worst_case
    document = run(target, fields, seed, restarts, time_limit, folder)
    if json:
        print_json(document)
    else:
        show(facts(f"search {target}", {name: str(value) for name, value in document.items()}))
    return int(document["record"] is None)


def _worst_case(
    target: str,
    fields: dict[str, Any],
    seed: int,
    restarts: int | None,
    seconds: float | None,
    folder: Path | None,
) -> dict[str, Any]:
    from instances.search import TARGETS, SearchParams, SearchProgress
    from instances.search import search as run
    from prefixplace.lab.progress import activity

    done = 0
    with activity(restarts or 0, shown=True) as status:

        def report(state: SearchProgress) -> None:
            nonlocal done
            done = state.restarts
            found = "nothing yet" if state.record is None else f"{float(state.record.ratio):.4f}"
            status.done(f"{target}: {found}")

        record = run(
            target,
            SearchParams(**fields),
            seed=seed,
            restarts=restarts,
            seconds=seconds,
            folder=folder,
            progress=report,
        )
    document: dict[str, Any] = {"target": target, "known": TARGETS[target].known, "restarts": done}
    if record is None:
        return {**document, "record": None}
    instance = record.instance
    return {
        **document,
        "ratio": float(record.ratio),
        "limit": float(record.limit),
        "record": instance.meta["record"],
        "parent": instance.tree.given_parents.tolist(),
        "budgets": instance.budgets.tolist(),
        "local": instance.tree.to_given(instance.local_value).tolist(),
        "coverage": instance.tree.to_given(instance.coverage_value).tolist(),
        "folder": None if folder is None else str(folder),
    }


def _hardness(
    target: str,
    fields: dict[str, Any],
    seed: int,
    restarts: int | None,
    seconds: float | None,
    folder: Path | None,
) -> dict[str, Any]:
    from instances.search.hardness import HardnessParams, HardnessRecord, rag_yardstick, search_hardness
    from prefixplace.lab.progress import activity

    params = HardnessParams(**fields)
    with activity(restarts or 0, shown=True) as status:

        def report(done: int, elapsed: float, record: HardnessRecord | None, new: bool) -> None:
            if record is not None:
                status.note(f"{target}: {record.effort.nodes} nodes, gap {record.effort.gap:.2%}")

        record = search_hardness(
            params, seed=seed, restarts=restarts, seconds=seconds, folder=folder, progress=report
        )
        status.note("RAG-shaped instances of the same size")
        yardstick = rag_yardstick(params)
    document: dict[str, Any] = {"target": target, "rag_shaped": [found._asdict() for found in yardstick]}
    if record is None:
        return {**document, "record": None}
    instance = record.instance
    return {
        **document,
        **record.effort._asdict(),
        "record": instance.meta["record"],
        "parent": instance.tree.given_parents.tolist(),
        "budgets": instance.budgets.tolist(),
        "folder": None if folder is None else str(folder),
    }


def _table(fields: dict[str, Any], seed: int, restarts: int, folder: Path | None, json: bool) -> int:
    from instances.known import exact_number
    from instances.search import SearchParams, SearchProgress
    from instances.search.table import search_table, table_markdown
    from prefixplace.lab.progress import activity

    with activity(0, shown=True) as status:

        def report(realism: str, target: str, state: SearchProgress) -> None:
            found = "nothing yet" if state.record is None else f"{float(state.record.ratio):.4f}"
            status.note(f"{target}, {realism}: {found} after {state.restarts}")

        cells = search_table(
            SearchParams(**fields), seed=seed, restarts=restarts, folder=folder, progress=report
        )
    if json:
        rows = [
            {
                "realism": realism,
                "target": target,
                "ratio": None if record is None else exact_number(record.ratio),
                "limit": None if record is None else exact_number(record.limit),
            }
            for (realism, target), record in cells.items()
        ]
        print_json({"restarts": restarts, "seed": seed, "cells": rows})
    else:
        print(table_markdown(cells), end="")
    return 0
