"""One meaning per option everywhere: a walk over every command; and nouns as options, by their signatures."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click
import pytest

from goldrank import Calls, Evidence, Fusion, Matching, Statistics
from goldrank.base.errors import InputError, OptionError, Position
from goldrank.base.validating import problems
from goldrank.cli import all_commands, load, old_names, run, top_level
from goldrank.cli.commands import HEADINGS, PromptCommand
from goldrank.cli.error_line import error_line
from goldrank.cli.nouns import NounOption, NounType
from goldrank.cli.options import CATALOGUE, CONVENTION, STATISTICS
from goldrank.cli.text_options import ANSWERS, EVIDENCE, MATCHING
from goldrank.fusion.fuse_command import FUSION
from goldrank.judging.judge_command import POOL
from goldrank.judging.judge_options import CALLS

OWN_PROGRAM = "trec_eval"
"""It keeps trec_eval's own options."""
OF_THE_KIT = {("conformance", "--answers"), ("conformance", "--tolerance")}
"""Other programs are driven by these words, which the kit has made public."""


def options() -> Iterator[tuple[str, click.Option]]:
    """Every option of every command, with the command's name."""
    for name in all_commands():
        if name != OWN_PROGRAM:
            for param in load(name).params:
                if isinstance(param, click.Option):
                    yield name, param


def by_flag() -> dict[str, list[tuple[str, click.Option]]]:
    table: dict[str, list[tuple[str, click.Option]]] = {}
    for name, option in options():
        for flag in (*option.opts, *option.secondary_opts):
            if (name, flag) in OF_THE_KIT:
                continue
            table.setdefault(flag, []).append((name, option))
    return table


FLAGS = by_flag()


def meaning(option: click.Option) -> tuple[Any, ...]:
    """What an option is: its help, what it takes and whether it takes anything at all."""
    return option.help, option.metavar, option.is_flag, type(option.type).__name__


@pytest.mark.parametrize("flag", sorted(FLAGS))
def test_an_option_has_one_meaning(flag: str) -> None:
    meanings = {meaning(option): name for name, option in FLAGS[flag]}
    assert len(meanings) == 1, meanings


@pytest.mark.parametrize("flag", sorted(flag for flag in FLAGS if not flag.startswith("--")))
def test_a_short_option_is_short_for_one_long_one(flag: str) -> None:
    assert len({tuple(sorted(option.opts)) for _, option in FLAGS[flag]}) == 1


@pytest.mark.parametrize("name", [name for name, option in options() if "-m" in option.opts])
def test_measures_take_commas(name: str) -> None:
    (option,) = [option for of, option in FLAGS["-m"] if of == name]
    assert option.multiple
    assert option.callback is not None
    split = option.callback(click.Context(load(name)), option, ("nDCG@10,AP", "RR"))
    assert split == ("nDCG@10", "AP", "RR")


def test_there_are_twenty_commands_and_those_of_new_satellites() -> None:
    assert len(set(top_level()) - {"conformance", "schema", "run", "stages", "doctor", "init"}) == 20
    assert not set(top_level()) & set(old_names.COMMANDS)


@pytest.mark.parametrize("name", [name for name in all_commands() if name != OWN_PROGRAM])
def test_help_shows_six_options_first(name: str, capsys: Any) -> None:
    command = load(name)
    long = [option for of, option in options() if of == name]
    usual = command.usual if isinstance(command, PromptCommand) else ()
    assert len(usual) <= 6
    assert set(usual) <= {flag for option in long for flag in option.opts}, "an option of the table is not there"
    assert usual or len(long) <= 12
    assert run([*name.split(), "--help"]) == 0
    out = capsys.readouterr().out
    if usual:
        assert "--help-all" in out
        assert run([*name.split(), "--help-all"]) == 0
        out = capsys.readouterr().out
    assert all(flag in out for option in long for flag in option.opts)
    headings = [heading for heading in HEADINGS if f"\n{heading}:\n" in out]
    assert headings


def test_old_options_are_not_new_ones() -> None:
    """A word of an old version that is an option again would be answered wrongly where it is not one."""
    reused = {flag for flag in old_names.OPTIONS if flag in FLAGS}
    assert reused == {"--agreement", "--check", "--command", "--criteria", "--method", "--model"}


@pytest.mark.parametrize("words", [[], ["gate"], ["history"], ["judge"], ["eval"], ["serve"]])
def test_nothing_else_is_help(words: list[str], capsys: Any, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GOLDRANK_DB", raising=False)
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Usage: goldrank")
    assert "\\n" not in out
    assert err == ""


# Nouns.

NOUNS: list[NounOption] = [CONVENTION, STATISTICS, CATALOGUE, MATCHING, EVIDENCE, ANSWERS, FUSION, POOL, CALLS]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.flag)
def test_keys_are_those_of_the_signature(noun: NounOption) -> None:
    parameters = [
        each for each in inspect.signature(noun.noun).parameters.values() if each.kind is not each.VAR_KEYWORD
    ]
    assert {each.name for each in parameters} <= {*noun.keys, noun.word, *noun.elsewhere}
    for _, option in FLAGS[noun.flag]:
        assert isinstance(option.type, NounType)


@pytest.mark.parametrize(
    ("noun", "text", "wanted"),
    [
        (STATISTICS, "alpha=0.01,test=t", Statistics(alpha=0.01, test="t")),
        (STATISTICS, "correction=none,margin=none,samples=200", Statistics(correction="none", samples=200)),
        (MATCHING, "contains,unit=sentence", Matching("contains", unit="sentence")),
        (MATCHING, "guards=numbers+units", Matching(guards=["numbers", "units"])),
        (MATCHING, "guards=none", Matching(guards=[])),
        (EVIDENCE, "docs/,chunks=c.jsonl,similarity=none", Evidence("docs/", chunks="c.jsonl", similarity=None)),
        (FUSION, "wsum,weights=2+1,normalization=zmuv", Fusion("wsum", weights=[2, 1], normalization="zmuv")),
        (FUSION, "k=30", Fusion("rrf", k=30)),
        (CALLS, "max_cost=5,prices=0.5+1.5", Calls(max_cost=5, prices=(0.5, 1.5))),
    ],
)
def test_a_text_is_a_noun(noun: NounOption, text: str, wanted: object) -> None:
    assert noun.parse(text) == wanted


@pytest.mark.parametrize(
    ("noun", "text", "words"),
    [
        (STATISTICS, "alhpa=1", "Did you mean alpha? Its keys are: test, correction"),
        (STATISTICS, "t", "--statistics has no key 't'"),
        (STATISTICS, "alpha=x", "must be a number"),
        (STATISTICS, "seed=1.5", "must be a whole number"),
        (STATISTICS, "alpha=0.1,alpha=0.2", "alpha= twice"),
        (CONVENTION, "missing=zer", "Did you mean zero?"),
        (CONVENTION, "ranx,chroma", "two words"),
        (CALLS, "log=x.db", "It has an option of its own: --log."),
        (CALLS, "prices=a", "must be a number"),
        (ANSWERS, "judge=x", "--judge"),
    ],
)
def test_what_is_wrong_with_a_noun_is_said(noun: NounOption, text: str, words: str) -> None:
    with pytest.raises(OptionError) as error:
        noun.parse(text)
    assert words in str(error.value)


def test_a_noun_is_given_once(capsys: Any) -> None:
    assert run(["eval", "q", "r", "--convention", "ranx", "--convention", "missing=skip"]) == 2
    assert "say all of it at once" in capsys.readouterr().err


@pytest.mark.parametrize("name", old_names.COMMANDS)
def test_old_commands_name_the_new_one(name: str, capsys: Any) -> None:
    assert run([name, "x"]) == 2
    assert old_names.COMMANDS[name].split()[0].rstrip(",") in capsys.readouterr().err


@pytest.mark.parametrize("flag", [flag for flag in old_names.OPTIONS if flag not in FLAGS])
def test_old_options_name_the_new_one(flag: str, capsys: Any) -> None:
    assert run(["eval", "q", "r", flag, "x"]) == 2
    assert f"{flag} is now: {old_names.OPTIONS[flag]}" in capsys.readouterr().err


def test_an_error_is_one_line_of_json(capsys: Any, tmp_path: Any, monkeypatch: Any) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("q1 0 d1 1\nq1 0 d2\n")
    assert run(["eval", "q", "r", "--as", "json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    error = json.loads(err)
    assert problems(error, "error") == []
    assert (error["where"]["file"], error["where"]["line"]) == ("q", 2)
    assert (error["exit_code"], error["command"]) == (2, "eval")
    assert run(["eval", "q", "--as=json", "--no-such"]) == 2
    usage = json.loads(capsys.readouterr().err)
    assert problems(usage, "error") == []
    assert usage["code"] == "usage"


def test_errors_are_json_by_the_environment(capsys: Any, tmp_path: Any, monkeypatch: Any) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDRANK_ERRORS", "json")
    for words in (["history", "show", "1", "--db", "none.db"], ["schema", "recor"], ["no-such-command"], ["eval", "q"]):
        code = run(words)
        error = json.loads(capsys.readouterr().err.splitlines()[-1])
        assert problems(error, "error") == [], error
        assert error["exit_code"] == code


@pytest.mark.parametrize(
    ("where", "place", "start"),
    [
        ("a.jsonl:3, retrieved[1]", {"file": "a.jsonl", "line": 3}, "retrieved[1]: "),
        ("C:\\x.run:12:4", {"file": "C:\\x.run", "line": 12, "column": 4}, ""),
        (Position("a", 2), {"file": "a", "line": 2}, ""),
        ("qrels", {"file": "qrels"}, ""),
        (None, None, ""),
    ],
)
def test_where_an_error_is(where: Any, place: Any, start: str) -> None:
    import json

    facts = json.loads(error_line(InputError("is wrong", where=where), 2, "eval"))
    assert problems(facts, "error") == []
    assert facts["where"] == place
    assert facts["what"] == f"{start}is wrong"
    assert facts["code"] == "input-error"


def test_a_fault_of_goldrank_is_a_bug(capsys: Any, monkeypatch: Any) -> None:
    import json

    from goldrank import cli

    def fault(*words: Any, **more: Any) -> None:
        raise RuntimeError("x\n::error::y")

    monkeypatch.setattr(cli.group, "main", fault)
    assert run(["eval", "--as", "json"]) == 2
    error = json.loads(capsys.readouterr().err)
    assert problems(error, "error") == []
    assert error["code"] == "bug"
    assert "\n" not in error["what"]


def test_json_has_the_notes(capsys: Any, tmp_path: Any, monkeypatch: Any) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 1 t\n")
    assert run(["eval", "q", "r", "-m", "RR", "--as", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "missing-queries" in [note["code"] for note in json.loads(out)["notes"]]
    assert run(["eval", "q", "r", "-m", "RR", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
