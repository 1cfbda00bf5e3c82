"""How many windows of real text a network reads again: what answering duplicates once could save,
and its price.

usage: python -m studies.speed.duplicates [--model biomed] [--characters 3000000]

``FASCICLE_DATA`` names the texts. Two windows are the same if all that the network gets of them is
the same, so that it gives the same scores. They are looked for among the documents that are scored
together, as a predictor could without keeping anything, and in all of a source. Written:
``results/duplicates.json``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from fascicle.core.document import Document
from fascicle.core.stream import chunks
from fascicle.formats.files import read
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.pieces import Pieces
from fascicle.text.windows import Window
from studies.common import write_result

_PARTS = ("title", "abstract", "paragraphs")
_PACKED = {
    "abstracts of trials": "text-abstracts/abstracts.jsonl.gz",
    "articles of eLife": "text-elife/elife-01.jsonl.gz",
    "articles on trials": "text-pmc-rct/pmc-rct.jsonl.gz",
    "labels of drugs": "text-druglabels/druglabels.jsonl.gz",
}
_MEDLINE = "raw-xml/medline16n0902.xml.gz"
Key = tuple[bytes, ...]


def main() -> None:
    """Measures and writes ``results/duplicates.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="biomed")
    parser.add_argument("--characters", type=int, default=3_000_000)
    args = parser.parse_args()
    model = load_single(args.model, threads=1)
    found = {
        name: counted(model, limited(given, args.characters)) for name, given in sources().items()
    }
    write_result(
        "duplicates", {"model": model.name, "characters": args.characters, "sources": found}
    )
    print(json.dumps(found, indent=1))


def sources() -> dict[str, Iterator[Document]]:
    """Raw texts by what they are."""
    data = Path(os.environ["FASCICLE_DATA"])
    found = {name: documents_of(data / path) for name, path in _PACKED.items()}
    return found | {"MEDLINE": read(str(data / _MEDLINE))}


def documents_of(path: Path) -> Iterator[Document]:
    """Titles, abstracts and paragraphs, each on a line of its own."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            given = [record.get(part) or "" for part in _PARTS]
            texts = [
                text for one in given for text in ([one] if isinstance(one, str) else one) if text
            ]
            yield Document(id=record["id"], text="\n".join(texts))


def limited(documents: Iterator[Document], characters: int) -> Iterator[Document]:
    """The first documents, with about as many characters."""
    read_so_far = 0

    def more(document: Document) -> bool:
        nonlocal read_so_far
        read_so_far += len(document.text)
        return read_so_far <= characters

    return takewhile(more, documents)


def counted(model: ModelPredictor, documents: Iterator[Document]) -> dict[str, Any]:
    """Windows and pieces, and how many of them were there before."""
    total = {"documents": 0, "windows": 0, "pieces": 0}
    again = {"together": {"windows": 0, "pieces": 0}, "anywhere": {"windows": 0, "pieces": 0}}
    everywhere: set[Key] = set()
    looking: list[float] = []
    for chunk in chunks(documents):
        reading = model._encode(chunk)  # what the network would be given
        windows = [
            (pieces, w)
            for pieces, cut in zip(reading.pieces, reading.windows, strict=True)
            for w in cut
        ]
        before = time.process_time()
        together = _new(windows, set())
        looking.append((time.process_time() - before) / max(1, len(windows)))
        total["documents"] += len(chunk)
        for where, news in (("together", together), ("anywhere", _new(windows, everywhere))):
            for (_, window), is_new in zip(windows, news, strict=True):
                again[where]["windows"] += not is_new
                again[where]["pieces"] += 0 if is_new else window.pieces[1] - window.pieces[0]
        total["windows"] += len(windows)
        total["pieces"] += sum(window.pieces[1] - window.pieces[0] for _, window in windows)
    return {
        **total,
        "again": again,
        "looking_microseconds_per_window": round(1e6 * statistics.median(looking), 2),
    }


def _new(windows: Sequence[tuple[Pieces, Window]], seen: set[Key]) -> list[bool]:
    """Whether each window is the first of its kind."""
    news = []
    for pieces, window in windows:
        key = _key(pieces, window)
        news.append(key not in seen)
        seen.add(key)
    return news


def _key(pieces: Pieces, window: Window) -> Key:
    """All that the network is given of a window: its pieces, the units that they make, and what
    was looked up.
    """
    a, b = window.pieces
    c, d = window.units
    looked_up = () if pieces.inputs is None else (pieces.inputs.rows[c:d].tobytes(),)
    return (pieces.ids[a:b].tobytes(), (pieces.unit_of[a:b] - c).tobytes(), *looked_up)


if __name__ == "__main__":
    main()
