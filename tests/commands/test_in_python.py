"""The Python at the end of the help of a command: it names functions that exist, with arguments that they take."""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import fascicle
from fascicle.cli import build_parser
from fascicle.commands.in_python import CALLS

# These draw, queue processes or write one kind of file; their parts are functions of several modules.
WITHOUT = {"bench", "plot", "vectors"}


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not below:
        yield parser
    for one in below:
        for child in one.choices.values():
            yield from leaves(child)


def resolved(name: ast.expr) -> Any:
    parts = ast.unparse(name).split(".")
    found: Any = fascicle
    for number, part in enumerate(parts[1:], start=1):
        found = getattr(found, part, None) or import_module(".".join(parts[: number + 1]))
    return found


def test_every_command_has_its_call() -> None:
    names = {parser.prog.removeprefix("fascicle ") for parser in leaves(build_parser())}
    assert names == set(CALLS) | WITHOUT


@pytest.mark.parametrize("command", CALLS)
def test_the_call_can_be_made(command: str) -> None:
    calls = [node for node in ast.walk(ast.parse(CALLS[command])) if isinstance(node, ast.Call)]
    for call in calls:
        function = resolved(call.func)
        assert callable(function)
        assert not isinstance(function, ModuleType)
        keywords = {word.arg: None for word in call.keywords if word.arg}
        inspect.signature(function).bind(*call.args, **keywords)


def test_the_help_ends_with_the_call() -> None:
    for parser in leaves(build_parser()):
        name = parser.prog.removeprefix("fascicle ")
        if name in CALLS:
            assert parser.format_help().rstrip().endswith(CALLS[name])
