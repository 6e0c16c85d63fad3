"""The paper's planner: guarantees, known examples, order rule, baselines, stopping."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.planner.baselines import with_summary
from prefixplace.planner.greedy import greedy_starts, worker_greedy
from prefixplace.planner.methods import GreedyParams, MultiStartParams, RefinedParams
from prefixplace.planner.orders import start_orders
from prefixplace.planner.search import Search
from prefixplace.stopping import Clock
from tests.brute import closed_sets, fetch_cost, optimum, random_instance
from tests.shared import expected_values, shared_dir


def search(instance: pp.Instance) -> Search:
    return Search(instance, Clock(pp.Budget()))


def applicable(instance: pp.Instance) -> list[str]:
    return [name for name, method in pp.METHODS.items() if method.applies_to(instance)]


@given(st.integers(0, 100_000), st.booleans())
def test_every_method_keeps_its_guarantee_and_no_method_beats_the_optimum(seed: int, pairwise: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(
        rng, n=int(rng.integers(0, 6)), workers=int(rng.integers(1, 4)), pairwise=pairwise
    )
    best = optimum(instance)
    for name in applicable(instance):
        result = pp.solve(instance, name)
        assert result.placement is not None and result.value is not None
        assert result.value == instance.value(result.placement) <= best * (1 + 1e-12) + 1e-9
        factor = pp.METHODS[name].guarantee
        if factor is not None:
            assert result.value >= factor * best - 1e-9
        assert result.bound is None and result.status == "feasible" and result.stop_reason == "finished"


@given(st.integers(0, 100_000))
def test_prefixplace_is_never_below_its_candidates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=6, workers=3)
    value = {name: pp.solve(instance, name).value for name in applicable(instance)}
    assert value["greedy"] <= value["refined"] <= value["order-starts"] <= value["prefixplace"]  # type: ignore[operator]
    assert value["prefixplace"] >= max(value["independent"], value["popularity"], value["local-dedup"])  # type: ignore[type-var]


@pytest.mark.parametrize("pairwise", [False, True])
def test_greedy_is_the_best_response_in_turn(pairwise: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        instance = random_instance(rng, n=5, workers=3, pairwise=pairwise)
        order = tuple(rng.permutation(3).tolist())
        state = worker_greedy(search(instance), order)
        kept = np.zeros((3, 5), np.bool_)
        for m in order:
            reachable = []
            for choice in closed_sets(instance.tree, int(instance.budgets[m])):
                kept[m] = choice
                reachable.append(instance.objective.value(kept))
            kept[m] = state.mask[m]
            assert instance.objective.value(kept) == pytest.approx(max(reachable), rel=1e-12, abs=1e-9)


def test_shared_beginnings_change_nothing_but_the_number_of_oracle_calls() -> None:
    instance = random_instance(np.random.default_rng(4), n=7, workers=4)
    shared, alone = search(instance), search(instance)
    for order, state in greedy_starts(shared, permutations(range(4))):
        assert np.array_equal(state.mask, worker_greedy(alone, order).mask)
    assert alone.clock.iterations == 96 and shared.clock.iterations == 4 + 12 + 24 + 24


def test_refined_is_a_coordinate_wise_local_optimum() -> None:
    rng = np.random.default_rng(6)
    for _ in range(40):
        instance = random_instance(rng, n=5, workers=3)
        result = pp.solve(instance, "refined", params=RefinedParams(order=(2, 0, 1)))
        mask = result.placement.mask.copy()  # type: ignore[union-attr]
        for m in range(3):
            for choice in closed_sets(instance.tree, int(instance.budgets[m])):
                trial = mask.copy()
                trial[m] = choice
                assert instance.objective.value(trial) <= result.value * (1 + 1e-8) + 1e-9  # type: ignore[operator]


def test_order_rule() -> None:
    few = random_instance(np.random.default_rng(0), n=3, workers=4)
    assert list(start_orders(search(few))) == list(permutations(range(4)))
    many = random_instance(np.random.default_rng(0), n=5, workers=7)
    orders = list(start_orders(search(many)))
    assert len(orders) == 8 and all(sorted(order) == list(range(7)) for order in orders)
    assert orders[1] == orders[0][::-1] and orders == list(start_orders(search(many)))
    scores = [
        max(
            many.objective.value(np.eye(7, dtype=bool)[m][:, None] & choice)
            for choice in closed_sets(many.tree, int(many.budgets[m]))
        )
        for m in range(7)
    ]
    assert orders[0] == tuple(sorted(range(7), key=lambda m: (-round(scores[m], 9), m)))
    # the six permutations are part of the method's definition: the same on every machine
    assert orders[2:4] == [(1, 0, 4, 6, 5, 2, 3), (2, 3, 1, 5, 0, 6, 4)]


def test_trace_names_each_start_and_each_sweep() -> None:
    instance = random_instance(np.random.default_rng(9), n=8, workers=3)
    seen: list[pp.Progress] = []
    result = pp.solve(instance, progress=seen.append)
    assert sum("greedy" in line for line in result.log) == 6
    assert sum("sweep 1" in line for line in result.log) == 6
    assert [line.split(":")[0] for line in result.log[:3]] == ["independent", "popularity", "local-dedup"]
    assert len(seen) == len(result.trace) == len(result.log)
    values = [point.value for point in result.trace]
    assert values == sorted(values) and values[-1] == result.value  # type: ignore[type-var]
    assert result.counters["oracle_calls"] > 0


def test_baselines_are_what_the_model_says() -> None:
    rng = np.random.default_rng(12)
    for _ in range(30):
        instance = random_instance(rng, n=5, workers=3)
        covered = np.zeros(5, np.bool_)
        for name in ("independent", "popularity", "local-dedup"):
            mask = pp.solve(instance, name).placement.mask  # type: ignore[union-attr]
            covered[:] = False
            for m in range(3):
                profit = {
                    "independent": instance.demand[m] * instance.recompute[m],
                    "popularity": instance.demand[m],
                    "local-dedup": np.where(
                        covered, instance.local_value[m], instance.demand[m] * instance.recompute[m]
                    ),
                }[name]
                best = max(
                    profit[choice].sum() for choice in closed_sets(instance.tree, int(instance.budgets[m]))
                )
                assert profit[mask[m]].sum() == pytest.approx(best, rel=1e-12, abs=1e-9)
                covered |= mask[m]


def test_source_dependent_summaries() -> None:
    rng = np.random.default_rng(13)
    rates = rng.random((3, 3)) * 1e9 + 1e8
    rates[0, 1] = 0.0
    shape = {"demand": np.ones((3, 2)), "recompute": np.full((3, 2), 50.0), "budgets": [1, 1, 1]}
    tree = pp.PrefixTree.from_parents([-1, -1])
    model = pp.Instance(tree, fetch=pp.TransferModel([1e6, 2e6], rates), **shape)  # type: ignore[arg-type]
    table = np.array([[[fetch_cost(model, m, h, b) for b in range(2)] for h in range(3)] for m in range(3)])
    dense = pp.Instance(tree, fetch=table, **shape)  # type: ignore[arg-type]
    for instance in (model, dense):
        best = np.asarray(with_summary(instance, "best-source-cost").fetch)
        mean = np.asarray(with_summary(instance, "mean-transfer-cost").fetch)
        rate = np.asarray(with_summary(instance, "mean-rate").fetch)
        for m in range(3):
            peers = [h for h in range(3) if h != m]
            for b in range(2):
                costs = table[m, peers, b]
                assert best[m, b] == pytest.approx(costs.min())
                assert mean[m, b] == pytest.approx(costs[np.isfinite(costs)].mean())
                assert rate[m, b] == pytest.approx(8e3 * [1e6, 2e6][b] / rates[m, peers].mean())
    lonely = pp.Instance(
        tree, demand=np.ones((1, 2)), recompute=np.ones((1, 2)), fetch=np.ones((1, 1, 2)), budgets=[1]
    )
    assert np.isinf(np.asarray(with_summary(lonely, "mean-rate").fetch)).all()
    assert pp.solve(lonely, "mean-rate").value == 1


@pytest.mark.parametrize("name", sorted(expected_values()))
def test_notes_of_the_known_cases(name: str) -> None:
    """What the paper's methods do on each case, as noted beside its optimum."""
    instance = pp.read_instance(shared_dir("cases") / f"{name}.json")
    opt = expected_values()[name]["opt"]
    for method in applicable(instance):
        assert pp.solve(instance, method).value <= opt * (1 + 1e-9)  # type: ignore[operator]

    def value(order: tuple[int, ...], method: str = "refined") -> float | None:
        params = GreedyParams(order) if method == "greedy" else RefinedParams(order)
        return pp.solve(instance, method, params=params).value

    if name == "greedy-half":
        assert value((0, 1), "greedy") == value((0, 1)) == pytest.approx(1.011)
        assert value((1, 0), "greedy") == pytest.approx(opt)
    elif name == "all-orders-two-thirds":
        assert [value(order) for order in permutations(range(2))] == pytest.approx([2.031, 2.031])
    elif name == "identical-three-quarters":
        assert [
            value(order, m) for order in permutations(range(2)) for m in ("greedy", "refined")
        ] == pytest.approx([3.02] * 4)
    elif name == "xy-pool-6":
        assert pp.solve(instance).value < opt - 0.5  # type: ignore[operator]
        run = search(instance)
        for _order, state in greedy_starts(run, start_orders(run)):
            for m in range(12):
                profit = state.marginals(m)
                assert profit[run.respond(m, profit)].sum() == pytest.approx(profit[state.mask[m]].sum())


def test_limits_return_what_there_is() -> None:
    instance = random_instance(np.random.default_rng(21), n=8, workers=4)
    nothing = pp.solve(instance, budget=pp.Budget(seconds=0))
    assert nothing.stop_reason == "time" and nothing.value == 0
    finished = pp.solve(instance)
    for calls in (1, 3, 9, 30):
        part = pp.solve(instance, budget=pp.Budget(iterations=calls))
        assert part.stop_reason == "iterations" and part.counters["oracle_calls"] == calls
        assert 0 < part.value <= finished.value  # type: ignore[operator]


def test_ctrl_c_keeps_the_incumbent() -> None:
    instance = random_instance(np.random.default_rng(22), n=8, workers=4)

    def interrupt(progress: pp.Progress) -> None:
        if "sweep" in progress.message:
            raise KeyboardInterrupt

    result = pp.solve(instance, progress=interrupt)
    assert result.stop_reason == "user" and result.value > 0 and result.status == "feasible"  # type: ignore[operator]


def test_ctrl_c_in_the_disguise_of_a_compiled_kernel_keeps_the_incumbent_too() -> None:
    instance = random_instance(np.random.default_rng(22), n=8, workers=4)

    def interrupt(progress: pp.Progress) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    assert pp.solve(instance, progress=interrupt).stop_reason == "user"

    def fail(progress: pp.Progress) -> None:
        raise SystemError("a real one")

    with pytest.raises(SystemError, match="a real one"):
        pp.solve(instance, progress=fail)


def test_a_start_is_improved_and_never_lost() -> None:
    rng = np.random.default_rng(23)
    for _ in range(20):
        instance = random_instance(rng, n=6, workers=3)
        best = pp.solve(instance)
        for method in ("refined", "order-starts", "prefixplace"):
            assert pp.solve(instance, method, start=best.placement).value >= best.value  # type: ignore[operator]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "gredy"}, "unknown method 'gredy'; known are greedy"),
        ({"method": "mean-rate"}, "pairwise instances only"),
        ({"method": "greedy", "params": MultiStartParams()}, r"takes GreedyParams \(order\)"),
        ({"method": "greedy", "params": GreedyParams((0, 0))}, "each of 2 workers once"),
        (
            {"method": "greedy", "start": pp.Placement.empty(pp.PrefixTree.from_parents([-1]), 2)},
            "takes no start",
        ),
        ({"start": pp.Placement.empty(pp.PrefixTree.from_parents([-1, -1]), 2)}, "another tree"),
    ],
)
def test_wrong_calls(arguments: dict[str, object], message: str) -> None:
    tree = pp.PrefixTree.from_parents([-1])
    instance = pp.Instance.from_values(tree, local=[[1], [1]], coverage=[1], budgets=[1, 1])
    with pytest.raises(pp.InputError, match=message):
        pp.solve(instance, **arguments)  # type: ignore[arg-type]
    with pytest.raises(pp.InputError, match="tolerance"):
        MultiStartParams(tolerance=-1)
    with pytest.raises(pp.InputError, match="seconds is -1"):
        pp.Budget(seconds=-1)


def test_inputs_are_left_as_they_were() -> None:
    instance = random_instance(np.random.default_rng(30), n=8, workers=3)
    digest = instance.digest
    start = pp.Placement.empty(instance.tree, 3)
    for name in applicable(instance):
        pp.solve(instance, name, start=start if pp.METHODS[name].takes_start else None)
    again = pp.Instance(
        instance.tree,
        demand=instance.demand,
        recompute=instance.recompute,
        fetch=instance.fetch,
        budgets=instance.budgets,
    )
    assert again.digest == digest and start.sizes.sum() == 0


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_200_000_nodes(shape: str) -> None:
    n = 200_000
    parents = np.arange(-1, n - 1) if shape == "chain" else np.r_[-1, np.zeros(n - 1, np.int64)]
    tree = pp.PrefixTree.from_parents(parents)
    local = np.ones((2, n))
    instance = pp.Instance.from_values(tree, local=local, coverage=np.full(n, 2.0), budgets=[30, 50])
    result = pp.solve(instance, "refined")
    assert result.value == (30 * 3 + 50 * 1 + 20 * 2 if shape == "chain" else 80 + 2 * 79)
