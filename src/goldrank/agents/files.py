"""Files with several searches for each question at the prompt, and BrowseComp-Plus's own numbers of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from goldrank.agents.browsecomp import BrowseCompScores, browsecomp_scores
from goldrank.agents.searches import COLUMNS, SearchScores, score_searches
from goldrank.base.errors import InputError, OptionError, did_you_mean
from goldrank.data.scores import Column
from goldrank.io import read_qrels

if TYPE_CHECKING:
    from goldrank.cli.readers import FileRequest

_SPELLED = re.compile(r"(1/)?(?P<name>\w+)(?:\((?P<options>[^()]*)\))?(?:@(?P<k>\d+))?")
NAMES = {name.removeprefix("1/"): name for name in COLUMNS}
"""By the plain name of a measure, the name of its column."""


def read(request: FileRequest) -> list[Any]:
    """The scores of each file; where records do not say what is expected, the first file holds judgements."""
    files = list(request.files)
    gold = None
    if len(files) > 1 and not _has_searches(files[0][1]):
        gold = read_qrels(files.pop(0)[1])

    if request.reader == "browsecomp-plus":
        if gold is None:
            raise InputError("nothing says which documents are evidence", hint="Give QRELS before the run files.")
        return [_browsecomp(name, path, gold) for name, path in files]
    return [_searches(name, path, gold, request.measures) for name, path in files]


def _has_searches(path: str) -> bool:
    from goldrank.cli.readers import first_record

    beginning = first_record(path)
    return any(key in beginning for key in (b'"searches"', b'"tool_call_counts"', b"openinference.span.kind"))


def _browsecomp(name: str | None, path: str, gold: Any) -> BrowseCompScores:
    result = browsecomp_scores(path, gold)
    return replace(result, run=name or PurePath(path).stem)


def _searches(name: str | None, path: str, gold: Any, measures: tuple[str, ...]) -> SearchScores:
    run = name or PurePath(path).stem
    plain = replace(score_searches(path, gold), run=run)
    if not measures:
        return plain

    columns: dict[str, Column] = {}
    for measure in measures:
        asked = SearchMeasure.parse(measure)
        result = score_searches(path, gold, k=asked.k, tokens=asked.tokens, cover=asked.cover)
        column = result.scores.columns[asked.column]
        name = measure
        if asked.column.startswith("1/") and not measure.startswith("1/"):
            name = f"1/{measure}"
        columns[name] = replace(column, measure=name)
    return replace(plain, chosen=columns)


@dataclass(frozen=True)
class SearchMeasure:
    """A measure of searches as it is spelled at the prompt: UnionRecall@10, SearchesToCover(0.8)."""

    name: str
    k: int | None = None
    tokens: float | None = None
    cover: float = 1.0

    @classmethod
    def parse(cls, text: str) -> SearchMeasure:
        """The measure of a text."""
        matched = _SPELLED.fullmatch(text)
        if matched is None or matched["name"] not in NAMES:
            hint = did_you_mean(text, NAMES) or f"There are: {', '.join(NAMES)}."
            raise OptionError(f"{text!r:.80} is not a measure of searches", hint=hint, code="unknown-measure")

        k = None
        if matched["k"]:
            k = int(matched["k"])
        options = _options(matched["options"] or "", text)
        if "tokens" in options and matched["name"] != "UnionRecall":
            raise OptionError(f"{text}: only UnionRecall takes tokens", hint="UnionRecall(tokens=1000).")
        if "cover" in options and matched["name"] != "SearchesToCover":
            raise OptionError(f"{text}: only SearchesToCover takes a share", hint="SearchesToCover(0.8).")
        return cls(matched["name"], k, options.get("tokens"), options.get("cover", 1.0))

    @property
    def column(self) -> str:
        """The column of `SearchScores.scores` that holds it."""
        if self.tokens is not None:
            return f"UnionRecall(tokens={self.tokens:g})"
        return NAMES[self.name]


def _options(text: str, measure: str) -> Mapping[str, float]:
    """`tokens=1000`, `cover=0.8`, or a number alone, which is cover."""
    options: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, sign, value = part.partition("=")
        if not sign:
            key, value = "cover", part
        if key.strip() not in ("tokens", "cover"):
            raise OptionError(f"{measure} has no option {key.strip()!r}", hint="Options are tokens and cover.")
        try:
            options[key.strip()] = float(value)
        except ValueError:
            raise OptionError(f"{measure}: {value!r} is not a number", hint="UnionRecall(tokens=1000).") from None
    return options
