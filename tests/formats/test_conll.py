"""CoNLL: columns, schemes, documents, and every way a file can be wrong."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, in_order
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats import ConllOptions, ConllWriteOptions, ReadReport, parse_columns, read, write
from fascicle.formats.tag_names import document_mark

FLAT = "Mild\tO\nGaucher\tB-Disease\ndisease\tI-Disease\n.\tO\n\nNo\tO\nfever\tB-Disease\n"


def _read(
    folder: Path, text: str, *, options: ConllOptions | None = None, name: str = "a.tsv"
) -> list[Document]:
    path = folder / name
    path.write_bytes(text.encode())
    return list(read(path, format="conll", options=options))


def _found(documents: list[Document]) -> list[tuple[str, str, str]]:
    return [(d.id, m.type, m.text_in(d.text)) for d in documents for m in d.mentions]


def test_a_sentence_is_a_document(tmp_path: Path) -> None:
    documents = _read(tmp_path, FLAT)
    assert [d.id for d in documents] == ["a:1", "a:2"]
    first = documents[0]
    assert first.text == "Mild Gaucher disease ."
    assert first.words == ((0, 4), (5, 12), (13, 20), (21, 22))
    assert first.sentences == ((0, 22),)
    assert first.meta == {"text": "joined"}
    assert _found(documents) == [("a:1", "Disease", "Gaucher disease"), ("a:2", "Disease", "fever")]


def test_the_file_as_one_document(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, FLAT, options=ConllOptions(documents="file"))
    assert document.id == "a"
    assert document.text == "Mild Gaucher disease . No fever"
    assert document.sentences == ((0, 22), (23, 31))
    assert [m.spans for m in document.mentions] == [((5, 20),), ((26, 31),)]


MARKED = (
    "-DOCSTART- -X- O\n\nBonn NNP B-LOC\n\nKoeln NNP B-LOC\n\n-DOCSTART- -X- O\n\nBern NNP B-LOC\n"
)


def test_docstart_marks(tmp_path: Path) -> None:
    documents = _read(tmp_path, MARKED)
    assert [(d.id, d.text, len(d.sentences or ())) for d in documents] == [
        ("a:1", "Bonn Koeln", 2),
        ("a:2", "Bern", 1),
    ]
    assert len(_read(tmp_path, MARKED, options=ConllOptions(documents="sentence"))) == 3


def test_one_mark_at_the_top_marks_nothing(tmp_path: Path) -> None:
    assert len(_read(tmp_path, "-DOCSTART-\tO\n\n" + FLAT)) == 2
    assert (
        len(_read(tmp_path, "-DOCSTART-\tO\n\n" + FLAT, options=ConllOptions(documents="docstart")))
        == 1
    )


@pytest.mark.parametrize(
    ("tags", "scheme", "mentions"),
    [
        ("B-X I-X O B-X B-X", "IOB2", 3),
        ("I-X I-X B-X O O", "IOB1", 2),
        ("B-X E-X O S-X S-X", "BIOES", 3),
        ("B-X L-X O U-X U-X", "BILOU", 3),
        ("I-X I-X O I-X I-Y", "IO", 3),
    ],
)
def test_every_scheme_by_one_rule(tmp_path: Path, tags: str, scheme: str, mentions: int) -> None:
    path = tmp_path / "a.iob"
    path.write_text("".join(f"w {tag}\n" for tag in tags.split()))
    report = ReadReport()
    (document,) = read(path, report=report)
    assert len(document.mentions) == mentions
    assert report.tags[str(path)].scheme == scheme
    assert report.mentions == mentions


def test_repairs_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.iob"
    path.write_text("a B-X\nb I-X\n\nc I-X\nd O\n\ne B-X\n")
    report = ReadReport()
    assert sum(len(d.mentions) for d in read(path, report=report)) == 3
    assert report.repairs == 1
    assert "1 invalid tag sequences mended" in "".join(report.lines())


LAYERS = "the\tO\tO\nIL-2\tB-protein\tB-DNA\ngene\tO\tI-DNA\n"


def test_layers_of_tags(tmp_path: Path) -> None:
    for options in (ConllOptions(tag_columns=None), ConllOptions(tag_columns=(1, 2))):
        (document,) = _read(tmp_path, LAYERS, options=options)
        assert _found([document]) == [("a:1", "DNA", "IL-2 gene"), ("a:1", "protein", "IL-2")]
        assert not document.events


def test_layers_that_are_not_read_are_mentioned(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, LAYERS)
    assert [event.code for event in document.events] == ["other-tag-columns"]
    assert "column(s) 1 look" in document.events[0].message


def test_the_same_mention_in_two_layers_counts_once(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, "IL-2\tB-DNA\tB-DNA\n", options=ConllOptions(tag_columns=None))
    assert len(document.mentions) == 1
    assert [(e.kind, e.code) for e in document.events] == [("repair", "duplicate-mention")]


def test_other_columns(tmp_path: Path) -> None:
    text = "# sentence 1\n1\tBonn\tB-LOC\t_\n2\tist\tO\t_\n"
    options = ConllOptions(token_column=1, tag_columns=(2,), comment="# ")
    (document,) = _read(tmp_path, text, options=options)
    assert _found([document]) == [("a:1", "LOC", "Bonn")]


def test_parse_columns() -> None:
    assert parse_columns("0,3") == (0, (3,))
    assert parse_columns("1, 2, -1") == (1, (2, -1))
    assert parse_columns("0,all") == (0, None)
    for wrong in ("", "0", "a,b", "0,"):
        with pytest.raises(UsageError, match="give numbers"):
            parse_columns(wrong)


def test_only_line_feeds_end_lines_and_only_blanks_separate(tmp_path: Path) -> None:
    text = "a\u2028b O\r\nc\u00a0d B-X\r\n\u3000 O\r\n"
    (document,) = _read(tmp_path, text)
    assert document.text == "a\u2028b c\u00a0d \u3000"
    assert len(document.words or ()) == 3


def test_tokens_may_hold_blanks_in_a_tab_file(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, "New York\tB-LOC\nis\tO\n")
    assert document.words == ((0, 8), (9, 11))


def test_chinese_characters_with_their_position(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, "北0\tB-GPE.NAM\n京1\tI-GPE.NAM\n好0\tO\n")
    assert document.text == "北0 京1 好0"
    assert document.mentions == (Mention(((0, 5),), "GPE.NAM"),)


def test_one_stream_has_no_sentences(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, "w O\n" * 1001)
    assert document.sentences is None
    assert [event.code for event in document.events] == ["no-sentence-breaks"]
    assert len(document.words or ()) == 1001


def test_a_row_without_its_token(tmp_path: Path) -> None:
    for text in ("a B-X\n O\nb B-X\n", "a\tB-X\n\tO\nb\tB-X\n"):
        (document,) = _read(tmp_path, text)
        assert document.text == "a \ufffd b"
        assert len(document.mentions) == 2
        assert [(e.kind, e.code) for e in document.events] == [("repair", "missing-token")]


@pytest.mark.parametrize(
    "text",
    [
        "1\ta" + "\t_" * 7 + "\tNE=B-X\n2\t" + "\t_" * 8 + "\n3\tb" + "\t_" * 7 + "\tNE=B-X\n",
        "#begin document (a); part 000\na\t0\t0\ta\tNN\t*\t-\t-\t-\t-\t(X)\t-\n"
        "a\t0\t1\t\tNN\t*\t-\t-\t-\t-\t*\t-\na\t0\t2\tb\tNN\t*\t-\t-\t-\t-\t(X)\t-\n#end "
        "document\n",
    ],
)
def test_a_row_without_its_token_in_formats_with_fixed_columns(tmp_path: Path, text: str) -> None:
    (document,) = _read(tmp_path, text)
    assert document.text == "a \ufffd b"
    assert len(document.mentions) == 2
    assert [one.code for one in document.events if one.kind == "repair"] == ["missing-token"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("#begin document a{blanks};{blanks}x", "a{blanks};{blanks}x"),
        ("#begin document a; part 0{zeros}x", "a; part 0{zeros}x"),
        ("#begin document (a){blanks}; part {zeros}7{blanks}", "a_7"),
        ("-DOCSTART- {brackets}", ""),
        ("-DOCSTART- {zeros} x", ""),
        ("# newdoc id ={blanks}", ""),
    ],
)
def test_marks_of_any_length_take_time_by_their_length(line: str, name: str) -> None:
    many = {"blanks": " " * 100_000, "zeros": "0" * 100_000, "brackets": "( " * 100_000}
    assert document_mark(line.format(**many)) == name.format(**many)


def test_blank_lines_may_hold_blanks_and_tabs(tmp_path: Path) -> None:
    assert len(_read(tmp_path, "a\tO\n\t\nb\tO\n \n\n\nc\tO")) == 3


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a\tO\nb\n", None, r"a\.tsv:2: found 1 TAB-separated column\(s\).*-1 is the last"),
        ("a O\nb\n", None, r"a\.tsv:2: found 1 blank-separated"),
        (
            "a O\nb O\n",
            ConllOptions(tag_columns=(3,)),
            r"a\.tsv:1: found 2 blank-separated.*a tag in 3",
        ),
        ("a\tx\tB-X\nb\tO\n", ConllOptions(tag_columns=(2,)), r"a\.tsv:2: found 2 TAB-separated"),
        ("a\tLOC\n", None, r"a\.tsv:1: tag 'LOC' is not"),
        ("a\tB-\n", None, r"a\.tsv:1: tag 'B-' is not"),
    ],
)
def test_wrong_lines(tmp_path: Path, text: str, options: ConllOptions | None, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        _read(tmp_path, text, options=options)


@pytest.mark.parametrize("text", ["", "\n\n", "-DOCSTART-\tO\n\n"])
def test_an_empty_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="is empty"):
        _read(tmp_path, text)


def test_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes(b"a O\n\x00\x01 O\n")
    with pytest.raises(FormatError, match=r"binary file .* NUL at byte 4"):
        list(read(path))


def test_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes("Ja O\nKöln B-LOC\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"byte 6 \(line 2\) is 0xf6.*encoding="):
        list(read(path, encoding="utf-8"))
    (document,) = read(path, encoding="latin-1")
    assert document.text == "Ja Köln"


def test_gzip_and_utf16(tmp_path: Path) -> None:
    packed = tmp_path / "b.tsv.gz"
    packed.write_bytes(gzip.compress(FLAT.encode()))
    assert [d.id for d in read(packed)] == ["b:1", "b:2"]
    wide = tmp_path / "c.tsv"
    wide.write_bytes(FLAT.encode("utf-16"))
    documents = list(read(wide, format="conll", encoding="utf-16"))
    assert [d.text for d in documents] == ["Mild Gaucher disease .", "No fever"]


def test_a_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "b.tsv.gz"
    path.write_bytes(gzip.compress(FLAT.encode() * 1000)[:-20])
    with pytest.raises(FormatError, match="damaged or cut off"):
        list(read(path, format="conll"))


def test_a_line_of_a_megabyte(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, "x" * 2**20 + "\tB-X\n")
    assert document.mentions[0].end == 2**20


def test_a_line_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.core.files.source.MAX_LINE", 100)
    with pytest.raises(FormatError, match=r"line 2 is longer"):
        _read(tmp_path, "a\tO\n" + "x" * 200 + "\tO\n")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(FLAT.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(UsageError, match="documents=VALUE"):
        list(read("-", format="conll"))
    documents = list(read("-", format="conll", options=ConllOptions(documents="sentence")))
    assert [d.id for d in documents] == ["stdin:1", "stdin:2"]


def test_documents_come_before_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\tO\n\nb\n")
    documents = read(path, format="conll")
    assert next(documents).text == "a"
    with pytest.raises(FormatError, match=r":3: found 1"):
        next(documents)


def test_wrong_options() -> None:
    with pytest.raises(UsageError, match="choose one of auto, sentence"):
        ConllOptions(documents="page")
    with pytest.raises(UsageError, match="at least one column"):
        ConllOptions(tag_columns=())
    with pytest.raises(UsageError, match="1 or more"):
        ConllWriteOptions(layers=0)


NESTED = Document(
    id="d",
    text="the IL-2 gene promoter. It",
    words=((0, 3), (4, 8), (9, 13), (14, 22), (22, 23), (24, 26)),
    sentences=((0, 23), (24, 26)),
    mentions=(
        Mention(((4, 13),), "DNA"),
        Mention(((4, 8),), "protein"),
        Mention(((4, 8), (14, 22)), "DNA"),
        Mention(((14, 26),), "DNA"),
        Mention(((5, 8),), "DNA"),
    ),
)


def test_writing_counts_what_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "out.conll"
    report = write(path, [NESTED])
    expected = {"nested": 1, "discontinuous": 1, "across-sentences": 1, "not-on-words": 1, "ids": 1}
    assert report.losses.items() >= expected.items()
    assert report.mentions == 1
    assert path.read_text() == (
        "-DOCSTART- -X- O O\n\nthe\tO\nIL-2\tB-DNA\ngene\tI-DNA\npromoter\tO\n.\tO\n\nIt\tO\n\n"
    )
    assert "first in d at 4-8, 14-22)" in "".join(report.lines())


def test_writing_layers(tmp_path: Path) -> None:
    path = tmp_path / "out.conll"
    report = write(path, [NESTED], options=ConllWriteOptions(layers=2))
    assert report.losses["nested"] == 0
    (document,) = read(path, options=ConllOptions(tag_columns=None, documents="docstart"))
    assert [(m.type, m.text_in(document.text)) for m in document.mentions] == [
        ("DNA", "IL-2 gene"),
        ("protein", "IL-2"),
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document(id="d", text="a\tb", words=((0, 3),)), "cannot be written to a CoNLL file"),
        (
            Document(id="d", text="a", words=((0, 1),), mentions=(Mention(((0, 1),), "a\tb"),)),
            "TAB, line breaks",
        ),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, document: Document, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write(tmp_path / "out.conll", [document])
    assert not list(tmp_path.iterdir())


def test_a_text_without_words_gets_those_that_models_read(tmp_path: Path) -> None:
    write(
        tmp_path / "out.conll",
        [Document(id="d", text="No fever. Pain.", mentions=(Mention(((3, 8),), "X"),))],
    )
    rows = (tmp_path / "out.conll").read_text().split("\n")
    assert [row.split("\t") for row in rows if row][1:] == [
        ["No", "O"],
        ["fever", "B-X"],
        [".", "O"],
        ["Pain", "O"],
        [".", "O"],
    ]


ROWS = ("EU NNP B-NP B-ORG", "visits VBZ B-VP O", "York NNP B-NP B-LOC", ". . O O")


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.sets(st.integers(0, 23), max_size=3),
    st.sampled_from([" ", "  ", "\t"]),
    st.booleans(),
)
def test_rows_with_another_number_of_columns_are_counted(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    odd: set[int],
    separator: str,
    more: bool,
) -> None:
    """Each is in the count of its sentence, with the first line; the other rows are read as
    ever.
    """
    lines: list[str] = []
    wanted: list[list[int]] = []
    number = 0
    for length in lengths:
        uneven = []
        for row in ROWS[:length]:
            cells = row.split(" ")
            if number in odd and number > 2:  # the first sentence has a majority of even rows
                cells = ["New", *cells] if more else [cells[0], cells[-1]]
                uneven.append(len(lines) + 1)
            lines.append(separator.join(cells))
            number += 1
        lines.append("")
        wanted.append(uneven)
    path = tmp_path_factory.mktemp("uneven") / "a.conll"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = list(read(path, format="conll"))
    told = [
        [event.message for event in document.events if event.code == "uneven-columns"]
        for document in found
    ]
    assert [bool(one) for one in told] == [bool(one) for one in wanted]
    for messages, places in zip(told, wanted, strict=True):
        for message in messages:
            assert re.search(rf"^{len(places)} rows? .* line {places[0]};", message)


def test_a_token_with_a_blank_is_no_silent_loss(tmp_path: Path) -> None:
    """Also where it stands in the first sentence."""
    text = "EU NNP B-NP B-ORG\nNew York NNP B-NP B-LOC\n. . O O\n\nEU NNP B-NP B-ORG\n"
    found = _read(tmp_path, text)
    assert [[event.code for event in document.events] for document in found] == [
        ["uneven-columns"],
        [],
    ]
    assert "line 2" in found[0].events[0].message


def test_a_lost_token_is_no_row_with_too_few_columns(tmp_path: Path) -> None:
    for text in ("a B-X\n O\nb B-X\n", "a O\n\n O\nb B-X\n"):
        told = [event.code for document in _read(tmp_path, text) for event in document.events]
        assert told == ["missing-token"]


def test_of_two_types_of_a_range_the_better_one_is_written(tmp_path: Path) -> None:
    mentions = (
        Mention(((0, 5),), "CellType", score=0.52),
        Mention(((0, 5),), "Disease", score=0.97),
        Mention(((0, 11),), "Gene", score=0.6),
    )
    document = Document(id="d", text="Tumor cells", words=((0, 5), (6, 11)), mentions=mentions)
    report = write(tmp_path / "a.conll", [document])
    assert (tmp_path / "a.conll").read_text().split("\n\n")[1] == "Tumor\tB-Disease\ncells\tO"
    assert report.losses["nested"] == 2
    assert report.examples["nested"] == "d at 0-11: Gene 0.60 gave way to Disease 0.97"


SCORES = st.sampled_from([None, 0.25, 0.5, 1.0])
ROWS_OF_MENTIONS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 4), st.sampled_from("AB"), SCORES), max_size=8
)


@given(ROWS_OF_MENTIONS, st.integers(1, 3))
def test_the_best_mentions_are_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[int, int, str, float | None]],
    layers: int,
) -> None:
    """In turn the better, longer, earlier one, as long as no word is in more mentions than there
    are columns.
    """
    words = [(at * 2, at * 2 + 1) for at in range(10)]
    made = {(kind, first, first + width): score for first, width, kind, score in rows}
    mentions = tuple(
        Mention(((words[first][0], words[last - 1][1]),), kind, score=score)
        for (kind, first, last), score in made.items()
    )
    document = Document(
        id="d", text=" ".join("w" * 10), words=tuple(words), mentions=in_order(mentions)
    )
    kept: list[tuple[str, int, int]] = []
    sure = {key: 1.0 if score is None else score for key, score in made.items()}
    for kind, first, last in sorted(
        made, key=lambda key: (-sure[key], key[1] - key[2], key[1], key[0])
    ):
        together = [*kept, (kind, first, last)]
        if all(sum(a <= at < b for _, a, b in together) <= layers for at in range(10)):
            kept = together
    path = tmp_path_factory.mktemp("best") / "a.conll"
    report = write(path, [document], options=ConllWriteOptions(layers=layers))
    assert report.losses["nested"] == len(mentions) - len(kept)
    (found,) = read(path, options=ConllOptions(tag_columns=None, documents="docstart"))
    wanted = sorted((kind, first * 2, last * 2 - 1) for kind, first, last in kept)
    assert sorted((one.type, one.start, one.end) for one in found) == wanted


@pytest.mark.parametrize("kind", [" ", "x "])
def test_a_type_that_ends_with_a_blank_is_refused(tmp_path: Path, kind: str) -> None:
    document = Document(id="1", text="ab cd", mentions=(Mention(((0, 2),), kind),))
    with pytest.raises(InputError, match="end with a blank"):
        write(tmp_path / "a.conll", [document])


def test_sentences_share_the_objects_of_equal_ranges_and_types(tmp_path: Path) -> None:
    """Else a corpus of sentences takes twice the memory."""
    path = tmp_path / "a.tsv"
    path.write_text("aspirin\tB-Chemical\n\nnothing\tB-Chemical\n", encoding="utf-8")
    first, second = read(path)
    assert first.words is not None
    assert second.words is not None
    assert first.words[0] is second.words[0]
    for part in ("spans", "type"):
        assert getattr(first.mentions[0], part) is getattr(second.mentions[0], part)
