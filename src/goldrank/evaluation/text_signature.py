"""What signatures of texts say: references as a hash, and how texts were matched, cut and counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from goldrank.data.signature import HASH
from goldrank.evaluation.pipeline import policy_words
from goldrank.evaluation.text_settings import Answers, Evidence, Matching
from goldrank.match import Matcher

USUAL_MATCHING, USUAL_EVIDENCE = Matching(), Evidence()


def matcher_word(matcher: Matcher) -> str:
    """A matcher by its spelling. A function of the user is a hash of its code: its name is private."""
    judge = getattr(matcher, "judge", None)
    function = getattr(matcher, "function", None)
    word = str(matcher)
    if judge is not None:
        word = f"judge:{matcher.threshold:g}"
    elif callable(function):
        word = function_word(function)
        if matcher.threshold is not None:
            word += f":{matcher.threshold:g}"

    if not matcher.inclusive:
        word += "+above"
    if matcher.guards != matcher.default_guards:
        word += f"+guards({','.join(matcher.guards)})"
    return word


def judge_word(judge: Any) -> str:
    """A judge by its model, and by a hash of what its answers depend on; never by its address."""
    described = dict(judge.description().parameters)
    described.pop("url", None)
    text = json.dumps(described, sort_keys=True, default=repr)
    return f"{getattr(judge, 'model', 'own')}/{_short(text)}"


def function_word(function: Callable[..., Any]) -> str:
    """A function by a hash of its code; a function without Python code by its type."""
    code = getattr(function, "__code__", None)
    if code is None:
        return f"own/{_short(type(function).__qualname__)}"
    constants = [constant for constant in code.co_consts if not hasattr(constant, "co_code")]
    return f"own/{_short(repr((code.co_code, constants, code.co_names)))}"


def text_facts(
    matching: Matching, evidence: Evidence, answers: Answers, *, rules: Any, matcher: Matcher, gold: str, questions: int
) -> dict[str, Any]:
    """The facts of a signature of texts. `gold` is the hash of what should be found."""
    options: dict[str, str] = {**policy_words(rules), "match": matcher_word(matcher)}
    judges = [rule.judge for rule in (matcher, answers.rule) if rule is not None and hasattr(rule, "judge")]
    if judges:
        options["judge"] = "+".join(dict.fromkeys(map(judge_word, judges)))
    elif answers.rule is not None:
        options["judge"] = matcher_word(answers.rule)

    options |= _changed(matching, USUAL_MATCHING, ("unit", "credit", "tokens"))
    options |= _changed(evidence, USUAL_EVIDENCE, ("lengths", "several", "unlocated", "similarity"))
    options |= _changed(answers, Answers(), ("claims", "entities"))
    options |= _contents({"sources": evidence.sources, "chunks": evidence.chunks})
    options["texts"] = f"{gold[:HASH]}/{questions}q"
    return {"options": options}


def _changed(noun: Any, usual: Any, names: tuple[str, ...]) -> dict[str, str]:
    words = {}
    for name in names:
        value = getattr(noun, name)
        if callable(value):
            words[name] = function_word(value)
        elif value != getattr(usual, name):
            words[name] = str(value)
    return words


def _contents(inputs: Mapping[str, Any]) -> dict[str, str]:
    """Hashes of texts that were given as objects; texts in files differ by what is found in them."""
    return {
        name: _short(json.dumps(value, sort_keys=True, default=repr))
        for name, value in inputs.items()
        if isinstance(value, Mapping | list | tuple)
    }


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH]
