"""Makes the pictures of README and docs/gallery.md from shipped data: `python docs/screenshot.py [NAME ...]`.

Needs playwright and chromium. Every picture is the top of a page that commands write; `--dark`, `--width 640` and
`--to FOLDER` make other pictures of the same pages to look at. docs/explorer_pictures.py has those of `goldrank serve`.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldrank import History, Run, cli, demo, evaluate
from goldrank.demo import retrievers

HERE = Path(__file__).parent
RAG = HERE.parent / "examples" / "rag" / "sweep_causes_gate.py"
WIDTH = 1_120
JUDGEMENTS = "demo/household.qrels"


@dataclass(frozen=True)
class Picture:
    """How a page is made in the folder in which its commands run, which part of it is shown, and how much."""

    make: Callable[[], None]
    page: str
    height: int
    section: str = ""
    """The id of the part that is shown; without one, the top."""


def type_in(*lines: str) -> None:
    """Run commands of goldrank as a user would type them."""
    for line in lines:
        code = cli.run([*line.split(), "--quiet"])
        assert code == 0, line


def compare() -> None:
    """The two retrievers of the demo, with their texts."""
    texts = "--queries demo/queries.jsonl --documents demo/documents.jsonl"
    type_in(f"compare {JUDGEMENTS} old=demo/overlap.run new=demo/bm25.run -m nDCG@10,P@1 {texts} -o compare.html")


def leaderboard() -> None:
    """Twelve systems: three kinds of words, two ways to score, whole texts or titles."""
    data = demo.load()
    questions = {query: fields["text"] for query, fields in data["queries"].items()}
    parts = {"text": data["documents"], "title": {doc: demo.title(text) for doc, text in data["documents"].items()}}
    words = {"words": retrievers.plain_words, "stems": retrievers.stems, "letters": trigrams}
    scorers = {"bm25": retrievers.bm25, "overlap": retrievers.overlap}
    names = []

    for spelling, cut in words.items():
        for scorer, score in scorers.items():
            for part in parts:
                rankings = retrievers.Retriever(cut, score).search(questions, parts[part], depth=10)
                names.append(f"{scorer}-{spelling}-{part}")
                Run(rankings).save(f"{names[-1]}.run")

    files = " ".join(f"{name}.run" for name in names)
    type_in(f"compare {JUDGEMENTS} {files} -m nDCG@10 -o leaderboard.html")


def trigrams(text: str) -> list[str]:
    """All three letters in a row, with blanks."""
    padded = f" {' '.join(retrievers.plain_words(text))} "
    return [padded[i : i + 3] for i in range(len(padded) - 2)]


def history() -> None:
    """Word overlap in six weeks, then BM25 in six weeks: one change to mark."""
    start = datetime.datetime(2026, 8, 3, 9, tzinfo=datetime.UTC)
    kept = History("history.db")

    for week in range(12):
        run = "overlap" if week < 6 else "bm25"
        scores = evaluate(JUDGEMENTS, f"demo/{run}.run", ["nDCG@10", "P@1"])
        kept.record(scores, label="main", commit=f"{week + 1:07x}", time=start + datetime.timedelta(weeks=week))

    type_in("history -m nDCG@10,P@1 -o history.html")


def stages() -> None:
    """Thirty candidates by common words, of which BM25 keeps the ten that it likes best."""
    candidates, ranked = demo.runs(depth=30)["overlap"], demo.runs(depth=149)["bm25"]
    reranked = {}
    for query, docs in candidates.items():
        kept = [doc for doc in ranked[query] if doc in docs][:10]
        reranked[query] = {doc: ranked[query][doc] for doc in kept}
    Run(candidates).save("candidates.run")
    Run(reranked).save("reranked.run")
    type_in(f"stages {JUDGEMENTS} candidates.run reranked.run -m nDCG@10 -o stages.html")


def frontier() -> None:
    """Two retrievers that return 2, 5 or 10 tips, with the words of these as tokens."""
    data = demo.load()
    names = []

    for depth in (2, 5, 10):
        for retriever in ("overlap", "bm25"):
            rankings = demo.runs(depth)[retriever]
            names.append(f"{retriever}-{depth}")
            write_records(Path(f"{names[-1]}.jsonl"), rankings, data)
            type_in(f"eval {names[-1]}.jsonl -m R -o {names[-1]}.json")

    type_in(f"compare {' '.join(f'{name}.json' for name in names)} -o frontier.html")


def write_records(path: Path, rankings: Mapping[str, Mapping[str, float]], data: Mapping[str, Any]) -> None:
    """A question a line: which tips it got, which it needs, and how many words it got."""
    lines = []
    for query, docs in rankings.items():
        expected = [doc for doc, grade in data["qrels"][query].items() if grade > 0]
        words = sum(len(data["documents"][doc].split()) for doc in docs)
        lines.append(json.dumps({"id": query, "retrieved_ids": list(docs), "expected_ids": expected, "tokens": words}))
    path.write_text("\n".join(lines) + "\n", "utf-8")


def rag() -> None:
    """The pages of examples/rag: a sweep over chunkings, and causes."""
    spec = importlib.util.spec_from_file_location("rag_example", RAG)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(Path.cwd())


PICTURES = {
    "compare": Picture(compare, "compare.html", 700),
    "leaderboard": Picture(leaderboard, "leaderboard.html", 1_000),
    "history": Picture(history, "history.html", 900),
    "stages": Picture(stages, "stages.html", 900),
    "frontier": Picture(frontier, "frontier.html", 750, section="costs"),
    "sweep": Picture(rag, "sweep.html", 1_000),
    "causes": Picture(rag, "causes.html", 900),
}


@contextmanager
def demo_folder() -> Iterator[Path]:
    """A new folder with the files of the demo, in which commands run."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            type_in("demo --write demo")
            yield Path(name)
        finally:
            os.chdir(before)


def arguments() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []])
    parser.add_argument("--to", type=Path, default=HERE, help="the folder of the pictures")
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--dark", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    options = arguments()
    target = options.to.resolve()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in options.names or PICTURES:
            picture = PICTURES[name]
            with demo_folder() as folder:
                picture.make()
                size = {"width": options.width, "height": picture.height}
                page = browser.new_page(viewport=size, color_scheme="dark" if options.dark else "light")
                page.goto(f"{(folder / picture.page).as_uri()}#{picture.section}")
                page.screenshot(path=target / f"{name}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
