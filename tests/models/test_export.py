"""torch = ONNX for encoders of several families; int8 runs. Tiny random encoders, no download."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

transformers = pytest.importorskip("transformers")

from fascicle.core.session import OnnxSession  # noqa: E402
from fascicle.errors import ModelError  # noqa: E402
from fascicle.models.export.graph import export_onnx, largest_difference  # noqa: E402
from fascicle.models.export.optimise import merge, quantise  # noqa: E402

SIZES = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 80,
}
CONFIGS = {
    "bert": transformers.BertConfig(**SIZES),
    "roberta": transformers.RobertaConfig(**SIZES, pad_token_id=1),
    "electra": transformers.ElectraConfig(**SIZES, embedding_size=16),
    "distilbert": transformers.DistilBertConfig(
        vocab_size=100, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=80
    ),
    "deberta": transformers.DebertaV2Config(
        **SIZES,
        relative_attention=True,
        position_buckets=8,
        pos_att_type=["p2c", "c2p"],
        type_vocab_size=0,
    ),
    "modernbert": transformers.ModernBertConfig(
        **SIZES,
        global_attn_every_n_layers=2,
        local_attention=8,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        cls_token_id=1,
        sep_token_id=2,
    ),
}
SHAPES = [(1, 3, 1), (2, 9, 4), (3, 17, 8), (4, 40, 3), (1, 70, 20)]
DYNAMIC = {
    "input_ids": ("B", "T"),
    "attention_mask": ("B", "T"),
    "first_piece": ("B", "U"),
    "emissions": ("B", "U", ""),
}


class Tagger(nn.Module):
    """First pooling and five labels over an encoder."""

    def __init__(self, encoder: nn.Module, *, labels: int = 5) -> None:
        super().__init__()
        self.encoder = encoder
        self.linear = nn.Linear(32, labels)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, first_piece: Tensor
    ) -> tuple[Tensor]:
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return (
            self.linear(
                states.gather(1, first_piece.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
            ),
        )


def batch_of(count: int, length: int, units: int) -> dict[str, Tensor]:
    """Random pieces; every row but the first is padded."""
    random = torch.Generator().manual_seed(1000 * count + length)
    ids = torch.randint(5, 100, (count, length), generator=random)
    mask = torch.ones_like(ids)
    for row in range(1, count):
        used = max(2, length - 3 * row)
        mask[row, used:] = 0
        ids[row, used:] = 1
    first = torch.randint(0, 2, (count, units), generator=random)
    return {"input_ids": ids, "attention_mask": mask, "first_piece": first}


def tagger(family: str, *, labels: int = 5) -> Tagger:
    torch.manual_seed(7)
    return Tagger(transformers.AutoModel.from_config(CONFIGS[family]), labels=labels).eval()


@pytest.fixture(scope="module", params=sorted(CONFIGS))
def exported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tagger, Path]:
    model = tagger(request.param)
    path = tmp_path_factory.mktemp(request.param) / "model.onnx"
    export_onnx(model, path, example=batch_of(2, 9, 4), dynamic=DYNAMIC, outputs=["emissions"])
    return model, path


@pytest.mark.parametrize("shape", SHAPES)
def test_the_graph_equals_the_module_for_any_shape(
    exported: tuple[Tagger, Path], shape: tuple[int, int, int]
) -> None:
    model, path = exported
    assert largest_difference(model, path, inputs=batch_of(*shape)) < 1e-4


def test_a_merged_graph_says_the_same(exported: tuple[Tagger, Path], tmp_path: Path) -> None:
    model, path = exported
    merge(path, tmp_path / "merged.onnx")
    for shape in SHAPES:
        assert largest_difference(model, tmp_path / "merged.onnx", inputs=batch_of(*shape)) < 1e-4


def test_a_merged_graph_of_8_bits_has_less_to_merge_and_says_the_same(tmp_path: Path) -> None:
    import onnx

    paths = [tmp_path / f"{name}.onnx" for name in ("plain", "int8", "merged")]
    export_onnx(
        tagger("bert"), paths[0], example=batch_of(2, 9, 4), dynamic=DYNAMIC, outputs=["emissions"]
    )
    quantise(paths[0], paths[1])
    merge(paths[1], paths[2])
    before, after = (OnnxSession.open(path, threads=1) for path in paths[1:])
    for shape in SHAPES:
        batch = {name: tensor.numpy() for name, tensor in batch_of(*shape).items()}
        np.testing.assert_allclose(
            after.run(batch)["emissions"], before.run(batch)["emissions"], atol=1e-5
        )
    graphs = [onnx.load(str(path)) for path in paths[1:]]
    assert len(graphs[1].graph.node) < len(graphs[0].graph.node)
    assert {opset.domain for opset in graphs[1].opset_import} <= {"", "com.microsoft"}


def test_what_cannot_be_merged_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match="cannot be run by ONNX Runtime"):
        merge(tmp_path / "bad.onnx", tmp_path / "out.onnx")


def test_int8_is_close(exported: tuple[Tagger, Path], tmp_path: Path) -> None:
    _, path = exported
    done = quantise(path, tmp_path / "int8.onnx")
    assert done.products >= 8
    assert done.tables >= 1
    batch = {name: tensor.numpy() for name, tensor in batch_of(3, 17, 8).items()}
    exact = OnnxSession.open(path, threads=1).run(batch)["emissions"]
    rough = OnnxSession.open(tmp_path / "int8.onnx", threads=1).run(batch)["emissions"]
    assert rough.shape == exact.shape
    assert np.abs(rough - exact).mean() < 0.1 * np.abs(exact).std() + 0.01


def test_the_layer_of_the_labels_stays_float(tmp_path: Path) -> None:
    found = {}
    for labels in (5, 40):
        path = tmp_path / f"{labels}.onnx"
        example = batch_of(2, 9, 4)
        export_onnx(
            tagger("bert", labels=labels),
            path,
            example=example,
            dynamic=DYNAMIC,
            outputs=["emissions"],
        )
        found[labels] = quantise(path, path).products
    assert found[40] == found[5] + 1


def test_the_module_comes_back_as_it_was(tmp_path: Path) -> None:
    model = tagger("bert").train()
    model.linear.eval()
    before = model.encoder.config._attn_implementation
    example = batch_of(2, 9, 4)
    export_onnx(model, tmp_path / "m.onnx", example=example, dynamic=DYNAMIC, outputs=["emissions"])
    assert model.encoder.config._attn_implementation == before
    assert (model.training, model.encoder.training, model.linear.training) == (True, True, False)


def test_what_onnx_lacks_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    class Exclusive(nn.Module):
        def forward(self, states: Tensor, index: Tensor) -> Tensor:
            return torch.zeros_like(states).scatter_reduce(
                1, index, states, reduce="amax", include_self=False
            )

    example = {"states": torch.randn(2, 3), "index": torch.zeros(2, 3, dtype=torch.long)}
    dynamic = {"states": ("B", "T"), "index": ("B", "T"), "out": ("B", "T")}
    with pytest.raises(ModelError, match="include_self"):
        export_onnx(
            Exclusive(), tmp_path / "m.onnx", example=example, dynamic=dynamic, outputs=["out"]
        )
    assert capfd.readouterr().out == ""


def test_examples_that_cannot_be_traced_are_refused(tmp_path: Path) -> None:
    model = tagger("bert")
    with pytest.raises(ValueError, match="at least 2"):
        export_onnx(
            model, tmp_path / "m", example=batch_of(1, 9, 4), dynamic=DYNAMIC, outputs=["emissions"]
        )
    with pytest.raises(ValueError, match="dynamic names"):
        export_onnx(
            model, tmp_path / "m", example=batch_of(2, 9, 4), dynamic=DYNAMIC, outputs=["other"]
        )
