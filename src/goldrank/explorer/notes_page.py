"""Notes of systems and judgements, conventions, missing texts."""

from __future__ import annotations

from typing import Any

from goldrank.data.table import Part, Sentence, facts, note_sentences
from goldrank.explorer.queries_page import NOTED
from goldrank.explorer.session import Session

SAMPLED = 2_000
"""Documents whose texts are looked for."""


def values(session: Session, link: Any) -> dict[str, Any]:
    """The values of the template."""
    parts: list[tuple[str, list[Part]]] = []
    for scores in session.scores():
        about: list[Part] = [*note_sentences(scores.notes)]
        parts.append((scores.run, about or [Sentence("Nothing to remark.", "remark")]))

    comparison = session.verdicts.get()
    if comparison is not None:
        sentences: list[Part] = [Sentence(f"{comparison.method}.", "remark"), *note_sentences(comparison.notes)]
        parts.append(("Comparison", sentences))

    policies = {name: str(value) for name, value in session.rules.policies.items()}
    view = session.view()
    noted = [(NOTED[code], link("/queries", note=code), int(mask.sum())) for code, mask in session.noted(view).items()]
    shown = facts({"convention": session.rules.name, **policies})
    return {"notes": parts, "noted": noted, "policies": shown, "texts": _texts(session)}


def _texts(session: Session) -> str:
    """How many documents have a text, in a sentence."""
    if not session.has_rankings:
        return "Texts are those of the questions."
    if session.texts.state:
        return session.texts.state

    sampled: dict[str, None] = {}
    for number in range(len(session.queries)):
        for system in session.systems:
            sampled |= dict.fromkeys(system.top_documents.docs(number, 10))
        if len(sampled) >= SAMPLED:
            break

    missing = [doc for doc in sampled if session.texts.get(doc) is None]
    if not missing:
        return f"All of the first {len(sampled):,} documents have a text."
    return f"No text for {len(missing):,} of {len(sampled):,} documents (first {missing[0]!r:.80})."
