"""What a token is: words, characters, a tokenizer by name; every result says which."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from goldrank import Matching, evaluate_texts, find_causes, sweep
from goldrank.base.errors import OptionError
from goldrank.base.packages import MissingPackageError
from goldrank.evaluation.tokenizers import tokenizer

ITEMS = [
    {"id": "a", "retrieved": ["one two three", "four"], "references": ["four"]},
    {"id": "b", "retrieved": ["four"], "references": ["four"]},
]


@pytest.fixture
def _fresh():
    tokenizer.cache_clear()
    yield
    tokenizer.cache_clear()


def test_results_say_what_a_token_is() -> None:
    scores = evaluate_texts(ITEMS, ["Cover(tokens=3)", "Tokens@5"], matching=Matching("contains"))
    assert "tokens are counted as words" in list(map(str, scores.notes))
    by_sign = evaluate_texts(ITEMS, "Cover(tokens=3)", matching=Matching("contains", tokens="characters"))
    assert "tokens are counted as characters" in list(map(str, by_sign.notes))
    assert not any("tokens" in str(note) for note in evaluate_texts(ITEMS, "Cover@5").notes)


def test_causes_and_sweeps_say_it_too() -> None:
    causes = find_causes(ITEMS, k=None, budget=3, matching="contains")
    assert "3 tokens, counted as words" in str(causes)
    assert causes.to_dict()["tokens"] == "words"
    assert "tokens are counted as words" in str(sweep({"a": ITEMS}, k=[1], matching="contains"))


def _small_tokenizer(folder: Path) -> None:
    """A tokenizer of words by white space that says to cut texts after two tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    model.enable_truncation(2)
    model.save(str(folder / "tokenizer.json"))


@pytest.mark.usefixtures("_fresh")
def test_a_tokenizer_of_a_folder(tmp_path: Path) -> None:
    """Five words by white space, each with its place; what the file says of cutting is for models."""
    _small_tokenizer(tmp_path)
    items = [{"retrieved": ["a-b c, d e f"], "references": ["f"]}]
    scores = evaluate_texts(items, "Tokens", matching=Matching("contains", tokens=f"hf:{tmp_path}"))
    assert scores["Tokens"] == 5
    assert tokenizer(f"hf:{tmp_path}")("a-b c")[1] == (4, 5)


@pytest.mark.usefixtures("_fresh")
def test_a_tokenizer_that_is_not_here_is_an_error_and_no_download() -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(OptionError, match="not on this machine") as error:
        evaluate_texts(ITEMS, "Tokens", matching=Matching(tokens="hf:nobody/nothing"))
    assert "hf download nobody/nothing" in str(error.value)


def _fake_tiktoken(monkeypatch: pytest.MonkeyPatch, cached: bytes | None) -> types.ModuleType:
    """A package that loads as tiktoken does: a cached file, or else a download."""
    package, load = types.ModuleType("tiktoken"), types.ModuleType("tiktoken.load")

    class Encoding:
        def encode_ordinary(self, text: str) -> list[int]:
            return list(range(len(text) // 2))

    def get_encoding(name: str) -> Encoding:
        if name != "o200k_base":
            raise ValueError(f"Unknown encoding {name}")
        if cached is None:
            load.read_file("https://example.org/o200k_base")  # type: ignore[attr-defined]
        return Encoding()

    def read_file(path: str) -> bytes:
        raise AssertionError("the network was asked")

    load.read_file = read_file  # type: ignore[attr-defined]
    package.get_encoding, package.load = get_encoding, load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tiktoken", package)
    monkeypatch.setitem(sys.modules, "tiktoken.load", load)
    return load


@pytest.mark.usefixtures("_fresh")
def test_encodings_of_tiktoken_come_from_its_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    load = _fake_tiktoken(monkeypatch, b"ranks")
    before = load.read_file
    scores = evaluate_texts(ITEMS[1:], "Tokens", matching=Matching("contains", tokens="tiktoken:o200k_base"))
    assert scores["Tokens"] == 2
    assert "tokens are counted as tiktoken:o200k_base" in list(map(str, scores.notes))
    assert load.read_file is before


@pytest.mark.usefixtures("_fresh")
def test_an_encoding_that_is_not_cached_is_an_error_and_no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    load = _fake_tiktoken(monkeypatch, None)
    before = load.read_file
    with pytest.raises(OptionError, match="not on this machine"):
        evaluate_texts(ITEMS, "Tokens", matching=Matching(tokens="tiktoken:o200k_base"))
    assert load.read_file is before
    with pytest.raises(OptionError, match="Unknown encoding o201k"):
        evaluate_texts(ITEMS, "Tokens", matching=Matching(tokens="tiktoken:o201k"))


@pytest.mark.usefixtures("_fresh")
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingPackageError, match="tiktoken is not installed"):
        evaluate_texts(ITEMS, "Tokens", matching=Matching(tokens="tiktoken:o200k_base"))


def test_other_words_are_refused() -> None:
    with pytest.raises(OptionError, match="tokens"):
        Matching(tokens="letters")
