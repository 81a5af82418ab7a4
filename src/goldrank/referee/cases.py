"""The conformance kit: cases with known values, and the lines in which a program in any language gets them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from goldrank.base.errors import InputError, OptionError, did_you_mean

FORMAT = "goldrank-conformance"
VERSION = 1
Profile = Literal["lists", "scores"]
ABOUT_ORDER = (
    "extreme-scores", "near-ties", "negative-scores", "random-ties", "score-forms", "ties", "ties-across-k",
    "ties-unicode", "unsorted-input",
)  # fmt: skip
"""Classes that only a program that sorts by score can be asked about."""


@dataclass(frozen=True)
class ConformanceCase:
    """One case: what a program is given, which value is right, and what rivals would answer."""

    id: str
    measure: str
    name: str
    k: int | None
    options: Mapping[str, Any]
    policy: Mapping[str, str]
    kind: str
    """Its class."""
    is_collection: bool
    records: Sequence[Mapping[str, Any]]
    value: float
    why: str
    rivals: Mapping[str, float]
    """By convention, the value that it would give, where that is another one."""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> ConformanceCase:
        """A case of the file."""
        rivals = entry.get("rivals") or {}

        return cls(
            id=entry["id"],
            measure=entry["measure"],
            name=entry["name"],
            k=entry["k"],
            options=entry.get("options") or {},
            policy=entry.get("policy") or {},
            kind=entry["class"],
            is_collection=entry["level"] == "collection",
            records=entry["records"],
            value=float(entry["value"]),
            why=entry["why"],
            rivals={rival: float(value) for rival, value in rivals.items()},
        )

    def line(self, profile: Profile) -> str:
        """What the program reads: one line of JSON."""
        question: dict[str, Any] = {
            "id": self.id,
            "measure": self.measure,
            "name": self.name,
            "k": self.k,
            "options": dict(self.options),
            "policy": dict(self.policy),
        }
        records = [_record(record, profile) for record in self.records]
        if self.is_collection:
            question["records"] = records
        else:
            question |= {key: value for key, value in records[0].items() if key != "id"}

        return json.dumps(question, ensure_ascii=False, separators=(",", ":"))


def _record(record: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    returned = record["retrieved"]
    expected = {row["id"]: row.get("grade", 1) for row in record["expected"]}
    if profile == "scores":
        return {"id": record["id"], "retrieved": returned, "expected": expected}
    in_order = sorted(returned, key=lambda row: (row["score"], row["id"].encode()), reverse=True)
    return {"id": record["id"], "retrieved_ids": [row["id"] for row in in_order], "expected": expected}


@cache
def kit() -> Mapping[str, Any]:
    """The file of cases that goldrank comes with."""
    text = files("goldrank.referee").joinpath("conformance.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def cases_for(
    profile: Profile, measures: Iterable[str] = (), data: Mapping[str, Any] | None = None
) -> list[ConformanceCase]:
    """The cases of a profile, perhaps of some measures alone: by name (`R`) or by full name (`R@5`)."""
    if data is None:
        data = kit()
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise InputError(f"this is not a file of cases in version {VERSION}", code="newer-version")
    cases = [ConformanceCase.of(entry) for entry in data["cases"]]
    if profile == "lists":
        cases = [case for case in cases if case.kind not in ABOUT_ORDER]

    requested = {measure.casefold() for measure in measures}
    names = {name.casefold() for case in cases for name in (case.name, case.measure)}
    unknown_measures = sorted(requested - names)
    if unknown_measures:
        known_names = sorted({case.name for case in cases})
        hint = did_you_mean(unknown_measures[0], known_names) or f"There are: {', '.join(known_names)}."
        raise OptionError(f"there is no case of {unknown_measures[0]}", hint=hint, code="unknown-choice")
    if requested:
        cases = [case for case in cases if requested & {case.name.casefold(), case.measure.casefold()}]
    return cases
