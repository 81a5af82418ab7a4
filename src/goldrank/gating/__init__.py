"""Rules and a baseline -> `Verdict`: may this run pass?"""

HOLES = {
    "look": "a verdict that unjudged documents could change is withheld until they are judged",
    "ignore": "unjudged documents count as not relevant",
}
"""What a gate makes of unjudged documents."""
