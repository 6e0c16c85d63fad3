"""The families by name, and building one from settings given as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from types import UnionType
from typing import Any, ClassVar, Protocol, Union, get_args, get_origin, get_type_hints

from prefixplace.errors import InputError
from prefixplace.instance import Instance

__all__ = ["FAMILIES", "Family", "build", "parameters", "summary"]


class Family(Protocol):
    """A frozen dataclass of parameters that draws instances: the same bytes for the same seed."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def sample(self, seed: int = 0) -> Instance:
        """The instance of this seed."""


class _Families(Mapping[str, type[Family]]):
    """Name → class, imported on first use."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)

    def __getitem__(self, name: str) -> type[Family]:
        module, _, attribute = self._homes[name].partition(":")
        family: type[Family] = getattr(import_module(module), attribute)
        return family

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


FAMILIES: Mapping[str, type[Family]] = _Families(
    {
        "rag-shaped": "instances.families.rag:RagShaped",
        "mismatched-rag": "instances.families.rag:MismatchedRag",
        "two-group-rag": "instances.families.rag:TwoGroupRag",
        "multi-turn": "instances.families.sessions:MultiTurn",
        "uniform-recursive": "instances.families.recursive:UniformRecursive",
        "random-values": "instances.families.recursive:RandomValues",
        "caterpillar": "instances.families.shapes:Caterpillar",
        "star": "instances.families.shapes:Star",
        "deep-chain": "instances.families.shapes:DeepChain",
        "tenant-prompts": "instances.families.tenants:TenantPrompts",
        "agent-traces": "instances.families.agents:AgentTraces",
        "wiki-qa-like": "instances.families.wikiqa:WikiQaLike",
        "trace-twin": "instances.families.twin:TraceTwin",
        "one-order-half": "instances.tight:OneOrderHalf",
        "all-orders-two-thirds": "instances.tight:AllOrdersTwoThirds",
        "identical-three-quarters": "instances.tight:IdenticalThreeQuarters",
        "xy-pool": "instances.tight:XyPool",
        "configuration-gap-four-fifths": "instances.tight:ConfigurationGapFourFifths",
        "configuration-gap-six-sevenths": "instances.tight:ConfigurationGapSixSevenths",
        "configuration-gap-ten-elevenths": "instances.tight:ConfigurationGapTenElevenths",
        "compact-gap": "instances.tight:CompactGap",
        "hypercliques": "instances.tight:Hypercliques",
        "three-partition": "instances.reductions:ThreePartition",
        "bin-packing": "instances.reductions:BinPacking",
        "parity-blocked": "instances.reductions:ParityBlocked",
        "independent-set": "instances.reductions:IndependentSet",
        "set-packing": "instances.reductions:SetPacking",
        "max-cut": "instances.reductions:MaxCut",
        "facility-location": "instances.reductions:FacilityLocation",
        "planted-optimum": "instances.reductions:PlantedOptimum",
    }
)
"""Family name (kebab case) → its class. A new family is one line here."""


def summary(name: str) -> str:
    """First line of a family's docstring."""
    return (_family(name).__doc__ or "").strip().splitlines()[0]


def parameters(name: str) -> dict[str, Any]:
    """Parameter → default value of a family, in order of declaration; those without default are absent."""
    return {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(_family(name))
        if field.default is not MISSING or field.default_factory is not MISSING
    }


def build(name: str, settings: Mapping[str, Any] | None = None) -> Family:
    """The family `name` with parameters from `settings`.

    Values may be text, as on a command line: ``"4"``, ``"0.5"``, ``"true"``, ``"T4,L4,A100"`` for a tuple.
    Dashes in parameter names count as underscores.

    Raises
    ------
    InputError
        For an unknown family or parameter (with the known ones), text that does not fit the type, or values
        that violate an inequality of the family.

    Examples
    --------
    >>> build("rag-shaped", {"workers": "4", "document-chunks": "2,4"}).document_chunks
    (2, 4)
    """
    family = _family(name)
    hints = get_type_hints(family)
    known = [field.name for field in fields(family) if field.init]
    values = {}
    for setting, value in (settings or {}).items():
        parameter = setting.replace("-", "_")
        if parameter not in known:
            raise InputError(f"family {name} has no parameter {setting!r}; it has {', '.join(known)}")
        place = f"family {name}: {parameter}"
        values[parameter] = _parsed(place, value, hints[parameter]) if isinstance(value, str) else value
    try:
        return family(**values)
    except TypeError as error:
        raise InputError(f"family {name}: {error}") from None


def _family(name: str) -> type[Family]:
    if name not in FAMILIES:
        raise InputError(f"unknown family {name!r}; known: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def _parsed(place: str, text: str, hint: Any) -> Any:
    """`text` as the type `hint`: bool, int, float, str, an optional of these, or a tuple of them."""
    options = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        if text.lower() == "none" and type(None) in options:
            return None
        return _parsed(place, text, next(option for option in options if option is not type(None)))
    if get_origin(hint) is tuple:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return tuple(_parsed(place, part, options[0]) for part in parts)
    if hint is bool:
        if text.lower() in ("true", "yes", "1", "false", "no", "0"):
            return text.lower() in ("true", "yes", "1")
        raise InputError(f"{place} is {text!r}, not true or false")
    try:
        return hint(text) if hint in (int, float) else text
    except ValueError:
        raise InputError(
            f"{place} is {text!r}, not {'a whole number' if hint is int else 'a number'}"
        ) from None
