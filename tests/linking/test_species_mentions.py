"""Species of mentions that are linked together with genes, where nothing else names one."""

from __future__ import annotations

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.linking.linker import Linker
from fascicle.linking.opening import find
from fascicle.verbs.link import link

HUMAN_SOD1, HUMAN_INSULIN = "NCBIGene:6647", "NCBIGene:3630"
TOMATO = "SOD1 rose in tomato under drought."


def document(text: str, *names: tuple[str, str]) -> Document:
    """A document with mentions that are words and types."""
    mentions = [
        Mention(((text.index(words), text.index(words) + len(words)),), kind)
        for words, kind in names
    ]
    return Document(id=text, text=text, mentions=tuple(mentions))


def about(text: str, species: str, gene: str = "SOD1") -> Document:
    return document(text, (gene, "Gene"), (species, "Species"))


@pytest.fixture(scope="module")
def linker() -> Linker:
    opened = find("basic").opened()
    assert isinstance(opened, Linker)
    return opened


def score(linker: Linker, text: Document, curie: str = HUMAN_SOD1) -> float:
    """The probability of a human gene, 0 if it is not the answer."""
    (patch,) = linker.predict([text])
    links = dict(patch.links)[text.mentions[0].key]
    return sum(each.score or 0.0 for each in links if each.curie == curie and len(links) == 1)


@pytest.mark.parametrize(
    ("text", "species"),
    [
        (TOMATO, "tomato"),
        ("SOD1 rose in maize under drought.", "maize"),
        ("SOD1 fell in the liver of dogs.", "dogs"),
        ("SOD1 of Neurospora crassa was lost.", "Neurospora crassa"),
    ],
)
def test_a_species_that_is_linked_beside_a_gene_counts_for_it(
    linker: Linker, text: str, species: str
) -> None:
    alone = score(linker, document(text, ("SOD1", "Gene")))
    assert score(linker, about(text, species)) < alone - 0.1
    assert score(linker, about("Insulin of sheep", "sheep", "Insulin"), HUMAN_INSULIN) == 0


def test_participants_are_people(linker: Linker) -> None:
    """The links of such abstracts to human genes are right."""
    text = "SOD1 rose in participants."
    alone = score(linker, document(text, ("SOD1", "Gene")))
    assert score(linker, about(text, "participants")) > alone


@pytest.mark.parametrize(
    ("text", "species"),
    [
        ("SOD1 was measured after HIV-1 infection.", "HIV-1"),
        ("SOD1 rose with Helicobacter pylori.", "Helicobacter pylori"),
        ("SOD1 rose with Plasmodium falciparum.", "Plasmodium falciparum"),
        ("SOD1 rose with Pseudomonas putida.", "Pseudomonas putida"),
        ("SOD1 has a promoter of avian origin.", "avian"),
        ("SOD1 of patients and of sheep.", "sheep"),
        ("SOD1 fell in xenografts and in sheep.", "sheep"),
    ],
)
def test_microbes_clades_and_species_beside_words_do_not(
    linker: Linker, text: str, species: str
) -> None:
    """A microbe has a host, a clade has no genes, and words say of what the genes are."""
    assert score(linker, about(text, species)) == score(linker, document(text, ("SOD1", "Gene")))


def test_every_way_to_ask_gives_one_answer(linker: Linker) -> None:
    texts = [about(TOMATO, "tomato"), document("SOD1 is low.", ("SOD1", "Gene"))]
    together = linker.predict(texts)
    assert together == [linker.predict([text])[0] for text in texts]
    assert together == find(["basic", "basic"]).opened().predict(texts)
    expected = [[links for _, links in patch.links] for patch in together]
    explained = linker.explained(texts)
    assert [[(each.link,) for each in own] for own in explained] == expected
    linked = link(texts)
    assert [[each.links for each in text.mentions] for text in linked] == expected


def test_a_species_that_is_linked_already_counts_as_before(linker: Linker) -> None:
    text = about(TOMATO, "tomato")
    (patch,) = linker.predict([text])
    gene, species = text.mentions
    stated = msgspec.structs.replace(species, links=dict(patch.links)[species.key])
    again = msgspec.structs.replace(text, mentions=(gene, stated))
    assert score(linker, again) == score(linker, text)
