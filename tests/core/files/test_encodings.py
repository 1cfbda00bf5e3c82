"""Encodings are guessed where that is safe, and the guess is said; other files are named as what
they are.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import sys
import time
import zipfile
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.core.files.encodings import is_western
from fascicle.errors import FormatError, InputError
from fascicle.formats import ReadReport, detect, read
from fascicle.formats.report import FailedDocuments

TEXTS = {
    "quotes": "He said \u201cno\u201d \u2013 and didn\u2019t \u2026 of Sj\u00f6gren\u2019s "
    "syndrome.\n" * 3,
    "german": "Größe und Maß: 37 °C, Ärzte übten „süße“ über die Straße.\n",
    "french": "À l’hôpital, l’œdème est apparu où ça gêne : 5 µg/ml, 20 €.\n",
    "spanish": "¿Qué pasó? El niño tosió; el corazón se aceleró según el cardiólogo.\n",
    "portuguese": "A administração não é recomendável às crianças com infecções.\n",
    "danish": "Blodtryksmåling på sygehuset gør ikke ondt; æblerne er røde.\n",
    "swedish": "Patienten får återbesök på måndag för förhöjt blodtryck.\n",
    "names": "We thank Müller, García-Peña, Ångström, Håkon, Çelik and Lefèvre for the cohort of "
    "patients. " + "No letter has a mark. " * 60,
}
OTHERS = [
    ("cp1251", "Пациент поступил в клинику с жалобами на боль."),
    ("koi8-r", "Пациент поступил в клинику с жалобами на боль."),
    ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy u řeky."),
    ("iso8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy u řeky."),
    ("cp1250", "Zażółć gęślą jaźń, a chorzy są w szpitalu."),
    ("iso8859-2", "Zażółć gęślą jaźń, a chorzy są w szpitalu."),
    ("cp1250", "Árvíztűrő tükörfúrógép, őszi eső, hűvös szél."),
    ("cp1254", "Şişli'de yaşayan hastanın ağrısı geçmiş, ışığı gördü."),
    ("cp1253", "Ο ασθενής ήρθε στο νοσοκομείο με πόνο."),
    ("cp1255", "החולה הגיע לבית החולים עם כאבים"),
    ("cp1256", "وصل المريض إلى المستشفى وهو يعاني من الألم"),
    ("cp1257", "Pacientė skundėsi širdies skausmais ir žemu kraujospūdžiu."),
    ("mac_roman", "Le père a été opéré à l’hôpital; “ça va” dit-il."),
    ("cp437", "Größe und Maß der Ärzte über die Straße, café."),
    ("shift_jis", "患者は痛みを訴えて来院した。"),
    ("gbk", "患者因疼痛来医院就诊。"),
    ("big5", "患者因疼痛來醫院就診。"),
    ("euc_kr", "환자는 통증을 호소하며 병원에 왔다."),
]


def _said(report: ReadReport, documents: list[Document]) -> str:
    assert report.events["note", "encoding-guessed"] == 1
    return next(e.message for d in documents for e in d.events if e.code == "encoding-guessed")


@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.parametrize("kind", ["a.txt", "a.jsonl", "a.txt.gz"])
def test_windows_1252_is_read_and_said(tmp_path: Path, name: str, kind: str) -> None:
    text = TEXTS[name]
    path, content = tmp_path / kind, text
    if "json" in kind:
        content = "".join(
            json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in ("ascii", text, "more")
        )
    data = content.encode("cp1252")
    path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    report = ReadReport()
    documents = list(read(path, report=report))
    assert text in [document.text for document in documents]
    assert "windows-1252" in _said(report, documents)
    assert report.encodings == {str(path): "windows-1252"}
    with pytest.raises(FormatError, match="encoding="):
        list(read(path, encoding="utf-8"))


def test_the_texts_are_not_utf8_by_chance() -> None:
    for text in TEXTS.values():
        with pytest.raises(UnicodeDecodeError):
            text.encode("cp1252").decode()


@pytest.mark.parametrize(("encoding", "text"), OTHERS)
def test_other_code_pages_are_refused(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((text + "\n").encode(encoding) * 20)
    with pytest.raises(FormatError, match="encoding="):
        list(read(path))
    (document,) = read(path, encoding=encoding)
    assert document.text == (text + "\n") * 20


@pytest.mark.parametrize("mark", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("kind", ["a.txt", "a.conll", "a.jsonl", "a.pubtator", "n.jsonl"])
def test_byte_order_marks(tmp_path: Path, mark: str, kind: str) -> None:
    content = {
        "a.txt": "Größe 患者 \U0001f600\r\n",
        "a.conll": "Größe\tB-X\n患者\tO\n\n\U0001f600\tO\n",
        "a.jsonl": '{"text": "Größe", "entities": [{"start": 0, "end": 5, "type": '
        '"X"}]}\n{"text": "患者"}\n',
        "a.pubtator": "1|t|Größe\n1|a|患者\n1\t0\t5\tGröße\tX\t-\n",
        "n.jsonl": '{"id": "1", "text": "患者", "fascicle": 1}\n',
    }[kind]
    plain, path = tmp_path / "plain" / kind, tmp_path / kind
    plain.parent.mkdir()
    plain.write_bytes(content.encode())
    path.write_bytes(
        codecs.BOM_UTF16_BE + content.encode(mark) if mark == "utf-16-be" else content.encode(mark)
    )
    assert detect(str(path)) == detect(str(plain))
    report = ReadReport()
    documents = list(read(path, report=report))
    wanted = list(read(plain))
    assert [(d.id, d.text, d.mentions) for d in documents] == [
        (d.id, d.text, d.mentions) for d in wanted
    ]
    assert bool(report.encodings) == (mark != "utf-8-sig")
    assert ("note", "encoding-guessed") not in report.events  # a mark is no guess


def test_bad_bytes_in_utf8_are_no_other_encoding(tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"Größe {n}"}, ensure_ascii=False).encode() for n in range(62)]
    rows[60] = b'{"text": "Gr\xf6\xdfe"}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(rows))
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert len(list(read(path, report=report))) == 61
    assert report.aside.count == 1
    assert not report.encodings
    path.write_bytes("Größe ".encode() + b"\xe4\n")
    with pytest.raises(FormatError):
        list(read(path, format="plain"))


def test_a_guess_in_a_brat_corpus(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Größe der Ärzte".encode("cp1252"))
    (tmp_path / "a.ann").write_bytes("T1\tX 0 5\tGröße\n".encode("cp1252"))
    (tmp_path / "b.txt").write_bytes("Maße".encode())
    (tmp_path / "b.ann").write_bytes(b"")
    report = ReadReport()
    first, second = read(tmp_path, report=report)
    assert first.text == "Größe der Ärzte"
    assert first.mentions[0].text_in(first.text) == "Größe"
    assert second.text == "Maße"
    assert "windows-1252" in _said(report, [first, second])
    assert not any(event.code == "text-mismatch" for event in first.events)


def test_markup_in_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Pipe(b"\n<?xml version='1.0'?>\n<p>Text</p>"))
    with pytest.raises(FormatError, match="XML"):
        list(read("-"))
    monkeypatch.setattr(sys, "stdin", _Pipe(b"\n<!doctype html>\n<p>Text</p>"))
    assert detect("-") == "html"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", b"<!DOCTYPE html>\n<html><body><p>Text</p></body></html>"),
        ("a.txt", b"\xef\xbb\xbf  <HTML lang=en><p>Text</p>"),
        ("a.htm", b"<p>Text</p>"),
    ],
)
def test_pages_are_known(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert detect(str(path)) == "html"


class _Pipe(io.BytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.buffer = io.BufferedReader(io.BytesIO(data))


def test_standard_input_cannot_be_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Pipe("Größe".encode("cp1252")))
    with pytest.raises(FormatError, match="encoding="):
        list(read("-", format="plain"))
    monkeypatch.setattr(sys, "stdin", _Pipe("Größe".encode("utf-16")))
    (document,) = read("-", format="plain")
    assert document.text == "Größe"


def _zip(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return stream.getvalue()


FILES = [
    ("a.xml", b"<catalogue><source>PubTator</source></catalogue>", "XML"),
    ("a.txt", b'<?xml version="1.0"?><a/>', "XML"),
    ("a.rtf", b"{\\rtf1\\ansi Text}", "RTF"),
    ("a.png", b"\x89PNG\r\n\x1a\n\x00\x00", "image"),
    ("a.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF", "image"),
    ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "Office"),
    ("a.odt", _zip("mimetype", "content.xml"), "OpenDocument"),
    ("a.zip", _zip("a.txt"), "brat"),
    ("a.txt.xz", b"\xfd7zXZ\x00\x00\x04", "xz"),
    ("a.parquet", b"PAR1\x15\x04\x15", "Parquet"),
    ("a.spacy", b"x\x9c\x8d\x92\xcbN\xc30", "spaCy"),
]


@pytest.mark.parametrize(("name", "content", "words"), FILES)
def test_other_files_are_named_as_what_they_are(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=words) as caught:
        list(read(path))
    assert name in str(caught.value)


@pytest.mark.parametrize("content", [b"<html><p>Text</p></html>", b"<?xml version='1.0'?><a/>"])
def test_markup_is_text_where_that_is_asked_for(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(content)
    (document,) = read(path, format="plain")
    assert document.text == content.decode()
    path.write_bytes(b"%PDF-1.4\nplain ascii\n")
    with pytest.raises(InputError, match="PDF"):
        list(read(path, format="plain"))


@pytest.mark.parametrize(
    "content",
    [b"<5 mg/l was <LOD>\n", b"BZh is a word\n", b"PAR1 and PAR2 are receptors\n", b"GIF8\n"],
)
def test_texts_that_begin_like_other_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    (document,) = read(path)
    assert document.text == content.decode()


@pytest.mark.parametrize("letters", [b"a", b"\xe9", b"A\x92", b"a\xa0", b"x "])
def test_guessing_is_linear(letters: bytes) -> None:
    # 400 kB take a fraction of a second; the square of that would take hours.
    start = time.process_time()
    is_western([b"\xce" + letters * 200_000])
    assert time.process_time() - start < 20
