"""Who judged what, kept for good: the log of judgements, how judges are merged, and how far they agree."""

from goldrank.judgements.log import JudgementLog as JudgementLog
from goldrank.judgements.records import Event as Event
