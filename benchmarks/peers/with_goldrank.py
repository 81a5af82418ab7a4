"""goldrank: python with_goldrank.py files|hundred|dicts|start QRELS RUN, or often SHAPE -"""

import sys

from answer import MEASURES, give, made_dicts, read_dicts, timed

from goldrank import Qrels, evaluate

CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
FAMILIES = ("P", "R", "F", "Success", "RecallAll", "nDCG", "DCG", "ERR", "RR", "AP")
HUNDRED = [f"{family}@{k}" for family in FAMILIES for k in CUTOFFS]

how, qrels, run = sys.argv[1:]
if how == "files":
    give(evaluate(qrels, run, MEASURES).mean)
elif how == "hundred":
    give(evaluate(qrels, run, HUNDRED).mean)
elif how == "dicts":
    judged, returned = read_dicts(qrels, run)
    spent = timed(lambda: evaluate(judged, returned, MEASURES))
    give(evaluate(judged, returned, MEASURES).mean, spent=spent)
elif how == "often":
    judged, returned = made_dicts(qrels)
    once = Qrels(judged)
    spent = timed(lambda: evaluate(once, returned, MEASURES))
    give(evaluate(once, returned, MEASURES).mean, spent=spent)
else:  # start: what a process costs that evaluates nothing
    give({})
