"""What programs of other people give for a case: pytrec_eval, ir_measures and ranx."""

from __future__ import annotations

import math
import warnings
from importlib.metadata import version

import ir_measures
import pytrec_eval
import ranx

PYTREC = f"pytrec_eval-terrier {version('pytrec_eval-terrier')}"
IR_MEASURES = f"ir_measures {version('ir_measures')}"
GDEVAL = f"gdeval of {IR_MEASURES} (5 decimals)"
RANX = f"ranx {version('ranx')}"

Values = dict[str, float]
"""By question."""


def inputs(case: dict) -> tuple[dict, dict]:
    """Judgements and run of a case as dicts; of a document that came back twice the first line counts."""
    qrels, run = {}, {}
    for record in case["records"]:
        judged = {row["id"]: row.get("grade", 1) for row in record["expected"]}
        if judged:
            qrels[record["id"]] = judged
        rows: dict[str, float] = {}
        for row in record["retrieved"]:
            rows.setdefault(row["id"], float(row["score"]))
        if rows:
            run[record["id"]] = rows
    return qrels, run


def pytrec_name(case: dict) -> tuple[str, str] | None:
    """A measure as trec_eval spells it: what is asked for, and what is answered."""
    name, k, options = case["name"], case["k"], case["options"]
    if options.keys() - {"rel", "recall"}:
        return None
    cut = {"P": "P", "R": "recall", "AP": "map_cut", "nDCG": "ndcg_cut", "Success": "success"}
    whole = {
        "AP": "map", "GMAP": "map", "nDCG": "ndcg", "RR": "recip_rank", "Rprec": "Rprec", "Bpref": "bpref",
        "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F",
    }  # fmt: skip
    if name == "IPrec":
        level = f"{options['recall']:.2f}"
        return f"iprec_at_recall.{level}", f"iprec_at_recall_{level}"
    if k is None and name in whole:
        return whole[name], whole[name]
    if k is not None and name in cut:
        return f"{cut[name]}.{k}", f"{cut[name]}_{k}"
    return None


def by_pytrec_eval(case: dict) -> Values | None:
    """trec_eval's C code, in single precision of scores."""
    spelled = pytrec_name(case)
    if spelled is None:
        return None
    asked, answered = spelled
    qrels, run = inputs(case)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {asked}, relevance_level=case["options"].get("rel", 1))
    values = {query: row[answered] for query, row in evaluator.evaluate(run).items()}
    return {query: values.get(query, 0.0) for query in qrels}


def by_ir_measures(case: dict) -> Values | None:
    """ir_measures, where it has more than trec_eval's code."""
    name, k = case["name"], case["k"]
    if name != "Judged":
        return None
    measure = ir_measures.Judged @ k
    return _ir_values(case, measure, {record["id"]: record["id"] for record in case["records"]})


def by_gdeval(case: dict) -> Values | None:
    """The script of TREC's web track, which wants numbers of topics, and prints five decimals."""
    if case["name"] != "ERR" or case["k"] is None:
        return None
    numbers = {record["id"]: str(number) for number, record in enumerate(case["records"], 1)}
    return _ir_values(case, ir_measures.ERR @ case["k"], numbers)


def _ir_values(case: dict, measure: object, names: dict[str, str]) -> Values:
    qrels, run = inputs(case)
    judged = [ir_measures.Qrel(names[q], doc, grade) for q, docs in qrels.items() for doc, grade in docs.items()]
    ranked = [ir_measures.ScoredDoc(names[q], doc, score) for q, docs in run.items() for doc, score in docs.items()]
    values = {}
    if ranked:
        values = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], judged, ranked)}
    return {query: values.get(names[query], 0.0) for query in qrels}


def by_ranx(case: dict) -> Values | None:
    """ranx, whose code is of its own."""
    name, k, options = case["name"], case["k"], case["options"]
    names = {
        "P": "precision", "R": "recall", "RR": "mrr", "AP": "map", "nDCG": "ndcg", "Success": "hit_rate",
        "Rprec": "r-precision", "RBP": "rbp",
    }  # fmt: skip
    if name not in names:
        return None
    longest = max(len(record["retrieved"]) for record in case["records"])
    if name == "RBP" and k is not None:  # ranx has no cut-off for it, which makes no difference in short lists
        if longest > k:
            return None
        k = None
    spelled = names[name]
    if options.get("gain") == "exp2":
        spelled = "ndcg_burges"
    if name == "RBP":
        spelled += f".{round(100 * options['p'])}"
    if k is not None:
        spelled += f"@{k}"
    if options.get("rel", 1) != 1:
        spelled += f"-l{options['rel']}"
    qrels, run = inputs(case)
    if any(grade < 0 for docs in qrels.values() for grade in docs.values()):
        return None
    both = [query for query in qrels if query in run]
    if not both:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged = ranx.Qrels({query: qrels[query] for query in both})
        ranked = ranx.Run({query: run[query] for query in both})
        ranx.evaluate(judged, ranked, spelled, make_comparable=False)
    values = {query: float(value) for query, value in ranked.scores[spelled].items()}
    return {query: values.get(query, 0.0) for query in qrels}


PROGRAMS = {
    PYTREC: (by_pytrec_eval, 1e-9),
    IR_MEASURES: (by_ir_measures, 1e-9),
    GDEVAL: (by_gdeval, 6e-6),
    RANX: (by_ranx, 1e-9),
}


def opinions(case: dict, right: Values) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Who agrees with these values of the questions, and what the others give."""
    agree, differ = [], {}
    for program, (function, slack) in PROGRAMS.items():
        values = function(case)
        if values is None:
            continue
        wrong = {
            query: f"{values[query]:.12g}" if math.isfinite(values[query]) else "nan"
            for query, value in right.items()
            if not abs(values[query] - value) <= slack
        }
        if wrong:
            differ[program] = wrong
        else:
            agree.append(program)
    return agree, differ
