"""Tables of predictions whose offsets count another unit than code points."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.systems.alignment import align_to_documents
from fascicle.evaluation.systems.predictions import (
    PredictionRequest,
    read_system,
)
from fascicle.formats import write

TEXT = "β \U0001f600 Lithium caused tremor."


@pytest.mark.parametrize(
    ("codec", "size", "unit"), [("utf-8", 1, "bytes"), ("utf-16-le", 2, "UTF-16 units")]
)
def test_texts_of_a_table_tell_the_unit_of_its_offsets(
    tmp_path: Path, codec: str, size: int, unit: str
) -> None:
    places = [(TEXT.index(word), TEXT.index(word) + len(word)) for word in ("Lithium", "tremor")]
    mentions = tuple(Mention((place,), "X") for place in places)
    write(tmp_path / "gold.jsonl", [Document(id="1", text=TEXT, mentions=mentions)])
    rows = []
    for start, end in places:
        first, last = (len(TEXT[:offset].encode(codec)) // size for offset in (start, end))
        rows.append(f"1\tX\t{first}\t{last}\t\t{TEXT[start:end]}\n")
    (tmp_path / "a.tsv").write_text("document\ttype\tstart\tend\tscore\ttext\n" + "".join(rows))
    gold, other = (
        read_system(PredictionRequest(path=str(tmp_path / name)))
        for name in ("gold.jsonl", "a.tsv")
    )
    aligned = align_to_documents(gold, other)
    assert [mention.spans[0] for mention in aligned.mentions["1"]] == places
    assert [f"count {unit}; they were moved" in note for note in aligned.notes] == [True]
