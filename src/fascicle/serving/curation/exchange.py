"""Import of gold from files as decisions, and rules for term packs from decisions about
mentions.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Mention, MentionKey
from fascicle.core.wording import plural
from fascicle.serving.curation.decisions import (
    ADDED,
    After,
    Decided,
    Edit,
    Item,
    apply_steps,
    check_type,
)
from fascicle.serving.curation.store import GivenStep, Kept, Store
from fascicle.serving.curation.versions import REVIEWED, Versions
from fascicle.settings.serving import Project
from fascicle.terms.curation import CurationRule, format_rules


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


def import_gold(
    store: Store, documents: list[Document], who: str, project: Project | None = None
) -> Imported:
    """Adds documents, and decides about their mentions according to their gold; without gold,
    nothing is decided.

    Mentions of other sources that gold has too are accepted, all others are rejected, and the rest
    of the gold is added. Importing the same file again changes nothing.

    Args:
        store: of decisions.
        documents: whose gold is complete.
        who: the curator who imports them.
        project: then the gold decides what is reviewed.

    Raises:
        ConflictError: a document has the id of another text; then none is taken.
        ValueError: a document or a mention that cannot be curated; then none is taken.
    """
    for mention in (mention for document in documents for mention in document.layer(GOLD)):
        check_type(mention.type)
    without = [
        document.having(mentions=tuple(m for m in document.mentions if m.source != GOLD))
        for document in documents
    ]
    count = 0
    for document, record in zip(documents, store.add(without, who), strict=True):
        gold = document.layer(GOLD)
        now, version = _now(record, project)
        edits = _edits(now, gold) if gold else []
        if edits:
            step = _step(version, edits, who, version=None if project is None else REVIEWED)
            store.save(step, lambda record, new: _now(record, project)[1])
            count += len(edits)
    return Imported(documents=len(documents), decisions=count)


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
    """Returns the edits that make the gold of a document equal to the given gold."""
    gold_by_key = {mention.key: mention for mention in gold}
    edits, covered = _edits_of_models(now, gold_by_key)
    covered |= {item.now.key for item in now.items if item.origin is None and item.now is not None}
    edits += [
        Edit(item=_name(mention), after=After.of(mention))
        for key, mention in gold_by_key.items()
        if key not in covered
    ]
    return edits


def _edits_of_models(
    now: Decided, gold_by_key: Mapping[MentionKey, Mention]
) -> tuple[list[Edit], set[MentionKey]]:
    """Returns the edits of mentions of models, and the keys of the gold that these mentions are.

    A mention that a curator added stays, unless it is in the file too.
    """
    edits: list[Edit] = []
    covered: set[MentionKey] = set()
    for item in now.items:
        if item.origin is None:
            continue
        key = (GOLD, item.origin.type, item.origin.spans)
        if (counterpart := gold_by_key.get(key)) is not None:
            covered.add(key)
            if item.now is None or item.now.links != counterpart.links:
                edits.append(Edit(item=_item(item.origin), after=After.of(counterpart)))
        elif item.now is not None and item.now.key in gold_by_key:
            covered.add(item.now.key)
        elif item.verdict != "rejected":
            edits.append(Edit(item=_item(item.origin), after=None))
    return edits, covered


def _item(mention: Mention) -> str:
    return msgspec.json.encode(mention.key).decode()


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
        rules += surface_rules
        differing += comments
    return format_rules(rules) + "".join(f"# {line}\n" for line in differing)


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
    if counts.rejected and counts.accepted:
        return [], [
            f"{surface}: no rule, for it was rejected {counts.rejected} and kept {counts.accepted} "
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
        return rules, [f"{surface}: no concept preferred, for it means {concepts}, {by}"]
    for concept, count in counts.added.items():
        note = f"given {plural(count, 'time')}, {by}"
        rules += [
            CurationRule(action=action, surface=surface, concept=concept, note=note)
            for action in ("add", "prefer")
        ]
    return rules, []
