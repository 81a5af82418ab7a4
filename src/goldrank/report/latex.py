"""A comparison as a LaTeX table (needs the package booktabs)."""

from __future__ import annotations

from goldrank import ids
from goldrank.comparison.result import Comparison
from goldrank.report import cells

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "-": "{-}",
}


def escape(text: str, limit: int = 80) -> str:
    """Text that LaTeX sets as it is: no command, no ligature of dashes, no line break."""
    return "".join(_SPECIAL.get(c, c) for c in ids.show(text, limit))


def render(comparison: Comparison) -> str:
    """One row per system; best values bold, letters raised where a system is clearly better."""
    s = comparison.settings
    columns = "ll" + "r" * len(comparison.measures)
    lines = [
        r"% needs \usepackage{booktabs,textcomp} and a T1 font encoding",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_caption(comparison)}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        "    & System & " + " & ".join(map(escape, comparison.measures)) + r" \\",
        r"    \midrule",
    ]
    for run, letter in comparison.letters.items():
        row = [letter, escape(run)]
        for measure in comparison.measures:
            text = cells.value(comparison, measure, run)
            if run in comparison.best(measure):
                text = rf"\textbf{{{text}}}"
            beaten = ",".join(comparison.beats(measure, run))
            row.append(rf"{text}\textsuperscript{{{beaten}}}" if beaten else text)
        lines.append("    " + " & ".join(row) + r" \\")
    lines += [
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
        "",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{Differences (B minus A) with {s.level * 100:g}\,\% intervals.}}",
        r"  \begin{tabular}{lllrrrrr}",
        r"    \toprule",
        r"    Measure & A & B & $B - A$ & Interval & $d$ & Win/tie/loss & $p$ \\",
        r"    \midrule",
    ]
    for pair in comparison:
        row = [
            escape(pair.measure),
            escape(pair.a),
            escape(pair.b),
            _math(cells.number(pair.difference, signed=True)),
            _bracket(pair.interval.low, pair.interval.high),
            _math(cells.number(pair.effect, 2)),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            _math(cells.p_value(pair.adjusted)),
        ]
        lines.append("    " + " & ".join(row) + r" \\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _caption(comparison: Comparison) -> str:
    return (
        f"{len(comparison.queries)} queries; best in bold. A raised letter: clearly better than that system. "
        f"{escape(comparison.method, 1000)}."
    )


def _math(text: str) -> str:
    return "--" if text == "-" else f"${text}$"


def _bracket(low: float, high: float) -> str:
    return "--" if low != low else f"$[{low:+.4f}, {high:+.4f}]$"
