"""Files of the oracle: with a fault they are read as they are meant or the fault is said; without,
nothing is.

``python -m tests.formats.oracle.trial --count 500`` does the same with many more files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.formats.oracle.format import Oracle
from tests.formats.oracle.hand import FAULTS
from tests.formats.oracle.judging import Page, differences, mark
from tests.formats.oracle.trial import FAILURES, ORACLES, WITHOUT, trials, verdict, written

from fascicle.core.document import Document, Mention
from fascicle.formats.catalogue import READABLE

NUMBERS = range(30)
EACH = [pytest.param(one, id=name) for name, one in ORACLES.items()]


@pytest.mark.parametrize("oracle", EACH)
def test_nothing_is_wrong_in_silence(oracle: Oracle, tmp_path: Path) -> None:
    wrong = []
    for at, (fault, number) in enumerate(trials(oracle, NUMBERS, faults=oracle.faults)):
        found = verdict(oracle, fault, number=number, folder=tmp_path / str(at))
        if found.kind in FAILURES:
            wrong.append((fault, number, found))
    assert wrong == []


def test_every_reader_has_an_oracle() -> None:
    assert {one.reads for one in ORACLES.values()} == set(READABLE) - set(WITHOUT)


@pytest.mark.parametrize("oracle", EACH)
def test_each_fault_is_written_or_there_is_a_reason_why_not(oracle: Oracle) -> None:
    assert set(oracle.senseless) <= set(FAULTS)
    assert set(oracle.hidden) <= set(FAULTS) - set(oracle.senseless)
    assert all((*oracle.senseless.values(), *oracle.hidden.values()))
    for fault in oracle.faults:
        assert any(written(oracle, fault, number).is_faulty for number in range(100)), fault


@pytest.mark.parametrize("oracle", EACH)
def test_a_fault_changes_the_file_and_not_what_it_means(oracle: Oracle) -> None:
    """Documents are the same with any fault that is about how they are written."""
    for fault in ("offsets wrong by one", "offsets in bytes", "no last line end"):
        if fault in oracle.faults and oracle.name != "plain":  # which keeps its line ends
            assert written(oracle, fault, 5).wanted == written(oracle, "", 5).wanted


def test_the_judge_sees_each_difference() -> None:
    document = Document(id="1", text="a 😀b", mentions=(Mention(((2, 4),), "X"),))
    page = Page("a 😀b", (mark(2, 4, "X"),), "1")
    assert differences([page], [document]) == []
    for other in (
        replace(page, id="2"),
        replace(page, text="a 😀c"),
        replace(page, marks=()),
        replace(page, marks=(mark(2, 3, "X"),)),
        replace(page, marks=(mark(2, 4, "Y"),)),
        replace(page, marks=(mark(2, 4, "X", "MESH:D1"),)),
        replace(page, marks=page.marks * 2),
    ):
        assert differences([other], [document])
    assert differences([page, page], [document])
    assert differences([Page("a  😀b", (mark(3, 5, "X"),), "1")], [document], loose=True) == []
    assert differences([Page("a  😀b", (mark(3, 4, "X"),), "1")], [document], loose=True)
