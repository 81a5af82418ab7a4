"""How to call a retriever of any framework, and what it returned as plain objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from goldrank import ids
from goldrank.errors import InputError, RetrievalError
from goldrank.io.objects import refuse_unordered
from goldrank.io.text_values import retrieved_text


def caller_of(retriever: Any, k: int | None) -> tuple[Callable[[str], Any], str]:
    """How to ask, and what to call the answers."""
    owner = retriever.__self__ if inspect.ismethod(retriever) else retriever
    name = getattr(owner, "__name__", None) or type(owner).__name__
    name = name if name.isidentifier() else "retrieved"
    if not inspect.isclass(retriever):
        for method in ("invoke", "retrieve", "ainvoke", "aretrieve"):
            if callable(asks := getattr(retriever, method, None)):
                return asks, name
        if callable(run := getattr(retriever, "run", None)):
            return _haystack(run, name, k), name
        if callable(retriever):
            return retriever, name
    hint = "A retriever is a function from a question to a list of texts, or has invoke, retrieve or run."
    raise RetrievalError(f"a {name} cannot be asked", hint=hint)


def _haystack(run: Callable[..., Any], name: str, k: int | None) -> Callable[[str], Any]:
    parameters = inspect.signature(run).parameters
    open_ended = any(given.kind is inspect.Parameter.VAR_KEYWORD for given in parameters.values())
    if parameters and "query" not in parameters and not open_ended:
        hint = "Wrap it in a function, for example: "
        hint += "lambda question: retriever.run(query_embedding=embed(question))['documents']."
        raise RetrievalError(f"{name}.run takes {', '.join(parameters)}, not query", hint=hint)
    more = {"top_k": k} if k is not None and ("top_k" in parameters or open_ended) else {}
    return lambda question: run(query=question, **more)


def plain_results(raw: Any, k: int | None, strings: str) -> list[Any]:
    """What a retriever returned, as a list of texts and plain objects."""
    if isinstance(raw, Mapping):
        named = [key for key in ("documents", "retrieved", "nodes", "source_nodes") if key in raw]
        if len(named) != 1:
            what = f"the retriever returned an object with {', '.join(map(str, raw)) or 'nothing'}"
            raise InputError(what, hint="Return a list of texts or documents.")
        raw = raw[named[0]]
    elif hasattr(raw, "source_nodes"):  # LlamaIndex's query engines
        raw = raw.source_nodes
    if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
        hint = "Return a list of texts, documents or ids, best first."
        raise InputError(f"the retriever returned {raw!r:.60} (of type {type(raw).__name__}), not a list", hint=hint)
    refuse_unordered(raw, "what the retriever returned")
    return [_plain(result, f"result {rank}", strings) for rank, result in enumerate(islice(raw, k), 1)]


def _plain(result: Any, at: str, strings: str) -> Any:
    """A result as text alone, if there is no more to it, or as a plain object."""
    if isinstance(result, str) and strings == "texts":
        return result
    score = None
    inner = result
    if isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[1], int | float):
        inner, score = result[0], float(result[1])
    is_id = isinstance(inner, str) and strings == "ids"
    if is_id or (isinstance(inner, int) and not isinstance(inner, bool)):
        return _without_none(id=ids.as_text(inner, "document id"), score=score)
    text = retrieved_text(result, at)
    if text.text is None and text.id is None:
        raise InputError(f"is {result!r:.60}, without a text and without an id", where=at)
    span = text.span
    plain = _without_none(text=text.text, id=text.id, source=text.source, score=text.score)
    return plain | ({"start": span.start, "end": span.end} if span else {})


def _without_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
