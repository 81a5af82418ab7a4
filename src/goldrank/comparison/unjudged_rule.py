"""When does a verdict stand although some documents are unjudged? One rule for comparisons, leaderboards and gates.

Unjudged documents count as not relevant in what is observed. The other extreme takes them out of both rankings
(condensed lists). In simulations the true difference lies between the two. So a verdict stands by the **half rule**:
the observed difference is significant, and the condensed one has its direction and at least half its size.

Condensing needs judged documents that are not relevant. Where there are (nearly) none, it puts every relevant document
first, and so says nothing: MS MARCO, gold sets of questions, clicks and purchases. There unjudged documents count as
not relevant, and a note says so. The same holds for ratings by users, and where a catalogue or training data is given:
what users did not choose is unjudged.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from goldrank.data.placements import Placements
from goldrank.evaluation.inputs import NO_CATALOGUE
from goldrank.evaluation.pipeline import Placed

UnjudgedRule: TypeAlias = Literal["half", "positives-only", "catalogue", "ratings"]
"""How unjudged documents are taken: by the half rule, or as not relevant because of the judgements or a catalogue."""

RATINGS = ("ratings-cut", "ratings-as-grades")
"""Codes of notes on judgements that are ratings by users."""

NEARLY_NONE = 0.05
"""With a smaller share of judged documents that are not relevant, judgements are positives only."""
HALF = 0.5


def unjudged_rule(placed: Placed) -> UnjudgedRule:
    """How the unjudged documents of a placed run, and of all runs with its judgements, are taken."""
    if placed.catalogue is not NO_CATALOGUE:
        return "catalogue"
    if any(note.code in RATINGS for note in placed.qrels.notes):
        return "ratings"
    if is_positives_only(placed.placements):
        return "positives-only"
    return "half"


def is_positives_only(placements: Placements) -> bool:
    """Whether (nearly) all judged documents are relevant."""
    judged = placements.judged[placements.judged >= 0]
    nonrelevant = int(np.count_nonzero(judged < 1))
    return nonrelevant < NEARLY_NONE * len(judged) or not nonrelevant


def verdict_stands(observed: float, condensed: float) -> bool:
    """Whether a significant difference stands: without unjudged documents it has the same sign and half the size.

    >>> verdict_stands(0.04, 0.02), verdict_stands(0.04, 0.019), verdict_stands(-0.04, 0.04)
    (True, False, False)
    """
    if observed < 0:
        return condensed <= HALF * observed
    return condensed >= HALF * observed
