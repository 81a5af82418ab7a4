"""Counts how often a call goes from one package of goldrank into another."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import goldrank

ROOT = os.path.dirname(goldrank.__file__) + os.sep
GROUND = frozenset(["base", "core"])
"""What everybody calls: a leaf is no other room."""


def package_of(frame: FrameType) -> str | None:
    """The package of goldrank that a frame's code is in; None for code of others."""
    file = frame.f_code.co_filename
    if not file.startswith(ROOT):
        return None
    return file[len(ROOT) :].split(os.sep)[0].removesuffix(".py")


def switches(call: Callable[[], object]) -> Counter[tuple[str, str]]:
    """How often each package calls into each other one while something is done; the ground floor is left out."""
    counted: Counter[tuple[str, str]] = Counter()

    def hook(frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        entered = package_of(frame)
        if entered is None or entered in GROUND:
            return
        caller = frame.f_back
        while caller is not None and package_of(caller) in (None, *GROUND):
            caller = caller.f_back
        if caller is None:
            return
        left = package_of(caller)
        if left is not None and left != entered:
            counted[left, entered] += 1

    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counted
