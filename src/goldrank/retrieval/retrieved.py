"""What a retriever returned, question by question."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, overload

from goldrank import ids
from goldrank.data.run import Run
from goldrank.errors import InputError, as_list, one_of
from goldrank.io import objects
from goldrank.io.items import FAILED
from goldrank.io.text_values import retrieved_text
from goldrank.notes import Note
from goldrank.writing import write_whole


class Failure(NamedTuple):
    """A question that could not be retrieved for."""

    query: str
    question: str
    type: str
    text: str
    attempts: int


class RetrievalInterrupted(KeyboardInterrupt):
    """Ctrl-C while retrieving. `retrieved` holds what was done; the rest is among its failures."""

    def __init__(self, retrieved: Retrieved) -> None:
        self.retrieved = retrieved
        done = len(retrieved) - len(retrieved.failures)
        super().__init__(f"interrupted after {done:,} of {len(retrieved):,} questions")


class Retrieved(Sequence[Mapping[str, Any]]):
    """What a retriever returned: one record per question, in the order of the questions.

    A record has `query`, `question`, `retrieved`, `latency` (seconds of the attempt that succeeded) and all that
    the question came with. It can be evaluated like any other items. A question that failed has
    `retrieval_error` in place of `retrieved`: evaluating refuses it unless told failures="skip" or "zero".
    """

    def __init__(self, records: Sequence[Mapping[str, Any]], name: str = "retrieved") -> None:
        self._records = as_list(records, "records", Mapping, "mappings")
        self.name = name

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Retrieved: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Retrieved:
        return Retrieved(self._records[index], self.name) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The questions that failed, with the type and text of what was raised."""
        return tuple(
            Failure(record["query"], record["question"], error["type"], error["text"], error["attempts"])
            for record in self._records
            if (error := record.get(FAILED)) is not None
        )

    @property
    def latencies(self) -> tuple[float | None, ...]:
        """Seconds that each question took; None where it failed."""
        return tuple(record.get("latency") for record in self._records)

    @property
    def notes(self) -> tuple[Note, ...]:
        """How many questions failed, if any did."""
        failures = self.failures
        if not failures:
            return ()
        by_type = Counter(failure.type for failure in failures).most_common()
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in by_type)
        return (Note.of("failed-questions", count=len(failures), questions=len(self), kinds=kinds),)

    def __repr__(self) -> str:
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return f"<Retrieved {self.name!r}: {len(self):,} question{'' if len(self) == 1 else 's'}{failed}>"

    def run(self, *, failures: str = "error") -> Run:
        """The ids that were retrieved, as a run. Scores are the retriever's if they descend, else by rank."""
        one_of(failures, ("error", "skip", "zero"), "failures")
        if failures == "error" and self.failures:
            first = self.failures[0]
            reason = f"first '{ids.show(first.query)}': {first.type}: {ids.show(first.text, 200)}"
            hint = "Say failures='skip' to leave such questions out, or 'zero' if they count as not found."
            raise InputError(f"{self.notes[0]}; {reason}", where=self.name, hint=hint)
        kept = [record for record in self._records if FAILED not in record or failures == "zero"]
        rows: list[tuple[str, str, float]] = []
        for record in kept:
            query = record["query"]
            texts = [retrieved_text(entry, f"{self.name}: query '{ids.show(query)}'") for entry in record["retrieved"]]
            without_id = next((rank for rank, text in enumerate(texts, 1) if text.id is None), None)
            if without_id is not None:
                what = f"result {without_id} of query '{ids.show(query)}' has no id"
                hint = "Evaluate the texts, or have the retriever return ids: run_retriever(..., strings='ids')."
                raise InputError(what, where=self.name, hint=hint)
            scores = [text.score for text in texts if text.score is not None]
            if len(scores) < len(texts) or any(not a > b for a, b in pairwise(scores)):
                scores = [-float(rank) for rank in range(1, len(texts) + 1)]
            rows += [(query, str(text.id), score) for text, score in zip(texts, scores, strict=True)]
        return objects.run_from_rows(rows, self.name, [record["query"] for record in kept])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the records as JSON Lines, which can be evaluated like these."""
        write_whole(path, b"".join(map(_line, self._records)))


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, default=_as_json)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can say only by its number
        return json.dumps(record, default=_as_json).encode() + b"\n"


def _as_json(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else dict(value) if isinstance(value, Mapping) else str(value)
