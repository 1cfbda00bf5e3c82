"""Declarations of command options; the parser, its help and the call of the library are made from them.

A class declares the options of a command in the order of its help::

    class Options(Threads, Overwrite):
        files: list[str] = option("FILE *", reads)
        output: str = option("-o --output FILE", writes, default="-")

Its docstring has the help of each attribute, and after ``In Python:`` the equivalent call.
Its own options come first, then those of its bases. A base with ``group`` is a group of its own in the help.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, NoReturn, TypeVar

from fascicle.errors import UsageError
from fascicle.settings.docstrings import meanings_of
from fascicle.verbs.parsing import Parser, add_command, commands_of, threads

R = TypeVar("R")
_COUNTS: Final = ("?", "*", "+")


@dataclass(frozen=True, kw_only=True)
class Option:
    """Option of a command, or a positional argument, which has no flags.

    Attributes:
        usage: flags, name of the value, and number of values: ``?``, ``*``, ``+``, or ``...`` for an option that may
            be repeated. An option without a value is a flag.
        type: parses a value; for a path its role, see `fascicle.verbs.places`.
        help: replaces the line in the docstring.
        group: of the help.
        apart: options with the same value here exclude each other.
        more: further arguments of ``add_argument``.
    """

    usage: str
    type: Callable[[str], Any] | None
    help: str
    group: str
    apart: str
    more: dict[str, Any]

    def arguments(self, name: str, help_text: str) -> tuple[list[str], dict[str, Any]]:
        """Returns the arguments of ``add_argument``.

        Args:
            name: of the attribute that gets the value.
            help_text: the line in the docstring.
        """
        words = self.usage.split()
        flags = [word for word in words if word.startswith("-")]
        count = words.pop() if words[-1] in (*_COUNTS, "...") else ""
        named = [word for word in words if not word.startswith("-")]
        found: dict[str, Any] = {"help": self.help or help_text.removesuffix(".").replace("%", "%%")}
        if named:
            found["metavar"] = named[0]
        if self.type is not None:
            found["type"] = self.type
        if count in _COUNTS:
            found["nargs"] = count
        if flags:
            found["dest"] = name
            if count in ("...", "+"):
                found |= {"action": "append" if count == "..." else "extend", "default": []}
            elif not named and "choices" not in self.more:
                found["action"] = "store_true"
        return flags or [name], found | self.more


def option(
    usage: str,
    type: Callable[[str], Any] | None = None,  # noqa: A002
    *,
    help: str = "",  # noqa: A002
    group: str = "",
    apart: str = "",
    **more: Any,
) -> Any:
    """Declares an option in the class of a command; see `Option`."""
    return Option(usage=usage, type=type, help=help, group=group, apart=apart, more=more)


def configure(parser: Parser, module: ModuleType) -> None:
    """Adds the options that the module of a command declares: ``Options`` and ``run``, or several as ``COMMANDS``.

    For one of several, the first line of the docstring of its options is its help.

    Args:
        parser: of the command.
        module: its module.
    """
    below: dict[str, tuple[type, Callable[[Any], int]]] | None = getattr(module, "COMMANDS", None)
    if below is None:
        add_options(parser, module.Options, run=module.run)
        return
    verb = parser.prog.rpartition(" ")[2]

    def refuse(args: object) -> NoReturn:
        *names, last = below
        raise UsageError(f"{verb} needs a command of its own: {', '.join(names)} or {last}; see {parser.prog} --help")

    parser.set_defaults(run=refuse)
    commands = commands_of(parser, dest=f"{verb}_command")
    for name, (declared, run) in below.items():
        told = (declared.__doc__ or "").partition("\n")[0].removesuffix(".")
        add_options(add_command(commands, name, help_text=told[:1].lower() + told[1:]), declared, run=run)


def add_options(parser: Parser, declared: type, *, run: Callable[[Any], int]) -> None:
    """Adds the options that a class declares to a parser."""
    parser.set_defaults(run=run)
    parser.epilog = getattr(declared, "epilog", None)
    parser.in_python = _in_python(declared, parser.prog.removeprefix("fascicle "))
    meanings = meanings_of(declared)
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for owner, name, one in _options_of(declared):
        group = one.apart or one.group or vars(owner).get("group", "")
        if group not in groups:
            about = vars(owner).get("about")
            made = parser.add_mutually_exclusive_group() if one.apart else parser.add_argument_group(group, about)
            groups[group] = made
        flags, settings = one.arguments(name, meanings.get(name, ""))
        groups[group].add_argument(*flags, **settings)


def _in_python(declared: type, verb: str) -> str:
    """Returns the equivalent Python call of a command, for the end of its help, from the docstring of its options."""
    told = " ".join((declared.__doc__ or "").split())
    calls: dict[str, str] = dict(re.findall(r"In Python(?: with (--\S+))?: ``(.+?)``", told))
    if not calls:
        return ""
    call = calls.pop("")
    others = "".join(f"  {one}  # {verb} {flag}\n" for flag, one in calls.items())
    module = call[: call.index("(")].rpartition(".")[0]
    return f"\nin Python:\n  import {module}\n{others}  {call}\n"


def _options_of(declared: type) -> Iterator[tuple[type, str, Option]]:
    seen: set[str] = set()
    for owner in declared.__mro__:
        for name, one in vars(owner).items():
            if isinstance(one, Option) and name not in seen:
                seen.add(name)
                yield owner, name, one


def called(function: Callable[..., R], args: Any, **others: Any) -> R:
    """Calls a function, or builds a request, with the options that have the names of its parameters.

    Args:
        function: takes the values by name.
        args: of a command. An option that was not given keeps the default of the function; lists become tuples.
        others: arguments that are no options, or are built from several.
    """
    given = vars(args)
    named = [name for name in inspect.signature(function).parameters if name not in others]
    found = {name: given[name] for name in named if given.get(name) is not None}
    return function(**{n: tuple(v) if isinstance(v, list) else v for n, v in found.items()}, **others)


def first_given(args: Any, names: Sequence[str]) -> str:
    """Returns the flag of the first of some options that was given; empty if none was."""
    return next((f"--{name.replace('_', '-')}" for name in names if getattr(args, name)), "")


class Declared:
    """Options of every command; see `fascicle.verbs.parsing.add_command`."""

    verbose: bool
    quiet: bool
    debug: bool


THREADS: Final[Any] = option("--threads N", threads, help="CPU threads; all usable cores by default")
OVERWRITE: Final[Any] = option("--overwrite", help="replace an existing output")
STRICT: Final[Any] = option("--strict", help="exit with 3 if anything was lost")


class Threads(Declared):
    """Option of commands that run a network."""

    threads: int | None = THREADS


class Overwrite(Declared):
    """Option of commands that write."""

    overwrite: bool = OVERWRITE


class Strict(Declared):
    """Option of commands that read."""

    strict: bool = STRICT
