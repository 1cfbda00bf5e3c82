"""Which mentions are dropped, and which vocabulary their links are in."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Section
from fascicle.core.mention import Link
from fascicle.core.patches import apply
from fascicle.errors import RecipeError
from fascicle.formats import read
from fascicle.pipeline.loading import open_pipeline
from fascicle.pipeline.steps import Drop, Prefer
from fascicle.settings.steps import DropStep, PreferStep

TEXT = "x" * 20


def link(curie: str, same: tuple[str, ...] = ()) -> Link:
    prefix, _, local = curie.partition(":")
    return Link(id=local, ontology=prefix, curie=curie, same=same)


def mention(
    start: int = 0, end: int = 5, links: tuple[Link, ...] = (), source: str = "one"
) -> Mention:
    return Mention(((start, end),), "A", source=source, links=links)


SECTIONS = (
    Section(0, 6, "title"),
    Section(7, 14, "abstract-methods", (("part", "claims"),)),
    Section(14, 20, "abstracted"),
)


def left(found: list[Mention], **conditions: object) -> set[Mention]:
    asked = DropStep(sources=("one",), **conditions)  # type: ignore[arg-type]
    step = Drop(name="drop", drops=frozenset(asked.sources), settings=asked)
    document = Document(id="a", text=TEXT, mentions=tuple(found), sections=SECTIONS)
    (patch,) = step.run([document])
    return set(apply(document, patch, drops=step.drops).mentions)


def preferred(one: Mention, *vocabularies: str) -> tuple[Link, ...]:
    asked = PreferStep(sources=("one",), vocabularies=vocabularies)
    step = Prefer(name="prefer", drops=frozenset(asked.sources), settings=asked)
    document = Document(id="a", text=TEXT, mentions=(one,))
    (patch,) = step.run([document])
    return apply(document, patch, drops=step.drops).mentions[0].links


def test_what_has_a_fact_is_dropped() -> None:
    plain, negated = (
        mention(0, 5),
        msgspec.structs.replace(mention(6, 9), attributes=(("negated", "0-2"),)),
    )
    assert left([plain, negated], facts=("negated", "historical")) == {plain}
    assert left([plain, negated], facts=("uncertain",)) == {plain, negated}
    denied = msgspec.structs.replace(plain, attributes=(("negated", "false"),))
    other = msgspec.structs.replace(plain, attributes=(("Negation", "true"),))
    assert left([denied], facts=("negated",)) == {denied}
    assert left([other], facts=("negated",)) == set()


def test_what_has_no_concept_is_dropped() -> None:
    bare, nil, linked = (
        mention(0, 5),
        mention(6, 9, (Link(id="", nil=True),)),
        mention(10, 15, (link("MESH:D1"),)),
    )
    assert left([bare, nil, linked], unlinked=True) == {linked}


def test_what_is_of_some_vocabularies_alone_is_dropped() -> None:
    one, both = mention(0, 5, (link("MESH:D1"),)), mention(6, 9, (link("MESH:D1"), link("MONDO:2")))
    other, bare = mention(10, 13, (link("DOID:3"),)), mention(14, 18)
    assert left([one, both, other, bare], vocabularies=("MESH", "HP")) == {both, other, bare}


@given(
    st.lists(st.tuples(st.integers(0, 14), st.integers(1, 6)), max_size=6, unique=True),
    st.integers(1, 7),
)
def test_what_is_shorter_is_dropped(places: list[tuple[int, int]], least: int) -> None:
    found = [mention(start, start + length) for start, length in places]
    assert left(found, shorter=least) == {one for one in found if one.end - one.start >= least}


def test_what_is_in_some_sections_is_dropped() -> None:
    title, methods, other = mention(1, 6), mention(8, 10), mention(14, 19)
    between = mention(5, 8)
    assert left([title, methods, other, between], sections=("abstract",)) == {title, other, between}
    assert left([title, methods, other, between], sections=("title", "abstracted")) == {
        methods,
        between,
    }
    assert left([title, methods], sections=("title",), shorter=3) == {title, methods}
    assert left([title, methods, other, between], sections=("part=claims",)) == {
        title,
        other,
        between,
    }


CITATION = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID>
<Article><ArticleTitle>Mice.</ArticleTitle><Abstract>
<AbstractText Label="AIMS" NlmCategory="OBJECTIVE">Mice.</AbstractText>
<AbstractText Label="DESIGN" NlmCategory="METHODS">Mice.</AbstractText>
</Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"""
ARTICLE = """<article><body><sec sec-type="intro"><p>Mice.</p></sec><sec sec-type="methods"><p>Mice.</p>
<sec sec-type="subjects"><p>Mice.</p></sec></sec></body></article>"""
RULES = """
[[steps]]
kind = "rules"
name = "{}"
rules = [{{ type = "Species", words = "Mice", sections = {}, tests = [{{ text = "Mice.", find = ["Mice"] }}] }}]
"""
DROP = """
[[steps]]
kind = "drop"
sources = ["everywhere"]
sections = {}
"""


@pytest.mark.parametrize(
    ("content", "asked", "count", "inside"),
    [
        (CITATION, "NlmCategory=METHODS", 3, [2]),
        (CITATION, "Label=AIMS", 3, [1]),
        (ARTICLE, "sec-type=methods", 3, [1, 2]),
        (ARTICLE, "sec-type=subjects", 3, [2]),
        (ARTICLE, "sec-type=cases", 3, []),
    ],
)
def test_types_and_labels_of_parts_of_articles_select_sections(
    tmp_path: Path, content: str, asked: str, count: int, inside: list[int]
) -> None:
    (tmp_path / "a.xml").write_text(content)
    steps = RULES.format("everywhere", []) + RULES.format("inside", [asked]) + DROP.format([asked])
    (tmp_path / "pipeline.toml").write_text(steps.replace("'", '"'))
    (document,) = read(tmp_path / "a.xml")
    (found,) = open_pipeline(tmp_path).stream([document])
    places = [one.start() for one in re.finditer("Mice", found.text)]
    assert len(places) == count
    assert [one.start for one in found.layer("inside")] == [places[at] for at in inside]
    assert [one.start for one in found.layer("everywhere")] == [
        place for at, place in enumerate(places) if at not in inside
    ]


def test_conditions_hold_together_and_other_layers_stay() -> None:
    short, long, other = mention(0, 2), mention(3, 9), mention(0, 2, source="two")
    linked = mention(10, 12, (link("MESH:D1"),))
    assert left([short, long, other, linked], shorter=4, unlinked=True) == {long, other, linked}


def test_links_are_given_in_the_first_vocabulary_that_a_mention_has() -> None:
    both = mention(links=(link("MESH:D1"), link("MONDO:2")))
    (found,) = preferred(both, "MONDO", "MESH")
    assert (found.curie, found.same) == ("MONDO:2", ("MESH:D1",))
    assert [one.curie for one in preferred(both, "HP", "MESH")] == ["MESH:D1"]
    assert preferred(both, "HP") == both.links


def test_equivalents_are_links_of_their_vocabulary() -> None:
    one = mention(links=(link("MESH:D1", same=("DOID:9", "MONDO:2")),))
    (found,) = preferred(one, "MONDO")
    assert (found.curie, found.id, found.ontology) == ("MONDO:2", "2", "MONDO")
    assert set(found.same) == {"MESH:D1", "DOID:9"}


def test_a_name_of_two_things_keeps_both() -> None:
    two = mention(links=(link("MONDO:1"), link("MESH:D1"), link("MONDO:2")))
    assert [one.curie for one in preferred(two, "MONDO")] == ["MONDO:1", "MONDO:2"]


curies = st.builds("{}:{}".format, st.sampled_from(("MESH", "MONDO", "DOID")), st.integers(0, 4))
links = st.lists(st.builds(link, curies, st.lists(curies, max_size=3).map(tuple)), max_size=4).map(
    tuple
)


@given(
    links,
    st.lists(st.sampled_from(("MESH", "MONDO", "DOID", "HP")), min_size=1, max_size=3, unique=True),
)
def test_preferred_links_are_of_one_vocabulary_and_name_no_other_concept(
    given_links: tuple[Link, ...], order: list[str]
) -> None:
    found = preferred(mention(links=given_links), *order)
    known = {one.curie for one in given_links} | {same for one in given_links for same in one.same}
    has = {one.partition(":")[0] for one in known}
    best = next((one for one in order if one in has), None)
    if best is None:
        assert found == given_links
    else:
        assert {one.ontology for one in found} == {best}
    assert {one.curie for one in found} | {same for one in found for same in one.same} <= known
    assert all(one.curie not in one.same for one in found if best is not None)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        # nothing gives links before it
        ('kind = "drop"\nsources = ["first"]\nunlinked = true', "links"),
        ('kind = "prefer"\nsources = ["first"]\nvocabularies = ["MESH"]', "links"),
        (
            'kind = "drop"\nsources = ["first"]\nunlinked = true\nvocabularies = ["MESH"]',
            "unlinked",
        ),
        ('kind = "prefer"\nsources = ["first"]\nvocabularies = []', "vocabularies"),
        ('kind = "drop"\nsources = ["first"]\nshorter = 0', "shorter"),
    ],
)
def test_steps_that_cannot_work_are_refused(folder: Path, step: str, says: str) -> None:
    with (folder / "pipeline.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[[steps]]\n{step}\n")
    with pytest.raises(RecipeError, match=says):
        open_pipeline(folder)
