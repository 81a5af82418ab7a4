"""A referee for any language: signatures of numbers, cases that other programs are checked with, and schemas."""

PUBLIC = {
    "explain_signature": "goldrank.referee.explaining",
    "Signature": "goldrank.referee.reading",
    "SignatureReport": "goldrank.referee.explaining",
    "check_conformance": "goldrank.referee.checking",
    "ConformanceReport": "goldrank.referee.verdicts",
}
COMMANDS = {
    "conformance": (
        "keep",
        "goldrank.referee.conformance_command",
        "Check a program in any language against cases with known values.",
    ),
    "schema": ("keep", "goldrank.referee.schema_command", "Print the schema of what goes in or out, or check files."),
}
PROVIDES = {"explain signature": "goldrank.referee.explaining:explain_words"}
