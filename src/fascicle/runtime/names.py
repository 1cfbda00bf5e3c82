"""Names alone, as cells of tables and search boxes have them: read once more, and looked up.

Cells of tables, read as texts of their own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from fascicle.core.document import Document, Mention, Patch, canonical
from fascicle.core.mention import Span
from fascicle.errors import ModelError
from fascicle.runtime.decoding.deciding import (
    STOP,
    Knows,
    cells_of,
    is_all_of,
    knows_nothing,
    may_be_name,
    may_be_read_again,
)
from fascicle.settings.decision import DocumentDecision, NameDecision
from fascicle.settings.folders.vocabularies import find_pack, shipped_packs

if TYPE_CHECKING:
    from fascicle.terms.recognising import PackRecogniser

_WIDER: Final = MappingProxyType({"GeneFamily": "Gene"})  # for models that do not distinguish families from genes
Predicts = Callable[[Sequence[Document]], Sequence[Patch]]


def with_names(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    *,
    rules: NameDecision,
    pack: str,
    again: Predicts,
    types: Collection[str],
    source: str,
) -> list[Patch]:
    """Returns answers in which texts of a few words become names if a second reading or a term pack supports it.

    Args:
        documents: of any length.
        patches: the answer for each.
        rules: which texts.
        pack: that they are looked up in; empty for none.
        again: reads texts, and says no more than the first reading.
        types: of the model.
        source: of its mentions.
    """
    found = list(patches)
    open_ones = [
        at
        for at, (one, patch) in enumerate(zip(documents, patches, strict=True))
        if may_be_name(one.text, rules)
        and may_be_read_again(one.text)
        and not any(is_all_of(one.text, mention) for mention in patch.add)
    ]
    if not open_ones:
        return found
    texts = [documents[at].text for at in open_ones]
    stopped = again([Document(id="", text=text.rstrip() + STOP) for text in texts])
    looked_up = _recogniser(pack).predict([Document(id="", text=text) for text in texts]) if pack else stopped
    for at, text, second, third in zip(open_ones, texts, stopped, looked_up, strict=True):
        kinds = [one.type if one.type in types else _WIDER.get(one.type) for one in third.add]
        known = [
            msgspec.structs.replace(one, type=kind, source=source, links=())
            for one, kind in zip(third.add, kinds, strict=True)
            if kind in types
        ]
        for said in (second.add, known):
            if whole := _whole(text, said):
                found[at] = msgspec.structs.replace(found[at], add=whole)
                break
    return found


def _whole(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Mentions that are all of a text, which may have been read with more behind it."""
    return tuple(one for one in mentions if one.end <= len(text) and is_all_of(text, one))


def knows(rules: DocumentDecision) -> Knows:
    """Returns a function from names to the type of each unambiguous one in the pack; its first call opens the pack."""
    return (lambda names: _known(rules.pack)(names)) if rules.pack else knows_nothing


def check_pack(rules: DocumentDecision, *, model: str) -> None:
    """Refuses a decision whose pack this release does not ship, before anything is read.

    Raises:
        ModelError: see above.
    """
    if rules.pack and rules.pack not in shipped_packs():
        raise ModelError(
            f"{model} asks the term pack {rules.pack!r} for names, and this release ships "
            f"{', '.join(shipped_packs())}; use the release that the model was made for, or calibrate the model anew"
        )


@cache
def _recogniser(name: str) -> PackRecogniser:
    """A shipped pack, which is opened once. Most texts are no names, and start without what finds names."""
    from fascicle.terms.finding import open_packs

    return open_packs([find_pack(name)])


@cache
def _known(name: str) -> Knows:
    from fascicle.terms.finding import KnownNames
    from fascicle.terms.pack.pack import Pack

    return KnownNames(Pack.open(find_pack(name)))


def with_cells(
    documents: Sequence[Document], patches: Sequence[Patch], *, rules: NameDecision, predict: Predicts
) -> list[Patch]:
    """Answers in which the mentions of short cells are those of the cells alone.

    Args:
        documents: of any kind; most have no cells.
        patches: the answer for each.
        rules: which cells.
        predict: answers for texts.
    """
    found = list(patches)
    cells = {at: spans for at, one in enumerate(documents) if (spans := cells_of(one, rules))}
    texts = list(dict.fromkeys(documents[at].text[slice(*span)] for at, spans in cells.items() for span in spans))
    if not texts:
        return found
    said = dict(zip(texts, predict([Document(id="", text=text) for text in texts]), strict=True))
    for at, spans in cells.items():
        text = documents[at].text
        inside = [_moved(one, start) for start, end in spans for one in said[text[start:end]].add]
        outside = [one for one in found[at].add if not _touches(one, spans)]
        found[at] = msgspec.structs.replace(found[at], add=canonical([*outside, *inside]))
    return found


def _moved(mention: Mention, by: int) -> Mention:
    spans = tuple((start + by, end + by) for start, end in mention.spans)
    return msgspec.structs.replace(mention, spans=spans)


def _touches(mention: Mention, cells: Sequence[Span]) -> bool:
    """True if a mention overlaps a cell; the cells must be sorted and disjoint."""
    before = bisect_left(cells, (mention.end, 0)) - 1
    return before >= 0 and cells[before][1] > mention.start
