"""Running a back-end in a process of its own, which can be stopped when the solver will not.

Some solvers overshoot their limits, hold Python's Ctrl-C back until they return, print from C, or take the whole
process down when they fail. In a process of their own all of this is harmless: placements and bounds arrive as they
are found, and stay when the process is gone.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exact.backend import Backend, Outcome, Run
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.result import StopReason
from prefixplace.stopping import Budget

__all__ = ["run_in_own_process"]

TIME_GRACE = 1.0
"""Seconds (plus a tenth of the limit) past its time limit after which a solver is asked to stop from outside."""

STOP_GRACE = 5.0
"""Seconds that a solver has to come out with what it has once it has been asked to stop."""


class _Job(NamedTuple):
    backend: Backend
    instance: Instance
    budget: Budget
    threads: int
    start: NDArray[np.bool_] | None
    params: Any


def run_in_own_process(backend: Backend, run: Run, params: Any) -> Outcome:
    """Run `backend` in a new Python process and relay what it reports to `run`.

    The process begins without the state of this one (no fork, and the caller's main module is not imported). The
    clock of the run restarts when it has loaded the solver. Ctrl-C and an overrun limit interrupt the process, and
    kill it with all its children after a grace period.
    """
    job = _Job(backend, run.instance, run.budget, run.threads, run.start, params)
    code = f"import sys; sys.path[:] = {sys.path!r}; from exact.own_process import serve; serve()"
    with tempfile.TemporaryDirectory(
        prefix="prefixplace-"
    ) as scratch:  # emptied also when the process is killed
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": scratch, "TEMP": scratch, "TMP": scratch},
            start_new_session=True,  # the terminal's Ctrl-C reaches this process only; we pass it on
        )
        try:
            return _Relay(process, backend, run).follow(job)
        finally:
            _signal_group(process, _KILL)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


class _Relay:
    """The parent's side: hands over the job, passes messages on to the run, and keeps the time."""

    def __init__(self, process: subprocess.Popen[bytes], backend: Backend, run: Run) -> None:
        self.process, self.backend, self.run = process, backend, run
        self.messages: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.outcome: Outcome | None = None
        self.ready = False
        self.asked: StopReason | None = None  # why the process was asked to stop
        self.patience = 0.0  # until when it is waited for after that

    def follow(self, job: _Job) -> Outcome:
        """Relay until the process has ended or been given up."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        log = Thread(target=self._read_lines, args=(self.process.stderr,), daemon=True)
        log.start()
        Thread(target=self._read_messages, args=(self.process.stdout,), daemon=True).start()
        Thread(target=self._write_job, args=(self.process.stdin, pickle.dumps(job)), daemon=True).start()
        while self.outcome is None:
            try:
                self._keep_time()
                self._take(*self.messages.get(timeout=0.1))
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                if self.asked == "user":
                    raise
                self.run.say(f"interrupted; {self.backend.name} has {STOP_GRACE:g} s to stop")
                self._ask_to_stop("user")
        log.join(1.0)  # the last lines may still be on their way
        while not self.messages.empty():
            kind, content = self.messages.get_nowait()
            if kind == "line":
                self.run.say(content)
        return replace(self.outcome, stop_reason=self.asked) if self.asked else self.outcome

    def _take(self, kind: str, content: Any) -> None:
        if kind == "ready":
            self.ready = True
            self.run.restart_clock()
        elif kind == "line":
            self.run.say(content)
        elif kind == "placement":
            shape = (self.run.instance.num_workers, self.run.instance.num_chunks)
            bits = np.unpackbits(np.frombuffer(content, np.uint8), count=shape[0] * shape[1])
            self.run.offer(bits.reshape(shape))
        elif kind == "bound":
            self.run.tighten(content)
        elif kind == "error":
            raise content
        elif kind == "outcome":
            self.outcome = content
        else:
            self.outcome = self._ended_alone()

    def _keep_time(self) -> None:
        limit = self.run.budget.seconds
        if self.asked is not None:
            if time.monotonic() > self.patience:
                self.run.say(f"{self.backend.name} did not stop and was killed")
                self.outcome = Outcome(self.asked)
        elif self.ready and limit is not None and self.run.clock.seconds > 1.1 * limit + TIME_GRACE:
            self.run.say(f"{self.backend.name} ignored its limit of {limit:g} s and was asked to stop")
            self._ask_to_stop("time")

    def _ask_to_stop(self, reason: StopReason) -> None:
        self.asked, self.patience = reason, time.monotonic() + STOP_GRACE
        _signal_group(self.process, signal.SIGINT)

    def _ended_alone(self) -> Outcome:
        code = self.process.wait()
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self.run.say(f"the process of {self.backend.name} ended by itself: {cause}")
        return Outcome("error")

    def _write_job(self, stream: IO[bytes], job: bytes) -> None:
        try:
            stream.write(job)
            stream.close()
        except OSError:
            pass  # the process has ended; its other streams say so

    def _read_messages(self, stream: IO[bytes]) -> None:
        try:
            while True:
                self.messages.put(pickle.load(stream))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.messages.put(("end", None))

    def _read_lines(self, stream: IO[bytes]) -> None:
        try:
            for line in stream:
                self.messages.put(("line", line.decode("utf-8", "replace").rstrip("\r\n")))
        except (OSError, ValueError):
            pass


class _RemoteRun(Run):
    """The child's side of a run: every report goes to the parent."""

    def __init__(self, job: _Job, send: Callable[[str, Any], None]) -> None:
        super().__init__(job.instance, job.budget, job.threads, job.start, lambda line: send("line", line))
        self._send = send

    def offer(self, values: NDArray[Any], source: str = "solver") -> bool:
        before = self.best_mask
        accepted = super().offer(values, source)
        if self.best_mask is not None and self.best_mask is not before:
            self._send("placement", np.packbits(self.best_mask).tobytes())
        return accepted

    def tighten(self, bound: float) -> None:
        before = self.bound
        super().tighten(bound)
        if self.bound != before:
            self._send("bound", self.bound)


def serve() -> None:
    """Body of the child process: read a job from stdin, run it, report on what was stdout."""
    # Solvers that handle Ctrl-C themselves should; Python must survive it to report. A handler that does nothing is
    # not inherited by the programs that a back-end starts, as ignoring the signal would be.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a solver prints is a line of the log

    def send(kind: str, content: Any) -> None:
        pickle.dump((kind, content), channel)
        channel.flush()

    job: _Job = pickle.load(sys.stdin.buffer)
    try:
        job.backend.load()
        send("ready", None)
        outcome = job.backend.run(_RemoteRun(job, send), job.params)
    except InputError as error:
        send("error", error)
    except Exception as error:
        send("line", f"{type(error).__name__}: {error}")
        send("outcome", Outcome("error"))
    else:
        sys.stdout.flush()
        send("outcome", outcome)


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.terminate()
    except ProcessLookupError:
        pass
