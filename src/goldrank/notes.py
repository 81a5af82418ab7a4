"""Every remark and warning about a result: a code, facts and samples; words are made from them in one place.

Merging, gating, filtering and tests go by the code. `str(note)` is what people read. A new kind of note is one
entry of `KINDS`; those of texts are in `note_kinds.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from goldrank import ids
from goldrank.note_kinds import JUDGES, TEXTS, Facts, NoteKind, warns

MOST_SAMPLES = 3
MOST_WORDS = 2_000
"""Characters of a note."""
SHOWN_WORDS = 100
"""Characters of its words in a `repr`."""


@dataclass(frozen=True, repr=False)
class Note:
    """One thing to know about a result. Make one with `Note.of`.

    >>> from goldrank.notes import Note
    >>> print(Note.of("repeated-documents", count=2, about="run"))
    run: 2 repeated documents were dropped
    """

    code: str
    facts: tuple[tuple[str, Any], ...] = ()
    samples: tuple[str, ...] = ()
    about: str = ""
    """Whose it is: "qrels", "run", a file, a system."""

    @classmethod
    def of(cls, code: str, *, samples: Iterable[str] = (), about: str = "", **facts: Any) -> Note:
        """A note of a declared kind. A few of the samples are kept, and one more to show that there are others."""
        return cls(code, tuple(sorted(facts.items())), tuple(islice(samples, MOST_SAMPLES + 1)), about)

    @property
    def kind(self) -> NoteKind:
        """What is declared of its code."""
        return KINDS[self.code]

    @property
    def is_warning(self) -> bool:
        """Whether it may make the numbers misleading."""
        return self.kind.warning

    @property
    def counts(self) -> dict[str, int]:
        """The facts that add up over shards."""
        return {key: value for key, value in self.facts if key in self.kind.counts}

    def fact(self, name: str) -> Any:
        """One of the facts."""
        return dict(self.facts)[name]

    def with_about(self, about: str) -> Note:
        """The same note about somebody."""
        return replace(self, about=f"{about}: {self.about}" if self.about else about)

    def __repr__(self) -> str:
        return f"Note({self.code!r}, {ids.show(str(self), SHOWN_WORDS)!r})"

    def __str__(self) -> str:
        facts = {**dict(self.facts), "samples": ids.samples(self.samples, MOST_SAMPLES)}
        if "whole" in facts:
            facts["share"] = facts["part"] / facts["whole"]
        words = self.kind.one if self.kind.one and facts.get("count") == 1 else self.kind.words
        text = words.format(**facts) if isinstance(words, str) else words(facts)
        return ids.show(f"{self.about}: {text}" if self.about else text, MOST_WORDS)

    @property
    def sentence(self) -> str:
        """The words as a sentence of their own."""
        text = str(self)
        return text[:1].upper() + text[1:] + ("" if text.endswith("...") else ".")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for saved files. `words` are there for people; reading makes them anew."""
        return {
            "code": self.code,
            "severity": "warning" if self.is_warning else "remark",
            "facts": dict(self.facts),
            "samples": list(self.samples),
            "about": self.about,
            "words": str(self),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Note:
        """The inverse of `to_dict`. Text alone, and codes of a later version, become notes of free words."""
        import json

        if isinstance(data, str):
            return cls.of("text", text=data)
        if data["code"] not in KINDS:
            return cls.of("text", text=str(data["words"]))
        facts = {key: _as_tuples(value) for key, value in data["facts"].items()}
        json.dumps(data["facts"], allow_nan=False)  # NaN and infinity could not be written again
        if not all(isinstance(text, str) for text in (data["about"], *data["samples"])):
            raise TypeError("what a note is about and its samples are texts")
        note = cls.of(data["code"], samples=data["samples"], about=data["about"], **facts)
        str(note)  # a fact that is missing or of another type is found now, not when somebody prints it
        return note


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def from_counts(counts: Mapping[str, int], about: str = "") -> tuple[Note, ...]:
    """Notes that say no more than how often something was, from counts by code."""
    return tuple(Note.of(code, count=count, about=about) for code, count in counts.items() if count)


def merged(
    shards: Sequence[Sequence[Note]], names: Sequence[str], totals: Mapping[str, int], limit: int = 20
) -> tuple[Note, ...]:
    """The notes of a whole from those of its shards, whose counts come to `totals`.

    Notes of one code and with the same other facts become one, their counts added and their samples joined. What
    cannot be added up is said once if all shards say it, else of the shards that do; of such notes `limit` are kept.
    """
    groups: dict[Any, list[tuple[int, Note]]] = {}
    for i, notes in enumerate(shards):
        for note in notes:
            if not note.kind.of_values:
                added = {*note.kind.counts, *dict(note.kind.whole)}
                other = tuple(fact for fact in note.facts if fact[0] not in added)
                groups.setdefault((note.code, other, note.about), []).append((i, note))
    whole: list[Note] = []
    single: list[Note] = []
    for group in groups.values():
        first = group[0][1]
        if first.counts:
            total = {key: sum(note.fact(key) for _, note in group) for key in first.counts}
            total |= {fact: totals[count] for fact, count in first.kind.whole}
            samples = dict.fromkeys(sample for _, note in group for sample in note.samples)
            facts = tuple(sorted({**dict(first.facts), **total}.items()))
            whole.append(replace(first, facts=facts, samples=tuple(samples)[: MOST_SAMPLES + 1]))
        elif len(group) == len(shards):
            whole.append(first)
        else:
            more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
            single.append(first.with_about(names[group[0][0]] + more))
    if len(single) > limit:
        single = [*single[:limit], Note.of("more-notes", count=len(single) - limit)]
    return (*whole, *single)


def _ranges(facts: Facts) -> str:
    shown = [f"{name} from {low} to {high}" for name, low, high in facts["ranges"]]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return ", ".join(shown[:3]) + more


def _column_choice(facts: Facts) -> str:
    others = " or ".join(f"'{name}'" for name in facts["others"])
    what = "query" if facts["role"] == "query" else "document"
    why = "whose values are judged" if facts["why"] == "judged" else "by its name"
    return f"{what} ids are those of '{facts['column']}' ({why}), not of {others}; --map {facts['role']}=... says other"


def _implicit_grades(facts: Facts) -> str:
    text = f"there are no grades: each of {facts['count']:,} pairs counts as relevant (1)"
    names = ", ".join(f"'{name}'" for name in facts.get("unread", ()))
    if not names:
        return text
    return f"{text}; if they are in {names}, name it: columns={{'grade': ...}} (--map grade=...)"


def _inconsistent(facts: Facts) -> str:
    (first, second), (grade, other) = facts["docs"], facts["grades"]
    how = "has the same text" if facts["same"] == "text" else "differs in case, spaces or Unicode form only"
    return (
        f"query '{ids.show(facts['query'])}': '{ids.show(first)}' has grade {grade} and "
        f"'{ids.show(second)}', which {how}, grade {other}"
    )


KINDS: dict[str, NoteKind] = {
    "text": NoteKind("{text}"),
    # What a file or object had in it that was tolerated.
    "blank-lines": NoteKind("blank lines: {count:,}"),
    "comment-lines": NoteKind("comment lines: {count:,}"),
    "comments-like-data": warns("comment lines that look like data (an id must not start with #): {count:,}"),
    "extra-columns": NoteKind("lines with more columns than needed, which were ignored: {count:,}"),
    "no-line-end": warns("the last line has no line end: is the file complete?", counts=()),
    "byte-order-mark": NoteKind("a byte order mark was dropped"),
    "not-compressed": NoteKind("named {suffix} but not compressed"),
    "cr-line-ends": NoteKind("lines end in CR only"),
    "ungraded-rows": NoteKind("rows without a grade, taken as not judged: {count:,}"),
    "empty-files": warns("files without rows: {count:,} of {files:,}, the first is {first}", counts=("count", "files")),
    "integer-ids": NoteKind("integer ids are compared as text"),
    "repeated-judgements": NoteKind("{count:,} repeated judgements", "{count:,} repeated judgement"),
    "high-grade": warns("the highest grade is {grade:,}: is the grade column right?"),
    "not-utf8": NoteKind("items with bytes that are not UTF-8: {count:,}"),
    "single-cells": NoteKind("cells that are no list, taken as one text: {count:,}"),
    "numbered-items": NoteKind("items without an id, numbered: {count:,}"),
    "empty-retrieved": NoteKind("retrieved texts that are empty, kept at their rank: {count:,}"),
    "null-retrieved": NoteKind("retrieved texts that are null, taken as empty: {count:,}"),
    "nothing-retrieved": NoteKind("items for which nothing was retrieved: {count:,}"),
    "empty-references": NoteKind("references that are empty, left out: {count:,}"),
    "no-references": NoteKind("items without references: {count:,}"),
    "unanswerable": NoteKind("questions without an answer: {count:,}"),
    "unanswerable-references": warns(
        "questions without an answer that have references all the same, left out: {count:,}"
    ),
    "scores-not-descending": warns("items whose scores do not descend, taken in the order of their list: {count:,}"),
    "failed-as-nothing": warns("questions that failed, taken as if nothing was retrieved: {count:,}"),
    "failed-left-out": warns("questions that failed, left out: {count:,}"),
    "failed-questions": warns("questions that failed: {count:,} of {questions:,} ({kinds})", counts=()),
    "column-choice": NoteKind(lambda facts: _column_choice(facts)),
    "implicit-grades": NoteKind(lambda facts: _implicit_grades(facts)),
    "ratings-as-grades": warns(
        "ratings are taken as grades, so that a rating of 1 counts as relevant; relevant_from=4 (--relevant-from 4) "
        "makes those from 4 relevant and the others not"
    ),
    "ratings-cut": NoteKind("ratings from {least} are relevant: {part:,} of {whole:,}", counts=("part", "whole")),
    "unrated-queries": NoteKind("queries without any rating, which are not judged: {count:,}"),
    "partial-responses": warns(
        "responses that are not complete (timed out, or without an answer from every shard): {count:,}"
    ),
    "click-prior": NoteKind("values are drawn towards the mean as if {a} more clicks and {b} more misses were seen"),
    "click-bootstrap": NoteKind("intervals: {draws:,} bootstrap samples of {unit}"),
    "clipped-propensities": NoteKind("{count:,} views at ranks with a propensity below {least} count with that one"),
    "too-few-views": NoteKind(
        "{count:,} of {pairs:,} pairs were shown fewer than {least:,} times and are not judged",
        counts=("count", "pairs"),
    ),
    "ascending-scores": warns(
        "the scores of all {count:,} lists of three or more results ascend, so that each list is ranked from its end: "
        "are they distances? Then give -distance, or the ids alone, best first"
    ),
    "field-choice": NoteKind("of {fields} the first was taken as the {role}"),
    "query-field": NoteKind("query ids are those of 'query', not of '{other}'"),
    "answers-as-references": NoteKind("references are the answers in '{field}'"),
    "empty-labelled": NoteKind(
        "{count:,} pairs have an empty text; that is no match for any matcher",
        "1 pair has an empty text; that is no match for any matcher",
    ),
    "both-labels": warns(
        "{count:,} pairs have both labels; no matcher can agree with that",
        "1 pair has both labels; no matcher can agree with that",
    ),
    "repeated-pairs": NoteKind(
        "{count:,} pairs have been listed before; each counts", "1 pair has been listed before; each counts"
    ),
    # What run and judgements say of each other.
    "missing-queries": warns(
        "{count:,} of {judged:,} judged queries are not in the run, {how}: {samples}", whole=(("judged", "queries"),)
    ),
    "without-missing": NoteKind("without the missing queries: {means}", of_values=True),
    "empty-rankings": NoteKind(
        "{count:,} queries are in the run without any document", "1 query is in the run without any document"
    ),
    "empty-shard": NoteKind("this shard has no judged query: it has no values, and merges as it is", of_values=True),
    "nothing-returned": warns("the run returned nothing at all for the judged queries"),
    "unjudged-queries": NoteKind(
        "{count:,} queries of the run are not judged and were left out: {samples}",
        "1 query of the run is not judged and was left out: {samples}",
    ),
    "seen-removed": NoteKind(
        "pairs that users had before, removed: {count:,} of {users:,} users; left with less than {k:,}: {short:,}",
        counts=("count", "users", "short"),
    ),
    "train-without-users": warns("no judged user is in the training data, which has {samples}"),
    "judged-in-train": warns("judged items that the user had before, removed and never found: {count:,}"),
    "guessed-catalogue": NoteKind(
        "catalogue not given: {count:,} items of train, judgements and run are taken", counts=()
    ),
    "users-left-out": NoteKind("{measure}: {count:,} of {users:,} users have no value and are left out", counts=()),
    "never-seen-items": NoteKind("recommended items that nobody had before, counted as had by one user: {count:,}"),
    "sampled": warns("{measure} is of samples, and may order systems otherwise than the whole"),
    "accuracy-of-pairs": NoteKind("{measure} is of pairs in order, as in ir_measures; BEIR's is Success"),
    "of-all-queries": NoteKind("{measure} is a number of all queries together and has no interval"),
    "padding": NoteKind("entries that are padding, left out: {count:,}"),
    "cut-rankings": NoteKind(lambda facts: f"rankings were cut after {_number(facts['depth'], 'document')}"),
    "no-relevant": NoteKind("{count:,} queries have no relevant document", "1 query has no relevant document"),
    "judged-share": NoteKind("{share:.1%} of the returned documents are judged", counts=("part", "whole")),
    "tied-documents": NoteKind(
        "{count:,} judged documents are tied, {rule}", "1 judged document is tied with others, {rule}"
    ),
    "tie-ranges": warns(lambda facts: f"in another order of tied documents: {_ranges(facts)}", of_values=True),
    "unjudged-ranges": NoteKind(
        lambda facts: (
            "as unjudged documents may turn out: "
            + ", ".join(f"{name} from {low} to {high}" for name, low, high in facts["ranges"])
        ),
        of_values=True,
    ),
    "constant-scores": warns(
        "{count:,} queries have one score for all their documents", "1 query has one score for all its documents"
    ),
    "repeated-places": NoteKind(
        "{count:,} places hold a judged document that stands higher up already",
        "1 place holds a judged document that stands higher up already",
    ),
    "repeated-documents": NoteKind("{count:,} repeated documents were dropped", "1 repeated document was dropped"),
    "infinite-scores": warns("{count:,} scores are infinite", "1 score is infinite"),
    "contradicted-ranks": warns(
        "{count:,} judged documents claimed a better rank in the rank column than the scores give; the scores count",
        "1 judged document claimed a better rank in the rank column than the scores give; the scores count",
    ),
    "near-forms": warns(
        "{count:,} documents equal a judged id only after Unicode normalisation (NFC, NFD) and do not count: "
        "normalise the ids on both sides",
        "1 document of the run equals a judged id only after Unicode normalisation (NFC, NFD) and does not count: "
        "normalise the ids on both sides",
    ),
    "several-tags": warns(
        "lines have different tags and count as one run all the same: {samples}; "
        "to score each tag on its own: read_runs, or --by-tag"
    ),
    "unreachable-recall": NoteKind(
        "{measure} cannot be 1 for {count:,} of {queries:,} queries: they have more than {k:,} relevant documents",
        whole=(("queries", "queries"),),
    ),
    "divided-by-relevant": NoteKind(
        "{measure} divides by all relevant documents, which are more than {k:,} in {count:,} of {queries:,} queries; "
        "recommenders and boosters divide by {k:,} there: {other}",
        whole=(("queries", "queries"),),
    ),
    **TEXTS,
    # What to look at before a result is reported.
    "one-measure": NoteKind(
        "only {measure} is reported: another measure may tell another story (for example {others})"
    ),
    "one-cutoff": NoteKind("every measure is cut at {k}: other cut-offs may tell another story"),
    "wrong-k": NoteKind("measured at k = {cutoffs}; for '{use_case}' people look at {usual} results"),
    "different-cutoffs": warns("{measure} is cut differently and cannot be compared: {cuts}"),
    "no-criteria": NoteKind(
        "the relevance criteria are not recorded: say what counts as relevant in Qrels(criteria=...)"
    ),
    "inconsistent-grades": warns(_inconsistent),
    # Merged results.
    "merged-shards": NoteKind("merged from {shards}"),
    "several-versions": warns("shards were made by different versions of goldrank: {versions}"),
    "more-notes": NoteKind("{count:,} more notes are in the shards", counts=()),
    **JUDGES,
    # Comparisons and gates.
    "common-queries": NoteKind("compared on the {count:,} queries that {all} have ({sizes})", counts=()),
    "left-out-measures": NoteKind("not measured for all systems, left out: {measures}"),
    "on-logarithm": NoteKind("{measure} is compared on its logarithm: a difference of 0.1 is a factor of 1.105"),
    "mean-of-sum": NoteKind("{measure} is a sum; its mean per query is compared"),
    "partly-compared": NoteKind("{measure} is compared on {count:,} of {queries:,} queries", counts=()),
    "none-differs": NoteKind("no query differs; a difference of up to {end:.4f} either way cannot be excluded"),
    "none-differs-unbounded": NoteKind(
        "no query differs; without bounds of the measure nobody knows how large a difference is possible"
    ),
    "too-few-differ": warns("only {differing:,} of {units:,} {unit} differ: no test can decide"),
    "few-differ": NoteKind("it rests on {differing:,} {unit} that differ"),
    "too-few-clusters": warns("too few clusters for a verdict: {units:,}"),
    "few-clusters": warns("it rests on {units:,} clusters"),
    "interval-reaches-zero": NoteKind("skewed or few: the interval reaches 0"),
    "interval-excludes-zero": NoteKind("close: the interval leaves out 0, but the test does not decide"),
    "primary-undecided": NoteKind("{primary} decides, and does not say the same of this pair"),
    "no-bounds": NoteKind("without bounds, so that intervals are plain Student's where few queries differ: {measures}"),
    "no-bounded-interval": warns("without bounds, so that no bounded interval can be made: {measures}"),
    "weightless-queries": NoteKind("{count:,} of {queries:,} queries weigh 0 and are left out", counts=()),
    "single-runs": warns("one run only, which says nothing about other seeds: {systems}"),
    "unclustered-queries": warns(
        "{count:,} of {queries:,} queries have no cluster and stand for themselves: {samples}", counts=()
    ),
    "simpson": warns(
        "{measure}: by the means over their own queries {ahead} is ahead of {behind}, on the same queries it is behind "
        "(Simpson's paradox)"
    ),
    "sum-without-interval": NoteKind("{measure} is a sum over queries and has no interval"),
    "unbounded-interval": warns(
        "{measure} has no bounds: its interval is plain Student's, which is too narrow for few or skewed values"
    ),
    "no-clicks": NoteKind("{count:,} of {impressions:,} impressions have no click and are left out", counts=()),
    "repeated-clicks": NoteKind(
        "{count:,} clicks on a document that was clicked before count once",
        one="a second click on a document counts once",
    ),
    "partly-known-users": warns(
        "{count:,} of {impressions:,} impressions name no user, so that each {unit} counts as independent", counts=()
    ),
    "unsliced-queries": NoteKind(
        "{attribute}: {count:,} of {queries:,} queries have no value and are in no slice", counts=()
    ),
    "one-slice": NoteKind("{attribute}: all queries have the same value, so there are no slices"),
    "slice-turned": warns(
        "{overall}, but not where {attribute} is {value} ({mean:+.4f}, {count:,} queries)", counts=()
    ),
    "slice-decides": warns(
        "{overall}, but not if each {attribute} counts the same ({mean:+.4f}): one slice with many queries decides"
    ),
    "changed-judgements": warns("compared although the judgements changed: {what}"),
    "baseline-rescored": NoteKind("the baseline was scored again on the judgements of now, from its documents"),
    "rescored-in-part": warns(
        "{measures} of the baseline look below the {depth:,} documents of a query that it keeps: documents that were "
        "judged since then are missing there"
    ),
    "two-yardsticks": warns(
        "the baseline keeps no documents and could not be scored again: its values are by other judgements"
    ),
    "baseline-without-documents": warns(
        "the baseline keeps no documents, so that unjudged ones count as the run's alone; set it anew, as a file"
    ),
    "judging-cannot-change": NoteKind("judging more documents cannot change this"),
    "only-extreme-judgements": NoteKind("only extreme judgements of unjudged documents could change this"),
    "unjudged-decide": warns(
        lambda facts: (
            "unjudged documents could decide this" + (f"; judge first: {facts['samples']}" if facts["samples"] else "")
        )
    ),
    "holes-not-looked-at": warns("what unjudged documents could change was not looked at: {why}"),
    "baseline-version": warns("the baseline was measured by goldrank {then}, the run by {now}"),
    "lost-answers": warns(
        "{count:,} queries that the baseline answered returned nothing: {samples}",
        "1 query that the baseline answered returned nothing: {samples}",
    ),
}


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
