"""The stated order of candidates: against sums made one by one, and what is ambiguous."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.linking import build_index, build_pack, document
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.mention import AMBIGUOUS, Mention
from fascicle.linking.features import FEATURES
from fascicle.linking.folder import Ranker
from fascicle.linking.linker import Linker
from fascicle.linking.ranking import MARGIN, WEIGHTS, count_tied, unit_shares
from fascicle.linking.weights import RARE_AT_MOST
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import ConceptRecord, Name
from fascicle.verbs.tasks.link_cases import mention_concepts

UNITS = st.lists(st.lists(st.floats(-5, 5), max_size=6), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return build_pack(tmp_path_factory.mktemp("pack") / "pack")


@pytest.fixture(scope="module")
def linker(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return Linker(pack, index=build_index(tmp_path_factory.mktemp("index"), pack))


def test_weights_are_of_features() -> None:
    assert set(WEIGHTS) <= set(FEATURES)


@given(UNITS)
def test_what_cannot_be_told_apart_is_counted_one_by_one(units: list[list[float]]) -> None:
    ordered = [sorted(unit, reverse=True) for unit in units]
    owners = np.array([at for at, unit in enumerate(ordered) for _ in unit], dtype=np.int64)
    stated = np.array([one for unit in ordered for one in unit], dtype=np.float64)
    found = count_tied(np.full(len(owners), np.nan), stated, owners, units=len(units))
    assert found.tolist() == [sum(one > unit[0] - MARGIN for one in unit) for unit in ordered]


@given(UNITS)
def test_shares_are_those_of_exponentials(units: list[list[float]]) -> None:
    owners = np.array([at for at, unit in enumerate(units) for _ in unit], dtype=np.int64)
    found = unit_shares(
        np.array([one for unit in units for one in unit], dtype=np.float64), owners, len(units)
    )
    wanted = [math.exp(one) / sum(map(math.exp, unit)) for unit in units for one in unit]
    assert found == pytest.approx(wanted)


def test_names_that_two_concepts_have_are_ambiguous(linker: Linker) -> None:
    text = document("We saw AT again.", ("AT", "Disease", ""))
    (patch,) = linker.predict([text])
    ((_, links),) = patch.links
    assert {link.curie for link in links} == {"MESH:D3", "MESH:D4"}
    assert all(link.tier == AMBIGUOUS for link in links)
    assert sum(link.score or 0.0 for link in links) == pytest.approx(1, abs=1e-5)
    ((decision,),) = linker.explained([text])
    assert (decision.answer, decision.ambiguous, decision.links) == (False, 2, links)
    assert not mention_concepts(Mention(((7, 9),), "Disease", links=links))


@pytest.mark.parametrize(
    ("text", "curie"),
    [
        ("Angiotensin disease is rare; we saw AT again.", "MESH:D4"),
        ("Ataxia telangiectasia is rare; we saw AT again.", "MESH:D3"),
    ],
)
def test_another_name_or_its_words_in_the_document_decide(
    linker: Linker, text: str, curie: str
) -> None:
    long = text.partition(" is")[0]
    one = document(text, (long, "Disease", ""), ("AT", "Disease", ""))
    (patch,) = linker.predict([one])
    found = {key[2][0][0]: links for key, links in patch.links}
    assert [(link.curie, link.score) for link in found[text.index("AT")]] == [(curie, None)]


def shared_name(folder: Path, *concepts: tuple[str, tuple[str, ...], str]) -> Linker:
    """A linker that was not fitted, of diseases with their names, the label first, and their
    definitions.
    """
    records = [
        ConceptRecord(
            curie=curie,
            type="Disease",
            names=tuple(Name(one, "exact" if at else "label") for at, one in enumerate(names)),
            definition=told,
        )
        for curie, names, told in concepts
    ]
    return Linker(build_small(folder / "pack", {"all": records}, parts=REAL_PARTS))


@pytest.mark.parametrize(
    ("around", "tiers"),
    [
        (
            "Gluten flattens the villi; endoscopy, transglutaminase and enterocytes tell",
            {"MESH:1": "exact"},
        ),
        (
            "The celiac trunk lies under the diaphragm; a ligament compresses it, and bruits, "
            "angiography tell",
            {"MESH:2": "exact"},
        ),
        ("Samples were taken", {"MESH:1": AMBIGUOUS, "MESH:2": AMBIGUOUS}),
    ],
)
def test_words_of_a_definition_around_a_mention_decide(
    tmp_path: Path, around: str, tiers: dict[str, str]
) -> None:
    linker = shared_name(
        tmp_path,
        (
            "MESH:1",
            ("sprue", "CD"),
            "Gluten flattens villi: transglutaminase, enterocytes, endoscopy.",
        ),
        (
            "MESH:2",
            ("Dunbar", "CD"),
            "A ligament of the diaphragm compresses the celiac trunk: angiography, bruits.",
        ),
    )
    (patch,) = linker.predict([document(f"{around}; we saw CD.", ("CD", "Disease", ""))])
    ((_, links),) = patch.links
    assert {link.curie: link.tier for link in links} == tiers


def test_a_label_goes_before_a_synonym(tmp_path: Path) -> None:
    linker = shared_name(
        tmp_path, ("MESH:1", ("seizure", "ictus"), ""), ("MESH:2", ("ictus", "stroke"), "")
    )
    (patch,) = linker.predict([document("We saw ictus.", ("ictus", "Disease", ""))])
    ((_, links),) = patch.links
    assert [(link.curie, link.tier) for link in links] == [("MESH:2", "exact")]


def test_candidates_that_a_ranker_finds_equal_are_ambiguous_too(pack: Pack) -> None:
    weights = dict.fromkeys(FEATURES, 0.0) | {"any candidate": 2.0 - RARE_AT_MOST}
    ranker = Ranker(vocabularies=("MESH",), weights=weights, threshold=0.2, mentions=1)
    (patch,) = Linker(pack, rankers={"Disease": ranker}).predict(
        [document("We saw AT again.", ("AT", "Disease", ""))]
    )
    ((_, links),) = patch.links
    share = math.exp(2) / (1 + 2 * math.exp(2))
    assert [(link.curie, link.tier, link.score) for link in links] == [
        ("MESH:D3", AMBIGUOUS, pytest.approx(share, abs=1e-5)),
        ("MESH:D4", AMBIGUOUS, pytest.approx(share, abs=1e-5)),
    ]
    surer = msgspec.structs.replace(ranker, threshold=0.5)
    (patch,) = Linker(pack, rankers={"Disease": surer}).predict(
        [document("We saw AT again.", ("AT", "Disease", ""))]
    )
    # one is meant
    assert [link.tier for _, several in patch.links for link in several] == [AMBIGUOUS, AMBIGUOUS]
