"""Are names as people write them linked rightly? Lists of our own in neutral sentences; see
``plan.md``.

python -m studies.concepts.names [--name NAME] [--lists LIST ...] [--open-b]

Writes ``results/concepts-names-NAME.json``. Half B of the everyday names is not shown without
``--open-b``. What is not right is printed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

import fascicle
from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.linking.opening import Linking, find
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS
from studies.common import result, write_result
from studies.concepts.neutral import by_hash

_LISTS: Final = Path(__file__).with_name("lists")
_DRAWN: Final[Mapping[str, int]] = MappingProxyType(
    {"symbol": 100_000, "previous_symbols": 1_000}  # all of the first
)
_READ: Final = 500  # symbols that a model reads
_LABELS: Final = 400  # of diseases
_LABEL: Final = NAME_KINDS.index("label")
_SENTENCES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Disease": ("Patients with [] were followed for a year.", "The risk of [] rose with age."),
        "Chemical": (
            "The patients received [] for two weeks.",
            "Levels of [] were measured again.",
        ),
        "Gene": ("[] was measured in human plasma.", "Expression of [] was studied in patients."),
        "": ("We looked at [] again.", "The study used []."),
    }
)
_DEFINED: Final = "{long} ({short}) was studied. In patients [] was seen again."
_HUMAN: Final = "The human [] was studied."


class _Case(NamedTuple):
    """A name in a text, with the concepts that are right."""

    name: str
    type: str
    text: str
    concepts: frozenset[str]


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_LISTS / f"{name}.tsv").open(encoding="utf-8") as stream:
        yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def _case(row: Mapping[str, str], sentence: str) -> _Case:
    return _Case(row["name"], row["type"], sentence, frozenset(row["concepts"].split("|")))


def _in_one_sentence(row: Mapping[str, str]) -> _Case:
    sentences = _SENTENCES.get(row["type"], _SENTENCES[""])
    return _case(row, sentences[int(by_hash(row["name"])[1], 16) % 2])


def _everyday(half: int) -> Iterator[_Case]:
    for row in _rows("everyday"):
        if int(by_hash(f"{row['type']} {row['name']}")[-1], 16) % 2 == half:
            yield _in_one_sentence(row)


def _shorts() -> Iterator[_Case]:
    for row in _rows("shorts"):
        yield from (_case(row, sentence) for sentence in _SENTENCES[row["type"]])


def _defined() -> Iterator[_Case]:
    for row in _rows("shorts"):
        long = row["long"][0].upper() + row["long"][1:]
        yield _case(row, _DEFINED.format(long=long, short=row["name"]))


def _symbols(column: str) -> Iterator[_Case]:
    """Symbols of genes of proteins, drawn by hash; of previous ones those that no gene has as
    its symbol now.
    """
    path = Path(os.environ["FASCICLE_DATA"]) / "fresh-2026" / "hgnc.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    now = {row["symbol"].upper() for row in rows}
    genes: dict[str, set[str]] = {}
    for row in rows:
        if row["locus_type"] == "gene with protein product" and row["ncbi_gene"]:
            for name in filter(None, row[column].split("|")):
                if column == "symbol" or name.upper() not in now:
                    genes.setdefault(name, set()).add(f"NCBIGene:{row['ncbi_gene']}")
    for name in sorted(genes, key=by_hash)[: _DRAWN[column]]:
        yield _Case(name, "Gene", "We looked at [] again.", frozenset(genes[name]))


def _loose_labels() -> Iterator[_Case]:
    """Labels of DOID and MONDO, by the hash of their identifiers, that are also a name, but not
    the label, of another concept of MeSH.
    """
    pack = Pack.open(DEFAULT_LINKER)
    rows = np.flatnonzero(np.isin(pack.prefix_rows, list(map(pack.prefixes.index, _OTHERS))))
    curies = pack.curies.strings.take(rows)
    order = sorted(zip(curies, rows.tolist(), strict=True), key=lambda one: by_hash(one[0]))
    labels = {pack.label_at(row).lower(): (row, pack.label_at(row)) for _, row in reversed(order)}
    drawn = (labels[pack.label_at(row).lower()] for _, row in order)
    loose = (one for one in dict.fromkeys(drawn) if _is_loose(pack, *one))
    for row, label in islice(loose, _LABELS):
        yield _Case(label, "Disease", "We looked at [] again.", frozenset({pack.curie(row)}))


def _is_loose(pack: Pack, row: int, label: str) -> bool:
    """Whether MeSH has the label of a concept as another name of another disease."""
    _, terms = pack.rows([key(label, 2)])
    others = pack.active.concept[terms].astype(np.int64)
    others = others[
        (pack.active.kind[terms] != _LABEL) & (pack.type_rows[others] == pack.type_rows[row])
    ]
    leads = pack.leads.of(np.append(others, row))
    return any(
        pack.curie(other).startswith("MESH:") and lead != leads[-1]
        for other, lead in zip(others.tolist(), leads[:-1].tolist(), strict=True)
    )


_CASES: Final[Mapping[str, Callable[[], Iterator[_Case]]]] = MappingProxyType(
    {
        "everyday A": lambda: _everyday(0),
        "everyday B": lambda: _everyday(1),
        "proteins": lambda: map(_in_one_sentence, _rows("proteins")),
        "symbols": lambda: _symbols("symbol"),
        "previous symbols": lambda: _symbols("previous_symbols"),
        "labels before loose names of MeSH": _loose_labels,
        "short forms": _shorts,
        "short forms, defined": _defined,
    }
)
_OTHERS: Final = ("DOID", "MONDO")
_ANNOTATED: Final = "human SYMBOL by annotate"


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--name", default="now")
    parser.add_argument(
        "--lists", nargs="*", default=[one for one in _CASES if one != "everyday B"]
    )
    parser.add_argument(
        "--annotate", action="store_true", help="also read official symbols with the model biomed"
    )
    parser.add_argument(
        "--open-b", action="store_true", help="open half B too, which is for the end"
    )
    args = parser.parse_args(argv)
    target, linker = f"concepts-names-{args.name}", find(DEFAULT_LINKER).opened()
    lists = result(target).get("lists", {})
    for title in (*args.lists, *(["everyday B"] if args.open_b else [])):
        lists[title] = _judge(title, list(_CASES[title]()), linker)
    if args.annotate:
        lists[_ANNOTATED] = _annotated()
    write_result(target, {"lists": lists})
    return 0


def _judge(title: str, cases: Sequence[_Case], linker: Linking) -> dict[str, int]:
    documents = [_document(number, case) for number, case in enumerate(cases)]
    counts = Counter[str]()
    for case, patch in zip(cases, linker.predict(documents), strict=True):
        ((_, links),) = patch.links
        counts[verdict := _verdict(case, links)] += 1
        if verdict != "right":
            print(
                title,
                verdict,
                case.name,
                sorted(case.concepts),
                [(o.curie, o.name, o.score, o.tier) for o in links],
            )
    print(title, dict(counts))
    return {
        "names": counts.total(),
        **{kind: counts[kind] for kind in ("right", "wrong", "none", "ambiguous")},
    }


def _document(number: int, case: _Case) -> Document:
    before, _, behind = case.text.partition("[]")
    spans = ((len(before), len(before) + len(case.name)),)
    return Document(
        id=f"{number}", text=f"{before}{case.name}{behind}", mentions=(Mention(spans, case.type),)
    )


def _verdict(case: _Case, links: Sequence[Link]) -> str:
    if len(links) > 1:
        return "ambiguous"
    if links[0].nil:
        return "none"
    return "right" if case.concepts & {links[0].curie, *links[0].same} else "wrong"


def _annotated() -> dict[str, int]:
    """Reads official symbols in a sentence as ``fascicle annotate`` does."""
    cases = list(_CASES["symbols"]())[:_READ]
    before, _, behind = _HUMAN.partition("[]")
    documents = [
        Document(id=str(at), text=f"{before}{one.name}{behind}") for at, one in enumerate(cases)
    ]
    counts = Counter[str]()
    for case, document in zip(
        cases, fascicle.load("biomed", link=DEFAULT_LINKER).stream(documents), strict=True
    ):
        span = (len(before), len(before) + len(case.name))
        links = [
            one.links for one in document.mentions if one.type == case.type and one.spans == (span,)
        ]
        counts[_verdict(case, links[0]) if links and links[0] else "not found"] += 1
    return {"names": counts.total(), **counts}


if __name__ == "__main__":
    raise SystemExit(main())
