"""Differences between two packs: in their concepts and terms, and in the mentions that they find.

The differences in mentions are those in texts: mentions that are added, lost, or get another link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import groupby, repeat
from operator import itemgetter
from typing import Any, Final, Literal, TypeVar

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document, Patch
from fascicle.core.mention import Mention
from fascicle.core.stream import portions
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.keys.key import TokenReader
from fascicle.terms.overlaps import slices_by_document
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import row_chunks
from fascicle.terms.pack.layout import damage_errors
from fascicle.terms.pack.pack import Concept, Pack
from fascicle.terms.pack.tried import TriedPack
from fascicle.terms.recognising import PORTION, PackRecogniser
from fascicle.terms.terms import NAME_KINDS

_SOURCE: Final = "pack"
_AROUND: Final = 60  # characters on each side of a mention
_Kind = Literal["added", "removed", "changed"]
_V = TypeVar("_V")
# surface, concept and language -> other fields
_Terms = dict[tuple[str, str, str], dict[str, str]]
_ReadTerms = Callable[[Pack], Iterator[tuple[str, _Terms]]]


class PackChange(msgspec.Struct, frozen=True, kw_only=True):
    """Difference between two packs.

    Attributes:
        change: what became of it on the way from the first to the second.
        what: a concept, a term, or a mention in a corpus.
        concept: CURIE; of a mention, that of its link after the change, or before it if it was
            lost.
        surface: of a term or mention.
        document: id of the document of a mention.
        place: first and last character of a mention, as in ``"10-15"``.
        before: value in the first pack, as far as it differs; empty for an addition.
        after: value in the second pack.
        words: a mention in square brackets, with the words around it.
    """

    change: _Kind
    what: Literal["concept", "term", "mention"]
    concept: str
    surface: str = ""
    document: str = ""
    place: str = ""
    before: str = ""
    after: str = ""
    words: str = ""


def find_changes(first: Pack, second: Pack) -> Iterator[PackChange]:
    """Yields all differences in concepts, by CURIE, and then in the terms that are found, by
    surface.

    Args:
        first: what was before.
        second: what is now. Both may be of any size; they are walked through side by side.

    Raises:
        PackError: one of them has values that cannot be.
    """
    for curie, concept, other in _walk(first, second, _concepts):
        if difference := _difference(concept, other):
            yield PackChange(what="concept", concept=curie, **difference)
    yield from _term_changes(first, second, _terms)


def find_tried_changes(first: Pack, second: TriedPack) -> Iterator[PackChange]:
    """Yields the differences in the terms that are found, if rules are only tried."""
    if second.few is not None:
        terms_of = partial(_terms, of=second.keys)
        yield from _term_changes(first, second.few, terms_of)


def _term_changes(first: Pack, second: Pack, terms_of: _ReadTerms) -> Iterator[PackChange]:
    for _, terms, later_terms in _walk(first, second, terms_of):
        before, after = terms or {}, later_terms or {}
        for name in sorted({**before, **after}):
            if difference := _difference(before.get(name), after.get(name)):
                surface, curie, _ = name
                yield PackChange(what="term", concept=curie, surface=surface, **difference)


def _difference(before: dict[str, str] | None, after: dict[str, str] | None) -> dict[str, Any]:
    """Returns the kind of a change, and both sides as text; empty if there is none."""
    if before == after:
        return {}
    if before is None or after is None:
        change = "added" if before is None else "removed"
        sides = [_text(values or {}, values or {}) for values in (before, after)]
    else:
        change = "changed"
        differ = [name for name in before if before[name] != after[name]]
        sides = [_text(values, differ) for values in (before, after)]
    return {"change": change, "before": sides[0], "after": sides[1]}


def _text(values: dict[str, str], names: Any) -> str:
    return "; ".join(f"{name} {values[name]}" for name in names if values[name])


def _walk(
    first: Pack, second: Pack, content_of: Callable[[Pack], Iterator[tuple[str, _V]]]
) -> Iterator[tuple[str, _V | None, _V | None]]:
    """Walks through two packs side by side.

    Args:
        first: what was before.
        second: what is now.
        content_of: yields the content of a pack, sorted by the bytes of the keys.

    Yields:
        Key, and the value in each pack; ``None`` where a pack does not have the key.
    """
    streams = (
        zip(_check_damage(pack, content_of(pack)), repeat(side))
        for side, pack in enumerate((first, second))
    )
    merged = merge(*streams, key=lambda entry: entry[0][0].encode())
    for key, entries in groupby(merged, key=lambda entry: entry[0][0]):
        values = {side: value for (_, value), side in entries}
        yield key, values.get(0), values.get(1)


def _check_damage(pack: Pack, content: Iterator[tuple[str, _V]]) -> Iterator[tuple[str, _V]]:
    """Yields what is read from a pack; impossible values in its files are its damage."""
    with damage_errors(pack.folder):
        yield from content


def _concepts(pack: Pack) -> Iterator[tuple[str, dict[str, str]]]:
    for row in range(len(pack)):
        concept = pack.concept_at(row)
        facts = _facts(concept, pack.curies.strings.take(pack.parent_rows[row]))
        lead = int(pack.leads.members(row)[0])
        yield concept.curie, facts | {"leading concept": pack.curie(lead) if lead != row else ""}


def _facts(concept: Concept, parents: list[str]) -> dict[str, str]:
    return {
        "label": concept.label,
        "type": concept.type,
        "taxon": concept.taxon,
        "rank": concept.rank,
        "obsolete": "yes" if concept.obsolete else "",
        "replaced by": ", ".join(concept.replaced_by),
        "parents": ", ".join(parents),
        "definition": concept.definition,
        "references": ", ".join(
            sorted(f"{reference.curie} ({reference.predicate})" for reference in concept.references)
        ),
    }


def _terms(pack: Pack, of: Sequence[str] | None = None) -> Iterator[tuple[str, _Terms]]:
    """Yields the terms of each key, or of some keys that are sorted."""
    strings = pack.active.keys.strings
    key_rows = pack.active.keys.find(of) if of is not None else None
    for rows in row_chunks(len(strings)) if key_rows is None else [key_rows[key_rows >= 0]]:
        places, terms = pack.active.of_key_rows(rows)
        keys = strings.take(rows)
        entries = zip(places.tolist(), _term_fields(pack, terms), strict=True)
        for place, group in groupby(entries, key=itemgetter(0)):
            yield keys[place], dict(entry for _, entry in group)


def _term_fields(pack: Pack, terms: Ints) -> Iterator[tuple[tuple[str, str, str], dict[str, str]]]:
    names, languages = pack.active, pack.manifest.languages
    surfaces = names.surfaces.take(names.surface[terms])
    curies = pack.curies.strings.take(names.concept[terms])
    for term, surface, curie in zip(terms.tolist(), surfaces, curies, strict=True):
        flags = int(names.flags[term])
        yield (
            (surface, curie, languages[names.language[term]]),
            {
                "kind": NAME_KINDS[names.kind[term]],
                "case": CasePolicy(flags & layout.CASE).name,
                "off": "yes" if flags & layout.OFF else "",
            },
        )


def mention_changes(
    first: Pack,
    second: Pack,
    documents: Iterable[Document],
    *,
    settings: RecognitionSettings | None = None,
) -> Iterator[PackChange]:
    """Yields all differences in the mentions that two packs find, in the order of the texts.

    A mention is one place with one type. It changes if its link does; the first type of a place
    counts for that which the settings allow.

    Args:
        first: what was before.
        second: what is now.
        documents: the texts; their mentions are not looked at.
        settings: of the recogniser.

    Raises:
        PackError: one of the packs has values that cannot be.
    """
    before, after = (_finder(pack, settings) for pack in (first, second))
    tried = [pack for pack in (first, second) if isinstance(pack, TriedPack)]
    for together in portions(documents, characters=PORTION):
        touched = _touched(tried, together, settings or RecognitionSettings())
        for document, old, new in zip(touched, before(touched), after(touched), strict=True):
            yield from _changes(document, _by_place(old.add), _by_place(new.add))


def _touched(
    tried: Sequence[TriedPack], documents: list[Document], settings: RecognitionSettings
) -> list[Document]:
    """Returns the documents that have names which tried rules can change; without such rules, all
    documents.
    """
    if not tried or any(pack.everywhere for pack in tried):
        return documents
    tokens = TokenReader().read([document.text for document in documents])
    touched = [pack.touched(tokens, inside_words=settings.inside_words) for pack in tried]
    parts = slices_by_document(documents, np.sort(np.concatenate(touched)))
    return [
        document
        for document, (part, _) in zip(documents, parts, strict=True)
        if part.stop > part.start
    ]


def _finder(
    pack: Pack, settings: RecognitionSettings | None
) -> Callable[[list[Document]], list[Patch]]:
    with damage_errors(pack.folder):
        return PackRecogniser({_SOURCE: pack}, settings=settings).predict


def _by_place(mentions: Iterable[Mention]) -> dict[tuple[int, int, str], Mention]:
    return {(mention.start, mention.end, mention.type): mention for mention in mentions}


def _changes(
    document: Document,
    old: dict[tuple[int, int, str], Mention],
    new: dict[tuple[int, int, str], Mention],
) -> Iterator[PackChange]:
    for place in sorted({**old, **new}):
        was, now = old.get(place), new.get(place)
        curies = [
            mention.links[0].curie if mention is not None and mention.links else ""
            for mention in (was, now)
        ]
        if was is not None and now is not None and curies[0] == curies[1]:
            continue
        yield PackChange(
            change="added" if was is None else "removed" if now is None else "changed",
            what="mention",
            concept=curies[1] or curies[0],
            surface=document.text[place[0] : place[1]],
            document=document.id,
            place=f"{place[0]}-{place[1]}",
            before=_type_and_link(was),
            after=_type_and_link(now),
            words=_words(document.text, *place[:2]),
        )


def _words(text: str, start: int, end: int) -> str:
    before, behind = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return " ".join(f"{before}[{text[start:end]}]{behind}".split())


def _type_and_link(mention: Mention | None) -> str:
    if mention is None:
        return ""
    link = (
        f"; {mention.links[0].curie} {mention.links[0].name}" if mention.links else "; not linked"
    )
    return f"{mention.type}{link}"
