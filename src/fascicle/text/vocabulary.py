"""Changes of the vocabulary of a WordPiece tokenizer: fewer pieces, and whole words as pieces.

WordPiece takes the longest piece that fits, from the left. So a piece that is never used can be
removed without effect, and without a piece that was used, words are split into shorter ones. As
long as every character is a piece, at the beginning of a word and inside, every word can be read.

A new word is no piece of WordPiece, which would also use it as the beginning of longer words. It is
an added token that only matches the whole word, between characters that are neither letters, digits
nor ``_``. Characters after it, up to the next blank, such as a degree sign, are read like the
beginning of a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from tokenizers import AddedToken, Tokenizer

from fascicle.errors import RecipeError
from fascicle.text.pieces import PieceTokenizer

_BYTE: Final = re.compile(r"<0x[0-9A-F]{2}>")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, eq=False)
class RewrittenTokenizer:
    """Tokenizer with a changed vocabulary.

    Attributes:
        tokenizer: the new tokenizer.
        sources: for each new id, the old ids; its vector is the mean of their vectors.
        left_out: number of removed pieces.
        added: number of new pieces.
    """

    tokenizer: PieceTokenizer
    sources: tuple[tuple[int, ...], ...]
    left_out: int
    added: int


def rewrite_vocabulary(
    tokenizer: PieceTokenizer, *, needed: Collection[int] | None = None, words: Sequence[str] = ()
) -> RewrittenTokenizer:
    """Changes the vocabulary of a tokenizer.

    Args:
        tokenizer: a tokenizer of the kind WordPiece.
        needed: ids to keep; ``None`` for all. Special tokens, single characters and bytes are kept
            too, and all ids up to that of the padding token. A character that is no piece yet
            becomes one.
        words: words that become one piece each, as the tokenizer normalises them, if they are none
            yet; see `may_be_added`.

    Raises:
        RecipeError: a tokenizer of another kind.
    """
    content = json.loads(tokenizer.content)
    model, added = content["model"], content["added_tokens"]
    _check_kind(model)
    vocabulary: dict[str, int] = model["vocab"]
    pieces = _kept_pieces(tokenizer, model, added, needed)
    left_out = len(vocabulary) - len(pieces)
    if needed is not None:
        special = {token["content"] for token in added}
        pieces += _missing(vocabulary, model["continuing_subword_prefix"], leave=special)
    beside = [token for token in added if token["content"] not in vocabulary]
    order = [*pieces, *((token["content"], (token["id"],)) for token in beside)]
    numbers = {piece: number for number, (piece, _) in enumerate(order)}

    model["vocab"] = {piece: numbers[piece] for piece, _ in pieces}
    _renumber_added(content, numbers)
    rewritten = Tokenizer.from_str(json.dumps(content))
    new = [word for word in dict.fromkeys(words) if word not in numbers]
    rewritten.add_tokens([AddedToken(word, single_word=True, normalized=True) for word in new])
    sources = [source for _, source in order]
    sources += (tuple(ids.tolist()) for ids, _ in tokenizer.encode(new))
    return RewrittenTokenizer(
        tokenizer=PieceTokenizer(rewritten, pad=sources.index((tokenizer.pad,))),
        sources=tuple(sources),
        left_out=left_out,
        added=len(sources) - len(vocabulary) - len(beside) + left_out,
    )


def _check_kind(model: Mapping[str, Any]) -> None:
    if model.get("type") != "WordPiece":
        raise RecipeError(
            "vocabulary changes a tokenizer of the kind WordPiece, and that of the encoder is of "
            f"the kind {model.get('type')}; leave the table [vocabulary] out, or choose another "
            "encoder"
        )


def _renumber_added(content: dict[str, Any], numbers: Mapping[str, int]) -> None:
    """Gives the tokens beside the vocabulary, and those that enclose texts, their new ids."""
    renumbered = ({**token, "id": numbers[token["content"]]} for token in content["added_tokens"])
    content["added_tokens"] = sorted(renumbered, key=itemgetter("id"))
    content["post_processor"] = _renumber(content["post_processor"], numbers)


def _kept_pieces(
    tokenizer: PieceTokenizer,
    model: Mapping[str, Any],
    added: Sequence[Mapping[str, Any]],
    needed: Collection[int] | None,
) -> list[tuple[str, tuple[int, ...]]]:
    """Returns the pieces that stay, each with its id, in their order."""
    always = {token["id"] for token in added} | set(range(tokenizer.pad + 1))
    return [
        (piece, (number,))
        for piece, number in sorted(model["vocab"].items(), key=itemgetter(1))
        if needed is None
        or number in needed
        or number in always
        or _stays(piece, model["continuing_subword_prefix"])
    ]


def may_be_added(word: str) -> bool:
    """True if a word can become a piece: it consists of letters and digits, so that its
    boundaries are defined.
    """
    return _WORD.fullmatch(word) is not None


def _stays(piece: str, prefix: str) -> bool:
    return len(piece.removeprefix(prefix)) == 1 or _BYTE.fullmatch(piece) is not None


def _missing(
    vocabulary: Mapping[str, int], prefix: str, *, leave: Collection[str]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields characters of pieces that are no piece of their own in that position, with the ids
    of these pieces.
    """
    missing: dict[str, list[int]] = {}
    for piece, number in vocabulary.items():
        if piece in leave:
            continue
        inside = piece.startswith(prefix)
        for at, character in enumerate(piece.removeprefix(prefix)):
            name = character if at == 0 and not inside else prefix + character
            if name not in vocabulary:
                missing.setdefault(name, []).append(number)
    return ((name, tuple(sorted(set(numbers)))) for name, numbers in sorted(missing.items()))


def _renumber(processor: Any, numbers: Mapping[str, int]) -> Any:
    """Replaces the ids of special tokens in a post-processor of any kind."""
    if isinstance(processor, list):
        if len(processor) == 2 and isinstance(processor[0], str) and isinstance(processor[1], int):
            return [processor[0], numbers[processor[0]]]
        return [_renumber(part, numbers) for part in processor]
    if isinstance(processor, dict):
        if "ids" in processor and "tokens" in processor:
            return processor | {"ids": [numbers[token] for token in processor["tokens"]]}
        return {name: _renumber(part, numbers) for name, part in processor.items()}
    return processor
