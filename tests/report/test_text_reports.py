"""Reports as text: every system is there, the best is marked, hostile names stay harmless."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from goldrank import Run, Statistics, compare, diff
from goldrank.base.errors import OptionError
from goldrank.conventions import Convention
from goldrank.data.scores import Column, Scores
from goldrank.report import charts, latex, markdown
from goldrank.report.diff import parts as diff_parts
from goldrank.report.show import FORMS, render
from goldrank.report.terminal import view

HOSTILE = [
    "<script>alert(1)</script>",
    "a|b",
    '=HYPERLINK("http://x","y")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "-2+3",
    "\x1b[31mred\x1b[0m",
    "[bold]markup[/bold]",
    "\\input{/etc/passwd}",
    "50% & $x_1^2$ #1 ~ {y}",
    "**bold** `code` [link](http://x)",
    "line\nbreak\rreturn",
    "\u202eright to left",
    "ключ 東京 é",
]

PRINTED = [name for name, form in FORMS.items() if not form.binary]


def scores(run, values, measure="AP"):
    values = np.array(values, float)
    queries = tuple(f"q{i}" for i in range(len(values)))
    return Scores(run, queries, {measure: Column(measure, values, float(values.mean()), "mean")})


@pytest.fixture
def hostile():
    rng = np.random.default_rng(0)
    return compare([scores(name, rng.random(15)) for name in HOSTILE], statistics=Statistics(samples=200))


def test_the_table_by_hand():
    result = compare([scores("old", [0.0] * 10), scores("new", [0.5] * 10)], baseline="old")
    text = render(result, "terminal")
    # 10 queries that all improve: p = 2 / 2^10 = 0.00195.
    assert text.startswith("new is better than old: +0.5000 AP (95% interval ")
    assert re.search(r"^measure +old \(baseline\) +new +difference ", text, re.M)
    assert re.search(r"^AP +0\.0000 +\*0\.5000 +\+0\.5000 .* 10 / 0 / 0 +- +0\.002 +better$", text, re.M)
    assert "| b | new | **0.5000** <sup>a</sup> |" in render(result, "markdown")
    assert r"b & new & \textbf{0.5000}\textsuperscript{a} \\" in render(result, "latex")


def test_many_systems_fit_on_a_screen():
    """The answer, a line for each system, and what would change it; pairs are in files."""
    rng = np.random.default_rng(1)
    systems = []
    for i in range(12):
        values = {name: np.clip(rng.normal(0.4 + 0.02 * i, 0.1, 50), 0, 1) for name in ("AP", "RR", "P@5", "nDCG@10")}
        columns = {name: Column(name, v, float(v.mean()), "mean") for name, v in values.items()}
        systems.append(Scores(f"s{i:02}", tuple(f"q{j}" for j in range(50)), columns))
    result = compare(systems, statistics=Statistics(samples=500))
    lines = render(result, "terminal").splitlines()
    board = result.leaderboard()
    assert lines[0] == board.words
    assert len(lines) <= 26
    for standing in board:
        (line,) = [line for line in lines if re.match(rf" *\d+ +{standing.run} ", line)]
        low, high = standing.rank
        assert (f" {low} to {high} " if low < high else f" {low} ") in line
        assert f"{result.summaries['RR', standing.run].shown:.4f}" in line
    (border,) = [i for i, line in enumerate(lines) if "-- worse than the best for sure --" in line]
    assert board.first_beaten is not None
    assert lines[border + 1].split()[1] == board.first_beaten
    assert lines[border - 1].split()[1] == board.may_be_best[-1]
    assert "Hsu" not in "".join(lines)
    assert f"{board.told_apart} of 66 pairs are told apart" in " ".join(lines)
    assert "All 264 pairs and measures: -o pairs.csv, or a page: -o page.html." in " ".join(lines)


def test_csv_has_full_precision(data):
    qrels, runs = data
    result = compare(qrels, runs, ["AP", "RR"], baseline="bm25", statistics=Statistics(samples=500))
    rows = list(csv.DictReader(io.StringIO(render(result, "csv"))))
    assert len(rows) == 4
    for row, pair in zip(rows, result, strict=True):
        assert float(row["difference"]) == pair.difference
        assert float(row["p_wilcoxon"]) == pair.p_by_test["wilcoxon"]
        assert row["p_equivalence"] == ""


def test_json_is_json(data):
    qrels, runs = data
    found = json.loads(render(compare(qrels, runs, "AP", statistics=Statistics(samples=500)), "json"))
    assert found["format"] == "goldrank-comparison"
    assert len(found["pairs"]) == 3


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "csv", "html"])
def test_no_system_vanishes_and_no_control_character_passes(hostile, form):
    text = render(hostile, form)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert "東京" in text
    if form == "terminal":
        places = [line for line in text.splitlines() if re.match(r" *\d+ +\S.* to ", line)]
        assert len(places) == len(HOSTILE)
    if form in ("markdown", "latex"):
        letters = [line for line in text.splitlines() if re.match(r"(\| |    )?[a-n]( |$)", line)]
        assert len(letters) >= len(HOSTILE)


def test_spreadsheets_see_no_formula(hostile):
    cells = [row[column] for row in csv.DictReader(io.StringIO(render(hostile, "csv"))) for column in ("a", "b")]
    assert not [cell for cell in cells if cell[0] in "=+-@"]
    assert '\'=HYPERLINK("http://x","y")' in cells


def test_latex_escapes_by_hand():
    assert latex.escape("50% & $x_1$ #~^{}\\") == (
        r"50\% \& \$x\_1\$ \#\textasciitilde{}\textasciicircum{}\{\}\textbackslash{}"
    )
    assert latex.escape("--") == "{-}{-}"


def test_markdown_escapes_by_hand():
    assert markdown.escape("a|b <i> [x](y) :tada: *") == r"a\|b &lt;i> \[x\](y) \:tada: \*"
    assert markdown.escape("nDCG@10: +0.5") == "nDCG@10: +0.5"
    assert markdown.escape("ask @you") == "ask <code>&#64;you</code>"


def test_rich_markup_in_names_is_text(hostile):
    assert "[bold]markup[/bold]" in render(hostile, "terminal")


def test_more_than_26_systems_are_all_shown():
    rng = np.random.default_rng(0)
    result = compare(
        [scores(f"system-{i:02d}", rng.random(12)) for i in range(30)],
        baseline="system-00",
        statistics=Statistics(samples=200),
    )
    for form in (form for form in PRINTED if form != "svg"):
        text = render(result, form)
        assert all(f"system{'{-}' if form == 'latex' else '-'}{i:02d}" in text for i in range(30)), form


@pytest.mark.parametrize("form", PRINTED)
def test_degenerate_comparisons_render(form):
    for values in ([0.0] * 5, [0.3], [0.5] * 20):
        result = compare(
            [scores("a", values), scores("b", [v / 2 for v in values])], statistics=Statistics(samples=200)
        )
        assert "b" in render(result, form)


def test_unknown_form():
    with pytest.raises(OptionError, match="form is 'pdf'"):
        render(compare([scores("a", [0.5]), scores("b", [0.6])]), "pdf")


def test_diff_view(data):
    from rich.console import Console

    qrels, runs = data
    changes = diff(qrels, Run(runs["bm25"], name="\x1b[1mold"), Run(runs["hybrid"], name="[red]new"))
    file = io.StringIO()
    Console(file=file, width=100).print(view(diff_parts(changes)))
    text = file.getvalue()
    assert "\x1b" not in text
    assert "[red]new" in text
    assert changes.read_first()[0].query in text


def test_charts_are_wellformed_alone_and_inline(data, hostile):
    from goldrank.comparison.rank_changes import locate

    qrels, runs = data
    names = {"<b>&\"'": runs["bm25"], "]]>": runs["dense"]}
    result = compare(qrels, names, ["nDCG@10", "AP"], statistics=Statistics(samples=200))
    pair = result.pairs[0]
    a, b = result.values["nDCG@10"]
    ranks = locate(result.placed)
    drawn = [
        charts.forest(result, "nDCG@10"),
        charts.forest(hostile, "AP"),
        *(charts.curves(name, points) for name, points in result.curves.items()),
        charts.delta_bars(pair, b - a),
        charts.scatter(pair, a, b),
        charts.rank_shift((pair.a, pair.b), ranks, 0, 1),
        charts.rank_shift((pair.a, pair.b), ranks, 0, 1, result.queries[:5]),
    ]
    assert len(drawn) == 8
    for chart in drawn:
        for svg in (chart.inline(), chart.alone()):
            tree = ElementTree.fromstring(svg)
            assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
            texts = list(tree.iter("{http://www.w3.org/2000/svg}text"))
            spots = [(float(text.attrib["x"]), float(text.attrib["y"]), text.attrib.get("class")) for text in texts]
            assert all(0 <= y <= chart.height for _, y, _ in spots), "a text is outside of the picture"
            assert len(set(spots)) == len(spots), "a text stands on another"
            assert tree.find("{http://www.w3.org/2000/svg}title").text
            assert "nan" not in re.sub(r"<(title|desc|text)[^>]*>[^<]*", "", svg).lower()


def test_curves_are_the_measures_values(data):
    from goldrank import evaluate

    qrels, runs = data
    result = compare(qrels, runs, ["nDCG@10", "AP"], statistics=Statistics(samples=200))
    assert list(result.measures) == ["nDCG@10", "AP"]
    assert set(result.curves) == {"nDCG", "IPrec"}
    expected = evaluate(qrels, runs["dense"], "nDCG@5")["nDCG@5"]
    assert dict(result.curves["nDCG"]["dense"])[5] == expected


def test_rank_shift_counts_by_hand():
    from goldrank.comparison.rank_changes import locate
    from goldrank.data.qrels import Qrels
    from goldrank.data.run import Run
    from goldrank.evaluation.pipeline import place

    qrels = Qrels({"q": {"a": 1, "b": 1, "c": 1, "n": 0}})
    before, after = Run({"q": {"a": 3.0, "b": 2.0, "n": 1.0}}), Run({"q": {"b": 3.0, "a": 2.0, "n": 1.0}})
    chart = charts.rank_shift(("x", "y"), locate([place(qrels, run, Convention()) for run in (before, after)]), 0, 1)
    # b rose from 2 to 1, a fell from 1 to 2, c is in neither.
    assert "3 relevant documents: 1 rose, 1 fell" in chart.description
