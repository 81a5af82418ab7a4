"""Packages that may be missing: what works without them, and what is said."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import bare
import places
import pytest
from syntax import statements

import goldrank
from goldrank.base import packages
from goldrank.base.errors import GoldrankError
from goldrank.base.packages import MissingPackageError, installed, needed

SOURCE = Path(goldrank.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PROJECT = tomllib.loads((places.ROOT / "pyproject.toml").read_text("utf-8"))["project"]


# The one way to import what may be missing.

OPTIONAL = {name.partition(".")[0] for name in packages.PARTS} | {
    *("markupsafe", "pandas", "pyarrow", "mlflow", "lz4", "cbor2"),  # not ours, but imported by ours
}


def unguarded(text: str) -> list[str]:
    """The imports of optional packages that are not inside `with needed(...)`."""
    found: list[str] = []

    def visit(node: ast.AST, guarded: bool) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.With):
            guarded = guarded or any(ast.unparse(item.context_expr).startswith("needed(") for item in node.items)
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found.extend(name for name in names if name.partition(".")[0] in OPTIONAL and not guarded)
        for child in statements(node):
            visit(child, guarded)

    if any(name in text for name in OPTIONAL):
        visit(ast.parse(text), False)
    return found


def test_every_import_says_what_to_install():
    found = {str(path.relative_to(SOURCE)): unguarded(path.read_text("utf-8")) for path in FILES}
    assert {name: imports for name, imports in found.items() if imports} == {}


def test_imports_without_a_guard_are_seen():
    text = (
        "if TYPE_CHECKING:\n    import polars\n"
        "def f():\n    from scipy.special import stdtr\n"
        "with needed('rich'):\n    import rich\n"
        "with suppress(ImportError):\n    import jinja2\n"
        "import numpy\n"
    )
    assert unguarded(text) == ["scipy.special", "jinja2"]


def test_a_lazy_module_is_imported_when_it_is_used_and_says_what_to_install():
    assert packages.Lazy("math").sqrt(4.0) == 2.0
    with pytest.raises(MissingPackageError, match="no_such_package is not installed"):
        _ = packages.Lazy("no_such_package.part").function
    code = "import sys; from goldrank.base.packages import special; assert not hasattr(special, '__wrapped__'); "
    code += "assert 'scipy' not in sys.modules; special.ndtr(0.0); assert 'scipy.special' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# What is said.


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("polars", "pip install 'goldrank[tables]'"),
        ("scipy", "pip install 'goldrank[statistics]'"),
        ("uvicorn", "pip install 'goldrank[serve]'"),
        ("pandas", "pip install pandas"),
    ],
)
def test_a_missing_package_is_answered_with_the_install_line(monkeypatch, package, line):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=re.escape(line)) as caught, needed(package):
        __import__(package)
    assert isinstance(caught.value, GoldrankError)
    assert isinstance(caught.value, ImportError)
    assert caught.value.exit_code == 2
    assert not installed(package)


def test_what_the_package_needs_itself_is_named_too(monkeypatch):
    """uvicorn without h11: the line that brings uvicorn brings it."""
    with pytest.raises(MissingPackageError, match=r"(?s)h11 is not installed.*goldrank\[serve\]"), needed("uvicorn"):
        raise ModuleNotFoundError("No module named 'h11'", name="h11")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        ImportError("cannot import name"),
        ModuleNotFoundError("No module named 'goldrank.no'", name="goldrank.no"),
    ],
)
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error)) as caught, needed("polars"):
        raise error
    assert caught.value is error


def test_nobody_is_sent_to_the_index_for_a_part_of_python():
    """`pip install lzma` would bring somebody's package of that name."""
    with pytest.raises(MissingPackageError) as caught, needed("lzma"):
        raise ModuleNotFoundError("No module named '_lzma'", name="_lzma")
    assert "pip" not in str(caught.value)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="zstd is in the standard library")
def test_a_compressed_file_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    (tmp_path / "run.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00" * 20)
    with pytest.raises(MissingPackageError, match=r"goldrank\[zstd\]"):
        goldrank.evaluate({"q": {"a": 1}}, tmp_path / "run.zst")


def test_no_bar_without_rich(monkeypatch):
    """A bar is a help, so that its package may be missing; whoever asks for one is told."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    asked = goldrank.run_retriever(lambda question: ["a text"], ["what?"])
    assert [item.retrieved for item in asked] == [("a text",)]
    with pytest.raises(MissingPackageError, match=r"goldrank\[terminal\]"):
        goldrank.run_retriever(lambda question: ["a text"], ["what?"], progress=True)


# What is promised in pyproject.toml.


def _name(requirement: str) -> str:
    return re.split(r"[\[>=; ]", requirement)[0]


def test_parts_are_the_extras():
    extras = PROJECT["optional-dependencies"]
    brought = {_name(one): part for part, all_of in extras.items() if part != "all" for one in all_of}
    assert brought == packages.PARTS
    (everything,) = extras["all"]
    assert set(everything.removeprefix("goldrank[").removesuffix("]").split(",")) == set(packages.PARTS.values())


def test_a_plain_install_brings_what_first_commands_need():
    plain = {_name(one): one for one in PROJECT["dependencies"]}
    assert set(plain) == {*bare.LIGHT, *packages.PLAIN}
    for package in packages.PLAIN:
        assert PROJECT["optional-dependencies"][packages.PARTS[package]] == [plain[package]], "two lower bounds"


# A light install.


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    """The Python of an environment with the packages of a light install, and a folder of files."""
    folder = tmp_path_factory.mktemp("light")
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    (folder / "run.txt").write_text("q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq2 Q0 x 1 2.5 t\nq2 Q0 c 2 1.5 t\n")
    (folder / "new.txt").write_text("q1 Q0 b 1 2.5 t\nq1 Q0 a 2 1.5 t\nq2 Q0 x 1 2.5 t\nq2 Q0 c 2 1.5 t\n")
    (folder / "qrels.json").write_text('{"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}')
    (folder / "run.json").write_text('{"q1": {"a": 2.5, "b": 1.5}, "q2": {"x": 2.5, "c": 1.5}}')
    (folder / "lists.jsonl").write_text('{"retrieved_ids": ["d2", "d1"], "expected_ids": ["d1"]}\n')
    (folder / "run.csv").write_text("query,doc,score\nq1,a,2.5\n")
    (folder / "texts.jsonl").write_text('{"question": "q", "retrieved": ["a red car"], "references": ["red car"]}\n')
    return bare.make(folder / "venv"), folder


def test_the_environment_is_bare(light):
    python, folder = light
    seen = f"from importlib.util import find_spec; print(*(n for n in {sorted(OPTIONAL)} if find_spec(n)))"
    done = bare.call(python, "-c", seen, folder=folder)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


WORKS = {
    ("eval", "qrels.txt", "run.txt", "-m", "RR"): "0.7500",
    ("eval", "qrels.json", "run.json", "-m", "RR"): "0.7500",
    ("eval", "lists.jsonl", "-m", "RR"): "0.5000",
    ("record", "qrels.txt", "run.txt", "-m", "RR"): "0.7500",
    ("choose", "rag"): "@",
    ("eval", "qrels.txt", "run.txt", "new.txt", "-q"): "nDCG@10",
    ("eval", "qrels.txt", "run.txt", "-m", "RR", "--as", "json"): "0.75",
    ("eval", "qrels.txt", "run.txt", "-m", "RR", "--as", "markdown"): "0.7500",
    ("trec_eval", "qrels.txt", "run.txt"): "map                   \tall\t0.7500",
    ("diff", "qrels.txt", "run.txt", "new.txt"): "1 worse",
    ("convert", "run.txt", "out.json"): "out.json",
    ("measures",): "nDCG",
    ("measures", "nDCG"): "Formula",
    ("--help",): "Usage",
    ("--version",): "goldrank",
    ("demo",): "household",
}
"""Both queries' first relevant documents are at ranks 1 and 2, so that the mean of 1/rank is 0.75; so is AP's."""
MISSES = {
    ("compare", "qrels.txt", "run.txt", "new.txt"): "goldrank[statistics]",
    ("eval", "qrels.txt", "run.txt", "--interval"): "goldrank[statistics]",
    ("eval", "qrels.txt", "run.csv"): "goldrank[tables]",
    ("convert", "run.txt", "out.parquet"): "goldrank[tables]",
    ("texts", "texts.jsonl"): "goldrank[texts]",
    ("serve", "--demo"): "goldrank[serve]",
}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", WORKS, ids=" ".join)
def test_what_works_with_a_light_install(light, arguments):
    python, folder = light
    done = bare.call(python, "-m", "goldrank", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    assert WORKS[arguments] in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", MISSES, ids=" ".join)
def test_what_does_not_is_answered_with_the_install_line(light, arguments):
    python, folder = light
    done = bare.call(python, "-m", "goldrank", *arguments, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install '{MISSES[arguments]}'" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_python_with_numpy_alone(light):
    """Mappings, files and arrays are scored, and saved, printed and loaded again."""
    python, folder = light
    program = """
import goldrank, numpy
scores = goldrank.evaluate({'q': {'a': 1, 'b': 2}}, {'q': {'b': 0.5, 'a': 0.7}}, ['RR', 'nDCG@10'])
assert scores['RR'] == 1.0
assert goldrank.evaluate('qrels.txt', 'run.txt', 'RR')['RR'] == 0.75
assert goldrank.evaluate('qrels.json', 'run.json', 'RR')['RR'] == 0.75
assert goldrank.evaluate_arrays(numpy.array([[0, 1]]), numpy.array([[0.5, 0.1]]), 'RR')['RR'] == 0.5
scores.save('saved.json')
assert goldrank.Scores.load('saved.json') == scores
print(scores, scores._repr_html_())
for name, part in [('to_polars', 'tables'), ('to_pandas', 'pandas')]:
    try:
        getattr(scores, name)()
    except ImportError as error:
        assert isinstance(error, goldrank.GoldrankError)
        assert part in str(error), error
    else:
        raise AssertionError(name)
"""
    done = bare.call(python, "-c", program, folder=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_terminal_without_rich(light):
    pty = pytest.importorskip("pty")
    python, folder = light
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [str(python), "-m", "goldrank", "eval", "qrels.txt", "run.txt", "-m", "RR"],
        cwd=folder, stdout=child, stderr=child, env={"HOME": str(folder), "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(child)
    seen = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:  # Linux says so that the other end was closed
            break
        if not piece:
            break
        seen += piece
    os.close(parent)
    assert process.wait() == 0, seen
    assert b"0.7500" in seen
    assert b"\x1b[" not in seen


def test_the_page_shows_what_is_said():
    page = (places.ROOT / "docs" / "install.md").read_text("utf-8")
    assert f"goldrank: scipy is not installed\n  {packages.install_hint('scipy')}\n" in page
    for package, part in packages.PARTS.items():
        assert re.search(rf"\| `{part}` \| .*{package}", page), package
