"""The picture shows what is there: widths, colours, sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import prefixplace as pp
from prefixplace.lab import icicle as module
from prefixplace.lab.icicle import icicle, save


def instance(parents: object, demand: object = None, workers: int = 2, name: str = "") -> pp.Instance:
    tree = pp.PrefixTree.from_parents(parents)
    wanted = np.ones((workers, tree.n)) if demand is None else np.asarray(demand, float)
    return pp.Instance(
        tree,
        demand=wanted,
        recompute=np.ones((workers, tree.n)),
        fetch=np.ones((workers, tree.n)),
        budgets=[tree.n] * workers,
        name=name,
    )


def test_widths_by_leaves() -> None:
    """0 has the leaves 1 and 3 (below 2); 4 is a leaf of its own."""
    left, right = module._extent(instance([-1, 0, 0, 2, -1]), "leaves")
    np.testing.assert_allclose(left, np.array([0, 0, 1, 1, 2]) / 3)
    np.testing.assert_allclose(right, np.array([2, 1, 2, 2, 3]) / 3)


def test_widths_by_demand() -> None:
    """Chunk 0 is wanted 10 times: 4 by requests to 1, 3 to 2, and 3 that end at 0 itself."""
    left, right = module._extent(instance([-1, 0, 0, -1], [[4, 4, 0, 1], [6, 0, 3, 9]]), "demand")
    np.testing.assert_allclose(left, np.array([0, 0, 4, 10]) / 20)
    np.testing.assert_allclose(right, np.array([10, 4, 7, 20]) / 20)


def test_widths_by_demand_need_requests() -> None:
    with pytest.raises(pp.InputError, match="children of chunk 0 are wanted more often"):
        module._extent(instance([-1, 0], [[1, 2], [0, 0]]), "demand")


@pytest.mark.parametrize("chunks", [5, 300, 5000])
def test_every_pixel_is_the_average_of_what_it_covers(chunks: int) -> None:
    """Total ink equals the drawn area, whatever the size: width × depth of the chunks that are held."""
    rng = np.random.default_rng(chunks)
    case = instance([int(rng.integers(-1, i)) for i in range(chunks)])
    left, right = module._extent(case, "leaves")
    painter = module._Painter(case, left, right)
    held = rng.random(chunks) < 0.5
    ink = painter._coverage(held.astype(float))
    area = ((right - left) * held).sum() * module.COLUMNS
    assert ink.sum() == pytest.approx(area)
    everything = painter._coverage(np.ones(chunks)) / painter._levels[:, None]
    assert everything.min() >= -1e-9 and everything.max() <= 1 + 1e-9


def test_colours_of_a_known_placement() -> None:
    """Two leaves side by side; worker 0 keeps the left one alone, both keep the right one."""
    case = instance([-1, -1], name="two")
    figure = icicle(case, pp.Placement(case.tree, [[1, 1], [0, 1]]))
    first, second, holders = (axes.images[0].get_array() for axes in figure.axes)
    from matplotlib.colors import to_rgb

    assert first is not None and second is not None and holders is not None
    np.testing.assert_allclose(first[0, 0], to_rgb(module.ONLY_HERE), atol=1e-6)
    np.testing.assert_allclose(first[0, -1], to_rgb(module.REPLICATED), atol=1e-6)
    np.testing.assert_allclose(second[0, 0], to_rgb(module.NOT_HELD), atol=1e-6)
    np.testing.assert_allclose(second[0, -1], to_rgb(module.REPLICATED), atol=1e-6)
    assert not np.allclose(holders[0, 0], holders[0, -1])
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "worker-0: 2 of 2 chunks, 1 of them only here",
        "worker-1: 1 of 2 chunks, 0 of them only here",
        "number of holders",
    ]


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_200_000_chunks(shape: str, tmp_path: Path) -> None:
    n = 200_000
    parents = np.arange(-1, n - 1) if shape == "chain" else np.r_[-1, np.zeros(n - 1, int)]
    case = instance(parents)
    mask = np.zeros((2, n), bool)
    mask[0, : n // 2] = True
    path = tmp_path / "large.png"
    save(icicle(case, pp.Placement(case.tree, mask)), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_many_workers_stay_within_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TALLEST_IN", 9.0)
    case = instance([-1, 0], workers=12)
    figure = icicle(case, pp.Placement.empty(case.tree, 12))
    assert len(figure.axes) == 13 and figure.get_figheight() == 9.0


def test_errors_name_the_place(tmp_path: Path) -> None:
    case = instance([-1])
    figure = icicle(case, pp.Placement.empty(case.tree, 2))
    with pytest.raises(pp.InputError, match=r"a picture ends in \.png"):
        save(figure, tmp_path / "x.doc")
    with pytest.raises(pp.InputError, match="cannot be written"):
        save(figure, tmp_path / "no" / "x.png")
    empty = pp.Instance(pp.PrefixTree.from_parents([]), demand=[[]], recompute=[[]], fetch=[[]], budgets=[0])
    with pytest.raises(pp.InputError, match="without chunks"):
        icicle(empty, pp.Placement.empty(empty.tree, 1))
