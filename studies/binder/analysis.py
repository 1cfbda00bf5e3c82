"""What a trained bi-encoder gets partly right, and how similar it finds spans and types (*binder*
Tables 8 and 9, A.7).

usage: python -m studies.binder.analysis RUN [RUN ...] [--part test] [--bins 200]

A RUN is the folder of a complete training run whose answering head is a ``binder``; its recipe says
where the corpus is. Of the predictions that the run has written, F1 under four rules, for each
type: whole spans, first characters, last characters, and any character in common (Table 8); and the
predictions that are right but for a boundary, with the number of gold mentions in train that have
the words of each side (Table 9). The model scores all spans of the part again, and the values
become histograms: gold spans, other spans, thresholds, one panel for each run and type (Figures 2
and 3).

Writes ``results/binder_analysis.json``, in which the runs that are not named stay, and
``results/binder-densities/RUN.json`` for each run.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.atomic import atomic_text_writer
from fascicle.core.files.source import Source
from fascicle.errors import InputError
from fascicle.evaluation.breakdown.errors import find_mistakes
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.rules import RuleName
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.predictions import read as read_predictions
from fascicle.loading import read_manifest
from fascicle.models.model import TOKENIZER, TorchScorer, load_model
from fascicle.settings.heads import BinderSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.corpus import Part, read_part
from fascicle.training.experiments.hashes import read_run_recipe
from fascicle.training.labelling import weak_labels
from studies import common
from studies.binder.densities import Histogram, Panel, panels_as_dict
from studies.binder.partly_right import PartlyRight, partly_right, summary
from studies.binder.similarity import largest_similarity, similarities
from studies.common import write_result

RULES: Mapping[str, RuleName] = {"span": "strict", "start": "start", "end": "end", "loose": "loose"}
GROUPS = {"entity": "entity", "non-entity": "other", "threshold": "threshold"}
SHOWN = 20  # pairs of strings


def breakdown(
    documents: Sequence[Document], found: Mapping[str, Sequence[Mention]]
) -> dict[str, dict[str, float]]:
    """F1 of each type, and of all (``"ALL"``), under each rule (Table 8)."""
    rows: dict[str, dict[str, float]] = {}
    for name, rule in RULES.items():
        scores = score(layers(documents), found, rule=rule)
        for kind in scores.by_type:
            rows.setdefault(kind, {})[name] = scores.rates(kind).f1
        rows.setdefault("ALL", {})[name] = scores.micro.f1
    return rows


def pairs(
    documents: Sequence[Document], found: Mapping[str, Sequence[Mention]], train: Iterable[Document]
) -> Any:
    """What is partly right, the most frequent pairs of strings first (Table 9)."""
    frequency = read_lexicon(train).frequency
    listed = partly_right(find_mistakes(layers(documents), found), documents, frequency)
    same: dict[tuple[str, str, str], list[PartlyRight]] = {}
    for pair in listed:
        same.setdefault((pair.type, pair.predicted.lower(), pair.gold.lower()), []).append(pair)
    often = sorted(same.values(), key=lambda group: (-len(group), -group[0].predicted_in_training))[
        :SHOWN
    ]
    return {
        **summary(listed),
        "most_frequent": [{"times": len(g), **g[0].as_dict()} for g in often],
    }


def panels(
    folder: Path, documents: Sequence[Document], *, bins: int
) -> tuple[list[Panel], dict[str, Any]]:
    """The densities of one run, and how much is in them."""
    manifest = read_manifest(folder / "best")
    tokenizer = PieceTokenizer.from_file(folder / "best" / TOKENIZER, pad=manifest.tokenizer.pad)
    scorer = TorchScorer(model=load_model(folder / "best", manifest))
    bound = largest_similarity(scorer, manifest)
    histograms = {
        name: [Histogram(low=-bound, high=bound, bins=bins) for _ in manifest.types]
        for name in GROUPS
    }
    for values in similarities(documents, manifest=manifest, tokenizer=tokenizer, scorer=scorer):
        for name, field in GROUPS.items():
            for histogram, of_type in zip(histograms[name], getattr(values, field), strict=True):
                histogram.add(of_type)
    made = [
        Panel(
            title=f"{folder.name}: {kind}", groups={name: histograms[name][at] for name in GROUPS}
        )
        for at, kind in enumerate(manifest.types)
    ]
    gold = Counter(m.type for d in documents for m in d.layer(GOLD))
    told = {
        kind: {"gold": gold[kind], **{name: histograms[name][at].total for name in GROUPS}}
        for at, kind in enumerate(manifest.types)
    }
    return made, {"scale": bound, "types": told}


def checked(folder: Path) -> Recipe:
    """The recipe of a run.

    Raises:
        InputError: no complete run, or its answering head is no bi-encoder.
    """
    if not (folder / "scores.json").exists():
        raise InputError(f"{folder} holds no complete run; give the folder of a training run")
    recipe = read_run_recipe(folder)
    if not isinstance(recipe.heads()[recipe.answer()], BinderSettings):
        raise InputError(
            f"the run in {folder} has the family {recipe.model.head.family!r}; give one of 'binder'"
        )
    return recipe


def analysed(folder: Path, part: Part, *, bins: int) -> tuple[dict[str, Any], list[Panel]]:
    """Everything about one run."""
    recipe = checked(folder)
    documents, labels = read_part(recipe.corpus, part), weak_labels(recipe)
    if not documents:
        raise InputError(f"the recipe of {folder} names no {part} part; choose another --part")
    train = read_part(recipe.corpus, "train")
    said = {
        p.id: p.mentions
        for p in read_predictions(Source(path=str(folder / "predictions" / f"{part}.tsv")))
    }
    found = {d.id: said.get(d.id, ()) for d in documents}
    made, told = panels(folder, documents, bins=bins)
    value = {
        "part": part,
        "recipe": recipe.name,
        "f1": breakdown(documents, found),
        "partly_right": pairs(documents, found, train if labels is None else labels.of(train)),
        "similarities": told,
    }
    return value, made


def main() -> None:
    """Parses, measures, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--part", choices=("test", "dev"), default="test")
    parser.add_argument("--bins", type=int, default=200)
    args = parser.parse_args()
    torch.set_num_threads(1)
    path = common.RESULTS / "binder_analysis.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else {}
    place = common.RESULTS / "binder-densities"
    place.mkdir(parents=True, exist_ok=True)
    for folder in args.runs:
        rows[folder.name], own = analysed(folder, args.part, bins=args.bins)
        with atomic_text_writer(place / f"{folder.name}.json", overwrite=True) as stream:
            stream.write(json.dumps(panels_as_dict(own)) + "\n")
        print(json.dumps({folder.name: rows[folder.name]["f1"]}, indent=1), flush=True)
    write_result("binder_analysis", {"runs": rows})


if __name__ == "__main__":
    main()
