"""Families by name, settings as text, the embedded default, a light import."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import instances
import prefixplace as pp
from instances import registry
from instances.registry import _parsed


@pytest.mark.parametrize("name", sorted(instances.FAMILIES))
def test_every_family_is_a_frozen_dataclass_with_defaults_and_a_summary(name: str) -> None:
    family = instances.FAMILIES[name]
    assert is_dataclass(family)
    assert family.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert re.sub(r"(?<!^)(?=[A-Z])", "-", family.__name__).lower() == name
    assert instances.summary(name).endswith(".")
    assert set(instances.parameters(name)) == {field.name for field in fields(family)}
    documented = " ".join(base.__doc__ or "" for base in family.__mro__)
    for parameter in instances.parameters(name):
        assert re.search(rf"^\s*([a-z_]+, )*{parameter}(, [a-z_]+)* :|^\s*{parameter}$", documented, re.M), (
            parameter
        )


def test_settings_as_text() -> None:
    family: Any = instances.build(
        "rag-shaped",
        {
            "workers": "4",
            "gpus": "L4, A100",
            "document-chunks": "2,4",
            "sharing": "0.5",
            "model": "qwen2.5-3b",
            "budget_chunks": "",
            "documents": 3,
        },
    )
    assert (family.workers, family.gpus, family.document_chunks) == (4, ("L4", "A100"), (2, 4))
    assert (family.sharing, family.model, family.budget_chunks, family.documents) == (
        0.5,
        "qwen2.5-3b",
        (),
        3,
    )
    growing: Any = instances.build("multi-turn", {"growing": "true"})
    assert growing.growing is True


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("rag", {}, "unknown family 'rag'; known: rag-shaped"),
        ("rag-shaped", {"worker": "4"}, "family rag-shaped has no parameter 'worker'; it has workers, gpus"),
        ("rag-shaped", {"workers": "four"}, "family rag-shaped: workers is 'four', not a whole number"),
        ("rag-shaped", {"workers": "2.5"}, "family rag-shaped: workers is '2.5', not a whole number"),
        ("rag-shaped", {"sharing": "x"}, "family rag-shaped: sharing is 'x', not a number"),
        ("rag-shaped", {"document_chunks": "4"}, "len(document_chunks) == 2"),
        ("rag-shaped", {"sharing": "2"}, "sharing = 2.0 violates 0 <= sharing <= 1"),
        ("multi-turn", {"growing": "maybe"}, "growing is 'maybe', not true or false"),
    ],
)
def test_bad_settings(name: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(pp.InputError) as error:
        instances.build(name, settings)
    assert message in str(error.value)


def test_optional_parameters_and_parameters_without_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _parsed("p", "none", int | None) is None
    assert _parsed("p", "7", int | None) == 7

    @dataclass(frozen=True)
    class Needy:
        """Needs a size."""

        size: int

        def sample(self, seed: int = 0) -> pp.Instance:
            raise NotImplementedError

    monkeypatch.setattr(registry, "FAMILIES", {"needy": Needy})
    assert registry.parameters("needy") == {}
    with pytest.raises(pp.InputError, match=r"family needy: .*size"):
        registry.build("needy")


def test_default_instance_shows_the_methods_apart() -> None:
    instance = instances.default()
    assert (instance.num_chunks, instance.budgets.tolist()) == (212, [21, 21, 21])
    assert [name.split("-")[0] for name in instance.workers] == ["T4", "L4", "A100"]
    value = {m: pp.solve(instance, m).value for m in ("independent", "greedy", "refined", "prefixplace")}
    ladder = np.array(list(value.values()))
    assert np.all(ladder[1:] > 1.02 * ladder[:-1])


def test_import_is_light_and_silent() -> None:
    code = (
        "import sys, instances; instances.FAMILIES; "
        "print([m for m in ('numba', 'ortools', 'pandas', 'matplotlib', 'networkx', 'highspy', "
        "'instances.families.rag', 'instances.traces') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (out.stdout, out.stderr) == ("[]\n", "")


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        instances.nothing  # noqa: B018
    assert {"FAMILIES", "build", "default", "trace_instance"} <= set(dir(instances))
    for name in instances.__all__:
        assert getattr(instances, name) is not None
