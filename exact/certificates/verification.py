"""The verifier: is what a certificate says true?

This module trusts the instance and the rules of arithmetic, and nothing else. It imports no solver and no oracle.
Read it with :mod:`exact.certificates.evaluation` and :mod:`exact.certificates.holder_sets`, which hold the integer
arithmetic. In short:

1. *The document* has exactly the fields of its kind, with the right types, belongs to this instance, and its
   checksum matches.
2. *The plan* is parent-closed and within the budgets, and F of it is the stated value.
3. *The bound.* The multipliers are in range, and the dual function at them is the stated bound. By weak duality
   every dual value is at least F of every plan, so nothing need be known about where the multipliers came from.
   A search over holder states is replayed step by step (:mod:`exact.certificates.states`): every split leaves each
   plan to one of its two branches, and every other step drops states with a bound of its own.

Every plan's value is a multiple of the greatest common divisor of all values of the instance. The bound is
rounded down to such a multiple; on whole-number data this closes gaps below 1.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from exact.certificates.certificate import FORMAT, HEAD, KINDS, VERSION, Certificate, checksum
from exact.certificates.evaluation import (
    ExactInstance,
    coverage_bound,
    exact_instance,
    granularity,
    plan_value,
)
from exact.certificates.holder_sets import holder_set_bound
from exact.certificates.losses import TooLarge
from exact.certificates.replay import replay
from exact.certificates.states import Malformed
from prefixplace.instance import Instance

__all__ = ["Rejected", "Verification", "proven_bound", "verify"]

LARGEST_TABLE = 10**9
"""Cells n·k of a dynamic program that the verifier is willing to fill for one worker."""


class Rejected(Exception):
    """The first false or malformed statement of a certificate."""


@dataclass(frozen=True)
class Verification:
    """What the verifier found.

    Attributes
    ----------
    ok : bool
        Every statement of the certificate is true.
    value, bound, gap : Fraction or None
        As recomputed here, in ms; gap = (bound − value)/bound. None where the check did not get that far.
    errors : tuple of str
        What is false; empty when `ok`.
    seconds : float
    """

    ok: bool
    value: Fraction | None
    bound: Fraction | None
    gap: Fraction | None
    errors: tuple[str, ...]
    seconds: float

    @property
    def optimal(self) -> bool:
        """Whether the plan is proved optimal: value and bound are the same number."""
        return self.ok and self.value == self.bound

    def __bool__(self) -> bool:
        return self.ok


def verify(instance: Instance, certificate: Certificate) -> Verification:
    """Check every statement of `certificate` about `instance` in exact arithmetic.

    Never raises for a bad certificate: the first thing that is wrong is in `errors`. Linear in n·M for coverage
    duals with budget prices; n·Σk_m where a dynamic program is asked for; n·2^M for the budget dual.
    """
    started = time.perf_counter()
    value = bound = gap = None
    errors: tuple[str, ...] = ()
    try:
        document = certificate.document
        _check_document(document, instance)
        denominator = document.get("denominator", 1)
        data = exact_instance(instance, denominator)
        value = Fraction(plan_value(data, _plan(document["plan"], instance)), data.denominator)
        _agree("value", document["value"], value)
        bound = Fraction(proven_bound(data, document, instance), data.denominator)
        _agree("bound", document["bound"], bound)
        if bound < value:  # impossible for a correct instance and verifier
            raise Rejected(f"the bound {bound} is below the value {value}")
        gap = (bound - value) / bound if bound else Fraction(0)
    except Rejected as reason:
        errors = (str(reason),)
    except (TypeError, ValueError, OverflowError, RecursionError) as reason:
        # text that is no text, keys that are no names, numbers too long to write down
        errors = (f"not a readable certificate: {reason}",)
    return Verification(not errors, value, bound, gap, errors, time.perf_counter() - started)


def _check_document(document: Mapping[str, Any], instance: Instance) -> None:
    if not isinstance(document, Mapping):
        raise Rejected("the certificate is not an object")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise Rejected(f"kind is {kind!r}, not one of {', '.join(KINDS)}")
    _fields(document, (*HEAD, *KINDS[kind]), "the certificate")
    if document["format"] != FORMAT or document["version"] != VERSION or type(document["version"]) is not int:
        raise Rejected(f"format and version are not {FORMAT!r}, {VERSION}")
    if document["instance_digest"] != instance.digest:
        raise Rejected("the certificate belongs to another instance: the digests differ")
    if document["checksum"] != checksum(document):
        raise Rejected("the checksum does not match: the file is damaged")
    if kind != "trivial" and (type(document["denominator"]) is not int or document["denominator"] < 1):
        raise Rejected("denominator is not a whole number ≥ 1")


def _fields(found: Any, wanted: tuple[str, ...], what: str) -> None:
    if not isinstance(found, Mapping):
        raise Rejected(f"{what} is not an object")
    for name in wanted:
        if name not in found:
            raise Rejected(f"{what} lacks the field {name!r}")
    for name in found:
        if name not in wanted:
            raise Rejected(f"{what} has the unknown field {name!r}")


def _agree(name: str, stated: Any, true: Fraction) -> None:
    if not isinstance(stated, str) or not re.fullmatch(r"-?\d+(/\d+)?", stated, re.ASCII):
        raise Rejected(f"{name} is not a fraction p/q")
    if stated != str(true):
        raise Rejected(f"the stated {name} is {stated}, but it is {true}")


def _plan(plan: Any, instance: Instance) -> list[list[int]]:
    """The sets of a plan as preorder positions, after checking that it is one."""
    _fields(plan, ("workers",), "plan")
    sets = []
    for m, chunks in enumerate(_list(plan["workers"], instance.num_workers, "plan.workers")):
        if not isinstance(chunks, list) or any(
            type(c) is not int or not 0 <= c < instance.num_chunks for c in chunks
        ):
            raise Rejected(
                f"the plan of worker {m} is not a list of chunk numbers below {instance.num_chunks}"
            )
        if any(first >= second for first, second in pairwise(chunks)):
            raise Rejected(f"the chunks of worker {m} are not ascending")
        if len(chunks) > instance.budgets[m]:
            raise Rejected(f"worker {m} keeps {len(chunks)} chunks with a budget of {instance.budgets[m]}")
        nodes = instance.tree.position[np.array(chunks, np.int64)].tolist()
        kept = {-1, *nodes}
        for node in nodes:
            if int(instance.tree.parent[node]) not in kept:
                raise Rejected(f"worker {m} keeps chunk {instance.tree.origin[node]} without its parent")
        sets.append(nodes)
    return sets


def proven_bound(data: ExactInstance, document: Mapping[str, Any], instance: Instance) -> int:
    """The bound (times the denominator of `data`) that the multipliers of `document` prove.

    `document` needs only ``kind`` and the fields of that kind.
    """
    kind, unit = document["kind"], data.denominator // document.get("denominator", 1)
    if kind == "trivial":
        bound = plan_value(data, [list(range(len(data.parent)))] * len(data.budgets))
    elif kind == "coverage-dual":
        bound = _coverage_bound(data, document, instance, unit)
    elif kind == "budget-dual":
        prices = _prices(document["budget_prices"], data, unit, optional=False)
        bound = holder_set_bound(data, [price for price in prices if price is not None])
    else:
        bound = _searched(data, document, instance)
    step = granularity(data)
    return bound - bound % step if step else bound


def _searched(data: ExactInstance, document: Mapping[str, Any], instance: Instance) -> int:
    """The bound of a search over holder states, all of whose steps are replayed."""
    quantum, floor, search = document["quantum"], document["floor"], document["search"]
    if type(quantum) is not int or quantum < 1:
        raise Rejected("quantum is not a whole number ≥ 1")
    if type(floor) is not int or floor < 0 or not isinstance(search, list):
        raise Rejected("floor is not a whole number ≥ 0, or search is not a list")
    try:
        return replay(data, document["denominator"], quantum, floor, search, instance.tree.position.tolist())
    except (Malformed, TooLarge) as reason:
        raise Rejected(str(reason)) from None


def _coverage_bound(data: ExactInstance, document: Mapping[str, Any], instance: Instance, unit: int) -> int:
    """The coverage dual at the multipliers of `document`, which must be in range."""
    workers, n = len(data.budgets), len(data.parent)
    given = document["coverage_multipliers"]
    rows = _list(given, workers, "coverage_multipliers") if data.pairwise else [given]
    for row in rows:
        for b, entry in enumerate(_list(row, n, "coverage_multipliers")):
            if type(entry) is not int or entry < 0:
                raise Rejected(f"a coverage multiplier of chunk {b} is not a whole number ≥ 0")
    multipliers = np.array(rows, object).reshape(len(rows), n)[:, instance.tree.origin] * unit
    highest = data.saving.max(axis=0) if data.pairwise else data.coverage[None]
    over = (multipliers > highest).astype(bool)
    if over.any():
        row, b = np.argwhere(over)[0]
        raise Rejected(
            f"coverage multiplier of chunk {instance.tree.origin[b]} (row {row}) is above its range"
        )
    prices = _prices(document["budget_prices"], data, unit, optional=True)
    for price, budget in zip(prices, data.budgets, strict=True):
        if price is None and n * min(n, budget) > LARGEST_TABLE:
            raise Rejected(f"a dynamic program of {n} × {budget} cells is too large to check")
    return coverage_bound(data, multipliers if data.pairwise else multipliers[0], prices)


def _prices(given: Any, data: ExactInstance, unit: int, *, optional: bool) -> list[int | None]:
    prices: list[int | None] = []
    for m, price in enumerate(_list(given, len(data.budgets), "budget_prices")):
        if price is None and optional:
            prices.append(None)
        elif type(price) is not int or price < 0:
            raise Rejected(f"the budget price of worker {m} is not a whole number ≥ 0")
        else:
            prices.append(price * unit)
    return prices


def _list(found: Any, length: int, what: str) -> list[Any]:
    if not isinstance(found, list) or len(found) != length:
        raise Rejected(f"{what} is not a list of {length} entries")
    return found
