"""Bin packing and cutting stock files of BPPLIB."""

from __future__ import annotations

from pathlib import Path

from instances.importers.text import PathLike, fail, lines_of, whole
from instances.reductions.packing import BinPackingProblem

__all__ = ["read_bin_packing"]


def read_bin_packing(path: PathLike) -> BinPackingProblem:
    """Read a BPPLIB text file: the number of items, the capacity, then a size in each line.

    Its cutting stock form, with the number of item types and lines ``size demand``, is read too and gives
    `demand` items of that size.

    Raises
    ------
    InputError
        Naming file and line of whatever does not fit, a wrong count included.
    """
    rows = list(lines_of(path))
    if len(rows) < 2 or len(rows[0][1]) != 1 or len(rows[1][1]) != 1:
        raise fail(
            path,
            rows[0][0] if rows else 1,
            "a count and a capacity, each in a line of its own, must come first",
        )
    count = whole(path, rows[0][0], rows[0][1][0], 0, "the number of items")
    capacity = whole(path, rows[1][0], rows[1][1][0], 1, "the capacity")
    columns = len(rows[2][1]) if len(rows) > 2 else 1
    sizes: list[int] = []
    for line, words in rows[2:]:
        if len(words) != columns or columns > 2:
            raise fail(path, line, f"{len(words)} numbers where a size, or a size and a demand, is expected")
        size = whole(path, line, words[0], 1, "the size")
        if size > capacity:
            raise fail(path, line, f"the size {size} is above the capacity {capacity}")
        sizes += [size] * (whole(path, line, words[1], 0, "the demand") if columns == 2 else 1)
    if len(rows) - 2 != count:
        raise fail(path, rows[0][0], f"{count} items are announced, {len(rows) - 2} are listed")
    return BinPackingProblem(capacity, tuple(sizes), Path(path).name.removesuffix(".gz"))
