"""PDFs of which every word is known."""

from __future__ import annotations

import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.formats.oracle.papers import FOOT, HEAD, Paper, by_browser, by_hand, in_order

from fascicle.core.document import Document
from fascicle.errors import FormatError, InputError
from fascicle.formats import detect, read, write
from fascicle.formats.pdf import PrintedPiece, _gutter, _regions, printed_text

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


@pytest.mark.parametrize(
    "scale", [b"1 0 0 18446744073709551616", b"1 0 0 0", b"0 0 0 0", b"1e39 0 0 1e39"]
)
@pytest.mark.parametrize("count", [1, 3, 1_000])
def test_letters_without_a_usable_height(tmp_path: Path, scale: bytes, count: int) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(by_hand(0).content.replace(b" 1 0 0 1 ", b" %s " % scale, count))
    try:
        (found,) = read(path)
    except InputError:
        assert count > 1
    else:
        assert found.text.strip()


def pieces(draw: Random, count: int) -> list[PrintedPiece]:
    """Pieces of some columns, of which some lie across; many have edges in common."""
    found = []
    for _ in range(count):
        left, bottom = (
            draw.choice([50.0, 55.4, 300.0, 310.5, draw.uniform(0, 600)]),
            12.0 * draw.randrange(20),
        )
        right = left + draw.choice([0.0, 30.0, 200.0, 500.0])
        found.append(
            PrintedPiece(left, bottom, right, bottom + draw.choice([0.0, 9.0, 10.0, 30.0]), "x")
        )
    return found


def clearest(given: list[PrintedPiece]) -> float | None:
    """The left edge of the column behind the clearest space, by looking at all pairs of pieces."""
    best: list[tuple[int, float, int]] = []
    edges = list(dict.fromkeys(round(one.left) for one in given))
    for at, edge in enumerate(edges):
        before, behind = (
            [one for one in given if one.right <= edge],
            [one for one in given if one.left >= edge - 1],
        )
        crossing = len(given) - len(before) - len(behind)
        count = sum(round(one.left) == edge for one in given)
        if min(count, len(before), len(behind)) < 2 or crossing > 0.34 * len(given):
            continue
        beside = sum(
            any(abs(one.middle - other.middle) < one.height for other in before) for one in behind
        )
        if 2 * beside >= min(len(before), len(behind)):
            best.append((crossing, max(one.right for one in before) - edge, at))
    return float(edges[min(best)[2]]) if best else None


@pytest.mark.parametrize("seed", range(300))
def test_the_clearest_space_between_columns(seed: int) -> None:
    given = pieces(Random(seed), Random(seed).randrange(40))
    assert _gutter(given) == clearest(given)
    assert sorted(one for region in _regions(given, ()) for one in region) == sorted(given)


def test_columns_in_columns_without_end_are_read(tmp_path: Path) -> None:
    given = [
        PrintedPiece(20.0 * at, 10.0 * row, 20.0 * at + 10, 10.0 * row + 9, "x")
        for at in range(3_000)
        for row in range(3)
    ]
    assert len(printed_text([given], [100.0], [[]]).text.split()) == len(given)


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
