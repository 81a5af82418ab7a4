"""Rules: what they are spelled like, and what is said of one that is wrong."""

import pytest
from raising import raises_code

from goldrank import Rule, Rules
from goldrank.base.errors import GoldrankError
from goldrank.comparison.settings import Statistics
from goldrank.gating.rules import as_rules

SPELLED = [
    ("nDCG@10 >= 0.40", Rule("floor", 0.4, "nDCG@10")),
    ("ndcg_cut_10>=40%", Rule("floor", 0.4, "nDCG@10")),
    ("FallOut@10 <= 0.2", Rule("ceiling", 0.2, "FallOut@10")),
    ("AP: -1%", Rule("drop", 0.01, "AP", relative=True)),
    ("map: -0.02 untested", Rule("drop", 0.02, "AP", tested=False)),
    ("FallOut@10: +5%", Rule("drop", 0.05, "FallOut@10", relative=True)),
    ("P(rel=2)@5 [kind=long]: -5%", Rule("drop", 0.05, "P(rel=2)@5", relative=True, slice="kind", value="long")),
    ("AP [kind] >= 0.1", Rule("floor", 0.1, "AP", slice="kind")),
    ("missing <= 0%", Rule("missing", 0.0)),
    ("unjudged <= 0.4", Rule("unjudged", 0.4)),
    ("overlap >= 90%", Rule("overlap", 0.9)),
    ("latency p95 <= 250", Rule("latency", 250.0)),
    ("latency p99.9 <= 1.5e3", Rule("latency", 1500.0, quantile=0.999)),
]


@pytest.mark.parametrize(("text", "rule"), SPELLED)
def test_spelling(text, rule):
    assert Rule.parse(text) == rule
    assert Rule.parse(str(rule)) == rule


def test_file_in_full(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text(
        'alpha = 0.01\ntest = "t"\nqueries = "queries.jsonl"\nunjudged = "ignore"\nallow_changed_qrels = true\n'
        'rules = ["AP: -1%"]\n'
        '[[rule]]\nmeasure = "nDCG@10"\ndrop = 0.02\nslice = "kind"\nvalue = "long"\ntested = false\n'
        "[[rule]]\nlatency = 250\nquantile = 0.5\n"
    )
    rules = Rules.load(file)
    assert rules.statistics == Statistics(test="t", alpha=0.01, unjudged="ignore")
    assert rules.queries == tmp_path / "queries.jsonl"
    assert rules.allow_changed_qrels
    assert (len(rules), rules.measures) == (3, ("AP", "nDCG@10"))
    assert [str(one) for one in rules] == [
        "AP: -1%",
        "nDCG@10 [kind=long]: -0.02 untested",
        "latency p50 <= 250",
    ]
    spelled = Rules(
        list(rules), statistics=rules.statistics, allow_changed_qrels=True, queries=tmp_path / "queries.jsonl"
    )
    assert rules == spelled


def test_rules_about_no_measure_need_one_to_evaluate():
    assert Rules("missing <= 0%").measures == ("NumRet",)
    assert Rules(["missing <= 0%", "AP >= 0.1", "map: -1%"]).measures == ("AP",)


@pytest.mark.parametrize(
    ("statistics", "told"),
    [
        (Statistics(test="wilcoxon"), "randomization, t"),
        (Statistics(correction="bh"), "max-t, holm, bonferroni, none"),
        (Statistics(margin=0.01), "The tolerance is in the rule"),
        (Statistics(interval="bounded"), "no meaning for a gate"),
    ],
)
def test_statistics_that_are_not_for_gates(statistics, told):
    with pytest.raises(GoldrankError, match=told):
        Rules("AP: -1%", statistics=statistics)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("alhpa = 0.05\n", 1, "Did you mean alpha?"),
        ('rules = ["AP: -1%"]\n\n[[rule]]\nmeasure = "AP"\ndorp = 1\n', 5, "Did you mean drop?"),
        ('rules = [\n  "AP: -1%",\n  "nDCG@10 = 3",\n]\n', 3, "is not a rule"),
        ('rules = [\n  "nDGC@10: -1%",\n]\n', 2, "Did you mean nDCG@10?"),
        ('[[rule]]\nmeasure = "AP"\n', 1, "asks for nothing"),
        ('[[rule]]\nmeasure = "AP"\nfloor = 1\ndrop = 2\n', 1, "has floor and drop"),
        ("[[rule]]\nfloor = 1\n", 2, "a floor needs a measure"),
        ('[[rule]]\nmissing = 0\nslice = "kind"\n', 3, "a rule of kind missing has no key 'slice'"),
        ('[[rule]]\nmeasure = "AP"\ndrop = "many"\n', 3, "it must be a number"),
        ('[[rule]]\nmeasure = "AP"\ndrop = true\n', 3, "it must be a number"),
        ('[[rule]]\nmeasure = "AP"\ndrop = nan\n', 3, "it must be a number"),
        ('[[rule]]\nmeasure = "AP"\ndrop = -0.1\n', 3, "0 or more"),
        ('[[rule]]\nmeasure = "AP"\ndrop = 1\ntested = "no"\n', 4, "true or false"),
        ('[[rule]]\nmeasure = "AP"\ndrop = 1\nvalue = "x"\n', 4, "value needs slice"),
        ("[[rule]]\nunjudged = 40\n", 2, "it is a share"),
        ('test = "wilcoxon"\nrules = ["AP: -1%"]\n', 1, "one of: randomization, t"),
        ("alpha = 0.9\nrules = ['AP: -1%']\n", 1, "between 0 and 0.5"),
        ('alpha = "x"\nrules = ["AP: -1%"]\n', 1, "not a number"),
        ('metadata = "q.jsonl"\nrules = ["AP: -1%"]\n', 1, "It is called queries."),
        ('holes = "look"\nrules = ["AP: -1%"]\n', 1, "It is called unjudged."),
        ('unjudged = "look away"\nrules = ["AP: -1%"]\n', 1, "unjudged is"),
        ('strict = 1\nrules = ["AP: -1%"]\n', 1, "strict is 1"),
        ('queries = 1\nrules = ["AP: -1%"]\n', 1, "queries is not a file name"),
        ('worst = -1\nrules = ["AP: -1%"]\n', 1, "worst is -1"),
        ('correction = "max-t"\ntest = "t"\nrules = ["AP: -1%"]\n', 2, "permutes the data"),
        ("rules = 3\n", 1, "is not a list of lines"),
        ("rule = 3\n", 1, "is not a list of tables"),
        ("", None, "there are no rules"),
        ('rules = ["AP: -1%", "map: -1%"]\n', None, "is duplicated"),
        ("rules = [", None, "is not TOML"),
    ],
)
def test_mistakes_are_placed(tmp_path, text, line, told):
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(GoldrankError) as caught:
        Rules.load(file)
    message = str(caught.value)
    assert told in message
    assert message.startswith(f"{file}:{line}: " if line else f"{file}: ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("AP: +1%", "better when it is higher"),
        ("AP: 1%", "better when it is higher"),
        ("FallOut@10: -1%", "better when it is lower"),
        ("missing >= 1%", "missing takes <="),
        ("overlap <= 1%", "overlap takes >="),
        ("P >= 0.1", "needs a cut-off"),
    ],
)
def test_lines_that_make_no_sense(text, told):
    with pytest.raises(GoldrankError, match=told.replace("<=", "<=")):
        Rule.parse(text)


def test_no_file(tmp_path):
    with raises_code(GoldrankError, "cannot-open"):
        as_rules(str(tmp_path / "nowhere.toml"))
    (tmp_path / "latin").write_bytes(b"\xff")
    with raises_code(GoldrankError, "not-utf8"):
        Rules.load(tmp_path / "latin")
    with raises_code(GoldrankError, "wrong-type"):
        as_rules(3)
    with raises_code(GoldrankError, "wrong-type"):
        Rules({"rules": ["AP: -1%"]})


@pytest.mark.parametrize(
    "limit",
    [
        "0.4123456789012345678",
        "0.1",
        "1e-7",
        "0.3333333333333333",
        "100",
        "184467440737095516161",
        "3e-300",
        "7e300",
    ],
)
def test_a_rule_is_spelled_with_its_whole_limit(limit):
    for line in (f"nDCG@10 >= {limit}", f"AP: -{limit}%", f"AP: -{limit}"):
        rule = Rule.parse(line)
        assert Rule.parse(str(rule)) == rule


def test_limits_are_spelled_as_people_do():
    lines = ["AP: -100%", "AP: -5%", "AP: -0.5%", "AP: -1.25%", "AP >= 0.4", "AP >= 1", "missing <= 2%", "AP: -1e-17"]
    assert [str(Rule.parse(line)) for line in lines] == lines
