"""`goldrank trec_eval` against trec_eval 10's own test suite, byte for byte. See data/trec_eval/NOTICE.md."""

from __future__ import annotations

import csv
import gzip
import inspect
import shlex
from pathlib import Path

import places
import pytest
from click.testing import CliRunner
from raising import raises_code

from goldrank.base.errors import GoldrankError, InputError, MeasureError
from goldrank.cli import run
from goldrank.cli.trec_eval import command
from goldrank.measures.trec_names import NICKNAMES, TABLE, lines_of

HERE = places.FILES / "trec_eval"


def commands(index: str) -> list[tuple[str, list[str], str]]:
    with open(HERE / index, newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [(row[0], shlex.split(row[1]), row[2]) for row in rows]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """trec_eval's files, uncompressed and under their own names."""
    folder = tmp_path_factory.mktemp("trec_eval")
    for file in (HERE / "data").iterdir():
        (folder / file.name.removesuffix(".gz")).write_bytes(gzip.decompress(file.read_bytes()))
    return folder


def expected(name: str) -> bytes:
    return gzip.decompress((HERE / f"{name}.gz").read_bytes())


def output(arguments: list[str], stdin: bytes | None = None) -> bytes:
    # Before 8.2 click put both streams into one unless it was told otherwise, and now it cannot be told.
    separate = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    result = CliRunner(**separate).invoke(command, arguments, input=stdin, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout_bytes


SUITE = commands("index.tsv")


@pytest.mark.parametrize(("arguments", "file"), [row[1:] for row in SUITE], ids=[row[0] for row in SUITE])
def test_own_suite(arguments, file, data, monkeypatch):
    monkeypatch.chdir(data)
    assert output(arguments) == expected(file)


DIGITS = commands("index_17digits.tsv")


@pytest.mark.parametrize(("arguments", "file"), [row[1:] for row in DIGITS], ids=[row[0] for row in DIGITS])
def test_every_digit(arguments, file, data, monkeypatch):
    """All doubles are equal. rbp, which reads memory that was never set, is left out of these files."""
    import goldrank.cli.trec_eval as module

    monkeypatch.chdir(data)
    original = module.output
    monkeypatch.setattr(module, "output", lambda settings, notes: original(settings, "%.17g", notes))
    ours = [line for line in output(arguments).decode().splitlines() if not line.startswith("rbp ")]
    theirs = [line for line in expected(file).decode().splitlines() if not line.startswith("rbp ")]
    assert ours == theirs


def test_all_measures_are_there():
    assert len(TABLE) == 57
    assert len(lines_of(list(TABLE))) > 57
    assert {name for names in NICKNAMES.values() for name in names} | {"yaap", "dcg", "ideal_dcg"} == set(TABLE)


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """One query with a ranking r n r x, where x is not judged and a third relevant document is missing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 1\n1 0 d 1\n2 0 a 2\n")
    (tmp_path / "run").write_text("1 Q0 a 1 4 tag\n1 Q0 b 2 3 tag\n1 Q0 c 3 2 tag\n1 Q0 x 4 1 last\n")
    return tmp_path


def values(arguments: str) -> dict[str, str]:
    return {
        name.strip(): value
        for name, query, value in (line.split("\t") for line in output(shlex.split(arguments)).decode().splitlines())
        if query == "all"
    }


def test_options_bundle_and_follow_the_files(small):
    separate = output(["-q", "-c", "-m", "map", "-l", "1", "qrels", "run"])
    assert output(["-qc", "-mmap", "-l1", "qrels", "run"]) == separate
    assert output(["qrels", "run", "--query_eval_wanted", "--complete_rel_info_wanted", "--measure", "map"]) == separate


def test_missing_query_is_left_out_without_c(small):
    # AP of query 1 is (1/1 + 2/3) / 3; query 2 has no results. trec_eval 10 stops here with a wrong message.
    assert values("-m map -m num_q qrels run") == {"num_q": "1", "map": "0.5556"}
    assert values("-c -m map -m num_q qrels run") == {"num_q": "2", "map": "0.2778"}


def test_missing_query_with_c_is_one_unjudged_document(small):
    lines = output(shlex.split("-qc -m relstring -m relstring.3 -m utility -m num_ret -m yaap qrels run")).decode()
    assert "num_ret               \t2\t0\n" in lines
    assert "utility               \t2\t0.0000\n" in lines
    assert "yaap                  \t2\t-0.6931\n" in lines  # ln(1 / (1 + 1))
    assert "relstring_3           \t2\t'-'\n" in lines
    assert "relstring             \t2\t''\n" in output(shlex.split("-qc -m relstring qrels run")).decode()


def test_run_from_standard_input(small):
    assert output(["-m", "map", "qrels", "-"], (small / "run").read_bytes()) == output(["-m", "map", "qrels", "run"])


def test_run_id_is_the_last_lines(small):
    assert values("qrels run")["runid"] == "last"


def test_no_summary(small):
    assert output(["-n", "-q", "-m", "P.2", "qrels", "run"]) == b"P_2                   \t1\t0.5000\n"
    assert output(["-n", "qrels", "run"]) == b""


def test_one_query_by_debug_level(small):
    assert output(["-D", "1.2", "-c", "-q", "-n", "-m", "num_rel", "qrels", "run"]) == b"num_rel               \t2\t1\n"


def test_documents_in_collection(small):
    # 100 documents, 4 returned, of which 2 are relevant, of 3: d = 100 + 2 - 4 - 3 = 95.
    assert values("-m utility.0,0,0,1 -N 100 qrels run") == {"utility_0,0,0,1": "95.0000"}


@pytest.mark.parametrize("nickname", ["official", "all_trec", "set"])
def test_documents_in_collection_beside_measures_that_do_not_ask(small, nickname):
    assert output(["-N", "100", "-m", nickname, "qrels", "run"]) == output(["-m", nickname, "qrels", "run"])


def test_parameters_are_read_as_c_does(small):
    """trec_eval 10 prints these: hexadecimal numbers, and the first of two gains for one grade."""
    assert list(values("-m set_F.0x2 qrels run").values()) == list(values("-m set_F.2 qrels run").values())
    assert list(values("-m ndcg.1=2,1=3,0=1 qrels run").values()) == list(values("-m ndcg.1=2,0=1 qrels run").values())


@pytest.mark.parametrize("parameters", ["set_F.inf", "set_F.nan", "ndcg.1=inf", "ndcg.1=nan", "ndcg.1=2=3"])
def test_parameters_without_a_meaning_are_refused(small, parameters):
    assert run(["trec_eval", "-m", parameters, "qrels", "run"]) == 2


def test_the_obsolete_format_is_taken_and_ignored(small):
    assert output(["--Output_old_results_format", "x", "qrels", "run"]) == output(["-o", "qrels", "run"])


def test_a_debug_level_that_names_no_query(small):
    assert run(["trec_eval", "-D", "0.", "qrels", "run"]) == 2  # trec_eval looks for a query without a name


@pytest.mark.parametrize(
    ("text", "place"),
    [("1 map abc 1\n", ":1"), ("1 map 0.5 1\n1 map 0 nan\n", ":2"), ("1 map 0 1\n1 map 1 1\n", ":2"), ("\n", "")],
    ids=["no number", "nan", "two of one", "empty"],
)
def test_bad_z_scores_are_named(small, text, place):
    (small / "z").write_text(text)
    with pytest.raises(InputError) as error:
        CliRunner().invoke(command, ["-Z", "z", "-m", "map", "qrels", "run"], catch_exceptions=False)
    assert str(error.value).startswith(f"z{place}:")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r"),
        lambda text: text + "# comment\n" * 30_000,
        lambda text: text + "1 Q0 z 5 0.5 last " + "more " * 30_000 + "\n",
    ],
    ids=["carriage returns", "comments", "a long line"],
)
def test_run_id_is_the_last_lines_however_far_up_it_is(small, change):
    (small / "run").write_text(change((small / "run").read_text()), newline="")
    assert values("-m runid qrels run") == {"runid": "last"}


def test_fractional_gains_are_sorted_as_numbers(tmp_path, monkeypatch):
    """trec_eval compares gains as if they were whole and gets 0.0 here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 2\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
    assert values("-m ndcg.1=0.25,2=0.5 qrels run") == {"ndcg_1=0.25,2=0.5": "1.0000"}


def test_rbp_takes_p_and_gains(small):
    # r n r: (1 - p) * (1 + p^2) with p = 0.5; a gain of 2 for grade 1 is brought back to 1.
    assert values("-m rbp.p=0.5 qrels run") == {"rbp_p=0.5": "0.6250"}
    assert values("-m rbp.p=0.5,1=2 qrels run") == {"rbp_p=0.5,1=2": "0.6250"}


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("--query", "-q"),
        ("--level=2", "-l 2"),
        ("--Max 1", "-M 1"),
        ("--comp", "-c"),
        ("--m map", "-m map"),
        ("--n --q", "-n -q"),
    ],
)
def test_long_options_may_be_cut_short(small, short, full):
    assert output(shlex.split(f"{short} qrels run")) == output(shlex.split(f"{full} qrels run"))


def test_options_that_begin_several_are_refused(small):
    assert CliRunner().invoke(command, ["--Re", "qrels", "qrels", "run"]).exit_code == 2  # Rel_info or Results format


def test_a_level_below_zero_is_zero(tmp_path, monkeypatch):
    """trec_eval 10 prints these: a negative grade is relevant at no level."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 2\n1 0 c 0\n1 0 d -1\n2 0 a 1\n2 0 e 0\n")
    (tmp_path / "run").write_text(
        "1 Q0 c 1 5 t\n1 Q0 a 2 4 t\n1 Q0 d 3 3 t\n1 Q0 x 4 2 t\n2 Q0 e 1 2 t\n2 Q0 a 2 1 t\n"
    )
    found = values("-l -1 -m num_rel -m num_rel_ret -m Rprec -m set_recall qrels run")
    assert found == {"num_rel": "5", "num_rel_ret": "4", "Rprec": "0.8333", "set_recall": "0.8333"}


def test_summary_of_num_rel_with_c_is_a_count_even_as_z_score(small):
    """trec_eval 10 prints the number of relevant documents here."""
    (small / "z").write_text("1 num_rel 1 1\n2 num_rel 1 1\n")
    assert values("-c -Z z -m num_rel qrels run")["Znum_rel"] == "4.0000"  # 3 of query 1, 1 of query 2


def test_first_parameters_win(small):
    assert list(values("-m P.2 -m P.3 -m P qrels run")) == ["P_2"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("-m mapp qrels run", MeasureError),
        ("-m P. qrels run", MeasureError),
        ("-m P.0,5 qrels run", MeasureError),
        ("-m P.5,5 qrels run", MeasureError),
        ("-m utility.1,2 qrels run", MeasureError),
        ("-m ndcg.1 qrels run", MeasureError),
        ("-m prefs_simp qrels run", MeasureError),
        ("-m map -R qrels_jg qrels run", MeasureError),
        ("-R other qrels run", GoldrankError),
        ("-T other qrels run", GoldrankError),
        ("-D 1.nothing qrels run", InputError),
    ],
)
def test_errors_say_what_is_wrong(small, arguments, error):
    with pytest.raises(error):
        CliRunner().invoke(command, shlex.split(arguments), catch_exceptions=False)
    assert run(["trec_eval", *shlex.split(arguments)]) == 2


def test_no_common_query(small):
    (small / "other").write_text("3 Q0 a 1 4 tag\n")
    with raises_code(InputError, "no-common-queries"):
        CliRunner().invoke(command, ["qrels", "other"], catch_exceptions=False)
    assert b"map                   \tall\t0.0000\n" in output(["-c", "qrels", "other"])


def test_help_explains_measures():
    text = output(["-h", "-m", "ndcg_rel", "-m", "relstring"]).decode()
    assert "nDCGrel = mean over the documents" in text
    assert "relstring" in text


def test_the_group_knows_it(small, capfd):
    assert run(["trec_eval", "-m", "map", "qrels", "run"]) == 0
    assert capfd.readouterr().out == "map                   \tall\t0.5556\n"


def test_notes_go_to_standard_error(tmp_path, capsysbinary):
    """The output is trec_eval's to the byte; what it says nothing of is on standard error."""
    (tmp_path / "q").write_bytes(b"#q0 0 d 1\n# a comment\nq1 0 d1 1\nq2 0 d1 1\n\n")
    (tmp_path / "r").write_bytes(b"q1 Q0 d1 1 2.0 t\n#q2 Q0 d1 1 2.0 t\nq3 Q0 d1 1 2.0 t\nq1 Q0 d2 2 2.0 t more\n")
    assert run(["trec_eval", "-q", "-m", "P.1", str(tmp_path / "q"), str(tmp_path / "r")]) == 0
    out, err = capsysbinary.readouterr()
    assert out == b"P_1                   \tq1\t0.0000\nP_1                   \tall\t0.0000\n"
    said = err.decode()
    for words in (
        "! qrels: comment lines that look like data (an id must not start with #): 1",
        "qrels: comment lines: 2",
        "run: comment lines that look like data",
        "1 of 2 judged queries are not in the run, left out of the mean: 'q2'",
        "1 query of the run is not judged and was left out: 'q3'",
        "1 judged document is tied",
    ):
        assert words in said
