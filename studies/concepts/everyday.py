"""Are everyday names linked rightly? Two lists of the most frequent gold names; see ``plan.md``.

python -m studies.concepts.everyday [--name NAME] [--linker LINKER] [--open-b]

Writes ``results/concepts-everyday-NAME.json``. List B is neither made nor shown without
``--open-b``. Names that are wrong are printed, and not stored.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from fascicle.core.document import Document
from fascicle.linking.opening import find
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.verbs.tasks.link_cases import mention_concepts
from studies.common import result, write_result
from studies.concepts.corpora import everything
from studies.concepts.neutral import Asked, answers, by_hash
from studies.concepts.renewed import Renewed
from studies.concepts.same import Same

SIZE: Final = 300
_ENOUGH: Final = 0.2  # share of the mentions of a name that have a concept
_FIGURE: Final = 4  # digits of the identifier of a caption that name the figure


class Name(NamedTuple):
    """A name with its gold.

    Attributes:
        asked: as it is mostly written, with its type.
        concepts: that gold gives it often enough.
        documents: in which gold has it.
    """

    asked: Asked
    concepts: frozenset[str]
    documents: int


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--name", default="now")
    parser.add_argument("--linker", default=DEFAULT_LINKER)
    parser.add_argument(
        "--open-b", action="store_true", help="open list B too, which is for the end"
    )
    args = parser.parse_args(argv)
    found, same = find(args.linker), Same()
    linker, target = found.opened(), f"concepts-everyday-{args.name}"
    rows = result(target).get("lists", {})
    renewed = Renewed(found.parts[0].pack)
    first = names(0, renewed)[:SIZE]
    second = names(1, renewed, less=first)[:SIZE] if args.open_b else []
    for title, names_of in (("A", first), ("B", second))[: 1 + args.open_b]:
        said = answers(linker, [one.asked for one in names_of])
        judged = [
            _judged(one, {link.curie for link in links}, same)
            for one, links in zip(names_of, said, strict=True)
        ]
        for one, verdict, links in zip(names_of, judged, said, strict=True):
            if verdict != "right":
                print(title, verdict, one, [(link.curie, link.name, link.score) for link in links])
        rows[title] = {
            kind: _counts(names_of, judged, kind)
            for kind in ("", *sorted({o.asked.type for o in names_of}))
        }
        print(title, rows[title])
    write_result(target, {"packs": [part.pack.full_name for part in found.parts], "lists": rows})
    return 0


def _judged(name: Name, said: set[str], same: Same) -> str:
    """Right, none or wrong; a name with two concepts of which one is not gold's is wrong."""
    if not said:
        return "none"
    right = all(
        any(same(one, gold) or same.namesakes(one, gold) for gold in name.concepts) for one in said
    )
    return "right" if right else "wrong"


def _counts(names_of: Sequence[Name], judged: Sequence[str], kind: str) -> dict[str, int]:
    own = Counter(
        verdict
        for one, verdict in zip(names_of, judged, strict=True)
        if kind in ("", one.asked.type)
    )
    return {
        "names": own.total(),
        **{verdict: own[verdict] for verdict in ("right", "wrong", "none")},
    }


def names(half: int, renewed: Renewed, *, less: Iterable[Name] = ()) -> list[Name]:
    """The names of the documents of a half with the identifiers of now, the most frequent first,
    without some.
    """
    left_out = {(one.asked.surface.lower(), one.asked.type) for one in less}
    kept = (
        one
        for one in _named(half, renewed)
        if (one.asked.surface.lower(), one.asked.type) not in left_out
    )
    return sorted(
        kept, key=lambda one: (-one.documents, by_hash(f"{one.asked.type} {one.asked.surface}"))
    )


def _named(half: int, renewed: Renewed) -> Iterator[Name]:
    documents, surfaces = (
        defaultdict[Asked, set[str]](set),
        defaultdict[Asked, Counter[str]](Counter),
    )
    concepts = defaultdict[Asked, Counter[str]](Counter)
    keys, documents_of = zip(*_of_half(half), strict=True)
    for key, document in zip(keys, renewed.of(documents_of), strict=True):
        for mention in document.mentions:
            gold = mention_concepts(mention)
            if len(gold) == 1:
                surface = " ".join(mention.text_in(document.text).split())
                # a short form means nothing without its long form
                if f"({surface})" in document.text:
                    continue
                name = Asked(surface.lower(), mention.type)
                documents[name].add(key)
                surfaces[name][surface] += 1
                concepts[name].update(gold)
    for name, own in documents.items():
        often = frozenset(
            c for c, count in concepts[name].items() if count >= _ENOUGH * concepts[name].total()
        )
        surface = min(surfaces[name], key=lambda one: (-surfaces[name][one], one))
        yield Name(Asked(surface, name.type), often, len(own))


def _of_half(half: int) -> Iterator[tuple[str, Document]]:
    """The documents of a half with what tells articles apart: passages of one stand together, in
    all corpora.
    """
    for corpus, document in everything():
        key = document.meta.get("original-id", document.id)
        key = key[:-_FIGURE] if corpus == "bioid" else key
        if int(by_hash(key)[0], 16) >> 3 == half:
            yield key, document


if __name__ == "__main__":
    raise SystemExit(main())
