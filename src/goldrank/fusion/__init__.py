"""One run from several: normalisations, fusion methods, and tuning of their parameters."""

PUBLIC = {
    "fuse": "goldrank.fusion.combine",
    "normalize": "goldrank.fusion.combine",
    "tune_fusion": "goldrank.fusion.tuning",
    "TunedFusion": "goldrank.fusion.tuning",
    "Fusion": "goldrank.fusion.options",
}
COMMANDS = {
    "fuse": ("compare", "goldrank.fusion.fuse_command", "Combine runs, and say whether that helps."),
}
