"""Curves: what a chunk costs along a prompt, and how a plan changes with the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from prefixplace.costs import crossovers, fetch_ms, model, profile
from prefixplace.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["budget_curve", "cost_curves"]

# Okabe and Ito's palette, as in the icicle plot
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
LINES = ("--", ":", "-.")


def cost_curves(
    gpus: Sequence[str] = ("T4", "L4", "A100"),
    *,
    model_name: str = "qwen2.5-7b",
    goodputs_gbps: Sequence[float] = (1.5, 3.0),
    limit_tokens: int = 16_384,
    chunk_tokens: int = 512,
) -> Figure:
    """Recompute cost of one chunk against its depth for each GPU, fetch costs as level lines, crossovers as dots.

    Left of a dot recomputing is cheaper, right of it fetching is.
    """
    from matplotlib.figure import Figure

    if len(gpus) > len(COLOURS) or len(goodputs_gbps) > len(LINES):
        raise InputError(f"at most {len(COLOURS)} GPUs and {len(LINES)} goodputs can be told apart")
    figure = Figure(figsize=(8, 4.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    tokens = np.linspace(0, limit_tokens, 300)
    size = model(model_name).chunk_bytes(chunk_tokens)
    costs = [float(fetch_ms(size, goodput * 1e9)) for goodput in goodputs_gbps]
    for line, goodput, cost in zip(LINES, goodputs_gbps, costs, strict=False):
        axes.axhline(cost, color="#444444", linestyle=line, linewidth=1.2, label=f"fetch at {goodput:g} Gb/s")
    for colour, gpu in zip(COLOURS, gpus, strict=False):
        curve = profile(gpu, model_name)
        axes.plot(tokens / 1000, curve.ms(tokens), color=colour, linewidth=2, label=f"recompute on {gpu}")
        for cost in costs:
            at = crossovers(curve, cost, limit_tokens)
            axes.plot(at / 1000, np.full(at.size, cost), "o", color=colour)
            for x in at:
                axes.annotate(
                    f"{x / 1000:.1f}K", (x / 1000, cost), (5, -12), textcoords="offset points", fontsize=8
                )
    axes.set(xlabel="tokens before the chunk, thousands", ylabel="ms per chunk", yscale="log")
    axes.set_title(f"{model_name}, {chunk_tokens}-token chunks of {size / 1e6:.1f} MB", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def budget_curve(budgets: Sequence[float], curves: Mapping[str, Sequence[float]], ylabel: str) -> Figure:
    """Lines over the budget per worker, given as fractions of all chunks; one line per name in `curves`."""
    from matplotlib.figure import Figure

    if len(curves) > len(COLOURS):
        raise InputError(f"at most {len(COLOURS)} curves can be told apart")
    figure = Figure(figsize=(8, 4), dpi=110, layout="constrained")
    axes = figure.subplots()
    for colour, marker, (name, values) in zip(COLOURS, "osD^vP", curves.items(), strict=False):
        axes.plot(100 * np.asarray(budgets), values, marker=marker, color=colour, linewidth=1.8, label=name)
    axes.set(xlabel="budget per worker, % of all chunks", ylabel=ylabel)
    axes.legend(fontsize=9, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
