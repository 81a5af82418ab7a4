"""Templates, styles and scripts as pages carry them: without what is only for the readers of their source."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<(?=[a-zA-Z/!])|>|\s*\n\s*", re.DOTALL)
"""What decides on a line break: what jinja reads, where a tag begins and ends, the break and the space around it."""
_EDGES = ("", "<", ">", "{", "}")
"""What may be beside a line break and is not text: the file's end, a tag, and what jinja reads."""
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
"""A comment of a style, or a comment of a script on a separate line."""


def without_line_breaks(template: str) -> str:
    """A template without the line breaks and the indentation that are there for its readers.

    White space between elements can be seen on a page, so the rule must be simple. It is the rule of JSX:
    between two words a line break is a space, and inside of a tag too; beside a tag, a statement or an
    expression it is nothing. A space there is written `{{ " " }}`.

    Parameters
    ----------
    template : str
        The text of a template. No value of an attribute may hold `>`, outside of what jinja reads.

    Returns
    -------
    str
        The template that jinja gets.

    Examples
    --------
    >>> without_line_breaks("<p>\\n  Two\\n  words,\\n  <b>bold</b>\\n</p>\\n")
    '<p>Two words,<b>bold</b></p>'
    >>> without_line_breaks('<a class="pill"\\n   href="/">\\n  {{ name }}{{ " " }}\\n  <b>1</b>\\n</a>')
    '<a class="pill" href="/">{{ name }}{{ " " }}<b>1</b></a>'
    """
    inside_tag = False

    def shortened(piece: re.Match[str]) -> str:
        nonlocal inside_tag
        text = piece[0]
        if text in ("<", ">"):
            inside_tag = text == "<"
        if not text.isspace():
            return text

        if inside_tag:
            return " "
        before = template[: piece.start()][-1:]
        after = template[piece.end() : piece.end() + 1]
        if before in _EDGES or after in _EDGES:
            return ""
        return " "

    return _PIECE.sub(shortened, template)


def without_comments(source: str) -> str:
    """A style or a script as a page carries it: without comments, indentation and empty lines.

    Parameters
    ----------
    source : str
        CSS or JavaScript. No string in it may span lines, or hold what begins a comment.

    Returns
    -------
    str
        The source with fewer characters.

    Examples
    --------
    >>> without_comments("/* Words. */\\n\\nb {\\n  color: red;\\n}\\n")
    'b {\\ncolor: red;\\n}\\n'
    """
    lines = (line.strip() for line in _COMMENT.sub("", source).splitlines())
    return "".join(f"{line}\n" for line in lines if line)
