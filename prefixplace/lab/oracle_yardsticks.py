"""Yardsticks for the oracle: the dynamic program in plain NumPy and in C, value only."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.oracle.dense import dense_order
from prefixplace.tree import PrefixTree

__all__ = ["c_value", "numpy_value"]

Value = Callable[[PrefixTree, NDArray[np.int64], int], int]


def numpy_value(tree: PrefixTree, profit: NDArray[np.int64], budget: int) -> int:
    """Value of a best closed set by whole NumPy rows: heavy child last, live rows only. O(n·budget) time."""
    ready = dense_order(tree)
    rows = np.zeros((ready.count, budget + 1), np.int64)
    taken = np.empty(budget, np.int64)
    q, end, slot = profit[ready.order], ready.end.tolist(), ready.slot.tolist()
    for i in range(tree.n - 1, -1, -1):
        np.add(rows[slot[i + 1], :-1], q[i], out=taken)
        np.maximum(taken, rows[slot[end[i]], 1:], out=rows[slot[i], 1:])
    return int(rows[slot[0], budget])


def c_value() -> Value | None:
    """The blocked dynamic program compiled from C with ``cc -O3 -march=native``; None where no compiler works."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "dense_value.so"
        command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library)]
        source = Path(__file__).with_name("dense_value.c")
        if subprocess.run([*command, str(source)], capture_output=True, check=False).returncode:
            return None
        function = ctypes.CDLL(str(library)).dense_value
    function.restype = ctypes.c_int64

    def value(tree: PrefixTree, profit: NDArray[np.int64], budget: int) -> int:
        from prefixplace.oracle._dense import PAD, block_columns

        ready, n = dense_order(tree), tree.n
        block = int(block_columns(n, budget))
        blocks = -(-budget // block)
        memory = np.zeros(ready.count * (block + PAD) + PAD, np.int64)
        rows = memory[-memory.ctypes.data // 8 % PAD :]
        arrays: list[NDArray[Any]] = [
            ready.end,
            ready.slot,
            ready.parent,
            profit[ready.order],
            rows,
            np.zeros((blocks, n + 1), np.int64),
            np.empty(n + 1, np.int64),
        ]
        numbers = [ctypes.c_int64(x) for x in (n, budget, block)]
        return int(function(*numbers, *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays)))

    return value
