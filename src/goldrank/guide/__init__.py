"""Which measures to use, and what a measure hides."""

PUBLIC = {
    "choose": "goldrank.guide.advice",
    "Advice": "goldrank.guide.advice",
    "pitfalls": "goldrank.guide.pitfalls",
}
COMMANDS = {
    "choose": ("look", "goldrank.guide.choose_command", "Recommend measures and cut-offs."),
    "doctor": ("look", "goldrank.guide.doctor_command", "Say what is installed, and what is missing for what."),
}
