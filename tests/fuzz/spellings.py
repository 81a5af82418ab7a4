"""What people spell, changed: measures, matchers, rules, sizes, shards, NAME=FILE, slices, options of the command line.

What is understood and printed must be understood again, as the same.
"""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from goldrank import Matching, Rule, Rules, choose, conventions, evaluate, evaluate_texts
from goldrank.cli import run as command
from goldrank.cli.inputs import key_values, named_file
from goldrank.cli.options import known_queries
from goldrank.match import matcher
from goldrank.measures import parse
from tests.fuzz import mutations
from tests.fuzz.outcomes import Difference, outcome
from tests.random_cases import MEASURES

Spec = dict[str, Any]
QRELS, RUN = {"q": {"d": 1, "e": 0}}, {"q": {"d": 2.0, "e": 1.0, "f": 0.5}}
ITEMS = [{"retrieved": ["Paris is in France.", "Rome"], "references": ["Rome is in Italy.", "Rome"]}]


def _measure(text: str) -> None:
    measure = parse(text)
    if parse(str(measure)) != measure or str(parse(str(measure))) != str(measure):
        raise Difference(f"{text!r} -> {measure}\n{measure} -> {parse(str(measure))}")
    evaluate(QRELS, RUN, measure)


def _matcher(text: str) -> None:
    found = matcher(text)
    if str(matcher(str(found))) != str(found):
        raise Difference(f"{text!r} -> {found}\n{found} -> {matcher(str(found))}")
    evaluate_texts(ITEMS, ["RR"], matching=Matching(found))


def _rule(text: str) -> None:
    rule = Rule.parse(text)
    again = Rule.parse(str(rule))
    if again.to_dict() != rule.to_dict():
        raise Difference(f"{text!r} -> {rule.to_dict()}\n{rule} -> {again.to_dict()}")
    Rules([text])


def _command(text: str) -> None:
    """A command line: its exit code is one of those that are documented, and no word speaks of a bug."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = command(text.split("\n"))
    if code not in range(5) or "this is a bug" in said.getvalue():
        raise Difference(f"{text!r} -> {code}: {said.getvalue()[-300:]!r}\na command -> 0 to 4, and no bug")


Parser = Callable[[str], Any]
SPELLINGS: dict[str, tuple[tuple[str, ...], Parser]] = {
    "measure": (
        (*MEASURES, "nDCG@10", "map", "ndcg_cut_10", "P_5", "recall.10", "Cover(tokens=2000, pack=\"skip\")", "ERR@20",
         "SpanRecall@5", "RBP(p=0.8)", "alpha_nDCG@20", "compatibility", "IPrec@0.1", "nDCG(gain={1: 3, 2: 9})@10"),
        _measure,
    ),
    "matcher": (
        ("exact", "contains", "rouge-l:0.7", "rouge-l>0.5", "rouge-1(use=\"f\"):0.5", "token-overlap:0.5",
         "fuzzy>=0.8"),
        _matcher,
    ),
    "rule": (
        ("nDCG@10: -1%", "AP >= 0.10", "missing <= 0%", "RR >= 0.2 untested", "AP [lang=de]: -5% untested", "AP: -0.01",
         "nDCG(gain=\"exp2\")@10 >= 0.4", "latency p95 <= 200ms", "judged@10 >= 90%"),
        _rule,
    ),
    "convention": (("trec_eval-10", "trec_eval-9", "chroma"), conventions.get),
    "file": (("a=b.run", "b.run", "=x", "a="), named_file),
    "fields": (("a=b", "retrieved=outputs.docs"), lambda text: key_values([text], "--map")),
    "slice": (("relevant", "judged", "length", "lang"), lambda text: known_queries(None, (text,))),
    "use": (("rag", "web search", "recommendation"), choose),
    "policy": (("docid", "input", "bounds"), lambda text: evaluate(QRELS, RUN, "AP", ties=text)),
    "command": (
        ("measures\nnDCG", "eval\nno.qrels\nno.run\n-m\nAP", "eval\nno\nno\n--shard\n1/2", "choose\nrag",
         "--version",
         "trec_eval\n-m\nmap\nno.qrels\nno.run", "gate\nno\nno\n--rule\nAP >= 0.4",
         "compare\nno\na=no\nb=no\n--slice\nx"),
        _command,
    ),
}  # fmt: skip


def make(rng: random.Random) -> Spec:
    kind = rng.choice([*SPELLINGS, "measure", "measure", "rule", "matcher"])
    text = rng.choice(SPELLINGS[kind][0])
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = mutations.changed_text(rng, text)[:20000] if rng.random() < 0.6 else _signs(rng, text)
    return {"kind": kind, "text": text}


SIGNS = "()[]{}@=<>:,.%_-+*/\"' 0159eE\t\n#~"


def _signs(rng: random.Random, text: str) -> str:
    """Spellings consist of signs and words: one more, one less, or those of another spelling."""
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at] + rng.choice(SIGNS) + text[at:]
    if kind == 1:
        return text[:at] + rng.choice(SIGNS) + text[at + 1 :]
    if kind == 2:
        return text[:at] + mutations.number(rng) + text[at:]
    other = rng.choice(rng.choice(list(SPELLINGS.values()))[0])
    return text[:at] + other[rng.randrange(len(other)) :]


def check(spec: Spec, folder: Path) -> None:
    with contextlib.chdir(folder):
        outcome(lambda: SPELLINGS[spec["kind"]][1](spec["text"]))
