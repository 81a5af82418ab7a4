"""The words for how far a text supports a nugget, or a sentence."""

SUPPORT = {
    **dict.fromkeys(("support", "full_support", "full"), 1.0),
    **dict.fromkeys(("partial_support", "partial"), 0.5),
    **dict.fromkeys(("not_support", "no_support", "none", "failed"), 0.0),
}
"""How far something is supported, in the words of nuggetizer and others; they are compared as they are written."""
