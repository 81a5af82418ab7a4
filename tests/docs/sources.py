"""One ranking, q1: d2 then d1, of which d1 is relevant, in the form of each source of docs/getting_in_and_out.md.

Shapes are written by hand after the documentation of each tool. RR is 1/2 in all of them.
"""

from __future__ import annotations

import json
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HITS = [{"_index": "i", "_id": "d2", "_score": 2.0}, {"_index": "i", "_id": "d1", "_score": 1.0}]
SEARCH = {
    "took": 3, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
    "hits": {"total": {"value": 2, "relation": "eq"}, "max_score": 2.0, "hits": HITS},
}  # fmt: skip
SOLR = {
    "responseHeader": {"status": 0, "QTime": 1, "params": {"q": "q1", "fl": "id,score", "wt": "json"}},
    "response": {"numFound": 2, "start": 0, "maxScore": 2.0, "numFoundExact": True,
                 "docs": [{"id": "d2", "score": 2.0}, {"id": "d1", "score": 1.0}]},
}  # fmt: skip
VESPA = {
    "root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2},
             "coverage": {"coverage": 100, "documents": 2, "full": True, "nodes": 1, "results": 1, "resultsFull": 1},
             "children": [{"id": "id:ns:doc::d2", "relevance": 2.0, "source": "c", "fields": {"sku": "d2"}},
                          {"id": "id:ns:doc::d1", "relevance": 1.0, "source": "c", "fields": {"sku": "d1"}}]},
}  # fmt: skip
TYPESENSE = {
    "facet_counts": [], "found": 2, "out_of": 10, "page": 1, "search_time_ms": 1,
    "request_params": {"collection_name": "c", "per_page": 10, "q": "q1"},
    "hits": [{"document": {"id": "d2"}, "highlights": [], "text_match": 578730123365711993},
             {"document": {"id": "d1"}, "highlights": [], "text_match": 578730123365711992}],
}  # fmt: skip
MEILISEARCH = {
    "hits": [{"id": "d2", "title": "t"}, {"id": "d1", "title": "u"}], "offset": 0, "limit": 20,
    "estimatedTotalHits": 2, "processingTimeMs": 1, "query": "q1",
}  # fmt: skip
RANK_EVAL = {
    "metric_score": 0.5, "failures": {},
    "details": {"q1": {"metric_score": 0.5, "unrated_docs": [], "metric_details": {},
                       "hits": [{"hit": hit, "rating": None} for hit in HITS]}},
}  # fmt: skip

QRELS_CSV = "qid,docno,label\nq1,d1,1\n"
RUN_CSV = "qid,docno,score\nq1,d2,2\nq1,d1,1\n"
PYTERRIER_CSV = "qid,docid,docno,rank,score,query\nq1,7,d2,0,2.0,gold rush\nq1,8,d1,1,1.0,gold rush\n"
LISTS = {"retrieved_ids": ["d2", "d1"], "expected_ids": ["d1"]}

LONGMEMEVAL = [
    {"question_id": question, "question_type": "multi-session", "question": "?", "answer": "!", "question_date": "",
     "haystack_dates": ["", ""], "haystack_session_ids": ["answer_a", "s1"], "answer_session_ids": ["answer_a"],
     "haystack_sessions": [[{"role": "user", "content": "x", "has_answer": True}], [{"role": "user", "content": "y"}]],
     "retrieval_results": {"query": "?", "ranked_items": [{"corpus_id": name, "text": "", "timestamp": ""}
                                                          for name in ranked], "metrics": {}}}
    for question, ranked in (("q1", ["answer_a", "s1"]), ("q2", ["s1", "answer_a"]))
]  # fmt: skip
LOCOMO = {"qa": [{"question": "?", "answer": "!", "category": 1, "evidence": ["D1:3", "D2:8"],
                  "m_prediction": "!", "m_prediction_context": ["D1:3", "D4:1"]}]}  # fmt: skip
MEMPALACE = [
    {"question_id": question, "retrieval_results": {"ranked_items": [{"corpus_id": name} for name in ranked]}}
    for question, ranked in (("q1", ["g_turn_0", "s_turn_0"]), ("q2", ["s_turn_0", "g_turn_0"]))
]
MEMORYBENCH = {"evaluations": [{"questionId": "q1", "questionType": "t", "label": "correct", "searchResults": [],
                                "searchDurationMs": 12, "retrievalMetrics": {"hitAtK": 1, "mrr": 0.5}}]}  # fmt: skip
BROWSECOMP = {
    "metadata": {"model": "m"}, "query_id": "1", "tool_call_counts": {"search": 1}, "status": "completed",
    "usage": {"total_tokens": 1000}, "retrieved_docids": ["10", "11"],
    "result": [{"type": "tool_call", "tool_name": "search", "arguments": '{"query": "x"}',
                "output": '[{"docid": "10", "score": 1.0}, {"docid": "11", "score": 0.5}]'},
               {"type": "output_text", "output": "answer [10]"}],
}  # fmt: skip
SPAN = {
    "context": {"trace_id": "t1", "span_id": "s"}, "parent_id": None,
    "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z",
    "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "gold rush",
                   "retrieval.documents.0.document.id": "d2", "retrieval.documents.1.document.id": "d1"},
}  # fmt: skip
SEARCHES = {"id": "q1", "expected": ["d1", "d3"], "searches": [{"query": "x", "retrieved": ["d2", "d1"], "tokens": 9}]}

FILES: dict[str, str] = {
    "chunks.run": "q1 Q0 d2#0 1 2.0 t\nq1 Q0 d1#4 2 1.0 t\n",
    "groups.txt": "q1 0 d1 1 g1\nq1 0 d3 1 g1\nq1 0 d9 1 g2\n",
    "autorag.json": json.dumps([{"qid": "q1", "retrieval_gt": [["d1", "d3"]], "retrieved_ids": ["d2", "d1"]}]),
    "longmemeval.jsonl": "\n".join(map(json.dumps, LONGMEMEVAL)),
    "locomo.json": json.dumps(LOCOMO),
    "data.json": json.dumps([{"question_id": name, "answer_session_ids": ["g"]} for name in ("q1", "q2")]),
    "mempalace.jsonl": "\n".join(map(json.dumps, MEMPALACE)),
    "memorybench.json": json.dumps(MEMORYBENCH),
    "browsecomp.txt": "1 0 10 1\n1 0 12 1\n",
    "browsecomp/run_1.json": json.dumps(BROWSECOMP),
    "searches.jsonl": json.dumps(SEARCHES),
    "spans.txt": "t1 0 d1 1\nt1 0 d3 1\n",
    "spans.jsonl": json.dumps(SPAN),
    "costs.jsonl": json.dumps({"id": "q1", **LISTS, "latency": 0.2, "tokens": 50, "cost": 0.01}),
    "exact.run": "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n",
    "ann.run": "q1 Q0 d1 1 2.0 t\nq1 Q0 d9 2 1.0 t\n",
    "collections/one/qrels.txt": "q1 0 d1 1\n",
    "collections/one/a.run": "q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n",
    "collections/one/b.run": "q1 Q0 d1 1 2.0 t\n",
    "collections/two/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "collections/two/a.run": "q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n",
    "collections/two/b.run": "q1 Q0 d1 1 2.0 t\n",
    "qrels.txt": "q1 0 d1 1\n",
    "run.txt": "q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n",
    "queries.tsv": "q1\tgold rush\n",
    "engine.toml": 'kind = "python"\nfunction = "search_of_the_page:search"\n',
    "search_of_the_page.py": 'def search(query, k):\n    return ["d2", "d1"]\n',
    "new.run": "q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n",
    "msmarco.tsv": "q1\td2\t1\nq1\td1\t2\n",
    "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "qrels.csv": QRELS_CSV,
    "run.csv": RUN_CSV,
    "own.csv": "question,hit,value\nq1,d2,2\nq1,d1,1\n",
    "pyterrier.csv": PYTERRIER_CSV,
    "ranx.json": json.dumps({"q1": {"d2": 2.0, "d1": 1.0}}),
    "mteb.json": json.dumps({"mteb_model_meta": {}, "default": {"test": {"q1": {"d2": 2.0, "d1": 1.0}}}}),
    "llamaindex.json": json.dumps(
        {"queries": {"q1": "?"}, "corpus": {}, "relevant_docs": {"q1": ["d1"]}, "mode": "text"}
    ),
    "ragas.jsonl": json.dumps(
        {"user_input": "who?", "retrieved_context_ids": ["d2", "d1"], "reference_context_ids": ["d1"]}
    ),
    "langsmith.jsonl": json.dumps(
        {"inputs": {"question": "who?"}, "outputs": {"retrieved_ids": ["d2", "d1"]},
         "reference_outputs": {"expected_ids": ["d1"]}}
    ),
    "deepeval.json": json.dumps([{"input": "who?", "actual_output": "x", "additional_metadata": LISTS}]),
    "search.json": json.dumps({"q1": SEARCH}),
    "msearch.json": json.dumps({"took": 3, "responses": [{**SEARCH, "status": 200}]}),
    "responses.jsonl": json.dumps({"query_id": "q1", "response": SEARCH}),
    "opensearch.jsonl": json.dumps({"request": {"query": {"match": {"title": "q1"}}}, "response": SEARCH}),
    "rank_eval.json": json.dumps(RANK_EVAL),
    "rated.json": json.dumps({"requests": [{"id": "q1", "ratings": [{"_index": "i", "_id": "d1", "rating": 1}]}]}),
    "workbench.json": json.dumps(
        {"name": "n", "judgmentRatings": [{"query": "q1", "ratings": [{"docId": "d1", "rating": "1.0"}]}]}
    ),
    "solr.json": json.dumps(SOLR),
    "vespa.json": json.dumps({"q1": VESPA}),
    "typesense.json": json.dumps({"results": [TYPESENSE]}),
    "meilisearch.json": json.dumps(MEILISEARCH),
    "quepid.csv": "query,docid,rating\nq1,d1,1\nnever rated\n",
    "snapshot.csv": "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
                    "s,t,1,q1,d2,1\ns,t,1,q1,d1,2\n",
    "quepid.json": json.dumps({"queries": [{"query": "q1", "ratings": {"d1": 1}}]}),
    "rre.json": json.dumps(
        {"id_field": "id", "index": "i", "template": "t.json",
         "queries": [{"placeholders": {"$query": "q1"}, "relevant_documents": {"1": ["d1"]}}]}
    ),
    "ltr.txt": "1 qid:q1 # d1 gold rush\n",
    "candidates.jsonl": json.dumps(
        {"query": {"qid": "q1", "text": "?"},
         "candidates": [{"docid": "d2", "score": 2.0}, {"docid": "d1", "score": 1.0}]}
    ),
    "ratings.csv": "userId,movieId,rating,timestamp\nq1,d1,4.5,964982703\nq1,d2,2.0,964982703\n",
    "u.data": "q1\td1\t5\t881250949\nq1\td2\t2\t881250949\n",
    "ratings.dat": "q1::d1::5::978300760\nq1::d2::2::978300760\n",
    "data.inter": "user_id:token\titem_id:token\trating:float\ttimestamp:float\nq1\td1\t5\t1\nq1\td2\t1\t2\n",
    "pairs.csv": "user,item\nq1,d1\n",
    "loo.json": json.dumps({"q1": "d1"}),
    "clicks.jsonl": json.dumps({"query": "q1", "shown": ["d2", "d1"], "clicks": ["d1"]}),
}  # fmt: skip


def write(folder: Path) -> None:
    """All files."""
    import polars as pl

    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if text.endswith("\n") else text + "\n")
    run = pl.DataFrame({"query": ["q1", "q1"], "doc": ["d2", "d1"], "score": [2.0, 1.0]})
    run.write_parquet(folder / "run.parquet")
    run.write_ipc(folder / "run.arrow")


class Dataset:
    """As much of HuggingFace's `datasets.Dataset` as is used: rows may be a selection of the table behind it."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.column_names = list(columns)

    column_names: list[str] = []  # noqa: RUF012 - the class is asked for it

    def with_format(self, kind: str) -> Dataset:
        assert kind == "arrow"
        return self

    def __getitem__(self, rows: slice) -> Any:
        import pyarrow

        return pyarrow.table({name: values[rows] for name, values in self._columns.items()})


class IrDataset:
    """As much of a data set of ir_datasets as is used."""

    def qrels_iter(self) -> Any:
        row = namedtuple("TrecQrel", "query_id doc_id relevance iteration")
        yield row("q1", "d1", 1, "0")


def objects() -> dict[str, Any]:
    """Objects by the names that the page gives them."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rows = {"qid": ["q1", "q1"], "docno": ["d2", "d1"], "score": [2.0, 1.0]}
    pyterrier = {"docid": [7, 8], "rank": [0, 1], "query": ["gold rush", "gold rush"]}
    scored = namedtuple("ScoredDoc", "query_id doc_id score")
    prediction = namedtuple("Prediction", "uid iid r_ui est details")
    hit = namedtuple("Row", "id distance")
    node = SimpleNamespace
    return {
        "qrels": {"q1": {"d1": 1}},
        "run": {"q1": {"d2": 2.0, "d1": 1.0}},
        "pandas_run": pd.DataFrame(rows),
        "polars_run": pl.DataFrame(rows),
        "arrow_run": pa.table(rows),
        "pt_run": pd.DataFrame(rows | pyterrier),
        "pt_qrels": pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [1], "iteration": ["0"]}),
        "scored_docs": [scored("q1", "d2", 2.0), scored("q1", "d1", 1.0)],
        "ir_dataset": IrDataset(),
        "hf_qrels": Dataset({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]}),
        "llama_results": [node(query="who?", expected_ids=["d1"], retrieved_ids=["d2", "d1"], metric_dict={})],
        "hits": [node(docid="d2", score=2.0), node(docid="d1", score=1.0)],
        "points": node(points=[node(id="d2", version=0, score=2.0, payload={}), node(id="d1", version=0, score=1.0)]),
        "weaviate_result": node(
            objects=[node(uuid="d2", properties={}, metadata=node(distance=0.1, score=None)),
                     node(uuid="d1", properties={}, metadata=node(distance=0.2, score=None))]
        ),
        "chroma_result": {"ids": [["d2", "d1"]], "distances": [[0.1, 0.2]], "documents": None, "metadatas": None},
        "pg_rows": [hit("d2", 0.1), hit("d1", 0.2)],
        "response": SEARCH,
        "langchain_docs": [node(id="d2", page_content="x", metadata={}), node(id="d1", page_content="y", metadata={})],
        "nodes": [node(node=node(node_id="d2"), score=2.0), node(node=node(node_id="d1"), score=1.0)],
        "predictions": [prediction("q1", "d1", 5.0, 1.0, {}), prediction("q1", "d2", 1.0, 2.0, {})],
        "pairs": [("q1", "d1")],
    }  # fmt: skip
