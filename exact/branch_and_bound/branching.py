"""How a node with states is split in two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.joint_dual import JointDual, JointPoint
from exact.branch_and_bound.node import Node
from exact.branch_and_bound.problem import Problem
from prefixplace.joint.prices import Pricing
from prefixplace.joint.states import NEVER

__all__ = ["split_states"]

Ints = NDArray[np.int64]


def split_states(problem: Problem, node: Node, floor: int) -> tuple[Node, ...]:
    """Branch on the pair nearest to one half in the dual's average answer; without one, where both sides cost."""
    space = node.space
    assert space is not None
    total, through = _state_bounds(problem, node)
    best = (-1.0, 0, 0)
    for m in np.flatnonzero(~node.twin).tolist():
        held = ((space.holders >> m) & 1).astype(np.bool_)
        with_m = np.maximum.reduceat(np.where(held, through, NEVER), space.offset[:-1])
        without = np.maximum.reduceat(np.where(held, NEVER, through), space.offset[:-1])
        cheaper = np.maximum(with_m, without)
        dearer = np.minimum(with_m, without)
        room = float(max(total - floor, 1))
        score = ((total - cheaper) + 0.1 * np.minimum(total - dearer, room)) / room
        if node.weights is not None:
            score += 2.0 - 4.0 * np.abs(node.weights[m, space.chunks] - 0.5)
        score[dearer <= NEVER] = -1.0
        c = int(score.argmax())
        best = max(best, (float(score[c]), m, c))
    _, m, c = best
    members = node.twin_class(m)
    at = np.zeros(space.states, np.bool_)
    at[space.offset[c] : space.offset[c + 1]] = True
    group = sum(1 << i for i in members)
    yes = node.child(space.reduced(~at | ((space.holders >> m) & 1 == 1)), apart=m)
    no = node.child(space.reduced(~at | (space.holders & group == 0)))
    node.branch, node.children = (m, int(space.chunks[c])), (yes, no)
    node.space = None
    return tuple(child for child in (yes, no) if child.space is not None)


def _state_bounds(problem: Problem, node: Node) -> tuple[int, Ints]:
    """The bound of the node and of each of its states by the better dual at hand."""
    assert node.space is not None
    pricing = Pricing(node.space)
    total = pricing.bound(node.prices)
    through = pricing.through(total)
    if node.joint is not None:
        dual = JointDual(problem, node.space, node.twin)
        bound, _, _ = dual.evaluate(dual.clean(node.joint), np.zeros(node.fix.shape))
        if bound < total:
            point = JointPoint(bound, dual.clean(node.joint), node.fix.astype(np.float64), 0)
            return bound, np.minimum(through, dual.state_bounds(point))
    return total, through
