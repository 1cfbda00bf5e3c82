"""Recall on subsets of the gold: what was seen in training and what was not, what lies outermost and what inside.

The subsets, in one place:

* A gold mention is **seen** if its ``(surface, type)`` is that of a gold mention of the training documents, else
  **unseen**. The surface is the text of the mention exactly as it stands, case included; the fragments of a
  discontinuous mention are joined by one space.
* A gold mention is **inner** if it lies *properly* inside another gold mention of the document, of whatever type: all
  its characters belong to the other, which has more. Else it is **outermost**. Two mentions of different types over the
  same characters are not inside one another; they are both inner or both outermost, and form a third subset, **same
  span**, which cuts across the two.

A mention counts as found under the rule of ``fascicle.evaluate.scores``: document, type and every offset are the same.
Only recall makes sense here: what is predicted in error belongs to no subset of the gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fascicle.core.document import GOLD, Document, Mention, identities
from fascicle.core.spans import Fragments, fragments_contain
from fascicle.errors import InputError

Surfaces = frozenset[tuple[str, str]]


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
    return frozenset((m.text(document.text), m.type) for document in documents for m in document.layer(GOLD))


def is_seen(mention: Mention, text: str, known: Surfaces) -> bool:
    """Whether a mention's surface and type occur in the training gold.

    Args:
        mention: of a document.
        text: of that document.
        known: see ``surfaces``.
    """
    return (mention.text(text), mention.type) in known


def inner_spans(mentions: Iterable[Mention]) -> frozenset[Fragments]:
    """The spans of those mentions that lie properly inside another of them.

    Takes the time of sorting, plus that of comparing each mention with those that are open where it starts.
    """
    given: dict[Fragments, set[Fragments]] = {}
    for mention in mentions:
        given.setdefault(_joined(mention.spans), set()).add(mention.spans)
    found: set[Fragments] = set()
    still_open: list[Fragments] = []
    for spans in sorted(given, key=lambda spans: (spans[0][0], -spans[-1][1])):
        still_open = [other for other in still_open if other[-1][1] > spans[0][0]]
        for other in still_open:
            if fragments_contain(other, spans):
                found |= given[spans]
            elif fragments_contain(spans, other):  # the same ends, sorted first, but with gaps
                found |= given[other]
        still_open.append(spans)
    return frozenset(found)


def same_spans(mentions: Iterable[Mention]) -> frozenset[Fragments]:
    """The spans whose characters are those of several mentions, of different types."""
    types: dict[Fragments, set[str]] = {}
    given: dict[Fragments, set[Fragments]] = {}
    for mention in mentions:
        joined = _joined(mention.spans)
        types.setdefault(joined, set()).add(mention.type)
        given.setdefault(joined, set()).add(mention.spans)
    return frozenset(spans for joined, named in types.items() if len(named) > 1 for spans in given[joined])


def _joined(spans: Fragments) -> Fragments:
    """The same characters in as few fragments as possible: one that begins where another ends goes on with it."""
    joined = [spans[0]]
    for start, end in spans[1:]:
        if start == joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def subset_recall(
    documents: Iterable[Document], predicted: Mapping[str, Iterable[Mention]], *, known: Surfaces
) -> dict[str, Recall]:
    """Recall on every subset of the gold.

    Args:
        documents: with gold mentions.
        predicted: document id -> the mentions of one system; an empty entry where it found none.
        known: of the training documents, see ``surfaces``.

    Returns:
        ``"seen"``, ``"unseen"``, ``"outermost"``, ``"inner"`` and ``"same_span"`` -> counts. Seen and unseen make up
        the gold, and so do outermost and inner.

    Raises:
        InputError: a document without an entry among the predictions.
    """
    counts = {name: [0, 0] for name in ("seen", "unseen", "outermost", "inner", "same_span")}
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


def _subsets(document: Document, known: Surfaces) -> Iterator[tuple[Mention, list[str]]]:
    """Every gold mention with the names of its subsets."""
    gold = document.layer(GOLD)
    inner, same = inner_spans(gold), same_spans(gold)
    for mention in gold:
        names = ["seen" if is_seen(mention, document.text, known) else "unseen"]
        names.append("inner" if mention.spans in inner else "outermost")
        if mention.spans in same:
            names.append("same_span")
        yield mention, names
