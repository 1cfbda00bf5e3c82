"""What rules for abbreviations change about the mentions of systems, fitted on dev and scored once
on test.

usage: FASCICLE_DATA=... python -m studies.abbreviations.measure dev | test | shipped

``dev`` fits the rules for each system with stored predictions (``results/combining``), and writes
``results/abbreviation-rules.dev.json``. ``test`` refuses to begin without that file; it writes
``results/abbreviation-rules.json``. ``shipped`` does both for the shipped model over the raw
abstracts, and writes ``results/abbreviation-shipped.json``.

The predictions are of sentences. They are put back into the abstracts that the sentences were made
from, character by character without white space, so that rules see the abstracts as they were
published.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fascicle.core.document import GOLD, Document, Mention, Patch, in_order
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats.files import read
from fascicle.formats.sources import source_sha256
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.decision import AbbreviationRules
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.abbreviations.resolving import Found, apply_rules, fit_rules
from fascicle.training.experiments.grid import read_grid
from studies.abstracts import abstracts_of
from studies.combining.measure import MORE, SYSTEMS, combined, part_of, rule_of
from studies.common import GRIDS, RESULTS, paired, row, write_result

ABSTRACTS: Mapping[tuple[str, str], str] = {
    ("bc5cdr", "dev"): "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
    ("bc5cdr", "test"): "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
    ("ncbi-disease", "dev"): "ncbi-disease/pubtator/dev.PubTator.txt",
    ("ncbi-disease", "test"): "ncbi-disease/pubtator/test.PubTator.txt",
}
CORPORA = ("bc5cdr", "ncbi-disease")
SEEDS = (1, 2, 3, 4, 5)
MODEL = "bc5cdr@1"
DEV, TEST, SHIPPED = "abbreviation-rules.dev", "abbreviation-rules", "abbreviation-shipped"
SINGLE = {  # what a rule does alone; nothing is chosen by it
    "spread = exact": AbbreviationRules(spread="exact"),
    "spread = end": AbbreviationRules(spread="end"),
    "drop": AbbreviationRules(drop=True),
    "one_type": AbbreviationRules(one_type=True),
}


@dataclass(frozen=True, kw_only=True)
class Joined:
    """A part of a corpus as abstracts, with what systems said of it.

    Attributes:
        documents: with gold and abbreviations.
        said: system and seed -> document id -> mentions.
    """

    documents: list[Document]
    said: Mapping[str, Found]

    def score(self, found: Found) -> Scores:
        """Against the gold; scores of mentions play no part."""
        return score(layers(self.documents), found)

    def under(self, found: Found, rules: AbbreviationRules) -> Found:
        """Mentions under rules."""
        return {
            one.id: apply_rules(one, Patch(add=found[one.id]), rules).add for one in self.documents
        }


def joined(corpus: str, name: str) -> Joined:
    """Reads a part, and joins its sentences to abstracts."""
    runs = RESULTS / "combining" / "runs"
    part = part_of(read_grid(GRIDS / "combining.toml"), corpus, name, runs)
    said = {
        f"{system} s{seed}": found
        for system, key in {**SYSTEMS, **MORE}.items()
        for seed in SEEDS
        if (found := part.said(key, seed=seed)) is not None
    }
    chosen = json.loads(
        (RESULTS / "combining" / f"{corpus}.choice.json").read_text(encoding="utf-8")
    )
    members = {system: said[f"{system} s1"] for system in chosen["members"]}
    said["vote chosen on dev"] = combined(members, chosen["members"], rule_of(chosen["rule"]))
    return in_abstracts(corpus, name, part.documents, said)


def in_abstracts(
    corpus: str, name: str, sentences: Sequence[Document], said: Mapping[str, Found]
) -> Joined:
    """Joins the sentences of a part to abstracts.

    Args:
        corpus: one of ``CORPORA``.
        name: ``"dev"`` or ``"test"``.
        sentences: of the part, with gold.
        said: system -> sentence id -> mentions.
    """
    abstracts = list(read(Path(os.environ["FASCICLE_DATA"]) / ABSTRACTS[corpus, name]))
    of = abstracts_of(sentences, abstracts)
    places = dict(_places(sentences, {one.id: one.text for one in abstracts}, of))
    gold = _moved(layers(sentences), places, of)
    documents = [
        msgspec.structs.replace(
            one, mentions=gold.get(one.id, ()), abbreviations=find_abbreviations(one)
        )
        for one in abstracts
    ]
    found_in = {system: _moved(found, places, of) for system, found in said.items()}
    every = {
        system: {one.id: found.get(one.id, ()) for one in abstracts}
        for system, found in found_in.items()
    }
    return Joined(documents=documents, said=every)


def _places(
    sentences: Sequence[Document], texts: Mapping[str, str], of: Mapping[str, str]
) -> Iterator[tuple[str, list[int]]]:
    """For each character of each sentence its place in the abstract."""
    solid = {
        key: [at for at, one in enumerate(text) if not one.isspace()] for key, text in texts.items()
    }
    begun = dict.fromkeys(texts, 0)
    for sentence in sentences:
        abstract = of[sentence.id]
        place = [solid[abstract][begun[abstract]]] * len(sentence.text)
        for at, one in enumerate(sentence.text):
            if not one.isspace():
                place[at] = solid[abstract][begun[abstract]]
                begun[abstract] += 1
        yield sentence.id, place


def _moved(
    found: Found, places: Mapping[str, list[int]], of: Mapping[str, str]
) -> dict[str, tuple[Mention, ...]]:
    """Mentions of sentences as mentions of their abstracts."""
    moved: dict[str, list[Mention]] = {}
    for key, mentions in found.items():
        for one in mentions:
            span = (places[key][one.start], places[key][one.end - 1] + 1)
            moved.setdefault(of[key], []).append(msgspec.structs.replace(one, spans=(span,)))
    return {key: in_order(mentions) for key, mentions in moved.items()}


def fitted(part: Joined, found: Found) -> dict[str, Any]:
    """The rules that are best on a part, and what each of them alone does there."""
    one = fit_rules(
        part.documents, found, merit=lambda changed: part.score(changed).micro.f1, chosen_on=""
    )
    return {
        **one.as_dict(),
        "tried": [[msgspec.to_builtins(rules), merit] for rules, merit in one.tried],
    }


def tested(part: Joined, found: Found, rules: AbbreviationRules) -> dict[str, Any]:
    """Before and after, and ablations."""
    before, after = part.score(found), part.score(part.under(found, rules))
    singles = {name: part.score(part.under(found, one)) for name, one in SINGLE.items()}
    less = {
        "spread": msgspec.structs.replace(rules, spread="no"),
        "drop": msgspec.structs.replace(rules, drop=False),
        "one_type": msgspec.structs.replace(rules, one_type=False),
    }
    on = {name: one for name, one in less.items() if one != rules}
    return {
        "rules": msgspec.to_builtins(rules),
        "before": row(before),
        "after": row(after),
        "difference": paired(after, before),
        "alone": {name: paired(one, before) for name, one in singles.items()},
        "without": {
            name: paired(part.score(part.under(found, one)), before) for name, one in on.items()
        },
    }


def rules_of(chosen: Mapping[str, Any]) -> AbbreviationRules:
    """The rules in a results file."""
    return AbbreviationRules(**{name: chosen[name] for name in ("spread", "drop", "one_type")})


def answers(model: ModelPredictor, documents: Sequence[Document]) -> Found:
    """What a model says of each document, without its gold."""
    bare = [msgspec.structs.replace(one, mentions=()) for one in documents]
    return {one.id: patch.add for one, patch in zip(bare, model.predict(bare), strict=True)}


def shipped() -> dict[str, Any]:
    """The shipped model over raw abstracts."""
    model, places = (
        load_single(MODEL, threads=1),
        {name: ABSTRACTS["bc5cdr", name] for name in ("dev", "test")},
    )
    parts = {}
    for name, place in places.items():
        path = Path(os.environ["FASCICLE_DATA"]) / place
        documents = list(read(path))
        found = answers(model, documents)
        documents = [
            msgspec.structs.replace(
                one, mentions=one.layer(GOLD), abbreviations=find_abbreviations(one)
            )
            for one in documents
        ]
        parts[name] = Joined(documents=documents, said={MODEL: found}), source_sha256(str(path))
    (dev, _), (test, _) = parts["dev"], parts["test"]
    chosen = fitted(dev, dev.said[MODEL])
    return {
        "model": MODEL,
        "data": {name: sha256 for name, (_, sha256) in parts.items()},
        "dev": chosen,
        "test": tested(test, test.said[MODEL], rules_of(chosen)),
    }


def main() -> None:
    """Fits, tests, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("dev", "test", "shipped"))
    step = parser.parse_args().step
    if step == "shipped":
        write_result(SHIPPED, shipped())
        return
    if step == "dev":
        parts = {corpus: joined(corpus, "dev") for corpus in CORPORA}
        value = {
            c: {name: fitted(one, found) for name, found in one.said.items()}
            for c, one in parts.items()
        }
    else:
        chosen = json.loads((RESULTS / f"{DEV}.json").read_text(encoding="utf-8"))["systems"]
        parts = {corpus: joined(corpus, "test") for corpus in CORPORA}
        value = {
            c: {
                name: tested(one, found, rules_of(chosen[c][name]))
                for name, found in one.said.items()
            }
            for c, one in parts.items()
        }
    write_result(DEV if step == "dev" else TEST, {"systems": value})


if __name__ == "__main__":
    main()
