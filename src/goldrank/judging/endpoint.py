"""`Endpoint`: a model behind any OpenAI-compatible chat endpoint (extra `judge`: httpx).

The key comes from the environment alone. It is sent in one header, and written nowhere: if a server repeats it in a
message, it is taken out of that message first.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import math
import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from goldrank.base.errors import OptionError, whole_number
from goldrank.base.escaping import shown
from goldrank.base.packages import needed
from goldrank.base.types import Path
from goldrank.data.qrels import Grade
from goldrank.judging.decoding import ACCEPTED, DamagedBodyError, UnaskedEncodingError, unpacked
from goldrank.judging.function import checked_criteria, seconds
from goldrank.judging.item import Answer, AskAgainLater, Call, Description, ItemFailed, JobStopped, Reply
from goldrank.judging.parse import read_answer
from goldrank.judging.prompt import Prompt, PromptName

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "OPENAI_API_KEY"
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)
_STOPPING = {
    401: "the endpoint does not accept the key",
    403: "the endpoint does not allow this",
    402: "the endpoint wants to be paid",
}
_NO_CREDIT = ("quota", "credit", "billing", "spend", "balance", "payment")
_FORMS = ("json_schema", "json_object", "plain")
_PATH = "/chat/completions"
_CONNECT = 10.0
"""Seconds until there is a connection."""
USUAL_TOKENS = 500
"""The most tokens of an answer."""
_OWN_FIELDS = {
    "model": "The model is the first argument.",
    "messages": "They are the prompt's.",
    "stream": "Answers come as a whole.",
}
"""Fields of a request that users cannot choose, and why."""
_MOST_BODY = 1_000_000
"""Bytes of an answer that are read, before and after each layer is unpacked."""
_MOST_TOKENS = 1_000_000_000
_SHORTEST_SECRET = 8
"""Shorter keys, such as "x" or "none", are not secrets: people give them to local servers that need any key. Taking
each "x" out of an answer would damage it."""
_LONGEST_PAUSE = 600.0
"""Seconds. Where an endpoint asks to wait for longer, the job ends: it can be started again then."""
_STEPPED_DOWN: dict[tuple[str, str], int] = {}
"""By endpoint and model, the first of `_FORMS` that it may accept."""


class Endpoint:
    """A model that is asked by `POST {base_url}/chat/completions`, one item a call.

    The key comes from the environment, and is written nowhere.

    Parameters
    ----------
    model : str
        The name of the model.
    base_url : str, optional
        An OpenAI-compatible endpoint, such as http://localhost:8000/v1. By default OPENAI_BASE_URL of the environment.
    prompt : {"relevance", "support", "question", "answerable"} or path
        How it is asked: one of goldrank's prompts, or a file.
    criteria : str
        What counts as relevant, in words: given to the model.
    key_variable : str
        Where in the environment the key is.
    request : mapping, optional
        Fields of every request that differ from the usual ones, {"temperature": 0, "max_tokens": 500}. None leaves a
        field out that the model refuses. Without a `response_format`, and with one of the type "json_object", no JSON
        schema is asked for.
    timeout : float
        Seconds to wait for an answer.
    name : str, optional
        What the judge is called in the log. By default the model and its prompt.

    Raises
    ------
    OptionError
        If a value cannot be used, or no endpoint is named.
    InputError
        If the prompt cannot be read.
    MissingPackageError
        If httpx is not installed (extra `judge`).

    Examples
    --------
    >>> judge = Endpoint("llama", "http://localhost:8000/v1", criteria="Recipes without nuts.")
    >>> judge.name, judge.scale
    ('llama, relevance', (0, 1, 2, 3))
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        prompt: Prompt | PromptName | Path = "relevance",
        criteria: str = "",
        key_variable: str = KEY_VARIABLE,
        request: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        name: str | None = None,
    ) -> None:
        check_installed()
        if not isinstance(model, str) or not model:
            raise OptionError(f"model is {shown(model, 60)}; it must be the name of a model")

        self.prompt = Prompt.of(prompt)
        self.model = model
        self.url = _address(_base_url(base_url, model), key_variable)
        self.name = name or f"{model}, {os.path.basename(self.prompt.name).removesuffix('.txt')}"
        self.scale: tuple[Grade, ...] | None = self.prompt.scale
        self.criteria = checked_criteria(criteria)
        self.timeout = seconds(timeout)

        changed = _request(request)
        self._asked_form = _form(changed)
        self._form = _FORMS.index(self._asked_form)
        usual = {"model": model, "max_tokens": USUAL_TOKENS, "stream": False, "temperature": 0.0}
        fields: dict[str, Any] = {**usual, **changed}
        self._fields = {field: value for field, value in fields.items() if value is not None}
        most = self._fields.get("max_completion_tokens", self._fields.get("max_tokens", USUAL_TOKENS))
        self.max_tokens = whole_number(most, "max_tokens", 1)

        self._key = os.environ.get(key_variable, "")
        if self._key and not (self._key.isascii() and self._key.isprintable()):
            raise OptionError(f"the key in {key_variable} has characters that no header can hold")
        self._secret = None
        if len(self._key) >= _SHORTEST_SECRET:
            self._secret = _written_anyhow(self._key)
        self._client: httpx.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.model!r}, {self.url.removesuffix(_PATH)!r})"

    def description(self) -> Description:
        """Everything that answers depend on, which the key, time-outs and concurrency are not."""
        return Description(
            "endpoint",
            {"prompt": self.prompt.digest, "url": self.url, "form": self._asked_form, "fields": self._fields},
        )

    def messages(self, call: Call) -> list[dict[str, str]]:
        """The filled prompt."""
        return self.prompt.messages(call)

    async def ask(self, call: Call) -> Reply:
        """Send one request. A failure that can be tried again raises `AskAgainLater`."""
        with needed("httpx"):
            import httpx

        client = self._connected()
        form = max(self._form, _STEPPED_DOWN.get((self.url, self.model), 0))
        try:
            async with asyncio.timeout(min(_CONNECT, self.timeout) + 2 * self.timeout):  # however slowly it drips
                status, headers, raw = await self._posted(client, self._request(call, _FORMS[form]))
        except TimeoutError:
            raise AskAgainLater("TimeoutError", "the answer did not end in time", paid=True) from None
        except httpx.InvalidURL as error:
            raise JobStopped(f"the address cannot be used: {error}", "", "Is base_url right?") from None
        except DamagedBodyError as error:
            raise AskAgainLater("cannot be unpacked", self._clean(str(error)), paid=True) from None
        except UnaskedEncodingError as error:
            hint = "Give the address of the model itself, without what packs its answers."
            raise JobStopped(f"the endpoint {self._clean(str(error))}", "", hint) from None
        except httpx.TransportError as error:
            unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            raise AskAgainLater(type(error).__name__, self._clean(str(error)), paid=not unsent) from None

        body = self._clean(raw.decode("utf-8", "replace"))
        if status == 200:
            return self._read(body, call)
        raise self._refused(status, body, headers, form)

    async def _posted(self, client: httpx.AsyncClient, request: dict[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and the first bytes of the answer; the rest is not read.

        The bytes are read as they were sent: httpx would unpack each piece without a limit.
        """
        headers = {"Accept-Encoding": ACCEPTED}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"

        sent = b""
        async with client.stream("POST", self.url, json=request, headers=headers) as answer:
            async for piece in answer.aiter_raw():
                sent += piece[: _MOST_BODY - len(sent)]
                if len(sent) >= _MOST_BODY:
                    break

        body = unpacked(sent, answer.headers.get("content-encoding", ""), _MOST_BODY)
        return answer.status_code, answer.headers, body

    def _request(self, call: Call, form: str) -> dict[str, Any]:
        fields = {**self._fields, "messages": self.messages(call)}
        if form == "json_schema":
            json_schema = {"name": "judgement", "strict": True, "schema": self.prompt.schema()}
            fields["response_format"] = {"type": form, "json_schema": json_schema}
        elif form == "json_object":
            fields["response_format"] = {"type": form}
        return fields

    def _read(self, body: str, call: Call) -> Reply:
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            message = choice["message"]
            text, finish = message.get("content"), choice.get("finish_reason")
            refusal = message.get("refusal")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise AskAgainLater("no JSON of a chat", body, paid=True) from None

        if refusal and text is None:
            answer = Answer(None, problem="the model refused to answer")
        elif text is not None and not isinstance(text, str):
            answer = Answer(None, problem="there is no text in the answer")
        else:
            try:
                answer = read_answer(text, self.prompt, call.marker, finish)
            except RecursionError:
                answer = Answer(None, problem="the answer is nested too deeply")

        usage = _dict(data.get("usage"))
        details = _dict(usage.get("prompt_tokens_details"))
        return replace(
            Reply.of(body, answer),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            tokens_cached=_count(details.get("cached_tokens")) or 0,
        )

    def _refused(self, status: int, body: str, headers: Mapping[str, str], form: int) -> Exception:
        """The exception for an answer other than 200. `form` is the index of the form that was requested."""
        message, code = _error_of(body)
        has_no_credit = status == 429 and any(word in code.casefold() for word in _NO_CREDIT)
        if status in _STOPPING or has_no_credit:
            problem = _STOPPING.get(status, "there is no credit left")
            hint = "Pay, or take another endpoint."
            if status in (401, 403):
                hint = "Set the key in the environment."
            return JobStopped(f"{problem} ({status}: {message[:200]})", body, hint)

        if status in RETRIED:
            after = _retry_after(headers)
            if after is not None and after > _LONGEST_PAUSE:
                problem = f"the endpoint asks to wait for {after:,.0f} seconds ({status}: {message[:200]})"
                return JobStopped(problem, body, "Start the job again then: what was answered is kept.")
            return AskAgainLater(str(status), body, after, limited=status in (429, 503, 529))

        if 300 <= status < 400:
            problem = f"the endpoint sends elsewhere ({status}), and the key is not sent there"
            return JobStopped(problem, body, "Give the address itself as base_url.")

        if status in (400, 422) and "response_format" in body and form < len(_FORMS) - 1:
            model_key = self.url, self.model
            _STEPPED_DOWN[model_key] = max(form + 1, _STEPPED_DOWN.get(model_key, 0))
            return AskAgainLater(f"{status} {_FORMS[form]} is not taken", body, after=0.0)

        return ItemFailed(str(status), body)

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            with needed("httpx"):
                import httpx

            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            timeout = httpx.Timeout(connect=min(_CONNECT, self.timeout), read=self.timeout, write=30.0, pool=None)
            self._client = httpx.AsyncClient(limits=limits, timeout=timeout, follow_redirects=False)
        return self._client

    def _clean(self, text: str) -> str:
        """Text without the key, also where a server repeats it."""
        if self._secret is None:
            return text
        return self._secret.sub("[key]", text)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _base_url(base_url: str | None, model: str) -> str:
    """The address from the arguments, or else from the environment."""
    if base_url is not None:
        return base_url
    base = os.environ.get("OPENAI_BASE_URL", "")
    if not base:
        hint = "Give base_url=, for example 'http://localhost:8000/v1', or set OPENAI_BASE_URL."
        raise OptionError(f"the model {shown(model, 60)} needs an endpoint", hint=hint, code="no-endpoint")
    return base


def _address(base_url: str, key_variable: str) -> str:
    """Where requests go; raise if the base has a secret in it."""
    parts = urlsplit("")
    if isinstance(base_url, str):
        with contextlib.suppress(ValueError):
            parts = urlsplit(base_url)

    if isinstance(base_url, str) and ("@" in base_url or parts.query or parts.fragment):
        message = "base_url has a user, a password or something after ? or # in it"
        raise OptionError(message, hint=f"The key comes from the environment: {key_variable}.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OptionError(f"base_url is {shown(base_url, 80)}", hint="For example http://localhost:8000/v1.")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + _PATH, "", ""))


def _request(request: Mapping[str, Any] | None) -> dict[str, Any]:
    """The user's fields of a request; raise if one of them cannot be chosen."""
    if request is None:
        return {}
    if not isinstance(request, Mapping):
        raise OptionError(f"request is {shown(request, 60)}", hint='For example request={"temperature": 0, "seed": 7}.')
    for field in _OWN_FIELDS:
        if field in request:
            raise OptionError(f"request has {field!r}, which is not for choice", hint=_OWN_FIELDS[field])
    try:
        json.dumps(dict(request))
    except (TypeError, ValueError) as error:
        raise OptionError(f"request cannot be written as JSON: {error}") from None
    return dict(request)


def _form(request: dict[str, Any]) -> str:
    """The one of `_FORMS` that is requested first; it is taken out of the request."""
    if "response_format" not in request:
        return _FORMS[0]
    chosen = request.pop("response_format")
    if chosen is None:
        return "plain"
    if chosen in ({"type": "json_schema"}, {"type": "json_object"}):
        return str(chosen["type"])
    hint = "It is None, {'type': 'json_object'} or {'type': 'json_schema'}; the schema is that of the prompt."
    raise OptionError(f"response_format is {shown(chosen, 60)}", hint=hint, code="unknown-choice")


def check_installed() -> None:
    """Raise the error with the line that installs httpx, if it is missing."""
    with needed("httpx"):
        import httpx  # noqa: F401 - is it there?


def _error_of(body: str) -> tuple[str, str]:
    """The message and the code of an error; older servers have it flat."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body[:200], ""

    error = {}
    if isinstance(data, dict):
        error = data.get("error", data)
    if isinstance(error, str):
        return error, ""
    if not isinstance(error, dict):
        return body[:200], ""
    return str(error.get("message", "")), f"{error.get('code') or ''} {error.get('type') or ''}"


def _written_anyhow(key: str) -> re.Pattern[str]:
    """A pattern that finds a key as it is, and as JSON (`\\/`, `\\u002f`) or an address (`%2f`) may write it."""
    signs = (rf"(?:\\?{re.escape(sign)}|(?i:\\u{ord(sign):04x}|%{ord(sign):02x}))" for sign in key)
    return re.compile("".join(signs))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the endpoint asks to wait, if they can be read.

    >>> _retry_after({"retry-after-ms": "1500"}), _retry_after({"retry-after-ms": "nan", "retry-after": "3"})
    (1.5, 3.0)
    """
    for name, a_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        text = headers.get(name, "")
        try:
            seconds = float(text) / a_second
        except ValueError:
            seconds = _seconds_until(text)
        if 0 <= seconds < math.inf:
            return seconds
    return None


def _seconds_until(date: str) -> float:
    """The seconds until a date, 0 if it is in the past; NaN if the text is not a date."""
    try:
        return max(0.0, email.utils.parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return math.nan


def _count(value: object) -> int | None:
    """A number of tokens; None if it cannot be one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
        return value
    return None


def _dict(value: object) -> dict[str, Any]:
    """An object of an answer; empty if it is something else."""
    if isinstance(value, dict):
        return value
    return {}
