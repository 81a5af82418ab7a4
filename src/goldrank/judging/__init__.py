"""Judgements of people and models: the log that keeps them, models that are asked, and how far they agree."""

PUBLIC = {
    "judge": "goldrank.judging.ask",
    "Judged": "goldrank.judging.ask",
    "judge_agreement": "goldrank.judging.bias",
    "JudgeAgreement": "goldrank.judging.bias",
    "judge_gullibility": "goldrank.judging.probes",
    "Gullibility": "goldrank.judging.probes",
    "make_questions": "goldrank.judging.questions",
    "Questions": "goldrank.judging.questions",
    "Pool": "goldrank.judging.pool_and_calls",
    "Calls": "goldrank.judging.pool_and_calls",
    "Endpoint": "goldrank.judging.endpoint",
    "Command": "goldrank.judging.command",
    "Judge": "goldrank.judging.item",
    "corrected_values": "goldrank.judging.corrected",
    "corrected_scores": "goldrank.judging.corrected",
    "CorrectedValue": "goldrank.judging.corrected",
    "CorrectedValues": "goldrank.judging.corrected",
    "JudgementLog": "goldrank.judging.log",
    "Event": "goldrank.judging.log_events",
}
COMMANDS = {
    "judge ask": ("judge", "goldrank.judging.judge_command", "Ask a model for judgements that are missing."),
    "judge agree": (
        "judge",
        "goldrank.judging.agree_command",
        "Say which matcher of texts, or how well a model, decides as people do.",
    ),
    "judge corrected": (
        "judge",
        "goldrank.judging.corrected_command",
        "Correct a model's means and differences by people's judgements.",
    ),
    "judge questions": (
        "judge",
        "goldrank.judging.questions_command",
        "Ask a model for questions about documents, with the positions of their answers.",
    ),
    "judgements export": (
        "judge",
        "goldrank.judging.export_command",
        "Write the judgements that people and models gave as qrels.",
    ),
}
