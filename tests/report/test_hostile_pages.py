"""Every page and every drawing with hostile ids, names, tags and texts, in a real browser.

No script but the page's own runs, and no request leaves: both are asserted, with a policy that forbids nothing beside
the page's own.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from xml.etree import ElementTree

import hostile_names
import pytest
from browsing import EVENTS, Looking
from hostile_names import FILE, MARKUP, NASTY

from goldrank.cli import run

pytestmark = pytest.mark.slow

ONE, TWO, TEXTS = f"one{FILE}.json", f"two{FILE}.json", f"texts{FILE}.jsonl"
SCRIPTS = NASTY[24:31]
CHOSEN = [text.replace("=", "-").replace("/", "|") for text in MARKUP]
"""For names before `=FILE` and in CHUNKING/RETRIEVER."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All that commands write for browsers, by the names of the files."""
    folder = tmp_path_factory.mktemp("pages")
    hostile_names.write(folder)
    here = os.getcwd()
    os.chdir(folder)
    try:
        names = [f"{text.replace('=', '-')}={path}" for text, path in zip(SCRIPTS, [ONE, TWO] * 4, strict=False)]
        marked = [f"{text}=marked{i % 3}.json" for i, text in enumerate(CHOSEN[:9])]
        compared = [
            "--statistics",
            "samples=100",
            "--queries",
            "metadata.jsonl",
            "--slice",
            "kind",
            "--convention",
            "overlap=allow",
        ]
        sliced = [*compared[:3], "marked.jsonl", *compared[4:]]
        calls = [
            ["compare", "qrels.json", *names[:4], *compared, "-o", "compared.html", "-o", "charts.svg"],
            ["texts", TEXTS, f"{SCRIPTS[0].replace('=', '-')}={TEXTS}", "--matching", "contains",
             "-o", "texts.html"],
            *(["texts", TEXTS, "--matching", "contains", "--explain", text, "-o", f"explained{i}.html"]
              for i, text in enumerate(SCRIPTS[:3])),
            *(["eval", "qrels.json", ONE, "-m", "AP", "-o", f"s{i}.json"] for i in range(2)),
            *(["record", f"s{i % 2}.json", "--label", text, "--commit", text, "--note", text, "--branch", text,
               "--tag", f"x={text}"] for i, text in enumerate(SCRIPTS)),
            ["history", "-o", "history.html", "-o", "history.svg"],
            ["compare", "marked-qrels.json", *marked[:2], *sliced, "--documents", "marked.jsonl",
             "-o", "docs.html"],
            ["compare", "marked-qrels.json", *marked, *sliced, "-o", "many.html", "-o", "more-charts.svg"],
            ["compare", "marked-qrels.json", *marked, "--statistics", "samples=100", "-o", "board.svg"],
            *(
                ["eval", "marked-qrels.json", name, "-m", "AP,nDCG@10", "-o", f"m{i}.json"]
                for i, name in enumerate(marked)
            ),
            ["compare", "m0.json", "m1.json", "m2.json", "--statistics", "samples=100", "-o", "saved.html"],
            ["record", "m0.json", "--db", "m.db", "--label", MARKUP[0], "--baseline", MARKUP[1], "--note", MARKUP[2]],
            ["record", "m0.json", "--db", "m.db", "--label", MARKUP[0], "--branch", MARKUP[3]],
            ["history", "--db", "m.db", "-o", "measures.html", "-o", "measures.svg"],
            ["causes", f"{CHOSEN[0]}=marked-texts.jsonl", "--matching", "contains", "--evidence", "chunks=chunks.jsonl",
             "-k", "1", "-o", "causes.html"],
            ["sweep", *(f"{one}/{other}=marked-texts.jsonl" for one, other in pairwise(CHOSEN)), "--matching",
             "contains", "-k", "1,2", "--baseline", f"{CHOSEN[0]}/{CHOSEN[1]}@1", "-o", "sweep.html", "-o",
             "sweep.svg"],
            ["serve", "marked-qrels.json", *marked[:2], "--documents", "marked.jsonl", "--queries", "marked.jsonl",
             "--title", MARKUP[0], "--slice", "kind", "-o", "site"],
            ["serve", "marked-texts.jsonl", f"{CHOSEN[3]}=marked-texts.jsonl", "--matching", "contains",
             "-o", "site-of-texts"],
        ]  # fmt: skip
        hostile_names.write_marked(folder)
        for arguments in calls:
            assert run(arguments) == 0, arguments
        from goldrank import Scores, score_intervals
        from goldrank.report.one_system import IntervalTables
        from goldrank.report.scores import ScoreTables
        from goldrank.report.show import save

        for i in range(3):
            one = Scores.load(f"m{i}.json")
            save(ScoreTables([one], by_query=True), folder / f"scores{i}.html")
            save(IntervalTables([score_intervals(one)]), folder / f"intervals{i}.html")
    finally:
        os.chdir(here)
    found = sorted([*folder.rglob("*.html"), *folder.rglob("*.svg")])
    assert len(found) > 100
    return found


SCRIPTED = ("compared.html", "docs.html", "many.html", "saved.html", "history.html", "measures.html", "causes.html",
            "sweep.html")  # fmt: skip


def test_no_script_runs_and_no_request_leaves(browser, pages):
    looked_at = Looking(browser)
    for path in pages:
        looked_at.harmless(path, scripts=2 if path.name in SCRIPTED else 0)
    looked_at.close()


def test_the_test_sees_scripts(browser, tmp_path):
    """A page that lets a name in fails all that is asserted above."""
    path = tmp_path / "bad.html"
    path.write_text(f"<p>{NASTY[24]}<img src=https://x.invalid/x.png onerror=1></p>", "utf-8")
    looking = Looking(browser)
    with pytest.raises(AssertionError):
        looking.harmless(path, scripts=1)
    assert looking.page.evaluate("window.hacked") == 1
    assert len(looking.requests) == 2
    assert looking.troubles
    assert looking.page.evaluate(EVENTS) == ["onerror"]
    looking.close()


def test_pages_have_a_strict_policy_and_drawings_are_xml(pages):
    for path in pages:
        text = path.read_text("utf-8")
        if path.suffix == ".svg":
            tree = ElementTree.fromstring(text)
            tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
            assert not tags & {"script", "foreignObject", "a", "image", "use"}, path.name
        else:
            policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
            assert policy.startswith("default-src 'none'"), path.name
            assert "unsafe" not in policy
