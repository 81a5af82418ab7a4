"""ranx: python with_ranx.py files QRELS RUN"""

import sys

from answer import give
from ranx import Qrels, Run, evaluate

NAMES = {"AP": "map", "nDCG@10": "ndcg@10", "RR": "mrr", "P@10": "precision@10", "R@1000": "recall@1000"}

_, qrels, run = sys.argv[1:]
found = evaluate(Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec"), list(NAMES.values()))
give({ours: found[theirs] for ours, theirs in NAMES.items()})
