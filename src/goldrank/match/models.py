"""Models by name, loaded when they are first asked: of sentence-transformers, or functions of one's own modules."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from goldrank.errors import OptionError
from goldrank.packages import needed

Function = Callable[[list[Any]], Any]


def sentence_model(name: str) -> tuple[Function, str]:
    """From texts to vectors: "module:function", or a model of sentence-transformers by its name or folder."""
    if own := _own(name):
        return own
    model = _load("SentenceTransformer", name)

    def embed(texts: list[str]) -> Any:
        return model.encode(texts, show_progress_bar=False, convert_to_numpy=True)

    return embed, _key(model, name)


def cross_encoder(name: str) -> tuple[Function, str]:
    """From pairs of texts to numbers from 0 to 1: "module:function", or a cross-encoder of sentence-transformers.

    Of a model with several labels, such as those of entailment, it is the probability of the label "entailment".
    """
    if own := _own(name):
        return own
    model = _load("CrossEncoder", name)
    labels = {str(label).casefold(): int(at) for at, label in (getattr(model.config, "id2label", None) or {}).items()}

    def predict(pairs: list[tuple[str, str]]) -> Any:
        raw = np.asarray(model.predict(pairs, show_progress_bar=False, activation_fn=itself), np.float64)
        if raw.ndim == 1 or raw.shape[1] == 1:
            return 1 / (1 + np.exp(-raw.reshape(-1)))
        if "entailment" not in labels:
            raise ValueError(f"the model has labels {', '.join(labels)}, none of them entailment")
        weight = np.exp(raw - raw.max(axis=1, keepdims=True))
        return (weight / weight.sum(axis=1, keepdims=True))[:, labels["entailment"]]

    return predict, _key(model, name)


def itself(value: Any) -> Any:
    """What is given."""
    return value


def _own(name: str) -> tuple[Function, str] | None:
    """A function of a module, if the name is that of one."""
    module, colon, function = name.partition(":")
    if not colon or not all(part.isidentifier() for part in module.split(".")) or not function.isidentifier():
        return None
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"there is no function {name!r}: {error}", hint="For example my_models:embed.") from error
    return found, f"{name} {getattr(found, 'version', '')}"


def _load(kind: str, name: str) -> Any:
    instead = "give a function in place of the name of a model: goldrank.match.semantic.Embedding(function, 0.8)"
    with needed("sentence_transformers", install="sentence-transformers", instead=instead):
        sentence_transformers = importlib.import_module("sentence_transformers")
    try:
        return getattr(sentence_transformers, kind)(name)
    except Exception as error:  # libraries below fail in many ways
        said = str(error).strip().partition("\n")[0]
        raise OptionError(
            f"the model {name!r} cannot be loaded: {type(error).__name__}: {said}",
            hint="Give the name of a model of sentence-transformers, or a folder that holds one.",
        ) from error


def _key(model: Any, name: str) -> str:
    """The name, weights and settings, by which answers are kept: other weights of that name are another model."""
    inner = getattr(model, "model", model)
    weights = hashlib.sha256()
    for part, tensor in sorted(inner.state_dict().items()):
        weights.update(part.encode() + np.ascontiguousarray(tensor.detach().cpu().float().numpy()).tobytes())
    settings = f"{model!r} {getattr(model, 'max_seq_length', '')} {getattr(model, 'prompts', '')}"
    settings += f" {getattr(model, 'default_prompt_name', '')} {getattr(model, 'truncate_dim', '')}"
    return f"{name}\0{weights.hexdigest()}\0{settings}"
