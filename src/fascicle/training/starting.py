"""Start of a training: opens a trained model or an encoder, and adapts its vocabulary to a
corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from torch import Tensor

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.core.files.intact import check_files
from fascicle.errors import RecipeError
from fascicle.models.encoder import Pretrained, load_pretrained, replace_embeddings
from fascicle.models.heads.tagger import MultiLabelTagger
from fascicle.models.model import TOKENIZER, NerModel, load_model
from fascicle.models.nn.pooling import InputVectors
from fascicle.models.restoring import restore_model
from fascicle.runtime.inputs import feature_columns
from fascicle.runtime.places import find_model
from fascicle.settings.folders.best import description_file
from fascicle.settings.folders.manifest import MANIFEST, Manifest, read_manifest
from fascicle.settings.folders.vocabularies import is_dictionary, is_pack
from fascicle.settings.recipes.distil import TeacherSettings
from fascicle.settings.recipes.pretraining import VocabularySettings
from fascicle.settings.recipes.recogniser import NetworkSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.vocabulary import may_be_added, rewrite_vocabulary
from fascicle.training.raw.windows import TextBatch, TextWindows

_VECTORS: Final = "units.vectors.table"  # prefix of the weights of a head with input features
_BY_LABEL: Final = "multilabel"  # the family whose labels are independent of each other
_TEXTS = 256  # that are cut at a time
_ROWS: Final = 1024  # windows that are counted at a time


@dataclass(frozen=True, kw_only=True)
class TrainedModel:
    """Model of torch with its weights.

    Attributes:
        manifest: of its folder.
        model: in evaluation mode.
        tokenizer: of its encoder.
    """

    manifest: Manifest
    model: NerModel
    tokenizer: PieceTokenizer

    def pretrained(self) -> Pretrained:
        """Returns the encoder of the model itself, not a copy."""
        return Pretrained(
            encoder=self.model.encoder,
            tokenizer=self.tokenizer,
            special=_special_of(self.tokenizer),
        )

    def hand_on(self, model: NerModel, manifest: Manifest) -> Iterator[str]:
        """Copies the weights of its heads to heads of another model that are of the same kind.

        Args:
            model: on the same encoder.
            manifest: of that model.

        Returns:
            Sentences on the result for each head.
        """
        for name, settings in manifest.heads.items():
            if reason := self._differs(name, manifest):
                yield f"the head {name!r} is new, for that of {self.manifest.name} {reason}"
                continue
            before, after = self.model.head(name), model.head(name)
            weights = before.state_dict()
            vectors = weights.pop(_VECTORS, None)
            if isinstance(before, MultiLabelTagger) and isinstance(after, MultiLabelTagger):
                weights = _weights_by_label(before, after)
            unread = after.load_state_dict(weights, strict=False)
            assert {*unread.unexpected_keys, *unread.missing_keys} <= {_VECTORS}, unread
            new = ", ".join(kind for kind in manifest.types if kind not in self.manifest.types)
            yield (
                f"the head {name!r} ({settings.family}) goes on with the weights of "
                f"{self.manifest.name}{f'; those of {new} are new' if new else ''}"
            )
            yield from self._hand_on_vectors(vectors, after.units.vectors, manifest)

    def _hand_on_vectors(
        self, own: Tensor | None, new: InputVectors | None, manifest: Manifest
    ) -> Iterator[str]:
        """Copies the vectors of input features that both models have; vectors of other features
        start at zero.
        """
        before, after = (
            feature_columns(described.inputs).names if described.inputs else ()
            for described in (self.manifest, manifest)
        )
        common = [name for name in after if name in before]
        if own is not None and new is not None and common:
            places = [(before.index(name), after.index(name)) for name in common]
            with torch.no_grad():
                new.table[[at for _, at in places]] = own[[at for at, _ in places]]
        if after:
            yield (
                f"of {len(after)} vectors of inputs {len(common)} go on, and the others start at "
                "zero"
            )
        if len(common) < len(before):
            unused = len(before) - len(common)
            yield f"{unused} vectors of inputs of {self.manifest.name} are not used"

    def _differs(self, name: str, manifest: Manifest) -> str:
        """Returns the reason why a head cannot take these weights; empty if it can."""
        own = self.manifest.heads.get(name)
        if own is None:
            return "is not there: it has " + ", ".join(map(repr, self.manifest.heads))
        common = set(self.manifest.types).intersection(manifest.types)
        if self.manifest.types != manifest.types and not (common and own.family == _BY_LABEL):
            return f"has other types ({', '.join(self.manifest.types)})"
        if own != manifest.heads[name] or self.manifest.descriptions.get(
            name
        ) != manifest.descriptions.get(name):
            return "has other settings"
        return ""


def _weights_by_label(before: MultiLabelTagger, after: MultiLabelTagger) -> dict[str, Tensor]:
    """Returns the output layer of a head, with the weights of another one for each label that
    both have; each label has its own logistic function.
    """
    common = [label for label in after.labels if label in before.labels]
    rows = [after.labels.index(label) for label in common]
    others = [before.labels.index(label) for label in common]
    weights = {}
    for name, own in before.linear.state_dict().items():
        weights[f"linear.{name}"] = after.linear.state_dict()[name].clone()
        weights[f"linear.{name}"][rows] = own[others]
    return weights


def open_trained(source: str, *, key: str, use: str) -> TrainedModel:
    """Opens a model to be trained further, with its weights.

    Args:
        source: a model folder, a run folder, an export, or the name of a model that ships.
        key: of the recipe that names it, for sentences.
        use: missing property of an unsuitable model, for messages, such as ``"whose layers cannot
            be read"``.

    Raises:
        ModelError: there is no such model, or it is damaged.
        RecipeError: an ensemble or a dictionary.
    """
    if is_dictionary(source) or is_pack(source):
        raise RecipeError(
            f"{key} = {source!r} is a dictionary or term pack, {use}; give the run folder of a "
            "model",
            key=key,
        )
    folder = find_model(source)
    if description_file(folder).name != MANIFEST:
        raise RecipeError(
            f"{key} = {source!r} is not a single model, {use}; give the run folder of one", key=key
        )
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
    exported = manifest.runtime != "torch"
    model = restore_model(folder, manifest, tokenizer) if exported else load_model(folder, manifest)
    return TrainedModel(manifest=manifest, model=model, tokenizer=tokenizer)


def open_start(settings: NetworkSettings) -> tuple[TrainedModel | None, Pretrained]:
    """Opens the model that training starts from, if a recipe names one, and the encoder.

    Raises:
        ModelError: one of them cannot be loaded.
        RecipeError: the model is an ensemble or a dictionary.
    """
    if not settings.start:
        return None, load_pretrained(settings.encoder, revision=settings.revision)
    trained = open_trained(settings.start, key="model.start", use="which cannot be trained")
    return trained, trained.pretrained()


def open_encoder(settings: TeacherSettings) -> Pretrained:
    """Loads the encoder of a teacher.

    Raises:
        ModelError: it cannot be loaded.
        RecipeError: the teacher is an ensemble.
    """
    if settings.encoder:
        return load_pretrained(settings.encoder, revision=settings.revision)
    return open_trained(
        settings.model, key="teacher.model", use="whose layers cannot be read"
    ).pretrained()


def _special_of(tokenizer: PieceTokenizer) -> dict[str, str]:
    """Returns the special tokens of a tokenizer by the names that transformers gives to their
    uses.
    """
    names = {at: token for token, at in tokenizer.tokens.items()}
    uses = {
        "pad_token": tokenizer.pad,
        "unk_token": tokenizer.unknown,
        "mask_token": tokenizer.mask,
    }
    if len(tokenizer.prefix) == len(tokenizer.suffix) == 1:
        uses |= {"cls_token": tokenizer.prefix[0], "sep_token": tokenizer.suffix[0]}
    return {use: names[at] for use, at in uses.items() if at is not None}


def reduce_vocabulary(
    pretrained: Pretrained, documents: Sequence[Document], *, pieces: int
) -> tuple[Pretrained, str]:
    """Removes from an encoder's vocabulary the pieces that some texts need least.

    Args:
        pretrained: its embedding table is replaced.
        documents: whose texts are read in full.
        pieces: number of pieces that stay, beside special tokens, characters and bytes.

    Returns:
        The encoder with its new tokenizer, and a sentence on the removed pieces.

    Raises:
        RecipeError: the tokenizer is not of the kind WordPiece.
    """
    tokenizer = pretrained.tokenizer
    counts = piece_counts(tokenizer, documents)
    rewritten = rewrite_vocabulary(tokenizer, needed=most_frequent(counts, pieces))
    replace_embeddings(pretrained.encoder.network, rewritten)
    stay = sorted({number for source in rewritten.sources for number in source})
    gone = 1.0 - counts[stay].sum() / max(counts.sum(), 1)
    note = (
        f"the vocabulary has {rewritten.tokenizer.size:,} pieces in place of {tokenizer.size:,}; "
        f"{gone:.2%} of the pieces of train are gone, and their words fall into more pieces"
    )
    return replace(pretrained, tokenizer=rewritten.tokenizer), note


def piece_counts(tokenizer: PieceTokenizer, documents: Sequence[Document]) -> Ints:
    """Returns the number of occurrences of each piece, ``[size of the vocabulary]``."""
    counts = np.zeros(tokenizer.size, dtype=np.int64)
    for at in range(0, len(documents), _TEXTS):
        for ids, _ in tokenizer.encode([document.text for document in documents[at : at + _TEXTS]]):
            counts += np.bincount(ids, minlength=tokenizer.size)
    return counts


def most_frequent(counts: Ints, most: int) -> list[int]:
    """Returns the most frequent pieces, of equal ones those with the lower ids; none that never
    occurs.
    """
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(number) for number in order if counts[number]]


def adapt_vocabulary(
    pretrained: Pretrained, text: TextWindows, settings: VocabularySettings
) -> tuple[Pretrained, dict[str, int]]:
    """Adapts the vocabulary of an encoder to a text.

    Args:
        pretrained: its embedding table is replaced.
        text: as its tokenizer cuts it.
        settings: of the change.

    Returns:
        The encoder with its new tokenizer, and the numbers of pieces before and after, for
        ``run.json``.

    Raises:
        RecipeError: the tokenizer is not of the kind WordPiece.
    """
    tokenizer = pretrained.tokenizer
    rewritten = rewrite_vocabulary(
        tokenizer,
        needed=frequent_pieces(text, least=settings.keep_frequency) if settings.prune else None,
        words=frequent_words(text, tokenizer, settings),
    )
    replace_embeddings(pretrained.encoder.network, rewritten)
    sizes = {
        "before": tokenizer.size,
        "left_out": rewritten.left_out,
        "added": rewritten.added,
        "now": rewritten.tokenizer.size,
    }
    return replace(pretrained, tokenizer=rewritten.tokenizer), sizes


def frequent_pieces(text: TextWindows, *, least: int) -> frozenset[int]:
    """Returns the ids of pieces that occur at least a given number of times in a text."""
    counts = np.zeros(1, dtype=np.int64)
    for portion in _portions(text):
        occurrences = np.bincount(portion.ids[~portion.special])
        size = max(len(counts), len(occurrences))
        counts = np.pad(counts, (0, size - len(counts))) + np.pad(
            occurrences, (0, size - len(occurrences))
        )
    return frozenset(np.flatnonzero(counts >= least).tolist())


def frequent_words(
    text: TextWindows, tokenizer: PieceTokenizer, settings: VocabularySettings
) -> tuple[str, ...]:
    """Returns the most frequent words of many pieces, as the tokenizer normalises them.

    Args:
        text: as the tokenizer cuts it.
        tokenizer: of the kind WordPiece.
        settings: number of words, and their least number of pieces and occurrences.
    """
    if not settings.add_words:
        return ()
    counts: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for pieces, (count, documents) in _words(text, least=settings.word_pieces).items():
        word = tokenizer.word_of(pieces)
        counts[word] += count
        spread[word] += documents
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    fit = [
        word
        for word, count in ranked
        if count >= settings.word_frequency
        and spread[word] >= settings.word_documents
        and may_be_added(word)
    ]
    return tuple(fit[: settings.add_words])


def _words(text: TextWindows, *, least: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """Returns the words of at least so many pieces: the number of their occurrences, and of
    their documents.
    """
    counts: Counter[tuple[int, ...]] = Counter()
    spread: Counter[tuple[int, ...]] = Counter()
    last: dict[tuple[int, ...], int] = {}  # the document in which each word was last
    before = 0
    for portion in _portions(text):
        documents = before + np.cumsum(portion.opens.ravel())
        before = int(documents[-1])
        for start, word in _long_words(portion, least=least):
            document = int(documents[start])
            counts[word] += 1
            spread[word] += last.get(word) != document
            last[word] = document
    return {word: (count, spread[word]) for word, count in counts.items()}


def _long_words(portion: TextBatch, *, least: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yields the words of at least so many pieces, each with the place of its first piece."""
    ids, begins, special = portion.ids.ravel(), portion.begins.ravel(), portion.special.ravel()
    starts = np.flatnonzero(begins & ~special)
    ends = np.flatnonzero(np.append((begins | special)[1:], True)) + 1
    stops = ends[np.searchsorted(ends, starts, side="right")]
    long = stops - starts >= least
    for start, stop in zip(starts[long].tolist(), stops[long].tolist(), strict=True):
        yield start, tuple(ids[start:stop].tolist())


def _portions(text: TextWindows) -> Iterator[TextBatch]:
    for at in range(0, len(text), _ROWS):
        yield text.batch(range(at, min(at + _ROWS, len(text))))
