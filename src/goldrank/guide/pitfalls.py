"""What is easily done wrong with good numbers: sentences about a result that deserves a second look."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from goldrank import ids
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Scores
from goldrank.measures import Measure, parse


def pitfalls_of(
    scores: Scores | Mapping[str, Scores] | Iterable[Scores],
    *,
    qrels: Qrels | None = None,
    texts: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """What should be looked at before a result, or several runs' results, are reported.

    Only one measure or one cut-off, and runs at different cut-offs. With `qrels` also relevance criteria that
    nobody recorded, and documents that are one and the same and were judged differently: ids that differ in
    case, spaces or Unicode form only, and with `texts` (by document id) those that have the same text. What the
    data themselves tell (ties, recall that cannot reach 1, missing queries) is in `Scores.notes`.

    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
    >>> pitfalls_of(scores)[0]
    'only RR is reported: another measure may tell another story (for example nDCG@10, R@10, P@10)'
    """
    runs = _listed(scores)
    found = [*_few(runs), *_different_cutoffs(runs)]
    if qrels is not None:
        if not qrels.criteria:
            found.append("the relevance criteria are not recorded: say what counts as relevant in Qrels(criteria=...)")
        found += inconsistent_judgements(qrels, texts)
    return tuple(dict.fromkeys(found))


def inconsistent_judgements(qrels: Qrels, texts: Mapping[str, str] | None = None) -> list[str]:
    """Pairs of documents of one query that are the same and have different grades, in words.

    >>> inconsistent_judgements(Qrels({"q1": {"Doc1": 2, "doc1": 0}}))
    ["query 'q1': 'Doc1' has grade 2 and 'doc1', which differs in case, spaces or Unicode form only, grade 0"]
    """
    found = []
    for query, judged in qrels.items():
        by_id: dict[str, str] = {}
        by_text: dict[str, str] = {}
        for doc, grade in judged.items():
            same = [(by_id, _folded(doc), "which differs in case, spaces or Unicode form only,")]
            if texts is not None and doc in texts:
                same.append((by_text, " ".join(texts[doc].split()), "which has the same text,"))
            for seen, key, how in same:
                other = seen.setdefault(key, doc)
                if judged[other] != grade:
                    found.append(
                        f"query '{ids.show(query)}': '{ids.show(other)}' has grade {judged[other]} and "
                        f"'{ids.show(doc)}', {how} grade {grade}"
                    )
    return found


def _listed(scores: Scores | Mapping[str, Scores] | Iterable[Scores]) -> list[Scores]:
    if isinstance(scores, Scores):
        return [scores]
    return list(scores.values() if isinstance(scores, Mapping) else scores)


def _measures(scores: Scores) -> list[Measure]:
    return [parse(name) for name in scores.measures]


def _few(runs: Iterable[Scores]) -> list[str]:
    """Whether only one measure, or one cut-off, is reported."""
    found = []
    for scores in runs:
        measures = _measures(scores)
        names = list(dict.fromkeys(one.name for one in measures))
        others = [text for text in ("nDCG@10", "R@10", "P@10") if parse(text).name not in names]
        if len(names) == 1:
            found.append(
                f"only {names[0]} is reported: another measure may tell another story (for example {', '.join(others)})"
            )
        cut = {one.k for one in measures if one.k is not None and one.declaration.cutoff != "recall"}
        if len(cut) == 1 and all(one.k is not None for one in measures):
            (k,) = cut
            found.append(f"every measure is cut at {k}: other cut-offs may tell another story")
    return found


def _different_cutoffs(runs: list[Scores]) -> list[str]:
    """Whether runs have the same measure at different cut-offs only."""
    cuts: dict[str, dict[frozenset[object], str]] = {}
    for scores in runs:
        mine: dict[str, set[object]] = {}
        for one in _measures(scores):
            options = ", ".join(f"{key}={value!r}" for key, value in one.options)
            mine.setdefault(f"{one.name}({options})" if options else one.name, set()).add(one.k)
        for name, ks in mine.items():
            cuts.setdefault(name, {}).setdefault(frozenset(ks), scores.run)
    found = []
    for name, groups in cuts.items():
        if len(groups) > 1 and not frozenset.intersection(*groups):
            told = "; ".join(
                f"'{ids.show(run)}' at {', '.join('all' if k is None else str(k) for k in sorted(ks, key=str))}"
                for ks, run in groups.items()
            )
            found.append(f"{name} is cut differently and cannot be compared: {told}")
    return found


def _folded(doc: str) -> str:
    return " ".join(unicodedata.normalize("NFC", doc).casefold().split())
