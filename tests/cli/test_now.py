"""Memory benchmarks, agents, tails, costs, groups, exact search and collections at the prompt, on files as projects
write them. Values are worked out by hand beside each test.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from goldrank.cli import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def shown(capsys, *words):
    """What a command prints; it must succeed."""
    code = run(list(words))
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def number(text, name):
    """The first number behind a name at the beginning of a line."""
    found = re.search(rf"^{re.escape(name)} +\*?([-\d.]+)", text, re.MULTILINE)
    assert found is not None, text
    return float(found[1])


def longmemeval(question, ranked):
    turns = [[{"role": "user", "content": "x", "has_answer": True}], [{"role": "user", "content": "y"}]]
    items = [{"corpus_id": name, "text": "t", "timestamp": ""} for name in ranked]
    return {
        "question_id": question,
        "question_type": "multi-session",
        "question": "?",
        "answer": "!",
        "question_date": "",
        "haystack_dates": ["", ""],
        "haystack_session_ids": ["answer_a", "s1"],
        "haystack_sessions": turns,
        "answer_session_ids": ["answer_a"],
        "retrieval_results": {"query": "?", "ranked_items": items, "metrics": {}},
    }


def test_longmemeval_by_name_and_by_content(folder, capsys):
    """The answer is second: recall_any@1 is 0, and nDCG weighs both places alike, so ndcg_any@3 is 1."""
    lines(folder / "x_retrievallog_session_flat-bm25", longmemeval("q1", ["s1", "answer_a"]))
    by_name = shown(capsys, "eval", "x_retrievallog_session_flat-bm25", "--convention", "longmemeval")
    assert number(by_name, "session recall_any@1") == 0
    assert number(by_name, "session ndcg_any@3") == 1
    assert shown(capsys, "eval", "x_retrievallog_session_flat-bm25") == by_name


def test_a_measure_of_goldrank_reads_the_log_as_plain_records(folder, capsys):
    lines(folder / "log.jsonl", longmemeval("q1", ["s1", "answer_a"]))
    assert number(shown(capsys, "eval", "log.jsonl", "-m", "RR"), "RR") == 0.5


def test_abstention_is_left_out(folder, capsys):
    lines(folder / "log.jsonl", longmemeval("q1", ["answer_a", "s1"]), longmemeval("q2_abs", ["s1", "answer_a"]))
    text = shown(capsys, "eval", "log.jsonl", "--convention", "longmemeval")
    assert number(text, "session recall_any@1") == 1
    assert "q2_abs" in text


def test_locomo(folder, capsys):
    """One of two entries of the evidence is in the context."""
    qa = [
        {
            "question": "?",
            "answer": "!",
            "category": 1,
            "evidence": ["D1:3", "D2:8"],
            "M_dialog_top_5_prediction": "!",
            "M_dialog_top_5_prediction_context": ["D1:3", "D4:1", "D9:9"],
        }
    ]
    (folder / "locomo.json").write_text(json.dumps({"qa": qa}))
    assert number(shown(capsys, "eval", "locomo.json"), "recall") == 0.5
    assert number(shown(capsys, "eval", "locomo.json", "--convention", "locomo"), "recall") == 0.5


def test_mempalace_takes_the_data_set_before_the_results(folder, capsys):
    """First turn of the gold session at rank 2: recall_any@1 is 0, recall_any@3 is 1."""
    (folder / "longmemeval_s.json").write_text(json.dumps([{"question_id": "q", "answer_session_ids": ["g"]}]))
    items = [{"corpus_id": "s_turn_0"}, {"corpus_id": "g_turn_1"}]
    lines(folder / "results.jsonl", {"question_id": "q", "retrieval_results": {"ranked_items": items}})
    text = shown(capsys, "eval", "longmemeval_s.json", "results.jsonl", "--convention", "mempalace")
    assert number(text, "session recall_any@1") == 0
    assert number(text, "session recall_any@3") == 1


@pytest.mark.parametrize(
    ("convention", "content", "message"),
    [
        ("longmemeval", '{"question_id": 5}', "retrieval_results"),
        ("longmemeval", "[1]", "not an object"),
        ("longmemeval", '{"x": 1}', "question_id"),
        ("locomo", "x", "not JSON"),
        ("locomo", '{"qa": [{"evidence": ["D1:1"], "category": 1}]}', "no question has a context"),
        ("memorybench", '{"evaluations": [{"retrievalMetrics": {}}]}', "does not look like reports of memorybench"),
        ("mempalace", '{"question_id": "q", "retrieval_results": {}}', "before the results at the prompt"),
        ("browsecomp-plus", '{"query_id": "q"}', "QRELS"),
        ("mteb", "{}", "QRELS"),
        ("autorag", '{"qid": "q"}', "retrieval_gt and retrieved_ids"),
        ("searches", '{"id": "q", "expected": ["a"], "searches": [{"retrieved": "a"}]}', "list of retrieved ids"),
        ("searches", '{"id": "q", "expected": ["a"], "searches": [{"retrieved": ["a"], "tokens": "x"}]}', "tokens is"),
    ],
)
def test_files_of_another_shape_are_errors_of_input(folder, capsys, convention, content, message):
    (folder / "x.json").write_text(content)
    assert run(["eval", "x.json", "--convention", convention]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "internal error" not in said


def test_a_convention_that_is_nearly_one(folder, capsys):
    (folder / "x.json").write_text("{}")
    assert run(["eval", "x.json", "--convention", "longmemval"]) == 2
    assert "longmemeval" in capsys.readouterr().err


def test_a_convention_of_files_is_refused_for_runs(folder, capsys):
    (folder / "q.txt").write_text("q 0 a 1\n")
    (folder / "a.run").write_text("q Q0 a 1 1 t\n")
    assert run(["stages", "q.txt", "a.run", "a.run", "--convention", "locomo"]) == 2
    assert "goldrank eval" in capsys.readouterr().err


AGENT = {
    "id": "q",
    "question": "why?",
    "expected": ["a", "b", "c"],
    "latency": 2.0,
    "cost": 0.5,
    "searches": [
        {"query": "one", "retrieved": ["x", "a"], "tokens": 400},
        {"query": "two", "retrieved": ["x", "y"], "tokens": 300},
        {"query": "three", "retrieved": ["a", "x"], "tokens": 300},
        {"query": "four", "retrieved": ["b", "c"], "tokens": 500},
        {"query": "five", "retrieved": ["c", "a"], "tokens": 500},
    ],
}
"""The worked case: union 1, last 2/3, best 2/3, first 1, cover 4, new 1 0 0 2 0."""


def test_searches_are_told_by_content(folder, capsys):
    lines(folder / "agent.jsonl", AGENT)
    text = shown(capsys, "eval", "agent.jsonl")
    assert number(text, "UnionRecall") == 1
    assert number(text, "LastRecall") == 0.6667
    assert number(text, "1/SearchesToCover") == 0.25
    assert number(text, "NewPerSearch") == 0.6
    assert number(text, "WastedShare") == 0.6
    assert number(text, "RecallPer1000Tokens") == 0.5


def test_measures_of_searches_have_options(folder, capsys):
    """Within 1,000 tokens 1 of 3 is found; 2 of 3 (at least 0.6) are covered with the fourth search."""
    lines(folder / "agent.jsonl", AGENT)
    text = shown(capsys, "eval", "agent.jsonl", "-m", "UnionRecall(tokens=1000),SearchesToCover(0.6),UnionRecall@1")
    assert number(text, "UnionRecall(tokens=1000)") == 0.3333
    assert number(text, "1/SearchesToCover(0.6)") == 0.25
    assert number(text, "UnionRecall@1") == 1  # x, x, a, b, c
    assert run(["eval", "agent.jsonl", "-m", "UnionRecal"]) == 2
    assert "UnionRecall" in capsys.readouterr().err


def test_expected_documents_may_be_qrels(folder, capsys):
    lines(folder / "agent.jsonl", {key: value for key, value in AGENT.items() if key != "expected"})
    (folder / "q.txt").write_text("q 0 a 1\nq 0 z 1\n")
    assert number(shown(capsys, "eval", "q.txt", "agent.jsonl"), "UnionRecall") == 0.5
    assert run(["eval", "agent.jsonl"]) == 2
    assert "QRELS before the file" in capsys.readouterr().err


def test_the_page_of_searches_shows_each_search(folder, capsys):
    lines(folder / "agent.jsonl", AGENT)
    shown(capsys, "eval", "agent.jsonl", "-o", "page.html")
    page = (folder / "page.html").read_text()
    assert page.count('class="step ') == 5
    assert "q: why?" in page
    assert "Wasted (repeat)" in page
    assert "<script" not in page


def browsecomp(query, *docs):
    output = json.dumps([{"docid": doc, "score": 1.0} for doc in docs])
    calls = [
        {"type": "tool_call", "tool_name": "search", "arguments": '{"query": "x"}', "output": output},
        {"type": "output_text", "output": "so [10]"},
    ]
    record = {"metadata": {}, "query_id": query, "tool_call_counts": {"search": 1}, "status": "completed"}
    return {**record, "retrieved_docids": list(docs), "result": calls, "usage": {"total_tokens": 1000}}


def test_browsecomp_plus(folder, capsys):
    (folder / "q.txt").write_text("1 0 10 1\n1 0 12 1\n")
    (folder / "runs").mkdir()
    (folder / "runs" / "run_1.json").write_text(json.dumps(browsecomp("1", "10", "11")))
    assert "50.00%" in shown(capsys, "eval", "q.txt", "runs", "--convention", "browsecomp-plus")
    assert number(shown(capsys, "eval", "q.txt", "runs"), "UnionRecall") == 0.5


def test_spans_of_openinference(folder, capsys):
    def span(number, docs):
        attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "x", "session.id": "s"}
        for i, doc in enumerate(docs):
            attributes[f"retrieval.documents.{i}.document.id"] = doc
        start, end = f"2026-01-01T00:00:0{number}Z", f"2026-01-01T00:00:0{number + 1}Z"
        context = {"trace_id": "t", "span_id": str(number)}
        return {"context": context, "parent_id": "p", "start_time": start, "end_time": end, "attributes": attributes}

    lines(folder / "spans.jsonl", span(2, ["b"]), span(1, ["a", "x"]))
    (folder / "q.txt").write_text("t 0 a 1\nt 0 b 1\n")
    text = shown(capsys, "eval", "q.txt", "spans.jsonl")
    assert number(text, "LastRecall") == 0.5
    assert number(text, "1/SearchesToCover") == 0.5


@pytest.fixture
def conversations(folder):
    for name, hit in (("old", "x"), ("new", "a")):
        records = []
        for i in range(40):
            searches = [{"retrieved": [hit if i % 3 else "a"], "tokens": 10 + i}]
            conversation = {"conversation": f"c{i // 2}", "turn": 1 + i % 2, "latency_ms": 100 + i, "cost": 0.25}
            records.append({"id": f"q{i}", "expected": ["a"], "searches": searches, **conversation})
        lines(folder / f"{name}.jsonl", *records)


def test_conversations_are_clusters_and_turns_a_slice(conversations, capsys):
    text = shown(capsys, "compare", "old.jsonl", "new.jsonl", "-m", "UnionRecall")
    assert "20 clusters of queries" in text
    assert re.search(r"^turn +1 +20", text, re.MULTILINE)


def test_costs_go_with_scores(conversations, capsys):
    """Latencies are 0.100 to 0.139: mean 0.1195, total 4.78; costs are 40 times 0.25."""
    text = shown(capsys, "compare", "old.jsonl", "new.jsonl", "-m", "UnionRecall")
    assert re.search(r"^old +latency, s +0\.1195 +0\.137\d? +0\.1195 +4\.78", text, re.MULTILINE)
    assert re.search(r"^old +new +tokens +\+0", text, re.MULTILINE)
    shown(capsys, "eval", "old.jsonl", "-o", "old.json")
    assert re.search(r"^old +cost +0\.25 +0\.25 +0\.25 +10 ", shown(capsys, "eval", "old.json"), re.MULTILINE)


def test_gates_read_costs_of_the_scores(conversations, capsys):
    rules = ["--rule", "latency p95 <= 0.138", "--rule", "cost total <= 10", "--rule", "tokens mean <= 29.5"]
    shown(capsys, "gate", "old.jsonl", *rules)
    assert run(["gate", "old.jsonl", "--rule", "cost total <= 9.9"]) == 1
    assert "cost total of 40 queries is 10" in capsys.readouterr().out


def test_a_history_has_a_line_of_latency(conversations, capsys):
    shown(capsys, "record", "old.jsonl", "--db", "h.db", "--label", "main")
    assert "0.1195" in shown(capsys, "history", "--db", "h.db", "-m", "latency")


def test_plain_records_carry_costs_too(folder, capsys):
    record = {"retrieved_ids": ["a"], "expected_ids": ["a"], "tokens": 7, "latency_ms": 20}
    lines(folder / "r.jsonl", {"id": "q1", **record}, {"id": "q2", **record})
    text = shown(capsys, "eval", "r.jsonl", "-m", "RR")
    assert re.search(r"^r +tokens +7 +7 +7 +14 +2", text, re.MULTILINE)


@pytest.fixture
def judged(folder):
    """Four queries: RR 1, 0.5, 0.5 and 0."""
    (folder / "q.txt").write_text("".join(f"q{i} 0 a 1\n" for i in range(4)))
    rows = ["q0 Q0 a 1 2 t", "q1 Q0 x 1 2 t", "q1 Q0 a 2 1 t", "q2 Q0 x 1 2 t", "q2 Q0 a 2 1 t", "q3 Q0 x 1 2 t"]
    (folder / "a.run").write_text("\n".join(rows) + "\n")


def test_tails(judged, capsys):
    """Median 0.5; three of four reach 0.5; Wilson's interval of 3/4 is 0.3006 to 0.9544."""
    text = shown(capsys, "eval", "q.txt", "a.run", "--tail", "-m", "RR")
    assert re.search(r"^RR +0\.5000 +0\.5000", text, re.MULTILINE)
    assert re.search(r"^q3 +0\.0000", text, re.MULTILINE)
    assert "0.7500  0.3006 to 0.9544" in shown(capsys, "eval", "q.txt", "a.run", "-m", "P[RR >= 0.5]")


def test_variants_by_cluster(judged, folder, capsys):
    """Intent x has RR 1 and 0.5: mean 0.75, worst 0.5, spread 0.5; y has 0.5 and 0."""
    (folder / "queries.csv").write_text("query_id,cluster\nq0,x\nq1,x\nq2,y\nq3,y\n")
    text = shown(capsys, "eval", "q.txt", "a.run", "--tail", "-m", "RR", "--queries", "queries.csv")
    assert re.search(r"^x +2 +0\.7500 +0\.5000 +q1 +0\.5000", text, re.MULTILINE)
    assert re.search(r"^mean of 2 intents +0\.5000 +0\.2500 +0\.5000", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("median RR >= 0.5", 0),
        ("p5 RR >= 0.1", 1),  # between 0 and 0.5 at 0.15 of the way: 0.075
        ("p5 RR >= 0.075", 0),
        ("P[RR >= 0.5] >= 75%", 0),
        ("P[RR >= 0.5] >= 0.76", 1),
        ("p200 RR >= 0.1", 2),
        ("median RR: -1%", 2),
        ("RR == 0", 2),
    ],
)
def test_gate_rules_on_tails(judged, rule, code):
    assert run(["gate", "q.txt", "a.run", "--rule", rule]) == code


def test_forbidden_documents_by_name(folder, capsys):
    (folder / "q.txt").write_text("q 0 a 1\nq 0 bad -1\nr 0 a 1\n")
    (folder / "a.run").write_text("q Q0 a 1 2 t\nq Q0 bad 2 1 t\nr Q0 a 1 1 t\n")
    assert run(["gate", "q.txt", "a.run", "--rule", "forbidden@10 == 0"]) == 1
    assert re.search(r"'bad'\s+at\s+rank 2 for query 'q'", capsys.readouterr().out)
    assert run(["gate", "q.txt", "a.run", "--rule", "forbidden@1 == 0"]) == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.txt", "q 0 a1 1 g1\nq 0 a2 1 g1\nq 0 b 1 g2\n"),
        ("q.csv", "query_id,doc_id,grade,group\nq,a1,1,g\nq,a2,1,g\nq,b,1,\n"),
        ("q.json", '{"q": [["a1", "a2"], ["b"]]}'),
        ("q.json", '{"q": [{"any_of": ["a1", "a2"]}, "b"]}'),
    ],
)
def test_groups_in_judgements(folder, capsys, name, content):
    """a1 a2 b: places 1 and 3, so AP (1 + 2/3) / 2 and nDCG 1.5 / 1.6309; within 2 one of two groups."""
    (folder / name).write_text(content)
    (folder / "a.run").write_text("q Q0 a1 1 3 t\nq Q0 a2 2 2 t\nq Q0 b 3 1 t\n")
    text = shown(capsys, "eval", name, "a.run", "-m", "AP,nDCG,R@2,RecallAll@3")
    expected = {"AP": 0.8333, "nDCG": 0.9197, "R@2": 0.5, "RecallAll@3": 1}
    assert {measure: number(text, measure) for measure in expected} == expected
    assert run(["gate", name, "a.run", "--rule", "RecallAll@3 >= 1"]) == 0
    assert "0.9197" in shown(capsys, "compare", name, "a.run", "b=a.run", "-m", "nDCG")


def test_groups_in_records(folder, capsys):
    lines(folder / "r.jsonl", {"id": "q", "retrieved_ids": ["a1", "a2"], "expected_ids": [["a1", "a2"], ["b"]]})
    assert number(shown(capsys, "eval", "r.jsonl", "-m", "R@2"), "R@2") == 0.5


def test_pairs_of_documents_and_grades_are_no_groups(folder, capsys):
    (folder / "q.json").write_text('{"q": [["a", 2], ["b", 0]]}')
    (folder / "a.run").write_text("q Q0 a 1 3 t\n")
    assert run(["eval", "q.json", "a.run"]) == 2
    assert "pairs of a document and a number" in capsys.readouterr().err


def test_exact_search_is_the_truth(folder, capsys):
    """d is as near as b, the second: both of the first 2 count. Of 5 neighbours 2 were returned."""
    rows = zip("abcde", (0.9, 0.8, 0.8, 0.8, 0.1), strict=True)
    (folder / "exact.run").write_text("".join(f"q Q0 {doc} 1 {score} t\n" for doc, score in rows))
    (folder / "ann.run").write_text("q Q0 a 1 2 t\nq Q0 d 2 1 t\n")
    assert "Recall@2 against exact search: 1.0000" in shown(
        capsys, "eval", "exact.run", "ann.run", "--truth", "exact", "-m", "R@2"
    )
    assert number(shown(capsys, "eval", "exact.run", "ann.run", "-m", "R@2,R@5"), "ANN-R@5") == 0.4
    assert run(["eval", "exact.run", "ann.run", "--truth", "exact", "-m", "AP"]) == 2


def test_latency_goes_with_recall_of_exact_search(folder, capsys):
    (folder / "exact.run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    lines(folder / "ann.jsonl", {"query_id": "q", "results": ["a", "x"], "latency_ms": 3})
    text = shown(capsys, "eval", "exact.run", "ann.jsonl", "--truth", "exact", "-m", "R@2")
    assert "Recall@2 against exact search: 0.5000" in text
    assert re.search(r"^ann +latency, s +0\.003 +0\.003", text, re.MULTILINE)


def collection(folder, name, values, layout="plain"):
    """One query for each value, whose only relevant document has that reciprocal rank."""
    place = folder / name
    place.mkdir(parents=True)
    qrels = place / "qrels.txt"
    heading, middle = "", " 0 "
    if layout == "beir":
        (place / "qrels").mkdir()
        qrels = place / "qrels" / "test.tsv"
        heading, middle = "query-id\tcorpus-id\tscore\n", "\t"
    queries = len(next(iter(values.values())))
    end = {"plain": " 1\n", "beir": "\t1\n"}[layout]
    qrels.write_text(heading + "".join(f"q{i}{middle}a{end}" for i in range(queries)))
    for system, ranks in values.items():
        text = ""
        for i, rank in enumerate(ranks):
            docs = [*(f"x{j}" for j in range(rank - 1)), "a"]
            text += "".join(f"q{i} Q0 {doc} {j + 1} {100 - j} t\n" for j, doc in enumerate(docs))
        (place / f"{system}.run").write_text(text)


@pytest.mark.parametrize("layout", ["plain", "beir"])
def test_collections(folder, capsys, layout):
    """RR: good 1 and 0.75, bad 0.5 and 0.75; means 0.875 and 0.625."""
    collection(folder / "all", "large", {"good": [1, 1], "bad": [2, 2]}, layout)
    collection(folder / "all", "small", {"good": [1, 2], "bad": [2, 1]}, layout)
    collection(folder / "all", "third", {"good": [1, 1]}, layout)
    text = shown(capsys, "compare", "--collections", "all", "-m", "RR", "-o", "p.html", "-o", "p.tex")
    assert number(text, "good") == 0.875
    assert number(text, "bad") == 0.625
    page = (folder / "p.html").read_text()
    assert 'class="none"' in page
    assert "bad on third" in page
    assert r"large & \textbf{1.000} & 0.500 \\" in (folder / "p.tex").read_text()


def test_predictions_of_mteb_as_collections(folder, capsys):
    (folder / "all" / "qrels").mkdir(parents=True)
    for task in ("T1", "T2"):
        (folder / "all" / "qrels" / f"{task}.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
        for system, scores in {"m1": {"a": 2, "b": 1}, "m2": {"a": 1, "b": 2}}.items():
            (folder / "all" / system).mkdir(exist_ok=True)
            predictions = {"mteb_model_meta": {"model_name": system}, "default": {"test": {"q": scores}}}
            (folder / "all" / system / f"{task}_predictions.json").write_text(json.dumps(predictions))
    text = shown(capsys, "compare", "--collections", "all", "-m", "RR")
    assert number(text, "m1") == 1
    assert number(text, "m2") == 0.5
    words = ["eval", "all/qrels/T1.tsv", "all/m2/T1_predictions.json", "--convention", "mteb"]
    assert number(shown(capsys, *words), "mrr_at_10") == 0.5


def test_results_of_mteb_have_no_queries(folder, capsys):
    for system, values in {"m1": (0.4, 0.6), "m2": (0.3, 0.2)}.items():
        for task, value in zip(("T1", "T2"), values, strict=True):
            path = folder / "results" / system / "rev" / f"{task}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            entry = {"hf_subset": "default", "languages": ["eng"], "main_score": value}
            path.write_text(json.dumps({"task_name": task, "scores": {"test": [entry]}}))
    text = shown(capsys, "compare", "--collections", "results")
    assert number(text, "m1") == 0.5
    assert number(text, "m2") == 0.25


@pytest.mark.parametrize("files", [{}, {"c/a.run": "q Q0 a 1 1 t\n"}])
def test_folders_that_are_no_collections(folder, capsys, files):
    (folder / "all").mkdir()
    for name, content in files.items():
        (folder / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "all" / name).write_text(content)
    assert run(["compare", "--collections", "all"]) == 2
    assert "qrels" in capsys.readouterr().err


def test_nothing_of_it_is_imported_where_it_is_not_used(folder):
    (folder / "q.txt").write_text("q 0 a 1\n")
    (folder / "a.run").write_text("q Q0 a 1 1 t\n")
    script = (
        "import sys; from goldrank.cli import run; assert run(['eval', 'q.txt', 'a.run', '-m', 'RR']) == 0; "
        "parts = ('agents.', 'memory.', 'suites.', 'tails.', 'ann.', 'staging.'); "
        "loaded = [name for name in sys.modules if name.startswith(tuple(f'goldrank.{part}' for part in parts))]; "
        "assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
