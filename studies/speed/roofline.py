"""Where the time of a model goes, and how far it is from what one core can do.

usage: python -m studies.speed.roofline [--model biomed] [--beside TEXT]

``FASCICLE_DATA`` names the corpora. One thread, CPU time: what else the machine does disturbs it
less than the clock on the wall. ``--beside`` says what else ran, for the results. Written:
``results/roofline.json``.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # before the tokenizer is loaded
os.environ["OMP_NUM_THREADS"] = "1"

import torch

import fascicle.runtime.predictor as predicting
import fascicle.text.pieces as cutting
import fascicle.text.reading as reading
from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.core.session import (
    OnnxSession,
    length_sorted_batches,
    load_onnxruntime,
    session_options,
    usable_cores,
)
from fascicle.core.stream import chunks
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from fascicle.formats.outputs import write
from fascicle.loading import load_single
from fascicle.runtime.places import find_model
from fascicle.runtime.predictor import ModelPredictor
from studies.common import write_result
from studies.speed import limits

ROUNDS = 3
_KINDS: Mapping[str, tuple[int, int, int]] = {  # characters at least and at most, sentences
    "short": (20, 100, 400),
    "long": (200, 600, 150),
    "mixed": (1, 10_000, 300),
}
_ALONE = 60  # sentences, one call each


def main() -> None:
    """Measures and writes ``results/roofline.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="biomed")
    parser.add_argument("--beside", default="nothing else")
    args = parser.parse_args()
    torch.set_num_threads(1)
    graph = find_model(args.model) / "model.onnx"
    shapes = limits.shapes_of(graph)
    core = limits.measured(shapes)
    most = core["giga_operations_per_second"]["int8"]
    model = load_single(args.model, threads=1)
    kinds = {}
    for name, texts in texts_of(sentences()).items():
        for way in ("bulk", "alone"):
            kinds[f"{name}, {way}"] = stages(
                model, texts if way == "bulk" else texts[:_ALONE], way=way
            )
    width = min(inputs for inputs, _ in shapes)
    # three for attention, one after it, two of the feed-forward part
    layers = sum(shapes.values()) // 6
    for found in kinds.values():
        piece = limits.asked(
            shapes, width=width, layers=layers, length=found["pieces"] / found["windows"]
        )
        found |= {"piece": piece, **shares(found, piece, most)}
    report = {
        "model": model.name,
        "beside": args.beside,
        "core": core,
        "kinds": kinds,
        "operators": operators(graph, model, texts_of(sentences())["mixed"]),
        "threads": threads(graph, model, texts_of(sentences())["mixed"]),
    }
    write_result("roofline", report)
    print(json.dumps({name: found["share_of_int8"] for name, found in kinds.items()}, indent=1))


def sentences() -> list[str]:
    """Of the test part of BC5CDR, each once."""
    path = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob" / "test.tsv"
    documents = read(path, format="conll", options=ConllOptions(documents="sentence"))
    return list(dict.fromkeys(document.text for document in documents))


def texts_of(given: Sequence[str]) -> dict[str, list[str]]:
    """Sentences of each kind, spread over the corpus."""
    found = {}
    for name, (least, most, count) in _KINDS.items():
        fitting = [text for text in given if least <= len(text) <= most]
        found[name] = fitting[:: max(1, len(fitting) // count)][:count]
    return found


@dataclass
class Clock:
    """CPU seconds of nested stages, each without those inside it, and what passes through the
    network.
    """

    spent: dict[str, float] = field(default_factory=lambda: collections.defaultdict(float))
    pieces: int = 0
    windows: int = 0
    padded: int = 0
    _open: list[list[Any]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts what is done inside for a stage."""
        now = time.process_time()
        if self._open:
            self.spent[self._open[-1][0]] += now - self._open[-1][1]
        self._open.append([name, now])
        try:
            yield
        finally:
            now = time.process_time()
            self.spent[name] += now - self._open.pop()[1]
            if self._open:
                self._open[-1][1] = now

    def around(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """A function that counts for a stage."""

        def timed(*args: Any, **options: Any) -> Any:
            with self.stage(name):
                return work(*args, **options)

        return timed


class TimedScorer:
    """A scorer that counts for the stage ``network``."""

    def __init__(self, scorer: Any, clock: Clock) -> None:
        self._scorer = scorer
        self._clock = clock
        self.batch_tokens = scorer.batch_tokens

    def run(self, inputs: Any) -> Any:
        """Scores one batch."""
        self._clock.pieces += int(inputs["attention_mask"].sum())
        self._clock.padded += inputs["attention_mask"].size
        self._clock.windows += len(inputs["attention_mask"])
        with self._clock.stage("network"):
            return self._scorer.run(inputs)


@contextmanager
def watched(model: ModelPredictor, clock: Clock) -> Iterator[ModelPredictor]:
    """The model with a clock around its stages."""
    names = [
        (cutting, "all_sentences", "sentences"),
        (cutting, "_assemble", "words"),
        (model._tokenizer, "encode", "tokenise"),
        (reading, "make_windows", "windows"),
        (predicting, "collate", "collate"),
        (model, "_patches", "answer"),
    ]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in names]
    scorer = model._scorer
    for owner, name, stage in names:
        setattr(owner, name, clock.around(stage, getattr(owner, name)))
    model._scorer = TimedScorer(scorer, clock)
    try:
        yield model
    finally:
        model._scorer = scorer
        for owner, name, work in before:
            setattr(owner, name, work)


def stages(model: ModelPredictor, texts: Sequence[str], *, way: str) -> dict[str, Any]:
    """CPU time of each stage from a file of texts to a file of mentions; the round of the median
    total.
    """
    rounds = []
    for _ in range(ROUNDS + 1):
        clock = Clock()
        with watched(model, clock) as timed, clock.stage("decode and the rest"):
            through(timed, texts, clock, way=way)
        rounds.append(clock)
    chosen = sorted(rounds[1:], key=lambda clock: sum(clock.spent.values()))[ROUNDS // 2]
    total = sum(chosen.spent.values())
    return {
        "sentences": len(texts),
        "characters": round(statistics.mean(map(len, texts)), 1),
        "pieces": chosen.pieces,
        "windows": chosen.windows,
        "padding": round(chosen.padded / chosen.pieces - 1, 4),
        "cpu_ms_per_sentence": round(1000 * total / len(texts), 4),
        "totals_of_rounds_ms": [
            round(1000 * sum(clock.spent.values()) / len(texts), 4) for clock in rounds[1:]
        ],
        "stages_ms_per_sentence": {
            name: round(1000 * value / len(texts), 5) for name, value in chosen.spent.items()
        },
    }


def through(model: ModelPredictor, texts: Sequence[str], clock: Clock, *, way: str) -> None:
    """Reads the texts from a file, finds mentions, and writes them; in one stream, or one call
    for each text.
    """
    lines = "".join(
        json.dumps({"fascicle": 1, "id": str(i), "text": text}) + "\n"
        for i, text in enumerate(texts)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        path.write_text(lines, encoding="utf-8")
        with clock.stage("read"):
            documents = list(read(path))
        found: list[Document] = []
        groups = chunks(documents) if way == "bulk" else ([document] for document in documents)
        for group in groups:
            found += [apply(d, patch) for d, patch in zip(group, model.predict(group), strict=True)]
        with clock.stage("write"):
            write(Path(folder) / "out.jsonl", found)


def shares(found: Mapping[str, Any], piece: Mapping[str, float], most: float) -> dict[str, float]:
    """How much of what the core can do in 8 bits the network reaches, and the whole."""
    work = piece["product_operations"] * found["pieces"] / found["sentences"] / 1e9
    network = work / (found["stages_ms_per_sentence"]["network"] / 1000)
    whole = work / (found["cpu_ms_per_sentence"] / 1000)
    return {
        "share_of_int8": round(whole / most, 4),
        "share_of_int8_network": round(network / most, 4),
    }


def batches(model: ModelPredictor, texts: Sequence[str], *, tokens: int) -> list[dict[str, Any]]:
    """What the network reads of texts."""
    found = []
    for chunk in chunks([Document(id=str(i), text=text) for i, text in enumerate(texts)]):
        read_ = model._encode(chunk)
        windows = [window for cut in read_.windows for window in cut]
        lengths = [window.pieces[1] - window.pieces[0] for window in windows]
        for rows in length_sorted_batches(lengths, max_tokens=tokens):
            found.append(
                predicting.collate([windows[i] for i in rows], read_.pieces, model._tokenizer)
            )
    return found


def operators(
    graph: Path, model: ModelPredictor, texts: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The share of each operator in the time of the network, from the profiler of ONNX Runtime."""
    return {
        way: profiled(graph, batches(model, texts, tokens=tokens)[:: 1 if way == "bulk" else 4])
        for way, tokens in (("bulk", 256), ("alone", 1))
    }


def profiled(graph: Path, given: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Shares of operators, largest first; those below a hundredth together."""
    runtime = load_onnxruntime()
    options, disabled = session_options(runtime, threads=1)
    options.enable_profiling = True
    spent: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder) / "profile")
        session = runtime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
        )
        names = [one.name for one in session.get_inputs()]
        for batch in given:
            session.run(None, {name: batch[name] for name in names})
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("kernel_time"):
            spent[event["args"]["op_name"]] += event["dur"]
    total = sum(spent.values())
    large = {
        name: round(value / total, 4) for name, value in spent.most_common() if value >= total / 100
    }
    return {**large, "others": round(1 - sum(large.values()), 4)}


def threads(graph: Path, model: ModelPredictor, texts: Sequence[str]) -> dict[str, Any]:
    """Wall seconds of one session with all cores against as many callers of a session with one
    thread.
    """
    cores = usable_cores()
    wide, single = OnnxSession.open(graph, threads=cores), OnnxSession.open(graph, threads=1)
    given = {tokens: batches(model, texts, tokens=tokens) for tokens in (256, 256 * cores)}
    ways: dict[str, Callable[[], object]] = {
        "one caller, all cores": lambda: [wide.run(batch) for batch in given[256 * cores]],
        "one caller, one core": lambda: [single.run(batch) for batch in given[256]],
        "a caller for each core": lambda: _together(single, given[256], cores),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS + 1):
        for name, work in ways.items():
            started = time.perf_counter()
            work()
            if number:
                seconds[name].append(round(time.perf_counter() - started, 4))
    return {"cores": cores, "wall_seconds": seconds}


def _together(session: OnnxSession, given: Sequence[dict[str, Any]], callers: int) -> None:
    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(session.run, given))


if __name__ == "__main__":
    main()
