"""Thresholds of types, fitted over the mentions of all corpora, beside those fitted on the mean of
corpora.

usage: python -m studies.six.thresholds RUN

RUN is a run from which dev was kept. Both fits are made on its dev parts, and judged there.
``ship_six`` takes the one over mentions: small rows of dev would move the thresholds of all corpora
by chance. Written: ``results/six-thresholds.json``, by the name of the run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fascicle.core.document import Document
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.models.model import TorchScorer, load_model
from fascicle.runtime.inputs import make_reader
from fascicle.runtime.opening import read_tokenizer
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import Manifest, read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.reading import CachedReader
from fascicle.training.engine.folder import RECIPE
from fascicle.training.recogniser.judging import (
    Judge,
    ReplayedScorer,
    SeveralCorpora,
    fit_threshold,
)
from fascicle.training.recogniser.parts import read_data
from studies.common import RESULTS, result, write_result

NAME = "six-thresholds"


class OverMentions(SeveralCorpora):
    """Judges a type by the mentions of all corpora that annotate it together."""

    def f1_of_type(self, scores: Scores, name: str) -> float:
        """F1 of the summed counts."""
        cells = [scores.by_type.get(f"{part}/{name}", Counts()) for part in self.annotates]
        return (
            Counts(
                **{
                    field: sum(getattr(cell, field) for cell in cells)
                    for field in ("tp", "fp", "fn")
                }
            )
            .rates()
            .f1
        )


class Twin:
    """A run from which dev was kept: its network answers once, then from memory."""

    def __init__(self, run: Path, dev: Sequence[Document]) -> None:
        """Opens the chosen model of a run."""
        folder = run / "best"
        manifest = read_manifest(folder)
        unfitted = msgspec.structs.replace(
            manifest.decision, nothing=0.0, nothing_by_type=msgspec.UNSET
        )
        self.manifest = msgspec.structs.replace(manifest, decision=unfitted)
        self._dev = dev
        self._tokenizer = read_tokenizer(folder, self.manifest.tokenizer)
        torch_scorer = TorchScorer(
            model=load_model(folder, self.manifest).eval(), answer=self.manifest.decision.answer
        )
        self._scorer = ReplayedScorer(torch_scorer)
        self._read = CachedReader(dev, reader=make_reader(folder, self.manifest))

    def fitted(self, judge: Judge) -> dict[str, Any]:
        """Thresholds by this judge, and what they give for each type of each corpus."""
        self._scorer.rewind()
        decision, _ = fit_threshold(
            self.manifest, self._tokenizer, self._scorer, self._dev, reader=self._read, judge=judge
        )
        scores = self._scores(msgspec.structs.replace(self.manifest, decision=decision), judge)
        return {
            "thresholds": dict(
                zip(self.manifest.types, decision.nothing_by_type or (), strict=True)
            ),
            "f1": {
                cell: counts.rates().f1 for cell, counts in scores.by_type.items() if counts.support
            },
            "support": {
                cell: counts.support for cell, counts in scores.by_type.items() if counts.support
            },
        }

    def _scores(self, manifest: Manifest, judge: Judge) -> Scores:
        self._scorer.rewind()
        patches = ModelPredictor(manifest, self._tokenizer, self._scorer, read=self._read).predict(
            self._dev
        )
        return judge.scores(
            self._dev, {d.id: p.add for d, p in zip(self._dev, patches, strict=True)}
        )


def main() -> None:
    """Fits both ways, and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    run: Path = parser.parse_args().run
    parts = read_data(msgspec.json.decode((run / RECIPE).read_bytes(), type=Recipe))
    annotates = {one.name: one.annotates for one in parts.several if one.dev}
    twin = Twin(run, parts.dev)
    judges = {
        "mean": SeveralCorpora(annotates=annotates),
        "mentions": OverMentions(annotates=annotates),
    }
    fits = {name: twin.fitted(judge) for name, judge in judges.items()}
    write_result(NAME, {"runs": {**result(NAME).get("runs", {}), run.name: fits}})


def chosen(run: str, results: Path = RESULTS) -> dict[str, float]:
    """The thresholds of the types that a run ships with.

    Raises:
        ValueError: none were fitted for it.
    """
    fits = result(NAME, results).get("runs", {}).get(run)
    if not fits:
        raise ValueError(
            f"no thresholds are fitted for {run}: run studies.six.thresholds with it first"
        )
    found: dict[str, float] = fits["mentions"]["thresholds"]
    return found


if __name__ == "__main__":
    main()
