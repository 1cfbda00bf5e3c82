"""Queries for mentions: the strings to look up, of their own words and other forms of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

from fascicle.core.document import Document
from fascicle.core.mention import Fragments, Mention
from fascicle.linking.binomials import Binomials, is_shortened
from fascicle.linking.induced import INDUCIBLE, Causes, causes_in, induced_names
from fascicle.linking.parts import name_readings, numbered_names, with_stem
from fascicle.linking.pathogens import Pathogens
from fascicle.linking.spellings import (
    as_looked_up,
    on_the_line,
    other_names,
    other_spellings,
    shorter_names,
    unmodified,
    without_species,
    without_tail,
)
from fascicle.terms.abbreviations.pairs import Pair, Pairs, is_distinctive
from fascicle.terms.keys.key import key

_Way = Literal["own", "long", "short", "bare", "part", "shorter"]
WAYS: Final[tuple[_Way, ...]] = get_args(_Way)
_OF_SHORT: Final[Mapping[_Way, _Way]] = MappingProxyType({"own": "long", "short": "own"})
_GENE: Final = "Gene"
_SPECIES: Final = "Species"
_WITH_STEM: Final = (_GENE, "Chemical")
_SHORT: Final = 3  # characters of a symbol that means much else


class LookupString(NamedTuple):
    """String to look up.

    Attributes:
        surface: the string.
        way: how it comes from the mention.
        taxon: of the species that a prefix or a word in front names; empty for none.
    """

    surface: str
    way: _Way = "own"
    taxon: str = ""


class Query(NamedTuple):
    """Strings to look up for a mention.

    Attributes:
        name: the full name: the long form of an abbreviation pair, else the own words.
        strings: to look up, the name first.
        short: strings to look up if nothing is found for the long form of a pair: its short forms.
        distinctive: whether all of these are rarely ambiguous.
        shorter: strings to look up if nothing else is found: other names, and names without first
            words, see `other_names`.
        readings: how the name may name several things, the likeliest first; of each a query for
            each part.
        needs: names with types, of all of which the pack must have a concept; else another query
            is asked.
    """

    name: str
    strings: tuple[LookupString, ...]
    short: tuple[LookupString, ...] = ()
    distinctive: bool = False
    shorter: tuple[LookupString, ...] = ()
    readings: tuple[tuple[Query, ...], ...] = ()
    needs: tuple[tuple[str, str], ...] = ()


class Unit(NamedTuple):
    """Unit of linking: one of the things that mentions with one name name in a document.

    Attributes:
        document: number of the document.
        mentions: numbers of the mentions in it, ascending.
        part: number of the thing in the mentions; 0 for most.
        type: of the mentions.
        surface: of the thing.
        query: what is looked up.
        places: of each mention, the place of the text around which species are looked for.
        induced: queries of `_induced_queries`, the best first; the first whose needs are met is
            asked instead.
    """

    document: int
    mentions: tuple[int, ...]
    part: int
    type: str
    surface: str
    query: Query
    places: tuple[int, ...]
    induced: tuple[Query, ...] = ()

    def each(self) -> Iterator[Unit]:
        """Yields a unit for each mention."""
        for mention, place in zip(self.mentions, self.places, strict=True):
            yield self._replace(mentions=(mention,), places=(place,))


class _Group(NamedTuple):
    """Mentions of a document that differ in nothing but their place, see `Unit`."""

    kind: str
    surface: str
    query: Query
    numbers: list[int]
    places: list[int]


def make_units(
    documents: Sequence[Document], mentions: Sequence[Sequence[Mention]]
) -> Iterator[Unit]:
    """Yields the mentions of each document as units, with all strings that may be looked up for
    them.

    Mentions that differ in nothing but their place share a unit: they have one type, name, query
    and links, and either all or none of them have a score.
    """
    for number, (document, own) in enumerate(zip(documents, mentions, strict=True)):
        causes = causes_in(document.text)
        for kind, surface, query, numbers, places in _group(document, own):
            induced = _induced_queries(query, causes) if causes and kind == INDUCIBLE else ()
            yield Unit(
                number, tuple(numbers), 0, kind, surface, query, tuple(places), tuple(induced)
            )


def _group(document: Document, mentions: Sequence[Mention]) -> Iterable[_Group]:
    """Returns the mentions of a document in groups, in the order of their first mentions."""
    pairs = Pairs(document)
    has_pairs, pathogens = len(pairs) > 0, Pathogens(document.text)
    binomials = Binomials(document.text)
    groups: dict[object, _Group] = {}
    for number, mention in enumerate(mentions):
        spans, kind = mention.spans, mention.type
        surface = _surface(document.text, mention)
        pair, place = pairs.of(surface, *spans) if has_pairs else (None, spans[0][0])
        surface = as_looked_up(surface)
        full = binomials.full(surface, place) if kind == _SPECIES else ""
        query = make_pair_query(pair, kind) if pair else _query_in(pathogens, surface, kind, full)
        same = (kind, surface, id(query), mention.links, mention.score is None)
        group = groups.setdefault(same, _Group(kind, surface, query, [], []))
        group.numbers.append(number)
        group.places.append(place)
    return groups.values()


def _surface(text: str, mention: Mention) -> str:
    """Returns the words of a mention in one line, with the stem that stands before them."""
    surface, start = " ".join(mention_name(text, mention.spans).split()), mention.spans[0][0]
    return with_stem(text, start, surface) if start and mention.type in _WITH_STEM else surface


def _query_in(pathogens: Pathogens, surface: str, kind: str, full: str) -> Query:
    """Returns the query for a mention that is not part of an abbreviation pair; ``full``: the name
    of a species.
    """
    if full:
        return _query_as(full, surface, kind)
    if kind == _GENE and (pathogen := pathogens.owner(surface)):
        return _whole_query(f"{pathogen} {surface}")
    return make_query(surface, kind)


@lru_cache(maxsize=1 << 10)
def _query_as(full: str, surface: str, kind: str) -> Query:
    """Returns the query for a full name that stays another name than what the text has for it."""
    return make_query(full, kind)._replace(name=surface)


@lru_cache(maxsize=1 << 10)
def _whole_query(name: str) -> Query:
    """Returns the query for a name that means nothing without its first words."""
    return Query(name, (LookupString(name),))


def _induced_queries(query: Query, causes: Causes) -> Iterator[Query]:
    for name, needs in induced_names(query.name, causes):
        yield make_query(name, INDUCIBLE)._replace(
            short=query.short, distinctive=query.distinctive, needs=needs
        )


def mention_name(text: str, spans: Fragments) -> str:
    """Returns the name of a mention: its fragments with a blank between them, but for one cut out
    of a word.

    Args:
        text: of the document.
        spans: of the fragments, as those of ``alpha-`` and ``thalassemia`` in ``alpha- and
            beta-thalassemia``.
    """
    if len(spans) == 1:
        return text[spans[0][0] : spans[0][1]]
    name = ""
    for at, (start, end) in enumerate(spans):
        last = spans[at - 1][1]
        in_word = at and ("-" in (text[last - 1], text[start]) or text[last].isalnum())
        name += text[start:end] if in_word or not at else f" {text[start:end]}"
    return name


@lru_cache(maxsize=1 << 13)
def make_query(surface: str, kind: str) -> Query:
    """Returns the strings to look up for a mention that is not part of an abbreviation pair, or for
    a long form.

    Args:
        surface: its words.
        kind: its type.
    """
    strings = _own_strings(surface, kind)
    names = (surface, *(unmodified(surface) if kind == _GENE else ()))
    series = numbered_names(surface)
    readings = (
        _reading(reading, series)
        for name in names
        for reading in name_readings(name, bare_endings=kind != _GENE)
    )
    other = tuple(LookupString(name, "bare") for name in other_names(surface, kind) if name)
    other_surfaces = {string.surface for string in other}
    shorter = (string for string in _shorter(*strings) if string.surface not in other_surfaces)
    return Query(
        surface,
        strings,
        shorter=(*other, *shorter),
        readings=tuple(readings),
    )


@lru_cache(maxsize=1 << 10)
def make_pair_query(pair: Pair, kind: str) -> Query:
    """Returns the strings to look up for both forms of an abbreviation pair.

    Args:
        pair: of forms.
        kind: type of the mention.
    """
    short = dict.fromkeys(
        string._replace(way="short")
        for form in map(as_looked_up, pair.shorts)
        if not is_shortened(form)  # M. bovis may be another species than Mycoplasma bovis
        for string in _own_strings(form, kind)
    )
    return make_query(as_looked_up(pair.long), kind)._replace(
        short=tuple(short), distinctive=all(map(is_distinctive, pair.shorts))
    )


def _reading(parts: Sequence[str], series: Sequence[str]) -> tuple[Query, ...]:
    """Returns a query for each part; those of a numbered series are sure to be names themselves."""
    strings = [LookupString(part, "own" if parts == series else "part") for part in parts]
    return tuple(Query(text.surface, (text,), shorter=_shorter(text)) for text in strings)


def visible_ways(ways: int, *, surface: str, query: Query) -> tuple[_Way, ...]:
    """Returns ways as a mention sees them: for a short form the long form is not its own, and the
    short form is.

    Args:
        ways: as bits by their number in `WAYS`.
        surface: its words.
        query: strings that were looked up for it.
    """
    is_short = key(surface, 1) != key(query.name, 1)
    several = (way for at, way in enumerate(WAYS) if ways >> at & 1)
    return tuple(_OF_SHORT.get(way, way) if is_short else way for way in several)


def _own_strings(surface: str, kind: str) -> tuple[LookupString, ...]:
    """Returns a name and other spellings of it, each without words that are no part of it."""
    bare, line = without_tail(surface, kind), on_the_line(surface)
    # H1 and Rhe are genes, and H(1) and Rh(e) receptors and antigens
    is_short = kind == _GENE and len(line) <= _SHORT
    own = dict.fromkeys((surface,) if is_short else (surface, line))
    strings = list(map(LookupString, own))
    if bare != surface:
        strings.append(LookupString(bare, "bare"))
    other = (name for name in other_spellings(bare, kind) if name != bare and name not in own)
    strings += (LookupString(name, "bare") for name in other)
    if kind == _GENE:
        strings += (LookupString(name, "bare", taxon) for name, taxon in without_species(bare))
    return tuple(dict.fromkeys(string for string in strings if string.surface))


def _shorter(*strings: LookupString) -> tuple[LookupString, ...]:
    """Returns names without one to three of their first words, each once."""
    shorter = (
        LookupString(name, "shorter", string.taxon)
        for string in strings
        for name in shorter_names(string.surface)
    )
    return tuple(dict.fromkeys(shorter))
