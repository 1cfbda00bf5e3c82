"""What is looked up for a mention: its own words, and other ways to say or to read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

from fascicle.core.mention import Mention
from fascicle.knowledge.abbreviations.pairs import Pairs, is_distinctive

Way = Literal["own", "long", "short", "bare", "part", "shorter"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)
_MOST_PARTS: Final = 8
_MOST_LEFT_OUT: Final = 3  # first words of a name
_LONGEST: Final = 200  # characters of a mention that is read as several
_BETWEEN: Final = re.compile(r"\s*,\s*(?:and|or)\s+|\s+(?:and/or|and|or|as well as)\s+|\s*[,/&;]\s*")
_NUMBERED: Final = re.compile(r"(.*?[^\W\d]-?)(?:\d+|[A-Za-z])")
_ENDING: Final = re.compile(r"-?(?:\d{1,2}|[A-Za-z])")
_PREFIX: Final = re.compile(r"([hmrdzy])-?([A-Z][A-Za-z0-9-]+)")
# What stands behind a name and is no part of it, by type.
_TAILS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "Gene": re.compile(r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|loc(?:us|i)|transcripts?|promoters?)$"),
        "CellLine": re.compile(r"[\s-]+(?:cells?(?:\s+lines?)?|lines?)$"),
        "Species": re.compile(r"\s+(?:strains?|spp?\.?|isolates?)$"),
    }
)
TAXA: Final[Mapping[str, str]] = MappingProxyType(
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
    {"h": "human", "m": "mouse", "r": "rat", "d": "drosophila", "z": "zebrafish", "y": "yeast"}
)
_SPECIES: Final = re.compile(rf"((?ai:{'|'.join(TAXA)}))\s+(?=\S)")


class Asked(NamedTuple):
    """One string to look up.

    Attributes:
        surface: the string.
        way: how it comes from the mention.
        taxon: of the species that a prefix or a word in front names; empty for none.
    """

    surface: str
    way: Way = "own"
    taxon: str = ""


class Question(NamedTuple):
    """What is looked up for a mention.

    Attributes:
        name: the words that it stands for: the long form of a defined pair, else its own.
        asked: what is looked up, the name first.
        short: what is looked up where nothing is found for the long form of a pair: its short forms.
        distinctive: whether all of these are hardly short for anything else.
        place: of the text, around which species are looked for.
    """

    name: str
    asked: tuple[Asked, ...]
    short: tuple[Asked, ...] = ()
    distinctive: bool = False
    place: int = 0


def question_of(mention: Mention, *, surface: str, pairs: Pairs) -> Question:
    """What to look up for a mention; the same for both forms of a defined pair.

    Args:
        mention: with its type.
        surface: its words.
        pairs: of the document that it stands in.
    """
    pair, place = pairs.of(*mention.spans)
    if pair is None:
        return Question(surface, _asked(surface, mention.type), place=place)
    forms = [one._replace(way="short") for short in pair.shorts for one in _asked(short, mention.type)]
    return Question(
        name=pair.long,
        asked=_asked(pair.long, mention.type),
        short=tuple(dict.fromkeys(forms)),
        distinctive=all(map(is_distinctive, pair.shorts)),
        place=place,
    )


@lru_cache(maxsize=1 << 13)
def _asked(surface: str, kind: str) -> tuple[Asked, ...]:
    return tuple(dict.fromkeys(one for one in (Asked(surface), *_bare(surface, kind)) if one.surface))


def _bare(surface: str, kind: str) -> Iterator[Asked]:
    tail = _TAILS.get(kind)
    bare = tail.sub("", surface) if tail is not None else surface
    if bare != surface:
        yield Asked(bare, "bare")
    if kind == "Gene":
        if prefixed := _PREFIX.fullmatch(bare):
            yield Asked(prefixed[2], "bare", TAXA[_LETTERS[prefixed[1]]])
        if named := _SPECIES.match(bare):
            yield Asked(bare[named.end() :], "bare", TAXA[named[1].lower()])


def shorter(asked: Asked) -> Iterator[Asked]:
    """A name without one to three of its first words, as ``glioblastoma`` for ``primary glioblastoma``."""
    words = asked.surface.split(" ")
    for first in range(1, min(len(words), _MOST_LEFT_OUT + 1)):
        yield Asked(" ".join(words[first:]), "shorter", asked.taxon)


def readings(surface: str) -> tuple[tuple[str, ...], ...]:
    """How a mention may name several things, such as ``breast and ovarian cancer``; the likeliest reading first.

    Args:
        surface: its words.

    Returns:
        For each reading the parts; none for a mention that names one thing.
    """
    parts = [part for part in _BETWEEN.split(surface) if part] if len(surface) <= _LONGEST else []
    if not 2 <= len(parts) <= _MOST_PARTS:
        return ()
    found = [_counted(parts), _with_shared_end(parts), _with_shared_start(parts), tuple(parts)]
    return tuple(dict.fromkeys(reading for reading in found if reading))


def _counted(parts: list[str]) -> tuple[str, ...]:
    """``BRCA1/2`` is ``BRCA1`` and ``BRCA2``."""
    first = _NUMBERED.fullmatch(parts[0])
    if first is None or not all(_ENDING.fullmatch(part) for part in parts[1:]):
        return ()
    return (parts[0], *(first[1].rstrip("-") + part for part in parts[1:]))


def _with_shared_end(parts: list[str]) -> tuple[str, ...]:
    """``breast and ovarian cancer`` is ``breast cancer`` and ``ovarian cancer``."""
    words = parts[-1].split(" ")
    if len(words) < 2:
        return ()
    return (*(f"{part} {words[-1]}" for part in parts[:-1]), parts[-1])


def _with_shared_start(parts: list[str]) -> tuple[str, ...]:
    """``vitamins A and E`` is ``vitamins A`` and ``vitamins E``."""
    words = parts[0].split(" ")
    if len(words) < 2:
        return ()
    return (parts[0], *(f"{' '.join(words[:-1])} {part}" for part in parts[1:]))
