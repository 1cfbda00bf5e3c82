"""Report of reading a vocabulary: counts of what was read, and of losses by reason with the first place of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.core.wording import counted
from fascicle.errors import Place
from fascicle.terms.terms import ConceptRecord

# A row (in OBO a stanza, in XML and ASCII a record) that gives nothing has exactly one of these.
ROWS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "encoding": "is no text in the encoding of the file",
        "columns": "has fewer columns than the table needs",
        "quotes": "has quotes that do not match",
        "identifier": "has no identifier, or one that is none of its vocabulary",
        "no-name": "has no name",
        "negated": "says that two concepts are not the same",
        "relation": "relates concepts in a way that is not kept",
        "placeholder": "is a placeholder",
        "structure": "cannot be understood",
        "where": "is left out by the settings of the table",
    }
)
# A part of a row that is left out of what the row gives.
PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "permuted": "is a name with its words in another order, which no text has",
        "repeated": "is a name that the concept has already",
        "name": "is a name without a letter, a digit or a sign, or with a control character",
        "too-long": "is a name that is too long",
        "too-short": "is a name that is too short",
        "kind": "is a name of a kind that is left out",
        "tokens": "is a name of more words, numbers and signs than max_tokens says",
        "without": "is a name with what without says",
        "language": "is a name in a language that is left out",
        "reference": "is a reference that is no identifier",
        "tag": "is a line that cannot be understood",
        "line": "is a line that is no text in the encoding of the file",
        "import": "is another file that this one imports, and that is not read",
    }
)
# A concept that is left out.
CONCEPTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "prefix": "is a concept that keep or drop leaves out",
        "below": "is a concept that below, not_below or branches leaves out",
        "obsolete": "is an obsolete concept",
        "few-names": "is a record of fewer names than min_names says",
        "taxon": "is a concept of a species that is left out",
        "type": "is a concept of a type that is left out",
    }
)
REASONS: Final[Mapping[str, str]] = MappingProxyType({**ROWS, **PARTS, **CONCEPTS})


class LostLabel(NamedTuple):
    """Preferred name that is left out.

    Attributes:
        concept: CURIE.
        surface: the name.
        reason: one of `REASONS`.
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
        losses: reason -> how often; the reasons are those of `REASONS`.
        first: reason -> its first place.
        labels: receives each label that is left out, with its concept and the reason; ``None`` to ignore them.
    """

    rows: int = 0
    used: int = 0
    records: int = 0
    names: int = 0
    obsolete: int = 0
    losses: Counter[str] = field(default_factory=Counter)
    first: dict[str, Place] = field(default_factory=dict)
    labels: list[LostLabel] | None = None

    def lose(self, reason: str, place: Place) -> None:
        """Counts one loss; its reason is one of `REASONS`."""
        self.losses[reason] += 1
        if reason not in self.first:
            assert reason in REASONS
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

    @property
    def accounted(self) -> bool:
        """True if every row is used or counted as lost; true when all was read."""
        return self.rows == self.used + sum(self.losses[reason] for reason in ROWS)

    def summary(self) -> str:
        """Returns the report in one line: what was given, and how much was left out for which reason."""
        lost = ", ".join(f"{reason} {count:,}" for reason in REASONS if (count := self.losses[reason]))
        return f"{self.lines()[0]}{f'; left out: {lost}' if lost else ''}"

    def lines(self) -> list[str]:
        """Returns the report as sentences, for a person."""
        said = [f"{counted(self.records, 'record')} with {counted(self.names, 'name')}, {self.obsolete:,} obsolete"]
        for reason in REASONS:
            if count := self.losses[reason]:
                said.append(f"{count:,} left out, each of which {REASONS[reason]} (first: {self.first[reason]})")
        return said
