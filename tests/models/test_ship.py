"""Export of a trained model: the torch-free folder answers like the torch model, and fixed
scales do what they say.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.runs import finish

pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from fascicle.core.document import Document  # noqa: E402
from fascicle.core.session import OnnxSession  # noqa: E402
from fascicle.errors import ModelError, OutputError, UsageError  # noqa: E402
from fascicle.formats.files import read  # noqa: E402
from fascicle.loading import load  # noqa: E402
from fascicle.models.export.folders import excerpt, export_model  # noqa: E402
from fascicle.models.export.optimise import (  # noqa: E402
    RangeRecorder,
    fix_scales,
    quantise,
)

HEADS: list[dict[str, Any]] = [
    {"family": "softmax", "pooling": "first"},
    {"family": "crf", "pooling": "max"},
    {"family": "softmax", "pooling": "mean", "scheme": "IO"},
    {"family": "crf", "level": "piece", "specials": "include"},
    {"family": "span", "level": "piece", "width": 8, "decoding": "nested"},
    {"family": "span", "pooling": "max", "representation": "hybrid", "width_embedding": 5},
    {"family": "span", "pooling": "mean", "representation": "pooling", "decoding": "optimal"},
    {"family": "biaffine", "pooling": "max", "hidden": 16},
]


@pytest.fixture(scope="module", params=HEADS, ids=lambda h: "-".join(map(str, h.values())))
def run(
    request: pytest.FixtureRequest,
    tiny_recipe: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("ship") / "run"
    epochs = 12 if request.param["family"] in ("softmax", "crf") else 30
    finish(tiny_recipe(model=request.param, training={"epochs": epochs}), folder)
    return folder


@pytest.fixture(scope="module")
def sample(toy_corpus: Path) -> list[Document]:
    return list(read(toy_corpus))


def test_fp32_answers_like_torch(run: Path, sample: list[Document], tmp_path: Path) -> None:
    export_model(run, tmp_path / "fp32", int8=False)
    ours, theirs = (
        load(tmp_path / "fp32", links=False).predict(sample),
        load(run / "best", links=False).predict(sample),
    )
    assert [{m.key for m in p.add} for p in ours] == [{m.key for m in p.add} for p in theirs]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose([m.score for m in a.add], [m.score for m in b.add], atol=1e-4)


def test_int8_answers_do_not_depend_on_the_company(
    run: Path, sample: list[Document], tmp_path: Path
) -> None:
    export_model(run, tmp_path / "int8", sample=sample)
    model = load(tmp_path / "int8", links=False)
    together = model.predict(sample)
    assert sum(len(p.add) for p in together) >= 15
    for document, patch in zip(sample, together, strict=True):
        assert model.predict([document])[0].add == patch.add


@pytest.fixture(scope="module")
def dynamic(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dynamic")
    export_model(tiny_run, place / "fp32", int8=False)
    quantise(place / "fp32" / "model.onnx", place / "dynamic.onnx")
    return place / "dynamic.onnx"


def batch(seed: int) -> dict[str, np.ndarray[Any, Any]]:
    chance = np.random.default_rng(seed)
    mask = np.ones((3, 12), np.int64)
    mask[2, 7:] = 0
    return {
        "input_ids": chance.integers(4, 40, (3, 12)),
        "attention_mask": mask,
        "first_piece": chance.integers(0, 7, (3, 5)),
    }


def test_fixed_scales_of_a_batch_are_the_dynamic_ones(dynamic: Path, tmp_path: Path) -> None:
    """With the ranges of a batch without padding, the fixed graph computes what the dynamic one
    does.
    """
    inputs = batch(1)
    inputs["attention_mask"][:] = 1
    recorder = RangeRecorder(dynamic, tmp_path / "recorder.onnx")
    expected = recorder.run(inputs)
    fixed = fix_scales(dynamic, tmp_path / "fixed.onnx", ranges=recorder.ranges)
    assert fixed == len(recorder.names) > 0
    operators = {node.op_type for node in onnx.load(str(tmp_path / "fixed.onnx")).graph.node}
    assert "DynamicQuantizeLinear" not in operators
    assert "MatMulInteger" not in operators
    got = OnnxSession.open(tmp_path / "fixed.onnx").run(inputs)
    np.testing.assert_allclose(got["emissions"], expected["emissions"], atol=2e-3)


def test_padding_is_not_measured(dynamic: Path, tmp_path: Path) -> None:
    first, second = batch(2), batch(2)
    second["input_ids"][2, 7:] = 39
    ranges = []
    for number, inputs in enumerate((first, second)):
        recorder = RangeRecorder(dynamic, tmp_path / f"{number}.onnx")
        recorder.run(inputs)
        ranges.append(recorder.ranges)
    for name, limits in ranges[0].items():
        np.testing.assert_allclose(limits, ranges[1][name], rtol=0.05, atol=0.02)


def test_an_activation_that_was_never_seen_is_an_error(dynamic: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="never seen"):
        fix_scales(dynamic, tmp_path / "fixed.onnx", ranges={})
    assert not (tmp_path / "fixed.onnx").exists()


def test_what_cannot_be_exported_is_refused(
    tiny_run: Path, sample: list[Document], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="sample=FILE"):
        export_model(tiny_run, tmp_path / "a")
    with pytest.raises(UsageError, match="sample=FILE"):
        export_model(tiny_run, tmp_path / "a", sample=[Document(id="1", text=" ")])
    export_model(tiny_run, tmp_path / "b", int8=False)
    with pytest.raises(UsageError, match="already"):
        export_model(tmp_path / "b", tmp_path / "c", sample=sample)
    with pytest.raises(OutputError, match="exists already"):
        export_model(tiny_run, tmp_path / "b", int8=False)
    assert not (tmp_path / "a").exists()


def test_an_excerpt_ends_with_a_whole_sentence() -> None:
    text = "One two. Three four. Five."
    document = Document(
        id="1", text=text, sentences=((0, 8), (9, 20), (21, 26)), words=((0, 3), (9, 14))
    )
    (cut,) = excerpt([document, document], characters=20)
    assert cut.sentences == ((0, 8), (9, 20))
    assert cut.text == text[:20]
    assert [d.text for d in excerpt([document, document], characters=30)] == [text, text[:4]]
