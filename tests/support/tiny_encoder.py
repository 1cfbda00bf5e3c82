"""A random encoder of two small layers, with a WordPiece tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def make_tiny_encoder(folder: Path, pieces: Sequence[str], *, more: Sequence[str] = ()) -> Path:
    """Writes a BERT that reads at most 64 pieces.

    Args:
        folder: where to; it may exist.
        pieces: of the vocabulary, distinct, with ``[PAD]``, ``[UNK]``, ``[CLS]``, ``[SEP]`` and
            perhaps ``[MASK]``.
        more: further pieces, whose vectors are drawn after all other weights, so that these do not
            depend on them.

    Returns:
        The folder.
    """
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(exist_ok=True)
    ids = {piece: i for i, piece in enumerate((*pieces, *more))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, ids[name]) for name in ("[CLS]", "[SEP]")]
    )
    special = {
        f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")
    }
    present = {name: token for name, token in special.items() if token in ids}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **present).save_pretrained(
        folder
    )
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    transformers.utils.logging.disable_progress_bar()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = transformers.BertModel(config, add_pooling_layer=False)
        if more:
            network.resize_token_embeddings(len(ids), mean_resizing=False)
        network.save_pretrained(folder)
    return folder
