"""ir_measures: python with_ir_measures.py files QRELS RUN"""

import sys

import ir_measures
from answer import MEASURES, give

_, qrels, run = sys.argv[1:]
measures = {ir_measures.parse_measure(name): name for name in MEASURES}
found = ir_measures.calc_aggregate(measures, ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run))
give({measures[measure]: value for measure, value in found.items()})
