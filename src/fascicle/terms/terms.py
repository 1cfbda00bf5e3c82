"""Data model of vocabularies: concepts with their names, and the one spelling of their identifiers,
``prefix:local``.

Vocabularies and gold annotation write ``mesh:D003920``, ``MSH:D003920`` or a bare ``D003920``; all
are ``MESH:D003920``. What is known of the prefixes of common vocabularies is in ``prefixes.tsv``;
spellings and addresses of those of the Bioregistry are in ``registry.tsv``. Of others, the spelling
of the source stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args
from urllib.parse import unquote

import msgspec

MAX_CURIE: Final = 200  # characters
_RELEASE: Final = re.compile(r"_?(\d{4}(_\d{1,2}){0,2}_?)+$", re.ASCII)  # SNOMEDCT_US_2016_03_01
_PREFIX: Final = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_LOCAL: Final = re.compile(r"[!-~]+")  # visible ASCII
_NO_PREFIX: Final = frozenset(
    {"http", "https", "ftp", "url", "mailto", "_"}
)  # _ of nodes without an identifier
_WRAPPERS: Final = frozenset({"alliancegenome"})  # in front of CURIEs
# Pages of OLS, which name the address or the identifier of a term.
_VIEW: Final = re.compile(
    r"https?://(?:www\.)?ebi\.ac\.uk/ols4?/ontologies/\w+/(?:\w+\?(?:iri|short_form|obo_id)=|\w+/)(.+)"
)
_PLAIN: Final = r"[^/?#&=]+"  # a local part of which nothing is known
_BETWEEN_IDS: Final = re.compile(r"\s*[|,;]\s*")
_FACT_END: Final = re.compile(r"_?(?:ids?|code)$")
# Spellings of prefixes that facts have for something else: the gene of a variant, the number of a
# sentence.
_WORDS: Final = frozenset({"gene", "do", "up", "ps", "sid", "cid"})
_OF_OTHERS: Final = frozenset({"NCBITaxon", "PR"})  # the species of a gene is not the gene
_TAIL: Final = r"/?(?:[?#&].*)?"  # what an address may say of how its page is shown
# Packs have these by their numbers: a new kind comes last.
NameKind = Literal[
    "label", "exact", "related", "broad", "narrow", "abbreviation", "generated", "previous"
]
NAME_KINDS: Final[tuple[NameKind, ...]] = get_args(NameKind)
# Predicates for equal concepts of two vocabularies.
SAME: Final = frozenset({"skos:exactMatch", "owl:equivalentClass", "owl:sameAs"})
DIFFERENT: Final = "owl:differentFrom"  # says that no set may have both
UNEQUAL: Final = ("skos:broadMatch", "skos:narrowMatch", "skos:relatedMatch")
# says that they belong together, and mostly that they are the same
REFERS: Final = "oboInOwl:hasDbXref"


class Prefix(msgspec.Struct, frozen=True, kw_only=True):
    """Form of the identifiers of one vocabulary.

    Attributes:
        name: the one spelling of the prefix.
        form: what the local part looks like.
        start: a beginning of local parts that not every source writes; empty for none.
        kept: whether it belongs to the one spelling.
    """

    name: str
    form: re.Pattern[str]
    start: str = ""
    kept: bool = False

    def curie(self, local: str) -> str:
        """Returns the CURIE of a local part; empty if it does not look like one."""
        size = len(self.start) if local[: len(self.start)].upper() == self.start.upper() else 0
        plain = (self.start if self.kept else "") + local[size:]
        for spelling in (plain, plain.upper()):
            if len(spelling) < MAX_CURIE and self.form.fullmatch(spelling):
                return f"{self.name}:{spelling}"
        return ""


def curie(text: str, prefix: str = "") -> str:
    """Returns the normalised CURIE of an identifier.

    Args:
        text: as a vocabulary, or an annotation, writes it; also the address of its page or of an
            OBO term.
        prefix: of identifiers without one.

    Returns:
        The CURIE; empty if this is no identifier.
    """
    text = text.strip()
    if len(text) > MAX_CURIE:
        return ""
    if text.startswith(("http", "urn:miriam:")):
        text = _of_address(text)
    before, colon, local = text.partition(":")
    if not colon:
        return _bare(text, prefix)
    if before.lower() in _WRAPPERS and ":" in local:
        return curie(local)
    if before == "OMIM" and local.startswith("PS"):
        before = "OMIM.PS"
    if facts := _find_prefix(before):
        again, _, rest = local.partition(":")
        return facts.curie(rest if rest and _find_prefix(again) is facts else local)
    if before.lower() in _NO_PREFIX or not _PREFIX.fullmatch(before) or not _LOCAL.fullmatch(local):
        return ""
    return text


def curies_of_fact(name: str, value: str) -> tuple[str, ...]:
    """Returns the CURIEs in a fact about a mention whose name is a vocabulary, such as ``mesh:
    D001241``.

    Args:
        name: of the fact; ``mesh_id`` and ``MeSH`` also name MeSH.
        value: one identifier of this vocabulary, or several with ``|``, ``,`` or ``;`` between
            them.

    Returns:
        The CURIEs; none if the name is also a common word, or a part of the value is no identifier
        of the vocabulary.
    """
    names = (name.lower(), _FACT_END.sub("", name.lower()))
    vocabulary = next(
        (
            _table()[spelling]
            for spelling in names
            if spelling in _table() and spelling not in _WORDS
        ),
        None,
    )
    if vocabulary is None or vocabulary.name in _OF_OTHERS or not any(map(str.isdigit, value)):
        return ()
    curies = tuple(curie(part, vocabulary.name) for part in _BETWEEN_IDS.split(value.strip()))
    return curies if all(spelling.startswith(f"{vocabulary.name}:") for spelling in curies) else ()


def _of_address(text: str) -> str:
    """Returns the CURIE of an address; others stay."""
    if text.startswith("urn:miriam:"):
        return unquote(text.removeprefix("urn:miriam:"))
    if view := _VIEW.fullmatch(text):
        return curie(unquote(unquote(view[1]))) or text
    if match := _of_registry(text.partition("://")[2].removeprefix("www.")):
        return match
    matches = (address.fullmatch(text) for address in _addresses())
    return next((f"{match[1]}:{match[2]}" for match in matches if match), text)


def _of_registry(bare: str) -> str:
    """Returns the CURIE of an address without its scheme, if one vocabulary of the Bioregistry
    has it; else nothing.
    """
    starts = _starts()
    for cut in reversed(range(len(bare))):
        if addresses := starts.get(bare[:cut]):
            curies = {
                identifier for address in addresses if (identifier := address.curie(bare[cut:]))
            }
            return curies.pop() if len(curies) == 1 else ""
    return ""


def _bare(text: str, prefix: str) -> str:
    for telling in _telling():
        if text.startswith(telling.start):
            return telling.curie(text)
    facts = _find_prefix(prefix)
    if facts and (identifier := facts.curie(text)):
        return identifier
    before, _, after = text.partition("_")
    if after and (other := _find_prefix(before)) and (identifier := other.curie(after)):
        return identifier
    if facts:
        return ""
    return f"{prefix}:{text}" if _PREFIX.fullmatch(prefix) and _LOCAL.fullmatch(text) else ""


def prefix_name(text: str, prefixes: Iterable[str] = ()) -> str:
    """Returns the one spelling of a prefix, as CURIEs have it, or of one of some prefixes in any
    case.
    """
    same = {spelling.lower(): spelling for spelling in prefixes}
    return same.get(text.lower()) or (facts.name if (facts := _find_prefix(text)) else text)


@cache
def _lines() -> tuple[str, ...]:
    return tuple(Path(__file__).with_name("prefixes.tsv").read_text(encoding="utf-8").splitlines())


@cache
def _addresses() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(line + _TAIL) for line in _lines() if line.startswith("http"))


@lru_cache(maxsize=4096)
def _find_prefix(prefix: str) -> Prefix | None:
    """Returns the facts about a prefix, also of one that ends with the date of a release."""
    folded = prefix.lower().removeprefix("obo.")
    if facts := _table().get(folded) or _table().get(_RELEASE.sub("", folded)):
        return facts
    name = _registry().get(folded)
    return Prefix(name=name, form=_LOCAL) if name else None


class _Address(NamedTuple):
    """Addresses of one vocabulary: its prefix, what a local part looks like, and what stands
    behind it.
    """

    name: str
    pattern: str
    end: str

    def curie(self, behind: str) -> str:
        """Returns the CURIE of an address by what is behind its beginning; empty if it is
        another address.
        """
        local = behind.removesuffix(self.end)
        for part in (local, local.rstrip("/")) if behind.endswith(self.end) else ():
            if re.fullmatch(self.pattern or _PLAIN, part, re.ASCII):
                return f"{self.name}:{part}"
        return ""


@cache
def _rows() -> tuple[tuple[str, list[str], str, list[str]], ...]:
    """Returns the rows of the Bioregistry: our spelling of a prefix, others, pattern and
    addresses.
    """
    rows = []
    for line in Path(__file__).with_name("registry.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, more, pattern, addresses = line.split("\t")
            spellings = [name, *filter(None, more.split(", "))]
            ours = next(
                (facts.name for spelling in spellings if (facts := _table().get(spelling.lower()))),
                name,
            )
            rows.append((ours, spellings, pattern, addresses.split()))
    return tuple(rows)


@cache
def _registry() -> Mapping[str, str]:
    """Returns the spellings of prefixes in lower case -> the right one."""
    return MappingProxyType(
        {
            spelling.lower(): ours
            for ours, several, *_ in _rows()
            for spelling in several
            if spelling.lower() not in _table()
        }
    )


@cache
def _starts() -> Mapping[str, list[_Address]]:
    """Returns the beginnings of addresses -> vocabularies that have such addresses."""
    starts: dict[str, list[_Address]] = {}
    for ours, _, pattern, addresses in _rows():
        for address in addresses:
            start, _, end = address.partition("$1")
            starts.setdefault(start, []).append(_Address(ours, pattern, end))
    return MappingProxyType(starts)


@cache
def _table() -> Mapping[str, Prefix]:
    prefixes: dict[str, Prefix] = {}
    for line in _lines():
        if line.startswith(("#", "http")):
            continue
        name, more, form, start, keeps_start = (*line.split("\t"), "", "")[:5]
        prefix = Prefix(
            name=name, form=re.compile(form, re.ASCII), start=start, kept=bool(keeps_start)
        )
        for spelling in (name, *filter(None, more.split(", "))):
            prefixes.setdefault(spelling.lower(), prefix)
    return MappingProxyType(prefixes)


@cache
def _telling() -> tuple[Prefix, ...]:
    """Returns the vocabularies whose local parts are unambiguous, so that the prefix may be left
    out.
    """
    return tuple({prefix.name: prefix for prefix in _table().values() if prefix.kept}.values())


# ``gc=False``: no cycle can go through a name or a record, and a build makes millions of them.
class Name(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Name of a concept.

    Attributes:
        surface: as the source writes it, without blanks at its ends.
        kind: ``"label"`` is the preferred name, of which a concept has one in each language;
            ``"exact"`` to ``"narrow"`` are synonyms by their scope in OBO; ``"generated"`` names
            were made by a rule, and others replaced ``"previous"`` ones, such as former symbols of
            genes.
        language: ISO 639-1 code.
    """

    surface: str
    kind: NameKind = "exact"
    language: str = "en"


class CrossReference(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Cross-reference from a concept to a concept of another vocabulary.

    Attributes:
        curie: of the other concept.
        predicate: CURIE of the relation, as in SSSOM; ``"oboInOwl:hasDbXref"`` where a source only
            says that there is one.
    """

    curie: str
    predicate: str = REFERS


class ConceptRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Record of one concept from one place of a source.

    Records of one concept are merged: names, parents and references are united; of the other fields
    the first value that is not empty counts, in the order of the sources.

    Attributes:
        curie: the one spelling of its identifier, ``prefix:local`` with a prefix of the
            Bioregistry.
        type: canonical name of a type (`fascicle.core.type_names`); empty where the source list
            gives one type to all.
        names: in the order of the source.
        taxon: CURIE of the species that a gene or cell line belongs to.
        rank: rank of a taxon, such as ``"species"``.
        parents: CURIEs of the concepts above it.
        obsolete: such a concept never matches, but is explained.
        replaced_by: CURIEs of what took its place.
        definition: one text.
        references: to other vocabularies.
        label: which of the names of other records is shown for the concept; empty if that of kind
            ``label`` is.
    """

    curie: str
    type: str = ""
    names: tuple[Name, ...] = ()
    taxon: str = ""
    rank: str = ""
    parents: tuple[str, ...] = ()
    obsolete: bool = False
    replaced_by: tuple[str, ...] = ()
    definition: str = ""
    references: tuple[CrossReference, ...] = ()
    label: str = ""


class ShortTerm(NamedTuple):
    """Name of a concept, with the fields needed for search in texts.

    Attributes:
        surface: as the sources write it.
        concept: unique key of the concept, such as its CURIE.
        case: a `keys.characters.CasePolicy`.
        off: whether it is not looked for in texts.
        prior: probability that the name means the concept where it occurs in a text.
    """

    surface: str
    concept: str
    case: int
    off: bool
    prior: float
