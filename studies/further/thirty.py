"""Draws thirty documents of each of three corpora, and other documents to test.

usage: python -m studies.further.thirty FOLDER

FOLDER gets ``NAME-30.jsonl``, ``NAME-test.jsonl`` and ``NAME-texts.jsonl`` for each corpus: the
thirty documents, those of the test, and the texts of the thirty with 300 abstracts, for labels of
the shipped model. ``FASCICLE_DATA`` names the corpora.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.formats import read, write
from fascicle.text.segment import sentences

DOCUMENTS: Final = 30
ABSTRACTS: Final = 300
_PASSAGE: Final = 1_300  # characters, as an abstract
_NCBI: Final = dict.fromkeys(
    ("SpecificDisease", "DiseaseClass", "Modifier", "CompositeMention"), "Disease"
)
_CELLFINDER: Final = {
    "GeneProtein": "Gene",
    **{name: name for name in ("Anatomy", "CellComponent", "CellLine", "CellType", "Species")},
}


def main(argv: Sequence[str] | None = None) -> None:
    """Draws and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    data, folder = Path(os.environ["FASCICLE_DATA"]), args.folder
    folder.mkdir(parents=True, exist_ok=True)
    abstracts = list(islice(read(data / "text-abstracts/abstracts.jsonl.gz"), ABSTRACTS))
    for name, (train, test) in {
        "ncbi": _ncbi(data),
        "cellfinder": _cellfinder(data),
        "dimb-re": _dimb_re(data),
    }.items():
        own = drawn(train, DOCUMENTS)
        texts = [Document(id=one.id, text=one.text) for one in (*own, *abstracts)]
        for part, documents in {"30": own, "test": test, "texts": texts}.items():
            write(folder / f"{name}-{part}.jsonl", documents, format="native", overwrite=True)
        mentions = sum(len(one.mentions) for one in own)
        print(f"{name}: {mentions:,} mentions in {len(own)}, {len(test):,} documents to test")


def drawn(documents: Sequence[Document], count: int) -> list[Document]:
    """The documents with the lowest hashes of their ids."""
    order = sorted(documents, key=lambda one: hashlib.sha256(one.id.encode()).digest())
    return order[:count]


def passages(document: Document) -> Iterator[Document]:
    """The parts of a text, each of whole sentences and of about 1,300 characters; a mention across a
    border is left out.
    """
    start = 0
    for end in _borders(document.text):
        if document.text[start:end].strip():
            inside = tuple(
                msgspec.structs.replace(m, spans=tuple((a - start, b - start) for a, b in m.spans))
                for m in document.mentions
                if start <= m.start and m.end <= end
            )
            text = document.text[start:end]
            yield Document(id=f"{document.id}:{start}", text=text, mentions=inside)
        start = end


def _borders(text: str) -> Iterator[int]:
    start = 0
    for _, end in sentences(text):
        if end - start >= _PASSAGE:
            yield end
            start = end
    yield len(text)


def _typed(documents: Iterable[Document], types: Mapping[str, str]) -> list[Document]:
    """Documents with mentions of some types alone, under other names."""
    return [
        Document(
            id=one.id,
            text=one.text,
            mentions=tuple(
                {
                    (m.spans, types[m.type]): msgspec.structs.replace(
                        m, type=types[m.type], links=(), attributes=()
                    )
                    for m in one.layer(GOLD)
                    if m.type in types
                }.values()
            ),
        )
        for one in documents
    ]


def _ncbi(data: Path) -> tuple[list[Document], list[Document]]:
    folder = data / "ncbi-disease/pubtator"
    parts = (read(folder / f"{part}.PubTator.txt") for part in ("train", "test"))
    train, test = (_typed(part, _NCBI) for part in parts)
    return train, test


def _cellfinder(data: Path) -> tuple[list[Document], list[Document]]:
    papers = _typed(read(data / "cellfinder/cellfinder1-brat.zip"), _CELLFINDER)
    order = drawn(papers, len(papers))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    train, test = ([part for paper in half for part in passages(paper)] for half in (first, second))
    return train, test


def _dimb_re(data: Path) -> tuple[list[Document], list[Document]]:
    path = data / "dimb-re/brat.zip"
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("splits.json"))
        splits = json.loads(archive.read(name))
    documents = list(read(path))
    kinds = {m.type for one in documents for m in one.mentions if not m.type.isupper()}
    typed = _typed(documents, {kind: kind for kind in kinds})
    train, test = ([d for d in typed if d.id in set(splits[part])] for part in ("train", "test"))
    return train, test


if __name__ == "__main__":
    main()
