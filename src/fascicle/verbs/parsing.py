"""Parser of all commands: errors as one sentence with the nearest name, and shared options."""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, Self

import fascicle.plugins as plugins
from fascicle.errors import UsageError
from fascicle.settings.base import LARGEST
from fascicle.verbs.places import check_places

_CHOICE = re.compile(
    r"(?:argument (?P<what>\S+): )?invalid choice: '(?P<given>.*?)' \((?:choose from|maybe) (?P<list>.*)\)"
)

_MOST_THREADS: Final = 256  # with more threads a network needs minutes to start, and is not faster
_LONGEST_NUMBER: Final = 20  # largest number of digits that are parsed


class Parser(argparse.ArgumentParser):
    """Argument parser that raises `UsageError` in place of ending the process."""

    def __init__(self, **settings: Any) -> None:
        """Takes the arguments of ``ArgumentParser``; abbreviated options are refused, for they can become ambiguous."""
        super().__init__(allow_abbrev=False, **settings)
        self.in_python = ""  # the equivalent call

    def error(self, message: str) -> NoReturn:
        """Raises the message as one sentence.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{_explained(message)}; see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Checks choices as ``argparse`` does, but the message for a wrong format also names the plug-ins."""
        if isinstance(action.choices, FormatNames) and value not in action.choices:
            known = ", ".join(map(repr, dict.fromkeys((*action.choices, *plugins.names(action.choices.group)))))
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {known})")
        super()._check_value(action, value)

    def format_help(self) -> str:
        """Returns the help, with the equivalent Python call at its end."""
        return super().format_help() + self.in_python


class StoreOnce(argparse.Action):
    """Action that stores a value, or the constant of an option without one; a second value is refused."""

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
        chosen = vars(namespace).setdefault("_chosen", set())
        if self.dest in chosen:
            raise argparse.ArgumentError(
                self, "it was chosen before, and a second choice would win in silence; choose once"
            )
        chosen.add(self.dest)
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


def commands_of(parser: Parser, *, dest: str) -> argparse._SubParsersAction[Parser]:
    """Adds subcommands to a parser."""
    return parser.add_subparsers(dest=dest, metavar="COMMAND", title="commands", parser_class=Parser)


def add_command(commands: argparse._SubParsersAction[Parser], name: str, *, help_text: str) -> Parser:
    """Adds one command, with the options that every command has."""
    parser = commands.add_parser(name, help=help_text, description=help_text)
    parser.set_defaults(parser=parser)
    everywhere = parser.add_argument_group("everywhere")
    everywhere.add_argument("--verbose", action="store_true", help="say more on standard error")
    everywhere.add_argument("--quiet", action="store_true", help="say nothing on standard error if all goes well")
    everywhere.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parses arguments; files may stand before, between and after the options.

    Raises:
        UsageError: an unknown option (with the nearest one), an option without a value, or an argument too many.
        OutputError: an output is an input, or two outputs are one.
    """
    args, others = parser.parse_known_args(argv)
    chosen: Parser = getattr(args, "parser", parser)
    for other in others:
        if other.startswith("-") and other != "-":
            name = other.partition("=")[0]
            allowed = sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", chosen.format_help())))
            raise UsageError(f"there is no option {name}{_nearest(name, allowed)}; see {chosen.prog} --help")
    if others and "files" not in args:
        raise UsageError(f"{others[0]!r} is one argument too many; see {chosen.prog} --help")
    if others:
        args.files = [*args.files, *others]
    for action in chosen._actions:
        _refuse_empty_value(action, getattr(args, action.dest, None))
    check_places(chosen._actions, vars(args))
    return args


def _refuse_empty_value(action: argparse.Action, value: object) -> None:
    """Refuses ``--option=--``, which argparse parses as an option without a value where a value is needed."""
    needs = action.option_strings and action.nargs is None
    if needs and (value == [] != action.default or (isinstance(value, list) and [] in value)):
        raise UsageError(f"{action.option_strings[-1]} needs a value, and -- is none; give one")


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

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give a number {words}")
        return value

    return read


def threads(text: str) -> int:
    """Parses a number of threads, for ``type=``."""
    return _integer(text, least=1, most=max(_MOST_THREADS, os.cpu_count() or 1))


def _integer(text: str, *, least: int, most: int = LARGEST) -> int:
    fits = text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER and least <= int(text) <= most
    if not fits:
        shown = text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}..."
        raise argparse.ArgumentTypeError(f"{shown!r} is not allowed, give an integer from {least} to {most:,}")
    return int(text)


def _explained(message: str) -> str:
    """Returns argparse's message in other words, where it is about a choice."""
    found = _CHOICE.match(message)
    if found is None:
        return message
    allowed = re.findall(r"[\w.@-]+", found["list"])
    what = "command" if (found["what"] or "COMMAND") == "COMMAND" else found["what"]
    return (
        f"{what} {found['given']!r} is not known{_nearest(found['given'], allowed)}; choose from {', '.join(allowed)}"
    )


def _nearest(given: str, allowed: Iterable[str]) -> str:
    near = difflib.get_close_matches(given, list(allowed), n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


class FormatNames(tuple[str, ...]):
    """Names of formats for an option: own formats are listed, and those of plug-ins are accepted too."""

    group: str

    def __new__(cls, names: Iterable[str], *, group: str) -> Self:
        """Takes the own names, and the group of plug-ins."""
        found = super().__new__(cls, names)
        found.group = group
        return found

    def __contains__(self, name: object) -> bool:
        """True for an own name or that of a plug-in; plug-ins are searched only for other names."""
        return super().__contains__(name) or name in plugins.names(self.group)

    def with_more(self, names: Iterable[str]) -> Self:
        """Returns the same names, and more own ones."""
        return type(self)((*self, *names), group=self.group)
