"""One gold set, several chunkings, retrievers, numbers of texts and budgets: what each covers, and what that costs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from goldrank import ids
from goldrank.comparison.build import compare, different_lengths, scored_notes
from goldrank.comparison.intervals import Interval, difference_interval, mean_interval
from goldrank.comparison.resampling import SAMPLES, resampled_means
from goldrank.comparison.result import Comparison
from goldrank.comparison.tabular import Shown
from goldrank.data.passages import Passages
from goldrank.data.scores import Column, Scores
from goldrank.data.spans import Spans
from goldrank.errors import InputError, MismatchError, OptionError, as_list, did_you_mean, one_of, whole_number
from goldrank.evaluation.causes import COVER, COVER_BY_PLACE, NAMES, Diagnosis, diagnose
from goldrank.evaluation.texts import score_texts
from goldrank.io.gold import with_gold
from goldrank.io.items import Items
from goldrank.io.items import items as read_items
from goldrank.measures import parse, summarise
from goldrank.measures.options import PACKERS
from goldrank.misuse import checked
from goldrank.notes import Note

KS = (1, 3, 5, 10, 20)
MANY = 10
"""With more settings than this, the best one is chosen on half of the questions and reported on the other half."""
FEW_QUESTIONS = 10
"""With fewer questions in a half nothing is chosen."""
FIRM, LIKELY = 0.9, 0.5
"""The support from which on a setting is surely, or likely, on the frontier."""
DECIMALS = 12
"""What differs by less is equal: the last bits of a mean are the rounding of the machine that made it."""


class Setting(NamedTuple):
    """One way to make a context."""

    chunking: str
    retriever: str
    k: int | None
    budget: int | None

    @property
    def system(self) -> str:
        """Chunking and retriever."""
        return f"{self.chunking}/{self.retriever}" if self.retriever else self.chunking

    @property
    def name(self) -> str:
        """As it is shown, and named as a baseline: "small/bm25@5", "small/bm25 500 tokens"."""
        budget = "" if self.budget is None else f" {self.budget} tokens"
        return f"{self.system}{'' if self.k is None else f'@{self.k}'}{budget}"


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
class Sweep(Shown):
    """All settings with what they cover and cost, and which differences are real."""

    drawn_by = "sweep"

    measure: str
    rows: Sequence[SweepRow]
    queries: tuple[str, ...]
    baseline: str | None = None
    tests: Comparison | None = None
    """Each setting with another chunking or retriever against the baseline, corrected by Holm."""
    effects: Mapping[str, Comparison] = field(default_factory=dict)
    """Main effects: "chunking" and "retriever", the mean over all else."""
    choice: ChosenSetting | None = None
    cheaper: Sequence[str] = ()
    """Settings that are cheaper than the best one and cannot be told from it."""
    pack: str = "prefix"
    samples: int = SAMPLES
    """Resamples of the questions, for the support of the frontier."""
    notes: Sequence[Note] = ()

    @property
    def best(self) -> SweepRow:
        """The row with the highest mean; of equal ones the cheapest."""
        return max(self.rows, key=lambda row: (row.mean, -row.tokens))

    def __getitem__(self, name: str) -> SweepRow:
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise KeyError(f"{name!r}; there are: {', '.join(row.name for row in self.rows)}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything but single questions, as plain values."""
        rows = [
            {**row.setting._asdict(), "name": row.name, "mean": row.mean, "low": row.interval.low,
             "high": row.interval.high, "tokens": row.tokens, "tokens_95": row.tokens_high,
             "causes": dict(row.causes), "on_frontier": row.on_frontier, "support": row.support, "chance": row.chance}
            for row in self.rows
        ]  # fmt: skip
        tests = [] if self.tests is None else [_plain(pair) for pair in self.tests.pairs]
        effects = {name: [_plain(pair) for pair in comparison.pairs] for name, comparison in self.effects.items()}
        return {"measure": self.measure, "questions": len(self.queries), "baseline": self.baseline, "pack": self.pack,
                "rows": rows, "tests": tests, "effects": effects, "cheaper": list(self.cheaper),
                "choice": None if self.choice is None else self.choice._asdict(),
                "notes": [note.to_dict() for note in self.notes]}  # fmt: skip


def _plain(pair: Any) -> dict[str, Any]:
    return {"a": pair.a, "b": pair.b, "difference": pair.difference, "p": pair.p_adjusted, "verdict": pair.verdict}


@checked
def sweep(
    systems: Mapping[Any, Any],
    *,
    gold: Any = None,
    measure: str | None = None,
    ks: Sequence[int] | int | None = None,
    budgets: Sequence[int] | int | None = None,
    pack: str = "prefix",
    baseline: str | None = None,
    chunks: Mapping[str, Any] | None = None,
    coverage: float = 1.0,
    samples: int = SAMPLES,
    seed: int = 0,
    **how: Any,
) -> Sweep:
    """Recall against cost for several chunkings, retrievers, numbers of texts (`ks`) and `budgets` of tokens.

    `systems` maps ("chunking", "retriever"), or "chunking/retriever", to what that system retrieved: anything that
    `evaluate_texts` takes. What is needed is in these, the same in all, or once in `gold`. Each system is matched, or
    placed, once; every k and budget is read off. The `measure` is "EvidenceRecall" for evidence by place, else "Cover".

    A `baseline` named beforehand, such as "small/bm25@5" or "small/bm25 500 tokens", is what settings with another
    chunking or retriever are tested against. `chunks` gives for each chunking all texts of its index, and `sources` all
    sources, so that causes can be told. Other options are those of `evaluate_texts`.

    >>> gold = [{"id": str(i), "references": [f"fact {i}"]} for i in range(4)]
    >>> found = [{"id": str(i), "retrieved": [f"fact {i}" if i else "x", "some more words"]} for i in range(4)]
    >>> print(sweep({"small/bm25": found}, gold=gold, ks=[1, 2], matcher="contains")["small/bm25@1"].mean)
    0.75
    """
    named = _named(systems)
    one_of(pack, PACKERS, "pack")
    depths, spent = _numbers(ks, "ks"), _numbers(budgets, "budgets")
    reading: dict[str, Any] = {key: how.pop(key) for key in ("fields", "format", "failures") if key in how}
    sets = {pair: _items(data, gold, reading) for pair, data in named.items()}
    deepest = _same_gold(sets)
    if not depths:
        usual = [k for k, before in zip(KS, (0, *KS), strict=False) if before < max(deepest, 1)]
        depths = [None] if spent else [*usual]
    contexts = list(product(depths, spent or [None]))
    drawn = measure or (COVER if any(item.references for item in next(iter(sets.values()))) else COVER_BY_PLACE)
    if measure is None and drawn == COVER_BY_PLACE and coverage != 1:
        drawn = f"{COVER_BY_PLACE}(coverage={coverage!r})"
    spelled = {context: _spelling(drawn, *context, pack) for context in contexts}
    unknown = sorted(set(chunks or ()) - {chunking for chunking, _ in named})
    if unknown:
        raise OptionError(
            f"there are chunks of {unknown[0]!r}, and no such chunking",
            hint=did_you_mean(unknown[0], [chunking for chunking, _ in named]),
        )
    settings: list[Setting] = []
    values: list[np.ndarray] = []
    costs: list[np.ndarray] = []
    causes: list[dict[str, int]] = []
    chances: list[float | None] = []
    scores: list[Scores] = []
    order: tuple[str, ...] = ()
    for (chunking, retriever), data in sets.items():
        if data.by_id:
            raise OptionError(f"{data.name} has ids alone; a sweep needs texts, whose tokens are counted")
        name = Setting(chunking, retriever, None, None).system
        diagnosis = diagnose(data, list(spelled.values()), chunks=(chunks or {}).get(chunking), coverage=coverage,
                         **{**how, "name": name})  # fmt: skip
        scored = score_texts(diagnosis.placed)
        scores.append(scored)
        order = order or scored.queries
        at = {query: i for i, query in enumerate(scored.queries)}
        rows = np.array([at[query] for query in order], np.int64)
        for k, budget in contexts:
            settings.append(Setting(chunking, retriever, k, budget))
            values.append(scored.column(spelled[k, budget]).values[rows])
            costs.append(_tokens(diagnosis, k, budget, pack)[rows])
            causes.append(_counted(diagnosis, k, budget, pack))
            chances.append(_chance(scored))
    matrix, cost = np.array(values), np.array(costs)
    counted = ~np.isnan(matrix).any(axis=0)
    if counted.sum() < 2:
        raise InputError(f"{drawn} has a value on {int(counted.sum())} questions; a sweep needs two or more")
    matrix, cost, order = matrix[:, counted], cost[:, counted], tuple(np.array(order, object)[counted].tolist())
    means, spends = resampled_means(matrix, samples, seed), resampled_means(cost, samples, seed)
    on, shares = frontier(cost.mean(axis=1), matrix.mean(axis=1)), support(spends, means)
    declared = parse(drawn).declaration
    intervals = [mean_interval(row, low=declared.low, high=declared.high) for row in matrix]
    table = [
        SweepRow(setting, float(matrix[i].mean()), band, float(cost[i].mean()), float(np.quantile(cost[i], 0.95)),
                 causes[i], bool(on[i]), float(shares[i]), chances[i])
        for i, (setting, band) in enumerate(zip(settings, intervals, strict=True))
    ]  # fmt: skip
    notes = _notes(scores, settings, list(spelled.values()), drawn, baseline)
    setting_scores = _SettingScores(parse(drawn), order, settings, matrix)
    reach = declared.high - declared.low
    best = max(range(len(table)), key=lambda i: (table[i].mean, -table[i].tokens))
    cheaper = [
        row.name
        for row, own in zip(table, matrix, strict=True)
        if row.tokens < table[best].tokens and difference_interval(matrix[best] - own, reach=reach).low <= 0
    ]
    return Sweep(
        measure=drawn,
        rows=tuple(table),
        queries=order,
        baseline=baseline,
        tests=None if baseline is None else setting_scores.against(baseline, seed),
        effects=setting_scores.effects(baseline, seed),
        choice=_choice(table, matrix, cost, (declared.low, declared.high), seed) if len(table) > MANY else None,
        cheaper=tuple(cheaper),
        pack=pack,
        samples=samples,
        notes=tuple(dict.fromkeys(notes)),
    )


def frontier(cost: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Which points no other one dominates: one that costs no more and gains no less, one of the two strictly.

    >>> frontier(np.array([1, 2, 2, 3]), np.array([0.5, 0.5, 0.7, 0.7])).tolist()
    [True, False, True, False]
    >>> frontier(np.array([1.0, 1.0]), np.array([0.3, 0.1 + 0.2])).tolist()
    [True, True]
    """
    cost, gain = np.round(cost, DECIMALS), np.round(gain, DECIMALS)
    order = np.lexsort((-gain, cost))
    kept = np.zeros(len(cost), bool)
    best = -np.inf
    best_cost = np.nan
    for i in order.tolist():
        # Equal points do not dominate each other.
        if gain[i] > best or (gain[i] == best and cost[i] == best_cost):
            kept[i] = True
            best, best_cost = gain[i], cost[i]
    return kept


def support(costs: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """For each point, in which share of resamples (one per line) it is on the frontier."""
    times = np.zeros(costs.shape[1])
    for cost, gain in zip(costs, gains, strict=True):
        times += frontier(cost, gain)
    return np.asarray(times / max(len(costs), 1))


def _numbers(given: Sequence[int] | int | None, what: str) -> list[int | None]:
    """Whole numbers from 1, ascending, each once."""
    listed = [] if given is None else [given] if isinstance(given, int) else as_list(given, what)
    return sorted({whole_number(number, f"one of {what}", 1) for number in listed})  # type: ignore[return-value]


def _named(systems: Mapping[Any, Any]) -> dict[tuple[str, str], Any]:
    if not isinstance(systems, Mapping) or not systems:
        raise InputError(
            "there is nothing to sweep over",
            hint='Give {("small", "bm25"): items, ...}: what each chunking and retriever found.',
        )
    named: dict[tuple[str, str], Any] = {}
    for key, data in systems.items():
        pair = tuple(map(str, key)) if isinstance(key, tuple) else tuple(str(key).split("/", 1))
        if len(pair) > 2 or not pair[0]:
            raise OptionError(f"{key!r} does not name a chunking and a retriever", hint='For example "small/bm25".')
        both = pair[0], pair[1] if len(pair) > 1 else ""
        if both in named:
            raise OptionError(f"two systems are both named {'/'.join(pair)!r}")
        named[both] = data
    return named


def _items(data: Any, gold: Any, reading: Mapping[str, Any]) -> Items:
    if gold is not None:
        return with_gold(data, gold, **reading)
    return data if isinstance(data, Items) else read_items(data, **reading)


def _same_gold(sets: Mapping[tuple[str, str], Items]) -> int:
    """How many texts the longest list has.

    Systems that were asked other questions, or held to other gold, are refused: no difference would mean anything.
    """
    first: dict[str, str] | None = None
    name = ""
    deepest = 0
    for pair, data in sets.items():
        digests: dict[str, str] = {}
        for given in data.given():
            needed = repr((list(map(tuple, given.item.references)), given.evidence))
            digests[given.item.query] = hashlib.sha256(needed.encode("utf-8", "surrogatepass")).hexdigest()
            deepest = max(deepest, len(given.item.retrieved))
        if first is None:
            first, name = digests, "/".join(pair)
            continue
        other = sorted(first.keys() ^ digests.keys()) or sorted(q for q in first if first[q] != digests[q])
        if other:
            raise MismatchError(
                f"{name} and {'/'.join(pair)} have other questions, references or evidence: {ids.samples(other)}",
                hint="A sweep has one gold set: give it once, gold=... (--gold).",
            )
    return deepest


def _spelling(measure: str, k: int | None, budget: int | None, pack: str) -> str:
    base = parse(measure)
    if base.k is not None or base.option("tokens") is not None:
        raise OptionError(f"{measure} has a cut-off or a budget; these are ks= and budgets=")
    options = "" if budget is None else f"tokens={budget}" + ("" if pack == "prefix" else f', pack="{pack}"')
    text = str(base)
    if options:
        text = f"{text[:-1]}, {options})" if text.endswith(")") else f"{text}({options})"
    return text if k is None else f"{text}@{k}"


def _tokens(diagnosis: Diagnosis, k: int | None, budget: int | None, pack: str) -> np.ndarray:
    """Per question, the tokens of its context."""
    table: Spans | Passages = diagnosis.placed.tables["spans" if diagnosis.by_place else "texts"]
    if budget is not None:
        table = table.packed(budget, pack, k)
    if isinstance(table, Spans):
        query, rank, tokens = table.texts.query, table.texts.rank, table.texts.tokens
    else:
        assert table.pairs.lengths is not None
        query, rank, tokens = table.query, table.rank, table.pairs.lengths.tokens
    near = np.ones(len(rank), bool) if k is None else rank <= k
    return np.bincount(query[near], weights=tokens[near], minlength=len(diagnosis.placed.queries))


def _counted(diagnosis: Diagnosis, k: int | None, budget: int | None, pack: str) -> dict[str, int]:
    counts = Counter(diagnosis.by_question(diagnosis.at(k, budget, pack)).tolist())
    return {cause: counts[number] for number, cause in enumerate(NAMES) if counts[number]}


def _chance(scores: Scores) -> float | None:
    level = next((note for note in scores.notes if note.code in ("chance-level", "high-chance-level")), None)
    return None if level is None else float(level.fact("share"))


def _notes(
    scores: Sequence[Scores], settings: Sequence[Setting], spelled: Sequence[str], drawn: str, baseline: str | None
) -> list[Note]:
    notes: list[Note] = []
    chunkings = list(dict.fromkeys(setting.chunking for setting in settings))
    if len(chunkings) > 1 and parse(drawn).declaration.over != "spans":
        notes.append(Note.of("sweep-by-texts"))
    notes += different_lengths(scores, spelled)
    if baseline is None:
        notes.append(Note.of("sweep-untested"))
    return notes + scored_notes(scores)


class _SettingScores:
    """The values of all settings as scores that can be compared."""

    def __init__(self, measure: Any, queries: tuple[str, ...], settings: Sequence[Setting], matrix: np.ndarray) -> None:
        self.measure, self.queries, self.settings, self.matrix = measure, queries, settings, matrix

    def _scores(self, name: str, values: np.ndarray) -> Scores:
        declared = self.measure.declaration
        column = Column(str(self.measure), values, summarise(self.measure, values), declared.average,
                        declared.higher_is_better)  # fmt: skip
        return Scores(name, self.queries, {str(self.measure): column})

    def against(self, baseline: str, seed: int) -> Comparison | None:
        """Each setting with another chunking or retriever against the baseline; k and budgets alone are not tested."""
        names = [setting.name for setting in self.settings]
        if baseline not in names:
            raise OptionError(
                f"no setting is named {baseline!r}; there are: {', '.join(map(ids.show, names[:12]))}"
                f"{', ...' * (len(names) > 12)}",
                hint=did_you_mean(baseline, names),
            )
        at = names.index(baseline)
        others = [i for i, setting in enumerate(self.settings) if setting.system != self.settings[at].system]
        if not others:
            return None
        systems = [self._scores(names[i], self.matrix[i]) for i in (at, *others)]
        return compare(systems, baseline=baseline, correction="holm", seed=seed, curves=False)

    def effects(self, baseline: str | None, seed: int) -> dict[str, Comparison]:
        """Chunkings, and retrievers, by their means over everything else that all of them have."""
        effects: dict[str, Comparison] = {}
        first = next((setting for setting in self.settings if setting.name == baseline), None)
        for factor, other in (("chunking", "retriever"), ("retriever", "chunking")):
            levels = list(dict.fromkeys(getattr(setting, factor) for setting in self.settings))
            having = [{getattr(s, other) for s in self.settings if getattr(s, factor) == level} for level in levels]
            common = set.intersection(*having)
            if len(levels) < 2 or not common:
                continue
            systems = []
            for level in levels:
                rows = [
                    i
                    for i, s in enumerate(self.settings)
                    if getattr(s, factor) == level and getattr(s, other) in common
                ]
                systems.append(self._scores(level, self.matrix[rows].mean(axis=0)))
            against = getattr(first, factor) if first is not None else None
            effects[factor] = compare(systems, baseline=against, correction="holm", seed=seed, curves=False)
        return effects


def _choice(
    table: Sequence[SweepRow], matrix: np.ndarray, cost: np.ndarray, bounds: tuple[float, float], seed: int
) -> ChosenSetting | None:
    """The best setting of one half of the questions on the other half."""
    size = matrix.shape[1]
    if size // 2 < FEW_QUESTIONS:
        return None
    order = np.random.default_rng(seed).permutation(size)
    half, other = order[: size // 2], order[size // 2 :]
    chosen, spent = matrix[:, half].mean(axis=1), cost[:, half].mean(axis=1)
    best = max(range(len(table)), key=lambda i: (chosen[i], -spent[i]))
    rest = matrix[best, other]
    interval = mean_interval(rest, low=bounds[0], high=bounds[1])
    return ChosenSetting(table[best].name, float(chosen[best]), float(rest.mean()), interval, len(other))
