"""Makes the tables of ``packs/basic.toml`` that join a vocabulary of 2026 with another, or choose
from it.

usage: python -m studies.packs.fresh FOLDER

``FASCICLE_DATA`` names the data. Of names that older vocabularies lack, those are taken that occur
in its open texts (142 million characters; no text of a test part is among them). Written: a table
for each source, and what was counted to ``results/pack-fresh.json``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from studies.common import write_result

_TOKEN: Final = re.compile(r"[A-Za-z]+|\d+|[^\sA-Za-z\d]")
_LONGEST: Final = 9  # tokens of a name that is looked for
_UNIQUE: Final = re.compile(r" <[^<>]+>$")
_COLUMNS: Final = ("id", "name", "kind", "type", "parents", "obsolete", "replaced_by")
# names of cell lines that mean no word
_LINE: Final = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[^#(\[:]{4,18}")
_SEVERAL: Final = 2  # occurrences
# Stems of the international nonproprietary names of drugs, as the World Health Organization lists them.
_STEMS: Final = (
    "abine acestat afenacin afil apine asone astine azepam azolam bamate begron benazine bulin caine cept cetrapib ciclib "
    "cillin ciguat clax clone cog conazole coxib curium curonium cycline degib delpar dipine ditan "
    "domide dustat ectin entan espib feron fenac fentanil fexor fibrate floxacin fotase fungin gatran "
    "gepant gestrel gliflozin glucerase glitazone gliptin grastim grel grelor idacin idone imod ixibat leptin leucel "
    "leukin lidinium lukast lutamide mab mantine melteon micin mustine mycin nexor nib nidazole olol onide "
    "onidase orexant oxacin oxetine oxicam parib parin parinux penem peridone pezil phylline "
    "piprazole pitant plase platin poetin pramine prazan prazole pril profen prost quine racetam relin relix "
    "renone rizine rubicin sartan sen sertib setron sib siran solone stat statin stigmine sulfase tadine taxel tecan "
    "terol tide tidine trexed triptan triptyline tropium trospium vaptan vir vudine xaban zodone zolid zomib"
)
_DRUG: Final = re.compile(rf"[A-Z][a-z]{{2,}}({'|'.join(_STEMS.split())})|Cef[a-z]+")
_DISEASES: Final = ("C536", "C537", "C563", "C564", "C565", "C566", "C567")  # records of MeSH
Row = dict[str, str]


class Open:
    """Counts how often names occur in the open texts."""

    def __init__(self, data: Path) -> None:
        """Starts with no name."""
        self._texts = sorted(data.glob("text-*/*.jsonl.gz"))
        self._wanted: dict[bool, dict[str, dict[int, set[tuple[str, ...]]]]] = {True: {}, False: {}}
        self._counts: dict[bool, Counter[tuple[str, ...]]] = {True: Counter(), False: Counter()}

    def want(self, name: str, *, cased: bool) -> None:
        """Adds a name; a cased one counts as it is written."""
        tokens = _tokens(name, cased=cased)
        if 0 < len(tokens) <= _LONGEST:
            self._wanted[cased].setdefault(tokens[0], {}).setdefault(len(tokens), set()).add(tokens)

    def read(self) -> None:
        """Counts all names in one pass."""
        for path in self._texts:
            with gzip.open(path, "rt", encoding="utf-8") as stream:
                for line in stream:
                    one = json.loads(line)
                    for text in (
                        one.get("title"),
                        one.get("abstract"),
                        *(one.get("paragraphs") or ()),
                    ):
                        self._count(text or "", cased=True)
                        self._count((text or "").lower(), cased=False)

    def _count(self, text: str, *, cased: bool) -> None:
        tokens, wanted, counts = _TOKEN.findall(text), self._wanted[cased], self._counts[cased]
        for at, token in enumerate(tokens):
            if token in wanted:
                for size, names in wanted[token].items():
                    if (name := tuple(tokens[at : at + size])) in names:
                        counts[name] += 1

    def count(self, name: str, *, cased: bool) -> int:
        """How often a name occurs."""
        return self._counts[cased][_tokens(name, cased=cased)]


def _tokens(name: str, *, cased: bool) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(name if cased else name.lower()))


def main() -> None:
    """Writes the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    data = Path(os.environ["FASCICLE_DATA"])
    args.folder.mkdir(parents=True, exist_ok=True)
    texts = Open(data)
    makers = {
        "mouse": mouse,
        "rat": rat,
        "taxa": taxa,
        "lines": lines,
        "mesh": mesh,
        "mondo": mondo,
        "drugs": drugs,
    }
    finishing = {name: maker(data, texts) for name, maker in makers.items()}
    texts.read()
    counts = {}
    for name, finish in finishing.items():
        rows = list(finish())
        write(args.folder / f"{name}.tsv", rows)
        counts[name] = {
            "concepts": len({row["id"] for row in rows}),
            "names": sum(bool(row.get("name")) for row in rows),
            "replaced": sum(bool(row.get("replaced_by")) for row in rows),
        }
        print(name, counts[name], flush=True)
    write_result("pack-fresh", {"tables": counts})


def write(path: Path, rows: Iterable[Row]) -> None:
    """Writes a table with a header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(
            stream, _COLUMNS, delimiter="\t", quoting=csv.QUOTE_NONE, escapechar="\\", restval=""
        )
        stream.write("\t".join(_COLUMNS) + "\n")
        writer.writerows(rows)


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a packed table with a header."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def _several(cell: str) -> list[str]:
    return [one for one in (cell or "").split("|") if one]


_Finish = Callable[[], Iterator[Row]]


def mouse(data: Path, texts: Open) -> _Finish:
    """Symbols of MGI of the genes for proteins that NCBI Gene has, by its references to MGI."""
    table = data / "dict-gene-model-organisms" / "Mus_musculus.gene_info.gz"
    found, known = {}, defaultdict[str, set[str]](set)
    for row in rows_of(table):
        known[row["GeneID"]] |= {
            row["Symbol"],
            row["Symbol_from_nomenclature_authority"],
            *_several(row["Synonyms"]),
        }
        for one in _several(row["dbXrefs"]):
            if one.startswith("MGI:MGI:"):
                found[one.removeprefix("MGI:")] = row["GeneID"]
    return _symbols(data / "fresh-2026" / "mgi.tsv.gz", "protein coding gene", found, known, texts)


def rat(data: Path, texts: Open) -> _Finish:
    """The same of RGD, by the identifiers of RGD in the table of NCBI's."""
    found, known = {}, defaultdict[str, set[str]](set)
    for row in rows_of(data / "dict-gene-model-organisms" / "rat-rgd.tsv.gz"):
        found[row["rgd"]] = row["ncbi_gene"]
        known[row["ncbi_gene"]].add(row["name"])
    return _symbols(data / "fresh-2026" / "rgd.tsv.gz", "protein-coding", found, known, texts)


def _symbols(
    path: Path, kind: str, found: dict[str, str], known: dict[str, set[str]], texts: Open
) -> _Finish:
    rows = [row for row in rows_of(path) if row["gene_type"] == kind and row["id"] in found]
    rows = [
        row
        for row in rows
        if row["symbol"] in known[found[row["id"]]] or row["status"] == "approved"
    ]
    for row in rows:
        for name in (*_several(row["alias_symbols"]), *_several(row["previous_symbols"])):
            texts.want(name, cased=True)

    def finish() -> Iterator[Row]:
        for row in rows:
            gene = found[row["id"]]
            yield {"id": gene, "name": row["symbol"], "kind": "label"}
            for column, of in (("alias_symbols", "exact"), ("previous_symbols", "previous")):
                for name in _several(row[column]):
                    if name in known[gene] or texts.count(name, cased=True):
                        yield {"id": gene, "name": name, "kind": of}

    return finish


def taxa(data: Path, texts: Open) -> _Finish:
    """Taxa of 2026 that occur in texts by a scientific or another name, or that older lists
    have.
    """
    older = {
        f"NCBITaxon:{row[1]}" for row in _pairs(data / "dict-species-reach" / "species.tsv.gz")
    }
    rows = list(rows_of(data / "fresh-2026" / "ncbitaxon.tsv.gz"))
    for row in rows:
        label = _UNIQUE.sub("", row["label"])
        texts.want(label, cased=" " not in label)
        texts.want(label, cased=False)
        for name in _several(row["synonyms"]):
            texts.want(name, cased=False)

    def names(row: Row) -> Iterator[Row]:
        label = _UNIQUE.sub("", row["label"])
        cased, lower = (texts.count(label, cased=one) for one in (True, False))
        is_word = " " not in label and lower > 2 * cased  # such as Cancer, Thymus
        if (cased if " " not in label else lower) and not is_word:
            yield {"name": label, "kind": "label"}
        for name in _several(row["synonyms"]):
            if name != label and texts.count(name, cased=False) >= _SEVERAL:
                yield {"name": name, "kind": "exact"}

    def finish() -> Iterator[Row]:
        for row in rows:
            several = list(names(row))
            if not several and row["id"] not in older:
                continue
            yield {"id": row["id"], "parents": row["parent"]}
            label = _UNIQUE.sub("", row["label"])
            if row["id"] in older and not any(one["name"] == label for one in several):
                several.insert(0, {"name": label, "kind": "label"})
            yield from ({"id": row["id"], **one} for one in several)

    return finish


def _pairs(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from (line.rstrip("\n").split("\t") for line in stream)


def lines(data: Path, texts: Open) -> _Finish:
    """Cell lines of Cellosaurus whose names have a letter and a digit, and occur in texts
    several times.
    """
    rows = [
        row
        for row in rows_of(data / "fresh-2026" / "cellosaurus-labels.tsv.gz")
        if _LINE.fullmatch(row["label"])
    ]
    rows = [row for row in rows if sum(one.isalnum() for one in row["label"]) >= 4]
    for row in rows:
        texts.want(row["label"], cased=True)

    def finish() -> Iterator[Row]:
        for row in rows:
            if texts.count(row["label"], cased=True) >= _SEVERAL:
                yield {"id": row["id"], "name": row["label"], "kind": "label"}

    return finish


def mesh(data: Path, texts: Open) -> _Finish:
    """New headings of MeSH 2026 that replaced a record of equal name, or that are names of
    diseases.
    """
    older = {row["id"] for row in rows_of(data / "dict-mesh-2024" / "mesh-descriptors-2024.tsv.gz")}
    records, names = defaultdict[str, set[str]](set), defaultdict[str, list[str]](list)
    for row in rows_of(data / "dict-mesh-names-derived" / "mesh-names-open.tsv.gz"):
        if row["id"].startswith("C") and row["source"] not in ("drugbank", "lincs"):
            records[row["name"].lower()].add(row["id"])
            names[row["id"]].append(row["name"])
    diseases = {
        row["text"].lower()
        for row in rows_of(data / "lexica-biolexica" / "disease-lexicon.tsv.gz")
        if row["curie"].lower().startswith(("doid:", "mondo:")) and row["source"] != "hp"
    }
    headings = [
        row
        for row in rows_of(data / "fresh-2026" / "mesh-2026-labels.tsv.gz")
        if row["id"] not in older
    ]

    def finish() -> Iterator[Row]:
        for row in headings:
            old, label = (
                records.get(row["label"].lower(), set()),
                {"id": row["id"], "name": row["label"]},
            )
            if len(old) == 1:
                (record,) = old
                kind = "Disease" if record.startswith(_DISEASES) else "Chemical"
                yield {**label, "kind": "label", "type": kind}
                yield from (
                    {"id": row["id"], "name": name, "kind": "exact", "type": kind}
                    for name in names[record]
                )
                yield {"id": record, "type": kind, "obsolete": "1", "replaced_by": row["id"]}
            elif row["label"].lower() in diseases:
                yield {**label, "kind": "label", "type": "Disease"}

    return finish


def drugs(data: Path, texts: Open) -> _Finish:
    """Drugs of DrugBank's open vocabulary whose name has a stem of nonproprietary names, and that
    no open source gives an identifier of MeSH as a chemical; where MeSH has a heading of this name,
    its identifier stands.
    """
    records = {
        row["name"].lower()
        for row in rows_of(data / "dict-mesh-names-derived" / "mesh-names-open.tsv.gz")
        if row["source"] not in ("drugbank", "lincs")
    }
    headings, labels = {}, {}
    for row in rows_of(data / "dict-mesh-2024" / "mesh-descriptors-2024.tsv.gz"):
        headings.setdefault(row["name"].lower(), row["id"])
        if row["kind"] == "label":
            labels[row["id"]] = row["name"]
    for row in rows_of(data / "fresh-2026" / "mesh-2026-labels.tsv.gz"):
        headings.setdefault(row["label"].lower(), row["id"])
        labels[row["id"]] = row["label"]

    def finish() -> Iterator[Row]:
        for number, name in _drugs(data / "dict-drugbank-open" / "drugbank-vocabulary.csv.gz"):
            heading = headings.get(name.lower())
            if heading:
                yield {"id": f"MESH:{heading}", "name": labels[heading], "kind": "label"}
                if name.lower() != labels[heading].lower():
                    yield {"id": f"MESH:{heading}", "name": name, "kind": "exact"}
            elif name.lower() not in records:
                yield {"id": f"drugbank:{number}", "name": name, "kind": "label"}

    return finish


def _drugs(path: Path) -> Iterator[tuple[str, str]]:
    """The number and the common name of each drug."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        next(stream)  # Column1;Column2;...
        for row in csv.DictReader(stream, delimiter=";"):
            if _DRUG.fullmatch(row["Common name"]):
                yield row["DrugBank ID"], row["Common name"]


def mondo(data: Path, texts: Open) -> _Finish:
    """Labels of MONDO 2026, and new synonyms that occur in texts; their scope is not stated, so
    they are related.

    Synonyms that older vocabularies have stay as they are there: a name that two members of a set
    bring would count twice, against the concept of MeSH that has it too.
    """
    rows = list(rows_of(data / "fresh-2026" / "mondo.tsv.gz"))
    older = _names_of_diseases(data, {row["id"] for row in rows if row["deprecated"] == "1"})
    for row in rows:
        for name in (row["label"], *_several(row["synonyms"])):
            texts.want(name or "", cased=False)

    def finish() -> Iterator[Row]:
        for row in rows:
            base = {"id": row["id"], "type": "Disease"}
            if row["deprecated"] == "1":
                if row["replaced_by"]:
                    yield {**base, "obsolete": "1", "replaced_by": row["replaced_by"]}
                continue
            yield {**base, "name": row["label"], "kind": "label", "parents": row["parents"]}
            for name in _several(row["synonyms"]):
                if name.lower() not in older and texts.count(name, cased=False):
                    yield {**base, "name": name, "kind": "related"}

    return finish


def _names_of_diseases(data: Path, deprecated: Collection[str]) -> set[str]:
    """The names of DOID, MONDO and MeSH in older tables, in lower case, without those of
    deprecated concepts.
    """
    names = {
        row["name"].lower()
        for row in rows_of(data / "dict-mesh-2024" / "mesh-descriptors-2024.tsv.gz")
    }
    for row in rows_of(data / "lexica-biolexica" / "disease-lexicon.tsv.gz"):
        identifier = row["curie"].upper()
        if (
            identifier.startswith(("DOID:", "MONDO:"))
            and row["source"] != "hp"
            and identifier not in deprecated
        ):
            names.add(row["text"].lower())
    return names


if __name__ == "__main__":
    main()
