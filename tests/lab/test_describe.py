"""The text tree and the facts: nothing hidden without a count."""

from __future__ import annotations

import io
import re

import numpy as np
from rich.console import Console

import prefixplace as pp
from prefixplace.lab.describe import instance_facts, placement_facts, tree_sketch


def instance(parents: list[int], demand: list[list[float]]) -> pp.Instance:
    tree = pp.PrefixTree.from_parents(parents)
    shape = (len(demand), tree.n)
    wanted = tree.to_preorder(np.array(demand))
    ones = np.ones(shape)
    return pp.Instance(
        tree,
        demand=wanted,
        recompute=ones,
        fetch=ones,
        budgets=[2] * len(demand),
        workers=["[b]", "two"][: len(demand)],
    )


def drawn(case: pp.Instance, placement: pp.Placement | None = None, lines: int = 30) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(tree_sketch(case, placement, lines=lines))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_chains_are_one_line_and_holders_are_named() -> None:
    case = instance([-1, 0, 1, 1], [[4, 3, 1, 2], [4, 4, 4, 0]])
    placement = pp.Placement.from_sets(case.tree, [[0, 1], [0]])
    lines = drawn(case, placement).splitlines()
    assert lines[0].strip() == "(empty prefix)"
    assert "0 … 1 (2 chunks)  8 requests  [b] 2/2, two 1/2" in lines[1]
    assert "2  5 requests  nobody" in lines[2]
    assert "3  2 requests  nobody" in lines[3]


def test_what_is_left_out_is_counted() -> None:
    """A root with 50 leaves, and 20 more roots."""
    case = instance([-1] + [0] * 50 + [-1] * 20, [[100.0] + [2.0] * 50 + [1.0] * 20])
    text = drawn(case, lines=11)
    assert "… 40 more" in text  # leaves
    assert "… 20 more" in text  # roots
    assert len(text.splitlines()) == 1 + 11 + 2


def test_rising_demand_is_drawn_as_far_as_it_goes() -> None:
    case = instance([-1, 0, 0], [[1, 9, 8]])
    assert re.search(r"… 1 more", drawn(case, lines=2))


def test_deep_and_wide() -> None:
    n = 200_000
    chain = instance(list(range(-1, n - 1)), [[1.0] * n])
    assert f"({n:,} chunks)" in drawn(chain)
    star = instance([-1] + [0] * (n - 1), [[1.0] * n])
    assert "199,970 more" in drawn(star)


def test_facts() -> None:
    case = instance([-1, 0, 1, -1], [[4, 3, 1, 2], [4, 4, 4, 0]])
    facts = instance_facts(case)
    assert facts["chunks"] == "4 in 2 trees, 2 leaves, depth 3"
    assert facts["recompute everything"] == "22 ms per epoch"
    placement = pp.Placement.from_sets(case.tree, [[0, 1], [0]])
    kept = placement_facts(case, placement)
    assert kept["distinct chunks"] == "2 of 4, 1 of them on several workers (3 copies in all)"
    values = pp.Instance.from_values(
        case.tree, local=[[1, 1, 1, 1]], coverage=[0, 0, 0, 0], budgets=[1], meta={"opt": 1}
    )
    assert "local and coverage" in instance_facts(values)["given by"]
    assert instance_facts(values)["known values"] == "opt = 1"
    empty = pp.Instance(pp.PrefixTree.from_parents([]), demand=[[]], recompute=[[]], fetch=[[]], budgets=[0])
    assert instance_facts(empty)["chunks"] == "0 in 0 trees, 0 leaves, depth 0"
    assert drawn(empty).strip() == "(empty prefix)"
