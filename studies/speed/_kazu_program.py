"""One run of Kazu, in a process of its own; `studies.speed.kazu_beside` starts it. It imports
nothing of Fascicle.

usage: python _kazu_program.py NAMES.tsv DOCUMENTS.jsonl [--poison]

The pipeline is the dictionary step of Kazu that needs the least memory, without a model pack: a
table of names, no generated synonyms, no curation. With ``--poison`` a step after it does what the
text of a document says.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import time
from pathlib import Path

import pandas
from kazu.data import PROCESSING_EXCEPTION, CharSpan, Document, Entity
from kazu.ontology_preprocessing.parsers import TabularOntologyParser
from kazu.pipeline import Pipeline
from kazu.steps import Step, document_iterating_step
from kazu.steps.joint_ner_and_linking.memory_efficient_string_matching import (
    MemoryEfficientStringMatchingStep,
)

# bytes that the process may have: a machine must not suffer from the document that allocates
ADDRESSES = 12 * 2**30


class Names(TabularOntologyParser):
    """The names of a table, each a concept of its own."""

    def find_kb(self, string: str) -> str:
        """The vocabulary of an id."""
        return "x"


class Poison(Step):
    """Does what the text of a document says, as the step of our own tests does."""

    @document_iterating_step
    def __call__(self, doc: Document) -> None:
        """Does it."""
        section = doc.sections[0]
        match section.text.split(" ")[0]:
            case "!hang":
                time.sleep(3600)
            case "!exit":
                os._exit(7)
            case "!segfault":
                ctypes.string_at(0)
            case "!allocate":
                bytearray(30 << 30)
            case "!raise":
                raise LookupError(doc.idx)
            case "!outside":
                span = frozenset([CharSpan(0, 10_000)])
                section.entities.append(
                    Entity(match="x", entity_class="X", spans=span, namespace="poison")
                )
        doc.metadata["reached"] = True


def main() -> None:
    """Runs, and prints one line of JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    names, texts = Path(sys.argv[1]), Path(sys.argv[2])
    before = memory()
    start = time.perf_counter()
    parser = Names(
        in_path=table_of(names),
        entity_class="disease",
        name="names",
        sep="\t",
        keep_default_na=False,
    )
    steps: list[Step] = [MemoryEfficientStringMatchingStep([parser])]
    if "--poison" in sys.argv:
        steps.append(Poison())
    pipeline = Pipeline(steps)
    built = time.perf_counter() - start
    documents = []
    for line in texts.read_text(encoding="utf-8").splitlines():
        given = json.loads(line)
        document = Document.create_simple_document(given["text"])
        document.idx = given["id"]
        documents.append(document)
    pipeline(documents[:5])  # what is made at the first call is not counted
    for document in documents[:5]:
        document.sections[0].entities.clear()
    start = time.perf_counter(), time.process_time()
    done = pipeline(documents)
    times = time.perf_counter() - start[0], time.process_time() - start[1]
    print(
        json.dumps(
            {
                "build": built,
                "wall": times[0],
                "cpu": times[1],
                "megabytes": memory() - before,
                **said(done),
            }
        )
    )


def table_of(names: Path) -> Path:
    """The names as the parser wants them."""
    frame = pandas.read_csv(names, sep="\t", keep_default_na=False, quoting=3, dtype=str)
    table = pandas.DataFrame(
        {
            "idx": frame["id"],
            "default_label": frame["name"],
            "syn": frame["name"],
            "mapping_type": "exact",
        }
    )
    place = names.parent / "kazu-names.tsv"
    table.to_csv(place, sep="\t", index=False)
    return place


def said(done: list[Document]) -> dict[str, object]:
    """What came back: entities, and what became of the documents."""
    found = [
        [document.idx, entity.start, entity.end]
        for document in done
        for entity in document.sections[0].entities
    ]
    failed = [document.idx for document in done if PROCESSING_EXCEPTION in document.metadata]
    outside = sum(
        entity.end > len(document.sections[0].text)
        for document in done
        for entity in document.sections[0].entities
    )
    return {"documents": len(done), "failed": failed, "outside": outside, "found": found}


def memory() -> float:
    """Megabytes that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


if __name__ == "__main__":
    main()
