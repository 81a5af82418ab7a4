"""What is easily done wrong with good numbers: notes about a result that deserves a second look."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import OptionError, as_list, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import DocumentsLike
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Scores
from goldrank.guide.advice import find_use_case, unusual_cutoff
from goldrank.io.by_id.document_files import read_documents
from goldrank.measures import Measure, known, parse

BESIDE = ("nDCG@10", "R@10", "P@10")
"""What is recommended to users who report one measure only."""


@named_arguments
def pitfalls(
    scores: Scores | Mapping[str, Scores] | Iterable[Scores],
    *,
    qrels: Qrels | None = None,
    documents: DocumentsLike | None = None,
    use_case: str | None = None,
) -> tuple[Note, ...]:
    """Note what should be looked at before a result, or several runs' results, are reported.

    Only one measure or one cut-off, and runs at different cut-offs. What the data themselves show (ties, recall that
    cannot reach 1, missing queries) is in `Scores.notes`.

    Parameters
    ----------
    scores : Scores, ScoresByRun, mapping or list
        What was measured, of one run or of several.
    qrels : Qrels, optional
        With them also relevance criteria that were not recorded, and equal documents that were judged differently: ids
        that differ in case, spaces or Unicode form only.
    documents : Documents, file, data frame, mapping or function, optional
        With them, and `qrels`, also documents that have the same text.
    use_case : str, optional
        A use case of `choose`: then also cut-offs none of which goes with how many results are looked at there.

    Returns
    -------
    tuple of Note

    Raises
    ------
    InputError
        If something is not of its type.
    OptionError
        If there is no such use case.

    Examples
    --------
    >>> from goldrank import pitfalls
    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
    >>> print(pitfalls(scores)[0])
    only RR is reported: another measure may tell another story (for example nDCG@10, R@10, P@10)
    """
    entries: Iterable[Any] = scores
    if isinstance(scores, Scores):
        entries = [scores]
    elif isinstance(scores, Mapping):
        entries = scores.values()
    runs: list[Scores] = as_list(entries, "scores", Scores, "Scores")
    notes = [*_too_few(runs), *_different_cutoffs(runs)]
    if use_case is not None:
        notes += _unusual_cutoffs(runs, use_case)
    if documents is not None and qrels is None:
        message = "documents are compared by their judgements, and there are no qrels"
        raise OptionError(message, hint="Give qrels= too.", code="missing-option")
    if qrels is not None:
        of_type(qrels, Qrels, "qrels", "Qrels", "goldrank.Qrels makes them of a dict, goldrank.read_qrels of a file.")
        if not qrels.criteria:
            notes.append(Note.of("no-criteria"))
        notes += inconsistent_judgements(qrels, _texts(qrels, documents))
    return tuple(dict.fromkeys(notes))


def _texts(qrels: Qrels, documents: DocumentsLike | None) -> dict[str, str]:
    """The texts of judged documents, as far as they are known."""
    if documents is None:
        return {}
    judged = dict.fromkeys(doc for row in qrels.values() for doc in row)
    return {doc: document.whole for doc, document in read_documents(documents).some(judged).items()}


def inconsistent_judgements(qrels: Qrels, texts: Mapping[str, str] | None = None) -> list[Note]:
    """Pairs of documents of one query that are the same and have different grades.

    >>> for note in inconsistent_judgements(Qrels({"q1": {"Doc1": 2, "doc1": 0}})):
    ...     print(note)
    query 'q1': 'Doc1' has grade 2 and 'doc1', which differs in case, spaces or Unicode form only, grade 0
    """
    notes = []
    for query, judged in qrels.items():
        first_of: dict[tuple[str, str], str] = {}
        for doc, grade in judged.items():
            keys = [("id", " ".join(unicodedata.normalize("NFC", doc).casefold().split()))]
            if texts is not None and doc in texts:
                keys.append(("text", " ".join(texts[doc].split())))
            for kind, key in keys:
                first = first_of.setdefault((kind, key), doc)
                docs, grades = (first, doc), (judged[first], grade)
                if judged[first] != grade:
                    notes.append(Note.of("inconsistent-grades", query=query, docs=docs, grades=grades, same=kind))
    return notes


def _measures(scores: Scores) -> dict[str, Measure | None]:
    """By spelling; None for a user's functions, of which only a name is known."""
    return {name: known(name) for name in scores.measures}


def _too_few(runs: Iterable[Scores]) -> list[Note]:
    """Whether only one measure, or one cut-off, is reported."""
    notes = []
    for scores in runs:
        names: set[str] = set()
        cutoffs: set[float | None] = set()
        for spelled, measure in _measures(scores).items():
            if measure is None:
                names.add(spelled)
                cutoffs.add(None)
                continue
            names.add(measure.name)
            if measure.declaration.cutoff != "recall":  # a recall level is not a rank
                cutoffs.add(measure.k)

        if len(names) == 1:
            (name,) = names
            other_measures = [text for text in BESIDE if parse(text).name != name]
            notes.append(Note.of("one-measure", measure=name, others=", ".join(other_measures)))
        if len(cutoffs) == 1 and None not in cutoffs:
            notes.append(Note.of("one-cutoff", k=cutoffs.pop()))

    return notes


def _unusual_cutoffs(runs: Iterable[Scores], use_case: str) -> list[Note]:
    """Whether no cut-off of a run goes with how many results are looked at in a use case."""
    _, case = find_use_case(use_case)
    low, high = case.looked_at
    notes = []
    for scores in runs:
        measures = filter(None, _measures(scores).values())
        cutoffs = sorted({measure.k for measure in measures if isinstance(measure.k, int)})
        if cutoffs and not any(low <= k <= high for k in cutoffs):
            notes.append(unusual_cutoff(case, cutoffs))
    return notes


def _different_cutoffs(runs: list[Scores]) -> list[Note]:
    """Whether runs have the same measure at different cut-offs only."""
    runs_by_cutoffs: dict[str, dict[frozenset[float | None], str]] = {}
    for scores in runs:
        cutoffs: dict[str, set[float | None]] = {}
        for measure in filter(None, _measures(scores).values()):
            cutoffs.setdefault(str(replace(measure, k=None)), set()).add(measure.k)
        for name, cutoffs_of_run in cutoffs.items():
            runs_by_cutoffs.setdefault(name, {}).setdefault(frozenset(cutoffs_of_run), scores.run)

    notes = []
    for name, groups in runs_by_cutoffs.items():
        if len(groups) > 1 and not frozenset.intersection(*groups):
            descriptions = [f"'{ids.show(run)}' at {_cutoff_words(ks)}" for ks, run in groups.items()]
            notes.append(Note.of("different-cutoffs", measure=name, cuts="; ".join(descriptions)))

    return notes


def _cutoff_words(cutoffs: Iterable[float | None]) -> str:
    return ", ".join("all" if k is None else str(k) for k in sorted(cutoffs, key=str))
