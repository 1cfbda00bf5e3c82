"""What two packs differ in: concepts and terms, in one walk over both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from fascicle.knowledge.keys.case import CasePolicy
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.pack import Concept, Pack
from fascicle.knowledge.terms import NAME_KINDS

Kind = Literal["added", "removed", "changed"]
V = TypeVar("V")
_CHUNK = 1 << 14


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference between two packs.

    Attributes:
        change: what became of it on the way from the first to the second.
        what: a concept, a term, or a mention in a corpus.
        concept: CURIE; of a mention, that of its link after the change, or before it if it was lost.
        surface: of a term or mention.
        document: id of the document of a mention.
        place: first and last character of a mention, as in ``"10-15"``.
        before: what the first pack says, as far as it differs; empty for what was added.
        after: what the second says.
    """

    change: Kind
    what: Literal["concept", "term", "mention"]
    concept: str
    surface: str = ""
    document: str = ""
    place: str = ""
    before: str = ""
    after: str = ""


def changes(first: Pack, second: Pack) -> Iterator[Change]:
    """All differences in concepts, by CURIE, and then in the terms that are found, by surface.

    Args:
        first: what was before.
        second: what is now. Both may be of any size; they are walked through side by side.

    Raises:
        PackError: one of them has values that cannot be.
    """
    for curie, concept, other in _walk(_concepts(first), _concepts(second)):
        if (told := _told(concept, other)) is not None:
            yield Change(change=told[0], what="concept", concept=curie, before=told[1], after=told[2])
    for _, terms, others in _walk(_terms(first), _terms(second)):
        terms, others = terms or {}, others or {}
        for which in sorted({**terms, **others}):
            if (told := _told(terms.get(which), others.get(which))) is not None:
                surface, curie, _ = which
                yield Change(change=told[0], what="term", concept=curie, surface=surface, before=told[1], after=told[2])


def _told(before: dict[str, str] | None, after: dict[str, str] | None) -> tuple[Kind, str, str] | None:
    """The kind of a change, and both sides in words; ``None`` if there is none."""
    if before == after:
        return None
    if before is None or after is None:
        shown = [_shown(one, one.keys()) if one is not None else "" for one in (before, after)]
        return "added" if before is None else "removed", *shown  # type: ignore[return-value]
    differ = [name for name in before if before[name] != after[name]]
    return "changed", _shown(before, differ), _shown(after, differ)


def _shown(values: dict[str, str], names: Any) -> str:
    return "; ".join(f"{name} {values[name]}" for name in names if values[name])


def _walk(first: Iterator[tuple[str, V]], second: Iterator[tuple[str, V]]) -> Iterator[tuple[str, V | None, V | None]]:
    """Two streams sorted by the bytes of their keys as one; ``None`` for what one does not have."""
    one, other = next(first, None), next(second, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0].encode() < other[0].encode()):
            assert one is not None
            yield one[0], one[1], None
            one = next(first, None)
        elif one is None or other[0].encode() < one[0].encode():
            yield other[0], None, other[1]
            other = next(second, None)
        else:
            yield one[0], one[1], other[1]
            one, other = next(first, None), next(second, None)


def _concepts(pack: Pack) -> Iterator[tuple[str, dict[str, str]]]:
    with looking_through(pack.folder):
        for row in range(len(pack)):
            concept = pack.concept_at(row)
            yield concept.curie, _facts(concept, pack.curies.strings.take(pack.parent_rows[row]))


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
        "references": ", ".join(sorted(f"{one.curie} ({one.predicate})" for one in concept.references)),
    }


def _terms(pack: Pack) -> Iterator[tuple[str, dict[tuple[str, str, str], dict[str, str]]]]:
    """The terms of each key: surface, concept and language -> what else is said of them."""
    with looking_through(pack.folder):
        yield from _grouped(pack)


def _grouped(pack: Pack) -> Iterator[tuple[str, dict[tuple[str, str, str], dict[str, str]]]]:
    names, languages = pack.active, pack.manifest.languages
    for start in range(0, len(names.keys.strings), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(names.keys.strings)))
        places, terms = names.of_key_rows(rows)
        keys = names.keys.strings.take(rows)
        surfaces = names.surfaces.take(names.surface[terms])
        curies = pack.curies.strings.take(names.concept[terms])
        group: dict[tuple[str, str, str], dict[str, str]] = {}
        last = 0
        for place, term, surface, curie in zip(places.tolist(), terms.tolist(), surfaces, curies, strict=True):
            if place != last:
                yield keys[last], group
                group, last = {}, place
            flags = int(names.flags[term])
            group[surface, curie, languages[names.language[term]]] = {
                "kind": NAME_KINDS[names.kind[term]],
                "case": CasePolicy(flags & layout.CASE).name,
                "off": "yes" if flags & layout.OFF else "",
            }
        if group:
            yield keys[last], group
