"""Measure matching by ROUGE-L beside rouge-score and rouge: python benchmarks/texts.py [--help]

`--prose` measures `evaluate_texts` on real prose in eleven languages (`paragraphs.py`), beside the same texts with each
word spelled in ASCII letters: what a job takes must not depend on the language.

Each tool runs in a process of its own and decides which retrieved chunks match which references. The packages
are slow: they get the first questions only, their time is multiplied up to all questions, and the table says
so. Their decisions on these must be goldrank's, else the run fails. `rouge` runs in a pool of two processes, as
continuous-eval's batches do. Seconds, of the clock and of all CPUs, are those of the matching, without imports and
reading. Memory is the highest of the whole process; a pool's processes come on top of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

SEED = 20_240_607
CHUNKS, REFERENCES = 10, 3
THRESHOLD = 0.7
WORDS = 30_000
PATIENCE_SECONDS = 3_600

Question = tuple[list[str], list[str]]
"""Retrieved chunks and references."""


# The data.


def questions(count: int, seed: int = SEED) -> list[Question]:
    """Chunks of 100 to 200 words and references of 20 to 60, words as frequent as in prose (Zipf's law).

    Half of the references stand in one of the chunks, every second of these with a fifth of its words missing.
    """
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(WORDS)]
    weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def words(low: int, high: int) -> list[str]:
        return rng.choices(vocabulary, cum_weights=weights, k=rng.randint(low, high))

    def prose(given: list[str]) -> str:
        sentences = []
        while given:
            length = rng.randint(8, 20)
            sentences.append(" ".join(given[:length]).capitalize())
            given = given[length:]
        return ". ".join(sentences) + "."

    made = []
    for _ in range(count):
        chunks = [words(100, 200) for _ in range(CHUNKS)]
        references = [words(20, 60) for _ in range(REFERENCES)]
        for reference in references:
            chance = rng.random()
            if chance < 0.5:
                part = [word for word in reference if chance < 0.25 or rng.random() < 0.8]
                chunk = rng.choice(chunks)
                at = rng.randint(0, len(chunk) - len(part))
                chunk[at : at + len(part)] = part
        made.append(([prose(chunk) for chunk in chunks], [prose(reference) for reference in references]))
    return made


# Real prose.

PROSE_QUESTIONS = 500
PROSE_WORDS = 620
"""Words of a chunk."""


def prose_questions(count: int, seed: int = SEED) -> list[Question]:
    """Questions in one language each. The first chunk has sentences of two topics, the others of the rest. Of the three
    references the first stands in the first chunk, the second does with a fifth of its words missing, the third is of
    another language."""
    from paragraphs import PARAGRAPHS

    from goldrank.match.tokens import words
    from goldrank.match.units import sentences

    rng = random.Random(seed)
    by_language = {
        language: [[(sentence, len(words(sentence))) for sentence in sentences(topic)] for topic in topics]
        for language, topics in PARAGRAPHS.items()
    }

    def chunk(topics: list[list[tuple[str, int]]]) -> list[str]:
        drawn: list[str] = []
        size = 0
        while size < PROSE_WORDS:
            sentence, length = rng.choice(rng.choice(topics))
            drawn.append(sentence)
            size += length
        return drawn

    languages = list(by_language)
    made = []
    for _ in range(count):
        language, other_language = rng.sample(languages, 2)
        topics = rng.sample(by_language[language], len(by_language[language]))
        with_references = len(topics) // 2
        first = chunk(topics[:with_references])
        chunks = [first, *(chunk(topics[with_references:]) for _ in range(CHUNKS - 1))]
        fewer = " ".join(piece for piece in rng.choice(first).split() if rng.random() < 0.8) or first[0]
        other = rng.choice(by_language[other_language][0])[0]
        rng.shuffle(chunks)
        made.append(([" ".join(sentences) for sentences in chunks], [rng.choice(first), fewer, other]))
    return made


def in_ascii(text: str) -> str:
    """A text of as many words, each spelled with ASCII letters."""
    from goldrank.match.tokens import spans

    spelled = []
    before = 0
    for start, end in spans(text):
        between = text[before:start]
        spelled.append(between if between.isascii() else " ")
        spelled.append("".join(c if c.isascii() else chr(97 + ord(c) % 26) for c in text[start:end]))
        before = end
    return "".join(spelled) + "."


def run_prose(count: int, kind: str) -> dict[str, object]:
    """What evaluating so many questions took."""
    from goldrank import evaluate_texts

    given = prose_questions(count)
    if kind == "ascii":
        given = [tuple([in_ascii(text) for text in side] for side in question) for question in given]
    items = [{"retrieved": chunks, "references": references} for chunks, references in given]
    evaluate_texts(items[:2], "Cover@10")  # imports are not measured
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, start = _cpu_seconds(), time.perf_counter()
    cover = evaluate_texts(items, "Cover@10")["Cover@10"]
    return {
        "seconds": time.perf_counter() - start,
        "cpu": _cpu_seconds() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
        "cover": cover,
    }


def prose_table(answers: dict[str, dict], count: int) -> str:
    """What real prose and the same in ASCII took, and what 10,000 questions would take."""
    lines = [
        f"{count:,} questions x {CHUNKS} chunks of {PROSE_WORDS} words x {REFERENCES} references; "
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        "",
        "| texts | seconds | CPU seconds | CPU seconds for 10,000 questions (extrapolated) | Cover@10 |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind, answer in answers.items():
        whole = answer["cpu"] * 10_000 / count
        lines.append(
            f"| {kind} | {answer['seconds']:.2f} | {answer['cpu']:.2f} | {whole:.0f} | {answer['cover']:.3f} |"
        )
    return "\n".join(lines)


# The tools: each takes questions and returns the decisions, chunk by chunk and reference by reference.


def with_goldrank(given: list[Question], name: str) -> list[bool]:
    import numpy as np

    from goldrank.match.matcher import matcher

    retrieved = [chunk for chunks, _ in given for chunk in chunks]
    references = [reference for _, wanted in given for reference in wanted]
    pair = np.arange(len(given) * CHUNKS * REFERENCES)
    left = pair // REFERENCES
    right = pair // (CHUNKS * REFERENCES) * REFERENCES + pair % REFERENCES
    found: list[bool] = matcher(f"{name}:{THRESHOLD}").decide(retrieved, references, left, right).tolist()
    return found


def with_rouge_score(given: list[Question]) -> list[bool]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return [
        scorer.score(reference, chunk)["rougeL"].recall >= THRESHOLD
        for chunks, references in given
        for chunk in chunks
        for reference in references
    ]


def _one_with_rouge(question: Question) -> list[bool]:
    from rouge import Rouge

    package = Rouge(metrics=["rouge-l"])
    chunks, references = question
    return [
        package.get_scores(chunk, reference)[0]["rouge-l"]["r"] >= THRESHOLD
        for chunk in chunks
        for reference in references
    ]


def with_rouge(given: list[Question]) -> list[bool]:
    with ProcessPoolExecutor(2) as pool:
        return [decision for found in pool.map(_one_with_rouge, given) for decision in found]


@dataclass(frozen=True)
class Tool:
    """A row of the table. `beside` is the package whose decisions are the same, if there is one."""

    title: str
    rule: str
    package: bool
    beside: str | None = None


TOOLS = {
    "rouge-score": Tool("goldrank `rouge-score`", "rouge-score", False, "rouge-score-package"),
    "rouge-l": Tool("goldrank `rouge-l`", "rouge-l", False),
    "rouge": Tool("goldrank `rouge`", "rouge", False, "rouge-package"),
    "rouge-score-package": Tool("rouge-score", "rouge-score", True),
    "rouge-package": Tool("rouge, two processes", "rouge", True),
}


def run_tool(name: str, file: Path, count: int) -> dict[str, object]:
    """What a tool decides on the first questions of a file, and what that cost."""
    with file.open() as lines:
        given = [tuple(json.loads(line)) for _, line in zip(range(count), lines, strict=False)]
    tool = TOOLS[name]

    def decide(some: list[Question]) -> list[bool]:
        if not tool.package:
            return with_goldrank(some, tool.rule)
        return with_rouge_score(some) if tool.rule == "rouge-score" else with_rouge(some)

    decide(given[:1])  # imports are not measured
    cpu, start = _cpu_seconds(), time.perf_counter()
    found = decide(given)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": _cpu_seconds() - cpu,
        "questions": len(given),
        "matches": [i for i, decision in enumerate(found) if decision],
    }


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


# The comparison.


def table(answers: dict[str, dict], resident: dict[str, int], count: int) -> str:
    """The rows, packages multiplied up to all questions."""
    pairs = count * CHUNKS * REFERENCES
    lines = [
        f"{count:,} questions x {CHUNKS} chunks x {REFERENCES} references = {pairs:,} pairs; "
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        "",
        "| tool | questions run | seconds | CPU seconds | pairs a second | peak memory | goldrank is faster by |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    whole = {name: answer["seconds"] * count / answer["questions"] for name, answer in answers.items()}
    for name, answer in answers.items():
        tool = TOOLS[name]
        seconds = f"{whole[name]:,.1f}" if answer["questions"] == count else f"about {whole[name]:,.0f} (extrapolated)"
        same = next((ours for ours, other in TOOLS.items() if other.beside == name), None)
        factor = f"{whole[name] / whole[same]:,.0f}x" if same in whole else ""
        cpu = answer["cpu"] * count / answer["questions"]
        lines.append(
            f"| {tool.title} | {answer['questions']:,} | {seconds} | {cpu:,.1f} | {pairs / whole[name]:,.0f} "
            f"| {resident[name] / 1e6:,.0f} MB | {factor} |"
        )
    return "\n".join(lines)


def check(answers: dict[str, dict]) -> list[str]:
    """Where a package decides otherwise than goldrank does by its rule."""
    wrong = []
    for name, tool in TOOLS.items():
        if tool.beside in answers and name in answers:
            limit = answers[tool.beside]["questions"] * CHUNKS * REFERENCES
            ours = {pair for pair in answers[name]["matches"] if pair < limit}
            differ = ours ^ set(answers[tool.beside]["matches"])
            if differ:
                wrong.append(
                    f"{tool.title} and {TOOLS[tool.beside].title} differ in {len(differ):,} of {limit:,} pairs"
                )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--sample", type=int, default=100, help="questions that the packages get (default 100)")
    parser.add_argument("--prose", choices=("both", "prose", "ascii"), help="real prose, by default 500 questions")
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        print(json.dumps(run_tool(options.tool, options.file, options.questions)))
        return 0
    if options.prose:
        count = options.questions if options.questions != 10_000 else PROSE_QUESTIONS
        kinds = ("prose", "ascii") if options.prose == "both" else (options.prose,)
        print(prose_table({kind: run_prose(count, kind) for kind in kinds}, count))
        return 0
    import processes

    answers, resident = {}, {}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "questions.jsonl"
        file.write_text("".join(json.dumps(question) + "\n" for question in questions(options.questions)))
        for name, tool in TOOLS.items():
            count = min(options.sample, options.questions) if tool.package else options.questions
            command = [sys.executable, __file__, "--tool", name, "--file", str(file), "--questions", str(count)]
            cost = processes.run(command, os.environ, PATIENCE_SECONDS)
            answers[name], resident[name] = dict(cost.answer), cost.resident
    print(table(answers, resident, options.questions))
    wrong = check(answers)
    print("\n".join(wrong) if wrong else "\nThe packages decide as goldrank does on all pairs that they were given.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
