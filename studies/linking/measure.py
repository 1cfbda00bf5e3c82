"""Measures linkers with gold mentions; see ``plan.md``.

    python -m studies.linking.measure PACK INDEX OUT [--corpora CORPUS ...] [--part dev|test]
    [--rivals]

``INDEX`` is a folder with the index of the pack, such as any linker of it. ``OUT`` is a JSON file,
in which corpora that were not asked for stay as they are. With ``--part dev``, linkers are fitted
without what is chosen on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal

import msgspec

from fascicle.core.document import Document
from fascicle.evaluation.link_report import LinkSystem, links_report
from fascicle.linking.fitting import FittedLinker, fit_linker
from fascicle.linking.index import NameIndex
from fascicle.linking.linker import Linker
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.link_cases import Reference, TrainingNames, cases_of_linker
from fascicle.version import VERSION
from studies.linking.corpora import NAMES, documents
from studies.linking.rivals import Rivals

FITTED, ORDERED = "fitted", "order of tiers"
RESAMPLES = 1000


def fitted_linker(pack: Pack, index: NameIndex, fitted: FittedLinker) -> Linker:
    """The linker that was fitted."""
    return Linker(pack, index=index, memory=fitted.memory, rankers=fitted.rankers)


def reference_of(fit: Iterable[Document], test: list[Document], pack: Pack) -> Reference:
    """The gold of a part, and what the documents of the fit have seen."""
    return Reference(documents=test, packs=(pack,), seen=TrainingNames.of(fit))


def report_of(systems: list[LinkSystem], reference: Reference) -> dict[str, Any]:
    """All figures of systems on gold, without examples, which texts of others would be."""
    return links_report(
        systems,
        documents=[one.id for one in reference.documents],
        concepts=reference.concepts,
        is_trained=True,
        examples=0,
        resamples=RESAMPLES,
    )


def measure(
    name: str,
    pack: Pack,
    index: NameIndex,
    *,
    part: Literal["dev", "test"],
    others: Rivals | None = None,
) -> dict[str, Any]:
    """The figures of a corpus, as they are written: the fitted linker, the stated order of
    tiers, and rivals.
    """
    fit = documents(name, "fit", choosing=part == "dev")
    fitted = fit_linker(pack, index, fit)
    reference = reference_of(fit, documents(name, part), pack)
    vocabularies = {kind: ranker.vocabularies for kind, ranker in fitted.rankers.items()}
    linkers = {
        FITTED: fitted_linker(pack, index, fitted),
        ORDERED: Linker(pack, index=index, vocabularies=vocabularies),
    }
    systems = [
        LinkSystem(name=title, cases=tuple(cases_of_linker(reference, linker)), has_candidates=True)
        for title, linker in linkers.items()
    ]
    systems += others.systems(reference, vocabularies) if others is not None else []
    return {"links": report_of(systems, reference), "rankers": msgspec.to_builtins(fitted.rankers)}


def told(pack: Pack) -> dict[str, str]:
    """What figures depend on."""
    return {"pack": pack.full_name, "version": VERSION, "date": f"{date.today()}"}


def written(path: Path) -> dict[str, Any]:
    """What a file of results has already."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Writes results."""
    path.write_text(json.dumps(found, sort_keys=True) + "\n", encoding="utf-8")


def parser_of(described: str | None) -> argparse.ArgumentParser:
    """A parser with what all scripts of the study take."""
    parser = argparse.ArgumentParser(description=described)
    parser.add_argument("pack", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpora", nargs="+", choices=NAMES, default=list(NAMES))
    return parser


def opened(args: argparse.Namespace) -> tuple[Pack, NameIndex]:
    """The pack of the study and its index."""
    pack = Pack.open(args.pack)
    return pack, NameIndex.open(args.index, pack)


def each_corpus(
    args: argparse.Namespace, pack: Pack, measured: Callable[[str], Mapping[str, Any]]
) -> None:
    """Measures the corpora that are asked for one by one, and writes each when it is done."""
    for name in args.corpora:
        found = {**told(pack), **measured(name)}
        write(args.out, {**written(args.out), name: found})


def main() -> None:
    """Measures corpora one by one."""
    parser = parser_of(__doc__)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument(
        "--rivals", action="store_true", help="other linkers too, of the folder that RIVALS names"
    )
    args = parser.parse_args()
    pack, index = opened(args)
    others = Rivals(pack, index) if args.rivals else None
    each_corpus(args, pack, lambda name: measure(name, pack, index, part=args.part, others=others))


if __name__ == "__main__":
    main()
