"""Words of concepts in texts, against sets of words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.packs import REAL_PARTS, build_small

from fascicle.linking.words import ConceptWords
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.priors import common_words
from fascicle.terms.terms import ConceptRecord, Name

NAMES = {
    "A:1": (["renal anaemia", "kidney anaemia"], "A lack of erythrocytes in renal disease."),
    "A:2": (["anaemia", "AN"], ""),
    "A:3": ([f"nephritis {number}" for number in range(30)] + ["tubulitis"], "Glomerulus\nÉTUDE."),
    "A:4": (["the same", "with the"], ""),
    "A:5": (["x1"], ""),
}
PARENTS = {"A:1": ("A:3",), "A:3": ("A:1", "A:2"), "A:5": ("A:6",)}  # A:6 is in no source
LABELS = {curie: names[0] for curie, (names, _) in NAMES.items()}
WORDS = [
    "renal",
    "Kidney",
    "anaemia",
    "erythrocytes",
    "nephritis",
    "tubulitis",
    "étude",
    "glomerulus",
    "the",
    "with",
    "AN",
]
COMMON = frozenset(common_words())
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
asked = st.tuples(st.sampled_from(sorted(NAMES)), texts, texts)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    records = [
        ConceptRecord(
            curie=curie,
            type="Disease",
            names=tuple(Name(one, "exact" if at else "label") for at, one in enumerate(names)),
            parents=PARENTS.get(curie, ()),
            definition=told,
        )
        for curie, (names, told) in NAMES.items()
    ]
    return build_small(tmp_path_factory.mktemp("pack") / "pack", {"all": records}, parts=REAL_PARTS)


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{4,}", text.lower())) - COMMON


def expected(pack: Pack, curie: str, text: str, name: str) -> float:
    active, row = pack.active, pack.row(curie)
    names = [active.surfaces[int(active.surface[term])] for term in active.of_concept[row][:20]]
    above = [LABELS[one] for one in PARENTS.get(curie, ()) if one in LABELS]
    words = words_of(" ".join([*names, *above, NAMES[curie][1]])) - words_of(name)
    return len(words & words_of(text)) / (len(words) + 3)


@pytest.mark.parametrize("remembered", [1 << 18, 3])
@given(rounds=st.lists(st.lists(asked, min_size=1, max_size=5), max_size=3))
def test_shares_are_those_of_sets_of_words(
    pack: Pack, remembered: int, rounds: list[list[tuple[str, str, str]]]
) -> None:
    words = ConceptWords(pack, remembered=remembered)
    for several in rounds:
        given_texts, names = ([one[place] for one in several] for place in (1, 2))
        numbers = np.arange(len(several))
        rows = np.array([pack.row(curie) for curie, _, _ in several])
        found = words.shares(rows, numbers, texts=given_texts, name_of=numbers, names=names)
        assert found.tolist() == [expected(pack, *one) for one in several]


def test_texts_and_names_are_shared_by_concepts(pack: Pack) -> None:
    rows = np.array([pack.row(curie) for curie in NAMES] * 2)
    text_of = np.repeat([0, 1], len(NAMES))
    given_texts = ["renal anaemia and tubulitis", "nephritis"]
    found = ConceptWords(pack).shares(
        rows,
        text_of,
        texts=given_texts,
        name_of=np.zeros(len(rows), dtype=np.int64),
        names=["anaemia"],
    )
    assert found.tolist() == [
        expected(pack, curie, text, "anaemia") for text in given_texts for curie in NAMES
    ]
