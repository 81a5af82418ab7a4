# Written by `make names`; the tables are in __init__.py and in the __init__.py of each satellite.
from goldrank.agents.browsecomp import BrowseCompScores as BrowseCompScores
from goldrank.agents.browsecomp import browsecomp_scores as browsecomp_scores
from goldrank.agents.question import QuestionSearches as QuestionSearches
from goldrank.agents.searches import SearchScores as SearchScores
from goldrank.agents.searches import score_searches as score_searches
from goldrank.ann.distances import AnnBenchmarks as AnnBenchmarks
from goldrank.ann.distances import ann_benchmarks as ann_benchmarks
from goldrank.ann.recall import AnnRecall as AnnRecall
from goldrank.ann.recall import ann_recall as ann_recall
from goldrank.base.errors import BaselineError as BaselineError
from goldrank.base.errors import GoldrankError as GoldrankError
from goldrank.base.errors import InputError as InputError
from goldrank.base.errors import JudgeError as JudgeError
from goldrank.base.errors import MeasureError as MeasureError
from goldrank.base.errors import MemoryLimitError as MemoryLimitError
from goldrank.base.errors import MismatchError as MismatchError
from goldrank.base.errors import MissingQueryError as MissingQueryError
from goldrank.base.errors import NoRelevantError as NoRelevantError
from goldrank.base.errors import NotMeasuredError as NotMeasuredError
from goldrank.base.errors import OptionError as OptionError
from goldrank.base.errors import Position as Position
from goldrank.base.errors import RetrievalError as RetrievalError
from goldrank.base.errors import RuleError as RuleError
from goldrank.base.errors import StoreError as StoreError
from goldrank.base.notes import Note as Note
from goldrank.base.packages import MissingPackageError as MissingPackageError
from goldrank.clicks.interleaving import Preference as Preference
from goldrank.clicks.interleaving import analyse_interleaving as analyse_interleaving
from goldrank.clicks.judgements import ClickJudgements as ClickJudgements
from goldrank.clicks.judgements import judgements_from_clicks as judgements_from_clicks
from goldrank.comparison.agreement import RankAgreement as RankAgreement
from goldrank.comparison.agreement import rank_agreement as rank_agreement
from goldrank.comparison.build import compare as compare
from goldrank.comparison.convention_difference import Difference as Difference
from goldrank.comparison.convention_difference import explain_difference as explain_difference
from goldrank.comparison.holes import ToJudge as ToJudge
from goldrank.comparison.intervals import Interval as Interval
from goldrank.comparison.leaderboard import Leaderboard as Leaderboard
from goldrank.comparison.leaderboard import Standing as Standing
from goldrank.comparison.one_system import RunIntervals as RunIntervals
from goldrank.comparison.one_system import score_intervals as score_intervals
from goldrank.comparison.pair import Pair as Pair
from goldrank.comparison.planning import Plan as Plan
from goldrank.comparison.planning import plan as plan
from goldrank.comparison.rank_changes import Diff as Diff
from goldrank.comparison.rank_changes import DocumentChange as DocumentChange
from goldrank.comparison.rank_changes import QueryChange as QueryChange
from goldrank.comparison.rank_changes import diff as diff
from goldrank.comparison.result import Comparison as Comparison
from goldrank.comparison.settings import Statistics as Statistics
from goldrank.comparison.slice_table import SliceTable as SliceTable
from goldrank.conventions import Convention as Convention
from goldrank.data.aspects import AspectQrels as AspectQrels
from goldrank.data.catalogue import Catalogue as Catalogue
from goldrank.data.documents import Document as Document
from goldrank.data.documents import Documents as Documents
from goldrank.data.explanation import Explanation as Explanation
from goldrank.data.preferences import Preferences as Preferences
from goldrank.data.qrels import Qrels as Qrels
from goldrank.data.queries import Queries as Queries
from goldrank.data.queries import Query as Query
from goldrank.data.run import Run as Run
from goldrank.data.runs import Runs as Runs
from goldrank.data.scores import Scores as Scores
from goldrank.data.scores import ScoresByRun as ScoresByRun
from goldrank.data.showing import Result as Result
from goldrank.evaluation.arrays import evaluate_arrays as evaluate_arrays
from goldrank.evaluation.evaluator import Evaluator as Evaluator
from goldrank.evaluation.executors import evaluate_spark as evaluate_spark
from goldrank.evaluation.rankings import evaluate as evaluate
from goldrank.evaluation.text_settings import Answers as Answers
from goldrank.evaluation.text_settings import Evidence as Evidence
from goldrank.evaluation.text_settings import Matching as Matching
from goldrank.evaluation.texts import evaluate_texts as evaluate_texts
from goldrank.evaluation.worth_judging import Unjudged as Unjudged
from goldrank.evaluation.worth_judging import worth_judging as worth_judging
from goldrank.fusion.combine import fuse as fuse
from goldrank.fusion.combine import normalize as normalize
from goldrank.fusion.options import Fusion as Fusion
from goldrank.fusion.tuning import TunedFusion as TunedFusion
from goldrank.fusion.tuning import tune_fusion as tune_fusion
from goldrank.gating.baseline import Baseline as Baseline
from goldrank.gating.decide import gate as gate
from goldrank.gating.rules import Rule as Rule
from goldrank.gating.rules import Rules as Rules
from goldrank.gating.verdict import Finding as Finding
from goldrank.gating.verdict import Verdict as Verdict
from goldrank.guide.advice import Advice as Advice
from goldrank.guide.advice import choose as choose
from goldrank.guide.pitfalls import pitfalls as pitfalls
from goldrank.history.over_time import Trend as Trend
from goldrank.history.record import Record as Record
from goldrank.history.store import History as History
from goldrank.io import read_aspects as read_aspects
from goldrank.io import read_preferences as read_preferences
from goldrank.io import read_qrels as read_qrels
from goldrank.io import read_run as read_run
from goldrank.io import read_runs as read_runs
from goldrank.io.by_id.document_files import read_documents as read_documents
from goldrank.io.by_id.query_files import read_queries as read_queries
from goldrank.io.questions.items import Item as Item
from goldrank.io.questions.items import Items as Items
from goldrank.io.questions.items import read_items as read_items
from goldrank.judging.ask import Judged as Judged
from goldrank.judging.ask import judge as judge
from goldrank.judging.bias import JudgeAgreement as JudgeAgreement
from goldrank.judging.bias import judge_agreement as judge_agreement
from goldrank.judging.command import Command as Command
from goldrank.judging.corrected import CorrectedValue as CorrectedValue
from goldrank.judging.corrected import CorrectedValues as CorrectedValues
from goldrank.judging.corrected import corrected_scores as corrected_scores
from goldrank.judging.corrected import corrected_values as corrected_values
from goldrank.judging.endpoint import Endpoint as Endpoint
from goldrank.judging.item import Judge as Judge
from goldrank.judging.log import JudgementLog as JudgementLog
from goldrank.judging.log_events import Event as Event
from goldrank.judging.pool_and_calls import Calls as Calls
from goldrank.judging.pool_and_calls import Pool as Pool
from goldrank.judging.probes import Gullibility as Gullibility
from goldrank.judging.probes import judge_gullibility as judge_gullibility
from goldrank.judging.questions import Questions as Questions
from goldrank.judging.questions import make_questions as make_questions
from goldrank.match.matcher import Matcher as Matcher
from goldrank.measures import Measure as Measure
from goldrank.measures import measure as measure
from goldrank.memory.result import MemoryScores as MemoryScores
from goldrank.memory.scores import memory_scores as memory_scores
from goldrank.rag.abstention_curve import AbstentionCurve as AbstentionCurve
from goldrank.rag.abstention_curve import abstention_curve as abstention_curve
from goldrank.rag.causes import Causes as Causes
from goldrank.rag.causes import Needed as Needed
from goldrank.rag.causes import find_causes as find_causes
from goldrank.rag.matcher_agreement import MatcherAgreements as MatcherAgreements
from goldrank.rag.matcher_agreement import matcher_agreement as matcher_agreement
from goldrank.rag.outcomes import Outcomes as Outcomes
from goldrank.rag.sweep import Sweep as Sweep
from goldrank.rag.sweep import SweepRow as SweepRow
from goldrank.rag.sweep import sweep as sweep
from goldrank.referee.checking import check_conformance as check_conformance
from goldrank.referee.explaining import SignatureReport as SignatureReport
from goldrank.referee.explaining import explain_signature as explain_signature
from goldrank.referee.reading import Signature as Signature
from goldrank.referee.verdicts import ConformanceReport as ConformanceReport
from goldrank.report.show import show as show
from goldrank.retrieval.churn import Churn as Churn
from goldrank.retrieval.churn import JudgedChange as JudgedChange
from goldrank.retrieval.churn import JudgeNext as JudgeNext
from goldrank.retrieval.churn import JudgingStep as JudgingStep
from goldrank.retrieval.churn import LatencyShift as LatencyShift
from goldrank.retrieval.churn import QueryChurn as QueryChurn
from goldrank.retrieval.churn import ScoreSpread as ScoreSpread
from goldrank.retrieval.churn import SliceChurn as SliceChurn
from goldrank.retrieval.churn import compare_rankings as compare_rankings
from goldrank.retrieval.engine_file import EngineLimits as EngineLimits
from goldrank.retrieval.engine_file import SearchEngine as SearchEngine
from goldrank.retrieval.engine_run import EngineAnswer as EngineAnswer
from goldrank.retrieval.engine_run import EngineRun as EngineRun
from goldrank.retrieval.engine_run import run_engine as run_engine
from goldrank.retrieval.runner import run_retriever as run_retriever
from goldrank.staging.stages import QueryStages as QueryStages
from goldrank.staging.stages import Stages as Stages
from goldrank.staging.stages import stages as stages
from goldrank.suites.borda import borda_ranks as borda_ranks
from goldrank.suites.collections import compare_collections as compare_collections
from goldrank.suites.result import CollectionComparison as CollectionComparison
from goldrank.suites.result import CollectionPair as CollectionPair
from goldrank.suites.result import CollectionStanding as CollectionStanding
from goldrank.tails.tail import MeasureTail as MeasureTail
from goldrank.tails.tail import ScoreTail as ScoreTail
from goldrank.tails.tail import score_tail as score_tail

__version__: str
__all__ = [
    "AbstentionCurve",
    "Advice",
    "AnnBenchmarks",
    "AnnRecall",
    "Answers",
    "AspectQrels",
    "Baseline",
    "BaselineError",
    "BrowseCompScores",
    "Calls",
    "Catalogue",
    "Causes",
    "Churn",
    "ClickJudgements",
    "CollectionComparison",
    "CollectionPair",
    "CollectionStanding",
    "Command",
    "Comparison",
    "ConformanceReport",
    "Convention",
    "CorrectedValue",
    "CorrectedValues",
    "Diff",
    "Difference",
    "Document",
    "DocumentChange",
    "Documents",
    "Endpoint",
    "EngineAnswer",
    "EngineLimits",
    "EngineRun",
    "Evaluator",
    "Event",
    "Evidence",
    "Explanation",
    "Finding",
    "Fusion",
    "GoldrankError",
    "Gullibility",
    "History",
    "InputError",
    "Interval",
    "Item",
    "Items",
    "Judge",
    "JudgeAgreement",
    "JudgeError",
    "JudgeNext",
    "Judged",
    "JudgedChange",
    "JudgementLog",
    "JudgingStep",
    "LatencyShift",
    "Leaderboard",
    "Matcher",
    "MatcherAgreements",
    "Matching",
    "Measure",
    "MeasureError",
    "MeasureTail",
    "MemoryLimitError",
    "MemoryScores",
    "MismatchError",
    "MissingPackageError",
    "MissingQueryError",
    "Needed",
    "NoRelevantError",
    "NotMeasuredError",
    "Note",
    "OptionError",
    "Outcomes",
    "Pair",
    "Plan",
    "Pool",
    "Position",
    "Preference",
    "Preferences",
    "Qrels",
    "Queries",
    "Query",
    "QueryChange",
    "QueryChurn",
    "QueryStages",
    "QuestionSearches",
    "Questions",
    "RankAgreement",
    "Record",
    "Result",
    "RetrievalError",
    "Rule",
    "RuleError",
    "Rules",
    "Run",
    "RunIntervals",
    "Runs",
    "ScoreSpread",
    "ScoreTail",
    "Scores",
    "ScoresByRun",
    "SearchEngine",
    "SearchScores",
    "Signature",
    "SignatureReport",
    "SliceChurn",
    "SliceTable",
    "Stages",
    "Standing",
    "Statistics",
    "StoreError",
    "Sweep",
    "SweepRow",
    "ToJudge",
    "Trend",
    "TunedFusion",
    "Unjudged",
    "Verdict",
    "__version__",
    "abstention_curve",
    "analyse_interleaving",
    "ann_benchmarks",
    "ann_recall",
    "borda_ranks",
    "browsecomp_scores",
    "check_conformance",
    "choose",
    "compare",
    "compare_collections",
    "compare_rankings",
    "corrected_scores",
    "corrected_values",
    "diff",
    "evaluate",
    "evaluate_arrays",
    "evaluate_spark",
    "evaluate_texts",
    "explain_difference",
    "explain_signature",
    "find_causes",
    "fuse",
    "gate",
    "judge",
    "judge_agreement",
    "judge_gullibility",
    "judgements_from_clicks",
    "make_questions",
    "matcher_agreement",
    "measure",
    "memory_scores",
    "normalize",
    "pitfalls",
    "plan",
    "rank_agreement",
    "read_aspects",
    "read_documents",
    "read_items",
    "read_preferences",
    "read_qrels",
    "read_queries",
    "read_run",
    "read_runs",
    "run_engine",
    "run_retriever",
    "score_intervals",
    "score_searches",
    "score_tail",
    "show",
    "stages",
    "sweep",
    "tune_fusion",
    "worth_judging",
]
