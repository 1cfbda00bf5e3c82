from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.text.segment import sentences
from fascicle.text.taught import all_sentence_hashes, pack_hashes, sentence_hashes, unpack_hashes

LONG = (
    "Mutations of BRCA1 and of TP53 were found in patients with breast cancer and confirmed "
    "by sequencing."
)


@given(st.sets(st.integers(0, 256**5 - 1)))
def test_what_is_packed_is_read_again(hashes: set[int]) -> None:
    assert unpack_hashes(pack_hashes(hashes)) == hashes


def test_many_hashes_take_hardly_more_than_three_bytes_each() -> None:
    many = {
        int.from_bytes(bytes([at % 251, at % 241, at % 239, at % 233, at % 229]))
        for at in range(100_000)
    }
    assert len(pack_hashes(many)) < 4 * len(many)


@pytest.mark.parametrize("content", [b"", b"no list", pack_hashes({1, 2})[:-3]])
def test_another_content_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack_hashes(content)


def test_a_sentence_is_known_again_however_it_is_written() -> None:
    known = all_sentence_hashes([Document(id="1", text=LONG)], sentences)
    spaced = LONG.upper().replace(" of ", "  OF\n").replace("-", " ")
    assert len(known) == 1
    assert sentence_hashes(Document(id="2", text=f"Another one. {spaced}"), sentences) == known
    assert (
        not sentence_hashes(Document(id="3", text=LONG.replace("TP53", "TP54")), sentences) & known
    )


def test_short_sentences_tell_nothing() -> None:
    assert (
        sentence_hashes(
            Document(id="1", text="Statistical analysis was done as before."), sentences
        )
        == frozenset()
    )
