from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.runtime.decoding.bare import bare_span


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("BRCA1 gene", "Gene", "BRCA1"),
        ("human p53 protein", "Gene", "p53"),
        ("actin mRNA transcripts", "Gene", "actin"),
        ("HeLa cells", "CellLine", "HeLa"),
        ("MCF-7 cell line", "CellLine", "MCF-7"),
        ("gene", "Gene", "gene"),
        ("heat shock protein 70", "Gene", "heat shock protein 70"),
        ("lung cancer cells", "Disease", "lung cancer cells"),
    ],
)
def test_affixes_of_guidelines_are_cut(name: str, kind: str, expected: str) -> None:
    text = f"The {name} here"
    assert text[slice(*bare_span(text, (4, 4 + len(name)), kind=kind))] == expected


@given(
    st.text(alphabet="aB 1", max_size=8), st.sampled_from([" gene", " protein", " cells", "human "])
)
def test_what_is_left_is_a_part_with_a_letter_or_all(name: str, affix: str) -> None:
    text = name + affix if affix[0] == " " else affix + name
    for kind in ("Gene", "CellLine", "Species"):
        start, end = bare_span(text, (0, len(text)), kind=kind)
        assert 0 <= start <= end <= len(text)
        assert (start, end) == (0, len(text)) or any(map(str.isalpha, text[start:end]))
