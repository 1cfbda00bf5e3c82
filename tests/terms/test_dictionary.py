"""Tables of names: what is read, what is left out and counted, what is refused."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import FormatError, InputError, UsageError
from fascicle.terms.dictionary import DictionaryEntry
from fascicle.terms.matcher import PHRASES, DictionaryReport, TsvOptions, read_dictionary


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "names.tsv"


def test_type_and_name(table: Path) -> None:
    table.write_bytes(
        b"\xef\xbb\xbfChemical\t( R)-alpha - methylhistamine\r\n Disease \t pain \nChemical\tH\n"
    )
    assert list(read_dictionary(str(table))) == [
        DictionaryEntry("( R)-alpha - methylhistamine", "Chemical"),
        DictionaryEntry(" pain ", "Disease"),
        DictionaryEntry("H", "Chemical"),
    ]


def test_phrases_without_types(table: Path) -> None:
    table.write_bytes(gzip.compress("heart rate\nβ-blocker\n".encode()))
    assert list(read_dictionary(str(table), PHRASES)) == [
        DictionaryEntry("heart rate"),
        DictionaryEntry("β-blocker"),
    ]


def test_other_columns_a_header_and_one_type_for_all(table: Path) -> None:
    table.write_text("id\tname\ttree\nD1\taspirin\tx\nD2\tpain\t\n", encoding="latin-1")
    options = TsvOptions(type_column=None, type="Thing", header=True, encoding="latin-1")
    assert list(read_dictionary(str(table), options)) == [
        DictionaryEntry("aspirin", "Thing"),
        DictionaryEntry("pain", "Thing"),
    ]
    options = TsvOptions(name_column=0, type_column=1, header=True)
    assert list(read_dictionary(str(table), options)) == [
        DictionaryEntry("D1", "aspirin"),
        DictionaryEntry("D2", "pain"),
    ]


def test_rows_without_a_name_are_left_out_and_counted(table: Path) -> None:
    table.write_text("\nChemical\taspirin\nChemical\t\n\nDisease\t \u3000\n", encoding="utf-8")
    report = DictionaryReport()
    assert list(read_dictionary(str(table), report=report)) == [
        DictionaryEntry("aspirin", "Chemical")
    ]
    assert (report.entries, report.empty, report.first_empty) == (1, 4, f"{table}, line 1")
    assert report.lines() == [
        "1 name",
        f"4 rows without a name were left out (first: {table}, line 1)",
    ]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("Chemical\taspirin\nparacetamol\n", ":2: 1 TAB-separated column"),
        (
            "Chemical\taspirin\n\nDisease\tpain\tache\n",
            ":3: 3 TAB-separated columns, but the first row has 2",
        ),
        ("Chemical\taspirin\n \tpain\n", ":2: the name 'pain' has no type"),
    ],
)
def test_a_malformed_row_is_named_with_file_and_line(table: Path, content: str, place: str) -> None:
    table.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=place) as raised:
        list(read_dictionary(str(table)))
    assert str(table) in str(raised.value)


@pytest.mark.parametrize(
    ("content", "header"),
    [("", False), ("\n\n", False), ("Chemical\t\n", False), ("type\tname\n", True)],
)
def test_a_dictionary_without_names_is_refused(table: Path, content: str, header: bool) -> None:
    table.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="holds no name"):
        list(read_dictionary(str(table), TsvOptions(header=header)))


def test_what_is_not_utf_8_is_refused_by_place(table: Path) -> None:
    table.write_bytes("Chemical\taspirin\nDisease\tMénière\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"not utf-8 text: byte \d+ \(line 2\)"):
        list(read_dictionary(str(table)))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_dictionary(str(tmp_path / "none.tsv")))


@pytest.mark.parametrize(
    "columns",
    [
        {"name_column": 0},
        {"name_column": -1, "type_column": None},
        {"type_column": -2},
        {"type": "Chemical"},
    ],
)
def test_columns_that_cannot_be_are_refused(columns: dict[str, int | str | None]) -> None:
    with pytest.raises(UsageError):
        TsvOptions(**columns)  # type: ignore[arg-type]


def test_rows_are_read_as_they_are_asked_for(table: Path) -> None:
    table.write_text("Chemical\taspirin\nbroken\n", encoding="utf-8")
    assert list(islice(read_dictionary(str(table)), 1)) == [DictionaryEntry("aspirin", "Chemical")]


CELLS = st.text(
    st.characters(exclude_characters="\t\r\n\0", exclude_categories=("Cs",)), max_size=8
)


@given(st.lists(st.tuples(CELLS.filter(str.strip), CELLS), min_size=1, max_size=8))
def test_every_row_with_a_name_is_an_entry(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("dictionary") / "names.tsv"
    path.write_bytes("".join(f"{kind}\t{name}\n" for kind, name in rows).encode())
    expected = [DictionaryEntry(name, kind.strip()) for kind, name in rows if name.strip()]
    if expected:
        assert list(read_dictionary(str(path))) == expected
    else:
        with pytest.raises(InputError):
            list(read_dictionary(str(path)))
