"""Parser of all commands, made from the declarations of their options: errors as one sentence with
the nearest name.

An input is never an output: files are compared by identity and not by name, so that links, hard
links, relative paths and another case do not hide a file.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

import fascicle.plugins as plugins
from fascicle.core.files.apart import Inputs, stat_or_none
from fascicle.core.files.source import STDIN
from fascicle.errors import OutputError, UsageError
from fascicle.settings.base import attribute_descriptions
from fascicle.verbs.options import ROLES, FormatNames, Option, fills, reads

_CHOICE = re.compile(
    r"(?:argument (?P<what>\S+): )?invalid choice: '(?P<given>.*?)' \((?:choose from"
    r"|maybe) (?P<list>.*)\)"
)


class Parser(argparse.ArgumentParser):
    """Argument parser that raises `UsageError` in place of ending the process."""

    def __init__(self, **settings: Any) -> None:
        """Takes the arguments of ``ArgumentParser``; abbreviated options are refused, for they
        can become ambiguous.
        """
        super().__init__(allow_abbrev=False, **settings)
        self.in_python = ""  # the equivalent call

    def error(self, message: str) -> NoReturn:
        """Raises the message as one sentence.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{_explain(message)}; see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Checks choices as ``argparse`` does, but the message for a wrong format also names the
        plug-ins.
        """
        if isinstance(action.choices, FormatNames) and value not in action.choices:
            listing = ", ".join(
                map(
                    repr,
                    dict.fromkeys((*action.choices, *plugins.plugin_names(action.choices.group))),
                )
            )
            raise argparse.ArgumentError(
                action, f"invalid choice: {value!r} (choose from {listing})"
            )
        super()._check_value(action, value)

    def format_help(self) -> str:
        """Returns the help, with the equivalent Python call at its end."""
        return super().format_help() + self.in_python


def commands_of(parser: Parser, *, dest: str) -> argparse._SubParsersAction[Parser]:
    """Adds subcommands to a parser."""
    return parser.add_subparsers(
        dest=dest, metavar="COMMAND", title="commands", parser_class=Parser
    )


def add_command(
    commands: argparse._SubParsersAction[Parser], name: str, *, help_text: str
) -> Parser:
    """Adds one command, with the options that every command has."""
    parser = commands.add_parser(name, help=help_text, description=help_text)
    parser.set_defaults(parser=parser)
    everywhere = parser.add_argument_group("everywhere")
    everywhere.add_argument(
        "--verbose", action="store_true", help="print more messages on standard error"
    )
    everywhere.add_argument(
        "--quiet",
        action="store_true",
        help="print no messages on standard error if nothing goes wrong",
    )
    everywhere.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def configure(parser: Parser, module: ModuleType) -> None:
    """Adds the options that the module of a command declares: ``Options`` and ``run``, or several
    as ``COMMANDS``.

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
        raise UsageError(
            f"{verb} needs a command of its own: {', '.join(names)} or {last}; see {parser.prog} "
            "--help"
        )

    parser.set_defaults(run=refuse)
    commands = commands_of(parser, dest=f"{verb}_command")
    for name, (declared, run) in below.items():
        summary = (declared.__doc__ or "").partition("\n")[0].removesuffix(".")
        add_options(
            add_command(commands, name, help_text=summary[:1].lower() + summary[1:]),
            declared,
            run=run,
        )


def add_options(parser: Parser, declared: type, *, run: Callable[[Any], int]) -> None:
    """Adds the options that a class declares to a parser."""
    parser.set_defaults(run=run)
    parser.epilog = getattr(declared, "epilog", None)
    parser.in_python = _in_python(declared, parser.prog.removeprefix("fascicle "))
    meanings = attribute_descriptions(declared)
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for owner, name, declared_option in _options_of(declared):
        group = declared_option.apart or declared_option.group or vars(owner).get("group", "")
        if group not in groups:
            about = vars(owner).get("about")
            added = (
                parser.add_mutually_exclusive_group()
                if declared_option.apart
                else parser.add_argument_group(group, about)
            )
            groups[group] = added
        flags, settings = declared_option.arguments(name, meanings.get(name, ""))
        action = groups[group].add_argument(*flags, **settings)
        if action.type in ROLES and (shtab := sys.modules.get("shtab")):
            action.complete = shtab.FILE  # type: ignore[attr-defined]


def _in_python(declared: type, verb: str) -> str:
    """Returns the equivalent Python call of a command, for the end of its help, from the
    docstring of its options.
    """
    text = " ".join((declared.__doc__ or "").split())
    calls: dict[str, str] = dict(re.findall(r"In Python(?: with (--\S+))?: ``(.+?)``", text))
    if not calls:
        return ""
    modules = (call[: call.index("(")].rpartition(".")[0] for call in calls.values())
    imports = "".join(f"  import {module}\n" for module in dict.fromkeys(modules))
    call = calls.pop("")
    calls_of_options = "".join(f"  {call}  # {verb} {flag}\n" for flag, call in calls.items())
    return f"\nin Python:\n{imports}{calls_of_options}  {call}\n"


def _options_of(declared: type) -> Iterator[tuple[type, str, Option]]:
    names: set[str] = set()
    for owner in declared.__mro__:
        for name, value in vars(owner).items():
            if isinstance(value, Option) and name not in names:
                names.add(name)
                yield owner, name, value


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parses arguments; files may stand before, between and after the options.

    Raises:
        UsageError: an unknown option (with the nearest one), an option without a value, or an
            argument too many.
        OutputError: an output is an input, or two outputs are one.
    """
    args, unknown = parser.parse_known_args(argv)
    command: Parser = getattr(args, "parser", parser)
    for other in unknown:
        if other.startswith("-") and other != "-":
            name = other.partition("=")[0]
            allowed = sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", command.format_help())))
            raise UsageError(
                f"there is no option {name}{_nearest(name, allowed)}; see {command.prog} --help"
            )
    if unknown and "files" not in args:
        raise UsageError(f"{unknown[0]!r} is one argument too many; see {command.prog} --help")
    if unknown:
        args.files = [*args.files, *unknown]
    for action in command._actions:
        _refuse_empty_value(action, vars(args))
    _check_places(command._actions, vars(args))
    return args


def _refuse_empty_value(action: argparse.Action, values: Mapping[str, Any]) -> None:
    """Refuses ``--option=--``, which argparse parses as an option without a value where a value is
    needed.

    An empty name of a place is refused, too: it comes from an unset variable of a script.
    """
    value = values.get(action.dest)
    needs = action.option_strings and action.nargs is None
    if needs and (value == [] != action.default or (isinstance(value, list) and [] in value)):
        raise UsageError(f"{action.option_strings[-1]} needs a value, and -- is none; give one")
    if action.option_strings and action.type in ROLES and "" in _paths(action, values):
        raise UsageError(
            f"{action.option_strings[-1]} was given an empty name; give the name of a file or "
            "folder"
        )


def _explain(message: str) -> str:
    """Returns argparse's message in other words, where it is about a choice."""
    match = _CHOICE.match(message)
    if match is None:
        return message
    allowed = re.findall(r"[\w.@-]+", match["list"])
    what = "command" if (match["what"] or "COMMAND") == "COMMAND" else match["what"]
    return (
        f"{what} {match['given']!r} is not known{_nearest(match['given'], allowed)}; choose "
        f"from {', '.join(allowed)}"
    )


def _nearest(name: str, allowed: Iterable[str]) -> str:
    from fascicle.formats.catalogue import readable_by_suffix  # late: for errors alone

    names = list(allowed)
    near = [other for other in names if other == readable_by_suffix(f".{name}")]
    near = near or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def _check_places(actions: Iterable[argparse.Action], values: Mapping[str, Any]) -> None:
    """Refuses an output that is an input, and two outputs that are one.

    Args:
        actions: of the parser of the command.
        values: given values, by the name of the option.

    Raises:
        OutputError: see `Inputs.refuse`.
    """
    actions = [action for action in actions if action.type in ROLES]
    outputs = [
        (path, action.type is fills)
        for action in actions
        if action.type is not reads
        for path in _paths(action, values)
    ]
    inputs = Inputs.of(
        path for action in actions if action.type is reads for path in _paths(action, values)
    )
    for path, filled in outputs:
        inputs.refuse(path, filled=filled)
    inputs.refuse(STDIN)  # for any output: results or messages
    _check_apart([path for path, _ in outputs if path != STDIN])
    if inputs.folders and any(_is_replaced(path, filled=filled) for path, filled in outputs):
        inside = inputs.inside()  # searched only where something may be replaced
        for path, filled in outputs:
            inside.refuse(path, filled=filled)


def _check_apart(paths: Iterable[str]) -> None:
    names: dict[object, str] = {}
    for path in paths:
        status = stat_or_none(path)
        if (
            status is not None
            and not stat.S_ISREG(status.st_mode)
            and not stat.S_ISDIR(status.st_mode)
        ):
            continue
        try:
            identity = (
                (status.st_dev, status.st_ino) if status is not None else os.path.realpath(path)
            )
        except ValueError:
            continue  # no file has such a name; opening it raises the error
        if identity in names:
            raise OutputError(
                f"{names[identity]} and {path} are one place, and two things are to be written "
                "there"
            )
        names[identity] = path


def _paths(action: argparse.Action, values: Mapping[str, Any]) -> list[str]:
    value = values.get(action.dest)
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _is_replaced(path: str, *, filled: bool) -> bool:
    status = stat_or_none(path) if path != STDIN else None
    return status is not None and (
        stat.S_ISREG(status.st_mode) or (stat.S_ISDIR(status.st_mode) and not filled)
    )
