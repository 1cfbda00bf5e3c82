"""Import of gold from files: converts it to decisions about the curated documents."""

from __future__ import annotations

import hashlib

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Mention
from fascicle.serving.curation.decisions import ADDED, After, Decided, Edit, check_type, decided
from fascicle.serving.curation.store import GivenStep, Kept, Store
from fascicle.serving.curation.versions import REVIEWED, Versions
from fascicle.settings.project import Project


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


def take(store: Store, documents: list[Document], who: str, project: Project | None = None) -> Imported:
    """Adds documents, and decides about their mentions according to their gold; without gold, nothing is decided.

    Mentions of other sources that gold has too are accepted, all others are rejected, and the rest of the gold is
    added. Importing the same file again changes nothing.

    Args:
        store: of decisions.
        documents: whose gold is complete.
        who: the curator who imports them.
        project: then the gold decides what is reviewed.

    Raises:
        ConflictError: a document has the id of another text; then none is taken.
        ValueError: a document or a mention that cannot be curated; then none is taken.
    """
    for mention in (one for given in documents for one in given.layer(GOLD)):
        check_type(mention.type)
    without = [one.having(mentions=tuple(m for m in one.mentions if m.source != GOLD)) for one in documents]
    count = 0
    for given, kept in zip(documents, store.add(without, who), strict=True):
        gold = given.layer(GOLD)
        now, shown = _now(kept, project)
        edits = _edits(now, gold) if gold else []
        if edits:
            step = _step(shown, edits, who, version=None if project is None else REVIEWED)
            store.save(step, lambda kept, new: _now(kept, project)[1])
            count += len(edits)
    return Imported(documents=len(documents), decisions=count)


def _now(kept: Kept, project: Project | None) -> tuple[Decided, Kept]:
    if project is None:
        return decided(*kept), kept
    versions = Versions(kept, project)
    return versions.reviewed, versions.shown(REVIEWED)


def _step(kept: Kept, edits: list[Edit], who: str, *, version: str | None) -> GivenStep:
    last = kept.steps[-1].number if kept.steps else 0
    content = msgspec.json.encode([kept.document.id, last, edits, version])
    name = hashlib.sha256(content).hexdigest()[:32]
    return GivenStep(document=kept.document.id, id=name, who=who, after=last, edits=tuple(edits), version=version)


def _edits(now: Decided, gold: tuple[Mention, ...]) -> list[Edit]:
    """Returns the edits that make the gold of a document equal to the given gold."""
    wanted = {one.key: one for one in gold}
    edits: list[Edit] = []
    there: set[object] = set()
    for item in now.items:
        if item.origin is None:
            continue  # a mention that a curator added stays, unless it is in the file too
        key = (GOLD, item.origin.type, item.origin.spans)
        if (found := wanted.get(key)) is not None:
            there.add(key)
            if item.now is None or item.now.links != found.links:
                edits.append(Edit(item=_item(item.origin), after=After.of(found)))
        elif item.now is not None and item.now.key in wanted:
            there.add(item.now.key)
        elif item.verdict != "rejected":
            edits.append(Edit(item=_item(item.origin), after=None))
    there |= {item.now.key for item in now.items if item.origin is None and item.now is not None}
    edits += [Edit(item=_name(one), after=After.of(one)) for key, one in wanted.items() if key not in there]
    return edits


def _item(mention: Mention) -> str:
    return msgspec.json.encode(mention.key).decode()


def _name(mention: Mention) -> str:
    return ADDED + hashlib.sha256(msgspec.json.encode(mention)).hexdigest()[:32]
