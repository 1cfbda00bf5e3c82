"""Plain text: never changed, and refused in one sentence if it is no text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats import read, write


@pytest.mark.parametrize(
    "text", ["", "a\r\nb\rc\n", "\u2028\x0c  β𝛽\n\n", "x" * 2**20, "{not json", "blood group O"]
)
def test_the_text_is_not_changed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "paper.one.txt"
    path.write_bytes(text.encode())
    (document,) = read(path)
    assert document == Document(id="paper.one", text=text)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert [d.text for d in read(path)] == ["abc"]
    path.write_bytes("abc".encode("utf-16"))
    assert [d.text for d in read(path, encoding="utf-16")] == ["abc"]


def test_binary_and_wrong_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"PK\x03\x00\xff")
    with pytest.raises(FormatError, match=r"binary file .*NUL at byte 3.*encoding="):
        list(read(path))
    path.write_bytes(b"\xef\xbb\xbfab\xff")
    with pytest.raises(FormatError, match=r"not utf-8 text: byte 5 is 0xff.*encoding="):
        list(read(path))
    path.write_bytes(b"abc")
    with pytest.raises(FormatError, match=r"is not utf-16 text.*encoding="):
        list(read(path, encoding="utf-16"))
    path.write_bytes(b"a\x00")
    with pytest.raises(FormatError, match=r"binary file"):
        list(read(path, encoding="latin-1"))
    with pytest.raises(UsageError, match="encoding 'utf-9' is not known"):
        read(path, encoding="utf-9")


def test_a_file_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.core.files.source.MAX_FILE", 10)
    path = tmp_path / "a.txt"
    path.write_text("x" * 11)
    with pytest.raises(FormatError, match="more than 10 bytes"):
        list(read(path))


def test_a_folder_is_its_text_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \*\.txt file"):
        read(tmp_path)
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).write_text(name)
    (tmp_path / "d.txt").mkdir()
    assert [d.id for d in read(tmp_path)] == ["a", "b"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\r\nb")))
    assert list(read("-")) == [Document(id="stdin", text="a\r\nb")]


def test_writing(tmp_path: Path) -> None:
    document = Document(id="x", text="a\r\nβ", mentions=(Mention(((0, 1),), "X"),))
    report = write(tmp_path / "a.txt", [document], format="plain")
    assert report.losses == {"ids": 1, "mentions": 1}
    assert (tmp_path / "a.txt").read_bytes() == "a\r\nβ".encode()
    with pytest.raises(UsageError, match="holds one document"):
        write(tmp_path / "b.txt", [document, document], format="plain")
    assert not (tmp_path / "b.txt").exists()


def test_a_folder_without_texts_names_what_it_has(tmp_path: Path) -> None:
    for name in ("a.xml.gz", "b.xml.gz", "c.md", "README"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"name the files, such as .*/\*\.xml\.gz$"):
        list(read(tmp_path))
    for name in ("10.1371.1.JSON", "10.1371.2.JSON", "10.1371.3.JSON"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"name the files, such as .*/\*\.JSON$"):
        list(read(tmp_path))
