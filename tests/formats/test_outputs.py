"""Texts beside results that only refer to them."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.errors import OutputError
from fascicle.formats import write
from fascicle.formats.account import Account
from fascicle.formats.handlers import EXTRACTED
from fascicle.formats.report import WriteReport

PAGE = Document(
    id="a/b", text="Über aspirin", mentions=(Mention(((5, 12),), "X"),), meta=dict(EXTRACTED)
)


@pytest.mark.parametrize("name", ["m.tsv", "m.csv", "m.csv.gz", "m.predictions.jsonl"])
def test_an_extracted_text_stands_beside_a_table(tmp_path: Path, name: str) -> None:
    report = write(tmp_path / name, [PAGE, Document(id="plain", text="x")])
    (text,) = tmp_path.glob("*.texts/*")
    assert text.name == "a%2Fb.txt"
    assert text.read_text(encoding="utf-8") == PAGE.text
    assert report.folders == {str(text.parent)}
    assert not report.losses.keys() - {"sources"}


@pytest.mark.parametrize(
    "name", ["m.jsonl", "m.records.jsonl", "m.bioc.xml", "m.txt", "m.html", "brat"]
)
def test_formats_with_texts_have_nothing_beside_them(tmp_path: Path, name: str) -> None:
    assert not write(tmp_path / name, [PAGE], format="brat" if name == "brat" else "auto").folders
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_text_whose_id_is_too_long_for_a_file_is_named_by_its_hash(tmp_path: Path) -> None:
    documents = [msgspec.structs.replace(PAGE, id=letter + "/" * 100) for letter in "ab"]
    write(tmp_path / "m.csv", documents)
    names = sorted(one.name for one in tmp_path.glob("m.texts/*"))
    assert names == sorted(
        f"{hashlib.sha256(one.id.encode()).hexdigest()}.txt" for one in documents
    )


def test_another_text_is_kept_unless_the_user_says_so(tmp_path: Path) -> None:
    (tmp_path / "m.texts").mkdir()
    other = tmp_path / "m.texts" / "a%2Fb.txt"
    other.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError):
        write(tmp_path / "m.csv", [PAGE])
    assert other.read_text() == "mine"
    assert not (tmp_path / "m.csv").exists()
    write(tmp_path / "m.csv", [PAGE], overwrite=True)
    write(tmp_path / "m.tsv", [PAGE])  # the same text
    assert other.read_text(encoding="utf-8") == PAGE.text


def test_the_account_names_the_folder_also_after_an_interruption(tmp_path: Path) -> None:
    account = Account()
    assert "offsets" not in account.sentence()
    account.add(write(tmp_path / "m.csv", [PAGE]))
    assert account.sentence().endswith(f" {tmp_path / 'm.texts'}")
    later = Account()
    later.restore(account.state())
    later.add(write(tmp_path / "n.csv", [PAGE]))
    assert later.sentence().endswith(f" {tmp_path / 'm.texts'} and 1 other folder")


def test_nothing_stands_beside_standard_output_or_a_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("-", "/dev/null"):
        write(path, [PAGE], format="csv")
    assert list(tmp_path.iterdir()) == []


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
        min_size=1,
        unique=True,
    )
)
def test_each_id_has_a_file_of_its_own(ids: list[str]) -> None:
    from fascicle.formats.outputs import write_texts_beside

    with tempfile.TemporaryDirectory() as folder:
        documents = [Document(id=name, text=name, meta=dict(EXTRACTED)) for name in ids]
        list(
            write_texts_beside(documents, f"{folder}/m.csv", overwrite=False, report=WriteReport())
        )
        found = {file.read_bytes().decode() for file in Path(folder, "m.texts").iterdir()}
    assert found == set(ids)
