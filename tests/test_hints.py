"""Every hint is true: what it names is there, and following it leads to a result or to the next hint."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import re
import shlex
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import places
import pytest

import goldrank
from goldrank import cli
from goldrank.agents.files import NAMES as SEARCHES
from goldrank.conventions import POLICIES
from goldrank.io.columns import ROLES
from goldrank.measures import REGISTRY

# 1. What hints name.

FOREIGN = {
    *("mp_context", "group_id", "eval_group", "qid", "query_embedding"),
    *("groupBy", "embed", "fit", "datetime", "agg", "max"),
}
"""Names of Python, Spark, LightGBM, XGBoost, CatBoost and Haystack, and examples of a user's own names."""
OF_OTHER_PROGRAMS = {"--preload"}
WRITTEN = {"old", "new", "no", "yes"}
"""Names that an example makes up: runs, and grades of a prompt."""


def hint_texts() -> Iterator[tuple[str, str]]:
    """The literal texts of all hints in src, with their files."""
    for path in sorted((places.ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            for text in literals(hint_of(node)):
                yield str(path.relative_to(places.ROOT)), text


def hint_of(node: ast.AST) -> ast.expr | None:
    """What is passed as `hint=`, or assigned to a name with "hint" in it."""
    if isinstance(node, ast.keyword) and node.arg in ("hint", "instead"):
        return node.value
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    names = [getattr(target, "id", getattr(target, "attr", "")) for target in targets]
    if any("hint" in name.lower() for name in names):
        return node.value  # type: ignore[attr-defined, no-any-return]
    return None


def literals(value: ast.expr | None) -> Iterator[str]:
    if value is None:
        return
    for node in ast.walk(value):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def commands_and_options() -> tuple[set[str], set[str]]:
    commands: set[str] = set()
    options: set[str] = set()

    def walk(command: click.Command, path: str) -> None:
        context = click.Context(command)
        for parameter in command.get_params(context):
            options.update(parameter.opts, parameter.secondary_opts)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                commands.add(name)
                walk(below, f"{path} {name}")

    (group,) = {id(value): value for value in vars(cli).values() if isinstance(value, click.Group)}.values()
    walk(group, "")
    return commands, options


@cache
def arguments() -> frozenset[str]:
    """Every argument of a public function, method or class, of a measure, a policy and a role of --map."""
    names = {*POLICIES, *ROLES}
    for declared in REGISTRY.values():
        names |= declared.options.keys()

    modules = [goldrank]
    packages = [places.ROOT / "src" / "goldrank" / name for name in ("compat", "fusion", "match", "judging")]
    for folder in packages:
        for path in folder.rglob("*.py"):
            tree = ast.parse(path.read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    names.update(argument.arg for argument in (*node.args.args, *node.args.kwonlyargs))
                if isinstance(node, ast.ClassDef):
                    fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
                    names.update(field.id for field in fields if isinstance(field, ast.Name))
    for module in modules:
        for name in module.__all__:
            names.update(arguments_of(getattr(module, name)))
    return frozenset(names)


def arguments_of(thing: object) -> set[str]:
    names: set[str] = set()
    members = [thing]
    if inspect.isclass(thing):
        names.update(getattr(thing, "__annotations__", {}))
        members += [value for name, value in inspect.getmembers(thing) if not name.startswith("__")]
    for member in members:
        if callable(member):
            try:
                names.update(inspect.signature(member).parameters)
            except (TypeError, ValueError):
                continue
    return names


@cache
def callables() -> frozenset[str]:
    """Names that can be called: public ones, measures, methods, classes of the drop-ins and of options."""
    names = {*goldrank.__all__, *REGISTRY, *SEARCHES, *vars(builtins)}
    for folder in ("compat", "match", "measures", "judging", "data"):
        for path in (places.ROOT / "src" / "goldrank" / folder).rglob("*.py"):
            tree = ast.parse(path.read_text())
            names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return frozenset(names)


HINTS = list(dict.fromkeys(hint_texts()))


def test_there_are_hints() -> None:
    assert len(HINTS) > 500


def test_options_in_hints_are_options() -> None:
    _, options = commands_and_options()
    wrong = []
    for file, text in HINTS:
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
            if flag not in options | OF_OTHER_PROGRAMS and not flag.startswith("--goldrank-"):
                wrong.append(f"{file}: {flag} in {text!r}")
    assert not wrong, "\n".join(wrong)


def test_commands_in_hints_are_commands() -> None:
    """A command is written as code, or with what it takes behind it."""
    commands, _ = commands_and_options()
    wrong = []
    for file, text in HINTS:
        for name in re.findall(r"`goldrank ([a-z_]+)", text) + re.findall(
            r"\bgoldrank ([a-z_]+) (?:--|[A-Z]{2,}|\{)", text
        ):
            if name not in commands:
                wrong.append(f"{file}: goldrank {name} in {text!r}")
    assert not wrong, "\n".join(wrong)


def test_arguments_in_hints_are_arguments() -> None:
    known = arguments() | FOREIGN | WRITTEN
    wrong = []
    for file, text in HINTS:
        for name in re.findall(r"(?<![\w.\-{'\"/,@:+])([a-z][a-z_]+)=(?!=)", text):
            if name not in known:
                wrong.append(f"{file}: {name}= in {text!r}")
    assert not wrong, "\n".join(wrong)


def test_calls_in_hints_can_be_made() -> None:
    known = callables() | FOREIGN | {"BROADCAST"}
    wrong = []
    for file, text in HINTS:
        for name in re.findall(r"(?<![\w.])([A-Za-z_]\w+)\(", text):
            if name not in known:
                wrong.append(f"{file}: {name}( in {text!r}")
    assert not wrong, "\n".join(wrong)


# 2. Hints that are followed, as a user would who takes the first option that is named.

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n"
RUN = "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d3 1 1 t\n"
"""RR is 1/2 for q1 and 1 for q2: 0.7500."""
SEARCH = {
    "took": 1,
    "hits": {"total": {"value": 2}, "hits": [{"_id": "d2", "_score": 2.0}, {"_id": "d1", "_score": 1.0}]},
}
FILES = {
    "qrels": QRELS,
    "run": RUN,
    "twice.run": "q1 Q0 d2 1 3 t\nq1 Q0 d2 2 2 t\nq1 Q0 d1 3 1 t\nq2 Q0 d3 1 1 t\n",
    "tags.run": RUN + RUN.replace(" t\n", " u\n"),
    "contradicting.qrels": "q1 0 d1 0\n" + QRELS,
    "ratings.csv": "user,item,rating\nq1,d1,4.5\nq1,d2,2\nq2,d3,4\n",
    "gains.qrels": "q1 0 d1 1.5\nq1 0 d2 0\nq2 0 d3 1\n",
    "columns.csv": "topic number,identifier,value\nq1,d2,2\nq1,d1,1\nq2,d3,1\n",
    "chunks.run": "q1 Q0 d2#1 1 3 t\nq1 Q0 d2#2 2 2 t\nq1 Q0 d1#1 3 1 t\nq2 Q0 d3#1 1 1 t\n",
    "three.qrels": "q1 d1 1\nq1 d2 0\nq2 d3 1\n",
    "some.run": "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n",
    "answers.jsonl": json.dumps(SEARCH) + "\n",
    "one.qrels": "q1 0 d1 1\n",
    "subtopics.qrels": "q1 1 d1 1\nq1 2 d1 0\nq1 2 d2 1\n",
    "texts.jsonl": '{"question": "x", "retrieved": ["Rome is in Italy"], "references": ["Rome is in Italy"]}\n' * 2,
    "users.jsonl": '{"user": "q1", "recommendations": ["d2", "d1"]}\n{"user": "q2", "recommendations": ["d3"]}\n',
    "wide.csv": "user,rec_1,rec_2\nq1,d2,d1\nq2,d3,\n",
}
COLUMNS = {"query": "topic number", "doc": "identifier", "score": "value"}


def named_option(hint: str) -> list[str]:
    """The first option of a hint with its value, or its measure."""
    option = re.search(r"(--[a-z][a-z-]+)(?: ('[^']+'|[\w.=@{}-]+))?", hint)
    assert option is not None, hint
    flag, value = option[1], (option[2] or "").strip("'").rstrip(".")
    words = [flag]
    if flag == "--map" and "COLUMN" in value:
        value = hint.partition("--map ")[2].split(", or")[0].strip("'")
        for role, column in COLUMNS.items():
            value = value.replace(f"{role}=COLUMN", f"{role}={column}")
    if flag not in ("--by-tag", "--real-grades"):
        words.append(value)
    return words


def named_measure(hint: str) -> list[str]:
    measures = re.findall(r"\w+@\d+", hint)
    assert measures, hint
    return ["-m", measures[0]]


@pytest.mark.parametrize(
    ("command", "follow", "value"),
    [
        ("eval qrels twice.run -m RR", named_option, "0.7500"),  # the first d2 stays: q1 1/2
        ("eval qrels tags.run -m RR", named_option, "0.7500  0.7500"),
        ("eval contradicting.qrels run -m RR", named_option, "0.7500"),
        ("eval gains.qrels run -m RR", named_option, "0.7500"),
        ("eval qrels columns.csv -m RR", named_option, "0.7500"),
        ("eval qrels chunks.run -m RR", named_option, "0.7500"),
        ("eval three.qrels run -m RR", named_option, "0.7500"),
        ("eval qrels some.run -m RR --convention missing=error", None, "0.2500"),
        ("eval one.qrels answers.jsonl -m RR", named_option, "0.5000"),
        ("eval subtopics.qrels run -m RR", named_measure, "1.0000"),
        ("eval ratings.csv run -m RR", "--relevant-from 4", "0.7500"),
        ("eval ratings.csv users.jsonl -m RR", "--relevant-from 4", "0.7500"),
        ("eval ratings.csv wide.csv -m RR", "--relevant-from 4", "0.7500"),
    ],
)
def test_following_a_hint(command, follow, value, tmp_path, monkeypatch, capsys) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)
    assert cli.run(words) == 2
    hint = capsys.readouterr().err.partition("\n")[2]

    if follow is None:
        assert "--convention missing=zero" in hint
        words = [*words[:-1], "missing=zero"]
    elif isinstance(follow, str):
        assert follow in hint
        words += follow.split()
    else:
        words += follow(hint)
    assert cli.run(words) == 0, words
    assert value in capsys.readouterr().out


def test_texts_lead_to_the_command_for_texts(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "texts.jsonl").write_text(FILES["texts.jsonl"])
    monkeypatch.chdir(tmp_path)
    assert cli.run(["eval", "texts.jsonl"]) == 2
    advised = re.search(r"`goldrank (\w+) FILE -o scores.json`", capsys.readouterr().err)
    assert advised is not None
    assert cli.run([advised[1], "texts.jsonl", "-m", "Cover@5", "-o", "scores.json"]) == 0
    assert "Cover@5 1.0000" in " ".join(capsys.readouterr().out.split())
    assert cli.run(["gate", "scores.json", "--rule", "Cover@5 >= 0.9"]) == 0


@pytest.mark.parametrize(
    "command", ["eval one.json", "compare one.json one.json", "gate one.json --rule", "record one.json"]
)
def test_one_record_of_texts_leads_there_too(command, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "one.json").write_text('{"q": "what?", "pieces": ["some words here"], "gold": ["other words there"]}')
    monkeypatch.chdir(tmp_path)
    words = command.split()
    if words[-1] == "--rule":
        words.append("R@5 >= 0.5")
    assert cli.run(words) == 2
    assert "one.json: holds texts and no ids" in capsys.readouterr().err


# 3. Hints that were false.


def mismatch_hint(judged: list[str], retrieved: list[str]) -> str:
    with pytest.raises(goldrank.MismatchError) as caught:
        goldrank.evaluate({"q": dict.fromkeys(judged, 1)}, {"q": retrieved}, "AP")
    return caught.value.hint or ""


def test_one_id_that_begins_another_by_chance_is_no_addition() -> None:
    assert "in addition" not in mismatch_hint(["40891", "11", "12", "13"], ["40891x0", "a7", "b8", "c9"])
    hint = mismatch_hint(["d1", "d2", "d3"], ["corpus/d1", "corpus/d2", "corpus/d7"])
    assert "ids of the run have 'corpus/' before in addition" in hint
    hint = mismatch_hint(["d1.txt", "d2.txt", "d9.txt"], ["d1", "d2", "d3"])
    assert "ids of the judgements have '.txt' behind in addition" in hint


def test_decimals_of_pandas_are_told_by_their_form() -> None:
    hint = mismatch_hint(["23.0", "30.0"], ["426", "658"])  # no number is on both sides
    assert "12.0 for 12" in hint
    assert "astype" in hint
    assert "12.0 for 12" not in mismatch_hint(["23.5", "30.0"], ["426", "658"])


def test_a_missing_baseline_is_not_another_file(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 1.0 x\n")
    (tmp_path / "ids.jsonl").write_text("{}\n")
    gate = ["gate", "qrels", "run", "--rule", "RR: -1%", "--baseline", "nosuch.json"]
    assert cli.run(gate) == 2
    message = capsys.readouterr().err
    assert "ids.jsonl" not in message
    assert "gate --update" in message
    assert cli.run([*gate, "--update"]) == 0
    assert cli.run(gate) == 0


def test_a_map_for_one_side_is_named_where_it_fails(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judged.csv").write_text(",Search term,SKU,Rating (0-3)\n0,red sofa,7,3\n1,red sofa,8,0\n")
    (tmp_path / "queries.txt").write_text("red sofa\n")
    (tmp_path / "out.jsonl").write_text('{"took": 1, "hits": {"hits": [{"_id": "7", "_score": 2.0}]}}\n')
    command = ["eval", "judged.csv", "out.jsonl", "-m", "RR"]
    assert cli.run(command) == 2
    mapping = re.search(r"--map '([^']+)'", capsys.readouterr().err)
    assert mapping is not None
    assert cli.run([*command, "--map", mapping[1].replace("qrels.", "")]) == 2
    assert "qrels.query=" in capsys.readouterr().err
    assert cli.run([*command, "--map", mapping[1]]) == 2
    assert "query=@queries.txt" in capsys.readouterr().err
    assert cli.run([*command, "--map", mapping[1], "--map", "query=@queries.txt"]) == 0
    assert "RR 1.0000" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("role", ["relevant_ids", "expected_ids", "gold_ids"])
def test_a_role_under_the_name_of_another_tool(role) -> None:
    with pytest.raises(goldrank.OptionError, match="Did you mean reference_ids"):
        goldrank.read_qrels([], columns={role: "x"})


def test_arrays_in_the_wrong_verb_lead_to_the_right_one() -> None:
    grades = np.array([[1, 0, 2, 0, 0]] * 4)
    scores = np.array([[0.1, 0.2, 0.3, 0.4, 0.5]] * 4)
    with pytest.raises(goldrank.InputError, match=re.escape("compare({'old': evaluate_arrays(...)")):
        goldrank.compare(grades, {"old": scores, "new": -scores})
    with pytest.raises(goldrank.InputError, match=re.escape("compare({'old': evaluate_arrays(grades, old)")):
        goldrank.evaluate_arrays(grades, {"old": scores, "new": -scores})
    old, new = (goldrank.evaluate_arrays(grades, values, "RR") for values in (scores, -scores))
    with pytest.raises(goldrank.InputError, match=re.escape("compare({'old': scores, 'new': other_scores})")):
        goldrank.compare(old, new)
    assert goldrank.compare({"old": old, "new": new}).pair.difference == 1 - 1 / 3  # rank 1, and rank 3 before


def missing_files() -> dict[str, Any]:
    return {
        "evaluate": lambda: goldrank.evaluate("nosuch.txt", "run.txt"),
        "compare": lambda: goldrank.compare({"q": {"d": 1}}, {"a": "nosuch.run", "b": {"q": ["d"]}}),
        "texts": lambda: goldrank.evaluate_texts("nosuch.jsonl"),
        "read": lambda: goldrank.read_qrels("nosuch"),
        "train": lambda: goldrank.Catalogue(train="nosuch.csv"),
    }


@pytest.mark.parametrize("verb", missing_files())
def test_a_missing_file_shows_the_message_and_few_frames(verb, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GOLDRANK_TRACEBACK", raising=False)
    with pytest.raises(goldrank.GoldrankError, match="nosuch") as caught:
        missing_files()[verb]()
    frames = [
        frame for frame in traceback.extract_tb(caught.value.__traceback__) if "src" in Path(frame.filename).parts
    ]
    assert len(frames) <= 4


# 4. Words.


@pytest.mark.parametrize(
    ("command", "wrong", "right"),
    [
        ("eval qrels run -m ndgc@10", "ndgc@10", "nDCG@10"),
        ("eval qrels run --convention ranxx", "ranxx", "ranx"),
        ("eval qrels run --convention missing=skipp", "skipp", "skip"),
        ("evla qrels run", "evla", "eval"),
        ("eval qrles run", "qrles", "qrels"),
    ],
)
def test_following_did_you_mean(command, wrong, right, tmp_path, monkeypatch, capsys) -> None:
    for name in ("qrels", "run"):
        (tmp_path / name).write_text(FILES[name])
    monkeypatch.chdir(tmp_path)
    assert cli.run(command.split()) == 2
    assert f"Did you mean {right}?" in capsys.readouterr().err
    assert cli.run(command.replace(wrong, right).split()) == 0
