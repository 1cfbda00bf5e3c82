"""The parts of a corpus say what their documents are."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import GOLD, Document, Mention
from studies.common import write_parts


def test_a_part_of_whole_documents_is_counted_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mention = Mention(spans=((0, 4),), type="Symptom", source=GOLD)
    documents = [Document(id=str(number), text="pain", mentions=(mention,)) for number in range(2)]
    write_parts(tmp_path / "a", {"train": documents, "dev": documents[:1]}, unit="document")
    write_parts(tmp_path / "b", {"test": documents})
    assert capsys.readouterr().out.splitlines() == [
        "train: 2 documents, 2 mentions",
        "dev: 1 document, 1 mention",
        "test: 2 sentences, 2 mentions",
    ]
