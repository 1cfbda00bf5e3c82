"""Losses of the output formats: which fields of a document a format holds, and what is lost when
writing.

A format declares the fields it holds (`HeldFields`). `representable_part` counts what a document
has and the format does not hold. For fields held in part (a text without its line breaks), the
writer counts the losses, also under the codes of `LOSSES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import is_
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar, cast

import msgspec

from fascicle.core.document import GOLD, Document, Link, Mention, Relation
from fascicle.core.lazy import cached_property
from fascicle.core.mention import AMBIGUOUS
from fascicle.core.owners import gold_test
from fascicle.core.wording import typo_hint
from fascicle.errors import LossError, UsageError
from fascicle.formats.report import Named, WriteReport

# The events of a document are missing on purpose: they are not the user's annotation, and commands
# report them anyway.
FIELDS: Final = MappingProxyType(
    {
        "ids": "ids of documents",
        "text-between-words": "text that is not a word or one blank between two words (documents)",
        "sections": "names and ranges of sections (documents)",
        "section-attributes": "further facts about sections",
        "sentences": "ranges of sentences (documents)",
        "words": "ranges of words (documents)",
        "abbreviations": "pairs of short and long form",
        "meta": "further facts of the source, except text = joined and text = extracted of readers",
        "changes": "mentions that a step dropped or replaced",
        "mentions": "mentions",
        "relations": "relations between mentions or concepts",
        "discontinuous": "mentions of several fragments",
        "nested": "mentions that overlap others",
        "second-source": "mentions that another source has too",
        "sources": "who found a mention",
        "scores": "scores of mentions",
        "links": "entries of ontologies that mentions refer to",
        "link-ontologies": "... and their ontology",
        "link-names": "... and their name",
        "link-scores": "... and their score",
        "link-tiers": "... and how they were found",
        "link-curies": "... and the one spelling of their id",
        "ambiguous": "links of which one is right, but it is unknown which: none is written; "
        "tables say how many",
        "nil-links": "statements that no entry fits a mention",
        "attributes": "further facts about mentions or relations",
    }
)
OF_WRITERS: Final = MappingProxyType(
    {
        "line-breaks": "line breaks of the text, a blank instead",
        "nul": "NUL characters of the text, a blank instead",
        "control-characters": "control characters, a picture of each instead (or U+FFFD)",
        "not-on-words": "mentions that do not begin and end with a word",
        "joined-fragments": "mentions of several fragments with only white space between them, "
        "which readers join",
        "across-sentences": "mentions that reach across sentences",
        "across-sections": "mentions that reach across sections",
        "empty-documents": "documents without a word, which leave no trace in the file",
        "document-borders": "borders of documents",
        "other-sources": "mentions of other sources than the one that is written",
    }
)
LOSSES: Final = MappingProxyType({**FIELDS, **OF_WRITERS})
# What a file that names texts by their ids refers to.
OF_TEXT: Final = frozenset(
    {
        "text-between-words",
        "sections",
        "section-attributes",
        "sentences",
        "words",
        "abbreviations",
        "meta",
    }
)
EVERYTHING: Final = frozenset(FIELDS)


def describe_loss(code: str) -> str:
    """Returns a sentence that says what the format cannot hold."""
    what = LOSSES.get(code, "it")
    return f"the format cannot hold {what.replace('... and', 'this about links:')}"


@dataclass(frozen=True, kw_only=True)
class HeldFields:
    """Fields that a format holds.

    Attributes:
        format: its name in messages.
        fields: names of `FIELDS`.
        partly: those of them that it holds in part; its writer counts what it does not hold.
        by_reference: fields that are no loss, since the file only refers to the text.
        source: source of the mentions when the file is read.
        only: the sources whose mentions are written; ``None`` for all.
    """

    format: str
    fields: frozenset[str]
    partly: frozenset[str] = frozenset()
    by_reference: frozenset[str] = frozenset()
    source: str = GOLD
    only: tuple[str, ...] | None = None

    @cached_property
    def lacking(self) -> frozenset[str]:
        """Fields that are lost."""
        return EVERYTHING - self.fields - self.by_reference

    def links(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """Returns links without those of their facts that the format does not hold, which are not
        counted, nor is that there is no concept; an ambiguous link without a place in the format
        stays, for it is counted when it is written.
        """
        if not links or not self.lacking & OF_LINKS:
            return links
        if "links" not in self.fields:
            return ()
        empty = {name: value for code, (name, value) in _OF_LINK.items() if code in self.lacking}
        return tuple(
            link if link.tier == AMBIGUOUS else msgspec.structs.replace(link, **empty)
            for link in links
            if not link.nil or "nil-links" in self.fields
        )

    @cached_property
    def of_document(self) -> tuple[tuple[str, Callable[[Document], int]], ...]:
        """Functions that count the lost fields of a document, with their codes."""
        return tuple((code, count) for code, count in _OF_DOCUMENT.items() if code in self.lacking)

    @cached_property
    def of_mention(self) -> tuple[tuple[str, Callable[[Mention], int]], ...]:
        """Functions that count the lost fields of a mention, with their codes."""
        counts = [(code, count) for code, count in _OF_MENTION.items() if code in self.lacking]
        if "sources" in self.lacking:
            counts.append(("sources", lambda mention: mention.source != self.source))
        return tuple(counts)


def held_fields(
    format_name: str,
    fields: str,
    *,
    partly: str = "",
    also: frozenset[str] = frozenset(),
    **more: Any,
) -> HeldFields:
    """Returns the fields that a format holds.

    Args:
        format_name: name of the format for messages.
        fields: names of `FIELDS`, separated by blanks.
        partly: those that it holds in some documents only, in the same way.
        also: further fields.
        **more: other attributes of `HeldFields`.
    """
    some = frozenset(partly.split())
    return HeldFields(
        format=format_name, fields=some | also | frozenset(fields.split()), partly=some, **more
    )


_OF_LINK: Final[Mapping[str, tuple[str, object]]] = MappingProxyType(
    {
        "link-ontologies": ("ontology", ""),
        "link-names": ("name", ""),
        "link-scores": ("score", None),
        "link-tiers": ("tier", ""),
        "link-curies": ("curie", ""),
    }
)  # the attribute of each field, and its value if it is not held
OF_LINKS: Final = frozenset({"links", "nil-links", "ambiguous", *_OF_LINK})
_OF_DOCUMENT: Final[Mapping[str, Callable[[Document], int]]] = MappingProxyType(
    {
        "ids": lambda document: 1,
        "text-between-words": lambda document: _words_joined(document) != document.text,
        "sections": lambda document: bool(document.sections),
        "section-attributes": lambda document: sum(
            len(section.attributes) for section in document.sections or ()
        ),
        "sentences": lambda document: bool(document.sentences),
        "words": lambda document: bool(document.words),
        "abbreviations": lambda document: len(document.abbreviations or ()),
        "meta": lambda document: (
            len(document.meta) - (document.meta.get("text") in ("joined", "extracted"))
        ),
        "changes": lambda document: sum(len(change.taken) for change in document.changes),
    }
)


def _count_facts(mention: Mention, *, attribute: str, absent: object) -> int:
    """Counts the links with this fact; those of an ambiguous answer stay whole, or go and are
    counted as such.
    """
    return sum(
        getattr(link, attribute) != absent and link.tier != AMBIGUOUS for link in mention.links
    )


_OF_MENTION: Final[Mapping[str, Callable[[Mention], int]]] = MappingProxyType(
    {
        "scores": lambda mention: mention.score is not None,
        "links": lambda mention: sum(not link.nil for link in mention.links),
        **{
            code: partial(_count_facts, attribute=attribute, absent=absent)
            for code, (attribute, absent) in _OF_LINK.items()
        },
        "ambiguous": lambda mention: sum(link.tier == AMBIGUOUS for link in mention.links),
        "nil-links": lambda mention: sum(link.nil for link in mention.links),
        "attributes": lambda mention: len(mention.attributes),
    }
)


class _AnnotatedItem(Named, Protocol):
    """Document, or prediction about one."""

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Mentions in canonical order."""


Item = TypeVar("Item", bound=_AnnotatedItem)


def representable_part(document: Item, holds: HeldFields, report: WriteReport) -> Item:
    """Returns the part of a document that a format holds, and counts the rest.

    Args:
        document: what is to be written; of a prediction, which has nothing else, the mentions are
            counted.
        holds: what the format holds.
        report: receives the counts.

    Returns:
        The document without the mentions that cannot be written.
    """
    if not holds.lacking and holds.only is None:
        return document
    if isinstance(document, Document):
        if document.relations:
            return cast(Item, _with_relations(document, holds, report))
        for code, count in holds.of_document:
            if total := count(document):
                report.lose(code, document, count=total)
    if not document.mentions:
        return document
    mentions = _held_mentions(document, document.mentions, holds, report)
    if len(mentions) == len(document.mentions) and all(map(is_, mentions, document.mentions)):
        return document
    return cast(Item, msgspec.structs.replace(cast(msgspec.Struct, document), mentions=mentions))


def _with_relations(document: Document, holds: HeldFields, report: WriteReport) -> Document:
    """Returns the part of a document with relations; those are kept whose mentions are all
    written, of those between concepts the ones of the sources that are written.
    """
    part = representable_part(document.having(relations=()), holds, report)
    keys = {mention.key for mention in part.mentions}
    is_chosen = _is_of_the_only(document, holds.only)
    whole = tuple(
        relation
        for relation in document.relations
        if keys.issuperset(relation.keys) and (relation.arguments or is_chosen(relation))
    )
    relations = whole if "relations" in holds.fields else ()
    # A file with the answer of one system says nothing of what others said about their mentions.
    due = whole if holds.by_reference and holds.only is not None else document.relations
    if count := len(due) - len(relations):
        report.lose("relations", document, count=count)
    return part.having(relations=relations)


def _is_of_the_only(document: Document, only: tuple[str, ...] | None) -> Callable[[Relation], bool]:
    """Returns what is true for relations of the gold, or of the system, that is written."""
    if only is None:
        return lambda _: True
    is_of_gold, gold, systems = gold_test(document), GOLD in only, set(only) != {GOLD}
    return lambda relation: gold if is_of_gold(relation) else systems


def _held_mentions(
    document: Named, mentions: tuple[Mention, ...], holds: HeldFields, report: WriteReport
) -> tuple[Mention, ...]:
    """Returns the mentions that a format can hold; counts the others, and the lost fields of each.

    Args:
        document: whose they are.
        mentions: in canonical order.
        holds: what the format holds.
        report: receives the counts.
    """
    if holds.only is not None:
        mentions = _of_the_only_sources(document, mentions, holds.only, holds, report)
    if "mentions" in holds.lacking:
        if mentions:
            report.lose("mentions", document, mentions[0], count=len(mentions))
        return ()
    if "second-source" in holds.lacking:
        mentions = _of_one_source(document, mentions, holds, report)
    if "discontinuous" in holds.lacking:
        for mention in mentions:
            if len(mention.spans) > 1:
                report.lose("discontinuous", document, mention)
        mentions = tuple(mention for mention in mentions if len(mention.spans) == 1)

    for code, count in holds.of_mention:
        _count(code, document, mentions, count, report)
    if "ambiguous" in holds.lacking:
        mentions = _with_links(mentions, lambda link: link.tier != AMBIGUOUS)
    if "nil-links" in holds.lacking:
        mentions = _with_links(mentions, lambda link: not link.nil)
    return mentions


def _count(
    code: str,
    document: Named,
    mentions: tuple[Mention, ...],
    count: Callable[[Mention], int],
    report: WriteReport,
) -> None:
    """Counts a loss in all mentions; the first mention that has it is the example."""
    counts = list(map(count, mentions))
    if total := sum(counts):
        first = next(compress(mentions, counts))
        report.lose(code, document, first, count=total)


def _with_links(
    mentions: tuple[Mention, ...], accepts: Callable[[Link], bool]
) -> tuple[Mention, ...]:
    """Returns mentions with those of their links that a condition accepts."""
    return tuple(
        mention
        if all(map(accepts, mention.links))
        else msgspec.structs.replace(mention, links=tuple(filter(accepts, mention.links)))
        for mention in mentions
    )


def count_links(
    mention: Mention, links: Iterable[Link], document: Document, report: WriteReport
) -> None:
    """Counts the links of a mention, and parts of them, that are not in the written file.

    Args:
        mention: the mention that was written.
        links: those that are read back.
        document: its own.
        report: receives the counts.
    """
    if not mention.links:
        return
    rest, losses = list(links), Counter[str]()
    for link in mention.links:
        same = [other for other in rest if link.id in (other.id, other.curie)]
        if not same:
            losses["links"] += 1
            continue
        best = max(same, key=lambda other: (other.curie == link.curie, _is_of(other, link)))
        rest.remove(best)
        losses["link-ontologies"] += bool(link.ontology) and not _is_of(best, link)
        losses["link-curies"] += bool(link.curie) and best.curie != link.curie
    for code, count in (+losses).items():
        report.lose(code, document, mention, count=count)


def _is_of(link: Link, other: Link) -> bool:
    """True if two links are to the same ontology."""
    return link.ontology == other.ontology


def _of_one_source(
    document: Named, mentions: tuple[Mention, ...], holds: HeldFields, report: WriteReport
) -> tuple[Mention, ...]:
    """Keeps one mention for each type and spans: that of the source the file is read as, else of
    the first source.
    """
    if len({mention.source for mention in mentions}) < 2:
        return mentions
    by_identity: dict[tuple[str, tuple[tuple[int, int], ...]], Mention] = {}
    for mention in mentions:
        identity = mention.type, mention.spans
        if identity in by_identity:
            report.lose("second-source", document, mention)
        if identity not in by_identity or mention.source == holds.source:
            by_identity[identity] = mention
    return tuple(by_identity.values())


def _of_the_only_sources(
    document: Named,
    mentions: tuple[Mention, ...],
    only: tuple[str, ...],
    holds: HeldFields,
    report: WriteReport,
) -> tuple[Mention, ...]:
    """Keeps the mentions of the chosen sources; counts the others as losses unless the format is
    by reference.
    """
    if not holds.by_reference:
        for mention in mentions:
            if mention.source not in only:
                report.lose("other-sources", document, mention)
    return tuple(mention for mention in mentions if mention.source in only)


def _words_joined(document: Document) -> str:
    text = document.text
    return " ".join([text[start:end] for start, end in document.words or ()])


def facts_of_source(document: Document) -> dict[str, str]:
    """Returns the ``meta`` of a document without the statement that its text was joined, which
    readers set.
    """
    facts = dict(document.meta)
    if facts.get("text") == "joined":
        del facts["text"]
    return facts


@dataclass(frozen=True, kw_only=True)
class LossPolicy:
    """Policy for losses: whether a document is refused if writing would lose something.

    Attributes:
        refuse: true to raise an error for such a document.
        allowed: codes of `LOSSES` that are accepted.
        advice: text about what to do, with ``{codes}`` or ``{quoted}`` in place of the lost fields.
    """

    refuse: bool = False
    allowed: frozenset[str] = frozenset()
    advice: str = "write the format 'jsonl', which holds everything, or give allow_loss=[{quoted}]"

    def check(self, document: Named, part: WriteReport, *, format_name: str) -> None:
        """Raises an error for a document that would lose something.

        Args:
            document: what is to be written.
            part: what is lost of it.
            format_name: for the message.

        Raises:
            LossError: it would lose something that is not allowed.
        """
        codes = (
            [code for code in LOSSES if code in part.losses and code not in self.allowed]
            if self.refuse
            else []
        )
        if codes:
            advice = self.advice.format(codes=",".join(codes), quoted=", ".join(map(repr, codes)))
            raise LossError(
                f"document {document.id!r} would lose {', '.join(codes)}, which {format_name} "
                f"cannot hold ({codes[0]} first in {part.examples[codes[0]]}); {advice}",
                key=document.id,
            )


LENIENT: Final = LossPolicy()


def loss_names(names: Iterable[str]) -> frozenset[str]:
    """Checks the names of losses and returns them as a set.

    Raises:
        UsageError: one that is not in `LOSSES`; the message has the nearest.
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise UsageError(
            f"allow_loss must be a list of names of losses; {type(names).__name__} was given"
        )
    codes = frozenset(map(str, names))
    for name in sorted(codes - LOSSES.keys()):
        message = (
            f"there is no loss called {name!r}{typo_hint(name, LOSSES)}; choose from "
            f"{', '.join(LOSSES)}"
        )
        raise UsageError(message, code="unknown-name")
    return codes
