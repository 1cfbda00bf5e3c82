"""Only records whose licence lets weights ship are taken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fascicle.formats import read
from studies.six.open_text import main, open_documents

RECORDS = [
    {
        "id": "a",
        "license": "CC BY 4.0",
        "title": "One",
        "abstract": "Text of one.",
        "paragraphs": ["Body."],
    },
    {
        "id": "b",
        "license": "CC BY-NC 4.0",
        "title": "Two",
        "abstract": "Text of two.",
        "paragraphs": [],
    },
    {
        "id": "c",
        "license": "CC0",
        "title": "Three",
        "abstract": "",
        "paragraphs": ["First.", "Second."],
    },
    {
        "id": "d",
        "license": "CC BY-ND 3.0",
        "title": "Four",
        "abstract": "Text of four.",
        "paragraphs": [],
    },
    {
        "id": "e",
        "license": "CC BY-SA 4.0",
        "title": "Five",
        "abstract": "Text of five.",
        "paragraphs": [],
    },
    {
        "id": "f",
        "license": "as PubMed",
        "title": "Six",
        "abstract": "Text of six.",
        "paragraphs": [],
    },
    {
        "id": "g",
        "license": "CC BY 4.0 (data set)",
        "title": "Seven",
        "abstract": "Text.",
        "paragraphs": [],
    },
]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(one) + "\n" for one in RECORDS)
    return path


def test_only_open_licences_and_no_body_beside_an_abstract(raw: Path) -> None:
    found = {document.id: document.text for document in open_documents(raw)}
    assert found == {
        "a": "One\n\nText of one.",
        "c": "Three\n\nFirst.\n\nSecond.",
        "g": "Seven\n\nText.",
    }


def test_whole_records_up_to_the_characters(
    raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "texts.jsonl"
    main([str(raw), "-o", str(place), "--characters", "30"])
    assert 0 < sum(len(document.text) for document in read(place)) <= 30
    assert "characters" in capsys.readouterr().out
