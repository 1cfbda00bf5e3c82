"""PDFs of which every word is known."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.formats.oracle.papers import FOOT, HEAD, Paper, by_browser, by_hand, in_order

from fascicle.core.document import Document
from fascicle.errors import FormatError, InputError
from fascicle.formats import detect, read, write

pytest.importorskip("pypdfium2")
BAR = 0.98


def of(tmp_path: Path, content: bytes) -> Document:
    path = tmp_path / "paper.pdf"
    path.write_bytes(content)
    assert detect(str(path)) == "pdf"
    (found,) = read(path)
    return found


def check(found: Document, paper: Paper) -> None:
    assert in_order(paper.words, found.text.split()) >= BAR
    assert HEAD not in found.text
    assert f"{FOOT} 1" not in found.text
    assert [event.code for event in found.events] == ["parts-left-out"]
    assert not set("\u00ad\ufb01\ufb02\ufffe\x02") & set(found.text)
    pages = [int(at) for at in found.meta["pages"].split()]
    assert pages == sorted(pages)
    assert pages[0] == 0
    for at in map(int, found.meta["hyphens"].split()):
        assert found.text[at - 1].isalpha()
        assert found.text[at].islower()


@pytest.mark.parametrize("number", range(10))
def test_papers_by_hand(tmp_path: Path, number: int) -> None:
    paper = by_hand(number)
    check(of(tmp_path, paper.content), paper)


@pytest.mark.loopback
@pytest.mark.parametrize("number", range(10))
def test_papers_that_a_browser_prints(tmp_path: Path, browser: Any, number: int) -> None:
    paper = by_browser(browser, number)
    check(of(tmp_path, paper.content), paper)


def test_the_text_stands_beside_a_table(tmp_path: Path) -> None:
    found = of(tmp_path, by_hand(1).content)
    write(tmp_path / "m.csv", [found])
    assert (tmp_path / "m.texts" / "paper.txt").read_text(encoding="utf-8") == found.text


@pytest.mark.parametrize("scale", [b"1 0 0 18446744073709551616", b"1 0 0 0", b"0 0 0 0"])
def test_letters_without_a_height_begin_a_paragraph(tmp_path: Path, scale: bytes) -> None:
    whole = by_hand(0).content
    assert b" 1 0 0 1 " in whole
    for count in (1, 3, 1_000):
        path = tmp_path / f"{count}.pdf"
        path.write_bytes(whole.replace(b" 1 0 0 1 ", b" %s " % scale, count))
        try:
            (found,) = read(path)
        except InputError:
            continue
        assert found.text.strip()


def test_files_that_are_refused(tmp_path: Path) -> None:
    whole = by_hand(0).content
    empty = whole.replace(b" Tj ET", b" pop ET")
    for content in (b"%PDF-1.4\n", b"%PDF-1.7\n" + zlib.compress(b"x" * 1000), b"no PDF"):
        path = tmp_path / "b.pdf"
        path.write_bytes(content)
        with pytest.raises(InputError):
            list(read(path, format="pdf"))
    with pytest.raises(FormatError, match="no text"):
        of(tmp_path, empty)
