"""The queries that a mean hides: median, worst twentieth, share that reaches a target, worst queries by name."""

PUBLIC = {
    "score_tail": "goldrank.tails.tail",
    "ScoreTail": "goldrank.tails.tail",
    "MeasureTail": "goldrank.tails.tail",
}
PROVIDES = {"tails": "goldrank.tails.at_prompt:shown_tails"}
