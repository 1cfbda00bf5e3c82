"""Matching of the documents of two files, whose ids, white space or units of offsets differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from fascicle.core.document import Document, Mention, MentionKey, MentionsById, Relation, in_order
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.evaluation.scoring.inputs import match_by_order
from fascicle.evaluation.systems.predictions import Predictions
from fascicle.formats.brat_lines import agrees
from fascicle.formats.offset_units import StatedMention, convert_spans, fit_offsets

_Texts = Mapping[str, str]


def align_to_documents(reference: Predictions, other: Predictions) -> Predictions:
    """Aligns predictions to the documents of another file, where ids and offsets of the two differ.

    Args:
        reference: whose documents they are to be.
        other: whose mentions.

    Returns:
        The second argument itself where its ids and offsets can be taken as they are, or where the
        difference is for others to report. A note says how many mentions of a table have other text
        at their offsets than it says.

    Raises:
        InputError: the ids are made from file names, and the words differ.
    """
    if other.stated and reference.texts:
        other = _in_code_points(other, reference.texts())
        other = replace(other, notes=(*other.notes, *_misfits(other, reference.texts())))
    differing = _differing(reference, other)
    if differing == []:
        return other

    texts = (reference.texts(), other.texts()) if reference.texts and other.texts else None
    if texts and differing and _differ_in_space_alone(differing, *texts):
        moved = _by_characters(other, differing, *texts)
        return _move(reference, other, moved, placed_by_characters(len(differing)))

    if not (reference.is_named_after_file or other.is_named_after_file):
        return other
    how = f"documents were matched with those of {reference.path} by their order, not by ids"
    if _have_same_texts(reference, other):
        mentions = dict(zip(reference.mentions, other.mentions.values(), strict=True))
        return _move(reference, other, mentions, how)
    if texts is None:
        return other
    names = (reference.path, other.path)
    return _move(reference, other, match_by_order(*texts, other.mentions, names=names), how)


def placed_by_characters(texts: int) -> str:
    """Returns a note on a number of texts that differ in white space alone."""
    return (
        f"texts that differ in white space alone: {texts:,}; mentions were placed by the other "
        "characters"
    )


def on_texts_of(reference: Iterable[Document], documents: Iterable[Document]) -> list[Document]:
    """Returns documents on the texts of others with their ids, where only the white space differs:
    their mentions and relations, with offsets moved by the other characters.
    """
    texts = {document.id: document.text for document in reference}
    return [_with_text(texts.get(document.id, document.text), document) for document in documents]


def _with_text(text: str, document: Document) -> Document:
    name = document.id
    if text == document.text or _bare(text) != _bare(document.text):
        return document
    numbered = tuple(
        msgspec.structs.replace(mention, source=str(number))
        for number, mention in enumerate(document.mentions)
    )
    moved = match_by_order({name: text}, {name: document.text}, {name: numbered})[name]
    mentions = {
        (before := document.mentions[int(mention.source)]).key: msgspec.structs.replace(
            before, spans=mention.spans
        )
        for mention in moved
    }

    def related(relation: Relation) -> Relation:
        ends = tuple((role, mentions[key].key) for role, key in relation.arguments)
        return msgspec.structs.replace(relation, arguments=ends)

    relations = tuple(map(related, document.relations))
    return Document(id=name, text=text, mentions=in_order(mentions.values()), relations=relations)


def _differing(reference: Predictions, other: Predictions) -> list[str] | None:
    """Ids that both files have, but for different texts; ``None`` if they share no id."""
    shared = [identifier for identifier in other.mentions if identifier in reference.mentions]
    if not shared:
        return None
    return [
        identifier
        for identifier in shared
        if (ours := reference.hashes.get(identifier)) is not None
        and (theirs := other.hashes.get(identifier)) is not None
        and ours != theirs
    ]


def _differ_in_space_alone(differing: Sequence[str], gold: _Texts, texts: _Texts) -> bool:
    return all(_bare(gold[name]) == _bare(texts[name]) for name in differing)


def _bare(text: str) -> str:
    return "".join(text.split())


def _have_same_texts(reference: Predictions, other: Predictions) -> bool:
    """True if both files have the same texts in the same order, by their hashes."""
    ours = [reference.hashes.get(identifier) for identifier in reference.mentions]
    theirs = [other.hashes.get(identifier) for identifier in other.mentions]
    return ours == theirs and None not in ours


def _by_characters(
    other: Predictions, differing: Sequence[str], gold: _Texts, texts: _Texts
) -> MentionsById:
    """Offsets moved by the characters between which only the white space differs, as PubTator
    changes line breaks.
    """
    moved = dict(other.mentions)
    for name in differing:
        moved |= match_by_order({name: gold[name]}, {name: texts[name]}, other.mentions)
    return moved


def _move(
    reference: Predictions, other: Predictions, mentions: MentionsById, how: str
) -> Predictions:
    """Mentions with offsets into the texts of the reference, and what goes with its documents."""
    # else documents are cut otherwise, and events belong to none of these
    is_same_number = len(other.mentions) == len(mentions)
    names = dict(zip(other.mentions, mentions, strict=True)) if is_same_number else {}
    return replace(
        other,
        mentions=mentions,
        hashes={name: reference.hashes[name] for name in mentions if name in reference.hashes},
        lengths={name: reference.lengths[name] for name in mentions if name in reference.lengths},
        events={names[name]: events for name, events in other.events.items() if names},
        repeated={name: first for name, first in other.repeated.items() if name in mentions},
        texts=None,
        matched=how,
    )


def _moved(mentions: Iterable[Mention], convert: Callable[[int], int]) -> dict[MentionKey, Mention]:
    """Returns mentions at converted offsets, by their keys before; none before the text."""
    return {
        mention.key: msgspec.structs.replace(mention, spans=spans)
        for mention in mentions
        if min(map(min, spans := convert_spans(mention.spans, convert))) >= 0
    }


def _in_code_points(other: Predictions, texts: _Texts) -> Predictions:
    """Converts the offsets of a table, document by document, if another unit fits the texts
    beside them better.
    """
    mentions, stated = dict(other.mentions), dict(other.stated)
    units: list[str] = []
    for identifier in other.stated.keys() & texts.keys():
        text = texts[identifier]
        pairs = [StatedMention(mention.spans, words[0]) for mention, words in stated[identifier]]
        fit = fit_offsets(text, pairs, agrees=partial(_agrees_in, text))
        if not fit.how:
            continue
        units.append(fit.how)
        moved = _moved(mentions[identifier], fit.convert)
        mentions[identifier] = in_order(
            moved.get(mention.key, mention) for mention in mentions[identifier]
        )
        stated[identifier] = [
            (moved.get(mention.key, mention), words) for mention, words in stated[identifier]
        ]
    if not units:
        return other
    note = (
        f"{other.path}: the offsets of {plural(len(units), 'document')} count {units[0]}; "
        "they were moved"
    )
    return replace(other, mentions=mentions, stated=stated, notes=(*other.notes, note))


def _agrees_in(text: str, words: str, spans: Sequence[Span]) -> bool:
    return agrees(words, text, spans)


def _misfits(other: Predictions, texts: _Texts) -> Iterator[str]:
    misfits = [
        (identifier, mention, words)
        for identifier, mentions in other.stated.items()
        for mention, words in mentions
        if identifier in texts
        and not any(agrees(part, texts[identifier], mention.spans) for part in words)
    ]
    if misfits:
        identifier, mention, words = misfits[0]
        total = sum(map(len, other.stated.values()))
        yield (
            f"{other.path}: {len(misfits):,} of {plural(total, 'mention')} have one text in the "
            f"file and another at their offsets, the first {words[0][:80]!r} at {mention.start:,} "
            f"of {identifier!r}; their offsets are from other texts, or count another unit"
        )
