"""The part of a labelled sample whose texts may teach weights that ship: those whose licence leaves
no use out.

usage: python -m studies.labels.open_texts SAMPLE.jsonl SAMPLE.labels -o OPEN

Texts of articles under a licence that forbids commercial use or changed copies, or asks the same
licence of what is made from them (CC BY-NC, -ND, -SA), and those whose licence nobody states, are
left out, although of most only the abstract was sampled. Written: ``OPEN.jsonl`` and
``OPEN.labels``, with the lines of the two files as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from fascicle.formats.weak_labels import HARD, End, PackedLabels, pack_lines, read_entries

_CLOSED: Final = re.compile(r"CC BY-|not stated")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes both files and says what was left out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sample", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument(
        "-o", "--output", required=True, help="name of both files, without its ending"
    )
    args = parser.parse_args(argv)
    lines = args.sample.read_text(encoding="utf-8").splitlines(keepends=True)
    kept, closed = opened(lines)
    Path(f"{args.output}.jsonl").write_text("".join(kept), encoding="utf-8")
    Path(f"{args.output}.labels").write_bytes(labels_without(args.labels, set(closed)))
    counts = ", ".join(
        f"{count} {licence}" for licence, count in Counter(closed.values()).most_common()
    )
    sys.stdout.write(f"{len(kept):,} of {len(lines):,} texts stay; left out: {counts or 'none'}\n")
    return 0


def opened(lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The lines of texts that stay, and id -> licence of the others.

    Args:
        lines: documents of Fascicle, whose licence stands in ``meta``.

    Raises:
        ValueError: a text of which no licence is told.
    """
    kept, closed = list[str](), dict[str, str]()
    for line in lines:
        document = json.loads(line)
        licence = document.get("meta", {}).get("license")
        if not licence:
            raise ValueError(f"{document['id']} has no licence in its meta")
        if _CLOSED.match(licence):
            closed[document["id"]] = licence
        else:
            kept.append(line)
    return kept, closed


def labels_without(path: Path, left_out: set[str]) -> bytes:
    """A label file without some documents."""
    header, lines = read_entries(path)
    entries = [entry for entry in lines if isinstance(entry, End) or entry.id not in left_out]
    *kept, end = entries
    assert isinstance(end, End)
    mentions: Counter[str] = Counter()
    for entry in kept:
        assert isinstance(entry, PackedLabels)
        tags = (
            header.tags[tag]
            for tag, value in zip(entry.tag, entry.value, strict=True)
            if value >= HARD
        )
        mentions.update(tag.removeprefix("B-") for tag in tags if tag.startswith("B-"))
    gone = end.documents - len(kept)
    changed = msgspec.structs.replace(
        end,
        documents=len(kept),
        words=sum(entry.words for entry in kept if isinstance(entry, PackedLabels)),
        mentions=dict(sorted(mentions.items())),
        left_out={**end.left_out, **({"licence": gone} if gone else {})},
    )
    return pack_lines([header, *kept, changed])


if __name__ == "__main__":
    raise SystemExit(main())
