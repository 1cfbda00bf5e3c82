"""What a page of a PDF can hold, each with the text that is printed, as ISO 32000 describes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.formats.oracle.papers import printed

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.formats.page_marks import with_texts
from fascicle.formats.page_parts import NOTHING, PrintedPiece

pytest.importorskip("pypdfium2")
_BODY = [(54, 600, 10, "Body text of a page"), (54, 588, 10, "and more of it.")]
_OTHER = [(54, 600, 10, "Other text stands here"), (54, 588, 10, "and ends.")]
_THIRD = [(54, 600, 10, "Third page of the text"), (54, 588, 10, "with an end.")]
_GENES = [
    ("Gene", "Disease", "Evidence"),
    ("BRCA1", "breast cancer", "strong"),
    ("EGFR", "lung cancer", "strong"),
    ("CFTR", "cystic fibrosis", "weak"),
]
_BOX = b"/MediaBox [0 0 612 792]"


def of(tmp_path: Path, content: bytes) -> Document:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    (found,) = read(path)
    return found


def table(
    rows: Sequence[Sequence[str]],
    *,
    top: float = 560,
    left: float = 54,
    wide: float = 150,
    high: float = 16,
) -> list[tuple[float, float, float, str]]:
    return [
        (left + wide * column, top - high * at, 10, cell)
        for at, row in enumerate(rows)
        for column, cell in enumerate(row)
        if cell
    ]


def shown(rows: Sequence[Sequence[str]]) -> list[str]:
    return ["\t".join(row) for row in rows]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("BRCA1", "BRCA2"),
        ("Dose 5 mg lithium", "Dose 7 mg lithium"),
        ("IL-1", "IL-2"),
        ("Gene 1", "Gene 2"),
        ("Table 1", "Table 1"),
        ("12 patients", "13 patients"),
        ("5", "9"),
    ],
)
@pytest.mark.parametrize("height", [752, 30])
def test_lines_that_differ_in_digits_are_content(
    tmp_path: Path, first: str, second: str, height: int
) -> None:
    found = of(
        tmp_path, printed([(54, height, 10, first), *_BODY], [(54, height, 10, second), *_OTHER])
    )
    assert first in found.text
    assert second in found.text
    assert found.events == ()


@pytest.mark.parametrize(
    "heads",
    [
        ("Journal 12 (2020)", "Journal 12 (2020)", "Journal 12 (2020)"),
        ("", "Journal 12 (2020)", "Journal 12 (2020)"),
        ("Page 1", "Page 2", "Page 3"),
        ("17", "18", "19"),
        ("- 1 -", "- 2 -", "- 3 -"),
        ("Journal | 1", "Journal | 2", "Journal | 3"),
        ("Page 1 of 3", "Page 2 of 3", "Page 3 of 3"),
        ("p. 9", "p. 10", "p. 11"),
        ("Left", "", "Left"),
    ],
)
@pytest.mark.parametrize("height", [752, 30])
def test_running_heads_are_left_out_and_counted(
    tmp_path: Path, heads: tuple[str, ...], height: int
) -> None:
    pages = [
        [(54, height, 8, head), *body] if head else body
        for head, body in zip(heads, (_BODY, _OTHER, _THIRD), strict=True)
    ]
    found = of(tmp_path, printed(*pages))
    text = (
        "Body text of a page and more of it. Other text stands here and ends. Third page of "
        "the text with an end."
    )
    assert found.text.split() == text.split()
    assert f"{sum(map(bool, heads))} running heads" in found.events[0].message


def test_a_table_over_pages_keeps_its_rows(tmp_path: Path) -> None:
    rows = [(f"GENE{at}", str(at * 7 % 100 / 10), f"0.{at:03}") for at in range(108)]
    pages = [table(rows[start : start + 54], top=760, high=13.5) for start in (0, 54)]
    found = of(tmp_path, printed(*pages))
    assert found.text.split("\n\n") == shown(rows)


def test_the_head_of_a_table_is_not_that_of_a_page(tmp_path: Path) -> None:
    rows = [(f"GENE{at}", "strong") for at in range(40)]
    pages = [table([("Gene", "Evidence"), *rows[start : start + 20]], top=760) for start in (0, 20)]
    assert of(tmp_path, printed(*pages)).text.count("Evidence") == 2


def test_pages_with_the_same_line_alone_are_content(tmp_path: Path) -> None:
    assert (
        of(tmp_path, printed([(54, 752, 10, "Lithium")], [(54, 752, 10, "Lithium")])).text
        == "Lithium Lithium"
    )


TABLES = {
    "alone": (table(_GENES), shown(_GENES)),
    "before a paragraph": (
        [*table(_GENES), (54, 470, 10, "Results follow.")],
        [*shown(_GENES), "Results follow."],
    ),
    "after a paragraph": (
        [
            (54, 700, 10, "A first paragraph of a text that is longer than the table."),
            *table(_GENES),
        ],
        ["A first paragraph of a text that is longer than the table.", *shown(_GENES)],
    ),
    "empty cells": (
        table([*_GENES, ("INS", "", "strong")]),
        [*shown(_GENES), "INS\t\tstrong"],
    ),
    "cells of two lines": (
        [*table(_GENES, high=40), (204, 509, 10, "and more")],
        ["Gene\tDisease\tEvidence", "BRCA1\tbreast cancer and more\tstrong", *shown(_GENES[2:])],
    ),
    "numbers on the right": (
        [(200 - 6 * len(one), 600 - 14 * at, 10, one) for at, one in enumerate(("9", "10", "12.5"))]
        + [(54, 600 - 14 * at, 10, one) for at, one in enumerate(("a", "b", "c"))],
        ["a\t9", "b\t10", "c\t12.5"],
    ),
    "in a column of text": (
        [
            *((54, 700 - 12 * at, 10, f"Left column has its line number {at}.") for at in range(5)),
            *table([("a", "b"), ("c", "d"), ("e", "f")], top=630, wide=90),
            *(
                (54, 580 - 12 * at, 10, f"Left column goes on as line number {at}.")
                for at in range(9)
            ),
            *(
                (330, 700 - 12 * at, 10, f"Right column has its line number {at}.")
                for at in range(19)
            ),
        ],
        [],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_by_rows(tmp_path: Path, name: str) -> None:
    lines, wanted = TABLES[name]
    found = of(tmp_path, printed(lines))
    if wanted:
        assert found.text.split("\n\n") == wanted
    else:
        assert found.text.split("\n\n")[1:4] == ["a\tb", "c\td", "e\tf"]
        assert found.text.index("goes on as line number 8") < found.text.index("Right column")


STUDIES = [
    (("Study",), ("Treatment",), ("Result",)),
    (
        ("Smith 2010",),
        ("Lithium was given to", "forty patients for", "twelve weeks"),
        ("Tremor in eight of", "the patients"),
    ),
    (("Brown 2015",), ("Metformin in low doses",), ("No lactic acidosis", "in any patient")),
    (("Garcia and", "Lopez 2017"), ("None",), ("Gain of weight",)),
]
_READ = ["\t".join(" ".join(cell) for cell in row) for row in STUDIES]
_PLACES = {"top": 0.0, "middle": 0.5, "bottom": 1.0}


def long_cells(*, band: float, place: str = "top", drawn: bool = False) -> bytes:
    """A table with cells of several lines, 12 units from line to line, and a paragraph above and
    below it.
    """
    shown, y = (
        ["BT /F1 10 Tf 54 700 Td (A paragraph of a text stands above the table.) Tj ET"],
        664.0,
    )
    for row in STUDIES:
        most = max(map(len, row))
        for column, cell in enumerate(row):
            start = y - 12 * (most - len(cell)) * _PLACES[place]
            shown += [
                f"BT /F1 10 Tf {54 + 160 * column} {start - 12 * at} Td ({one}) Tj ET"
                for at, one in enumerate(cell)
            ]
        y -= 12 * most + band
        shown += [f"{50 + 160 * column} {y + 9} 160 0.5 re f" for column in range(3) if drawn]
    shown.append(
        f"BT /F1 10 Tf 54 {y - 20} Td (Another one follows it, and it is as long as the table is "
        "wide.) Tj ET"
    )
    return "\n".join(shown).encode()


@pytest.mark.parametrize(("band", "drawn"), [(6, False), (2, False), (6, True), (0, True)])
@pytest.mark.parametrize("place", _PLACES)
def test_tables_with_long_cells_are_read_by_rows(
    tmp_path: Path, band: float, drawn: bool, place: str
) -> None:
    found = of(tmp_path, printed(long_cells(band=band, drawn=drawn, place=place)))
    above, *rows, below = found.text.split("\n\n")
    assert rows == _READ
    assert (above[:11], below[:11]) == ("A paragraph", "Another one")


def paragraphs(
    *columns: Sequence[int], label: bool = False
) -> list[tuple[float, float, float, str]]:
    """Columns of paragraphs that have some numbers of lines, with a space between them."""
    lines = []
    for column, counts in enumerate(columns):
        left, y = 54 + 270 * column, 700.0
        for at, count in enumerate(counts):
            lines += [(left, y, 10, f"{at + 1}.")] * label
            lines += [
                (left + 30 * label, y - 12 * one, 10, f"Line {one} of item {at} in {column}")
                for one in range(count)
            ]
            y -= 12 * count + 6
    return lines


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        (((2, 3, 2, 3, 2), (2, 3, 2, 3, 2)), False),  # level by chance
        (((2, 3, 1, 3, 2), (3, 2, 3, 1, 2)), False),
        (((2, 3, 2, 3, 2), (2, 3, 2, 3, 2)), True),  # as lists of references are
        (((2, 3, 1, 3, 2),), True),
    ],
)
def test_paragraphs_and_lists_in_columns_are_no_table(
    tmp_path: Path, columns: Sequence[Sequence[int]], label: bool
) -> None:
    text = of(tmp_path, printed(paragraphs(*columns, label=label))).text
    assert "\t" not in text
    places = [
        text.index(f"Line {one} of item {at} in {column}")
        for column, counts in enumerate(columns)
        for at, count in enumerate(counts)
        for one in range(count)
    ]
    assert places == sorted(places)


def test_columns_of_text_are_no_table(tmp_path: Path) -> None:
    left = [(54, 700 - 12 * at, 10, f"Left line {at} of a long column here") for at in range(8)]
    right = [(330, 700 - 12 * at, 10, f"Right line {at} of a column there") for at in range(8)]
    found = of(tmp_path, printed([*left, *right]))
    assert "\t" not in found.text
    assert found.text.index("Left line 7") < found.text.index("Right line 0")


LOOSE = (
    "The study of a gene in one of the regions",
    "One hundred and fourteen untreated patients",
    "with lymphocytic lung",
    "cancer progressing to",
    "the brain were seen in all of the regions",
)


def filled(
    lines: Sequence[str], *, left: float, pitch: float, size: float = 10
) -> list[tuple[float, float, float, str]]:
    """Lines that fill a column of 258 units: the words of loose lines stand far apart."""
    made = []
    for at, line in enumerate(lines):
        words = line.split()
        space = (258 - 6 * sum(map(len, words))) / (len(words) - 1)
        places = [
            left + sum(6 * len(word) + space for word in words[:count])
            for count in range(len(words))
        ]
        made += [
            (place, 700 - pitch * at, size, word) for place, word in zip(places, words, strict=True)
        ]
    return made


@pytest.mark.parametrize("pitch", [12, 20, 24])
@pytest.mark.parametrize("columns", [1, 2])
def test_loose_lines_are_no_table(tmp_path: Path, columns: int, pitch: float) -> None:
    lines = [
        one
        for column in range(columns)
        for one in filled(LOOSE, left=40 + 278 * column, pitch=pitch)
    ]
    assert of(tmp_path, printed(lines)).text == " ".join(LOOSE * columns)


# Lines of narrow columns, as browsers justify them: many words stand far apart, and some are cut.
NARROW = (
    "warfarin, which caused in",
    "aspirin pharmacokinetics",
    "Thrombocytopenia, imm\u2010",
    "unohistochemistry of the",
    "dose of patients were off",
    "hypertension (95%) in a",
    "reflux and confirmed the\u2010",
    "rapeutic was in some flow",
    "immunohistochemistry",
    "hypertension offering",
    "dependent with aspirin in",
    "affinity to patients hyp\u2010",
    "erparathyroidism the",
    "cardiomyopathy treated",
    "that is of inflammation a",
    "fibrosis was uncontrolled",
)


def narrow(starts: Sequence[int], *, room: float = 150) -> list[tuple[float, float, float, str]]:
    """Justified columns of the narrow lines, each beginning with another one of them."""
    made = []
    for column, start in enumerate(starts):
        for at, line in enumerate(NARROW[start:] + NARROW[:start]):
            words = line.split()
            space = (room - 6 * sum(map(len, words))) / max(1, len(words) - 1)
            x, y = 40.0 + 180 * column, 700.0 - 12 * at
            if 6 * len(line) == room:  # one string
                made.append((x, y, 10, " ".join(words)))
                continue
            for word in words:
                made.append((x, y, 10, word))
                x += 6 * len(word) + space
    return made


@pytest.mark.parametrize("starts", [(0,), (0, 4), (4, 0, 7), (0, 0, 0), (9, 12, 4)])
def test_words_far_apart_in_narrow_columns_are_no_table(
    tmp_path: Path, starts: Sequence[int]
) -> None:
    found = of(tmp_path, printed(narrow(starts)))
    columns = [" ".join(NARROW[start:] + NARROW[:start]) for start in starts]
    assert found.text == " ".join(columns).replace("\u2010 ", "")
    assert len(found.meta["hyphens"].split()) == " ".join(columns).count("\u2010 ")


@pytest.mark.parametrize("place", ["below", "above", "alone"])
def test_a_table_that_fills_its_column_is_read_by_rows(tmp_path: Path, place: str) -> None:
    rows = [("Age", "45"), ("Weight", "71"), ("Lithium", "300"), ("Sodium", "141"), ("Dose", "9")]
    prose = narrow((0,))
    y = {"below": 700.0 - 12 * 16, "above": 712.0 + 12 * 4, "alone": 400.0}[place]  # at one pitch
    table = [
        piece
        for at, (name, value) in enumerate(rows)
        for piece in (
            (40.0, y - 12 * at, 10, name),
            (190.0 - 6 * len(value), y - 12 * at, 10, value),
        )
    ]
    lines = table + prose if place == "above" else prose + table
    text = of(tmp_path, printed(lines)).text
    for row in rows:
        assert "\t".join(row) in text.split("\n\n")


def test_columns_of_lines_that_stand_apart(tmp_path: Path) -> None:
    left = [(54, 700 - 22 * at, 10, f"Left line {at} of a long column here") for at in range(8)]
    right = [(330, 690 - 22 * at, 10, f"Right line {at} of a column there") for at in range(8)]
    found = of(tmp_path, printed([*left, *right]))
    assert found.text.index("Left line 7") < found.text.index("Right line 0")


PICTURE = b"q 600 0 0 700 0 0 cm /I Do Q"


def test_pages_of_pictures_are_named(tmp_path: Path) -> None:
    stamp = [(54, 20, 6, "Downloaded by a reader")]
    found = of(tmp_path, printed(_BODY, PICTURE, b"", PICTURE, _OTHER))
    (event,) = found.events
    assert (event.kind, event.code) == ("loss", "parts-left-out")
    assert "2 pages with pictures and without text: 2, 4;" in event.message
    lines = b"BT /F1 6 Tf 1 0 0 1 54 20 Tm (Downloaded by a reader) Tj ET"
    stamped = of(tmp_path, printed([*_BODY, *stamp], PICTURE + b" " + lines, [*_OTHER, *stamp]))
    assert "1 page with pictures and without text: 2;" in stamped.events[0].message


def test_letters_of_an_invisible_layer_are_read(tmp_path: Path) -> None:
    layer = b" BT 3 Tr /F1 10 Tf 54 600 Td (Recognised text) Tj ET"
    found = of(tmp_path, printed(PICTURE + layer))
    assert found.text == "Recognised text"
    assert found.events == ()


@pytest.mark.parametrize(
    ("matrix", "turn"),
    [(b"0 1 -1 0", 90), (b"-1 0 0 -1", 180), (b"0 -1 1 0", 270), (b"1 0 0 1", 0)],
)
def test_turned_pages(tmp_path: Path, matrix: bytes, turn: int) -> None:
    places = {
        0: (100, 700, 0, -12),
        90: (100, 100, 12, 0),
        180: (500, 100, 0, 12),
        270: (500, 700, -12, 0),
    }
    x, y, right, up = places[turn]
    lines = [
        b"BT /F1 10 Tf %s %d %d Tm (%s) Tj ET" % (matrix, x + right * at, y + up * at, text)
        for at, text in enumerate((b"Lithium is a drug", b"that causes tremor"))
    ]
    for rotate in (b"", b"/Rotate %d" % turn):
        found = of(tmp_path, printed(b"\n".join(lines), more=[_BOX + rotate]))
        assert found.text == "Lithium is a drug that causes tremor"


def test_letters_on_the_side_stand_behind_the_text(tmp_path: Path) -> None:
    side = b"BT /F1 10 Tf 0 1 -1 0 30 300 Tm (arXiv stamp) Tj ET\n"
    lines = b"\n".join(
        b"BT /F1 10 Tf 1 0 0 1 54 %d Tm (%s) Tj ET" % (600 - 12 * at, one)
        for at, one in enumerate((b"Lithium is a", b"drug of use"))
    )
    assert of(tmp_path, printed(side + lines)).text == "Lithium is a drug of use\n\narXiv stamp"


def test_what_is_outside_of_the_page_or_slanted_is_counted(tmp_path: Path) -> None:
    slanted = b"BT /F1 40 Tf 0.7 0.7 -0.7 0.7 200 200 Tm (DRAFT) Tj ET BT /F1 9 Tf 54 500 Td (Lithium) Tj ET"
    outside = b" BT /F1 9 Tf 54 900 Td (gone) Tj ET"
    found = of(tmp_path, printed(slanted + outside))
    assert found.text == "Lithium"
    assert found.events[0].message.endswith("signs outside of the page 4, slanted signs 5")


def test_a_page_that_does_not_begin_at_nothing(tmp_path: Path) -> None:
    box = b"/MediaBox [100 100 700 900] /CropBox [100 150 700 850]"
    pages = [
        [(154, 830, 8, "Journal"), (154, 600, 10, "Body"), (154, 588, 10, one)]
        for one in ("one", "two")
    ]
    found = of(tmp_path, printed(*pages, more=[box, box]))
    assert found.text.split() == ["Body", "one", "Body", "two"]


def test_greek_of_the_font_symbol(tmp_path: Path) -> None:
    found = of(tmp_path, printed(b"BT /F1 10 Tf 54 600 Td (TNF-) Tj /F2 10 Tf (a \\263) Tj ET"))
    assert found.text == "TNF-α ≥"


def test_text_that_stands_for_its_letters(tmp_path: Path) -> None:
    content = (
        b"BT /F1 10 Tf 54 600 Td /Span << /ActualText (Lithium) >> BDC (Xx) Tj EMC ( helps) Tj ET"
    )
    assert of(tmp_path, printed(content)).text == "Lithium helps"


_SPAN = b"/Span << /ActualText %s >> BDC "
_PRINTED = (
    b"We gave 114 of the patients lith-",
    b"ium salts for two years in a row,",
    b"and none of them had a tremor.",
)
_UP, _DOWN = (
    b"BT /F1 10 Tf 54 600 Td (%s) Tj ET " % _PRINTED[0],
    b"BT /F1 10 Tf 54 588 Td (%s) Tj ET " % _PRINTED[1],
)
_PART = b"/Span << /MCID %d >> BDC "
_END = b" BT /F1 10 Tf 54 576 Td (%s) Tj ET" % _PRINTED[2]
_BOTH = b"(We gave 114 of the patients lithium salts for two years in a row,)"
SPANS = {
    "of two lines": _SPAN % _BOTH + _UP + _DOWN + b"EMC",
    "around parts": _SPAN % _BOTH + b"EMC ".join((_PART % 1 + _UP, _PART % 2 + _DOWN, b"EMC")),
    "around a part of two lines": _SPAN % _BOTH + _PART % 1 + _UP + _DOWN + b"EMC EMC",
    "within a part": _PART % 1 + _SPAN % _BOTH + _UP + _DOWN + b"EMC EMC",
    "around a footer": _SPAN % _BOTH
    + _UP
    + b"/Artifact BMC BT /F1 10 Tf 54 20 Td (7) Tj ET EMC "
    + _DOWN
    + b"EMC",
    "around other texts": _SPAN % _BOTH + _UP + (_SPAN % b"(ium)").join((b"", _DOWN)) + b"EMC EMC",
    "around nothing": _SPAN % b"()" + _UP + _DOWN + b"EMC",
    "of a word": b"BT /F1 10 Tf 54 600 Td (We gave 114 of the patients ) Tj "
    + _SPAN % b"<FEFF006C00690074006800690075006D>"
    + b"(lith-) Tj 0 -12 Td (ium) Tj EMC ( salts for two years in a row,) Tj ET",
}


@pytest.mark.parametrize("span", SPANS)
def test_text_that_stands_for_letters_of_two_lines(tmp_path: Path, span: str) -> None:
    text = of(tmp_path, printed(SPANS[span] + _END)).text
    assert text == b" ".join(_PRINTED).decode().replace("- ", "")


def test_a_long_text_that_stands_for_many_letters_takes_time_by_their_sum() -> None:
    mark, letters, words = f"{NOTHING}7", 60_000, 90_000
    boxes = [PrintedPiece(at, 0, at + 1, 1, "x", 0) for at in range(letters)]
    signs = with_texts([(mark, box) for box in boxes], {7: "ab " * words})
    assert sum(sign == "ab" for sign, _ in signs) == words


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        (b"<FEFFD83DDE0003B1>", "\U0001f600α"),
        (b"<FFFEB103>", "α"),
        (b"<EFBBBFCEB1>", "α"),
        (b"(a\\223b\\240)", "aﬁb€"),
        (b"( b )", "b"),
    ],
)
def test_encodings_of_text_that_stands_for_letters(
    tmp_path: Path, text: bytes, read_as: str
) -> None:
    content = b"BT /F1 10 Tf 54 600 Td (a ) Tj %s(Xx) Tj EMC ( helps) Tj ET" % (_SPAN % text)
    assert of(tmp_path, printed(content)).text == f"a {read_as} helps".replace("ﬁ", "fi")


def layered(content: bytes) -> bytes:
    """A page with one layer that is switched on, and one that is not."""
    made = printed(content).replace(
        b"/Type /Catalog",
        b"/Type /Catalog /OCProperties << /OCGs [90 0 R 91 0 R] /D << /OFF [91 0 R] >> >>",
    )
    made = made.replace(
        b"/Resources <<",
        b"/Resources << /Properties << /On 90 0 R /Off 91 0 R /None 92 0 R >>",
    )
    made = made.replace(b"/XObject <<", b"/XObject << /Form 93 0 R", 1)
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Length %d >>\nstream\n%s\nendstream"
    for number, layer in (
        (90, b"/Type /OCG /Name (Labels)"),
        (91, b"/Type /OCG /Name (Notes)"),
        (92, b"/Type /OCMD /OCGs [90 0 R 91 0 R] /P /AllOn"),
    ):
        made = made.replace(b"xref\n0", b"%d 0 obj\n<< %s >>\nendobj\nxref\n0" % (number, layer), 1)
    return made.replace(
        b"xref\n0", b"93 0 obj\n%s\nendobj\nxref\n0" % (form % (len(_SECRET), _SECRET)), 1
    )


_SECRET = b"BT /F1 10 Tf 54 588 Td (Aspirin) Tj ET "
LAYERS = {
    "on": (b"/OC /On BDC " + _SECRET + b"EMC", "Lithium Aspirin"),
    "off": (b"/OC /Off BDC " + _SECRET + b"EMC", "Lithium"),
    "around a part": (b"/OC /Off BDC " + _PART % 1 + _SECRET + b"EMC EMC", "Lithium"),
    "in another": (b"/OC /On BDC /OC /Off BDC " + _SECRET + b"EMC EMC", "Lithium"),
    "by a rule": (b"/OC /None BDC " + _SECRET + b"EMC", "Lithium"),
    "around a form": (b"/OC /Off BDC /Form Do EMC", "Lithium"),
    "around a form, on": (b"/OC /On BDC /Form Do EMC", "Lithium Aspirin"),
    "around a form and a text for it": (
        _SPAN % b"(A salt)" + b"/Form Do EMC",
        "Lithium A salt",
    ),
    "no layer": (b"/OC /Missing BDC " + _SECRET + b"EMC", "Lithium Aspirin"),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_that_are_switched_off_are_not_read(tmp_path: Path, layer: str) -> None:
    content, text = LAYERS[layer]
    found = of(tmp_path, layered(b"BT /F1 10 Tf 54 600 Td (Lithium) Tj ET " + content))
    assert found.text == text
    hidden = ["these parts are not read: texts of hidden layers 1"] * (text == "Lithium")
    assert [event.message for event in found.events] == hidden


_ARTIFACT = b"/Artifact << /Type /Pagination >> BDC BT /F1 8 Tf 54 %d Td (%s) Tj ET EMC "


def test_a_head_that_is_marked_on_one_page_is_left_out(tmp_path: Path) -> None:
    body = b"BT /F1 10 Tf 54 600 Td (Body text of lithium) Tj 0 -12 Td (and tremor.) Tj ET "
    head, foot = _ARTIFACT % (770, b"A head"), _ARTIFACT % (30, b"Page 1")
    other = b"BT /F1 10 Tf 54 600 Td (Second page.) Tj ET"
    found = of(tmp_path, printed(head + body + foot, other))
    assert found.text == "Body text of lithium and tremor. Second page."
    (event,) = found.events
    assert event.kind == "note"
    assert "2 running heads" in event.message


def test_a_page_that_is_marked_as_no_content_is_read(tmp_path: Path) -> None:
    found = of(tmp_path, printed(_ARTIFACT % (600, b"Lithium and tremor")))
    assert found.text == "Lithium and tremor"


def test_comments_and_fields_of_forms_are_counted(tmp_path: Path) -> None:
    notes = (
        b"/Annots [<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (A comment) >> "
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] >> "
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (Lithium) /Rect [0 0 9 9] >>]"
    )
    (event,) = of(tmp_path, printed(_BODY, more=[_BOX + notes])).events
    assert event.message == "these parts are not read: comments 1, fields of forms 1"


def test_ligatures_and_words_cut_at_line_ends(tmp_path: Path) -> None:
    lines = [
        (54, 600, 10, "The efficacy of lith-"),
        (54, 588, 10, "ium in a flow of IL-"),
        (54, 576, 10, "6 levels."),
    ]
    assert of(tmp_path, printed(lines)).text == "The efficacy of lithium in a flow of IL-6 levels."


RAISED = {
    # what stands before, the letters above or below the line, their size and rise -> the text, and
    # how many marks
    ("IL-2", "3", 6, 4): ("IL-2 helps", 1),
    ("IL-2", "3,4", 6.5, 3.3): ("IL-2 helps", 1),
    ("IL-2", "[3]", 6.5, 3.3): ("IL-2 helps", 1),
    ("gout", "12", 5, 5): ("gout helps", 1),
    ("Ca", "2+", 6, 4): ("Ca2+ helps", 0),
    ("CD4", "+", 6, 4): ("CD4+ helps", 0),
    ("10", "6", 6, 4): ("106 helps", 0),
    ("H", "2", 6, -2): ("H2 helps", 0),
    ("IL-2", "3", 10, 0): ("IL-23 helps", 0),
    ("BRCA", "1", 8, 0): ("BRCA1 helps", 0),  # small capitals
}


@pytest.mark.parametrize("case", RAISED)
def test_raised_letters(tmp_path: Path, case: tuple[str, str, float, float]) -> None:
    word, text, size, rise = case
    line = (
        f"BT /F1 10 Tf 54 600 Td ({word}) Tj /F1 {size} Tf {rise} Ts ({text}) Tj /F1 10 Tf 0 "
        "Ts ( helps) Tj ET"
    )
    found = of(tmp_path, printed(line.encode()))
    assert (found.text, len(found.events)) == RAISED[case]
