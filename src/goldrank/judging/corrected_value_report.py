"""One value that was corrected by people's judgements, as a sentence."""

from __future__ import annotations

from goldrank.data.table import Part, Sentence
from goldrank.judging.corrected import CorrectedValue


def parts(corrected: CorrectedValue) -> list[Part]:
    """The sentence."""
    return [Sentence(f"{corrected.words}.", corrected.verdict or "")]
