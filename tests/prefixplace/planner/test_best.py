"""`best`: never worse than what it is made of, and mostly optimal."""

from __future__ import annotations

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.planner.best import BestParams
from tests.brute import optimum, random_instance
from tests.shared import case_names, expected_values, shared_dir


@pytest.mark.parametrize("pairwise", [False, True])
def test_never_worse_than_its_parts(pairwise: bool) -> None:
    rng = np.random.default_rng(1)
    optimal = 0
    for _ in range(40):
        instance = random_instance(rng, n=4, workers=3, pairwise=pairwise)
        value, best = pp.solve(instance, "best").value, optimum(instance)
        assert value is not None and value <= best * (1 + 1e-9)
        for method in ("prefixplace", "non-oblivious"):
            part = pp.solve(instance, method).value
            assert part is not None and value >= part
        optimal += value >= best * (1 - 1e-9)
    assert optimal >= 38


@pytest.mark.parametrize("name", case_names())
def test_known_cases(name: str) -> None:
    """On all of them, tight examples of every other method included, it happens to find the optimum."""
    instance = pp.read_instance(shared_dir("cases") / f"{name}.json")
    value = pp.solve(instance, "best").value
    assert value == pytest.approx(expected_values()[name]["opt"], rel=1e-9)


def test_stopped_it_keeps_the_best() -> None:
    rng = np.random.default_rng(2)
    instance = random_instance(rng, n=20, workers=4)
    whole = pp.solve(instance, "best")
    for limit in (1, 10, 40):
        part = pp.solve(instance, "best", budget=pp.Budget(iterations=limit))
        assert part.stop_reason == "iterations"
        assert part.value is not None and whole.value is not None and part.value <= whole.value


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(pp.InputError, match="rounds"):
        BestParams(rounds=0)
    with pytest.raises(pp.InputError, match="tolerance"):
        BestParams(tolerance=-1.0)
