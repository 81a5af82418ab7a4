"""`SearchEngine`: how a search engine is asked, from a TOML file.

One engine a file. Unknown keys are errors, and so is a secret that is written in the file itself.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from goldrank.base.errors import (
    InputError,
    OptionError,
    Position,
    cannot_open,
    did_you_mean,
    file_name,
    one_of,
    whole_number,
)
from goldrank.base.escaping import shown
from goldrank.base.options import Options
from goldrank.base.types import Path
from goldrank.io.engines.answer_shapes import AnswerShape
from goldrank.retrieval.hits import AnswerPaths, is_path, shape_named
from goldrank.retrieval.secret_values import is_secret, looks_secret, variable_of
from goldrank.retrieval.templates import fields_in

FORMAT = "goldrank-engine/1"
MOST_FILE = 1_000_000
MOST_CONCURRENCY = 1_000

Kind: TypeAlias = Literal[
    "http", "elasticsearch", "opensearch", "solr", "vespa", "typesense", "meilisearch", "qdrant", "weaviate",
    "algolia", "command", "python",
]  # fmt: skip
Method: TypeAlias = Literal["GET", "POST"]
BY_SHAPE = AnswerPaths()
"""No paths are named: the shape of an answer decides."""


@dataclass(frozen=True)
class KnownKind:
    """What is known of a kind of engine; the file of an engine may add to it."""

    paths: AnswerPaths = BY_SHAPE
    shape: str | None = None
    """The name of its shape in `goldrank.io.engines.answer_shapes`."""


_ELASTIC = KnownKind(AnswerPaths(took_ms="took"), "Elasticsearch or OpenSearch")
KINDS: dict[Kind, KnownKind] = {
    "http": KnownKind(),
    "elasticsearch": _ELASTIC,
    "opensearch": _ELASTIC,
    "solr": KnownKind(AnswerPaths(took_ms="responseHeader.QTime"), "Solr"),
    "vespa": KnownKind(AnswerPaths(took_s="timing.searchtime", partial=("root.coverage.degraded",)), "Vespa"),
    "typesense": KnownKind(AnswerPaths(took_ms="search_time_ms"), "Typesense"),
    "meilisearch": KnownKind(AnswerPaths(took_ms="processingTimeMs"), "Meilisearch"),
    "qdrant": KnownKind(AnswerPaths(hits="result.points", id="id", score="score", took_s="time", error="status.error")),
    "weaviate": KnownKind(AnswerPaths(id="_additional.id", score="_additional.score", error="errors")),
    "algolia": KnownKind(AnswerPaths(hits="hits", id="objectID", took_ms="processingTimeMS")),
    "command": KnownKind(),
    "python": KnownKind(),
}
"""Every kind of engine."""
assert set(KINDS) == set(get_args(Kind))

_TOP = ("format", "name", "kind", "url", "k", "request", "response", "limits", "argv", "function")
_REQUEST = ("method", "headers", "params", "body", "form")
_OF_PROGRAMS = {"command": "argv", "python": "function"}


@dataclass(frozen=True, repr=False)
class EngineLimits(Options):
    """How an engine is asked: how many queries at a time, how long, how often.

    Parameters
    ----------
    concurrency : int
        How many queries are under way at a time. Use 1 where latency is to be compared.
    timeout_s : float
        Seconds for one attempt, from the connection to the last byte.
    retries : int
        How often a query is asked again after a broken connection or the codes 429, 502, 503 and 504.
    per_second : float
        The most requests a second; 0 for any number.
    max_bytes : int
        Bytes of an answer, packed and unpacked.
    warmup : int
        How many queries are asked first without being counted.

    Raises
    ------
    OptionError
        If a number is out of its range.

    Examples
    --------
    >>> EngineLimits(concurrency=1)
    EngineLimits(concurrency=1)
    """

    concurrency: int = 4
    timeout_s: float = 10.0
    retries: int = 2
    per_second: float = 0.0
    max_bytes: int = 10_000_000
    warmup: int = 0

    def __post_init__(self) -> None:
        whole_number(self.concurrency, "concurrency", 1, MOST_CONCURRENCY)
        whole_number(self.retries, "retries", 0, 100)
        whole_number(self.max_bytes, "max_bytes", 1, 1_000_000_000)
        whole_number(self.warmup, "warmup", 0, 1_000_000)
        if not _is_number(self.timeout_s) or not 0 < self.timeout_s <= 86_400:
            message = f"timeout_s is {shown(self.timeout_s, 40)}; it must be seconds, above 0 and up to 86,400"
            raise OptionError(message, code="bad-number")
        if not _is_number(self.per_second) or self.per_second < 0:
            message = f"per_second is {shown(self.per_second, 40)}; it must be a number from 0"
            raise OptionError(message, code="bad-number")


def _names(names: Sequence[str], option: str) -> tuple[str, ...]:
    """Names that people allow; raise for one text, which would be its letters."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise OptionError(f"{option} is {shown(names, 60)}, not a list of names", code="wrong-type")
    return tuple(names)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


USUAL_LIMITS = EngineLimits()
_PEOPLE_ALLOW = {
    "allow_private": (
        "private addresses",
        "Name the host at the prompt, --allow-private HOST, or in Python: load(path, allow_private=[host]).",
    ),
    "allow_env": (
        "variables of the environment",
        "Name the variable at the prompt, --allow-env NAME, or in Python: load(path, allow_env=[name]).",
    ),
}
"""What people allow an engine, never its file: what that is, and how they do it."""


@dataclass(frozen=True)
class HttpRequest:
    """The request for each query; texts may have fields such as {query}."""

    url: str
    method: Method = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    """A value `env:NAME` is read from that variable of the environment."""
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    form: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class SearchEngine:
    """A search engine, and how it is asked. `SearchEngine.load` reads one from a file.

    Attributes
    ----------
    name : str
        What its run is called.
    kind : str
        Which engine it is: "elasticsearch", "solr", ..., or "http", "command" or "python".
    k : int or None
        How many results are asked for, if the file says so.
    limits : EngineLimits
        How many queries at a time, how long, how often.
    """

    name: str
    kind: Kind
    k: int | None = None
    limits: EngineLimits = USUAL_LIMITS
    request: HttpRequest | None = None
    paths: AnswerPaths = BY_SHAPE
    allow_private: tuple[str, ...] = ()
    """Hosts that may be at private addresses. People name them, never the file: it may be somebody else's."""
    allow_env: tuple[str, ...] = ()
    """Variables of the environment that may be sent to it. People name them, too."""
    argv: tuple[str, ...] = ()
    function: str = ""
    folder: str = "."
    """Where the file is: modules are looked for there."""
    table: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What the file says; secrets are names in it."""

    @property
    def shape(self) -> AnswerShape | None:
        """The shape of its answers, if its kind has one."""
        name = KINDS[self.kind].shape
        if name is None:
            return None
        return shape_named(name)

    @property
    def runs_programs(self) -> bool:
        """Whether asking it runs a program or a function that the file names."""
        return self.kind in _OF_PROGRAMS

    @property
    def sends(self) -> tuple[str, ...]:
        """The variables of the environment that are sent to it."""
        if self.request is None:
            return ()
        return tuple(variable_of(value, self.name) for value in self.request.headers.values() if is_secret(value))

    @property
    def host(self) -> str:
        """The host that is asked, with its port; empty for programs."""
        if self.request is None:
            return ""
        return urlsplit(self.request.url).netloc

    @property
    def digest(self) -> str:
        """A hash of the keys that answers depend on; limits, the name and secrets are left out."""
        relevant_keys = {key: value for key, value in self.table.items() if key not in ("limits", "name")}
        return hashlib.sha256(json.dumps(relevant_keys, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def required_fields(self) -> set[str]:
        """Fields that every query must have: those of addresses, parameters and arguments."""
        templates: list[Any] = [self.argv]
        if self.request is not None:
            templates += [self.request.url, self.request.params, self.request.form]
        return {name for template in templates for name in fields_in(template)} - {"query", "id", "k", "python"}

    @classmethod
    def load(cls, path: Path, *, allow_private: Sequence[str] = (), allow_env: Sequence[str] = ()) -> SearchEngine:
        """Read an engine file.

        Parameters
        ----------
        path : str or path
            The file, in TOML.
        allow_private : list of str
            Hosts that may be at private addresses, such as "search.internal".
        allow_env : list of str
            Variables of the environment that may be sent to the engine, such as "ES_AUTH".

        Returns
        -------
        SearchEngine

        Raises
        ------
        InputError
            If the file cannot be read, or says something that is not known.
        OptionError
            If a value in it cannot be used, such as a secret that is written out.
        """
        name = file_name(path, "an engine file")
        try:
            with open(name, "rb") as file:
                raw = file.read(MOST_FILE + 1)
        except (OSError, ValueError) as error:
            raise cannot_open(error, name) from None
        if len(raw) > MOST_FILE:
            raise InputError(f"has more than {MOST_FILE:,} bytes", where=name, hint="Is it an engine file?")
        try:
            table = tomllib.loads(raw.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"is not TOML: {error}", where=name, code="not-toml") from None

        stem = os.path.basename(name).removesuffix(".toml")
        return cls.from_table(table, name=stem, where=name, allow_private=allow_private, allow_env=allow_env)

    @classmethod
    def from_table(
        cls,
        table: Mapping[str, Any],
        *,
        name: str = "engine",
        where: str = "engine",
        allow_private: Sequence[str] = (),
        allow_env: Sequence[str] = (),
    ) -> SearchEngine:
        """Make an engine from the keys of an engine file.

        Parameters
        ----------
        table : mapping
            The keys of an engine file.
        name : str
            What it is called if the table does not say.
        where : str
            What to call the table in messages.
        allow_private : list of str
            Hosts that may be at private addresses, such as "search.internal".
        allow_env : list of str
            Variables of the environment that may be sent to the engine, such as "ES_AUTH".

        Returns
        -------
        SearchEngine

        Raises
        ------
        InputError
            If the table says something that is not known.
        OptionError
            If a value in it cannot be used.
        """
        if not isinstance(table, Mapping):
            raise InputError(f"is {shown(table, 60)}, not a table", where=where, code="wrong-type")
        for key, (forbidden, hint) in _PEOPLE_ALLOW.items():
            if key in table:
                message = f"an engine file cannot allow itself {forbidden}"
                raise InputError(message, where=where, hint=hint, code="unknown-key")
        _check_keys(table, _TOP, where)
        if table.get("format", FORMAT) != FORMAT:
            message = f"format is {shown(table['format'], 40)}; this version reads {FORMAT}"
            raise InputError(message, where=where, code="unknown-format")

        kind: Kind = one_of(table.get("kind", "http"), get_args(Kind), f"{where}: kind")  # type: ignore[assignment]
        k = table.get("k")
        if k is not None:
            whole_number(k, f"{where}: k", 1)

        program = _OF_PROGRAMS.get(kind)
        request = None
        if program is None:
            request = _request(table, where)
        elif not table.get(program):
            raise InputError(f"a {kind} needs {program}", where=where, hint=_EXAMPLES[program], code="missing-key")

        return cls(
            name=_text(table.get("name", name), "name", where),
            kind=kind,
            k=k,
            limits=_limits(_table(table, "limits", where), where),
            request=request,
            paths=_paths(_table(table, "response", where), kind, where),
            allow_private=_names(allow_private, "allow_private"),
            allow_env=_names(allow_env, "allow_env"),
            argv=tuple(_texts(table.get("argv", []), "argv", where)),
            function=_function(table.get("function", ""), where),
            folder=os.path.dirname(os.path.abspath(where)),
            table=dict(table),
        )


_EXAMPLES = {
    "argv": 'For example argv = ["node", "search.mjs"].',
    "function": 'For example function = "my_search:search".',
}


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            message = f"{shown(key, 60)} is not known here; there are: {', '.join(known)}"
            raise InputError(message, where=where, hint=did_you_mean(str(key), known), code="unknown-key")


def _table(table: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    inner = table.get(key, {})
    if not isinstance(inner, Mapping):
        raise InputError(f"{key} is {shown(inner, 60)}, not a table", where=where, code="wrong-type")
    return inner


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{key} is {shown(value, 60)}; it must be text in one line", where=where, code="wrong-type")
    return value


def _texts(value: Any, key: str, where: str) -> list[str]:
    if not isinstance(value, list):
        raise InputError(f"{key} is {shown(value, 60)}; it must be a list of texts", where=where, code="wrong-type")
    return [_text(entry, key, where) for entry in value]


def _function(value: Any, where: str) -> str:
    if value == "":
        return ""
    module, colon, name = _text(value, "function", where).partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), name)):
        message = f"function is {shown(value, 60)}; it must be module:function"
        raise InputError(message, where=where, hint=_EXAMPLES["function"], code="wrong-type")
    return str(value)


def _limits(table: Mapping[str, Any], where: str) -> EngineLimits:
    _check_keys(table, [known.name for known in fields(EngineLimits)], f"{where}: limits")
    return EngineLimits(**table)


def _paths(table: Mapping[str, Any], kind: Kind, where: str) -> AnswerPaths:
    known = [path.name for path in fields(AnswerPaths)]
    _check_keys(table, known, f"{where}: response")
    paths: dict[str, Any] = {name: getattr(KINDS[kind].paths, name) for name in known}
    for name, value in table.items():
        if name == "partial" and isinstance(value, list):
            listed = value
        else:
            listed = [value]
        for path in listed:
            if not is_path(_text(path, f"response.{name}", where)):
                hint = 'Paths have dots, [0] and [*]: "hits.hits", "rows[*]".'
                raise InputError(f"response.{name} is {shown(path, 60)}, not a path", where=where, hint=hint)
        paths[name] = value
        if name == "partial":
            paths[name] = tuple(listed)

    return AnswerPaths(**paths)


def _request(table: Mapping[str, Any], where: str) -> HttpRequest:
    url = _url(table.get("url"), where)
    request_table = _table(table, "request", where)
    _check_keys(request_table, _REQUEST, f"{where}: request")
    if "body" in request_table and "form" in request_table:
        raise InputError("request has a body and a form", where=where, hint="Give one of them.", code="two-bodies")

    usual = "GET"
    if "body" in request_table or "form" in request_table:
        usual = "POST"
    chosen = request_table.get("method", usual)
    method: Method = one_of(chosen, get_args(Method), f"{where}: method")  # type: ignore[assignment]

    headers = {name: _header(name, value, where) for name, value in _table(request_table, "headers", where).items()}
    form = None
    if "form" in request_table:
        form = _table(request_table, "form", where)
    params = dict(_table(request_table, "params", where))
    request = HttpRequest(url, method, headers, params, request_table.get("body"), form)

    parts = (request.url, request.params, request.body, request.form)
    if not any(name != "k" for part in parts for name in fields_in(part)):
        hint = 'Put "{query}" where the words of the query belong.'
        raise InputError("the request has nothing of the query in it", where=where, hint=hint, code="query-not-sent")
    return request


def _url(value: Any, where: str) -> str:
    hint = "For example http://localhost:9200/products/_search."
    url = ""
    if value is not None:
        url = _text(value, "url", where)

    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        parts, has_port = urlsplit(""), False

    if "@" in parts.netloc:
        message = "url has a user or a password in it"
        hint = 'Secrets are headers: Authorization = "env:NAME".'
        raise OptionError(message, where=Position(where), hint=hint, code="secret-in-file")

    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port or parts.fragment:
        raise InputError(f"url is {shown(url, 80)}; it must be http or https", where=where, hint=hint, code="bad-url")

    if next(fields_in(parts.netloc), None) is not None:
        message = "url has a field in its host"
        raise InputError(message, where=where, hint="Put fields after the host.", code="bad-url")

    return url


def _header(name: str, value: Any, where: str) -> str:
    text = _text(value, f"header {name}", where)
    if is_secret(text):
        variable_of(text, where)
    elif looks_secret(name):
        hint = f'Write {name} = "env:NAME", and put the secret into the environment.'
        raise OptionError(f"{where}: the header {name} is written out", hint=hint, code="secret-in-file")

    is_token = all(sign.isascii() and (sign.isalnum() or sign in "-_") for sign in name)
    if not is_token or not text.isascii():
        raise InputError(f"{shown(name, 40)} cannot be a header", where=where, code="bad-header")
    return text
