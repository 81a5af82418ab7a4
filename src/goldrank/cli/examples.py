"""Examples at the end of each page of help. A test checks that their options exist."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "goldrank": (
        "demo",
        "eval qrels.txt run.txt -m nDCG@10,AP",
        "compare qrels.txt old.run new.run",
    ),
    "eval": (
        "eval qrels.txt run.txt -m nDCG@10,AP",
        "eval qrels.csv run.parquet --map query=qid,doc=docno",
        "eval qrels.json responses.jsonl --map query=q{n}",
        "eval ragas.jsonl -m R@5,RR",
        "eval ratings.csv run.csv --relevant-from 4 -m R@10 --catalogue train=train.csv",
        "eval part1.json part2.json -o whole.json",
        "eval retrievallog.jsonl --convention longmemeval",
    ),
    "texts": ("texts items.jsonl", "texts a=first.jsonl b=second.jsonl --matching rouge-l:0.7,unit=sentence"),
    "causes": ("causes items.jsonl -k 5 --evidence corpus/", "causes items.jsonl --budget 2000"),
    "sweep": ("sweep small/bm25=small.jsonl large/bm25=large.jsonl -k 3,10 -o sweep.html",),
    "judge": ("judge ask qrels.txt a.run --documents d.jsonl --queries q.tsv --judge NAME@http://localhost:8000/v1",),
    "judge ask": (
        "judge ask qrels.txt a.run b.run --documents docs.jsonl --queries queries.jsonl --judge NAME --dry-run",
    ),
    "judge agree": (
        "judge agree labels.jsonl --matching contains --matching rouge-l",
        "judge agree people.qrels a=a.run b=b.run --model-qrels model.json",
    ),
    "judge corrected": ("judge corrected people.qrels a.run b.run --model-qrels model.qrels -m nDCG@10 --next 10",),
    "judge questions": ("judge questions docs/ -n 200 --judge NAME -o questions.jsonl --dry-run",),
    "compare": (
        "compare qrels.txt old.run new.run -m nDCG@10,AP",
        "compare qrels.txt a=1.run b=2.run -o page.html --statistics alpha=0.01",
        "compare old.json new.json",
        "compare --collections beir/ -m nDCG@10 -o heat.html",
    ),
    "diff": ("diff qrels.txt old.run new.run -n 20",),
    "stages": (
        "stages qrels.txt candidates.run reranked.run -m nDCG@10",
        "stages qrels.txt candidates.run reranked.run --candidates 100 -o stages.svg",
    ),
    "fuse": (
        "fuse qrels.txt bm25.run dense.run -o fused.run",
        "fuse qrels.txt bm25.run dense.run --fusion wsum --tune",
        "fuse bm25.run dense.run --fusion rrf,k=60 -o fused.run",
    ),
    "record": ("record qrels.txt run.txt --label main --commit auto",),
    "history": ("history -m nDCG@10 -o history.html", "history show 12 -q"),
    "history show": ("history show 12 -q",),
    "history export": ("history export -o history.parquet",),
    "history check": ("history check",),
    "history prune": ("history prune --keep 100 --dry-run",),
    "history baseline": ("history baseline", "history baseline main 12"),
    "plan": ("plan qrels.txt old.run new.run",),
    "gate": (
        "gate qrels.txt run.txt --rule 'nDCG@10: -1%' --baseline main.json",
        "gate qrels.txt run.txt --rules gate.toml --baseline main.json --update",
    ),
    "explain": ("explain qrels.txt run.txt -m AP --convention ranx --convention trec_eval-10",),
    "trec_eval": ("trec_eval -m ndcg_cut.10 qrels.txt run.txt",),
    "measures": ("measures", "measures nDCG@10"),
    "choose": ("choose rag", "choose"),
    "doctor": ("doctor",),
    "convert": (
        "convert run.csv run.trec --map query=qid,doc=docno",
        "convert --qrels ratings.csv qrels.txt --relevant-from 4",
    ),
    "judgements": ("judgements from-clicks clicks.jsonl -o qrels.json --model ctr",),
    "judgements from-clicks": ("judgements from-clicks clicks.jsonl -o qrels.json --model ctr,prior=1+10",),
    "judgements interleave": ("judgements interleave clicks.jsonl --names old,new",),
    "judgements export": ("judgements export judgements.db qrels.txt -o judged.txt",),
    "serve": (
        "serve --demo",
        "serve old.run new.run --queries queries.tsv",
        "serve qrels.txt old=a.run new=b.run --documents corpus.jsonl --queries queries.tsv",
    ),
    "conformance": ('conformance --command "node my_metric.mjs"', "conformance --dump cases.jsonl"),
    "schema": ("schema record", "schema record --check records.jsonl"),
    "run": ("run queries.tsv --engine engine.toml -o new.run",),
    "init": ("init --queries queries.tsv --judgement-file qrels.txt --source current.run -m nDCG@10",),
    "demo": ("demo", "demo --write here"),
}


def epilog(name: str) -> str:
    """The examples of a command as the end of its help; click keeps the lines of a paragraph that begins so."""
    lines = "".join(f"\n  goldrank {line}" for line in EXAMPLES.get(name, ()))
    if lines:
        return f"\b\nExamples:{lines}"
    return ""
