"""Strategies by type: which candidates count, in which vocabulary, and how ties end."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.linking import HUMAN, MOUSE, build_index, build_pack, corpus, document
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.document import Document
from fascicle.core.mention import AMBIGUOUS, Link, Mention
from fascicle.errors import RecipeError, UsageError
from fascicle.linking.candidates import BROADER, TIERS
from fascicle.linking.fitting import FitSettings, fit_linker, gather_training_data
from fascicle.linking.linker import Linker
from fascicle.linking.opening import find
from fascicle.pipeline.loading import open_pipeline
from fascicle.settings.pipeline import pipeline_toml, read_pipeline
from fascicle.settings.steps import LinkStrategy, Near
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import ConceptRecord, Name

PIPELINE = """
given = ["mentions"]
[[steps]]
kind = "link"
linker = "./pack"
[steps.strategies.Disease]
vocabularies = ["DOID", "MESH"]
fallback = "nil"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    return place


@pytest.fixture(scope="module")
def parts(home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of a fitted linker."""
    pack = Pack.open(home / "pack")
    index = build_index(tmp_path_factory.mktemp("index"), pack)
    fitted = fit_linker(pack, index, corpus())
    return {"pack": pack, "index": index, "memory": fitted.memory, "rankers": fitted.rankers}


def links(
    parts: dict[str, Any], text: str, surface: str, kind: str = "Disease", **strategy: Any
) -> tuple[Link, ...]:
    chosen = {kind: LinkStrategy(**strategy)} if strategy else {}
    linker = Linker(**parts, strategies=chosen)
    asked = document(text, (surface, kind, ""))
    (patch,) = linker.predict([asked])
    ((_, found),) = patch.links
    (decision,) = linker.explained([asked])[0]
    # what is explained is answered
    assert [one.curie for one in decision.links] == [one.curie for one in found]
    return found


def plain(parts: dict[str, Any]) -> dict[str, Any]:
    """Without a ranker and without memory."""
    return {name: one for name, one in parts.items() if name in ("pack", "index")}


def test_the_keys_are_the_tiers() -> None:
    assert get_args(Near) == TIERS


def test_a_name_that_is_too_loose_does_not_count(parts: dict[str, Any]) -> None:
    text, surface = "A glioblastomma here.", "glioblastomma"
    assert links(plain(parts), text, surface)[0].tier == "near"
    assert links(plain(parts), text, surface, keys=("exact", "folded", "canonical"))[0].nil
    assert (
        links(plain(parts), "A glioblastoma here.", "glioblastoma", keys=("exact",))[0].curie
        == "MESH:D5"
    )


def test_the_first_of_the_vocabularies_is_answered(parts: dict[str, Any]) -> None:
    text, surface = "With breast cancer.", "breast cancer"
    assert links(plain(parts), text, surface)[0].curie == "MESH:D1"
    (found,) = links(plain(parts), text, surface, vocabularies=("DOID", "MESH"))
    assert (found.curie, found.ontology, found.same) == ("DOID:1", "DOID", ("MESH:D1",))
    assert links(plain(parts), "With AT.", "AT", vocabularies=("DOID",))[0].nil
    assert (
        links(plain(parts), "With glioblastoma.", "glioblastoma", vocabularies=("DOID", "MESH"))[
            0
        ].curie
        == "MESH:D5"
    )


@pytest.mark.parametrize("chosen", [{}, {"Disease": LinkStrategy(fallback="first")}])
def test_an_ontology_holds_for_types_with_a_strategy_too(
    home: Path, chosen: dict[str, LinkStrategy]
) -> None:
    asked = document(
        "mammary carcinoma and glioblastoma",
        ("mammary carcinoma", "Disease", ""),
        ("glioblastoma", "Disease", ""),
    )
    (patch,) = find(home / "pack", ontology="DOID", strategies=chosen).opened().predict([asked])
    assert [(link.ontology, link.curie) for _, several in patch.links for link in several] == [
        ("DOID", "DOID:1"),
        ("DOID", ""),
    ]


def test_ties_end_as_chosen(parts: dict[str, Any]) -> None:
    both = links(plain(parts), "We saw AT again.", "AT")
    assert {one.curie for one in both} == {"MESH:D3", "MESH:D4"}
    assert {one.tier for one in both} == {AMBIGUOUS}
    (first,) = links(plain(parts), "We saw AT again.", "AT", fallback="first")
    assert (first.curie, first.tier) == (both[0].curie, "exact")
    (none,) = links(plain(parts), "We saw AT again.", "AT", fallback="nil")
    assert none.nil
    (sure,) = links(plain(parts), "We saw glioblastoma.", "glioblastoma", fallback="nil")
    assert sure.curie == "MESH:D5"


def test_stated_weights_take_the_place_of_a_ranker(parts: dict[str, Any]) -> None:
    text = "Patients with glioblastoma."
    assert links(parts, text, "glioblastoma")[0].score is not None
    assert links(parts, text, "glioblastoma", ranker="stated")[0].score is None
    assert links(parts, text, "glioblastoma", ranker="fitted") == links(parts, text, "glioblastoma")


def candidates(parts: dict[str, Any], text: str, **strategy: Any) -> set[str]:
    linker = Linker(**plain(parts), strategies={"Gene": LinkStrategy(**strategy)})
    (decision,) = linker.explained([document(text, ("telomerase", "Gene", ""))])[0]
    return {one.curie for one in decision.candidates}


@pytest.mark.parametrize(
    ("text", "species", "found"),
    [
        ("In mice telomerase is found.", "weighed", {"NCBIGene:1", "NCBIGene:2"}),
        ("In mice telomerase is found.", "named", {"NCBIGene:2"}),
        ("In patients telomerase is found.", "named", {"NCBIGene:1"}),
        ("In chicken telomerase is found.", "named", {"NCBIGene:1", "NCBIGene:2"}),
        ("In mice telomerase is found.", HUMAN, {"NCBIGene:1"}),
        ("In patients telomerase is found.", MOUSE, {"NCBIGene:2"}),
    ],
)
def test_species(parts: dict[str, Any], text: str, species: str, found: set[str]) -> None:
    assert candidates(parts, text, species=species) == found


def test_concepts_without_a_species_stay(parts: dict[str, Any]) -> None:
    assert (
        links(plain(parts), "With breast cancer.", "breast cancer", species=MOUSE)[0].curie
        == "MESH:D1"
    )


WORDS = st.sampled_from(
    ["AT", "breast cancer", "glioblastomma", "telomerase", "STAT3", "mammary duct carcinoma"]
)
STRATEGY = st.builds(
    LinkStrategy,
    keys=st.lists(st.sampled_from(TIERS), min_size=1, unique=True).map(tuple),
    fallback=st.sampled_from(["ambiguous", "first", "nil"]),
    species=st.sampled_from(["weighed", "named", HUMAN]),
    vocabularies=st.lists(st.sampled_from(["MESH", "DOID", "NCBIGene"]), unique=True).map(tuple),
)


@example("mammary duct carcinoma", LinkStrategy(keys=("exact",), vocabularies=("MESH",)))
@given(WORDS, STRATEGY)
def test_what_is_answered_is_what_the_strategy_allows(
    parts: dict[str, Any], word: str, chosen: LinkStrategy
) -> None:
    kind = "Gene" if word in ("telomerase", "STAT3") else "Disease"
    linker = Linker(**plain(parts), strategies={kind: chosen})
    other = document(f"{word} and ovarian cancer", (word, kind, ""))
    (decision,) = linker.explained([other])[0]
    # a broader concept may be found by any key
    assert {one.tier for one in decision.candidates} <= {*chosen.keys, BROADER}
    if chosen.vocabularies:
        assert {one.curie.partition(":")[0] for one in decision.candidates} <= set(
            chosen.vocabularies
        )
    assert chosen.fallback == "ambiguous" or not decision.ambiguous


PAIRS = st.sampled_from(
    [
        *(("Angiotensin disease", "AT", "Disease"), ("telangiectasia ataxia", "AT", "Disease")),
        *(("ataxia of others", "AT", "Disease"), ("primary glioblastoma", "AT", "Disease")),
        *(
            ("telomerase", "TERT", "Gene"),
            ("signal transducer", "STAT3", "Gene"),
            ("mTor", "TERT", "Gene"),
        ),
    ]
)


@given(PAIRS, STRATEGY, st.sampled_from(["", " in mice", " in patients and mice"]))
def test_both_forms_of_a_pair_have_one_answer(
    parts: dict[str, Any], pair: tuple[str, str, str], chosen: LinkStrategy, species: str
) -> None:
    long, short, kind = pair
    spans = ((0, len(long)), (len(long) + 2, len(long) + 2 + len(short)))
    asked = Document(
        id="1",
        text=f"{long} ({short}){species} was seen.",
        mentions=tuple(Mention((span,), kind) for span in spans),
        abbreviations=((spans[1], spans[0]),),
    )
    (patch,) = Linker(**plain(parts), strategies={kind: chosen}).predict([asked])
    first, second = (several for _, several in patch.links)
    assert first == second


def test_other_types_are_linked_as_before(parts: dict[str, Any]) -> None:
    text = document("AT and telomerase in mice.", ("AT", "Disease", ""), ("telomerase", "Gene", ""))
    strict = LinkStrategy(
        keys=("exact",), fallback="nil", species="named", vocabularies=("NCBIGene",)
    )
    before, after = (
        Linker(**parts, strategies=one).predict([text])[0].links for one in ({}, {"Gene": strict})
    )
    assert before[0] == after[0]


def test_a_strategy_changes_the_fingerprint(home: Path) -> None:
    one, other = (
        find(home / "pack"),
        find(home / "pack", strategies={"Gene": LinkStrategy(fallback="nil")}),
    )
    assert one.fingerprint != other.fingerprint
    assert one.opened().fingerprint != other.opened().fingerprint


def test_another_pack_may_have_the_vocabulary(home: Path) -> None:
    names = {
        "own": [ConceptRecord(curie="X:1", type="Disease", names=(Name("breast cancer", "label"),))]
    }
    build_small(home / "own", names, parts=REAL_PARTS)
    asked = document(
        "breast cancer and glioblastoma",
        ("breast cancer", "Disease", ""),
        ("glioblastoma", "Disease", ""),
    )
    chosen = {"Disease": LinkStrategy(vocabularies=("X",))}
    (patch,) = find([home / "pack", home / "own"], strategies=chosen).opened().predict([asked])
    assert [[link.curie or link.nil for link in several] for _, several in patch.links] == [
        ["X:1"],
        [True],
    ]


LOOSE = (
    Name("Epilepsies, Myoclonic", "label"),
    Name("Dravet syndrome", "exact"),
    Name("infantile epilepsy", "exact"),
)


def labelled(home: Path, folder: str, *names: Name, loose: tuple[Name, ...] = LOOSE) -> Pack:
    """A pack of a coarse concept of MeSH and one of DOID."""
    concepts = {
        "mesh": [ConceptRecord(curie="MESH:D1", type="Disease", names=loose)],
        "doid": [ConceptRecord(curie="DOID:2", type="Disease", names=names)],
    }
    build_small(home / folder, concepts, parts=REAL_PARTS)
    return Pack.open(home / folder)


def answer_of(pack: Pack, surface: str, **settings: Any) -> list[tuple[str, str]]:
    """Candidates of a mention with their tiers, an answer first."""
    linker = Linker(pack, **settings)
    asked = document(f"With {surface}.", (surface, "Disease", ""))
    (patch,) = linker.predict([asked])
    (decision,) = linker.explained([asked])[0]
    assert [one.curie for one in decision.links] == [
        one.curie for _, several in patch.links for one in several
    ]
    assert decision.answer
    return [(one.curie, one.tier) for one in decision.candidates]


@pytest.mark.parametrize("settings", [{}, {"order": ("MESH",)}])
def test_a_label_as_written_precedes_loose_names_of_other_vocabularies(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    own = Name("Dravet syndrome", "label")
    pack = labelled(tmp_path, "label", own, Name("infantile epilepsy", "exact"))
    assert answer_of(pack, "Dravet syndrome", **settings) == [
        ("DOID:2", "exact"),
        ("MESH:D1", "broader"),
    ]
    assert answer_of(pack, "dravet syndrome", **settings) == [
        ("DOID:2", "folded"),
        ("MESH:D1", "broader"),
    ]
    assert answer_of(pack, "Dravet syndrome", ontology="MESH") == [("MESH:D1", "broader")]
    assert answer_of(pack, "infantile epilepsy", ontology="MESH") == [("MESH:D1", "exact")]
    if settings:  # a name that is loose in each is of the first vocabulary
        assert answer_of(pack, "infantile epilepsy", **settings) == [("MESH:D1", "exact")]


def test_a_candidate_that_a_label_precedes_teaches_nothing(tmp_path: Path) -> None:
    pack = labelled(
        tmp_path, "label", Name("Dravet syndrome", "label"), Name("infantile epilepsy", "exact")
    )
    names = ("Dravet syndrome", "DOID:2"), ("infantile epilepsy", "MESH:D1")
    texts = [
        document(f"With {name} {at}.", (name, "Disease", curie))
        for at in range(20)
        for name, curie in names
    ]
    table = gather_training_data(pack, None, texts, settings=FitSettings(remember=False)).tables[
        "Disease"
    ]
    assert np.bincount(table.choices.owners).tolist() == [1, 2] * 20
    assert table.right.sum() == 40


def test_a_label_of_two_vocabularies_precedes_none(home: Path) -> None:
    own = Name("Dravet syndrome", "label")
    pack = labelled(home, "labels", own, loose=(own,))
    assert answer_of(pack, "Dravet syndrome", order=("MESH",)) == [("MESH:D1", "exact")]


def test_a_pack_without_the_species_gives_none_of_others(home: Path) -> None:
    fish = ConceptRecord(
        curie="X:1", type="Gene", taxon="NCBITaxon:7955", names=(Name("telomerase", "label"),)
    )
    build_small(home / "fish", {"fish": [fish]}, parts=REAL_PARTS)
    chosen = {"Gene": LinkStrategy(species=HUMAN)}
    linker = find([home / "fish", home / "pack"], strategies=chosen).opened()
    (patch,) = linker.predict([document("telomerase", ("telomerase", "Gene", ""))])
    assert [link.curie for _, several in patch.links for link in several] == ["NCBIGene:1"]


@pytest.mark.parametrize(
    ("kind", "strategy", "says"),
    [
        ("Diseas", {}, "Disease"),
        ("Gene", {"vocabularies": ("MESH",)}, "MESH"),
        ("Disease", {"vocabularies": ("DOIT",)}, "DOID"),
        ("Gene", {"species": "NCBITaxon:1"}, "NCBITaxon:1"),
        ("Gene", {"species": "namd"}, "named"),
    ],
)
def test_what_no_pack_has_is_refused(
    home: Path, kind: str, strategy: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        find(home / "pack", strategies={kind: LinkStrategy(**strategy)})


def test_two_strategies_for_one_type_of_the_pack_are_refused(home: Path) -> None:
    chosen = {"Disease": LinkStrategy(fallback="nil"), "SpecificDisease": LinkStrategy()}
    with pytest.raises(UsageError, match="Disease"):
        find(home / "pack", strategies=chosen)


def test_a_pipeline_has_strategies_and_shows_them(home: Path) -> None:
    (home / "pipeline.toml").write_text(PIPELINE)
    shown = pipeline_toml(read_pipeline(home))
    (home / "shown.toml").write_text(shown)
    assert read_pipeline(home / "shown.toml") == read_pipeline(home)
    assert '"fallback" = "nil"' in shown
    assert '"species" = "weighed"' in shown  # a default
    with open_pipeline(home) as pipeline:
        (found,) = pipeline.stream(
            [
                document(
                    "breast cancer and AT", ("breast cancer", "Disease", ""), ("AT", "Disease", "")
                )
            ]
        )
    assert isinstance(found, Document)
    assert [[link.curie or link.nil for link in one.links] for one in found.mentions] == [
        ["DOID:1"],
        [True],
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('fallbak = "nil"', r"steps\[1\].strategies.Gene.fallbak.*fallback"),
        ('fallback = "none"', r"steps\[1\].strategies.Gene.fallback = 'none'.*ambiguous"),
        ("keys = []", "strategies.Gene.keys"),
        ('keys = ["exact", "dense"]', r"strategies.Gene.keys\[1\] = 'dense'.*remembered"),
        ("vocabularies = 1", "strategies.Gene.vocabularies = 1"),
    ],
)
def test_what_a_strategy_cannot_have_is_named(home: Path, line: str, says: str) -> None:
    (home / "pipeline.toml").write_text(f"{PIPELINE}\n[steps.strategies.Gene]\n{line}\n")
    with pytest.raises(RecipeError, match=says):
        read_pipeline(home)


def test_one_choice_of_a_vocabulary_is_enough(home: Path) -> None:
    (home / "pipeline.toml").write_text(PIPELINE.replace('"./pack"', '"./pack"\nontology = "MESH"'))
    with pytest.raises(RecipeError, match="ontology"):
        read_pipeline(home)
