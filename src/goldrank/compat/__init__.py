"""Facades: other systems' names and shapes, translated onto goldrank. Nothing here computes a measure itself.

Every facade follows one rule. Where a system's document and its released code disagree, the document's usage
and formula count; `as_released=True` gives the released code's numbers. Crashes, reads past the end of an
array and values above 1 are never imitated: such a value stops at 1.
"""
