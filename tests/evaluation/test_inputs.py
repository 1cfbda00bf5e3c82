"""What is scored, and over which texts."""

from __future__ import annotations

import hashlib

import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import InputError
from fascicle.evaluation.scoring.inputs import (
    check_offsets,
    check_texts,
    layers,
    only_source,
    text_unit,
)

SEQ = Mention(((0, 4),), "Gene", source="seq")
GOLD = Mention(((0, 4),), "Gene")


def test_layers_are_chosen_by_source() -> None:
    documents = [
        Document(id="a", text="BRCA1 ", mentions=(GOLD, SEQ)),
        Document(id="b", text="BRCA1 "),
    ]
    assert layers(documents) == {"a": (GOLD,), "b": ()}
    assert layers(documents, source="seq") == {"a": (SEQ,), "b": ()}


def test_a_repeated_id_is_refused() -> None:
    with pytest.raises(InputError, match="'a' occurs twice"):
        layers([Document(id="a", text="x"), Document(id="a", text="y")])


def test_the_only_source_is_found() -> None:
    assert only_source([GOLD.source, SEQ.source]) == "seq"
    with pytest.raises(InputError, match="no mention besides the gold"):
        only_source([GOLD.source])
    other = Mention(((0, 4),), "Gene", source="crf")
    with pytest.raises(InputError, match="crf, seq; choose one"):
        only_source([other.source, SEQ.source])


def test_another_text_is_refused() -> None:
    documents = [Document(id=name, text=f"text {name} é") for name in "abc"]
    hashes: dict[str, str | None] = {
        d.id: hashlib.sha256(d.text.encode()).hexdigest() for d in documents
    }
    check_texts(documents, hashes)
    check_texts(documents, {**hashes, "a": None, "b": str(hashes["b"]).upper()})
    check_texts(documents, {})
    with pytest.raises(InputError, match=r"another text than the gold in 2 documents \('a', 'c'\)"):
        check_texts(documents, {**hashes, "a": "0" * 64, "c": hashes["b"]})


def test_what_documents_are() -> None:
    one, two = ((0, 1),), ((0, 1), (2, 3))
    sentence, whole, unknown = (Document(id="1", text="a b", sentences=s) for s in (one, two, None))
    assert [text_unit(d) for d in ([sentence], [sentence, sentence])] == ["sentence"] * 2
    assert [text_unit(d) for d in ([whole], [sentence, whole], [sentence, unknown], [])] == [
        "document"
    ] * 4


def test_predictions_beyond_the_text_are_of_another() -> None:
    document = Document(id="1", text="abc")
    check_offsets([document], {"1": (Mention(((0, 3),), "A"),), "2": (Mention(((0, 9),), "A"),)})
    with pytest.raises(
        InputError, match=r"1 of the predicted mentions .* the A that ends at 4 in '1', which has 3"
    ):
        check_offsets([document], {"1": (Mention(((0, 3),), "A"), Mention(((1, 4),), "A"))})
