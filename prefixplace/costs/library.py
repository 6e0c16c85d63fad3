"""Recompute profiles by name: the paper's, and kernel-level ones of current engines.

The two sources disagree on purpose. The paper's A100 curve for Qwen2.5-7B (48.1 + 0.0050·p) is 1.5 times
higher at p = 0 and 4.4 times steeper than the kernel-level one (31.65 + 0.00113·p), and its crossover at 3
Gb/s lies near 6.1K tokens instead of 41K. Conclusions about crossovers depend on the profile: try both.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from prefixplace.costs.profiles import Affine, Interpolated, RecomputeProfile
from prefixplace.errors import InputError

__all__ = ["PAPER_PROFILES", "profile", "profile_names"]

PAPER_PROFILES: dict[tuple[str, str], Affine] = {
    ("l4", "qwen2.5-7b"): Affine(170.2, 0.0100),
    ("a100", "qwen2.5-7b"): Affine(48.1, 0.0050),
    ("t4", "qwen2.5-7b"): Affine(450.0, 0.0300),
    ("t4", "qwen2.5-3b"): Affine(190.0, 0.0220),
    ("l4", "qwen2.5-3b"): Affine(72.7, 0.00735),
    ("a100", "qwen2.5-3b"): Affine(20.4, 0.0037),
    ("a100", "qwen2.5-14b"): Affine(96.5, 0.0122),
    ("a100", "qwen2.5-32b"): Affine(170.7, 0.0163),
}
"""(gpu, model) → ms of a 512-token chunk, FP16, after Wang & Buyya (arXiv 2608.01655).

Only the L4 and A100 curves of the 7B model are printed in the paper. **The other six are chosen here**, not
measured:

* 3B and 14B: the printed curves scaled by the number of parameters outside the embeddings (base) and by
  layers × query heads (slope). The L4-3B base was then moved by 1 % so that it crosses 100.66 ms (18.9 MB
  at 1.5 Gb/s) at 3.8K tokens, as the paper reports; T4-3B always fetches there and A100-3B recomputes up to
  8K, as reported.
* A100-32B: slope by layers × query heads; base set so that it crosses 214.7 ms (134.2 MB at 5 Gb/s) at 2.7K
  tokens.
* T4-7B: always fetches, as drawn in the paper; 2.6 times the L4 at p = 0 and three times as steep.

No fact of the paper constrains the 14B curve.
"""


@cache
def _kernel_level() -> dict[tuple[str, str, str], Interpolated]:
    document = json.loads(
        (files("prefixplace.costs") / "data" / "aiconfigurator_prefill512.json").read_text("utf-8")
    )
    prefix, chunk = tuple(document["prefix_tokens"]), document["chunk_tokens"]
    profiles = {}
    for key, cost in document["ms"].items():
        model, gpu, engine = key.split("/")
        profiles[gpu, model, engine] = Interpolated(prefix, tuple(cost), chunk)
    return profiles


def profile_names() -> tuple[str, ...]:
    """Every shipped profile as ``source/gpu/model``, the kernel-level ones as ``source/gpu/model/engine``."""
    paper = [f"paper/{gpu}/{model}" for gpu, model in PAPER_PROFILES]
    return (*paper, *(f"aiconfigurator/{gpu}/{model}/{engine}" for gpu, model, engine in _kernel_level()))


def profile(gpu: str, model: str, source: str = "paper", engine: str = "vllm") -> RecomputeProfile:
    """The shipped recompute profile of a 512-token chunk.

    Parameters
    ----------
    gpu : str
        ``T4``, ``L4``, ``A100`` (paper); ``a100-sxm``, ``l40s``, ``h100-sxm``, ``h200-sxm``, ``b200-sxm``,
        ``rtx-pro-6000-server`` (aiconfigurator). Any case.
    model : str
        A name of :data:`prefixplace.costs.MODELS`.
    source : "paper" or "aiconfigurator"
        ``aiconfigurator``: interpolated curves computed with aiconfigurator-core 0.12.0 (Apache-2.0);
        beyond their range of 0 to 32,256 tokens the last segment is continued.
    engine : "vllm", "sglang" or "trtllm"
        Serving engine of a kernel-level curve; the paper's curves have none and ignore it.

    Raises
    ------
    InputError
        For a combination that is not shipped, with those that are.
    """
    gpu, model = gpu.lower(), model.lower()
    found: RecomputeProfile | None
    if source == "paper":
        found = PAPER_PROFILES.get((gpu, model))
    elif source == "aiconfigurator":
        found = _kernel_level().get((gpu, model, engine))
    else:
        raise InputError(f"profile source is {source!r}, not 'paper' or 'aiconfigurator'")
    if found is None:
        wanted = f"{gpu}/{model}" + (f"/{engine}" if source == "aiconfigurator" else "")
        known = [name.removeprefix(f"{source}/") for name in profile_names() if name.startswith(f"{source}/")]
        raise InputError(f"no {source} profile for {wanted}; there are: {', '.join(known)}")
    return found
