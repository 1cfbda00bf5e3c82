"""Pages that the site makes from the code: settings, commands, and the Python API.

A page has its own introduction and one line ``<!-- generated: NAME -->``. The build replaces that line by Markdown:
``settings`` from the structures of ``fascicle.settings``, ``commands`` from the parser, ``api`` from the public names.
It also checks links that lead out of ``docs/`` and shows them as plain text.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import inspect as kinds
from sphinx.application import Sphinx
from sphinx.util import logging

import fascicle
from fascicle.cli import build_parser
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes.filter import (
    FilterModelSettings,
    FilterReading,
    FilterRecipe,
    FilterSettings,
    MembersSettings,
)
from fascicle.settings.recipes.recogniser import (
    BundleSettings,
    CorpusSettings,
    CorpusTypes,
    DecisionSettings,
    DistantSettings,
    ModelSettings,
    ReadingSettings,
    Recipe,
    TrainingSettings,
)
from fascicle.settings.recipes.typer import SpanTyperSettings, TyperRecipe, VectorSettings

Struct = type[msgspec.Struct]
PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])+)\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)$", re.DOTALL | re.MULTILINE)
_SPECIAL: Final = re.compile(r"([*_<>\[\]])")
_ESCAPED: Final = r"\\\1"
_OWN: Final = ("head", "corpus", "distant", "reading", "model", "bundle", "training", "decision")
_OF_OTHERS: Final = (*_OWN, "members", "filter", "vectors", "typer", "types")

RECOGNISER: Final[Mapping[str, Struct]] = MappingProxyType(
    {
        "": Recipe,
        "corpus": CorpusSettings,
        "corpus.types": CorpusTypes,
        "distant": DistantSettings,
        "reading": ReadingSettings,
        "model": ModelSettings,
        "bundle": BundleSettings,
        "training": TrainingSettings,
        "decision": DecisionSettings,
    }
)
FILTER: Final[Mapping[str, Struct]] = MappingProxyType(
    {
        "": FilterRecipe,
        "members": MembersSettings,
        "model": FilterModelSettings,
        "reading": FilterReading,
        "filter": FilterSettings,
    }
)
TYPER: Final[Mapping[str, Struct]] = MappingProxyType(
    {"": TyperRecipe, "vectors": VectorSettings, "typer": SpanTyperSettings}
)


def settings() -> str:
    """Every key of every recipe, as Markdown."""
    parts = ["## A recogniser", *_tables(RECOGNISER)]
    parts += ["## Families of heads", "These keys stand in `[model]`, and in `[bundle]` for a second head."]
    for name, kind in HEADS.items():
        parts += [f'### `family = "{name}"`', _lead(kind), *_keys(kind)]
    parts += ["## A learned filter", "`[corpus]` and `[training]` are those of a recogniser.", *_tables(FILTER)]
    parts += ["## A span typer", "`[corpus]` is that of a recogniser; `dev` may be left out.", *_tables(TYPER)]
    return "\n\n".join(parts)


def _tables(tables: Mapping[str, Struct]) -> Iterator[str]:
    for name, kind in tables.items():
        yield f"### `[{name}]`" if name else "### Top of the file"
        if name:
            yield _lead(kind)
        yield from _keys(kind)


def _lead(kind: Struct) -> str:
    """What the docstring says before its attributes."""
    return inspect.cleandoc(kind.__doc__ or "").partition("\nAttributes:")[0].strip()


def _keys(kind: Struct) -> Iterator[str]:
    """A list of the keys of a structure: kind of value, default, meaning."""
    meanings = meanings_of(kind)
    lines = []
    for field in kinds.type_info(kind).fields:  # type: ignore[attr-defined]
        if field.name in _OF_OTHERS and (field.name == "head" or isinstance(_bare(field.type), kinds.StructType)):
            continue
        told = f": {meanings[field.name]}" if field.name in meanings else ""
        lines.append(f"- **`{field.name}`** ({value_of(field.type)}; {default_of(field)}){told}")
    if lines:
        yield "\n".join(lines)


def meanings_of(kind: type) -> dict[str, str]:
    """Attribute -> its line in the docstring, of the class itself before those of its bases."""
    found: dict[str, str] = {}
    for one in kind.__mro__:
        listed = inspect.cleandoc(one.__dict__.get("__doc__") or "").partition("Attributes:\n")[2]
        listed = re.split(r"^\S", listed, maxsplit=1, flags=re.MULTILINE)[0]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", listed, re.MULTILINE):
            found.setdefault(name, " ".join(text.split()))
    return found


def _bare(kind: kinds.Type) -> kinds.Type:
    """A type without the alternative that it is absent."""
    if isinstance(kind, kinds.UnionType):
        kept = [t for t in kind.types if not isinstance(t, kinds.NoneType)]
        return kept[0] if len(kept) == 1 else kind
    return kind


def value_of(kind: kinds.Type) -> str:
    """What a value may be, in words."""
    kind = _bare(kind)
    match kind:
        case kinds.LiteralType():
            return " or ".join(f"`{json.dumps(value)}`" for value in kind.values)
        case kinds.IntType():
            return f"integer{_bounds(kind)}"
        case kinds.FloatType():
            return f"number{_bounds(kind)}"
        case kinds.BoolType():
            return "`true` or `false`"
        case kinds.StrType():
            return "text"
        case kinds.VarTupleType() | kinds.ListType():
            return f"list of {value_of(kind.item_type)}"
        case kinds.DictType():
            return "table of names"
        case kinds.StructType() | kinds.UnionType():
            return "table"
    raise TypeError(f"no words for {kind}: add them to value_of")


def _bounds(kind: kinds.IntType | kinds.FloatType) -> str:
    words = (("from", kind.ge), ("above", kind.gt), ("to", kind.le), ("below", kind.lt))
    told = [f"{word} {bound:g}" for word, bound in words if bound is not None]
    return f" {' '.join(told)}" if told else ""


def default_of(field: kinds.Field) -> str:
    """The default of a key, as it would be written in a recipe."""
    if field.required:
        return "required"
    if field.default in (None, msgspec.NODEFAULT):
        return "not set"
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return f"default `{json.dumps(value)}`"


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
            members = "\n   :members:\n   :exclude-members: __init__" if issubclass(value, msgspec.Struct) else ""
            parts.append(f"## `{name}`\n\n```{{eval-rst}}\n.. autoclass:: fascicle.{name}{members or ''}\n```")
        elif inspect.ismodule(value):
            parts.append(f"## `{name}`\n\n```{{eval-rst}}\n.. automodule:: {value.__name__}\n   :members:\n```")
        elif callable(value):
            parts.append(f"## `{name}`\n\n```{{eval-rst}}\n.. autofunction:: fascicle.{name}\n```")
        else:
            parts.append(f"## `{name}`\n\nThe version of this release, as text.")
    return "\n\n".join(parts)


PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {"settings": settings, "commands": commands, "api": api}
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


def _signature(app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str, returns: str) -> Any:
    """Shows the fields of a structure by name; their types are in the list below."""
    if what != "class" or not issubclass(value, msgspec.Struct):
        return None
    fields = msgspec.structs.fields(value)
    return f"({', '.join(field.name if field.required else f'{field.name}=...' for field in fields)})", ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
