"""Formats of words: column files, GLiNER, DyGIE, tags of Hugging Face datasets, and words with
entities.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from tests.formats.oracle.drafts import Draft, DraftMark, Taste
from tests.formats.oracle.format import (
    FLAT,
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    NO_NAMES,
    ONE_PART,
    TAGS,
    WORDS,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import BY_ONE, PASSAGE, SAME_ID, UNEVEN, Hand

SCHEMES: Final[dict[str, Callable[[int, int, bool], str]]] = {
    "IOB2": lambda at, last, touches: "B" if at == 0 else "I",
    "IOB1": lambda at, last, touches: "B" if at == 0 and touches else "I",
    "BIOES": lambda at, last, touches: (
        "S" if last == 0 else "B" if at == 0 else "E" if at == last else "I"
    ),
    "BILOU": lambda at, last, touches: (
        "U" if last == 0 else "B" if at == 0 else "L" if at == last else "I"
    ),
}


def tags(draft: Draft, part: int, *, scheme: str) -> list[str]:
    """A tag for each word of a part."""
    found, before = ["O"] * len(draft.words[part]), (-1, "")
    for mark in draft.inside(part):
        touches = before == (mark.first - 1, mark.type)
        for at in range(mark.first, mark.last + 1):
            place = SCHEMES[scheme](at - mark.first, mark.last - mark.first, touches)
            found[at] = f"{place}-{mark.type}"
        before = (mark.last, mark.type)
    return found


def _columns(draft: Draft, part: int, *, hand: Hand, scheme: str, wide: bool) -> list[str]:
    rows = []
    for word, tag in zip(draft.said(part), tags(draft, part, scheme=scheme), strict=True):
        rows.append(hand.row([word, "NN", "-X-", tag], sep=" ") if wide else hand.row([word, tag]))
    return [*rows, ""]


def _sentences(drafts: Sequence[Draft], hand: Hand) -> Files:
    scheme = hand.random.choice(tuple(SCHEMES))
    rows = [row for one in drafts for row in _columns(one, 0, hand=hand, scheme=scheme, wide=False)]
    return {"a.conll": hand.lines(rows)}


def _docstart(drafts: Sequence[Draft], hand: Hand) -> Files:
    scheme, rows = hand.random.choice(tuple(SCHEMES)), []
    for draft in drafts:
        rows += ["-DOCSTART- -X- -X- O", ""]
        for part in range(len(draft.parts)):
            rows += _columns(draft, part, hand=hand, scheme=scheme, wide=True)
    return {"a.conll": hand.lines(rows)}


def _docstart_options() -> Any:
    from fascicle.formats import ConllOptions

    return ConllOptions(documents="docstart")


def counted(
    draft: Draft, mark: DraftMark, *, hand: Hand, inclusive: bool, base: int = 0
) -> list[int]:
    """First and last word of a mention as a file says them; the last is the word behind it if
    not ``inclusive``.
    """
    words = len(draft.words[mark.part])
    first, last = mark.first, mark.last
    if hand.fault == BY_ONE:
        last += -1 if hand.random.random() < 0.3 else 1
    if hand.fault != PASSAGE:
        first, last = first + base, last + base
    hand.is_outside |= not base <= first <= last < base + words
    hand.is_seen |= hand.is_outside
    return [first, last if inclusive else last + 1]


def _lined(
    make: Callable[[Draft, Hand], list[dict[str, Any]]],
) -> Callable[[Sequence[Draft], Hand], Files]:
    def write(drafts: Sequence[Draft], hand: Hand) -> Files:
        rows = [
            json.dumps(one, ensure_ascii=hand.random.random() < 0.3)
            for draft in drafts
            for one in make(draft, hand)
        ]
        return {"a.jsonl": hand.lines(rows)}

    return write


def _gliner(draft: Draft, hand: Hand) -> list[dict[str, Any]]:
    marks = [[*counted(draft, one, hand=hand, inclusive=True), one.type] for one in draft.marks]
    return [{"tokenized_text": draft.said(0), "ner": marks}]


def _dygie(draft: Draft, hand: Hand) -> list[dict[str, Any]]:
    ner, base = [], 0
    for part in range(len(draft.parts)):
        inside = draft.inside(part)
        ner.append(
            [
                [*counted(draft, one, hand=hand, inclusive=True, base=base), one.type]
                for one in inside
            ]
        )
        base += len(draft.words[part])
    return [
        {
            "doc_key": draft.id,
            "sentences": [draft.said(at) for at in range(len(draft.parts))],
            "ner": ner,
        }
    ]


def _entities(draft: Draft, part: int, *, hand: Hand, kind: str) -> list[dict[str, Any]]:
    found = []
    for one in draft.inside(part):
        start, end = counted(draft, one, hand=hand, inclusive=False)
        found.append({"start": start, "end": end, kind: one.type})
    return found


def _token_entities(draft: Draft, hand: Hand) -> list[dict[str, Any]]:
    return [
        {
            "tokens": draft.said(0),
            "entities": _entities(draft, 0, hand=hand, kind="type"),
            "id": draft.id,
        }
    ]


def _token_mentions(draft: Draft, hand: Hand) -> list[dict[str, Any]]:
    return [
        {
            "tokens": draft.said(at),
            "doc_id": draft.id,
            "entity_mentions": _entities(draft, at, hand=hand, kind="entity_type"),
        }
        for at in range(len(draft.parts))
    ]


def _uneven(row: list[str], random: Random, hand: Hand) -> list[str]:
    if hand.fault != UNEVEN or not row:
        return row
    hand.is_seen = True
    return row[:-1] if random.random() < 0.5 else [*row, "O"]


def _tagged(field: str) -> Callable[[Draft, Hand], list[dict[str, Any]]]:
    def make(draft: Draft, hand: Hand) -> list[dict[str, Any]]:
        row = _uneven(tags(draft, 0, scheme="IOB2"), hand.random, hand)
        return [{"id": draft.id, "tokens": draft.said(0), field: row}]

    return make


_ALIKE = NO_COLUMNS | NO_IDS_OF_CONCEPTS | WORDS
_UNSEEN = because("a word that is one further is a word too", BY_ONE)

ORACLES: Final = (
    Oracle(
        name="conll",
        reads="conll",
        taste=Taste(empty=False, flat=True),
        write=_sentences,
        path="a.conll",
        named=False,
        senseless=NO_IDS_OF_CONCEPTS | TAGS | FLAT | NO_NAMES,
    ),
    Oracle(
        name="conll-docstart",
        reads="conll",
        taste=Taste(parts=(1, 3), empty=False, flat=True),
        write=_docstart,
        path="a.conll",
        named=False,
        senseless=NO_IDS_OF_CONCEPTS | TAGS | FLAT | NO_NAMES,
        options=_docstart_options,
    ),
    Oracle(
        name="gliner",
        reads="records",
        taste=Taste(empty=False),
        write=_lined(_gliner),
        path="a.jsonl",
        named=False,
        senseless=_ALIKE | ONE_PART | NO_NAMES,
        hidden=_UNSEEN,
    ),
    Oracle(
        name="dygie",
        reads="records",
        taste=Taste(parts=(1, 3), empty=False),
        write=_lined(_dygie),
        path="a.jsonl",
        senseless=_ALIKE,
        hidden=_UNSEEN,
    ),
    Oracle(
        name="tokens-entities",
        reads="records",
        taste=Taste(empty=False),
        write=_lined(_token_entities),
        path="a.jsonl",
        senseless=_ALIKE | ONE_PART,
        hidden=_UNSEEN,
    ),
    Oracle(
        name="tokens-mentions",
        reads="records",
        taste=Taste(parts=(1, 3), empty=False),
        write=_lined(_token_mentions),
        path="a.jsonl",
        senseless=_ALIKE | ONE_PART | because("records with one id are one document", SAME_ID),
        hidden=_UNSEEN,
    ),
    *(
        Oracle(
            name=name,
            reads="records",
            taste=Taste(empty=False, flat=True),
            write=_lined(_tagged(field)),
            path="a.jsonl",
            senseless=NO_IDS_OF_CONCEPTS | TAGS | FLAT,
        )
        for name, field in (("tokens-tags", "tags"), ("tokens-ner-tags", "ner_tags"))
    ),
)
