"""Trace of an answer: what each part of a predictor added, changed or dropped in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.mention import link_text
from fascicle.core.printed import as_printed, run_on_printed
from fascicle.core.results import list_first
from fascicle.core.wording import plural


class TracedPart(Protocol):
    """Interface of a part of a predictor, see `fascicle.text.annotator.Annotator.parts`."""

    @property
    def part(self) -> str:
        """What it does, in a few words."""
        ...

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions of all parts up to this one."""
        ...

    def reason_to_drop(self, mention: Mention, kept: Sequence[Mention]) -> str:
        """Why it leaves out a mention."""
        ...

    def explain_relations(self, document: Document) -> Sequence[str]:
        """A line for each relation that it finds."""
        ...


@dataclass(frozen=True, kw_only=True)
class TracedChange:
    """What a part did with one mention.

    Attributes:
        part: of the predictor, see `Annotator.part`.
        what: ``"added"``, ``"changed"`` or ``"dropped"``.
        mention: after the change; before it, if the part dropped it.
        text: of the mention.
        reason: by which rule, with its numbers; may be empty.
    """

    part: str
    what: Literal["added", "changed", "dropped"]
    mention: Mention
    text: str
    reason: str = ""

    def __str__(self) -> str:
        """The change on one line."""
        mention = self.mention
        place = f"{mention.start}-{mention.end}"
        why = f": {self.reason}" if self.reason else ""
        return f"{self.part}: {self.what} {self.text!r} {mention.type} {place}{why}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Trace:
    """Changes of all parts in order, and the notes of the answer.

    Attributes:
        changes: those of the first part come first.
        relations: a line for each relation that a part found, with its evidence.
        notes: messages of the events of the answer.
    """

    changes: tuple[TracedChange, ...]
    relations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Returns the number of changes and the first of them in one line."""
        return f"<Trace of {plural(len(self.changes), 'change')}: {list_first(self.changes)}>"

    def __str__(self) -> str:
        """A line for each change, relation and note."""
        notes = (f"note: {note}" for note in self.notes)
        return "\n".join([*map(str, self.changes), *self.relations, *notes])


def trace(parts: Sequence[TracedPart], document: Document) -> Trace:
    """Lets each part answer, and compares its answer with that of the part before.

    Args:
        parts: from the model outwards, see `Annotator.parts`; each contains those before it.
        document: the text.
    """
    changes, relations = list[TracedChange](), list[str]()
    before = Patch()
    for part in parts:
        (after,) = run_on_printed(part.predict, [document])
        changes.extend(_compare(part, before, after, document))
        lines = part.explain_relations(as_printed(document))
        relations.extend(f"{part.part}: added {line}" for line in lines)
        before = after
    notes = tuple(event.message for event in before.events)
    return Trace(changes=tuple(changes), relations=tuple(relations), notes=notes)


def _compare(
    part: TracedPart, before: Patch, after: Patch, document: Document
) -> Iterator[TracedChange]:
    earlier = {mention.key: mention for mention in before.add}
    later = {mention.key: mention for mention in after.add}

    def change(
        what: Literal["added", "changed", "dropped"], mention: Mention, why: str
    ) -> TracedChange:
        text = mention.text_in(document.text)
        return TracedChange(part=part.part, what=what, mention=mention, text=text, reason=why)

    for key, mention in earlier.items():
        if key not in later:
            yield change("dropped", mention, part.reason_to_drop(mention, after.add))
    for key, mention in later.items():
        if key not in earlier:
            yield change("added", mention, _description(mention))
        elif mention != earlier[key]:
            yield change("changed", mention, _description(mention, earlier[key]))


def _description(mention: Mention, before: Mention | None = None) -> str:
    """Describes what is new in a mention: score, links, attributes."""
    words = []
    if mention.score is not None and (before is None or before.score != mention.score):
        words.append(f"score {mention.score:.3f}")
    if before is None or before.links != mention.links:
        for link in mention.links:
            certainty = "" if link.score is None else f" {link.score:.3f}"
            tier = f" ({link.tier})" if link.tier else ""
            words.append(f"{'NIL' if link.nil else link_text(link)}{certainty}{tier}")
    if before is None or before.attributes != mention.attributes:
        words.extend(f"{name} {value}" for name, value in mention.attributes)
    return ", ".join(words)
