"""Rules and a baseline -> `Verdict`: may this run pass?"""

HOLES = {
    "look": "a verdict that unjudged documents could turn is none: they are to be judged",
    "ignore": "unjudged documents are not relevant, and nothing more is said of them",
}
"""What a gate makes of unjudged documents."""
