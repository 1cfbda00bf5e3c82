"""An encoder as a folder that any recipe, and transformers, can load."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from fascicle.models.encoder import Encoder, quiet_loading
from fascicle.text.pieces import PieceTokenizer


def save_encoder(folder: Path, encoder: Encoder, tokenizer: PieceTokenizer) -> None:
    """Writes ``config.json``, ``model.safetensors`` and the files of the tokenizer.

    Args:
        folder: exists and is empty.
        encoder: what is written.
        tokenizer: of the encoder.
    """
    from transformers import PreTrainedTokenizerFast

    names = {at: token for token, at in tokenizer.tokens.items()}
    uses = {"pad_token": tokenizer.pad, "unk_token": tokenizer.unknown, "mask_token": tokenizer.mask}
    if len(tokenizer.prefix) == len(tokenizer.suffix) == 1:
        uses |= {"cls_token": tokenizer.prefix[0], "sep_token": tokenizer.suffix[0]}
    special = {name: names[at] for name, at in uses.items() if at is not None}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(tokenizer.content), model_max_length=encoder.longest, **special
    )
    with quiet_loading():
        fast.save_pretrained(folder)
        encoder.network.save_pretrained(folder)  # type: ignore[operator]
