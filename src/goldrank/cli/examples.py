"""Examples at the end of each page of help. A test holds them to the options that there are."""

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
        "eval ratings.csv run.csv --relevant-from 4 -m R@10",
    ),
    "texts": ("texts items.jsonl", "texts a=first.jsonl b=second.jsonl --match rouge-l:0.7"),
    "causes": ("causes items.jsonl -k 5 --sources corpus/", "causes items.jsonl --budget 2000"),
    "sweep": ("sweep small/bm25=small.jsonl large/bm25=large.jsonl -k 3,10 --html sweep.html",),
    "agree": (
        "agree labels.jsonl --match contains --match rouge-l",
        "agree qrels.txt --model model.json --run a=a.run --run b=b.run",
    ),
    "judge": ("judge qrels.txt a.run b.run --docs docs.jsonl --queries queries.jsonl --model NAME --dry-run",),
    "corrected": ("corrected people.qrels model.qrels a.run b.run -m nDCG@10 --next 10",),
    "questions": ("questions docs/ --n 200 --model NAME -o questions.jsonl --dry-run",),
    "merge": ("merge part1.json part2.json -o whole.json",),
    "compare": (
        "compare qrels.txt old.run new.run -m nDCG@10,AP",
        "compare qrels.txt a=1.run b=2.run --html page.html",
    ),
    "leaderboard": ("leaderboard qrels.txt runs/a.run runs/b.run runs/c.run -o board.md",),
    "diff": ("diff qrels.txt old.run new.run -n 20",),
    "fuse": ("fuse qrels.txt bm25.run dense.run -o fused.run", "fuse qrels.txt bm25.run dense.run --tune"),
    "report": ("report old.json new.json --html page.html",),
    "record": ("record qrels.txt run.txt --label main --commit auto",),
    "history": ("history -m nDCG@10 --html history.html",),
    "show": ("show 12 -q",),
    "export": ("export -o history.parquet",),
    "check": ("check",),
    "prune": ("prune --keep 100 --dry-run",),
    "plan": ("plan qrels.txt old.run new.run",),
    "interleave": ("interleave clicks.jsonl --names old new",),
    "gate": ("gate qrels.txt run.txt --rule 'nDCG@10: -1%' --baseline main.json",),
    "baseline": ("baseline set main.json qrels.txt run.txt", "baseline show main.json"),
    "explain-difference": ("explain-difference qrels.txt run.txt -m AP --conventions ranx trec_eval-10",),
    "trec_eval": ("trec_eval -m ndcg_cut.10 qrels.txt run.txt",),
    "measures": ("measures", "measures nDCG@10"),
    "choose": ("choose rag", "choose"),
    "convert": (
        "convert run.csv run.trec --map query=qid,doc=docno",
        "convert --qrels ratings.csv qrels.txt --relevant-from 4",
    ),
    "judgements": ("judgements from-clicks clicks.jsonl -o qrels.json --model ctr",),
    "completion": ("completion bash >> ~/.bashrc", "completion zsh", "completion fish"),
    "serve": (
        "serve --demo",
        "serve qrels.txt old=a.run new=b.run --docs corpus.jsonl --queries queries.tsv",
    ),
    "demo": ("demo", "demo --write here"),
}


def epilog(name: str) -> str:
    """The examples of a command as the end of its help; click keeps the lines of a paragraph that begins so."""
    lines = "".join(f"\n  goldrank {line}" for line in EXAMPLES.get(name, ()))
    return f"\b\nExamples:{lines}" if lines else ""
