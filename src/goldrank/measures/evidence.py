"""Measures of evidence by its place in the sources: one set of judgements for every way of cutting texts."""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.data.spans import Spans
from goldrank.measures.cutoff import harmonic, ratio
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice, Number, Option

_SMITH = "Smith and Troynikov 2024, Evaluating chunking strategies for retrieval"
_OPTIONS: dict[str, Option] = {
    "beta": Number(low=0, high=1_000),
    # How often a position counts that several retrieved texts hold.
    "repeated": Choice(("once", "each")),
    # How often a position counts, in what is divided by, that several pieces of evidence hold.
    "evidence": Choice(("once", "each")),
    # Whether a text of the corpus must hold evidence, or may only border on it.
    "touching": Choice(("inside", "border")),
    # The least share of a piece of evidence that must be covered; some of it always.
    "coverage": Number(low=0, high=1),
}
_measure = partial(measure, over="spans", options=_OPTIONS, cite=_SMITH)


def _needed(s: Spans) -> np.ndarray:
    """Per query, the length of the evidence."""
    return np.asarray(s.sum(s.needed) + s.by_query(np.where(s.alone, 0.0, s.worth)))


def _covered(s: Spans, k: int | None) -> np.ndarray:
    """Per query, how much of the evidence the first k texts hold."""
    return np.asarray(s.sum(s.needed & s.within(k)) + s.by_query(np.where(s.alone, 0.0, s.worth * s.share(k))))


def _listed(s: Spans, share: np.ndarray) -> np.ndarray:
    """Per query, the sum over pieces of evidence of a share of their length, also where pieces overlap."""
    return s.by_query(s.worth * share)


@_measure(
    "SpanRecall",
    formula="SpanRecall@k = (length of the evidence that the first k texts cover) / (length of the evidence)",
    use="Compare ways of cutting texts, or retrievers, by how much of the evidence gets through.",
    avoid="An answer needs each piece of evidence whole; use EvidenceRecall.",
    aliases=("span_recall",),
)
def span_recall(s: Spans, *, k: int | None, evidence: str = "once") -> np.ndarray:
    """The share of the evidence, by length, that the first k retrieved texts cover.

    Positions that several texts or several pieces of evidence hold count once. A piece with alternatives counts as
    the length of its shortest one, times the share of its best-covered one: which of them was found does not
    change what the piece is worth, and more texts never lower the value. With `evidence="each"` what is covered is
    divided by the sum of the lengths of all pieces, as Chroma's evaluation does.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> item = TextItem("q", ["text"], spans=[Span("doc", 0, 20)], evidence=[EvidencePlaces(((Span("doc", 10, 30),),))])
    >>> evaluate_texts([item], "SpanRecall@5")["SpanRecall@5"]
    0.5
    """
    if evidence == "each":
        return ratio(s.sum(s.evident & s.within(k)), _listed(s, np.ones(len(s.worth))))
    return ratio(_covered(s, k), _needed(s))


@_measure(
    "SpanPrecision",
    formula="SpanPrecision@k = (length of evidence in the first k texts) / (length of the first k texts)",
    use="Everything retrieved is read, and paid for by length: large texts with little in them should not win.",
    avoid="Only whether the evidence is there matters; use SpanRecall or EvidenceRecall.",
    aliases=("span_precision",),
)
def span_precision(s: Spans, *, k: int | None, repeated: str = "once") -> np.ndarray:
    """The share of the first k retrieved texts, by length, that is evidence.

    Positions that several texts hold count once. With `repeated="each"` the length of the texts counts each time
    that it was retrieved, as a reader pays for it, and evidence still once. Any alternative is evidence. Texts
    without a known place have length and no evidence.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> item = TextItem("q", ["text"], spans=[Span("doc", 0, 40)], evidence=[EvidencePlaces(((Span("doc", 10, 30),),))])
    >>> evaluate_texts([item], "SpanPrecision@5")["SpanPrecision@5"]
    0.5
    """
    return ratio(s.sum(s.evident & s.within(k)), s.returned(k, repeated))


@_measure(
    "SpanIoU",
    formula="SpanIoU@k = (length of evidence in the first k texts) / (length of the first k texts + length of the "
    "evidence that they do not cover)",
    use="One number for what was missed and what was too much.",
    avoid="The two are not equally bad; use SpanF, or SpanRecall and SpanPrecision beside each other.",
    aliases=("span_iou", "SpanJaccard"),
)
def span_iou(s: Spans, *, k: int | None, repeated: str = "once", evidence: str = "once") -> np.ndarray:
    """What the first k retrieved texts and the evidence have in common, as a share of both together.

    `repeated` is as in SpanPrecision, and what alternatives count as in SpanRecall. With `evidence="each"` what is
    missed of each piece is added, whatever others hold of it.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> item = TextItem("q", ["text"], spans=[Span("doc", 0, 30)], evidence=[EvidencePlaces(((Span("doc", 20, 40),),))])
    >>> evaluate_texts([item], "SpanIoU@5")["SpanIoU@5"]
    0.25
    """
    if evidence == "each":
        missed = _listed(s, 1.0 - s.share(k))
    else:
        missed = _needed(s) - _covered(s, k)
    return ratio(s.sum(s.evident & s.within(k)), s.returned(k, repeated) + missed)


@_measure(
    "SpanF",
    formula="SpanF@k = (1 + beta^2) * SpanPrecision@k * SpanRecall@k / (beta^2 * SpanPrecision@k + SpanRecall@k)",
    use="One number for what was missed and what was too much, with a weight: beta times as much for recall.",
    avoid="Recall alone decides whether an answer can be right.",
    cite="van Rijsbergen 1979, Information Retrieval, chapter 7",
    aliases=("span_f", "span_f1"),
)
def span_f(s: Spans, *, k: int | None, beta: float = 1, repeated: str = "once") -> np.ndarray:
    """The weighted harmonic mean of SpanPrecision@k and SpanRecall@k.

    `repeated` is as in SpanPrecision.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> item = TextItem("q", ["text"], spans=[Span("doc", 0, 20)], evidence=[EvidencePlaces(((Span("doc", 10, 30),),))])
    >>> evaluate_texts([item], "SpanF@5")["SpanF@5"]
    0.5
    """
    return harmonic(span_precision(s, k=k, repeated=repeated), span_recall(s, k=k), beta**2)


@_measure(
    "SpanPrecisionOmega",
    formula="SpanPrecisionOmega = SpanPrecision of all texts of the corpus that hold any evidence",
    use="How well the corpus is cut, whatever the retriever: the precision that perfect recall would have.",
    avoid="Comparing retrievers over one way of cutting: it is the same for all of them.",
    aliases=("PrecisionOmega", "precision_omega"),
)
def span_precision_omega(s: Spans, *, repeated: str = "once", touching: str = "inside") -> np.ndarray:
    """The share of evidence in all texts of the corpus that hold any, as if exactly those were retrieved.

    It needs to be known how the whole corpus was cut. `repeated="each"` counts what overlapping texts share as often
    as they do, as in SpanPrecision. `touching="border"` also takes texts that only border on evidence, and adds the
    evidence that no text holds, as Chroma's evaluation does.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> item = TextItem("q", [], evidence=[EvidencePlaces(((Span("doc", 10, 30),),))])
    >>> cut = [Span("doc", 0, 20), Span("doc", 20, 40), Span("doc", 40, 60)]
    >>> evaluate_texts([item], "SpanPrecisionOmega", evidence=Evidence(chunks=cut))["SpanPrecisionOmega"]
    0.5
    """
    if s.touching is None:
        raise MeasureError(
            "SpanPrecisionOmega needs all texts of the corpus, retrieved or not",
            hint="Give `chunks`: the source, start and end of each. SpanPrecision does without.",
            code="needs-corpus",
        )
    if touching == "border":
        return ratio(s.touching.evidence, s.touching.bordering)
    if repeated == "once":
        return ratio(s.touching.evidence, s.touching.union)
    return ratio(s.touching.evidence, s.touching.total)


def _evidences_covered(s: Spans, k: int | None, coverage: float) -> np.ndarray:
    """Per query, the number of pieces of evidence of which the first k texts hold enough."""
    return s.by_query(s.enough(k, coverage))


@_measure(
    "EvidenceRecall",
    formula="EvidenceRecall@k = (pieces of evidence that the first k texts cover) / (pieces of evidence)",
    use="An answer needs each piece of evidence whole, and long pieces are not worth more than short ones.",
    avoid="Parts of a piece are worth something; use SpanRecall, or a lower coverage.",
    cite="Wu et al. 2025, LongMemEval: Benchmarking chat assistants on long-term interactive memory",
    aliases=("evidence_recall",),
)
def evidence_recall(s: Spans, *, k: int | None, coverage: float = 1.0) -> np.ndarray:
    """The share of the pieces of evidence that the first k retrieved texts cover together.

    A piece is covered if one of its alternatives is; `coverage` is the least share of it that counts (0: any
    part of it). White space does not count where the source is known: what a splitter drops between texts is not lost.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> evidence = [EvidencePlaces(((Span("doc", 5, 9),),)), EvidencePlaces(((Span("doc", 10, 30),),))]
    >>> item = TextItem("q", ["text"], spans=[Span("doc", 0, 20)], evidence=evidence)
    >>> evaluate_texts([item], "EvidenceRecall@5")["EvidenceRecall@5"]
    0.5
    """
    return ratio(_evidences_covered(s, k, coverage), s.relevant())


@_measure(
    "EvidenceAll",
    formula="EvidenceAll@k = 1 if the first k texts cover every piece of evidence, else 0",
    use="The answer must be put together from all of the evidence (multi-hop questions).",
    avoid="Questions have many pieces of evidence: it is then almost always 0.",
    cite="Wu et al. 2025, LongMemEval: Benchmarking chat assistants on long-term interactive memory (recall_all)",
    aliases=("evidence_all",),
)
def evidence_all(s: Spans, *, k: int | None, coverage: float = 1.0) -> np.ndarray:
    """Whether the first k retrieved texts cover all pieces of evidence together; 0 if there is none.

    `coverage` is as in EvidenceRecall.

    >>> from goldrank.data.text_item import EvidencePlaces, Span, TextItem
    >>> item = TextItem("q", ["text"], spans=[Span("doc", 0, 20)], evidence=[EvidencePlaces(((Span("doc", 5, 9),),))])
    >>> evaluate_texts([item], "EvidenceAll@5")["EvidenceAll@5"]
    1.0
    """
    has_all = _evidences_covered(s, k, coverage) == s.relevant()
    return np.where(has_all & (s.relevant() > 0), 1.0, 0.0)
