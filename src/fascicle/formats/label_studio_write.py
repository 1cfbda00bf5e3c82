"""Tasks for Label Studio (JSON): gold as an annotation, every other source as a prediction of its name.

The names of the labelling configuration are ``label`` and ``text``, as in its own examples
(https://labelstud.io/guide/predictions).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import identifier_of
from fascicle.formats.handlers import Writer
from fascicle.formats.label_studio import OURS
from fascicle.formats.losses import OF_LINKS, Holds
from fascicle.formats.report import WriteReport
from fascicle.formats.writing import Encode, Put

HOLDS: Final = Holds(
    format="tasks of Label Studio",
    fields=frozenset({"ids", "text-between-words", "meta", "mentions", "nested", "second-source", "sources", "scores"})
    | OF_LINKS,
    partly=frozenset({"sources"}),
)
_ENCODER: Final = msgspec.json.Encoder()


def encode(document: Document, report: WriteReport) -> bytes:
    """One document as a task; its id and its facts are in the ``meta`` of the task."""
    report.mentions += len(document.mentions)
    facts = {key: value for key, value in document.meta.items() if (key, value) != ("text", "joined")}
    if lost := sum(not one.source for one in document.mentions):
        report.lose("sources", document, count=lost)  # a prediction has the name of a model
    layers: dict[str, list[dict[str, Any]]] = {
        source: [] for source in dict.fromkeys(one.source for one in document.mentions)
    }
    for number, mention in enumerate(document.mentions):
        layers[mention.source].append(_region(mention, number, document.text))
    gold = layers.pop(GOLD, None)
    task = {
        "data": {"text": document.text},
        "meta": {OURS: {"id": document.id, "meta": facts}},
        "annotations": [{"result": gold}] if gold else [],
        "predictions": [{"model_version": source, "result": regions} for source, regions in layers.items()],
    }
    return _ENCODER.encode(task)


def _region(mention: Mention, number: int, text: str) -> dict[str, Any]:
    (span,) = mention.spans
    value = {"start": span[0], "end": span[1], "text": text[slice(*span)], "labels": [mention.type]}
    region: dict[str, Any] = {
        "id": f"m{number}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": value,
    }
    if mention.links:  # the text is shown beside the region
        told = [f"{identifier_of(link)} {link.name}".rstrip() for link in mention.links if not link.nil]
        region["meta"] = {"text": told, OURS: msgspec.to_builtins(mention.links)}
    return region if mention.score is None else {**region, "score": mention.score}


@contextmanager
def into_array(stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Opens an array, to which tasks are added; it is closed at the end.

    Args:
        stream: a file.
        encode: makes the tasks.
    """
    before: Sequence[bytes] = (b"[\n",)

    def put(data: Any) -> None:
        nonlocal before
        stream.write(b"".join((*before, data)))
        before = (b",\n",)

    yield put
    stream.write(b"[]\n" if before == (b"[\n",) else b"\n]\n")


WRITER: Final = Writer(holds=HOLDS, encoder=lambda _: encode, into=into_array, grows=False)
