"""Pairs of mentions, and their places in windows, against plain loops."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Link, Mention, Relation
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.settings.recipes.relations import PairSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.relations import (
    FAR,
    MANY,
    cut_passages,
    list_pairs,
    pad_passages,
    spelled_ends,
    stated_ends,
)

TYPES = ("Chemical", "Disease", "Gene")
SENTENCES = tuple((start, start + 10) for start in range(0, 60, 10))


def mention(start: int, kind: str, *ids: str) -> Mention:
    return Mention(((start, start + 2),), kind, links=tuple(Link(id=i) for i in ids))


MENTIONS = st.dictionaries(
    st.tuples(st.integers(0, 57), st.sampled_from(TYPES)),
    st.lists(st.sampled_from("uvwx"), max_size=2, unique=True),
    max_size=9,
).map(lambda rows: [mention(start, kind, *ids) for (start, kind), ids in sorted(rows.items())])
SETTINGS = st.builds(
    PairSettings,
    between=st.sampled_from(("concepts", "mentions")),
    types=st.sets(st.sampled_from([*product(TYPES, TYPES)])).map(tuple),
    sentences=st.integers(0, 6),
)


def naive(
    mentions: list[Mention], settings: PairSettings
) -> set[tuple[int, int, int, frozenset[object]]]:
    """Every pair that is read, with its distance and what it is evidence of."""
    allowed = {frozenset(pair) for pair in settings.types}
    pairs = set()
    for one, other in combinations(mentions, 2):
        distance = other.start // 10 - one.start // 10
        if frozenset((one.type, other.type)) not in allowed or distance > settings.sentences:
            continue
        ends = [
            (m.key,) if settings.between == "mentions" else tuple(link.id for link in m.links)
            for m in (one, other)
        ]
        for a, b in product(*ends):
            if a != b:
                pairs.add((one.key, other.key, distance, frozenset((a, b))))
    return pairs


@given(MENTIONS, SETTINGS)
def test_pairs_are_those_of_plain_loops(mentions: list[Mention], settings: PairSettings) -> None:
    pairs = list_pairs(mentions, sentences=SENTENCES, settings=settings)
    listed = set()
    for (first, second, at), distance in zip(
        pairs.rows.tolist(), pairs.distance.tolist(), strict=True
    ):
        low, high = sorted((first, second))
        keys = pairs.mentions[low].key, pairs.mentions[high].key
        listed.add((*keys, distance, frozenset(pairs.ends[at])))
        if settings.between == "mentions":
            assert pairs.ends[at] == (pairs.mentions[first].key, pairs.mentions[second].key)
        types = pairs.mentions[first].type, pairs.mentions[second].type
        assert settings.between == "concepts" or types == tuple(sorted(types))
    assert listed == naive(mentions, settings)
    distinct = {m.key: m for m in mentions if m.type in settings.of_mentions}.values()
    times = Counter(
        end
        for m in distinct
        for end in ([m.key] if settings.between == "mentions" else {link.id for link in m.links})
    )
    expected = [[times[end] for end in pairs.ends[at]] for at in pairs.rows[:, 2].tolist()]
    assert pairs.counts.tolist() == expected
    assert len(listed) == len(pairs.rows)
    assert pairs.left_out == 0


def test_the_pairs_with_the_fewest_mentions_between_them_are_read() -> None:
    kinds = ("Chemical", "Disease", "Disease", "Chemical", "Disease")
    mentions = [mention(3 * at, kind) for at, kind in enumerate(kinds)]
    settings = PairSettings(between="mentions", types=(("Disease", "Chemical"),), most=4)
    pairs = list_pairs(mentions, sentences=SENTENCES, settings=settings)
    assert pairs.rows[:, :2].tolist() == [[0, 1], [3, 2], [3, 4], [0, 2]]
    assert pairs.left_out == 2


def test_mentions_of_another_source_and_ambiguous_links_make_no_pair() -> None:
    settings = PairSettings(types=(("Chemical", "Disease"),))
    unsure = Mention(
        ((0, 2),),
        "Chemical",
        links=(Link(id="u", tier="ambiguous"), Link(id="v", tier="ambiguous")),
    )
    again = Mention(((4, 6),), "Disease", source="other", links=(Link(id="x"),))
    mentions = [unsure, mention(4, "Disease", "w"), again, mention(8, "Chemical", "u")]
    pairs = list_pairs(mentions, sentences=SENTENCES, settings=settings)
    assert pairs.ends == (("u", "w"),)


def test_an_end_is_the_identifier_that_a_file_of_links_has() -> None:
    """One local id in two vocabularies is two concepts (CL:0000540 is a neuron)."""
    links = (
        Link(id="0000540", ontology="CL", curie="CL:0000540"),
        Link(id="0000540", ontology="UBERON", curie="UBERON:0000540"),
        Link(id="D001241", ontology="MESH", curie="MESH:D001241"),
        Link(id="D9"),
    )
    mentions = [
        Mention(((4 * at, 4 * at + 2),), TYPES[at % 2], links=(link,))
        for at, link in enumerate(links)
    ]
    settings = PairSettings(types=(("Chemical", "Disease"),))
    pairs = list_pairs(mentions, sentences=SENTENCES, settings=settings)
    assert ("CL:0000540", "UBERON:0000540") in pairs.ends
    assert ("MESH:D001241", "D9") in pairs.ends
    spelled = spelled_ends(mentions)
    assert spelled["D001241"] == spelled["MESH:D001241"] == "MESH:D001241"
    assert spelled["UBERON:0000540"] == "UBERON:0000540"
    assert "0000540" not in spelled  # nobody knows which
    for first, second in (("MESH:D001241", "D9"), ("D001241", "D9")):
        relation = Relation(type="CID", attributes=(("entity1", first), ("entity2", second)))
        assert stated_ends(relation, spelled) == (("entity1", "MESH:D001241"), ("entity2", "D9"))


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> PieceTokenizer:
    return PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")


@pytest.mark.parametrize("repeats", [1, 4, 40])
def test_places_lead_to_the_pieces_of_mentions(tokenizer: PieceTokenizer, repeats: int) -> None:
    sentence = "aspirin caused chronic pain in hepatitis . "
    document = Document(id="d", text=sentence * repeats)
    mentions = [
        Mention(((start + low, start + low + len(word)),), kind)
        for start in range(0, len(document.text), len(sentence))
        for kind, word in (("Chemical", "aspirin"), ("Disease", "pain"), ("Disease", "hepatitis"))
        for low in (sentence.index(word),)
    ]
    settings = PairSettings(between="mentions", types=(("Chemical", "Disease"),), sentences=1)
    sentences = [(at, at + len(sentence) - 1) for at in range(0, len(document.text), len(sentence))]
    pairs = list_pairs(mentions, sentences=sentences, settings=settings)
    reading = ReadingSettings(unit="packed", max_length=20, overlap=4)
    read = read_documents([document], tokenizer, reading=reading, level="piece")
    pieces, windows = read.pieces[0], read.windows[0]
    passages = list(cut_passages(pieces, windows, pairs, settings=settings))
    assert sorted(at for p in passages for at in p.rows[:, 2].tolist()) == [*range(len(pairs.rows))]
    assert max(len(passage.windows) for passage in passages) <= 8
    batch = pad_passages(passages, tokenizer)
    flat, marked = batch["input_ids"].ravel(), batch["kinds"].ravel()
    row = 0
    for passage in passages:
        for *_, at in passage.rows.tolist():
            a, b, start, end = batch["pairs"][row].tolist()
            distance, *counts = batch["facts"][row].tolist()
            behind = distance >= FAR
            assert counts == [2 * FAR, 2 * FAR + MANY]  # each mention is one
            where = [pairs.mentions[number] for number in pairs.rows[at, :2].tolist()]
            for number, m in zip((a, b), where, strict=True):
                low, high, kind = batch["mentions"][number].tolist()
                ((ids, _),) = tokenizer.encode([m.text_in(document.text)])
                places = batch["places"][low:high]
                assert flat[places].tolist() == ids.tolist()
                assert set(marked[places].tolist()) == {kind + 1}
            left, right = sorted(where, key=lambda m: m.start)
            assert behind == (where[0] is right)
            ((between, _),) = tokenizer.encode([document.text[left.end : right.start]])
            assert flat[batch["places"][start:end]].tolist() == between.tolist()
            row += 1
    assert np.all(batch["attention_mask"].ravel()[batch["places"]] == 1)
