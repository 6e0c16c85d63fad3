"""Ctrl-C while a solver runs in a thread: asked first, not waited for without end."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from exact import interruptible
from exact.interruptible import Interruptible

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")


def press_soon() -> None:
    def press() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def test_a_solver_that_stops_gives_its_result() -> None:
    process = Interruptible()
    press_soon()
    assert process.call(lambda: process.stopping.wait(20)) is True
    assert process.interrupted


def test_a_solver_that_does_not_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "GRACE", 0.3)
    process, end = Interruptible(), threading.Event()
    press_soon()
    with pytest.raises(KeyboardInterrupt):
        process.call(lambda: end.wait(20))
    assert process.interrupted and process.stopping.is_set() and not end.is_set()
    end.set()


def test_a_mistake_in_a_callback_comes_out() -> None:
    process = Interruptible()

    def mistake() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        process.call(process.guarded(mistake))
