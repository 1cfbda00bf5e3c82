"""A pretrained encoder becomes a graph that makes one vector of a name, and its tokenizer."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from fascicle.errors import ModelError
from fascicle.models.encoder import Encoder, load_pretrained
from fascicle.models.export.graph import export_onnx, largest_difference, texts_of

_AXES = {"input_ids": ("batch", "pieces"), "attention_mask": ("batch", "pieces"), "vectors": ("batch", "")}
_EXAMPLE, _OTHER = {"batch": 3, "pieces": 11}, {"batch": 2, "pieces": 29}
_TOLERANCE = 1e-4  # of a number of a vector of length 1


class NameVectors(nn.Module):
    """The mean of the states of all pieces, special tokens included, at length 1."""

    def __init__(self, encoder: Encoder) -> None:
        """Takes the encoder."""
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Vectors ``[B, d]`` of pieces ``[B, T]``."""
        states = self.encoder(input_ids, attention_mask)
        read = attention_mask.unsqueeze(-1).to(states.dtype)
        mean = (states * read).sum(1) / read.sum(1).clamp(min=1.0)
        return nn.functional.normalize(mean, dim=-1).detach()


def export_names(name: str, graph: Path, tokenizer: Path, *, longest: int) -> int:
    """Exports an encoder in float32; the graph is compared with the network before it is given out.

    Args:
        name: a Hugging Face name, a folder, or ``package:NAME/FOLDER``.
        graph: file to write, with the inputs ``input_ids`` and ``attention_mask`` and the output ``vectors``.
        tokenizer: file to write.
        longest: pieces that it must read.

    Returns:
        The id of the padding token.

    Raises:
        ModelError: there is no such encoder, it reads fewer pieces, or it cannot be written as ONNX.
    """
    pretrained = load_pretrained(name)
    if pretrained.encoder.longest < longest:
        raise ModelError(
            f"the encoder {name!r} reads at most {pretrained.encoder.longest} pieces, and names may have {longest}; "
            "choose another encoder"
        )
    network = NameVectors(pretrained.encoder)
    size = int(pretrained.encoder.config.vocab_size)
    first, other = (texts_of(sizes, vocabulary=size)[0] for sizes in (_EXAMPLE, _OTHER))
    export_onnx(network, graph, example=first, dynamic=_AXES, outputs=["vectors"])
    gap = largest_difference(network, graph, inputs=other)
    if gap > _TOLERANCE:
        raise ModelError(f"the ONNX graph of {name!r} differs from the encoder by {gap:.2g}; choose another encoder")
    tokenizer.write_text(pretrained.tokenizer.content, encoding="utf-8")
    return pretrained.tokenizer.pad
