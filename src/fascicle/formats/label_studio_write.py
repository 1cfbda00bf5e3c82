"""Tasks to import into Label Studio.

They name the parts of the labelling configuration ``label`` and ``text``, as its own examples do
(https://labelstud.io/guide/predictions).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count, pairwise
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import GOLD, Document, Mention, MentionKey, Relation
from fascicle.formats.handlers import Encode, FormatWriter, WriteOne
from fascicle.formats.label_studio_regions import (
    ATTRIBUTES,
    OURS,
    PARTS,
    RELATION,
    ROLES,
    shown_lines,
)
from fascicle.formats.losses import OF_LINKS, facts_of_source, held_fields
from fascicle.formats.report import WriteReport

_WHOLE: Final = (
    "ids text-between-words meta mentions discontinuous nested second-source scores attributes"
)
HOLDS: Final = held_fields(
    "tasks of Label Studio", _WHOLE, partly="sources relations", also=OF_LINKS
)
_ENCODER: Final = msgspec.json.Encoder()


def encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as a task; its id and its facts are in the ``meta`` of the task."""
    if count := sum(not mention.source for mention in document.mentions):
        report.lose("sources", document, count=count)  # a prediction has the name of a model

    layers: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, mention in enumerate(document.mentions):
        layers[mention.source] += _regions(mention, number, document.text)
    _add_relations(layers, document, report)
    gold = layers.pop(GOLD, None)
    task = {
        "data": {"text": document.text},
        "meta": {OURS: {"id": document.id, "meta": facts_of_source(document)}},
        "annotations": [{"result": gold}] if gold else [],
        "predictions": [
            {"model_version": source, "result": regions} for source, regions in layers.items()
        ],
    }
    return _ENCODER.encode(task)


def _regions(mention: Mention, number: int, text: str) -> Iterator[dict[str, Any]]:
    """Yields a region for each part of a mention, and relations that join them in their order."""
    facts = _facts(mention)
    names = [f"m{number}{f'-{part}' if part else ''}" for part in range(len(mention.spans))]
    for name, (start, end) in zip(names, mention.spans, strict=True):
        value = {"start": start, "end": end, "text": text[start:end], "labels": [mention.type]}
        yield {
            "id": name,
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": value,
            **facts,
        }

    for name, following in pairwise(names):
        yield {
            "type": RELATION,
            "from_id": name,
            "to_id": following,
            "direction": "right",
            "labels": [PARTS],
        }


def _add_relations(
    layers: Mapping[str, list[dict[str, Any]]], document: Document, report: WriteReport
) -> None:
    """Adds the relations between two mentions of one source to the regions of that source."""
    ids = {mention.key: f"m{number}" for number, mention in enumerate(document.mentions)}
    for relation in document.relations:
        if region := _relation(relation, ids):
            layers[relation.arguments[0][1][0]].append(region)
        else:
            report.lose("relations", document)


def _relation(relation: Relation, ids: Mapping[MentionKey, str]) -> dict[str, Any] | None:
    """Returns the region of a relation; ``None`` unless two mentions of one source are its ends."""
    roles, keys = zip(*relation.arguments, strict=True) if relation.arguments else ((), ())
    if len(keys) != 2 or keys[0][0] != keys[1][0] or relation.type == PARTS:
        return None
    direction = next((name for name, usual in ROLES.items() if usual == roles), "")
    region: dict[str, Any] = {
        "type": RELATION,
        "from_id": ids[keys[0]],
        "to_id": ids[keys[1]],
        "direction": direction or "right",
        "labels": [relation.type] if relation.type else [],
    }
    own = {} if direction in ("right", "bi") else {"roles": roles}
    if relation.attributes or own:
        region["meta"] = {OURS: own, ATTRIBUTES: relation.attributes}
    return region


def _facts(mention: Mention) -> dict[str, Any]:
    """Returns the fields of a region about the score, links and attributes of its mention."""
    facts: dict[str, Any] = {} if mention.score is None else {"score": mention.score}
    links, attributes = msgspec.to_builtins((mention.links, mention.attributes))
    if not (links or attributes):
        return facts
    # Label Studio shows the text beside the region.
    facts["meta"] = {"text": shown_lines(mention.links, mention.attributes)}
    if links:
        facts["meta"][OURS] = links
    if attributes:
        facts["meta"][ATTRIBUTES] = attributes
    return facts


@contextmanager
def _into_array(stream: BinaryIO, encode: Encode) -> Iterator[WriteOne]:
    """Opens an array and yields the function that adds a task; the array is closed at the end.

    The number of a task is its id: the converter of Label Studio's library needs one, its server
    ignores it.

    Args:
        stream: a file.
        encode: makes the tasks.
    """
    before = b"[\n"
    numbers = count(1)

    def write(data: Any) -> None:
        nonlocal before
        stream.write(b'%b{"id":%d,%b' % (before, next(numbers), data[1:]))
        before = b",\n"

    yield write
    stream.write(b"[]\n" if before == b"[\n" else b"\n]\n")


WRITER: Final = FormatWriter(holds=HOLDS, encoder=lambda _: encode, into=_into_array, grows=False)
