"""Content of a pack as sources of a new pack and as a table, and differences between two packs.

The differences in mentions are those in texts: mentions that are added, lost, or get another link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import merge
from itertools import groupby, islice, repeat
from typing import Any, Final, Literal, TypeVar, cast

import msgspec
import numpy as np

from fascicle.core.arrays import Bools
from fascicle.core.document import Document, Patch
from fascicle.core.mention import Mention
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.curation import UNTOUCHED, Action, Case, CurationRule, NameDecision, NameRow
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import row_chunks
from fascicle.terms.pack.builder import PackSource
from fascicle.terms.pack.layout import Names, damage_errors
from fascicle.terms.pack.pack import Concept, Pack, Term
from fascicle.terms.recognising import PackRecogniser
from fascicle.terms.terms import NAME_KINDS, REFERS, ConceptRecord, Name

_LABEL_OF_OWN: Final = NameDecision(preferred=True)


def pack_sources(pack: Pack) -> list[PackSource]:
    """Returns the sources of a pack; a build from them and `KeptRules` gives the same concepts,
    names and priors.
    """
    return [
        PackSource(
            facts, partial(_records, pack, number), partial(dict, facts.counts), is_whole=True
        )
        for number, facts in enumerate(pack.manifest.sources)
    ]


def _records(pack: Pack, source: int) -> Iterator[ConceptRecord]:
    """Yields the records of one source of a pack; the first source of a concept has all its
    fields besides names.
    """
    has = np.array([source in members for members in pack.manifest.sets], dtype=np.bool_)
    first = np.array(
        [source == min(members, default=-1) for members in pack.manifest.sets], dtype=np.bool_
    )
    for rows in row_chunks(len(pack)):
        names: dict[int, list[Name]] = {int(row): [] for row in rows[has[pack.set_rows[rows]]]}
        for table in (pack.active, pack.silent):
            _add(names, pack, table, rows[[0, -1]].tolist(), has)
        for row in sorted(names):
            whole = bool(first[pack.set_rows[row]])
            yield _record(pack, row, tuple(names[row]), whole=whole)


def _add(
    names: dict[int, list[Name]], pack: Pack, table: Names, ends: list[int], has: Bools
) -> None:
    """Adds the names of a source to those of the concepts from the first row to the last."""
    _, terms = table.of_concept.take(np.arange(ends[0], ends[1] + 1))
    terms = terms[has[table.sources[terms]]]
    surfaces = table.surfaces.take(table.surface[terms])
    languages, kinds = pack.manifest.languages, NAME_KINDS
    columns = (
        table.concept[terms].tolist(),
        surfaces,
        table.kind[terms].tolist(),
        table.language[terms].tolist(),
    )
    for row, surface, kind, language in zip(*columns, strict=True):
        names.setdefault(row, []).append(Name(surface, kinds[kind], languages[language]))


def _record(pack: Pack, row: int, names: tuple[Name, ...], *, whole: bool) -> ConceptRecord:
    if not whole:
        return ConceptRecord(
            curie=pack.curie(row), type=pack.types[pack.type_rows[row]], names=names
        )
    concept = pack.concept_at(row)
    fields = {
        name: getattr(concept, name)
        for name in ConceptRecord.__struct_fields__
        if hasattr(concept, name)
    }
    fields["label"] = concept.label if pack.label_rows[row] != layout.NONE else ""
    return ConceptRecord(**fields, names=names, parents=pack.parents(concept.curie))


class KeptRules:
    """Rules that decided about the names of a pack; labels of other sources always stay searchable.

    Attributes:
        rules: as the pack records them; rules that decided together are one rule.
    """

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self._pack = pack
        self.rules = tuple(
            CurationRule(action=cast(Action, pack.rules[row])) for row in range(1, len(pack.rules))
        )
        self._own: set[tuple[str, str]] = set()
        self._known: dict[tuple[str, str], NameDecision] = {}
        for table in (pack.active, pack.silent):
            for term, rule in zip(*(column.tolist() for column in table.ruled), strict=True):
                name = pack.term(table, term)
                flags = int(table.flags[term])
                self._known[name.surface, name.concept] = NameDecision(
                    keep=not flags & layout.DROPPED,
                    match=not name.off,
                    case=cast(Case, name.case.name),
                    preferred=bool(flags & layout.PREFERRED),
                    rules=(rule - 1,) if rule else (),
                )

    def see(self, record: ConceptRecord) -> None:
        """Collects the labels of a record of another source; of a new concept without a label,
        its first name.
        """
        labels = [name for name in record.names if name.kind == "label"]
        if not labels and record.names and self._pack.concept_rows([record.curie])[0] < 0:
            labels = [record.names[0]]
        self._own.update((name.surface, record.curie) for name in labels)

    def decide(self, row: NameRow) -> NameDecision:
        """Returns the decision about a name."""
        name = (row.surface, row.concept)
        return _LABEL_OF_OWN if name in self._own else self._known.get(name, UNTOUCHED)


_Kind = Literal["added", "removed", "changed"]
_V = TypeVar("_V")


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
    """

    change: _Kind
    what: Literal["concept", "term", "mention"]
    concept: str
    surface: str = ""
    document: str = ""
    place: str = ""
    before: str = ""
    after: str = ""


def find_changes(first: Pack, second: Pack) -> Iterator[PackChange]:
    """Yields all differences in concepts, by CURIE, and then in the terms that are found, by
    surface.

    Args:
        first: what was before.
        second: what is now. Both may be of any size; they are walked through side by side.

    Raises:
        PackError: one of them has values that cannot be.
    """
    for curie, concept, other in _walk(
        *(_check_damage(pack, _concepts(pack)) for pack in (first, second))
    ):
        if (difference := _difference(concept, other)) is not None:
            yield PackChange(
                change=difference[0],
                what="concept",
                concept=curie,
                before=difference[1],
                after=difference[2],
            )
    for _, terms, new_terms in _walk(
        *(_check_damage(pack, _terms(pack)) for pack in (first, second))
    ):
        terms, new_terms = terms or {}, new_terms or {}
        for which in sorted({**terms, **new_terms}):
            if (difference := _difference(terms.get(which), new_terms.get(which))) is not None:
                surface, curie, _ = which
                yield PackChange(
                    change=difference[0],
                    what="term",
                    concept=curie,
                    surface=surface,
                    before=difference[1],
                    after=difference[2],
                )


def _difference(
    before: dict[str, str] | None, after: dict[str, str] | None
) -> tuple[_Kind, str, str] | None:
    """Returns the kind of a change, and both sides as text; ``None`` if there is none."""
    if before == after:
        return None
    if before is None or after is None:
        sides = [
            _text(values, values.keys()) if values is not None else "" for values in (before, after)
        ]
        return "added" if before is None else "removed", *sides  # type: ignore[return-value]
    differ = [name for name in before if before[name] != after[name]]
    return "changed", _text(before, differ), _text(after, differ)


def _text(values: dict[str, str], names: Any) -> str:
    return "; ".join(f"{name} {values[name]}" for name in names if values[name])


def _walk(
    first: Iterator[tuple[str, _V]], second: Iterator[tuple[str, _V]]
) -> Iterator[tuple[str, _V | None, _V | None]]:
    """Merges two streams sorted by the bytes of their keys; ``None`` where one stream does not
    have the key.
    """
    merged = merge(
        zip(first, repeat(0)), zip(second, repeat(1)), key=lambda entry: entry[0][0].encode()
    )
    for key, entries in groupby(merged, key=lambda entry: entry[0][0]):
        values = {side: value for (_, value), side in entries}
        yield key, values.get(0), values.get(1)


def _check_damage(pack: Pack, items: Iterator[tuple[str, _V]]) -> Iterator[tuple[str, _V]]:
    """Yields what is read from a pack; impossible values in its files are its damage."""
    with damage_errors(pack.folder):
        yield from items


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


def _terms(pack: Pack) -> Iterator[tuple[str, dict[tuple[str, str, str], dict[str, str]]]]:
    """Yields the terms of each key: surface, concept and language -> their other fields."""
    names, languages = pack.active, pack.manifest.languages
    for rows in row_chunks(len(names.keys.strings)):
        places, terms = names.of_key_rows(rows)
        keys = names.keys.strings.take(rows)
        surfaces = names.surfaces.take(names.surface[terms])
        curies = pack.curies.strings.take(names.concept[terms])
        group: dict[tuple[str, str, str], dict[str, str]] = {}
        last = 0
        for place, term, surface, curie in zip(
            places.tolist(), terms.tolist(), surfaces, curies, strict=True
        ):
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


_OF_CONCEPT: Final = (
    "taxon",
    "rank",
    "obsolete",
    "replaced_by",
    "parents",
    "references",
    "definition",
)
COLUMNS: Final = (
    *("concept", "type", "surface", "kind", "language", "case", "off", "prior", "sources", "rule"),
    *_OF_CONCEPT,
)


def term_rows(pack: Pack, *, silent: bool = False) -> Iterator[tuple[str, ...]]:
    """Yields the terms of all concepts in the order of the CURIEs, each as the values of `COLUMNS`.

    The fields of a concept are in the row of its first term, or alone if it has none; obsolete
    ones are excluded.

    Args:
        pack: the pack that is open.
        silent: give the terms that are kept out in place of those that are found.
    """
    names = pack.silent if silent else pack.active
    for row in range(len(pack)):
        concept = pack.concept_at(row)
        head, fields = (concept.curie, concept.type), _concept_values(concept, pack)
        terms = [pack.term(names, term) for term in names.of_concept[row].tolist()]
        # the first name can be the label
        for term in sorted(terms, key=lambda term: term.surface != concept.label):
            yield (*head, *_term_values(term), *fields)
            fields = ("",) * len(_OF_CONCEPT)
        if not terms and concept.obsolete == silent:
            yield (*head, *[""] * (len(COLUMNS) - len(head) - len(fields)), *fields)


def _concept_values(concept: Concept, pack: Pack) -> tuple[str, ...]:
    references = (
        reference.curie
        if reference.predicate == REFERS
        else f"{reference.predicate} {reference.curie}"
        for reference in concept.references
    )
    return (
        concept.taxon,
        concept.rank,
        "yes" if concept.obsolete else "",
        "|".join(concept.replaced_by),
        "|".join(pack.parents(concept.curie)),
        "|".join(references),
        " ".join(concept.definition.split()),
    )


def _term_values(term: Term) -> tuple[str, ...]:
    return (
        " ".join(term.surface.split()),  # a tab or an end of line would end the value
        term.kind,
        term.language,
        term.case.name,
        "yes" if term.off else "",
        f"{term.prior:.4f}",
        "|".join(term.sources),
        " ".join(term.rule.split()),
    )


_SOURCE: Final = "pack"
_TOGETHER: Final = 64  # documents


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
    documents = iter(documents)
    before, after = (_finder(pack, settings) for pack in (first, second))
    while together := list(islice(documents, _TOGETHER)):
        for document, old, new in zip(together, before(together), after(together), strict=True):
            yield from _changes(document, _by_place(old.add), _by_place(new.add))


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
        )


def _type_and_link(mention: Mention | None) -> str:
    if mention is None:
        return ""
    link = (
        f"; {mention.links[0].curie} {mention.links[0].name}" if mention.links else "; not linked"
    )
    return f"{mention.type}{link}"
