"""A real model that needs no torch: the static vectors in the wheel of wordllama (19 MB), loaded in a moment.

It is in the group of packages for tests. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest


def small_model() -> Callable[[Sequence[str]], np.ndarray]:
    """From texts to vectors: the mean of the vectors of a text's tokens. The test is skipped if it is not there."""
    tokenizers = pytest.importorskip("tokenizers")
    tensors = pytest.importorskip("safetensors.numpy")
    found = importlib.util.find_spec("wordllama")  # the package itself is not imported, and so needs nothing
    if found is None or found.origin is None:
        pytest.skip("wordllama is not installed")
    home = Path(found.origin).parent
    table = tensors.load_file(home / "weights" / "l2_supercat_256.safetensors")["embedding.weight"].astype(np.float32)
    tokens = tokenizers.Tokenizer.from_file(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))

    def embed(texts: Sequence[str]) -> np.ndarray:
        cut = tokens.encode_batch(list(texts), add_special_tokens=False)
        return np.stack([table[one.ids].mean(axis=0) for one in cut])

    return embed
