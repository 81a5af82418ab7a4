"""`--judge MODEL@URL,KEY=VALUE` or `--judge command:PROGRAM,KEY=VALUE`: the model or program that is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from goldrank.base.errors import OptionError
from goldrank.cli.commands import option
from goldrank.cli.nouns import NounOption, NounType, take_apart
from goldrank.cli.options import MEASURE

ENDPOINT = NounOption(
    "--judge", "goldrank.judging.endpoint:Endpoint", "model", elsewhere={"base_url": "Say MODEL@URL."}
)
PROGRAM = NounOption("--judge", "goldrank.judging.command:Command", "command")
_MATCHER = "goldrank.judging.judge_options:telling_matcher"
_PREFIX = "command:"
_ADDRESS = re.compile(r"(.+?)@(https?://.*)", re.DOTALL)


class JudgeWord:
    """The text of --judge; the judge is made when its prompt is known."""

    def __init__(self, text: str) -> None:
        self.word = take_apart(text, "--judge").word
        if not self.word:
            hint = "It is MODEL@URL, or command:PROGRAM."
            raise OptionError(f"--judge {text!r:.80} names no judge", hint=hint, code="unknown-judge")
        kind = ENDPOINT
        if self.is_program:
            kind = PROGRAM
        self.arguments: dict[str, Any] = kind.arguments(text)

    @property
    def is_program(self) -> bool:
        """Whether a program is asked, not a model."""
        return str(self.word).startswith(_PREFIX)

    def judge(self, **usual: Any) -> Any:
        """The judge; the option may change `usual` fields: `prompt` of a model, `scale` of a program."""
        if self.is_program:
            fields = {key: value for key, value in self.arguments.items() if key != "command"}
            for key in ("scale", "name"):
                if key in usual:
                    fields.setdefault(key, usual[key])
            return PROGRAM.noun(str(self.word).removeprefix(_PREFIX), **fields)

        fields = {key: value for key, value in self.arguments.items() if key != "model"}
        if "prompt" in usual:
            fields.setdefault("prompt", usual["prompt"])

        model, url = self._model()
        return ENDPOINT.noun(model, url, **fields)

    def matcher(self, **usual: Any) -> Any:
        """The judge as a matcher of texts that shows its progress."""
        module, _, name = _MATCHER.partition(":")
        return getattr(import_module(module), name)(self.judge(**usual))

    def _model(self) -> tuple[str, str | None]:
        word = str(self.word)
        matched = _ADDRESS.fullmatch(word)
        if matched is None:
            return (word, None)
        return (matched[1], matched[2])


def judge_option(**more: Any) -> Callable[[Any], Any]:
    """The option `--judge`."""
    return option(
        "--judge",
        type=NounType(ENDPOINT, JudgeWord),
        metavar="MODEL@URL,KEY=VALUE",
        heading=MEASURE,
        help="Who is asked: a model at an OpenAI-compatible endpoint, llama@http://localhost:8000/v1,criteria='...',"
        "timeout=60 (seconds for an answer; else 120), or a program that reads and writes JSON Lines, command:PROGRAM. "
        "Without @URL: OPENAI_BASE_URL. The key is in the environment.",
        **more,
    )


def needed_judge(word: JudgeWord | None) -> JudgeWord:
    """The judge of a command that cannot do without."""
    if word is None:
        raise click.UsageError("Missing option '--judge': who is asked, MODEL@URL or command:PROGRAM.")
    return word
