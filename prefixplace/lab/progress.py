"""What runs now, on stderr, for whoever waits at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Display

from prefixplace.stopping import Progress

__all__ = ["Activity", "activity"]


class Activity:
    """A line that says which of a known number of steps runs, and how far it is."""

    def __init__(self, display: Display, total: int) -> None:
        self._display = display
        self._task = display.add_task("", total=total, state="")
        self._begun = False

    def begin(self, what: str) -> None:
        """The next step begins; the one before it is done."""
        self._display.update(self._task, advance=int(self._begun), description=what, state="")
        self._begun = True

    def note(self, what: str) -> None:
        """Something happens that is no step."""
        self._display.update(self._task, description=what, state="")

    def restart(self, done: int, total: int) -> None:
        """The job has `total` steps, `done` of which were done before."""
        self._display.update(self._task, completed=done, total=total)

    def done(self, what: str) -> None:
        """One more step is done, in whatever order they end."""
        self._display.update(self._task, advance=1, description=what)

    def report(self, progress: Progress) -> None:
        """What the running method tells."""
        parts = []
        if progress.value is not None:
            parts.append(f"value {progress.value:,.8g}")
        if progress.bound is not None:
            parts.append(f"bound {progress.bound:,.8g}")
        self._display.update(self._task, state=", ".join(parts) or progress.message)


@contextmanager
def activity(total: int, *, shown: bool) -> Iterator[Activity]:
    """Show the steps of a long job while it lasts; nothing stays behind, and nothing is shown off a terminal."""
    console = Console(stderr=True)
    display = Display(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[state]}", style="dim", markup=False),
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
    )
    with display:
        yield Activity(display, total)
