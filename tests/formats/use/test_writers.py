"""No document is written wrongly in silence; what another program finds in the file is right."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.formats.use.writings import ALL, Kept

from fascicle.formats import WriteReport, write
from fascicle.formats.catalogue import FORMATS
from fascicle.formats.report import FailedDocuments


@pytest.mark.parametrize(
    "given", [pytest.param(one, id=f"{one.format} {one.document.id}") for one in ALL]
)
def test_a_file_holds_what_its_format_can_hold_and_the_report_says_the_rest(
    given: Kept, tmp_path: Path
) -> None:
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    path = tmp_path / given.path
    write(path, [given.document], format=given.format, report=report)
    assert given.loses or not (report.losses or report.aside.count)
    assert report.aside.count or given.holds(path)


def test_each_writer_has_two_documents() -> None:
    own = ("webanno", "cas")  # tested in test_inception_write.py
    written = [
        name
        for name, one in FORMATS.items()
        if one.writes and (name != "xlsx" or find_spec("openpyxl"))
    ]
    written = [name for name in written if name not in own]
    formats = [one.format for one in ALL]
    assert {name: formats.count(name) for name in written if formats.count(name) < 2} == {}
