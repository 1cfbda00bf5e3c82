"""Do short forms get concepts that their long forms do not have? See ``plan.md``.

python -m studies.concepts.shorts FOLDER [--name NAME] [--linker LINKER]

The pairs of texts are drawn once, and kept in FOLDER with the mentions that `biomed` finds. Writes
``results/concepts-shorts-NAME.json``; faults are printed, and not stored.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Mention, Span
from fascicle.formats import read, write
from fascicle.linking.opening import find
from fascicle.loading import load_single
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.terms.abbreviations.finder import find_abbreviations
from studies.common import write_result
from studies.concepts.neutral import Asked, answers, by_hash
from studies.concepts.same import Same

SIZE: Final = 500
_LONG, _SHORT = "long", "short"  # sources of the mentions of a pair
_IN_USE: Final = (  # short forms that were found wrong in use, with the type that they were given
    ("Follicle-stimulating hormone", "FSH", "Gene"),
    ("C-reactive protein", "CRP", "Gene"),
    ("androgen receptor", "AR", "Gene"),
    ("aldose reductase", "AR", "Gene"),
    ("progesterone receptor", "PR", "Gene"),
    ("tissue factor", "TF", "Gene"),
    ("renin", "REN", "Gene"),
    ("aspartate aminotransferase", "AST", "Gene"),
    ("angiotensin receptor blockers", "ARB", "Gene"),
    ("patient-controlled analgesia", "PCA", "Chemical"),
    ("naproxen", "NAP", "Gene"),
    ("continuous positive airway pressure", "CPAP", "Gene"),
    ("topiramate", "TPM", "Gene"),
    ("familial hypercholesterolemia", "FH", "Disease"),
    ("thyroid hormone receptor beta", "TR-beta", "Gene"),
    ("ropivacaine-fentanyl", "RF", "Chemical"),
    ("heated humidifier", "HH", "Chemical"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="now")
    parser.add_argument("--linker", default=DEFAULT_LINKER)
    args = parser.parse_args(argv)
    place = args.folder / "pairs.jsonl"
    if not place.exists():
        write(place, _drawn(), format="native", overwrite=True)
    found, same = find(args.linker), Same()
    linker = found.opened()
    rows = {
        "in use": _counts("in use", list(_of_use()), linker, same),
        "texts": _counts("texts", list(read(place)), linker, same),
    }
    write_result(
        f"concepts-shorts-{args.name}",
        {"packs": [p.pack.full_name for p in found.parts], "rows": rows},
    )
    print(rows)
    return 0


def _of_use() -> Iterator[Document]:
    for number, (long, short, kind) in enumerate(_IN_USE):
        text = f"{long} ({short}) was looked at. We saw {short} again."
        yield _with_pair(Document(id=f"{number}", text=text), long, short, kind)


def _with_pair(document: Document, long: str, short: str, kind: str) -> Document:
    """A document whose only mentions are the long form, once, and the short form, wherever it
    stands as a word.
    """
    at = document.text.index(long)
    shorts = [one.span() for one in re.finditer(rf"(?<!\w){re.escape(short)}(?!\w)", document.text)]
    mentions = [Mention(((at, at + len(long)),), kind, source=_LONG)]
    mentions += [
        Mention((span,), kind, source=_SHORT)
        for span in shorts
        if not at <= span[0] < at + len(long)
    ]
    return msgspec.structs.replace(document, mentions=tuple(mentions))


def _drawn() -> Iterator[Document]:
    """Texts in the order of their hashes, with a pair each, until there are enough."""
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts" / "abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lines = sorted(
            (json.loads(line) for line in stream), key=lambda one: by_hash(str(one["id"]))
        )
    model, left = load_single("biomed", threads=1), SIZE
    for one in lines:
        document = Document(id=str(one["id"]), text=one.get("abstract") or "")
        pairs = find_abbreviations(document) if document.text else ()
        (patch,) = model.predict([document]) if pairs else (None,)
        kinds: dict[Span, str] = (
            {m.spans[0]: m.type for m in patch.add if len(m.spans) == 1} if patch else {}
        )
        texts = [
            (document.text[slice(*s)], document.text[slice(*lo)], kinds[lo])
            for s, lo in pairs
            if lo in kinds
        ]
        if texts:
            short, long, kind = min(texts, key=lambda pair: by_hash(repr(pair)))
            yield _with_pair(document, long, short, kind)
            left -= 1
            if not left:
                return


def _counts(title: str, documents: Sequence[Document], linker: Any, same: Same) -> dict[str, int]:
    """Pairs, those whose short form gets a concept, faults, and how pairs differ.

    ``contrary`` are the faults whose long form has another concept, ``long loses`` the pairs whose
    long form has a concept alone and none in the text.
    """
    longs = [next((m, one) for m in one.mentions if m.source == _LONG) for one in documents]
    alone = answers(
        linker, [Asked(" ".join(m.text_in(one.text).split()), m.type) for m, one in longs]
    )
    counts = {
        "pairs": len(documents),
        "short linked": 0,
        "faults": 0,
        "contrary": 0,
        "long loses": 0,
        "forms differ": 0,
    }
    for document, patch, links in zip(documents, linker.predict(documents), alone, strict=True):
        said: dict[str, set[str]] = {_LONG: set(), _SHORT: set()}
        by_key = dict(patch.links)
        for mention in document.mentions:
            said[mention.source] |= {
                link.curie for link in by_key.get(mention.key, ()) if not link.nil
            }
        own = {link.curie for link in links}
        fault = not all(
            any(same(one, two) or same.namesakes(one, two) for two in own) for one in said[_SHORT]
        )
        counts["short linked"] += bool(said[_SHORT])
        counts["faults"] += fault
        counts["contrary"] += fault and bool(own)
        counts["long loses"] += bool(own) and not said[_LONG]
        counts["forms differ"] += said[_SHORT] != said[_LONG]
        if fault:
            texts = {
                source: document.mentions[at].text_in(document.text)
                for source, at in ((_LONG, 0), (_SHORT, -1))
            }
            print(title, "fault:", texts, said, own)
    return counts


if __name__ == "__main__":
    raise SystemExit(main())
