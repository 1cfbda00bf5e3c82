"""Pages that the site makes from the code: settings, commands, and the Python API.

A page has its own introduction and one line ``<!-- generated: NAME -->``. The build replaces that
line by Markdown: ``settings`` and ``pipelines`` from the structures of ``fascicle.settings``,
``commands`` from the parser, ``api`` from the public names, ``tasks`` from the modules that do the
work of the commands, ``findings`` from the checks of a corpus.
It also checks links that lead out of ``docs/`` and shows them as plain text.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from sphinx.application import Sphinx
from sphinx.util import logging

import fascicle
import fascicle.evaluation.systems
import fascicle.verbs
import fascicle.verbs.tasks
from fascicle.cli import build_parser
from fascicle.evaluation.doctor.examine import checks
from fascicle.settings.heads import HEADS
from fascicle.settings.packs import ColumnSettings, PackSettings, SourceSettings, TableSettings
from fascicle.settings.pipeline import KnownAnswer, Limits, PipelineSettings, Shards
from fascicle.settings.recipes.reference import (
    DISTILLATION,
    FILTER,
    PRETRAINING,
    RECOGNISER,
    RELATIONS,
    TYPER,
    Struct,
    list_keys,
    summary,
)
from fascicle.settings.steps import STEPS, LinkStrategy, RuleSettings, RuleTest, StepSettings
from fascicle.verbs import options

PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(
    r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])+)\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)"
)
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)$", re.DOTALL | re.MULTILINE)
_SPECIAL: Final = re.compile(r"([*_<>\[\]])")
_ESCAPED: Final = r"\\\1"

_PIPELINE: Final[Mapping[str, Struct]] = MappingProxyType(
    {
        "": PipelineSettings.__bases__[0],  # the keys of the file, without what loading adds
        "[limits]": Limits,
        "[shards]": Shards,
        "[[answers]]": KnownAnswer,
        "[[steps]]": StepSettings,
        **{f'kind = "{name}"': kind for name, kind in STEPS.items()},
        "[[steps.rules]]": RuleSettings,
        "[[steps.rules.tests]]": RuleTest,
        "[steps.strategies.TYPE]": LinkStrategy,
    }
)
_PACK: Final[Mapping[str, Struct]] = MappingProxyType(
    {
        "": PackSettings,
        "[sources.NAME]": SourceSettings,
        "[sources.NAME.columns]": ColumnSettings,
        "[sources.NAME.table]": TableSettings,
    }
)
_DISTILLATION: Final = (
    "`[corpus]`, `[reading]`, `[training]` and `[decision]` are those of a recogniser, and "
    "`[text]` is that of a "
    "pretraining. `[head]` has the keys of a family of heads, `family` among them."
)


def settings() -> str:
    """Every key of every recipe, as Markdown."""
    parts = ["## A recogniser", *_tables(RECOGNISER)]
    parts += [
        "## Families of heads",
        "These keys stand in `[model]`, and in `[bundle]` for a second head.",
    ]
    for name, kind in HEADS.items():
        parts += [f'### `family = "{name}"`', summary(kind), *_keys(kind)]
    parts += [
        "## A learned filter",
        "`[corpus]` and `[training]` are those of a recogniser.",
        *_tables(FILTER),
    ]
    parts += [
        "## A span typer",
        "`[corpus]` is that of a recogniser; `dev` may be left out.",
        *_tables(TYPER),
    ]
    parts += ["## A pretraining", *_tables(PRETRAINING)]
    parts += ["## A distillation", _DISTILLATION, *_tables(DISTILLATION)]
    parts += [
        "## A finder of relations",
        "`[corpus]` and `[training]` are those of a recogniser.",
        *_tables(RELATIONS),
    ]
    return "\n\n".join(parts)


def _tables(tables: Mapping[str, Struct]) -> Iterator[str]:
    for name, kind in tables.items():
        yield f"### `[{name}]`" if name else "### Top of the file"
        if name:
            yield summary(kind)
        yield from _keys(kind)


def _keys(kind: Struct) -> Iterator[str]:
    """A list of the keys of a structure: kind of value, default, meaning."""
    lines = [
        f"- **`{key.name}`** ({key.value}; {key.default}){': ' if key.meaning else ''}{key.meaning}"
        for key in list_keys(kind)
    ]
    if lines:
        yield "\n".join(lines)


def pipelines() -> str:
    """Every key of a pipeline and of the sources of a term pack, as Markdown."""
    parts = []
    for title, tables in (("A pipeline", _PIPELINE), ("The sources of a term pack", _PACK)):
        parts.append(f"## {title}")
        for name, kind in tables.items():
            shared = StepSettings.__struct_fields__ if kind in STEPS.values() else ()
            keys = [key for key in list_keys(kind, tables=()) if key.name not in shared]
            parts += [
                f"### `{name}`" if name else "### Top of the file",
                *([summary(kind)] if name else []),
            ]
            parts.append(
                "\n".join(
                    f"- **`{key.name}`** ({key.value}; {key.default}): {key.meaning}"
                    for key in keys
                )
            )
    return "\n\n".join(parts)


def commands() -> str:
    """Every command with its options, as Markdown."""
    return "\n\n".join(_command(build_parser(), level=2))


def _command(parser: argparse.ArgumentParser, *, level: int) -> Iterator[str]:
    inner = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if level > 2:
        yield f"{'#' * (level - 1)} `{parser.prog}`"
        yield _sentence(parser.description or "")
    if level > 2 and not inner:
        yield f"```text\n{_usage(parser)}\n```"
        for group in parser._action_groups:
            yield from _group(group)
    for action in inner:
        for command in dict.fromkeys(action.choices.values()):
            yield from _command(command, level=level + 1)


def _usage(parser: argparse.ArgumentParser) -> str:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "96"
    try:
        return parser.format_usage().removeprefix("usage: ").rstrip()
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _group(group: Any) -> Iterator[str]:
    lines = [_option(action) for action in group._group_actions if action.help != argparse.SUPPRESS]
    lines = [line for line in lines if line]
    if lines:
        yield f"*{_sentence(group.title or 'options')[:-1]}*"
        yield "\n".join(lines)


def _option(action: argparse.Action) -> str:
    if isinstance(action, argparse._HelpAction):
        return ""
    if action.choices is not None and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        metavar = action.metavar or action.dest.upper()
        value = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    takes = f" {value}" if action.option_strings and action.nargs != 0 else ""
    name = ", ".join(f"{option}{takes}" for option in action.option_strings) or value
    text = (action.help or "") % {**vars(action), "prog": "fascicle"}
    return f"- `{name}`: {_SPECIAL.sub(_ESCAPED, text)}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def api() -> str:
    """Every public name, with the text of its docstring."""
    parts = []
    for name in fascicle.__all__:
        value = getattr(fascicle, name)
        if inspect.isclass(value):
            members = (
                "\n   :members:\n   :exclude-members: __init__"
                if issubclass(value, msgspec.Struct)
                else ""
            )
            parts.append(
                f"## `{name}`\n\n```{{eval-rst}}\n.. autoclass:: "
                f"fascicle.{name}{members or ''}\n```"
            )
        elif inspect.ismodule(value):
            parts.append(
                f"## `{name}`\n\n```{{eval-rst}}\n.. automodule:: {value.__name__}\n   "
                ":members:\n```"
            )
        elif callable(value):
            parts.append(f"## `{name}`\n\n```{{eval-rst}}\n.. autofunction:: fascicle.{name}\n```")
        else:
            parts.append(f"## `{name}`\n\nThe version of this release, as text.")
    return "\n\n".join(parts)


def tasks() -> str:
    """The functions behind the commands and their requests, with the text of their docstrings."""
    parts = []
    for module in pkgutil.iter_modules(fascicle.verbs.__path__, "fascicle.verbs."):
        found = vars(importlib.import_module(module.name))
        helps = " ".join(
            inspect.getdoc(one) or "" for one in found.values() if inspect.isclass(one)
        )
        for name, value in sorted(found.items()):
            place = f"{module.name}.{name}"
            is_task = inspect.isfunction(value) and (
                hasattr(value, "__wrapped__") or f"``{place}(" in helps
            )
            is_request = inspect.isclass(value) and is_dataclass(value) and not name.startswith("_")
            is_request &= module.name != options.__name__  # how options are declared is no task
            if (is_task or is_request) and value.__module__ == module.name:
                how = f"autofunction:: {place}" if is_task else f"autoclass:: {place}\n   :members:"
                parts.append(f"## `{place}`\n\n```{{eval-rst}}\n.. {how}\n```")
    for room in (fascicle.verbs.tasks, fascicle.evaluation.systems):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            shown = (
                f"```{{eval-rst}}\n.. automodule:: {module.name}\n   :members:\n   "
                ":show-inheritance:\n```"
            )
            parts.append(f"## `{module.name}`\n\n{shown}")
    return "\n\n".join(parts)


def findings() -> str:
    """Every finding of the corpus doctor, as a table."""
    rows = (
        f"| `{one.code}` | {one.severity} | {one.means} | {one.remedy} |"
        for one in checks().values()
    )
    return "\n".join(
        ["| finding | severity | what a case is | remedy |", "|---|---|---|---|", *rows]
    )


PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "settings": settings,
        "pipelines": pipelines,
        "commands": commands,
        "api": api,
        "tasks": tasks,
        "findings": findings,
    }
)


def without_outside_links(text: str, page: Path, docs: Path) -> tuple[str, list[str]]:
    """Shows links that lead out of ``docs/``, or to a folder, as plain text.

    Args:
        text: Markdown of a page.
        page: its file.
        docs: the folder of all pages.

    Returns:
        The text, and the targets that do not exist.
    """
    dead: list[str] = []

    def plain(found: re.Match[str]) -> str:
        target = (page.parent / found["path"]).resolve()
        if not target.exists():
            dead.append(found["path"])
            return found[0]
        return found[0] if target.is_relative_to(docs) and target.is_file() else found["text"]

    parts, at = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(plain, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, _LINK.sub(plain, text[at:])]), dead


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    page = Path(str(app.env.doc2path(name)))
    text = PLACE.sub(lambda found: PAGES[found[1]](), source[0])
    source[0], dead = without_outside_links(text, page, Path(str(app.srcdir)).resolve())
    for target in dead:
        logging.getLogger(__name__).warning("dead link: %s", target, location=name)


def _signature(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str, returns: str
) -> Any:
    """Shows the fields of a structure by name; their types are in the list below."""
    if what != "class" or not issubclass(value, msgspec.Struct):
        return None
    fields = msgspec.structs.fields(value)
    return (
        f"({', '.join(field.name if field.required else f'{field.name}=...' for field in fields)})",
        "",
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
