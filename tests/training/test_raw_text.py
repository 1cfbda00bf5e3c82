"""Raw text: which documents are learned from, and the windows that are made of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from fascicle.errors import FascicleError, InputError, OutputError
from fascicle.formats.exclusions import Exclusion, write_exclusions
from fascicle.formats.files import read
from fascicle.settings.recipes.corpora import TextSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.raw.documents import TextCounts, pseudo_random_number, raw_documents
from fascicle.training.raw.windows import TextWindows, read_windows

_VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "b",
    "c",
    "d",
    "##a",
    "##b",
    "##c",
    ".",
    "-",
]


@pytest.fixture(scope="module")
def tokenizer() -> PieceTokenizer:
    """Letters are pieces, so that words have as many pieces as letters."""
    return make_tokenizer()


def make_tokenizer() -> PieceTokenizer:
    made = Tokenizer(
        models.WordPiece({piece: i for i, piece in enumerate(_VOCABULARY)}, unk_token="[UNK]")
    )
    made.normalizer, made.pre_tokenizer = (
        normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer(),
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PieceTokenizer(made)


def write(folder: Path, texts: Sequence[str], *, name: str = "texts.jsonl", **more: Any) -> str:
    path = folder / name
    content = "".join(
        json.dumps({"id": f"d{i}", "text": text, **more}) + "\n" for i, text in enumerate(texts)
    )
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return str(path)


def settings_of(*files: str, **more: Any) -> TextSettings:
    return TextSettings(files=files, **{"held_out": 0.0, "window": 8, **more})


def shown(windows: TextWindows) -> list[str]:
    """Each window as words, with the pieces of a word joined by ``+``."""
    if not len(windows):
        return []
    found = windows.batch(range(len(windows)))
    rows = []
    for ids, real, begins in zip(found.ids, found.attention_mask, found.begins, strict=True):
        pieces = [_VOCABULARY[i] for i in ids[: real.sum()]]
        rows.append(
            "".join(
                (" " if b or p[0] == "[" else "+") + p for p, b in zip(pieces, begins, strict=False)
            ).strip()
        )
    return rows


# -- Documents
# ---------------------------------------------------------------------------------------------------------


def test_articles_are_title_abstract_and_paragraphs(tmp_path: Path) -> None:
    record = {
        "id": "x1",
        "license": "CC0",
        "title": "A title",
        "abstract": "",
        "paragraphs": ["One.", "Two."],
    }
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(record) + "\n").encode()))
    (document,) = read(path)
    assert (document.id, document.meta["license"]) == ("x1", "CC0")
    assert document.sections is not None
    parts = [(s.name, document.text[s.start : s.end]) for s in document.sections]
    assert parts == [("title", "A title"), ("paragraph", "One."), ("paragraph", "Two.")]


def test_facts_decide_what_is_kept(tmp_path: Path) -> None:
    given = ("CC BY 4.0", "CC BY-NC 4.0", "CC0", "CC BY", None)
    path = tmp_path / "a.jsonl"
    records = [
        {"id": str(i), "text": "a", **({"license": one} if one else {})}
        for i, one in enumerate(given)
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    counts = TextCounts()
    allowed = settings_of(str(path), keep={"license": ("CC BY", "CC BY [0-9]*", "CC0")})
    assert len(list(raw_documents(allowed, seed=1, counts=counts))) == 3
    assert counts.left_out == {"keep": 2}
    assert counts.facts["license"] == {"CC BY 4.0": 1, "CC0": 1, "CC BY": 1}


def test_the_exclusion_list_is_honoured(tmp_path: Path) -> None:
    import hashlib

    path = write(tmp_path, ["a b", "c d", "a c", "b b"])
    row = {
        "corpus": "x",
        "part": "against",
        "reason": "duplicate",
        "similarity": 1.0,
        "of_corpus": "y",
    }
    rows = [
        Exclusion(
            document="d1",
            sha256=hashlib.sha256(b"c d").hexdigest(),
            of_part="train",
            of_document="1",
            **row,
        ),
        Exclusion(
            document="d0",
            sha256=hashlib.sha256(b"a c").hexdigest(),
            of_part="train",
            of_document="2",
            **row,
        ),
        Exclusion(
            document="other",
            sha256=hashlib.sha256(b"b b").hexdigest(),
            of_part="test",
            of_document="3",
            **row,
        ),
    ]
    write_exclusions(tmp_path / "list.tsv", rows)
    counts = TextCounts()
    kept = list(
        raw_documents(settings_of(path, exclude=str(tmp_path / "list.tsv")), seed=1, counts=counts)
    )
    assert {document.text for document in kept} == {"a b", "a c"}
    assert counts.left_out == {"exclude": 2}


def test_held_out_documents_follow_from_their_ids_alone(tmp_path: Path) -> None:
    texts = [f"a {'b' * (i % 5)}" for i in range(400)]
    path = write(tmp_path, texts)
    by_seed = [
        [d.held_out for d in raw_documents(settings_of(path, held_out=0.1), seed=seed)]
        for seed in (1, 2)
    ]
    assert by_seed[0] == by_seed[1]
    assert by_seed[0] == [
        pseudo_random_number(f"d{i}", "held out") / 2**64 < 0.1 for i in range(400)
    ]
    assert 15 <= sum(by_seed[0]) <= 70
    larger = [d.held_out for d in raw_documents(settings_of(path, held_out=0.3), seed=1)]
    assert all(more for more, less in zip(larger, by_seed[0], strict=True) if less)


@pytest.mark.parametrize("content", ["", "\n", '{"id": "a", "text": "  "}\n'])
def test_text_that_is_empty_is_an_error(
    tmp_path: Path, tokenizer: PieceTokenizer, content: str
) -> None:
    good, bad = write(tmp_path, ["a b"]), tmp_path / "empty.jsonl"
    bad.write_text(content)
    with pytest.raises(FascicleError, match=r"empty\.jsonl"):
        read_windows(settings_of(good, str(bad)), tokenizer, seed=1)


def test_nothing_that_is_left_is_an_error(tmp_path: Path, tokenizer: PieceTokenizer) -> None:
    path = write(tmp_path, ["a b"])
    for more in ({"held_out": 1.0}, {"keep": {"license": ("CC0",)}}):
        with pytest.raises(InputError, match="no text is left"):
            read_windows(settings_of(path, **more), tokenizer, seed=1)


def test_an_empty_file_in_a_folder_is_left_out(tmp_path: Path, tokenizer: PieceTokenizer) -> None:
    (tmp_path / "a.txt").write_text("a b")
    (tmp_path / "b.txt").write_text("")
    found = read_windows(settings_of(str(tmp_path)), tokenizer, seed=1)
    assert (found.learned.pieces, found.counts.left_out) == (2, {"empty": 1})


# -- Windows
# -----------------------------------------------------------------------------------------------------------


def test_windows_are_packed_and_cut_between_words(
    tmp_path: Path, tokenizer: PieceTokenizer
) -> None:
    path = write(tmp_path, ["aab ba.\n\nab c"])
    assert shown(read_windows(settings_of(path), tokenizer, seed=1).learned) == [
        "[CLS] a+##a+##b b+##a . [SEP]",
        "[CLS] a+##b c [SEP]",
    ]


def test_a_window_in_which_nothing_is_known_is_left_out(
    tmp_path: Path, tokenizer: PieceTokenizer
) -> None:
    """There is nothing to guess in it, so a batch of such windows would have no loss."""
    text = write(tmp_path, ["a b c d a b " + "z " * 20 + "c d"])
    found = read_windows(settings_of(text), tokenizer, seed=1).learned
    assert shown(found) == ["[CLS] a b c d a b [SEP]", "[CLS] [UNK] [UNK] c d [SEP]"]
    with pytest.raises(InputError, match="knows"):
        read_windows(
            settings_of(write(tmp_path, ["z z z"], name="unknown.jsonl")), tokenizer, seed=1
        )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_folder_of_temporary_files(
    tmp_path: Path, tokenizer: PieceTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tempfile.TemporaryFile", partial(Path("/dev/full").open, "r+b", buffering=0)
    )
    with pytest.raises(OutputError, match="TMPDIR"):
        read_windows(settings_of(write(tmp_path, ["a b c"])), tokenizer, seed=1)


def test_documents_follow_each_other_after_a_separator(
    tmp_path: Path, tokenizer: PieceTokenizer
) -> None:
    path = write(tmp_path, ["ab", "ab", "ab", "ab"])
    assert (
        shown(read_windows(settings_of(path), tokenizer, seed=1).learned)
        == ["[CLS] a+##b [SEP] a+##b [SEP]"] * 2
    )


def test_a_word_longer_than_a_window_is_cut(tmp_path: Path, tokenizer: PieceTokenizer) -> None:
    path = write(tmp_path, ["a abbbbbbbc"])
    assert shown(read_windows(settings_of(path), tokenizer, seed=1).learned) == [
        "[CLS] a [SEP]",
        "[CLS] a+##b+##b+##b+##b+##b [SEP]",
        "[CLS]+##b+##b+##c [SEP]",
    ]


texts = st.lists(st.text("ab .\n", min_size=1, max_size=60), min_size=1, max_size=12)


def pieces_of(text: str, tokenizer: PieceTokenizer) -> list[str]:
    return [_VOCABULARY[i] for i in tokenizer.encode([text])[0][0]]


@given(texts, st.integers(8, 20), st.integers(0, 60), st.integers(0, 3))
@limits(max_examples=60)
def test_windows_hold_the_documents_in_the_order_of_their_keys(
    tmp_path_factory: pytest.TempPathFactory, given: list[str], window: int, most: int, seed: int
) -> None:
    """Against the plain way: sort all documents by key, join their pieces, and stop at the
    budget.
    """
    tokenizer = make_tokenizer()
    path = write(tmp_path_factory.mktemp("texts"), [*given, "a"])
    found = read_windows(settings_of(path, window=window, pieces=most), tokenizer, seed=seed)
    documents = sorted(raw_documents(settings_of(path), seed=seed), key=lambda d: d.key)
    cut = [pieces_of(d.text, tokenizer) for d in documents]
    expected = [piece for pieces in cut for piece in pieces]
    opens = [at == 0 for pieces in cut for at in range(len(pieces))]
    expected = expected[:most] if most else expected
    assert found.learned.pieces == len(expected)
    arrays = found.learned.batch(range(len(found.learned)))
    assert arrays.ids.shape[1] <= window
    inside = (arrays.attention_mask == 1) & ~arrays.special
    assert [_VOCABULARY[i] for i in arrays.ids[inside]] == expected
    assert arrays.begins[inside].tolist() == [not piece.startswith("##") for piece in expected]
    assert arrays.opens[inside].tolist() == (opens[:most] if most else opens)
    for ids, real in zip(arrays.ids, arrays.attention_mask, strict=True):
        row = [_VOCABULARY[i] for i in ids[: real.sum()]]
        assert (row[0], row[-1]) == ("[CLS]", "[SEP]")
        assert "[SEP] [SEP]" not in " ".join(row)
        assert set(ids[real.sum() :]) <= {tokenizer.pad}


def test_the_order_of_files_decides_nothing_and_the_seed_does(
    tmp_path: Path, tokenizer: PieceTokenizer
) -> None:
    (tmp_path / "a.txt").write_text("ab a")
    (tmp_path / "b.txt").write_text("c d")
    (tmp_path / "c.txt").write_text("d d")
    files = [str(tmp_path / f"{name}.txt") for name in "abc"]
    found = {
        (seed, backwards): shown(
            read_windows(
                settings_of(*(reversed(files) if backwards else files)), tokenizer, seed=seed
            ).learned
        )
        for seed in range(6)
        for backwards in (False, True)
    }
    assert all(found[seed, True] == found[seed, False] for seed in range(6))
    assert len({tuple(windows) for windows in found.values()}) > 1


def test_the_order_of_an_epoch_is_that_of_the_seed(
    tmp_path: Path, tokenizer: PieceTokenizer
) -> None:
    windows = read_windows(
        settings_of(write(tmp_path, ["ab a c " * 40])), tokenizer, seed=1
    ).learned
    orders = [windows.order(seed=seed, epoch=epoch).tolist() for seed in (1, 2) for epoch in (0, 1)]
    assert all(sorted(order) == list(range(len(windows))) for order in orders)
    assert len({tuple(order) for order in orders}) == 4
    assert windows.order(seed=2, epoch=1).tolist() == orders[3]
    assert np.array_equal(windows.batch([3, 0]).ids[1], windows.batch([0]).ids[0])
