"""Routing rules: what each promises, and how demand splits."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.demand import (
    ROUTINGS,
    FirstChunkHash,
    GivenAssignment,
    HomeSharing,
    Requests,
    RoundRobin,
    StickySession,
    route,
    sharing_split,
    stable_hash,
)


def documents(count: int, each: int) -> Requests:
    """`each` requests for every one of `count` documents under one system chunk."""
    return Requests.from_paths([("system", d, q) for q in range(each) for d in range(count)])


@pytest.mark.parametrize("name", [name for name in ROUTINGS if name != "sticky-session"])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_every_rule_names_workers_and_repeats_itself(name: str, workers: int) -> None:
    requests = documents(5, 20)
    worker = ROUTINGS[name]().assign(requests, workers)
    assert worker.shape == (100,)
    assert set(worker.tolist()) <= set(range(workers))
    np.testing.assert_array_equal(worker, ROUTINGS[name]().assign(requests, workers))


def test_round_robin_goes_by_the_source_also_after_selection() -> None:
    requests = Requests.from_paths([["a"], [], ["b"], ["c"], ["d"]])
    assert RoundRobin().assign(requests, 3).tolist() == [0, 2, 0, 1]
    assert RoundRobin().assign(requests.select([1, 3]), 3).tolist() == [2, 1]


def test_given_assignment_goes_by_the_source() -> None:
    requests = Requests.from_paths([["a"], [], ["b"]])
    assert route(requests, GivenAssignment([2, 1, 0]), 3).worker.tolist() == [2, 0]  # type: ignore[union-attr]
    with pytest.raises(pp.InputError, match="has 2 workers, but there is a request 2"):
        route(requests, GivenAssignment([0, 1]), 3)
    with pytest.raises(pp.InputError, match="sends request 1 to worker 3 of 3"):
        route(requests, GivenAssignment([0, 3, 0]), 3)
    with pytest.raises(pp.InputError, match="whole numbers, not float64"):
        route(requests, GivenAssignment([0.0, 1.0, 2.0]), 3)


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=40), st.integers(1, 4))
def test_sessions_stick_and_new_ones_go_round(session: list[int], workers: int) -> None:
    requests = Requests.from_paths([["x"]] * len(session), session=session)
    worker = StickySession().assign(requests, workers).tolist()
    seen: dict[int, int] = {}
    fresh = []
    for s, w in zip(session, worker, strict=True):
        if s < 0 or s not in seen:
            fresh.append(w)
            seen[s] = w
        else:
            assert seen[s] == w
    assert all((b - a) % workers == 1 % workers for a, b in pairwise(fresh))
    assert fresh[0] == 0


def test_sticky_sessions_need_sessions() -> None:
    with pytest.raises(pp.InputError, match="needs sessions"):
        StickySession().assign(documents(1, 1), 2)


def test_first_chunk_decides_alone_and_independently_of_the_tree() -> None:
    requests = Requests.from_paths([[f"p{i % 40}", i] for i in range(400)])
    worker = FirstChunkHash().assign(requests, 4)
    for i in range(400):
        assert worker[i] == stable_hash(f"p{i % 40}") % 4
    assert set(worker.tolist()) == {0, 1, 2, 3}
    later = requests.select(np.arange(400) >= 200).pruned()
    np.testing.assert_array_equal(FirstChunkHash().assign(later, 4), worker[200:])


def test_hash_is_the_same_in_another_process() -> None:
    code = "from prefixplace.demand import stable_hash; print(stable_hash('abc'), stable_hash(17))"
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PATH": ""}
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
        )
        assert out.stdout.split() == [str(stable_hash("abc")), str(stable_hash(17))]
    assert stable_hash(17) != stable_hash("17")


def test_home_sharing_at_both_ends() -> None:
    requests = documents(6, 50)
    document = np.tile(np.arange(6), 50)
    home = HomeSharing(sharing=0.0, seed=3).assign(requests, 4)
    for d in range(6):
        assert len(set(home[document == d].tolist())) == 1
    assert len(set(home.tolist())) > 1
    spread = HomeSharing(sharing=1.0, seed=3).assign(requests, 4)
    assert all(len(set(spread[document == d].tolist())) == 4 for d in range(6))
    root = HomeSharing(sharing=0.0, depth=0, seed=3).assign(requests, 4)
    assert len(set(root.tolist())) == 1


def test_home_sharing_draws_the_split_in_expectation() -> None:
    each, workers, sharing = 20_000, 4, 0.5
    requests = Requests.from_paths([("system", "document")] * each)
    count = np.bincount(HomeSharing(sharing=sharing, seed=1).assign(requests, workers), minlength=workers)
    expected = np.sort(sharing_split([each], [0], workers, sharing)[:, 0])
    np.testing.assert_allclose(
        np.sort(count), expected, atol=5 * np.sqrt(each / 4)
    )  # five standard deviations


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 3)), min_size=1, max_size=20),
    st.floats(0, 1),
)
def test_split_conserves_demand_and_favours_the_home(groups: list[tuple[float, int]], sharing: float) -> None:
    total, home = (np.array(column) for column in zip(*groups, strict=True))
    split = sharing_split(total, home, 4, sharing)
    tiny = 1e-300  # products below it are subnormal and keep only some of their digits
    np.testing.assert_allclose(split.sum(0), total, rtol=1e-12, atol=tiny)
    np.testing.assert_allclose(split.min(0), sharing * total / 4, atol=tiny)
    at_home = split[home, np.arange(home.size)]
    np.testing.assert_allclose(at_home, (sharing / 4 + 1 - sharing) * total, atol=tiny)


def test_split_of_the_published_shape() -> None:
    # Half sharing on three workers: 2153.155 requests split 1435.437 : 358.859 : 358.859.
    split = sharing_split([2153.155], [1], 3, 0.5)
    assert split[:, 0].tolist() == pytest.approx([358.859, 1435.437, 358.859], abs=1e-3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: HomeSharing(1.5), "sharing = 1.5 violates 0 <= sharing <= 1"),
        (lambda: HomeSharing(depth=-1), "depth = -1 violates depth >= 0"),
        (lambda: sharing_split([1], [0], 2, -0.1), "sharing = -0.1 violates"),
        (lambda: route(documents(1, 1), RoundRobin(), 0), "workers = 0 violates workers >= 1"),
        (lambda: documents(1, 1).routed([0], 0), "num_workers = 0 violates"),
    ],
)
def test_bad_parameters(build: object, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        build()  # type: ignore[operator]
