"""Ask search engines and retrievers every query, and compare what they return without judgements."""

PUBLIC = {
    "run_retriever": "goldrank.retrieval.runner",
    "run_engine": "goldrank.retrieval.engine_run",
    "EngineRun": "goldrank.retrieval.engine_run",
    "EngineAnswer": "goldrank.retrieval.engine_run",
    "SearchEngine": "goldrank.retrieval.engine_file",
    "EngineLimits": "goldrank.retrieval.engine_file",
    "compare_rankings": "goldrank.retrieval.churn",
    "Churn": "goldrank.retrieval.churn",
    "QueryChurn": "goldrank.retrieval.churn",
    "JudgeNext": "goldrank.retrieval.churn",
    "JudgedChange": "goldrank.retrieval.churn",
    "JudgingStep": "goldrank.retrieval.churn",
    "LatencyShift": "goldrank.retrieval.churn",
    "ScoreSpread": "goldrank.retrieval.churn",
    "SliceChurn": "goldrank.retrieval.churn",
}
COMMANDS = {
    "run": ("score", "goldrank.retrieval.run_command", "Ask a search engine every query, and write its run."),
}
PROVIDES = {
    "rankings compared": "goldrank.retrieval.churn:compare_files",
    "latencies compared": "goldrank.retrieval.latency_report:latency_parts",
    "latencies of a run": "goldrank.retrieval.latency_report:recorded_latencies",
}
