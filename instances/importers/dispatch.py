"""A literature file of a named kind as a placement problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from instances.construction import Drawn
from instances.importers.bin_packing import read_bin_packing
from instances.importers.facility_location import read_facility_location
from instances.importers.graphs import read_dimacs, read_rudy
from instances.importers.text import PathLike
from instances.known import as_fraction
from instances.reductions.facility_location import facility_location
from instances.reductions.independent_set import independent_set
from instances.reductions.max_cut import max_cut
from instances.reductions.packing import bin_packing
from prefixplace import Instance
from prefixplace.errors import InputError

__all__ = ["KINDS", "import_instance"]


def _bin_packing(path: PathLike, optimum: Fraction | None, header: dict[str, Any]) -> Drawn:
    problem = read_bin_packing(path)
    least = -(-sum(problem.sizes) // problem.capacity)
    return bin_packing(problem, max(1, least) if optimum is None else _count(optimum), **header)


def _independent_set(path: PathLike, optimum: Fraction | None, header: dict[str, Any]) -> Drawn:
    number = None if optimum is None else _count(optimum)
    return independent_set(read_dimacs(path), independence_number=number, **header)


def _clique(path: PathLike, optimum: Fraction | None, header: dict[str, Any]) -> Drawn:
    import networkx as nx

    number = None if optimum is None else _count(optimum)
    return independent_set(nx.complement(read_dimacs(path)), independence_number=number, **header)


def _max_cut(path: PathLike, optimum: Fraction | None, header: dict[str, Any]) -> Drawn:
    return max_cut(read_rudy(path), maximum=optimum, **header)


def _facility_location(path: PathLike, optimum: Fraction | None, header: dict[str, Any]) -> Drawn:
    return facility_location(read_facility_location(path), minimum=optimum, **header)


KINDS: Mapping[str, Callable[[PathLike, Fraction | None, dict[str, Any]], Drawn]] = {
    "bin-packing": _bin_packing,
    "independent-set": _independent_set,
    "clique": _clique,
    "max-cut": _max_cut,
    "facility-location": _facility_location,
}
"""Kind of problem → importer. ``clique`` is an independent set of the complement."""


def import_instance(path: PathLike, kind: str, optimum: float | str | None = None) -> Instance:
    """The placement problem of a literature file.

    Parameters
    ----------
    path : path
        A file in the format that belongs to `kind`: BPPLIB, DIMACS (independent-set and clique), rudy or Biq Mac
        (max-cut), OR-Library or UflLib (facility-location); plain or ``.gz``.
    kind : str
        A name of :data:`KINDS`.
    optimum : number or fraction "p/q", optional
        The optimum of the *original* problem where the literature knows it: bins, independence or clique number,
        weight of the cut, cost. Gives the known optimum of the placement problem, which is only as true as the
        value given. For bin packing it is the number of workers, ⌈Σ sizes / capacity⌉ when left out.

    Raises
    ------
    InputError
        For an unknown kind, a file that breaks its format (with its line), or a value that cannot be.
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
    file = Path(path)
    value = None if optimum is None else as_fraction(optimum)
    header = {"name": file.name.removesuffix(".gz"), "meta": {"imported": kind, "file": file.name}}
    return KINDS[kind](path, value, header).instance


def _count(value: Fraction) -> int:
    if value.denominator != 1:
        raise InputError(f"the optimum {value} must be a whole number here")
    return int(value)
