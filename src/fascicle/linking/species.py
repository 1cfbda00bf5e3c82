"""Species that a document names, and how well that of a concept agrees with them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from fascicle.core.document import Document
from fascicle.core.lexicon import either, lexicon, taxa
from fascicle.core.mention import PlacedSpans, Span

HUMAN: Final = "NCBITaxon:9606"
_EMPTY: Final = Document(id="", text="")
_STOP: Final = re.compile(r"[.!?]\s+(?=[A-Z(])|\n")


@cache
def words_for_species(table: str) -> re.Pattern[str]:
    """Returns the pattern of a word for a species from a table of `taxa`.

    Case is that of ASCII alone: elsewhere ``ſ`` is an ``s`` without case, and ``patientſ`` is not
    among the words. The first letter is checked before the words, which is twice as fast.
    """
    words = either(taxa(table)).replace(r"\ ", r"[\s\u00a0]+")  # words of a name on several lines
    first = re.escape("".join(sorted({word[0] for word in taxa(table)})))
    return re.compile(rf"\b(?ai:(?=[{first}])(?:{words}))\b")


@cache
def _owner() -> re.Pattern[str]:
    """Returns the pattern of a sentence until a gene that it gives to a species."""
    word = rf"{words_for_species('words').pattern}(?:\s+(?:laevis|melanogaster|rerio))?"
    genus = r"(?:C\.\s*|Caenorhabditis\s+)?"
    return re.compile(rf"(?s:\s*In\s+(?:the\s+)?{genus}{word},|.*{word}\s+\Z)")


def is_given_to_species(text: str, start: int) -> bool:
    """Returns whether a text gives the gene at a place to a species: its word stands directly
    before the name (``zebrafish sox10``), or begins the sentence (``In zebrafish,``).

    A species elsewhere may be that of a reagent or a host: ``fetal bovine serum``.
    """
    ends = (match.end() for match in _STOP.finditer(text, 0, start + 1))
    return _owner().match(text[max(ends, default=0) : start]) is not None


def to_species(taxon: str) -> str:
    """Returns the species for the taxon of a strain, a subspecies or a laboratory genus."""
    return str(lexicon("species")["same"].get(taxon, taxon))


def _words_of(document: Document, table: str) -> Iterator[tuple[Span, str]]:
    """Yields the ranges of words for species and their taxa; a word in a gene is part of its name,
    except before the rest of it.
    """
    genes = PlacedSpans(
        span for mention in document.mentions if mention.type == "Gene" for span in mention.spans
    )
    for match in words_for_species(table).finditer(document.text):
        start, end = match.span()
        in_gene = genes.overlapping((start, end))
        if not any(gene[0] < start or gene[1] == end for gene in in_gene):
            yield (start, end), taxa(table)[" ".join(match[0].lower().split())]


class NearbySpecies(NamedTuple):
    """Species that are named around a place.

    Attributes:
        nearest: the nearest species, the one before in a tie; empty if the text names none.
        sentence: species that the sentence names.
    """

    nearest: str
    sentence: frozenset[str]


class Species:
    """Species that a document names: by linked mentions of any source, and by common words.

    Several words, such as ``nude mice``, count in place of a mention among them. A weak word, such
    as ``xenograft``, counts in a sentence that names no species otherwise.
    Sentences are found in the text, whatever sentences the document has: some inputs come with
    sentences, and others do not.

    Attributes:
        shares: of all places that name a species, the share of each.
    """

    def __init__(self, document: Document = _EMPTY, *, taxon: str = "") -> None:
        """Reads the document; ``taxon``: of a species that counts as named everywhere in it."""
        self._ends = [match.end() for match in _STOP.finditer(document.text)]
        words = dict(_words_of(document, "words"))
        places = {start: name for (start, _), name in words.items()}
        places |= {0: taxon} if taxon else {}
        places |= _linked_species(document, words)
        sentences = set(map(self._sentence, places))
        places |= {
            start: taxon
            for (start, _), taxon in _words_of(document, "weak")
            if self._sentence(start) not in sentences
        }
        self._starts = sorted(places)
        self._taxa = [places[start] for start in self._starts]
        counts = Counter(self._taxa)
        self.shares = {taxon: count / len(self._taxa) for taxon, count in counts.items()}

    def _sentence(self, start: int) -> int:
        return bisect_right(self._ends, start)

    def near(self, start: int) -> NearbySpecies:
        """Returns the species that are named around a place."""
        if not self._starts:
            return NearbySpecies("", frozenset())
        nearest = bisect_right(self._starts, start)
        if nearest == len(self._starts) or (
            nearest and start - self._starts[nearest - 1] <= self._starts[nearest] - start
        ):
            nearest -= 1
        sentence = self._sentence(start)
        low = self._ends[sentence - 1] if sentence else 0
        high = self._ends[sentence] if sentence < len(self._ends) else self._starts[-1] + 1
        own = self._taxa[bisect_left(self._starts, low) : bisect_left(self._starts, high)]
        return NearbySpecies(self._taxa[nearest], frozenset(own))


def likely_species(around: NearbySpecies) -> str:
    """Returns the species that a gene most likely belongs to, by its context; human if the text
    names none.
    """
    if len(around.sentence) == 1:
        return next(iter(around.sentence))
    return around.nearest or HUMAN


def agreement(
    species: Species, around: NearbySpecies, taxon: str, named_species: Collection[str]
) -> tuple[float, ...]:
    """Returns features of the agreement between the species of a concept and the text around a
    place.

    Args:
        species: of the document.
        around: species around the place.
        taxon: of the concept, as `to_species` gives it; empty if the vocabulary states none.
        named_species: species that the vocabulary names; another one agrees with any other.

    Returns:
        Whether it is the likely one, the nearest one, in the sentence; its share in the document;
        whether it is human in a text that names no species; whether it is human; whether it is
        unknown.
    """

    def same(other: str) -> bool:
        return other == taxon if taxon else bool(other) and other not in named_species

    return (
        float(same(likely_species(around))),
        float(same(around.nearest)),
        float(any(map(same, around.sentence))),
        sum(share for other, share in species.shares.items() if same(other)),
        float(taxon == HUMAN and not species.shares),
        float(taxon == HUMAN),
        float(not taxon),
    )


def _linked_species(document: Document, words: Iterable[Span]) -> dict[int, str]:
    """Returns the species that mentions are linked to, by their starts, but for those within a
    species word of several words.
    """
    phrases = PlacedSpans(place for place in words if document.text[slice(*place)].split()[1:])
    species = {}
    for mention in document.mentions:
        if mention.type != "Species" or phrases.overlapping((mention.start, mention.end)):
            continue
        for link in mention.links:
            taxon = link.curie or f"NCBITaxon:{link.id}"
            if taxon.startswith("NCBITaxon:") and not link.nil:
                species[mention.start] = to_species(taxon)
    return species
