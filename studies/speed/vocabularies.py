"""What reading a large vocabulary takes: 100 MB of RDF, and a MRCONSO of ten million rows.

usage: python -m studies.speed.vocabularies [--megabytes 100] [--rows 10000000] [--beside TEXT]

The RDF is made by pyoxigraph from the taxonomy of ``FASCICLE_DATA``; the rows have the names of the
same taxonomy, in the layout that the National Library of Medicine publishes. Each is read in a
process of its own, for its peak memory. Written: ``results/vocabularies.json``.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import SourceReport
from fascicle.terms.sources.reading import read_source
from fascicle.terms.terms import ConceptRecord
from studies.common import write_result

SOURCE: Final = "onto-ncbitaxon/taxslim.obo.gz"
_BASE: Final = "http://purl.obolibrary.org/obo/NCBITaxon_"
_OBO: Final = "http://www.geneontology.org/formats/oboInOwl#"
_APART: Final = 10_000_000  # between the numbers of two copies of a taxon
_VOCABULARIES: Final = (
    ("MSH", "MH", "ENG"),
    ("SNOMEDCT_US", "PT", "ENG"),
    ("NCI", "SY", "ENG"),
    ("MSHGER", "MH", "GER"),
)
_SEMANTIC: Final = (("T004", "Fungus"), ("T005", "Virus"))
_MEGABYTE: Final = 1_000_000


def main() -> None:
    """Makes both files, reads them, and writes the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument(
        "--read",
        nargs=2,
        metavar=("PATH", "SETTINGS"),
        help="read one source, and print what it took",
    )
    args = parser.parse_args()
    if args.read:
        print(json.dumps(reading(args.read[0], json.loads(args.read[1]))))
        return
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("owl", "ttl"):
            path = Path(folder) / f"taxonomy.{suffix}"
            write_rdf(path, args.megabytes)
            rows[suffix] = alone(path, {"reader": "rdf", "type": "Species"})
            path.unlink()
        path = write_umls(Path(folder), args.rows)
        types = dict.fromkeys((kind for kind, _ in _SEMANTIC), "Species")
        more = {"reader": "umls", "hierarchy": str(path.with_name("MRSTY.RRF")), "types": types}
        rows["umls"] = {"rows": args.rows, **alone(path, more)}
    write_result("vocabularies", {"beside": args.beside, "rows": rows})
    print(json.dumps(rows, indent=1))


def reading(path: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Reads a source to its end in this process."""
    wall, spent = time.monotonic(), time.process_time()
    report = SourceReport()
    count = sum(1 for _ in _records(path, settings, report))
    return {
        "megabytes": round(Path(path).stat().st_size / _MEGABYTE),
        "concepts": count,
        "seconds": round(time.monotonic() - wall, 1),
        "cpu_seconds": round(time.process_time() - spent, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def alone(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "studies.speed.vocabularies",
        "--read",
        str(path),
        json.dumps(settings),
    ]
    told: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return told


def _records(
    path: str, settings: Mapping[str, Any], report: SourceReport
) -> Iterator[ConceptRecord]:
    return read_source(msgspec.convert({"path": path, **settings}, SourceSettings), report=report)


def _taxonomy() -> list[ConceptRecord]:
    path = str(Path(os.environ["FASCICLE_DATA"]) / SOURCE)
    return list(_records(path, {"reader": "obo", "type": "Species"}, SourceReport()))


def write_rdf(path: Path, megabytes: int) -> None:
    """Writes as many copies of the taxonomy as make so many megabytes; the suffix decides the
    syntax.
    """
    import pyoxigraph

    taxa, form = (
        _taxonomy(),
        pyoxigraph.RdfFormat.from_extension(path.suffix[1:].replace("owl", "rdf")),
    )
    one = io.BytesIO()
    pyoxigraph.serialize(_triples(taxa, 1), one, format=form)
    copies = -(-megabytes * _MEGABYTE // one.tell())
    pyoxigraph.serialize(
        (triple for at in range(copies) for triple in _triples(taxa, at)), str(path), format=form
    )


def _triples(taxa: list[ConceptRecord], copy: int) -> Iterator[Any]:
    from pyoxigraph import Literal, NamedNode, Triple

    def node(curie: str) -> Any:
        return NamedNode(f"{_BASE}{int(curie.partition(':')[2]) + copy * _APART}")

    label = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    is_a, below, kind = (
        NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
        NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf"),
        NamedNode("http://www.w3.org/2002/07/owl#Class"),
    )
    for one in taxa:
        yield Triple(node(one.curie), is_a, kind)
        for name in one.names:
            said = label if name.kind == "label" else NamedNode(f"{_OBO}hasExactSynonym")
            yield Triple(node(one.curie), said, Literal(f"{name.surface} {copy}"))
        for parent in one.parents:
            yield Triple(node(one.curie), below, node(parent))


def write_umls(folder: Path, rows: int) -> Path:
    """Writes so many rows of names in four vocabularies, two of them in English alone, and the
    semantic types.
    """
    names = [name.surface for one in _taxonomy() for name in one.names]
    path, each = folder / "MRCONSO.RRF", len(_VOCABULARIES)
    with (
        path.open("w", encoding="utf-8") as conso,
        path.with_name("MRSTY.RRF").open("w", encoding="utf-8") as types,
    ):
        for at in range(rows):
            concept, (source, kind, language) = at // each + 1, _VOCABULARIES[at % each]
            name = f"{names[(at // each * 7 + at % each) % len(names)]} {at // len(names)}"
            conso.write(
                f"C{concept:07d}|{language}|P|L{at:07d}|PF|S{at:07d}|Y|A{at:08d}||M{at:07d}|D{at:06d}|{source}|{kind}"
                f"|D{at:06d}|{name}|0|N|256|\n"
            )
            if at % each == 0:
                semantic, said = _SEMANTIC[concept % 2]
                types.write(f"C{concept:07d}|{semantic}|A1.1|{said}|AT{at:08d}|256|\n")
    return path


if __name__ == "__main__":
    main()
