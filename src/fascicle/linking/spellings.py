"""Other forms of names by type: spellings, other names, and names without words that add little."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

_GENE: Final = "Gene"
_CHEMICAL: Final = "Chemical"
_DISEASE: Final = "Disease"
_MOST_LEFT_OUT: Final = 3  # first words of a name
# names that say nothing
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
        _GENE: re.compile(
            r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|loc(?:us|i)|transcripts?|promoters?)$"
        ),
        "CellLine": re.compile(r"[\s-]+(?:cells?(?:\s+lines?)?|lines?)$"),
        "Species": re.compile(r"\s+(?:strains?|spp?\.?|isolates?)$"),
    }
)
# Other spellings of names, by type.
_SPELLINGS: Final[Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]] = MappingProxyType(
    {
        _GENE: (
            (re.compile(r"(?<=[^\W\d]{2}-)a(?=\d{0,2}$)|^a(?=-[a-z]{4})"), "alpha"),
            (re.compile(r"(?<=[^\W\d]{2}-)b(?=\d{0,2}$)|(?<=-1)b$|^b(?=-[a-z]{4})"), "beta"),
            (re.compile(r"(?<=[^\W\d]{2}-)g(?=\d{0,2}$)|^g(?=-[a-z]{4})"), "gamma"),
            (re.compile(r"(?<=^[A-Z])-(?=[A-Z]{2,}$)"), ""),  # M-CSF
        ),
        _CHEMICAL: (
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


def _by_symbol(pairs: str) -> Mapping[str, str]:
    """Returns names by symbols, from ``SYMBOL name`` with commas between them."""
    return MappingProxyType(dict(pair.split(" ", 1) for pair in pairs.split(", ")))


_CATIONS: Final = _by_symbol(
    "Na sodium, K potassium, Ca calcium, Mg magnesium, Li lithium, Zn zinc, Fe iron, Cu copper, "
    "Mn manganese, Pb lead, Hg mercury, Cd cadmium, Al aluminum, Ag silver, Ba barium, Co cobalt, "
    "Ni nickel"
)
_ANIONS: Final = _by_symbol(
    "Cl chloride, OH hydroxide, Br bromide, I iodide, F fluoride, SO4 sulfate, NO3 nitrate, "
    "HCO3 bicarbonate, CO3 carbonate, PO4 phosphate"
)
_MOLECULES: Final = _by_symbol(
    "CO2 carbon dioxide, O2 oxygen, H2O water, HCl hydrochloric acid, H hydrogen, NO nitric oxide, "
    "CO carbon monoxide, N2O nitrous oxide, NH3 ammonia, C carbon, H2O2 hydrogen peroxide, "
    "N2 nitrogen, SO2 sulfur dioxide, H2S hydrogen sulfide"
)
_FORMULA: Final = re.compile(
    rf"({'|'.join(_CATIONS)})\d?\(?({'|'.join(_ANIONS)}|)\)?\d?(?:\(?(?:\d?[+-]|[+-]\d)\)?)?"
)
# Endings of adjectives, and those of the nouns that name the disease.
_NOUNS: Final = tuple(
    (ending, noun)
    for ending, nouns in (
        ("ic", "ia y es ism icity"),
        ("tic", "sis sia tis"),
        ("ptic", "psy"),
        ("matic", "ma"),
        ("matous", "ma"),
        ("genic", "genesis"),
        ("ive", "ion"),
        ("ed", "ion"),
    )
    for noun in nouns.split()
)
# short form in a name: Von Hippel-Lindau (VHL) disease
_IN_BRACKETS: Final = re.compile(r" [(\[][A-Z][A-Za-z0-9-]{1,7}[)\]]")
_TAXA: Final = _by_symbol(
    "human NCBITaxon:9606, mouse NCBITaxon:10090, murine NCBITaxon:10090, rat NCBITaxon:10116, "
    "drosophila NCBITaxon:7227, zebrafish NCBITaxon:7955, yeast NCBITaxon:559292, "
    "chicken NCBITaxon:9031"
)
_LETTERS: Final[Mapping[str, str]] = MappingProxyType(
    {name[0]: taxon for name, taxon in _TAXA.items()}
)
_SPECIES: Final = re.compile(rf"((?ai:{'|'.join(_TAXA)}))\s+(?=\S)")


def without_tail(surface: str, kind: str) -> str:
    """Returns a name without words that are no part of it, such as ``gene`` and ``cells``."""
    tail = _TAILS.get(kind)
    return tail.sub("", surface) if tail is not None else surface


def other_spellings(surface: str, kind: str) -> Iterator[str]:
    """Yields other spellings of a name, without a short form in brackets; any may be the name."""
    surface = _IN_BRACKETS.sub("", surface)
    yield surface
    yield from (pattern.sub(letters, surface) for pattern, letters in _SPELLINGS.get(kind, ()))
    if kind == _CHEMICAL:
        if formula := _FORMULA.fullmatch(surface):
            yield f"{_CATIONS[formula[1]]} {_ANIONS.get(formula[2], '')}".strip()
        yield _MOLECULES.get(surface, surface)


def without_species(gene: str) -> Iterator[tuple[str, str]]:
    """Yields the name of a gene without a prefix or a word for a species, and the taxon of it:
    ``TERT`` for ``hTERT``.
    """
    if prefix := _PREFIX.fullmatch(gene):
        yield prefix[2], _LETTERS[prefix[1]]
    if word := _SPECIES.match(gene):
        yield gene[word.end() :], _TAXA[word[1].lower()]


def other_names(surface: str, kind: str) -> Iterator[str]:
    """Yields other names for one that the pack lacks: of adjectives, courses of diseases, salts,
    and divided words.

    Such as ``nephrotoxicity`` for ``nephrotoxic``, ``heart failure`` for ``chronic heart failure``,
    ``liver cirrhosis`` for ``cirrhosis of the liver``, and ``cyclooxygenase-2`` for
    ``cyclo-oxygenase-2``.
    """
    if kind == _DISEASE:
        yield from _other_diseases(surface)
    elif kind == _GENE:
        yield from unmodified(surface)
    elif kind == _CHEMICAL and _SALT.search(surface):
        yield _SALT.sub("", surface)
    if _JOINT.search(surface):
        yield _JOINT.sub("", surface)


def _other_diseases(surface: str) -> Iterator[str]:
    for ending, noun in _NOUNS:
        if surface.endswith(ending):
            yield surface.removesuffix(ending) + noun
    if course := _COURSE.match(surface):
        yield surface[course.end() :]
    if place := _OF.fullmatch(surface):
        yield f"{place[2]} {place[1]}"


def unmodified(gene: str) -> Iterator[str]:
    """Yields the name of a gene without what was done to it: ``STAT3`` for ``pSTAT3``,
    ``ICAM-1`` for ``sICAM-1``.
    """
    if modified := _MODIFIED.match(gene):
        yield gene[modified.end() :]


def shorter_names(surface: str) -> Iterator[str]:
    """Yields a name without one to three of its first words, as ``glioblastoma`` for ``primary
    glioblastoma``.
    """
    words = surface.split(" ")
    for first in range(1, min(len(words), _MOST_LEFT_OUT + 1)):
        name = " ".join(words[first:])
        if not _KINDS.fullmatch(name):
            yield name
