"""OntoNotes: names in ENAMEX tags, names that are a part of a token, and what is damaged."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, detect, read
from fascicle.formats.report import FailedDocuments
from fascicle.formats.sources import input_state, source_sha256

NAMES = """<DOC DOCNO="bn/abc/00/abc_0001@0001@abc@bn@en@on">
<ENAMEX TYPE="PERSON">John Smith</ENAMEX> of <ENAMEX TYPE="ORG">AT&amp;T</ENAMEX> left .

The <ENAMEX TYPE="GPE" E_OFF="6">U.S.-based</ENAMEX> firm is <ENAMEX TYPE="NORP" S_OFF="4">non-French</ENAMEX> .
</DOC>
"""
TEXT = "John Smith of AT&T left . The U.S.-based firm is non-French ."


def _read(path: Path, report: ReadReport | None = None) -> list[Document]:
    return list(read(path, format="ontonotes", report=report))


def write(folder: Path, content: str = NAMES, *, name: str = "abc_0001") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.name"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_file_and_a_folder_of_files(tmp_path: Path) -> None:
    path = write(tmp_path / "bn" / "abc")
    (document,) = _read(tmp_path)
    assert document.id == "bn/abc/00/abc_0001@0001@abc@bn@en@on"
    assert document.text == TEXT
    assert [document.text[a:b] for a, b in document.sentences or ()] == [TEXT[:25], TEXT[26:]]
    assert [document.text[a:b] for a, b in document.words or ()] == TEXT.split()
    assert [(m.type, m.text_in(document.text)) for m in document.mentions] == [
        ("PERSON", "John Smith"),
        ("ORG", "AT&T"),
        ("GPE", "U.S."),
        ("NORP", "French"),
    ]
    assert _read(path) == [document]
    assert detect(str(path)) == "ontonotes"


def test_several_documents_and_one_without_a_name(tmp_path: Path) -> None:
    path = write(tmp_path, NAMES + "<DOC>\nNothing here .\n</DOC>\n")
    assert [(one.id, len(one.mentions)) for one in _read(path)] == [
        ("bn/abc/00/abc_0001@0001@abc@bn@en@on", 4),
        ("abc_0001", 0),
    ]


def test_the_hash_and_the_state_of_a_folder_follow_its_files(tmp_path: Path) -> None:
    write(tmp_path)
    before = source_sha256(str(tmp_path)), input_state(str(tmp_path))
    write(tmp_path, NAMES.replace("GPE", "LOC"))
    assert source_sha256(str(tmp_path)) != before[0]
    assert input_state(str(tmp_path)) != before[1]


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ("no tags at all", "no <DOC> that is closed"),
        (NAMES.replace("</DOC>", ""), "no <DOC> that is closed"),
        (NAMES.replace("AT&amp;T</ENAMEX>", "AT&amp;T"), "is not closed on its line"),
        (NAMES.replace("left .", "left </ENAMEX> ."), "is not an ENAMEX tag with a TYPE"),
        (NAMES.replace('TYPE="ORG"', ""), "is not an ENAMEX tag with a TYPE"),
        (NAMES.replace('E_OFF="6"', 'E_OFF="six"'), "is not an ENAMEX tag with a TYPE"),
        (NAMES.replace("left", "<B>left"), "is not an ENAMEX tag with a TYPE"),
        (NAMES.replace("AT&amp;T</", "</"), "is not an ENAMEX tag with a TYPE"),
    ],
)
def test_damaged_files_are_set_aside_whole(tmp_path: Path, damaged: str, said: str) -> None:
    write(tmp_path, damaged)
    with pytest.raises(FormatError, match=said):
        _read(tmp_path)
    write(tmp_path, name="whole")
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert len(_read(tmp_path, report)) == 1
    assert report.aside.count == 1


def test_the_line_of_a_fault_is_told(tmp_path: Path) -> None:
    write(tmp_path, NAMES.replace('E_OFF="6"', 'E_OFF="six"'))
    with pytest.raises(FormatError, match=r"abc_0001\.name:4"):
        _read(tmp_path)


def test_a_name_with_nothing_left_is_reported(tmp_path: Path) -> None:
    report = ReadReport()
    (document,) = _read(write(tmp_path, NAMES.replace('E_OFF="6"', 'E_OFF="60"')), report)
    assert len(document.mentions) == 3
    assert dict(report.events) == {("loss", "offset-outside"): 1}


TOKENS = st.lists(st.text(alphabet='ab&<>"é😀', min_size=1, max_size=4), min_size=1, max_size=6)


@given(sentences=st.lists(TOKENS, min_size=1, max_size=4), chosen=st.data())
def test_any_tokens_with_names(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]], chosen: st.DataObject
) -> None:
    """An oracle writes one name in each sentence, and says where it stands in the joined text."""
    lines, expected, at = [], [], 0
    for tokens in sentences:
        low = chosen.draw(st.integers(0, len(tokens) - 1))
        high = chosen.draw(st.integers(low + 1, len(tokens)))
        left, right = len(tokens[low]) - 1, len(tokens[high - 1]) - 1
        skipped = chosen.draw(st.integers(0, left if high - low > 1 else 0))
        cut = chosen.draw(st.integers(0, right))
        start = at + len(" ".join([*tokens[:low], ""])) + skipped
        expected.append((start, at + len(" ".join(tokens[:high])) - cut))
        written = [html.escape(token, quote=False) for token in tokens]
        written[low] = f'<ENAMEX TYPE="ORG" S_OFF="{skipped}" E_OFF="{cut}">{written[low]}'
        written[high - 1] += "</ENAMEX>"
        lines.append(" ".join(written))
        at += len(" ".join(tokens)) + 1
    path = write(
        tmp_path_factory.mktemp("names"), "<DOC DOCNO='x'>\n" + "\n".join(lines) + "\n</DOC>\n"
    )
    (document,) = _read(path)
    assert document.text == " ".join(token for tokens in sentences for token in tokens)
    assert [m.spans[0] for m in document.mentions] == expected


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<DOC>\n&#" + "9" * 5_000 + "; b\n</DOC>", "\ufffd b"),
        ("<DOC " + "a" * 100_000 + ">\nb\n</DOC>", "b"),
        ("<DOC>" * 100_000, None),
        ("<DOC>\n" + "<ENAMEX " * 50_000 + "\n</DOC>", None),
        ('<DOC>\n<ENAMEX TYPE="A" S_OFF="' + "9" * 5_000 + '">b</ENAMEX>\n</DOC>', None),
    ],
    ids=["number", "fact", "open", "tags", "offset"],
)
def test_no_content_stalls_or_breaks_the_reader(
    tmp_path: Path, content: str, text: str | None
) -> None:
    report = ReadReport()
    if text is None:
        with pytest.raises(FormatError):
            _read(write(tmp_path, content))
        return
    assert [one.text for one in _read(write(tmp_path, content), report)] == [text]
