"""Models by name, loaded when they are first used: of sentence-transformers, or functions of the user's modules.

The vectors that they make are kept in memory and on the disk, so that no text is given to a model twice.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sqlite3
import sys
import types
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from goldrank.base.errors import InputError, OptionError
from goldrank.base.packages import needed
from goldrank.base.writing import cache_folder, private_file

Function = Callable[[list[Any]], Any]


def sentence_model(name: str) -> tuple[Function, str]:
    """From texts to vectors: "module:function", or a model of sentence-transformers by its name or folder."""
    own = _own(name)
    if own is not None:
        return own
    model = _load("SentenceTransformer", name)

    def embed(texts: list[str]) -> Any:
        return model.encode(texts, show_progress_bar=False, convert_to_numpy=True)

    return embed, _key(model, name)


def cross_encoder(name: str) -> tuple[Function, str]:
    """From pairs of texts to numbers from 0 to 1: "module:function", or a cross-encoder of sentence-transformers.

    Of a model with several labels, such as models of entailment, it is the probability of the label "entailment".
    """
    own = _own(name)
    if own is not None:
        return own
    model = _load("CrossEncoder", name)
    label_names = getattr(model.config, "id2label", None) or {}
    labels = {str(label).casefold(): int(column) for column, label in label_names.items()}

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
    """The value, unchanged."""
    return value


def _own(name: str) -> tuple[Function, str] | None:
    """A function of a module, if the name is "module:function"."""
    module, colon, function = name.partition(":")
    if not colon or not all(part.isidentifier() for part in module.split(".")) or not function.isidentifier():
        return None
    try:
        loaded = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"there is no function {name!r}: {error}", hint="For example my_models:embed.") from error
    return loaded, f"{name}\0{fingerprint(loaded)}"


def fingerprint(function: Any) -> str:
    """A hash that changes when a function is edited: of its code, its `version` and the file of its module.

    What it calls in other modules is not seen: let `function.version` say that these have changed.
    """
    inner = getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    digest = hashlib.sha256(f"{getattr(function, 'version', '')}\0{type(inner).__qualname__}".encode())
    if code is not None:
        digest.update(_code_of(code))
    module = sys.modules.get(getattr(inner, "__module__", None) or type(inner).__module__)
    if module is not None:
        with suppress(OSError, TypeError):
            digest.update(Path(inspect.getfile(module)).read_bytes())
    return digest.hexdigest()


def _code_of(code: types.CodeType) -> bytes:
    """The instructions and constants of a function, and of functions inside it."""
    parts = [code.co_code, repr(code.co_names).encode()]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            parts.append(_code_of(constant))
        else:
            parts.append(repr(constant).encode())
    return b"\0".join(parts)


def _load(kind: str, name: str) -> Any:
    instead = "give a function in place of the name of a model: goldrank.match.semantic.Embedding(function, 0.8)"
    with needed("sentence_transformers", install="sentence-transformers", instead=instead):
        sentence_transformers = importlib.import_module("sentence_transformers")
    try:
        return getattr(sentence_transformers, kind)(name)
    except Exception as error:  # libraries below fail in many ways
        first_line = str(error).strip().partition("\n")[0]
        raise OptionError(
            f"the model {name!r} cannot be loaded: {type(error).__name__}: {first_line}",
            hint="Give the name of a model of sentence-transformers, or a folder that holds one.",
        ) from error


def _key(model: Any, name: str) -> str:
    """The name, weights and settings of a model: answers are stored by these, and other weights are another model."""
    inner = getattr(model, "model", model)
    weights = hashlib.sha256()
    for part, tensor in sorted(inner.state_dict().items()):
        weights.update(part.encode() + np.ascontiguousarray(tensor.detach().cpu().float().numpy()).tobytes())
    settings = f"{model!r} {getattr(model, 'max_seq_length', '')} {getattr(model, 'prompts', '')}"
    settings += f" {getattr(model, 'default_prompt_name', '')} {getattr(model, 'truncate_dim', '')}"
    return f"{name}\0{weights.hexdigest()}\0{settings}"


MOST_BYTES = 256_000_000
"""The most bytes of vectors in memory."""
FILE = "vectors-1.sqlite"
_AT_ONCE = 500


class KeptVectors:
    """Rows of float32 by the sha256 of a model, with its weights and settings, and a text. Without a model nothing is
    stored on the disk.
    """

    def __init__(self, model: str | None, folder: str | None = None) -> None:
        self._model: bytes | None = None
        if model is not None:
            self._model = model.encode()
        self._folder = folder
        self._memory: dict[Any, np.ndarray] = {}
        self._bytes = 0

    def of(self, items: list[Any], make: Callable[[list[Any]], np.ndarray]) -> np.ndarray:
        """A row for each item, made if it is not stored."""
        rows = {item: self._memory[item] for item in items if item in self._memory}
        keys = {}
        if self._model is not None:
            keys = {item: self._key(item) for item in items if item not in rows}

        rows |= self._read(keys)
        missing = [item for item in dict.fromkeys(items) if item not in rows]
        if missing:
            vectors = make(missing)
            rows |= zip(missing, vectors, strict=True)
        if missing and keys:
            self._write({keys[item]: rows[item] for item in missing})

        for item in items:
            if item not in self._memory and self._bytes < MOST_BYTES:
                self._memory[item] = rows[item]
                self._bytes += rows[item].nbytes

        return np.stack([rows[item] for item in items])

    def _key(self, item: Any) -> bytes:
        assert self._model is not None
        if isinstance(item, tuple):
            parts = item
        else:
            parts = (item,)
        digest = hashlib.sha256(self._model)
        for part in parts:
            text = part.encode("utf-8", "surrogatepass")
            digest.update(b"\0%d\0" % len(text) + text)
        return digest.digest()

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._folder or cache_folder()) / FILE

    def _with_file(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Use the file, if there can be one: what cannot be stored in the usual folder is made anew the next time."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                private_file(self.path).close()  # vectors reveal much of their texts

            with closing(sqlite3.connect(self.path, timeout=30)) as opened, opened:
                opened.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
                work(opened)
        except (sqlite3.DatabaseError, OSError) as error:
            damaged = not isinstance(error, sqlite3.OperationalError | OSError)
            if damaged or self._folder is not None:
                if damaged:
                    hint = "Delete the file, or name another folder."
                else:
                    hint = "Make room, or name another folder."
                raise InputError(f"vectors cannot be kept: {error}", where=str(self.path), hint=hint) from error

    def _read(self, keys: dict[Any, bytes]) -> dict[Any, np.ndarray]:
        vectors: dict[bytes, np.ndarray] = {}
        needed_keys = list(keys.values())

        def look(opened: sqlite3.Connection) -> None:
            for begin in range(0, len(needed_keys), _AT_ONCE):
                part = needed_keys[begin : begin + _AT_ONCE]
                marks = ",".join("?" * len(part))
                for key, vector in opened.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part):  # noqa: S608 - marks
                    vectors[key] = np.frombuffer(vector, "<f4")

        if needed_keys:
            self._with_file(look)
        return {item: vectors[key] for item, key in keys.items() if key in vectors}

    def _write(self, rows: dict[bytes, np.ndarray]) -> None:
        records = [(key, row.astype("<f4").tobytes()) for key, row in rows.items()]
        if records:
            self._with_file(lambda opened: opened.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", records))
