"""A line beyond the limit costs itself; every line behind it is read."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.files import source as module
from fascicle.core.files.source import Source, read_lines_or_errors
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, read
from fascicle.formats.report import FailedDocuments

LIMIT = 12
# Of lines that are nearly as long as the limit it is not said whether their ends count.
LINE = st.text("ab\u00e9", max_size=5) | st.integers(LIMIT + 2, 50).map("x".__mul__)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@given(st.lists(st.tuples(LINE, ENDS), max_size=8))
def test_every_line_is_read_or_is_an_error(encoding: str, rows: list[tuple[str, str]]) -> None:
    content = "".join(line + end for line, end in rows)
    content = re.sub("\r+\n", "\r\n", content)  # which is one line end, as a program made it
    wanted = re.split("\r\n|\r|\n", content)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(module, "MAX_LINE", LIMIT)
        path = Path(folder) / "a.txt"
        path.write_bytes(content.encode(encoding))
        found = list(read_lines_or_errors(Source(path=str(path), encoding=encoding)))
    told = ["x" if isinstance(line, FormatError) else line for _, line in found]
    expected = ["x" if len(line) > LIMIT else line for line in wanted]
    assert [line for line in told if line] == [line for line in expected if line]
    assert all(line.line == number for number, line in found if isinstance(line, FormatError))


RECORD = '{"id": "%d", "text": "%s", "entities": []}'


@pytest.mark.parametrize(("name", "line"), [("a.jsonl", RECORD), ("a.tsv", "%d%s\tO\n")])
def test_the_documents_behind_it_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str
) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 1000)
    rows = [line % (number, "x" * (2000 if number == 1 else 3)) for number in range(4)]
    (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    found = list(read(tmp_path / name, report=report))
    assert [document.text[-4:] for document in found] in (["0xxx", "2xxx", "3xxx"], ["xxx"] * 3)
    assert report.aside.count == 1
    assert "is longer than" in report.aside.sentences[0]


def test_a_document_of_pubtator_with_such_a_line_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 1000)
    text = "".join(
        f"{at}|t|{'x' * (2000 if at == 1 else 3)}\n{at}|a|y\n{at}\t0\t3\txxx\tX\n\n"
        for at in range(3)
    )
    (tmp_path / "a.pubtator").write_text(text, encoding="utf-8")
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [document.id for document in read(tmp_path / "a.pubtator", report=report)] == ["0", "2"]
    assert report.aside.count == 1
