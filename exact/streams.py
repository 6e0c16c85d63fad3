"""Keeping solvers quiet that write to the process's standard output from C."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["captured_stdout"]


@contextmanager
def captured_stdout() -> Iterator[list[str]]:
    """Catch what is written to file descriptor 1 meanwhile; the lines are in the list afterwards.

    ``contextlib.redirect_stdout`` sees only what Python writes. The descriptor belongs to the whole process, so
    keep the block short. A process without standard output has nothing to be caught.
    """
    lines: list[str] = []
    try:
        saved = os.dup(1)
    except OSError:
        yield lines
        return
    try:
        with tempfile.TemporaryFile() as file:
            _flush_c()
            os.dup2(file.fileno(), 1)
            try:
                yield lines
            finally:
                _flush_c()  # C's buffer would otherwise be emptied only after the descriptor is back in place
                os.dup2(saved, 1)
            file.seek(0)
            lines += file.read().decode("utf-8", "replace").splitlines()
    finally:
        os.close(saved)


def _flush_c() -> None:
    ctypes.CDLL(None if os.name == "posix" else "msvcrt").fflush(None)
