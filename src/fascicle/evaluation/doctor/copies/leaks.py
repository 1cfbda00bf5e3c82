"""Findings about copies of texts, and the list of what training must leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from fascicle.evaluation.doctor.checks.contract import Corpus, Detail, Finder, Found, Hit
from fascicle.evaluation.doctor.copies.copies import Foreign, Group, Kind, Relation
from fascicle.evaluation.doctor.parts import Item
from fascicle.formats.exclusions import Exclusion

_ORDER: Final[tuple[Kind, ...]] = ("duplicate", "near-duplicate", "shared-sentence")
_NEVER_LEARNED: Final = ("test", "dev")  # these stay where they are, whatever they are copies of


def copies(kind: Kind, relation: Relation) -> Finder:
    """Makes a check for one kind of copies.

    A case is a document that has a copy in another part; within a part, it is a copy of an earlier document.
    """

    def find(corpus: Corpus) -> Found:
        seen: set[tuple[str, int]] = set()
        identical = Counter[str]()
        left_out = set[tuple[str, str]]()
        for group in corpus.copies.groups:
            if group.kind != kind or group.relation != relation:
                continue
            left_out |= {(other.path, other.id) for other in group.others}
            for item, other, hit in _hits(group):
                if (group.where, item.number) not in seen:
                    seen.add((group.where, item.number))
                    identical[group.where] += item.sha256 == other.sha256
                    yield hit
        if seen and relation != "in-part":
            yield Detail(text=f"Documents that training must leave out for it: {len(left_out):,}.")
        if kind == "duplicate" and (found := +identical):
            listed = ", ".join(f"{where} {count:,}" for where, count in found.items())
            yield Detail(text=f"The same to the character: {listed}.")

    return find


def short_copies(corpus: Corpus) -> Found:
    """Finds short documents with copies anywhere."""
    for relation in ("in-part", "across-parts", "across-corpora"):
        yield from (hit for hit in copies("short-duplicate", relation)(corpus) if isinstance(hit, Hit))


def shared_id(corpus: Corpus) -> Found:
    """Finds documents whose id is that of a document in another part or corpus."""
    seen: set[tuple[int, str]] = set()
    for item, other in corpus.copies.shared_ids:
        where = f"{item.part.name} in {other.part.name}"
        if (item.number, where) not in seen:
            seen.add((item.number, where))
            same = "the same text" if item.sha256 == other.sha256 else "another text"
            yield Hit(item=item, where=where, message=f"{other.path} has {other.id} with {same}")


def not_compared(corpus: Corpus) -> Found:
    """Documents whose near duplicates were not sought."""
    for _ in range(corpus.copies.not_compared):
        yield Hit(where="all parts")


def exclusions(corpus: Corpus) -> list[Exclusion]:
    """Lists the documents to leave out of training: one of each pair of copies, with its best reason.

    Documents of a part that must be kept apart come before their copies in others: test, dev, train, corpora in the
    order given, other corpora. A document stays if all that it is a copy of is left out itself, so that of a chain of
    near duplicates every second one is left; one of test is never listed. Copies of short texts are not either.
    """
    found: dict[tuple[str, str], tuple[tuple[tuple[int, int], int, float, int], Exclusion]] = {}
    groups = [group for group in corpus.copies.groups if group.kind != "short-duplicate"]
    for group in sorted(groups, key=lambda g: (g.kept[0].part.rank, g.kept[0].number)):
        kept = group.kept[0]
        if (kept.path, kept.id) in found and kept.part.role not in _NEVER_LEARNED:
            continue
        for other in group.others:
            weight = (kept.part.rank, _ORDER.index(group.kind), -group.similarity, kept.number)
            key = (other.path, other.id)
            if other.part.role != "test" and (key not in found or weight < found[key][0]):
                found[key] = weight, _row(group, kept, other)
    return [row for _, row in found.values()]


def _hits(group: Group) -> Iterator[tuple[Item, Item | Foreign, Hit]]:
    """Yields the documents that are cases, each with one of its copies."""
    if group.relation == "in-part":
        for other in group.others:
            if isinstance(other, Item):
                hit = Hit(item=other, where=group.where, message=_message(group, other, group.kept[0]))
                yield other, group.kept[0], hit
        return
    same = {other.sha256: other for other in group.others}
    for number, item in enumerate(group.kept):
        spans = (group.sentences[number],) if group.sentences else ()
        other = same.get(item.sha256, group.others[0])
        yield item, other, Hit(item=item, spans=spans, where=group.where, message=_message(group, item, other))


def _message(group: Group, item: Item, other: Item | Foreign) -> str:
    place = f"{other.id} of {other.path}"
    if group.kind == "near-duplicate":
        return f"{place}, similarity {group.similarity:.2f}"
    if group.kind == "shared-sentence":
        return f"in {place}"
    return f"{place}{', the same to the character' if item.sha256 == other.sha256 else ''}"


def _row(group: Group, kept: Item, other: Item | Foreign) -> Exclusion:
    return Exclusion(
        corpus=other.path,
        part=other.part.role,
        document=other.id,
        sha256=other.sha256,
        reason=group.kind,
        similarity=group.similarity if group.kind != "shared-sentence" else None,
        of_corpus=kept.path,
        of_part=kept.part.role,
        of_document=kept.id,
    )
