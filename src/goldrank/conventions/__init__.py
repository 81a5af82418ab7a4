"""Whose rules: conventions by name, with the eight policies in which the field's tools differ.

`base` has `Convention`, `policies` explains the policies, `tool` has what a tool may do beside them, and each tool has
a file with its quirks, its refusals and their reasons.
"""

from goldrank.conventions.base import (
    DEFAULT,
    MODULES,
    NAMES,
    Convention,
    chosen_policies,
    convention_of,
    get,
    options_of,
    tool_of,
    with_options,
)
from goldrank.conventions.policies import POLICIES

__all__ = [
    "DEFAULT",
    "MODULES",
    "NAMES",
    "POLICIES",
    "Convention",
    "chosen_policies",
    "convention_of",
    "get",
    "options_of",
    "tool_of",
    "with_options",
]
