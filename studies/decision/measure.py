"""What the decision of documents changes: each row of the study of six types, and texts that taught
nothing.

usage: python -m studies.decision.measure MODEL SCORES [--name NAME] [--only FILE ...]

SCORES is the folder of ``studies.decision.scores``; MODEL a model that ships, or a folder with
other values. A row is a type of a corpus. Each is scored as the model is without its decision of
documents, and with it: strictly, by overlap, and how far its scores are from the truth. Intervals
are over documents, those of differences are paired. Writes ``results/decision-NAME.json``; with
``--only`` its other rows stay, if the model decides as it did for them.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import numpy as np

from fascicle.core.document import GOLD, Document, Mention, Patch
from fascicle.evaluation.calibration.reliability import (
    expected_calibration_error,
    judged,
    reliability_curve,
)
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.formats import read
from fascicle.loading import load_single
from fascicle.runtime.decoding.deciding import decide_mentions
from fascicle.runtime.decoding.selection import calibrate_scores
from fascicle.runtime.decoding.short_texts import may_be_name
from fascicle.runtime.predictor import ModelPredictor
from fascicle.runtime.ruled import known_names
from fascicle.settings.decision import DocumentDecision, Ends
from fascicle.settings.folders.manifest import Manifest
from fascicle.terms.abbreviations.resolving import apply_rules
from fascicle.text.segment import segmenter
from studies.common import paired, result, write_result
from studies.decision.development import CELLS, NCBI

Found = dict[str, tuple[Mention, ...]]
_LEAST: Final = 40  # letters and digits of a sentence that is known again


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One type of one corpus.

    Attributes:
        name: of the row.
        file: of the kept scores.
        labels: of the gold, which are this type.
        type: of the model.
        foreign: whether no text of the corpus taught.
        given: whether the model saw the sentences of the corpus.
        fresh: whether sentences that occur in taught texts are left out.
        rivals: files of answers of other tools, by their names.
        only: part of the ids that count, as a pattern.
    """

    name: str
    file: str
    labels: tuple[str, ...]
    type: str
    foreign: bool = False
    given: bool = False
    fresh: bool = False
    rivals: Mapping[str, str] = field(default_factory=dict)


def _rows(file: str, labels: Mapping[str, str], **more: Any) -> list[Measured]:
    """A row for each type."""
    kinds = dict.fromkeys(labels.values())
    return [
        Measured(
            name=f"{file} {kind}",
            file=file,
            labels=tuple(k for k, v in labels.items() if v == kind),
            type=kind,
            **more,
        )
        for kind in kinds
    ]


_BIORED: Final = {
    "GeneOrGeneProduct": "Gene",
    "DiseaseOrPhenotypicFeature": "Disease",
    "ChemicalEntity": "Chemical",
    "OrganismTaxon": "Species",
    "CellLine": "CellLine",
}
_GNORMPLUS: Final = dict.fromkeys(("Gene", "FamilyName", "DomainMotif"), "Gene")
_CELLFINDER: Final = {
    "GeneProtein": "Gene",
    "Species": "Species",
    "CellLine": "CellLine",
    "CellType": "CellType",
}
_GENES: Final = dict.fromkeys(("Gene", "GENE", "Protein", "protein", "gene"), "Gene")
_BOTH: Final = {"Disease": "Disease", "Chemical": "Chemical"}
_RIVALS: Final = {"HUNER": "huner_bionlp.ann", "DNorm": "misc_bionlp.ann"}
ROWS: Final = (
    *_rows("cellfinder", _CELLFINDER, foreign=True),
    *_rows("drugprot", {"Gene": "Gene", "Chemical": "Chemical"}, foreign=True),
    *_rows("nlm-chem", {"Chemical": "Chemical"}, foreign=True),
    *(
        row
        for name in ("aimed", "bioinfer", "exptm")
        for row in _rows(name, _GENES, foreign=True, fresh=True)
    ),
    *_rows("cg", {"Cancer": "Disease"}, foreign=True, rivals=_RIVALS),
    *_rows("biored-test", _BIORED),
    *_rows("nlm-gene-test", {"Gene": "Gene"}),
    *_rows("gnormplus-test", _GNORMPLUS),
    *_rows("ncbi-test", NCBI),
    *_rows("bc5cdr-test", _BOTH),
    *_rows("bc2gm-test", {"GENE": "Gene"}, given=True),
    *_rows("jnlpba-test", {"protein": "Gene", **CELLS}),
    *_rows("linnaeus-test", {"Species": "Species"}, given=True),
    *_rows("bioid-test", {"CellLine": "CellLine"}),
    # Outputs that a model keeps apart, for the guideline of one corpus.
    *_rows("bc2gm-test", {"GENE": "Gene.bc2gm"}, given=True),
    *_rows("jnlpba-test", {"cell_line": "CellLine.jnlpba"}),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Scores and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("scores", type=Path)
    parser.add_argument("--name", default="")
    parser.add_argument(
        "--only", nargs="*", default=sorted({row.file for row in ROWS}), metavar="FILE"
    )
    args = parser.parse_args(argv)
    model = load_single(args.model, threads=1)
    manifest = model.manifest
    taught = taught_sentences(Path(os.environ["FASCICLE_DATA"]))
    document = (
        msgspec.to_builtins(manifest.decision.document) if manifest.decision.document else None
    )
    target = f"decision-{args.name or manifest.name}"
    before = result(target)
    rows: dict[str, Any] = (
        dict(before.get("rows", {})) if before.get("document") == document else {}
    )
    for file, of_file in rows_by_file([row for row in ROWS if row.type in manifest.types]).items():
        if file in args.only:
            path = args.scores / manifest.name / f"{file}.jsonl"
            rows |= measured(path, of_file, model, taught=taught)
            write_result(target, {"model": manifest.name, "document": document, "rows": rows})
    for name, one in rows.items():
        print(
            name,
            one["mentions"],
            *(f"{100 * one[k]['f1']:.1f}" for k in ("before", "after")),
            one["less_before"],
        )
    return 0


def rows_by_file(rows: Sequence[Measured]) -> dict[str, list[Measured]]:
    """Returns file -> its rows, whose texts a model then reads once."""
    found: dict[str, list[Measured]] = defaultdict(list)
    for row in rows:
        found[row.file].append(row)
    return found


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a model says of the texts of one file: without its decision of documents, with it,
    and with other ends.
    """

    documents: Sequence[Document]
    before: Found
    after: Found
    ends: Mapping[str, Found]


def answers(path: Path, row: Measured, model: ModelPredictor, *, taught: frozenset[str]) -> Answers:
    """The answers for the file of a row; texts of a few words are read by the model, which may
    read them twice.
    """
    manifest = model.manifest
    documents = [one for one in read(path) if not (row.fresh and sentence_key(one.text) in taught)]
    shown, patches = without_decision(documents, row, manifest)
    before = {one.id: patch.add for one, patch in zip(shown, patches, strict=True)}
    rules = manifest.decision.document or DocumentDecision()
    how: Any = {
        "sentences": segmenter(manifest.reading.segmenter).sentences,
        "knows": known_names(rules),
    }

    def under(changed: DocumentDecision) -> Found:
        return {
            one.id: decide_mentions(one, Patch(add=before[one.id]), changed, **how).add
            for one in shown
        }

    after = under(rules)
    if rules.names:
        short = [one for one in shown if may_be_name(one.text, rules.names)]
        after |= {one.id: patch.add for one, patch in zip(short, model.predict(short), strict=True)}
    ends = {kind: under(rules.with_ends(kind)) for kind in get_args(Ends)}
    return Answers(documents=documents, before=before, after=after, ends=ends)


def without_decision(
    documents: Sequence[Document], row: Measured, manifest: Manifest
) -> tuple[list[Document], list[Patch]]:
    """Returns the texts of documents as a model sees them, and its answers before the decision."""
    shown = [
        msgspec.structs.replace(one, mentions=())
        if row.given
        else Document(id=one.id, text=one.text)
        for one in documents
    ]
    answers = _before(documents, shown, manifest)
    return shown, [Patch(add=mentions) for _, mentions in answers]


def measured(
    path: Path, rows: Sequence[Measured], model: ModelPredictor, *, taught: frozenset[str]
) -> dict[str, dict[str, Any]]:
    """The numbers of the rows of one file."""
    said = answers(path, rows[0], model, taught=taught)
    return {row.name: _numbers(row, said) for row in rows}


def _before(
    documents: Sequence[Document], shown: Sequence[Document], manifest: Manifest
) -> Iterator[tuple[str, tuple[Mention, ...]]]:
    """Answers under the curve and the rules for abbreviations."""
    decision = manifest.decision
    for one, bare in zip(documents, shown, strict=True):
        said = one.layer(manifest.name)
        scores = np.array([mention.score for mention in said], dtype=np.float64)
        if decision.calibration:
            scores = calibrate_scores(scores, decision.calibration)
        changed = tuple(
            msgspec.structs.replace(m, score=s) for m, s in zip(said, scores.tolist(), strict=True)
        )
        patch = Patch(add=changed)
        if rules := decision.abbreviations:
            patch = apply_rules(bare, patch, rules, apart=decision.apart or ())
        yield one.id, patch.add


def _numbers(row: Measured, said: Answers) -> dict[str, Any]:
    documents = said.documents
    gold = gold_of(row, documents)
    first, second = (of_type(found, row.type) for found in (said.before, said.after))
    strict = [score(gold, found) for found in (first, second)]
    numbers: dict[str, Any] = {
        "type": row.type,
        "foreign": row.foreign,
        "given": row.given,
        "documents": len(documents),
        "mentions": sum(map(len, gold.values())),
        "before": _figures(strict[0], gold, first),
        "after": _figures(strict[1], gold, second),
        "less_before": paired(strict[1], strict[0]),
        "ends": {
            name: score(gold, of_type(found, row.type)).micro.f1
            for name, found in said.ends.items()
        },
    }
    if row.rivals:
        numbers["rivals"] = {
            name: _rival(row, documents, gold, file) for name, file in row.rivals.items()
        }
    return numbers


def gold_of(row: Measured, documents: Sequence[Document]) -> Found:
    """Returns id -> gold mentions of the labels of a row, each place once."""
    return {
        one.id: tuple(
            {
                (m.spans): Mention(m.spans, row.type)
                for m in one.layer(GOLD)
                if m.type in row.labels
            }.values()
        )
        for one in documents
    }


def of_type(found: Mapping[str, Sequence[Mention]], kind: str) -> Found:
    """Returns id -> mentions of a type."""
    return {key: tuple(m for m in mentions if m.type == kind) for key, mentions in found.items()}


def _figures(strict: Scores, gold: Found, found: Found) -> dict[str, Any]:
    overlap = score(gold, found, rule="loose").micro
    truth = judged(gold, found)
    return {
        **{name: getattr(strict.micro, name) for name in ("precision", "recall", "f1")},
        "interval": bootstrap_f1(strict).as_dict(),
        "overlap_f1": overlap.f1,
        "predicted": len(truth.scores),
        "calibration_error": expected_calibration_error(
            reliability_curve(truth.scores, truth.right)
        ),
    }


def _rival(row: Measured, documents: Sequence[Document], gold: Found, file: str) -> dict[str, Any]:
    """What another tool answered on the same texts."""
    said: dict[str, set[tuple[int, int]]] = defaultdict(set)
    path = Path(os.environ["FASCICLE_DATA"]) / "rivals-hunflair" / file
    with path.open(encoding="utf-8", newline="") as stream:
        for document, start, end, _, kind in csv.reader(
            stream, delimiter="\t", quoting=csv.QUOTE_NONE
        ):
            if kind == row.type:
                said[document].add((int(start), int(end)))
    found = {
        one.id: tuple(
            Mention((span,), row.type)
            for span in sorted(said[one.id.partition(":")[2]])
            if span[1] <= len(one.text)
        )
        for one in documents
    }
    strict = score(gold, found)
    return {
        "f1": strict.micro.f1,
        "interval": bootstrap_f1(strict).as_dict(),
        "overlap_f1": score(gold, found, rule="loose").micro.f1,
    }


def sentence_key(text: str) -> str:
    """Letters and digits of a text, if they are enough to know it again; empty otherwise."""
    key = re.sub(r"[\W_]+", "", text).lower()
    return key if len(key) >= _LEAST else ""


def taught_sentences(data: Path) -> frozenset[str]:
    """Sentences of the train and dev parts of all corpora that taught."""
    files = [
        *(
            f"{name}/iob/{part}"
            for name in ("ncbi-disease", "bc5cdr", "bionlp11id", "bionlp13cg", "bionlp13pc")
            for part in ("train.tsv", "devel.tsv")
        ),
        *(
            "bc2gm/iob/train.tsv.gz",
            "bc2gm/iob/devel.tsv",
            "jnlpba/iob2/train.iob2.gz",
            "jnlpba/iob2/devel.iob2",
        ),
        *(
            "linnaeus/iob/train.tsv.gz",
            "linnaeus/iob/devel.tsv",
            "craft/iob/train.tsv.gz",
            "craft/iob/devel.tsv",
        ),
        *(
            "gnormplus-bc2gn/Train.PubTator",
            "nlm-gene/Train.PubTator",
            "biored/Train.PubTator.gz",
            "biored/Dev.PubTator",
        ),
    ]
    cut = segmenter("rules@1").sentences
    found = set()
    for file in files:
        for one in read(data / file):
            found |= {
                sentence_key(one.text[slice(*span)]) for span in one.sentences or cut(one.text)
            }
    return frozenset(found - {""})


if __name__ == "__main__":
    raise SystemExit(main())
