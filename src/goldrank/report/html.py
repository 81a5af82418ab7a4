"""HTML files: no network, no server, a strict Content-Security-Policy, light and dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from goldrank import __version__
from goldrank.base.packages import needed
from goldrank.data import table
from goldrank.report.templates import without_comments, without_line_breaks

with needed("jinja2"):
    import jinja2
    import markupsafe

ASSETS = (
    *("goldrank.css", "report.css", "report.js", "trend.css", "causes.css", "causes.js", "now.css"),
    *("page.html.jinja", "decision.html.jinja", "comparison.html.jinja", "trend.html.jinja", "verdict.html.jinja"),
    *("sweep.html.jinja", "causes.html.jinja", "collections.html.jinja", "stages.html.jinja", "searches.html.jinja"),
)

MOST_OF_LINE = 2_000
"""Most characters of a line in the footer."""


@lru_cache(maxsize=1)
def assets() -> dict[str, str]:
    """The style, the script and the templates of the pages, by their files' names."""
    folder = resources.files("goldrank.report") / "assets"
    return {name: (folder / name).read_text("utf-8") for name in ASSETS}


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    templates = {name: without_line_breaks(text) for name, text in assets().items() if name.endswith(".jinja")}
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(templates), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["show"] = lambda text: markupsafe.Markup(table.escape_html(str(text), 300))  # noqa: S704 - escaped
    environment.filters["line"] = lambda text: markupsafe.Markup(table.escape_html(str(text), MOST_OF_LINE))  # noqa: S704 - escaped
    environment.filters["parts"] = table.html  # escaped already, hence `| parts | safe`
    return environment


def render(
    template: str,
    title: str,
    values: Mapping[str, Any],
    scripted: bool = True,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> str:
    """A complete page from a template that extends page.html.jinja; `scripted` for tables that sort and filter.

    `styles` and `scripts` are assets that come after those of all pages.
    """
    style = "".join(without_comments(assets()[name]) for name in ("goldrank.css", "report.css", *styles))
    script, script_hash = "", ""
    if scripted:
        script = "".join(without_comments(assets()[name]) for name in ("report.js", *scripts))
        script_hash = _csp_hash(script)
    page_fields = {
        "title": title,
        "version": __version__,
        "style": style,
        "script": script,
        "style_hash": _csp_hash(style),
        "script_hash": script_hash,
        "signatures": (),
    }
    return _environment().get_template(template).render({**page_fields, **values})


def page(title: str, body: str, signatures: Sequence[str] = ()) -> str:
    """A page without any script. `body` is HTML; its maker has escaped all text in it."""
    return render("page.html.jinja", title, {"body": body, "signatures": signatures}, scripted=False)


def _csp_hash(source: str) -> str:
    """The hash by which a page's policy allows its own style and script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
