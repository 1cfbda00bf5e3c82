"""Names in a neutral sentence as given mentions: what a linker says of a name when the text says
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.linking.opening import Linking

_BEFORE: Final = "We looked at "
_AFTER: Final = " again"
_TOGETHER: Final = 500


class Asked(NamedTuple):
    """A name with its type.

    Attributes:
        surface: its words.
        type: of the mention.
        where: behind it in the sentence, such as ``in mice``.
    """

    surface: str
    type: str
    where: str = ""


def answers(linker: Linking, asked: Sequence[Asked]) -> list[tuple[Link, ...]]:
    """The links of each name other than NIL."""
    return [
        tuple(link for _, several in patch.links for link in several if not link.nil)
        for start in range(0, len(asked), _TOGETHER)
        for patch in linker.predict(list(_documents(asked[start : start + _TOGETHER])))
    ]


def _documents(asked: Sequence[Asked]) -> Iterator[Document]:
    for number, one in enumerate(asked):
        span = (len(_BEFORE), len(_BEFORE) + len(one.surface))
        yield Document(
            id=f"{number}",
            text=f"{_BEFORE}{one.surface}{_AFTER}{one.where and ' '}{one.where}.",
            mentions=(Mention((span,), one.type),),
        )


def by_hash(text: str) -> str:
    """The order in which things are drawn."""
    return sha256(text.encode()).hexdigest()
