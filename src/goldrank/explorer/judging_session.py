"""Judgements of people: into the log, then into the values. A judgement is on the disk when the answer is sent."""

from __future__ import annotations

import hashlib
import random
import statistics
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, StoreError
from goldrank.comparison.holes import ToJudge
from goldrank.data.qrels import Grade
from goldrank.explorer import addresses, doc_page
from goldrank.explorer.session import Session, View
from goldrank.judging.log import JudgementLog
from goldrank.judging.log_events import PEOPLE, Entry
from goldrank.judging.log_merge import StandingJudgement, merged_grade

LEASE = 600.0
"""Seconds for which a document that was handed to a judge is not given to another."""
LAST = 3
"""Judgements of a judge that a page lists."""
LOOK = 0.5
"""Seconds until the log is checked again for judgements of other processes."""
CONFLICT = 409


class RefusedError(InputError):
    """A judgement that is not accepted; `status` is the HTTP status."""

    def __init__(self, what: str, status: int = 400, **more: Any) -> None:
        super().__init__(what)
        self.status = status
        self.more = more


@dataclass(frozen=True)
class Before:
    """Values when a judge began, which pages show beside those of now."""

    means: Mapping[tuple[str, str], float]
    bounds: Mapping[tuple[str, str], tuple[float, float] | None]
    values: Mapping[tuple[str, str], Any]


class Judging:
    """The log of a session, and the judgements that stand in it."""

    def __init__(self, session: Session, path: str, judge: str, per_pair: int = 1) -> None:
        self.session, self.path, self.judge, self.per_pair = session, path, judge, per_pair
        self._log = JudgementLog(path)
        self._lock = threading.RLock()
        self._events: dict[tuple[str, str], dict[str, list[Entry]]] = {}
        self._judged: dict[str, dict[str, None]] = {}
        """The documents of each query that have events, in the order of the first."""
        self._by_judge: dict[str, list[Entry]] = {}
        self._leases: dict[tuple[str, str], tuple[str, float]] = {}
        self._befores: dict[str, Before] = {}
        self._seen = 0
        self._looked = 0.0
        self.refresh()

    # The judgements that stand.

    def look(self) -> None:
        """Read what other processes added to the log, every half a second at most."""
        now = time.monotonic()
        if now - self._looked >= LOOK:
            self._looked = now
            if self._log.last != self._seen:
                self.refresh()

    def refresh(self) -> None:
        """Read what was added to the log, here or by another process."""
        with self._lock:
            queries: dict[str, None] = {}
            for event in list(self._log.entries(since=self._seen)):
                self._events.setdefault(event.pair, {}).setdefault(event.judge, []).append(event)
                self._judged.setdefault(event.query, {})[event.doc] = None
                self._by_judge.setdefault(event.judge, []).append(event)
                self._seen = event.seq
                if event.query in self.session.numbers:
                    queries[event.query] = None

            for query in queries:
                self.session.set_grades(query, self.grades(query), self._seen)

            self.session.seq = self._seen

    def grades(self, query: str) -> dict[str, Grade]:
        """The judgements of a query: those of the log where there are any, else those of the file."""
        grades = dict(self.session.qrels.text[query])
        for doc in self._judged.get(query, ()):
            by_judge = self.people_grades(query, doc)
            if by_judge:
                grades[doc] = merged_grade(by_judge, "median", None, self.path)
        return grades

    def standing(self, query: str, doc: str) -> dict[str, StandingJudgement]:
        """The standing judgement of each judge on a document."""
        return {judge: StandingJudgement.of(events) for judge, events in self._events.get((query, doc), {}).items()}

    def people_grades(self, query: str, doc: str) -> dict[str, Grade]:
        """The grades that people gave a document, by judge."""
        grades: dict[str, Grade] = {}
        for judge, judgement in self.standing(query, doc).items():
            if judgement.kind in PEOPLE and judgement.grade is not None:
                grades[judge] = judgement.grade
        return grades

    def last_seq(self, judge: str, query: str, doc: str) -> int:
        """The number of a judge's last event on a document; 0 if there is no event."""
        events = self._events.get((query, doc), {}).get(judge)
        if events:
            return events[-1].seq
        return 0

    # New judgements.

    def add(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Add one judgement from a page: when this returns, it is in the log and in all values."""
        session = self.session
        if not isinstance(body, Mapping):
            raise RefusedError("a judgement is a JSON object")
        if body.get("data") != session.data_hash:
            raise RefusedError("the server has other data now", CONFLICT, code="other-data", data=session.data_hash)

        action = _text(body, "action", "grade")
        judge = self.named(_text(body, "judge", self.judge))
        with self._lock:
            self._begin(judge)
            if action == "undo":
                return self._undo(judge)
            if action == "withdraw_all":
                return self._withdraw(judge, body)

            query = addresses.find_id(_text(body, "query"), session.numbers)
            if query is None:
                raise RefusedError("there is no such query")
            doc = addresses.find_id(_text(body, "doc"), doc_page.known_documents(session, query))
            if doc is None:
                raise RefusedError("there is no such document")

            grade = None
            if action == "grade":
                grade = body.get("grade")
                if grade not in [criterion.grade for criterion in session.offered]:
                    raise RefusedError(f"{grade!r:.40} is not one of the grades that are offered")
            event = Entry(
                judge=judge,
                query=query,
                doc=doc,
                action=action,
                grade=grade,
                comment=_text(body, "comment"),
                key=_text(body, "key"),
                criteria=self._criteria(),
                seen=self._shown(query, doc),
                whole=bool(body.get("whole")) and self._is_one_piece(doc),
                blind=bool(body.get("blind")),
                seconds=_seconds(body.get("seconds")),
                knew=self._knew(body, judge, query, doc),
                data=session.data_hash,
            )
            return self._added(event)

    def _added(self, event: Entry) -> dict[str, Any]:
        try:
            seq = self._log.add_entry(event).seq
        except StoreError as error:
            if error.code == "newer-judgement":
                self.refresh()
                grade, seq = None, 0
                standing = self.standing(event.query, event.doc).get(event.judge)
                if standing:
                    grade, seq = standing.grade, standing.seq
                raise RefusedError(error.what, CONFLICT, code="newer-judgement", theirs=grade, knew=seq) from None
            raise

        self._leases.pop(event.pair, None)
        self.refresh()
        return {"seq": seq, "doc": addresses.spelled(event.doc), "query": addresses.spelled(event.query)}

    def _undo(self, judge: str) -> dict[str, Any]:
        old = self._log.undo(judge)
        if old is None:
            raise RefusedError("there is nothing to take back")
        self.refresh()
        return {
            "seq": self._seen,
            "undone": old.number,
            "doc": addresses.spelled(old.doc),
            "query": addresses.spelled(old.query),
        }

    def _withdraw(self, judge: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Take back all judgements of a judge, or all after one of them; the name is typed again to confirm it."""
        if _text(body, "confirm") != judge:
            raise RefusedError("type the judge's name to confirm it")
        since = body.get("since") or 0
        if not isinstance(since, int) or isinstance(since, bool) or since < 0:
            raise RefusedError("since is the number of a judgement")
        old = self._log.withdraw(judge, since=since)
        if not old:
            raise RefusedError("there is nothing to take back")
        self.refresh()
        return {"seq": self._seen, "withdrawn": len(old)}

    @staticmethod
    def named(name: str) -> str:
        """The name without outer spaces; raise if no judge can have it."""
        name = name.strip()
        if not name or not name.isprintable() or len(name) > 100:
            raise RefusedError("the judge has no name, or one that cannot be shown")
        return name

    def _shown(self, query: str, doc: str) -> str:
        """The hash of the texts that the judge saw."""
        text = self.session.texts.get(doc)
        shown = (self.session.text_of(query), *(text or ("", "")))
        return hashlib.sha256("\0".join(shown).encode("utf-8", "surrogatepass")).hexdigest()

    def _is_one_piece(self, doc: str) -> bool:
        """Whether a page shows the whole text at once."""
        text = self.session.texts.get(doc)
        return text is not None and doc_page.piece_count(text) == 1

    def _knew(self, body: Mapping[str, Any], judge: str, query: str, doc: str) -> int | None:
        """The judge's last event on the document that the page knew: its number, or the last one when it was made."""
        knew, as_of = body.get("knew"), body.get("as_of")
        if isinstance(knew, int):
            return knew
        if not isinstance(as_of, int):
            return None
        events = self._events.get((query, doc), {}).get(judge, [])
        return max((event.seq for event in events if event.seq <= as_of), default=0)

    def _criteria(self) -> str:
        return "\n".join(
            f"{criterion.grade:g}\t{criterion.name}\t{criterion.sentence}" for criterion in self.session.offered
        )

    # The queue.

    def queue(self, judge: str, view: View, query: str | None = None) -> list[ToJudge]:
        """The documents left for a judge: not judged or skipped by the judge, nor judged by enough others."""
        with self._lock:
            now = time.monotonic()
            left = []
            for document in self.session.queue_all(view):
                if query is not None and document.query != query:
                    continue
                pair = (document.query, document.doc)
                if pair not in self._events and pair not in self._leases:
                    left.append(document)  # the usual case
                    continue

                standing = self.standing(*pair)
                mine = standing.get(judge)
                if mine is not None and mine.state not in ("withdrawn", "open"):
                    continue
                judge_count = sum(judgement.grade is not None for judgement in standing.values())
                holder, since = self._leases.get(pair, ("", -LEASE))
                judge_count += holder not in ("", judge) and now - since < LEASE
                if judge_count < self.per_pair:
                    left.append(document)

            return left

    def next(self, judge: str, view: View, blind: bool, query: str | None = None) -> tuple[ToJudge | None, int]:
        """The next document for a judge, reserved for ten minutes, and how many are left with it.

        With `blind`, documents are shuffled within a query.
        """
        left = self.queue(judge, view, query)
        if not left:
            return None, 0

        first = left[0]
        if blind:
            of_query = list(takewhile(lambda document: document.query == first.query, left))
            of_query.sort(key=lambda document: ids.encode(document.doc))
            random.Random(f"{judge}\0{first.query}").shuffle(of_query)  # noqa: S311 - an order, not a secret
            first = of_query[0]
        self._leases[first.query, first.doc] = (judge, time.monotonic())
        return first, len(left)

    # What judgements changed.

    def _begin(self, judge: str) -> None:
        """Keep the values at the moment when a judge begins; there are none where people judge from zero."""
        if judge not in self._befores and self.session.is_judged:
            means, bounds, values = {}, {}, {}
            for system in self.session.systems:
                for measure in self.session.measures:
                    key = (system.name, str(measure))
                    means[key], bounds[key] = system.mean(measure), system.mean_bounds(measure)
                    values[key] = system.values[str(measure)].copy()
            self._befores[judge] = Before(means, bounds, values)

    def before(self, judge: str) -> Before | None:
        """The values when a judge began, None if the judge did nothing since the start."""
        return self._befores.get(judge)

    def last(self, judge: str, count: int = LAST) -> list[Entry]:
        """A judge's last events that were not taken back, the newest first."""
        events: list[Entry] = []
        looked_at: set[tuple[str, str]] = set()
        for event in reversed(self._by_judge.get(judge, [])):
            if event.action not in ("grade", "skip", "cannot_tell") or event.pair in looked_at:
                continue

            looked_at.add(event.pair)
            standing = StandingJudgement.of(self._events[event.pair][judge])
            if standing.state not in ("withdrawn", "open"):
                events.append(replace(event, grade=standing.grade))
            if len(events) == count:
                break
        return events

    def done(self, judge: str) -> int:
        """How many documents a judge graded."""
        return sum(
            StandingJudgement.of(by_judge[judge]).grade is not None
            for by_judge in self._events.values()
            if judge in by_judge
        )

    def median_seconds(self, judge: str) -> float | None:
        """The median time of a judgement."""
        seconds = [event.seconds for event in self._by_judge.get(judge, []) if event.seconds is not None]
        if seconds:
            return statistics.median(seconds)
        return None

    def judges(self) -> list[str]:
        """The names of all judges."""
        return sorted(self._by_judge)

    def conflicts(self) -> list[tuple[str, str, dict[str, StandingJudgement]]]:
        """Documents on which people differ, the widest difference first."""
        spreads: dict[tuple[str, str], float] = {}
        for pair in self._events:
            grades = self.people_grades(*pair).values()
            if len(set(grades)) > 1:
                spreads[pair] = max(grades) - min(grades)

        pairs = sorted(spreads, key=lambda pair: (-spreads[pair], ids.encode(pair[0]), ids.encode(pair[1])))
        return [(query, doc, self.standing(query, doc)) for query, doc in pairs]

    def table(self) -> dict[str, dict[tuple[str, str], Grade]]:
        """The grades by judge and pair."""
        table: dict[str, dict[tuple[str, str], Grade]] = {}
        for pair in self._events:
            for judge, grade in self.people_grades(*pair).items():
                table.setdefault(judge, {})[pair] = grade
        return table

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def _text(body: Mapping[str, Any], name: str, usual: str = "") -> str:
    value = body.get(name)
    if value is None or value == "":
        return usual
    if not isinstance(value, str):
        raise RefusedError(f"{name} is not text")
    return value


def _seconds(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 <= value < 86_400:
        return round(float(value), 1)
    return None
