"""One set of hostile data for everything that writes: ids, names, tags, texts and file names that try to act.

`no_harm` says what must never be in an output, whatever its form.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

NASTY = [
    "::error::id",
    "::error file=a,line=1::id",
    "  ::warning::id",
    "##[error]id",
    "x ##[group]id",
    "##vso[task.setvariable variable=x]id",
    "##teamcity[buildStatus text='id']",
    "a\n::error::broken line",
    "a\r\n##[error]broken line",
    "a\x0b\x0c\x1c\x85\u2028\u2029::error::all line ends",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07\x9b2J",
    "\x08\x7f\x00backspace",
    "\u202eright to left\u2066",
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=tab",
    " =blank",
    "＝1+1",
    "a;=1+1",
    "=cmd|' /C calc'!A0",
    "a,b\"c'd",
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "]]></script><svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "{{7*7}}{% raw %}${1}",
    "[x](javascript:x) ![x](http://x.example/x.png) <!-- `x` | x",
    "@everyone #1 https://x.example www.x.example",
    "\\input{/etc/passwd} & 50% #1 $x$ _ ^ ~ \\\\",
    "\udcff\udc80 bytes",
    "[bold red]rich[/]",
    "%s %d {} {0} {x}",
    "x" * 3_000,
]
"""36 ids."""

MARKUP = [
    "</script><script>window.hacked=1</script>",
    "</title></style></textarea></noscript></template><script>window.hacked=1</script>",
    "</svg></desc></text><img src=//x.invalid/a onerror=window.hacked=1>",
    "<svg><script>window.hacked=1</script><image href='//x.invalid/b'/></svg>",
    "'><iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    '" onmouseover="window.hacked=1" onfocus="window.hacked=1" autofocus style="background:url(//x.invalid/c)',
    "' onclick='window.hacked=1' tabindex='0",
    "<style>*{background:url(//x.invalid/d)}</style><link rel=stylesheet href=//x.invalid/e>",
    "<meta http-equiv=refresh content='0;url=//x.invalid/f'><base href=//x.invalid/>",
    "<!--<script>",
    "]]><script>window.hacked=1</script><![CDATA[",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;&#60;img src=x onerror=window.hacked=1&#62;",
    "\\u003cscript\\u003ewindow.hacked-1",
    "`-window.hacked-1-`${window.hacked-1}{{constructor.constructor('window.hacked=1')()}}",
    "\u2028window.hacked-1\u2029",
    "javascript:window.hacked=1//",
    "<a href='javascript:window.hacked=1'>x</a><form action=//x.invalid/g><button>x</button></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1>",
    "<x onpointerover=window.hacked=1 style=animation-name:x onanimationstart=window.hacked=1>",
    "data:text/html,<script>window.hacked=1</script>",
]
"""20 texts that try to run a script in a page, or to make it send a request."""

FILE = "\n::error::file\x1b[31m;=1+1"
"""A name that most systems take for a file."""


def data() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Judgements and two runs, whose queries and documents have hostile ids."""
    qrels = {query: {doc: i % 3 for i, doc in enumerate([query, *NASTY[:6]])} for query in NASTY}
    first = {query: {doc: 50.0 - i for i, doc in enumerate(NASTY)} for query in NASTY}
    second = {query: {doc: float(i) for i, doc in enumerate([*NASTY, query + "!"])} for query in NASTY[:-2]}
    second["not judged\n::error::x"] = {"d": 1.0}
    return qrels, first, second


def write(folder: Path) -> None:
    """The same and more as files of a folder: `qrels.json`, two runs, texts, labels, metadata, rules."""
    qrels, first, second = data()
    dump(folder / "qrels.json", qrels)
    dump(folder / f"one{FILE}.json", first)
    dump(folder / f"two{FILE}.json", second)
    texts: list[Any] = [
        {"id": text, "question": text, "retrieved": [text, *NASTY[:5]], "references": [text, "not there"]}
        for text in NASTY
    ]
    lines(folder / f"texts{FILE}.jsonl", texts)
    pairs = [{"retrieved": text, "reference": text[:4], "label": i % 2 == 0} for i, text in enumerate(NASTY)]
    lines(folder / f"labels{FILE}.jsonl", pairs)
    lines(
        folder / "metadata.jsonl", [{"id": text, "text": text, "kind": NASTY[i % 12]} for i, text in enumerate(NASTY)]
    )


def saved(path: Path, text: str) -> None:
    """Saved scores with a text wherever they take one: as run, measure, convention, names of files, notes."""
    from goldrank import evaluate

    queries = {query: {query: 1, "x": 0} for query in MARKUP}
    made = evaluate(queries, {query: ["x", query, f"{text}!"][i % 2 :] for i, query in enumerate(MARKUP)}, ["AP", "RR"])
    held = json.loads(made.to_json())
    held["run"] = held["convention"] = text
    held["measures"] = {f"{text} {name}": column for name, column in held["measures"].items()}
    held["provenance"] |= {"convention": text, "qrels": {"name": text, "sha256": "0", "criteria": text}}
    held["provenance"] |= {"run": {"name": text, "sha256": text}, "goldrank": text}
    for note in held["notes"]:
        note |= {"about": text, "samples": [text], "words": text}
    dump(path, held)


def write_marked(folder: Path) -> None:
    """Judgements, runs, texts, metadata and saved scores whose every text is markup."""
    queries = [f"{text} {i}" for i, text in enumerate(MARKUP)]
    dump(folder / "marked-qrels.json", {q: {q: 1, **dict.fromkeys(MARKUP[:4], 0)} for q in queries})
    for i in range(3):
        ranked = {q: [*MARKUP[i + at % 5 :], q] for at, q in enumerate(queries)}
        dump(folder / f"marked{i}.json", ranked)
        saved(folder / f"m{i}.json", MARKUP[0])
        held = json.loads((folder / f"m{i}.json").read_text())
        dump(folder / f"m{i}.json", held | {"run": MARKUP[i]})
    texts = [
        {"id": text, "title": text, "text": f"{text} {MARKUP[i % 7]}", "kind": MARKUP[i % 3]}
        for i, text in enumerate([*MARKUP, *queries])
    ]
    lines(folder / "marked.jsonl", texts)
    items = [
        {"id": text, "question": text, "retrieved": [MARKUP[i - 1], text], "references": [text, MARKUP[i - 5]]}
        for i, text in enumerate(MARKUP)
    ]
    lines(folder / "marked-texts.jsonl", items)
    chunks = [{"id": text, "text": text, "source": text, "start": 0, "end": len(text)} for text in MARKUP]
    lines(folder / "chunks.jsonl", chunks)


def dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="ascii")


def lines(path: Path, values: list[Any]) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="ascii")


_COMMAND_START = re.compile(r"^[\s]*::", re.MULTILINE)
_COMMAND_ANYWHERE = re.compile(r"##\w*\[")


def no_harm(text: str, what: object) -> None:
    """No control character but line ends and tabs, nothing that turns the writing, no command to a build server."""
    wrong = [c for c in text if not c.isprintable() and c not in "\n\t"]
    assert not wrong, f"{what}: {wrong[:5]!r} in {_around(text, wrong[0])!r}"
    for pattern in (_COMMAND_START, _COMMAND_ANYWHERE):
        found = pattern.search(text)
        assert not found, f"{what}: {text[max(0, found.start() - 80) : found.end() + 40]!r}"
    assert "broken line" not in [line.strip().partition("::")[0] for line in text.splitlines()], what


def _around(text: str, sign: str) -> str:
    at = text.index(sign)
    return text[max(0, at - 60) : at + 60]
