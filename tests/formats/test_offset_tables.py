"""Texts with a table of offsets: what shared tasks publish, any table, damaged ones, and notes
where none is read.
"""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.cli import main
from fascicle.core.document import Document
from fascicle.core.files import tree
from fascicle.errors import FormatError, InputError
from fascicle.formats import ReadReport, detect, read, sources, write
from fascicle.formats.offset_tables import columns_by_name
from fascicle.formats.report import FailedDocuments
from fascicle.formats.sources import input_state, left_out_notes, source_sha256

HEADER = "tweets_id\tbegin\tend\ttype\textraction\n"
TEXTS = {"11": "😀 Tengo gripe, y «asma».", "12": "Nada.", "13": 'Enfermedades "raras"\nhoy'}
ROWS = (
    "11\t8\t13\tENFERMEDAD\tgripe\n"
    '13\t0\t20\tENFERMEDAD\t"Enfermedades ""raras"""\n'
    "11\t18\t22\tENFERMEDAD\tasma\n"
    "99\t0\t2\tENFERMEDAD\tno\n"
)


def _corpus(
    place: Path,
    rows: str = HEADER + ROWS,
    *,
    texts: str = "texts/train",
    table: str = "mentions.tsv",
) -> Path:
    """The layout of the task: a table, and below it the texts of a part."""
    folder = place / texts
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    (place / table).write_bytes(rows.encode())
    return folder


def test_texts_below_the_place_are_part_of_its_hash(tmp_path: Path) -> None:
    """A corpus that is read from its folder can be trained on from there."""
    _corpus(tmp_path)
    assert _said(_read(tmp_path))
    before = source_sha256(str(tmp_path)), input_state(str(tmp_path))
    (tmp_path / "texts" / "train" / "12.txt").write_text("Algo.")
    assert source_sha256(str(tmp_path)) != before[0]
    assert input_state(str(tmp_path)) != before[1]


def _said(documents: list[Document]) -> dict[str, list[tuple[str, str]]]:
    return {one.id: [(m.type, m.text_in(one.text)) for m in one.mentions] for one in documents}


def _read(path: Path, report: ReadReport | None = None) -> list[Document]:
    return list(read(path, format="offsets", report=report))


@pytest.mark.parametrize("texts", ["texts/train", "train", "."])
def test_texts_with_the_table_in_their_folder_or_above_it(tmp_path: Path, texts: str) -> None:
    report = ReadReport()
    documents = _read(_corpus(tmp_path, texts=texts), report)
    assert _said(documents) == {
        "11": [("ENFERMEDAD", "gripe"), ("ENFERMEDAD", "asma")],
        "12": [],
        "13": [("ENFERMEDAD", 'Enfermedades "raras"')],
    }
    assert [one.text for one in documents] == list(TEXTS.values())
    assert dict(report.events) == {("note", "no-annotation"): 1, ("note", "rows-left-out"): 1}


@pytest.mark.parametrize("inside", [True, False])
def test_a_zip_with_the_table_inside_or_beside_it(tmp_path: Path, inside: bool) -> None:
    expected = _said(_read(_corpus(tmp_path / "plain")))
    with zipfile.ZipFile(tmp_path / "corpus.zip", "w") as archive:
        for name, text in TEXTS.items():
            archive.writestr(f"data/texts/train/{name}.txt", text)
        if inside:
            archive.writestr("data/mentions.tsv", HEADER + ROWS)
    if not inside:
        (tmp_path / "mentions.tsv").write_text(HEADER + ROWS)
    path = tmp_path / "corpus.zip/data/texts/train" if inside else tmp_path / "corpus.zip/data"
    assert _said(_read(path)) == expected
    before = source_sha256(str(path)), input_state(str(path))
    if not inside:
        (tmp_path / "mentions.tsv").write_text(
            HEADER + ROWS.replace("gripe\n", "gripe\n", 1).replace("18", "17")
        )
        assert source_sha256(str(path)) != before[0]
        assert input_state(str(path)) != before[1]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        (
            "tweet_id\tbegin\tend\ttype\textraction",
            {"document": 0, "start": 1, "end": 2, "type": 3, "text": 4},
        ),
        (
            "filename\tmark\tlabel\toff0\toff1\tspan",
            {"document": 0, "start": 3, "end": 4, "type": 2, "text": 5},
        ),
        ("Filename\tLabel\tStart_span\tEnd_span", {"document": 0, "start": 2, "end": 3, "type": 1}),
        ("document\ttype\tstart\tend\tscore\ttext", {}),  # what Fascicle wrote is no gold
        ("id\ttype\ttext", {}),
        ("", {}),
    ],
)
def test_headers(header: str, columns: dict[str, int]) -> None:
    assert columns_by_name(header) == columns


_ALPHABET = st.text(st.sampled_from('aé😀\u0301\u2028\r\n "ß𝒳'), min_size=1, max_size=30)


@given(st.data())
def test_any_mentions_of_any_texts_come_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    place = tmp_path_factory.mktemp("corpus")
    texts = data.draw(st.lists(_ALPHABET, min_size=1, max_size=4))
    rows, expected = [], {}
    for number, text in enumerate(texts):
        (place / f"{number}.txt").write_bytes(text.encode())
        pairs = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(
            lambda pair: pair[0] < pair[1]
        )
        spans = data.draw(st.lists(pairs, unique=True, max_size=4))
        expected[str(number)] = {(start, end) for start, end in spans}
        rows += [f"{start}\t{end}\tX\t{number}.txt\n" for start, end in spans]
    (place / "a.tsv").write_bytes(
        ("start\tend\ttype\tfile\n" + "".join(data.draw(st.permutations(rows)))).encode()
    )
    if rows:
        found = {one.id: {(m.start, m.end) for m in one.mentions} for one in _read(place)}
        assert found == expected
    else:
        with pytest.raises(FormatError, match="no table of offsets"):
            _read(place)


def test_fragments_and_offsets_that_do_not_fit(tmp_path: Path) -> None:
    rows = (
        "11\t0;8\t1;13\tX\t😀 gripe\n"  # two fragments
        "11\t8\t13\tY\tgrippe\n"  # other text
        "11\t8\t13\tY\tgripe\n"  # once more
        "11\t20\t99\tX\tasma\n"  # outside
        "11\t5\t5\tX\t\n"  # empty
        "11\t-3\t5\tX\tx\n"
    )
    report = ReadReport()
    documents = _read(_corpus(tmp_path, HEADER + rows), report)
    assert [m.spans for m in documents[0].mentions] == [((0, 1), (8, 13)), ((8, 13),)]
    assert report.events["loss", "offset-outside"] == 3
    assert (
        report.events["repair", "text-mismatch"]
        == report.events["repair", "duplicate-mention"]
        == 1
    )


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("12\t1\t2\tX", "4 cells"),
        ("12\t1\t2\tX\ta\tb", "6 cells"),
        ("12\tone\t2\tX\ta", "whole numbers"),
        ("12\t1.0\t2\tX\ta", "whole numbers"),
        ("12\t１\t2\tX\ta", "whole numbers"),
        ("12\t1;2\t2\tX\ta", "whole numbers"),
        ("12\t\t2\tX\ta", "whole numbers"),
        ("12\t1" + "0" * 30 + "\t2\tX\ta", "whole numbers"),
        ("\t1\t2\tX\ta", "no document"),
        ("12\t1\t2\t \ta", "no type"),
        ("99\tone\t2\tX\ta", "whole numbers"),  # of a text that is not here
    ],
)
def test_a_damaged_table_is_refused_with_file_and_line(tmp_path: Path, bad: str, why: str) -> None:
    folder = _corpus(tmp_path, f"{HEADER}{ROWS}{bad}\n{ROWS}")
    with pytest.raises(FormatError, match=why) as caught:
        _read(folder)
    assert caught.value.file == str(tmp_path / "mentions.tsv")
    assert caught.value.line == 6
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert not _read(folder, report)
    assert report.aside.count == 1


def test_a_place_without_a_table_of_its_texts_is_refused(tmp_path: Path) -> None:
    folder = _corpus(tmp_path, HEADER + "99\t0\t1\tX\ta\n")
    with pytest.raises(FormatError, match="no table of offsets"):
        _read(folder)
    (folder / "mentions.tsv").write_text(HEADER + ROWS)
    (folder / "more.tsv").write_text(HEADER + ROWS)
    with pytest.raises(FormatError, match=r"mentions\.tsv and .*more\.tsv"):
        _read(folder)
    # predictions
    (folder / "more.tsv").write_text("document\ttype\tstart\tend\tscore\n11\tX\t8\t13\t0.5\n")
    assert len(_read(folder)) == 3


def test_two_texts_of_one_name_are_refused(tmp_path: Path) -> None:
    _corpus(tmp_path)
    (tmp_path / "texts/test").mkdir()
    (tmp_path / "texts/test/11.txt").write_text("Otro.")
    with pytest.raises(InputError, match="two texts of one name"):
        _read(tmp_path / "texts")


def test_a_text_that_cannot_be_read_costs_itself_alone(tmp_path: Path) -> None:
    folder = _corpus(tmp_path)
    (folder / "11.txt").write_bytes(b"\x00\x01")
    with pytest.raises(FormatError, match=r"11\.txt"):
        _read(folder)
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in _read(folder, report)] == ["12", "13"]
    assert report.events["note", "rows-left-out"] == 1


def test_an_empty_folder_and_standard_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        _read(tmp_path)
    with pytest.raises(InputError, match="no file"):
        _read(tmp_path / "missing")


def test_encodings(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_bytes("Fièvre".encode("latin-1"))
    (tmp_path / "mentions.tsv").write_bytes(f"{HEADER}a\t0\t6\tX\tFièvre\n".encode("latin-1"))
    (one,) = read(folder, format="offsets", encoding="latin-1")
    assert _said([one]) == {"a": [("X", "Fièvre")]}
    assert not one.events


def test_a_folder_of_plain_texts_says_that_a_table_was_not_read(tmp_path: Path) -> None:
    folder = _corpus(tmp_path)
    table = str(tmp_path / "mentions.tsv")
    assert detect(str(folder)) == "plain"
    report = ReadReport()
    assert not any(one.mentions for one in read(folder, report=report))
    assert report.tables_unread == {str(folder): table}
    assert any(table in line for line in report.lines())
    notes = list(left_out_notes([str(folder)]))
    assert len(notes) == 1
    assert table in notes[0]
    for quiet in ("plain", "offsets"):
        assert not list(left_out_notes([str(folder)], format=quiet))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("x")
    assert not list(left_out_notes([str(other)]))


def test_the_command_line_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _corpus(tmp_path)
    assert main(["corpus", "stats", str(folder)]) == 0
    assert str(tmp_path / "mentions.tsv") in "".join(capsys.readouterr())
    assert (
        main(
            [
                "corpus",
                "convert",
                str(folder),
                "--input-format",
                "offsets",
                "-o",
                str(tmp_path / "a.jsonl"),
            ]
        )
        == 0
    )
    assert _said(list(read(tmp_path / "a.jsonl"))) == _said(_read(folder))


def test_the_table_counts_in_the_hash_of_the_texts_and_no_other_table_does(tmp_path: Path) -> None:
    folder = _corpus(tmp_path)
    whole, now = source_sha256(str(folder)), input_state(str(folder))
    (tmp_path / "mentions.tsv").write_text(HEADER + ROWS.replace("\t8\t", "\t7\t"))
    changed = source_sha256(str(folder))
    assert changed != whole
    assert input_state(str(folder)) != now
    (tmp_path / "mentions.tsv").write_text(HEADER + "99\t0\t1\tX\ta\n")
    alone = source_sha256(str(folder))
    (tmp_path / "mentions.tsv").unlink()
    assert source_sha256(str(folder)) == alone != changed


def test_annotation_beside_the_texts_makes_a_corpus_of_brat_whose_hash_no_table_changes(
    tmp_path: Path,
) -> None:
    write(tmp_path / "brat", [Document(id="11", text=TEXTS["11"])], format="brat")
    before = source_sha256(str(tmp_path / "brat"))
    (tmp_path / "mentions.tsv").write_text(HEADER + ROWS)
    assert source_sha256(str(tmp_path / "brat")) == before


def test_texts_are_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_MEMBER", 2**20)  # a buffer of this size is made for each text
    for number in range(200):
        (tmp_path / f"{number}.txt").write_text("x" * 100_000)
    (tmp_path / "mentions.tsv").write_text(HEADER + "0\t0\t1\tX\tx\n")
    tracemalloc.start()
    count = sum(1 for _ in read(tmp_path, format="offsets"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 200
    assert peak < 5_000_000


def test_folders_below_are_not_looked_through_for_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the texts of the folder itself are read as plain texts; below it there may be
    anything.
    """
    folder = _corpus(tmp_path)
    (folder / "deep/deeper").mkdir(parents=True)
    (folder / "deep/deeper/99.txt").write_text("x")
    monkeypatch.setattr(sources, "open_tree", _refuse)
    assert len(list(left_out_notes([str(folder)]))) == 2  # the table, and the folder below
    (tmp_path / "mentions.tsv").write_text(HEADER + "99\t0\t1\tX\tx\n")
    assert len(list(left_out_notes([str(folder)]))) == 1


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("the whole tree was opened")


def test_codes_are_links_and_further_columns_attributes(tmp_path: Path) -> None:
    """The linking parts of DisTEMIST, MedProcNER and SympTEMIST: a column ``code``, with ``+`` between
    several concepts, and ``NOCODE`` where none fits.
    """
    (tmp_path / "a.txt").write_text("fiebre y tos, asma")
    (tmp_path / "t.tsv").write_text(
        "filename\tmark\tlabel\tstart_span\tend_span\ttext\tcode\tsem_rel\n"
        "a\tT1\tSYM\t0\t6\tfiebre\t386661006\tEXACT\n"
        "a\tT2\tSYM\t9\t12\ttos\t1+2|3\tNARROW\na\tT3\tSYM\t14\t18\tasma\tNOCODE\t\n"
    )
    ((first, second, third),) = (one.mentions for one in _read(tmp_path))
    assert [[link.id for link in one.links] for one in (first, second, third)] == [
        ["386661006"],
        ["1", "2", "3"],
        [],
    ]
    assert (first.attributes, third.attributes) == ((("sem_rel", "EXACT"),), ())
