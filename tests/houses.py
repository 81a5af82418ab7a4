"""Which satellite needs which others."""

from __future__ import annotations

OTHER_SATELLITES = {
    "agents": (),
    "ann": (),
    "clicks": (),
    "demo": (),
    "fusion": (),
    "gating": (),
    "guide": (),
    "memory": (),
    "rag": (),
    "referee": (),
    "staging": (),
    "suites": (),
    "tails": (),
    "retrieval": ("judging",),
    "judging": ("clicks", "rag"),
    "history": ("gating",),
    "explorer": ("demo", "gating", "history", "judging", "rag", "retrieval"),
    "starting": ("gating", "retrieval"),
    "compat": ("fusion", "judging"),
    "integrations": ("compat", "history"),
    "pytest_plugin": (),
}
"""Which other satellites a satellite may import, beside the core."""


def needed_with(name: str) -> set[str]:
    """A satellite and all those that cannot be without it."""
    gone = {name}
    while more := {other for other, needs in OTHER_SATELLITES.items() if gone & set(needs)} - gone:
        gone |= more
    return gone - {"pytest_plugin"}
