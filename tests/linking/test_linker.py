"""From mentions to links: candidates, species, the two passes, fitting, and the folder."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.support.linking import HUMAN, MOUSE, build_index, build_pack, corpus, document

from fascicle.core.document import Document
from fascicle.core.mention import ABSENT, Link, Mention
from fascicle.errors import InputError, PackError, UsageError
from fascicle.linking.decisions import Decision
from fascicle.linking.features import FEATURES, RARE_SHORT_FORM
from fascicle.linking.fitting import (
    FitSettings,
    FittedLinker,
    fit_linker,
    fit_rankers,
    gather_training_data,
)
from fascicle.linking.folder import (
    LINKER,
    Ranker,
    check_linker,
    read_manifest,
    write_linker,
)
from fascicle.linking.gold import Memory, with_pack_types
from fascicle.linking.index import NameIndex
from fascicle.linking.linker import Linker
from fascicle.linking.species import Species, likely_species
from fascicle.terms.pack.pack import Pack


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return build_pack(tmp_path_factory.mktemp("pack") / "pack")


@pytest.fixture(scope="module")
def index(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> NameIndex:
    return build_index(tmp_path_factory.mktemp("index"), pack)


@pytest.fixture(scope="module")
def ordered(pack: Pack, index: NameIndex) -> Linker:
    """Without a fitted ranker."""
    return Linker(pack, index=index, vocabularies={"Disease": ("MESH",)})


@pytest.fixture(scope="module")
def fitted(pack: Pack, index: NameIndex) -> FittedLinker:
    return fit_linker(pack, index, corpus())


@pytest.fixture(scope="module")
def linker(pack: Pack, index: NameIndex, fitted: FittedLinker) -> Linker:
    return Linker(pack, index=index, memory=fitted.memory, rankers=fitted.rankers)


def decisions(linker: Linker, *documents: Document) -> list[list[Decision]]:
    return linker.decisions(documents, [one.mentions for one in documents])


def candidates(linker: Linker, text: str, surface: str, kind: str) -> list[tuple[str, str]]:
    (found,) = decisions(linker, document(text, (surface, kind, "")))
    return [(one.curie, one.tier) for one in found[0].candidates]


@pytest.mark.parametrize(
    ("surface", "kind", "found"),
    [
        ("breast cancer", "Disease", [("MESH:D1", "exact")]),
        ("Breast Cancers", "Disease", [("MESH:D1", "canonical")]),
        ("telangiectasia ataxia", "Disease", [("MESH:D3", "reordered")]),
        ("glioblastomma", "Disease", [("MESH:D5", "near")]),
        ("primary glioblastoma", "Disease", [("MESH:D5", "exact")]),
        ("mammary carcinoma", "Disease", [("MESH:D1", "exact")]),  # by a reference of DOID:1
        ("mammary duct carcinoma", "Disease", [("MESH:D1", "broader")]),  # by its parent
        ("nothing at all", "Disease", []),
        ("breast cancer", "Species", []),
        ("telomerase", "Gene", [("NCBIGene:1", "exact"), ("NCBIGene:2", "exact")]),
        ("hTERT", "Gene", [("NCBIGene:1", "exact"), ("NCBIGene:2", "exact")]),
        ("mTOR", "Gene", [("NCBIGene:3", "exact")]),
        # by the label
        ("acute phase factor", "Gene", [("NCBIGene:4", "exact"), ("NCBIGene:5", "exact")]),
    ],
)
def test_candidates(ordered: Linker, surface: str, kind: str, found: list[tuple[str, str]]) -> None:
    assert sorted(candidates(ordered, f"With {surface} here.", surface, kind)) == found


def test_without_a_ranker_the_order_is_stated_and_nothing_is_probable(ordered: Linker) -> None:
    (found,) = decisions(
        ordered, document("In mice telomerase is found.", ("telomerase", "Gene", ""))
    )
    assert [one.curie for one in found[0].candidates] == ["NCBIGene:2", "NCBIGene:1"]
    assert found[0].answer
    assert found[0].nil is None
    assert found[0].link.score is None
    assert all(
        one.probability is None and not one.parts and one.features for one in found[0].candidates
    )


def test_candidates_that_tie_stand_in_the_stated_order(pack: Pack, index: NameIndex) -> None:
    weights = dict.fromkeys(FEATURES, 0.0) | {"any candidate": 1.0}
    ranker = Ranker(
        vocabularies=("NCBIGene",), weights=weights, threshold=0.0, scale=3.0, shift=1.0, mentions=1
    )
    tied = Linker(pack, index=index, rankers={"Gene": ranker})
    (found,) = decisions(tied, document("In mice telomerase is found.", ("telomerase", "Gene", "")))
    assert [one.curie for one in found[0].candidates] == ["NCBIGene:2", "NCBIGene:1"]
    share = np.e / (1 + 2 * np.e)
    corrected = 1 / (1 + np.exp(-(3 * np.log(share / (1 - share)) + 1)))
    first, second = (one.probability or 0.0 for one in found[0].candidates)
    assert first == pytest.approx(corrected)
    assert first + second + (found[0].nil or 0.0) == pytest.approx(1)


def test_a_decision_for_nil_by_the_threshold_can_be_written_as_json(
    pack: Pack, index: NameIndex
) -> None:
    weights = dict.fromkeys(FEATURES, 0.0)
    strict = Linker(pack, index=index, rankers={"Gene": Ranker(weights=weights, threshold=0.9)})
    (found,) = decisions(
        strict, document("In mice telomerase is found.", ("telomerase", "Gene", ""))
    )
    assert found[0].candidates
    assert found[0].link.nil
    assert json.loads(msgspec.json.encode(found))[0]["answer"] is False


def test_what_is_measured_of_ties_is_what_is_answered(pack: Pack, index: NameIndex) -> None:
    settings = FitSettings(remember=False)
    taught = gather_training_data(pack, index, corpus(), settings=settings)
    genes = taught.tables["Gene"]
    nothing = genes.choices._replace(features=genes.choices.features * 0)
    rankers = fit_rankers(
        taught._replace(tables={"Gene": genes._replace(choices=nothing)}), settings=settings
    )
    gene = rankers["Gene"]
    assert {name for name, weight in gene.weights.items() if weight} == {RARE_SHORT_FORM}
    linker = Linker(pack, index=index, rankers={"Gene": gene})
    right = 0
    for one in corpus():
        own = [mention for mention in one.mentions if mention.type == "Gene"]
        gold = [mention.links[0].curie for mention in own]
        (told,) = linker.decisions([one], [own])
        right += sum(each.link.curie == curie for each, curie in zip(told, gold, strict=True))
    assert right == sum(tier.right for tier in gene.tiers.values()) > 0


def test_species_decide_genes(ordered: Linker) -> None:
    text = "Patients have telomerase. The mice of the other group have it too; hTERT is for both."
    (found,) = decisions(ordered, document(text, ("telomerase", "Gene", ""), ("hTERT", "Gene", "")))
    assert [one.candidates[0].curie for one in found] == ["NCBIGene:1", "NCBIGene:1"]
    (mouse,) = decisions(ordered, document("Telomerase of mice", ("Telomerase", "Gene", "")))
    assert mouse[0].candidates[0].curie == "NCBIGene:2"


def test_species_of_places() -> None:
    species = Species(
        Document(id="1", text="Rats were fed. Human cells and mice grew. Nothing here")
    )
    assert species.near(2).nearest == "NCBITaxon:10116"
    assert species.near(20).sentence == {HUMAN, MOUSE}
    assert likely_species(species.near(30)) in (HUMAN, MOUSE)
    assert species.shares == pytest.approx({"NCBITaxon:10116": 1 / 3, HUMAN: 1 / 3, MOUSE: 1 / 3})
    assert likely_species(Species(Document(id="1", text="Nothing")).near(3)) == HUMAN
    linked = document("A worm and a gene", ("worm", "Species", "NCBITaxon:6239"))
    assert Species(linked).near(12).nearest == "NCBITaxon:6239"


@pytest.mark.parametrize("word", ["patientſ", "mıce", "MİCE", "zebrafıſh", "ſubjects"])
def test_letters_of_other_scripts_name_no_species(ordered: Linker, word: str) -> None:
    assert not Species(Document(id="1", text=f"Of {word} here")).shares
    text = f"{word} telomerase"
    (found,) = decisions(
        ordered, Document(id="1", text=text, mentions=(Mention(((0, len(text)),), "Gene"),))
    )
    assert found[0].candidates
    assert all("species: in the name" not in one.features for one in found[0].candidates)


def test_a_species_without_a_concept_is_no_species() -> None:
    text = "The Martian mouse"
    nothing = Mention(((4, 11),), "Species", links=(Link(id="", nil=True),))
    found = Species(Document(id="1", text=text, mentions=(nothing,)))
    assert set(found.shares) == {MOUSE}
    assert found.near(4).nearest == MOUSE


def test_composite_mentions_have_several_links(ordered: Linker) -> None:
    found = document(
        "Both breast and ovarian cancer with STAT3/5.",
        ("breast and ovarian cancer", "Disease", ""),
        ("STAT3/5", "Gene", ""),
    )
    (patch,) = ordered.predict([found])
    links = {key[1]: [link.curie for link in several] for key, several in patch.links}
    assert links == {"Disease": ["MESH:D1", "MESH:D2"], "Gene": ["NCBIGene:4", "NCBIGene:6"]}


def of_pair(linker: Linker, long: str, short: str, kind: str) -> tuple[Decision, Decision]:
    """What is said of a long form and its short form, where the text defines them."""
    text = f"{long} ({short}) was seen."
    spans = ((0, len(long)), (len(long) + 2, len(long) + 2 + len(short)))
    mentions = tuple(Mention((span,), kind) for span in spans)
    defined = Document(id="1", text=text, mentions=mentions, abbreviations=((spans[1], spans[0]),))
    ((first, second),) = decisions(linker, defined)
    return first, second


@pytest.mark.parametrize(
    ("long", "short", "kind", "found"),
    [
        ("angiotensin disease", "AT", "Disease", {"MESH:D4"}),  # the long form has a concept
        ("telangiectasia ataxia", "AT", "Disease", {"MESH:D3"}),  # in another order
        # distinctive, one a species
        ("signal transducer", "STAT3", "Gene", {"NCBIGene:4", "NCBIGene:5"}),
        ("ataxia of others", "AT", "Disease", {"MESH:D3"}),  # whose names have half of the words
        ("atrial tachycardia", "AT", "Disease", set()),
        ("telomeric enzyme RT", "TERT", "Gene", set()),  # no digit and no fifth letter
        # the long form without its first words
        ("primary glioblastoma", "AT", "Disease", {"MESH:D5"}),
    ],
)
def test_both_forms_of_a_pair_have_the_same_candidates(
    ordered: Linker, linker: Linker, long: str, short: str, kind: str, found: set[str]
) -> None:
    for one in (ordered, linker):
        first, second = of_pair(one, long, short, kind)
        assert {each.curie for each in first.candidates} == found
        assert first.candidates == tuple(
            msgspec.structs.replace(other, ways=own.ways)
            for own, other in zip(first.candidates, second.candidates, strict=True)
        )
        assert (first.nil, first.answer) == (second.nil, second.answer)
        assert (first.surface, second.surface) == (long, short)


def test_ways_are_told_as_each_form_sees_them(ordered: Linker) -> None:
    first, second = of_pair(ordered, "angiotensin disease", "AT", "Disease")
    assert (first.candidates[0].ways, second.candidates[0].ways) == (("own",), ("long",))
    first, second = of_pair(ordered, "signal transducer", "STAT3", "Gene")
    assert (first.candidates[0].ways, second.candidates[0].ways) == (("short",), ("own",))


def test_a_form_among_other_words_stands_for_itself(ordered: Linker) -> None:
    text = "angiotensin disease (AT); AT of others; breast cancer"
    words = ("AT of others", "Disease", "")
    (found,) = decisions(ordered, document(text, words))
    assert [one.candidates for one in found] == [()]


def test_the_memory_of_a_fit_counts_for_long_forms_first(pack: Pack, index: NameIndex) -> None:
    memory = Memory.of(
        [("1", "Disease", "atrial tachycardia", "MESH:D5"), ("1", "Disease", "AT", "MESH:D3")]
    )
    remembers = Linker(pack, index=index, memory=memory, vocabularies={"Disease": ("MESH",)})
    for one in of_pair(remembers, "atrial tachycardia", "AT", "Disease"):
        assert [each.curie for each in one.candidates] == ["MESH:D5"]


def test_a_document_helps_its_own_mentions(ordered: Linker) -> None:
    text = "Breast cancer is a cancer; AT or ataxia telangiectasia."
    found = document(
        text,
        ("Breast cancer", "Disease", ""),
        ("AT", "Disease", ""),
        ("ataxia telangiectasia", "Disease", ""),
    )
    (told,) = decisions(ordered, found)
    features = {(one.surface, each.curie): each.features for one in told for each in one.candidates}
    assert features["AT", "MESH:D3"].get("another name in the document") == 1
    assert "another name in the document" not in features["AT", "MESH:D4"]
    alone = decisions(ordered, document(text, ("AT", "Disease", "")))[0][0]
    assert all("another name in the document" not in one.features for one in alone.candidates)
    child = document(
        "Breast cancer is a cancer.", ("Breast cancer", "Disease", ""), (" a cancer", "Disease", "")
    )
    assert decisions(ordered, child)[0]


def test_documents_do_not_depend_on_those_beside_them(linker: Linker) -> None:
    texts = [*corpus(6), document("STAT3/5 and AT", ("STAT3/5", "Gene", ""), ("AT", "Disease", ""))]
    together = decisions(linker, *texts)
    assert together == [decisions(linker, one)[0] for one in texts]


def test_a_fitted_linker_has_learnt(linker: Linker, fitted: FittedLinker) -> None:
    (told,) = decisions(
        linker,
        document("AT in mice with telomerase", ("AT", "Disease", ""), ("telomerase", "Gene", "")),
    )
    disease, gene = told
    assert [one.curie for one in disease.candidates] == ["MESH:D3", "MESH:D4"]
    assert gene.candidates[0].curie == "NCBIGene:2"
    for decision in told:
        assert decision.nil is not None
        scores = [one.probability or 0 for one in decision.candidates]
        assert sum(scores) + decision.nil == pytest.approx(1)
        best = decision.candidates[0]
        assert set(best.parts) == set(best.features)
        assert decision.link.score == pytest.approx(best.probability)
    assert fitted.rankers["Disease"].vocabularies == ("MESH",)
    assert fitted.rankers["Disease"].tiers["exact"].right > 0


def test_nil_says_so(linker: Linker) -> None:
    (patch,) = linker.predict([document("nothing known", ("nothing known", "Disease", ""))])
    ((_, (link,)),) = patch.links
    assert link.nil
    assert not link.curie
    assert (link.score, link.tier) == (None, ABSENT)


def test_scores_have_six_decimals(linker: Linker) -> None:
    scores = [
        link.score
        for patch in linker.predict(texts_without_links())
        for _, links in patch.links
        for link in links
    ]
    assert scores
    assert all(score == round(score, 6) for score in scores if score is not None)


def test_blanks_are_nil(linker: Linker) -> None:
    blank = Document(
        id="1",
        text="a   b \x1f",
        mentions=tuple(Mention((s,), "Disease") for s in ((1, 4), (6, 7))),
    )
    (patch,) = linker.predict([blank])
    assert [[link.nil for link in links] for _, links in patch.links] == [[True], [True]]
    assert [one.surface for one in decisions(linker, blank)[0]] == ["", ""]


def test_links_that_are_there_stay(linker: Linker) -> None:
    (patch,) = linker.predict([document("breast cancer", ("breast cancer", "Disease", "MESH:D9"))])
    assert patch.links == ()


def test_a_document_does_not_see_what_the_memory_has_from_it() -> None:
    seen = [
        ("1", "T", "name", "A:1"),
        ("1", "T", "Name", "A:1"),
        ("2", "T", "NAME", "A:1"),
        ("3", "T", "name", "A:2"),
    ]
    memory = Memory.of(seen)
    assert memory.of_key("T", "name") == {"A:1": 2, "A:2": 1}
    assert memory.of_key("T", "name", ["A:2"]) == {"A:1": 2}
    assert memory.of_key("T", "name", ["A:1"]) == {"A:1": 1, "A:2": 1}
    assert memory.of_key("U", "name") == {}


def test_a_linker_may_remember_nothing(pack: Pack, index: NameIndex) -> None:
    found = fit_linker(pack, index, corpus(), settings=FitSettings(remember=False))
    assert found.rankers["Disease"].weights["remembered"] == 0
    assert not found.memory.counts


def test_a_threshold_is_not_below_what_is_asked_for(pack: Pack, index: NameIndex) -> None:
    free = (
        fit_linker(pack, index, corpus(), settings=FitSettings(lowest={}))
        .rankers["Disease"]
        .threshold
    )
    bound = (
        fit_linker(pack, index, corpus(), settings=FitSettings(lowest={"Disease": 0.9}))
        .rankers["Disease"]
        .threshold
    )
    assert free < 0.9 == bound
    assert FitSettings().lowest["Gene"] >= 0.5


def test_a_name_of_one_document_teaches_nothing_about_memory(pack: Pack, index: NameIndex) -> None:
    names = {"breast cancer": "MESH:D1", "ovarian cancer": "MESH:D2", "glioblastoma": "MESH:D5"}
    text = " ".join(f"{name}." for name in names) * 10
    mentions = tuple(
        Mention(((at, at + len(name)),), "Disease", links=(Link(id="", curie=curie),))
        for name, curie in names.items()
        for at in range(len(text))
        if text.startswith(name, at)
    )
    found = fit_linker(
        pack, index, [Document(id="1", text=text, mentions=mentions)], settings=FitSettings(folds=2)
    )
    assert found.rankers["Disease"].mentions == 30
    assert found.rankers["Disease"].weights["remembered"] == 0


def test_too_few_links_are_refused(pack: Pack, index: NameIndex) -> None:
    with pytest.raises(InputError, match="20 mentions"):
        fit_linker(pack, index, corpus(2))


def test_a_type_with_too_few_mentions_that_teach_gets_no_ranker(
    pack: Pack, index: NameIndex, tmp_path: Path
) -> None:
    several = [
        document(f"In {number} telomerase.", ("telomerase", "Gene", "NCBIGene:1 NCBIGene:2"))
        for number in range(15)
    ]
    diseases = [msgspec.structs.replace(one, mentions=one.mentions[:3]) for one in corpus()]
    found = fit_linker(pack, index, [*diseases, *several])
    assert set(found.rankers) == {"Disease"}
    assert found.few == {"Gene": 0}
    found.memory.write(tmp_path)
    write_linker(tmp_path, pack, found.rankers, few=found.few)
    made = read_manifest(tmp_path)
    assert made.few == {"Gene": 0}
    assert made.fingerprint == write_linker(tmp_path, pack, found.rankers).fingerprint
    with pytest.raises(InputError, match="20 mentions"):
        fit_linker(pack, index, several)


def test_types_and_identifiers_are_spelt_as_in_the_pack(pack: Pack) -> None:
    given = document(
        "breast cancer of STAT3",
        ("breast cancer", "SpecificDisease", ""),
        ("STAT3", "GeneOrGeneProduct", ""),
    )
    bare = (Link(id="D1", curie="MESH:D1"), Link(id="4"))
    links = [
        msgspec.structs.replace(one, links=(link,))
        for one, link in zip(given.mentions, bare, strict=True)
    ]
    (found,) = with_pack_types([msgspec.structs.replace(given, mentions=tuple(links))], pack)
    assert [(one.type, one.links[0].curie) for one in found.mentions] == [
        ("Disease", "MESH:D1"),
        ("Gene", "NCBIGene:4"),
    ]


def test_an_ontology_gives_the_same_concept_elsewhere(pack: Pack, index: NameIndex) -> None:
    linker = Linker(pack, index=index, vocabularies={"Disease": ("MESH",)}, ontology="DOID")
    (patch,) = linker.predict(
        [
            document(
                "breast cancer and glioblastoma",
                ("breast cancer", "Disease", ""),
                ("glioblastoma", "Disease", ""),
            )
        ]
    )
    first, second = (links[0] for _, links in patch.links)
    assert (first.curie, first.id, first.ontology, first.tier) == ("DOID:1", "1", "DOID", "exact")
    assert second.nil
    assert second.ontology == "DOID"
    with pytest.raises(UsageError, match="DOIT"):
        Linker(pack, index=index, ontology="DOIT")


def test_a_folder_keeps_a_linker(
    pack: Pack, index: NameIndex, fitted: FittedLinker, linker: Linker
) -> None:
    folder = index.folder
    fitted.memory.write(folder)
    manifest = write_linker(folder, pack, fitted.rankers)
    opened = Linker.open(folder, manifest, pack)
    text = corpus(1)[0]
    for one, other in zip(decisions(opened, text)[0], decisions(linker, text)[0], strict=True):
        assert one.link.curie == other.link.curie
        assert one.nil == pytest.approx(other.nil)


@pytest.mark.parametrize("change", ["pack", "names", "weights", "digit", "huge", "deep", "missing"])
def test_a_linker_that_does_not_fit_is_refused(
    pack: Pack, index: NameIndex, fitted: FittedLinker, tmp_path: Path, change: str
) -> None:
    Memory().write(tmp_path)
    write_linker(tmp_path, pack, fitted.rankers)
    place = tmp_path / LINKER
    if change == "pack":
        place.write_bytes(place.read_bytes().replace(pack.full_name.encode(), b"other+123"))
    elif change == "names":
        (tmp_path / "names.tsv").write_text("Disease\tat\tMESH:D3\t1\n")
    elif change == "weights":
        place.write_bytes(place.read_bytes().replace(FEATURES[0].encode(), b"another"))
    elif change == "digit":
        found = json.loads(place.read_bytes())
        found["rankers"]["Disease"]["weights"][FEATURES[0]] += 1e-6
        place.write_text(json.dumps(found))
    elif change == "huge":
        found = json.loads(place.read_bytes())
        found["rankers"]["Disease"]["weights"][FEATURES[0]] = 1e308  # sums of such are no numbers
        place.write_text(json.dumps(found))
    elif change == "deep":
        place.write_bytes(b'{"format":1,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    else:
        place.unlink()
    with pytest.raises(PackError) as error:
        check_linker(tmp_path, read_manifest(tmp_path), pack)
    assert "\n" not in str(error.value)


def test_a_linker_with_vectors_of_an_older_release_is_refused(
    pack: Pack, fitted: FittedLinker, tmp_path: Path
) -> None:
    Memory().write(tmp_path)
    write_linker(tmp_path, pack, fitted.rankers)
    text = (tmp_path / LINKER).read_text().replace(FEATURES[0], "similarity of vectors")
    (tmp_path / LINKER).write_text(text)
    (tmp_path / "dense.json").write_text("{}")
    with pytest.raises(PackError, match=r"finds names by vectors.*fascicle linker fit"):
        read_manifest(tmp_path)


def test_a_ranker_without_a_weight_has_none_for_that_feature(
    pack: Pack, index: NameIndex, fitted: FittedLinker
) -> None:
    gene = fitted.rankers["Gene"]
    less = {
        name: weight
        for name, weight in gene.weights.items()
        if name not in ("agrees", "distinctive")
    }
    older = msgspec.json.decode(
        msgspec.json.encode(msgspec.structs.replace(gene, weights=less)), type=Ranker
    )
    zero = msgspec.structs.replace(gene, weights=less | {"agrees": 0.0, "distinctive": 0.0})
    first, second = (
        of_pair(
            Linker(pack, index=index, rankers={"Gene": one}), "signal transducer", "STAT3", "Gene"
        )[0]
        for one in (older, zero)
    )
    assert [one.probability for one in first.candidates] == [
        one.probability for one in second.candidates
    ]
    assert first.candidates[0].features["distinctive"] == 1.0


def test_no_mentions_are_no_links(linker: Linker) -> None:
    assert [
        patch.links
        for patch in linker.predict([Document(id="1", text="nothing"), Document(id="2", text="")])
    ] == [
        (),
        (),
    ]


def test_features_are_finite(linker: Linker) -> None:
    texts = corpus(4)
    ranked = linker.ranked(texts, [one.mentions for one in texts])
    assert ranked.features.shape == (len(ranked.order), len(FEATURES))
    assert np.isfinite(ranked.features).all()


def texts_without_links() -> list[Document]:
    texts = [
        *corpus(6),
        document("nothing, STAT3 and xyz", ("nothing", "Disease", ""), ("STAT3", "Gene", "")),
    ]
    return [
        msgspec.structs.replace(
            one, mentions=tuple(msgspec.structs.replace(each, links=()) for each in one.mentions)
        )
        for one in texts
    ]


def test_links_are_those_of_the_decisions(linker: Linker, ordered: Linker) -> None:
    bare = texts_without_links()
    for own in (linker, ordered):
        patches = own.predict(bare)
        for patch, told in zip(
            patches, own.decisions(bare, [one.mentions for one in bare]), strict=True
        ):
            assert [links for _, links in patch.links] == [one.links for one in told]
