"""What a chunk costs: recompute profiles, KV bytes, crossovers, compatibility of workers."""

from prefixplace.costs.compatibility import WorkerSpec, split_compatible, split_instance
from prefixplace.costs.crossover import break_even_goodput_bps, crossover_depth, crossovers, fetch_ms
from prefixplace.costs.library import PAPER_PROFILES, profile, profile_names
from prefixplace.costs.models import MODELS, LatentKV, ModelSpec, PagedKV, model
from prefixplace.costs.profiles import Affine, Interpolated, RecomputeProfile, Table, recompute_matrix
from prefixplace.costs.readers import (
    read_dynamo_npz,
    read_llmservingsim,
    read_profiles_csv,
    read_transfer_csv,
    read_vidur,
)

__all__ = [
    "MODELS",
    "PAPER_PROFILES",
    "Affine",
    "Interpolated",
    "LatentKV",
    "ModelSpec",
    "PagedKV",
    "RecomputeProfile",
    "Table",
    "WorkerSpec",
    "break_even_goodput_bps",
    "crossover_depth",
    "crossovers",
    "fetch_ms",
    "model",
    "profile",
    "profile_names",
    "read_dynamo_npz",
    "read_llmservingsim",
    "read_profiles_csv",
    "read_transfer_csv",
    "read_vidur",
    "recompute_matrix",
    "split_compatible",
    "split_instance",
]
