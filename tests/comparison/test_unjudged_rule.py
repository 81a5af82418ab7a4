"""When a verdict stands although documents are unjudged."""

from __future__ import annotations

import pytest

from goldrank import Catalogue, Qrels, Run
from goldrank.comparison.unjudged_rule import unjudged_rule, verdict_stands
from goldrank.conventions import Convention
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import NO_CATALOGUE


def placed(grades: dict[str, int], catalogue: Catalogue = NO_CATALOGUE) -> pipeline.Placed:
    return pipeline.place(Qrels({"q": grades}), Run({"q": {"x": 1.0}}), Convention(overlap="allow"), catalogue)


@pytest.mark.parametrize(
    ("observed", "condensed", "stands"),
    [(0.04, 0.02, True), (0.04, 0.0199, False), (0.04, 0.3, True), (-0.04, -0.02, True), (-0.04, -0.019, False),
     (0.04, -0.04, False), (-0.04, 0.04, False)],
)  # fmt: skip
def test_half_of_the_difference_must_be_left(observed: float, condensed: float, stands: bool) -> None:
    assert verdict_stands(observed, condensed) is stands


def test_judgements_without_nonrelevant_documents_are_positives_only() -> None:
    assert unjudged_rule(placed({"a": 1, "b": 2})) == "positives-only"
    assert unjudged_rule(placed({"a": 1, "b": 0})) == "half"


def test_nearly_no_nonrelevant_document_is_none() -> None:
    """One of 21 is less than 5 %, one of 20 is not."""
    relevant = {f"d{i}": 1 for i in range(20)}
    assert unjudged_rule(placed({**relevant, "x": 0})) == "positives-only"
    del relevant["d0"]
    assert unjudged_rule(placed({**relevant, "x": 0})) == "half"


def test_documents_that_were_pooled_but_not_judged_do_not_count() -> None:
    """A grade below 0 is no judgement."""
    assert unjudged_rule(placed({"a": 1, "b": -1})) == "positives-only"


def test_a_catalogue_says_that_what_nobody_chose_is_not_relevant() -> None:
    assert unjudged_rule(placed({"a": 1, "b": 0}, Catalogue(train={"q": ["c"]}))) == "catalogue"
    assert unjudged_rule(placed({"a": 1, "b": 0}, Catalogue(["a", "b", "x"]))) == "catalogue"
