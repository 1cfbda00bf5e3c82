"""Import of gold from files as decisions, and rules for term packs from decisions about
mentions.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from fascicle.core import codec
from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Mention, MentionKey, display_identifier
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place, one_line
from fascicle.serving.curation.decisions import (
    ADDED,
    After,
    Decided,
    Edit,
    Item,
    apply_steps,
    check_type,
    gold_document,
    rule_row,
)
from fascicle.serving.curation.store import GivenStep, Kept, Store
from fascicle.serving.curation.versions import REVIEWED, Versions
from fascicle.settings.serving import Project
from fascicle.terms.curation import CurationRule, format_rules, make_rule


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken from a file.

    Attributes:
        documents: how many it has.
        decisions: edits that follow from its gold; those that were there already do not count.
        notes: what was lost of the file, and how it was read.
    """

    documents: int
    decisions: int
    notes: tuple[str, ...] = ()


def encode_gold(decided: Iterable[Decided], *, beside: bool) -> list[msgspec.Raw]:
    """Returns the gold of documents as `fascicle.core.codec` writes it, see `gold_document`."""
    gold = (gold_document(document, beside=beside) for document in decided)
    return [msgspec.Raw(codec.encode(document)) for document in gold]


def import_gold(
    store: Store, documents: list[Document], who: str, project: Project | None = None
) -> Imported:
    """Adds documents, and decides about their mentions according to their gold; without gold,
    nothing is decided.

    Mentions of other sources that gold has too are accepted, all others are rejected, also those
    that curators added, and the rest of the gold is added: the gold of the document is then that
    of the file. Importing the same file again changes nothing.

    Args:
        store: of decisions.
        documents: whose gold is complete.
        who: the curator who imports them.
        project: then the gold decides what is reviewed.

    Raises:
        ConflictError: a document has the id of another text; then none is taken.
        ValueError: a document or a mention that cannot be curated, or a document with gold that
            occurs twice; then none is taken.
    """
    _check(documents)
    without = [
        document.having(mentions=tuple(m for m in document.mentions if m.source != GOLD))
        for document in documents
    ]
    count = 0
    with store.writing():
        for document, record in zip(documents, store.add(without, who), strict=True):
            gold = document.layer(GOLD)
            now, version = _now(record, project)
            edits = _edits(now, gold) if gold else []
            if edits:
                step = _step(version, edits, who, version=None if project is None else REVIEWED)
                store.save(step, lambda record, new: _now(record, project)[1])
                count += len(edits)
    return Imported(documents=len(documents), decisions=count)


def _check(documents: list[Document]) -> None:
    """Raises an error for gold that cannot be curated.

    Raises:
        ValueError: with a sentence for users.
    """
    ids: set[str] = set()
    for document in documents:
        gold = document.layer(GOLD)
        for mention in gold:
            check_type(mention.type)
        if not gold:
            continue
        if document.id in ids:
            raise ValueError(
                f"a document {document.id[:200]!r} with gold occurs twice; put its gold together, "
                "or give one another id"
            )
        ids.add(document.id)


def _now(record: Kept, project: Project | None) -> tuple[Decided, Kept]:
    if project is None:
        return apply_steps(*record), record
    versions = Versions(record, project)
    return versions.reviewed, versions.shown(REVIEWED)


def _step(record: Kept, edits: list[Edit], who: str, *, version: str | None) -> GivenStep:
    last = record.steps[-1].number if record.steps else 0
    content = msgspec.json.encode([record.document.id, last, edits, version])
    name = hashlib.sha256(content).hexdigest()[:32]
    return GivenStep(
        document=record.document.id,
        id=name,
        who=who,
        after=last,
        edits=tuple(edits),
        version=version,
    )


def _edits(now: Decided, gold: tuple[Mention, ...]) -> list[Edit]:
    """Returns the edits that make the gold of a document equal to that of a file."""
    gold_by_key = {mention.key: mention for mention in gold}
    before = {mention.key: mention for mention in now.gold}
    edits: list[Edit] = []
    covered: set[MentionKey] = set()
    for item in now.items:
        mention = _counterpart(item, gold_by_key)
        if mention is not None:
            covered.add(mention.key)
            if not _is_settled(item, mention, before):
                edits.append(Edit(item=_item(item), after=_after(item, mention)))
        elif item.verdict != "rejected":
            edits.append(Edit(item=_item(item), after=None))
    edits += [
        Edit(item=_name(mention), after=After.of(mention))
        for key, mention in gold_by_key.items()
        if key not in covered
    ]
    return edits


def _counterpart(item: Item, gold: Mapping[MentionKey, Mention]) -> Mention | None:
    """Returns the gold in the place of an item as it is now, or else as its model has it."""
    keys = [item.now.key] if item.now is not None else []
    if item.origin is not None:
        keys.append((GOLD, item.origin.type, item.origin.spans))
    return next((gold[key] for key in keys if key in gold), None)


def _is_settled(item: Item, mention: Mention, before: Mapping[MentionKey, Mention]) -> bool:
    """Returns whether an item needs no edit for the gold to have a mention."""
    current = before.get(mention.key)
    if item.now is None:  # else another layer has the mention
        return item.verdict == "rejected" and current is not None
    return (
        item.now.key == mention.key
        and current is not None
        and _concept_names(current) == _concept_names(mention)
        and sorted(current.attributes) == sorted(mention.attributes)
    )


def _after(item: Item, mention: Mention) -> After:
    """Returns a mention as an edit; what only the item knows about the same concepts stays."""
    after, current = After.of(mention), item.now or item.origin
    if current is None or _concept_names(current) != _concept_names(mention):
        return after
    return msgspec.structs.replace(after, links=current.links)


def _concept_names(mention: Mention) -> list[tuple[bool, str]]:
    """Returns the concepts of a mention in the words that all formats have for them."""
    return [(link.nil, display_identifier(link)) for link in mention.links]


def _item(item: Item) -> str:
    return item.name if item.origin is None else msgspec.json.encode(item.origin.key).decode()


def _name(mention: Mention) -> str:
    return ADDED + hashlib.sha256(msgspec.json.encode(mention)).hexdigest()[:32]


@dataclass(kw_only=True)
class _Evidence:
    """Decisions about the mentions with one surface.

    Attributes:
        accepted: number of accepted ones, with any concept.
        rejected: number of rejected ones.
        added: concepts that curators gave, with their numbers.
        stayed: concepts that curators left as they were.
        removed: concepts that curators removed.
        who: who decided.
    """

    accepted: int = 0
    rejected: int = 0
    added: Counter[str] = field(default_factory=Counter)
    stayed: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    who: set[str] = field(default_factory=set)


def rules_table(decided: Iterable[Decided]) -> str:
    """Makes a table of rules for ``curation`` in ``sources.toml``; conflicting decisions give a
    comment and no rule.

    ``ner_off`` is for a surface that was rejected wherever it was decided about, and for a concept
    that was taken away from a surface wherever it had it. ``add`` and ``prefer`` are for a concept
    that was given to a surface, if no other one was kept or given.

    Args:
        decided: documents with what was decided.
    """
    evidence: defaultdict[str, _Evidence] = defaultdict(_Evidence)
    for document in decided:
        gold_spans = {mention.spans for mention in document.gold}
        for item in document.items:
            if (
                item.verdict != "rejected"
                or item.origin is None
                or item.origin.spans not in gold_spans
            ):
                # else another layer has a mention in its place
                _count(evidence, item, document.document.text)
    rules: list[CurationRule] = []
    differing: list[str] = []
    for surface, counts in sorted(evidence.items()):
        surface_rules, comments = _rules(surface, counts)
        readable, faults = _check_rules(surface_rules)
        rules += readable
        differing += [*comments, *faults]
    return format_rules(rules) + "".join(f"# {line}\n" for line in differing)


def _check_rules(rules: Iterable[CurationRule]) -> tuple[list[CurationRule], list[str]]:
    """Returns the rules that a table can hold, and comments on the others, which would make it
    unreadable.
    """
    readable: list[CurationRule] = []
    faults: dict[str, None] = {}
    for rule in rules:
        place = Place("", shown=one_line(rule.surface) or "''")
        try:
            readable.append(make_rule(rule_row(rule), place))
        except FormatError as error:
            faults[f"no rule for {error}"] = None
    return readable, list(faults)


def _count(evidence: defaultdict[str, _Evidence], item: Item, text: str) -> None:
    if not item.verdict:
        return
    place = item.now or item.origin
    assert place is not None
    if len(place.spans) > 1:
        return  # a name of a pack is in one piece
    counts = evidence[" ".join(place.text_in(text).split())]
    counts.who.add(item.who)
    origin = frozenset() if item.origin is None else _concepts(item.origin)
    before = origin if item.origin is not None and item.origin.spans == place.spans else frozenset()
    if item.now is None:
        counts.rejected += 1
        return
    now = _concepts(item.now)
    counts.accepted += 1
    counts.stayed.update(before & now)
    counts.removed.update(before - now)
    counts.added.update(now - origin)  # what stayed with another span was not given to its words


def _concepts(mention: Mention) -> frozenset[str]:
    return frozenset(link.curie for link in mention.links if link.curie)


def _rules(surface: str, counts: _Evidence) -> tuple[list[CurationRule], list[str]]:
    """Returns the rules for a surface, and comments that explain missing rules."""
    by = f"by {', '.join(' '.join(name.split()) for name in sorted(counts.who))}"
    label = one_line(surface)
    if counts.rejected and counts.accepted:
        return [], [
            f"{label}: no rule, for it was rejected {counts.rejected} and kept {counts.accepted} "
            f"times, {by}"
        ]
    if counts.rejected:
        note = f"rejected {plural(counts.rejected, 'time')}, {by}"
        return [CurationRule(action="ner_off", surface=surface, note=note)], []
    rules = [
        CurationRule(
            action="ner_off",
            surface=surface,
            concept=concept,
            note=f"taken away {plural(count, 'time')}, {by}",
        )
        for concept, count in sorted(counts.removed.items())
        if concept not in counts.stayed and concept not in counts.added
    ]
    if len(counts.added.keys() | counts.stayed.keys()) > 1 and counts.added:
        concepts = ", ".join(
            f"{concept} {count} times"
            for concept, count in sorted((counts.added + counts.stayed).items())
        )
        return rules, [f"{label}: no concept preferred, for it means {concepts}, {by}"]
    for concept, count in counts.added.items():
        note = f"given {plural(count, 'time')}, {by}"
        rules += [
            CurationRule(action=action, surface=surface, concept=concept, note=note)
            for action in ("add", "prefer")
        ]
    return rules, []
