"""Tables for LaTeX (needs the package booktabs)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from goldrank.base import ids
from goldrank.base.escaping import log_line
from goldrank.data.showing import Result
from goldrank.data.signature import in_latex
from goldrank.data.table import TEXT_LIMIT, Cell, Fold, Head, Part, Table, without_charts

_NAMED = {
    "\\": "backslash",
    "~": "asciitilde",
    "^": "asciicircum",
    "<": "less",
    ">": "greater",
    '"': "quotedbl",
    "|": "bar",
}
_COMMANDS = {sign: rf"\text{name}{{}}" for sign, name in _NAMED.items()}
_ESCAPED = {sign: f"\\{sign}" for sign in "&%$#_{}"}
_BRACED = {sign: f"{{{sign}}}" for sign in "[]-"}
_SPECIAL = str.maketrans(_COMMANDS | _ESCAPED | _BRACED)
_SIGNED = re.compile(r"[+-]\d[\d.,]*")


def escape(text: str, limit: int = TEXT_LIMIT) -> str:
    """Text that LaTeX sets as it is: no command (nor one to a build server), no ligature of dashes, no line break."""
    return ids.show(text, limit).translate(_SPECIAL).replace("::", ":{:}")


def render(result: Result) -> str:
    """A result as tables of LaTeX."""
    return write(result.parts(), result.signatures)


def write(parts: Iterable[Part], signatures: Sequence[str] = ()) -> str:
    """Each table as a separate float; sentences, which papers word themselves, as comments.

    Signatures are the footer of the first table.
    """
    footer = signatures
    lines = [r"% needs \usepackage{booktabs,textcomp} and a T1 font encoding"]
    for part in without_charts(parts):
        if isinstance(part, Table):
            lines += ["", *_table(part, footer)]
            footer = ()
        elif isinstance(part, Fold):
            lines += ["", write(part.parts).partition("\n")[2].rstrip("\n")]
        else:
            lines.append(f"% {'Warning: ' * (part.style == 'warning')}{log_line(part.text)}")
    return "\n".join(lines) + "\n"


def _table(table: Table, footer: Sequence[str]) -> list[str]:
    kinds = "".join("r" if head.kind == "number" else "l" for head in table.heads)
    caption = " ".join(f"{escape(text).rstrip('.')}." for text in (table.title, table.caption) if text)
    lines = [r"\begin{table}", r"  \centering"]
    if caption:
        lines.append(rf"  \caption{{{caption}}}")
    lines += [rf"  \begin{{tabular}}{{{kinds}}}", r"    \toprule"]
    if table.has_heads:
        lines += [_row(escape(head.text) for head in table.heads), r"    \midrule"]
    lines += map(_row, table.texts(_cell, lambda value: _number(f"{value:.4f}")))
    lines += [r"    \bottomrule", r"  \end{tabular}"]
    lines += [rf"  \par\smallskip{{\footnotesize {in_latex(signature)}\par}}" for signature in footer]
    return [*lines, r"\end{table}"]


def _row(cells: Iterable[str]) -> str:
    return "    " + " & ".join(cells) + r" \\"


def _cell(cell: Cell, head: Head) -> str:
    if head.kind == "number":
        text = _number(cell.text)
    else:
        text = escape(cell.text, head.limit())
    if cell.style == "best":
        text = rf"\textbf{{{text}}}"
    if cell.raised:
        return rf"{text}\textsuperscript{{{escape(cell.raised.replace(' ', ','))}}}"
    return text


def _number(text: str) -> str:
    """Signed numbers as formulas, so that a minus is a minus; a dash where there is no value."""
    if text == "-":
        return "--"
    parts = [escape(part) for part in _SIGNED.split(text)]
    signed = [f"${number}$" for number in _SIGNED.findall(text)]
    return "".join(part + number for part, number in zip(parts, [*signed, ""], strict=True))
