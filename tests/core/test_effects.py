"""Every loss and repair has an effect, and what may have changed the meaning is never silent."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fascicle
from fascicle.core.effects import CODES, HARMLESS, MEANING, find_effect, is_silent, make_event
from fascicle.evaluation.doctor.checks.reading import event_finding
from fascicle.evaluation.doctor.examine import checks

SOURCES = sorted(Path(fascicle.__file__).parent.rglob("*.py"))


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == name
            ):
                yield f"{path.name}:{node.lineno}", node


def test_a_code_without_an_effect_makes_no_event() -> None:
    with pytest.raises(KeyError):
        make_event("words-invented", step="reader", message="some words were made up")


@pytest.mark.parametrize("code", CODES)
def test_an_event_has_the_kind_of_its_code(code: str) -> None:
    event = make_event(code, step="reader", message="something happened", span=(1, 2))
    assert (event.kind, event.span) == (CODES[code].kind, (1, 2))


def test_losses_and_repairs_are_made_of_the_table_alone() -> None:
    """An event that is made directly is a note, whose code nobody has to weigh."""
    wrong = []
    for place, call in calls("Event"):
        given = {word.arg: word.value for word in call.keywords}
        kind = given.get("kind")
        is_note = isinstance(kind, ast.Constant) and kind.value == "note"
        if not is_note and not place.startswith(("effects.py", "stream.py")):
            wrong.append(place)
    assert wrong == []


def test_every_code_in_the_sources_is_in_the_table() -> None:
    given = [(place, call.args[0]) for place, call in calls("make_event") if call.args]
    literal = {place: code.value for place, code in given if isinstance(code, ast.Constant)}
    assert len(literal) > 10
    assert {place: code for place, code in literal.items() if code not in CODES} == {}


@pytest.mark.parametrize(
    ("kind", "code", "silent"),
    [
        ("repair", "duplicate-mention", True),
        ("repair", "text-mismatch", False),
        ("loss", "offset-outside", False),
        ("loss", "relations-left-out", False),
        ("note", "unheard-of", True),
        ("repair", "unheard-of", False),
        ("loss", "unheard-of", False),
        ("loss", "duplicate-mention", False),  # the code of another kind
    ],
)
def test_what_is_unknown_is_not_silent(kind: str, code: str, *, silent: bool) -> None:
    assert is_silent(kind, code) == silent
    assert (find_effect(kind, code) == HARMLESS) == silent


@pytest.mark.parametrize(
    "code", sorted(code for code, known in CODES.items() if known.effect == MEANING)
)
def test_what_may_change_the_meaning_is_an_error_of_the_corpus(code: str) -> None:
    assert checks()[event_finding(CODES[code].kind, code)].severity == "error"


def test_what_a_plug_in_repairs_without_a_known_code_is_an_error_of_the_corpus() -> None:
    assert checks()[event_finding("repair", "unheard-of")].severity == "error"
