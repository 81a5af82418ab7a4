"""The eight policies that tools differ in: their words are the Literals of `goldrank.base.types`, explained here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, get_args, get_type_hints

from goldrank.base.errors import OptionError, did_you_mean, one_of
from goldrank.base.types import Policies

_OF_MEASURES = "An option of a measure is part of its name: AP(judged_only=True), nDCG(gain='exp2')@10."

_MEANINGS: Mapping[str, Mapping[str, str]] = {
    "ties": {
        "docid": "equal scores are ordered by document id, descending by bytes (trec_eval)",
        "docid-ascending": "equal scores are ordered by document id, ascending by bytes",
        "input": "equal scores keep the order of the input",
        "expected": "values are means over all orders of equal scores, where that has a closed form",
        "bounds": "as docid, with the least and greatest value over all orders of equal scores",
    },
    "score_type": {
        "float64": "scores are compared as doubles",
        "float32": "scores are rounded to single precision first (trec_eval 9, pytrec_eval)",
    },
    "duplicates": {
        "error": "a document that a ranking repeats is an error that names both positions",
        "first": "the first line of a document counts",
        "last": "the last line of a document counts",
        "count": "every line counts as a separate document",
        "places": "every line keeps its rank, and a document counts once, at its first one, unless the convention "
        "says otherwise of a measure",
    },
    "judgements": {
        "error": "a document judged twice with different grades is an error; with equal grades it is noted",
        "last": "the last judgement counts",
    },
    "missing": {
        "zero": "a judged query that the run does not answer is scored as an empty ranking",
        "skip": "it is left out of the mean",
        "error": "it is an error",
    },
    "empty": {
        "zero": "a query without any relevant document scores what the formula gives, which is 0",
        "skip": "it is left out of the mean",
        "one": "it scores 1",
        "nan": "it scores NaN",
        "error": "it is an error",
    },
    "bounds": {
        "none": "unjudged documents count as not relevant",
        "unjudged": "as none, with the least and greatest value over all ways to judge them right or wrong",
    },
    "overlap": {
        "error": "run and qrels that share no query or no document id are an error",
        "allow": "they are scored, and a note says so",
    },
}


def _explained(policy: str, words: tuple[str, ...]) -> dict[str, str]:
    return {word: _MEANINGS[policy][word] for word in words}


POLICIES: dict[str, dict[str, str]] = {
    policy: _explained(policy, get_args(literal)) for policy, literal in get_type_hints(Policies).items()
}
"""Every policy, its words, and what each of them does. The first word is trec_eval 10's."""

USUAL = cast(Policies, {policy: next(iter(words)) for policy, words in POLICIES.items()})
"""The policies of trec_eval 10."""


def check_policies(policies: Mapping[str, object]) -> None:
    """Raises an `OptionError` for an unknown policy, or for a word that a policy does not have."""
    for policy, word in policies.items():
        if policy not in POLICIES:
            raise _unknown_policy(policy)
        one_of(word, POLICIES[policy], policy)


def _unknown_policy(policy: str) -> OptionError:
    known = ", ".join(POLICIES)
    hint = did_you_mean(policy, POLICIES) or _OF_MEASURES
    return OptionError(f"unknown policy {policy!r}; the policies are: {known}", hint=hint, code="unknown-choice")
