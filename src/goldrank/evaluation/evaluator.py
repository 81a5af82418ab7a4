"""`Evaluator`: judgements and measures that are kept for many runs."""

from __future__ import annotations

from functools import cached_property
from typing import Unpack

from goldrank import conventions
from goldrank.base.frozen import Frozen
from goldrank.base.keywords import named_arguments_or
from goldrank.base.types import ConventionLike, JudgementsLike, MeasuresLike, Policies, RunLike
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Scores
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import (
    NO_CATALOGUE,
    Judgements,
    as_judgements,
    judgements_for,
    resolve_measures,
    usual_measures,
)
from goldrank.evaluation.rankings import score_runs
from goldrank.evaluation.short_runs import ShortRow, ShortRuns
from goldrank.measures import Measure


class Evaluator(Frozen):
    """Judgements and measures, prepared once for many runs: in training, in tuning, behind another tool's interface.

    Its values are those of `evaluate`, to the last bit.

    Parameters
    ----------
    qrels : judgements
        As for `evaluate`; they are read and copied now.
    measures : measures, optional
        "nDCG@10", a `Measure`, a function, or a list of these; by default the usual ones.
    convention : str or Convention
        Whose rules hold: "trec_eval-10" by default.
    **policies
        Policies that differ from the convention's, as for `evaluate`.

    Raises
    ------
    InputError
        If the judgements cannot be read.
    MeasureError
        If a measure is unknown, or cannot be measured with these judgements.
    OptionError
        If a policy or convention is not one of the choices.

    Examples
    --------
    >>> evaluator = Evaluator({"q1": {"d1": 1}, "q2": {"d5": 1}}, ["RR", "P@1"])
    >>> evaluator.mean({"q1": {"d1": 0.3, "d2": 0.7}})
    {'RR': 0.25, 'P@1': 0.0}
    >>> evaluator.per_query({"q1": {"d1": 0.3, "d2": 0.7}})["RR"]
    {'q1': 0.5, 'q2': 0.0}
    >>> evaluator.evaluate({"q1": {"d1": 0.3, "d2": 0.7}})["RR"]
    0.25
    """

    judgements: Judgements
    measures: tuple[Measure, ...]
    rules: Convention

    @named_arguments_or(conventions.POLICIES)
    def __init__(
        self,
        qrels: JudgementsLike,
        measures: MeasuresLike = None,
        *,
        convention: ConventionLike = "trec_eval-10",
        **policies: Unpack[Policies],
    ) -> None:
        rules = conventions.get(convention).with_policies(**policies)
        parsed_measures = resolve_measures(measures, rules, usual_measures(qrels))
        judgements = as_judgements(judgements_for(parsed_measures, qrels), rules)
        pipeline.check_asked(parsed_measures, judgements, rules)
        self._keep(judgements=judgements, measures=tuple(parsed_measures), rules=rules)

    def evaluate(self, run: RunLike) -> Scores:
        """Score a run.

        Parameters
        ----------
        run : run
            As for `evaluate`.

        Returns
        -------
        Scores

        Raises
        ------
        InputError
            If the run cannot be read, or does not match the judgements.
        """
        top = pipeline.wanted_top(self.measures, NO_CATALOGUE)
        request = pipeline.Asked(self.measures, self.rules, None, top)
        scores = score_runs(self.judgements, run, request, NO_CATALOGUE)
        assert isinstance(scores, Scores)
        return scores

    def mean(self, run: RunLike) -> dict[str, float]:
        """The summary of each measure, as `Scores.mean` has it: the fastest for a few queries in a dict.

        Parameters
        ----------
        run : run
            As for `evaluate`.

        Returns
        -------
        dict

        Raises
        ------
        InputError
            If the run cannot be read, or does not match the judgements.
        """
        rows = self.short_rows(run)
        if not rows:
            return dict(self.evaluate(run).mean)

        count = len(rows)
        if self.rules.missing == "zero":
            count = len(self.judgements)
        totals = rows[0].values
        for row in rows[1:]:
            totals = [total + value for total, value in zip(totals, row.values, strict=True)]
        return {name: total / count for name, total in zip(self._names, totals, strict=True)}

    def per_query(self, run: RunLike) -> dict[str, dict[str, float]]:
        """The values of each measure by query, as `Scores.per_query` has them.

        Parameters
        ----------
        run : run
            As for `evaluate`.

        Returns
        -------
        dict

        Raises
        ------
        InputError
            If the run cannot be read, or does not match the judgements.
        """
        rows = self.short_rows(run)
        if not rows:
            return {name: dict(values) for name, values in self.evaluate(run).per_query.items()}

        zeros: dict[str, float] = {}
        if self.rules.missing == "zero" and len(rows) < len(self.judgements):
            assert isinstance(self.judgements, Qrels)
            zeros = dict.fromkeys(self.judgements.arrays.queries, 0.0)
        return {
            name: {**zeros, **{row.query: row.values[column] for row in rows}}
            for column, name in enumerate(self._names)
        }

    def short_rows(self, run: object) -> list[ShortRow] | None:
        """The values of the judged queries of a run in a dict, if it is short; None leaves it to `evaluate`."""
        if self._short is None:
            return None
        return self._short.rows(run)

    @cached_property
    def _short(self) -> ShortRuns | None:
        if not isinstance(self.judgements, Qrels):
            return None
        return ShortRuns(self.judgements, self.measures, self.rules)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(str, self.measures))

    def __repr__(self) -> str:
        return f"Evaluator({self.judgements.name!r}, {', '.join(self._names)})"
