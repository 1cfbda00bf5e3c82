"""Values that no option should take: every option of every command, enumerated from the parser.

What must not be lost is the user's time: a bad value ends with one sentence that names the option,
before any work."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from fascicle.cli import build_parser, main
from fascicle.errors import UsageError
from fascicle.verbs.parsing import parse

NONSENSE = (
    *("", " ", "abc", "-1", "--", "nan", "inf", "1e999", "0x10", "1_000", "１２", "½", "é"),
    *("9" * 30, "\x00", "\ud800"),
)


def leaves(
    parser: argparse.ArgumentParser,
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command with its words."""
    groups = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    if not groups:
        yield (), parser
    for group in groups:
        for name, child in group.choices.items():
            for words, leaf in leaves(child):
                yield (name, *words), leaf


PARSER = build_parser()  # one for all: building it costs more than what is tried on it
COMMANDS = dict(leaves(PARSER))
VALUED = [
    (words, option)
    for words, parser in COMMANDS.items()
    for action in parser._actions
    for option in action.option_strings[-1:]
    if action.nargs != 0
]


def parsed(words: tuple[str, ...], argument: str) -> tuple[argparse.Namespace | None, str]:
    """What the parser makes of one argument, or why it refuses it."""
    try:
        return parse(PARSER, [*words, argument]), ""
    except UsageError as error:
        return None, str(error)


def test_the_commands_are_found() -> None:
    assert {("annotate",), ("corpus", "check"), ("train",), ("evaluate",)} <= set(COMMANDS)
    assert len(VALUED) > 80


@pytest.mark.parametrize(
    ("words", "option"), VALUED, ids=lambda part: part if isinstance(part, str) else "-".join(part)
)
def test_nonsense_is_refused_or_taken_in_one_sentence(words: tuple[str, ...], option: str) -> None:
    action = next(a for a in COMMANDS[words]._actions if option in a.option_strings)
    for value in NONSENSE:
        args, refusal = parsed(words, f"{option}={value}")
        if args is None:
            assert "\n" not in refusal
            continue
        taken = getattr(args, action.dest)
        assert isinstance(taken, str | list | int | float) or taken is not None
        if isinstance(taken, int | float) and not isinstance(taken, bool):
            assert abs(taken) < 10**9, f"{option} takes {value}"


@pytest.mark.parametrize("words", COMMANDS, ids="-".join)
def test_a_misspelt_option_is_named(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--outptu", "x"]) == 2
    err = capsys.readouterr().err
    assert "internal error" not in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", COMMANDS, ids="-".join)
def test_help_is_printed(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    assert " ".join(words) in capsys.readouterr().out


@pytest.mark.parametrize("words", COMMANDS, ids="-".join)
def test_nothing_at_all_is_no_crash(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    if words in (
        ("doctor",),
        ("models",),
        ("settings",),
        ("index", "fetch"),
        ("corpus", "fetch"),
        (),
    ):
        pytest.skip("the command needs no argument")
    assert main([*words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
