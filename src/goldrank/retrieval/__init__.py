"""Ask a retriever every question: several at a time, again after a failure, with the time that each took."""

from __future__ import annotations

from goldrank.retrieval.retrieved import Failure, RetrievalInterrupted, Retrieved
from goldrank.retrieval.runner import run_retriever

__all__ = ["Failure", "RetrievalInterrupted", "Retrieved", "run_retriever"]
