"""Relations between concepts that trained finders find in test parts; see ``plan.md``.

usage: python -m studies.relations.measure RUNS [--raw NAME ...] [--exports FOLDER]

RUNS has the run folders of ``grids/relations.toml``. Measured: relations between gold mentions,
with intervals over documents; for the runs of ``--raw`` also between the mentions and links that
the shipped model and linker find in raw text, with the ceiling that these leave, and the time of
the step beside that of ``biomed-fast`` without links. With ``--exports``, FOLDER has the 8-bit
exports of runs under the names of the runs. Written: ``results/relations.json``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from msgspec.structs import replace

from fascicle.core.document import GOLD, Document, Mention, Relation
from fascicle.core.patches import apply
from fascicle.evaluation.calibration.reliability import best_threshold, precision_recall
from fascicle.evaluation.scoring.relations import score_relations
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.loading import load, load_relations
from fascicle.runtime.relations import RelationFinder
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.relations import RelationRecipe
from fascicle.text.relations import stated_ends
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.relations.data import judge_statements
from studies.common import result, write_result

_VOCABULARIES: Final = ("MESH:", "NCBIGene:", "NCBITaxon:", "cellosaurus:")
_ROUNDS: Final = 5  # of timed passes, interleaved


def main(argv: Sequence[str] | None = None) -> None:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--raw", nargs="*", default=[])
    parser.add_argument("--exports", type=Path)
    args = parser.parse_args(argv)
    rows: dict[str, Any] = dict(result("relations").get("rows", {}))
    for run in sorted(path.parent for path in args.runs.glob("*/scores.json")):
        dev, gold = _parts(run)
        finder = load_relations(run)
        rows[run.name] = row = {**_facts(run), **_scores(gold, _found(finder, gold))}
        row["related"] = _scores(gold, _found(_by_ends(finder, dev), gold))["ends"]
        export = args.exports / run.name if args.exports else None
        if export and export.is_dir():
            finder = load_relations(export)
            size = sum(file.stat().st_size for file in export.iterdir())
            row["export"] = {"bytes": size, **_scores(gold, _found(finder, gold))}
            row["export"] |= _times(finder, gold)
        if run.name in args.raw:
            row["raw"] = _from_raw_text(load_relations(export or run), gold)
        print(run.name, json.dumps(row))
        write_result("relations", {"rows": rows})


def _parts(run: Path) -> tuple[list[Document], list[Document]]:
    """The documents of dev and test of a run, with the types of its recipe."""
    recipe = parse_any(
        json.loads((run / "recipe.json").read_text(encoding="utf-8")), origin=str(run)
    )
    assert isinstance(recipe, RelationRecipe)
    parts = read_parts(recipe.corpus)
    return list(parts.dev), list(parts.test)


def _by_ends(finder: RelationFinder, dev: Sequence[Document]) -> RelationFinder:
    """The finder with the threshold that is best on dev if types do not count."""
    judged, related = judge_statements(finder, dev)
    curve = precision_recall(
        finder.calibrated(judged.scores), related, gold=sum(judged.gold.values())
    )
    threshold = replace(finder.manifest.threshold, value=best_threshold(curve).threshold)
    other = copy(finder)
    other.manifest = replace(finder.manifest, threshold=threshold)
    return other


def _facts(run: Path) -> dict[str, Any]:
    stored = json.loads((run / "scores.json").read_text(encoding="utf-8"))
    cost = run / "cost.json"  # of ``fascicle bench``
    facts = json.loads(cost.read_text(encoding="utf-8")) if cost.exists() else {}
    return {
        "dev": stored["dev"]["micro"]["f1"],
        "epoch": stored["epoch"],
        "seconds": stored["seconds"],
        **facts,
    }


def _found(finder: RelationFinder, documents: Sequence[Document]) -> list[Document]:
    """Documents with the relations between their mentions."""
    bare = [document.having(relations=()) for document in documents]
    patches = finder.relate(bare, [document.mentions for document in bare])
    return [apply(document, patch) for document, patch in zip(bare, patches, strict=True)]


def _scores(gold: Sequence[Document], found: Sequence[Document]) -> dict[str, Any]:
    """Strict scores and those by ends alone, with intervals over documents."""
    rows = {}
    for name, ends_only in (("strict", False), ("ends", True)):
        scores = score_relations(gold, found, source=GOLD, ends_only=ends_only)
        rates = scores.counts.rates()
        rows[name] = {
            "precision": rates.precision,
            "recall": rates.recall,
            "f1": bootstrap_f1(scores).as_dict(),
        }
    return rows


def _from_raw_text(finder: RelationFinder, gold: Sequence[Document]) -> dict[str, Any]:
    """Scores of relations between mentions and links that the shipped model finds, and the share
    of gold relations whose two concepts it finds.
    """
    predictor = load("biomed", link="auto", threads=1)
    bare = [Document(id=document.id, text=document.text) for document in gold]
    patches = predictor.predict(bare)
    documents = [
        document.having(mentions=tuple(map(_of_gold, patch.add)))
        for document, patch in zip(bare, patches, strict=True)
    ]
    relations = finder.relate(documents, [document.mentions for document in documents])
    found = [
        document.having(mentions=(), relations=patch.relations)
        for document, patch in zip(documents, relations, strict=True)
    ]
    pairs = [
        ({end for _, end in _ends(relation, document)}, _concepts(linked))
        for document, linked in zip(gold, documents, strict=True)
        for relation in document.relations
    ]
    return {
        **_scores(gold, found),
        "reachable": sum(ends <= concepts for ends, concepts in pairs) / len(pairs),
    }


def _ends(relation: Relation, document: Document) -> tuple[tuple[str, Any], ...]:
    return stated_ends(relation, {link.id for m in document.mentions for link in m.links})


def _concepts(document: Document) -> set[str]:
    return {link.id for mention in document.mentions for link in mention.links}


def _of_gold(mention: Mention) -> Mention:
    """The mention with identifiers as the corpora write them."""
    links = []
    for link in mention.links:
        names = [name for name in (link.curie, *link.same) if name.startswith(_VOCABULARIES)]
        if names:
            links.append(replace(link, id=names[0].partition(":")[2]))
    return replace(mention, links=tuple(links))


def _times(finder: RelationFinder, gold: Sequence[Document]) -> dict[str, Any]:
    """Seconds of the recogniser, and of the step over gold mentions, of one thread."""
    recogniser = load("biomed-fast", links=False, threads=1)
    bare = [Document(id=document.id, text=document.text) for document in gold]
    seconds: dict[str, list[float]] = {"recognise": [], "relate": []}
    for _ in range(_ROUNDS):
        start = perf_counter()
        recogniser.predict(bare)
        between = perf_counter()
        finder.relate(bare, [document.mentions for document in gold])
        seconds["recognise"].append(between - start)
        seconds["relate"].append(perf_counter() - between)
    return {name: median(rounds) for name, rounds in seconds.items()}


if __name__ == "__main__":
    main()
