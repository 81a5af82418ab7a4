"""Ask a retriever every question: several at a time, again after a failure, with the time that each took."""

from __future__ import annotations

from goldrank.retrieval.runner import RetrievalInterrupted, run_retriever

__all__ = ["RetrievalInterrupted", "run_retriever"]
