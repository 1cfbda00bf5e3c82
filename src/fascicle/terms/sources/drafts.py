"""Helpers that the readers share: lines with their places, records that are assembled step by step,
and reports.

A report counts what was read, and losses by reason with the first place of each.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from fascicle.core.files.source import Line, Source, read_lines_or_errors
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.predicates import is_dropped
from fascicle.terms.terms import ConceptRecord, CrossReference, Name, NameKind, curie

# A row (in OBO a stanza, in XML and ASCII a record) that gives nothing has exactly one of these.
ROWS: Final = MappingProxyType(
    {
        "encoding": "is no text in the encoding of the file",
        "columns": "has fewer columns than the table needs",
        "quotes": "has quotes that do not match",
        "identifier": "has no identifier, or one that is none of its vocabulary",
        "no-name": "has no name",
        "negated": "says that a relation that is not kept does not hold",
        "no-term": "says that no concept was found",
        "unsure": "is a mapping whose confidence is below a half",
        "relation": "relates concepts in a way that is not kept",
        "placeholder": "is a placeholder",
        "superseded": "is an earlier version of a row",
        "structure": "cannot be understood",
        "where": "is left out by the settings of the table",
        "untyped": "has a name, but nothing says that it is a concept",
    }
)
# A part of a row that is left out of what the row gives.
_PARTS: Final = MappingProxyType(
    {
        "permuted": "is a name with its words in another order, which no text has",
        "repeated": "is a name that the concept has already",
        "unnamed": "is a name that says nothing, such as 'hypothetical protein'",
        "name": "is a name without a letter, a digit or a sign, or with a control character",
        "too-long": "is a name that is too long",
        "too-short": "is a name that is too short",
        "kind": "is a name of a kind that is left out",
        "tokens": "is a name of more words, numbers and signs than max_tokens says",
        "without": "is a name with what without says",
        "language": "is a name in a language that is left out",
        "reference": "is a reference that is no identifier",
        "qualified": "is a reference that its source marks as none to the same concept",
        "tag": "is a line that cannot be understood",
        "line": "is a line that is no text in the encoding of the file",
        "header": "is a line of the header that has no effect here",
        "import": "is another file that this one imports, and that is not read",
    }
)
# A concept that is left out.
_CONCEPTS: Final = MappingProxyType(
    {
        "prefix": "is a concept that keep or drop leaves out",
        "below": "is a concept that below, not_below or branches leaves out",
        "obsolete": "is an obsolete concept",
        "few-names": "is a record of fewer names than min_names says",
        "taxon": "is a concept of a species that is left out",
        "type": "is a concept of a type that is left out",
    }
)
_REASONS: Final = MappingProxyType({**ROWS, **_PARTS, **_CONCEPTS})
_TAXA: Final = "NCBITaxon:"
# what the taxonomy adds to names that several taxa have
_UNIQUE: Final = re.compile(r"(?<=\S) <[^<>]+>\Z")
_MAX_DEFINITION: Final = 20_000  # characters; what is behind them is cut off
XREF: Final = "oboInOwl:hasDbXref"
EXACT_MATCH: Final = "skos:exactMatch"
RELATED: Final = "skos:relatedMatch"
# of references; not an identifier
_QUALIFIER: Final = re.compile(r"\bMONDO[:_]([a-z]\w+)", re.IGNORECASE)
_CONTROL: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
# Of two kinds that one surface has, the stronger one stays.
_STRENGTH: Final = MappingProxyType(
    {
        kind: at
        for at, kind in enumerate(
            (
                "label",
                "abbreviation",
                "exact",
                "previous",
                "narrow",
                "broad",
                "related",
                "generated",
            )
        )
    }
)


class LostLabel(NamedTuple):
    """Preferred name that is left out.

    Attributes:
        concept: CURIE.
        surface: the name.
        reason: one of `_REASONS`.
    """

    concept: str
    surface: str
    reason: str


@dataclass(kw_only=True)
class SourceReport:
    """Counts of what was read from one source; complete when all its records have been read.

    Attributes:
        rows: rows, stanzas or records of the file.
        used: rows that gave a record or a part of one.
        records: records that were given out; several may be of one concept.
        names: names in them.
        obsolete: records of obsolete concepts.
        losses: reason -> how often; the reasons are those of `_REASONS`.
        first: reason -> its first place.
        labels: receives each label that is left out, with its concept and the reason; ``None`` to
            ignore them.
        unread: titles of columns of an own list that are not read.
    """

    rows: int = 0
    used: int = 0
    records: int = 0
    names: int = 0
    obsolete: int = 0
    losses: Counter[str] = field(default_factory=Counter)
    first: dict[str, Place] = field(default_factory=dict)
    labels: list[LostLabel] | None = None
    unread: tuple[str, ...] = ()

    def lose(self, reason: str, place: Place) -> None:
        """Counts one loss; its reason is one of `_REASONS`."""
        self.losses[reason] += 1
        if reason not in self.first:
            assert reason in _REASONS
            self.first[reason] = place

    def lose_label(self, concept: str, surface: str, reason: str) -> None:
        """Keeps a label that is left out, if labels are collected; it is counted elsewhere."""
        if self.labels is not None:
            self.labels.append(LostLabel(concept, surface, reason))

    def lose_labels(self, record: ConceptRecord, why: Callable[[str], str]) -> None:
        """Keeps the labels of a record that is left out; ``why`` gives the reason of each."""
        for name in record.names if self.labels is not None else ():
            if name.kind == "label":
                self.lose_label(record.curie, name.surface, why(name.surface))

    def summary(self) -> str:
        """Returns the report in one line: what was given, and how much was left out for which
        reason.
        """
        losses = ", ".join(
            f"{reason} {count:,}" for reason in _REASONS if (count := self.losses[reason])
        )
        return f"{self.lines()[0]}{f'; left out: {losses}' if losses else ''}"

    def lines(self) -> list[str]:
        """Returns the report as sentences, for a person."""
        sentences = [
            f"{plural(self.records, 'record')} with {plural(self.names, 'name')}, "
            f"{self.obsolete:,} obsolete"
            f"{'; columns not read: ' * bool(self.unread)}{', '.join(self.unread)}"
        ]
        for reason in _REASONS:
            if count := self.losses[reason]:
                sentences.append(
                    f"{count:,} left out, each of which {_REASONS[reason]} (first: "
                    f"{self.first[reason]})"
                )
        return sentences


ReadRecords = Callable[[SourceSettings, SourceReport], Iterator[ConceptRecord]]


def numbered_lines(path: str, encoding: str) -> Iterator[tuple[Place, Line]]:
    """Yields the lines of a file with their places; a line that is no text is its error.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a line beyond all bounds, damaged gzip data.
    """
    for number, line in read_lines_or_errors(Source(path=path, encoding=encoding)):
        yield Place(path, number), line


def counted_lines(path: str, encoding: str, report: SourceReport) -> Iterator[tuple[Place, str]]:
    """Yields the lines of a file of rows with their places; blank ones are no rows, and one that is
    no text is counted.

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


def clean_name(text: str) -> str:
    """Returns a name with white space collapsed; empty if it has a control character or no
    visible one.
    """
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
        curie: of the concept; empty for none.
        type, taxon, rank, definition, obsolete, label: as in `ConceptRecord`.
        names: surface and language -> kind, in the order of the source.
        parents, replaced_by, references: in the order of the source, each once.
        aliases: former identifiers, which are records of their own.
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
    aliases: dict[str, None] = field(default_factory=dict)
    references: dict[CrossReference, None] = field(default_factory=dict)

    def name(
        self,
        text: str,
        kind: NameKind = "exact",
        *,
        language: str = "",
        place: Place | None = None,
        types: Collection[str] = (),
        first: bool = False,
    ) -> bool:
        """Adds a name, or counts the reason why it is left out.

        Args:
            text: as the source writes it.
            kind: of the name.
            language: empty for that of the source.
            place: of the name; by default that of the record.
            types: types of the synonym.
            first: the name comes before those from before, so that its label is that of the
                concept.

        Returns:
            Whether the concept has the name now, from here or from before.
        """
        place, surface = place or self.place, clean_name(text)
        if self.curie.startswith(_TAXA):
            surface = _UNIQUE.sub("", surface)
        if self.settings.shows:
            self.label = self.label or (surface if kind == "label" else "")
            return False
        language = language or self.settings.language
        if reason := self._unfit(surface, kind, language, types):
            self.report.lose(reason, place)
            if kind == "label":
                self.report.lose_label(self.curie, surface, reason)
            return False
        before = self.names.get((surface, language))
        if before is not None:
            self.report.lose("repeated", place)
        if before is None or _STRENGTH[kind] < _STRENGTH[before]:
            self.names[surface, language] = kind
        if first:
            self.names = {(surface, language): kind, **self.names}
        return True

    def _unfit(self, surface: str, kind: NameKind, language: str, types: Collection[str]) -> str:
        """Returns the reason why the settings leave a name out; empty if they do not."""
        settings = self.settings
        if not surface:
            return "name"
        if len(surface) > settings.max_length:
            return "too-long"
        if len(surface) < settings.min_length:
            return "too-short"
        if settings.languages and language not in settings.languages:
            return "language"
        if settings.kinds and kind not in settings.kinds:
            return "kind"
        return "kind" if types and is_dropped(types, settings) else ""

    def reference(
        self,
        text: str,
        predicate: str = XREF,
        *,
        prefix: str = "",
        place: Place | None = None,
        qualifiers: str = "",
    ) -> None:
        """Adds a reference to another vocabulary, or counts an invalid one.

        Args:
            text: the other concept.
            predicate: of the reference.
            prefix: of an identifier without one.
            place: of the reference.
            qualifiers: what the source says of the reference, such as ``MONDO:equivalentTo``. With
                words of MONDO, only this one makes the concepts equal; others leave a reference
                that says nothing of that, and is counted.
        """
        other, words = curie(text, prefix), set(_QUALIFIER.findall(qualifiers))
        if words and predicate == XREF:
            predicate = EXACT_MATCH if "equivalentTo" in words else RELATED
            if predicate == RELATED:
                self.report.lose("qualified", place or self.place)
        if other:
            self.references[CrossReference(other, predicate)] = None
        else:
            self.report.lose("reference", place or self.place)

    def state(
        self, part: str, kind: Any, text: str, *, language: str = "", place: Place | None = None
    ) -> None:
        """Adds what a predicate says of the concept.

        Args:
            part: what it says, and ``kind`` of which kind, see `fascicle.terms.sources.predicates`.
            kind: of the name or reference.
            text: the value.
            language: of a text; empty if none is stated.
            place: of the statement.
        """
        if part == "name":
            self.name(text, kind, language=language, place=place)
        elif part == "definition" and language in ("", self.settings.language):
            self.definition = self.definition or text
        elif part == "type":
            self.type = self.type or self.settings.types.get(text, "")
        elif part == "obsolete":
            self.obsolete = self.obsolete or text.lower() in ("true", "1")
        elif part == "reference":
            self.reference(text, kind, place=place)
        elif add := {"replaced": self.replaced, "parent": self.above, "alias": self.alias}.get(
            part
        ):
            add(text, place=place)

    def above(self, text: str, *, place: Place | None = None) -> None:
        """Adds a parent, or counts an invalid one."""
        self._add(self.parents, text, place)

    def replaced(self, text: str, *, place: Place | None = None) -> None:
        """Adds the replacement of the concept, or counts an invalid one."""
        self._add(self.replaced_by, text, place)

    def alias(self, text: str, *, place: Place | None = None) -> None:
        """Adds a former identifier of the concept, or counts an invalid one."""
        self._add(self.aliases, text, place)

    def record(self) -> ConceptRecord:
        """Returns the finished record; of several labels in one language the first one stays."""
        labels: dict[str, str] = {}
        names = []
        for (surface, language), kind in self.names.items():
            extra = kind == "label" and labels.setdefault(language, surface) != surface
            names.append(Name(surface, "exact" if extra else kind, language))
        own: dict[str, Any] = {
            name: getattr(self, name) for name in ("curie", "type", "taxon", "rank", "label")
        }
        own |= {
            name: tuple(getattr(self, name)) for name in ("parents", "replaced_by", "references")
        }
        definition = " ".join(self.definition.split())[:_MAX_DEFINITION]
        return ConceptRecord(
            names=tuple(names),
            definition=definition,
            obsolete=self.obsolete or bool(self.replaced_by),
            **own,
        )

    def _add(self, to: dict[str, None], text: str, place: Place | None) -> None:
        other = curie(text, self.settings.prefix)
        if not other:
            self.report.lose("reference", place or self.place)
        elif other != self.curie:
            to[other] = None


def finish_records(
    drafts: Iterable[Draft | ConceptRecord], report: SourceReport
) -> Iterator[ConceptRecord]:
    """Yields the records of drafts that have an identifier, in order, and then those of their
    former identifiers.
    """
    aliases: dict[str, list[str]] = {}
    live: set[str] = set()
    for draft in drafts:
        if isinstance(draft, ConceptRecord):
            yield draft
        elif not draft.curie:
            report.lose("identifier", draft.place)
        else:
            report.used += 1
            live.add(draft.curie)
            for alias in draft.aliases:
                aliases.setdefault(alias, []).append(draft.curie)
            yield draft.record()
    yield from former_records(aliases, live)


def former_records(aliases: Mapping[str, Iterable[str]], live: set[str]) -> Iterator[ConceptRecord]:
    """Yields records of former identifiers of a concept, each replaced by the current one.

    Args:
        aliases: earlier identifier -> those of today.
        live: identifiers that are concepts themselves, which stay.
    """
    for alias, todays in aliases.items():
        if alias not in live:
            yield ConceptRecord(
                curie=alias, obsolete=True, replaced_by=tuple(dict.fromkeys(todays))
            )
