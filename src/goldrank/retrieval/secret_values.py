"""Secrets of an engine file: named there, read from the environment, and taken out of every text that is kept."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote

from goldrank.base.errors import OptionError
from goldrank.base.escaping import shown

PREFIX = "env:"
HIDDEN = "***"
SHORTEST = 6
"""Shorter words, such as "x", are not secrets: people write them where a local server needs any value."""

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_TELLING = re.compile(r"authorization|cookie|token|secret|password|api-?key|(^|-)key$|(^|-)auth($|-)", re.IGNORECASE)


def is_secret(value: str) -> bool:
    """Whether a value of a file names a variable of the environment."""
    return value.startswith(PREFIX)


def looks_secret(header: str) -> bool:
    """Whether a header of this name usually holds a secret.

    >>> looks_secret("Authorization"), looks_secret("X-TYPESENSE-API-KEY"), looks_secret("Accept")
    (True, True, False)
    """
    return _TELLING.search(header) is not None


def variable_of(value: str, where: str) -> str:
    """The variable that `env:NAME` names."""
    name = value.removeprefix(PREFIX)
    if not _NAME.fullmatch(name):
        hint = "Names are capital letters, digits and underscores: env:ES_AUTH."
        raise OptionError(f"{shown(value, 60)} names no variable of the environment", hint=hint, code="bad-secret")
    return name


def value_of(variable: str, where: str) -> str:
    """The value of a variable of the environment; raise if a header cannot hold it."""
    value = os.environ.get(variable, "")
    if not value:
        hint = f"Set it before: export {variable}=..."
        raise OptionError(f"{where} needs {variable}, which is not in the environment", hint=hint, code="no-secret")
    if not (value.isascii() and value.isprintable()):
        raise OptionError(f"what {variable} holds has characters that no header can hold", code="bad-secret")
    return value


@dataclass(frozen=True, repr=False)
class Secrets:
    """Secret values. Their `repr` is stars."""

    values: tuple[str, ...] = ()
    _pattern: re.Pattern[str] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        words = dict.fromkeys(word for value in self.values for word in (value, *value.split()))
        forms = [form for word in words if len(word) >= SHORTEST for form in _forms(word)]
        if forms:
            object.__setattr__(self, "_pattern", re.compile("|".join(forms)))

    def __repr__(self) -> str:
        return HIDDEN

    def clean(self, text: str) -> str:
        """Text without the secrets, in any of the forms that JSON and addresses write them in."""
        if self._pattern is None:
            return text
        return self._pattern.sub(HIDDEN, text)


def _forms(word: str) -> Iterable[str]:
    """Patterns of a word as it is, as JSON or an address may write it, and in base 64."""
    signs = (rf"(?:\\?{re.escape(sign)}|(?i:\\u{ord(sign):04x}|%{ord(sign):02x}))" for sign in word)
    yield "".join(signs)
    yield re.escape(quote(word, safe=""))
    yield re.escape(base64.b64encode(word.encode()).decode().rstrip("="))
