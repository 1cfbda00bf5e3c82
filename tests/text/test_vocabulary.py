"""Another vocabulary: what is not changed by it, and that every word can still be read."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from fascicle.errors import RecipeError
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.vocabulary import may_be_added, rewrite_vocabulary

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_SINGLE = ("a", "b", "c", "é", "1", "##a", "##b", "##c", "##é", "##1", ".", "-")


def make(pieces: Sequence[str]) -> PieceTokenizer:
    """A tokenizer of these pieces; its special tokens stand at the beginning and at the end."""
    ordered = dict.fromkeys(("x", *_SPECIAL[:2], *pieces, *_SPECIAL[2:]))
    vocabulary = {piece: number for number, piece in enumerate(ordered)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(strip_accents=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    made.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in _SPECIAL]
    )
    return PieceTokenizer(made)


def pieces_of(tokenizer: PieceTokenizer, text: str) -> list[str]:
    names = {number: piece for piece, number in vocabulary_of(tokenizer).items()}
    return [names[number] for number in tokenizer.encode([text])[0][0].tolist()]


def vocabulary_of(tokenizer: PieceTokenizer) -> dict[str, int]:
    content = json.loads(tokenizer.content)
    return {
        **content["model"]["vocab"],
        **{token["content"]: token["id"] for token in content["added_tokens"]},
    }


letters = st.text("abcé1", min_size=1, max_size=5)
vocabularies = st.lists(st.one_of(letters, letters.map("##".__add__)), max_size=25)
texts = st.text("abcé1AB .-", max_size=40)


@given(vocabularies, st.lists(texts, min_size=1, max_size=5))
def test_text_whose_pieces_stay_is_read_as_before(pieces: list[str], given: list[str]) -> None:
    before = make((*_SINGLE, *pieces))
    needed = {int(number) for ids, _ in before.encode(given) for number in ids}
    after = rewrite_vocabulary(before, needed=needed).tokenizer
    for text in given:
        assert pieces_of(after, text) == pieces_of(before, text)
        assert [ranges.tolist() for _, ranges in after.encode([text])] == [
            r.tolist() for _, r in before.encode([text])
        ]


@given(vocabularies, texts, st.data())
def test_nothing_becomes_unknown(pieces: list[str], text: str, data: st.DataObject) -> None:
    """Whatever is left out, and also where some characters were no piece of their own."""
    missing = data.draw(st.sets(st.sampled_from(_SINGLE)))
    before = make([piece for piece in (*_SINGLE, *pieces) if piece not in missing])
    needed = data.draw(st.sets(st.integers(0, before.size)))
    after = rewrite_vocabulary(before, needed=needed)
    for word in text.replace(".", " ").replace("-", " ").split():
        if "[UNK]" not in pieces_of(before, word):
            read = pieces_of(after.tokenizer, word)
            assert "[UNK]" not in read
            assert "".join(piece.removeprefix("##") for piece in read) == word.lower()


@given(vocabularies, st.lists(letters, max_size=6, unique=True), texts)
def test_only_new_words_are_read_in_another_way(
    pieces: list[str], new: list[str], text: str
) -> None:
    before = make((*_SINGLE, *pieces))
    words = [word for word in new if len(before.encode([word])[0][0]) > 1]
    after = rewrite_vocabulary(before, words=words)
    expected = []
    for word in text.lower().replace(".", " . ").replace("-", " - ").split():
        expected += [word] if word in words else pieces_of(before, word)
    assert pieces_of(after.tokenizer, text) == expected
    (_, flags), *_ = after.tokenizer.encode_words([text]) if text else [((), ())]
    assert list(flags) == [not piece.startswith("##") for piece in expected]
    known = vocabulary_of(before)
    for word in words:
        source = after.sources[vocabulary_of(after.tokenizer)[word]]
        assert source == tuple(known[piece] for piece in pieces_of(before, word))


@given(vocabularies, st.sets(st.integers(0, 40)))
@example(["cc"], {0, 15})  # a word that is a piece already
def test_every_id_has_a_source_and_special_tokens_their_place(
    pieces: list[str], needed: set[int]
) -> None:
    before = make((*_SINGLE, *pieces))
    after = rewrite_vocabulary(before, needed=needed, words=["abcab", "cc"])
    old, new = vocabulary_of(before), vocabulary_of(after.tokenizer)
    assert sorted(new.values()) == list(range(len(after.sources)))
    for piece, number in new.items():
        if piece in old:
            assert after.sources[number] == (old[piece],)
    assert {*_SPECIAL, *_SINGLE} <= set(new)
    assert len(old) - after.left_out + after.added == len(new)
    made = after.tokenizer
    assert (made.prefix, made.suffix) == ((new["[CLS]"],), (new["[SEP]"],))
    assert (made.pad, made.mask, made.unknown) == (new["[PAD]"], new["[MASK]"], new["[UNK]"])
    assert set(made.ordinary().tolist()) == {new[piece] for piece in new if piece not in _SPECIAL}


def test_words_keep_their_places_in_the_text() -> None:
    tokenizer = rewrite_vocabulary(make(_SINGLE), words=["abc"]).tokenizer
    ((ids, ranges),) = tokenizer.encode(["  Abc-cab. abc"])
    assert ranges[ids == vocabulary_of(tokenizer)["abc"]].tolist() == [[2, 5], [11, 14]]


def test_a_word_has_edges_that_can_be_told() -> None:
    assert all(map(may_be_added, ("abc", "é1", "β")))
    assert not any(map(may_be_added, ("±5", "a-b", "", "a b", "₃°")))


def test_a_tokenizer_of_another_kind_is_refused() -> None:
    other = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    with pytest.raises(RecipeError, match="WordPiece"):
        rewrite_vocabulary(PieceTokenizer(other), words=["ab"])


def test_special_tokens_of_a_pair_of_processors_are_renumbered() -> None:
    """Some encoders name their special tokens in other kinds of post-processors."""
    for kind in (processors.BertProcessing, processors.RobertaProcessing):
        before = make((*_SINGLE, "ab", "##ab"))
        content, old = json.loads(before.content), vocabulary_of(before)
        made = Tokenizer.from_str(json.dumps(content | {"post_processor": None}))
        made.post_processor = kind(("[SEP]", old["[SEP]"]), ("[CLS]", old["[CLS]"]))
        after = rewrite_vocabulary(PieceTokenizer(made), needed=())
        new = vocabulary_of(after.tokenizer)
        assert new["[SEP]"] == old["[SEP]"] - 2
        assert (after.tokenizer.prefix, after.tokenizer.suffix) == (
            (new["[CLS]"],),
            (new["[SEP]"],),
        )


def test_a_symbol_is_the_edge_of_a_new_word() -> None:
    """It is neither a letter nor punctuation, so that WordPiece sees one word of both."""
    before = make((*_SINGLE, "±", "##±"))
    assert pieces_of(before, "ab±") == ["a", "##b", "##±"]
    assert pieces_of(rewrite_vocabulary(before, words=["ab"]).tokenizer, "ab± aab±") == [
        "ab",
        "±",
        "a",
        "##a",
        "##b",
        "##±",
    ]
