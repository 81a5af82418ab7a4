"""The rules of the house: who may import whom, what a light start loads, what never occurs in the source."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import syntax
from houses import OTHER_SATELLITES

import goldrank

SOURCE = Path(goldrank.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

_GROUND = ("base", "conventions", "core", "data")
_ROOMS = ("io", "engine", "match", "measures", "evaluation")
LAYERS = {
    "__init__": (),
    "base": (),
    "core": (),
    "conventions": ("base",),
    "data": ("base", "conventions", "core"),
    "io": _GROUND,
    "engine": _GROUND,
    "match": _GROUND,
    "measures": _GROUND,
    "evaluation": ("__init__", *_GROUND, *_ROOMS),
    "comparison": ("__init__", *_GROUND, *_ROOMS),
    "report": ("__init__", *_GROUND, *_ROOMS, "comparison"),
    "cli": ("__init__", *_GROUND, *_ROOMS, "comparison", "report"),
    "__main__": ("cli",),
}
"""What each part of the core may import at the head of its modules, from the ground up. It imports no satellite."""

_CORE = ("__init__", *_GROUND, *_ROOMS, "comparison", "report", "cli")
LAYERS |= {name: (*_CORE, *others) for name, others in OTHER_SATELLITES.items()}

LAZILY = {
    "__init__": {"base"},  # public names, when first used
    "pytest_plugin": {"base", "data", "gating", "history"},  # every run of pytest loads it, few use it
    "data": {
        "measures",
        "io",
        "report",
    },  # Scores know every spelling; nouns read; results show themselves
    "base": {"data", "measures", "conventions"},  # for type checkers
    "conventions": {"data", "measures"},  # for type checkers; a tool that changes a run makes a new one
    "comparison": {"report"},  # results show themselves in notebooks
    "gating": {"history"},  # a baseline may be a record of a history
}
"""What a part may import inside functions, or for type checkers alone, beyond its layer."""


def part_of(path: Path) -> str:
    """The part of the house that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


PARTS = {part_of(path) for path in FILES}


def imports(tree: ast.Module, path: Path) -> list[tuple[str, bool]]:
    """The parts of goldrank that a file imports, and whether it does so only when needed."""
    found = []

    def visit(node: ast.AST, lazy: bool) -> None:
        for name in _imported(node, path):
            parts = name.split(".")
            if parts[0] == "goldrank":
                found.append((parts[1] if len(parts) > 1 else "__init__", lazy))
        lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_for_type_checkers(node)
        for child in syntax.statements(node):
            visit(child, lazy)

    visit(tree, False)
    return found


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imported(node: ast.AST, path: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
    if node.module != "goldrank":
        return [node.module or ""]
    return [f"goldrank.{alias.name}" if alias.name in PARTS else "goldrank" for alias in node.names]


def test_imports_point_one_way():
    parts = {path: part_of(path) for path in FILES}
    assert set(parts.values()) <= LAYERS.keys(), "a part has no place in the table of layers"
    wrong = [
        f"{path.relative_to(SOURCE)}: {part} must not import {imported}"
        for path, part in parts.items()
        for imported, lazy in imports(ast.parse(path.read_text()), path)
        if imported not in {part, *LAYERS[part]} | (LAZILY.get(part, set()) if lazy else set())
    ]
    assert wrong == []


def test_the_table_sees_violations(tmp_path):
    """Imports at the head, inside functions and for type checkers are told apart."""
    file = tmp_path / "sample.py"
    file.write_text(
        "import goldrank.io\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from goldrank.engine import place\n"
        "from goldrank import evaluation, __version__\n"
        "def f():\n    from goldrank.measures import parse\n"
    )
    assert sorted(imports(ast.parse(file.read_text()), file)) == [
        ("__init__", False),
        ("engine", True),
        ("evaluation", False),
        ("io", False),
        ("measures", True),
    ]


# The core.


def decisions(tree: ast.AST, name: str) -> list[int]:
    """The lines in which something depends on what a name is: a comparison, or whether it is there at all."""
    asked: list[tuple[ast.AST, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            asked += [(one, node.lineno) for one in (node.left, *node.comparators)]
        elif isinstance(node, ast.BoolOp):
            asked += [(one, node.lineno) for one in node.values]
        elif isinstance(node, ast.UnaryOp):
            asked.append((node.operand, node.lineno))
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            asked.append((node.test, node.lineno))
    return [line for one, line in asked if isinstance(one, ast.Name) and one.id == name]


def test_one_place_asks_which_core_there_is():
    """All others call it, and have one path."""
    asking = []
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asking += [path.relative_to(SOURCE).as_posix() for name in ("core", "compiled") for _ in decisions(tree, name)]
    assert asking == ["core/__init__.py"]
    assert [path.relative_to(SOURCE).as_posix() for path in FILES if "GOLDRANK_PURE" in code_of(path)] == asking


def test_decisions_are_seen():
    text = "if core is None: pass\nx = core or y\nx = 1 if core else 2\nassert not core\ncore.count(x) or y\nf(core)\n"
    assert sorted(decisions(ast.parse(text), "core")) == [1, 2, 3, 4]


def code_of(path: Path) -> str:
    """A file without comments and strings, but for names of the environment and of modules."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.unparse(tree)


def test_the_makes_of_the_core_are_no_concern_of_others():
    """They import `goldrank.core` or what both makes share, and never a make."""
    makes = ("goldrank._native", "goldrank.core.portable")
    shared = {"goldrank.core", "goldrank.core.contract", "goldrank.core.hashing"}
    outside = [path for path in FILES if part_of(path) != "core"]
    for path in outside:
        code = code_of(path)
        assert not [make for make in makes if make in code], path
        modules = set(re.findall(r"goldrank\.core[.\w]*", code))
        assert modules <= shared, path
        assert "from goldrank.core import portable" not in code, path
    assert sum("from goldrank.core import core" in code_of(path) for path in outside) > 10


# What is loaded when.


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after some code."""
    program = f"{code}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    path = [str(SOURCE.parent), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


HEAVY = {
    *("numpy", "polars", "scipy", "rich", "pandas", "pyarrow", "jinja2", "click", "rapidfuzz", "pyspark", "sqlite3"),
    "msgspec",
}
DICTS = "import goldrank; goldrank.evaluate({'q': {'a': 1}}, {'q': {'a': 0.5, 'b': 0.7}}"


def test_a_class_name_has_one_meaning():
    """The drop-ins and wrappers of other tools excepted, whose names are theirs."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        if path.relative_to(SOURCE).parts[0] not in ("compat", "integrations"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(path.name)
    assert len(places) > 200
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_import_loads_nothing_heavy():
    assert not loaded("import goldrank") & HEAVY


def test_dicts_need_numpy_alone():
    found = loaded(f"{DICTS}, ['nDCG@10', 'AP'])") & HEAVY
    assert found == {"numpy"}


def test_printing_scores_needs_numpy_alone():
    code = f"{DICTS}); repr(s), s._repr_html_(), s.to_json()".replace("goldrank.evaluate", "s = goldrank.evaluate")
    assert loaded(code) & HEAVY == {"numpy"}


def test_trec_files_need_numpy_alone(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 0.5 tag\nq Q0 b 2 0.25 tag\n")
    call = f"goldrank.evaluate({str(tmp_path / 'qrels')!r}, {str(tmp_path / 'run')!r}, 'RR')['RR']"
    assert loaded(f"import goldrank; assert {call} == 1.0") & HEAVY == {"numpy"}


def test_frames_bring_polars():
    """The probe of the tests above sees a library that is loaded."""
    frame = "import polars; polars.DataFrame({'qid': ['q'], 'doc': ['a'], 'score': [1.0]})"
    assert "polars" in loaded(frame)


# Documentation and bans.


@pytest.mark.parametrize("name", [name for name in goldrank.__all__ if name != "__version__"])
def test_public_names_are_documented(name):
    found = getattr(goldrank, name)
    doc = inspect.getdoc(found) or ""
    assert len(doc.split()) >= 4
    if inspect.isclass(found):
        inherited = {inspect.getdoc(base) for base in found.__mro__[1:]}
        assert doc not in inherited, "the docstring is its own, not a parent's"


def test_all_public_names_resolve():
    assert set(goldrank.PUBLIC) < set(goldrank.__all__)
    assert set(dir(goldrank)) == set(goldrank.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = goldrank.no_such_name


BANNED_MODULES = {
    *("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "yaml"),  # they may run what they read
    *("requests", "httpx", "urllib.request", "http.client", "ftplib", "telnetlib", "smtplib"),  # the network
}
BANNED_CALLS = {"eval", "exec", "compile", "__import__", "yaml.load", "os.system", "os.popen", "tempfile.mktemp"}


def _called(node: ast.expr) -> str:
    """What is called, as `name` or `module.name`; anything longer is none of BANNED_CALLS."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def offences(text: str) -> list[str]:
    """What in a source text must not be there."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            names = {module or alias.name for alias in node.names}
            found += sorted({part for name in names for part in (name, name.split(".")[0])} & BANNED_MODULES)
        elif isinstance(node, ast.Call):
            name = _called(node.func)
            if name in BANNED_CALLS:
                found.append(name)
            for keyword in node.keywords:
                if keyword.arg == "shell" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value):
                    found.append("shell=True")
                if keyword.arg == "allow_pickle":
                    found.append("allow_pickle")
    return found


ALLOWED = {"judging/endpoint.py": {"httpx"}, "retrieval/http_engine.py": {"httpx"}}
"""The two doors to the network: judges behind an endpoint, and search engines, both of which the user names."""


@pytest.mark.slow
def test_nothing_banned():
    names = {path: path.relative_to(SOURCE).as_posix() for path in FILES}
    found = {name: set(offences(path.read_text())) - ALLOWED.get(name, set()) for path, name in names.items()}
    assert {name: banned for name, banned in found.items() if banned} == {}


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from pickle import loads", "import urllib.request", "from http.client import HTTPConnection",
     "eval('1')", "exec(x)", "yaml.load(f)", "run(x, shell=True)",
     "run(x, shell=flag)", "tempfile.mktemp()", "np.load(f, allow_pickle=True)"],
)  # fmt: skip
def test_bans_are_seen(text):
    assert len(offences(text)) == 1


def test_bans_let_the_harmless_through():
    assert offences("ast.literal_eval(x); re.compile(y); run(x, shell=False); json.load(f)") == []


def test_no_machine_paths():
    """Nothing in the source points to a folder of somebody's machine."""
    machine = re.compile(r"[\"'\s](/home/|/Users/|/tmp/|/root/|[A-Z]:\\\\)")
    assert [str(path.relative_to(SOURCE)) for path in FILES if machine.search(path.read_text())] == []
