"""What the difference between two packs means for texts: mentions that come, go, or change their link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from fascicle.core.document import Document, Patch
from fascicle.core.mention import Mention
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.diff import Change
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.recognising import PackRecogniser
from fascicle.settings.recognition import RecognitionSettings

_SOURCE: Final = "pack"
_TOGETHER: Final = 64  # documents


def mention_changes(
    first: Pack, second: Pack, documents: Iterable[Document], *, settings: RecognitionSettings | None = None
) -> Iterator[Change]:
    """All differences in what two packs find, in the order of the texts.

    A mention is one place with one type. It changes if its link does; the first type of a place counts for that which
    the settings allow.

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


def _finder(pack: Pack, settings: RecognitionSettings | None) -> Callable[[list[Document]], list[Patch]]:
    with looking_through(pack.folder):
        return PackRecogniser({_SOURCE: pack}, settings=settings).predict


def _by_place(mentions: Iterable[Mention]) -> dict[tuple[int, int, str], Mention]:
    return {(mention.start, mention.end, mention.type): mention for mention in mentions}


def _changes(
    document: Document, old: dict[tuple[int, int, str], Mention], new: dict[tuple[int, int, str], Mention]
) -> Iterator[Change]:
    for place in sorted({**old, **new}):
        was, now = old.get(place), new.get(place)
        curies = [mention.links[0].curie if mention is not None and mention.links else "" for mention in (was, now)]
        if was is not None and now is not None and curies[0] == curies[1]:
            continue
        yield Change(
            change="added" if was is None else "removed" if now is None else "changed",
            what="mention",
            concept=curies[1] or curies[0],
            surface=document.text[place[0] : place[1]],
            document=document.id,
            place=f"{place[0]}-{place[1]}",
            before=_told(was),
            after=_told(now),
        )


def _told(mention: Mention | None) -> str:
    if mention is None:
        return ""
    link = f"; {mention.links[0].curie} {mention.links[0].name}" if mention.links else "; not linked"
    return f"{mention.type}{link}"
