"""Rules and a baseline -> a verdict that a build can act on."""

PUBLIC = {
    "gate": "goldrank.gating.decide",
    "Baseline": "goldrank.gating.baseline",
    "Rule": "goldrank.gating.rules",
    "Rules": "goldrank.gating.rules",
    "Finding": "goldrank.gating.verdict",
    "Verdict": "goldrank.gating.verdict",
}
COMMANDS = {
    "gate": (
        "keep",
        "goldrank.gating.gate_command",
        "Check a run against rules and a baseline: pass or fail, and why; or set the baseline.",
    ),
}
PROVIDES = {"baseline scores": "goldrank.gating.baseline:scores_of_file"}
