"""Every remark and warning about a result: a code, facts and samples. The words are made from them here.

Merging, gating, filtering and tests use the code; people read `str(note)`. A new kind of note is one
entry of `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal

from goldrank.base import ids

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class NoteKind:
    """The words of a note, and how such notes of shards are merged."""

    words: str | Callable[[Facts], str]
    """A format string over the facts, or a function of them. {samples} stands for the samples."""
    singular: str = ""
    """The format string where `count` is 1."""
    warning: bool = False
    """Whether the numbers may mislead without it."""
    counts: tuple[str, ...] = ("count",)
    """Facts that are added over shards, where a note has them."""
    totals: tuple[tuple[str, str], ...] = ()
    """Facts that are counts of the whole result, also of shards without such a note: (fact, count)."""
    of_values: bool = False
    """Whether it is about the values of one shard, which do not hold for the merged result."""


warns = partial(NoteKind, warning=True)

_LOCATED = "white space, case or forms of letters apart"
_APPROXIMATELY = "approximately (similarity from {least:.2f})"


def _ranges(facts: Facts) -> str:
    shown = ", ".join(f"{name} from {low} to {high}" for name, low, high in facts["ranges"][:3])
    hidden = len(facts["ranges"]) - 3
    if hidden > 0:
        return f"{shown} and {hidden} more"
    return shown


def _column_choice(facts: Facts) -> str:
    other_columns = " or ".join(f"'{name}'" for name in facts["others"])
    if facts["role"] == "query":
        noun = "query"
    else:
        noun = "document"
    if facts["why"] == "judged":
        why = "whose values are judged"
    else:
        why = "by its name"
    way_out = f"columns={{'{facts['role']}': ...}} changes that"
    return f"{noun} ids are those of '{facts['column']}' ({why}), not of {other_columns}; {way_out}"


def _implicit_grades(facts: Facts) -> str:
    text = f"there are no grades: each of {facts['count']:,} pairs counts as relevant (1)"
    names = ", ".join(f"'{name}'" for name in facts.get("unread", ()))
    if not names:
        return text
    return f"{text}; if they are in {names}, name it: columns={{'grade': ...}}"


def _inconsistent(facts: Facts) -> str:
    (first, second), (grade, second_grade) = facts["docs"], facts["grades"]
    if facts["same"] == "text":
        likeness = "has the same text"
    else:
        likeness = "differs in case, spaces or Unicode form only"
    return (
        f"query '{ids.show(facts['query'])}': '{ids.show(first)}' has grade {grade} and "
        f"'{ids.show(second)}', which {likeness}, grade {second_grade}"
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


KINDS: dict[str, NoteKind] = {
    "text": NoteKind("{text}"),
    # What a reader tolerated in a file or object.
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
    "single-cells": NoteKind("cells that are not a list, taken as one text: {count:,}"),
    "numbered-items": NoteKind("items without an id, numbered: {count:,}"),
    "empty-retrieved": NoteKind("retrieved texts that are empty, kept at their rank: {count:,}"),
    "null-retrieved": NoteKind("retrieved texts that are null, taken as empty: {count:,}"),
    "system-errors": warns("questions on which the system failed, counted as nothing retrieved: {count:,}"),
    "nothing-retrieved": NoteKind("items for which nothing was retrieved: {count:,}"),
    "empty-references": NoteKind("references that are empty, left out: {count:,}"),
    "no-references": NoteKind("items without references: {count:,}"),
    "unknown-nugget-labels": warns("unknown labels of nuggets, taken as not vital, or as not supported: {count:,}"),
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
        "ratings are taken as grades, so that a rating of 1 counts as relevant; relevant_from=4 makes those from 4 "
        "relevant and the others not"
    ),
    "ratings-cut": NoteKind(
        "ratings from {least} are relevant: {part:,} of {whole:,}; what is not rated is not relevant",
        counts=("part", "whole"),
    ),
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
        "{count:,} pairs have an empty text, which no matcher matches",
        "1 pair has an empty text, which no matcher matches",
    ),
    "both-labels": warns(
        "{count:,} pairs have both labels; no matcher can agree with that",
        "1 pair has both labels; no matcher can agree with that",
    ),
    "repeated-pairs": NoteKind(
        "{count:,} pairs have been listed before; each counts", "1 pair has been listed before; each counts"
    ),
    # How run and judgements fit together.
    "missing-queries": warns(
        "{count:,} of {judged:,} judged queries are not in the run, {how}: {samples}", totals=(("judged", "queries"),)
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
    "never-seen-items": NoteKind(
        "recommended items that no user had before, counted as if one user had them: {count:,}"
    ),
    "sampled": warns("{measure} is computed on samples, and may order systems differently than all items would"),
    "accuracy-of-pairs": NoteKind("{measure} is about pairs in order, as in ir_measures; BEIR's is Success"),
    "of-all-queries": NoteKind("{measure} is one number for all queries together and has no interval"),
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
        "{count:,} ranks hold a judged document that is at a higher rank already",
        "1 rank holds a judged document that is at a higher rank already",
    ),
    "rolled-up": NoteKind(
        "{count:,} parts became {documents:,} documents; the first rank of a document counts",
        counts=("count", "documents"),
    ),
    "parts-unmoved": warns(
        "{count:,} ids of parts have no other document by the rule, and stay as they are: {samples}",
        singular="1 id of a part has no other document by the rule, and stays as it is: {samples}",
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
        "to score each tag on its own: read_runs(source)"
    ),
    "unreachable-recall": NoteKind(
        "{measure} cannot be 1 for {count:,} of {queries:,} queries: they have more than {k:,} relevant documents",
        totals=(("queries", "queries"),),
    ),
    "divided-by-relevant": NoteKind(
        "{measure} divides by all relevant documents, which are more than {k:,} in {count:,} of {queries:,} queries; "
        "recommenders and boosters divide by {k:,} there: {other}",
        totals=(("queries", "queries"),),
    ),
    # Texts, and evidence by position.
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
    "negations-unknown": NoteKind(
        "no guard knows negations of languages written in {scripts} ({count:,} references): a denied sentence may "
        "count as a match",
        singular="no guard knows negations of languages written in {scripts} (1 reference): a denied sentence may "
        "count as a match",
    ),
    "entities-by-capitals": warns(
        "names are found by their capitals, which says nothing in {languages} ({count:,} answers): "
        "Answers(entities=...) takes a function of yours, such as a model",
        singular="names are found by their capitals, which says nothing in {languages} (1 answer): "
        "Answers(entities=...) takes a function of yours, such as a model",
    ),
    "claims-are-references": NoteKind("no question has a reference answer: its claims are the references"),
    "selective-ends": NoteKind(
        "{measure} would be {answering:.3f} for always answering, {abstaining:.3f} for always abstaining",
        of_values=True,
    ),
    "no-text-returned": warns("nothing at all was retrieved"),
    "rank-unit": NoteKind("ranks count {unit}s"),
    "without-nuggets": NoteKind(
        "{count:,} questions have no nuggets: {samples}", "1 question has no nuggets: {samples}"
    ),
    "nothing-cited": NoteKind(
        "{count:,} answers cite nothing; they have no precision of citations",
        "1 answer cites nothing; it has no precision of citations",
    ),
    "tokens-counted": NoteKind("tokens are counted as {tokens}"),
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
        "no setting was named beforehand to test the others against (sweep.compare(baseline)): what looks "
        "best may be so by chance"
    ),
    "repeated-texts": NoteKind("retrieved texts that repeat a text at a higher rank: {count:,}"),
    "nothing-matches": warns("no text covers any reference by {matcher}{nearest}", of_values=True),
    "quotations-near": NoteKind(
        f"{{count:,}} quotations were located {_LOCATED}", f"1 quotation was located {_LOCATED}"
    ),
    "quotations-approximate": NoteKind(
        f"{{count:,}} quotations were located {_APPROXIMATELY}", f"1 quotation was located {_APPROXIMATELY}"
    ),
    "quotations-several": NoteKind(
        "{count:,} quotations occur at several positions, {which}", "1 quotation occurs at several positions, {which}"
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
        "{count:,} retrieved texts occur at several positions, counted where they hold most evidence",
        "1 retrieved text occurs at several positions, counted where it holds most evidence",
    ),
    "texts-differ": warns(
        "{count:,} retrieved texts differ from the sources at their positions",
        "1 retrieved text differs from the source at its position",
    ),
    "texts-unplaced": warns(
        "{count:,} retrieved texts have no known position: counted by their length, without evidence",
        "1 retrieved text has no known position: counted by its length, without evidence",
    ),
    "few-texts-unplaced": NoteKind("retrieved texts without a known position, counted without evidence: {count:,}"),
    "chunks-lost": warns(
        "{count:,} texts of the corpus have no known position", "1 text of the corpus has no known position"
    ),
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
    # Who judged, models as judges, and values corrected by people's judgements.
    "who-judged": NoteKind(
        "who judged: people {people:,} of {total:,} pairs, models {models:,}, the file alone {file:,}",
        counts=("people", "models", "file", "total"),
    ),
    "judgements-left-out": warns(
        "{count:,} pairs have grades by other kinds of judges only, which were left out (by={by})"
    ),
    "unknown-judges": warns(
        "{count:,} judgements name a judge that is neither 'human' nor 'model' and count as people's: {samples}"
    ),
    "judges-not-kept": warns(
        "{format} cannot say who judged: {models:,} of {total:,} judgements are a model's, and not marked as such",
        counts=("models", "total"),
    ),
    "model-grades-not-kept": warns(
        "{format} has one grade for a pair: {count:,} grades of the model for pairs that people judged were left out"
    ),
    "fewer-questions": warns("{count:,} questions are left of the {wanted:,} requested", counts=("count", "wanted")),
    "answers-unreadable": warns(
        "{count:,} answers could not be read, also when asked again, and do not count as judgements: {samples}"
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
    # Comparisons and gates.
    "common-queries": NoteKind("compared on the {count:,} queries that {all} have ({sizes})", counts=()),
    "left-out-measures": NoteKind("not measured for all systems, left out: {measures}"),
    "on-logarithm": NoteKind("{measure} is compared on its logarithm: a difference of 0.1 is a factor of 1.105"),
    "mean-of-sum": NoteKind("{measure} is a sum; its mean per query is compared"),
    "partly-compared": NoteKind("{measure} is compared on {count:,} of {queries:,} queries", counts=()),
    "none-differs": NoteKind("no query differs; a difference of up to {end:.4f} either way cannot be excluded"),
    "none-differs-unbounded": NoteKind(
        "no query differs; without bounds of the measure the largest possible difference is unknown"
    ),
    "too-few-differ": warns("only {differing:,} of {units:,} {unit} differ: no test can decide"),
    "few-differ": NoteKind("it rests on {differing:,} {unit} that differ"),
    "too-few-clusters": warns("too few clusters for a verdict: {units:,}"),
    "few-clusters": warns("it rests on {units:,} clusters"),
    "interval-reaches-zero": NoteKind("few or skewed differences: flips alone would decide, the interval reaches 0"),
    "primary-undecided": NoteKind("{primary} decides, and does not say the same of this pair"),
    "no-bounds": NoteKind("without bounds, so that intervals are plain Student's where few queries differ: {measures}"),
    "no-bounded-interval": warns("without bounds, so that no bounded interval can be made: {measures}"),
    "effective-queries": NoteKind("{queries:,} weighted queries count as {count:,.0f} of the same weight", counts=()),
    "weightless-queries": NoteKind("{count:,} of {queries:,} queries weigh 0 and are left out", counts=()),
    "single-runs": warns("one run only, which says nothing about other seeds: {systems}"),
    "unclustered-queries": warns(
        "{count:,} of {queries:,} queries have no cluster and count as clusters of one query: {samples}", counts=()
    ),
    "simpson": warns(
        "{measure}: by the means over their own queries {ahead} is ahead of {behind}, on the same queries it is behind "
        "(Simpson's paradox)"
    ),
    "sum-without-interval": NoteKind("{measure} is a sum over queries and has no interval"),
    "unbounded-interval": warns(
        "{measure} has no bounds: its interval is plain Student's, which is too narrow for few or skewed values"
    ),
    "ubi-other-events": NoteKind("events that are neither impressions nor clicks of documents, left out: {count:,}"),
    "ubi-nothing-shown": NoteKind("searches of which nothing was shown, left out: {count:,}"),
    "ubi-clicks-elsewhere": NoteKind("clicks on documents that were not in the list, left out: {count:,}"),
    "no-clicks": NoteKind("{count:,} of {impressions:,} impressions have no click and are left out", counts=()),
    "repeated-clicks": NoteKind(
        "{count:,} clicks on a document that was clicked before count once",
        singular="a second click on a document counts once",
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
    "baseline-rescored": NoteKind("the baseline was scored again with the current judgements, from its documents"),
    "rescored-in-part": warns(
        "{measures} of the baseline look below the {depth:,} documents of a query that it keeps: documents that were "
        "judged since then are missing there"
    ),
    "baseline-not-rescored": warns(
        "the baseline keeps no documents and could not be scored again: its values are by other judgements"
    ),
    "baseline-without-documents": warns(
        "the baseline keeps no documents, so that unjudged ones count as the run's alone; set it anew, as a file"
    ),
    "judging-cannot-change": NoteKind("judging more documents cannot change this"),
    "only-extreme-judgements": NoteKind("only extreme judgements of unjudged documents could change this"),
    "unjudged-positives-only": NoteKind(
        "(nearly) all judged documents are relevant, so unjudged documents count as not relevant"
    ),
    "unjudged-catalogue": NoteKind(
        "a catalogue or training data is given, so unjudged documents count as not relevant"
    ),
    "unjudged-ratings": NoteKind("judgements are ratings by users, so what a user did not rate counts as not relevant"),
    "unjudged-decide": warns(
        lambda facts: (
            "unjudged documents could decide this"
            + (f"; judge first: {facts['samples']}" if facts["samples"] not in ("", "none") else "")
        )
    ),
    "holes-not-looked-at": warns("what unjudged documents could change was not looked at: {why}"),
    "baseline-version": warns("the baseline was measured by goldrank {then}, the run by {now}"),
    "lost-answers": warns(
        "{count:,} queries that the baseline answered returned nothing: {samples}",
        "1 query that the baseline answered returned nothing: {samples}",
    ),
    # Stages, approximate search, memory benchmarks, several searches, many collections.
    "negative-grades-unjudged": warns(
        "{count:,} returned documents have a grade below 0, which {measure} takes as not judged; Forbidden@k counts "
        "them"
    ),
    "stage-without-queries": warns("{count:,} judged queries are not in this stage and count as empty: {samples}"),
    "stage-unjudged": NoteKind("{count:,} candidates are not judged and count as grade 0: the ceiling may be too low"),
    "ann-tie-at-end": warns(
        "{count:,} exact lists end inside a tie at rank k: a deeper exact list is needed ({samples})",
        singular="1 exact list ends inside a tie at rank k: a deeper exact list is needed ({samples})",
    ),
    "ann-short-truth": NoteKind("{count:,} exact lists are shorter than k, and recall is divided by their length"),
    "ann-missing-queries": warns("{count:,} queries of the exact run are not in the run and count as 0: {samples}"),
    "memory-other-values": warns("the file has different numbers for {count:,} questions: {samples}"),
    "memory-other-average": NoteKind(
        "print_retrieval_metrics also averages the {count:,} questions whose answer is in no turn of the user: {values}"
    ),
    "locomo-no-evidence": NoteKind(
        "{count:,} questions without evidence have recall 1 and count as 0 in the averages, as in the script: {samples}"
    ),
    "locomo-broken-evidence": warns(
        "the evidence of {count:,} questions has entries that are not one id, and which are never found: {samples}"
    ),
    "searches-without-gold": NoteKind("{count:,} questions do not say what is expected and are left out: {samples}"),
    "no-queries-known": NoteKind("only means of collections are known, so that nothing is said of other questions"),
    "missing-cells": warns(
        "{count:,} cells are missing ({samples}): macro means leave out {left_out}; pairs use the collections of both"
    ),
    "few-collections": NoteKind(
        "with {collections} collections no test by flips can reach 5%: ranks on others are those of a t-test, which "
        "assumes normal differences"
    ),
    "memorybench-recall": NoteKind("recallAtK of memorybench always equals hitAtK and is not shown"),
}


MOST_SAMPLES = 3
MOST_CHARACTERS = 2_000
"""Most characters of a note."""
SHOWN_CHARACTERS = 100
"""Most characters of its words in a `repr`."""


@dataclass(frozen=True, repr=False)
class Note:
    """One thing to know about a result. Make one with `Note.of`.

    >>> from goldrank.base.notes import Note
    >>> print(Note.of("repeated-documents", count=2, about="run"))
    run: 2 repeated documents were dropped
    """

    code: str
    stated: tuple[tuple[str, Any], ...] = ()
    """The facts, in the order of their names."""
    samples: tuple[str, ...] = ()
    about: str = ""
    """The subject: "qrels", "run", a file, a system."""

    @classmethod
    def of(cls, code: str, *, samples: Iterable[str] = (), about: str = "", **facts: Any) -> Note:
        """Make a note of a declared kind. It keeps a few samples, and one more to show that there are others."""
        return cls(code, tuple(sorted(facts.items())), tuple(islice(samples, MOST_SAMPLES + 1)), about)

    @property
    def kind(self) -> NoteKind:
        """The declaration of its code."""
        return KINDS[self.code]

    @property
    def is_warning(self) -> bool:
        """Whether it may make the numbers misleading."""
        return self.kind.warning

    @property
    def level(self) -> Literal["warning", "info"]:
        """'warning' if the numbers may mislead without it, else 'info'."""
        if self.is_warning:
            return "warning"
        return "info"

    @property
    def words(self) -> str:
        """What it says, for people."""
        return str(self)

    @property
    def facts(self) -> Facts:
        """Numbers and names that it states, by name."""
        return MappingProxyType(dict(self.stated))

    @property
    def counts(self) -> dict[str, int]:
        """The facts that add up over shards."""
        return {key: value for key, value in self.stated if key in self.kind.counts}

    def fact(self, name: str) -> Any:
        """One of the facts."""
        return self.facts[name]

    def with_about(self, about: str) -> Note:
        """A copy of the note with `about` put before its subject."""
        if self.about:
            about = f"{about}: {self.about}"
        return replace(self, about=about)

    def __repr__(self) -> str:
        return f"Note({self.code!r}, {ids.show(str(self), SHOWN_CHARACTERS)!r})"

    def __str__(self) -> str:
        facts = {**self.facts, "samples": ids.samples(self.samples, MOST_SAMPLES)}
        if "whole" in facts:
            facts["share"] = facts["part"] / facts["whole"]

        words = self.kind.words
        if self.kind.singular and facts.get("count") == 1:
            words = self.kind.singular

        if isinstance(words, str):
            text = words.format(**facts)
        else:
            text = words(facts)
        if self.about:
            text = f"{self.about}: {text}"
        return ids.show(text, MOST_CHARACTERS)

    @property
    def sentence(self) -> str:
        """The words as a sentence."""
        text = str(self)
        sentence = text[:1].upper() + text[1:]
        if text.endswith("..."):
            return sentence
        return f"{sentence}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for saved files. `words` are there for people; reading makes them again from the facts."""
        severity = "remark"
        if self.is_warning:
            severity = "warning"
        return {
            "code": self.code,
            "severity": severity,
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
        json.dumps(data["facts"], allow_nan=False)  # raises for NaN and infinity, which could not be written again
        if not all(isinstance(text, str) for text in (data["about"], *data["samples"])):
            raise TypeError("what a note is about and its samples are texts")

        note = cls.of(data["code"], samples=data["samples"], about=data["about"], **facts)
        str(note)  # raises now, not when it is printed, if a fact is missing or of another type
        return note


def _as_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_as_tuples, value))
    return value


def from_counts(counts: Mapping[str, int], about: str = "") -> tuple[Note, ...]:
    """Notes whose only fact is a count, from counts by code."""
    return tuple(Note.of(code, count=count, about=about) for code, count in counts.items() if count)


def merged(
    shards: Sequence[Sequence[Note]], names: Sequence[str], totals: Mapping[str, int], limit: int = 20
) -> tuple[Note, ...]:
    """The notes of a merged result, from the notes of its shards; `totals` are the counts of the merged result.

    Notes with equal code and equal other facts become one note: their counts are added and their samples joined. A
    note without counts appears once if all shards have it, else with the name of its shard; at most `limit` of these.
    """
    of_all: list[Note] = []
    of_some: list[Note] = []
    for group in _mergeable(shards):
        first_shard, first = group[0]
        if first.counts:
            of_all.append(_sum([note for _, note in group], totals))
        elif len(group) == len(shards):
            of_all.append(first)
        else:
            about = names[first_shard]
            if len(group) > 1:
                about += f" and {len(group) - 1:,} more"
            of_some.append(first.with_about(about))

    if len(of_some) > limit:
        of_some = [*of_some[:limit], Note.of("more-notes", count=len(of_some) - limit)]
    return (*of_all, *of_some)


def _mergeable(shards: Sequence[Sequence[Note]]) -> Iterable[list[tuple[int, Note]]]:
    """Groups of notes that become one note, each with the number of its shard."""
    groups: dict[Any, list[tuple[int, Note]]] = {}
    for shard, notes in enumerate(shards):
        for note in notes:
            if note.kind.of_values:
                continue
            added = {*note.kind.counts, *dict(note.kind.totals)}
            other_facts = tuple(fact for fact in note.stated if fact[0] not in added)
            groups.setdefault((note.code, other_facts, note.about), []).append((shard, note))
    return groups.values()


def _sum(notes: Sequence[Note], totals: Mapping[str, int]) -> Note:
    """One note whose counts are the sums over `notes`."""
    first = notes[0]
    facts = dict(first.facts)
    for key in first.counts:
        facts[key] = sum(note.fact(key) for note in notes)
    for key, count in first.kind.totals:
        facts[key] = totals[count]

    samples = dict.fromkeys(sample for note in notes for sample in note.samples)
    return replace(first, stated=tuple(sorted(facts.items())), samples=tuple(samples)[: MOST_SAMPLES + 1])
