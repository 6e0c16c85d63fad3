"""Exported models: read by other programs, solved again, and their answers read back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.compact import MODEL, Formulation
from exact.export import read_solution, write_model
from tests.brute import random_instance
from tests.exact.backends import hard

INSTANCES = {
    "tiny": hard.tiny(),
    "medium": hard.medium(),
    "pairwise": random_instance(np.random.default_rng(8), n=7, workers=3, pairwise=True),
    "shuffled": random_instance(np.random.default_rng(9), n=9, workers=3),
}


def optimum(name: str) -> float:
    value = exact.solve(INSTANCES[name], "highs").value
    assert value is not None
    return value


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("suffix", ["mps", "lp"])
@pytest.mark.parametrize("formulation", [MODEL, Formulation(symmetry_breaking=True)], ids=["model", "strong"])
@pytest.mark.parametrize("minimise", [False, True])
def test_reread_by_highs_and_solved_equal(
    name: str, suffix: str, formulation: Formulation, minimise: bool, tmp_path: Path
) -> None:
    import highspy

    from exact.backends.highs import new_highs, set_option

    file, answer = tmp_path / f"model.{suffix}", tmp_path / "answer.sol"
    write_model(INSTANCES[name], file, formulation=formulation, minimise=minimise)
    highs = new_highs()
    assert highs.readModel(str(file)) == highspy.HighsStatus.kOk
    sense = highspy.ObjSense.kMinimize if minimise else highspy.ObjSense.kMaximize
    assert highs.getObjectiveSense()[1] == sense
    set_option(highs, "mip_rel_gap", 0.0)
    highs.run()
    sign = -1 if minimise else 1
    assert sign * highs.getInfo().objective_function_value == pytest.approx(optimum(name), rel=1e-9)
    highs.writeSolution(str(answer), 0)
    placement = read_solution(INSTANCES[name], answer, formulation=formulation)
    assert INSTANCES[name].value(placement) == pytest.approx(optimum(name), rel=1e-9)


@pytest.mark.parametrize("suffix", ["mps", "lp"])
def test_reread_by_cbc_and_its_solution_file_read_back(suffix: str, tmp_path: Path) -> None:
    from pulp.apis.coin_api import PULP_CBC_CMD

    file, answer = tmp_path / f"model.{suffix}", tmp_path / "answer.sol"
    write_model(INSTANCES["medium"], file, minimise=True)
    subprocess.run(
        [PULP_CBC_CMD.pulp_cbc_path, str(file), "-ratio", "0", "-solve", "-solution", str(answer)],
        capture_output=True,
        check=True,
        timeout=60,
    )
    placement = read_solution(INSTANCES["medium"], answer)
    assert INSTANCES["medium"].value(placement) == pytest.approx(optimum("medium"), rel=1e-9)


def test_a_maximisation_in_mps_is_read_as_a_minimisation_by_cbc(tmp_path: Path) -> None:
    """The trap that `minimise` is for."""
    from pulp.apis.coin_api import PULP_CBC_CMD

    file = tmp_path / "model.mps"
    write_model(INSTANCES["medium"], file)
    found = subprocess.run(
        [PULP_CBC_CMD.pulp_cbc_path, str(file), "-solve"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "Objective value:                0.0000" in found.stdout


def test_reread_by_pulp(tmp_path: Path) -> None:
    import pulp

    file = tmp_path / "model.mps"
    write_model(INSTANCES["medium"], file, minimise=True)
    _, model = pulp.LpProblem.fromMPS(str(file))
    model.solve(pulp.HiGHS(msg=False, gapRel=0.0))
    assert -pulp.value(model.objective) == pytest.approx(optimum("medium"), rel=1e-9)


def test_names_are_the_numbers_of_the_file(tmp_path: Path) -> None:
    tree = pp.PrefixTree.from_parents([1, -1])  # chunk 0 of the file is the child
    instance = pp.Instance.from_values(tree, local=[[0.25, 1e-7]], coverage=[0.0, 0.0], budgets=[2])
    write_model(instance, tmp_path / "model.lp")
    text = (tmp_path / "model.lp").read_text()
    assert "+ 0.25 x_0_1" in text
    assert "+ 1e-07 x_0_0" in text


def test_other_solution_formats_are_read(tmp_path: Path) -> None:
    instance = hard.tiny()
    forms = {
        "highs": "# Columns 2\nx_0_2 1\nx_1_3 1\ny_2 1\n",
        "cbc": "Optimal - objective value 2.0\n      0 x_0_2     1    0\n      1 x_1_3     1   0\n",
        "scip": "objective value:   2\nx_0_2     1 \t(obj:1)\nx_1_3    1 \t(obj:1)\n",
        "cplex": '<variable name="x_0_2" index="0" value="1"/>\n<variable name="x_1_3" index="4" value="0.9999999"/>\n',
        "gurobi": "# Objective value = 2\nx_0_2 1\nx_1_3 1\nx_0_0 0\n",
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        assert instance.value(read_solution(instance, tmp_path / name)) == 2.0, name


def test_wrong_files_give_one_clear_line(tmp_path: Path) -> None:
    instance, file = hard.tiny(), tmp_path / "answer.sol"
    with pytest.raises(pp.InputError, match=r"ends in \.mps or \.lp"):
        write_model(instance, tmp_path / "model.txt")
    with pytest.raises(pp.InputError, match="cannot be written"):
        write_model(instance, tmp_path / "no" / "model.lp")
    nothing = pp.Instance.from_values(
        instance.tree, local=np.zeros((1, 4)), coverage=np.zeros(4), budgets=[1]
    )
    with pytest.raises(pp.InputError, match="worth keeping"):
        write_model(nothing, tmp_path / "model.lp")
    with pytest.raises(pp.InputError, match="No such file"):
        read_solution(instance, file)
    for text, message in (
        ("nothing here", "no value of any variable"),
        ("x_7_0 1", "x_7_0 is no variable"),
        ("x_1_2 1\nx_1_3 1", "worker 1 keeps 2 chunks with a budget of 1"),
    ):
        file.write_text(text)
        with pytest.raises(pp.InputError, match=message):
            read_solution(instance, file)
