"""Difference between systems: `Comparison`, and what it says in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, islice, product
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from goldrank.base.errors import InputError, MeasureError, NotMeasuredError, did_you_mean
from goldrank.base.notes import Note
from goldrank.base.types import DocumentsLike, MeasureLike
from goldrank.base.writing import new_folder
from goldrank.comparison.curves import curves_of_systems
from goldrank.comparison.intervals import Interval, percent
from goldrank.comparison.pair import Pair
from goldrank.comparison.paired import TESTS
from goldrank.comparison.settings import Statistics
from goldrank.comparison.slice_table import SliceTable
from goldrank.data.documents import Document
from goldrank.data.queries import Queries
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import Part
from goldrank.evaluation.pipeline import Placed
from goldrank.io.by_id.document_files import read_documents
from goldrank.measures import parse

if TYPE_CHECKING:
    from goldrank.comparison.design import Design
    from goldrank.comparison.leaderboard import Leaderboard


def letters_of(systems: int) -> list[str]:
    """A short mark for each of some systems: a to z, then aa, ab and so on."""
    marks = (letters for size in count(1) for letters in product(ascii_lowercase, repeat=size))
    return ["".join(mark) for mark in islice(marks, systems)]


@dataclass(frozen=True)
class Summary:
    """One measure of one system."""

    mean: float
    interval: Interval
    shown: float
    """The measure's own summary: the mean, or a sum or geometric mean where that is what the measure reports."""
    average: str = "mean"
    n: int = 1

    @property
    def shown_interval(self) -> Interval:
        """The interval on the scale of `shown`."""
        if self.average == "geometric":
            return Interval(*map(math.exp, self.interval))
        if self.average == "sum":
            return Interval(*(end * self.n for end in self.interval))
        return self.interval


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Several systems on the same queries: means with intervals, and each pair's difference.

    >>> from goldrank import compare
    >>> qrels = {f"q{i}": {"d": 1, "x": 0} for i in range(8)}
    >>> first, second = {q: ["d"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> pair = compare(qrels, {"new": first, "old": second}, "RR", baseline="old")["RR", "old", "new"]
    >>> pair.difference, pair.p == 2 / 2**8, pair.verdict
    (0.5, True, 'better')
    """

    own_forms: ClassVar[Forms] = {
        "markdown": Form("tables for a pull request or a wiki", "goldrank.report.comparison:markdown_text", (".md",)),
        "latex": Form("booktabs tables for a paper", "goldrank.report.comparison:latex_text", (".tex",)),
        "html": Form("a page with charts and an explorer", "goldrank.report.comparison_page:render", (".html",)),
    }

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    queries: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    """Per measure one row per system and one column per query; NaN where a query does not count."""
    summaries: Mapping[tuple[str, str], Summary]
    """By measure and system."""
    pairs: tuple[Pair, ...]
    baseline: str | None
    statistics: Statistics
    scores: ScoresByRun
    """The scores of every run that went into it."""
    systems: tuple[Scores, ...]
    """The scores of each system; the means of its runs where it was run several times."""
    named_primary: str | None = None
    """The measure that decides, if one was named; then the others are secondary."""
    notes: tuple[Note, ...] = ()
    slices: SliceTable = field(default_factory=SliceTable)
    """By attribute and value, if there are slices: `slices["kind"]["short"]["AP", "a", "b"]` is a difference."""
    placed: tuple[Placed, ...] = field(default=(), compare=False)
    """Where each run put the judged documents, if it was evaluated here; needed to say which of them moved."""
    design: Design | None = None
    """Clusters and weights of the queries; None if each query is its own and all weigh the same."""
    replicates: Mapping[str, tuple[Scores, ...]] = field(default_factory=dict)
    """The scores of each system's runs, where systems were run several times."""
    known: Queries | None = None
    """What is known of queries."""
    documents: Mapping[str, Document] = field(default_factory=dict)
    """Judged documents and those to judge first, as far as their texts are known."""

    @overload
    def __getitem__(self, key: str) -> tuple[Pair, ...]: ...
    @overload
    def __getitem__(self, key: tuple[str, str, str]) -> Pair: ...
    def __getitem__(self, key: str | tuple[str, str, str]) -> tuple[Pair, ...] | Pair:
        """The pairs of a measure, or the pair (measure, a, b), whose difference is b minus a."""
        if not isinstance(key, tuple):
            return tuple(self.of(self.measure(key)))
        if len(key) != 3:
            hint = "A pair is named by its measure and two systems: comparison['AP', 'a', 'b']."
            raise NotMeasuredError(f"{key!r:.80} names no pair", hint=hint, code="no-such-pair")

        measure, a, b = key
        name = self.measure(measure)
        for pair in self.pairs:
            if (pair.measure, pair.a, pair.b) == (name, a, b):
                return pair

        raise self._no_pair(name, a, b)

    def _no_pair(self, measure: str, a: str, b: str) -> NotMeasuredError:
        for run in (a, b):
            if run not in self.runs:
                problem = f"there is no system {run!r:.80}; there are: {', '.join(self.runs)}"
                return NotMeasuredError(problem, hint=did_you_mean(str(run), self.runs), code="no-such-pair")

        if any((pair.a, pair.b) == (b, a) for pair in self.pairs):
            problem = f"{a!r} and {b!r} were compared in the other order"
            hint = f"comparison[{measure!r}, {b!r}, {a!r}] is {a} minus {b}; compare(..., baseline={a!r}) turns it."
            return NotMeasuredError(problem, hint=hint, code="no-such-pair")

        problem = f"{a!r} and {b!r} were not compared: {self.baseline!r} is the baseline of all pairs"
        return NotMeasuredError(problem, hint="Without baseline= all pairs are compared.", code="no-such-pair")

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __contains__(self, measure: object) -> bool:
        try:
            self.measure(measure)
        except MeasureError:
            return False
        return True

    @property
    def pair(self) -> Pair:
        """The pair of two systems by the primary measure.

        Raises
        ------
        InputError
            If more than two systems were compared.
        """
        pairs = self.of(self.primary)
        if len(pairs) == 1:
            return pairs[0]
        hint = "Name one: comparison['AP', 'a', 'b'], or take all of a measure: comparison['AP']."
        raise InputError(f"there are {len(pairs):,} pairs of systems, not one", hint=hint, code="several-pairs")

    def measure(self, given: object) -> str:
        """A measure's full name, from any of its spellings."""
        name = str(given)
        if name in self.measures:
            return name
        for scores in self.systems:
            if name in scores and scores.spelled(name) in self.measures:
                return scores.spelled(name)
        name = str(parse(name))
        if name not in self.measures:
            hint = did_you_mean(name, self.measures)
            message = f"{name} was not compared; there are: {', '.join(self.measures)}"
            raise NotMeasuredError(message, hint=hint, code="not-compared")
        return name

    def of(self, measure: str) -> list[Pair]:
        """The pairs of one measure."""
        return [pair for pair in self.pairs if pair.measure == measure]

    def best(self, measure: MeasureLike | None = None) -> tuple[str, ...]:
        """The systems with the best mean; more than one if they are equal to four decimals, as shown.

        Parameters
        ----------
        measure : measure, optional
            By default the primary one.

        Returns
        -------
        tuple of str
            Nothing if all are equal, or if the measure is a diagnostic.
        """
        name = self.primary
        if measure is not None:
            name = self.measure(measure)
        if any(pair.role == "diagnostic" for pair in self.of(name)):
            return ()
        means = {run: round(self.summaries[name, run].mean, 4) for run in self.runs}
        defined = [mean for mean in means.values() if not math.isnan(mean)]
        if len(set(defined)) < 2:
            return ()
        top = min(defined)
        if self.higher_is_better(name):
            top = max(defined)
        return tuple(run for run, mean in means.items() if mean == top)

    @property
    def primary(self) -> str:
        """The measure that the verdict is about: the one that was named, or the first."""
        return self.named_primary or self.measures[0]

    def leaderboard(self, measure: MeasureLike | None = None) -> Leaderboard:
        """The systems in order by one measure, with all pairs of it corrected together.

        Parameters
        ----------
        measure : measure, optional
            By default the primary one.

        Returns
        -------
        Leaderboard

        Raises
        ------
        OptionError
            If the measure is a diagnostic, by which no system is better.
        """
        from goldrank.comparison.leaderboard import leaderboard

        return leaderboard(self, measure)

    def with_documents(self, documents: DocumentsLike) -> Comparison:
        """This comparison with the texts of documents, which reports then show.

        Parameters
        ----------
        documents : Documents, path, data frame, mapping or function
            Texts or titles by document id.

        Returns
        -------
        Comparison

        Raises
        ------
        InputError
            If none of the documents has a text, or the scores were loaded and do not know their documents.
        """
        doc_ids = {document.doc for pair in self.pairs for document in pair.judge_first}
        if self.placed:
            doc_ids.update(self.placed[0].qrels.docs)
        if not doc_ids:
            message = "scores do not tell which documents were judged; documents has no meaning for them"
            raise InputError(message, hint="Compare scores that were made now.", code="no-meaning-for-scores")
        return replace(self, documents=read_documents(documents).some(doc_ids))

    @property
    def is_explained(self) -> bool:
        """Whether scores of texts were made now, so that it is known what each text covers."""
        return bool(self.systems) and all(system.explainer is not None for system in self.systems)

    def question(self, query: str) -> str:
        """The text of a query; '' if it is not known."""
        text = self.texts.get(query, "")
        if not text and self.is_explained:
            return self.systems[0].explain(query).question
        return text

    def not_covered(self, run: str, query: str) -> tuple[str, ...]:
        """The references of a question that no text of a system covers; () unless `is_explained`.

        Texts count as far as the measure that decides reaches: for Cover@3 the first three.
        """
        if not self.is_explained:
            return ()
        scores = next(system for system in self.systems if system.run == run)
        explanation = scores.explain(query)
        reach = math.inf
        tail = self.primary.rpartition("@")[2]
        if tail.isdigit():
            reach = int(tail)
        missed = [
            reference
            for reference in (*explanation.covered, *explanation.missed)
            if min(reference.by, default=math.inf) > reach or not reference.by
        ]
        return tuple("".join(part.text for part in reference.alternatives[0]) for reference in missed)

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of the queries, as far as they are known."""
        if self.known is None or not self.known.has("text"):
            return {}
        texts = self.known.column("text")
        return {query: texts[query] for query in self.queries if query in texts}

    @cached_property
    def curves(self) -> Mapping[str, Mapping[str, tuple[tuple[float, float], ...]]]:
        """Values over cut-offs ('nDCG') or recall levels ('IPrec'), by system."""
        return curves_of_systems(self.scores, self.systems)

    def higher_is_better(self, measure: str) -> bool:
        """Whether more of this measure is better."""
        return all(scores.columns[measure].higher_is_better for scores in self.systems if measure in scores.columns)

    @property
    def letters(self) -> dict[str, str]:
        """A short mark for each system: a to z, then aa, ab and so on."""
        return dict(zip(self.runs, letters_of(len(self.runs)), strict=True))

    def beats(self, measure: str, run: str) -> list[str]:
        """The systems that a system is clearly better than.

        Parameters
        ----------
        measure : str
            A measure of the comparison.
        run : str
            The name of the system.

        Returns
        -------
        list of str
            The letters of the others, as `letters` has them.
        """
        pairs = self.of(measure)
        beaten = {pair.a for pair in pairs if pair.b == run and pair.verdict == "better"}
        beaten |= {pair.b for pair in pairs if pair.a == run and pair.verdict == "worse"}
        return [letter for other, letter in self.letters.items() if other in beaten]

    @property
    def method(self) -> str:
        """How the comparison was made, in a sentence."""
        s = self.statistics
        test = TESTS[s.test].split(":")[0]
        draws = ""
        if s.test == "randomization":
            test += " (exact where at most 13 queries differ)"
            draws = f"; {s.draws():,} flips, seed {s.seed}"
        if any(pair.how == "replicates" for pair in self.pairs):
            test = "t test over runs and queries"

        design = ""
        if self.design is not None:
            design = f" on {self.design.words}"

        families = [self._family_words(role) for role in ("", "primary", "secondary")]
        corrections = "; ".join(filter(None, families)) or "of diagnostics only"
        return f"{test}{design}, {corrections}, alpha {s.alpha:g}{draws}"

    def _family_words(self, role: str) -> str:
        """How the family of rows with this role was corrected, and what that does to its intervals."""
        pairs = [pair for pair in self.pairs if pair.role == role]
        if not pairs:
            return ""

        s, n = self.statistics, len(pairs)
        rows = f"{n:,} {role} comparison{'s' * (n != 1)}".replace("  ", " ")
        correction = s.used_correction
        if any(pair.how == "replicates" for pair in pairs) and correction in ("max-t", "tukey"):
            correction = "holm"

        words = f"corrected over {rows} by {correction}"
        if correction == "none" or n == 1:
            words = f"{rows}, not corrected"
        elif correction == "tukey":
            words = f"{rows}, corrected measure by measure by randomised Tukey HSD"

        quantiles = sorted({round(pair.critical, 2) for pair in pairs if math.isfinite(pair.critical)})
        if not quantiles:
            return words

        simultaneous = ""
        if n > 1 and correction not in ("none", "bh"):
            simultaneous = "simultaneous "
        bounded = ""
        if s.interval == "bounded":
            bounded = " bounded"
        t = f"{quantiles[0]:.2f}"
        if len(quantiles) > 1:
            t += f" to {quantiles[-1]:.2f}"
        return f"{words}, {simultaneous}{percent(s.level)}{bounded} intervals (t = {t})"

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.report.comparison import charts, parts

        return [*parts(self), *charts(self)]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the single queries' values, as plain Python values."""
        systems = []
        for (measure, run), summary in self.summaries.items():
            interval = list(summary.shown_interval)
            record = {"measure": measure, "run": run, "mean": summary.mean, "summary": summary.shown}
            systems.append({**record, "interval": interval})
        slices = None
        if self.slices or self.slices.notes:
            slices = self.slices.to_dict()
        notes = [note.to_dict() for note in self.notes]

        return {
            "format": "goldrank-comparison",
            "version": 4,
            "runs": list(self.runs),
            "measures": list(self.measures),
            "baseline": self.baseline,
            "queries": len(self.queries),
            "method": self.method,
            "statistics": {**vars(self.statistics), "correction": self.statistics.used_correction},
            "primary": self.primary,
            "systems": systems,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "slices": slices,
            "notes": notes,
            **_signature_field(self.signatures),
        }

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signatures of the runs, each once."""
        return self.scores.signatures

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each measure and pair of systems."""
        return [pair.row() for pair in self.pairs]

    def save_scores(self, folder: str | Path) -> list[Path]:
        """Each run's scores as a file of the folder, from which `compare` makes the comparison again."""
        return save_each(list(self.scores.values()), folder)

    @property
    def words(self) -> str:
        """What the primary measure says: of two systems which is better, of more which may be best."""
        pairs = self.of(self.primary)
        if len(pairs) == 1 or pairs[0].role == "diagnostic":
            return pairs[0].words
        return self.leaderboard(self.primary).words

    def __repr__(self) -> str:
        runs = ", ".join(map(repr, self.runs[:3])) + ", ..." * (len(self.runs) > 3)
        return f"Comparison({runs}, {len(self.queries):,} queries, {', '.join(self.measures)})"


def save_each(scores_of_systems: Sequence[Scores], folder: str | Path) -> list[Path]:
    """The scores of several systems as files of a folder, numbered and named."""
    target = new_folder(folder)
    paths = []
    for i, scores in enumerate(scores_of_systems, 1):
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in scores.run)[:80].strip(".")
        paths.append(target / f"{i:02d}-{name or 'run'}.json")
        scores.save(paths[-1])
    return paths


def _signature_field(signatures: tuple[str, ...]) -> dict[str, str]:
    """The signature that all runs share, as a field; an empty dict if they share none."""
    if len(signatures) == 1:
        return {"signature": signatures[0]}
    return {}
