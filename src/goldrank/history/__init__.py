"""Scores over time: a `History` of `Record`s in one file; `over_time` has the `Trend` of a measure."""

PUBLIC = {
    "History": "goldrank.history.store",
    "Record": "goldrank.history.record",
    "Trend": "goldrank.history.over_time",
}
COMMANDS = {
    "record": ("keep", "goldrank.history.record_command", "Keep scores in a history."),
    "history": (
        "keep",
        "goldrank.history.history_command",
        "Show how measures went over time, and where they changed; the records themselves are below it.",
    ),
    "history show": ("keep", "goldrank.history.show_command", "Show one record."),
    "history export": ("keep", "goldrank.history.export_command", "Write the records as Parquet, CSV or JSON."),
    "history check": ("keep", "goldrank.history.check_command", "Say whether a history is undamaged."),
    "history prune": ("keep", "goldrank.history.prune_command", "Remove old records."),
    "history baseline": ("keep", "goldrank.history.baseline_command", "List, show or set baselines."),
}
PROVIDES = {"record scores": "goldrank.history.comparing:scores_of_records"}
