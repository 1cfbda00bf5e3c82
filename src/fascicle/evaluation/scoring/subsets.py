"""Recall on subsets of the gold: what was seen in training and what was not, what lies outermost and what inside.

The subsets, in one place:

* A gold mention is **seen** if its ``(surface, type)`` is that of a gold mention of the training documents, else
  **unseen**; without training documents there are no such subsets. The surface is the text of the mention exactly as
  it stands, case included; the fragments of a discontinuous mention are joined by one space.
* A gold mention is **inner** if it lies *properly* inside another gold mention of the document, of whatever type: all
  its characters belong to the other, which has more. Else it is **outermost**. One that is inner, or that another lies
  properly inside, is **nested**. Two mentions of different types over the same characters are not inside one another;
  they are both inner or both outermost, and form a subset that cuts across these, **same span**.
* A gold mention of several fragments is **discontinuous**, else **continuous**.

A mention counts as found under the rule of ``scoring.scores``: document, type and every offset are the same.
Only recall makes sense here: what is predicted in error belongs to no subset of the gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fascicle.core.document import GOLD, Document, Mention, identities
from fascicle.core.spans import Fragments
from fascicle.errors import InputError
from fascicle.evaluation.scoring.rules import joined, properly_inside

Surfaces = frozenset[tuple[str, str]]
_OF_TRAIN: Final = ("seen", "unseen")
SUBSETS: Final = (*_OF_TRAIN, "outermost", "inner", "nested", "same_span", "continuous", "discontinuous")


@dataclass(frozen=True, kw_only=True)
class Recall:
    """How much of a subset of the gold was found.

    Attributes:
        gold: mentions of the subset.
        found: those among them that were predicted.
    """

    gold: int
    found: int

    @property
    def recall(self) -> float | None:
        """From 0 to 1; ``None`` for an empty subset."""
        return self.found / self.gold if self.gold else None

    def as_dict(self) -> dict[str, float | int | None]:
        """Counts and recall, ready for JSON."""
        return {"gold": self.gold, "found": self.found, "recall": self.recall}


def surfaces(documents: Iterable[Document]) -> Surfaces:
    """The ``(surface, type)`` pairs of the gold of some documents, those of training."""
    return frozenset((m.text_in(document.text), m.type) for document in documents for m in document.layer(GOLD))


def is_seen(mention: Mention, text: str, known: Surfaces) -> bool:
    """Whether a mention's surface and type occur in the training gold.

    Args:
        mention: of a document.
        text: of that document.
        known: see ``surfaces``.
    """
    return (mention.text_in(text), mention.type) in known


def nesting(mentions: Iterable[Mention]) -> tuple[frozenset[Fragments], frozenset[Fragments]]:
    """The spans of those mentions that lie properly inside another of them, and of those that hold another.

    Takes the time of sorting, plus that of comparing each mention with those that are open where it starts.
    """
    given: dict[Fragments, set[Fragments]] = {}
    for mention in mentions:
        given.setdefault(joined(mention.spans), set()).add(mention.spans)
    inner: set[Fragments] = set()
    outer: set[Fragments] = set()
    still_open: list[Fragments] = []
    for spans in sorted(given, key=lambda spans: (spans[0][0], -spans[-1][1])):
        still_open = [other for other in still_open if other[-1][1] > spans[0][0]]
        for other in still_open:
            # The second case: the same ends, sorted first, but with gaps.
            for inside, around in ((spans, other), (other, spans)):
                if properly_inside(inside, around):
                    inner |= given[inside]
                    outer |= given[around]
        still_open.append(spans)
    return frozenset(inner), frozenset(outer)


def same_spans(mentions: Iterable[Mention]) -> frozenset[Fragments]:
    """The spans whose characters are those of several mentions, of different types."""
    types: dict[Fragments, set[str]] = {}
    given: dict[Fragments, set[Fragments]] = {}
    for mention in mentions:
        characters = joined(mention.spans)
        types.setdefault(characters, set()).add(mention.type)
        given.setdefault(characters, set()).add(mention.spans)
    return frozenset(spans for whole, named in types.items() if len(named) > 1 for spans in given[whole])


def subset_recall(
    documents: Iterable[Document], predicted: Mapping[str, Iterable[Mention]], *, known: Surfaces | None
) -> dict[str, Recall]:
    """Recall on every subset of the gold.

    Args:
        documents: with gold mentions.
        predicted: document id -> the mentions of one system; an empty entry where it found none.
        known: of the training documents, see ``surfaces``; ``None`` leaves out seen and unseen.

    Returns:
        ``"seen"``, ``"unseen"``, ``"outermost"``, ``"inner"``, ``"nested"``, ``"same_span"``, ``"continuous"`` and
        ``"discontinuous"`` -> counts. Seen and unseen make up the gold, and so do outermost and inner, and continuous
        and discontinuous.

    Raises:
        InputError: a document without an entry among the predictions.
    """
    counts = {name: [0, 0] for name in SUBSETS if known is not None or name not in _OF_TRAIN}
    for document in documents:
        if document.id not in predicted:
            raise InputError(f"the predictions lack the document {document.id!r}; give an empty entry if it has none")
        found = identities(document.id, predicted[document.id])
        for mention, names in _subsets(document, known):
            hit = (document.id, mention.type, mention.spans) in found
            for name in names:
                counts[name][0] += 1
                counts[name][1] += hit
    return {name: Recall(gold=gold, found=found) for name, (gold, found) in counts.items()}


def _subsets(document: Document, known: Surfaces | None) -> Iterator[tuple[Mention, list[str]]]:
    """Every gold mention with the names of its subsets."""
    gold = document.layer(GOLD)
    (inner, outer), same = nesting(gold), same_spans(gold)
    for mention in gold:
        names = [] if known is None else ["seen" if is_seen(mention, document.text, known) else "unseen"]
        names.append("inner" if mention.spans in inner else "outermost")
        if mention.spans in inner or mention.spans in outer:
            names.append("nested")
        if mention.spans in same:
            names.append("same_span")
        names.append("discontinuous" if len(mention.spans) > 1 else "continuous")
        yield mention, names
