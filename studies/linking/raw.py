"""Concepts of documents from raw text: a recogniser, then a linker; see ``plan.md``.

python -m studies.linking.raw PACK INDEX OUT [--corpora CORPUS ...]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.core.patches import apply
from fascicle.evaluation.link_report import LinkSystem
from fascicle.linking.fitting import fit_linker
from fascicle.linking.index import NameIndex
from fascicle.linking.linker import Linker
from fascicle.loading import load
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.link_cases import (
    Reference,
    cases_of_linker,
    cases_of_predictions,
    mention_concepts,
)
from studies.linking.corpora import documents
from studies.linking.measure import (
    each_corpus,
    fitted_linker,
    opened,
    parser_of,
    reference_of,
    report_of,
)

MODEL: Final = "bc5cdr@1"
Linked = Mapping[str, Sequence[Mention]]


class Task(NamedTuple):
    """One corpus.

    Attributes:
        types: that gold has.
        model: whether the shipped model finds them; else the pack does.
    """

    types: tuple[str, ...]
    model: bool = False


TASKS: Final[Mapping[str, Task]] = {
    "ncbi-disease": Task(("Disease",), model=True),
    "bc5cdr": Task(("Chemical", "Disease"), model=True),
    "linnaeus": Task(("Species",)),
    "bioid": Task(("CellLine",)),
    "gnormplus": Task(("Gene",)),
}


def measure(name: str, pack: Pack, index: NameIndex) -> dict[str, Any]:
    """The figures of a corpus: from raw text, and of the same linker with the mentions of gold."""
    task = TASKS[name]
    less = documents(name, "fit", choosing=True)
    dev = reference_of(less, documents(name, "dev"), pack)
    told = linked(
        recognised(dev.documents, task, pack.folder),
        fitted_linker(pack, index, fit_linker(pack, index, less)),
    )
    least = chosen(dev, told)
    fit = documents(name, "fit")
    linker = fitted_linker(pack, index, fit_linker(pack, index, fit))
    reference = reference_of(fit, documents(name, "test"), pack)
    found = linked(recognised(reference.documents, task, pack.folder), linker)
    systems = [
        LinkSystem(
            name="raw text", cases=tuple(cases_of_predictions(reference, kept(found, least)))
        ),
        LinkSystem(name="all of it", cases=tuple(cases_of_predictions(reference, found))),
        LinkSystem(name="gold mentions", cases=tuple(cases_of_linker(reference, linker))),
    ]
    recogniser = MODEL if task.model else "pack"
    right = _recognition(reference, found)
    return {
        "recogniser": recogniser,
        "least": least,
        "links": report_of(systems, reference),
        "found": right,
    }


def strength(mention: Mention) -> float:
    """How probable a mention is, times how probable its concepts are."""
    scores = [link.score for link in mention.links if not link.nil and link.score is not None]
    return (1.0 if mention.score is None else mention.score) * min(scores, default=1.0)


def kept(found: Linked, least: float) -> Linked:
    """The mentions that are strong enough."""
    return {
        name: [one for one in several if strength(one) >= least] for name, several in found.items()
    }


def chosen(reference: Reference, found: Linked) -> float:
    """The least strength by which concepts of documents have the best F1; of equal ones the
    lowest.
    """
    gold = {
        (one.id, curie)
        for one in reference.documents
        for each in one.mentions
        for curie in mention_concepts(each)
    }
    strongest: dict[tuple[str, str], float] = {}
    for name, several in found.items():
        for mention in several:
            for curie in mention_concepts(mention):
                strongest[name, curie] = max(strongest.get((name, curie), 0.0), strength(mention))

    def f1(least: float) -> float:
        said = {pair for pair, value in strongest.items() if value >= least}
        return 2 * len(said & gold) / max(len(said) + len(gold), 1)

    return max((at / 100 for at in range(100)), key=lambda least: (round(f1(least), 12), -least))


def recognised(texts: Sequence[Document], task: Task, pack: Path) -> list[Document]:
    """Documents with the mentions that a recogniser finds, and nothing of gold."""
    if task.model:
        model: Any = load(MODEL, threads=1, links=False)
    else:
        model = load(pack, recognition=RecognitionSettings(types=task.types, links=False))
    bare = [msgspec.structs.replace(one, mentions=()) for one in texts]
    found = [apply(one, patch) for one, patch in zip(bare, model.predict(bare), strict=True)]
    return [
        msgspec.structs.replace(
            one, mentions=tuple(each for each in one.mentions if each.type in task.types)
        )
        for one in found
    ]


def linked(found: Sequence[Document], linker: Linker) -> Linked:
    """The mentions of each document with their links."""
    patches = linker.predict(found)
    return {one.id: apply(one, patch).mentions for one, patch in zip(found, patches, strict=True)}


def _recognition(reference: Reference, found: Linked) -> dict[str, int]:
    """How many mentions are right, with their type and ends."""
    gold = {(one.id, each.type, each.spans) for one in reference.documents for each in one.mentions}
    said = {
        (identifier, each.type, each.spans)
        for identifier, several in found.items()
        for each in several
    }
    return {"gold": len(gold), "found": len(said), "right": len(gold & said)}


def main() -> None:
    """Measures corpora one by one."""
    parser = parser_of(__doc__)
    parser.set_defaults(corpora=list(TASKS))
    args = parser.parse_args()
    pack, index = opened(args)
    each_corpus(args, pack, lambda name: measure(name, pack, index))


if __name__ == "__main__":
    main()
