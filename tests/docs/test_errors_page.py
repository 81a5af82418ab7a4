"""docs/errors.md has a line for every code that an error can have, and for no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import places
import pytest
from raising import raises_code

from goldrank.base.errors import InputError, OptionError, one_of

PAGE = places.ROOT / "docs" / "errors.md"
LINE = re.compile(r"^\| `([a-z0-9]+(?:-[a-z0-9]+)*)` \| (\S.*\S) \|$", re.MULTILINE)


def codes(source: str) -> Iterator[str]:
    """The constants that are given as `code=`, or are what it is if nothing is given."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        elif isinstance(node, ast.arguments):
            positional = zip(reversed([*node.posonlyargs, *node.args]), reversed(node.defaults), strict=False)
            given = [value for arg, value in (*positional, *zip(node.kwonlyargs, node.kw_defaults, strict=True))
                     if arg.arg == "code" and value is not None]  # fmt: skip
        else:
            continue
        for value in given:
            for choice in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                if isinstance(choice, ast.Constant) and isinstance(choice.value, str):
                    yield choice.value


def test_every_code_has_a_line():
    sources = [path.read_text(encoding="utf-8") for path in (places.ROOT / "src" / "goldrank").rglob("*.py")]
    listed = [code for code, _ in LINE.findall(PAGE.read_text(encoding="utf-8"))]
    assert listed == sorted({code for source in sources if "code" in source for code in codes(source)})


def test_codes_are_found():
    source = (
        "raise E('x', code='a')\ndef f(x, code='b'): ...\ndef g(*, code='c'): h(code='d' if x == 'y' else 'e', z='f')"
    )
    assert sorted(codes(source)) == ["a", "b", "c", "d", "e"]


def test_another_code_is_not_taken():
    with raises_code(OptionError, "unknown-choice", match="ties is 'coin'"):
        one_of("coin", ["docid"], "ties")
    with pytest.raises(AssertionError, match="some words"), raises_code(InputError, "no-column"):
        raise InputError("some words", code="other")


def test_lines_are_short():
    assert [line for line in PAGE.read_text(encoding="utf-8").splitlines() if len(line) > 128] == []
