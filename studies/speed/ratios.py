"""CPU time of everyday jobs, Fascicle over the fastest library at each.

usage: make ratios, or python -m studies.speed.ratios --peers PYTHON [--rounds 7] [--beside TEXT]
[--only JOB ...]

``FASCICLE_DATA`` names the corpora. ``PYTHON`` is that of an environment with
``requirements-ratios.txt``. Both sides have a process of their own with one thread, and take turns;
the first round, which imports, does not count. A job whose sides do not read as many records ends
with an error, for a library that finds nothing is fast. Written: ``results/ratios.json``, in which
jobs that are not measured keep their rows.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.formats import read, write
from fascicle.formats.conll_write import with_words
from fascicle.loading import load
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.pack.arrays import row_chunks
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser
from studies.common import ROOT, result, write_result
from studies.speed.readers_beside import INPUTS
from studies.speed.workers import Worker

# the name of the input in ``readers_beside``, its file, and its format
_READERS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "CoNLL": ("conll", "a.conll", "conll"),
        "PubTator": ("pubtator", "a.pubtator", "pubtator"),
        "BioC XML": ("bioc-xml", "a.bioc.xml", "bioc"),
        "BioC JSON": ("bioc-json", "a.bioc.json", "bioc-json"),
        "MEDLINE": ("medline", "pubmed.xml.gz", "medline"),
        "DocBin, read": ("spacy", "a.spacy", "spacy"),
        "brat": ("brat", "brat", "brat"),
    }
)
_MADE_HERE: Final = ("MEDLINE", "DocBin, read", "brat")
_WRITTEN: Final = "DocBin, written"
_SCAN: Final = "names of the shipped pack in texts"
_OPENED: Final = "names of the shipped pack as TSV, opened"
_DEFINED: Final = "abbreviations"
JOBS: Final = (*_READERS, _WRITTEN, _SCAN, _OPENED, _DEFINED)
_TEXTS: Final = 1_000
_DOCUMENTS: Final = 500
_THREADS: Final = MappingProxyType({"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)})


def main() -> None:
    """Measures, prints and writes the ratios; as a worker, does the jobs that it is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", help="Python of the environment of the libraries")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument("--only", nargs="*", choices=JOBS, default=JOBS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work)
        return
    if not args.peers:
        parser.error("name the Python of the environment of the libraries, or run make ratios")
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(Path(folder))
        rows = measure(Path(folder), args.peers, args.only, rounds=args.rounds)
    jobs = {**result("ratios").get("jobs", {}), **rows}
    write_result("ratios", {"beside": args.beside, "rounds": args.rounds, "jobs": jobs})


def make_inputs(folder: Path) -> None:
    """Makes the files that both sides read."""
    data = Path(os.environ["FASCICLE_DATA"])
    for name, (kind, file, _) in _READERS.items():
        if name not in _MADE_HERE:
            INPUTS[kind](data, folder / file)
    _write_citations(data / "raw-xml/medline16n0902.xml.gz", folder / "pubmed.xml.gz")
    corpus = islice(read(folder / "a.pubtator", format="pubtator"), _DOCUMENTS)
    documents = [with_words(document) for document in corpus]
    write(folder / "a.spacy", documents, format="spacy")
    write(f"{folder}/brat/", documents, format="brat")
    write(folder / "a.jsonl", documents, format="jsonl")
    write_texts(folder)
    write_names(folder)


def write_texts(folder: Path) -> None:
    """Writes ``texts.json``: a list of abstracts."""
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts/abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = map(json.loads, islice(lines, _TEXTS))
        texts = [f"{record['title']}\n{record['abstract']}" for record in records]
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")


def write_names(folder: Path) -> None:
    """Writes the names of the shipped pack, in lower case: ``names.txt``, and ``names.tsv``."""
    names = sorted(_names())
    (folder / "names.txt").write_text("\n".join(names), encoding="utf-8")
    rows = "".join(f"Name\t{name}\n" for name in names)
    (folder / "names.tsv").write_text(rows, encoding="utf-8")


def _write_citations(source: Path, target: Path) -> None:
    """Copies citations in the form in which PubMed is distributed since 2017, which pubmed_parser
    reads: of the older one it finds none.
    """
    content = gzip.decompress(source.read_bytes()).replace(
        b"MedlineCitationSet", b"PubmedArticleSet"
    )
    content = re.sub(rb"<MedlineCitation ", b"<PubmedArticle><MedlineCitation ", content)
    content = content.replace(b"</MedlineCitation>", b"</MedlineCitation></PubmedArticle>")
    target.write_bytes(gzip.compress(content))


def _names() -> set[str]:
    """The names of the shipped pack, in lower case."""
    pack = Pack.open("basic")
    names = pack.active.surfaces
    return {name.lower() for rows in row_chunks(len(names)) for name in names.take(rows)}


def measure(
    folder: Path, peers: str, jobs: Sequence[str], *, rounds: int
) -> dict[str, dict[str, Any]]:
    """CPU seconds of both sides for each job, and their ratios in neighbouring runs.

    Raises:
        RuntimeError: the sides did not read as many records.
    """
    workers = {
        "fascicle": Worker("studies.speed.ratios", ["--work", folder], _THREADS),
        "peer": Worker("studies.speed._ratio_peers", [folder], _THREADS, python=peers),
    }
    rows = {}
    for job in jobs:
        answers: dict[str, list[dict[str, Any]]] = {side: [] for side in workers}
        for number in range(rounds + 1):
            for side in sorted(workers, reverse=number % 2 == 1):
                answers[side].append(workers[side].ask(job))
        counts = {side: rounds_of[-1]["records"] for side, rounds_of in answers.items()}
        if len(set(counts.values())) > 1:
            raise RuntimeError(f"{job}: the records of both sides differ, {counts}")
        rows[job] = row(answers["fascicle"][1:], answers["peer"][1:])
        sys.stdout.write(f"{job}: {rows[job]}\n")
        sys.stdout.flush()
    for worker in workers.values():
        worker.end()
    return rows


def row(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept of the rounds of one job: medians of both sides, and median, least and greatest
    of the ratios.
    """
    ratios = sorted(
        one["seconds"] / other["seconds"] for one, other in zip(ours, theirs, strict=True)
    )
    return {
        "peer": theirs[0]["peer"],
        "records": ours[0]["records"],
        "seconds": statistics.median(one["seconds"] for one in ours),
        "peer_seconds": statistics.median(one["seconds"] for one in theirs),
        "ratio": [statistics.median(ratios), ratios[0], ratios[-1]],
    }


def work(folder: Path) -> None:
    """Does the job that each line of standard input names, and writes CPU seconds and records."""
    for line in sys.stdin:
        seconds, records = _do(line.strip(), folder)
        sys.stdout.write(json.dumps({"seconds": seconds, "records": records}) + "\n")
        sys.stdout.flush()


def _do(job: str, folder: Path) -> tuple[float, int]:
    if job == _SCAN:  # one that has seen none of the texts, as the library keeps nothing of them
        recogniser, texts = PackRecogniser({"basic": Pack.open("basic")}), _texts(folder)
        return _timed(lambda: recogniser.predict(texts))
    if job == _OPENED:  # one list
        return _timed(lambda: (load(folder / "names.tsv", links=False),))
    if job == _DEFINED:
        texts = _texts(folder)
        return _timed(lambda: map(find_abbreviations, texts))
    if job == _WRITTEN:
        documents, target = list(read(folder / "a.jsonl")), folder / "ours.spacy"
        seconds, _ = _timed(lambda: (write(target, documents, format="spacy", overwrite=True),))
        return seconds, len(documents)
    _, file, kind = _READERS[job]
    return _timed(lambda: _read(folder / file, kind))


def _read(path: Path, kind: str) -> Iterable[object]:
    documents = read(path, format=kind)
    if kind != "conll":
        return documents
    # conllu has no documents: its records are sentences
    return (sentence for document in documents for sentence in document.sentences or ())


def _texts(folder: Path) -> list[Document]:
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    return [Document(id=str(number), text=text) for number, text in enumerate(texts)]


def _timed(records: Callable[[], Iterable[object]]) -> tuple[float, int]:
    started = time.process_time()
    count = sum(1 for _ in records())
    return time.process_time() - started, count


if __name__ == "__main__":
    main()
