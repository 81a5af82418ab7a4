"""Tokenizers by name: "tiktoken:o200k_base", "hf:NAME". Nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from goldrank.base.errors import OptionError
from goldrank.base.packages import needed

KINDS = ("tiktoken", "hf")
"""The words before the name of a tokenizer."""
_WITHOUT = 'count words (tokens="words")'
_LOADING = Lock()
"""tiktoken's way to the network is closed for a moment; two threads must not close it at once."""


def is_tokenizer(spelled: str) -> bool:
    """Whether a text names a tokenizer."""
    kind, colon, name = spelled.partition(":")
    return kind in KINDS and bool(colon) and bool(name)


@cache
def tokenizer(spelled: str) -> Callable[[str], Any]:
    """From a text to its tokens."""
    kind, _, name = spelled.partition(":")
    if kind == "tiktoken":
        return _tiktoken(name)
    return _hugging_face(name)


class _NotHereError(Exception):
    """A file would have to be downloaded."""


def _tiktoken(name: str) -> Callable[[str], Any]:
    """An encoding of tiktoken, from its cache."""
    with needed("tiktoken", instead=_WITHOUT):
        import tiktoken
        import tiktoken.load

    def refuse(path: str) -> bytes:
        raise _NotHereError(path)

    with _LOADING:
        download = tiktoken.load.read_file
        tiktoken.load.read_file = refuse
        try:
            encoding = tiktoken.get_encoding(name)
        except _NotHereError:
            hint = f"Run once: python -c \"import tiktoken; tiktoken.get_encoding('{name}')\"; or {_WITHOUT}."
            raise _not_here("tiktoken", name, hint) from None
        except ValueError as error:
            raise OptionError(f"tokens is 'tiktoken:{name}': {error}", code="unknown-tokenizer") from None
        finally:
            tiktoken.load.read_file = download
    encode: Callable[[str], Any] = encoding.encode_ordinary
    return encode


def _hugging_face(name: str) -> Callable[[str], Any]:
    """A tokenizer of a folder, of a file tokenizer.json, or of the cache of huggingface_hub."""
    with needed("tokenizers", instead=_WITHOUT):
        from tokenizers import Tokenizer

    model = Tokenizer.from_file(_tokenizer_file(name))
    # A context is longer than what a model was trained on.
    model.no_truncation()
    model.no_padding()

    def offsets(text: str) -> Any:
        return model.encode(text, add_special_tokens=False).offsets

    return offsets


def _tokenizer_file(name: str) -> str:
    """Where a tokenizer is on this machine."""
    path = Path(name)
    if path.is_dir():
        path = path / "tokenizer.json"
    if path.is_file():
        return str(path)

    with needed("huggingface_hub", instead="name a folder with a tokenizer.json"):
        from huggingface_hub import try_to_load_from_cache
    try:
        cached = try_to_load_from_cache(name, "tokenizer.json")
    except ValueError as error:  # not the name of a repository
        raise OptionError(f"tokens is 'hf:{name}': {error}", code="unknown-tokenizer") from None
    if not isinstance(cached, str):
        hint = f"Run once: hf download {name} tokenizer.json; or name a folder that has one; or {_WITHOUT}."
        raise _not_here("hf", name, hint)
    return cached


def _not_here(kind: str, name: str, hint: str) -> OptionError:
    message = f"tokens is '{kind}:{name}', and that tokenizer is not on this machine; goldrank downloads nothing"
    return OptionError(message, hint=hint, code="tokenizer-not-here")
