"""Options that a class declares: the parser, its help, and the call of the library that are made
of it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import pytest

from fascicle.verbs.options import (
    ROLES,
    Overwrite,
    call,
    first_given,
    option,
    positive,
    reads,
    writes,
)
from fascicle.verbs.parsing import Parser, add_options, parse


class Group:
    """More.

    Attributes:
        share: at most 95% of it.
    """

    group = "more"
    share: str | None = option("--share X")


class Options(Overwrite, Group):
    """Options of a command.

    In Python: ``fascicle.read("a.tsv")``

    Attributes:
        files: texts,
            and folders of texts.
        output: where to.
        most: the most.
    """

    files: list[str] = option("FILE *", reads)
    output: str = option("-o --output FILE", writes, default="-")
    most: int | None = option("--most-of N", positive)
    name: list[str] = option("--name NAME ...", help="a name")
    level: str = option("--level", choices=("low", "high"), default="low", help="how high")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a command asks for."""

    files: tuple[str, ...]
    most: int = 7
    overwrite: bool = False
    rest: object = None


@pytest.fixture
def parser() -> Parser:
    made = Parser(prog="fascicle example")
    add_options(made, Options, run=lambda args: 0)
    return made


def test_own_options_come_first_and_each_says_its_line(parser: Parser) -> None:
    text = " ".join(parser.format_help().split())
    places = [
        text.index(word)
        for word in ("texts, and folders of texts", "where to", "the most", "replace an existing")
    ]
    assert places == sorted(places)
    assert "more: --share X at most 95% of it" in text
    assert text.endswith('in Python: import fascicle fascicle.read("a.tsv")')


def test_values_are_those_of_the_command_line(parser: Parser) -> None:
    argv = [
        "a",
        "b",
        "--most-of",
        "3",
        "--name",
        "x",
        "--name",
        "y",
        "--overwrite",
        "--level",
        "high",
    ]
    found = vars(parse(parser, argv))
    assert found["files"] == ["a", "b"]
    assert (found["most"], found["name"], found["overwrite"], found["level"]) == (
        3,
        ["x", "y"],
        True,
        "high",
    )
    assert (found["output"], found["share"]) == ("-", None)


def test_places_keep_their_roles(parser: Parser) -> None:
    roles = {action.dest: action.type for action in parser._actions if action.type in ROLES}
    assert roles == {"files": reads, "output": writes}


@pytest.mark.parametrize(("most", "expected"), [(None, 7), (1, 1)])
def test_what_was_not_given_is_left_to_the_default(most: int | None, expected: int) -> None:
    args = argparse.Namespace(files=["a"], most=most, overwrite=True, unknown=1, rest=2)
    found: Any = call(Request, args, rest=None)
    assert found == Request(files=("a",), most=expected, overwrite=True, rest=None)


def test_the_first_option_that_was_given_is_named_as_it_is_written() -> None:
    args = argparse.Namespace(one_thing="", other_thing=["x"])
    assert first_given(args, ("one_thing", "other_thing")) == "--other-thing"
    assert first_given(args, ("one_thing",)) == ""
