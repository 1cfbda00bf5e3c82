"""Uses any Hugging Face checkpoint for token classification as a predictor; safetensors only, no
remote code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn

from fascicle.core.arrays import Floats32, Ints, int_array
from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span
from fascicle.core.tags import decode_tags, is_tag, split_tag
from fascicle.errors import ModelError, UsageError
from fascicle.models.encoder import Encoder, check_parts, fetch_network, find_tokenizer
from fascicle.runtime.decoding.chains import geometric_mean
from fascicle.runtime.decoding.decoders import SpansAndScores, Tables
from fascicle.runtime.decoding.kinds import HeadKind, HeadKinds
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.heads import Level, SoftmaxSettings
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import Reading, read_documents
from fascicle.text.targets import HeadLimits
from fascicle.text.windows import Batch, Window, stitch
from fascicle.version import VERSION

_OUTSIDE: Final = "O"
# labels of no mention
_NO_WORDS: Final = frozenset({"X", "PAD", "[PAD]", "<pad>", "[CLS]", "[SEP]", "<s>", "</s>"})
_WHAT: Final = "token classifier"
_LONGEST: Final = 512  # pieces that are read at a time, if the network can
_HEAD: Final = "labels"


def tags_of_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Returns the tag that each label of a token classifier means.

    Labels without any prefix (``O``, ``person``) are those of the scheme IO. Labels that some
    checkpoints have for special tokens (``X``, ``[CLS]``) mean no mention.

    Args:
        labels: in the order of their numbers.

    Raises:
        ModelError: no label O, no type, or some types with a prefix and some without.
    """
    types = [label for label in labels if label != _OUTSIDE and label not in _NO_WORDS]
    prefixed = [label for label in types if is_tag(label)]
    if _OUTSIDE not in labels or not types or len(prefixed) not in (0, len(types)):
        raise ModelError(
            f"the labels {', '.join(labels[:8])} are not tags; allowed are O and types, all with a "
            "prefix (B-PER, I-PER) or all without one (person), so give their names as id2label in "
            "config.json"
        )
    bare = "" if prefixed else "I-"
    return tuple(f"{bare}{label}" if label in types else _OUTSIDE for label in labels)


def _types_of_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Returns the types of tags, each once, in their order."""
    return tuple(dict.fromkeys(kind for _, kind in map(split_tag, tags) if kind))


class UnitLabelDecoder:
    """The most probable label of each unit, and runs of labels as mentions (`decode_tags`).

    The score of a mention is the geometric mean of the probabilities of its labels, each from the
    softmax of its unit.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        """Prepares.

        Args:
            tags: of the labels, in the order of their numbers.
        """
        self._tags = tags
        self._kinds = {kind: at for at, kind in enumerate(_types_of_tags(tags))}

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Floats32]:
        """Returns the logits of each window's units, ``[units, labels]``."""
        emissions = tables["emissions"]
        if emissions.shape[-1] != len(self._tags) or np.isnan(emissions).any():
            raise ModelError(
                "the network gives no scores for the labels of its config.json; fetch the folder "
                "again"
            )
        return [emissions[row, :count].copy() for row, count in enumerate(counts.tolist())]

    def decide(
        self, logits: Sequence[Sequence[Floats32]], windows: Sequence[Sequence[Window]]
    ) -> list[SpansAndScores]:
        """Reads the labels of each segment as one sequence."""
        return [self._decided(rows, cut) for rows, cut in zip(logits, windows, strict=True)]

    def _decided(self, rows: Sequence[Floats32], cut: Sequence[Window]) -> SpansAndScores:
        logits = stitch(rows, cut, units=max((w.segment[1] for w in cut), default=0))
        labels = logits.argmax(axis=1) if len(logits) else np.zeros(0, np.int64)
        tags = [self._tags[label] for label in labels]
        mentions = []
        for first, last in dict.fromkeys(window.segment for window in cut):
            for start, end, kind in decode_tags(tags[first:last]):
                mentions.append((first + start, first + end, self._kinds[kind]))
        spans = int_array(mentions).reshape(-1, 3)
        return spans, geometric_mean(logits, labels, spans=spans)


def load_token_classifier(name: str, *, device: str | torch.device = "cpu") -> ModelPredictor:
    """Loads a checkpoint.

    Words are those of the document if it has some, else those of the tokenizer; the first piece of
    a word has its label. Texts that are longer than the network can read are read through
    overlapping windows. The score of a mention is the geometric mean of the probabilities of its
    labels.

    Args:
        name: a Hugging Face name, or a folder with ``config.json``, ``model.safetensors`` and the
            files of a tokenizer.
        device: of torch, on which the network computes.

    Raises:
        ModelError: there is no such checkpoint, it cannot be read, lacks weights, or its labels are
            no tags.
    """
    from transformers import AutoModelForTokenClassification

    network, missing, fast = fetch_network(
        name,
        AutoModelForTokenClassification,
        what=_WHAT,
        more=lambda place, options: {"use_safetensors": True},
    )
    tokenizer = find_tokenizer(fast, name, what=_WHAT)
    check_parts(network, missing, tokenizer, name=f"{_WHAT} {name!r}")
    network = network.float().eval()
    labels = [str(network.config.id2label[at]) for at in range(network.config.num_labels)]
    tags = tags_of_labels(labels)
    longest = min(Encoder(network).longest, int(fast.model_max_length), _LONGEST)
    manifest = _manifest(name, network, tokenizer, tags=tags, longest=longest)
    scorer = _Scorer(network=network.to(device))
    return ModelPredictor(
        manifest, tokenizer, scorer, kinds=_kinds(tags), read=_Reader(fast.backend_tokenizer)
    )


def _manifest(
    name: str, network: nn.Module, tokenizer: PieceTokenizer, *, tags: Sequence[str], longest: int
) -> Manifest:
    head = SoftmaxSettings(decoding="lenient")
    return Manifest(
        name=name.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or _WHAT,
        fascicle=VERSION,
        runtime="torch",
        types=_types_of_tags(tags),
        heads={_HEAD: head},
        reading=ReadingSettings(unit="packed", max_length=longest, overlap=longest // 4),
        tokenizer=tokenizer.facts,
        decision=ScoreDecision(answer=_HEAD, decoding=head.decoding),
        encoder=name,
        files={
            "weights": _hash(network),
            "labels": hashlib.sha256(" ".join(tags).encode()).hexdigest(),
        },
    )


def _hash(network: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _kinds(tags: Sequence[str]) -> HeadKinds:
    def prober(
        head: SoftmaxSettings, decision: ScoreDecision, types: int, spans: Sequence[Ints]
    ) -> Any:
        raise UsageError(
            "a checkpoint of another tool does not tell the probabilities of given spans; train a "
            "model"
        )

    def decoder(head: SoftmaxSettings, decision: ScoreDecision, types: int) -> UnitLabelDecoder:
        return UnitLabelDecoder(tags)

    limits = HeadLimits(continues=True)
    return {
        SoftmaxSettings: HeadKind(
            limits=lambda _: limits, decoder=decoder, prober=prober, definition="tag-path"
        )
    }


@dataclass(frozen=True, kw_only=True)
class _Scorer:
    """Network as a scorer: the logits of the first piece of each unit."""

    network: nn.Module

    def run(self, inputs: Batch) -> dict[str, Floats32]:
        device = next(self.network.parameters()).device
        with torch.inference_mode():
            ids, mask, first = (
                torch.from_numpy(inputs[n]).to(device)
                for n in ("input_ids", "attention_mask", "first_piece")
            )
            logits = self.network(input_ids=ids, attention_mask=mask).logits
            rows = torch.arange(len(first), device=device)[:, None]
            return {"emissions": logits[rows, first].float().cpu().numpy()}


class _Reader:
    """Reads a text as the tokenizer got it in training: as a whole, with the words of the
    tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(
        self,
        documents: Sequence[Document],
        tokenizer: PieceTokenizer,
        *,
        reading: ReadingSettings,
        level: Level,
    ) -> Reading:
        return read_documents(
            list(map(self._cut, documents)), tokenizer, reading=reading, level=level
        )

    def _cut(self, document: Document) -> Document:
        """Returns the document without its mentions, with sentences and words where it has none."""
        text, nothing = document.text, tuple[Mention, ...]()
        whole = ((0, len(text)),) if text else ()
        sentences = document.sentences if document.sentences is not None else whole
        words = document.words if document.words is not None else tuple(self._words(text))
        return msgspec.structs.replace(document, mentions=nothing, sentences=sentences, words=words)

    def _words(self, text: str) -> Iterator[Span]:
        """Yields the words of the tokenizer without white space; of those that overlap, the
        first.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        hulls: dict[int, Span] = {}
        for number, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
            if number is not None:
                before = hulls.get(number, (start, end))
                hulls[number] = min(start, before[0]), max(end, before[1])
        reached = 0
        for start, end in hulls.values():
            part = text[start:end]
            start, end = (
                start + len(part) - len(part.lstrip()),
                end - len(part) + len(part.rstrip()),
            )
            if reached <= start < end:
                yield start, end
                reached = end
