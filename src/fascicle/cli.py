"""The command line: the table of commands, and the handling of errors.

Each command parses, calls one function of the package, and prints; it lives in the module of its
name in ``verbs/`` with a class ``Options`` and ``run(args) -> exit code``. Only the module of the
command that is called is imported. Exit codes::

    0    done
    1    an error inside Fascicle
    2    bad input or usage; one sentence on standard error says what to do
    3    finished, but some inputs failed, or (with --strict) something was lost
    4    a score was below the minimum of evaluate --at-least
    129  ended by SIGHUP
    130  interrupted
    141  the reader of standard output went away, as after ``| head``
    143  ended by SIGTERM
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final

from fascicle.errors import FascicleError, UsageError
from fascicle.verbs.messages import say
from fascicle.verbs.parsing import Parser, add_command, commands_of, configure, parse
from fascicle.verbs.process import (
    EndedError,
    end_cleanly,
    open_streams,
    pause_garbage_collection,
    quiet_unless_failed,
)
from fascicle.version import VERSION

COMMANDS: Final = MappingProxyType(
    {
        "annotate": "find mentions in texts, folders of texts, standard input or corpora",
        "run": "process any number of documents with a pipeline in several processes, without "
        "losing any",
        "pipeline": "show a pipeline with every default, or test its rules and known answers",
        "serve": "serve pipelines and models over HTTP, with a page in the browser",
        "tokens": "make, withdraw and list named tokens of a service, with their roles",
        "curation": "check, repair, copy and export the file in which a service saves the "
        "decisions of curators",
        "quarantine": "list, show and retry documents at which a run failed",
        "label": "label every word of raw text with a model, ensemble or dictionary, to train "
        "other models",
        "init": "write a commented recipe for training on annotated files",
        "train": "train the model of a recipe: a recogniser, a filter over several predictions, "
        "or a span typer",
        "pretrain": "continue the pretraining of an encoder on raw text, by masked language "
        "modelling",
        "distill": "train a small network to imitate the layers or the answers of a large one",
        "bench": "train and score every recipe of a grid, and write the results for tables",
        "evaluate": "score predictions against gold: precision, recall, F1, and errors by class "
        "and kind of mention",
        "combine": "join the predictions of several systems by a rule",
        "compare": "compare several systems on gold, and find the best combination",
        "plot": "draw learning curves, scores, errors, and the probabilities of gold mentions",
        "calibrate": "fit the scores and thresholds of a model on development data",
        "ensemble": "save several models and a rule as one folder, which is used like a model",
        "export": "turn a trained model into a folder that runs without torch",
        "corpus": "count, check or convert corpora",
        "index": "build term packs from vocabularies; count, verify, explain, compare, export "
        "and curate them",
        "linker": "fit a linker, which chooses the concept of a term pack for each mention",
        "link": "link mentions of documents to concepts of a term pack, or to none, and explain "
        "why",
        "graph": "make a knowledge graph (KGX) of the concepts in documents and of their "
        "co-occurrence",
        "concepts": "make a table of the concepts of each document, with counts by section and a "
        "weight",
        "label-studio": "send documents to a project of Label Studio, and read its annotations",
        "vectors": "train static word vectors (GloVe) on the text of a corpus",
        "typer": "predict types of given spans with a small model of static vectors: train, "
        "score and apply it",
        "models": "list the models, packs and linkers that come with Fascicle, or the plug-ins "
        "of other packages",
        "settings": "list the keys of recipes with their defaults and meanings",
        "doctor": "print ten lines about the installation and its speed, for a bug report",
    }
)

_TEXT: Final = "--text"
_REMOVED: Final = MappingProxyType(
    {
        "completion": "the package shtab makes completion of the shell: pip install "
        "'fascicle[completion]', and put source <(shtab --shell bash fascicle.cli.build_parser) "
        "into ~/.bashrc",
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
    arguments = list(sys.argv[1:] if argv is None else argv)
    with open_streams():
        try:
            with end_cleanly():
                code = _run(arguments, imported)
                # raises the error of a full disk or closed pipe before the exit code is set
                sys.stdout.flush()
            return code
        except BaseException as error:
            if "--debug" in arguments and not isinstance(error, SystemExit | BrokenPipeError):
                traceback.print_exc()
            return _code_of(error)


def process() -> int:
    """Runs one command as its own process; returns the exit code."""
    # numpy would start a thread for each core, and all of them would wait for work by spinning
    if _TEXT in sys.argv:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = main(imported=gc.freeze)  # modules stay, so no collection needs to look at them
    gc.freeze()  # the process ends: a last garbage collection would be wasted
    return code


def build_parser(only: str | None = None, *, names: Iterable[str] = COMMANDS) -> Parser:
    """Builds the parser of all commands.

    Args:
        only: the only command whose options are added; by default all commands get theirs, and none
            if it is empty. Other commands have just their names and help.
        names: of the commands that it knows.
    """
    parser = Parser(
        prog="fascicle",
        description="Find the names of things in text: annotate, train, evaluate, combine, "
        "convert.",
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
    if argv and argv[0] in _REMOVED:
        raise UsageError(f"there is no command {argv[0]}; {_REMOVED[argv[0]]}")
    command = next((word for word in argv if word in COMMANDS), "")
    # then it is the one that is meant, and no other is listed or suggested
    is_first = bool(command) and argv[0] == command
    with pause_garbage_collection():
        parser = build_parser(command, names=[command] if is_first else COMMANDS)
        imported()
    args: argparse.Namespace = parse(parser, argv)
    if "run" not in args:
        parser.print_help(sys.stderr)
        return 2
    if args.quiet and args.verbose:
        raise UsageError("--quiet and --verbose were given; choose one of the two")
    return quiet_unless_failed(args.run)(args) if args.quiet else int(args.run(args))


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
            if error.errno == errno.EMFILE:
                say(
                    "error: this process may not open as many files as it needs; allow more with "
                    "ulimit -n 1024"
                )
                return 2
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
