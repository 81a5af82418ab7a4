"""Files of every format of the registry, changed, read on every route that files have.

The same bytes must give the same values, or be refused: as a path, as a stream, in pieces of
any size, with and without the compiled core, compressed or not, with the format found out or named. What a run or
qrels hold is then handed over as a dict, as rows, as frames and as files that goldrank wrote, and must score alike.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from goldrank import (
    evaluate,
    read_aspects,
    read_preferences,
    read_qrels,
    read_run,
    read_runs,
)
from goldrank.core import core, portable
from goldrank.io import as_qrels, as_run, formats
from goldrank.io.compression import COMPRESSIONS
from tests.fuzz import cannot_say, mutations, written
from tests.fuzz.outcomes import (
    MEASURES,
    Difference,
    Outcome,
    agree,
    drawn,
    outcome,
    pieces_of,
    qrels_value,
    run_value,
    scores_value,
    without_core,
)  # fmt: skip
from tests.fuzz.packing import SUFFIXES, packed

RUN = [
    ("q1", "d1", "3.5"), ("q1", "d2", "2.25"), ("q1", "d3", "2.25"), ("q1", "d9", "-1e-3"), ("q2", "d4", "12"),
    ("q2", "longer-than-sixteen-bytes", "11.0"), ("q2", "d1", "0.1"), ("q10", "é", "7"), ("q3", "d7", "1"),
]  # fmt: skip
QRELS = [
    ("q1", "d1", "1"), ("q1", "d3", "2"), ("q1", "d8", "0"), ("q2", "d4", "0"), ("q2", "d1", "3"),
    ("q2", "longer-than-sixteen-bytes", "1"), ("q10", "é", "1"), ("q3", "d9", "-1"),
]  # fmt: skip
JUDGED = {query: {doc: int(grade) for q, doc, grade in QRELS if q == query} for query, _, _ in QRELS}
RANKED = {query: {doc: float(score) for q, doc, score in RUN if q == query} for query, _, _ in RUN}
Spec = dict[str, Any]
Route = Callable[[], None]


def _frame(rows: list[tuple[str, str, str]], value: str, cast: Callable[[str], Any]) -> Any:
    import polars

    queries, docs, values = zip(*rows, strict=True)
    return polars.DataFrame({"query": queries, "doc": docs, value: [cast(text) for text in values]})


def _binary(rows: list[tuple[str, str, str]], value: str, cast: Callable[[str], Any], form: str) -> bytes:
    frame, buffer = _frame(rows, value, cast), io.BytesIO()
    if form == "parquet":
        frame.write_parquet(buffer, compression="uncompressed")
    elif form == "parquet-zstd":
        frame.write_parquet(buffer, row_group_size=4)
    elif form == "arrow":
        frame.write_ipc(buffer)
    else:
        frame.write_ipc_stream(buffer)
    return buffer.getvalue()


@cache
def seeds(format: str, thing: str) -> tuple[bytes, ...]:
    """Sound files of a format. A format of the registry that has none here is an error."""
    rows, value, cast = (RUN, "score", float) if thing == "run" else (QRELS, "grade", int)
    records = [{"query": q, "doc": d, value: cast(v)} for q, d, v in rows]
    if format == "parquet":
        return tuple(_binary(rows, value, cast, form) for form in ("parquet", "parquet-zstd"))
    if format == "arrow":
        return tuple(_binary(rows, value, cast, form) for form in ("arrow", "stream"))
    if format == "jsonl":
        lines = [json.dumps(record) for record in records]
        nested = {"q1": {"query_id": "q1", "results": [{"docid": "d1", value: 2}, {"docid": "d2", value: 1}]}}
        return "\n".join(lines).encode() + b"\n", json.dumps(nested["q1"]).encode() + b"\n"
    if format == "json":
        plain = RANKED if thing == "run" else JUDGED
        lists = {query: list(docs) for query, docs in RANKED.items()}
        return json.dumps(plain).encode(), json.dumps(records, indent=1).encode(), json.dumps(lists).encode()
    if format in ("table", "csv", "tsv"):
        header, bare = ("query", "doc", value), [[q, d, v] for q, d, v in rows]
        tagged = [["qid", "docno", value, "run", "rank"], *([*row, "t", str(i)] for i, row in enumerate(bare, 1))]
        quoted = [",".join(f'"{cell}"' for cell in row) for row in ([*header], *bare)]
        tables = [["\t".join(row) for row in ([*header], *bare)], [",".join(row) for row in tagged], quoted]
        tables = {"table": tables, "csv": tables[1:], "tsv": tables[:1]}[format]
        return tuple(("\n".join(table) + "\n").encode() for table in tables)
    if thing == "run":
        if format == "trec":
            made = [f"{q} Q0 {d} {i} {v} tag{i % 2 if i > 6 else 0}" for i, (q, d, v) in enumerate(rows, 1)]
        elif format == "trec-no-tag":
            made = [f"{q} Q0 {d} {i} {v}" for i, (q, d, v) in enumerate(rows, 1)]
        elif format == "msmarco":
            made = [f"{q}\t{d}\t{i}" for i, (q, d, _) in enumerate(rows, 1)]
        else:
            raise NotImplementedError(f"no seed for {thing} as {format}: write one in tests/fuzz/readers.py")
    elif format in ("trec", "aspects", "trec-3col", "beir"):
        middle = {"trec": " 0 ", "aspects": " 1 ", "trec-3col": "\t", "beir": "\t"}[format]
        made = [f"{q}{middle}{d}{middle if format in ('trec-3col', 'beir') else ' '}{v}" for q, d, v in rows]
        made = ["query-id\tcorpus-id\tscore", *made] if format == "beir" else made
    elif format == "ratings":
        made = [f"{q}\t{d}\t{v.lstrip('-')}\t978300760" for q, d, v in rows]  # nobody rates below 0
    elif format == "letor":
        made = [f"{v} qid:{q} 1:0.5 2:7 # {d} and more" for q, d, v in rows]
    elif format == "prefs":
        made = [f"{q} j1 {i % 2} {d} {v}" for i, (q, d, v) in enumerate(rows)]
    elif format == "qrels_prefs":
        made = [f"{q} j1 {d} {v}" for q, d, v in rows]
    else:
        raise NotImplementedError(f"no seed for {thing} as {format}: write one in tests/fuzz/readers.py")
    return (("\n".join(made) + "\n").encode(), ("\r\n".join(reversed(made)) + "\r\n").encode())


PAIRS = [(name, thing) for name, entry in formats.FORMATS.items() for thing in entry.holds if thing != "records"] + [
    ("trec", "run"),
    ("trec", "qrels"),
    ("table", "run"),
]
"""Every format with everything that it holds (records have a kind of their own); text formats twice."""


def make(rng: random.Random) -> Spec:
    format, thing = rng.choice(PAIRS)
    data = rng.choice(seeds(format, thing))
    if rng.random() < 0.3 and format in ("json", "jsonl"):
        data = b"\n".join(
            json.dumps(mutations.changed_json(rng, _json(line))).encode() for line in _texts(data, format)
        )
    else:
        data = mutations.changed(rng, data)
    kind = rng.choice((None, None, *COMPRESSIONS))
    return {
        "format": format,
        "thing": thing,
        "data": data,
        "named": rng.random() < 0.5 or (formats.FORMATS[format].recognised is None and format != "trec"),
        "compression": kind,
        "damage": rng.getrandbits(32) if kind and rng.random() < 0.5 else None,
        "piece": rng.choice((1, 2, 7, 16, 61, 200)),
        "policy": rng.choice(("error", "error", "first", "max")),
        "draw": rng.getrandbits(32),
    }


def _texts(data: bytes, format: str) -> list[bytes]:
    return data.splitlines() if format == "jsonl" else [data]


def _json(text: bytes) -> Any:
    return json.loads(text)


def check(spec: Spec, folder: Path) -> None:
    thing, format = spec["thing"], spec["format"] if spec["named"] else None
    if spec["format"] == "beir":
        (folder / "beir" / "qrels").mkdir(parents=True, exist_ok=True)
        (folder / "beir" / "qrels" / "test.tsv").write_bytes(spec["data"])
        outcome(lambda: qrels_value(read_qrels(folder / "beir", split="test")))
        format = None
    path = folder / "fuzzed"
    path.write_bytes(spec["data"])
    read = READ[thing]
    file = outcome(lambda: read(path, format))

    def alike(name: str, action: Callable[[], Any]) -> None:
        agree({"file": file, name: outcome(action)})

    def in_pieces() -> None:
        with pieces_of(spec["piece"], spec["data"]):
            alike(f"pieces of {spec['piece']}", lambda: read(path, format))

    def pure() -> None:
        with without_core():
            alike("without the core", lambda: read(path, format))

    routes = [lambda: alike("stream", lambda: read(io.BytesIO(spec["data"]), format)), in_pieces]
    if core is not portable:
        routes.append(pure)
    if format is None and thing in ("run", "qrels"):
        routes.append(lambda: _check_named(path, thing, file))
    if spec["compression"]:
        routes.append(lambda: _check_packed(spec, path, format, file))
    if not file.refused and thing in AFTER:
        routes.extend(AFTER[thing](path, format, folder))
    for route in drawn(routes, spec["draw"]):
        route()


def _check_named(path: Path, thing: str, found: Outcome) -> None:
    """The format that was found out, asked for by name, gives the same."""
    from goldrank.io.sources import open_source

    name = outcome(lambda: formats.detect(open_source(path), thing).name)
    if not name.refused:
        agree({"found out": found, f"format={name.value}": outcome(lambda: READ[thing](path, name.value))})


def _check_packed(spec: Spec, path: Path, format: str | None, plain: Outcome) -> None:
    """A compressed file gives what it holds; a damaged one that, or nothing."""
    packing = COMPRESSIONS[spec["compression"]]
    data = packed(spec["data"], spec["compression"])
    file = path.with_name("fuzzed" + SUFFIXES[spec["compression"]])
    if spec["damage"] is not None:
        rng = random.Random(spec["damage"])
        data = mutations.changed(rng, data)
    file.write_bytes(data)
    read = READ[spec["thing"]]
    ways = {"packed": outcome(lambda: read(file, format))}
    with pieces_of(spec["piece"], spec["data"]):
        ways["packed, in pieces"] = outcome(lambda: read(file, format))
    agree(ways)
    if spec["damage"] is None:
        if spec["data"]:
            ways["packed stream"] = outcome(lambda: read(io.BytesIO(data), format))
        agree({"plain": plain} | ways)
    elif not ways["packed"].refused and ways["packed"] != plain and data.startswith(packing.magic):
        whole = outcome(lambda: packing.open(io.BytesIO(data)).read())
        if whole.refused or (whole.value in spec["data"] and whole.value != spec["data"]):
            return  # a shorter file, packed soundly
        if not whole.value.replace(spec["data"], b""):
            return  # one part after the other, each packed soundly
        raise Difference(f"damaged {spec['compression']} -> {ways['packed']}\nsound -> {plain}")


def _read_run(given: Any, format: str | None) -> Any:
    run = read_run(given, format=format)
    scores = outcome(lambda: scores_value(evaluate(JUDGED, run, MEASURES), notes=True))
    results = outcome(lambda: run_value(run))  # a run is read as often as anyone likes
    if scores.refused and not results.refused and scores.refused not in ("MismatchError", "InputError"):
        raise Difference(f"evaluate -> {scores}\nread -> {results}")
    if scores.refused and results.refused:
        from goldrank.base.errors import InputError

        raise InputError(scores.words)
    return scores.value, scores.refused, results.value, results.refused


def _read_qrels(given: Any, format: str | None) -> Any:
    qrels = read_qrels(given, format=format)
    return qrels_value(qrels), qrels.digest, sorted(note.code for note in qrels.notes)


def _read_aspects(given: Any, format: str | None) -> Any:
    found = read_aspects(given)
    scores = outcome(lambda: scores_value(evaluate(found, RANKED, ["alpha_nDCG@3", "ERR_IA@3"])))
    return scores.value, scores.refused


def _read_preferences(given: Any, format: str | None) -> Any:
    found = read_preferences(given, format=format or "prefs")
    scores = outcome(lambda: scores_value(evaluate(found, RANKED, ["compatibility"])))
    return scores.value, scores.refused


READ: dict[str, Callable[[Any, str | None], Any]] = {
    "run": _read_run, "qrels": _read_qrels, "aspects": _read_aspects, "preferences": _read_preferences,
}  # fmt: skip


def _after_run(path: Path, format: str | None, folder: Path) -> list[Route]:
    """What a run holds scores alike as a dict, as rows, as frames and as files that goldrank wrote."""
    results = outcome(lambda: {q: dict(docs) for q, docs in read_run(path, format=format).results.items()})
    scored = outcome(lambda: scores_value(evaluate(JUDGED, path, MEASURES, format=format)))
    if results.refused or scored.refused:
        return []
    rows = [(q, d, s) for q, docs in results.value.items() for d, s in docs.items()]
    texts = [(q, d, repr(s)) for q, d, s in rows]

    def alike(name: str, given: Any) -> None:
        agree({"file": scored, name: outcome(lambda: scores_value(evaluate(JUDGED, given, MEASURES)))})

    def tags() -> None:
        outcome(lambda: {tag: len(run.results) for tag, run in read_runs(path, format=format).items()})

    def written_as(name: str) -> None:
        if written.read_back(results.value, folder / name, written.FILES[name]):
            alike(f"written {name}", folder / name)

    routes: list[Route] = [lambda: alike("dict", results.value), tags]
    if not all(results.value.values()):
        return routes  # cannot_say.NO_DOCUMENTS
    routes += [lambda: alike("rows", rows), *(partial(written_as, name) for name in written.FILES)]
    if cannot_say.can_say("polars", texts) and rows:
        frame = _frame(rows, "score", float)
        routes += [lambda: alike("polars", frame), lambda: alike("pandas", frame.to_pandas())]
    return routes


def _after_qrels(path: Path, format: str | None, folder: Path) -> list[Route]:
    """What qrels hold is the same as a dict, as rows, as frames and as files that goldrank wrote."""
    qrels = read_qrels(path, format=format)
    held = Outcome(qrels_value(qrels))
    plain = {query: dict(docs) for query, docs in qrels.items()}
    rows = [(q, d, g) for q, docs in plain.items() for d, g in docs.items()]
    texts = [(q, d, "1") for q, d, _ in rows]

    def alike(name: str, given: Any) -> None:
        agree({"file": held, name: outcome(lambda: qrels_value(as_qrels(given)))})

    def written_as(name: str) -> None:
        if written.read_back(qrels, folder / name, written.FILES[name]):
            agree({"file": held, f"written {name}": outcome(lambda: qrels_value(read_qrels(folder / name)))})

    def scored() -> None:
        ways = {"file": outcome(lambda: scores_value(evaluate(path, RANKED, MEASURES)))} if format is None else {}
        ways["qrels"] = outcome(lambda: scores_value(evaluate(qrels, RANKED, MEASURES)))
        ways["dict"] = outcome(lambda: scores_value(evaluate(plain, as_run(RANKED), MEASURES)))
        agree(ways)

    routes: list[Route] = [lambda: alike("dict", plain)]
    if not all(plain.values()):
        return routes  # cannot_say.NO_DOCUMENTS
    routes += [lambda: alike("rows", rows), *(partial(written_as, name) for name in written.FILES), scored]
    if cannot_say.can_say("polars", texts) and rows:
        frame = _frame(rows, "grade", int)
        routes += [lambda: alike("polars", frame), lambda: alike("pandas", frame.to_pandas())]
    return routes


AFTER: dict[str, Callable[[Path, str | None, Path], list[Route]]] = {"run": _after_run, "qrels": _after_qrels}
