"""The signature of a number: one line that says which measure, rules and judgements it was made with.

    goldrank:1.0.0 measure:nDCG@10 rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j sum:b273

Words are `key:value` with one space between them. What the convention fixes is not repeated: policies and options stand
there only if they differ from it, and only if they can matter for the measure. Ids, names, paths and times are never in
it: judgements and runs are there as hashes of their content.
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
"""What stands in values as it is, beside letters and digits of ASCII; any other byte of UTF-8 is %XX."""
MOST = 400
"""Characters of a signature. In a longer one the measures are a hash."""
HASH = 12
"""Hexadecimal digits of a hash."""
SUM = 4
"""Hexadecimal digits of the sum, which finds slips of the pen and no forgers."""
UNKNOWN = "unknown"
"""In place of the judgements, where they are too many to be looked at."""

Words = Mapping[str, str]
"""Words of a signature by key, not yet encoded."""


# Hashes of content.


def digest(lines: Iterable[bytes]) -> str:
    """A short hash of lines, whatever their order."""
    whole = hashlib.sha256()
    for line in sorted(lines):
        whole.update(line)
    return whole.hexdigest()[:HASH]


def judgements_word(qrels: Qrels) -> str:
    """The hash of judgements, how many questions are judged, and how many judgements there are.

    Judgements of one shard are known by those that it was taken from.
    """
    rows = (qrels.part_of or qrels).raw
    lines = [
        b"%b\x1f%b\x1f%b\n" % (query, doc, grade_text(grade).encode())
        for query, docs in rows.items()
        for doc, grade in docs.items()
    ]
    return f"{digest(lines)}/{len(rows)}q/{len(lines)}j"


def grade_text(grade: float) -> str:
    """A grade as it is hashed: whole ones as digits, others as Python writes them shortest."""
    number = float(grade)
    if number.is_integer():
        return str(int(number))
    return repr(number)


def run_word(queries: Sequence[str], rankings: Sequence[Sequence[str]]) -> str:
    """The hash of what a run returned for the judged queries, in the order in which it was evaluated."""
    lines = [
        b"%b\x1f%07d\x1f%b\n" % (ids.encode(query), rank, ids.encode(doc))
        for query, docs in zip(queries, rankings, strict=True)
        for rank, doc in enumerate(docs, 1)
    ]
    return digest(lines)


def catalogue_words(catalogue: Catalogue) -> dict[str, str]:
    """Hashes of what is known of items and users; nothing where nothing was given."""
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
    """The signature of one measure of some scores, or of all of them."""
    facts = scores.provenance.get("signature")
    if not isinstance(facts, Mapping):
        what = "these scores do not say which judgements and options they were made with"
        hint = "They were saved by a goldrank without signatures, or are merged: evaluate again."
        raise InputError(what, where=scores.run, hint=hint, code="no-signature")

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


def _run_of(scores: Scores, facts: Mapping[str, Any]) -> str:
    if "run" in facts:
        return str(facts["run"])
    if scores.placed is None:
        what = "only fresh scores know the order in which documents were evaluated"
        raise InputError(what, where=scores.run, hint="Evaluate again, or leave full=True out.", code="no-signature")

    placed = scores.placed
    deepest = int(placed.placements.retrieved.max(initial=0))
    if placed.depth is not None:
        deepest = min(deepest, placed.depth)
    return run_word(placed.placements.queries, placed.top_documents(deepest))


def measure_text(name: str) -> str:
    """A measure's full name by goldrank's own names, without quotes and spaces."""
    from goldrank.measures import known
    from goldrank.measures.options import Word

    measure = known(name)
    if measure is None:
        return name.replace('"', "").replace(" ", "")

    plain = measure.plain
    for key, value in plain.options:
        is_own_name = isinstance(measure.declaration.options.get(key), Word)
        if is_own_name:  # the name of a group of items is nobody else's business
            return str(plain).replace(f'"{value}"', _hashed(str(value))).replace(" ", "")
    return str(plain).replace('"', "").replace(" ", "")


def _hashed(text: str) -> str:
    return "hash-" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:HASH]


def written(words: Words, measures: int = 1) -> str:
    """Words as the text of a signature, with their sum."""
    text = " ".join(f"{key}:{encoded(value)}" for key, value in words.items())
    if len(text) + len(" sum:") + SUM > MOST and measures > 1:
        named = hashlib.sha256(words["measure"].encode()).hexdigest()[:HASH]
        return written({**words, "measure": f"{named}/{measures}m"})
    return f"{text} sum:{sum_of(text)}"


def sum_of(text: str) -> str:
    """The sum of all that stands before it."""
    return hashlib.sha256(text.encode()).hexdigest()[:SUM]


def encoded(value: str) -> str:
    """A value with every byte but the safe ones as %XX."""
    return quote(value.encode("utf-8", "surrogateescape"), safe=SAFE)


def decoded(value: str) -> str:
    """The inverse of `encoded`."""
    return unquote_to_bytes(value).decode("utf-8", "surrogateescape")


def in_latex(signature: str) -> str:
    """A signature for a paper: it reads back as it was."""
    return signature.replace("%", r"\%").replace("_", r"\_")


def in_markdown(signature: str) -> str:
    """A signature for a page: as code, in which nothing is markup."""
    return f"`{signature}`"


# What can matter.

ALWAYS = ("duplicates", "missing", "shard")
"""Options that can change any measure."""
NEVER = ("judgements", "overlap", "bounds")
"""Policies that change no value: contradicting judgements show in the hash, the others refuse or add something."""
OF_WHOLE_LISTS = ("R", "NumRelRet", "Judged")
"""Measures that look at no order if they have no cut-off."""
KNOWN_OF_ITEMS = ("items", "against", "genres", "groups", "vectors", "seen", "train")
"""What a catalogue has."""
OF_PLACES = ("sources", "chunks", "lengths", "several", "unlocated", "similarity")
"""How evidence is found by its place."""
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
"""For what is known of items, the measures that read it."""


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
    """Whether a policy or option can change a measure; if in doubt, it can."""
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
    """Whether documents that users had before are taken out of the run."""
    return "train" in options and options.get("seen") == "remove"


def _reads_item_facts(key: str, options: Words, measure: Measure) -> bool:
    if key in ("train", "seen") and _moves_up(options):
        return key == "train"  # to remove them is what is usual
    if measure.declaration.over != "recommended":
        return False
    if key == "seen":
        return _reads_item_facts("train", options, measure)
    return measure.name in READ_BY[key]
