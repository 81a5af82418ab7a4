"""The conformance kit: its cases, and how programs in any language are driven and diagnosed by it."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import places
import pytest

import goldrank
from goldrank import check_conformance, evaluate
from goldrank.cli import group
from goldrank.referee.cases import ABOUT_ORDER, ConformanceCase, cases_for, kit
from goldrank.referee.driving import Limits, words_of
from goldrank.referee.verdicts import ProgramAnswers, judged, read_answer, same

EXAMPLES = places.ROOT / "examples" / "any_language"
MAKER = places.ROOT / "conformance"
SHORT = Limits(without_answer=1.0, in_all=4.0)
CASES = kit()["cases"]


# The cases.


def test_there_are_several_hundred():
    assert 300 <= len(CASES) <= 500
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert {"ERR", "IPrec", "GMAP"} <= {case["name"] for case in CASES}


def test_the_first_ones_are_as_they_were():
    first = json.loads((MAKER / "first_cases.json").read_text(encoding="utf-8"))["cases"]
    assert len(first) == 151
    now = {case["id"]: case for case in CASES}
    for case in first:
        same_case = now[case["id"]]
        assert all(same_case[key] == case[key] for key in case if key != "rivals"), case["id"]
        assert case["rivals"].items() <= same_case["rivals"].items(), case["id"]


def test_everything_is_confirmed_by_somebody_else():
    for case in CASES:
        others = [who for who in case["confirmed_by"] if "arithmetic" not in who and "hand: fractions" not in who]
        assert others, case["id"]


def test_every_rival_is_told_apart_by_three_cases_of_each_measure():
    counts: Counter[tuple[str, str]] = Counter()
    for case in CASES:
        for rival, value in case["rivals"].items():
            assert not same(float(value), float(case["value"]), 1e-9), (case["id"], rival)
            counts[case["name"], rival] += 1
    assert {pair: count for pair, count in counts.items() if count < 3} == {}


def test_the_maker_does_not_know_goldrank():
    for file in MAKER.glob("*.py"):
        assert "import goldrank" not in file.read_text(encoding="utf-8")
        assert "from goldrank" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({case["name"] for case in CASES}))
def test_exact_arithmetic_gives_the_values(name, monkeypatch):
    monkeypatch.syspath_prepend(str(MAKER))
    import arithmetic

    for case in CASES:
        if case["name"] == name:
            assert float(arithmetic.value_of(case)) == pytest.approx(float(case["value"]), abs=1e-13), case["id"]


@pytest.mark.parametrize("name", sorted({case["name"] for case in CASES}))
def test_goldrank_agrees_with_all(name):
    for case in CASES:
        if case["name"] != name:
            continue
        qrels = {
            record["id"]: {row["id"]: row.get("grade", 1) for row in record["expected"]}
            for record in case["records"]
            if record["expected"]
        }
        rows = [(record["id"], row["id"], row["score"]) for record in case["records"] for row in record["retrieved"]]
        run = rows or {record["id"]: [] for record in case["records"]}
        value = evaluate(qrels, run, case["measure"], overlap="allow", **case["policy"])[case["measure"]]
        assert same(value, float(case["value"]), 1e-9), case["id"]


# Lines.


def test_a_line_of_each_profile():
    case = next(case for case in cases_for("scores") if case.id == "basic-binary-2")
    lists, scores = json.loads(case.line("lists")), json.loads(case.line("scores"))
    assert list(lists) == ["id", "measure", "name", "k", "options", "policy", "retrieved_ids", "expected"]
    assert lists["retrieved_ids"] == ["d81", "d69", "d67", "d75", "d85"]
    assert lists["expected"] == {"d69": 1, "d75": 1, "d34": 1}
    assert scores["retrieved"][0] == {"id": "d81", "score": 5.0}


def test_collections_come_as_records():
    case = next(case for case in cases_for("lists") if case.is_collection)
    line = json.loads(case.line("lists"))
    assert list(line["records"][0]) == ["id", "retrieved_ids", "expected"]


def test_cases_about_order_are_for_programs_that_sort():
    kinds = {case.kind for case in cases_for("lists")}
    assert not kinds & set(ABOUT_ORDER)
    assert set(ABOUT_ORDER) <= {case.kind for case in cases_for("scores")}


def test_measures_can_be_chosen():
    assert {case.name for case in cases_for("lists", ["r"])} == {"R"}
    assert {case.measure for case in cases_for("lists", ["R@5"])} == {"R@5"}
    with pytest.raises(goldrank.OptionError, match="no case of nothing"):
        cases_for("lists", ["nothing"])


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('{"id":"a","value":0.5}', 0.5),
        ('{"id":"a","value":1}', 1.0),
        ('{"id":"a","value":null}', math.nan),
        ('{"id":"a","value":NaN}', math.nan),
        ('{"id":"a","value":-Infinity}', math.nan),
        (b'{"id":"a","value":0.5}\r', 0.5),
    ],
)
def test_values(line, value):
    read = read_answer(line)
    assert read is not None
    assert repr(read[1].value) == repr(value)


@pytest.mark.parametrize(
    "line", ["", "hello", "[1]", '{"value":1}', '{"id":1,"value":1}', '{"id":"a"}', b"\xff", "[" * 99_999]
)
def test_lines_that_are_no_answers(line):
    assert read_answer(line) is None


def test_values_that_are_no_numbers_are_errors():
    for value in ('"0.5"', "true", "[]"):
        read = read_answer(f'{{"id":"a","value":{value}}}')
        assert read is not None
        assert read[1].error is not None


# Programs.


def program(tmp_path: Path, text: str) -> str:
    """A command that runs some Python."""
    file = tmp_path / "program.py"
    file.write_text(f"import sys, json, os, time, subprocess\n{text}\n")
    return f"'{sys.executable}' -S '{file}'"


ANSWERS = """
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "value": 0.0}))
"""


def example(name: str) -> str:
    """A command that runs an example."""
    if name.endswith(".mjs"):
        node = shutil.which("node")
        if node is None:
            pytest.skip("there is no node here")
        return f"'{node}' '{EXAMPLES / name}'"
    return f"'{sys.executable}' '{EXAMPLES / name}'"


@pytest.mark.parametrize("profile", ["lists", "scores"])
def test_a_right_program(profile):
    report = check_conformance(example("right.py"), profile=profile)
    assert report.exit_code == 0
    assert report.agreeing > 150
    assert "Bpref" in str(report).partition("skipped: ")[2]


@pytest.mark.parametrize(
    ("name", "measure", "diagnosis"),
    [
        ("recall_over_one.py", "R", "fits repeats-count"),
        ("recall_over_one.mjs", "R", "fits repeats-count"),
        ("mrr_from_zero.py", "RR", "fits rank-from-zero"),
        ("ndcg_retrieved_ideal.py", "nDCG", "fits ideal-of-retrieved"),
        ("ndcg_retrieved_ideal.mjs", "nDCG", "fits ideal-of-retrieved"),
    ],
)
def test_wrong_programs_are_diagnosed(name, measure, diagnosis):
    report = check_conformance(example(name))
    assert report.exit_code == 1
    verdict = next(verdict for verdict in report.measures if verdict.name == measure)
    assert verdict.diagnosis.startswith(diagnosis)
    assert f"{verdict.differences[0].case.id} {verdict.differences[0].case.measure}" in str(report)


def test_impossible_values_come_first():
    lines = str(check_conformance(example("recall_over_one.py"))).splitlines()
    assert lines[1].startswith("! impossible: chunks-of-one-document-1 R@5: 2, right is 1.")


def test_zeros_fit_nothing(tmp_path):
    report = check_conformance(program(tmp_path, ANSWERS), measures=["nDCG"])
    assert report.measures[0].diagnosis == "fits no known convention"


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("time.sleep(60)", "no answer for 1 seconds"),
        ("sys.stdin.read(); time.sleep(60)", "no answer for 1 seconds"),
        ("print('x' * 70_000, flush=True); time.sleep(60)", "a line of more than"),
        ("print(('x' * 60_000 + '\\n') * 200, flush=True); time.sleep(60)", "more than 8,388,608 bytes"),
        ("while True: print('noise', flush=True); time.sleep(0.05)", "no answer for 1 seconds"),
    ],
)
def test_limits(tmp_path, text, ended):
    report = check_conformance(program(tmp_path, text), measures=["RR"], limits=SHORT)
    assert ended in report.ended
    assert report.exit_code == 2


def test_what_came_before_a_limit_counts(tmp_path):
    text = """
lines = sys.stdin.read().splitlines()
print(json.dumps({"id": json.loads(lines[0])["id"], "value": 0.5}), flush=True)
time.sleep(60)
"""
    report = check_conformance(program(tmp_path, text), measures=["RR"], limits=SHORT)
    assert len(report.answers.by_case) == 1
    assert report.exit_code == 1
    assert "without an answer" in str(report)


def test_all_in_all_there_is_a_limit(tmp_path):
    text = """
for line in sys.stdin:
    time.sleep(0.3)
    print(json.dumps({"id": json.loads(line)["id"], "value": 0.0}), flush=True)
"""
    report = check_conformance(program(tmp_path, text), measures=["RR"], limits=Limits(2.0, 1.0))
    assert "in all" in report.ended
    assert report.answers.by_case


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_what_it_started_is_ended_too(tmp_path):
    text = f"""
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    check_conformance(program(tmp_path, text), measures=["RR"], limits=SHORT)
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not is_running(pid):
            return
        time.sleep(0.1)
    raise AssertionError("the child of the program is still there")


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_shell_runs(tmp_path):
    mark = tmp_path / "mark"
    assert words_of("node 'my metric.mjs' $(touch x); y") == ["node", "my metric.mjs", "$(touch", "x);", "y"]
    check_conformance(program(tmp_path, ANSWERS) + f" ; touch {mark}", measures=["RR"])
    assert not mark.exists()


@pytest.mark.parametrize("command", ["", "   ", "'open", "there-is-no-such-program x"])
def test_commands_that_cannot_be_started(command):
    with pytest.raises(goldrank.GoldrankError) as caught:
        check_conformance(command)
    assert caught.value.exit_code == 2


def test_other_lines_are_counted_and_quoted(tmp_path):
    text = "print('Loading model'); print()\n" + ANSWERS + "print(json.dumps({'id': 'who?', 'value': 1}))"
    report = check_conformance(program(tmp_path, text), measures=["Bpref"])
    assert report.answers.noise == ["Loading model"]
    assert report.exit_code == 1
    assert "lines that are not answers: 1" in str(report)


def test_a_crash_is_told_with_its_last_words(tmp_path):
    text = """
print(json.dumps({"id": json.loads(sys.stdin.readline())["id"], "error": "no"}), flush=True)
raise SystemExit("out of luck")
"""
    report = check_conformance(program(tmp_path, text), measures=["RR"])
    assert "out of luck" in str(report)
    assert report.differences[0].answer.error == "no"


def test_in_batches(tmp_path):
    text = f"open({str(tmp_path / 'starts')!r}, 'a').write('x')\n" + ANSWERS
    report = check_conformance(program(tmp_path, text), measures=["SetF"], batch=2)
    assert len(report.answers.by_case) == 9
    assert (tmp_path / "starts").read_text() == "xxxxx"


# ProgramAnswers that were thought up.


def a_case(value: float, rivals: dict[str, float], number: int = 1) -> ConformanceCase:
    """A case of which only value and rivals matter."""
    return ConformanceCase(f"a-{number}", "RR", "RR", None, {}, {}, "a", False, [], value, "why", rivals)


def report_on(cases: list[ConformanceCase], values: list[float], tolerance: float = 1e-9):
    """The report on some values."""
    answers = ProgramAnswers()
    lines = [json.dumps({"id": case.id, "value": value}) for case, value in zip(cases, values, strict=True)]
    answers.add(lines, {case.id: case for case in cases})
    return judged(cases, answers, tolerance)


def test_one_difference_is_enough_if_it_is_the_only_one():
    report = report_on([a_case(0.5, {"x": 1.0})], [1.0])
    assert report.measures[0].diagnosis == "fits x: explains 1 of 1, contradicted by 0"


def test_a_rival_that_is_contradicted_once_in_thirty_mostly_fits():
    cases = [a_case(0.5, {"x": 1.0}, number) for number in range(30)]
    report = report_on(cases, [1.0] * 29 + [0.25])
    assert report.measures[0].diagnosis == "mostly fits x: explains 29 of 30, contradicted by 1"
    report = report_on(cases[:10], [1.0] * 9 + [0.25])
    assert report.measures[0].diagnosis == "fits no known convention"


def test_the_tolerance_grows_with_the_value_and_is_told():
    assert same(1e6 + 5e-4, 1e6, 1e-9)
    assert not same(0.5 + 2e-9, 0.5, 1e-9)
    report = report_on([a_case(0.5, {})], [0.5 + 1e-7], tolerance=1e-6)
    assert report.exit_code == 0
    assert "tolerance of 1e-06" in str(report)


def test_of_two_answers_the_first_counts():
    case = a_case(0.5, {})
    answers = ProgramAnswers()
    answers.add(['{"id":"a-1","value":0.5}', '{"id":"a-1","value":0.7}'], {"a-1": case})
    assert judged([case], answers).exit_code == 0
    assert answers.repeated == 1


# At the prompt.


def code_of(*words: str) -> int:
    """What the command exits with."""
    return group.main(["conformance", *words], standalone_mode=False) or 0


def test_files_for_programs_that_cannot_be_started(tmp_path, capsys):
    lines, answers = tmp_path / "cases.jsonl", tmp_path / "answers.jsonl"
    assert code_of("--dump", str(lines), "--measure", "SetR") == 0
    values = {case["id"]: float(case["value"]) for case in CASES}
    asked = [json.loads(line)["id"] for line in lines.read_text().splitlines()]
    answers.write_text("".join(json.dumps({"id": name, "value": values[name]}) + "\n" for name in reversed(asked)))
    assert code_of("--answers", str(answers), "-m", "SetR") == 0
    assert code_of("--answers", str(answers), "-m", "SetP") == 2
    assert code_of("--answers", str(answers), "-m", "SetP", "-m", "SetR") == 1
    capsys.readouterr()
    assert code_of("--answers", str(answers), "-m", "SetR", "--as", "json") == 0
    assert json.loads(capsys.readouterr().out)["agreeing"] == len(asked)


def test_exit_codes_at_the_prompt(tmp_path):
    assert code_of("--command", example("right.py"), "-m", "RR") == 0
    assert code_of("--command", example("mrr_from_zero.py")) == 1
    assert code_of("--command", program(tmp_path, "pass")) == 2
