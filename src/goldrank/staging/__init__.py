"""A pipeline of stages: what the candidates lack, what a later stage throws out, and what its order costs."""

PUBLIC = {
    "stages": "goldrank.staging.stages",
    "Stages": "goldrank.staging.stages",
    "QueryStages": "goldrank.staging.stages",
}
COMMANDS = {
    "stages": (
        "compare",
        "goldrank.staging.stages_command",
        "Say what a re-ranker gains, what it throws out, and what the candidates lack.",
    ),
}
