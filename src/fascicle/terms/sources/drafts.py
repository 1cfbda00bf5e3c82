"""Helpers that the readers share: lines with their places, and records that are assembled step by step."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.core.files.source import Line, Source, lines_or_errors
from fascicle.errors import FormatError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.report import SourceReport
from fascicle.terms.terms import ConceptRecord, Cross, Name, NameKind

MAX_CURIE: Final = 200  # characters
_RELEASE: Final = re.compile(r"_?(\d{4}(_\d{1,2}){0,2}_?)+$", re.ASCII)  # SNOMEDCT_US_2016_03_01
_PREFIX: Final = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_LOCAL: Final = re.compile(r"[!-~]+")  # visible ASCII
_NO_PREFIX: Final = frozenset({"http", "https", "ftp", "url", "mailto"})
_ADDRESSES: Final = (
    re.compile(r"https?://(?:purl\.obolibrary\.org/obo|www\.ebi\.ac\.uk/efo|www\.orpha\.net/ORDO)/([^/#]+)_([^/#_]+)"),
    re.compile(r"https?://(?:www\.)?(?:identifiers\.org|bioregistry\.io)/([^/:]+)[/:](.+)"),
)


@dataclass(frozen=True, kw_only=True)
class Prefix:
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
        text: as a vocabulary, or an annotation, writes it; also the address of an OBO term.
        prefix: of identifiers without one.

    Returns:
        The CURIE; empty if this is no identifier.
    """
    text = text.strip()
    if len(text) > MAX_CURIE:
        return ""
    for address in _ADDRESSES if text.startswith("http") else ():
        if found := address.fullmatch(text):
            text = f"{found[1]}:{found[2]}"
    given, colon, local = text.partition(":")
    if not colon:
        return _bare(text, prefix)
    if known := _known(given):
        return known.curie(local)
    if given.lower() in _NO_PREFIX or not _PREFIX.fullmatch(given) or not _LOCAL.fullmatch(local):
        return ""
    return text


def _bare(text: str, prefix: str) -> str:
    for telling in _telling():
        if text.startswith(telling.start):
            return telling.curie(text)
    if known := _known(prefix):
        return known.curie(text)
    return f"{prefix}:{text}" if _PREFIX.fullmatch(prefix) and _LOCAL.fullmatch(text) else ""


@lru_cache(maxsize=4096)
def _known(prefix: str) -> Prefix | None:
    """Returns the facts about a prefix, also of one that ends with the date of a release."""
    folded = prefix.lower()
    return _table().get(folded) or _table().get(_RELEASE.sub("", folded))


@cache
def _table() -> Mapping[str, Prefix]:
    text = Path(__file__).with_name("prefixes.tsv").read_text(encoding="utf-8")
    found: dict[str, Prefix] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, others, form, start, kept = (*line.split("\t"), "", "")[:5]
        prefix = Prefix(name=name, form=re.compile(form, re.ASCII), start=start, kept=bool(kept))
        for spelling in (name, *filter(None, others.split(", "))):
            found.setdefault(spelling.lower(), prefix)
    return MappingProxyType(found)


@cache
def _telling() -> tuple[Prefix, ...]:
    """Returns the vocabularies whose local parts are unambiguous, so that the prefix may be left out."""
    return tuple({prefix.name: prefix for prefix in _table().values() if prefix.kept}.values())


_MAX_DEFINITION: Final = 20_000  # characters; what is behind them is cut off
XREF: Final = "oboInOwl:hasDbXref"
EXACT_MATCH: Final = "skos:exactMatch"
_CONTROL: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
# Of two kinds that one surface has, the stronger one stays.
_STRENGTH: Final[Mapping[str, int]] = MappingProxyType(
    {kind: at for at, kind in enumerate(("label", "abbreviation", "exact", "narrow", "broad", "related", "generated"))}
)
Reading = Callable[[SourceSettings, SourceReport], Iterator[ConceptRecord]]


def numbered_lines(path: str, encoding: str) -> Iterator[tuple[Place, Line]]:
    """Yields the lines of a file with their places; a line that is no text is its error.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a line beyond all bounds, damaged gzip data.
    """
    for number, line in lines_or_errors(Source(path=path, encoding=encoding)):
        yield Place(path, number), line


def counted_lines(path: str, encoding: str, report: SourceReport) -> Iterator[tuple[Place, str]]:
    """Yields the lines of a file of rows with their places; blank ones are no rows, and one that is no text is counted.

    Raises:
        InputError: see `numbered_lines`.
        FormatError: the same.
    """
    for place, line in numbered_lines(path, encoding):
        if isinstance(line, FormatError):
            report.rows += 1
            report.lose("encoding", place)
        elif line.strip():
            report.rows += 1
            yield place, line


def cleaned(text: str) -> str:
    """Returns a name with white space collapsed; empty if it has a control character or no visible one."""
    name = " ".join(text.split())
    if not name.isprintable() or not name.isascii():
        if any(unicodedata.category(sign) in _CONTROL for sign in name):
            return ""
        if not any(unicodedata.category(sign)[0] in "LNPS" for sign in name):
            return ""
    return name


@dataclass(kw_only=True)
class Draft:
    """Record that is being assembled.

    Attributes:
        settings: of the source.
        report: receives what is lost.
        place: where the record begins.
        curie: of the concept.
        type, taxon, rank, definition, obsolete, label: as in `ConceptRecord`.
        names: surface and language -> kind, in the order of the source.
        parents, replaced_by, references: in the order of the source, each once.
    """

    settings: SourceSettings
    report: SourceReport
    place: Place
    curie: str
    type: str = ""
    taxon: str = ""
    rank: str = ""
    definition: str = ""
    obsolete: bool = False
    label: str = ""
    names: dict[tuple[str, str], NameKind] = field(default_factory=dict)
    parents: dict[str, None] = field(default_factory=dict)
    replaced_by: dict[str, None] = field(default_factory=dict)
    references: dict[Cross, None] = field(default_factory=dict)

    def name(self, text: str, kind: NameKind = "exact", *, language: str = "", place: Place | None = None) -> bool:
        """Adds a name, or counts the reason why it is left out.

        Args:
            text: as the source writes it.
            kind: of the name.
            language: empty for that of the source.
            place: of the name; by default that of the record.

        Returns:
            Whether the concept has the name now, from here or from before.
        """
        settings, place, surface = self.settings, place or self.place, cleaned(text)
        if settings.shows:
            self.label = self.label or (surface if kind == "label" else "")
            return False
        language = language or settings.language
        reason = ""
        if not surface:
            reason = "name"
        elif len(surface) > settings.max_length:
            reason = "too-long"
        elif len(surface) < settings.min_length:
            reason = "too-short"
        elif settings.languages and language not in settings.languages:
            reason = "language"
        elif settings.kinds and kind not in settings.kinds:
            reason = "kind"
        if reason:
            self.report.lose(reason, place)
            if kind == "label":
                self.report.lose_label(self.curie, surface, reason)
            return False
        before = self.names.get((surface, language))
        if before is not None:
            self.report.lose("repeated", place)
        if before is None or _STRENGTH[kind] < _STRENGTH[before]:
            self.names[surface, language] = kind
        return True

    def reference(self, text: str, predicate: str = XREF, *, prefix: str = "", place: Place | None = None) -> None:
        """Adds a reference to another vocabulary, or counts an invalid one."""
        if found := curie(text, prefix):
            self.references[Cross(found, predicate)] = None
        else:
            self.report.lose("reference", place or self.place)

    def above(self, text: str, *, place: Place | None = None) -> None:
        """Adds a parent, or counts an invalid one."""
        self._add(self.parents, text, place)

    def replaced(self, text: str, *, place: Place | None = None) -> None:
        """Adds the replacement of the concept, or counts an invalid one."""
        self._add(self.replaced_by, text, place)

    def record(self) -> ConceptRecord:
        """Returns the finished record; of several labels in one language the first one stays."""
        labelled: set[str] = set()
        names = []
        for (surface, language), kind in self.names.items():
            if kind == "label" and language in labelled:
                names.append(Name(surface, "exact", language))
                continue
            labelled |= {language} if kind == "label" else set()
            names.append(Name(surface, kind, language))
        return ConceptRecord(
            curie=self.curie,
            type=self.type,
            names=tuple(names),
            taxon=self.taxon,
            rank=self.rank,
            parents=tuple(self.parents),
            obsolete=self.obsolete,
            replaced_by=tuple(self.replaced_by),
            definition=" ".join(self.definition.split())[:_MAX_DEFINITION],
            references=tuple(self.references),
            label=self.label,
        )

    def _add(self, to: dict[str, None], text: str, place: Place | None) -> None:
        found = curie(text, self.settings.prefix)
        if not found:
            self.report.lose("reference", place or self.place)
        elif found != self.curie:
            to[found] = None


def hidden(aliases: Mapping[str, Iterable[str]], live: set[str]) -> Iterator[ConceptRecord]:
    """Yields records of former identifiers of a concept, each replaced by the current one.

    Args:
        aliases: earlier identifier -> those of today.
        live: identifiers that are concepts themselves, which stay.
    """
    for alias, todays in aliases.items():
        if alias not in live:
            yield ConceptRecord(curie=alias, obsolete=True, replaced_by=tuple(dict.fromkeys(todays)))
