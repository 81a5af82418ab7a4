"""`goldrank trec_eval` beside the C program: bytes and success of random command lines, and every row of the table.

It runs where trec_eval 10 is on the path, or is named by GOLDRANK_TREC_EVAL; it is never built here. For more cases:

    PYTHONPATH=tests python tests/peers/test_trec_eval.py FIRST LAST
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lanes
import places
import pytest
from trec_eval_cases import Case, Maker

from goldrank.cli import run

PROGRAM = os.environ.get("GOLDRANK_TREC_EVAL") or shutil.which("trec_eval")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    if PROGRAM is None:
        pytest.skip("trec_eval is not installed")
    if b"version 10" not in subprocess.run([PROGRAM, "-v"], capture_output=True, check=False).stderr:
        pytest.skip("another trec_eval than 10")
    monkeypatch.chdir(tmp_path)


def theirs(arguments: list[str]) -> tuple[int, bytes]:
    done = subprocess.run([str(PROGRAM), *arguments], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout


def ours(arguments: list[str]) -> tuple[int, bytes]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    try:
        code = run(["trec_eval", *arguments])
        return code, sys.stdout.buffer.getvalue()
    finally:
        sys.stdout, sys.stderr = before


def difference(case: Case) -> str | None:
    """What differs, but for rows of the table that random cases meet; None if nothing does."""
    files = dict(case.files)
    for name, data in files.items():
        Path(name).write_bytes(data)
    code, printed = ours(list(case.arguments))
    other_code, other = theirs(list(case.arguments))
    if "missing" in case.odd and other_code == 4 and code == 0:  # they stop; without those queries they do not
        answered = {line.split()[0] for line in files["RUN"].splitlines() if line.strip()} - {b"#"}
        kept = [line for line in files["QRELS"].splitlines(True) if line.split()[0] in answered]
        Path("QRELS").write_bytes(b"".join(kept))
        other_code, other = theirs(list(case.arguments))
    if other_code < 0 and any("dcg" in argument for argument in case.arguments):
        return None  # gains of dcg and ideal_dcg beside those of ndcg
    if bool(code) != bool(other_code):
        return f"exit codes {other_code} there, {code} here"
    if code:
        return None
    mine, others = (_comparable(text) for text in (printed, other))
    if len(mine) != len(others):
        return f"{len(others)} lines there, {len(mine)} here"
    for line, expected in zip(mine, others, strict=True):
        if line != expected and not (b"nan" in expected and b"nan" not in line):
            return f"{expected!r} there, {line!r} here"
    return None


def _comparable(printed: bytes) -> list[bytes]:
    """The lines, but for rbp, which the C program computes from memory that was never set."""
    return [line for line in printed.split(b"\n") if line.split(b"\t")[0].rstrip() not in (b"rbp", b"Zrbp")]


CASES = lanes.many(400)


@pytest.mark.parametrize("part", range(10))
def test_random_command_lines(part):
    found = {seed: difference(Maker(seed).case()) for seed in range(part, CASES, 10)}
    assert {seed: what for seed, what in found.items() if what} == {}


QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n1 0 d 1\n2 0 a 2\n2 0 e 1\n"
RUN = "1 Q0 a 1 4 x\n1 Q0 b 2 3 x\n1 Q0 c 3 2 x\n1 Q0 x 4 1 y\n2 Q0 e 1 3 t\n2 Q0 f 2 2 t\n2 Q0 a 3 1 t\n"


def both(arguments: str, qrels: str = QRELS, run_text: str = RUN, z: str = "") -> list[tuple[int, bytes]]:
    for name, text in (("q", qrels), ("r", run_text), ("z", z)):
        Path(name).write_bytes(text.encode("latin-1"))
    asked = [*shlex.split(arguments), "q", "r"]
    return [theirs(asked), ours(asked)]


ODD = """-m map.5|-m P.|-m .5|-m ''|-m official.5|-m all_prefs|-m P.5,|-m P.,5|-m P.5,5|-m P.-3|-m P.2x,3|-m P.+2
    |-m P.1.5|-m iprec_at_recall.0.501,0.502|-m iprec_at_recall.abc|-m utility.1,2,3|-m utility.1,2,3,4,5
    |-m utility.a,b,c,d|-m set_F.1,2|-m set_F.0|-m set_F.abc|-m set_F.1e2|-m set_F.0x10|-m relstring.0
    |-m relstring.-3 -q|-m relstring.abc -q|-m relstring.1.5 -q|-m 11pt_avg.0.5|-m Rprec_mult.0
    |-m Rprec_mult.100|-m ndcg.1|-m ndcg.1=2=3|-m ndcg.=2|-m ndcg.1=a|-m ndcg.x=2|-m ndcg.1=2,,2=3
    |-m ndcg.1=2,1=3|-m ndcg.9=3|-m ndcg.0=1|-m G.0=1|-m Rndcg.0=1|-m ndcg_rel.0=1|-m ndcg.1=0,2=0|-m ndcg.1x=3
    |-m ndcg.+1=3|-m ndcg.01=3|-m rbp_resid.p=0|-m rbp_resid.q=1|-m rbp_resid.0.5|-m dcg.1=3|-m ndcg_cut.1=3
    |-m ndcg_p|-m MAP|-m P_5|-m success.3 -m success.4|-m P.1000000000|-m recall.1e3|-l abc|-l ''
    |-l 99999999999999999999|-l 2.9|-l=2|-m=map|-N abc|-N -5|-N 7 -m all_trec|-D 0.|-D 0.1|-D 0.zzz|-D abc|-n -n
    |-qc|-qm map|-qmmap|-qcl2|-x|-Q|--foo|--Re qrels|--R qrels|--Rel qrels|--Res trec_results|--M 3|--no|--n
    |--nosummary=1|--q=1|--Output_old_results_format x|--Out x|-ox|-T other|-R other|-R QRELS|-R ''|-Z nofile
    |-J -J|--j|--query-eval-wanted|--|-m all_trec -M 2 -J -q|-c -q -m set -m all_trec"""


@pytest.mark.parametrize("arguments", ODD.split("|"))
def test_odd_arguments_do_the_same(arguments):
    (other_code, other), (code, printed) = both(arguments)
    assert bool(code) == bool(other_code)
    if not code:
        assert _comparable(printed) == _comparable(other)


ERROR, FINE = True, False
ROWS = [
    # row of the table, arguments, files that are not the plain ones, whether each fails
    ("a judged query is not in the run", "-m map", {"qrels": QRELS + "3 0 a 1\n"}, ERROR, FINE),
    ("custom gains less than 1 apart", "-m ndcg.1=0.25,2=0.5", {}, FINE, FINE),
    ("recall points of `11pt_avg` out of order", "-m 11pt_avg.0.5,0.25", {}, FINE, FINE),
    ("nothing left of a ranking", "-M 0 -m iprec_at_recall", {}, FINE, FINE),
    ("`-M` below 0", "-M -1", {}, ERROR, FINE),
    ("gains that leave no positive one", "-m Rndcg.1=0,2=0", {}, FINE, FINE),
    ("negative gains", "-m ndcg.1=-2", {}, FINE, FINE),
    ("gains that are not finite", "-m ndcg.1=inf", {}, FINE, ERROR),
    ("gains of `dcg` or `ideal_dcg` together with `ndcg`", "-m dcg -m ndcg.1=5", {}, ERROR, FINE),
    ("`-l` below 0", "-l -1 -m all_trec", {}, FINE, FINE),
    ("a query that is judged only with negative grades", "-m map", {"qrels": "1 0 a -1\n2 0 a 1\n"}, ERROR, FINE),
    ("a byte order mark", "-m num_ret", {"run_text": "\xef\xbb\xbf" + RUN}, FINE, FINE),
    ("a document that is repeated below `-M`", "-M 1 -m map", {"run_text": RUN + "1 Q0 x 9 0 t\n"}, FINE, ERROR),
    ("recall levels outside 0 to 1", "-m iprec_at_recall.1.5", {}, FINE, ERROR),
    ("negative `Rprec_mult`", "-m Rprec_mult.-1", {}, FINE, ERROR),
    ("negative `Rprec_mult` or `set_F`", "-m set_F.-1", {}, FINE, ERROR),
    ("`p` of `rbp_resid` outside 0 to 1", "-m rbp_resid.p=2", {}, FINE, ERROR),
    ("negative `-N`", "-N -5 -m utility.1,1,1,1", {}, FINE, ERROR),
    ("cut-offs above 1,000,000,000", "-m P.10000000000", {}, FINE, ERROR),
    ("NaN as a score", "-m map", {"run_text": RUN.replace(" 3 x", " nan x")}, FINE, ERROR),
    ("a score or grade that is no number", "-m map", {"run_text": RUN.replace(" 3 x", " 0x3 x")}, FINE, ERROR),
    ("a score or grade that is no number", "-m map", {"qrels": QRELS.replace("c 2", "c 2x")}, FINE, ERROR),
    ("two comment lines in a row", "-m map", {"qrels": "# a\n# b\n" + QRELS}, ERROR, FINE),
    ("or one at the end of a file", "-m map", {"qrels": QRELS + "# end\n"}, ERROR, FINE),
    ("a comment after blanks", "-m map", {"qrels": " # x y z\n" + QRELS}, ERROR, FINE),
    ("blank lines in qrels", "-m map", {"qrels": QRELS + "\n"}, ERROR, FINE),
    ("blank lines in qrels or z-scores", "-m map -Z z", {"z": "1 map 0 1\n\n2 map 0 1\n3 ~ 0 1\n"}, ERROR, FINE),
    ("lines that end in a carriage return alone", "-m map", {"run_text": RUN.replace("\n", "\r")}, ERROR, FINE),
    ("ids of more than 65,536 bytes", "-m map", {"run_text": f"{RUN}1 Q0 {'d' * 70_000} 9 0 t\n"}, FINE, ERROR),
    ("the same judgement twice with the same grade", "-m map", {"qrels": QRELS + "1 0 a 1\n"}, ERROR, FINE),
    ("z-scores of a query or measure that are not there", "-m success -Z z",
     {"z": "1 map 0 1\n2 map 0 1\n"}, ERROR, FINE),
    ("z-scores that are no finite numbers, or two of one kind", "-m map -Z z",
     {"z": "1 map nan 1\n2 map 0 1\n3 ~ 0 1\n"}, FINE, ERROR),
    ("no query in common, without `-c`", "-m map", {"run_text": "9 Q0 a 1 1 t\n"}, ERROR, ERROR),
    ("a measure that the format cannot give", "-R qrels_prefs -m map", {}, ERROR, ERROR),
    ("a judge whose highest preference level is -3", "-R prefs -m prefs_simp",
     {"qrels": "1 j s a -3\n1 j s b -4\n"}, FINE, FINE),
    ("a document twice in a judge's preferences, with the same level", "-R prefs -m prefs_simp",
     {"qrels": "1 j s a 1\n1 j s a 1\n1 j s b 0\n"}, FINE, ERROR),
    ("preferences that contradict each other", "-R prefs -m prefs_simp",
     {"qrels": "1 j 1 a 2\n1 j 1 b 1\n1 j 2 b 2\n1 j 2 a 1\n"}, ERROR, ERROR),
    ("options after `-v`", "-v -x", {}, FINE, ERROR),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "arguments", "files", "their_failure", "our_failure"), ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS]
)
def test_rows_of_the_table_are_true(row, arguments, files, their_failure, our_failure):
    """The table of docs/trec_eval.md says it, and both programs do differ."""
    page = (places.ROOT / "docs" / "trec_eval.md").read_text(encoding="utf-8")
    assert row in page.partition("## Where it differs on purpose")[2]
    (other_code, other), (code, printed) = both(arguments, **files)
    assert (bool(other_code), bool(code)) == (their_failure, our_failure)
    if not their_failure and not our_failure:
        assert printed != other


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        if what := difference(Maker(number).case()):
            print(number, Maker(number).case().arguments, what)
