"""Every method side by side on the same instances, judged by the best bound that any of them proved."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.lab.auditing import audit_of_runs
from prefixplace.lab.runs import Run, run_bound, run_method, warm_up
from prefixplace.planner import METHODS
from prefixplace.result import OPTIMALITY_TOLERANCE, relative_gap
from prefixplace.stopping import Budget

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

    from exact.guarantees import Audit

__all__ = ["Comparison", "InstanceComparison", "Row", "compare"]

DEFAULT_BACKENDS = ("branch-and-bound", "highs")
DEFAULT_BOUNDS = ("configuration-lp", "compact-lp")
DEFAULT_SECONDS = 60.0
_STRENGTH = {"exact": 0, "float": 1, "solver-claim": 2, "none": 3}


@dataclass(frozen=True)
class Row:
    """One method on one instance, seen beside all the others.

    Attributes
    ----------
    method : str
    kind : {"heuristic", "exact", "bound"}
    value : float or None
        ms saved per epoch; None for bounds and for failures.
    bound : float or None
        What this method itself proved.
    proof : str
        What makes that bound true: ``none``, ``solver-claim``, ``float``, ``exact``.
    ratio : float or None
        Value (for bounds: bound) divided by the optimum where the comparison knows it, else by its best bound.
    guarantee : float or None
        Factor that the method is proved to reach on every instance.
    gap : float or None
        Relative distance of the value to the best bound of the comparison; for bounds, to the best value.
    seconds : float
    status : str
        ``optimal`` (the value meets the best bound of the comparison), ``feasible``, ``bound`` or ``none``.
    stop_reason : str
    reason : str
        Why a run has no outcome, or what is wrong with it; empty otherwise.
    """

    method: str
    kind: Literal["heuristic", "exact", "bound"]
    value: float | None
    bound: float | None
    proof: str
    ratio: float | None
    guarantee: float | None
    gap: float | None
    seconds: float
    status: str
    stop_reason: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return dict(vars(self))


@dataclass(frozen=True)
class InstanceComparison:
    """All rows of one instance and what they prove together.

    Attributes
    ----------
    instance : Instance
    rows : tuple of Row
    best_value, best_bound : float or None
        Largest value and least bound that any method reached; None when none did.
    audit : (method, Audit) or None
        What is guaranteed about the best heuristic plan, see :func:`exact.audit`.
    best_value_by, best_bound_by : str
        The first method that reached them; for the bound, the first of those with the strongest proof.
    """

    instance: Instance
    rows: tuple[Row, ...]
    best_value: float | None
    best_value_by: str
    best_bound: float | None
    best_bound_by: str
    audit: tuple[str, Audit] | None = None

    @classmethod
    def of(cls, instance: Instance, runs: Sequence[Run]) -> InstanceComparison:
        """Judge finished `runs` by each other."""
        best_value, value_by = _best_value(runs)
        runs = [_without_false_bound(run, best_value, value_by) for run in runs]
        best_bound, bound_by = _best_bound(runs)
        if best_value is not None and best_bound is not None:
            best_bound = max(best_bound, best_value)  # below it by rounding only
        rows = tuple(_row(run, best_value, best_bound) for run in runs)
        optimum = best_value if _meets(best_value, best_bound) else None
        audit = audit_of_runs(instance, runs, optimum)
        return cls(instance, rows, best_value, value_by, best_bound, bound_by, audit)

    @property
    def optimum_known(self) -> bool:
        """Whether the best value meets the best bound."""
        return _meets(self.best_value, self.best_bound)

    @property
    def reference(self) -> str:
        """What ratios divide by: ``optimum``, ``best bound``, or ``nothing`` when no bound is known."""
        return "nothing" if self.best_bound is None else "optimum" if self.optimum_known else "best bound"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able data."""
        instance = self.instance
        return {
            "name": instance.name,
            "n": instance.num_chunks,
            "workers": instance.num_workers,
            "objective": "pairwise" if instance.pairwise else "requester-side",
            "instance_digest": instance.digest,
            "rows": [row.to_dict() for row in self.rows],
            "best_value": self.best_value,
            "best_value_by": self.best_value_by,
            "best_bound": self.best_bound,
            "best_bound_by": self.best_bound_by,
            "ratio_to": self.reference,
            "audit": None if self.audit is None else {"method": self.audit[0], **self.audit[1].to_dict()},
        }


@dataclass(frozen=True)
class Comparison:
    """Outcome of :func:`compare`. In a notebook it shows itself as a table.

    Attributes
    ----------
    instances : tuple of InstanceComparison
    interrupted : bool
        Whether Ctrl-C ended it early; everything finished by then is here.
    """

    instances: tuple[InstanceComparison, ...]
    interrupted: bool = False

    @property
    def table(self) -> RenderableType:
        """A rich renderable: print it with :func:`rich.print`."""
        from prefixplace.lab.tables import comparison_tables

        return comparison_tables(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able data: ``{"instances": [{"name", "n", "workers", "rows", "best_value", "best_bound", …}]}``."""
        return {"instances": [one.to_dict() for one in self.instances], "interrupted": self.interrupted}

    def records(self) -> Iterator[dict[str, Any]]:
        """One flat dictionary per row, with the instance's name and size in front."""
        for one in self.instances:
            head = {
                "instance": one.instance.name,
                "n": one.instance.num_chunks,
                "workers": one.instance.num_workers,
            }
            for row in one.rows:
                yield {**head, **row.to_dict(), "ratio_to": one.reference}

    def to_frame(self) -> pd.DataFrame:
        """One row per instance and method as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self.records()))

    def to_csv(self) -> str:
        """The same rows as CSV text; unknown numbers are empty fields."""
        records = list(self.records())
        out = io.StringIO()
        if records:
            writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
        return out.getvalue()

    def __repr__(self) -> str:
        names = ", ".join(repr(one.instance.name) for one in self.instances)
        return f"Comparison({names}: {sum(len(one.rows) for one in self.instances)} rows)"

    def _repr_html_(self) -> str:
        from prefixplace.lab.tables import comparison_html

        return comparison_html(self)


def compare(
    instances: Instance | Iterable[Instance],
    methods: Sequence[str] | None = None,
    bounds: Sequence[str] | None = None,
    *,
    time_limit: float | None = DEFAULT_SECONDS,
    threads: int = 1,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Run several methods and bounds on the same instances and judge them by each other.

    Parameters
    ----------
    instances : Instance or iterable of Instance
    methods : sequence of str, optional
        Heuristics (names of :data:`prefixplace.METHODS`) and exact back-ends (names of :data:`exact.BACKENDS`).
        When left out: every heuristic that is defined for the objective of the instance, and two
        exact back-ends that know nothing of each other, ``branch-and-bound`` and ``highs``.
    bounds : sequence of str, optional
        Names of :data:`exact.BOUNDS`; ``configuration-lp`` and ``compact-lp`` when left out, empty for none.
    time_limit : float, default 60
        Seconds for each run; None for no limit.
    threads : int, default 1
        For exact back-ends.
    seed : int, default 0
        For heuristics that draw at random.
    progress : bool, default False
        Show what runs, on stderr, when that is a terminal.

    Returns
    -------
    Comparison
        A run that fails is a row that says why. Ctrl-C ends the comparison and keeps what is finished, with the
        best placement that the interrupted method had. Before the first timing every method runs once on a small
        instance, so that no row pays for imports and compiling.

    Raises
    ------
    InputError
        For names that are no method or bound, before anything runs.
    """
    from prefixplace.lab.progress import activity

    todo = [instances] if isinstance(instances, Instance) else list(instances)
    _check_names(methods, bounds)
    budget = Budget(seconds=time_limit)
    kinds = DEFAULT_BOUNDS if bounds is None else bounds
    plans = [(one, _methods_for(one) if methods is None else methods) for one in todo]
    finished: list[InstanceComparison] = []
    with activity(sum(len(names) + len(kinds) for _, names in plans), shown=progress) as show:
        for instance, names in plans:
            runs: list[Run] = []
            interrupted = False
            try:
                for name in (*names, *kinds):
                    show.note(f"warming up: {name}")
                    warm_up(name, instance.pairwise)
                for name in names:
                    show.begin(f"{instance.name or 'instance'}: {name}")
                    runs.append(run_method(instance, name, budget, threads, seed, show.report))
                    if runs[-1].stop_reason == "user":
                        raise KeyboardInterrupt
                for kind in kinds:
                    show.begin(f"{instance.name or 'instance'}: {kind}")
                    runs.append(run_bound(instance, kind, budget))
                    if runs[-1].stop_reason == "user":
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                interrupted = True
            if runs:
                finished.append(InstanceComparison.of(instance, runs))
            if interrupted:
                return Comparison(tuple(finished), interrupted=True)
    return Comparison(tuple(finished))


def _methods_for(instance: Instance) -> list[str]:
    return [name for name, method in METHODS.items() if method.applies_to(instance)] + list(DEFAULT_BACKENDS)


def _check_names(methods: Sequence[str] | None, bounds: Sequence[str] | None) -> None:
    import exact

    for name in methods or ():
        if name not in METHODS and name not in exact.BACKENDS:
            raise InputError(f"unknown method {name!r}; known are {', '.join([*METHODS, *exact.BACKENDS])}")
    for name in bounds or ():
        if name not in exact.BOUNDS:
            raise InputError(f"unknown bound {name!r}; known are {', '.join(exact.BOUNDS)}")


def _best_value(runs: Sequence[Run]) -> tuple[float | None, str]:
    known = [(run.value, run.method) for run in runs if run.value is not None]
    return max(known, key=lambda pair: pair[0]) if known else (None, "")


def _best_bound(runs: Sequence[Run]) -> tuple[float | None, str]:
    known = [(run.bound, _STRENGTH[run.proof], run.method) for run in runs if run.bound is not None]
    if not known:
        return None, ""
    least = min(known)[0]
    _, _, method = min((k for k in known if _meets(least, k[0])), key=lambda k: k[1])
    return least, method


def _meets(value: float | None, bound: float | None) -> bool:
    return value is not None and bound is not None and bound - value <= OPTIMALITY_TOLERANCE * abs(bound)


def _without_false_bound(run: Run, best_value: float | None, value_by: str) -> Run:
    """A bound below a value that another method reached is false: it is dropped, and the row says so."""
    if (
        run.bound is None
        or best_value is None
        or run.bound >= best_value - OPTIMALITY_TOLERANCE * abs(best_value)
    ):
        return run
    reason = f"claims the bound {run.bound!r}, but {value_by} reached {best_value!r}"
    return replace(run, bound=None, proof="none", reason=reason)


def _row(run: Run, best_value: float | None, best_bound: float | None) -> Row:
    shown = run.bound if run.kind == "bound" else run.value
    reference = best_value if _meets(best_value, best_bound) else best_bound
    ratio = gap = None
    if shown is not None and reference is not None:
        ratio = shown / reference if reference else 1.0 if shown == 0 else None
    if run.kind == "bound":
        status = "none" if run.bound is None else "bound"
        if run.bound is not None and best_value is not None:
            gap = max(0.0, relative_gap(best_value, run.bound))
    else:
        status = "none" if run.value is None else "optimal" if _meets(run.value, best_bound) else "feasible"
        if run.value is not None and best_bound is not None:
            gap = relative_gap(run.value, best_bound)
    return Row(
        method=run.method,
        kind=run.kind,
        value=run.value,
        bound=run.bound,
        proof=run.proof,
        ratio=ratio,
        guarantee=run.guarantee,
        gap=gap,
        seconds=run.seconds,
        status=status,
        stop_reason=run.stop_reason,
        reason=run.reason,
    )
