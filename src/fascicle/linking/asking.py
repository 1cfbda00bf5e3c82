"""Strings to look up for a mention: its own words, and alternative forms and readings of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

from fascicle.core.document import Document
from fascicle.core.mention import Fragments, Mention
from fascicle.linking.parts import LONGEST, name_readings, with_stem
from fascicle.terms.abbreviations.pairs import Pair, Pairs, is_distinctive
from fascicle.terms.keys.key import key

_Way = Literal["own", "long", "short", "bare", "part", "shorter"]
WAYS: Final[tuple[_Way, ...]] = get_args(_Way)
_OF_SHORT: Final[Mapping[_Way, _Way]] = MappingProxyType({"own": "long", "short": "own"})
_MOST_LEFT_OUT: Final = 3  # first words of a name
# what is left says nothing
_KINDS: Final = re.compile(r"(?i:disease|disorder|syndrome|condition|illness)(?:s|es)?")

_PREFIX: Final = re.compile(r"([hmrdzy])-?([A-Z][A-Za-z0-9-]+)")
# Before a gene, what was done to it, or where it is: phosphorylated, soluble, precursor,
# recombinant, silenced.
_MODIFIED: Final = re.compile(
    r"(?:phospho(?:rylated)?|soluble|sol|recombinant|rh?|pro|p|si|sh|s)[- ]?"
    r"(?=[A-Z][^\W_]*[-\d]|[A-Z]{3}|[A-Z][a-z]{2})"
)
# Words behind a name that are no part of it, by type.
_TAILS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "Gene": re.compile(
            r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|loc(?:us|i)|transcripts?|promoters?)$"
        ),
        "CellLine": re.compile(r"[\s-]+(?:cells?(?:\s+lines?)?|lines?)$"),
        "Species": re.compile(r"\s+(?:strains?|spp?\.?|isolates?)$"),
    }
)
# Other spellings of names, by type.
_SPELLINGS: Final[Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]] = MappingProxyType(
    {
        "Gene": (
            (re.compile(r"(?<=[^\W\d]{2}-)a(?=\d{0,2}$)|^a(?=-[a-z]{4})"), "alpha"),
            (re.compile(r"(?<=[^\W\d]{2}-)b(?=\d{0,2}$)|(?<=-1)b$|^b(?=-[a-z]{4})"), "beta"),
            (re.compile(r"(?<=[^\W\d]{2}-)g(?=\d{0,2}$)|^g(?=-[a-z]{4})"), "gamma"),
            (re.compile(r"(?<=^[A-Z])-(?=[A-Z]{2,}$)"), ""),  # M-CSF
        ),
        "Chemical": (
            (re.compile(r"^a(?=-[a-z]{4})"), "alpha"),
            (re.compile(r"^b(?=-[a-z]{4})"), "beta"),
        ),
        "Species": ((re.compile(r" type(?= \d+$)"), ""),),
    }
)
# Words before the name of a disease that seldom make another one of it.
_COURSE: Final = re.compile(
    r"(?:(?ai:acute|chronic|episodic|intermittent|mild|moderate|persistent|recurrent|severe|sporadic|unilateral|bilateral)"
    r"[\s-]+)+(?=\S)"
)
_OF: Final = re.compile(r"([^\s,]+) of (?:the )?([^,]+)")  # cirrhosis of the liver
# Words behind the name of a drug, and of parts of formulae such as KCl, Ca2+ and CO2.
_SALT: Final = re.compile(
    r"\s+(?:(?:di)?hydrochloride|HCl|hydrobromide|(?:bes|mes|tos)[iy]late|maleate|fumarate|tartrate|succinate"
    r"|cilexetil|medoxomil|proxetil|sodium|potassium|calcium)$"
)
# a hyphen between two parts of a word
_JOINT: Final = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{3})")
_CATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{
            "Na": "sodium",
            "K": "potassium",
            "Ca": "calcium",
            "Mg": "magnesium",
            "Li": "lithium",
            "Zn": "zinc",
        },
        **{
            "Fe": "iron",
            "Cu": "copper",
            "Mn": "manganese",
            "Pb": "lead",
            "Hg": "mercury",
            "Cd": "cadmium",
        },
        **{"Al": "aluminum", "Ag": "silver", "Ba": "barium", "Co": "cobalt", "Ni": "nickel"},
    }
)
_ANIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{
            "Cl": "chloride",
            "OH": "hydroxide",
            "Br": "bromide",
            "I": "iodide",
            "F": "fluoride",
            "SO4": "sulfate",
        },
        **{"NO3": "nitrate", "HCO3": "bicarbonate", "CO3": "carbonate", "PO4": "phosphate", "": ""},
    }
)
_MOLECULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{
            "CO2": "carbon dioxide",
            "O2": "oxygen",
            "H2O": "water",
            "HCl": "hydrochloric acid",
            "H": "hydrogen",
        },
        **{
            "NO": "nitric oxide",
            "CO": "carbon monoxide",
            "N2O": "nitrous oxide",
            "NH3": "ammonia",
            "C": "carbon",
        },
        **{
            "H2O2": "hydrogen peroxide",
            "N2": "nitrogen",
            "SO2": "sulfur dioxide",
            "H2S": "hydrogen sulfide",
        },
    }
)
_FORMULA: Final = re.compile(
    rf"({'|'.join(_CATIONS)})\d?\(?({'|'.join(_ANIONS)})\)?\d?(?:\(?(?:\d?[+-]|[+-]\d)\)?)?"
)
# Endings of adjectives, and those of the nouns that name the disease.
_NOUNS: Final = (
    *(("ic", noun) for noun in ("ia", "y", "es", "ism", "icity")),
    *(("tic", noun) for noun in ("sis", "sia", "tis")),
    *(
        ("ptic", "psy"),
        ("matic", "ma"),
        ("matous", "ma"),
        ("genic", "genesis"),
        ("ive", "ion"),
        ("ed", "ion"),
    ),
)
_IN_BRACKETS: Final = re.compile(
    r" [(\[][A-Z][A-Za-z0-9-]{1,7}[)\]]"
)  # short form in a name: Von Hippel-Lindau (VHL) disease
# levodopa-induced dyskinesia
_INDUCED: Final = re.compile(r"([^\s()\[\]/,;]+)[-\u2010\u2011 ]induced\s+(?=[^\W\d])")
_INDUCES: Final = "induced"
_INDUCIBLE: Final = "Disease"
_GENE: Final = "Gene"
_PARTING: Final = "()[]/,;"  # what no word before it has
_CAUSES: Final = ("drug", "substance")  # in names of what any drug induces
_ANY_DRUG: Final = re.compile(r"(?ai:drugs?|medications?|substances?|chemicals?)")
_WORDS_INDUCED: Final = 3  # of the name of a disease, at most
_TAXA: Final[Mapping[str, str]] = MappingProxyType(
    {
        "human": "NCBITaxon:9606",
        "mouse": "NCBITaxon:10090",
        "murine": "NCBITaxon:10090",
        "rat": "NCBITaxon:10116",
        "drosophila": "NCBITaxon:7227",
        "zebrafish": "NCBITaxon:7955",
        "yeast": "NCBITaxon:559292",
        "chicken": "NCBITaxon:9031",
    }
)
_LETTERS: Final[Mapping[str, str]] = MappingProxyType(
    {name[0]: taxon for name, taxon in _TAXA.items()}
)
_SPECIES: Final = re.compile(rf"((?ai:{'|'.join(_TAXA)}))\s+(?=\S)")


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
        shorter: strings to look up if nothing else is found: other names (see `_instead`), names
            without first words.
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


def make_units(
    documents: Sequence[Document], mentions: Sequence[Sequence[Mention]]
) -> Iterator[Unit]:
    """Yields the mentions of each document as units, with all strings that may be looked up for
    them.

    Mentions that differ in nothing but their place share a unit: they have one type, name, query
    and links, and either all or none of them have a score.
    """
    for number, (document, own) in enumerate(zip(documents, mentions, strict=True)):
        pairs = Pairs(document)
        has_pairs, causes = len(pairs) > 0, _causes_in(document.text)
        # in the order of first mentions
        groups: dict[object, tuple[str, str, Query, list[int], list[int]]] = {}
        for at, mention in enumerate(own):
            spans, kind = mention.spans, mention.type
            surface = " ".join(mention_name(document.text, spans).split())
            if kind == _GENE and spans[0][0]:
                surface = with_stem(document.text, spans[0][0], surface)
            pair, place = pairs.of(surface, *spans) if has_pairs else (None, spans[0][0])
            query = make_query(surface, kind) if pair is None else make_pair_query(pair, kind)
            same = (kind, surface, id(query), mention.links, mention.score is None)
            if (several := groups.get(same)) is None:
                several = groups[same] = (kind, surface, query, [], [])
            several[3].append(at)
            several[4].append(place)
        for kind, surface, query, ats, places in groups.values():
            induced = (
                tuple(_induced_queries(query, causes)) if causes and kind == _INDUCIBLE else ()
            )
            yield Unit(number, tuple(ats), 0, kind, surface, query, tuple(places), induced)


def _causes_in(text: str) -> Mapping[str, Collection[str]]:
    """Returns the keys of names behind ``X-induced`` in a text, each with all words X, those for
    any drug as ``""``.
    """
    causes: dict[str, set[str]] = defaultdict(set)
    for match in _inducing(text):
        words = text[match.end() : match.end() + LONGEST].split()[:_WORDS_INDUCED]
        for count in range(1, len(words) + 1):
            cause = "" if _ANY_DRUG.fullmatch(match[1]) else match[1]
            causes[key(" ".join(words[:count]).rstrip(".,;:)]"), 2)].add(cause)
    return causes


def _inducing(text: str) -> Iterator[re.Match[str]]:
    """Yields the matches of `_INDUCED`; each is searched from the start of its own word, not
    from every place.
    """
    end = place = 0
    while (place := text.find(_INDUCES, place)) >= 0:
        start = place - 1
        place += len(_INDUCES)
        while start > end and not (text[start - 1].isspace() or text[start - 1] in _PARTING):
            start -= 1
        if match := _INDUCED.match(text, max(start, end)):
            yield match
            end = place = match.end()


def _induced_queries(query: Query, causes: Mapping[str, Collection[str]]) -> Iterator[Query]:
    """Yields what the name of a disease may mean in a text that says what induces it, such as
    ``drug-induced fever``.

    Args:
        query: of the mention.
        causes: of `_causes_in`, for its text; unless the cause is any drug, it must be a chemical.
    """
    match = _INDUCED.match(query.name)
    effect = query.name[match.end() :] if match else query.name
    for cause in sorted(causes.get(key(effect, 2), ())):
        chemical = ((cause, "Chemical"),) if cause else ()
        for name in (f"{general}-induced {effect}" for general in _CAUSES):
            query = make_query(name, _INDUCIBLE)._replace(
                short=query.short, distinctive=query.distinctive
            )
            yield query._replace(needs=((name, _INDUCIBLE), *chemical))


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
    parts = tuple(
        tuple(_of_part(LookupString(part, "part")) for part in reading)
        for name in (surface, *(_unmodified(surface) if kind == _GENE else ()))
        for reading in name_readings(name, bare_endings=kind != _GENE)
    )
    instead = tuple(_instead(surface, kind))
    names = {string.surface for string in instead}
    shorter = (string for string in _shorter(*strings) if string.surface not in names)
    return Query(surface, strings, shorter=(*instead, *shorter), readings=parts)


@lru_cache(maxsize=1 << 10)
def make_pair_query(pair: Pair, kind: str) -> Query:
    """Returns the strings to look up for both forms of an abbreviation pair.

    Args:
        pair: of forms.
        kind: type of the mention.
    """
    short = [
        string._replace(way="short") for form in pair.shorts for string in _own_strings(form, kind)
    ]
    return make_query(pair.long, kind)._replace(
        short=tuple(dict.fromkeys(short)), distinctive=all(map(is_distinctive, pair.shorts))
    )


def _of_part(string: LookupString) -> Query:
    return Query(string.surface, (string,), shorter=_shorter(string))


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
    return tuple(
        dict.fromkeys(
            string for string in (LookupString(surface), *_bare(surface, kind)) if string.surface
        )
    )


def _bare(surface: str, kind: str) -> Iterator[LookupString]:
    tail = _TAILS.get(kind)
    bare = tail.sub("", surface) if tail is not None else surface
    if bare != surface:
        yield LookupString(bare, "bare")
    yield from (
        LookupString(spelling, "bare")
        for spelling in _spellings(_IN_BRACKETS.sub("", bare), kind)
        if spelling != bare
    )
    if kind == _GENE:
        if prefixed := _PREFIX.fullmatch(bare):
            yield LookupString(prefixed[2], "bare", _LETTERS[prefixed[1]])
        if species := _SPECIES.match(bare):
            yield LookupString(bare[species.end() :], "bare", _TAXA[species[1].lower()])


def _spellings(surface: str, kind: str) -> Iterator[str]:
    """Yields a name and other spellings of it."""
    yield surface
    yield from (pattern.sub(letters, surface) for pattern, letters in _SPELLINGS.get(kind, ()))
    if kind == "Chemical":
        if formula := _FORMULA.fullmatch(surface):
            yield f"{_CATIONS[formula[1]]} {_ANIONS[formula[2]]}".strip()
        yield _MOLECULES.get(surface, surface)


def _instead(surface: str, kind: str) -> Iterator[LookupString]:
    """Yields other names for one that is not known: of adjectives, courses of diseases, salts, and
    divided words.

    Such as ``nephrotoxicity`` for ``nephrotoxic``, ``heart failure`` for ``chronic heart failure``,
    ``liver cirrhosis`` for ``cirrhosis of the liver``, and ``cyclooxygenase-2`` for
    ``cyclo-oxygenase-2``.
    """
    names: list[str] = []
    if kind == "Disease":
        names = [surface.removesuffix(old) + new for old, new in _NOUNS if surface.endswith(old)]
        names.append(_COURSE.sub("", surface, count=1) if _COURSE.match(surface) else "")
        names += [f"{of[2]} {of[1]}" for of in [_OF.fullmatch(surface)] if of]
    elif kind == _GENE:
        names = list(_unmodified(surface))
    elif kind == "Chemical":
        names = [_SALT.sub("", surface) if _SALT.search(surface) else ""]
    names.append(_JOINT.sub("", surface) if _JOINT.search(surface) else "")
    yield from (LookupString(name, "bare") for name in names if name)


def _unmodified(surface: str) -> Iterator[str]:
    """Yields the name of a gene without what was done to it: ``STAT3`` for ``pSTAT3``,
    ``ICAM-1`` for ``sICAM-1``.
    """
    if modified := _MODIFIED.match(surface):
        yield surface[modified.end() :]


def _shorter(*strings: LookupString) -> tuple[LookupString, ...]:
    """Returns names without one to three of their first words, as ``glioblastoma`` for ``primary
    glioblastoma``.
    """
    split = [(string.surface.split(" "), string.taxon) for string in strings]
    return tuple(
        LookupString(" ".join(words[first:]), "shorter", taxon)
        for words, taxon in split
        for first in range(1, min(len(words), _MOST_LEFT_OUT + 1))
        if not _KINDS.fullmatch(" ".join(words[first:]))
    )
