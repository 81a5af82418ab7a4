"""What a signature says, and whether a number was made from these files: `explain_signature`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from goldrank import __version__, conventions
from goldrank.base.errors import InputError, OptionError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.types import Policies, QrelsLike, RunLike
from goldrank.conventions import POLICIES
from goldrank.data.scores import Scores
from goldrank.data.signature import judgements_word
from goldrank.measures import known
from goldrank.referee.reading import Signature

ABOUT = {
    "depth": "documents of a question count down to this rank",
    "shard": "only this part of the questions was evaluated",
    "train": "what users had before; it was removed from the run unless seen says otherwise (a hash)",
    "seen": "what users had before was kept in the run",
    "items": "all items of the catalogue (a hash)",
    "vectors": "vectors of the items (a hash)",
    "genres": "genres of the items (a hash)",
    "groups": "groups of the items (a hash)",
    "against": "the run of a simple recommender (a hash)",
    "texts": "what should be found, as texts: a hash, and how many questions",
    "match": "when a retrieved text covers what should be found",
    "judge": "who decided: the model, and a hash of its prompt and parameters",
    "unit": "what is compared, and what ranks count",
    "credit": "who is credited where a text covers several references",
    "tokens": "what budgets count",
    "lengths": "the unit of lengths of spans",
    "several": "what a quotation means that occurs several times",
    "unlocated": "what becomes of a quotation that is not found",
    "similarity": "the least similarity of an approximate quotation",
    "claims": "how answers are taken apart (a hash of a function)",
    "entities": "how names are found in answers (a hash of a function)",
    "sources": "the texts that were cut into chunks (a hash)",
    "chunks": "all texts of the index (a hash)",
}
"""What keys mean that are not policies."""
_VALUE_SLACK = Decimal("1e-12")


@dataclass(frozen=True)
class SignatureReport:
    """What a signature says, and what differs from the files that it was compared with."""

    signature: Signature
    lines: tuple[str, ...]
    """Each word, spelled out."""
    differences: tuple[str, ...] = ()
    agreements: tuple[str, ...] = ()
    """What was checked and is the same."""

    @property
    def exit_code(self) -> int:
        """0 if nothing differs, 1 if something does."""
        if self.differences:
            return 1
        return 0

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "words": dict(self.signature.words),
            "lines": list(self.lines),
            "agreements": list(self.agreements),
            "differences": list(self.differences),
        }

    def __str__(self) -> str:
        agreeing = [f"same: {line}" for line in self.agreements]
        differing = [f"DIFFERS: {line}" for line in self.differences]
        return "\n".join((*self.lines, *agreeing, *differing))


@named_arguments
def explain_signature(
    signature: str, qrels: QrelsLike | None = None, run: RunLike | None = None, *, value: str | float | None = None
) -> SignatureReport:
    """Spell out a signature; with judgements and a run, say whether the number was made from them.

    Parameters
    ----------
    signature : str
        What `scores.signature()` or `--signature` printed, also from a paper or a table.
    qrels : judgements, optional
        What it is compared with.
    run : run, optional
        Its run.
    value : str or float, optional
        The number that was printed beside it: it is compared to the digits that it has.

    Returns
    -------
    SignatureReport
        Its `exit_code` is 0 if nothing differs, and 1 if something does.

    Raises
    ------
    InputError
        If it is not a signature, or was changed or cut.
    OptionError
        If a value is passed without files, or the signature has words that files alone cannot check.

    Examples
    --------
    >>> judged, ranked = {"q1": {"a": 1}}, {"q1": ["x", "a"]}
    >>> line = evaluate(judged, ranked, "RR").signature()
    >>> explain_signature(line, judged, ranked, value="0.50").exit_code
    0
    >>> explain_signature(line, {"q1": {"x": 1}}, ranked).exit_code
    1
    """
    of_type(signature, str, "signature", "a line of text")
    parsed = Signature.read(signature)
    lines = tuple(_lines(parsed))
    if qrels is None and run is None:
        if value is not None:
            raise OptionError("a value is checked against judgements and a run", hint="Give both of them, too.")
        return SignatureReport(parsed, lines)
    if qrels is None or run is None:
        raise OptionError("a signature is checked against judgements and a run", hint="Give both of them.")

    findings = _Findings([], [])
    scores = _evaluated(parsed, qrels, run, findings)
    if scores is not None and value is not None:
        _check_value(scores, str(value), findings)
    return SignatureReport(parsed, lines, tuple(findings.differences), tuple(findings.agreements))


def explain_words(words: Sequence[str], value: str | None = None) -> SignatureReport:
    """`explain_signature` for words of a command line: a signature, with quotes or without, then perhaps files."""
    ends = [number for number, word in enumerate(words, 1) if re.search(r"(^|\s)sum:\S*\s*$", word)]
    end = 1
    if ends:
        end = ends[0]
    files = list(words[end:])
    if len(files) not in (0, 2):
        raise OptionError(
            f"{len(files)} file{'s' * (len(files) != 1)} after the signature",
            hint="Give judgements and a run, or neither.",
        )
    return explain_signature(" ".join(words[:end]), *files, value=value)


# In words.


def _lines(signature: Signature) -> list[str]:
    lines = [f"goldrank   {signature.version}"]
    for name in signature.measures:
        measure = known(name)
        summary = ""
        if measure is not None:
            summary = f"  {measure.declaration.summary}"
        lines.append(f"measure    {name}{summary}")
    if not signature.measures:
        lines.append(f"measure    {signature.words['measure']}  a hash, and how many: too many for one line")
    lines += _rules_lines(signature.rules)

    if "qrels" in signature.words:
        lines.append(f"qrels      {_counted(signature.words['qrels'])}")
    lines += [f"{key:<10} {word}  {_about(key, word)}".rstrip() for key, word in signature.options.items()]
    if "run" in signature.words:
        lines.append(f"run        {signature.words['run']}  a hash of what was returned, in the order evaluated")
    return lines


def _rules_lines(rules: str) -> list[str]:
    if rules not in conventions.MODULES:
        return [f"rules      {rules}  a convention that this goldrank does not know"]
    policies = conventions.get(cast(Any, rules)).policies
    stands_for = ", ".join(f"{policy}={word}" for policy, word in policies.items())
    return [f"rules      {rules}  which stands for {stands_for}"]


def _counted(word: str) -> str:
    matched = re.fullmatch(r"([0-9a-f]+)/(\d+)q/(\d+)j", word)
    if matched is None:
        return word
    return f"{matched[1]}  a hash of the judgements: {int(matched[3]):,} in all; judged questions: {int(matched[2]):,}"


def _about(key: str, word: str) -> str:
    if key in POLICIES:
        return POLICIES[key].get(word, "")
    return ABOUT.get(key, "")


# Against files.


@dataclass
class _Findings:
    """What was the same and what was not, so far."""

    differences: list[str]
    agreements: list[str]

    def compare(self, name: str, written: str, actual: str) -> None:
        """Note whether a word of the signature agrees with the files."""
        if written == actual:
            self.agreements.append(f"{name} {actual}")
        else:
            self.differences.append(f"{name}: the signature has {written}, here it is {actual}")


_CHECKABLE = (*POLICIES, "depth")


def _evaluated(signature: Signature, qrels: QrelsLike, run: RunLike, findings: _Findings) -> Scores | None:
    """The scores of these files by the rules of the signature; None where they cannot be computed."""
    from goldrank.evaluation.rankings import evaluate
    from goldrank.io import as_qrels, as_run

    uncheckable = [key for key in signature.options if key not in _CHECKABLE]
    if uncheckable:
        message = f"the signature has {uncheckable[0]}:, which judgements and a run do not tell"
        raise OptionError(message, hint="Evaluate again with it in Python, and compare scores.signature().")

    findings.compare("version", signature.version, __version__)
    if signature.rules not in conventions.MODULES:
        findings.differences.append(f"rules: this goldrank has no convention {signature.rules}")
        return None
    unknown_policies = [key for key, word in signature.options.items() if key in POLICIES and word not in POLICIES[key]]
    if unknown_policies:
        findings.differences.append(
            f"rules: this goldrank has no {unknown_policies[0]}={signature.options[unknown_policies[0]]}"
        )
        return None

    options = signature.options
    policies = {key: word for key, word in options.items() if key in POLICIES}
    rules = conventions.get(cast(Any, signature.rules)).with_policies(**cast(Policies, policies))
    judged = as_qrels(qrels, judgements=rules.judgements)
    _compare_judgements(signature.words.get("qrels", ""), judgements_word(judged), findings)
    if not signature.measures:
        findings.agreements.append("rules: not checked, since the measures are a hash")
        return None

    depth = None
    if "depth" in options:
        depth = int(options["depth"])
    scores = evaluate(
        judged,
        as_run(run),
        signature.measures,
        convention=rules.with_policies(overlap="allow"),
        depth=depth,
    )
    actual = Signature.read(scores.signature(full=True))
    rules_here = _rules_text(actual)
    findings.compare("rules", _rules_text(signature), rules_here)
    if "run" in signature.words:
        findings.compare("run", signature.words["run"], actual.words["run"])
    return scores


def _rules_text(signature: Signature) -> str:
    """Rules with all that differs from them."""
    options = [f"{key}:{word}" for key, word in sorted(signature.options.items())]
    return " ".join((signature.rules, *options))


def _compare_judgements(written: str, actual: str, findings: _Findings) -> None:
    """Compare counts first: another number of questions explains most."""
    names = ("judged questions", "number of judgements")
    for name, written_count, actual_count in zip(names, written.split("/")[1:], actual.split("/")[1:], strict=False):
        if written_count != actual_count:
            findings.differences.append(f"{name}: {written_count[:-1]} by the signature, {actual_count[:-1]} here")
    findings.compare("judgements", written, actual)


def _check_value(scores: Scores, value: str, findings: _Findings) -> None:
    if len(scores.measures) > 1:
        raise OptionError("a value is of one measure, and the signature has several", hint="Leave the value out.")
    try:
        expected = Decimal(value.strip())
    except InvalidOperation:
        raise InputError(f"{value!r:.40} is not a number", hint="For example 0.4213.", code="bad-number") from None

    exponent = expected.as_tuple().exponent
    if not isinstance(exponent, int):
        raise InputError(f"{value!r:.40} is not a finite number", hint="For example 0.4213.", code="bad-number")
    half = Decimal(5).scaleb(min(exponent, 0) - 1)
    actual = scores[scores.measures[0]]
    if abs(Decimal(actual) - expected) <= half + _VALUE_SLACK:
        findings.agreements.append(f"value {value}")
    else:
        findings.differences.append(f"value: {value} was given, here it is {actual!r}")
