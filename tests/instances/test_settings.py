"""The paper's experiment settings: counts, shapes, levels."""

from __future__ import annotations

from collections import Counter

import pytest

import instances
from tests.shared import shared_dir


def test_exact_block_1() -> None:
    settings = list(instances.exact_block_1())
    assert len(settings) == len({s.name for s in settings}) == 216
    sizes = {s.seed: s.instance().num_chunks for s in settings[:8]}
    assert (min(sizes.values()), max(sizes.values())) == (175, 189)
    assert Counter(s.family.gpus for s in settings) == {("T4", "L4", "A100"): 72, ("L4",): 72, ("A100",): 72}
    instance = settings[0].instance()
    assert instance.num_workers == 3
    assert instance.budgets.tolist() == [instance.num_chunks // 10] * 3
    assert {s.instance().num_chunks for s in settings[::8]} == {183}  # the forest depends on the seed alone


def test_exact_block_2() -> None:
    settings = list(instances.exact_block_2())
    assert len(settings) == len({s.name for s in settings}) == 216
    drawn = [s.instance() for s in settings[::7]]
    assert {i.num_chunks for i in drawn} == {183}
    assert {int(i.budgets[0]) for i in drawn} == {18, 36}
    assert len({i.digest for i in drawn}) == len(drawn)
    assert settings == list(instances.exact_block_2())


def test_source_dependent_and_lp_checkpoints() -> None:
    pairwise = list(instances.source_dependent())
    assert len({s.name for s in pairwise}) == 45
    drawn = [s.instance() for s in pairwise[::4]]
    assert all(i.pairwise and i.num_workers == 6 and 37 <= i.num_chunks <= 61 for i in drawn)
    full = list(instances.lp_checkpoints())
    assert len({s.name for s in full}) == 40
    assert all(s.instance().num_chunks == pytest.approx(601, abs=20) for s in full[:5])
    assert Counter(s.family.gpus for s in full)["T4",] == 10


def test_settings_differ_only_in_what_their_name_says() -> None:
    by_seed = [s for s in instances.exact_block_1() if s.seed == 3 and s.family.gpus == ("L4",)]
    assert len({s.family for s in by_seed}) == len(by_seed) == 9
    assert len({(s.family.goodput_gbps, s.family.sharing) for s in by_seed}) == 9


def test_known_cases_have_the_same_shape_of_numbers() -> None:
    import numpy as np

    import prefixplace as pp

    known = pp.read_instance(shared_dir("cases/rag-exact-t4-l4-a100-0.json"))
    ours = next(
        s for s in instances.exact_block_1() if s.family.sharing == 1.0 and s.family.goodput_gbps == 3.0
    ).instance()
    assert ours.demand[:, 0] == pytest.approx(known.demand[:, 0], abs=1e-2)
    # Most popular document and its three questions, then the next document.
    for instance in (known, ours):
        documents = instance.demand.sum(0)[instance.tree.parent == 0]
        assert documents[0] / documents[1] == pytest.approx(2**0.9, rel=1e-4)
    np.testing.assert_allclose(
        np.sort(ours.demand.sum(0)[ours.tree.parent == 0]),
        np.sort(known.demand.sum(0)[known.tree.parent == 0]),
        atol=2e-3,
    )
    depth = int(min(known.tree.depth.max(), ours.tree.depth.max()))
    for d in range(depth + 1):
        row = [i.recompute[:, i.tree.depth == d][:, 0] for i in (known, ours)]
        np.testing.assert_allclose(row[0], row[1])
    assert isinstance(known.fetch, np.ndarray) and isinstance(ours.fetch, np.ndarray)
    np.testing.assert_allclose(known.fetch[:, 0], ours.fetch[:, 0], atol=1e-3)
