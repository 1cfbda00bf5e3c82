"""OpenVINO in the place of ONNX Runtime under the shipped model: time, memory, and what is found.

usage: python -m studies.speed.openvino [--model biomed] [--rounds 3] [--beside TEXT]

``FASCICLE_DATA`` names the corpora. Each runtime is a process of its own in turn, on one thread.
``few shapes`` pads batches to few shapes, since OpenVINO prepares a graph anew for each shape that
comes after another one. Written: ``results/openvino.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # before the tokenizer is loaded
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from fascicle.core.document import Document, Mention
from fascicle.core.session import TOKENS_A_THREAD
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.files import read
from fascicle.loading import load_single
from fascicle.runtime.places import find_model
from fascicle.runtime.predictor import ModelPredictor
from studies.common import paired, write_result

RUNTIMES = ("ONNX Runtime", "OpenVINO", "OpenVINO, few shapes")
_GOLD: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "bc5cdr test": (
        "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
        {"Chemical": "Chemical", "Disease": "Disease"},
    ),
    "ncbi-disease test": (
        "ncbi-disease/pubtator/test.PubTator.txt",
        dict.fromkeys(
            ("SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"), "Disease"
        ),
    ),
}
_STEP = 8  # pieces; lengths of few shapes are multiples
_ALONE = 200  # sentences, one call each
_OPTIONS = {
    "INFERENCE_NUM_THREADS": 1,
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
}
Batch = Mapping[str, np.ndarray]


def main() -> None:
    """Measures and writes ``results/openvino.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="biomed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument(
        "--one", choices=RUNTIMES, help="measure one runtime in this process, and print it"
    )
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.model, args.one)))
        return
    rounds = [{name: _child(args.model, name) for name in RUNTIMES} for _ in range(args.rounds)]
    report = {
        "model": args.model,
        "rounds": args.rounds,
        "beside": args.beside,
        "measured": {name: summed([done[name] for done in rounds], [done[RUNTIMES[0]] for done in rounds])
                     for name in RUNTIMES},
        "found": {corpus: compared(corpus, {name: rounds[0][name]["mentions"][corpus] for name in RUNTIMES})
                  for corpus in _GOLD},
    }  # fmt: skip
    write_result("openvino", report)
    print(json.dumps({"measured": report["measured"], "found": report["found"]}, indent=1))


def one(name: str, runtime: str) -> dict[str, Any]:
    """CPU seconds and memory of one runtime, and the mentions that it leads to."""
    before = time.process_time()
    model = load_single(name, threads=1)
    if runtime != RUNTIMES[0]:
        before = time.process_time()
        model._scorer = OpenVino(find_model(name) / "model.onnx", few=runtime == RUNTIMES[2])
    opening = time.process_time() - before
    corpora = {corpus: documents_of(corpus) for corpus in _GOLD}
    mentions, bulk = {}, {}
    for corpus, documents in corpora.items():
        before = time.process_time()
        patches = model.predict(documents)
        bulk[corpus] = time.process_time() - before
        mentions[corpus] = [[(*m.spans[0], m.type) for m in patch.add] for patch in patches]
    again = time.process_time()
    model.predict(corpora["bc5cdr test"])
    return {
        "opening": opening,
        "bulk": bulk["bc5cdr test"],
        "bulk_again": time.process_time() - again,
        "alone": _alone(model, corpora["bc5cdr test"]),
        "peak_mb": _peak_mb(),
        "mentions": mentions,
    }


class OpenVino:
    """A scorer that runs an exported graph with OpenVINO on one thread."""

    def __init__(self, path: Path, *, few: bool) -> None:
        """Opens the graph; ``few`` pads batches to few shapes."""
        import openvino

        core = openvino.Core()
        compiled = core.compile_model(core.read_model(str(path)), "CPU", _OPTIONS)
        self._request = compiled.create_infer_request()
        self._inputs = [one.get_any_name() for one in compiled.inputs]
        self._output = compiled.outputs[0].get_any_name()
        self._few = few
        self.batch_tokens = TOKENS_A_THREAD

    def run(self, inputs: Batch) -> dict[str, np.ndarray]:
        """Scores one batch."""
        feed = {name: inputs[name] for name in self._inputs}
        found = self._request.infer(
            padded(feed) if self._few else feed, share_inputs=True, share_outputs=True
        )
        rows, units = inputs["first_piece"].shape
        return {self._output: found[self._output][:rows, :units].copy()}


def padded(feed: Batch) -> dict[str, np.ndarray]:
    """The batch with as many rows and units as its length alone decides, and a length that is a
    multiple.
    """
    rows, pieces = feed["input_ids"].shape
    length = -(-pieces // _STEP) * _STEP
    most = max(rows, TOKENS_A_THREAD // length) if rows > 1 else 1
    filled = {}
    for name, values in feed.items():
        larger = np.zeros((most, length, *values.shape[2:]), dtype=values.dtype)
        larger[:rows, : values.shape[1]] = values
        filled[name] = larger
    return filled


def documents_of(corpus: str) -> list[Document]:
    """The texts of a corpus, without its gold."""
    return [Document(id=one.id, text=one.text) for one in read(str(_path(corpus)))]


def summed(own: Sequence[dict[str, Any]], first: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians of one runtime, and of its ratios to the first one within each round."""
    found: dict[str, Any] = {}
    for what in ("opening", "bulk", "bulk_again", "alone", "peak_mb"):
        ratios = sorted(a[what] / b[what] for a, b in zip(own, first, strict=True))
        found[what] = round(statistics.median(one[what] for one in own), 4)
        found[f"{what}_ratio"] = [
            round(value, 3) for value in (statistics.median(ratios), ratios[0], ratios[-1])
        ]
    return found


def compared(corpus: str, found: Mapping[str, list[list[list[Any]]]]) -> dict[str, Any]:
    """How many mentions each runtime finds that the first one does not, or the other way round;
    and F1, paired.
    """
    path, types = _path(corpus), _GOLD[corpus][1]
    documents = list(read(str(path)))
    gold = {
        key: [Mention(one.spans, types[one.type]) for one in several if one.type in types]
        for key, several in layers(documents).items()
    }
    scores, sets = {}, {}
    for name, rows in found.items():
        sets[name] = {
            (i, *mention) for i, several in enumerate(rows) for mention in map(tuple, several)
        }
        predicted = {
            document.id: [
                Mention(((a, b),), kind, source="found")
                for a, b, kind in several
                if kind in types.values()
            ]
            for document, several in zip(documents, rows, strict=True)
        }
        scores[name] = score(gold, predicted)
    first = scores[RUNTIMES[0]]
    return {
        name: {
            "mentions": len(sets[name]),
            "other": len(sets[name] ^ sets[RUNTIMES[0]]),
            "f1": round(100 * own.micro.f1, 3),
            "f1_difference": paired(own, first),
        }
        for name, own in scores.items()
    }


def _child(model: str, runtime: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "studies.speed.openvino", "--model", model, "--one", runtime]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


def _path(corpus: str) -> Path:
    return Path(os.environ["FASCICLE_DATA"]) / _GOLD[corpus][0]


def _alone(model: ModelPredictor, documents: Sequence[Document]) -> float:
    """Milliseconds of a sentence that is a call of its own: each sentence once, as a service
    meets them.
    """
    sentences = [
        line for document in documents for line in document.text.split(". ") if len(line) > 20
    ][:_ALONE]
    spent = []
    for text in sentences:
        before = time.process_time()
        model.predict([Document(id="alone", text=text)])
        spent.append(1000 * (time.process_time() - before))
    return statistics.median(spent)


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (one for one in status.splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1]) / 1000


if __name__ == "__main__":
    main()
