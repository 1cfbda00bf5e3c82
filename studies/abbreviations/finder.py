"""The finder of abbreviations on the annotated records of Ab3P.

usage: FASCICLE_DATA=... python -m studies.abbreviations.finder odd|even

``odd`` prints the errors on the half that the finder was developed on. ``even`` writes
``results/abbreviation-finder.json``: precision, recall and F1 on the other half, with intervals
over records, beside the plain algorithm of Schwartz and Hearst (PSB 2003).
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fascicle.core.document import Document
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.evaluation.uncertainty.intervals import bootstrap
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.abbreviations.forms import by_letters, most_words
from studies.common import write_result

FILE = "abbrev-ab3p/MED1250_labeled.gz"
NAME = "abbreviation-finder"
Pairs = set[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Record:
    """An entry of the file.

    Attributes:
        id: of PubMed; two of them stand before two entries.
        lines: title and abstract, and perhaps more.
        pairs: short and long forms.
    """

    id: str
    lines: tuple[str, ...]
    pairs: Pairs


def records(path: Path) -> Iterator[Record]:
    """The entries: a number after an empty line, the text, and lines ``  SF|LF``."""
    number, lines, pairs, is_blank = "", list[str](), Pairs(), True
    for line in gzip.decompress(path.read_bytes()).decode("latin-1").split("\n"):
        words = line.strip()
        if is_blank and words.isdecimal():
            if number:
                yield Record(id=number, lines=tuple(lines), pairs=pairs)
            number, lines, pairs = words, [], Pairs()
        elif line.startswith("  ") and "|" in words:
            short, _, long = words.partition("|")
            pairs.add((_plain(short), _plain(long)))
        elif words:
            lines.append(line)
        is_blank = not words
    yield Record(id=number, lines=tuple(lines), pairs=pairs)


def ours(text: str) -> Pairs:
    """What the finder says of a line."""
    found = find_abbreviations(Document(id="1", text=text))
    return {(_plain(text[slice(*short)]), _plain(text[slice(*long)])) for short, long in found}


def plain(text: str) -> Pairs:
    """The algorithm of the paper without repairs: the nearest closing bracket, and letters in
    their order.
    """
    found, at = Pairs(), 0
    while (start := text.find(" (", at)) >= 0 and (end := text.find(")", start)) >= 0:
        inner, before, at = text[start + 2 : end], text[:start].split(), end
        inner = inner.split(", ")[0].split("; ")[0]
        words = inner.split()
        if len(words) <= 2:
            short, long = inner, " ".join(before[-most_words(inner) :])
        else:
            short, long = before[-1] if before else "", " ".join(words)
        if 2 <= len(short) <= 10 and short[0].isalnum() and any(map(str.isalpha, short)):
            letters = [one for one in short.lower() if one.isalnum()]
            place = by_letters(letters, long.lower())
            if place is not None:
                long = long[long.rfind(" ", 0, place) + 1 :]
                if len(long) > len(short) and short not in long.split():
                    found.add((_plain(short), _plain(long)))
    return found


def scored(half: Sequence[Record], find: Callable[[str], Pairs]) -> Scores:
    """Counts of each record."""
    counts = {}
    for number, record in enumerate(half):
        found = {pair for line in record.lines for pair in find(line)}
        right = len(found & record.pairs)
        counts[str(number)] = Counts(tp=right, fp=len(found) - right, fn=len(record.pairs) - right)
    total = Counts(
        **{name: sum(getattr(one, name) for one in counts.values()) for name in ("tp", "fp", "fn")}
    )
    return Scores(counts=total, by_type={"pair": total}, by_document=counts)


def errors(half: Sequence[Record]) -> Iterator[str]:
    """What the finder finds wrongly or not at all."""
    for record in half:
        found = {pair for line in record.lines for pair in ours(line)}
        yield from (
            f"{record.id}: wrong {' | '.join(pair)}" for pair in sorted(found - record.pairs)
        )
        yield from (
            f"{record.id}: missed {' | '.join(pair)}" for pair in sorted(record.pairs - found)
        )


def main() -> None:
    """Prints errors, or writes the results file."""
    every = list(records(Path(os.environ["FASCICLE_DATA"]) / FILE))
    if sys.argv[1:] == ["odd"]:
        print("\n".join(errors(every[::2])))
    halves = (
        {"odd": every[::2], "even": every[1::2]}
        if sys.argv[1:] == ["even"]
        else {"odd": every[::2]}
    )
    value: dict[str, object] = {}
    for name, half in halves.items():
        begun = time.process_time()
        mine = scored(half, ours)
        seconds = time.process_time() - begun
        value[name] = {
            "records": len(half),
            "pairs": sum(len(one.pairs) for one in half),
            "records_per_cpu_second": round(len(half) / seconds),
            "finder": row(mine),
            "schwartz_hearst": row(scored(half, plain)),
        }
    print(value)
    if sys.argv[1:] == ["even"]:
        write_result(NAME, value)


def row(scores: Scores) -> dict[str, object]:
    """The rates with their intervals."""
    found = bootstrap(scores)
    return {name: found[f"micro_{name}"].as_dict() for name in ("precision", "recall", "f1")}


def _plain(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
