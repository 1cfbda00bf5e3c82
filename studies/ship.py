"""Makes the shipped model from its training runs: averages their weights, exports, measures, writes
the card.

usage: python -m studies.ship RUN [RUN ...] [--name bc5cdr@1] [--assets src/fascicle/assets]

``FASCICLE_DATA`` names the corpora. Written: the model folder with its card, and
``results/shipped-NAME.json``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from fascicle.loading import load
from fascicle.models.export.folders import export_model
from fascicle.models.model import TorchScorer, load_model
from fascicle.runtime.inputs import make_reader
from fascicle.runtime.predictor import ModelPredictor, Scorer, Tables
from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import Manifest, read_manifest, write_manifest
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import CachedReader
from fascicle.text.windows import Batch
from fascicle.training.corpus import read_part
from studies.common import ROOT, paired, row, sentence_scores, write_result
from studies.soup import average_models


def main() -> None:
    """Exports, measures, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--recipe", default="bc5cdr-best")
    parser.add_argument("--name", default="bc5cdr@1")
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    args = parser.parse_args()
    target = args.assets / args.name
    corpus = read_recipe(ROOT / "recipes" / f"{args.recipe}.toml").corpus
    with tempfile.TemporaryDirectory() as place:
        mean = Path(place) / "mean"
        average_models([run / "best" for run in args.runs], mean)
        touching = fit_touching(mean, corpus.dev)
        export_model(
            mean, target, sample=read_part(corpus, "train"), name=args.name, overwrite=True
        )
        export_model(mean, Path(place) / "fp32", int8=False, name=args.name)
        result = measure(load(target), load(Path(place) / "fp32"), corpus)
    result["touching_dev_f1"] = touching
    result["size_bytes"] = sum(p.stat().st_size for p in target.iterdir())
    for key, file in (("runs", "run.json"), ("recipes", "recipe.json")):
        found = [json.loads((run / file).read_text(encoding="utf-8")) for run in args.runs]
        result[key] = [
            {**value, "corpus": "see recipes/"} if key == "recipes" else value for value in found
        ]
    write_result(f"shipped-{args.name}", result)
    (target / CARD).write_text(card(args, target, result), encoding="utf-8")


def fit_touching(folder: Path, dev: str) -> dict[str, float]:
    """Chooses how welcome touching mentions are, by dev F1, and writes it into the model's
    decision.

    Trained transitions leave many mentions in two ("[type 2] [diabetes mellitus]").
    """
    documents = list(read(dev, format="conll", options=ConllOptions(documents="file")))
    manifest, found = read_manifest(folder), {}
    scorer = Remembering(TorchScorer(model=load_model(folder, manifest)))
    tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=manifest.tokenizer.pad)
    reader = CachedReader(documents, reader=make_reader(folder, manifest))
    for value in (0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0):
        model = ModelPredictor(with_touching(manifest, value), tokenizer, scorer, read=reader)
        found[str(value)] = scored(model, documents).micro.f1
    best = max(found, key=lambda key: (found[key], float(key)))
    write_manifest(folder, with_touching(manifest, float(best)))
    return found


class Remembering:
    """A scorer that computes each batch once: only decoding differs between the candidates."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._known: dict[bytes, Tables] = {}

    def run(self, inputs: Batch) -> Tables:
        """Scores one batch."""
        key = inputs["input_ids"].tobytes()
        if key not in self._known:
            self._known[key] = self._scorer.run(inputs)
        return self._known[key]


def with_touching(manifest: Manifest, value: float) -> Manifest:
    """The manifest with another decision."""
    return msgspec.structs.replace(
        manifest, decision=msgspec.structs.replace(manifest.decision, touching=value)
    )


def measure(
    model: ModelPredictor, fp32: ModelPredictor, corpus: CorpusSettings
) -> dict[str, object]:
    """Every number of the card; F1 is strict and micro, over (document, type, spans)."""
    data = Path(corpus.test).parents[2]
    value: dict[str, object] = {}
    for part, path in (("dev", corpus.dev), ("test", corpus.test)):
        whole = list(read(path, format="conll", options=ConllOptions(documents="file")))
        small, full = scored(model, whole), scored(fp32, whole)
        value[f"{part}_given_sentences"] = row(small)
        value[f"{part}_given_sentences_fp32"] = row(full)
        value[f"{part}_int8_less_fp32"] = paired(small, full)
    alone = list(read(corpus.test, format="conll", options=ConllOptions(documents="sentence")))
    value["test_one_sentence_at_a_time"] = row(scored(model, alone))
    for part, name in (("dev", "CDR_DevelopmentSet"), ("test", "CDR_TestSet")):
        abstracts = list(
            read(data / "bc5cdr" / "pubtator" / f"{name}.PubTator.txt", format="pubtator")
        )
        value[f"{part}_raw_text"] = row(raw(model, abstracts))
    other = list(read(data / "ncbi-disease" / "pubtator" / "test.PubTator.txt", format="pubtator"))
    value["ncbi_disease_test_raw_text"] = row(
        raw(model, [as_disease(d) for d in other], only="Disease")
    )
    return value


def scored(model: ModelPredictor, documents: Iterable[Document]) -> Scores:
    """The model on documents whose sentences and words are given."""
    return sentence_scores(list(model.stream(documents)), source=model.name)


def raw(model: ModelPredictor, documents: Sequence[Document], *, only: str = "") -> Scores:
    """The model on the bare text of documents, as ``fascicle annotate`` sees it."""
    bare = [Document(id=d.id, text=d.text) for d in documents]
    found = layers(model.stream(bare), source=model.name)
    if only:
        found = {i: tuple(m for m in mentions if m.type == only) for i, mentions in found.items()}
    return score(layers(documents), found)


def as_disease(document: Document) -> Document:
    """The four kinds of mention of NCBI-disease are all diseases."""
    mentions = {(m.spans): Mention(m.spans, "Disease", source=GOLD) for m in document.mentions}
    return msgspec.structs.replace(document, mentions=tuple(mentions.values()))


def card(args: argparse.Namespace, folder: Path, result: dict[str, object]) -> str:
    """The model's card, every number from ``result``."""
    name = args.name
    manifest = read_manifest(folder)
    head, reading = manifest.answering, manifest.reading
    size = float(str(result["size_bytes"])) / 1e6
    lines = [
        f"# {name}",
        "",
        "Finds mentions of chemicals and diseases in English biomedical text. It ships with "
        "Fascicle and runs without",
        "torch, network or GPU.",
        "",
        "```python",
        "import fascicle",
        f'fascicle.load("{name.partition("@")[0]}").annotate("Lithium may cause nephrogenic '
        'diabetes insipidus.")',
        "```",
        "",
        "## What it is",
        "",
        "- encoder: all-MiniLM-L6-v2 (6 layers, width 384, uncased), fine-tuned; head: "
        f"{head.family} over words,",
        f"  {head.pooling}-pooled, {head.scheme} tags; weights in 8 bits; {size:.1f} MB in all.",
        f"- reads consecutive sentences packed into windows of {reading.max_length} pieces; "
        "longer sentences through",
        f"  windows that overlap by {reading.overlap}; segmenter `{reading.segmenter}`.",
        "- a mention right after another of its type is penalised by "
        f"{abs(manifest.decision.touching):g} (log scale),",
        "  chosen on development data; the score of a mention is its marginal probability under "
        "that CRF.",
        "",
        "## How good it is",
        "",
        "Strict micro F1 in percent (same type, same characters), with 95 % bootstrap intervals. "
        "The weights",
        f"are the mean over {len(args.runs)} training run{'s' * (len(args.runs) > 1)} with seed "
        "1; epochs, recipes",
        "and the averaging were chosen on the development part; its members had been scored on "
        "the test part before.",
        "",
        "| data | what the model was given | precision | recall | F1 | interval |",
        "|---|---|---|---|---|---|",
        *(_table_row(result, key, data, given) for key, data, given in ROWS),
        "",
        _by_type(result),
        "",
        "## Limits",
        "",
        "- Trained on 500 abstracts about chemicals and the diseases they induce: other kinds of "
        "text (full papers,",
        "  clinical notes, social media, patents) are read with more errors. The NCBI-disease "
        "row shows how much",
        "  is lost on other abstracts, annotated by other rules.",
        "- Mentions that nest, overlap or are discontinuous are not found; of two that overlap "
        "the outer was learnt.",
        "- Case is not seen: the encoder is uncased.",
        "- Scores are not calibrated. It does not link mentions to concepts.",
        "- Not for clinical decisions.",
        "",
        "## Data and licences",
        "",
        "- Weights derived from `sentence-transformers/all-MiniLM-L6-v2` (Apache-2.0).",
        "- Trained on the training part of BC5CDR (BioCreative V chemical disease relation "
        "corpus; Li et al.,",
        "  Database 2016, baw068), in the IOB form of MTL-Bioinformatics-2016 (CC BY 4.0 as it "
        "states for its data).",
        "  The corpus is not part of Fascicle.",
        "- The model is under the licence of Fascicle, Apache-2.0.",
        "",
        "## How to make it again",
        "",
        "```",
        "export FASCICLE_DATA=...",
        f"fascicle bench studies/grids/first.toml --only {' '.join(r.name for r in args.runs)} "
        "-o again",
        f"python -m studies.ship {' '.join(f'runs/first/{run.name}' for run in args.runs)} "
        f"--name {name}",
        "```",
        "",
        "This card was written by the last command; its numbers stand in "
        f"`studies/results/shipped-{name}.json`.",
    ]
    return "\n".join(lines) + "\n"


ROWS = (
    ("dev_given_sentences", "BC5CDR dev", "words and sentences of the corpus"),
    ("test_given_sentences", "BC5CDR test", "words and sentences of the corpus"),
    ("test_given_sentences_fp32", "BC5CDR test", "the same, before the weights became 8 bits"),
    ("test_one_sentence_at_a_time", "BC5CDR test", "single sentences without their neighbours"),
    ("dev_raw_text", "BC5CDR dev", "raw text of the abstracts"),
    ("test_raw_text", "BC5CDR test", "raw text of the abstracts"),
    (
        "ncbi_disease_test_raw_text",
        "NCBI-disease test (diseases only)",
        "raw text of the abstracts",
    ),
)


def _table_row(result: dict[str, object], key: str, data: str, given: str) -> str:
    value = result[key]
    assert isinstance(value, dict)
    micro, interval = value["micro"], value["f1_interval"]
    rates = " | ".join(f"{100 * micro[name]:.1f}" for name in ("precision", "recall", "f1"))
    return (
        f"| {data} | {given} | {rates} | {100 * interval['low']:.1f} to "
        f"{100 * interval['high']:.1f} |"
    )


def _by_type(result: dict[str, object]) -> str:
    value = result["test_raw_text"]
    assert isinstance(value, dict)
    parts = [f"{name} {100 * counts['f1']:.1f}" for name, counts in value["types"].items()]
    return f"By type, on the raw text of the test abstracts: {', '.join(parts)}."


if __name__ == "__main__":
    main()
