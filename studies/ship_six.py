"""Makes a model of six types that ships: decides by its twin, exports, measures every row, writes
the card.

usage: python -m studies.ship_six REFIT TWIN [--name biomed@2] [--also RUN ...] [--assets
       src/fascicle/assets] python -m studies.ship_six REFIT TWIN --name 4x384 --folder FOLDER
       [--pack basic@2]

REFIT is the run that ships, which learnt from train and dev; TWIN the run of the same recipe from
which dev was kept. ``--also`` names the runs that REFIT started from, for the hours of the card.
``FASCICLE_DATA`` names the corpora. The thresholds are those of ``studies.six.thresholds TWIN``,
which runs before. Written: the model folder with its card, ``results/shipped-NAME.json``, and the
rows of NAME and NAME-fp32 in ``results/six-rows.json``. With ``--folder``, for a size that does not
ship, the model is written there, and nothing is measured; ``--pack`` names the pack that its
decision of documents will ask for names, which ``fascicle calibrate --document`` then fits.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.owned import RECORD
from fascicle.formats import read
from fascicle.loading import load_all_types
from fascicle.settings.decision import DocumentDecision, NameDecision
from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import MANIFEST, read_manifest
from fascicle.text.annotator import Annotator
from fascicle.verbs.export import export
from studies.common import BIOMED, ROOT, write_result
from studies.decision import taught
from studies.six import rows
from studies.six.assembling import fitted, rewritten
from studies.six.card import card
from studies.six.corpora import EVERY
from studies.six.tables import FULL

_TOGETHER = 400  # texts of the check that none depends on the others


def main() -> None:
    """Decides, exports, measures, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("refit", type=Path)
    parser.add_argument("twin", type=Path)
    parser.add_argument("--also", type=Path, nargs="*", default=[])
    parser.add_argument("--name", default=BIOMED)
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    parser.add_argument("--folder", type=Path, help="of a model that does not ship")
    parser.add_argument("--pack", default="", help="with --folder: a shipped pack")
    args = parser.parse_args()
    target = args.assets / args.name
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        manifest, decision = fitted(args.refit, args.twin, place)
        if args.pack:
            asks = DocumentDecision(names=NameDecision(), pack=args.pack)
            manifest = msgspec.structs.replace(
                manifest, decision=msgspec.structs.replace(manifest.decision, document=asks)
            )
        run, made = rewritten(args.refit, manifest, place), place / "int8"
        export(run, made, int8=True, name=args.name)
        (made / RECORD).unlink()  # it is about folders of users
        if args.folder:
            shutil.copytree(made, args.folder)
            return
        if args.name in taught.VARIANTS:
            taught.written(made, args.name)
        export(run, place / "fp32", name=args.name)
        result = measured(args.name, load_all_types(made), load_all_types(place / "fp32"))
        runs = [run_facts(one) for one in (args.refit, args.twin, *args.also)]
        result |= {"decision": decision, "runs": runs}
        result["size_bytes"] = sum(path.stat().st_size for path in made.iterdir())
        write_result(f"shipped-{args.name}", result)
        (made / CARD).write_text(card(read_manifest(made), result), encoding="utf-8")
        (made / MANIFEST).touch()  # a card that is younger than its manifest counts as edited
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)


def measured(name: str, model: Annotator, full: Annotator | None) -> dict[str, Any]:
    """Every number of the card; the rows also go into the results of the study."""
    found = {name: rows.scores_of(model, EVERY)}
    if full:
        found[f"{name}{FULL}"] = rows.scores_of(full, EVERY)
    systems = {one: rows.facts(one, found) for one in found}
    write_result(rows.NAME, rows.with_systems(rows.stored(), systems))
    path = Path(os.environ["FASCICLE_DATA"]) / "drugprot" / "DrugProt_Test.PubTator.gz"
    together = company(model, [rows.bare(one) for one in list(read(path))[:_TOGETHER]])
    return {
        "rows": systems[name]["rows"],
        "fp32": systems[f"{name}{FULL}"]["rows"] if full else {},
        "company": together,
    }


def company(model: Annotator, documents: Sequence[Document]) -> dict[str, int]:
    """How many texts are answered in another way if they are read together with others; it must
    be none.
    """
    together = model.predict(documents)
    changed = sum(
        model.predict([document])[0].add != patch.add
        for document, patch in zip(documents, together, strict=True)
    )
    return {
        "documents": len(documents),
        "changed": changed,
        "mentions": sum(len(patch.add) for patch in together),
    }


def run_facts(run: Path) -> dict[str, Any]:
    """Recipe of a run, and what it took."""
    recipe = json.loads((run / "recipe.json").read_text(encoding="utf-8"))
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    made = json.loads((run / "run.json").read_text(encoding="utf-8"))
    parts = {
        name: one | {"weak": bool(recipe["parts"][name].get("weak_labels"))}
        for name, one in made.get("parts", {}).items()
    }
    return {
        "name": f"{recipe['name']}-s{recipe['seed']}",
        "folder": run.absolute().relative_to(ROOT / "benchmarks" / "runs").as_posix(),
        "hours": sum(json.loads(line)["seconds"] for line in lines) / 3600,
        "accelerator": made["environment"].get("accelerator"),
        "pieces": recipe.get("text", {}).get("pieces", 0),  # that it read without labels
        "parts": parts,
    }


if __name__ == "__main__":
    main()
