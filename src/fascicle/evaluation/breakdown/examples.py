"""Examples of errors: types confused with others, words too many or too few, and errors in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.spans import Fragments, fragments_overlap
from fascicle.evaluation.breakdown.errors import BOUNDARY, CLASSES, Mistake, distinct
from fascicle.evaluation.report_parts import Class, Confusion

_CONTEXT: Final = 60  # characters on each side
_LONGEST: Final = 300  # characters of a mention that are shown
_WIDEST: Final = 800  # characters of a context
_MOST_AROUND: Final = 40  # mentions of each side listed for a context


def class_table(found: Iterable[Mistake]) -> dict[str, Class]:
    """Counts the errors of each class.

    Returns:
        Class -> ``"fp"``, ``"fn"``, those among both whose partner was right (``"beside_right"``), and ``"types"``:
        type of the mention -> ``[fp, fn]``. Every class is there.
    """
    table: dict[str, Class] = {kind: {"fp": 0, "fn": 0, "beside_right": 0, "types": {}} for kind in CLASSES}
    for mistake in found:
        row = table[mistake.kind]
        row[mistake.side] += 1
        row["beside_right"] += mistake.partner_right
        row["types"].setdefault(mistake.mention.type, [0, 0])[mistake.side == "fn"] += 1
    for row in table.values():
        row["types"] = dict(sorted(row["types"].items()))
    return table


def confusions(found: Iterable[Mistake]) -> list[Confusion]:
    """Counts which types were predicted for which: false positives with a partner of another type, by frequency.

    Returns:
        Rows of ``"gold"`` and ``"predicted"`` type, how often with the ``"same_span"``, how often with an
        ``"overlapping"`` one, and how often the partner was itself found (``"beside_right"``), so that its type was not
        lost.
    """
    rows: dict[tuple[str, str], Counter[str]] = {}
    for mistake in found:
        if mistake.side == "fp" and mistake.partner is not None and mistake.partner.type != mistake.mention.type:
            row = rows.setdefault((mistake.partner.type, mistake.mention.type), Counter())
            row["same_span" if mistake.kind == "type" else "overlapping"] += 1
            row["beside_right"] += mistake.partner_right
    listed: list[Confusion] = [
        {
            "gold": gold,
            "predicted": predicted,
            "same_span": row["same_span"],
            "overlapping": row["overlapping"],
            "beside_right": row["beside_right"],
        }
        for (gold, predicted), row in rows.items()
    ]
    return sorted(listed, key=lambda r: (-r["same_span"] - r["overlapping"], r["gold"], r["predicted"]))


def boundary_words(found: Iterable[Mistake], texts: Mapping[str, str], *, at_most: int = 20) -> list[dict[str, Any]]:
    """Returns the words between the boundary of a false positive and that of its gold partner of the same type.

    Only mistakes of the classes *boundary* are looked at, and only false positives, so that a pair counts once.

    Args:
        found: mistakes of a system.
        texts: document id -> its text.
        at_most: how many rows.

    Returns:
        The most frequent first: on which ``"side"`` of the gold mention (left or right) which ``"change"`` was made,
        ``"added"`` if the prediction has the words and the gold does not, else ``"left out"``; the ``"words"`` in lower
        case with single spaces, the ``"count"`` of all, and ``"types"`` with the count of each.
    """
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for mistake in found:
        if mistake.side != "fp" or mistake.kind not in BOUNDARY or mistake.partner is None:
            continue
        text, said, gold = texts[mistake.document], mistake.mention, mistake.partner
        for side, a, b in (("left", said.start, gold.start), ("right", gold.end, said.end)):
            words = " ".join(text[min(a, b) : max(a, b)].split()).lower()
            if a != b and words:
                key = (side, "added" if a < b else "left out", words)
                counts.setdefault(key, Counter())[said.type] += 1
    rows: list[dict[str, Any]] = [
        {"side": side, "change": change, "words": words, "count": types.total(), "types": dict(sorted(types.items()))}
        for (side, change, words), types in counts.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["words"], row["side"], row["change"]))[:at_most]


def examples(
    found: Sequence[Mistake],
    documents: Mapping[str, Document],
    *,
    at_most: int = 5,
    predicted: Mapping[str, Sequence[Mention]] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Mistakes in their context, of each class and side the worst first: those with the highest score.

    Mistakes without a score come last, in the order of the documents. A false negative has the score of the prediction
    that touches it. A false positive and a false negative that are of one class because of each other are shown once,
    as the false positive.

    Args:
        found: mistakes of a system, in the order of the documents.
        documents: by id.
        at_most: how many of each class and side.
        predicted: document id -> all that the system said. With it, an example holds under ``"around"`` the ``"gold"``
            and the ``"predicted"`` mentions of its context, the nearest first, and how many more there are.

    Returns:
        Class -> examples, false positives first; classes without any are left out.
    """
    chosen: dict[str, list[dict[str, Any]]] = {}
    sides: dict[str, dict[str, list[Mention]]] = {}  # of the documents that examples are from
    pairs = {(m.document, m.kind, _key(m.mention), _key(m.partner)) for m in found if m.side == "fp"}
    for kind in CLASSES:
        for side in ("fp", "fn"):
            of_kind = [
                m
                for m in found
                if m.kind == kind
                and m.side == side
                and (side == "fp" or (m.document, kind, _key(m.partner), _key(m.mention)) not in pairs)
            ]
            of_kind.sort(key=lambda m: -1.0 if m.score is None else m.score, reverse=True)  # stable
            for mistake in of_kind[:at_most]:
                document = documents[mistake.document]
                shown = _example(mistake, document.text)
                if predicted is not None:
                    if document.id not in sides:
                        said = predicted.get(document.id, ())
                        sides[document.id] = {"gold": distinct(document.layer(GOLD)), "predicted": distinct(said)}
                    shown["around"] = _around(shown, sides[document.id])
                chosen.setdefault(kind, []).append(shown)
    return chosen


def _key(mention: Mention | None) -> tuple[str, Fragments] | None:
    return None if mention is None else (mention.type, mention.spans)


def _example(mistake: Mistake, text: str) -> dict[str, Any]:
    start, end = mistake.mention.start, mistake.mention.end
    if mistake.partner is not None:
        start, end = min(start, mistake.partner.start), max(end, mistake.partner.end)
    before = _cut_left(text, start)
    after = min(_cut_right(text, end), before + _WIDEST)
    return {
        "document": mistake.document,
        "side": mistake.side,
        "score": mistake.score,
        "mention": _shown(mistake.mention, text),
        "partner": None if mistake.partner is None else _shown(mistake.partner, text),
        "partner_right": mistake.partner_right,
        "context": text[before:after],
        "context_start": before,
    }


def _around(example: Mapping[str, Any], sides: Mapping[str, Sequence[Mention]]) -> dict[str, Any]:
    """Returns the gold and predicted mentions in the context of an example."""
    start = example["context_start"]
    window = ((start, start + len(example["context"])),)
    first, last = example["mention"]["spans"][0][0], example["mention"]["spans"][-1][1]
    keys = {side: {_key(mention) for mention in mentions} for side, mentions in sides.items()}
    around: dict[str, Any] = {}
    more = 0
    for side, other in (("gold", "predicted"), ("predicted", "gold")):
        near = [mention for mention in sides[side] if fragments_overlap(mention.spans, window)]
        near.sort(key=lambda m: max(m.start - last, first - m.end, 0))  # stable: of equally near ones the first
        around[side] = [
            {"type": m.type, "spans": [list(span) for span in m.spans], "right": _key(m) in keys[other]}
            for m in near[:_MOST_AROUND]
        ]
        more += len(near[_MOST_AROUND:])
    return around | {"more": more}


def _shown(mention: Mention, text: str) -> dict[str, Any]:
    words = mention.text_in(text)
    return {
        "type": mention.type,
        "spans": [list(span) for span in mention.spans],
        "text": words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…",
    }


def _cut_left(text: str, start: int) -> int:
    """Returns the start of a context: the start of a word, unless there is no white space near."""
    low = max(0, start - _CONTEXT)
    if low == 0:
        return 0
    space = next((at for at in range(low, start) if text[at].isspace()), None)
    return low if space is None else space + 1


def _cut_right(text: str, end: int) -> int:
    high = min(len(text), end + _CONTEXT)
    if high == len(text):
        return high
    space = next((at for at in range(high - 1, end - 1, -1) if text[at].isspace()), None)
    return high if space is None else space
