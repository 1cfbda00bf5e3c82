"""The list of common words by which packs of terms are careful with names that are words: made from
open text.

usage: FASCICLE_DATA=... python -m studies.common_words

A word is common if it is common everywhere: its rank is that of its share of paragraphs in the
collection in which it is rarest but one. So words of every kind of text come first, and those of
one field, such as names of drugs, come late or not at all. Words that stand with a capital or in
capitals in more than half of their uses are left out. The script writes
``src/fascicle/terms/pack/common_words.txt``, the most common first.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

WORDS = 5_000
PLACE = (
    Path(__file__).resolve().parents[1] / "src" / "fascicle" / "terms" / "pack" / "common_words.txt"
)
COLLECTIONS = (
    "text-abstracts",
    "text-druglabels",
    "text-elife",
    "text-medquad",
    "text-plos",
    "text-pmc-rct",
)
_WORD = re.compile(r"(?<![\w-])[A-Za-z]{2,20}(?![\w-])")
_HEAD = (
    "# Common words, the most common first: words that are frequent in at least five of six "
    "collections of open text,\n"
    "# mostly in lower case (made by studies/common_words.py, which says how).\n"
)


def main() -> None:
    """Counts and writes."""
    data = Path(os.environ["FASCICLE_DATA"])
    low, all_cases = Counter[str](), Counter[str]()
    shares = defaultdict[str, list[float]](list)
    for collection in COLLECTIONS:
        found, total = Counter[str](), 0
        for paragraph in paragraphs(data / collection):
            words = _WORD.findall(paragraph)
            total += 1
            found.update({word.lower() for word in words})
            low.update(word for word in words if word.islower())
            all_cases.update(word.lower() for word in words)
        for word, count in found.items():
            shares[word].append(count / total)
    least = {word: sorted(own)[1 - len(COLLECTIONS) :][0] for word, own in shares.items()}
    kept = [
        w
        for w, own in shares.items()
        if len(own) >= len(COLLECTIONS) - 1 and 2 * low[w] > all_cases[w]
    ]
    ranked = sorted(kept, key=lambda word: (-least[word], -all_cases[word], word))[:WORDS]
    PLACE.write_text(_HEAD + "".join(f"{word}\n" for word in ranked), encoding="ascii")


def paragraphs(folder: Path) -> Iterator[str]:
    """Abstracts and paragraphs of a collection."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                record = json.loads(line)
                yield from filter(None, (record.get("abstract"), *(record.get("paragraphs") or ())))


if __name__ == "__main__":
    main()
