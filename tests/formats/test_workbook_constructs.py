"""What a cell of Excel can hold, each with the text that is shown, as ECMA-376, part 1,
describes it.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from tests.formats.oracle.office import cells, rewritten, workbook

from fascicle.core.document import Document, Mention
from fascicle.formats import read, write

pytest.importorskip("openpyxl")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="00000"/>'
    '<numFmt numFmtId="165" formatCode="[h]:mm"/></numFmts>'
    '<fonts count="2"><font><name val="Calibri"/></font><font><name val="Symbol"/></font></fonts>'
    '<fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="6"><xf/><xf numFmtId="14"/><xf '
    'numFmtId="164"/>'
    '<xf numFmtId="0" fontId="1"/><xf numFmtId="22"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)


def of(tmp_path: Path, content: bytes) -> list[Document]:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    return list(read(path))


def book(
    cell: str,
    *,
    strings: str = "",
    sheet: str = "",
    columns: str = "",
    row: str = "",
    more: str = "",
) -> bytes:
    """A workbook with an id and one further cell, B2; ``strings`` are those that cells share."""
    parts = {"xl/styles.xml": ("styles", _STYLES)}
    if strings:
        parts["xl/sharedStrings.xml"] = ("sharedStrings", f'<sst xmlns="{_MAIN}">{strings}</sst>')

    def change(name: str, part: bytes) -> tuple[str, bytes]:
        text = part.decode()
        if name.endswith("sheet1.xml"):
            text = text.replace("<sheetData>", f"{columns}<sheetData>").replace(
                "</sheetData>", f"</sheetData>{sheet}"
            )
            text = text.replace('<row r="2">', f'<row r="2"{row}>')
            text = text.replace(
                '<c r="B2" t="inlineStr"><is><t xml:space="preserve">CELL</t></is></c>', cell
            )
        if name == "[Content_Types].xml":
            overrides = (
                f'<Override PartName="/{path}" ContentType="{_KIND}.{kind}+xml"/>'
                for path, (kind, _) in parts.items()
            )
            text = text.replace("</Types>", f"{''.join(overrides)}</Types>")
        if name == "xl/workbook.xml":
            text = text.replace("<sheets>", f"{more}<sheets>")
        return name, text.encode()

    made = io.BytesIO(rewritten(workbook([["id", "text"], ["1", "CELL"]]), change))
    with zipfile.ZipFile(made, "a") as package:
        for path, (_, content) in parts.items():
            package.writestr(path, content)
    return made.getvalue()


def inline(content: str) -> str:
    return f'<c r="B2" t="inlineStr"><is>{content}</is></c>'


def run(text: str, properties: str = "") -> str:
    return (
        f"<r>{f'<rPr>{properties}</rPr>' if properties else ''}<t "
        f'xml:space="preserve">{text}</t></r>'
    )


RAISED = '<vertAlign val="superscript"/>'
ITEMS = {
    # content of a string -> what is shown
    "<t>Lithium_x000D_\ntremor</t>": "Lithium\ntremor",
    "<t>Lithium_x000D_tremor</t>": "Lithium\ntremor",
    "<t>Lithium_x000A_tremor</t>": "Lithium\ntremor",
    "<t>code_x0009_12</t>": "code\t12",
    "<t>code x005F_12</t>": "code x005F_12",
    "<t>code_x005F_12</t>": "code_12",
    "<t>gene_x005F_x0041_b</t>": "gene_x0041_b",
    "<t>gene_x0041_b</t>": "geneAb",
    "<t>gene_x004_b</t>": "gene_x004_b",
    "<t>a_xD83D__xDE00_b</t>": "a\U0001f600b",
    "<t>a_xD83D_b</t>": "a\ufffdb",
    '<t xml:space="preserve"> a  b </t>': " a  b ",
    run("IL-2") + run("3", RAISED) + run(" helps"): "IL-2 helps",
    run("Ca") + run("2+", RAISED) + run(" flows"): "Ca2+ flows",
    run("H") + run("2", '<vertAlign val="subscript"/>') + run("O"): "H2O",
    run("TNF-") + run("a", '<rFont val="Symbol"/>') + run(" rises"): "TNF-α rises",
    run("Lithium_x000D_\n", "<b/>") + run("tremor"): "Lithium\ntremor",
    "<t>漢字</t><rPh sb='0' eb='2'><t>かんじ</t></rPh><phoneticPr fontId='1'/>": "漢字",
    run("漢") + "<rPh sb='0' eb='1'><t>かん</t></rPh>" + run("字"): "漢字",
}
CELLS = {
    # cell -> what is shown
    '<c r="B2" t="str"><f>A1</f><v>Lithium_x000D_\nhelps</v></c>': "Lithium\nhelps",
    '<c r="B2" t="str"><v>plain</v></c>': "plain",
    '<c r="B2" t="b"><v>1</v></c>': "TRUE",
    '<c r="B2" t="b"><f>1=2</f><v>0</v></c>': "FALSE",
    '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>': "#DIV/0!",
    '<c r="B2"><v>7</v></c>': "7",
    '<c r="B2"><v>7.0</v></c>': "7",
    '<c r="B2"><v>-7</v></c>': "-7",
    '<c r="B2"><v>0.30000000000000004</v></c>': "0.3",
    '<c r="B2"><v>1.5E-7</v></c>': "1.5e-07",
    '<c r="B2"><v>12345678901234567</v></c>': "12345678901234567",
    '<c r="B2" s="1"><v>43891</v></c>': "2020-03-01",
    '<c r="B2" s="4"><v>43891.5</v></c>': "2020-03-01 12:00:00",
    '<c r="B2" s="5"><v>1.5</v></c>': "1 day, 12:00:00",
    '<c r="B2" s="1"><v>99999999999</v></c>': "99999999999",
    '<c r="B2" t="d"><v>2020-03-01</v></c>': "2020-03-01",
    '<c r="B2" t="d"><v>2020-03-01T12:30:00</v></c>': "2020-03-01 12:30:00",
    '<c r="B2" s="2"><v>77</v></c>': "00077",
    '<c r="B2" s="3" t="str"><v>b</v></c>': "β",
    '<c t="str"><v>without a place</v></c>': "without a place",
}


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("is_shared", [True, False])
def test_texts(tmp_path: Path, item: str, is_shared: bool) -> None:
    shared = book('<c r="B2" t="s"><v>1</v></c>', strings=f"<si><t>other</t></si><si>{item}</si>")
    (found,) = of(tmp_path, shared if is_shared else book(inline(item)))
    assert found.text == ITEMS[item]
    assert [event.code for event in found.events] == ["marks-left-out"] * item.count("IL-2")


@pytest.mark.parametrize("cell", CELLS)
def test_values(tmp_path: Path, cell: str) -> None:
    (found,) = of(tmp_path, book(cell))
    assert found.text == CELLS[cell]
    assert found.events == ()


def test_dates_that_begin_in_1904(tmp_path: Path) -> None:
    (found,) = of(
        tmp_path, book('<c r="B2" s="1"><v>42429</v></c>', more='<workbookPr date1904="1"/>')
    )
    assert found.text == "2020-03-01"


def _states(content: bytes, *states: str) -> bytes:
    def change(name: str, part: bytes) -> tuple[str, bytes]:
        for at, state in enumerate(states, 1):
            part = part.replace(b'name="S%d"' % at, f'name="S{at}" state="{state}"'.encode())
        return name, part

    return rewritten(content, change)


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_sheet_that_is_shown_is_read_before_a_hidden_one(tmp_path: Path, state: str) -> None:
    two = workbook([["id", "text"], ["1", "hidden"]], [["id", "text"], ["2", "shown"]])
    (found,) = of(tmp_path, _states(two, state))
    assert found.text == "shown"
    assert found.events[0].message == "the sheet 'S2' was read, and these were not: 'S1' (hidden)"
    (found,) = of(tmp_path, _states(workbook([["id", "text"], ["1", "hidden"]], []), state))
    assert (found.text, found.events[0].message) == ("hidden", "the sheet 'S1' (hidden) was read")


@pytest.mark.parametrize(
    ("facts", "counted"),
    [
        ({"row": ' hidden="1"'}, "hidden rows 1"),
        ({"columns": '<cols><col min="2" max="2" hidden="1"/></cols>'}, "hidden columns 1"),
        (
            {"sheet": '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'},
            "cells over several rows 1",
        ),
        ({"sheet": '<mergeCells><mergeCell ref="A2:B2"/></mergeCells>'}, ""),
    ],
)
def test_what_is_hidden_or_merged_is_read_and_said(
    tmp_path: Path, facts: dict[str, str], counted: str
) -> None:
    (found,) = of(tmp_path, book(inline("<t>a</t>"), **facts))
    assert found.text == "a"
    assert [counted in event.message for event in found.events] == [True] * bool(counted)


def test_texts_beside_the_cells_are_counted(tmp_path: Path) -> None:
    made = io.BytesIO(book(inline("<t>a</t>")))
    with zipfile.ZipFile(made, "a") as package:
        package.writestr(
            "xl/comments1.xml", '<comments><comment ref="A1"/><comment ref="A2"/></comments>'
        )
        package.writestr("xl/charts/chart1.xml", "<chart/>")
        package.writestr("xl/drawings/drawing1.xml", '<a xmlns:a="a"><a:t>box</a:t></a>')
    (event,) = of(tmp_path, made.getvalue())[0].events
    assert event.message == "these parts are not read: charts 1, comments 2, texts in drawings 1"


def test_rows_and_columns_that_are_empty(tmp_path: Path) -> None:
    rows = [[], [None, None, None], [None, "id", "text"], [], [None, "1", "a"], [None, "2"]]
    assert [(one.id, one.text) for one in of(tmp_path, workbook(rows))] == [("1", "a"), ("2", "")]


def test_escapes_are_written(tmp_path: Path) -> None:
    text = "gene_x0041_ _x12_ _x005F_"
    path = tmp_path / "a.xlsx"
    write(path, [Document(id="_x0042_", text=text, mentions=(Mention(((0, len(text)),), "X"),))])
    row = cells(path.read_bytes())[1]
    assert (row[0][1], row[5][1]) == ("_x005F_x0042_", "gene_x005F_x0041_ _x12_ _x005F_x005F_")
