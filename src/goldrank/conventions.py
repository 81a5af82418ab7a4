"""Named sets of policies, so that a number can say by whose rules it was made.

Each policy that the field's tools differ in is a field of `Convention`; `evaluate` takes any of them as
an argument of the same name, and that wins over the convention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from goldrank.errors import OptionError, did_you_mean, one_of

_OF_MEASURES = "An option of a measure is part of its name: AP(judged_only=True), nDCG(gain='exp2')@10."

POLICIES: dict[str, dict[str, str]] = {
    "ties": {
        "docid": "equal scores are ordered by document id, descending by bytes (trec_eval)",
        "docid-ascending": "equal scores are ordered by document id, ascending by bytes",
        "input": "equal scores keep the order of the input",
        "expected": "values are means over all orders of equal scores, where that has a closed form",
        "bounds": "as docid, with the least and greatest value over all orders of equal scores",
    },
    "score_type": {
        "float64": "scores are compared as doubles",
        "float32": "scores are rounded to single precision first (trec_eval 9, pytrec_eval)",
    },
    "duplicates": {
        "error": "a document that a ranking repeats is an error that names both places",
        "first": "the first line of a document counts",
        "last": "the last line of a document counts",
        "count": "every line counts as a document of its own",
        "places": "every line keeps its rank, and a document counts once, at its first one, unless the convention "
        "says otherwise of a measure",
    },
    "judgements": {
        "error": "a document judged twice with different grades is an error; with equal grades it is noted",
        "last": "the last judgement counts",
    },
    "missing": {
        "zero": "a judged query that the run does not answer is scored as an empty ranking",
        "skip": "it is left out of the mean",
        "error": "it is an error",
    },
    "empty": {
        "zero": "a query without any relevant document scores what the formula gives, which is 0",
        "skip": "it is left out of the mean",
        "one": "it scores 1",
        "nan": "it scores NaN",
        "error": "it is an error",
    },
    "bounds": {
        "none": "unjudged documents count as not relevant",
        "unjudged": "as none, with the least and greatest value over all ways to judge them right or wrong",
    },
    "overlap": {
        "error": "run and qrels that share no query or no document id are an error",
        "allow": "they are scored, and the footer says so",
    },
}


REPEATS = {
    "first": "a repeated document counts where it first stands",
    "each": "every place of it counts as a document of its own",
    "distinct": "every place of it counts, where precision counts a document once",
    "texts": "precision counts places, recall documents",
}
"""What a measure may count of a document that a ranking repeats and that keeps its places."""


CONDITIONS = {
    "asked": "whatever the data",
    "negative-grades": "there are negative grades",
    "high-grades": "there are grades above 1",
    "scores-beyond-1": "there are scores below 0 or above 1",
    "one-kind": "a query has no relevant, or no other judged document",
    "all-relevant": "a query has relevant documents only",
    "none-relevant": "a query of the run has no relevant document",
    "unjudged-queries": "queries of the run are not judged",
}
"""When a convention refuses a measure."""


@dataclass(frozen=True)
class Refusal:
    """Measures that a tool has, and that the convention of its name cannot give under some condition."""

    measures: tuple[str, ...]
    """Names, or '*' for all."""
    when: str
    why: str
    hint: str | None = None

    def __post_init__(self) -> None:
        one_of(self.when, CONDITIONS, "when")

    def concerns(self, measure: str) -> bool:
        """Whether it is about a measure."""
        return measure in self.measures or "*" in self.measures


@dataclass(frozen=True)
class Convention:
    """One value for every policy, and the measure options that go with them."""

    name: str
    ties: str = "docid"
    score_type: str = "float64"
    duplicates: str = "error"
    judgements: str = "error"
    missing: str = "zero"
    empty: str = "zero"
    bounds: str = "none"
    overlap: str = "error"
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict, hash=False)
    """Options that a measure gets unless it is spelled with its own: {"IPrec": {"rounding": "up"}}."""
    repeats: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What measures count of a repeated document with duplicates="places", one of `REPEATS`; others its first place."""

    tie_rules: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What measures do with equal scores where it is not what `ties` says: 'expected', or 'grouped' for one step."""
    undefined_order: Mapping[str, int] = field(default_factory=dict, hash=False)
    """From what length of a ranking on the tool's order of equal scores is not defined, by measure or for all ('*').

    A value that depends on that order is refused."""
    closed: bool = False
    """Whether only the returned documents exist: those that nobody judged are not relevant, the others are gone."""
    positive: tuple[str, ...] = ()
    """Measures that take a document for not relevant whose score is not above 0."""
    all_queries: tuple[str, ...] = ()
    """Measures that count every judged query, whatever `missing` says."""
    averaged: tuple[str, ...] = ()
    """Counts that are summed up over queries elsewhere, and here are means over them."""
    heads: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Policies for measures that look at the first documents by id, where they differ."""
    drops_own_id: bool = False
    """Whether a document whose id is the query's is dropped from its ranking."""
    refusals: tuple[Refusal, ...] = ()

    def __post_init__(self) -> None:
        for policy, words in POLICIES.items():
            one_of(getattr(self, policy), words, policy)
        for measure, counted in self.repeats.items():
            one_of(counted, REPEATS, f"repeats of {measure}")

    def having(self, **changes: str | None) -> Convention:
        """This convention with some policies changed; None leaves one as it is."""
        given = {key: value for key, value in changes.items() if value is not None}
        if not given:
            return self
        for key in given:
            if key not in POLICIES:
                raise OptionError(f"unknown policy {key!r}", hint=did_you_mean(key, POLICIES) or _OF_MEASURES)
        changed = replace(self, **given)  # type: ignore[arg-type]  # policies are words
        return replace(changed, tie_rules={}, undefined_order={}) if "ties" in given else changed

    with_policies = having

    @property
    def reads_scores(self) -> bool:
        """Whether more of a run is looked at than where it put its documents."""
        return bool(self.positive) or self.drops_own_id

    @cached_property
    def label(self) -> str:
        """The name, and every policy that was changed from the convention of that name."""
        named = CONVENTIONS.get(self.name, self).describe()
        changed = (f"{key}={value}" for key, value in self.describe().items() if value != named[key])
        return ", ".join((self.name, *changed))

    def describe(self) -> dict[str, str]:
        """Every policy's value by name."""
        return {policy: getattr(self, policy) for policy in POLICIES}


TREC_EVAL_10 = Convention("trec_eval-10")
TREC_EVAL_9 = Convention(
    "trec_eval-9",
    score_type="float32",
    missing="skip",
    options={"IPrec": {"rounding": "up"}, "IPrecAvg": {"rounding": "up"}},
)

RANX = Convention(
    "ranx",
    ties="input",
    missing="error",
    averaged=("NumRelRet",),
    undefined_order={"*": 16},
    refusals=(
        Refusal(
            ("RBP",), "high-grades", "ranx does not bring grades into 0 to 1", "RBG is RBP with grades as they are."
        ),
        Refusal(
            ("Bpref",),
            "one-kind",
            "ranx divides by nothing where a query has no relevant or no judged nonrelevant document",
            "Leave such queries out, or take convention='trec_eval-10'.",
        ),
        Refusal(("Bpref",), "negative-grades", "ranx counts negative grades as judged not relevant", "Give grade 0."),
    ),
)
"""ranx 0.3: scores as doubles, every judged query must be in the run, equal scores in the order of the input, which its
sort keeps up to 15 documents only. Its hits, which is NumRelRet, is a mean over queries."""

_NEGATIVE = "the tool takes no negative grades"
SKLEARN = Convention(
    "sklearn",
    ties="expected",
    missing="skip",
    options={
        "nDCG": {"ideal": "retrieved"},
        "AP": {"divisor": "hits"},
        "R": {"divisor": "returned"},
        "DCG": {"negative": "keep"},
    },
    tie_rules={"AP": "grouped"},
    closed=True,
    refusals=(
        Refusal(("nDCG", "AP", "AUROC"), "negative-grades", _NEGATIVE, "Give grade 0."),
        Refusal(("AUROC",), "one-kind", "the area is not defined for a query with one kind of documents alone"),
    ),
)
"""scikit-learn: only the documents and queries in the array exist, nDCG is a mean over the orders of equal scores, and
AP takes equal scores for one step."""

TORCHMETRICS = Convention(
    "torchmetrics",
    ties="input",
    score_type="float32",
    missing="skip",
    options={"nDCG": {"ideal": "retrieved"}, "AP": {"divisor": "hits"}},
    tie_rules={"nDCG": "expected", "AUROC": "expected"},
    undefined_order={"*": 2},
    closed=True,
    positive=("AP", "RR", "P", "R"),
    refusals=(
        Refusal(("*",), "negative-grades", _NEGATIVE, "Give grade 0."),
        Refusal(
            ("AUROC",),
            "scores-beyond-1",
            "torchmetrics puts them through a sigmoid of single precision, which makes different scores equal",
            "Bring scores into 0 to 1.",
        ),
        Refusal(
            ("FallOut",),
            "all-relevant",
            "torchmetrics' function retrieval_fall_out gives it 0 and its class RetrievalFallOut 1",
            "Leave such queries out.",
        ),
    ),
)
"""torchmetrics: only the documents and queries in the tensor exist, AP divides by the relevant ones found, and AP, RR,
P and R count a document with a score of 0 or less as not relevant. Torch does not say in what order it puts equal
scores."""

LIGHTGBM = Convention(
    "lightgbm", ties="input", empty="one", options={"nDCG": {"gain": "exp2"}, "AP": {"divisor": "min"}}
)
"""LightGBM: the gain is 2^grade - 1, rows keep their order among equal scores, and an empty query is 1."""

XGBOOST = replace(LIGHTGBM, name="xgboost")
"""XGBoost: the same; `ndcg@10-` there is empty="zero" here."""

_CUSTOM = ("RR", "R_cap", "Hole", "Success")
BEIR = replace(
    TREC_EVAL_9,
    name="beir",
    drops_own_id=True,
    all_queries=_CUSTOM,
    undefined_order=dict.fromkeys(_CUSTOM, 2),
    heads={"ties": "input", "score_type": "float64"},
    refusals=(
        Refusal(("Hole",), "negative-grades", "BEIR counts documents of negative grades as judged", "Give grade 0."),
        Refusal(("Hole",), "unjudged-queries", "BEIR adds their documents up, and divides by the judged queries",
                "Leave such queries out."),
        Refusal(("R_cap",), "none-relevant", "BEIR divides by the number of relevant documents",
                "Leave such queries out, or take convention='trec_eval-9'."),
        Refusal(("Accuracy",), "asked", "BEIR's Accuracy@k is whether a relevant document is in the first k",
                "Ask for Success@k."),
    ),
)  # fmt: skip
"""BEIR: pytrec_eval, which is trec_eval 9, so that queries without results are left out of the mean; but MRR, R_cap,
Hole and Accuracy, which is Success, divide by all judged queries. A document whose id is the query's is dropped. BEIR
keeps ties in the order of the input for the latter, so that values that depend on it are refused."""

CHROMA = Convention(
    "chroma",
    options={
        "SpanRecall": {"evidence": "each"},
        "SpanPrecision": {"repeated": "each"},
        "SpanIoU": {"repeated": "each", "evidence": "each"},
        "SpanPrecisionOmega": {"touching": "border"},
    },
)
"""Chroma's evaluation of chunking (Smith and Troynikov 2024): by characters, and what is listed twice counts twice."""

# The systems that goldrank.compat stands in for. They rank by the order of a list, in which a document may be repeated,
# and judge by numbers that need not be whole. docs/seeds.md says what only their own functions can show.

ABOVE_ZERO = 5e-324
"""The lowest `rel` that leaves out 0: the smallest positive number."""

_compatible = partial(Convention, ties="input", duplicates="places")
_LOSSES = {"DCG": {"negative": "keep"}, "nDCG": {"negative": "keep"}}
_GRADED = {name: {"rel": ABOVE_ZERO} for name in ("P", "R", "RR", "Success")}
AXION = _compatible("axion", judgements="last", options={**_GRADED, **_LOSSES})
LESSON = _compatible("lesson", options=_LOSSES, repeats={"DCG": "each", "nDCG": "each"})
REMEM = _compatible(
    "remem",
    options={"nDCG": {"discount": "log2_from_2", "gain": "binary", "ideal": "retrieved"}},
    repeats={"nDCG": "each"},
)
_TEXTS = {"P": "each", "SetP": "each", "F": "texts", "SetF": "texts"}
CONTINUOUS_EVAL = _compatible(
    "continuous_eval",
    options={"nDCG": {"gain": "binary", "discount": "ln"}, "P": {"divisor": "retrieved"}},
    repeats=_TEXTS,
)
"""continuous-eval by its document: AP is divided by all ground truth, and the ideal of nDCG is cut at k."""
CONTINUOUS_EVAL_RELEASED = _compatible(
    "continuous_eval_released",
    options={
        "AP": {"divisor": "hits"},
        "nDCG": {"gain": "binary", "cut_ideal": False, "discount": "ln"},
        "P": {"divisor": "retrieved"},
    },
    repeats={**_TEXTS, "AP": "each"},
)
"""continuous-eval by its later releases: AP is divided by the chunks that match, and the ideal is never cut."""
IR_EVAL_NUMBA = _compatible(
    "ir_eval_numba",
    options={"AP": {"divisor": "hits"}, "nDCG": {"gain": "binary"}},
    repeats={"AP": "distinct", "nDCG": "each"},
)

_TOOLS = (TREC_EVAL_10, TREC_EVAL_9, RANX, SKLEARN, TORCHMETRICS, LIGHTGBM, XGBOOST, BEIR, CHROMA)
_COMPATIBLE = (AXION, LESSON, REMEM, CONTINUOUS_EVAL, CONTINUOUS_EVAL_RELEASED, IR_EVAL_NUMBA)

CONVENTIONS = {convention.name: convention for convention in (*_TOOLS, *_COMPATIBLE)}
DEFAULT = TREC_EVAL_10


def options_of(label: str) -> dict[str, Mapping[str, object]]:
    """The options of the convention that a label begins with; none if it is nobody's."""
    named = CONVENTIONS.get(label.partition(",")[0])
    return dict(named.options) if named else {}


def get(convention: str | Convention) -> Convention:
    """A convention by name."""
    if isinstance(convention, Convention):
        return convention
    return CONVENTIONS[one_of(convention, CONVENTIONS, "convention")]
