"""Everything that is spelled by people is parsed in time that grows with its length alone.

Each parser gets 100,000 characters of many shapes, in an interpreter of its own with a generous limit: what is
quadratic takes minutes here, what is linear well below a second a text.
"""

from __future__ import annotations

import os
import subprocess
import sys

import places
import pytest

SIZE = 100_000
SIGNS = ("1", "a", " ", "(", "[a=b]", ".", "-", "=", ">=", "_", "##", "::", ",", "1e", "a ", "A.", "\x1b[")
FRAMES = ("{}", "1{}x", "AP{} >= 0.4x", "AP [{}]: -5% untested", "rouge-l{}x", "P_{}", "nDCG@{}", "a={}", "P.1,{}x")

PARSERS = {
    "rules": "from goldrank import Rule as r; parse = r.parse",
    "lists of rules": "from goldrank import Rules as r; parse = lambda text: r([text])",
    "rules of a file": (
        "import json; from goldrank import Rules as r; from pathlib import Path\n"
        "def parse(text):\n"
        "    text = text.encode('utf-8', 'replace').decode()\n"
        "    Path('r.toml').write_text('rules = [' + json.dumps(text, ensure_ascii=False) + ']\\n' + text, 'utf-8')\n"
        "    r.load('r.toml')"
    ),
    "matchers": "from goldrank.match import matcher as parse",
    "shards": (
        "from goldrank.cli.options import parse_shard\n"
        "parse = lambda text: parse_shard(None, None, text)"
    ),
    "measures": "from goldrank import Measure; parse = Measure.parse",
    "conventions": "from goldrank.conventions import get as parse",
    "policies": (
        "from goldrank import evaluate\n"
        "parse = lambda text: evaluate({'q': {'d': 1}}, {'q': ['d']}, 'AP', ties=text)"
    ),
    "formats": "from goldrank import read_run; parse = lambda text: read_run(__file__, format=text)",
    "names of files": "from goldrank.cli.inputs import named_file as parse",
    "files": "from goldrank import read_run as parse",
    "fields": "from goldrank.cli.inputs import key_values; parse = lambda text: key_values([text], '--map')",
    "options with a noun": "from goldrank.cli.options import STATISTICS; parse = STATISTICS.parse",
    "files to write": "from goldrank.cli.output import form_of; parse = lambda text: form_of(text, {'json': None})",
    "weights": "from goldrank.cli.options import decimals; parse = lambda text: decimals(text, '--cuts')",
    "names of trec_eval": "from goldrank.measures.trec_names import lines_of; parse = lambda text: lines_of([text])",
    "whole numbers of trec_eval": "from goldrank.measures.trec_names import to_whole as parse",
    "numbers of trec_eval": "from goldrank.measures.trec_names import to_float as parse",
    "use cases": "from goldrank import choose as parse",
    "dates": "from goldrank.history.store import _moment as parse",
    "commands": "from goldrank.cli import run; parse = lambda text: run([text])",
    "pages of measures": "from goldrank.cli import run; parse = lambda text: run(['measures', text])",
    "scores of runs": (
        "import io; from goldrank import evaluate\n"
        "line = lambda text: io.BytesIO(b'q Q0 d 1 ' + text.encode('utf-8', 'replace') + b' t\\n')\n"
        "parse = lambda text: evaluate({'q': {'d': 1}}, line(text), 'AP')"
    ),
    "grades": (
        "import io; from goldrank import read_qrels\n"
        "parse = lambda text: read_qrels(io.BytesIO(b'q 0 d ' + text.encode('utf-8', 'replace') + b'\\n'))"
    ),
    "sentences": "from goldrank.match.units import sentences as parse",
    "tokens": (
        "from goldrank import evaluate_texts\n"
        "parse = lambda text: evaluate_texts([{'retrieved': [text], 'references': ['a b']}], 'RR')"
    ),
    "lines of logs": "from goldrank.base.escaping import log_line; parse = lambda text: log_line(text, len(text))",
    "texts of logs": "from goldrank.base.escaping import log_text as parse",
    "json": "from goldrank.base.escaping import json_text as parse",
    "markdown": "from goldrank.report.markdown import escape; parse = lambda text: escape(text, len(text))",
    "latex": (
        "from goldrank.report.latex import escape, _number\n"
        "parse = lambda text: (escape(text, len(text)), _number(text))"
    ),
    "csv": "from goldrank.report.separated import escape as parse",
    "html": "from goldrank.data.table import escape_html; parse = lambda text: escape_html(text, len(text))",
    "explanations": "from goldrank.data.explanation import clip; parse = lambda text: clip(text, [(5, 9), (50, 500)])",
    "mlflow's names": "from goldrank.history.mlflow_runs import names; parse = lambda text: names([text])",
}  # fmt: skip

PROGRAM = """
import contextlib, io, sys
import click
from goldrank import GoldrankError
{parser}
__file__ = sys.argv[0]
for frame in {frames!r}:
    for sign in {signs!r}:
        text = frame.replace("{{}}", (sign * ({size} // len(sign))))
        try:
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                parse(text)
        except (GoldrankError, click.UsageError):
            pass
        except BaseException as error:
            raise SystemExit(f"{{type(error).__name__}}: {{error!s:.300}} for {{frame!r}} of {{sign!r}}")
"""
LARGER = {
    *("tokens", "files", "scores of runs", "commands", "pages of measures", "rules of a file", "sentences", "markdown"),
    *("latex", "mlflow's names", "conventions", "policies", "formats", "use cases", "texts of logs"),
}
"""They do more than parsing, and get fewer texts."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
def test_time_grows_with_the_length_alone(tmp_path, name):
    program = PROGRAM.format(
        parser=PARSERS[name], frames=FRAMES[:2] if name in LARGER else FRAMES, signs=SIGNS, size=SIZE
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program.encode("utf-8", "backslashreplace").decode()],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(places.ROOT / "src")},
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-600:]
