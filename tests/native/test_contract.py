"""Both makes of the core keep the contract: the same functions, the same outcome for the same input.

The functions come from the contract itself, so that a new one without cases fails here.
"""

from __future__ import annotations

import copy
import inspect
import random
from typing import Any

import numpy as np
import pytest

from goldrank.core import CONTRACT, contract, portable
from tests.lanes import many
from tests.native.conftest import COMPILED, every_make, needs_core
from tests.native.core_cases import BY_HAND, RANDOM, Case

FUNCTIONS = sorted(name for name, value in vars(contract.Core).items() if inspect.isfunction(value) and name[0] != "_")
REFUSED = (TypeError, ValueError, BufferError, OverflowError)
"""What a make raises for arguments that are not what the contract says."""


def outcome(make: Any, name: str, arguments: list[Any]) -> tuple[object, list[Any]]:
    """What a call gives and what it wrote; an error as its class, and nothing written where it declined."""
    try:
        result = getattr(make, name)(*arguments)
    except REFUSED:
        return "refused", []
    except RuntimeError as error:
        return str(error), []
    is_declined = result is False or (result is None and name in DECLINING)
    written = [bits(argument) for argument in arguments if isinstance(argument, np.ndarray)]
    return bits(result), [] if is_declined else written


DECLINING = {
    name for name in FUNCTIONS if "| None" in str(inspect.signature(vars(contract.Core)[name]).return_annotation)
}


def bits(value: object) -> object:
    """A value so that two are equal if all of their bits are."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return [(bits(key), bits(one)) for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [bits(one) for one in value]
    return value.tobytes() if isinstance(value, np.ndarray) else value


def own(arguments: list[Any]) -> list[Any]:
    """A copy of arguments; arrays that are not contiguous, or cannot be written to, stay what they are."""
    return [argument if is_special(argument) else copy.deepcopy(argument) for argument in arguments]


def is_special(argument: Any) -> bool:
    if not isinstance(argument, np.ndarray):
        return False
    return not (argument.flags.c_contiguous and argument.flags.writeable)


def test_the_contract_has_functions() -> None:
    assert len(FUNCTIONS) > 20


@every_make
def test_a_make_has_the_functions_of_the_contract_and_no_others(make: Any) -> None:
    public = {name for name, value in vars(make).items() if name[0] != "_" and inspect.isroutine(value)}
    foreign = {name for name in public if getattr(vars(make)[name], "__module__", None) not in (make.__name__, None)}
    assert sorted(public - foreign) == FUNCTIONS
    assert make.CONTRACT == CONTRACT
    assert make.MAKE


def test_the_portable_make_takes_what_the_contract_says() -> None:
    for name in FUNCTIONS:
        promised = list(inspect.signature(vars(contract.Core)[name]).parameters)[1:]
        assert list(inspect.signature(getattr(portable, name)).parameters) == promised, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_by_hand(name: str) -> None:
    """The portable make gives what was worked out by hand."""
    check_by_hand(portable, name)


@needs_core
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_compiled_make_by_hand(name: str) -> None:
    check_by_hand(COMPILED, name)


def check_by_hand(make: Any, name: str) -> None:
    assert BY_HAND[name]
    for case in BY_HAND[name]:
        arguments = own(case.arguments)
        assert bits(getattr(make, name)(*arguments)) == bits(case.result), case
        for at, expected in case.written.items():
            assert arguments[at].tolist() == expected, (case, at)


@needs_core
@pytest.mark.parametrize("name", FUNCTIONS)
def test_random_calls(name: str) -> None:
    """The C does what the portable make does, and declines what it declines."""
    rng = random.Random(name)
    done = 0
    for _ in range(many(1_000)):
        state = rng.getstate()
        arguments = RANDOM[name](rng)
        rng.setstate(state)
        again = RANDOM[name](rng)
        expected = outcome(portable, name, again)
        assert outcome(COMPILED, name, arguments) == expected, RANDOM[name](_at(state))
        done += expected[0] != "refused"
    assert done


def _at(state: Any) -> random.Random:
    rng = random.Random()
    rng.setstate(state)
    return rng


def hostile(argument: Any) -> list[Any]:
    """What may be given in place of an argument by mistake."""
    if isinstance(argument, bool):
        return []
    if isinstance(argument, int):
        return [-1, -2, argument + 1, 2**31, 2**62, "text", 1.5, None]
    if not isinstance(argument, np.ndarray):
        return [None, 7, "text", [], {}]
    frozen = argument.copy()
    frozen.flags.writeable = False
    others: list[Any] = [None, 7, "text", frozen, argument[:-1].copy(), np.append(argument, argument[:1])]
    with np.errstate(all="ignore"):
        others += [argument.astype(kind) for kind in (np.int16, np.int32)]
    others += [np.repeat(argument, 2)[::2], np.zeros(0, argument.dtype)]
    if argument.itemsize == 8 and len(argument):
        wild = argument.copy().view(np.int64)
        wild[0] = -(2**62)
        others.append(wild.view(argument.dtype))
    return others


@needs_core
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hostile_calls(name: str) -> None:
    """One argument of a good call is wrong: both refuse it, or both make the same of it."""
    rng = random.Random(name)
    cases = [case.arguments for case in BY_HAND[name]] + [RANDOM[name](rng) for _ in range(many(20))]
    tried = 0
    for arguments in cases:
        for at, argument in enumerate(arguments):
            for wrong in hostile(argument):
                given = [*arguments[:at], wrong, *arguments[at + 1 :]]
                expected = outcome(portable, name, own(given))
                assert outcome(COMPILED, name, own(given)) == expected, (at, wrong, arguments)
                tried += 1
    assert tried


@needs_core
@pytest.mark.parametrize("name", FUNCTIONS)
def test_another_number_of_arguments(name: str) -> None:
    arguments = BY_HAND[name][0].arguments
    for given in (arguments[:-1], [*arguments, None]):
        assert outcome(portable, name, own(given))[0] == "refused"
        assert outcome(COMPILED, name, own(given))[0] in ("refused", False, None)


def test_every_case_is_of_a_function() -> None:
    assert set(BY_HAND) == set(RANDOM) == set(FUNCTIONS)
    assert all(isinstance(case, Case) for cases in BY_HAND.values() for case in cases)
