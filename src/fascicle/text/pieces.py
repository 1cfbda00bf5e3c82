"""Alignment of characters, words and pieces, without reconstruction of text from pieces.

The tokenizer reads the source text of each sentence; its offsets, shifted to the document and
without white space at their edges, are the only link back. A *unit* is an item that gets a score: a
word with at least one piece, or a piece.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from tokenizers import AddedToken, Encoding, Tokenizer

from fascicle.core.arrays import Bools, Ints, int_array, lengths_of
from fascicle.core.document import Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.errors import ModelError
from fascicle.settings.inputs import TokenizerFacts
from fascicle.text.inputs import UnitInputs
from fascicle.text.known_words import KnownWords, cuts_words_alone, is_plain
from fascicle.text.segment import Segmenter, all_sentences
from fascicle.text.segment import segmenter as segmenter_of

_BLANKS = ("▁", "Ġ")  # blanks of SentencePiece and byte-level tokenizers
_ENDS = re.compile("[\v\f\x1c-\x1f\x85]")
_LAST_SPACE = 0x3000
_WITH_SPACES = (range(0x100), (0x1680,), range(0x2000, 0x2060), (_LAST_SPACE,))
# White space lies in these blocks of code points alone; the last value is for all higher ones.
_IS_SPACE = np.zeros(_LAST_SPACE + 2, dtype=np.bool_)
_IS_SPACE[[code for codes in _WITH_SPACES for code in codes if chr(code).isspace()]] = True


class Pieces(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces, units and sentences of a document.

    Attributes:
        ids: ids of the pieces, without special tokens, ``[n]``.
        spans: character range of each piece in the document, without white space at its edges,
            ``[n, 2]``; a piece of white space only has an empty range.
        units: character range of each unit, ``[u, 2]``.
        first: index of the first piece of each unit, ``[u]``, increasing.
        unit_of: unit of each piece, -1 for none, ``[n]``.
        sentences: piece range of each sentence, ``[s, 2]``; together they cover every piece.
        text: text of the document.
        inputs: features of the units; ``None`` if there are none.
    """

    ids: Ints
    spans: Ints
    units: Ints
    first: Ints
    unit_of: Ints
    sentences: Ints
    text: str = ""
    inputs: UnitInputs | None = None


class PieceTokenizer:
    """A tokenizer without the truncation and padding of its file, and the special tokens that it
    adds to a text.
    """

    def __init__(self, tokenizer: Tokenizer, *, pad: int | None = None) -> None:
        """Wraps a tokenizer and switches off the truncation and padding of its file.

        Args:
            tokenizer: a tokenizer of the ``tokenizers`` library.
            pad: id of the padding token; by default that of the tokenizer.
        """
        padding = tokenizer.padding
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # "[SEP]" in a text is read as text, never as the separator.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.pad = pad if pad is not None else _pad_id(tokenizer, padding)
        self.prefix, self.suffix = _specials(tokenizer)
        unknowns = (tokenizer.token_to_id(token) for token in ("[UNK]", "<unk>"))
        self.unknown: int | None = next((u for u in unknowns if u is not None), None)
        masks = (tokenizer.token_to_id(token) for token in ("[MASK]", "<mask>"))
        self.mask: int | None = next((m for m in masks if m is not None), None)
        self._blanks = [i for i in map(tokenizer.token_to_id, _BLANKS) if i is not None]

    @classmethod
    def from_file(cls, path: Path, *, pad: int | None = None) -> PieceTokenizer:
        """Reads ``tokenizer.json``.

        Raises:
            ModelError: the file is missing or damaged.
        """
        try:
            return cls(Tokenizer.from_file(str(path)), pad=pad)
        except Exception as error:  # the library raises bare Exception
            message = (
                f"{path} is not a readable tokenizer file ({error}); copy the model folder again"
            )
            raise ModelError(message, file=str(path)) from None

    @cached_property
    def content(self) -> str:
        """Tokenizer as JSON, without truncation and padding."""
        return str(self._tokenizer.to_str(pretty=False))

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of ``content``."""
        return hashlib.sha256(self.content.encode("utf-8")).hexdigest()

    @property
    def facts(self) -> TokenizerFacts:
        """Facts about the tokenizer for the file of a model folder."""
        return TokenizerFacts(
            sha256=self.sha256, prefix=self.prefix, suffix=self.suffix, pad=self.pad
        )

    def id_of(self, token: str) -> int | None:
        """Returns the id of one token of the vocabulary, ``None`` if it has no such token."""
        number = self._tokenizer.token_to_id(token)
        return None if number is None else int(number)

    @cached_property
    def tokens(self) -> Mapping[str, int]:
        """Id of each token of the vocabulary, special ones included."""
        return dict(self._tokenizer.get_vocab(with_added_tokens=True))

    @cached_property
    def size(self) -> int:
        """Number of ids, special tokens included: every id is smaller."""
        return 1 + max(self.tokens.values())

    def word_of(self, pieces: Sequence[int]) -> str:
        """Returns the word that WordPiece splits into some pieces, as the tokenizer normalises
        it.
        """
        first, *rest = (self._tokenizer.id_to_token(piece) or "" for piece in pieces)
        return first + "".join(piece.removeprefix("##") for piece in rest)

    def ordinary(self) -> Ints:
        """Returns the ids of all pieces except the special tokens, in order."""
        special = {
            number
            for number, token in self._tokenizer.get_added_tokens_decoder().items()
            if token.special
        }
        vocabulary = set(self._tokenizer.get_vocab(with_added_tokens=True).values())
        return int_array(sorted(vocabulary - special))

    def with_tokens(self, tokens: Sequence[str]) -> PieceTokenizer:
        """Returns a copy with more special tokens, which are never read from a text, only inserted
        by id.

        Args:
            tokens: tokens that are not in the vocabulary.
        """
        copy = Tokenizer.from_str(self.content)
        copy.add_special_tokens(
            [AddedToken(token, special=True, normalized=False) for token in tokens]
        )
        return PieceTokenizer(copy, pad=self.pad)

    def encode(self, texts: Sequence[str]) -> list[tuple[Ints, Ints]]:
        """Returns the pieces of each text, without special tokens.

        Returns:
            Per text: ids ``[n]``, and character ranges in that text ``[n, 2]``; a piece that is
            only a blank, also one that the tokenizer added before the first word, has an empty
            range.
        """
        texts = _with_blanks(texts)
        by_words = [self._words is not None and is_plain(text) for text in texts]
        by_word = iter(self._words.encode(list(compress(texts, by_words))) if self._words else ())
        rest = [text for text, is_known in zip(texts, by_words, strict=True) if not is_known]
        encoded = iter(self._tokenizer.encode_batch(rest, add_special_tokens=False))
        return [next(by_word) if is_known else self._ranges(next(encoded)) for is_known in by_words]

    @cached_property
    def _words(self) -> KnownWords | None:
        return KnownWords(self._tokenizer) if cuts_words_alone(self._tokenizer) else None

    def encode_words(self, texts: Sequence[str]) -> list[tuple[Ints, Bools]]:
        """Returns the pieces of each text, without special tokens, and the starts of the
        tokenizer's own words.

        Returns:
            Per text: ids ``[n]``, and a mask of the pieces that begin a word ``[n]``.
        """
        return [
            _with_begins(e)
            for e in self._tokenizer.encode_batch(_with_blanks(texts), add_special_tokens=False)
        ]

    def _ranges(self, encoding: Encoding) -> tuple[Ints, Ints]:
        ids = int_array(encoding.ids)
        offsets = int_array(encoding.offsets).reshape(-1, 2)
        if self._blanks:
            # A blank that is not in the text has the range of the following character, which is of
            # the next piece.
            blank = np.isin(ids, self._blanks)
            offsets[blank, 1] = offsets[blank, 0]
        return ids, offsets


def _with_begins(encoding: Encoding) -> tuple[Ints, Bools]:
    words = int_array([-1 if word is None else word for word in encoding.word_ids])
    return int_array(encoding.ids), np.diff(words, prepend=-2) != 0


def encode_documents(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    segmenter: str,
    level: Literal["word", "piece"],
) -> list[Pieces]:
    """Splits documents into pieces, sentence by sentence.

    Sentences and words are those of the document; if it has none, those of the segmenter. The
    segmenter also splits text between given sentences, so that the whole document is read.

    Args:
        documents: any number; all their sentences are tokenised in one call.
        tokenizer: tokenizer of the model.
        segmenter: name of the segmenter.
        level: kind of unit.

    Returns:
        One ``Pieces`` per document.

    Raises:
        InputError: this release has no such segmenter.
    """
    rules = segmenter_of(segmenter)
    sentences = [all_sentences(d, rules) for d in documents]
    encoded = iter(
        tokenizer.encode(
            [d.text[a:b] for d, ranges in zip(documents, sentences, strict=True) for a, b in ranges]
        )
    )
    result = []
    for document, ranges in zip(documents, sentences, strict=True):
        parts = [next(encoded) for _ in ranges]
        result.append(_assemble(document, ranges, parts, rules if level == "word" else None))
    return result


def _assemble(
    document: Document,
    sentences: Sequence[Span],
    parts: list[tuple[Ints, Ints]],
    words_by: Segmenter | None,
) -> Pieces:
    ids_of, ranges = zip(*parts, strict=True) if parts else ((), ())
    counts = lengths_of(ids_of)
    ends = np.cumsum(counts)
    starts = np.repeat(int_array([start for start, _ in sentences]), counts)
    spans = np.concatenate([_no_ranges(), *ranges]) + starts[:, None]
    spans = _without_edge_spaces(spans, document.text)
    if words_by is None:
        unit_of, first, units = piece_units(spans)
    else:
        words = document.words if document.words is not None else words_by.words(document.text)
        unit_of, first, units = _align(spans, int_array(words).reshape(-1, 2))
    return Pieces(
        ids=np.concatenate([int_array([]), *ids_of]),
        spans=spans,
        units=units,
        first=first,
        unit_of=unit_of,
        sentences=np.stack([ends - counts, ends], axis=1),
        text=document.text,
    )


def piece_units(spans: Ints) -> tuple[Ints, Ints, Ints]:
    """Makes each piece with a range a unit; returns the unit of each piece, its piece, and its
    range.
    """
    keep = np.flatnonzero(spans[:, 0] < spans[:, 1])
    unit_of = np.full(len(spans), -1, dtype=np.int64)
    unit_of[keep] = np.arange(len(keep))
    return unit_of, keep, spans[keep]


def _align(spans: Ints, words: Ints) -> tuple[Ints, Ints, Ints]:
    """Assigns each piece to the word in which it starts; words without a piece are no units."""
    if not len(words) or not len(spans):
        return np.full(len(spans), -1, dtype=np.int64), np.zeros(0, np.int64), _no_ranges()
    word = np.searchsorted(words[:, 0], spans[:, 0], side="right") - 1
    inside = (word >= 0) & (spans[:, 0] < words[word, 1]) & (spans[:, 0] < spans[:, 1])
    # A piece over two words is assigned only to the first one.
    pieces = np.flatnonzero(inside)
    present, position, inverse = np.unique(word[pieces], return_index=True, return_inverse=True)
    unit_of = np.full(len(spans), -1, dtype=np.int64)
    unit_of[pieces] = inverse
    return unit_of, pieces[position], words[present]


def _next_and_last_solid(space: Bools) -> tuple[Ints, Ints]:
    """Returns where each place of a text meets the next character that is no space, and behind
    the last one before it.
    """
    index = np.arange(len(space) + 1)
    solid = np.append(~space, True)
    following = np.minimum.accumulate(np.where(solid, index, len(space))[::-1])[::-1]
    before = np.maximum.accumulate(np.where(np.concatenate([[True], ~space]), index, 0))
    return following, before


def _without_edge_spaces(spans: Ints, text: str) -> Ints:
    """Moves both ends of each range inwards over white space (tokenizers may count a word's
    leading blank).
    """
    if not len(spans):
        return spans
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    space = _IS_SPACE[np.minimum(codes, _LAST_SPACE + 1)]
    filled = spans[spans[:, 0] < spans[:, 1]]
    if not (space[filled[:, 0]].any() or space[filled[:, 1] - 1].any()):
        return spans  # of most tokenizers
    following, before = _next_and_last_solid(space)
    starts = np.minimum(following[spans[:, 0]], spans[:, 1])
    ends = np.maximum(before[spans[:, 1]], starts)
    return np.stack([starts, ends], axis=1)


def _with_blanks(texts: Sequence[str]) -> list[str]:
    """Returns the texts with a blank for each control character that ends a line or a part, which
    tokenizers such as BERT's remove, so that two words are one.
    """
    return [_ENDS.sub(" ", text) for text in texts]


def _no_ranges() -> Ints:
    return np.zeros((0, 2), dtype=np.int64)


def _specials(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the ids that the tokenizer adds before and after one text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    full = tokenizer.encode("a", add_special_tokens=True).ids
    for at in range(len(full) - len(bare) + 1):
        if full[at : at + len(bare)] == bare:
            return tuple(full[:at]), tuple(full[at + len(bare) :])
    raise ModelError(
        "the tokenizer changes the pieces of a text when it adds special tokens; this is not "
        "supported"
    )


def _pad_id(tokenizer: Tokenizer, padding: dict[str, object] | None) -> int:
    if padding is not None:
        return int(str(padding["pad_id"]))
    for token in ("[PAD]", "<pad>", "<|endoftext|>"):
        number = tokenizer.token_to_id(token)
        if number is not None:
            return int(number)
    return 0
