"""How many mentions differ when the lines of an abstract are wrapped.

usage: python -m studies.formats.wrapped [--count 500] [--model biomed-fast]

``FASCICLE_DATA`` names the folder with ``text-abstracts``. A blank of the text becomes a line end
where a line of so many columns would be too long, so offsets stay. A mention is lost if the wrapped
text has none of its type and offsets, and new if the other has none. Writes ``studies/results/wrapped.json``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import fascicle
from fascicle.core.document import Document
from fascicle.text.annotator import Annotator
from studies.common import write_result

COLUMNS = (60, 72, 100)


def main(argv: Sequence[str] | None = None) -> None:
    """Measures and writes the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--model", default="biomed-fast")
    args = parser.parse_args(argv)
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts" / "abstracts.jsonl.gz"
    texts = [" ".join(one.text.split()) for one in islice(fascicle.read(path), args.count)]
    model = fascicle.load(args.model, links=False)
    plain = list(mentions(model, texts))
    rows = {}
    for columns in COLUMNS:
        other = list(mentions(model, [wrapped(text, columns) for text in texts]))
        pairs = list(zip(plain, other, strict=True))
        lost = sum(len(first - second) for first, second in pairs)
        rows[str(columns)] = {"lost": lost, "new": sum(len(b - a) for a, b in pairs)}
    write_result(
        "wrapped",
        {
            "model": args.model,
            "abstracts": len(texts),
            "mentions": sum(map(len, plain)),
            "differ": rows,
        },
    )


def mentions(model: Annotator, texts: Sequence[str]) -> Iterator[frozenset[object]]:
    """Yields type and offsets of the mentions of each text."""
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    for patch in model.predict(documents):
        yield frozenset((mention.type, mention.spans) for mention in patch.add)


def wrapped(text: str, columns: int) -> str:
    """Returns a text whose blanks are line ends where a line would be longer than ``columns``."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


if __name__ == "__main__":
    main()
