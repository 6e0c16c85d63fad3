"""Every trap of the solvers that was measured, by name. Each test shows that we do not fall into it; where the trap
itself can be shown cheaply, the test shows that too, so that it is noticed when a new version removes it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.backend import Availability, Backend, Outcome, Run, closed_part
from exact.backends import pulp_model as pulp_model_module
from exact.backends.compact import CompactParams
from exact.backends.cp_sat import CpSatParams, whole_numbers
from exact.backends.highs import new_highs, pass_model, set_option
from exact.compact import compact_arrays, compact_problem
from tests.exact.backends import hard
from tests.shared import shared_dir

SECONDS = pp.Budget(seconds=1.0)


def in_fresh_process(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# PuLP


@pytest.mark.parametrize("backend", ["pulp-highs", "pulp-cbc"])
def test_pulp_calls_a_stop_at_the_time_limit_optimal(backend: str) -> None:
    result = exact.solve(hard.parity_blocked(), backend, budget=SECONDS)
    assert result.stop_reason == "time"
    assert result.status != "optimal"


def test_pulp_says_optimal_at_the_time_limit() -> None:
    import pulp

    model, _ = pulp_model_module.pulp_model(compact_problem(hard.parity_blocked()), 1.0)
    with pytest.warns(DeprecationWarning, match="PULP_CBC_CMD"):
        solver = pulp.PULP_CBC_CMD(msg=False, timeLimit=1)
    assert model.solve(solver) == pulp.LpStatusOptimal  # the trap
    assert model.sol_status != pulp.LpSolutionOptimal


def test_pulp_variables_hold_lp_values_without_incumbent() -> None:
    # this limit ends CBC before it has any placement: PuLP's variables then hold a fractional relaxation
    instance = hard.parity_blocked()
    result = exact.solve(instance, "pulp-cbc", budget=pp.Budget(seconds=0.35))
    assert result.status in ("none", "feasible")
    if result.placement is not None:
        assert instance.value(result.placement) == result.value


@pytest.mark.parametrize("backend", ["pulp-highs", "pulp-cbc"])
def test_pulp_dual_bound_is_negated_for_a_maximisation(backend: str) -> None:
    result = exact.solve(hard.medium(), backend)
    assert result.bound is not None
    assert result.bound > 0
    assert result.status == "optimal"


def test_cbc_bound_is_only_in_its_log() -> None:
    result = exact.solve(hard.parity_blocked(), "pulp-cbc", budget=pp.Budget(seconds=2))
    assert result.bound is not None
    assert hard.PARITY_BLOCKED_OPTIMUM <= result.bound <= 186.001
    assert any("best possible" in line or "Lower bound" in line for line in result.log)


def test_cbc_search_completed_at_a_gap_limit_is_no_bound() -> None:
    # CBC writes "Search completed - best objective" and "Optimal solution found (within gap tolerance)"
    instance = pp.read_instance(shared_dir("cases") / "mismatch-exact-1.json")
    result = exact.solve(instance, "pulp-cbc", budget=pp.Budget(gap=0.05, seconds=60))
    assert result.stop_reason == "finished"
    assert result.bound is not None
    assert result.bound >= 10535385.257963 * (1 - 1e-9)


def test_cbc_takes_a_start_with_the_wrong_sign_when_it_maximises() -> None:
    # as a maximisation CBC reads the value of the start as a cost of the other sign and then accepts worse solutions
    instance = hard.medium()
    optimum = exact.solve(instance, "highs").placement
    assert optimum is not None
    result = exact.solve(instance, "pulp-cbc", start=optimum)
    assert result.counters["start_accepted"] == 1
    taken = next(line for line in result.log if "MIPStart provided solution with cost" in line)
    assert float(taken.rsplit(" ", 1)[1]) < 0


def test_pulp_knows_no_node_limit_of_highs() -> None:
    # PuLP's table of HiGHS statuses has no entry for it, and it raises KeyError
    result = exact.solve(hard.small_parity_blocked(), "pulp-highs", budget=pp.Budget(nodes=1, seconds=20))
    assert result.stop_reason == "nodes"


def test_pulp_4_is_not_supported_and_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulp_model_module, "version", lambda package: "4.0.1")
    for name in ("pulp-cbc", "pulp-highs"):
        found = exact.BACKENDS[name].available()
        assert not found.usable
        assert "PuLP 4 is a rewrite" in found.reason
        assert "pulp>=3.3.2,<4" in found.hint
        result = exact.solve(hard.tiny(), name)
        assert (result.status, result.stop_reason) == ("none", "unavailable")
        assert "PuLP 4" in result.log[-1]


# highspy


def test_highspy_prints_a_banner_although_silent() -> None:
    bare = in_fresh_process("import highspy; h = highspy.Highs(); h.silent()")
    assert "Running HiGHS" in bare.stdout  # the trap
    ours = in_fresh_process(
        """
        import exact, numpy as np, prefixplace as pp
        tree = pp.PrefixTree.from_parents([-1, 0])
        instance = pp.Instance.from_values(tree, local=[[0.0, 1.0]], coverage=[0.0, 1.0], budgets=[2])
        assert exact.solve(instance, "highs").log[0].startswith("Running HiGHS")
        """
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, "", "")


def test_highs_default_gap_is_not_zero() -> None:
    highs = new_highs()
    assert highs.getOptionValue("mip_rel_gap")[1] == 1e-4  # the trap
    instance = hard.medium()
    params = CompactParams(options={"mip_rel_gap": 0.5})
    loose = exact.solve(instance, "highs", params=params)
    assert loose.stop_reason == "finished"
    tight = exact.solve(instance, "highs")
    assert (tight.status, tight.gap) == ("optimal", 0.0)


def test_highs_says_optimal_at_a_gap_limit() -> None:
    result = exact.solve(hard.parity_blocked(), "highs", budget=pp.Budget(gap=0.3, seconds=60))
    assert result.stop_reason == "finished"
    assert result.status == "feasible"
    assert result.gap is not None
    assert 0 < result.gap <= 0.3


def test_highs_objective_is_infinite_without_incumbent() -> None:
    result = exact.solve(hard.parity_blocked(), "highs", budget=pp.Budget(seconds=1e-4))
    assert result.status in ("none", "feasible")
    assert result.value is None or np.isfinite(result.value)


def test_highs_clock_adds_up_over_runs_of_one_object() -> None:
    limits = [exact.solve(hard.parity_blocked(), "highs", budget=pp.Budget(seconds=0.6)) for _ in range(3)]
    assert [result.stop_reason for result in limits] == ["time"] * 3
    assert all(result.seconds >= 0.5 for result in limits)  # with one object the third would end at once


def test_highs_threads_are_global_until_the_scheduler_is_reset() -> None:
    ours = in_fresh_process(
        """
        import sys
        sys.path.insert(0, ".")
        import exact
        from tests.exact.backends import hard
        for threads in (1, 2, 1):
            result = exact.solve(hard.medium(), "highs", threads=threads)
            assert result.status == "optimal", result
        """
    )
    assert ours.returncode == 0, ours.stderr


def test_highs_wrong_options_return_a_code_and_raise_nothing() -> None:
    highs = new_highs()
    with pytest.raises(pp.InputError, match="no_such_option"):
        set_option(highs, "no_such_option", 1)
    with pytest.raises(pp.InputError, match="mip_rel_gap"):
        exact.solve(hard.tiny(), "highs", params=CompactParams(options={"mip_rel_gap": "tight"}))


def test_highs_drops_infeasible_starts_silently() -> None:
    import highspy

    problem = compact_problem(hard.medium())
    highs = new_highs()
    pass_model(highs, compact_arrays(problem), 1.0)
    start = highspy.HighsSolution()
    start.col_value = np.ones(problem.num_variables)  # over every budget
    assert highs.setSolution(start) == highspy.HighsStatus.kOk  # the trap

    feasible = pp.solve(hard.medium(), "greedy").placement
    result = exact.solve(hard.medium(), "highs", start=feasible)
    assert result.counters["start_accepted"] == 1


# CP-SAT


def test_cp_sat_bound_is_zero_when_nothing_is_known() -> None:
    result = exact.solve(hard.parity_blocked(), "cp-sat", budget=pp.Budget(seconds=1e-3))
    assert result.bound is None or result.bound >= hard.PARITY_BLOCKED_OPTIMUM


def test_cp_sat_coefficients_are_rounded_up() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        cost = rng.random(20) * 10.0 ** rng.integers(-6, 9)
        digits = int(rng.integers(6, 53))
        whole, scale, excess = whole_numbers(cost, digits)
        assert whole.sum() <= 2**digits
        assert np.all(whole / scale >= cost)
        assert excess == pytest.approx(float((whole / scale - cost).sum()))
        assert excess <= 20 / scale


def test_cp_sat_scaling_costs_nothing_on_whole_values() -> None:
    whole, scale, excess = whole_numbers(np.array([3.0, 6.0, 0.0, 1.5]), 50)
    assert (whole.tolist(), scale, excess) == ([6, 12, 0, 3], 2.0, 0.0)
    assert whole_numbers(np.zeros(3), 50) == (pytest.approx(np.zeros(3)), 1.0, 0.0)


def test_cp_sat_says_what_the_scaling_costs_and_its_bound_stays_rigorous() -> None:
    instance = hard.medium()
    scaled = pp.Instance.from_values(
        instance.tree,
        local=instance.local_value / 3,
        coverage=instance.coverage_value / 3,
        budgets=instance.budgets,
    )
    optimum = exact.solve(scaled, "highs").value
    coarse = exact.solve(scaled, "cp-sat", params=CpSatParams(digits=14))
    assert optimum is not None
    assert coarse.bound is not None
    assert coarse.bound >= optimum
    assert "ms too high" in coarse.log[0]
    with pytest.raises(pp.InputError, match="digits"):
        CpSatParams(digits=53)
    with pytest.raises(pp.InputError, match="digits is 3, too few"):
        exact.solve(scaled, "cp-sat", params=CpSatParams(digits=3))


def test_cp_sat_needs_linearization_level_2() -> None:
    instance = hard.parity_blocked()
    result = exact.solve(instance, "cp-sat", budget=pp.Budget(seconds=3))
    assert result.bound is not None
    assert result.bound <= 186.0  # the LP; with the default level one worker reports the sum of everything
    assert any("linearization_level: 2" in line for line in result.log)


def test_cp_sat_hints_every_variable() -> None:
    instance = hard.medium()
    start = pp.solve(instance, "greedy").placement
    result = exact.solve(instance, "cp-sat", start=start)
    assert any("hint is complete and is feasible" in line for line in result.log)
    assert result.counters["start_accepted"] == 1


def test_cp_sat_unknown_parameter_is_an_input_error() -> None:
    with pytest.raises(pp.InputError, match="no_such_parameter"):
        exact.solve(hard.tiny(), "cp-sat", params=CpSatParams(options={"no_such_parameter": 1}))


# MathOpt and the import orders

ORDERS = [
    "import pulp, highspy; from ortools.sat.python import cp_model; from ortools.math_opt.python import mathopt",
    "from ortools.math_opt.python import mathopt; from ortools.sat.python import cp_model; import highspy, pulp",
    "import highspy; from ortools.sat.python import cp_model; import pulp",
    "from ortools.linear_solver import pywraplp; import pulp, highspy",
]


@pytest.mark.parametrize("imports", ORDERS)
def test_import_orders_of_the_solvers(imports: str) -> None:
    ours = in_fresh_process(
        f"""
        {imports}
        import sys
        sys.path.insert(0, ".")
        import exact
        from tests.exact.backends import hard
        for name in ("highs", "pulp-highs", "cp-sat"):
            assert exact.solve(hard.tiny(), name).status == "optimal", name
        """
    )
    assert ours.returncode == 0, ours.stderr


def test_mathopt_highs_is_never_called() -> None:
    for path in (Path(exact.__file__).parent).rglob("*.py"):
        assert "SolverType.HIGHS" not in path.read_text(), path


def test_mathopt_scip_bound_reads_zero_before_the_first_node() -> None:
    # the start is reported as an incumbent before presolve, with a dual bound of 0 that would be false
    instance = hard.parity_blocked()
    start = pp.solve(instance, "greedy").placement
    result = exact.solve(instance, "scip", budget=pp.Budget(seconds=2), start=start)
    assert result.bound is not None
    assert result.bound >= hard.PARITY_BLOCKED_OPTIMUM
    assert not any("dropped a false bound" in line for line in result.log)


def test_importing_the_table_of_back_ends_loads_no_solver() -> None:
    ours = in_fresh_process(
        """
        import sys, exact
        assert set(exact.BACKENDS) >= {"brute-force", "highs", "cp-sat", "scip", "pulp-cbc", "pulp-highs"}
        for name in exact.BACKENDS.values():
            name.available()
        heavy = {"ortools", "pulp", "highspy", "pandas"} & set(sys.modules)
        assert not heavy, heavy
        """
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, "", "")


def test_the_package_exact_is_ours() -> None:
    # PyPI has an unrelated package of this name
    assert exact.__file__ is not None
    assert Path(exact.__file__).parent.name == "exact"
    assert hasattr(exact, "solve"), f"{exact.__file__} shadows this project's package exact"


# What holds for all of them


class Liar(Backend):
    """Reports what a solver with loose tolerances, or a broken one, might report."""

    name = "liar"
    summary = "lies"
    modules = ("json",)

    def __init__(self, values: list[np.ndarray], bounds: list[float], then: Exception | Outcome) -> None:
        self.values, self.bounds, self.then = values, bounds, then

    def available(self) -> Availability:
        return Availability(True, "here")

    def run(self, run: Run, params: object) -> Outcome:
        for values in self.values:
            run.offer(values)
        for bound in self.bounds:
            run.tighten(bound)
        if isinstance(self.then, Exception):
            raise self.then
        return self.then


def solve_with(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> pp.Result:
    import exact.solving

    monkeypatch.setattr(exact.solving, "BACKENDS", {"liar": liar})
    return exact.solve(hard.tiny(), "liar")


def test_fractional_and_unclosed_values_are_repaired_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    unclosed = np.array([[0.2, 1.0, 0.9999, 0.0], [0.0, 0.0, 0.4, 0.5]])
    over = np.ones((2, 4))
    result = solve_with(Liar([unclosed, over], [], Outcome("finished")), monkeypatch)
    assert result.placement is not None
    assert result.placement.mask.tolist() == [[False, False, True, False], [False] * 4]
    assert result.value == 1.0
    assert any("refused a placement" in line for line in result.log)


def test_a_false_bound_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    optimum = np.array([[0, 0, 1, 0], [0, 0, 0, 1]])
    result = solve_with(
        Liar([optimum], [5.0, 1.0, float("nan"), float("inf")], Outcome("finished")), monkeypatch
    )
    assert (result.value, result.bound, result.status) == (2.0, None, "feasible")


def test_infeasible_is_reported_as_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    result = solve_with(Liar([], [], Outcome("finished", claims_infeasible=True)), monkeypatch)
    assert (result.status, result.bound) == ("infeasible", None)


def test_a_solver_that_fails_keeps_what_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    optimum = np.array([[0, 0, 1, 0], [0, 0, 0, 1]])
    result = solve_with(Liar([optimum], [2.5], RuntimeError("segment 7")), monkeypatch)
    assert (result.value, result.bound, result.stop_reason) == (2.0, 2.5, "error")
    assert result.log[-1] == "RuntimeError: segment 7"


def test_ctrl_c_inside_a_compiled_kernel_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    error = SystemError("CPUDispatcher returned a result with an exception set")
    error.__cause__ = SystemError("the same, one frame below")
    error.__cause__.__context__ = KeyboardInterrupt()
    optimum = np.array([[0, 0, 1, 0], [0, 0, 0, 1]])
    result = solve_with(Liar([optimum], [2.5], error), monkeypatch)
    assert (result.value, result.bound, result.stop_reason) == (2.0, 2.5, "user")


def test_closed_part_against_the_definition() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        tree = pp.PrefixTree.from_parents([-1 if i == 0 else int(rng.integers(-1, i)) for i in range(n)])
        instance = pp.Instance.from_values(tree, local=np.zeros((2, n)), coverage=np.zeros(n), budgets=[n, n])
        values = rng.random((2, n))
        expected = values > 0.5
        for b in range(n):
            if tree.parent[b] >= 0:
                expected[:, b] &= expected[:, tree.parent[b]]
        assert np.array_equal(closed_part(instance, values), expected)


def test_closed_part_of_a_long_chain_with_holes_is_linear() -> None:
    instance = hard.chain()
    values = np.ones((2, instance.num_chunks))
    values[:, 1::2] = 0.0
    assert np.count_nonzero(closed_part(instance, values)) == 2


@pytest.mark.parametrize("backend", ["highs", "cp-sat", "pulp-cbc", "branch-and-bound"])
def test_exceptions_of_the_callers_callbacks_come_out(backend: str) -> None:
    class Mine(Exception):
        pass

    def fail(told: object) -> None:
        raise Mine

    with pytest.raises(Mine):
        exact.solve(hard.medium(), backend, progress=fail)
    with pytest.raises(Mine):
        exact.solve(hard.medium(), backend, log=fail)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "gurobi"}, "unknown back-end 'gurobi'; known are brute-force, highs"),
        ({"threads": 0}, "threads is 0"),
        ({"params": CpSatParams()}, "takes CompactParams"),
        ({"backend": "brute-force", "start": pp.Placement.empty(hard.tiny().tree, 2)}, "takes no start"),
        ({"log": "/no/such/folder/log"}, "cannot be written"),
    ],
)
def test_wrong_arguments_give_one_clear_line(arguments: dict, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        exact.solve(hard.tiny(), **arguments)
