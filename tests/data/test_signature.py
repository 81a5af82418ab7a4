"""Signatures: what is in them, in which order, what never is, and that no number changes without them."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from itertools import product

import pytest

import goldrank
from goldrank import Catalogue, Convention, Matching, Qrels, Scores, evaluate, evaluate_arrays, evaluate_texts
from goldrank.conventions import MODULES, POLICIES
from goldrank.data.signature import NEVER, OF_WHOLE_LISTS, SAFE, decoded, encoded, measure_text, sum_of, written
from goldrank.measures import REGISTRY, make
from goldrank.measures.options import Choice, Flag, Number, Numbers, Word

JUDGED = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RANKED = {"q1": ["a", "x", "b"], "q2": ["z"]}
JUDGED_HASH, RUN_HASH = "52b5f5a0da46", "366ea6cbd68d"
"""Worked out by another program: SHA-256 over lines of query, document and grade, and of query, rank and document."""


def words_of(signature: str) -> dict[str, str]:
    """The words of a signature by key."""
    return dict(word.split(":", 1) for word in signature.split(" "))


def test_hashes_are_those_of_lines_in_byte_order():
    lines = b"q1\x1fa\x1f1\nq1\x1fb\x1f2\nq2\x1fc\x1f1\n"
    assert hashlib.sha256(lines).hexdigest()[:12] == JUDGED_HASH
    scores = evaluate(JUDGED, RANKED, "RR")
    assert words_of(scores.signature(full=True))["qrels"] == f"{JUDGED_HASH}/2q/3j"
    assert words_of(scores.signature(full=True))["run"] == RUN_HASH


def test_words_have_an_order_and_a_sum():
    scores = evaluate(JUDGED, RANKED, ['nDCG(gain="exp2")@10', "AP(rel=2)"], depth=1000, missing="skip", ties="input")
    assert scores.signature(full=True).replace(goldrank.__version__, "1.0.0").rpartition(" sum:")[0] == (
        f"goldrank:1.0.0 measure:nDCG(gain=exp2)@10,AP(rel=2) rules:trec_eval-10 qrels:{JUDGED_HASH}/2q/3j "
        f"depth:1000 missing:skip ties:input run:{RUN_HASH}"
    )


@pytest.mark.parametrize(
    ("text", "checksum"),
    [
        ("goldrank:1.0.0 measure:nDCG@10 rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j", "b273"),
        (
            "goldrank:1.0.0 measure:nDCG(gain=exp2)@10,AP(rel=2) rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j "
            "depth:1000 missing:skip ties:input run:366ea6cbd68d",
            "19a9",
        ),
    ],
)
def test_the_sum_is_four_digits_of_what_is_before(text, checksum):
    assert sum_of(text) == checksum  # by sha256sum
    assert hashlib.sha256(text.encode()).hexdigest().startswith(checksum)


def test_one_measure_by_any_of_its_spellings():
    scores = evaluate(JUDGED, RANKED, ["MRR", "nDCG@10"])
    assert words_of(scores.signature("RR"))["measure"] == "RR"
    assert scores.signature("ndcg_cut_10") == scores.signature("nDCG@10")
    with pytest.raises(goldrank.NotMeasuredError):
        scores.signature("P@5")


def test_content_counts_and_not_the_file(tmp_path):
    (tmp_path / "one.qrels").write_text("q2 0 c 1\nq1 0 b 2\nq1 0 a 1\n")
    (tmp_path / "two.json").write_text(json.dumps(JUDGED))
    (tmp_path / "one.run").write_text("q1 Q0 a 1 12.50 r\nq1 Q0 b 3 1 r\nq1 Q0 x 2 2e0 r\nq2 Q0 z 1 1 r\n")
    (tmp_path / "two.run").write_text("q2 Q0 z 9 7 other\nq1 Q0 x 2 3.0 other\nq1 Q0 a 1 12.5 other\nq1 Q0 b 1 -1 o\n")
    signatures = {
        evaluate(str(tmp_path / qrels), str(tmp_path / run), "RR").signature(full=True)
        for qrels, run in product(("one.qrels", "two.json"), ("one.run", "two.run"))
    }
    assert signatures == {evaluate(JUDGED, RANKED, "RR").signature(full=True)}


def test_grades_that_are_not_whole():
    qrels = Qrels({"q1": {"a": 0.1, "b": 2.0}}, real_grades=True)
    expected = hashlib.sha256(b"q1\x1fa\x1f0.1\nq1\x1fb\x1f2\n").hexdigest()[:12]
    assert words_of(evaluate(qrels, {"q1": ["a"]}, "nDCG").signature())["qrels"] == f"{expected}/1q/2j"


@pytest.mark.parametrize("text", ["a b:c", "100%", "ä€", "x_y|z", "{1:3}", "'\"", "\udc80"])
def test_values_have_safe_characters_only(text):
    assert re.fullmatch(r"(?:[A-Za-z0-9._@()=,+/~*-]|%[0-9A-F]{2})+", encoded(text))
    assert decoded(encoded(text)) == text
    assert encoded(SAFE) == SAFE


def test_mappings_of_gains_are_encoded():
    scores = evaluate(JUDGED, RANKED, "nDCG(gain={1: 3, 2: 9})@10")
    assert words_of(scores.signature())["measure"] == "nDCG(gain=%7B1%3A3,2%3A9%7D)@10"


def test_many_measures_are_a_hash():
    measures = [f"nDCG@{k}" for k in range(1, 80)]
    signature = evaluate(JUDGED, RANKED, measures).signature()
    named = hashlib.sha256(",".join(measures).encode()).hexdigest()[:12]
    assert words_of(signature)["measure"] == f"{named}/79m"
    assert len(signature) <= 400
    assert len(evaluate(JUDGED, RANKED, "nDCG@10").signature()) < 100


def test_a_saved_score_has_the_same(tmp_path):
    scores = evaluate(JUDGED, RANKED, ["RR", "AP"], depth=5)
    scores.save(tmp_path / "scores.json")
    loaded = Scores.load(tmp_path / "scores.json")
    assert loaded.signature() == scores.signature()
    assert scores.to_dict()["measures"]["AP"]["signature"] == scores.signature("AP")
    with pytest.raises(goldrank.InputError, match="fresh scores"):
        loaded.signature(full=True)


def test_scores_of_before_have_none():
    data = evaluate(JUDGED, RANKED, "RR").to_dict()
    del data["provenance"]["signature"]
    with pytest.raises(goldrank.InputError, match="do not say"):
        Scores.from_dict(data).signature()
    assert "signature" not in Scores.from_dict(data).to_dict()["measures"]["RR"]


def test_merged_shards_are_as_one():
    whole = Qrels({f"q{i}": {"a": 1} for i in range(10)})
    ranked = {f"q{i}": ["x", "a"] for i in range(10)}
    parts = [evaluate(whole.shard(number, 2), ranked, "RR") for number in (1, 2)]
    assert words_of(parts[0].signature())["shard"] == "1/2"
    assert Scores.merge(parts).signature() == evaluate(whole, ranked, "RR").signature()


# Nothing that is private.

MARKER = "S3CRET"


def test_no_name_and_no_id_shows_up(tmp_path):
    file = tmp_path / f"{MARKER}.qrels"
    file.write_text(f"{MARKER}q 0 {MARKER}a 1\n{MARKER}q 0 {MARKER}b 2\n")
    run = goldrank.Run({f"{MARKER}q": [f"{MARKER}a", f"{MARKER}b", f"{MARKER}c"]}, name=f"{MARKER}run")
    labels = {f"{MARKER}{item}": MARKER for item in "abc"}
    catalogue = Catalogue(
        [f"{MARKER}{item}" for item in "abc"],
        train={f"{MARKER}q": [f"{MARKER}c"]},
        groups=labels,
        genres=labels,
        vectors={item: [1.0, 2.0] for item in labels},
        against=run,
    )
    measures = ["nDCG@10", f'ExposureShare(group="{MARKER}")@2', "Calibration@2", "ILD@2", "Serendipity@2"]
    scores = evaluate(str(file), run, measures, catalogue=catalogue)
    assert MARKER not in scores.signature(full=True)
    assert all(MARKER not in scores.signature(measure, full=True) for measure in measures)


def test_no_name_and_no_text_shows_up_for_texts():
    def S3CRET(text: str, reference: str) -> bool:  # noqa: N802
        return text == reference

    items = [{"id": MARKER, "question": MARKER, "retrieved": [MARKER, "b"], "references": [MARKER]}]
    for matcher in (S3CRET, "contains"):
        scores = evaluate_texts(items, ["RR", "Cover@1"], matching=Matching(matcher))
        assert MARKER not in scores.signature(full=True)


# Complete: a value that changed has another signature.

TIED = {
    "q1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5, "x": 0.5 + 1e-12, "y": 0.2},
    "q2": {"c": 3.0 + 1e-9, "d": 3.0, "x": 1.0, "a": 0.1},
    "q4": {"a": 1.0, "b": 0.5},
}
GRADED = {
    "q1": {"a": 0, "b": 2, "c": 1, "d": 3, "y": 0},
    "q2": {"c": 0, "d": 2, "x": 1},
    "q3": {"a": 1},
    "q4": {"a": 0, "b": 0},
}
REPEATED = [("q1", "a", 3.0), ("q1", "b", 2.0), ("q1", "a", 1.0), ("q2", "c", 2.0), ("q2", "d", 1.5), ("q4", "a", 1.0)]
MEASURES = [
    "nDCG@3", "nDCG", "AP", "AP(judged_only=True)", "RR", "P@2", "R@3", "SetP", "SetR", "SetF", "Rprec", "Bpref", "RBP",
    "ERR@3", "NumRet", "NumRelRet", "Judged@3", "Success@1", "IPrec@0.5", "GMAP", "Utility", "infAP",
]  # fmt: skip


def differing(first: Scores, second: Scores) -> set[str]:
    """The measures whose values differ, for any query or in sum."""
    different = set()
    for measure in first.measures:
        values = [(scores.queries, scores.values_of(measure).tolist(), scores[measure]) for scores in (first, second)]
        if repr(values[0]) != repr(values[1]):
            different.add(measure)
    return different


def assert_told_apart(first: Scores, second: Scores) -> set[str]:
    """Values that differ have signatures that differ; returned are their measures."""
    changed = differing(first, second)
    for measure in changed:
        assert first.signature(measure) != second.signature(measure), measure
    return changed


CASES = [(policy, word) for policy, words in POLICIES.items() for word in words]
REFUSALS = (goldrank.InputError, goldrank.MeasureError)


@pytest.mark.parametrize("base", ["trec_eval-10", "trec_eval-9", "ranx", "beir", "lesson"])
@pytest.mark.parametrize(("policy", "word"), CASES)
def test_every_policy_that_changes_a_value_shows(policy, word, base):
    changed: set[str] = set()
    for qrels, run in ((GRADED, TIED), (GRADED, REPEATED), (JUDGED, TIED)):
        for measure in MEASURES:
            try:
                usual = evaluate(qrels, run, measure, convention=base, overlap="allow", duplicates="first")
                other = evaluate(qrels, run, measure, convention=Convention(base, **{
                    "overlap": "allow", "duplicates": "first", policy: word,
                }))  # fmt: skip
            except REFUSALS:
                continue  # refused, so that there is no value
            changed |= assert_told_apart(usual, other)
    has_effect = word not in (Convention(base).policies[policy], "error", "bounds") and policy not in NEVER
    if has_effect and base == "trec_eval-10" and (policy, word) != ("duplicates", "first"):
        assert changed, "the data must be such that it matters"


def test_every_convention_that_changes_a_value_shows():
    changed: set[str] = set()
    for name in MODULES:
        for measure in MEASURES:
            try:
                pair = [evaluate(GRADED, TIED, measure, convention=rules) for rules in ("trec_eval-10", name)]
            except REFUSALS:
                continue
            first, second = pair
            if first.measures == second.measures:
                changed |= assert_told_apart(first, second)
            elif name != "trec_eval-10":
                assert first.signature() != second.signature()
    assert len(changed) > 5


ITEMS = ["a", "b", "c", "d", "x", "y", "new"]
HAD = {"q1": ["new"], "q2": ["y"]}
CATALOGUES = {
    "items": [Catalogue(ITEMS), Catalogue([*ITEMS, "more"])],
    "train": [Catalogue(ITEMS, train={"q1": ["b"], "q2": [item]}) for item in ("c", "d")],
    "seen": [Catalogue(ITEMS, train={"q1": ["b"], "q2": ["c"]}, seen=seen) for seen in ("remove", "keep")],
    "vectors": [
        Catalogue(ITEMS, train=HAD, vectors={item: [1.0, x * i] for i, item in enumerate(ITEMS)}) for x in (1, 2)
    ],
    "genres": [
        Catalogue(ITEMS, train=HAD, genres={**dict.fromkeys(ITEMS, "one"), other: "two"}) for other in ("c", "new")
    ],
    "groups": [Catalogue(ITEMS, groups={**dict.fromkeys(ITEMS, "one"), other: "two"}) for other in "ab"],
    "against": [
        Catalogue(ITEMS, train={"q1": ["new"]}, against={"q1": [item], "q2": ["c"]}) for item in "ab"
    ],
}  # fmt: skip
OF_ITEMS = [
    "ItemCoverage@3", "UserCoverage@3", "Gini@3", "Entropy@3", "Entropy(normalize=True)@3", "AveragePopularity@3",
    "PopularityLift@3", "Novelty@3", "ILD@3", "Serendipity@3", 'Serendipity(unexpected="run")@3',
    "Personalisation@2", "Calibration@3", "ExposureParity@3", 'ExposureParity(merit="relevant")@3',
    'ExposureShare(group="two")@3',
]  # fmt: skip


@pytest.mark.parametrize("field", CATALOGUES)
def test_every_part_of_a_catalogue_that_changes_a_value_shows(field):
    changed: set[str] = set()
    for measure in (*MEASURES, *OF_ITEMS):
        try:
            first, second = (evaluate(GRADED, TIED, measure, catalogue=known) for known in CATALOGUES[field])
        except REFUSALS:
            continue
        changed |= assert_told_apart(first, second)
    assert changed, "the data must be such that it matters"


def test_every_part_of_a_catalogue_is_tried():
    assert set(inspect.signature(Catalogue).parameters) == set(CATALOGUES)


@pytest.mark.parametrize("depth", range(1, 7))
def test_depth_shows_where_it_changes_a_value(depth):
    for measure in MEASURES:
        assert_told_apart(evaluate(GRADED, TIED, measure), evaluate(GRADED, TIED, measure, depth=depth))
    assert differing(evaluate(GRADED, TIED, MEASURES), evaluate(GRADED, TIED, MEASURES, depth=1))


def test_every_keyword_of_evaluate_is_tried():
    tried = {"qrels", "run", "measures", "convention", "depth", "catalogue", "policies"}
    assert set(inspect.signature(evaluate).parameters) == tried


def variations(rule: object) -> list[object]:
    """Some values that an option may have."""
    if isinstance(rule, Flag):
        return [True, False]
    if isinstance(rule, Choice):
        return list(rule.words)
    if isinstance(rule, Word):
        return ["one", "two"]
    if isinstance(rule, Numbers):
        return [(0.25,), (0.5, 0.75)]
    assert isinstance(rule, Number)
    low, high = max(rule.low, -5.0), min(rule.high, 5.0)
    values = [low + (high - low) * share for share in (0.25, 0.5)]
    return [int(value) + 1 for value in values] if rule.whole else values


def test_every_option_of_every_measure_shows():
    for name, declared in REGISTRY.items():
        k = {"needed": 5, "recall": 0.5, "multiple": 1.0}.get(declared.cutoff)
        for option, rule in declared.options.items():
            if declared.takes_budget and option == "pack":
                continue  # it packs nothing
            values = {value for value in variations(rule) if _is_taken(rule, value)}
            besides = {"tokens": 50} if option == "pack" or declared.takes_budget else {}
            measures = [make(declared, k, {**besides, option: value}) for value in values]
            texts = {measure_text(str(measure)) for measure in measures}
            assert len(texts) == len(set(measures)), f"{name}({option}=...)"


def _is_taken(rule: object, value: object) -> bool:
    try:
        rule.check(value)  # type: ignore[attr-defined]
    except ValueError:
        return False
    return True


TEXTS = [
    {
        "id": "one",
        "retrieved": ["Rome is in Italy. Paris is in France.", "rome was not in 3 italies", "Rome"],
        "references": ["Rome is in Italy.", "Paris is in France."],
        "reference": "Rome is in Italy. Paris is in France.",
        "response": "Rome is in Italy.",
    }
]
TEXT_SETTINGS = [
    Matching(), Matching("contains"), Matching("rouge-l:0.3"), Matching("rouge-l:0.3", unit="sentence"),
    Matching("rouge-l:0.3", credit="one_to_one"), Matching("rouge-l:0.3", guards=["numbers"]),
    Matching("rouge-l:0.3", guards=[]), Matching("rouge-l:0.3", tokens="characters"),
    Matching(lambda text, reference: "Rome" in text), Matching(lambda text, reference: "Paris" in text),
]  # fmt: skip
OF_TEXTS = ["Cover@1", "Cover@2", "RR", "P@3", "nDCG@3", "Cover(tokens=9)", "context_recall"]


def test_every_matching_that_changes_a_value_shows():
    changed: set[str] = set()
    scores = [evaluate_texts(TEXTS, OF_TEXTS, matching=matching) for matching in TEXT_SETTINGS]
    for first, second in product(scores, scores):
        changed |= assert_told_apart(first, second)
    assert len(changed) >= 3


def test_judgements_and_grades_in_arrays():
    first, second = (evaluate_arrays([[0, grade]], [[0.3, 0.7]], "nDCG") for grade in (1, 2))
    assert first.signature() != second.signature()


# What cannot matter is not there.


@pytest.mark.parametrize("measure", [*OF_WHOLE_LISTS, *(n for n, d in REGISTRY.items() if d.ties == "unordered")])
def test_measures_of_whole_lists_look_at_no_order(measure):
    declared = REGISTRY[measure]
    if declared.over != "placements":
        pytest.skip("not measured with grades of documents")
    scores = [
        evaluate(GRADED, TIED, measure, ties=ties, score_type=kind)
        for ties in ("docid", "input", "docid-ascending")
        for kind in ("float64", "float32")
    ]
    assert not set().union(*(differing(scores[0], other) for other in scores))


@pytest.mark.parametrize(
    ("measure", "options", "absent"),
    [
        ("nDCG@10", {"depth": 1000}, "depth"),
        ("SetR", {"ties": "input"}, "ties"),
        ("NumRelRet", {"score_type": "float32"}, "score_type"),
        ("NumRet", {"empty": "skip"}, "empty"),
        ("nDCG", {"overlap": "allow"}, "overlap"),
        ("nDCG", {"bounds": "unjudged"}, "bounds"),
        ("nDCG", {"ties": "bounds"}, "ties"),
        ("nDCG", {"ties": "docid", "missing": "zero"}, "missing"),
        ("nDCG@10", {"catalogue": Catalogue(ITEMS, genres=dict.fromkeys(ITEMS, "one"))}, "genres"),
        ("nDCG@10", {"catalogue": Catalogue(ITEMS)}, "items"),
        ("ILD@2", {"catalogue": Catalogue(ITEMS, vectors={item: [1.0] for item in ITEMS})}, "items"),
    ],
)
def test_what_cannot_matter_is_not_printed(measure, options, absent):
    assert absent not in words_of(evaluate(GRADED, TIED, measure, **options).signature())


def test_what_can_matter_is_printed():
    assert words_of(evaluate(GRADED, TIED, "nDCG@10", depth=9).signature())["depth"] == "9"
    by_id = evaluate(GRADED, TIED, "nDCG@10", convention="ranx", ties="docid", missing="skip", overlap="allow")
    assert words_of(by_id.signature())["ties"] == "docid"
    assert words_of(evaluate(GRADED, TIED, "SetR", ties="input", depth=2).signature())["ties"] == "input"


def test_words_are_written_in_order():
    text = written({"goldrank": "1", "measure": "a b", "rules": "x:y"})
    assert text.startswith("goldrank:1 measure:a%20b rules:x%3Ay sum:")
