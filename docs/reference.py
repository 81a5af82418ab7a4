"""Pages of the site that are made from the code: the Python API from docstrings and types, the commands from click."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Unpack, get_args, get_origin, get_overloads, is_typeddict

import click
from measure_pages import cell

import goldrank
from goldrank.base import types
from goldrank.cli import group, run
from goldrank.conventions import POLICIES

WIDTH = 88
"""Signatures that are longer have a line for each parameter."""


def api_pages() -> Iterator[tuple[str, str]]:
    """The paths and texts of the pages of all public names, of what they take, and of their list."""
    public = [name for name in goldrank.__all__ if name != "__version__"]
    kinds = {"Functions": [], "Classes": []}
    for name in public:
        thing = getattr(goldrank, name)
        kinds["Classes" if inspect.isclass(thing) else "Functions"].append(name)
        body = class_page(name, thing) if inspect.isclass(thing) else function_page(name, thing)
        yield f"api/{file_name(name)}", linked(body, name)
    index = ["# Python API", "", "All of these are names of `goldrank`; what they take is in [types](types.md)."]
    for kind, names in kinds.items():
        index += ["", f"## {kind}", "", "| name | what it does |", "|---|---|"]
        index += [f"| [`{name}`]({file_name(name)}) | {cell(summary(getattr(goldrank, name)))} |" for name in names]
    yield "api/index.md", "\n".join(index) + "\n"
    yield "api/types.md", linked(types_page(), "")


def file_name(name: str) -> str:
    """Where a public name's page is; `measure` and `Measure` are told apart on every disk."""
    return f"class_{name.lower()}.md" if name[0].isupper() else f"{name}.md"


def summary(thing: Any) -> str:
    """The first paragraph of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n\n")[0]


def linked(text: str, own: str) -> str:
    """With every public name in the prose, but not in tables and code, leading to its page."""

    def link(found: re.Match[str]) -> str:
        name = found[1].removeprefix("goldrank.")
        return f"[{found[0]}]({file_name(name)})" if name in goldrank.__all__ and name != own else found[0]

    pieces = re.split(r"(^```[\s\S]*?^```$|^\|.*$)", text, flags=re.MULTILINE)
    return "".join(piece if piece.startswith(("```", "|")) else re.sub(r"`([\w.]+)`", link, piece) for piece in pieces)


def function_page(name: str, function: Callable[..., Any]) -> str:
    """The signature, the docstring and the options that are given by name."""
    return "\n".join([f"# {name}", "", *described(f"goldrank.{name}", function), *options(function)]) + "\n"


def class_page(name: str, kind: type) -> str:
    """The docstring, the fields, and all public methods with theirs."""
    lines = [f"# {name}", ""]
    made_by_hand = "__init__" in vars(kind)
    lines += described(f"goldrank.{name}", kind) if made_by_hand else ["", *prose(inspect.getdoc(kind) or "")]
    found = fields(kind)
    if found:
        lines += ["", "## Fields", "", "| field | type | what it holds |", "|---|---|---|"]
        lines += [f"| `{field}` | `{cell(annotation)}` | {cell(words)} |" for field, annotation, words in found]
    for member, value in members(kind):
        lines += ["", f"## {member}", ""]
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(inner, property | cached_property):
            getter = inner.fget if isinstance(inner, property) else inner.func
            returned = inspect.signature(getter).return_annotation if getter else inspect.Signature.empty
            lines += [
                "```python",
                f"{name}.{member}: {shown(returned)}",
                "```",
                "",
                *prose(inspect.getdoc(inner) or ""),
            ]
        else:
            lines += [*described(f"{name}.{member}", inner), *options(inner)]
    return "\n".join(lines) + "\n"


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties, its own and those of goldrank's classes that it is made of."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("goldrank"):
            continue
        for name, value in vars(base).items():
            callable_ = inspect.isfunction(value) or isinstance(
                value, classmethod | staticmethod | property | cached_property
            )
            if callable_ and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def fields(kind: type) -> list[tuple[str, str, str]]:
    """The annotated fields of a class and the strings below them."""
    if "__dataclass_fields__" not in vars(kind):
        return []
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = []
    for one, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_"):
            found.append((one.target.id, ast.unparse(one.annotation), string_in(after)))
    return found


def string_in(node: ast.stmt | None) -> str:
    """The text of a statement that is nothing but a string."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def described(name: str, thing: Callable[..., Any]) -> list[str]:
    """Signature and docstring."""
    return ["```python", signature(name, thing), "```", "", *prose(inspect.getdoc(thing) or "")]


def signature(name: str, thing: Callable[..., Any]) -> str:
    """As one would write it, with types; on one line if it fits."""
    found = inspect.signature(thing)
    parts, star = [], False
    for parameter in found.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        typed = "" if parameter.annotation is parameter.empty else f": {shown(parameter.annotation)}"
        default = (
            ""
            if parameter.default is parameter.empty
            else f"{' = ' if typed else '='}{default_text(parameter.default)}"
        )
        parts.append(f"{mark}{parameter.name}{typed}{default}")
    kinds = [inspect.signature(one).return_annotation for one in get_overloads(thing)] or [found.return_annotation]
    returned = " | ".join(dict.fromkeys(map(shown, kinds)))
    ending = "" if inspect.isclass(thing) else f" -> {returned}"
    line = f"{name}({', '.join(parts)}){ending}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){ending}"])


def default_text(value: Any) -> str:
    """A default as a caller would write it; what has no spelling is three dots."""
    plain = value is None or isinstance(value, str | int | float | bool | tuple | frozenset)
    return repr(value) if plain and "<" not in repr(value) else "..."


def shown(annotation: Any) -> str:
    """A type as it is written in the source."""
    if annotation is inspect.Signature.empty:
        return "Any"
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def options(function: Callable[..., Any]) -> list[str]:
    """What `**options` may be, where that is a TypedDict."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            kind = resolved(parameter.annotation, function)
            named = get_args(kind)[0] if get_origin(kind) is Unpack else None
            if is_typeddict(named):
                head = [f"By name, in `**{parameter.name}`:", "", "| option | what it may be |", "|---|---|"]
                rows = [f"| `{key}` | {choices(key, kind)} |" for key, kind in named.__annotations__.items()]
                return ["", *head, *rows]
    return []


def choices(option: str, kind: Any) -> str:
    """A policy's values, each with what it does; an option's type if it is no policy."""
    values = POLICIES.get(option, {})
    return "<br>".join(f"`{value}`: {cell(does)}" for value, does in values.items()) or f"`{cell(forward(kind))}`"


def resolved(annotation: Any, function: Callable[..., Any]) -> Any:
    """The type that an annotation names, or None where it exists for type checkers only."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, inspect.unwrap(function).__globals__)  # noqa: S307 - the project's own annotations
    except NameError:
        return None


def forward(annotation: Any) -> str:
    """The text of an annotation of a TypedDict."""
    return getattr(annotation, "__forward_arg__", None) or shown(annotation)


def prose(text: str) -> list[str]:
    """A docstring as Markdown: its examples are blocks of code."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        example = paragraph.lstrip().startswith(">>>")
        block = textwrap.dedent(paragraph).splitlines()
        if example and lines and lines[-2:] == ["```", ""]:
            del lines[-2:]
            lines += ["", *block, "```", ""]
        else:
            lines += ["```pycon", *block, "```", ""] if example else [*block, ""]
    return lines


def types_page() -> str:
    """The names in signatures, from the source of `goldrank.base.types`."""
    lines = ["# Types", "", inspect.getdoc(types) or "", ""]
    body = ast.parse(inspect.getsource(types)).body
    for one, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is not None:
            written = one.value.value if isinstance(one.value, ast.Constant) else ast.unparse(one.value)
            lines += [f"## {one.target.id}", "", "```python", *wrapped(f"{written}"), "```", "", string_in(after), ""]
        elif isinstance(one, ast.ClassDef):
            lines += [f"## {one.name}", "", ast.get_docstring(one) or "", ""]
            rows = [each for each in one.body if isinstance(each, ast.AnnAssign)]
            if rows:
                lines += ["| name | type |", "|---|---|"]
                lines += [f"| `{ast.unparse(row.target)}` | `{cell(ast.unparse(row.annotation))}` |" for row in rows]
                lines.append("")
    return "\n".join(lines)


def wrapped(union: str) -> list[str]:
    """A long union with a line for each of its parts."""
    return textwrap.wrap(union, WIDTH, break_long_words=False, break_on_hyphens=False)


def command_pages() -> Iterator[tuple[str, str]]:
    """The paths and texts of the pages of all commands and of their list."""
    context = click.Context(group, info_name="goldrank", **group.context_settings)
    index = ["# Commands", "", cell(group.help or ""), "", "| command | what it does |", "|---|---|"]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        index.append(f"| [`goldrank {name}`]({name}.md) | {cell(command.get_short_help_str(200))} |")
        yield f"commands/{name}.md", "\n".join([f"# goldrank {name}", "", *command_text(command, name, context)]) + "\n"
    yield "commands/index.md", "\n".join([*index, "", *epilog(group)]) + "\n"


def command_text(command: click.Command, name: str, parent: click.Context) -> list[str]:
    """Usage, help, options, examples; and the same for the commands of a group."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = ["```text", usage, "```", "", *help_text(command.help or ""), *epilog(command)]
    options = [one for one in command.get_params(context) if isinstance(one, click.Option) and not one.hidden]
    meanings = [(one.get_help_record(context) or ("", ""))[1] for one in options]
    rows = [f"| {option_cell(one)} | {cell(escaped(words))} |" for one, words in zip(options, meanings, strict=True)]
    if not any(meanings):  # it words its help itself
        lines += ["", "```text", *own_help(name), "```", "", "Options: " + "; ".join(map(option_cell, options)) + "."]
    else:
        lines += ["", "**Options**", "", "| option | meaning |", "|---|---|", *rows]
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            lines += ["", f"## {context.command_path} {inner}", "", *command_text(found, inner, context)]
    return lines


def own_help(name: str) -> list[str]:
    """What a command prints when asked for help."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run([name, "--help"])
    return printed.getvalue().splitlines()


def option_cell(parameter: click.Parameter) -> str:
    """The spellings of an option, and what it takes."""
    spelled = ", ".join(f"`{one}`" for one in [*parameter.opts, *parameter.secondary_opts])
    if not isinstance(parameter, click.Option) or parameter.is_flag or parameter.count:
        return spelled
    if isinstance(parameter.type, click.Choice) and not parameter.metavar:
        return f"{spelled} one of " + ", ".join(f"`{choice}`" for choice in parameter.type.choices)
    return f"{spelled} {cell(escaped(parameter.metavar or parameter.type.name.upper()))}"


def help_text(text: str) -> list[str]:
    """The text of a help page; what click keeps line by line (after \\b) is a block."""
    lines: list[str] = []
    for paragraph in inspect.cleandoc(text).split("\f")[0].split("\n\n"):
        if paragraph.startswith("\b"):
            lines += ["```text", *textwrap.dedent(paragraph[1:].strip("\n")).splitlines(), "```", ""]
        else:
            lines += [escaped(" ".join(paragraph.split())), ""]  # a line that begins with "- " is no list
    return lines


def epilog(command: click.Command) -> list[str]:
    """The examples at the end of a help page."""
    kept = (command.epilog or "").replace("\b", "").strip("\n")
    if not kept:
        return []
    head, _, rest = kept.partition("\n")
    title = head.strip().rstrip(":") if rest else "Examples"
    return ["", f"**{title}**", "", "```text", *textwrap.dedent(rest or kept).strip("\n").splitlines(), "```"]


def escaped(text: str) -> str:
    """Words of a help page that Markdown would take for markup, outside its code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_\[\]<])", r"\\\1", piece) for piece in pieces)
