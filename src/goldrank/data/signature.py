"""The signature of a number: one line with the measure, rules and judgements that it was made with.

    goldrank:1.0.0 measure:nDCG@10 rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j sum:b273

Words are `key:value` with one space between them. Policies and options appear only if they differ from the convention
and can matter for the measure. Ids, names, paths and times never appear: judgements and runs appear as hashes of their
content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError

if TYPE_CHECKING:
    from goldrank.data.catalogue import Catalogue
    from goldrank.data.qrels import Qrels
    from goldrank.data.scores import Scores
    from goldrank.measures import Measure

SAFE = "._@()=,+-/~*"
"""Characters that values keep, beside letters and digits of ASCII; any other byte of UTF-8 becomes %XX."""
MOST = 400
"""Most characters of a signature. In a longer one the measures become a hash."""
HASH = 12
"""Hexadecimal digits of a hash."""
SUM = 4
"""Hexadecimal digits of the sum, which finds typing errors but does not prevent forgery."""
UNKNOWN = "unknown"
"""The word for judgements that are too many to be hashed."""

Words = Mapping[str, str]
"""Words of a signature by key, not yet encoded."""


# Hashes of content.


def digest(lines: Iterable[bytes]) -> str:
    """A short hash of lines, independent of their order."""
    content = hashlib.sha256()
    for line in sorted(lines):
        content.update(line)
    return content.hexdigest()[:HASH]


def judgements_word(qrels: Qrels) -> str:
    """The hash of judgements, the number of judged queries, and the number of judgements.

    For judgements of one shard, these are of all the judgements that the shard was taken from.
    """
    rows = (qrels.part_of or qrels).raw
    lines = [
        b"%b\x1f%b\x1f%b\n" % (query, doc, grade_text(grade).encode())
        for query, docs in rows.items()
        for doc, grade in docs.items()
    ]
    return f"{digest(lines)}/{len(rows)}q/{len(lines)}j"


def grade_text(grade: float) -> str:
    """The text of a grade that is hashed: an integer as its digits, another number as its `repr`."""
    number = float(grade)
    if number.is_integer():
        return str(int(number))
    return repr(number)


def run_word(queries: Sequence[str], rankings: Sequence[Sequence[str]]) -> str:
    """The hash of a run's documents for the judged queries, in the order of the evaluation."""
    lines = [
        b"%b\x1f%07d\x1f%b\n" % (ids.encode(query), rank, ids.encode(doc))
        for query, docs in zip(queries, rankings, strict=True)
        for rank, doc in enumerate(docs, 1)
    ]
    return digest(lines)


def catalogue_words(catalogue: Catalogue) -> dict[str, str]:
    """Hashes of the parts of a catalogue that are given."""
    words = {}
    if catalogue.train is not None:
        words["train"] = catalogue.train.digest[:HASH]
        words["seen"] = catalogue.seen

    if catalogue.items is not None:
        words["items"] = str(catalogue.digest)[:HASH]

    if catalogue.against is not None:
        words["against"] = str(catalogue.against.digest)[:HASH]

    for name in ("genres", "groups"):
        labels: Mapping[str, tuple[str, ...]] | None = getattr(catalogue, name)
        if labels is not None:
            lines = [repr((item, sorted(labels[item]))).encode("utf-8", "backslashreplace") for item in labels]
            words[name] = digest(lines)

    if catalogue.vectors is not None:
        rows, table = catalogue.vectors
        words["vectors"] = digest(
            ids.encode(item) + b"\x1f" + np.ascontiguousarray(table[row], "<f8").tobytes() for item, row in rows.items()
        )

    return words


# Writing.


def of_scores(scores: Scores, measure: object = None, *, full: bool = False) -> str:
    """The signature of one measure of some scores, or of all their measures."""
    facts = scores.provenance.get("signature")
    if not isinstance(facts, Mapping):
        problem = "these scores do not say which judgements and options they were made with"
        hint = "They were saved by a goldrank without signatures, or are merged: evaluate again."
        raise InputError(problem, where=scores.run, hint=hint, code="no-signature")

    if measure is None:
        names = list(scores.columns)
    else:
        names = [scores.spelled(measure)]

    words = {
        "goldrank": str(scores.provenance.get("goldrank", "")),
        "measure": ",".join(map(measure_text, names)),
        "rules": str(scores.provenance.get("convention", "")),
    }
    if "qrels" in facts:
        words["qrels"] = str(facts["qrels"])

    options: Mapping[str, str] = facts.get("options") or {}
    words |= {key: str(options[key]) for key in sorted(options) if _matters_to_any(key, options, names)}

    if full:
        words["run"] = _run_of(scores, facts)
    return written(words, len(names))


def distinct(runs: Iterable[Scores], *, full: bool = False) -> tuple[str, ...]:
    """The signatures of runs, each once; runs that do not know what they were made with have none."""
    known_runs = [scores for scores in runs if isinstance(scores.provenance.get("signature"), Mapping)]
    return tuple(dict.fromkeys(of_scores(scores, full=full) for scores in known_runs))


def full_if_known(scores: Scores) -> str:
    """The signature with the run if the scores know it, else without; '' if they have none."""
    facts = scores.provenance.get("signature")
    if not isinstance(facts, Mapping):
        return ""
    knows_run = "run" in facts or scores.placed is not None
    return of_scores(scores, full=knows_run)


def _run_of(scores: Scores, facts: Mapping[str, Any]) -> str:
    if "run" in facts:
        return str(facts["run"])
    if scores.placed is None:
        problem = "only fresh scores know the order in which documents were evaluated"
        hint = "Evaluate again, or leave full=True out."
        raise InputError(problem, where=scores.run, hint=hint, code="no-signature")

    placed = scores.placed
    deepest = int(placed.placements.retrieved.max(initial=0))
    if placed.depth is not None:
        deepest = min(deepest, placed.depth)
    return run_word(placed.placements.queries, placed.top_documents(deepest))


def measure_text(name: str) -> str:
    """The full name of a measure in goldrank's spelling, without quotes and spaces."""
    from goldrank.measures import known
    from goldrank.measures.options import Word

    measure = known(name)
    if measure is None:
        return name.replace('"', "").replace(" ", "")

    plain = measure.plain
    for key, value in plain.options.items():
        is_users_word = isinstance(measure.declaration.options.get(key), Word)
        if is_users_word:  # the name of a group of items may be confidential
            return str(plain).replace(f'"{value}"', _hashed(str(value))).replace(" ", "")
    return str(plain).replace('"', "").replace(" ", "")


def _hashed(text: str) -> str:
    return "hash-" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:HASH]


def written(words: Words, measures: int = 1) -> str:
    """Words as the text of a signature, with their sum."""
    text = " ".join(f"{key}:{encoded(value)}" for key, value in words.items())
    if len(text) + len(" sum:") + SUM > MOST and measures > 1:
        names_hash = hashlib.sha256(words["measure"].encode()).hexdigest()[:HASH]
        return written({**words, "measure": f"{names_hash}/{measures}m"})
    return f"{text} sum:{sum_of(text)}"


def sum_of(text: str) -> str:
    """The sum of a signature, from the text before it."""
    return hashlib.sha256(text.encode()).hexdigest()[:SUM]


def encoded(value: str) -> str:
    """A value with every byte but the safe ones as %XX."""
    return quote(value.encode("utf-8", "surrogateescape"), safe=SAFE)


def decoded(value: str) -> str:
    """The inverse of `encoded`."""
    return unquote_to_bytes(value).decode("utf-8", "surrogateescape")


def in_latex(signature: str) -> str:
    """A signature for a paper, escaped for LaTeX."""
    return signature.replace("%", r"\%").replace("_", r"\_")


def in_markdown(signature: str) -> str:
    """A signature as code of Markdown, in which nothing is markup."""
    return f"`{signature}`"


# Which options can matter.

ALWAYS = ("duplicates", "missing", "shard")
"""Options that can change any measure."""
NEVER = ("judgements", "overlap", "bounds")
"""Policies that change no value: contradicting judgements change the hash, the others refuse or add something."""
OF_WHOLE_LISTS = ("R", "NumRelRet", "Judged")
"""Measures that do not depend on the order if they have no cut-off."""
KNOWN_OF_ITEMS = ("items", "against", "genres", "groups", "vectors", "seen", "train")
"""The fields of a catalogue."""
OF_PLACES = ("sources", "chunks", "lengths", "several", "unlocated", "similarity")
"""Options of finding evidence by its position."""
READ_BY: Mapping[str, tuple[str, ...]] = {
    "genres": ("Calibration",),
    "vectors": ("IntraListDiversity", "Serendipity"),
    "groups": ("ExposureParity", "ExposureShare"),
    "against": ("Serendipity",),
    "items": ("ItemCoverage", "Gini", "Entropy", "ExposureParity", "ExposureShare"),
    "train": (
        "Gini", "Entropy", "ItemCoverage", "AveragePopularity", "PopularityLift", "Novelty", "Serendipity",
        "Calibration", "ExposureParity", "ExposureShare",
    ),
}  # fmt: skip
"""For each field of a catalogue, the measures that read it."""


def _matters_to_any(key: str, options: Words, names: Sequence[str]) -> bool:
    from goldrank.measures import known

    if key in NEVER:
        return False
    for name in names:
        measure = known(name)
        if measure is None or _matters(key, options, measure):
            return True
    return False


def _matters(key: str, options: Words, measure: Measure) -> bool:
    """Whether a policy or option can change a measure; True if in doubt."""
    declared = measure.declaration
    if key in ALWAYS:
        return True
    if key == "empty":
        return declared.needs_relevant
    if key in ("ties", "score_type"):
        return not _ignores_order(measure) or "depth" in options or _moves_up(options)
    if key == "depth":
        return not _looks_no_deeper(measure, int(options[key]))
    if key in KNOWN_OF_ITEMS:
        return _reads_item_facts(key, options, measure)
    if key in OF_PLACES:
        return declared.over == "spans"
    if key in ("match", "unit", "credit"):
        return declared.over != "spans"
    if key == "tokens":
        return declared.counts_tokens or measure.option("tokens") is not None or options.get("lengths") == "token"
    if key in ("claims", "judge", "entities"):
        return declared.wanted != "references"

    return True


def _ignores_order(measure: Measure) -> bool:
    """Whether all orders of the documents give the same value."""
    is_of_whole_list = measure.k is None and measure.name in OF_WHOLE_LISTS
    return measure.declaration.ties == "unordered" or is_of_whole_list


def _looks_no_deeper(measure: Measure, depth: int) -> bool:
    """Whether a measure sees the same documents with and without a cut at this depth."""
    if measure.declaration.cutoff not in ("optional", "needed") or measure.k is None:
        return False
    if measure.option("judged_only") or measure.declaration.over not in ("placements", "heads"):
        return False
    return int(measure.k) <= depth


def _moves_up(options: Words) -> bool:
    """Whether items that users had before are removed from the run, so that others move up."""
    return "train" in options and options.get("seen") == "remove"


def _reads_item_facts(key: str, options: Words, measure: Measure) -> bool:
    if key in ("train", "seen") and _moves_up(options):
        return key == "train"  # seen="remove" is the default
    if measure.declaration.over != "recommended":
        return False
    if key == "seen":
        return _reads_item_facts("train", options, measure)
    return measure.name in READ_BY[key]
