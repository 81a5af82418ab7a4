"""What is declared of a kind of note, and the kinds that speak of texts and of judges. The others are in `notes.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class NoteKind:
    """What a note says, and what becomes of it when the results of shards are merged."""

    words: str | Callable[[Facts], str]
    """A format string over the facts, or a function of them. {samples} stands for the samples."""
    one: str = ""
    """The format string where `count` is 1."""
    warning: bool = False
    """Whether it may make the numbers misleading, so that nobody should overlook it."""
    counts: tuple[str, ...] = ("count",)
    """Facts that add up over shards, where a note has them."""
    whole: tuple[tuple[str, str], ...] = ()
    """Facts that are counts of the result itself, and counted in shards without such a note too: (fact, count)."""
    of_values: bool = False
    """Whether it speaks of a shard's own values, which say nothing of the whole."""


warns = partial(NoteKind, warning=True)

_LOCATED = "white space, case or forms of letters apart"
_APPROXIMATELY = "approximately (similarity from {least:.2f})"

TEXTS: dict[str, NoteKind] = {
    "covered-share": NoteKind(
        "{share:.1%} of {whole:,} references are covered by some retrieved text", counts=("part", "whole")
    ),
    "matching-share": NoteKind("{share:.1%} of {whole:,} retrieved texts cover a reference", counts=("part", "whole")),
    "chance-level": NoteKind(
        "by chance {share:.1%} of references ({low:.1%} to {high:.1%}): covered by texts of other questions",
        of_values=True,
    ),
    "high-chance-level": warns(
        "by chance {share:.1%} of references ({low:.1%} to {high:.1%}): covered by texts of other questions, "
        "beside {observed:.1%} by their own; a stricter matcher or a higher threshold tells more",
        of_values=True,
    ),
    "misses-cost-nothing": NoteKind(
        "{measure} divides by the useful texts found: misses cost nothing, as they do in AP"
    ),
    "claims-are-references": NoteKind("no question has a reference answer: its claims are the references"),
    "selective-ends": NoteKind(
        "{measure} would be {answering:.3f} for always answering, {abstaining:.3f} for always abstaining",
        of_values=True,
    ),
    "no-text-returned": warns("nothing at all was retrieved"),
    "rank-unit": NoteKind("ranks count {unit}s"),
    "guessed-gold": warns(
        "gold documents are taken for {taken}, because {why}; taken for {other}, {count:,} queries would differ: say "
        'which with gold="ids" or gold="content"'
    ),
    "without-references": NoteKind("questions without references: {samples}"),
    "ids-compared": NoteKind("ids are compared, since what is expected has no texts; no matcher is used"),
    "ties-at-the-end": NoteKind(
        "the context of {count:,} questions ends between texts of the same score: their order decides what is in it",
        "the context of 1 question ends between texts of the same score: their order decides what is in it",
    ),
    "different-lengths": warns(
        "{measures} compares ranks, but texts of {longer} have {long:,.0f} characters in the mean and those of "
        "{shorter} {short:,.0f}: use a budget of tokens, or CoverArea"
    ),
    "skip-not-monotone": NoteKind(
        'with pack="skip" a larger budget may cover less, so that points are drawn and no line'
    ),
    "gold-without-results": warns(
        "{count:,} questions of the gold have no results, so that nothing was retrieved for them: {samples}",
        "1 question of the gold has no results, so that nothing was retrieved for it: {samples}",
    ),
    "results-without-gold": NoteKind(
        "{count:,} questions are not in the gold and are left out: {samples}",
        "1 question is not in the gold and is left out: {samples}",
    ),
    "sweep-by-texts": warns(
        "chunkings are compared by the words of references, and larger chunks match more by chance: evidence by place "
        "is the same for all"
    ),
    "sweep-untested": NoteKind(
        "no setting was named beforehand to test the others against (compare(baseline), --baseline): what looks "
        "best may be so by chance"
    ),
    "repeated-texts": NoteKind("retrieved texts that stand higher up already: {count:,}"),
    "nothing-matches": warns("no text covers any reference by {matcher}{nearest}", of_values=True),
    "quotations-near": NoteKind(
        f"{{count:,}} quotations were located {_LOCATED}", f"1 quotation was located {_LOCATED}"
    ),
    "quotations-approximate": NoteKind(
        f"{{count:,}} quotations were located {_APPROXIMATELY}", f"1 quotation was located {_APPROXIMATELY}"
    ),
    "quotations-several": NoteKind(
        "{count:,} quotations stand in several places, {which}", "1 quotation stands in several places, {which}"
    ),
    "quotations-lost": warns(
        "{count:,} quotations were not located, {how}: {samples}", "1 quotation was not located, {how}: {samples}"
    ),
    "texts-near": NoteKind(
        f"{{count:,}} retrieved texts were located {_LOCATED}", f"1 retrieved text was located {_LOCATED}"
    ),
    "texts-in-part": NoteKind(
        "{count:,} retrieved texts were located but for parts such as headers, counted by their length",
        "1 retrieved text was located but for parts such as a header, counted by its length",
    ),
    "texts-several": NoteKind(
        "{count:,} retrieved texts stand in several places, counted where they hold most evidence",
        "1 retrieved text stands in several places, counted where it holds most evidence",
    ),
    "texts-differ": warns(
        "{count:,} retrieved texts are not what stands at their places in the sources",
        "1 retrieved text is not what stands at its place in the source",
    ),
    "texts-unplaced": warns(
        "{count:,} retrieved texts have no known place: counted by their length, without evidence",
        "1 retrieved text has no known place: counted by its length, without evidence",
    ),
    "few-texts-unplaced": NoteKind("retrieved texts without a known place, counted without evidence: {count:,}"),
    "chunks-lost": warns(
        "{count:,} texts of the corpus have no known place", "1 text of the corpus has no known place"
    ),
}

JUDGES: dict[str, NoteKind] = {
    "who-judged": NoteKind(
        "who judged: people {people:,} of {total:,} pairs, models {models:,}, the file alone {file:,}",
        counts=("people", "models", "file", "total"),
    ),
    "judgements-left-out": warns(
        "{count:,} pairs have grades by other kinds of judges only, which were left out (by={by})"
    ),
    "unknown-judges": warns(
        "{count:,} judgements say that they are by somebody who is neither 'human' nor 'model' and count as people's: "
        "{samples}"
    ),
    "judges-not-kept": warns(
        "{format} cannot say who judged: {models:,} of {total:,} judgements are a model's, and not marked as such",
        counts=("models", "total"),
    ),
    "model-grades-not-kept": warns(
        "{format} has one grade for a pair: {count:,} grades of the model for pairs that people judged were left out"
    ),
    "fewer-questions": warns(
        "{count:,} questions are left of the {wanted:,} that were wanted", counts=("count", "wanted")
    ),
    "answers-unreadable": warns(
        "{count:,} answers could not be read, also when asked again, and are no judgements: {samples}"
    ),
    "judge-decided": NoteKind(
        "{judge} decided {count:,} pairs of texts, {log:,} of them from its log", counts=("count", "log")
    ),
    "no-answer-no-match": warns("{count:,} pairs without a readable answer count as no match"),
    "calls-failed": warns("{count:,} items failed and have no judgement ({why}): {samples}"),
    "judging-stopped": warns("judging stopped early: {why}; {count:,} items were not asked"),
    "perhaps-paid": warns("{count:,} calls had no answer and may have to be paid all the same"),
    "estimated-tokens": NoteKind("{count:,} answers came without their number of tokens, which is estimated"),
    "perhaps-cut": warns(
        "{count:,} prompts had far fewer tokens than their texts should have: the server may have cut them; "
        "raise its context length"
    ),
    "without-text": warns("{count:,} pairs were not asked because the query or the document has no text: {samples}"),
    "random-draw": NoteKind(
        "people judged {judged:,} of {queries:,} queries; this holds only if these were drawn at random"
    ),
    "partly-judged-queries": warns(
        "{count:,} queries that people judged in part, not to rank {depth:,} of every run, count as not judged by "
        "people: {samples}",
        counts=(),
    ),
    "model-holes": warns(
        "{count:,} documents to rank {depth:,} have no judgement of the model and count as not relevant there",
        counts=(),
    ),
    "weak-correction": warns("{why}"),
}
"""Who judged, models that are asked, and what is corrected by people's judgements."""
