"""Strict F1 of models that learnt from thirty documents, and what they forgot.

usage: python -m studies.further.measure FOLDER [--model biomed]

FOLDER has the documents of ``thirty.py`` and the runs of ``grids/further.toml`` in ``grid``. Each
run answers the test documents of its corpus, and 100 abstracts of BioRED test for the types of the
shipped model, with which it is compared. Written: ``results/further.json``.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.formats import read
from fascicle.loading import load, load_single
from fascicle.text.annotator import Annotator
from studies.common import paired, result, write_result
from studies.decision.development import BIORED

CORPORA: Final = ("ncbi", "cellfinder", "dimb-re")
ARMS: Final = ("minilm", "further", "beside")
SEEDS: Final = (1, 2, 3)
_KEPT: Final = 100  # abstracts that show what is forgotten


def main(argv: Sequence[str] | None = None) -> None:
    """Scores, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="biomed")
    args = parser.parse_args(argv)
    shipped = load(args.model, threads=1, links=False)
    kept = _renamed(list(read(Path(os.environ["FASCICLE_DATA"]) / "biored/Test.PubTator"))[:_KEPT])
    rows: dict[str, Any] = dict(result("further").get("rows", {}))
    for name in CORPORA:
        test = list(read(args.folder / f"{name}-test.jsonl"))
        as_it_is = _scores(shipped, test)
        first: dict[int, Scores] = {}
        for arm in ARMS:
            runs = _runs(args.folder / "grid", name, arm)
            if not runs:
                continue
            strict = {seed: _scores(load_single(run), test) for seed, run in runs.items()}
            first = first or strict
            one = min(strict)
            rows[f"{name}: {arm}"] = {
                "f1": [strict[seed].micro.f1 for seed in sorted(strict)],
                "interval": bootstrap_f1(strict[one]).as_dict(),
                "less_minilm": paired(strict[one], first[one]) if one in first else None,
                "less_shipped": paired(strict[one], as_it_is),
                "kept_f1": _scores(load_single(runs[one]), kept).micro.f1,
                "hours": mean(map(_hours, runs.values())),
            }
        rows[f"{name}: as it is"] = {
            "f1": [as_it_is.micro.f1],
            "interval": bootstrap_f1(as_it_is).as_dict(),
            "kept_f1": _scores(shipped, kept).micro.f1,
        }
        write_result("further", {"model": shipped.name, "rows": rows})
    for key, row in rows.items():
        print(key, *(f"{100 * f1:.1f}" for f1 in row["f1"]), f"kept {100 * row['kept_f1']:.1f}")


def _runs(grid: Path, name: str, arm: str) -> dict[int, Path]:
    """The finished runs of an arm, by seed."""
    middle = f"{name}-{arm}" + (f"-{name}" if arm == "beside" else "")
    folders = {seed: grid / f"{middle}-s{seed}" for seed in SEEDS}
    return {seed: folder for seed, folder in folders.items() if (folder / "scores.json").exists()}


def _hours(run: Path) -> float:
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return sum(float(json.loads(line)["seconds"]) for line in lines) / 3600


def _scores(model: Annotator, documents: Sequence[Document]) -> Scores:
    """Strict scores over the types of the gold."""
    gold: dict[str, list[Mention]] = defaultdict(list)
    for one in documents:
        gold[one.id] += [Mention(m.spans, m.type) for m in one.layer(GOLD)]
    types = {m.type for mentions in gold.values() for m in mentions}
    patches = model.predict([Document(id=one.id, text=one.text) for one in documents])
    answers = {
        one.id: tuple(Mention(m.spans, m.type) for m in patch.add if m.type in types)
        for one, patch in zip(documents, patches, strict=True)
    }
    return score({key: tuple(mentions) for key, mentions in gold.items()}, answers)


def _renamed(documents: Sequence[Document]) -> list[Document]:
    return [
        Document(
            id=one.id,
            text=one.text,
            mentions=tuple(
                Mention(m.spans, BIORED[m.type]) for m in one.layer(GOLD) if m.type in BIORED
            ),
        )
        for one in documents
    ]


if __name__ == "__main__":
    main()
