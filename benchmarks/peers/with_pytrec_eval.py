"""pytrec_eval: python with_pytrec_eval.py files|dicts QRELS RUN, or often|anew SHAPE -"""

import sys

import pytrec_eval
from answer import give, made_dicts, read_dicts, timed

NAMES = {"AP": "map", "nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@10": "P_10", "R@1000": "recall_1000"}
ASKED = {"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000"}


def means(results):
    return {
        ours: pytrec_eval.compute_aggregated_measure(theirs, [values[theirs] for values in results.values()])
        for ours, theirs in NAMES.items()
    }


how, qrels, run = sys.argv[1:]
if how == "files":
    with open(qrels) as judged, open(run) as returned:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), ASKED)
        give(means(evaluator.evaluate(pytrec_eval.parse_run(returned))))
elif how in ("often", "anew"):
    judged, returned = made_dicts(qrels)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, ASKED)
    calls = {
        "often": lambda: evaluator.evaluate(returned),
        "anew": lambda: pytrec_eval.RelevanceEvaluator(judged, ASKED).evaluate(returned),
    }
    give(means(evaluator.evaluate(returned)), spent=timed(calls[how]))
else:
    judged, returned = read_dicts(qrels, run)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, ASKED)
    spent = timed(lambda: evaluator.evaluate(returned))
    # What goldrank's call includes as well: taking the judgements over, and the means.
    whole = timed(lambda: means(pytrec_eval.RelevanceEvaluator(judged, ASKED).evaluate(returned)))
    give(means(evaluator.evaluate(returned)), spent=spent, whole=whole)
