"""Second readings of texts that may be names: whole texts of a few words, and cells of tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from fascicle.core.document import Document, Mention, Patch, in_order
from fascicle.core.mention import Span
from fascicle.runtime.decoding.short_texts import (
    STOP,
    covering,
    may_be_name,
    may_be_read_again,
    short_cells,
)
from fascicle.settings.decision import NameDecision
from fascicle.settings.folders.vocabularies import find_pack

if TYPE_CHECKING:
    from fascicle.terms.recognising import PackRecogniser

# for models that do not distinguish families from genes
_WIDER: Final = MappingProxyType({"GeneFamily": "Gene"})
_Predicts = Callable[[Sequence[Document]], Sequence[Patch]]


def add_whole_text_names(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    *,
    rules: NameDecision,
    pack: str,
    again: _Predicts,
    types: Collection[str],
    source: str,
) -> list[Patch]:
    """Returns answers in which texts of a few words become names if a second reading or a term pack
    supports it.

    Args:
        documents: of any length.
        patches: the answer for each.
        rules: which texts.
        pack: the pack that they are looked up in; empty for none.
        again: reads texts, and says no more than the first reading.
        types: the types that the model gives out; a mention of another type makes no text a name.
        source: of its mentions.
    """
    answers = list(patches)
    numbers = list(_unnamed_texts(documents, patches, rules, types))
    if not numbers:
        return answers
    texts = [documents[number].text for number in numbers]
    # a model that expects sentences may find a name only in what looks like one
    in_sentences = again([Document(id="", text=text.rstrip() + STOP) for text in texts])
    in_pack = _recogniser(pack).predict(_documents(texts)) if pack else in_sentences
    for number, text, second, third in zip(numbers, texts, in_sentences, in_pack, strict=True):
        for mentions in (second.add, _with_types(third.add, types, source)):
            whole = _whole(text, mentions)
            if any(mention.type in types for mention in whole):
                answers[number] = replace(answers[number], add=whole)
                break
    return answers


def _unnamed_texts(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    rules: NameDecision,
    types: Collection[str],
) -> Iterator[int]:
    """Yields the numbers of the documents that may be names, and have no mention that is all of
    them.
    """
    for at, (document, patch) in enumerate(zip(documents, patches, strict=True)):
        text = document.text
        is_short = may_be_name(text, rules) and may_be_read_again(text)
        if is_short and not any(mention.type in types for mention in covering(text, patch.add)):
            yield at


def _with_types(mentions: Sequence[Mention], types: Collection[str], source: str) -> list[Mention]:
    """Returns names of a pack as mentions of a model with some types, without links."""
    own = []
    for mention in mentions:
        kind = mention.type if mention.type in types else _WIDER.get(mention.type)
        if kind in types:
            own.append(replace(mention, type=kind, source=source, links=()))
    return own


def _whole(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Returns the mentions that are all of a text, which may have been read with more behind it."""
    return tuple(mention for mention in covering(text, mentions) if mention.end <= len(text))


@cache
def _recogniser(name: str) -> PackRecogniser:
    """Opens a shipped pack, once; most texts are no names, and do without it."""
    from fascicle.terms.finding import open_packs

    return open_packs([find_pack(name)])


def answer_cells(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    *,
    rules: NameDecision,
    predict: _Predicts,
) -> list[Patch]:
    """Returns answers in which the mentions of short cells are those of the cells alone.

    Args:
        documents: of any kind; most have no cells.
        patches: the answer for each.
        rules: which cells.
        predict: answers for texts.
    """
    answers = list(patches)
    cells_of = {number: short_cells(document, rules) for number, document in enumerate(documents)}
    cells = [
        (number, span, documents[number].text[slice(*span)])
        for number, spans in cells_of.items()
        for span in spans
    ]
    texts = list(dict.fromkeys(text for _, _, text in cells))
    if not texts:
        return answers
    alone = dict(zip(texts, predict(_documents(texts)), strict=True))
    mentions = {
        number: [mention for mention in answers[number].add if not _touches(mention, spans)]
        for number, spans in cells_of.items()
        if spans
    }
    for number, (start, _), text in cells:
        mentions[number] += (_move(mention, start) for mention in alone[text].add)
    for number, own in mentions.items():
        answers[number] = replace(answers[number], add=in_order(own))
    return answers


def _documents(texts: Sequence[str]) -> list[Document]:
    return [Document(id="", text=text) for text in texts]


def _move(mention: Mention, by: int) -> Mention:
    spans = tuple((start + by, end + by) for start, end in mention.spans)
    return replace(mention, spans=spans)


def _touches(mention: Mention, cells: Sequence[Span]) -> bool:
    """True if a mention overlaps a cell; the cells must be sorted and disjoint."""
    before = bisect_left(cells, (mention.end, 0)) - 1
    return before >= 0 and cells[before][1] > mention.start
