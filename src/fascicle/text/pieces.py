"""Alignment of characters, words and pieces, without reconstruction of text from pieces.

The tokenizer reads the source text of each sentence; its offsets, shifted to the document and
without white space at their edges, are the only link back. A *unit* is an item that gets a score: a
word with at least one piece, or a piece. A tokenizer of BERT cuts each word of a plain text the
same way every time, so the pieces of words are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Final, Literal

import msgspec
import numpy as np
from tokenizers import AddedToken, Encoding, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from fascicle.core.arrays import Bools, Ints
from fascicle.core.document import Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.errors import ModelError
from fascicle.settings.inputs import TokenizerFacts
from fascicle.text.inputs import UnitInputs
from fascicle.text.segment import Segmenter, all_sentences
from fascicle.text.segment import segmenter as segmenter_of

_PLAIN: Final = re.compile(r"[\t\n\r -~]*+")
# punctuation is cut off, each character for itself
_WORD: Final = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
_LETTERS: Final = np.array([chr(code).isalnum() for code in range(128)])
_SIGNS: Final = np.array([32 < code < 127 for code in range(128)]) & ~_LETTERS
# ids of pieces; starts and ends, one after the other
_Cut = tuple[tuple[int, ...], tuple[int, ...]]
_MOST: Final = 1 << 16  # words, of some hundred bytes each; the frequent ones of a text come early
_LONGEST: Final = 100  # characters of a word that is kept


class KnownWords:
    """Cuts texts into pieces by looking their words up; the answer is that of the tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Knows no word yet.

        Args:
            tokenizer: cuts words that are not known.
        """
        self._tokenizer = tokenizer
        self._known: dict[str, _Cut] = {}

    def encode(self, texts: Sequence[str]) -> list[tuple[Ints, Ints]]:
        """Returns the ids and character ranges of the pieces of texts for which `_is_plain`
        holds.
        """
        text = "\n".join(texts)
        words = _WORD.findall(text)
        cuts = list(map(self._known.get, words))
        if not all(cuts):
            new = self._learn([word for word, cut in zip(words, cuts, strict=True) if cut is None])
            cuts = [cut or new[word] for word, cut in zip(words, cuts, strict=True)]
        pieces, ranges = zip(*cuts, strict=True) if cuts else ((), ())
        counts = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        starts = np.repeat(_word_starts(text), counts)
        ids = np.fromiter(chain.from_iterable(pieces), dtype=np.int64, count=len(starts))
        edges = np.fromiter(chain.from_iterable(ranges), dtype=np.int64, count=2 * len(starts))
        spans = edges.reshape(-1, 2) + starts[:, None]
        begins = np.cumsum([0, *(len(text) + 1 for text in texts)])
        bounds = np.searchsorted(starts, begins).tolist()
        return [
            (ids[low:high], spans[low:high] - begin)
            for begin, (low, high) in zip(begins.tolist()[:-1], pairwise(bounds), strict=True)
        ]

    def _learn(self, occurring: Sequence[str]) -> dict[str, _Cut]:
        """Returns how some words are cut, and keeps that of most of them."""
        words = list(dict.fromkeys(occurring))
        encoded = self._tokenizer.encode_batch(words, add_special_tokens=False)
        cuts = [
            (tuple(encoding.ids), tuple(chain.from_iterable(encoding.offsets)))
            for encoding in encoded
        ]
        # tuples of numbers are nothing that the garbage collector looks at
        pieces = dict(zip(words, cuts, strict=True))
        cached = [word for word in words if len(word) <= _LONGEST][: _MOST - len(self._known)]
        self._known |= {word: pieces[word] for word in cached}
        return pieces


def _is_plain(text: str) -> bool:
    """True if a text has printable ASCII, blanks and line ends alone."""
    return _PLAIN.fullmatch(text) is not None


def _word_starts(text: str) -> Ints:
    """Returns the starts of the words of a plain text, as the expression for words finds them."""
    codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    letters = _LETTERS[codes]
    return np.flatnonzero(_SIGNS[codes] | (letters & ~np.concatenate([[False], letters])[:-1]))


def cuts_words_alone(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer cuts each word by itself, as those of BERT do, and reads no token as it
    is written.

    Args:
        tokenizer: whose special tokens are text where a text has them.
    """
    parts = tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.model
    is_bert = all(map(isinstance, parts, (BertNormalizer, BertPreTokenizer, WordPiece)))
    return is_bert and all(token.special for token in tokenizer.get_added_tokens_decoder().values())


_BLANKS = ("▁", "Ġ")  # blanks of SentencePiece and byte-level tokenizers
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
        return np.array(sorted(vocabulary - special), dtype=np.int64)

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
        by_words = [self._words is not None and _is_plain(text) for text in texts]
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
            for e in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ]

    def _ranges(self, encoding: Encoding) -> tuple[Ints, Ints]:
        ids = np.array(encoding.ids, dtype=np.int64)
        offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        if self._blanks:
            # A blank that is not in the text has the range of the following character, which is of
            # the next piece.
            blank = np.isin(ids, self._blanks)
            offsets[blank, 1] = offsets[blank, 0]
        return ids, offsets


def _with_begins(encoding: Encoding) -> tuple[Ints, Bools]:
    words = np.array([-1 if word is None else word for word in encoding.word_ids], dtype=np.int64)
    return np.array(encoding.ids, dtype=np.int64), np.diff(words, prepend=-2) != 0


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
    ids = np.concatenate([p[0] for p in parts]) if parts else np.zeros(0, np.int64)
    counts = [len(p[0]) for p in parts]
    starts = np.repeat(np.array([start for start, _ in sentences], dtype=np.int64), counts)
    spans = np.concatenate([p[1] for p in parts]) + starts[:, None] if parts else _no_ranges()
    ends = np.cumsum(counts, dtype=np.int64)
    bounds = (
        np.stack([np.concatenate([[0], ends[:-1]]), ends], axis=1).astype(np.int64)
        if parts
        else _no_ranges()
    )
    spans = _without_edge_spaces(spans, document.text)
    if words_by is None:
        unit_of, first, units = piece_units(spans)
    else:
        words = document.words if document.words is not None else words_by.words(document.text)
        unit_of, first, units = _align(spans, np.array(words, dtype=np.int64).reshape(-1, 2))
    return Pieces(
        ids=ids,
        spans=spans,
        units=units,
        first=first,
        unit_of=unit_of,
        sentences=bounds,
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
    index = np.arange(len(codes) + 1)
    solid = np.append(~space, True)
    following = np.minimum.accumulate(np.where(solid, index, len(codes))[::-1])[::-1]
    before = np.maximum.accumulate(np.where(np.concatenate([[True], ~space]), index, 0))
    starts = np.minimum(following[spans[:, 0]], spans[:, 1])
    ends = np.maximum(before[spans[:, 1]], starts)
    return np.stack([starts, ends], axis=1)


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
