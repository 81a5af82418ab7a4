"""Public names that have another name now: the old one works until the next major version, and says so.

A renamed name is one line in `goldrank._RENAMED`; docs/promises.md says for how long it works.
"""

from __future__ import annotations

import warnings


def warn_renamed(old: str, new: str, *, gone_in: str) -> None:
    """Warn whoever used a public name of `goldrank` by its old name, at the line where they did."""
    message = f"goldrank.{old} is now goldrank.{new}; the old name goes in goldrank {gone_in}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)  # 1 is here, 2 the package's __getattr__
