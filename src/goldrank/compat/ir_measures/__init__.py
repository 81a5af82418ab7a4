"""ir_measures' interface on goldrank: `from goldrank.compat import ir_measures` instead of `import ir_measures`.

docs/migrating.md lists what differs.
"""

from goldrank.compat.ir_measures import measures, providers, util
from goldrank.compat.ir_measures.measures import *  # noqa: F403 - the measures are what people import
from goldrank.compat.ir_measures.measures import __all__ as _measures
from goldrank.compat.ir_measures.providers import (
    CwlMetric,
    DefaultPipeline,
    Evaluator,
    Provider,
    define,
    define_byquery,
)
from goldrank.compat.ir_measures.util import (
    CalcResults,
    GenericQrel,
    GenericScoredDoc,
    Metric,
    Qrel,
    ScoredDoc,
    convert_trec_name,
    parse_measure,
    parse_trec_measure,
    parse_trec_qrels,
    parse_trec_run,
    read_trec_qrels,
    read_trec_run,
)

accuracy = providers.registry["accuracy"]
cwl_eval = providers.registry["cwl_eval"]
compat = providers.registry["compat"]
gdeval = providers.registry["gdeval"]
pytrec_eval = providers.registry["pytrec_eval"]
trectools = providers.registry["trectools"]
judged = providers.registry["judged"]
msmarco = providers.registry["msmarco"]
pyndeval = providers.registry["pyndeval"]
ranx = providers.registry["ranx"]
runtime = providers.registry["runtime"]

evaluator = DefaultPipeline.evaluator
calc_ctxt = DefaultPipeline.calc_ctxt
iter_calc = DefaultPipeline.iter_calc
calc_aggregate = DefaultPipeline.calc_aggregate
calc = DefaultPipeline.calc
run_inputs = DefaultPipeline.run_inputs
qrel_inputs = DefaultPipeline.qrel_inputs

__all__ = [
    *_measures,
    "CalcResults", "CwlMetric", "DefaultPipeline", "Evaluator", "GenericQrel", "GenericScoredDoc", "Metric",
    "Provider", "Qrel", "ScoredDoc", "accuracy", "calc", "calc_aggregate", "calc_ctxt", "compat", "convert_trec_name",
    "cwl_eval", "define", "define_byquery", "evaluator", "gdeval", "iter_calc", "judged", "measures", "msmarco",
    "parse_measure", "parse_trec_measure", "parse_trec_qrels", "parse_trec_run", "providers", "pyndeval",
    "pytrec_eval", "qrel_inputs", "ranx", "read_trec_qrels", "read_trec_run", "run_inputs", "runtime", "trectools",
    "util",
]  # fmt: skip
