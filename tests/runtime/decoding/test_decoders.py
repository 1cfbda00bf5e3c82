"""Decoders against loops over every path and every span, whatever windows and batches the text
came in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import TYPES, chain_of, manifest_of, pieces_of, whole_window

from fascicle.core.tags import SCHEMES
from fascicle.errors import ModelError
from fascicle.runtime.decoding.decoders import (
    Decoder,
    SpanDecoder,
    SpansAndScores,
    Tables,
    TagDecoder,
)
from fascicle.runtime.decoding.kinds import make_decoder
from fascicle.settings.heads import (
    BiaffineSettings,
    CrfSettings,
    SoftmaxSettings,
    SpanSettings,
    TaggerSettings,
)
from fascicle.text.windows import Window, make_windows

PER_ROW = frozenset({"emissions", "starts", "ends", "spans"})
Row = tuple[int, int, int, float]  # start, end, type, score


@dataclass(frozen=True, kw_only=True)
class Case:
    """The windows of each document, in batches that mix them."""

    windows: list[list[Window]]
    batches: list[list[tuple[int, int]]]
    seed: int

    def run(
        self, decoder: Decoder, tables_of: Callable[[list[Window], int], Tables]
    ) -> tuple[list[SpansAndScores], Any]:
        """What the decoder finds, and of each window the tables of its row."""
        taken: list[list[Any]] = [[None] * len(cut) for cut in self.windows]
        seen: dict[tuple[int, int], Tables] = {}
        for number, places in enumerate(self.batches):
            together = [self.windows[d][w] for d, w in places]
            tables = tables_of(together, self.seed + number)
            counts = np.array([w.units[1] - w.units[0] for w in together])
            kept = {name: table.copy() for name, table in tables.items()}
            for row, (place, one) in enumerate(
                zip(places, decoder.take(tables, together, counts), strict=True)
            ):
                taken[place[0]][place[1]] = one
                seen[place] = {n: t[row] if n in PER_ROW else t for n, t in kept.items()}
            for name in kept.keys() & PER_ROW:
                tables[name][...] = np.nan  # what a decoder needs of a batch, it copies
        return decoder.decide(taken, self.windows), seen


@st.composite
def cases(draw: st.DrawFn, *, words: int) -> Case:
    capacity = draw(st.integers(2, 6))
    unit: Literal["sentence", "packed"] = draw(st.sampled_from(["sentence", "packed"]))
    size = draw(st.sampled_from([st.just(1), st.integers(1, 3)]))
    windows = []
    for number in range(draw(st.integers(0, 3))):
        count = draw(st.integers(1, words))
        cut = draw(st.integers(0, count - 1))
        sizes = [draw(size) for _ in range(count)]
        sentences = (
            [part for part in (sizes[:cut], sizes[cut:]) if part] if draw(st.booleans()) else []
        )
        made = make_windows(
            pieces_of(sentences),
            document=number,
            unit=unit,
            capacity=capacity,
            overlap=draw(st.integers(0, 3)),
        )
        windows.append(made)
    places = draw(
        st.permutations([(d, w) for d, cut in enumerate(windows) for w in range(len(cut))])
    )
    size_of_batch = draw(st.integers(1, 4))
    batches = [list(places[i : i + size_of_batch]) for i in range(0, len(places), size_of_batch)]
    return Case(windows=windows, batches=batches, seed=draw(st.integers(0, 999)))


def padded(
    chance: np.random.Generator, windows: Sequence[Window], *shape: int
) -> np.ndarray[Any, Any]:
    """Random numbers, NaN beyond the units of each window."""
    counts = [w.units[1] - w.units[0] for w in windows]
    made = chance.normal(size=(len(counts), max(counts) + 1, *shape)).astype(np.float32)
    for row, count in enumerate(counts):
        made[row, count:] = np.nan
    return made


def rows_of(found: SpansAndScores) -> list[Row]:
    spans, scores = found
    assert spans.shape == (len(scores), 3)
    return [(*span, score) for span, score in zip(spans.tolist(), scores.tolist(), strict=True)]


def assert_same(found: SpansAndScores, wanted: list[Row]) -> None:
    got = rows_of(found)
    assert [row[:3] for row in got] == [row[:3] for row in wanted]
    assert [row[3] for row in got] == pytest.approx([row[3] for row in wanted], abs=1e-5)


# Taggers


def naive_runs(tags: Sequence[str], *, lenient: bool) -> list[tuple[int, int, str]]:
    """Mentions of one chain; an I- that nothing precedes opens a mention or is none."""
    found: list[tuple[int, int, str]] = []
    for place, tag in enumerate(tags):
        prefix, _, kind = tag.partition("-")
        goes_on = prefix == "I" and found and found[-1][1:] == (place, kind)
        if goes_on:
            found[-1] = (found[-1][0], place + 1, kind)
        elif prefix == "B" or (prefix == "I" and lenient):
            found.append((place, place + 1, kind))
    return found


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A tagger without tricks: all paths of a text."""

    labels: Sequence[str]
    scheme: str
    decoding: str
    tables: Tables
    touching: float = 0.0

    def legal(self, path: Sequence[int]) -> bool:
        if self.scheme == "IO":
            return True
        before = [0, *path[:-1]]
        return all(
            not self.labels[b].startswith("I-") or self.labels[a][1:] == self.labels[b][1:]
            for a, b in zip(before, path, strict=True)
        )

    def read(self, path: Sequence[int]) -> list[tuple[int, int, str]]:
        return naive_runs(
            [self.labels[t] for t in path],
            lenient=self.scheme == "IO" or self.decoding == "lenient",
        )

    def score(self, emissions: np.ndarray[Any, Any], path: Sequence[int]) -> float:
        total = sum(float(emissions[i, t]) for i, t in enumerate(path))
        if self.scheme == "BIO":
            found = self.read(path)
            total += self.touching * sum(a[1] == b[0] and a[2] == b[2] for a, b in pairwise(found))
        if "transitions" not in self.tables:
            return total
        total += float(self.tables["start"][path[0]]) + float(self.tables["end"][path[-1]])
        return total + sum(float(self.tables["transitions"][a, b]) for a, b in pairwise(path))

    def decode(self, emissions: np.ndarray[Any, Any]) -> list[Row]:
        every = product(range(len(self.labels)), repeat=len(emissions))
        paths = [path for path in every if self.decoding != "viterbi" or self.legal(path)]
        scores = [self.score(emissions, path) for path in paths]
        best = paths[int(np.argmax(scores))]
        types = [label[2:] for label in self.labels if label != "O"]
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(types))}
        found: list[Row] = []
        for start, end, kind in self.read(best):
            if "transitions" in self.tables:
                weights = np.exp(np.array(scores) - max(scores))
                holding = [(start, end, kind) in self.read(path) for path in paths]
                score = float(weights[holding].sum() / weights.sum())
            else:
                odds = [
                    emissions[i].astype(float) - emissions[i, best[i]] for i in range(start, end)
                ]
                score = math.exp(-sum(math.log(np.exp(odd).sum()) for odd in odds) / (end - start))
            found.append((start, end, kinds[kind], score))
        return found


def stitched(
    case: Case, seen: dict[tuple[int, int], Tables], document: int
) -> Iterator[tuple[int, Any]]:
    """The start of each segment and its emissions, each unit from the window that keeps it."""
    rows, segments = {}, {}
    for number, window in enumerate(case.windows[document]):
        segments[window.segment] = True
        for unit in range(*window.keep):
            rows[unit] = seen[document, number]["emissions"][unit - window.units[0]]
    for start, end in segments:
        yield start, np.array([rows[unit] for unit in range(start, end)])


TAGGERS: list[tuple[Any, float]] = [
    *((SoftmaxSettings(decoding=decoding), 0.0) for decoding in ("strict", "lenient", "viterbi")),
    (SoftmaxSettings(scheme="IO"), 0.0),
    (SoftmaxSettings(), -1.5),
    (CrfSettings(), 0.0),
    (CrfSettings(scheme="IO"), 0.0),
    (CrfSettings(), -1.5),
]


def name_of(value: Any) -> str:
    return (
        f"{value.family}-{value.scheme}-{value.decoding}"
        if isinstance(value, TaggerSettings)
        else str(value)
    )


@pytest.mark.parametrize(("head", "touching"), TAGGERS, ids=name_of)
@given(case=cases(words=6), types=st.integers(1, 2), nothing=st.sampled_from([0.0, -1.0, 0.5]))
def test_a_tagger_finds_what_all_paths_say(
    head: Any, touching: float, case: Case, types: int, nothing: float
) -> None:
    if any(w.segment[1] - w.segment[0] > 4 for cut in case.windows for w in cut):
        types = 1  # few enough paths to go through
    labels = SCHEMES[head.scheme].labels(TYPES[:types])
    tags = len(labels)
    chance = np.random.default_rng(case.seed)
    chain = chain_of(chance, tags)

    def tables_of(windows: list[Window], seed: int) -> Tables:
        made = {"emissions": padded(np.random.default_rng(seed), windows, tags)}
        return {**made, **{n: t.copy() for n, t in chain.items()}} if head.family == "crf" else made

    decoder = make_decoder(
        manifest_of(head, types=TYPES[:types], touching=touching, nothing=nothing)
    )
    assert isinstance(decoder, TagDecoder)
    found, seen = case.run(decoder, tables_of)
    assert len(found) == len(case.windows)
    naive = Chain(
        labels=labels,
        scheme=head.scheme,
        decoding=head.decoding,
        tables=chain if head.family == "crf" else {},
        touching=touching,
    )
    for document, one in enumerate(found):
        wanted = [
            (start + a, start + b, kind, score)
            for start, emissions in stitched(case, seen, document)
            for a, b, kind, score in naive.decode(emissions + np.eye(tags)[0] * nothing)
        ]
        assert_same(one, wanted)


# Span heads

SPAN_TABLES = [
    ("starts", "ends"),
    ("starts", "ends", "widths"),
    ("starts", "widths", "spans"),
    ("starts", "ends", "spans"),
    ("starts", "ends", "widths", "spans"),
]


def span_tables(
    names: Sequence[str], windows: Sequence[Window], *, width: int, classes: int, seed: int
) -> Tables:
    """Random tables; about a third of the spans are candidates."""
    chance = np.random.default_rng(seed)
    shapes = {"starts": (classes,), "ends": (classes,), "spans": (width, classes)}
    made = {
        name: padded(chance, windows, *shapes[name])
        if name in shapes
        else chance.normal(size=(width, classes))
        for name in names
    }
    made["starts"][..., 0] += 1.5
    return made


def naive_candidates(
    case: Case, seen: dict[tuple[int, int], Tables], document: int, *, width: int, nothing: float
) -> list[Row]:
    """Every span of every window whose middle the window keeps, if its best class is a type."""
    found: dict[tuple[int, int], Row] = {}
    for number, window in enumerate(case.windows[document]):
        tables, low = seen[document, number], window.units[0]
        for start in range(*window.units):
            for last in range(start, min(start + width, window.units[1])):
                if not window.keep[0] <= (start + last) // 2 < window.keep[1]:
                    continue
                first, step = start - low, last - start
                places: dict[str, Any] = {
                    "starts": first,
                    "ends": last - low,
                    "widths": step,
                    "spans": (first, step),
                }
                logits = np.sum(
                    [tables[name][places[name]].astype(float) for name in tables], axis=0
                )
                logits[0] += nothing
                kind = int(np.argmax(logits[1:]))
                if logits[1 + kind] > logits[0]:
                    assert (start, last) not in found  # no span has two answers
                    score = 1 / float(np.exp(logits - logits[1 + kind]).sum())
                    found[start, last] = (start, last + 1, kind, score)
    return sorted(found.values())


def naive_greedy(rows: Sequence[Row]) -> list[Row]:
    kept: list[Row] = []
    for row in sorted(rows, key=lambda r: (-r[3], r)):
        if all(row[1] <= other[0] or other[1] <= row[0] for other in kept):
            kept.append(row)
    return sorted(kept)


def heaviest(rows: Sequence[Row], start: int = 0) -> float:
    """The largest sum of scores of disjoint spans from a unit on."""
    later = [row for row in rows if row[0] >= start]
    if not later:
        return 0.0
    first = later[0]
    return max(first[3] + heaviest(later, first[1]), heaviest(later[1:], start))


@pytest.mark.parametrize("names", SPAN_TABLES, ids="-".join)
@given(
    case=cases(words=8),
    width=st.integers(1, 4),
    types=st.integers(1, 3),
    rule=st.sampled_from(["nested", "greedy", "optimal"]),
    nothing=st.sampled_from([0.0, -1.0, 0.5]),
)
def test_a_span_head_finds_what_all_spans_say(
    names: tuple[str, ...], case: Case, width: int, types: int, rule: Any, nothing: float
) -> None:
    head = SpanSettings(width=width, decoding=rule)
    decoder = make_decoder(manifest_of(head, types=(*TYPES, "Gene")[:types], nothing=nothing))
    assert isinstance(decoder, SpanDecoder)
    found, seen = case.run(
        decoder,
        lambda windows, seed: span_tables(
            names, windows, width=width, classes=1 + types, seed=seed
        ),
    )
    assert len(found) == len(case.windows)
    for document, one in enumerate(found):
        proposed = naive_candidates(case, seen, document, width=width, nothing=nothing)
        if rule == "nested":
            assert_same(one, proposed)
        elif rule == "greedy":
            assert_same(one, naive_greedy(proposed))
        else:
            kept = rows_of(one)
            assert {row[:3] for row in kept} <= {row[:3] for row in proposed}
            assert all(a[1] <= b[0] for a, b in pairwise(kept))
            assert sum(row[3] for row in kept) == pytest.approx(heaviest(proposed), abs=1e-5)


def test_nothing_read_is_nothing_found() -> None:
    for head in (
        SoftmaxSettings(),
        CrfSettings(),
        SpanSettings(width=3),
        BiaffineSettings(width=2),
    ):
        decoder = make_decoder(manifest_of(head))
        assert decoder.decide([], []) == []
        ((spans, scores),) = decoder.decide([[]], [[]])
        assert spans.shape == (0, 3)
        assert scores.shape == (0,)


# What is refused

WINDOW = whole_window(3)


@pytest.mark.parametrize(
    ("head", "name", "right"),
    [
        (SoftmaxSettings(), "emissions", 5),
        (SoftmaxSettings(scheme="IO"), "emissions", 3),
        (CrfSettings(), "emissions", 5),
        (SpanSettings(width=2), "starts", 3),
        (BiaffineSettings(width=2), "starts", 3),
    ],
    ids=lambda x: getattr(x, "family", str(x)),
)
def test_tables_about_other_labels_are_refused(head: Any, name: str, right: int) -> None:
    for classes in (right - 1, right + 1):
        with pytest.raises(
            ModelError, match=rf"no table {name} with the {right} labels of its model\.json"
        ) as caught:
            make_decoder(manifest_of(head)).take(
                {name: np.zeros((1, 3, classes))}, [WINDOW], np.array([3])
            )
        assert "\n" not in str(caught.value)


def test_a_network_without_emissions_is_refused() -> None:
    with pytest.raises(
        ModelError, match=r"no table emissions with the 5 labels of its model\.json"
    ):
        make_decoder(manifest_of(SoftmaxSettings())).take(
            {"starts": np.zeros((1, 3, 5))}, [WINDOW], np.array([3])
        )


def test_a_chain_where_none_belongs_and_none_where_one_does() -> None:
    emissions = np.zeros((1, 3, 5))
    chain = {"transitions": np.zeros((5, 5)), "start": np.zeros(5), "end": np.zeros(5)}
    for head, tables in ((CrfSettings(), {}), (SoftmaxSettings(), chain)):
        with pytest.raises(ModelError, match="which are not the tables of its family"):
            make_decoder(manifest_of(head)).take(
                {"emissions": emissions, **tables}, [WINDOW], np.array([3])
            )


def test_what_is_no_number_is_refused_only_where_units_are() -> None:
    emissions = np.zeros((1, 5, 5), dtype=np.float32)
    emissions[0, 3:] = np.nan
    make_decoder(manifest_of(SoftmaxSettings())).take(
        {"emissions": emissions}, [WINDOW], np.array([3])
    )
    emissions[0, 2, 1] = np.nan
    with pytest.raises(ModelError, match="emissions that are not numbers"):
        make_decoder(manifest_of(SoftmaxSettings())).take(
            {"emissions": emissions}, [WINDOW], np.array([3])
        )
    starts = np.full((1, 3, 3), np.nan)
    with pytest.raises(ModelError, match=r"does not score spans as its model\.json says"):
        make_decoder(manifest_of(SpanSettings(width=2))).take(
            {"starts": starts, "ends": starts}, [WINDOW], np.array([3])
        )


def test_a_network_of_another_width_is_refused() -> None:
    tables = {"starts": np.zeros((1, 3, 3)), "widths": np.zeros((5, 3))}
    with pytest.raises(ModelError, match="scores spans of up to 5 units, not 2"):
        make_decoder(manifest_of(SpanSettings(width=2))).take(tables, [WINDOW], np.array([3]))


def test_the_shifted_table_does_not_depend_on_the_batch() -> None:
    """Which table None is shifted in decides the last bits of a score, so it may not be the
    smallest of a batch.
    """
    chance = np.random.default_rng(0)
    manifest = manifest_of(SpanSettings(width=6))
    manifest = msgspec.structs.replace(
        manifest, decision=msgspec.structs.replace(manifest.decision, nothing=0.3)
    )
    widths = chance.normal(size=(6, 3)).astype(np.float32)
    starts, ends = (chance.normal(size=(40, 1, 3)).astype(np.float32) + 1 for _ in range(2))
    window = whole_window(1)
    together = make_decoder(manifest).take(
        {"starts": starts, "ends": ends, "widths": widths},
        [window] * 40,
        np.ones(40, dtype=np.int64),
    )
    for row, found in enumerate(together):
        alone = make_decoder(manifest).take(
            {"starts": starts[row : row + 1], "ends": ends[row : row + 1], "widths": widths},
            [window],
            np.array([1]),
        )[0]
        assert np.array_equal(alone.spans, found.spans)
        assert np.array_equal(alone.scores, found.scores)
