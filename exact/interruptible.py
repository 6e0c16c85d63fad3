"""A solver written in C++, run so that Ctrl-C and exceptions of callbacks end it in good order."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Any, TypeVar

__all__ = ["Interruptible"]

T = TypeVar("T")

GRACE = 15.0
"""Seconds that a solver has to end after the first Ctrl-C."""


class Interruptible:
    """Runs a blocking call in a thread of its own while the calling thread listens for Ctrl-C.

    Python delivers Ctrl-C to the main thread between two of its instructions, of which there are none while that
    thread is inside a solver. The first Ctrl-C asks the solver to stop and waits for it, so that the placement and
    bound it has come out. After :data:`GRACE`, or a second Ctrl-C, :meth:`call` raises :class:`KeyboardInterrupt`: what
    callbacks have reported is kept, and the solver is left to end in its thread. (HiGHS 1.16 does not ask its callbacks
    in some parts of a run, which then take minutes.)

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed.
    stopping : threading.Event
        Set when the solver is to stop; for solvers that ask in a callback.
    """

    def __init__(self, request_stop: Callable[[], None] = lambda: None) -> None:
        self._request_stop = request_stop
        self._failure: BaseException | None = None
        self.interrupted = False
        self.stopping = Event()

    def stop(self) -> None:
        """Ask the solver to stop."""
        self.stopping.set()
        self._request_stop()

    def guarded(self, handler: Callable[..., Any]) -> Callable[..., None]:
        """`handler` as a callback that lets no exception through the solver's frames.

        The first exception is kept, the solver is asked to stop, and :meth:`call` raises it.
        """

        def call(*arguments: Any) -> None:
            try:
                handler(*arguments)
            except BaseException as error:
                self._failure = self._failure or error
                self.stop()

        return call

    def call(self, function: Callable[[], T], meanwhile: Callable[[], bool] = lambda: False) -> T:
        """The result of ``function()``, or its exception, or that of a guarded callback.

        `meanwhile` is called again and again in the calling thread until the solver is done or it returns false; when
        it raises, the solver is stopped first.
        """
        result: list[T] = []
        done = Event()  # a thread whose join() was interrupted counts as dead in Python 3.11, alive or not

        def body() -> None:
            try:
                result.append(function())
            except BaseException as error:
                self._failure = self._failure or error
            finally:
                done.set()

        Thread(target=body, name="solver", daemon=True).start()
        asked, busy = 0.0, True
        while not done.is_set():
            if self.interrupted and monotonic() - asked > GRACE:
                raise KeyboardInterrupt
            try:
                busy = busy and not self.interrupted and meanwhile()
                if not busy:
                    done.wait(0.1)
            except KeyboardInterrupt:
                if self.interrupted:
                    raise
                self.interrupted, asked = True, monotonic()
                self.stop()
            except BaseException:
                self.stop()
                done.wait(GRACE)
                raise
        if self._failure is not None:
            raise self._failure
        return result[0]
