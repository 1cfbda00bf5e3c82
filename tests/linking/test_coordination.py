"""Coordinated names: one mention for each, with its own fragments."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.linking import build_pack
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.linking.asking import mention_name
from fascicle.linking.coordination import Coordination, range_readings
from fascicle.linking.linker import Linker
from fascicle.terms.terms import ConceptRecord, Name

WORDS = (
    "breast",
    "ovarian",
    "cancer",
    "and",
    "or",
    ",",
    "/",
    "STAT3",
    "-5",
    "5",
    "of the",
    "alpha-",
    "beta-AT",
    "x",
)


@pytest.fixture(scope="session")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return Linker(build_pack(tmp_path_factory.mktemp("packs") / "pack"))


def mention(text: str, words: str, kind: str = "Disease") -> Mention:
    start = text.index(words)
    return Mention(((start, start + len(words)),), kind, score=0.5, source="given")


def split(linker: Linker, text: str, *mentions: Mention, known: str = "any") -> set[str]:
    """The names of the document after the step."""
    step = Coordination("coordination", linker, sources=["given"], required=known)  # type: ignore[arg-type]
    document = Document(id="1", text=text, mentions=mentions)
    (patch,) = step.run([document])
    after = apply(document, patch, step=step.name, drops=step.drops)
    assert all((one.source, one.score) == ("given", 0.5) for one in after.mentions)
    return {mention_name(text, one.spans) for one in after.mentions}


@pytest.mark.parametrize(
    ("text", "words", "kind", "names"),
    [
        (
            "breast and ovarian cancer rose",
            "breast and ovarian cancer",
            "Disease",
            {"breast cancer", "ovarian cancer"},
        ),
        (
            "in breast or ovarian cancer",
            "ovarian cancer",
            "Disease",
            {"breast cancer", "ovarian cancer"},
        ),
        (
            "in breast/ovarian cancer",
            "ovarian cancer",
            "Disease",
            {"breast cancer", "ovarian cancer"},
        ),
        ("STAT3 and 5 rose", "STAT3 and 5", "Gene", {"STAT3", "STAT5"}),
        ("STAT3/5 rose", "STAT3", "Gene", {"STAT3", "STAT5"}),
        ("STAT-3 and -5 rose", "STAT-3", "Gene", {"STAT-3", "STAT-5"}),
        ("fever and ovarian cancer", "ovarian cancer", "Disease", {"ovarian cancer"}),
        ("STAT3 and 7 rose", "STAT3", "Gene", {"STAT3"}),
        ("STAT3 and 5.5 mM", "STAT3", "Gene", {"STAT3"}),
        ("STAT3 and 5 mice", "STAT3", "Gene", {"STAT3"}),
        ("STAT3/5/5 rose", "STAT3", "Gene", {"STAT3", "STAT5"}),
        ("mice and ovarian cancer", "ovarian cancer", "Disease", {"ovarian cancer"}),
        ("nothing here", "nothing", "Disease", {"nothing"}),
    ],
)
def test_names(linker: Linker, text: str, words: str, kind: str, names: set[str]) -> None:
    assert split(linker, text, mention(text, words, kind)) == names


NUMBERED = (
    "type 1 diabetes",
    "type 2 diabetes",
    "hepatitis B",
    "hepatitis C",
    "asthma",
    "obstructive lung disease",
)


@pytest.fixture(scope="session")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A linker of names with numbers and letters."""
    records = [
        ConceptRecord(curie=f"MESH:D{at}", type="Disease", names=(Name(one),))
        for at, one in enumerate(NUMBERED)
    ]
    return Linker(
        build_small(
            tmp_path_factory.mktemp("numbered") / "pack", {"all": records}, parts=REAL_PARTS
        )
    )


@pytest.mark.parametrize(
    ("text", "words", "names"),
    [
        ("type 1 and 2 diabetes", "type 1 and 2 diabetes", {"type 1 diabetes", "type 2 diabetes"}),
        (
            "type 1, 2 or 3 diabetes",
            "type 1, 2 or 3 diabetes",
            {f"type {one} diabetes" for one in "123"},
        ),
        ("p38 and 44 diabetes", "p38 and 44 diabetes", {"p38 and 44 diabetes"}),
        ("hepatitis B and C infection", "hepatitis B", {"hepatitis B", "hepatitis C"}),
        ("hepatitis B and C reactive protein", "hepatitis B", {"hepatitis B"}),
        ("hepatitis C and B cell lymphoma", "hepatitis C", {"hepatitis C"}),
        (
            "asthma and obstructive lung disease",
            "asthma and obstructive lung disease",
            {"asthma and obstructive lung disease"},
        ),
    ],
)
def test_no_name_is_torn(numbered: Linker, text: str, words: str, names: set[str]) -> None:
    assert split(numbered, text, mention(text, words)) == names


@pytest.fixture(scope="session")
def greek(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A linker of names with Greek letters and numbers."""
    names = ("TGF-β1", "TGFβ1", "TGF-β2", "TGF-β3", "HIF-1α", "HIF-2α", "IL-1α", "IL-1β", "IL-6")
    names = (*names, "CYP2C9", "CYP2C19", "CYP3A4")
    records = [
        ConceptRecord(curie=f"HGNC:{at}", type="Gene", names=(Name(name),))
        for at, name in enumerate(names)
    ]
    folder = tmp_path_factory.mktemp("greek") / "pack"
    return Linker(build_small(folder, {"all": records}, parts=REAL_PARTS))


@pytest.mark.parametrize(
    ("text", "words", "names"),
    [
        ("TGF-β1, -β2 and -β3 rose", "TGF-β1", {"TGF-β1", "TGF-β2", "TGF-β3"}),
        ("TGF-β1, β2, and β3 rose", "TGF-β1", {"TGF-β1", "TGF-β2", "TGF-β3"}),
        ("TGF-β1/β2 rose", "TGF-β1/β2", {"TGF-β1", "TGF-β2"}),
        ("TGFβ1 and -β2 rose", "TGFβ1", {"TGFβ1", "TGF-β2"}),
        ("HIF-1α and -2α rose", "HIF-1α", {"HIF-1α", "HIF-2α"}),
        ("TGF-β1 and β2 integrins rose", "TGF-β1", {"TGF-β1"}),
        ("TGF-β1 and β2-microglobulin rose", "TGF-β1", {"TGF-β1"}),
        ("IL-1β and TNF-α rose", "IL-1β", {"IL-1β"}),
        ("IL-1α and -β rose", "IL-1α", {"IL-1α"}),
        ("IL-1β and -6 rose", "IL-1β", {"IL-1β"}),
        ("CYP2C9, 2C19 and 3A4 rose", "CYP2C9", {"CYP2C9", "CYP2C19", "CYP3A4"}),
        ("CYP2C9/2C19 rose", "CYP2C9/2C19", {"CYP2C9", "CYP2C19"}),
    ],
)
def test_series_with_greek_letters(greek: Linker, text: str, words: str, names: set[str]) -> None:
    assert split(greek, text, mention(text, words, "Gene")) == names


def test_fragments_are_places_of_the_words(linker: Linker) -> None:
    text = "breast and ovarian cancer"
    step = Coordination("coordination", linker, sources=["given"])
    (patch,) = step.run([Document(id="1", text=text, mentions=(mention(text, text),))])
    assert {one.spans for one in patch.add} == {((0, 6), (19, 25)), ((11, 25),)}
    linked = linker.run([Document(id="1", text=text, mentions=patch.add)])[0]
    assert {key[2]: [link.curie for link in links] for key, links in linked.links} == {
        ((0, 6), (19, 25)): ["MESH:D1"],
        ((11, 25),): ["MESH:D2"],
    }


def test_one_name_that_is_known_is_enough_within_a_mention(linker: Linker) -> None:
    text = "renal and ovarian cancer"
    assert split(linker, text, mention(text, text)) == {"renal cancer", "ovarian cancer"}
    assert split(linker, text, mention(text, text), known="all") == {text}
    assert split(linker, text, mention(text, "ovarian cancer")) == {"ovarian cancer"}


def test_a_name_of_its_own_stays(linker: Linker) -> None:
    """It is one concept in the pack, whatever its parts are."""
    text = "breast cancer and ovarian cancer"
    both = mention(text, "breast cancer"), mention(text, "ovarian cancer")
    assert split(linker, text, *both) == {"breast cancer", "ovarian cancer"}


def test_other_layers_stay_as_they_are(linker: Linker) -> None:
    text = "breast and ovarian cancer"
    step = Coordination("coordination", linker, sources=["other"])
    (patch,) = step.run([Document(id="1", text=text, mentions=(mention(text, text),))])
    assert (patch.add, patch.drop) == ((), ())


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), st.integers(0, 8))
def test_fragments_are_sorted_and_within(text: str, start: int) -> None:
    start = min(start, len(text))
    for reading in range_readings(text, start, len(text)):
        assert len(reading) > 1
        for spans in reading:
            ends = start
            for first, last in spans:
                assert ends <= first < last <= len(text)
                ends = last
            assert mention_name(text, spans).replace(" ", "") == "".join(
                text[a:b] for a, b in spans
            ).replace(" ", "")


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join))
def test_the_step_gives_sound_patches(linker: Linker, text: str) -> None:
    given_one = Mention(((0, len(text)),), "Disease", score=0.5, source="given")
    split(linker, text, given_one)


def test_many_mentions_take_linear_time(linker: Linker) -> None:
    # They take a second or two; comparing each with all others takes minutes.
    text = "breast and ovarian cancer. " * 8_000
    given = [
        Mention(((at + 11, at + 25),), "Disease", source="given") for at in range(0, len(text), 27)
    ]
    began = time.process_time()
    split(linker, text, *(msgspec.structs.replace(one, score=0.5) for one in given))
    assert time.process_time() - began < 30


def test_blanks_behind_a_mention_take_linear_time(linker: Linker) -> None:
    text = "ovarian cancer" + " " * 40_000 + "x"
    began = time.process_time()
    assert split(linker, text, mention(text, "ovarian cancer")) == {"ovarian cancer"}
    assert time.process_time() - began < 5


def test_a_list_behind_mentions_takes_linear_time(linker: Linker) -> None:
    text = "STAT3, " + "A, " * 4_000 + "x"
    given = [
        Mention(((at, at + 1),), "Gene", score=0.5, source="given") for at in range(7, 12_000, 3)
    ]
    began = time.process_time()
    split(linker, text, *given)
    assert time.process_time() - began < 30
