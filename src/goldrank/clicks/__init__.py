"""Judgements from clicks, one file for each click model; and which of two interleaved rankings users click."""

PUBLIC = {
    "judgements_from_clicks": "goldrank.clicks.judgements",
    "ClickJudgements": "goldrank.clicks.judgements",
    "analyse_interleaving": "goldrank.clicks.interleaving",
    "Preference": "goldrank.clicks.interleaving",
}
COMMANDS = {
    "judgements from-clicks": ("judge", "goldrank.clicks.from_clicks_command", "Make judgements from clicks."),
    "judgements interleave": (
        "judge",
        "goldrank.clicks.interleave_command",
        "Say which of two interleaved rankings users click.",
    ),
}
