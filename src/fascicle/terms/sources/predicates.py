"""What predicates of ontologies and types of synonyms say, as addresses, CURIEs or last parts
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fascicle.settings.packs import SourceSettings

# IAO:0000118, or the end of an address
_CODE: Final = re.compile(r"([A-Za-z]+)[:_](\d+)\Z", re.ASCII)
# that say nothing without other triples
_OF_TRIPLES: Final = frozenset({"class", "form", "xl", "axiom", "import"})
_SHORT: Final = re.compile(r"abbrev|acronym|omo[:_]0003000|omo[:_]0003012", re.IGNORECASE)
# Types of synonyms, as Uberon, PO and others declare them.
_TYPES_OF_LANGUAGES: Final = MappingProxyType(
    {
        "latin": "la",
        "greek": "el",
        "spanish": "es",
        "japanese": "ja",
        "french": "fr",
        "german": "de",
        "italian": "it",
    }
)


def predicate_meaning(predicate: str) -> tuple[str, Any]:
    """Returns what a predicate says of a concept, and of which kind; two empty texts if it is
    not known.
    """
    return _by_last().get(last_part(predicate), ("", ""))


def last_part(predicate: str) -> str:
    """Returns the part of an address or a CURIE that names the predicate, such as
    ``IAO_0000118``.
    """
    code = _CODE.search(predicate)
    return f"{code[1]}_{code[2]}" if code else re.split("[/#:]", predicate)[-1]


@cache
def predicates_of_rdf() -> Mapping[str, tuple[str, Any]]:
    """Returns the address of each predicate -> what it says, and of which kind."""
    lines = Path(__file__).with_name("rdf.tsv").read_text(encoding="utf-8").splitlines()
    rows = (f"{line}\t".split("\t") for line in lines if not line.startswith("#"))
    return MappingProxyType({row[0]: (row[1], row[2]) for row in rows})


@cache
def _by_last() -> Mapping[str, tuple[str, Any]]:
    meanings = predicates_of_rdf().items()
    return MappingProxyType(
        {last_part(predicate): what for predicate, what in meanings if what[0] not in _OF_TRIPLES}
    )


def is_short(kind: str) -> bool:
    """True if synonyms of a type, a word or an address, are short forms."""
    return _SHORT.search(kind) is not None


def is_dropped(types: Iterable[str], settings: SourceSettings) -> bool:
    """True if the settings leave out synonyms of one of these types, words or addresses."""
    unwanted = {kind.lower() for kind in settings.drop_types}
    return any(re.split("[/#:]", kind)[-1].lower() in unwanted for kind in types)


def language_of_type(kind: str) -> str:
    """Returns the language of synonyms of a type, a word or an address; empty if it does not say
    it.
    """
    return _TYPES_OF_LANGUAGES.get(re.split("[/#:]", kind)[-1].lower(), "")
