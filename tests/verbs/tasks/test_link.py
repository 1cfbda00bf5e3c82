"""One answer on every way in: a link depends on the text and its mentions, not on who asks or
what was set before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from tests.support.linking import build_pack, corpus, document

import fascicle
from fascicle.core.document import LINKED, Document, Link, Patch
from fascicle.errors import UsageError
from fascicle.linking.decisions import Decision
from fascicle.linking.opening import Places, find
from fascicle.pipeline.loading import open_settings
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.steps import MENTIONS, Own, Recognise
from fascicle.runtime.wrapped import add_links
from fascicle.settings.folders.vocabularies import shipped_linkers
from fascicle.settings.pipeline import read_pipeline
from fascicle.terms.abbreviations.finder import AbbreviationFinder, find_abbreviations
from fascicle.text.annotator import Annotator
from fascicle.text.segment import RULES_1
from fascicle.verbs.link import explain, link
from fascicle.verbs.linker import fit_folder
from fascicle.verbs.tasks.index_build import build_pack as build_pack_of

SHIPPED = pytest.mark.skipif("basic@2" not in shipped_linkers(), reason="no linker is shipped")
SPECIES = (
    "Expression of MYC was measured\nIn human patients the levels were low\nMYC gene was "
    "not found in Drosophila."
)
CORPORA = (
    "bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt",
    "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
    "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
    "nlm-gene/Train.PubTator",
    "biored/Dev.PubTator",
    "biored/Test.PubTator",
)
Answers = list[list[tuple[Link, ...]]]


class Gold(Annotator):
    """Finds what it was told."""

    name = "gold"  # type: ignore[assignment]
    types: tuple[str, ...] = ()  # type: ignore[assignment]

    def __init__(self, documents: Sequence[Document]) -> None:
        self.types = tuple(sorted({each.type for one in documents for each in one.mentions}))
        self._known = {one.id: one.mentions for one in documents}

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        return [Patch(add=self._known[one.id]) for one in documents]


def without(documents: Sequence[Document], **parts: object) -> list[Document]:
    return [msgspec.structs.replace(one, **parts) for one in documents]


def bare(documents: Sequence[Document]) -> list[Document]:
    """Without links, and with ids that are theirs alone."""
    return [
        msgspec.structs.replace(
            one,
            id=str(at),
            mentions=tuple(
                msgspec.structs.replace(each, links=(), source="gold", score=None)
                for each in one.mentions
            ),
        )
        for at, one in enumerate(documents)
    ]


def answers(documents: Sequence[Document]) -> Answers:
    return [
        [one.links for one in sorted(each.mentions, key=lambda one: one.key)] for each in documents
    ]


def cut(documents: Sequence[Document]) -> list[Document]:
    return [
        msgspec.structs.replace(
            one, sentences=RULES_1.sentences(one.text), words=RULES_1.words(one.text)
        )
        for one in documents
    ]


def abbreviated(documents: Sequence[Document]) -> list[Document]:
    return [
        msgspec.structs.replace(one, abbreviations=find_abbreviations(one)) for one in documents
    ]


def ways(
    asked: Sequence[Document], linker: Places, ontology: str
) -> Iterator[tuple[str, Sequence[Document]]]:
    """The documents, linked in each way."""
    yield "link", list(link(asked, linker=linker, ontology=ontology))
    empty, predictor = without(asked, mentions=()), Gold(asked)
    yield "annotate", list(add_links(predictor, linker, ontology=ontology).stream(empty))
    step = Own(find(linker, ontology=ontology).opened(), name="link")
    recognise = Recognise(name="gold", predictor=predictor, gives=MENTIONS)
    yield "pipeline of 0", list(Pipeline([recognise, step]).stream(empty))
    if ontology:
        return
    yield "link of cut texts", list(link(cut(asked), linker=linker))
    yield "link with abbreviations", list(link(abbreviated(asked), linker=linker))
    yield "link again", list(link(link(asked, linker=linker), linker=linker))
    pipeline = Pipeline([recognise, Own(AbbreviationFinder(), name="abbreviations"), step])
    yield "pipeline of 1", list(pipeline.stream(empty))


def decided(told: Sequence[Decision], one: Document) -> list[tuple[Link, ...]]:
    """The links of mentions by what was explained: each concept once, and NIL where no part has
    one.
    """
    found: list[tuple[Link, ...]] = []
    for at in range(len(one.mentions)):
        links = [link for decision in told if decision.mention == at for link in decision.links]
        named = tuple({each.curie: each for each in reversed(links) if not each.nil}.values())[::-1]
        found.append(named or tuple(links[:1]))
    return found


def assert_one_answer(asked: Sequence[Document], linker: Places, ontology: str = "") -> None:
    found = {name: answers(done) for name, done in ways(asked, linker, ontology)}
    first = found["link"]
    assert {link.ontology for own in first for links in own for link in links} == {
        ontology
    } or not ontology
    assert any(link.curie for own in first for links in own for link in links)
    for name, said in found.items():
        other = [one.id for one, a, b in zip(asked, first, said, strict=True) if a != b]
        assert not other, name
    if ontology:
        return
    told = [decided(own, one) for one, own in explain(asked, linker=linker, most=1)]
    assert told == [[one.links for one in each.mentions] for each in link(asked, linker=linker)]


@SHIPPED
def test_a_link_is_the_same_on_every_way_in(fascicle_data: Path) -> None:
    texts = bare([one for name in CORPORA for one in fascicle.read(fascicle_data / name)])
    assert len(texts) > 2_000
    assert_one_answer(texts, "basic")
    assert_one_answer(texts, "basic", "MONDO")


@SHIPPED
def test_own_names_stand_beside_those_that_are_shipped(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text(
        "id\tname\ttype\nOWN:1\tour syndrome\tDisease\nOWN:2\tasthma\tDisease\n"
    )
    (tmp_path / "sources.toml").write_text(
        'name = "own@1"\n[sources.own]\npath = "own.tsv"\nreader = "table"\ntype = "Disease"\n'
        'licence = "CC0-1.0"\ncolumns = { id = "id", name = "name" }\n'
    )
    build_pack_of(tmp_path / "sources.toml", tmp_path / "own")
    asked = [
        document(
            "An asthma, or our syndrome.",
            ("asthma", "Disease", ""),
            ("our syndrome", "Disease", ""),
        )
    ]
    (alone,), (both,) = (
        answers(list(link(asked))),
        answers(list(link(asked, linker=["basic", tmp_path / "own"]))),
    )
    assert alone[1][0].nil
    assert both[0] == alone[0]  # with the probability of the ranker that is shipped
    assert both[0][0].score is not None
    assert [one.curie for one in both[1]] == ["OWN:1"]
    (turned,) = answers(list(link(asked, linker=[tmp_path / "own", "basic"])))
    assert [one.curie for own in turned for one in own] == ["OWN:2", "OWN:1"]
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tour syndrome\nDisease\tasthma\n", encoding="utf-8")
    found = fascicle.load(names, link=["basic", tmp_path / "own"])(asked[0].text)
    assert [one.links for one in found.mentions] == both
    (tmp_path / "in.txt").write_text(asked[0].text)
    fascicle.annotate(
        tmp_path / "in.txt",
        tmp_path / "out.jsonl",
        model=names,
        link=["basic", str(tmp_path / "own")],
    )
    (written,) = fascicle.read(tmp_path / "out.jsonl")
    assert "OWN:1" in {one.curie for each in written.mentions for one in each.links}
    with pytest.raises(UsageError, match="leave"):
        fascicle.load(tmp_path / "own", link="basic", ontology="MESH")
    with pytest.raises(UsageError, match="linker too"):
        fascicle.load(names, link=(), ontology="MESH")
    (asthma,) = fascicle.load(names, ontology="DOID")("asthma")
    assert [link.curie for link in asthma.links] == ["DOID:2841"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    fit_folder(place / "pack", place / "linker", documents=corpus())
    fit_folder([place / "pack", "basic"], place / "both")
    return place


@pytest.mark.parametrize("name", ["linker", "both"])
def test_small_linkers_say_the_same_on_every_way_in(home: Path, name: str) -> None:
    texts = [
        document(SPECIES.replace("MYC", "TERT"), ("TERT", "Gene", "")),
        document(
            "Of mice.\nIn patients TERT (telomerase) grew. TERT",
            ("TERT", "Gene", ""),
            ("telomerase", "Gene", ""),
        ),
        document("ataxia telangiectasia (AT) is here. AT", ("AT", "Disease", "")),
        document(
            "AT and breast and ovarian cancer",
            ("breast and ovarian cancer", "Disease", ""),
            ("AT", "Disease", ""),
        ),
    ]
    assert_one_answer(bare(texts), home / name)


@SHIPPED
def test_the_model_that_is_shipped_says_the_same_as_its_pipelines(tmp_path: Path) -> None:
    from fascicle.serving.server import PipelineOpener

    asked = [
        SPECIES,
        "Follicle-stimulating hormone (FSH) was high.\nFSH rose in mice. Patients took TNF.",
    ]
    said = [one.mentions for one in fascicle.load("biomed-fast", link="basic").annotate(asked)]
    assert any(each.links for one in said for each in one)
    (tmp_path / "pipeline.toml").write_text(
        'name = "p"\n[[steps]]\nkind = "recogniser"\nname = "model"\nmodel = '
        '"biomed-fast"\n[[steps]]\nkind = "link"\n'
    )
    for pipeline in (open_settings(read_pipeline(tmp_path)), PipelineOpener(given="biomed-fast")()):
        with pipeline:
            assert [one.mentions for one in pipeline.stream(asked)] == said


def linked_to(curie: str) -> Document:
    own = document(
        "Breast cancer and a place",
        ("Breast cancer", "Disease", curie),
        ("a place", "Location", "X:1"),
    )
    event = fascicle.Event(
        step="linker", kind="note", code=LINKED, message="links are of another@1: MESH (2001)"
    )
    return msgspec.structs.replace(own, events=(event,))


@pytest.mark.parametrize("keep", [False, True])
def test_links_that_are_there_are_replaced_or_kept(home: Path, keep: bool) -> None:
    told: list[tuple[str, int]] = []
    given = linked_to("MESH:D9")
    (found,) = link(
        [given], linker=home / "linker", keep_links=keep, told=lambda *said: told.append(said)
    )
    by_type = {one.type: [each.curie for each in one.links] for one in found.mentions}
    assert by_type == {"Disease": ["MESH:D9" if keep else "MESH:D1"], "Location": ["X:1"]}
    assert told == [("kept" if keep else "replaced", 1), ("type Location", 1)]
    ((_, decisions),) = explain([given], linker=home / "linker", keep_links=keep)
    assert [(one.mention, one.link.curie) for one in decisions] == (
        [] if keep else [(0, "MESH:D1")]
    )


def test_no_event_tells_of_links_that_are_gone(home: Path) -> None:
    given = linked_to("MESH:D9")
    given = msgspec.structs.replace(given, mentions=given.mentions[:1])
    (found,) = link([given], linker=home / "linker")
    assert "another@1" not in " ".join(found.origins)
    assert any("MESH" in one for one in found.origins)
    (kept,) = link([given], linker=home / "linker", keep_links=True)
    assert kept.origins == given.origins
