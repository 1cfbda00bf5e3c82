"""What is looked up about units beside a loop over units and matches; and that windows, parts
and levels keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import fascicle
from fascicle.core.document import Document
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.inputs import (
    PATTERNS,
    PLACES,
    FeatureColumns,
    UnitInputs,
    case_patterns,
    compute_unit_inputs,
)
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.reading import (
    CachedReader,
    FeatureReader,
    Reading,
    read_documents,
    read_in_parts,
    with_piece_units,
)
from fascicle.text.windows import FEATURES, add_level, at_level, collate

TYPES = ("Chemical", "Disease")
BOTH = FeatureColumns(types=TYPES, shapes=True)
TOKENIZER = PieceTokenizer.from_file(
    Path(fascicle.__file__).parent / "assets" / "biomed@3" / "tokenizer.json"
)


@dataclass(frozen=True)
class Name:
    start: int
    end: int
    types: tuple[str, ...]


class Everywhere:
    """Finds each place of some strings, however they overlap."""

    def __init__(self, **names: tuple[str, ...]) -> None:
        self.names = names
        self.calls = 0

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({kind for kinds in self.names.values() for kind in kinds}))

    def matches(self, documents: Iterable[Document]) -> Iterator[Sequence[Name]]:
        self.calls += 1
        for document in documents:
            yield [
                Name(at, at + len(name), kinds)
                for name, kinds in self.names.items()
                for at in range(len(document.text))
                if document.text.startswith(name, at)
            ]


NAMES = {
    "lung cancer": ("Disease",),
    "aspirin": ("Chemical", "Disease"),
    "cancer pain in": ("Chemical",),
}
FINDER = Everywhere(**NAMES, cancer=("Disease",), spirin=("Chemical",))
TEXT = "The Lung cancer. No lung cancer pain in IL-2 patients, aspirin (5 mg). "


def naive(
    units: np.ndarray[Any, Any], matches: Iterable[tuple[int, int, int]], types: int
) -> list[set[int]]:
    """Unit by unit and match by match: the columns that are 1."""
    found: list[set[int]] = [set() for _ in units]
    for start, end, kind in matches:
        inside = [i for i, (a, b) in enumerate(units.tolist()) if a < end and start < b]
        for i in inside:
            ends = i == inside[0], i == inside[-1]
            place = {(True, True): "whole", (True, False): "first", (False, True): "last"}.get(
                ends, "inner"
            )
            found[i].add(kind * len(PLACES) + PLACES.index(place))
    return found


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9), st.integers(0, 1)), max_size=6),
)
def test_places_are_those_of_a_loop(gaps: list[int], given_: list[tuple[int, int, int]]) -> None:
    edges = np.cumsum(np.array([v for gap in gaps for v in (gap, 1 + gap % 3)]))
    units = edges.reshape(-1, 2)
    matches = [(a, a + n, kind) for a, n, kind in given_]
    known = UnitInputs(
        columns=FeatureColumns(types=TYPES),
        matches=np.array(matches, dtype=np.int64).reshape(-1, 3),
        rows=np.zeros((0, 8), dtype=np.uint8),
    )
    rows = known.of(units, "x" * 99).rows
    assert np.array_equal(known.moved(7).of(units + 7, "").rows, rows)
    assert rows.shape == (len(units), 8)
    assert [set(np.flatnonzero(row).tolist()) for row in rows] == naive(units, matches, 2)


def known_of(pieces: Pieces) -> np.ndarray[Any, Any]:
    assert pieces.inputs is not None
    return pieces.inputs.rows


def read(
    text: str = TEXT * 3, *, columns: FeatureColumns = BOTH, level: Any = "word", **reading: Any
) -> Reading:
    settings = ReadingSettings(**{"max_length": 16, "overlap": 4, **reading})
    documents = [
        Document(id="d", text=text),
        Document(id="e", text="aspirin"),
        Document(id="f", text=""),
    ]
    return FeatureReader(FINDER if columns.types else None, columns)(
        documents, TOKENIZER, reading=settings, level=level
    )


@pytest.mark.parametrize("level", ["word", "piece"])
def test_a_unit_has_all_that_is_known_of_it(level: Any) -> None:
    for pieces in read(level=level).pieces:
        features = known_of(pieces)
        documents = [Document(id="d", text=pieces.text)]
        matches = [
            (m.start, m.end, TYPES.index(kind))
            for m in next(FINDER.matches(documents))
            for kind in m.types
        ]
        assert [set(np.flatnonzero(row[:8]).tolist()) for row in features] == naive(
            pieces.units, matches, 2
        )
        assert np.array_equal(
            features[:, 8:].argmax(axis=1), case_patterns(pieces.text, pieces.units)
        )
        assert set(features[:, 8:].sum(axis=1).tolist()) <= {1}
    assert features.shape == (0, 8 + len(PATTERNS))


@pytest.mark.parametrize("together", [1, 100, 1 << 20])
def test_documents_do_not_know_of_each_other(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fascicle.text.inputs._TOGETHER", together)
    texts = ["", "aspirin", "lung", "cancer pain in", "", TEXT, "lung cancer", "IV", ""]
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    looks, settings = FeatureReader(FINDER, BOTH), ReadingSettings()
    all_read = looks(documents, TOKENIZER, reading=settings, level="word").pieces
    for document, pieces in zip(documents, all_read, strict=True):
        (alone,) = looks([document], TOKENIZER, reading=settings, level="word").pieces
        assert np.array_equal(known_of(pieces), known_of(alone))
    assert looks([], TOKENIZER, reading=settings, level="word").pieces == []


def test_several_types_and_overlapping_names_are_all_kept() -> None:
    pieces = read("lung cancer pain in aspirin").pieces[0]
    row = dict(
        zip((pieces.text[a:b] for a, b in pieces.units.tolist()), known_of(pieces), strict=True)
    )
    names = [f"{kind} {place}" for kind in TYPES for place in PLACES]
    known = {word: {names[i] for i in np.flatnonzero(one[:8])} for word, one in row.items()}
    assert known["cancer"] == {"Disease last", "Disease whole", "Chemical first"}
    assert known["aspirin"] == {"Chemical whole", "Disease whole"}
    assert known["lung"] == {"Disease first"}
    assert known["pain"] == {"Chemical inner"}


@pytest.mark.parametrize(
    "columns", [BOTH, FeatureColumns(types=TYPES), FeatureColumns(shapes=True)]
)
def test_a_batch_has_the_rows_of_its_units_and_zeros_beyond(columns: FeatureColumns) -> None:
    given_ = read(columns=columns)
    windows = [w for cut in given_.windows for w in cut]
    batch = collate(windows, given_.pieces, TOKENIZER)
    assert batch[FEATURES].shape == (*batch["first_piece"].shape, sum(columns.blocks))
    assert batch[FEATURES].dtype == np.int64
    for row, window in zip(batch[FEATURES], windows, strict=True):
        features = known_of(given_.pieces[window.document])
        count = window.units[1] - window.units[0]
        assert np.array_equal(row[:count], features[slice(*window.units)])
        assert not row[count:].any()


def test_without_inputs_a_batch_has_none() -> None:
    documents = [Document(id="d", text=TEXT)]
    plain = read_documents(documents, TOKENIZER, reading=ReadingSettings(), level="word")
    assert FEATURES not in collate(plain.windows[0], plain.pieces, TOKENIZER)
    known = compute_unit_inputs(documents, [plain.pieces[0].units], FINDER, BOTH)
    looked = replace(plain, pieces=[replace(plain.pieces[0], inputs=known[0])])
    batch = collate(looked.windows[0], looked.pieces, TOKENIZER)
    assert all(
        np.array_equal(a, batch[n])
        for n, a in collate(plain.windows[0], plain.pieces, TOKENIZER).items()
    )


def test_two_levels_have_features_of_their_own() -> None:
    words = read()
    pieces = with_piece_units(words)
    direct = read(level="piece")
    assert all(
        np.array_equal(known_of(p), known_of(q))
        for p, q in zip(pieces.pieces, direct.pieces, strict=True)
    )
    at_words, at_pieces = (collate(r.windows[0], r.pieces, TOKENIZER) for r in (words, pieces))
    both = add_level(at_words, at_pieces, "piece")
    assert np.array_equal(at_level(both, "word")[FEATURES], at_words[FEATURES])
    assert np.array_equal(at_level(both, "piece")[FEATURES], at_pieces[FEATURES])


@pytest.mark.parametrize("level", ["word", "piece"])
def test_parts_of_a_document_know_what_the_whole_knows(level: Any) -> None:
    document = Document(id="d", text=TEXT * 9)
    settings = ReadingSettings(max_length=16, overlap=4)
    looks = FeatureReader(FINDER, BOTH)

    def of(documents: Sequence[Document]) -> Reading:
        return looks(documents, TOKENIZER, reading=settings, level=level)

    (whole,) = of([document]).pieces
    parts = list(read_in_parts(document, of, reading=settings, size=90))
    assert len(parts) > 3
    assert np.array_equal(
        np.concatenate([known_of(p.reading.pieces[0]) for p in parts]), known_of(whole)
    )
    for part in parts:
        pieces = part.reading.pieces[0]
        assert pieces.inputs is not None
        assert np.array_equal(pieces.inputs.of(pieces.units, pieces.text).rows, known_of(pieces))


def test_kept_readings_look_up_once() -> None:
    finder = Everywhere(aspirin=("Chemical",))
    documents = [Document(id="d", text=TEXT)]
    kept = CachedReader(
        documents, reader=FeatureReader(finder, FeatureColumns(types=("Chemical",)))
    )
    for _ in range(3):
        kept(documents, TOKENIZER, reading=ReadingSettings(), level="word")
    assert finder.calls == 1
    kept([Document(id="d", text=TEXT)], TOKENIZER, reading=ReadingSettings(), level="word")
    assert finder.calls == 2


@pytest.mark.parametrize(
    "columns", [BOTH, FeatureColumns(types=TYPES), FeatureColumns(shapes=True)]
)
def test_columns_have_the_names_of_what_they_say(columns: FeatureColumns) -> None:
    pieces = read("the lung cancer pain in IV", columns=columns).pieces[0]
    words = [pieces.text[a:b] for a, b in pieces.units.tolist()]
    assert len(columns.names) == known_of(pieces).shape[1] == sum(columns.blocks)
    said = {
        w: {columns.names[i] for i in np.flatnonzero(r)}
        for w, r in zip(words, known_of(pieces), strict=True)
    }
    assert ({("Disease", "first")} <= said["lung"]) == bool(columns.types)
    assert (("", "roman") in said["IV"]) == columns.shapes
