"""Many independent jobs on several processes, each outcome kept the moment it is there."""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from prefixplace.errors import InputError

__all__ = ["Records", "run_jobs"]

Record = dict[str, Any]


class Records:
    """Records of a long study, one JSON object per line, appended as they come.

    What a file already holds is read at the start, so that a study that was stopped goes on where it was. A last
    line that was cut off by a crash is dropped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records: list[Record] = []
        if not path.exists():
            return
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):
            lines.pop()
            path.write_text("".join(lines), encoding="utf-8")
        for number, line in enumerate(lines, start=1):
            try:
                self.records.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise InputError(f"{path}, line {number}: not readable as JSON: {error}") from None

    def add(self, record: Record) -> None:
        """Keep one record."""
        self.records.append(record)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def run_jobs(
    work: Callable[..., Record], jobs: Iterable[tuple[Any, ...]], *, processes: int
) -> Iterator[Record | BaseException]:
    """Call ``work(*job)`` for each job on `processes` processes; yield outcomes as they come, errors as values.

    Closing the iterator (or Ctrl-C) stops what still runs. A process that dies costs its own job only.
    """
    if processes < 1:
        raise InputError(f"processes is {processes}, must be ≥ 1")
    from pebble import ProcessPool

    # spawn: solvers start threads, and a fork with threads may hang
    pool = ProcessPool(
        max_workers=processes, context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupt
    )
    try:
        waiting: set[Future[Record]] = {pool.schedule(work, args=job) for job in jobs}
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                error = future.exception()
                yield future.result() if error is None else error
    finally:
        pool.stop()  # type: ignore[no-untyped-call]
        pool.join()


def _ignore_interrupt() -> None:
    """Ctrl-C reaches the whole process group; only the parent acts on it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
