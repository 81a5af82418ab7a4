"""What README and docs/tour.md show works as it is printed."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import first_numbers
import measured
import places
import pytest

import goldrank
from goldrank.cli import run as command

README = (places.ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (places.ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
MOST_LINES = 120
"""A screen and a half, with the tables."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d1": 2.0}}
    goldrank.read_qrels(qrels).save("qrels.txt")
    goldrank.read_run(run).save("run.txt")
    for name in ("old.run", "new.run"):
        goldrank.read_run(run).save(name)
    goldrank.read_run(run).save("dense.parquet")
    Path("bm25.run.gz").write_bytes(gzip.compress(Path("run.txt").read_bytes()))
    Path("rag.jsonl").write_text(json.dumps({"retrieved": ["a b", "c d"], "references": ["c d"]}) + "\n")
    goldrank.Baseline(goldrank.evaluate("qrels.txt", "run.txt", "nDCG@10")).save("baseline.json")


@pytest.mark.usefixtures("files", "registry")
def test_tour() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TOUR, flags=re.DOTALL)
    assert len(code.splitlines()) < 40
    names: dict[str, object] = {}
    exec(code, names)
    # q1: gains 2, 0, 1 at ranks 1 to 3 against the ideal 2, 1; q2: perfect.
    assert names["scores"]["nDCG@10"] == pytest.approx((2.5 / (2 + 1 / 1.5849625007211562) + 1) / 2, abs=1e-15)
    assert names["scores"].per_query["AP"]["q1"] == (1 / 1 + 2 / 3) / 2
    assert goldrank.evaluate("qrels.txt", "run.txt", "Early").per_query["Early"] == {"q1": 1 / 3, "q2": 1 / 3}


def blocks(text: str) -> str:
    """The blocks of a page that are of no language, without their fences."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return "\n".join(block for language, block in found if not language)


def shown_commands(text: str) -> list[str]:
    """The commands of goldrank in a page's blocks of code, without their comments."""
    return re.findall(r"^(?:\$ )?goldrank (.*?)(?:\s+#.*)?$", blocks(text), flags=re.MULTILINE)


@pytest.mark.usefixtures("files")
def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown_commands(TOUR)
    assert len(lines) >= 12
    for line in lines:
        for part in line.split(" && goldrank "):
            assert command(shlex.split(part)) == 0, line
    assert "nDCG@10" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
def test_the_first_three_commands(capsys: pytest.CaptureFixture[str]) -> None:
    demo, serve, compare = shown_commands(README)
    assert command(shlex.split(demo)) == 0
    assert "bm25 is better than overlap" in capsys.readouterr().out
    assert command([*shlex.split(serve), "-o", "pages"]) == 0  # as files: it would wait for a browser
    assert Path("pages/index.html").stat().st_size > 500
    assert command(shlex.split(compare)) == 0
    assert "<title>" in Path("report.html").read_text("utf-8")


def test_the_readme_is_short_and_claims_no_package_that_is_not_there() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    code = blocks(README)
    assert f"goldrank-{goldrank.__version__}-" in code
    assert re.findall(r"pip install (\S+)", code) == ["'.[serve]'", f"'goldrank-{goldrank.__version__}-....whl[serve]'"]
    assert "goldrank is not on the Python Package Index yet" in README


def test_every_kind_of_user_gets_the_right_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first_numbers.write(tmp_path)
    kinds = first_numbers.lines()
    assert kinds.keys() == first_numbers.NUMBERS.keys()
    for kind, lines in kinds.items():
        for line, number in zip(lines, first_numbers.NUMBERS[kind], strict=True):
            script = first_numbers.as_python(line)
            if script:
                exec(script, {})
            else:
                assert command(shlex.split(line)[1:]) == 0, line
            assert number in " ".join(capsys.readouterr().out.split()), line


def test_speeds_are_those_of_the_last_benchmark() -> None:
    """Which numbers README takes from benchmarks/RESULTS.md; both are rounded, by half a unit of the last digit."""
    rows = measured.rows()
    text = " ".join(README[README.index("<!-- benchmark:begin") : README.index("<!-- benchmark:end")].split())
    tools = {
        "goldrank": r"\*\*goldrank\*\*", "goldrank, without the core": "goldrank without its compiled core",
        "trec_eval": "trec_eval 10, -O2", "pytrec_eval": "pytrec_eval [0-9.]+", "ir_measures": "ir_measures [0-9.]+",
        "ranx, cold": r"ranx [0-9.]+, cold \(it compiles\)",
        "floor, 2 threads": r"a hand-written C\+\+ pass that checks nothing",
    }  # fmt: skip
    ours = rows["marco files", "goldrank"]["time"]
    for tool, named in tools.items():
        row = rows["marco files", tool]
        (cells,) = re.findall(rf"\| {named} \| ([0-9.]+) s \| ([0-9.]+) (MB|GB) \| ([0-9.]*)x?[a-z ]*\|", text)
        seconds, memory, unit, times = cells
        assert float(seconds) == pytest.approx(row["time"], abs=0.0051)
        assert float(memory) * {"MB": 1e6, "GB": 1e9}[unit] == pytest.approx(row["memory"], rel=1e-6)
        ratio = max(ours / row["time"], row["time"] / ours)
        assert not times or float(times) == pytest.approx(ratio, abs=0.5 if ratio > 3 else 0.05)
    told = {
        ("marco dicts", "goldrank", "time"): r"from dicts in memory: ([0-9.]+) s, pytrec_eval 1",
        ("marco dicts", "pytrec_eval", "time"): r"from dicts in memory: [0-9.]+ s, pytrec_eval ([0-9.]+) s",
        ("wide files", "goldrank", "time"): r"500,000 queries: ([0-9.]+) s",
        ("huge files", "goldrank", "time"): r"50 million lines \(1\.8 GB\): ([0-9.]+) s in \d+ MB",
        ("million-jsonl files", "goldrank", "cpu"): r"A million lines of JSON: ([0-9.]+) s of CPU",
        ("deep files", "goldrank", "time"): r"600 judgements each take ([0-9.]+) s from files",
        ("deep files", "pytrec_eval", "time"): r"from files \(pytrec_eval ([0-9.]+) s;",
        ("import goldrank", "goldrank", "time"): r"`import goldrank` takes ([0-9.]+) ms",
        ("start of Python", "python", "time"): r"Python's own ([0-9.]+) ms included",
        ("import numpy", "python", "time"): r"loads numpy \(([0-9.]+) ms\)",
        ("from goldrank import evaluate", "goldrank", "time"): r"numpy \([0-9.]+ ms\), ([0-9.]+) ms",
        ("dicts 1x10x2", "goldrank", "time"): r"one query with ten documents takes ([0-9.]+) ms a call",
    }
    for (job, tool, what), words in told.items():
        (number,) = re.findall(words, text)
        value = rows[job, tool][what] * (1000 if " ms" in words else 1)
        digits = len(number.partition(".")[2])
        assert float(number) == pytest.approx(value, abs=0.51 * 10**-digits), words
    assert f"in {rows['huge files', 'goldrank']['memory'] / 1e6:.0f} MB" in text
    assert rows["dicts 1x10x2", "pytrec_eval"]["time"] < 1e-5
    hundred = rows["marco files, 100 measures", "goldrank"]["cpu"] / rows["marco files, 5 measures", "goldrank"]["cpu"]
    assert "100 measures cost what 5 cost" in text
    assert hundred < 1.1
    assert ours < 1
    assert "seven million lines in less than a second" in README


def test_counts_of_formats_methods_and_examples() -> None:
    import click

    from goldrank.cli import group
    from goldrank.fusion.methods import all_methods

    page = (places.ROOT / "docs" / "getting_in_and_out.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*$", page.partition("\n## I have\n")[2].partition("\n## ")[0], re.MULTILINE)
    assert len(rows) - 1 > 50  # the head is a row
    assert "more than 50 tools and formats" in " ".join(README.split())
    assert f"| fusion | {len(all_methods())} methods | no | no | no | 25 methods |" in README
    context = click.Context(group, info_name="goldrank")
    for name in group.list_commands(context):
        shown = group.get_command(context, name)
        assert shown is not None
        assert f"goldrank {name}" in shown.get_help(click.Context(shown, info_name=name)).split("Example")[1], name
