"""Numba kernels of the multiplier search: the smallest integer λ whose closure fits the budget.

With a price λ per node instead of a budget, the best closed set comes out of one backward pass,
``best[i] = max(best[end[i]], profit[i] − λ + best[i + 1])``, and ``λ·k + best[0]`` bounds the budgeted optimum
from above (Everett 1963). The smallest closures S(λ) are nested, S(λ) ⊇ S(λ′) for λ ≤ λ′, so whatever is in S at
the upper end of a bracket stays in, whatever is out at the lower end stays out, and the forest shrinks to the
nodes still undecided: a quickselect along a tree.

All numbers are int64 on the grid of :mod:`prefixplace.oracle._grid`; a float in the wrong place makes bounds
silently wrong, so every conversion is spelled out.

Internal kernel interface, for other Numba code of the project: :func:`lagrangian_pass`, :func:`support`,
:func:`multiplier`, :func:`node_losses`.
"""

# mypy: no-check-untyped-defs
from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = [
    "branching_node",
    "demand_path",
    "fill_break",
    "forbid_deep",
    "lagrangian_pass",
    "multiplier",
    "node_losses",
    "spread",
    "support",
]

FREE, INSIDE, OUTSIDE = 0, 1, 2  # what a branch may demand of a node
SAMPLE_FROM = 5000  # nodes from which a cold search starts with a sample
SAMPLE_RUNS, SAMPLE_SHARE = 8, 32  # so many runs, together one node in so many


@njit(cache=True, nogil=True)
def lagrangian_pass(end, profit, m, price, best):  # type: ignore[no-untyped-def]
    """Fill ``best[0 : m + 1]`` for the forest ``end[0 : m]`` at a price per node; ``best[0]`` is its value. O(m).

    Node i is in the smallest closure if it and all its ancestors have ``best[i] > best[end[i]]``. int64 only.
    """
    below = best[m] = np.int64(0)
    for i in range(m - 1, -1, -1):
        skipped = best[end[i]]
        more = profit[i] - price + below - skipped
        # max(0, more) without a branch: which side wins is a coin toss that no predictor learns
        below = skipped + (more & ~(more >> 63))
        best[i] = below
    return below


@njit(cache=True, nogil=True)
def _sized_pass(end, profit, m, price, best, size, takes):  # type: ignore[no-untyped-def]
    """:func:`lagrangian_pass` that also fills ``takes[i]``, whether the closure of ``i : m`` takes i, and ``size[i]``,
    how many nodes it has; returns ``size[0]``. O(m)."""
    below = best[m] = np.int64(0)
    count = size[m] = np.int32(0)
    for i in range(m - 1, -1, -1):
        e = end[i]
        taken = profit[i] - price + below
        skipped, others = best[e], size[e]
        wins = taken > skipped
        below = taken if wins else skipped
        count = count + np.int32(1) if wins else others
        best[i], size[i], takes[i] = below, count, wins
    return count


@njit(cache=True, nogil=True)
def support(end, depth, profit, k, demanded, best, takes, place, to_end, to_profit, to_node):  # type: ignore[no-untyped-def]
    """Copy the nodes that a best closed set of at most k nodes may need: the smallest closure without a price.

    Nothing outside it pays: what a set holds beyond it hangs below it and sums to ≤ 0. Nodes with k ancestors
    never fit. ``demanded[i]`` forces a node in (INSIDE; its ancestors must be too) or out with its subtree
    (OUTSIDE). Forced-in nodes are not copied; their children become roots.

    Returns ``(m, count, total)``: nodes copied to `to_end`, `to_profit`, `to_node` (their positions here), number
    and profit of the forced-in ones. When all nodes are needed and none is forced, m = n and nothing is copied.
    `best`, `takes` and `place` are scratch of shape (n + 1,). O(n).
    """
    n = end.size
    below = best[n] = np.int64(0)
    needed = 0
    for i in range(n - 1, -1, -1):
        skipped = best[end[i]]
        more = profit[i] + below - skipped
        gain = more & ~(more >> 63)
        if depth[i] >= k or demanded[i] == OUTSIDE:
            gain = np.int64(0)
        wins = gain > 0
        if demanded[i] == INSIDE:
            gain, wins, needed = more, True, -n
        below = skipped + gain
        best[i], takes[i] = below, wins
        needed += wins
    m, count, total = 0, 0, np.int64(0)
    if needed == n:
        return n, count, total
    i = 0
    while i < n:
        place[i] = m
        if not takes[i]:
            i = end[i]
            continue
        if demanded[i] == INSIDE:
            count += 1
            total += profit[i]
        else:
            to_end[m], to_profit[m], to_node[m] = end[i], profit[i], i
            m += 1
        i += 1
    place[n] = m
    for c in range(m):
        to_end[c] = place[to_end[c]]
    return m, count, total


@njit(cache=True, nogil=True)
def _keep_inside(end, profit, node, m, takes, place, to_end, to_profit, to_node):  # type: ignore[no-untyped-def]
    """Copy the smallest closure of the last pass; source and target may be the same arrays. Returns its size."""
    c, i = 0, 0
    while i < m:
        e = np.int64(end[i])
        place[i] = c
        to_end[c], to_profit[c], to_node[c] = e, profit[i], node[i]  # written over if i is not taken
        c += np.int64(takes[i])
        i = i + 1 if takes[i] else e
    place[m] = c
    for x in range(c):
        to_end[x] = place[to_end[x]]
    return c


@njit(cache=True, nogil=True)
def _keep_outside(end, profit, node, m, takes, place, to_end, to_profit, to_node, base):  # type: ignore[no-untyped-def]
    """Mark the smallest closure of the last pass in `base` and copy the other nodes. Returns how many."""
    c, i = 0, 0
    while i < m:
        e = end[i]
        if takes[i]:
            place[i] = c
            base[node[i]] = 1
            i += 1
        else:
            while i < e:
                place[i] = c
                to_end[c], to_profit[c], to_node[c] = end[i], profit[i], node[i]
                c += 1
                i += 1
    place[m] = c
    for x in range(c):
        to_end[x] = place[to_end[x]]
    return c


@njit(cache=True, nogil=True)
def _pivot(low, high, inside, m, k, total, by_mean):  # type: ignore[no-untyped-def]
    """Next price to try, low < price < high, for m undecided nodes of profit `total` and `inside` decided ones.

    `by_mean` asks for the mean profit of the undecided nodes, where taking all and taking none of them tie: either
    a part of them beats both there, or that price is the answer. So with it now and then the search ends whatever
    the data. Otherwise the sizes of the closures are read as exponential in the price.
    """
    mean = -((-total) // m)
    if by_mean:
        price = mean
    else:
        if inside > 0:
            share = math.log((inside + m) / k) / math.log((inside + m) / inside)
            ahead = share * np.float64(high - low)
        else:
            ahead = math.log(m / k) * np.float64(mean - low)
        price = low + np.int64(min(ahead, np.float64(high - low)))
    return max(low + 1, min(price, high - 1))


@njit(cache=True, nogil=True)
def _narrow(  # type: ignore[no-untyped-def]
    end, profit, m, k, first, best, size, takes, place, base, to_end, to_profit, to_node
):
    """The search of :func:`multiplier` from a first price `first`, 0 for none."""
    total = np.int64(0)
    high = np.int64(1)
    for i in range(m):
        base[i] = 0
        total += profit[i]
        high = max(high, profit[i])
        to_node[i] = i
    low = np.int64(0)
    inside, work, step, reach, stuck = 0, 0, 0, first >> 3, False
    here_end, here_profit = end, profit  # the given forest first, later the copy in to_end, to_profit
    while inside < k and high - low > 1:
        if work == 0 and 0 < first < high:
            price = first
        elif low == 0 and inside > 0 and high > reach > 0 and not stuck:
            # from the guess downwards in growing steps: near it, no model is needed
            price = high - reach
            reach *= 2
        else:
            price = _pivot(low, high, inside, m, k, total, stuck or step % 3 == 2)
            step += 1
        work += m
        before = m
        count = np.int64(_sized_pass(here_end, here_profit, m, price, best, size, takes))
        value = best[0] + price * count
        if inside + count > k:
            low = price
            m = _keep_inside(here_end, here_profit, to_node, m, takes, place, to_end, to_profit, to_node)
            total = value
        else:
            high = price
            m = _keep_outside(
                here_end, here_profit, to_node, m, takes, place, to_end, to_profit, to_node, base
            )
            inside += count
            total -= value
        stuck = m == before
        here_end, here_profit = to_end, to_profit
    if inside == k:
        m = 0
    elif work == 0:  # λ = 1 with nothing inside: the break set is the forest itself
        to_end[:m] = end[:m]
        to_profit[:m] = profit[:m]
    return high, inside, m, work


@njit(cache=True, nogil=True)
def _sampled_price(  # type: ignore[no-untyped-def]
    end, profit, m, k, best, size, takes, place, base, to_end, to_profit, to_node
):
    """λ of a sample with the same share of budget: a few runs of neighbours in preorder, cut out of the forest."""
    run = m // (SAMPLE_RUNS * SAMPLE_SHARE)
    sample_end, sample_profit = np.empty(run * SAMPLE_RUNS, np.int32), np.empty(run * SAMPLE_RUNS, np.int64)
    c = 0
    for r in range(SAMPLE_RUNS):
        start = (2 * r + 1) * m // (2 * SAMPLE_RUNS) - run // 2
        stop = c + run
        for i in range(start, start + run):
            sample_end[c] = min(end[i] - i + c, stop)
            sample_profit[c] = profit[i]
            c += 1
    price, _, _, work = _narrow(
        sample_end, sample_profit, c, max(1, k * c // m), np.int64(0),
        best, size, takes, place, base, to_end, to_profit, to_node,
    )  # fmt: skip
    return price, work


@njit(cache=True, nogil=True)
def multiplier(  # type: ignore[no-untyped-def]
    end, profit, m, k, warm, best, size, takes, place, base, to_end, to_profit, to_node
):
    """Smallest integer price λ ≥ 1 at which the smallest closure S(λ) has at most k nodes.

    Parameters
    ----------
    end, profit : arrays, shape (≥ m,)
        A forest whose smallest closure at price 0 is all of its m > k nodes (:func:`support`).
    warm : int
        A guess of λ, or 0 for none. It changes the time only (and λ itself when some S(λ) has exactly k nodes: the
        search stops at the first such λ).
    best, size, takes, place : scratch, shape (n + 1,)
    base : uint8 array, shape (n,)
        Set to 1 on S(λ), to 0 elsewhere.
    to_end, to_profit, to_node : arrays, shape (n,)
        Receive the break set S(λ − 1) ∖ S(λ) as a forest of its own, nodes by their position in `end`; empty
        when S(λ) has exactly k nodes.

    Returns
    -------
    price, inside, undecided, work : int
        λ, |S(λ)|, the number of nodes of the break set, and nodes visited by all passes.
    """
    first, spent = np.int64(warm), 0
    if warm == 0 and m >= SAMPLE_FROM:
        first, spent = _sampled_price(
            end, profit, m, k, best, size, takes, place, base, to_end, to_profit, to_node
        )
    # a closure a little too large leaves the fewest nodes undecided
    first -= first >> 6
    price, inside, rest, work = _narrow(
        end, profit, m, k, first, best, size, takes, place, base, to_end, to_profit, to_node
    )
    return price, inside, rest, work + spent


@njit(cache=True, nogil=True)
def fill_break(end, profit, m, node, room, base):  # type: ignore[no-untyped-def]
    """Fill the budget left with nodes of the break set, in preorder; returns their profit, 0 if it would not be > 0.

    A subtree that still fits is taken whole, of one that does not the top is taken and the walk goes down. In the
    break set whole subtrees are (almost) ties at the price, so this closes the gap whenever ties can. O(m).
    """
    for attempt in range(2):
        gain, left, i = np.int64(0), room, 0
        while i < m and left > 0:
            stop = end[i] if end[i] - i <= left else i + 1
            left -= stop - i
            while i < stop:
                gain += profit[i]
                base[node[i]] = attempt
                i += 1
        if gain <= 0:
            return np.int64(0)
    return gain


@njit(cache=True, nogil=True)
def branching_node(end, m, node, room):  # type: ignore[no-untyped-def]
    """The node to branch on: where the budget ends on the heavy path of the largest tree of the break set.

    It is the last node on that path with at most `room` nodes of its tree outside its own subtree. With it
    outside, what is left of the tree (nearly) fits; with it inside, the path to it is paid for. O(m).
    """
    v, i = 0, 0
    while i < m:
        if end[i] - i > end[v] - v:
            v = i
        i = end[i]
    whole, here = end[v] - v, v
    while v >= 0 and whole - (end[v] - v) <= room:
        here = v
        heavy, c = -1, v + 1
        while c < end[v]:
            if heavy < 0 or end[c] - c > end[heavy] - heavy:
                heavy = c
            c = end[c]
        v = heavy
    return node[here]


@njit(cache=True, nogil=True)
def demand_path(parent, v, demanded):  # type: ignore[no-untyped-def]
    """Demand a node and its ancestors inside. O(depth)."""
    while v >= 0 and demanded[v] != INSIDE:
        demanded[v] = INSIDE
        v = parent[v]


@njit(cache=True, nogil=True)
def spread(m, base, node, demanded, mask):  # type: ignore[no-untyped-def]
    """Mask over the whole tree of a set given on the copied nodes, with the nodes demanded inside. O(n)."""
    for i in range(mask.size):
        mask[i] = demanded[i] == INSIDE
    for i in range(m):
        if base[i]:
            mask[node[i]] = True


@njit(cache=True, nogil=True)
def forbid_deep(depth, k, profit):  # type: ignore[no-untyped-def]
    """Make nodes with k ancestors or more so dear that no closure takes them. O(n)."""
    for i in range(depth.size):
        if depth[i] >= k:
            profit[i] = -(np.int64(1) << 59)


@njit(cache=True, nogil=True)
def node_losses(end, parent, profit, price, best, loss_in, loss_out):  # type: ignore[no-untyped-def]
    """What forcing a node costs against the Lagrangian bound, for all nodes in one downward pass. O(n).

    With h = profit − price + best[i + 1] − best[end[i]], taking i when the walk reaches it costs max(0, −h),
    skipping it max(0, h), and a closed set S is worth ``price·k + best[0]`` less its costs and less
    ``price·(k − |S|)``. ``loss_in[v]`` sums the first over the path to v, ``loss_out[v]`` is the least of the
    second on it. `best` is from :func:`lagrangian_pass` at the same price. Sums are cut off at 2⁶⁰.
    """
    limit = np.int64(2**60)
    for i in range(end.size):
        h = profit[i] - price + best[i + 1] - best[end[i]]
        p = parent[i]
        above_in = loss_in[p] if p >= 0 else np.int64(0)
        above_out = loss_out[p] if p >= 0 else limit
        loss_in[i] = min(limit, above_in + max(np.int64(0), -h))
        loss_out[i] = min(above_out, max(np.int64(0), h))
