"""Bytes of KV cache per token, from the layer numbers of a model."""

from __future__ import annotations

from dataclasses import dataclass

from prefixplace.errors import InputError

__all__ = ["MODELS", "KVLayout", "LatentKV", "ModelSpec", "PagedKV", "model"]


@dataclass(frozen=True)
class PagedKV:
    """Keys and values of grouped-query attention: 2 · layers · kv_heads · head_dim numbers per token."""

    layers: int
    kv_heads: int
    head_dim: int

    @property
    def values_per_token(self) -> int:
        """Numbers stored per token."""
        return 2 * self.layers * self.kv_heads * self.head_dim


@dataclass(frozen=True)
class LatentKV:
    """Multi-head latent attention (MLA): one compressed vector and one rotary key per layer and token."""

    layers: int
    latent_dim: int
    rope_dim: int

    @property
    def values_per_token(self) -> int:
        """Numbers stored per token."""
        return self.layers * (self.latent_dim + self.rope_dim)


KVLayout = PagedKV | LatentKV


@dataclass(frozen=True)
class ModelSpec:
    """What a model stores per token.

    Parameters
    ----------
    name : str
    layout : PagedKV or LatentKV
    value_bytes : int, default 2
        Bytes of one stored number: 2 for FP16 and BF16, 1 for FP8 and INT8.

    Examples
    --------
    >>> model("qwen2.5-7b").kv_bytes_per_token
    57344
    """

    name: str
    layout: KVLayout
    value_bytes: int = 2

    def __post_init__(self) -> None:
        numbers = {**vars(self.layout), "value_bytes": self.value_bytes}
        for name, value in numbers.items():
            if value < (0 if name == "rope_dim" else 1):
                raise InputError(f"model {self.name}: {name} = {value} is too small")

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of KV cache per token, over all layers."""
        return self.layout.values_per_token * self.value_bytes

    def chunk_bytes(self, chunk_tokens: int) -> int:
        """Bytes of one chunk: Z_b in the fetch cost."""
        if chunk_tokens < 1:
            raise InputError(f"chunk_tokens = {chunk_tokens} violates chunk_tokens >= 1")
        return self.kv_bytes_per_token * chunk_tokens


# Layer numbers from each model's published config.json: layers, key-value heads, head dimension.
_GROUPED = {
    "qwen2.5-0.5b": (24, 2, 64),
    "qwen2.5-1.5b": (28, 2, 128),
    "qwen2.5-3b": (36, 2, 128),
    "qwen2.5-7b": (28, 4, 128),
    "qwen2.5-14b": (48, 8, 128),
    "qwen2.5-32b": (64, 8, 128),
    "qwen2.5-72b": (80, 8, 128),
    "qwen3-4b": (36, 8, 128),
    "qwen3-8b": (36, 8, 128),
    "qwen3-14b": (40, 8, 128),
    "qwen3-32b": (64, 8, 128),
    "qwen3-30b-a3b": (48, 4, 128),
    "llama-2-7b": (32, 32, 128),
    "llama-2-13b": (40, 40, 128),
    "llama-2-70b": (80, 8, 128),
    "llama-3.1-8b": (32, 8, 128),
    "llama-3.1-70b": (80, 8, 128),
    "llama-3.1-405b": (126, 8, 128),
    "llama-3.2-1b": (16, 8, 64),
    "llama-3.2-3b": (28, 8, 128),
    "mistral-7b": (32, 8, 128),
    "mixtral-8x7b": (32, 8, 128),
}
_LATENT = {"deepseek-v2": (60, 512, 64), "deepseek-v3": (61, 512, 64)}

MODELS: dict[str, ModelSpec] = {
    **{name: ModelSpec(name, PagedKV(*numbers)) for name, numbers in _GROUPED.items()},
    **{name: ModelSpec(name, LatentKV(*numbers)) for name, numbers in _LATENT.items()},
}


def model(name: str) -> ModelSpec:
    """The model called `name` (any case) in :data:`MODELS`, in 16-bit precision.

    Raises
    ------
    InputError
        With the known names.
    """
    try:
        return MODELS[name.lower()]
    except KeyError:
        raise InputError(f"unknown model {name!r}; known: {', '.join(MODELS)}") from None
