"""Other forms of names by type: spellings, other names, and names without words that add little."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from fascicle.core.lexicon import either, lexicon, taxa

_GENE: Final = "Gene"
_CHEMICAL: Final = "Chemical"
_DISEASE: Final = "Disease"
_SPECIES: Final = "Species"
_MOST_LEFT_OUT: Final = 3  # first words of a name
_PREFIX: Final = re.compile(r"([hmrdzy])-?([A-Z][A-Za-z0-9-]+)")
# Before a gene, what was done to it, or where it is: phosphorylated, soluble, precursor,
# recombinant, silenced.
_MODIFIED: Final = re.compile(
    r"(?:phospho(?:rylated)?|soluble|sol|recombinant|rh?|pro|p|si|sh|s)[- ]?"
    r"(?=[A-Z][^\W_]*[-\d]|[A-Z]{3}|[A-Z][a-z]{2})"
)
# Words behind a name that are no part of it, by type.
_TAILS: Final = MappingProxyType(
    {
        _GENE: re.compile(
            r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|loc(?:us|i)|transcripts?|promoters?)$"
        ),
        "CellLine": re.compile(r"[\s-]+(?:cells?(?:\s+lines?)?|lines?)$"),
        _SPECIES: re.compile(r"\s+(?:strains?|spp?\.?|isolates?)$"),
    }
)
_HORMONE: Final = (re.compile(r"(?:(?<=[cdt]o)|(?<=yro))troph(?=ins?\b)"), "trop")
# Other spellings of names, by type; those of Britain that the keys of names keep apart too.
_SPELLINGS: Final[Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]] = MappingProxyType(
    {
        _GENE: (
            (re.compile(r"(?<=[^\W\d]{2}-)a(?=\d{0,2}$)|^a(?=-[a-z]{4})"), "alpha"),
            (re.compile(r"(?<=[^\W\d]{2}-)b(?=\d{0,2}$)|(?<=-1)b$|^b(?=-[a-z]{4})"), "beta"),
            (re.compile(r"(?<=[^\W\d]{2}-)g(?=\d{0,2}$)|^g(?=-[a-z]{4})"), "gamma"),
            (re.compile(r"(?<=^[A-Z])-(?=[A-Z]{2,}$)"), ""),  # M-CSF
            _HORMONE,
            (re.compile(r"^[Hh]aem(?=[ -])"), "heme"),
            (re.compile("^[Cc]aerulo"), "cerulo"),
        ),
        _CHEMICAL: (
            (re.compile(r"^a(?=-[a-z]{4})"), "alpha"),
            (re.compile(r"^b(?=-[a-z]{4})"), "beta"),
            _HORMONE,
        ),
        _DISEASE: (
            (re.compile(r"(?<=p)ae(?=ni(?:as?|cs?)\b)|(?<=c)oe(?=les?\b)"), "e"),
            (re.compile(r"(?<=\b[Ll]eu)c(?=o[demnr])"), "k"),
        ),
        _SPECIES: ((re.compile(r" type(?= \d+$)"), ""),),
    }
)
_DRUGS: Final = re.compile(r"(?i)(.*\w) (?:agent|compound|drug|medication|medicine)s?")
# of a species of bacteria or fungi, by its host: Pseudomonas syringae pv. tomato; not Human PV type
_PATHOVAR: Final = re.compile(
    r"(?i)\s+(?:pv\b(?! (?:type|strain|isolate)\b)|pathovar\b|f\.\s?sp\b|forma specialis\b)"
    r"\.?(?=\s*[a-z]).*"
)
_OF: Final = re.compile(r"([^\s,]+) of (?:the )?([^,]+)")  # cirrhosis of the liver
# a hyphen between two parts of a word
_JOINT: Final = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{3})")
# Letters that stand for others: the sharp s of German where no small letter of German is before it
_OTHER_LETTERS: Final = ((re.compile("(?<![a-zäöüß])ß"), "β"), (re.compile("ɣ"), "γ"))
_DIVIDED: Final = re.compile(r"(?<=[^\W\d_][-‐]) (?=[a-z])(?!(?:and|or|to)\b)")
# Lowered or raised text as MEDLINE wrote it: H(2)O(2), HCO(3)(-), PGF(2alpha), Na(v)1.7,
# (99m)Tc; NAD(P)H is two molecules
_GREEK: Final = "alpha|beta|gamma"
_LOWERED: Final = re.compile(
    rf"(?<=[^\W_]|\))\((?:\d{{1,2}}(?:[A-Za-z]{{0,2}}|{_GREEK})|[A-OQ-Z]|P(?!\)H$)|\d?[+-]|{_GREEK})\)"
    r"|(?<=\b[A-Z])\([a-z]\)|(?<=\b[A-Z][a-z])\([a-z]\)|(?<![^\W_])\(\d{1,3}m?\)(?=[A-Z])"
    r"|(?<=[^\W_])\[\d?[+-]\]"  # as efetch writes tags of PubMed
)
# short form in a name: Von Hippel-Lindau (VHL) disease
_IN_BRACKETS: Final = re.compile(r" [(\[][A-Z][A-Za-z0-9-]{1,7}[)\]]")


@cache
def _kind() -> re.Pattern[str]:
    """Returns the pattern of names that say nothing."""
    return re.compile(rf"(?i:{either(lexicon('diseases')['kinds'])})(?:s|es)?")


@cache
def _course() -> re.Pattern[str]:
    """Returns the pattern of words before the name of a disease."""
    return re.compile(rf"(?:(?ai:{either(lexicon('diseases')['courses'])})[\s-]+)+(?=\S)")


@cache
def _salt() -> re.Pattern[str]:
    """Returns the pattern of words behind the name of a drug."""
    return re.compile(rf"\s+(?:{either(lexicon('chemistry')['salts'])})$")


@cache
def _formula() -> re.Pattern[str]:
    """Returns the pattern of a salt or an ion, such as ``KCl`` and ``Ca2+``."""
    chemistry = lexicon("chemistry")
    cation, anion = either(chemistry["cations"]), either(chemistry["anions"])
    no_ion = rf"(?!(?:{either(chemistry['charges']['one'])})\d\Z)"
    return re.compile(rf"{no_ion}({cation})\d?\(?({anion}|)\)?\d?(?:\(?(?:\d?[+-]|[+-]\d)\)?)?")


@cache
def _species() -> re.Pattern[str]:
    """Returns the pattern of a species before the name of a gene."""
    return re.compile(rf"((?ai:{either(lexicon('species')['genes']['before'])}))\s+(?=\S)")


def as_looked_up(words: str) -> str:
    """Returns a name in one line: ``IL-1β`` for ``IL-1ß``, ``hyper-tension`` for one that the end
    of a line divides.
    """
    name = _DIVIDED.sub("", " ".join(words.split()))
    for pattern, letter in _OTHER_LETTERS if not name.isascii() else ():
        name = pattern.sub(letter, name)
    return name


def without_tail(surface: str, kind: str) -> str:
    """Returns a name without words that are no part of it, such as ``gene`` and ``cells``."""
    tail = _TAILS.get(kind)
    return tail.sub("", surface) if tail is not None else surface


def other_spellings(surface: str, kind: str) -> Iterator[str]:
    """Yields other spellings of a name, without a short form in brackets; any may be the name."""
    surface = _IN_BRACKETS.sub("", surface)
    yield from _spellings(surface, kind)
    if _LOWERED.search(surface):
        yield from _spellings(on_the_line(surface), kind)
        if kind == _GENE:  # 5-HT-1A
            yield from _spellings(_LOWERED.sub(lambda part: f"-{part[0][1:-1]}", surface), kind)


def on_the_line(surface: str) -> str:
    """Returns a name without the brackets in which MEDLINE wrote lowered and raised text: ``H2O2``
    for ``H(2)O(2)``.
    """
    return _LOWERED.sub(lambda part: part[0][1:-1], surface)


def _spellings(surface: str, kind: str) -> Iterator[str]:
    yield surface
    yield from (pattern.sub(letters, surface) for pattern, letters in _SPELLINGS.get(kind, ()))
    if kind == _CHEMICAL:
        chemistry = lexicon("chemistry")
        if formula := _formula().fullmatch(surface):
            anion = chemistry["anions"].get(formula[2], "")
            yield f"{chemistry['cations'][formula[1]]} {anion}".strip()
        yield chemistry["molecules"].get(surface, surface)
        yield chemistry["anions"].get(surface.removesuffix("-"), surface)


def without_species(gene: str) -> Iterator[tuple[str, str]]:
    """Yields the name of a gene without a prefix or a word for a species, and the taxon of it:
    ``TERT`` for ``hTERT``.
    """
    if prefix := _PREFIX.fullmatch(gene):
        yield prefix[2], taxa()[lexicon("species")["letters"][prefix[1]].lower()]
    if word := _species().match(gene):
        yield gene[word.end() :], taxa()[word[1].lower()]


def other_names(surface: str, kind: str) -> Iterator[str]:
    """Yields other names for one that the pack lacks: of adjectives, courses of diseases, salts,
    trade names, classes of drugs, and divided words.

    Such as ``nephrotoxicity`` for ``nephrotoxic``, ``heart failure`` for ``chronic heart failure``,
    ``antifungal agents`` for ``antifungal drugs``, ``liver cirrhosis`` for ``cirrhosis of the
    liver``, ``Pseudomonas syringae`` for ``Pseudomonas syringae pv. tomato``, and
    ``cyclooxygenase-2`` for ``cyclo-oxygenase-2``.
    """
    if kind == _DISEASE:
        yield from _other_diseases(surface)
    elif kind == _GENE:
        yield from unmodified(surface)
    elif kind == _CHEMICAL:
        if drug := lexicon("chemistry")["drugs"].get(surface.capitalize()):
            yield drug
        if _salt().search(surface):
            yield _salt().sub("", surface)
        if drugs := _DRUGS.fullmatch(surface):
            yield from (f"{drugs[1]}{word}" for word in (" agents", " drugs", "s"))
    elif kind == _SPECIES and (pathovar := _PATHOVAR.search(surface)):
        yield surface[: pathovar.start()]
    if _JOINT.search(surface):
        yield _JOINT.sub("", surface)


def _other_diseases(surface: str) -> Iterator[str]:
    for ending, nouns in lexicon("diseases")["nouns"].items():
        if surface.endswith(ending):
            yield from (surface.removesuffix(ending) + noun for noun in nouns)
    if course := _course().match(surface):
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
    glioblastoma``; none of a pathovar, whose last word is mostly its host.
    """
    words = surface.split(" ") if not _PATHOVAR.search(surface) else ()
    for first in range(1, min(len(words), _MOST_LEFT_OUT + 1)):
        name = " ".join(words[first:])
        if not _kind().fullmatch(name):
            yield name
