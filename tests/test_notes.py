"""Notes: words from codes and facts, and what becomes of them in merged results."""

from __future__ import annotations

import json
import string

import pytest

from goldrank.base.notes import KINDS, Note, from_counts, merged
from goldrank.data.table import Sentence, few_notes, note_sentences, notes_by_run


def test_one_and_many():
    assert str(Note.of("no-relevant", count=1)) == "1 query has no relevant document"
    assert str(Note.of("no-relevant", count=1200)) == "1,200 queries have no relevant document"


def test_samples_are_few_and_escaped():
    note = Note.of("unjudged-queries", count=9, samples=[f"q{i}\n" for i in range(9)])
    assert str(note).endswith("left out: 'q0\\n', 'q1\\n', 'q2\\n', ...")
    assert str(Note.of("unjudged-queries", count=3, samples=["a", "b", "c"])).endswith(": 'a', 'b', 'c'")


def test_counts_add_up_and_samples_join():
    shards = [
        [Note.of("missing-queries", count=1, judged=10, how="counted as 0", samples=["a"])],
        [Note.of("missing-queries", count=2, judged=30, how="counted as 0", samples=["b", "c"])],
        [],
    ]
    (found,) = merged(shards, ["1", "2", "3"], {"queries": 45})
    assert str(found) == "3 of 45 judged queries are not in the run, counted as 0: 'a', 'b', 'c'"


def test_shares_are_of_the_whole():
    shards = [[Note.of("judged-share", part=1, whole=2)], [Note.of("judged-share", part=0, whole=2)]]
    assert [str(note) for note in merged(shards, ["1", "2"], {})] == ["25.0% of the returned documents are judged"]


def test_what_some_shards_say_is_said_of_them():
    mark = Note.of("byte-order-mark", about="run")
    assert merged([[mark], [mark]], ["1", "2"], {}) == (mark,)
    (found,) = merged([[], [mark]], ["one", "two"], {})
    assert str(found) == "two: run: a byte order mark was dropped"


def test_values_of_a_shard_say_nothing_of_the_whole():
    assert merged([[Note.of("without-missing", means="RR 1.0000")]], ["1"], {}) == ()


def test_many_single_notes_are_cut_and_counted():
    shards = [[Note.of("text", text=f"note {i}")] for i in range(30)]
    found = merged(shards, [f"s{i}" for i in range(30)], {}, limit=5)
    assert len(found) == 6
    assert found[-1].fact("count") == 25


@pytest.mark.parametrize("code", sorted(KINDS))
def test_every_kind_renders_and_survives_json(code):
    """A format string names facts, and counts are among them."""
    kind = KINDS[code]
    facts = {"depth": 2, "ranges": (("AP", "0.1", "0.2"),)}
    facts |= {"query": "q", "docs": ("a", "A"), "grades": (1, 0), "same": "id"}
    facts |= {
        "count": 2,
        "unread": ("verdict",),
        "role": "query",
        "column": "qid",
        "others": ("query",),
        "why": "judged",
    }
    if isinstance(kind.words, str):
        named = [(name, spec) for _, name, spec, _ in string.Formatter().parse(kind.words + kind.singular) if name]
        facts = {name: 0.5 if "f" in spec or "%" in spec else 3 for name, spec in named if name != "samples"}
        if "share" in facts:
            facts = {**facts, "part": 1, "whole": 2}
            del facts["share"]
        assert set(kind.counts) - {"count"} <= set(facts)
    note = Note.of(code, samples=["x"], **facts)
    assert str(note)
    assert Note.from_dict(json.loads(json.dumps(note.to_dict()))) == note


def test_words_of_a_later_version_are_kept():
    assert str(Note.from_dict({"code": "from-the-future", "words": "beware"})) == "beware"
    assert str(Note.from_dict("words of an old file")) == "words of an old file"


def test_counts_by_code():
    assert [str(note) for note in from_counts({"blank-lines": 2, "comment-lines": 0}, about="run")] == [
        "run: blank lines: 2"
    ]


def test_what_runs_share_is_said_once():
    """Twelve runs with one remark are one line; what four of them say is one line that names some of them."""
    shared = Note.of("no-relevant", count=3)
    some = Note.of("constant-scores", count=2)
    notes = {f"run{i:02}": [shared, *([some] if i < 4 else [])] for i in range(12)}
    assert [sentence.text for sentence in notes_by_run(notes)] == [
        "run00, run01, run02 and 1 more: 2 queries have one score for all their documents",
        "3 queries have no relevant document",
    ]


def judged_shares(runs: int) -> list[Sentence]:
    return notes_by_run({f"run{i}": [Note.of("judged-share", part=i, whole=100)] for i in range(runs)})


def test_a_note_that_repeats_for_each_system_is_one_line():
    assert [line.text for line in few_notes(judged_shares(2), "--notes")] == [
        "run0: 0.0% of the returned documents are judged; run1: 1.0% of the returned documents are judged"
    ]
    assert [line.text for line in few_notes(judged_shares(12), "--notes")] == [
        "run0: 0.0% of the returned documents are judged",
        "11 more remarks: --notes",
    ]


def test_all_notes_are_there_on_request():
    assert len(judged_shares(12)) == 12


def test_three_notes_are_shown_and_the_others_counted():
    infinite, tied, repeated = (Note.of(code, count=2) for code in ("infinite-scores", "blank-lines", "comment-lines"))
    notes = note_sentences([tied, repeated, *(Note.of("no-relevant", count=i) for i in range(1, 8)), infinite])
    shown = few_notes(notes, "--notes")
    assert [sentence.text for sentence in shown] == [
        "2 scores are infinite",  # a warning comes first
        "blank lines: 2",
        "comment lines: 2",
        "7 more remarks: --notes",
    ]
    assert few_notes(notes[:3], "--notes") == notes[:3]


def test_notes_without_a_kind_are_not_joined():
    notes = note_sentences([Note.of("text", text=text) for text in ("one", "two")])
    assert [line.text for line in few_notes(notes, "--notes")] == ["one", "two"]


def test_a_note_has_level_words_and_facts() -> None:
    note = Note.of("high-grade", grade=5000, about="qrels")
    assert (note.level, note.about, note.facts["grade"]) == ("warning", "qrels", 5000)
    assert note.words == str(note) == "qrels: the highest grade is 5,000: is the grade column right?"
    assert Note.of("integer-ids").level == "info"
    with pytest.raises(TypeError):
        note.facts["grade"] = 1  # type: ignore[index]
