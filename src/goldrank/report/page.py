"""A small HTML file: the report's style, no script, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources

from goldrank import __version__

OWN = (
    ".explained table{margin:10px 0 22px;table-layout:auto}.explained th,.explained td{text-align:left;"
    "white-space:normal;vertical-align:top}.explained .words{width:62%;overflow-wrap:anywhere}"
    ".hit{color:var(--up)}.miss{color:var(--dim)}mark{background:#ffd84d;color:#1b1f24;border-radius:3px;padding:0 2px}"
    "main{padding-top:8px}"
)


def page(title: str, body: str) -> str:
    """A whole page. `body` is HTML, and whoever made it has escaped what needed it."""
    style = (resources.files("goldrank.report") / "assets" / "report.css").read_text("utf-8") + OWN
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="goldrank {__version__}"><title>{escape(title)}</title>'
        f"<style>{style}</style></head>\n<body><header><h1>{escape(title)}</h1></header>\n<main>{body}</main>\n"
        f"<footer>Made by goldrank {__version__}. This page loads nothing from anywhere.</footer></body></html>\n"
    )
