"""Faults of every sort that the fuzzer must find, for the test of the fuzzer itself."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

from goldrank.base.errors import InputError
from tests.fuzz.outcomes import Outcome, agree

FAULTS = ("none", "refused", "exception", "difference", "hang", "abort", "memory")


def make(rng: random.Random) -> dict[str, Any]:
    return {"fault": rng.choice(FAULTS), "data": b"\0"}


def check(spec: dict[str, Any], folder: Path) -> None:
    fault = spec["fault"]
    if fault == "refused":
        agree({"one": Outcome(refused=InputError.__name__), "other": Outcome(refused=InputError.__name__)})
    elif fault == "exception":
        {}["missing"]
    elif fault == "difference":
        agree({"one": Outcome(0.5), "other": Outcome(refused="InputError")})
    elif fault == "hang":
        time.sleep(60)
    elif fault == "abort":
        os.abort()
    elif fault == "memory":
        bytearray(b"x") * (450 << 20)
