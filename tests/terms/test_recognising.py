"""Packs as a predictor, with a pack of a few rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import LINKED, Document, Event, link_event
from fascicle.core.mention import Link, Mention
from fascicle.errors import UsageError
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.keys.key import key
from fascicle.terms.pack.arrays import Strings, StringsWriter
from fascicle.terms.recognising import PackRecogniser
from fascicle.terms.scanning.building import build_table
from fascicle.terms.scanning.table import NameTable
from fascicle.terms.terms import ShortTerm
from fascicle.text.segment import RULES_1


class Row(NamedTuple):
    surface: str
    concept: str
    type: str = "Gene"
    prior: float = 0.9
    case: int = 0
    off: bool = False


class SmallPack:
    """What the predictor needs of a pack, from rows in memory."""

    def __init__(self, rows: list[Row], table: Path) -> None:
        keys = sorted({key(row.surface, 2) for row in rows})
        build_table(keys, table)
        self.table, self.full_name = table, f"small-{len(rows)}"
        self.rows = sorted(rows, key=lambda row: keys.index(key(row.surface, 2)))
        self.starts = np.searchsorted(
            [keys.index(key(row.surface, 2)) for row in self.rows], range(len(keys) + 1)
        )
        self.curies = sorted({row.concept for row in rows})
        self.types = tuple(sorted({row.type for row in rows}))
        types = {row.concept: row.type for row in reversed(rows)}
        self.type_rows = np.array([self.types.index(types[curie]) for curie in self.curies])
        self.concept = np.array([self.curies.index(row.concept) for row in self.rows])
        self.prior = np.array([row.prior for row in self.rows])
        writer = StringsWriter(table.parent, "surfaces")
        writer.extend([row.surface.encode() for row in self.rows])
        writer.close()
        self.surfaces = Strings.open(table.parent, "surfaces")

    @property
    def active(self) -> SmallPack:
        return self

    def open_table(self) -> NameTable:
        return NameTable.open(self.table)

    def of_key_rows(self, rows: Any) -> tuple[Any, Any]:
        pairs = [
            (at, term)
            for at, row in enumerate(rows)
            for term in range(self.starts[row], self.starts[row + 1])
        ]
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def short_terms(self, rows: Any) -> list[ShortTerm]:
        found = [self.rows[row] for row in rows]
        return [ShortTerm(one.surface, one.concept, one.case, one.off, one.prior) for one in found]

    def answer_at(self, row: int) -> tuple[str, str, tuple[str, ...]]:
        return self.curies[row], f"label of {self.curies[row]}", ()

    def origins(self, documents: Sequence[Sequence[Link]], *, step: str) -> list[tuple[Event, ...]]:
        told = [tuple(sorted((link.ontology, "2024") for link in links)) for links in documents]
        return [(link_event(self.full_name, one, step=step),) if one else () for one in told]


Recognise = Callable[..., list[tuple[str, str]]]
GENES = [
    Row("IL2", "NCBIGene:3558"),
    Row("interleukin-2", "NCBIGene:3558"),
    Row("IL2 receptor", "NCBIGene:3559"),
    Row("receptor alpha chain", "NCBIGene:1"),
    Row("CAT", "NCBIGene:847", case=2),
    Row("catalase", "NCBIGene:847"),
    Row("catalase", "NCBIGene:12359"),
    Row("was", "NCBIGene:7454", prior=0.001),
    Row("cats", "NCBITaxon:9685", "Species", 0.8),
    Row("silent", "NCBIGene:5", off=True),
    Row("EGFR", "NCBIGene:1956"),
    Row("ALK", "NCBIGene:238"),
    Row("FADS1", "NCBIGene:3992"),
    Row("tumour necrosis factor", "NCBIGene:7124"),
]


@pytest.fixture
def pack(tmp_path: Path) -> SmallPack:
    return SmallPack(GENES, tmp_path / "table")


def mentions(pack: SmallPack, text: str, **given: Any) -> list[Mention]:
    recogniser = PackRecogniser({"genes": pack}, settings=RecognitionSettings(**given))
    return list(recogniser(text))


def said(pack: SmallPack, text: str, **given: Any) -> list[tuple[str, str]]:
    return [(mention.text_in(text), mention.type) for mention in mentions(pack, text, **given)]


def test_mentions_have_a_type_a_score_a_source_and_a_link(pack: SmallPack) -> None:
    (mention,) = mentions(pack, "The Interleukin 2 of tumors")
    assert (mention.start, mention.end, mention.type, mention.source, mention.score) == (
        4,
        17,
        "Gene",
        "genes",
        0.9,
    )
    (link,) = mention.links
    assert (link.curie, link.id, link.ontology, link.score) == (
        "NCBIGene:3558",
        "3558",
        "NCBIGene",
        0.9,
    )
    assert (link.name, link.tier) == ("label of NCBIGene:3558", "canonical")


def test_raised_numbers_of_citations_are_no_part_of_a_name(pack: SmallPack) -> None:
    text = "The CAT\u00b9,\u00b2 and IL2\u00b3 receptor, EGFR\u2074 (ALK\u2075)."
    assert [(mention.start, mention.end) for mention in mentions(pack, text)] == [
        (text.index(name), text.index(name) + len(name))
        for name in ("CAT", "IL2\u00b3 receptor", "EGFR", "ALK")
    ]


@pytest.mark.parametrize(
    "name",
    ["FEV\u00b9", "PGE\u00b2", "vitamin B\u00b9\u00b2", "1,25(OH)\u00b2D", "TGF-\u03b2\u00b9"],
)
def test_raised_numbers_of_names_of_a_pack_are_no_citations(tmp_path: Path, name: str) -> None:
    rows = [Row(name, "OWN:1"), Row("PGE", "OWN:2"), Row("gout", "OWN:3"), Row("gout7", "OWN:4")]
    text = f"A {name}, PGE\u00b3 and gout\u2077: {name}."
    assert [
        (text[one.start : one.end], one.links[0].curie)
        for one in mentions(SmallPack(rows, tmp_path / "table"), text)
    ] == [(name, "OWN:1"), ("PGE", "OWN:2"), ("gout", "OWN:3"), (name, "OWN:1")]


def test_scores_are_those_that_are_meant_though_a_pack_has_floats_of_four_bytes(
    tmp_path: Path,
) -> None:
    """0.95 is 0.949999988 in four bytes, and two shares of 0.3 may be 0.29999999."""
    shares = [float(np.float32(0.3 * share)) for share in (0.9 / 1.9, 1 / 1.9)]
    rows = [Row("asthma", "X:1", prior=float(np.float32(0.95)))]
    rows += [
        Row("zs", f"X:{number}", "Disease", prior) for number, prior in enumerate(shares, start=2)
    ]
    pack = SmallPack(rows, tmp_path / "table")
    assert sum(shares) != 0.3
    (asthma,) = mentions(pack, "asthma", threshold=0.95)
    assert (asthma.score, asthma.links[0].score) == (0.95, 0.95)
    assert [one.score for one in mentions(pack, "a ZS here", threshold=0.3)] == [0.3]


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("FADS1", "exact"),
        ("fads1", "folded"),
        ("FADS-1", "canonical"),
        ("tumor necrosis factors", "canonical"),
    ],
)
def test_tiers(pack: SmallPack, text: str, tier: str) -> None:
    (mention,) = mentions(pack, text)
    assert mention.links[0].tier == tier


def test_what_several_concepts_have_is_not_linked(pack: SmallPack) -> None:
    (mention,) = mentions(pack, "catalase")
    assert mention.links == ()
    assert mention.score == 1.0
    assert not any(mention.links for mention in mentions(pack, "IL2", links=False))


def test_overlaps(pack: SmallPack) -> None:
    text = "IL2 receptor alpha chain"
    assert said(pack, text) == [("IL2", "Gene"), ("receptor alpha chain", "Gene")]
    assert said(pack, text, overlaps="nested") == [
        ("IL2", "Gene"),
        ("receptor alpha chain", "Gene"),
    ]
    assert said(pack, "IL2 receptor") == [("IL2 receptor", "Gene")]
    assert sorted(said(pack, "IL2 receptor", overlaps="nested")) == [
        ("IL2", "Gene"),
        ("IL2 receptor", "Gene"),
    ]
    assert sorted(said(pack, text, overlaps="all")) == [
        ("IL2", "Gene"),
        ("IL2 receptor", "Gene"),
        ("receptor alpha chain", "Gene"),
    ]


def test_case_thresholds_and_names_that_are_off(pack: SmallPack) -> None:
    assert said(pack, "cat, CATS was silent") == [("cat", "Species"), ("CATS", "Species")]
    assert said(pack, "CAT") == [("CAT", "Gene")]
    assert said(pack, "cats") == [("cats", "Species")]
    assert said(pack, "CATs", overlaps="all") == [("CATs", "Gene"), ("CATs", "Species")]
    assert said(pack, "CATs") == [("CATs", "Gene")]
    assert ("cat", "Gene") in said(pack, "cat", case=False)
    assert said(pack, "it was silent") == []
    assert said(pack, "it was silent", threshold=0.0) == [("was", "Gene")]


def test_types(pack: SmallPack) -> None:
    assert said(pack, "CAT cats", types=("Species",)) == [("CAT", "Species"), ("cats", "Species")]
    assert PackRecogniser({"a": pack}).types == ("Gene", "Species")
    assert PackRecogniser({"a": pack}, settings=RecognitionSettings(types=("Gene",))).types == (
        "Gene",
    )


@pytest.mark.parametrize(
    ("hyphens", "expected"),
    [("open", ["EGFR", "ALK", "IL-2"]), ("before", ["ALK", "IL-2"]), ("closed", ["IL-2"])],
)
def test_hyphens(pack: SmallPack, hyphens: str, expected: list[str]) -> None:
    found = said(pack, "anti-EGFR and ALK-positive, IL-2 - free", hyphens=hyphens)
    assert [text for text, _ in found] == expected


def test_words_are_whole_by_default(pack: SmallPack) -> None:
    assert said(pack, "EGFR2 xALK ALKs") == [("ALKs", "Gene")]
    assert said(pack, "EGFR2", inside_words=True) == [("EGFR", "Gene")]


def test_sentences_and_paragraphs_part_names(pack: SmallPack) -> None:
    assert said(pack, "tumor\nnecrosis factor") == [("tumor\nnecrosis factor", "Gene")]
    assert said(pack, "tumor\n\n necrosis factor") == []
    cut = Document(id="d", text="tumor necrosis factor", sentences=((0, 5), (6, 21)))
    whole = Document(id="e", text="tumor necrosis factor", sentences=((0, 21),))
    found = PackRecogniser({"genes": pack}).predict([cut, whole])
    assert [len(patch.add) for patch in found] == [0, 1]


@given(
    st.lists(
        st.sampled_from(["tumor", "necrosis", "factor", "IL", "2", "I", "L", "The"]),
        min_size=1,
        max_size=12,
    ),
    st.data(),
)
def test_names_are_those_of_a_text_that_was_cut_before(
    words: list[str], data: st.DataObject
) -> None:
    """Whether a step before cut the text into the sentences of the segmenter changes nothing."""
    between = st.sampled_from(
        [" ", "-", "\n", "\r\n", ". ", "? ", "! ", ".) ", "\u2028", ",", "\n- ", "\nRESULTS\n", ""]
    )
    text = "".join(word + data.draw(between) for word in words)
    with tempfile.TemporaryDirectory() as folder:
        pack = SmallPack(
            [Row("tumor necrosis factor", "X:1"), Row("IL-2", "X:2"), Row("factor I", "X:3")],
            Path(folder) / "t",
        )
        recogniser = PackRecogniser({"genes": pack})
        bare = Document(id="d", text=text)
        cut = msgspec.structs.replace(bare, sentences=RULES_1.sentences(text))
        first, second = recogniser.predict([bare, cut])
    assert first == second


def test_each_pack_has_its_own_source(pack: SmallPack, tmp_path: Path) -> None:
    other = SmallPack(
        [Row("IL-2", "X:1", "Chemical"), Row("aspirin", "X:2", "Chemical")], tmp_path / "other"
    )
    recogniser = PackRecogniser({"genes": pack, "drugs": other})
    assert recogniser.name == "dictionary"
    found = [(mention.source, mention.type) for mention in recogniser("IL2 and Aspirin")]
    assert sorted(found) == [("drugs", "Chemical"), ("drugs", "Chemical"), ("genes", "Gene")]
    assert recogniser.fingerprint != PackRecogniser({"genes": pack}).fingerprint


def test_links_say_which_packs_they_are_of(pack: SmallPack, tmp_path: Path) -> None:
    other = SmallPack([Row("aspirin", "X:2", "Chemical")], tmp_path / "other")
    recogniser = PackRecogniser({"genes": pack, "drugs": other})
    documents = [Document(id=text, text=text) for text in ("IL2 and aspirin", "aspirin", "none")]
    both, one, none = recogniser.predict(documents)
    assert [(event.step, event.code) for event in both.events] == [
        ("genes", LINKED),
        ("drugs", LINKED),
    ]
    assert [event.step for event in one.events] == ["drugs"]
    assert not none.events
    silent = PackRecogniser({"genes": pack}, settings=RecognitionSettings(links=False))
    assert not silent.predict(documents)[0].events


def test_no_pack_and_no_probability_are_refused() -> None:
    with pytest.raises(UsageError):
        PackRecogniser({})
    with pytest.raises(ValueError, match="threshold"):
        RecognitionSettings(threshold=2.0)


WORDS = [
    "IL2",
    "IL-2",
    "receptor",
    "alpha",
    "chain",
    "CAT",
    "cats",
    "was",
    "EGFR",
    "anti-",
    "-positive",
    "é",
    "\u0301",
]
TEXTS = st.lists(
    st.lists(st.sampled_from([*WORDS, " ", " ", "\n\n"]), max_size=12).map("".join), max_size=5
)


@settings(max_examples=60)
@given(TEXTS)
def test_documents_do_not_depend_on_those_beside_them(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    recogniser = PackRecogniser(
        {"genes": SmallPack(GENES, tmp_path_factory.mktemp("pack") / "table")}
    )
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    together = recogniser.predict(documents)
    assert together == [recogniser.predict([document])[0] for document in documents]
    for document, patch in zip(documents, together, strict=True):
        assert all(one.end <= other.start for one, other in pairwise(patch.add))
        assert all(mention.end <= len(document.text) for mention in patch.add)
