"""The command line: the table of commands, and the handling of errors.

Each command parses, calls one function of the package, and prints; it lives in the module of its name in ``verbs/``
with a class ``Options`` and ``run(args) -> exit code``. Only the module of the command that is called is imported.
Exit codes::

    0    done
    1    an error inside Fascicle
    2    bad input or usage; one sentence on standard error says what to do
    3    finished, but some inputs failed, or (with --strict) something was lost
    129  ended by SIGHUP
    130  interrupted
    141  the reader of standard output went away, as after ``| head``
    143  ended by SIGTERM
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final

from fascicle.errors import FascicleError, UsageError
from fascicle.verbs.messages import say
from fascicle.verbs.parsing import Parser, add_command, commands_of, configure, parse
from fascicle.verbs.process import EndedError, ended_cleanly, hushed, open_streams, uncollected
from fascicle.version import VERSION

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "annotate": "find mentions in texts, folders of texts, standard input or corpora",
        "run": "take any number of documents through a pipeline, by several processes, and lose none",
        "pipeline": "show a pipeline with every default, or try its rules and known answers",
        "serve": "answer over HTTP: pipelines and models as a service, with a page",
        "tokens": "make, withdraw and list the named tokens of a service, with their roles",
        "curation": "check, repair and copy the file in which a service keeps the decisions of curators",
        "quarantine": "list, show and retry the documents that a run could not do",
        "label": "say what a model, ensemble or dictionary says of every word of raw text, to train others on it",
        "init": "write a commented recipe for annotated files, to train on them",
        "train": "train what a recipe describes: a recogniser, a filter over several predictions, or a span typer",
        "pretrain": "let an encoder learn from raw text by masked language modelling, before it is trained",
        "distill": "let a small network learn from a large one: what its layers compute, or what it answers",
        "bench": "run a grid of recipes, and write the results that tables are made from",
        "evaluate": "score predictions against gold: precision, recall, F1, and where and why a system fails",
        "combine": "join the predictions of several systems by a rule",
        "compare": "compare several systems on gold, and find the best combination",
        "plot": "draw learning curves, scores, errors, and the probabilities of gold mentions",
        "calibrate": "fit the scores and thresholds of a model on development data",
        "ensemble": "save several models and a rule as one folder, which is used like a model",
        "export": "turn a trained model into a folder that runs without torch",
        "corpus": "count what is in corpora, check them, or convert them",
        "index": "build term packs of vocabularies; count, verify, explain, compare, export and curate them",
        "linker": "fit what decides which concept of a term pack a mention means",
        "link": "give the mentions of documents concepts of a term pack, or say that none fits, and why",
        "label-studio": "bring documents into a project of Label Studio, and its annotations back",
        "vectors": "train static word vectors (GloVe) on the text of a corpus",
        "typer": "type given spans with a light model of static vectors: train it, score it, re-type predictions",
        "models": "list the models, packs and linkers that come with Fascicle, or the plug-ins of other packages",
        "settings": "list the keys of recipes with their defaults and meanings",
        "doctor": "say in ten lines what is installed, and what is fast here, for a report of a fault",
        "completion": "print a script that lets bash or zsh complete commands and options",
    }
)


def main(argv: Sequence[str] | None = None, *, imported: Callable[[], None] = lambda: None) -> int:
    """Runs one command.

    Args:
        argv: the arguments after the program's name; those of the process by default.
        imported: called when the modules of the command are imported.

    Returns:
        The exit code.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    with open_streams():
        try:
            with ended_cleanly():
                code = _run(given, imported)
                sys.stdout.flush()  # raises the error of a full disk or closed pipe before the exit code is set
            return code
        except BaseException as error:
            if "--debug" in given and not isinstance(error, SystemExit | BrokenPipeError):
                traceback.print_exc()
            return _code_of(error)


def process() -> int:
    """Runs one command as its own process; returns the exit code."""
    code = main(imported=gc.freeze)  # modules stay, so no collection needs to look at them
    gc.freeze()  # the process ends: a last garbage collection would be wasted
    return code


def build_parser(only: str | None = None, *, names: Iterable[str] = COMMANDS) -> Parser:
    """Builds the parser of all commands.

    Args:
        only: the only command whose options are added; by default all commands get theirs, and none if it is empty.
            Other commands have just their names and help.
        names: of the commands that it knows.
    """
    parser = Parser(
        prog="fascicle",
        description="Find the names of things in text: annotate, train, evaluate, combine, convert.",
        epilog="fascicle COMMAND --help lists the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"fascicle {VERSION}")
    commands = commands_of(parser, dest="command")
    for name in names:
        command = add_command(commands, name, help_text=COMMANDS[name])
        if only in (None, name):
            configure(command, import_module(f"fascicle.verbs.{name.replace('-', '_')}"))
    return parser


def _run(argv: list[str], imported: Callable[[], None]) -> int:
    named = next((given for given in argv if given in COMMANDS), "")
    is_first = bool(named) and argv[0] == named  # then it is the one that is meant, and no other is listed or suggested
    with uncollected():
        parser = build_parser(named, names=[named] if is_first else COMMANDS)
        imported()
    args: argparse.Namespace = parse(parser, argv)
    if "run" not in args:
        parser.print_help(sys.stderr)
        return 2
    if args.quiet and args.verbose:
        raise UsageError("--quiet and --verbose were given; choose one of the two")
    return hushed(args.run)(args) if args.quiet else int(args.run(args))


def _code_of(error: BaseException) -> int:
    """Prints an error as one sentence; returns the exit code."""
    match error:
        case SystemExit():  # --help and --version
            return error.code if isinstance(error.code, int) else 0
        case KeyboardInterrupt():
            say("interrupted")
            return 130
        case EndedError():
            with contextlib.suppress(OSError):  # after SIGHUP there may be no terminal
                say(f"ended by {error}")
            return error.exit_code
        case BrokenPipeError():
            _drop_stdout()
            return 141
        case FascicleError():
            say(f"error: {error}")
            return error.exit_code
        case OSError():
            _drop_stdout()
            place = f"{error.filename}: " if error.filename is not None else ""
            say(f"error: {place}{error.strerror or error}")
            return 2
        case _:
            say(
                f"internal error: {type(error).__name__}: {error}; this is a fault of Fascicle, "
                "run the same command with --debug to see where"
            )
            return 1


def _drop_stdout() -> None:
    """Discards buffered output, which the interpreter would try to write again at its end."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
