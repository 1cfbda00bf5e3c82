"""What each change of graph, batches or runtime gains, alone and interleaved with what it is
compared with.

usage: python -m studies.speed.levers [--model biomed@2] [--plain GRAPH] [--rounds 12] [--sentences
100] [--beside TEXT]

``--plain`` names a graph of the same model in fp32 (``fascicle export`` without ``--int8``), for
runs in bf16.

``FASCICLE_DATA`` names the corpora. One thread, CPU time, short and long sentences; a ratio below 1
is a gain. Written: ``results/levers.json``, or ``levers-MODEL.json`` for another model.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from fascicle.core.session import load_onnxruntime, session_options
from fascicle.loading import load_single
from fascicle.models.export.optimise import merge
from fascicle.runtime.places import find_model
from studies.common import BIOMED, write_result
from studies.speed import graphs
from studies.speed.roofline import batches, sentences, texts_of

_MODEL = BIOMED
_TOKENS = (1024, 512, 256, 128)
_HEADS = 12
Run = Callable[[Mapping[str, Any]], np.ndarray]


def main() -> None:
    """Measures and writes ``results/levers.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default=_MODEL)
    parser.add_argument("--plain", type=Path)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--beside", default="nothing else")
    args = parser.parse_args()
    graph, model = find_model(args.model) / "model.onnx", load_single(args.model, threads=1)
    texts = {name: few for name, few in texts_of(sentences()).items() if name != "mixed"}
    with tempfile.TemporaryDirectory() as folder:
        runs, missing = forms(graph, Path(folder))
        if args.plain is not None:
            runs |= in_full(args.plain)
        report: dict[str, Any] = {
            "model": args.model,
            "beside": args.beside,
            "missing": missing,
            "kinds": {},
        }
        for kind, given in texts.items():
            made = {
                tokens: batches(model, given[: args.sentences], tokens=tokens) for tokens in _TOKENS
            }
            report["kinds"][kind] = {
                "graphs": turns(
                    {name: _over(run, made[256]) for name, run in runs.items()}, args.rounds
                ),
                "answers": {
                    name: _furthest(runs["as it is"], run, made[256]) for name, run in runs.items()
                },
                "batches": turns(
                    {str(tokens): _over(runs["as it is"], made[tokens]) for tokens in _TOKENS},
                    args.rounds,
                ),
            }
    write_result("levers" if args.model == _MODEL else f"levers-{args.model}", report)
    for kind, found in report["kinds"].items():
        print(
            kind,
            {name: one["ratio"] for name, one in {**found["graphs"], **found["batches"]}.items()},
        )


def forms(graph: Path, folder: Path) -> tuple[dict[str, Run], list[str]]:
    """The graph in each form that it does not have yet, opened; and the packages that are not
    installed.
    """
    runs: dict[str, Run] = {"as it is": _onnx(graph)}
    for number, (name, form) in enumerate(_changed(onnx.load(str(graph))).items()):
        path = folder / f"{number}.onnx"
        onnx.save(form(onnx.load(str(graph))), str(path))
        runs[name] = _onnx(path)
    runs["layer norms merged with sums"] = _onnx(graph, allowed=True)
    if not graphs.is_merged(onnx.load(str(graph))):
        merge(graph, folder / "merged.onnx")
        runs["merged ahead of time"] = _onnx(folder / "merged.onnx")
    if not importlib.util.find_spec("openvino"):
        return runs, ["openvino"]
    runs["OpenVINO"] = _openvino(graph)
    runs["OpenVINO, bf16 between 8-bit products"] = _openvino(graph, precision="bf16")
    return runs, []


def in_full(graph: Path) -> dict[str, Run]:
    """The network with weights of 32 bits, and its products in bf16."""
    return {
        "fp32": _onnx(graph),
        "OpenVINO, fp32": _openvino(graph),
        "OpenVINO, bf16": _openvino(graph, precision="bf16"),
    }


def _changed(model: Any) -> dict[str, Callable[[Any], Any]]:
    """Changes of a graph that it does not have yet."""
    made: dict[str, Callable[[Any], Any]] = {
        "merged attention": lambda model: graphs.merged_attention(model, heads=_HEADS),
        "attention and its products merged": lambda model: graphs.integer_attention(
            model, heads=_HEADS
        ),
        "MatMulNBits, 8 bits": lambda model: graphs.block_products(model, bits=8),
        "MatMulNBits, 4 bits": lambda model: graphs.block_products(model, bits=4),
    }
    return (
        {"pooling by rows": graphs.pooled_by_rows, **made}
        if graphs.is_pooled_by_numbers(model)
        else made
    )


def turns(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Any]:
    """CPU time of each, and the ratio to the first one within each round, with quartiles."""
    spent: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 2):
        for name, work in contestants.items():
            before = time.process_time()
            work()
            if number > 1:
                spent[name].append(time.process_time() - before)
    first = next(iter(spent.values()))
    found = {}
    for name, values in spent.items():
        ratios = [a / b for a, b in zip(values, first, strict=True)]
        several = ratios if len(ratios) > 1 else ratios * 2  # of one round, all three are the same
        quartiles = [round(value, 3) for value in statistics.quantiles(several, n=4)]
        seconds = round(statistics.median(values), 4)
        found[name] = {"cpu_seconds": seconds, "ratio": quartiles[1], "quartiles": quartiles[::2]}
    return found


def _over(run: Run, given: Sequence[Mapping[str, Any]]) -> Callable[[], object]:
    return lambda: [run(batch) for batch in given]


def _furthest(first: Run, second: Run, given: Sequence[Mapping[str, Any]]) -> float:
    """The largest difference of an emission of a real unit."""
    worst = 0.0
    for batch in given:
        real = np.arange(batch["first_piece"].shape[1]) < batch["unit_count"][:, None]
        worst = max(worst, float(np.abs(first(batch) - second(batch))[real].max(initial=0.0)))
    return worst


def _onnx(path: Path, *, allowed: bool = False) -> Run:
    runtime = load_onnxruntime()
    options, disabled = session_options(runtime, threads=1)
    session = runtime.InferenceSession(
        path.read_bytes(),
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=[] if allowed else disabled,
    )
    names = [one.name for one in session.get_inputs()]
    return lambda batch: session.run(["emissions"], {name: batch[name] for name in names})[0]


def _openvino(path: Path, *, precision: str = "f32") -> Run:
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": precision,
    }
    compiled = openvino.Core().compile_model(str(path), "CPU", options)
    names = [one.get_any_name() for one in compiled.inputs]
    return lambda batch: compiled({name: batch[name] for name in names})["emissions"]


if __name__ == "__main__":
    main()
