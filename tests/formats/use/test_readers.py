"""No input that a user has is read wrongly in silence."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.formats.oracle.judging import differences, outcome
from tests.formats.use import (
    arriving,
    arriving_more,
    binary,
    json_odd,
    marked_odd,
    marked_texts,
    office_odd,
    pages_odd,
    papers,
    printed_odd,
    records,
    structured,
)
from tests.formats.use.given import Given

from fascicle.formats.catalogue import READABLE

INPUTS = (
    *marked_texts.ALL,
    *records.ALL,
    *structured.ALL,
    *binary.ALL,
    *papers.ALL,
    *marked_odd.ALL,
    *json_odd.ALL,
    *printed_odd.ALL,
    *office_odd.ALL,
    *pages_odd.ALL,
    *arriving.ALL,
    *arriving_more.ALL,
)


@pytest.mark.parametrize(
    "given", [pytest.param(one, id=f"{one.format}: {one.name}") for one in INPUTS]
)
def test_an_input_is_read_as_it_is_meant_or_its_flaw_is_said(given: Given, tmp_path: Path) -> None:
    found = outcome(given.laid(tmp_path), given.format, options=given.options)
    if given.flawed and not found.is_silent:
        return
    assert not found.error
    assert differences(given.wanted, found.documents) == []
    assert list(found.said) == [given.counted] * bool(given.counted)


def test_each_reader_has_two_inputs() -> None:
    formats = [one.format for one in INPUTS]
    missing = {name for name, module in papers.NEEDS.items() if not find_spec(module)}
    assert {
        name: formats.count(name) for name in set(READABLE) - missing if formats.count(name) < 2
    } == {}
    assert len(INPUTS) >= 60
