"""A predictor with links: the mentions stay, the linker is opened late, and abbreviations lend
evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.support.linking import build_pack, corpus

from fascicle.core.document import Document, Link, Mention, Patch
from fascicle.errors import PackError, UsageError
from fascicle.linking import opening
from fascicle.loading import load
from fascicle.runtime.choice import FilteredPredictor
from fascicle.runtime.wrapped import LinkedPredictor, add_links
from fascicle.settings.folders.vocabularies import shipped_linkers
from fascicle.text.annotator import Annotator
from fascicle.verbs.linker import fit_folder

SHIPPED = pytest.mark.skipif(not shipped_linkers(), reason="no linker is shipped")
KNOWN = {
    "breast cancer": "Disease",
    "BC": "Disease",
    "STAT3": "Gene",
    "Paris": "Location",
    "worm": "Species",
}


class Words(Annotator):
    """Finds some words; the worm has a link of its own."""

    name = "words"  # type: ignore[assignment]
    types = ("Disease", "Gene", "Location", "Species")  # type: ignore[assignment]

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        return [Patch(add=tuple(self._found(document.text))) for document in documents]

    def _found(self, text: str) -> list[Mention]:
        links = {"worm": (Link(id="1", ontology="own"),)}
        return [
            Mention(((at, at + len(word)),), kind, source=self.name, links=links.get(word, ()))
            for word, kind in KNOWN.items()
            for at in (found.start() for found in re.finditer(rf"\b{word}\b", text))
        ]


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    fit_folder(place / "pack", place / "linker")
    return place / "linker"


def curies(document: Document) -> dict[str, list[str]]:
    return {one.text: [link.curie or link.id for link in one.links] for one in document}


def test_mentions_are_those_of_the_predictor_with_links(linker: Path) -> None:
    bare, found = Words(), add_links(Words(), linker)
    text = "In Paris a worm had breast cancer and STAT3."
    document = found(text)
    assert curies(document) == {
        "Paris": [],
        "worm": ["1"],
        "breast cancer": ["MESH:D1"],
        "STAT3": ["NCBIGene:4"],
    }
    without = tuple(msgspec.structs.replace(one, links=()) for one in document.mentions)
    assert without == tuple(msgspec.structs.replace(one, links=()) for one in bare(text).mentions)
    assert len(document.origins) == 1
    assert (found.name, found.types, found.sources, found.kind) == (
        bare.name,
        bare.types,
        bare.sources,
        bare.kind,
    )
    assert found.fingerprint != bare.fingerprint
    assert found.fingerprint == add_links(Words(), linker).fingerprint


def test_the_linker_is_opened_for_the_first_mention(
    linker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = opening.LinkerWithPacks.opened
    monkeypatch.setattr(
        opening.LinkerWithPacks, "opened", lambda own: opened.append("now") or real(own)
    )
    found = add_links(Words(), linker)
    found.annotate(["nothing", "Paris", ""])
    assert opened == []
    found.annotate(["BC", "BC"])
    found("STAT3")
    assert opened == ["now"]


def test_short_forms_have_the_links_of_their_long_forms(linker: Path) -> None:
    found = add_links(Words(), linker)
    defined = found("A breast neoplasm (BN), or breast cancer (BC), was seen; BC is rare.")
    assert curies(defined)["BC"] == ["MESH:D1"]
    assert curies(found("BC is rare."))["BC"] == [""]
    assert defined.abbreviations is None  # they are evidence, and not asked for
    given = Document(id="1", text="glioblastoma: BC", abbreviations=(((14, 16), (0, 12)),))
    assert curies(found(given))["BC"] == ["MESH:D5"]


def test_links_of_others_are_evidence_and_stay(linker: Path) -> None:
    mouse = Mention(
        ((0, 6),), "Species", source="other", links=(Link(id="10090", curie="NCBITaxon:10090"),)
    )
    other = Mention(((7, 20),), "Disease", source="other")
    document = add_links(Words(), linker)(
        Document(id="1", text="Animal breast cancer STAT3", mentions=(mouse, other))
    )
    assert document.layer("other") == (mouse, other)
    (gene,) = [one for one in document.layer("words") if one.type == "Gene"]
    assert [link.curie for link in gene.links] == ["NCBIGene:5"]


def test_answers_do_not_depend_on_the_documents_beside(linker: Path) -> None:
    texts = [
        "",
        "breast cancer",
        "BC",
        "nothing",
        "Paris and STAT3",
        *(one.text for one in corpus(3)),
    ]
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    together = add_links(Words(), linker).predict(documents)
    assert together == [add_links(Words(), linker).predict([one])[0] for one in documents]
    cut = add_links(Words(), linker).predict_and_cut(documents)
    assert [patch.add for patch in cut] == [patch.add for patch in together]
    assert all(patch.words is not None for patch in cut)


def test_what_is_left_out_is_not_linked(linker: Path) -> None:
    found = add_links(FilteredPredictor(Words(), only=["Gene"]), linker)
    assert curies(found("breast cancer and STAT3")) == {"STAT3": ["NCBIGene:4"]}


@SHIPPED
def test_the_shipped_linker_is_there_where_it_covers_a_type(tmp_path: Path) -> None:
    for kind, covered in (("Disease", True), ("SpecificDisease", True), ("Location", False)):
        names = tmp_path / f"{kind}.tsv"
        names.write_text(f"{kind}\tasthma\n", encoding="utf-8")
        found = load(names)
        assert isinstance(found, LinkedPredictor) == covered
        (mention,) = found("Severe asthma")
        assert [link.curie for link in mention.links] == (["MESH:D001249"] if covered else [])
        assert not isinstance(load(names, links=False), LinkedPredictor)
    with pytest.raises(UsageError, match="Location"):
        load(tmp_path / "Location.tsv", link="basic")


def test_a_linker_for_none_of_the_types_is_named_as_it_was_given(linker: Path) -> None:
    for given in (linker, [linker], (str(linker), str(linker.parent / "pack"))):
        with pytest.raises(UsageError, match="only have concepts of") as told:
            add_links(FilteredPredictor(Words(), only=["Location"]), given)
        assert f"the linker {linker}" in str(told.value)
        assert not set("[(") & set(str(told.value))


@SHIPPED
def test_a_pack_links_by_itself(linker: Path) -> None:
    assert not isinstance(load(linker.parent / "pack", link="auto"), LinkedPredictor)
    assert isinstance(load(linker.parent / "pack", link=linker), LinkedPredictor)


def test_a_linker_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="no linker"):
        add_links(Words(), tmp_path)


@SHIPPED
def test_a_pack_beside_a_model_does_not_take_its_links_away(linker: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tasthma\n", encoding="utf-8")
    pack = linker.parent / "pack"
    for only in ((), ("Disease",)):
        found = load(names, also=pack, link="auto", only=only)
        assert curies(found("asthma and breast cancer")) == {
            "asthma": ["MESH:D001249"],
            "breast cancer": ["MESH:D1"],
        }
        with pytest.raises(UsageError, match="not only in MESH"):
            load(names, also=pack, link="auto", only=only, ontology="MESH")
    assert not isinstance(load(pack, only=["Disease"], link="auto"), LinkedPredictor)
    assert not isinstance(load(pack, also=names, link="auto"), LinkedPredictor)
