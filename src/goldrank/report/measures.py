"""The measures: a list, and a page about each, for people and for programs."""

from __future__ import annotations

import json
import math

from goldrank.data.table import Head, Part, Sentence, Table, facts
from goldrank.measures import REGISTRY, describe
from goldrank.measures.declare import Declaration

_FACTS = ("name", "formula", "use", "avoid", "cite", "cutoff", "low", "high", "average", "doc")

USUAL = ("nDCG", "AP", "RR", "R", "P", "Success", "Cover", "ContextPrecision", "Judged", "RBP", "ERR", "Bpref")
"""What people use, the most usual first: the list begins with these."""


def listed() -> list[Part]:
    """Every measure with what it measures, those that people use first."""
    names = [name for name in USUAL if name in REGISTRY]
    names += [name for name in REGISTRY if name not in USUAL]
    rows = [[name, REGISTRY[name].summary] for name in names]
    hint = '`goldrank measures nDCG` tells all about one. Spelling: nDCG@10, P(rel=2)@5, nDCG(gain="exp2")@20.'
    return [Table([*Head.names(""), *Head.texts("")], rows), Sentence(hint)]


def listed_json() -> str:
    """Every measure with what it measures, for programs."""
    return json.dumps({name: declared.summary for name, declared in REGISTRY.items()}, indent=2)


def page(declared: Declaration) -> list[Part]:
    """All about one measure."""
    about = facts(describe.facts(declared))
    body = [Sentence(line) for line in declared.doc.strip().partition("\n")[2].strip().splitlines()]
    options = {f"{key}={value!r}": str(declared.options[key]) for key, value in declared.defaults.items()}
    return [Sentence(declared.summary), about, *body, facts(options, "Options")]


def page_json(declared: Declaration) -> str:
    """All about one measure, for programs; a bound that does not exist is null."""
    described = {fact: getattr(declared, fact) for fact in _FACTS}
    described["aliases"] = list(declared.aliases)
    described["options"] = {name: str(value) for name, value in declared.defaults.items()}
    for bound in ("low", "high"):
        if not math.isfinite(described[bound]):
            described[bound] = None
    return json.dumps(described, indent=2)
