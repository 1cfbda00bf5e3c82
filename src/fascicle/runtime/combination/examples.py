"""Training examples of a filter: gold mentions, and mentions that at least one system predicted.

As in *comparing-and-combining* §4.6: correct is all gold; incorrect is what any system predicted in any epoch and what
is no gold. Both are sets of ``(document, type, spans)``, so what ten epochs repeat is one example, and a correct
prediction adds nothing to the gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fascicle.core.document import Mention, canonical


@dataclass(frozen=True, kw_only=True)
class Example:
    """A mention, and whether it is right.

    Attributes:
        document: id.
        mention: without score and links; its ``source`` says nothing.
        correct: whether it is gold.
    """

    document: str
    mention: Mention
    correct: bool


def examples(
    gold: Mapping[str, Iterable[Mention]], predicted: Iterable[Mapping[str, Iterable[Mention]]]
) -> list[Example]:
    """Returns all examples of some documents, in the order of ``gold`` and, in a document, of the text.

    Args:
        gold: document id -> its gold mentions.
        predicted: of each system and epoch, document id -> mentions; documents without gold entry play no part.
    """
    correct = {identifier: {_bare(mention) for mention in mentions} for identifier, mentions in gold.items()}
    proposed: dict[str, set[Mention]] = {identifier: set() for identifier in correct}
    for system in predicted:
        for identifier, mentions in system.items():
            if identifier in proposed:
                proposed[identifier].update(map(_bare, mentions))
    return [
        Example(document=identifier, mention=mention, correct=mention in true)
        for identifier, true in correct.items()
        for mention in canonical(true | proposed[identifier])
    ]


def _bare(mention: Mention) -> Mention:
    return Mention(mention.spans, mention.type)
