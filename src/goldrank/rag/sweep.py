"""One gold set, several chunkings, retrievers, numbers of texts and budgets: what each covers, and what that costs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import (
    InputError,
    MismatchError,
    OptionError,
    as_list,
    did_you_mean,
    of_type,
    one_of,
    whole_number,
)
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasureLike, Pack
from goldrank.comparison.build import compare, different_lengths, scored_notes
from goldrank.comparison.intervals import Interval, difference_interval, mean_interval
from goldrank.comparison.resampling import SAMPLES, resampled_means
from goldrank.comparison.result import Comparison
from goldrank.comparison.settings import Statistics
from goldrank.data.passages import Passages
from goldrank.data.scores import Column, Scores
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.spans import Spans
from goldrank.data.table import ChartPart, Part
from goldrank.evaluation.text_settings import Evidence, EvidenceLike, MatchingLike, as_evidence, as_matching
from goldrank.evaluation.texts import TextOptions, score_texts
from goldrank.io.questions.items import Items, ItemsLike, as_items, reader_of
from goldrank.measures import Measure, parse, summarise
from goldrank.measures.options import MAX_CUTOFF, PACKERS
from goldrank.rag.causes import COVER, COVER_BY_PLACE, NAMES, Diagnosis, diagnose

KS = (1, 3, 5, 10, 20)
MOST_UNSPLIT = 10
"""With more settings than this, the best one is chosen on half of the questions and reported on the other half."""
FEW_QUESTIONS = 10
"""With fewer questions in a half nothing is chosen."""
FIRM, LIKELY = 0.9, 0.5
"""The support from which on a setting is surely, or likely, on the frontier."""
USUAL = Statistics()
FLIPS = 10_000
"""The usual number of flips of the test of settings."""
SEED = 0
"""The seed of the resamples behind the support of the frontier, and of the halves."""
UNTESTED = Note.of("sweep-untested")
DECIMALS = 12
"""Numbers that differ only after these decimals are equal: the last bits of a mean are rounding."""


class Setting(NamedTuple):
    """One way to make a context."""

    chunking: str
    retriever: str
    k: int | None
    budget: int | None

    @property
    def system(self) -> str:
        """Chunking and retriever."""
        if self.retriever:
            return f"{self.chunking}/{self.retriever}"
        return self.chunking

    @property
    def name(self) -> str:
        """As it is shown, and named as a baseline: "small/bm25@5", "small/bm25 500 tokens"."""
        name = self.system
        if self.k is not None:
            name += f"@{self.k}"
        if self.budget is not None:
            name += f" {self.budget} tokens"
        return name


@dataclass(frozen=True)
class SweepRow:
    """What one setting covers, and what it costs."""

    setting: Setting
    mean: float
    interval: Interval
    tokens: float
    """In the mean of questions."""
    tokens_high: float
    """The 95th percentile."""
    causes: Mapping[str, int]
    """Questions by cause."""
    on_frontier: bool
    support: float
    """In which share of resamples it is on the frontier."""
    chance: float | None = None
    """The share of references that are covered by chance, at most; None for evidence by place."""

    @property
    def name(self) -> str:
        """The setting's."""
        return self.setting.name


class ChosenSetting(NamedTuple):
    """The best setting on one half of the questions, and what it is worth on the other."""

    name: str
    chosen_on: float
    """Its mean where it was chosen: flattered."""
    mean: float
    """Its mean on the other half."""
    interval: Interval
    questions: int
    """In the other half."""


@dataclass(frozen=True)
class SweepTests:
    """Which differences between settings are real."""

    baseline: str | None = None
    comparison: Comparison | None = None
    """Each setting with another chunking or retriever against the baseline, corrected by Holm."""
    effects: Mapping[str, Comparison] = field(default_factory=dict)
    """Main effects: "chunking" and "retriever", the mean over all else."""


class Sweep(Result, Mapping[str, SweepRow]):
    """All settings by name, with what they cover and cost. `sweep` makes it.

    Examples
    --------
    >>> items = [{"id": str(i), "retrieved": ["x", f"fact {i}"], "references": [f"fact {i}"]} for i in range(4)]
    >>> swept = sweep({"small/bm25": items}, k=[1, 2], matching="exact")
    >>> list(swept), swept["small/bm25@2"].mean, swept.best.name
    (['small/bm25@1', 'small/bm25@2'], 1.0, 'small/bm25@2')
    """

    own_forms: ClassVar[Forms] = {
        "html": Form("a page to sort and filter", "goldrank.rag.sweep_report:page", (".html",))
    }
    notes: tuple[Note, ...]

    def __init__(
        self,
        measure: str,
        rows: Sequence[SweepRow],
        scores: Sequence[Scores],
        *,
        choice: ChosenSetting | None = None,
        cheaper: Sequence[str] = (),
        pack: Pack = "prefix",
        notes: Sequence[Note] = (),
    ) -> None:
        self.measure = measure
        self._rows = {row.name: row for row in rows}
        self.scores = tuple(scores)
        """Of each setting, in the order of the rows."""
        self.queries = self.scores[0].queries

        self.choice = choice
        """The best setting of one half of the questions, on the other; None if there are few."""
        self.cheaper = tuple(cheaper)
        """Settings that are cheaper than the best one, and whose difference from it is not significant."""
        self.pack = pack
        self.notes = tuple(notes)

    def __getitem__(self, setting: str) -> SweepRow:
        if setting not in self._rows:
            raise KeyError(f"{setting!r}; there are: {', '.join(self._rows)}")
        return self._rows[setting]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Sweep({self.measure!r})"

    @property
    def best(self) -> SweepRow:
        """The row with the highest mean; of equal ones the cheapest."""
        return max(self.values(), key=lambda row: (row.mean, -row.tokens))

    def compare(self, baseline: str | None = None, *, statistics: Statistics = USUAL) -> Comparison:
        """Which differences between settings are real, corrected by Holm.

        Parameters
        ----------
        baseline
            A setting that was named beforehand, such as "small/bm25@5": settings with another chunking or retriever
            are compared with it. Settings that differ in k or budget alone are not, since more texts never cover less.
            None: every pair of settings.
        statistics
            How differences are decided; p-values are corrected by Holm unless it says otherwise.

        Returns
        -------
        Comparison

        Raises
        ------
        OptionError
            If no setting has this name, or there is nothing to compare it with.

        Examples
        --------
        >>> items = [{"id": str(i), "retrieved": [f"fact {i}", "more"], "references": [f"fact {i}"]} for i in range(9)]
        >>> other = [{**item, "retrieved": ["more", f"fact {i}"]} for i, item in enumerate(items)]
        >>> swept = sweep({"a": items, "b": other}, k=1, matching="exact")
        >>> swept.compare("a@1")["Cover", "a@1", "b@1"].difference
        -1.0
        """
        if baseline is None:
            return _compared(self.scores, None, statistics)
        systems = self._against(baseline)
        if len(systems) < 2:
            message = f"all settings have the chunking and the retriever of {baseline!r}; there is nothing to compare"
            raise OptionError(message, hint="compare() without a baseline compares numbers of texts and budgets, too.")
        return _compared(systems, baseline, statistics)

    def tests(self, baseline: str | None = None, *, statistics: Statistics = USUAL) -> SweepTests:
        """What was tested: the comparison with a baseline, if one is named, and the main effects.

        Parameters
        ----------
        baseline : str, optional
            A setting, such as "small/bm25@5".
        statistics : Statistics
            How to test.

        Returns
        -------
        SweepTests
            `comparison` (None without a baseline) and `effects`.
        """
        if baseline is None:
            return SweepTests(effects=self._effects(None, statistics))

        effects = self._effects(self._setting(baseline), statistics)
        systems = self._against(baseline)
        comparison = None
        if len(systems) > 1:
            comparison = _compared(systems, baseline, statistics)
        return SweepTests(baseline, comparison, effects)

    def _setting(self, name: str) -> Setting:
        if name not in self._rows:
            raise _unknown_setting(name, list(self._rows))
        return self._rows[name].setting

    def _against(self, baseline: str) -> list[Scores]:
        """The scores of a setting, and of all with another chunking or retriever."""
        system = self._setting(baseline).system
        others = [row.name for row in self.values() if row.setting.system != system]
        by_name = {scores.run: scores for scores in self.scores}
        return [by_name[name] for name in (baseline, *others)]

    def _effects(self, baseline: Setting | None, statistics: Statistics) -> dict[str, Comparison]:
        """Chunkings, and retrievers, by their means over everything else that all of them have."""
        effects: dict[str, Comparison] = {}
        for factor, other in (("chunking", "retriever"), ("retriever", "chunking")):
            systems = self._levels(factor, other)
            against = None
            if baseline is not None:
                against = str(getattr(baseline, factor))
            if len(systems) > 1:
                effects[factor] = _compared(systems, against, statistics)
        return effects

    def _levels(self, factor: str, other: str) -> list[Scores]:
        """The mean scores of each chunking over the retrievers that all have, or the other way round."""
        settings = [row.setting for row in self.values()]
        by_level: dict[str, set[str]] = {}
        for setting in settings:
            by_level.setdefault(getattr(setting, factor), set()).add(getattr(setting, other))
        common = set.intersection(*by_level.values())
        if not common:
            return []

        systems = []
        measure = parse(self.measure)
        for level in by_level:
            values = [
                scores.column(self.measure).values
                for setting, scores in zip(settings, self.scores, strict=True)
                if getattr(setting, factor) == level and getattr(setting, other) in common
            ]
            systems.append(_scores(measure, level, self.queries, np.array(values).mean(axis=0)))
        return systems

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.rag.sweep_report import chart, parts

        return [*parts(self), ChartPart("What settings cover and cost", partial(chart, self))]

    @property
    def words(self) -> str:
        """The best setting, and what it costs."""
        best = self.best
        return f"{best.name} has the highest {self.measure}: {best.mean:.3f}, for {best.tokens:,.0f} tokens on average."

    def rows(self) -> list[dict[str, Any]]:
        """A row per setting."""
        return [{**_plain_row(row), "causes": _cause_counts(row.causes)} for row in self.values()]

    def to_dict(self, tests: SweepTests | None = None) -> dict[str, Any]:
        """Everything but single questions, as plain values."""
        if tests is None:
            tests = self.tests()
        pairs = []
        if tests.comparison is not None:
            pairs = [_plain_pair(pair) for pair in tests.comparison.pairs]
        effects = {}
        for factor, comparison in tests.effects.items():
            effects[factor] = [_plain_pair(pair) for pair in comparison.pairs]
        choice = None
        if self.choice is not None:
            choice = self.choice._asdict()
        rows = [_plain_row(row) for row in self.values()]

        return {
            "measure": self.measure,
            "questions": len(self.queries),
            "baseline": tests.baseline,
            "pack": self.pack,
            "rows": rows,
            "tests": pairs,
            "effects": effects,
            "cheaper": list(self.cheaper),
            "choice": choice,
            "notes": [note.to_dict() for note in self.notes],
        }


def _plain_row(row: SweepRow) -> dict[str, Any]:
    return {
        **row.setting._asdict(),
        "name": row.name,
        "mean": row.mean,
        "low": row.interval.low,
        "high": row.interval.high,
        "tokens": row.tokens,
        "tokens_95": row.tokens_high,
        "causes": dict(row.causes),
        "on_frontier": row.on_frontier,
        "support": row.support,
        "chance": row.chance,
    }


def _cause_counts(causes: Mapping[str, int]) -> str:
    return "; ".join(f"{cause}: {count}" for cause, count in causes.items())


def _plain_pair(pair: Any) -> dict[str, Any]:
    return {"a": pair.a, "b": pair.b, "difference": pair.difference, "p": pair.p_adjusted, "verdict": pair.verdict}


def _compared(systems: Sequence[Scores], baseline: str | None, statistics: Statistics) -> Comparison:
    of_type(statistics, Statistics, "statistics", "a Statistics", "For example statistics=Statistics(alpha=0.01).")
    usual = replace(statistics, correction=statistics.correction or "holm", samples=statistics.draws(FLIPS))
    return compare(systems, baseline=baseline, statistics=usual)


def _scores(measure: Measure, name: str, queries: tuple[str, ...], values: np.ndarray) -> Scores:
    """The values of a setting as scores that can be compared."""
    declared = measure.declaration
    summary = summarise(measure, values)
    column = Column(str(measure), values, summary, declared.average, declared.higher_is_better)
    return Scores(name, queries, {str(measure): column})


def _unknown_setting(name: str, names: Sequence[str]) -> OptionError:
    listed = ", ".join(map(ids.show, names[:12]))
    if len(names) > 12:
        listed += ", ..."
    return OptionError(f"no setting is named {name!r}; there are: {listed}", hint=did_you_mean(name, names))


@named_arguments
def sweep(
    systems: Mapping[str, ItemsLike] | Mapping[tuple[str, str], ItemsLike],
    measure: MeasureLike | None = None,
    *,
    k: int | Sequence[int] | None = None,
    budget: int | Sequence[int] | None = None,
    pack: Pack = "prefix",
    matching: MatchingLike = "rouge-l:0.7",
    evidence: EvidenceLike | Mapping[str, EvidenceLike] | None = None,
    convention: ConventionLike = "trec_eval-10",
) -> Sweep:
    """Recall against cost for several chunkings, retrievers, numbers of texts and budgets of tokens.

    Each system is matched, or placed, once; every k and budget is read off. The result also shows how coverage grows
    with texts and with tokens.

    Parameters
    ----------
    systems
        What each system retrieved, by ("chunking", "retriever"), by "chunking/retriever" or by a name: `Items`, or what
        `read_items` makes them of. All have one gold set; `read_items(source, gold=...)` adds it.
    measure
        What is measured, without a cut-off; None: EvidenceRecall for evidence by place, else Cover.
    k
        Numbers of texts; None: 1, 3, 5, 10, 20 as far as lists reach, or all texts if there are budgets.
    budget
        Budgets of tokens; with `k` every combination.
    pack
        How texts are packed into a budget: "prefix", "skip" or "truncate", as in `find_causes`.
    matching
        When a text covers a reference: a spelling such as "contains", or a `Matching`.
    evidence
        The sources, or an `Evidence`; by chunking where indexes differ: {"small": Evidence("docs/", chunks=...)}.
    convention
        The name of a convention, or a `Convention` with chosen policies.

    Returns
    -------
    Sweep
        A row for each setting: "small/bm25@5", "small/bm25 500 tokens". `compare(baseline)` tests them.

    Raises
    ------
    InputError
        If items cannot be read, or fewer than two questions have a value.
    MismatchError
        If systems were asked other questions, or need other things.
    OptionError
        If an option is not one of its choices, or evidence is of no chunking.

    Examples
    --------
    >>> items = [{"id": str(i), "retrieved": [f"fact {i}" if i else "x", "some more words"],
    ...           "references": [f"fact {i}"]} for i in range(4)]
    >>> sweep({"small/bm25": items}, k=[1, 2], matching="contains")["small/bm25@1"].mean
    0.75
    """
    named = _named(systems)
    one_of(pack, PACKERS, "pack")
    matching = as_matching(matching)
    chunkings = list(dict.fromkeys(chunking for chunking, _ in named))
    by_chunking = _evidence_by_chunking(evidence, chunkings)
    sets = {pair: as_items(data) for pair, data in named.items()}
    deepest = _same_gold(sets)
    contexts = _contexts(_numbers(k, "k"), _numbers(budget, "budget"), pack, deepest)
    drawn = _drawn_measure(measure, sets, next(iter(by_chunking.values())).coverage)
    spelled = {context: _spelling(drawn, context) for context in contexts}

    measured: list[_MeasuredSetting] = []
    scores: list[Scores] = []
    for (chunking, retriever), data in sets.items():
        system = Setting(chunking, retriever, None, None).system
        if reader_of(data).by_id:
            raise OptionError(f"{reader_of(data).name} has ids alone; a sweep needs texts, whose tokens are counted")
        options = TextOptions.of(matching, by_chunking[chunking], None, convention)
        diagnosis = diagnose(data.renamed(system), list(spelled.values()), options)
        scored = score_texts(diagnosis.placed)
        scores.append(scored)
        for context in contexts:
            setting = Setting(chunking, retriever, context.k, context.budget)
            measured.append(_measured(setting, context, diagnosis, scored, spelled[context], scores[0].queries))
    return _swept(parse(drawn), measured, scores, list(spelled.values()), pack)


class _Context(NamedTuple):
    """What is taken of a list of texts."""

    k: int | None
    budget: int | None
    pack: Pack


class _MeasuredSetting(NamedTuple):
    """What a setting covers and costs, question by question."""

    setting: Setting
    values: np.ndarray
    costs: np.ndarray
    causes: dict[str, int]
    chance: float | None


def _contexts(ks: list[int], budgets: list[int], pack: Pack, deepest: int) -> list[_Context]:
    """Every combination of a number of texts and a budget."""
    depths: list[int | None] = [*ks]
    if not ks and budgets:
        depths = [None]
    if not ks and not budgets:
        depths = [k for k, before in zip(KS, (0, *KS), strict=False) if before < max(deepest, 1)]
    spent: list[int | None] = [*budgets] or [None]
    return [_Context(k, budget, pack) for k, budget in product(depths, spent)]


def _drawn_measure(measure: MeasureLike | None, sets: Mapping[tuple[str, str], Items], coverage: float) -> str:
    if measure is not None:
        return str(parse(measure))
    if not reader_of(next(iter(sets.values()))).has_evidence:
        return COVER
    if coverage == 1:
        return COVER_BY_PLACE
    return f"{COVER_BY_PLACE}(coverage={coverage!r})"


def _evidence_by_chunking(
    evidence: EvidenceLike | Mapping[str, EvidenceLike] | None, chunkings: Sequence[str]
) -> dict[str, Evidence]:
    """The evidence of each chunking. A mapping of texts is the sources of all."""
    if not isinstance(evidence, Mapping):
        return dict.fromkeys(chunkings, as_evidence(evidence))
    if all(isinstance(value, str) for value in evidence.values()):
        if evidence and set(evidence) <= set(chunkings):
            hint = "Evidence by chunking is {'small': Evidence('docs/')}; texts by source are Evidence({...})."
            raise OptionError("evidence is texts by id, and its ids are chunkings", hint=hint, code="options-conflict")
        return dict.fromkeys(chunkings, as_evidence(evidence))  # type: ignore[arg-type]  # texts, as was looked at

    unknown = sorted(str(name) for name in evidence if name not in chunkings)
    if unknown:
        message = f"there is evidence of {unknown[0]!r}, and no such chunking; there are: {', '.join(chunkings)}"
        raise OptionError(message, hint=did_you_mean(unknown[0], chunkings))
    lacking = [chunking for chunking in chunkings if chunking not in evidence]
    if lacking:
        message = f"there is no evidence of chunking {lacking[0]!r}"
        raise OptionError(message, hint="Give it for each chunking, or once for all.")

    by_chunking = {chunking: as_evidence(evidence[chunking]) for chunking in chunkings}
    if len({each.coverage for each in by_chunking.values()}) > 1:
        raise OptionError("coverage differs between chunkings", hint="One share is enough evidence for all of them.")
    return by_chunking


def _measured(
    setting: Setting,
    context: _Context,
    diagnosis: Diagnosis,
    scored: Scores,
    spelled: str,
    order: tuple[str, ...],
) -> _MeasuredSetting:
    row_of = {query: i for i, query in enumerate(scored.queries)}
    rows = np.array([row_of[query] for query in order], np.int64)

    return _MeasuredSetting(
        setting=setting,
        values=scored.column(spelled).values[rows],
        costs=_tokens(diagnosis, context)[rows],
        causes=_counted(diagnosis, context),
        chance=_chance(scored),
    )


def _swept(
    measure: Measure, measured: Sequence[_MeasuredSetting], scores: Sequence[Scores], spelled: Sequence[str], pack: Pack
) -> Sweep:
    """The result, from what was measured of each setting."""
    matrix = np.array([each.values for each in measured])
    cost = np.array([each.costs for each in measured])
    counted = ~np.isnan(matrix).any(axis=0)
    if counted.sum() < 2:
        raise InputError(f"{measure} has a value on {int(counted.sum())} questions; a sweep needs two or more")
    matrix, cost = matrix[:, counted], cost[:, counted]
    queries = tuple(np.array(scores[0].queries, object)[counted].tolist())

    rows = _rows(measure, measured, matrix, cost)
    best = max(range(len(rows)), key=lambda i: (rows[i].mean, -rows[i].tokens))
    reach = measure.declaration.high - measure.declaration.low
    cheaper = [
        row.name
        for row, values in zip(rows, matrix, strict=True)
        if row.tokens < rows[best].tokens and difference_interval(matrix[best] - values, reach=reach).low <= 0
    ]
    choice = None
    if len(rows) > MOST_UNSPLIT:
        choice = _choice(measure, rows, matrix, cost)
    settings = [each.setting for each in measured]

    return Sweep(
        str(measure),
        rows,
        [_scores(measure, row.name, queries, values) for row, values in zip(rows, matrix, strict=True)],
        choice=choice,
        cheaper=cheaper,
        pack=pack,
        notes=_notes(scores, settings, spelled, measure),
    )


def _rows(
    measure: Measure, measured: Sequence[_MeasuredSetting], matrix: np.ndarray, cost: np.ndarray
) -> list[SweepRow]:
    declared = measure.declaration
    on_frontier = frontier(cost.mean(axis=1), matrix.mean(axis=1))
    shares = support(resampled_means(cost, SAMPLES, SEED), resampled_means(matrix, SAMPLES, SEED))

    return [
        SweepRow(
            setting=each.setting,
            mean=float(matrix[i].mean()),
            interval=mean_interval(matrix[i], low=declared.low, high=declared.high),
            tokens=float(cost[i].mean()),
            tokens_high=float(np.quantile(cost[i], 0.95)),
            causes=each.causes,
            on_frontier=bool(on_frontier[i]),
            support=float(shares[i]),
            chance=each.chance,
        )
        for i, each in enumerate(measured)
    ]


def frontier(cost: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Which points no other point dominates: one that costs no more and gains no less, one of the two strictly.

    >>> frontier(np.array([1, 2, 2, 3]), np.array([0.5, 0.5, 0.7, 0.7])).tolist()
    [True, False, True, False]
    >>> frontier(np.array([1.0, 1.0]), np.array([0.3, 0.1 + 0.2])).tolist()
    [True, True]
    """
    cost, gain = np.round(cost, DECIMALS), np.round(gain, DECIMALS)
    order = np.lexsort((-gain, cost))
    on_frontier = np.zeros(len(cost), bool)
    best = -np.inf
    best_cost = np.nan
    for i in order.tolist():
        # Equal points do not dominate each other.
        if gain[i] > best or (gain[i] == best and cost[i] == best_cost):
            on_frontier[i] = True
            best, best_cost = gain[i], cost[i]
    return on_frontier


def support(costs: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """For each point, in which share of resamples (one per line) it is on the frontier."""
    times = np.zeros(costs.shape[1])
    for cost, gain in zip(costs, gains, strict=True):
        times += frontier(cost, gain)
    return np.asarray(times / max(len(costs), 1))


def _numbers(numbers: Sequence[int] | int | None, name: str) -> list[int]:
    """Whole numbers from 1, ascending, each once."""
    if numbers is None:
        return []
    if isinstance(numbers, int):
        return [whole_number(numbers, name, 1, MAX_CUTOFF)]
    return sorted({whole_number(number, f"one of {name}", 1, MAX_CUTOFF) for number in as_list(numbers, name)})


def _named(systems: Mapping[Any, Any]) -> dict[tuple[str, str], Any]:
    if not isinstance(systems, Mapping) or not systems:
        raise InputError(
            "there is nothing to sweep over",
            hint='Give {("small", "bm25"): items, ...}: what each chunking and retriever found.',
        )

    named: dict[tuple[str, str], Any] = {}
    for key, data in systems.items():
        if isinstance(key, tuple):
            words = list(map(str, key))
        else:
            words = str(key).split("/", 1)
        if len(words) > 2 or not words[0]:
            raise OptionError(f"{key!r} does not name a chunking and a retriever", hint='For example "small/bm25".')

        chunking, retriever = words[0], "".join(words[1:])
        if (chunking, retriever) in named:
            raise OptionError(f"two systems are both named {'/'.join(words)!r}")
        named[chunking, retriever] = data

    return named


def _same_gold(sets: Mapping[tuple[str, str], Items]) -> int:
    """How many texts the longest list has.

    Systems with other questions or another gold set are refused: no difference would mean anything.
    """
    first: dict[str, str] | None = None
    name = ""
    deepest = 0
    for pair, data in sets.items():
        digests: dict[str, str] = {}
        for entry in reader_of(data).entries():
            needed = repr((list(map(tuple, entry.item.references)), entry.evidence))
            digests[entry.item.query] = hashlib.sha256(needed.encode("utf-8", "surrogatepass")).hexdigest()
            deepest = max(deepest, len(entry.item.retrieved))
        if first is None:
            first, name = digests, "/".join(pair)
            continue
        other = sorted(first.keys() ^ digests.keys()) or sorted(q for q in first if first[q] != digests[q])
        if other:
            raise MismatchError(
                f"{name} and {'/'.join(pair)} have other questions, references or evidence: {ids.samples(other)}",
                hint="A sweep has one gold set: read_items(source, gold=...) for each system (--gold).",
            )
    return deepest


def _spelling(measure: str, context: _Context) -> str:
    """The measure of what a context holds."""
    base = parse(measure)
    if base.k is not None or base.option("tokens") is not None:
        raise OptionError(f"{measure} has a cut-off or a budget; these are k= and budget=")

    options: list[str] = []
    if context.budget is not None:
        options.append(f"tokens={context.budget}")
    if context.budget is not None and context.pack != "prefix":
        options.append(f'pack="{context.pack}"')

    text = str(base)
    inner = ", ".join(options)
    if options and text.endswith(")"):
        text = f"{text[:-1]}, {inner})"
    elif options:
        text = f"{text}({inner})"
    if context.k is None:
        return text
    return f"{text}@{context.k}"


def _tokens(diagnosis: Diagnosis, context: _Context) -> np.ndarray:
    """Per question, the tokens of its context."""
    table: Spans | Passages = diagnosis.table
    if context.budget is not None:
        table = table.packed(context.budget, context.pack, context.k)
    if isinstance(table, Spans):
        query, rank, tokens = table.texts.query, table.texts.rank, table.texts.tokens
    else:
        assert table.pairs.lengths is not None
        query, rank, tokens = table.query, table.rank, table.pairs.lengths.tokens

    near = np.ones(len(rank), bool)
    if context.k is not None:
        near = rank <= context.k
    return np.bincount(query[near], weights=tokens[near], minlength=len(diagnosis.placed.queries))


def _counted(diagnosis: Diagnosis, context: _Context) -> dict[str, int]:
    """Questions by cause."""
    counts = Counter(diagnosis.by_question(diagnosis.at(context.k, context.budget, context.pack)).tolist())
    return {cause: counts[number] for number, cause in enumerate(NAMES) if counts[number]}


def _chance(scores: Scores) -> float | None:
    level = next((note for note in scores.notes if note.code in ("chance-level", "high-chance-level")), None)
    if level is None:
        return None
    return float(level.fact("share"))


def _notes(
    scores: Sequence[Scores], settings: Sequence[Setting], spelled: Sequence[str], measure: Measure
) -> list[Note]:
    notes: list[Note] = []
    chunkings = {setting.chunking for setting in settings}
    if len(chunkings) > 1 and measure.declaration.over != "spans":
        notes.append(Note.of("sweep-by-texts"))
    notes += different_lengths(scores, spelled)
    notes.append(UNTESTED)
    return list(dict.fromkeys(notes + scored_notes(scores)))


def _choice(measure: Measure, rows: Sequence[SweepRow], matrix: np.ndarray, cost: np.ndarray) -> ChosenSetting | None:
    """The best setting of one half of the questions on the other half."""
    size = matrix.shape[1]
    if size // 2 < FEW_QUESTIONS:
        return None
    order = np.random.default_rng(SEED).permutation(size)
    half, other = order[: size // 2], order[size // 2 :]
    chosen, spent = matrix[:, half].mean(axis=1), cost[:, half].mean(axis=1)
    best = max(range(len(rows)), key=lambda i: (chosen[i], -spent[i]))

    values = matrix[best, other]
    declared = measure.declaration
    interval = mean_interval(values, low=declared.low, high=declared.high)
    return ChosenSetting(rows[best].name, float(chosen[best]), float(values.mean()), interval, len(other))
