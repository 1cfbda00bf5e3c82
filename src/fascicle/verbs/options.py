"""Declarations of command options, and the values that they take.

A class declares the options of a command in the order of its help::

    class Options(Threads, Overwrite):
        files: list[str] = option("FILE *", reads)
        output: str = option("-o --output FILE", writes, default="-")

Its docstring has the help of each attribute, and after ``In Python:`` the equivalent call.
Its own options come first, then those of its bases. A base with ``group`` is a group of its own in
the help.

The ``type`` of an option for a path is its role: `reads`, `writes` or `fills`. Before a command
runs, `fascicle.verbs.parsing._check_places` compares the given files.
"""

from __future__ import annotations

import argparse
import inspect
import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self, TypeVar

import msgspec

import fascicle.plugins as plugins
from fascicle.settings.base import LARGEST

_R = TypeVar("_R")
_COUNTS: Final = ("?", "*", "+")
_MOST_THREADS: Final = 256  # with more threads a network needs minutes to start, and is not faster
_LONGEST_NUMBER: Final = 20  # largest number of digits that are parsed


def reads(path: str) -> str:
    """Marks an option that names something to read: a file, a folder, a model."""
    return path


def writes(path: str) -> str:
    """Marks an option that names an output: a file, or a folder that is written as a whole."""
    return path


def fills(path: str) -> str:
    """Marks an option that may name a folder into which files are written one by one, beside its
    other content.
    """
    return path


ROLES: Final = (reads, writes, fills)


def positive(text: str) -> int:
    """Parses an integer from 1, for ``type=``."""
    return _integer(text, least=1)


def natural(text: str) -> int:
    """Parses an integer from 0, for ``type=``."""
    return _integer(text, least=0)


def number(words: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    """Returns a parser of numbers, for ``type=``.

    Args:
        words: description of the allowed numbers.
        fits: true for an allowed number.
    """

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give a number {words}")
        return value

    return parse


def _threads(text: str) -> int:
    """Parses a number of threads, for ``type=``."""
    return _integer(text, least=1, most=max(_MOST_THREADS, os.cpu_count() or 1))


def _integer(text: str, *, least: int, most: int = LARGEST) -> int:
    fits = (
        text.isascii()
        and text.isdigit()
        and len(text) <= _LONGEST_NUMBER
        and least <= int(text) <= most
    )
    if not fits:
        excerpt = text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}..."
        raise argparse.ArgumentTypeError(
            f"{excerpt!r} is not allowed, give an integer from {least} to {most:,}"
        )
    return int(text)


class FormatNames(tuple[str, ...]):
    """Names of formats for an option: own formats are listed, and those of plug-ins are accepted
    too.
    """

    group: str

    def __new__(cls, names: Iterable[str], *, group: str) -> Self:
        """Takes the own names, and the group of plug-ins."""
        names_of_formats = super().__new__(cls, names)
        names_of_formats.group = group
        return names_of_formats

    def __contains__(self, name: object) -> bool:
        """True for an own name or that of a plug-in; plug-ins are searched only for other names."""
        return super().__contains__(name) or name in plugins.plugin_names(self.group)

    def with_more(self, names: Iterable[str]) -> Self:
        """Returns the same names, and more own ones."""
        return type(self)((*self, *names), group=self.group)


class StoreOnce(argparse.Action):
    """Action that stores a value, or the constant of an option without one; a second value is
    refused.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: object,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Stores the value.

        Raises:
            ArgumentError: the option, or another one with the same destination, was given before.
        """
        destinations = vars(namespace).setdefault("_chosen", set())
        if self.dest in destinations:
            raise argparse.ArgumentError(
                self, "it was chosen before, and a second choice would win in silence; choose once"
            )
        destinations.add(self.dest)
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """Option of a command, or a positional argument, which has no flags.

    Attributes:
        usage: flags, name of the value, and number of values: ``?``, ``*``, ``+``, or ``...`` for
            an option that may be repeated. An option without a value is a flag.
        type: parses a value; for a path its role.
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
        values = [word for word in words if not word.startswith("-")]
        arguments: dict[str, Any] = {
            "help": self.help or help_text.removesuffix(".").replace("%", "%%")
        }
        if values:
            arguments["metavar"] = values[0]
        if self.type is not None:
            arguments["type"] = self.type
        if count in _COUNTS:
            arguments["nargs"] = count
        if flags:
            arguments["dest"] = name
            if count in ("...", "+"):
                arguments |= {"action": "append" if count == "..." else "extend", "default": []}
            elif not values and "choices" not in self.more:
                arguments["action"] = "store_true"
        return flags or [name], arguments | self.more


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


def call(function: Callable[..., _R], args: Any, **others: Any) -> _R:
    """Calls a function, or builds a request, with the options that have the names of its
    parameters.

    Args:
        function: takes the values by name.
        args: of a command. An option that was not given keeps the default of the function; lists
            become tuples.
        others: arguments that are no options, or are built from several.
    """
    values = vars(args)
    names = [name for name in inspect.signature(function).parameters if name not in others]
    arguments = {name: values[name] for name in names if values.get(name) is not None}
    return function(
        **{n: tuple(v) if isinstance(v, list) else v for n, v in arguments.items()}, **others
    )


def first_given(args: Any, names: Sequence[str]) -> str:
    """Returns the flag of the first of some options that was given; empty if none was."""
    return next((f"--{name.replace('_', '-')}" for name in names if getattr(args, name)), "")


class Declared:
    """Options of every command; see `fascicle.verbs.parsing.add_command`."""

    verbose: bool
    quiet: bool
    debug: bool


THREADS: Final[Any] = option(
    "--threads N", _threads, help="number of CPU threads; default: all usable cores"
)
OVERWRITE: Final[Any] = option("--overwrite", help="replace an existing output")
STRICT: Final[Any] = option("--strict", help="end with exit code 3 if anything was lost")


class Threads(Declared):
    """Option of commands that run a network."""

    threads: int | None = THREADS


class Overwrite(Declared):
    """Option of commands that write."""

    overwrite: bool = OVERWRITE


class Strict(Declared):
    """Option of commands that read."""

    strict: bool = STRICT
