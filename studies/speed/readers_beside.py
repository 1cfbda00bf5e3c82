"""What reading costs in this checkout against another one of the same project, for many formats, in
CPU time.

usage: python -m studies.speed.readers_beside OTHER_FOLDER [--rounds 15] [--only NAME ...] [--inputs
FOLDER]

``FASCICLE_DATA`` names the corpora, of which the inputs are made once, all with the writers of this
checkout. Each checkout has a process of its own, and the two read in turns. Only the loop over the
documents counts, after a round that imports what it needs. A ratio above 1 means that this checkout
is slower; that of the fastest rounds is the steadier one on a busy machine. Printed is a row for
each input.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.formats import read, write
from fascicle.text.segment import RULES_1, SurfaceReader
from studies.speed.workers import Worker

_ROOT: Final = Path(__file__).parents[2]
# before the name of an input: its texts are divided into sentences
_SENTENCES: Final = "sentences-"
_ABSTRACTS: Final = 4_000
_ARTICLES: Final = 40


def main() -> None:
    """Measures and prints the ratios; as a worker, reads what it is asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="*", default=[], help="names of inputs")
    parser.add_argument(
        "--inputs", type=Path, help="folder in which the inputs are kept for the next time"
    )
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work)
        return
    if args.other is None:
        parser.error("name the folder of the other checkout")
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.inputs or Path(temporary)
        make_inputs(folder)
        names = args.only or [*INPUTS, f"{_SENTENCES}medline", f"{_SENTENCES}pubtator"]
        compare(folder, names, other=args.other.resolve(), rounds=args.rounds)


def compare(folder: Path, names: Sequence[str], *, other: Path, rounds: int) -> None:
    """Prints the CPU milliseconds of both checkouts for each input, and their ratios."""
    roots = {"other": other, "this": _ROOT}
    workers = {
        side: Worker(
            "studies.speed.readers_beside", ["--work", folder], {"PYTHONPATH": str(root / "src")}
        )
        for side, root in roots.items()
    }
    sys.stdout.write(f"{'input':24}{'other ms':>10}{'this ms':>10}{'medians':>10}{'minima':>10}\n")
    for name in names:
        times: dict[str, list[float]] = {side: [] for side in workers}
        for number in range(rounds + 1):
            for side in sorted(workers, reverse=number % 2 == 1):
                spent = workers[side].ask(name)["seconds"]
                times[side] += [spent] if number else []
        least = {side: 1000 * min(spent) for side, spent in times.items()}
        medians = statistics.median(times["this"]) / statistics.median(times["other"])
        minima = least["this"] / least["other"]
        sys.stdout.write(
            f"{name:24}{least['other']:10.0f}{least['this']:10.0f}{medians:10.2f}{minima:10.2f}\n"
        )
        sys.stdout.flush()
    for worker in workers.values():
        worker.end()


def work(folder: Path) -> None:
    """Reads the input that each line of standard input names, and writes the CPU seconds as
    JSON.
    """
    for line in sys.stdin:
        name = line.strip()
        seconds = _divide(folder, name) if name.startswith(_SENTENCES) else _read(folder, name)
        sys.stdout.write(json.dumps({"seconds": seconds}) + "\n")
        sys.stdout.flush()


def _read(folder: Path, name: str) -> float:
    documents = _documents(folder, name)
    before = time.process_time()
    for _ in documents:
        pass
    return time.process_time() - before


def _divide(folder: Path, name: str) -> float:
    source = name.removeprefix(_SENTENCES)
    readers = [SurfaceReader(document, RULES_1) for document in _documents(folder, source)]
    before = time.process_time()
    for reader in readers:
        _ = reader.sentences
    return time.process_time() - before


def _documents(folder: Path, name: str) -> Iterator[Document]:
    path = folder / FILES[name]
    return read(sorted(path.iterdir()) if path.is_dir() else path, format=FORMATS.get(name, "auto"))


def make_inputs(folder: Path) -> None:
    """Makes the inputs that a folder lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ["FASCICLE_DATA"])
    for name, make in INPUTS.items():
        target = folder / FILES[name]
        if not target.exists():
            make(data, target)


def _bc5cdr(data: Path) -> Iterator[Document]:
    return read(sorted((data / "bc5cdr/pubtator").glob("CDR_*.txt")), format="pubtator")


def _biored(data: Path) -> Iterator[Document]:
    return read(data / "biored/Test.PubTator", format="pubtator")


def _abstracts(data: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(data / "text-abstracts/abstracts.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, islice(lines, _ABSTRACTS))


def _copied(name: str) -> Callable[[Path, Path], None]:
    """Returns a function that copies a file of the corpora."""
    return lambda data, target: _write_bytes(target, (data / name).read_bytes())


def _write_bytes(target: Path, content: bytes) -> None:
    target.write_bytes(content)


def _written(
    name: str, documents: Callable[[Path], Iterator[Document]]
) -> Callable[[Path, Path], None]:
    """Returns a function that writes documents in a format."""

    def make(data: Path, target: Path) -> None:
        write(target, documents(data), format=name)

    return make


def _records(make: Callable[[Document], Any]) -> Callable[[Path, Path], None]:
    """Returns a function that writes a record for each document."""

    def write_lines(data: Path, target: Path) -> None:
        lines = [json.dumps(make(document)) for document in _bc5cdr(data)]
        target.write_text("\n".join(lines), encoding="utf-8")

    return write_lines


def _doccano(document: Document) -> dict[str, Any]:
    labels = [[mention.start, mention.end, mention.type] for mention in document.mentions]
    return {"text": document.text, "labels": labels}


def _objects(document: Document) -> dict[str, Any]:
    entities = [
        {
            "start": one.start,
            "end": one.end,
            "type": one.type,
            "text": document.text[one.start : one.end],
        }
        for one in document.mentions
    ]
    return {"id": document.id, "text": document.text, "entities": entities}


def _framed(document: Document) -> dict[str, Any]:
    """Returns the record as a data frame writes it: with all keys, and null for what is absent."""
    record = _objects(document)
    entities = [{**entity, "score": None, "spans": None} for entity in record["entities"]]
    return {**record, "entities": entities}


def _articles(data: Path, target: Path) -> None:
    target.mkdir()
    with zipfile.ZipFile(data / "craft/craft-articles-nxml.zip") as packed:
        for name in [name for name in packed.namelist() if name.endswith(".nxml")][:_ARTICLES]:
            (target / Path(name).name).write_bytes(packed.read(name))


def _web_annotated(data: Path, target: Path) -> None:
    target.mkdir()
    for document in islice(_biored(data), 40):
        write(target / f"{document.id}.tsv", [document], format="webanno")


def _texts(data: Path, target: Path) -> None:
    target.mkdir()
    for record in islice(_abstracts(data), _ABSTRACTS // 4):
        (target / f"{record['id']}.txt").write_text(record["abstract"], encoding="utf-8")


def _citations(row: str) -> Callable[[Path, Path], None]:
    """Returns a function that writes the abstracts as citations; a row has places for id, title
    and abstract.
    """
    return lambda data, target: _write_bytes(
        target, "".join(row.format(**one) for one in _abstracts(data)).encode()
    )


def _page(data: Path, target: Path) -> None:
    row = "<h2>{title}</h2>\n<p>{abstract}</p>\n"
    body = "".join(
        row.format(**one).replace("p<", "p&lt;")
        for one in islice(_abstracts(data), _ABSTRACTS // 2)
    )
    target.write_text(f"<!DOCTYPE html><html><body>{body}</body></html>", encoding="utf-8")


INPUTS: Final[Mapping[str, Callable[[Path, Path], None]]] = MappingProxyType(
    {
        "pubtator": _copied("bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt"),
        "brat": _copied("bionlp13cg/standoff.zip"),
        "medline": _copied("raw-xml/medline16n0902.xml.gz"),
        "jats": _articles,
        "bioc-xml": _copied("biored/Test.BioC.XML"),
        "bioc-json": _written("bioc-json", _biored),
        "conll": _copied("bc5cdr/iob/train.tsv"),
        "native": _written("jsonl", _bc5cdr),
        "doccano": _records(_doccano),
        "objects": _records(_objects),
        "objects-data-frame": _records(_framed),
        "conll04": _copied("conll04/conll04_train.json"),
        "spacy": _written("spacy", _bc5cdr),
        "webanno": _web_annotated,
        "text-folder": _texts,
        "nbib": _citations("PMID- {id}\nTI  - {title}\nAB  - {abstract}\n\n"),
        "ris": _citations("TY  - JOUR\nID  - {id}\nTI  - {title}\nAB  - {abstract}\nER  - \n\n"),
        "html": _page,
    }
)
FILES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{
            "pubtator": "a.pubtator",
            "brat": "brat.zip",
            "medline": "medline.xml.gz",
            "jats": "articles",
        },
        **{
            "bioc-xml": "a.bioc.xml",
            "bioc-json": "a.bioc.json",
            "conll": "a.conll",
            "native": "a.jsonl",
        },
        **{"doccano": "doccano.jsonl", "objects": "objects.jsonl"},
        **{
            "objects-data-frame": "objects-frame.jsonl",
            "conll04": "conll04.json",
            "spacy": "a.spacy",
        },
        **{
            "webanno": "webanno",
            "text-folder": "texts",
            "nbib": "a.nbib",
            "ris": "a.ris",
            "html": "a.html",
        },
    }
)
FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {"conll": "conll", "conll04": "records", "html": "html"}
)


if __name__ == "__main__":
    main()
