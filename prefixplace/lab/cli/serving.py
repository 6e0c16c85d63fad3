"""Commands around requests: ``trace`` makes an instance of them, ``replay`` serves them under a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, Output, facts, print_json, show

if TYPE_CHECKING:
    from instances.traces import TraceInstance
    from prefixplace.demand import Routing

__all__ = ["TraceOptions", "replay", "trace"]


@Parameter(name="*")
@dataclass(frozen=True)
class TraceOptions:
    """How a trace becomes routed requests."""

    workers: Annotated[
        int | None, Parameter(help="Number of workers; 4, or as many as ASSIGNMENT names.")
    ] = None
    assignment: Annotated[
        Path | None, Parameter(help="JSON file with the worker of every line of the trace.")
    ] = None
    routing: Annotated[
        Literal["round-robin", "sticky-session", "first-chunk-hash", "home-sharing"] | None,
        Parameter(help="Rule that sends requests to workers; round-robin when left out."),
    ] = None
    sharing: Annotated[
        float | None, Parameter(help="For home-sharing: fraction of requests that leave their home worker.")
    ] = None
    block_tokens: Annotated[int, Parameter(help="Tokens per block of the trace.")] = 512
    tail: Annotated[Literal["drop", "keep"], Parameter(help="What to do with a partial last block.")] = "drop"
    window: Annotated[float | None, Parameter(help="Seconds of an epoch; the whole trace when left out.")] = (
        None
    )
    window_index: Annotated[int, Parameter(help="Which epoch, counted from 0.")] = 0
    min_demand: Annotated[float, Parameter(help="Leave out chunks wanted by fewer requests.")] = 1.0


@Parameter(name="*")
@dataclass(frozen=True)
class FleetOptions:
    """The workers that serve the requests."""

    gpus: Annotated[str, Parameter(help="GPU of each worker, separated by commas; repeated in turn.")] = (
        "T4,L4,A100"
    )
    model: Annotated[str, Parameter(help="Model served; gives the bytes of a chunk.")] = "qwen2.5-7b"
    profiles: Annotated[
        Literal["paper", "aiconfigurator"], Parameter(help="Where recompute profiles come from.")
    ] = "paper"
    engine: Annotated[str, Parameter(help="Serving engine of an aiconfigurator profile.")] = "vllm"
    goodput: Annotated[float, Parameter(help="Effective KV goodput between workers, Gb/s.")] = 3.0
    overhead: Annotated[float, Parameter(help="Fixed cost of fetching a chunk, ms.")] = 0.0
    budget_fraction: Annotated[
        float, Parameter(help="Budget of every worker as a fraction of the chunks.")
    ] = 0.02
    budgets: Annotated[str | None, Parameter(help="Budgets in chunks instead, separated by commas.")] = None


def trace(
    trace: Path,
    /,
    *,
    requests: TraceOptions = TraceOptions(),
    fleet: FleetOptions = FleetOptions(),
    output: Output = None,
    json: Json = False,
) -> int:
    """Make an instance of a request trace in Mooncake's format, and report what was left out.

    ```
    prefixplace trace conversation_trace.jsonl --workers 4 -o conversation.npz
    prefixplace trace trace.jsonl.gz --window 600 --window-index 2 --routing sticky-session -o epoch.json.gz
    ```

    Parameters
    ----------
    trace
        Trace file (.jsonl or .jsonl.gz).
    """
    from prefixplace import write_instance
    from prefixplace.lab.describe import instance_facts, instance_summary

    made = _read_trace(trace, requests, fleet)
    if output is not None:
        write_instance(made.instance, output)
    if json:
        written = None if output is None else str(output)
        summary = instance_summary(made.instance)
        print_json({**summary, "report": made.report.to_dict(), "file": written})
        return 0
    rows = dict(made.report.lines()) | instance_facts(made.instance)
    show(facts(made.instance.name, rows | ({"written to": str(output)} if output is not None else {})))
    return 0


def replay(
    file: Path,
    plan: Path,
    /,
    *,
    trace: Annotated[Path | None, Parameter(help="Trace whose requests are served.")] = None,
    requests: TraceOptions = TraceOptions(),
    json: Json = False,
) -> int:
    """Serve requests one by one under a plan: what is saved, and how many chunks hit, are fetched, are recomputed.

    Without --trace the requests are those that the demand of the instance is made of. With it, the trace must
    have been the origin of the instance, and the same options give the same requests.

    ```
    prefixplace replay rag.json plan.json
    prefixplace replay conversation.npz plan.json --trace conversation_trace.jsonl --workers 4
    ```

    Parameters
    ----------
    file
        Instance file.
    plan
        Plan file.
    """
    from prefixplace import InputError, read_instance, read_plan
    from prefixplace import replay as serve
    from prefixplace._replay import requests_of_demand
    from prefixplace.html import number
    from prefixplace.lab.tables import text_table

    if trace is None and requests != TraceOptions():
        raise InputError("options about requests need --trace")
    instance = read_instance(file)
    placement = read_plan(plan, instance)
    if trace is None:
        served = serve(instance, placement, requests_of_demand(instance))
    else:
        served = serve(instance, placement, _read_trace(trace, requests, FleetOptions()).requests)
    value = instance.value(placement)
    if json:
        print_json({**served.to_dict(), "value": value, "workers": list(instance.workers)})
        return 0
    rows = {
        "requests": number(served.requests, 8),
        "recompute everything": f"{number(served.recompute_all, 12)} ms",
        "paid under the plan": f"{number(served.paid, 12)} ms",
        "saved": f"{number(served.saved, 12)} ms ({_share(served.saved, served.recompute_all)})",
        "objective of the plan": f"{number(value, 12)} ms",
        "chunks not recomputed": f"{served.hit_rate:.2%}",
    }
    columns = (served.local, served.fetched, served.recomputed, served.paid_by_worker)
    table = text_table(
        ("worker", "own cache", "fetched", "recomputed", "paid, ms"),
        [
            [worker, *(number(float(column[m]), 8) for column in columns)]
            for m, worker in enumerate(instance.workers)
        ],
    )
    show(facts(f"replay on {instance.name or file.name}", rows), table)
    return 0


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.2%}" if whole else "–"


def _read_trace(trace: Path, options: TraceOptions, fleet: FleetOptions) -> TraceInstance:
    from instances.fleet import Fleet
    from instances.traces import read_assignment, trace_instance

    workers = options.workers
    if workers is None:
        workers = (
            4 if options.assignment is None else int(max(read_assignment(options.assignment), default=0)) + 1
        )
    return trace_instance(
        trace,
        fleet=Fleet(
            workers=workers,
            gpus=tuple(part.strip() for part in fleet.gpus.split(",") if part.strip()),
            model=fleet.model,
            source=fleet.profiles,
            engine=fleet.engine,
            goodput_gbps=fleet.goodput,
            overhead_ms=fleet.overhead,
            budget_fraction=fleet.budget_fraction,
            budget_chunks=_whole_numbers(fleet.budgets),
        ),
        block_tokens=options.block_tokens,
        tail=options.tail,
        routing=_routing(options),
        assignment=options.assignment,
        window_s=options.window,
        window_index=options.window_index,
        min_demand=options.min_demand,
    )


def _routing(options: TraceOptions) -> Routing | None:
    from prefixplace import InputError
    from prefixplace.demand import ROUTINGS, HomeSharing

    if options.sharing is not None:
        if options.routing != "home-sharing":
            raise InputError("--sharing belongs to --routing home-sharing")
        return HomeSharing(options.sharing)
    return None if options.routing is None else ROUTINGS[options.routing]()


def _whole_numbers(text: str | None) -> tuple[int, ...]:
    from prefixplace import InputError

    try:
        return () if text is None else tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--budgets {text}: write whole numbers separated by commas") from None
