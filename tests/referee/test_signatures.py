"""Signatures as they come back, spelled out and held against files."""

from __future__ import annotations

import json
import re

import pytest

from goldrank import History, InputError, OptionError, Signature, compare, evaluate, explain_signature, gate
from goldrank.base.validating import problems
from goldrank.cli import group, run
from goldrank.data.signature import in_latex, in_markdown, written
from goldrank.referee.explaining import explain_words
from goldrank.referee.reading import mended, parted, with_quotes

TEXT = (
    "goldrank:1.0.0 measure:nDCG(gain=exp2)@10,AP(rel=2) rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j "
    "depth:1000 missing:skip ties:input run:366ea6cbd68d sum:19a9"
)
JUDGED = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RANKED = {"q1": ["a", "x", "b"], "q2": ["z"]}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "q").write_text("q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n")
    (tmp_path / "r").write_text("q1 Q0 a 1 3 r\nq1 Q0 x 2 2 r\nq1 Q0 b 3 1 r\nq2 Q0 z 1 1 r\n")
    return [str(tmp_path / "q"), str(tmp_path / "r")]


@pytest.mark.parametrize(
    "damaged",
    [
        TEXT,
        f"`{TEXT}`",
        TEXT.replace(" ", "\n  "),
        TEXT.replace(" ", "\u00a0"),
        TEXT.replace("-", "\u2013"),
        TEXT.replace("-", "\u2212"),
        TEXT.replace("-", "\u2010"),
        TEXT.replace("_", "\\_"),
        TEXT.replace("nDCG", "nD\u00adCG").replace("trec", "tr\u200bec"),
    ],
)
def test_typesetting_does_no_harm(damaged):
    assert mended(damaged) == TEXT
    signature = Signature.read(damaged)
    assert signature.measures == ['nDCG(gain="exp2")@10', "AP(rel=2)"]
    assert signature.options == {"depth": "1000", "missing": "skip", "ties": "input"}


@pytest.mark.parametrize(
    "wrong",
    [
        *(TEXT[:cut] for cut in (0, 5, 60, len(TEXT) - 1, len(TEXT) - 5)),
        TEXT[1:],
        TEXT.replace("1000", "100"),
        TEXT.replace("exp2", "exp3"),
        TEXT + "0",
        TEXT.upper(),
        "nDCG@10 0.4213",
        written({"goldrank": "1", "rules": "x"}),
    ],
)
def test_a_slip_is_found(wrong):
    with pytest.raises(InputError, match="not a signature") as caught:
        Signature.read(wrong)
    assert caught.value.code == "not-a-signature"
    assert caught.value.exit_code == 2


def test_every_changed_character_is_found():
    """Four digits let one of 65,536 changes through; none of these is it."""
    for place in range(len(TEXT)):
        changed = TEXT[:place] + ("x" if TEXT[place] != "x" else "y") + TEXT[place + 1 :]
        with pytest.raises(InputError):
            Signature.read(changed)


def test_papers_and_pages_read_back():
    signature = evaluate(JUDGED, RANKED, "nDCG(gain={1: 3, 2: 9})@10", score_type="float32").signature()
    assert "\\_" in in_latex(signature)
    assert "\\%" in in_latex(signature)
    assert mended(in_latex(signature)) == mended(in_markdown(signature)) == signature


def test_measures_are_parted_outside_brackets():
    assert parted("nDCG(gain={1:3,2:9})@10,IPrecAvg(points=(0.5,1.0)),AP") == [
        "nDCG(gain={1:3,2:9})@10",
        "IPrecAvg(points=(0.5,1.0))",
        "AP",
    ]
    assert with_quotes("AP(judged_only=True,divisor=min)") == 'AP(judged_only=True,divisor="min")'


@pytest.mark.parametrize(
    "measure", ["nDCG(gain={1: 3, 2: 9})@10", 'AP(divisor="min", rel=2)', "RBP(p=0.5)", "IPrec@0.1"]
)
def test_what_was_written_reads_back(measure):
    signature = evaluate(JUDGED, RANKED, measure).signature()
    assert explain_signature(signature, JUDGED, RANKED).exit_code == 0


def test_words_are_spelled_out():
    text = str(explain_signature(TEXT))
    assert "3 in all; judged questions: 2" in text
    assert "ties       input  equal scores keep the order of the input" in text
    assert "trec_eval-10  which stands for ties=docid, score_type=float64" in text


# nDCG@10 of q1: grades 1, -, 2 give 1 + 2/2; the ideal is 2 + 1/log2(3) = 2.63093. q2 has nothing. Mean: 0.38009.


@pytest.mark.parametrize(("value", "code"), [("0.3801", 0), ("0.38", 0), ("0.4", 0), ("0.3802", 1), ("0.39", 1)])
def test_a_value_is_compared_to_its_digits(files, value, code):
    signature = evaluate(*files, "nDCG@10").signature()
    assert explain_signature(signature, *files, value=value).exit_code == code


def test_what_differs_is_named():
    signature = evaluate(JUDGED, RANKED, "nDCG@10").signature(full=True)

    judgements = explain_signature(signature, {"q1": {"a": 1}}, RANKED)
    assert judgements.exit_code == 1
    assert judgements.differences[:2] == (
        "judged questions: 2 by the signature, 1 here",
        "number of judgements: 3 by the signature, 1 here",
    )

    run = explain_signature(signature, JUDGED, {"q1": ["x", "a", "b"], "q2": ["z"]})
    assert [line.partition(":")[0] for line in run.differences] == ["run"]

    older = written({**Signature.read(signature).words, "goldrank": "0.9"})
    version = explain_signature(older, JUDGED, RANKED)
    assert [line.partition(":")[0] for line in version.differences] == ["version"]

    unknown = written({**Signature.read(signature).words, "rules": "nobody-1"})
    assert explain_signature(unknown, JUDGED, RANKED).exit_code == 1


def test_what_files_cannot_tell_is_refused():
    words = dict(Signature.read(evaluate(JUDGED, RANKED, "nDCG@10").signature()).words)
    with pytest.raises(OptionError, match="train"):
        explain_signature(written({**words, "train": "0123456789ab"}), JUDGED, RANKED)
    with pytest.raises(OptionError, match="Give both"):
        explain_signature(written(words), JUDGED)


def test_at_the_prompt(files, capsys):
    signature = evaluate(*files, "nDCG@10").signature()
    for words in ([signature, *files], [*signature.split(), *files]):
        assert explain_words(words).exit_code == 0
    with pytest.raises(OptionError):
        explain_words([signature, files[0]])

    def code_of(*words: str) -> int:
        return group.main(["explain", *words], standalone_mode=False) or 0

    assert code_of(signature, *files, "--value", "0.3801") == 0
    assert code_of(signature, *files, "--value", "0.5") == 1
    assert re.search(r"DIFFERS: value: 0.5 was given, here it is 0.3800", capsys.readouterr().out)


# In every form. The files are those of `goldrank eval --signature`; the words are checked by reading them back.

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
RUN = "q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 c 1 1 t\n"
LINE = re.compile(r"goldrank:\S+ measure:\S+ rules:.*? sum:[0-9a-f]{4}", re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with judgements and two runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.qrels").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN.replace("q2 Q0 c", "q2 Q0 z"))
    return tmp_path


@pytest.mark.parametrize("ending", ["md", "tex", "html", "json", "csv", "txt"])
def test_files_have_the_signature(folder, ending):
    file = folder / f"scores.{ending}"
    assert run(["eval", "q.qrels", "a.run", "-m", "RR,AP", "--signature", "-o", str(file), "--quiet"]) == 0
    lines = LINE.findall(file.read_text())
    assert explain_signature(lines[-1], "q.qrels", "a.run").exit_code == 0


@pytest.mark.parametrize("ending", ["tex", "html", "json"])
def test_pages_papers_and_json_have_it_unasked(folder, ending):
    scores = evaluate("q.qrels", "a.run", ["RR"])
    scores.save(f"scores.{ending}")
    compare("q.qrels", {"a": "a.run", "b": "b.run"}, ["RR"]).save(f"compared.{ending}")
    gate(scores, ["RR >= 0.1"]).save("verdict.json")
    for file in (f"scores.{ending}", f"compared.{ending}", "verdict.json"):
        lines = LINE.findall((folder / file).read_text())
        assert explain_signature(lines[0], "q.qrels", "a.run", value="0.75").exit_code == 0


def test_the_flag_takes_no_file_for_its_word(folder, capsys):
    assert run(["eval", "--signature", "q.qrels", "a.run", "b.run", "-m", "RR"]) == 0
    assert len(LINE.findall(capsys.readouterr().out)) == 1
    assert run(["eval", "--signature", "full", "q.qrels", "a.run", "b.run", "-m", "RR"]) == 0
    lines = LINE.findall(capsys.readouterr().out)
    assert [explain_signature(line, "q.qrels", "a.run").exit_code for line in lines] == [0, 1]


def test_full_signatures_in_json(folder, capsys):
    assert run(["eval", "q.qrels", "a.run", "-m", "RR", "--signature=full", "--as", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert problems(data, "scores") == []
    assert explain_signature(data["signature"], "q.qrels", "b.run").exit_code == 1
    assert " run:" in data["measures"]["RR"]["signature"]


def test_texts_have_it(folder, capsys):
    (folder / "t.jsonl").write_text('{"question": "a?", "retrieved_contexts": ["cat"], "reference_contexts": ["cat"]}')
    assert run(["texts", "t.jsonl", "--signature", "-m", "Cover@5"]) == 0
    (line,) = LINE.findall(capsys.readouterr().out)
    assert "match" in explain_signature(line).signature.options


def test_a_record_of_a_history_has_the_full_one(folder, capsys):
    assert run(["record", "q.qrels", "a.run", "-m", "RR", "--db", "h.db"]) == 0
    with History("h.db") as history:
        signature = history[1].signature
    assert explain_signature(signature, "q.qrels", "a.run").exit_code == 0
    assert explain_signature(signature, "q.qrels", "b.run").exit_code == 1
    capsys.readouterr()
    assert run(["history", "show", "1", "--db", "h.db"]) == 0
    assert signature in capsys.readouterr().out
