"""docs/texts.md: what it shows is what happens."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from pathlib import Path

import places
import pytest

from goldrank.cli import run as command
from goldrank.match import matcher

PAGE = (places.ROOT / "docs" / "texts.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    """What the page's examples leave behind, each of them having printed what the page shows."""
    found: dict[str, object] = {}
    text = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/texts.md", None, 0)
    assert len(test.examples) >= 10
    said: list[str] = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=said.append, clear_globs=False)
    assert not runner.failures, "".join(said)
    found.update(test.globs)
    return found


def test_numbers_by_hand(names: dict[str, object]) -> None:
    scores = names["scores"]
    assert scores.per_query["Cover@1"] == {"tower": 1 / 2, "paint": 0}  # type: ignore[attr-defined]
    assert scores.per_query["RR"] == {"tower": 1, "paint": 1 / 2}  # type: ignore[attr-defined]
    # Words: the first question's texts have 11 ("world's" is two), 6 and 12, the second's 6 and 6. So 11 words hold
    # one of two references and none of one, and 40 words all.
    within = {11: (1 / 2 + 0) / 2, 40: (1 + 1) / 2}
    shown = ", ".join(f"'Cover(tokens={budget})': {value}" for budget, value in within.items())
    assert f"{{{shown}, 'Tokens@1': {(11 + 6) / 2}}}" in PAGE


@pytest.mark.usefixtures("names")
def test_commands(names: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rag.jsonl").write_text("\n".join(map(json.dumps, names["items"])))  # type: ignore[call-overload]
    rows = [dict(zip(("retrieved", "reference", "label"), row, strict=True)) for row in names["labels"]]  # type: ignore[attr-defined]
    Path("labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = re.findall(r"^\$ goldrank (.*)$", PAGE, re.MULTILINE)
    lines += re.findall(r"`goldrank ((?:texts|judge agree) [^`-][^`]*)`", PAGE)
    assert len(lines) == 9
    for line in lines:
        assert command(shlex.split(line)) == 0, line
    for written in ("both.json", "texts.html", "why.html"):
        assert Path(written).exists()


def test_matchers_that_it_recommends_exist() -> None:
    (table,) = re.findall(r"\| your references \|.*?\n\n", PAGE, re.DOTALL)
    spelled = re.findall(r"`([^`=]+)`", table)
    assert len(spelled) >= 10
    for name in spelled:
        matcher(name)
