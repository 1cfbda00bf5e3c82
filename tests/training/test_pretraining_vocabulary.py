"""The vocabulary that a text asks for, and an encoder that takes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.support.pretraining import make_encoder, make_recipe, make_text
from tests.support.runs import finish, metrics, read_json

from fascicle.errors import RecipeError
from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.corpora import TextSettings
from fascicle.settings.recipes.pretraining import VocabularySettings
from fascicle.training.engine.loop import StepDone
from fascicle.training.raw.documents import raw_documents
from fascicle.training.raw.windows import read_windows
from fascicle.training.run import run_recipe
from fascicle.training.starting import adapt_vocabulary, frequent_pieces, frequent_words

ALL = {"prune": True, "add_words": 4, "word_pieces": 2, "word_frequency": 5}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_text(tmp_path_factory.mktemp("text") / "text.jsonl")


def test_pieces_and_words_are_counted_as_in_a_slow_loop(encoder: Path, text: Path) -> None:
    tokenizer = load_pretrained(str(encoder)).tokenizer
    settings = TextSettings(files=(str(text),), window=32, held_out=0.2)
    windows = read_windows(settings, tokenizer, seed=1).learned
    texts = [document.text for document in raw_documents(settings, seed=1) if not document.held_out]
    pieces = Counter(int(i) for one in texts for i in tokenizer.encode([one])[0][0])
    pieces.pop(tokenizer.unknown, None)
    for least in (1, 20, 100):
        assert frequent_pieces(windows, least=least) == {
            i for i, count in pieces.items() if count >= least
        }
    words = Counter(word for one in texts for word in one.replace(".", " .").split())
    spread = Counter(word for one in texts for word in set(one.replace(".", " .").split()))
    assert len(set(spread.values())) > 3
    for least, most, often, wide in (
        (2, 3, 1, 1),
        (2, 1, 1, 1),
        (3, 9, 1, 1),
        (2, 9, 40, 1),
        (2, 9, 1, 30),
    ):
        cut = {word: len(tokenizer.encode([word])[0][0]) for word in words}
        known = [
            w
            for w, n in cut.items()
            if n >= least and words[w] >= often and spread[w] >= wide and w.isalpha()
        ]
        expected = sorted(known, key=lambda word: (-words[word], word))[:most]
        asked = VocabularySettings(
            add_words=most, word_pieces=least, word_frequency=often, word_documents=wide
        )
        assert frequent_words(windows, tokenizer, asked) == tuple(expected)
    assert frequent_words(windows, tokenizer, VocabularySettings()) == ()


def test_vectors_are_means_and_other_pieces_keep_theirs(encoder: Path, text: Path) -> None:
    before, made = load_pretrained(str(encoder)), load_pretrained(str(encoder))
    windows = read_windows(
        TextSettings(files=(str(text),), window=32), before.tokenizer, seed=1
    ).learned
    after, _ = adapt_vocabulary(made, windows, VocabularySettings(**ALL))  # type: ignore[arg-type]
    old, new = (one.encoder.network.get_input_embeddings().weight for one in (before, after))  # type: ignore[operator]
    assert after.encoder.config.vocab_size == len(new) == after.tokenizer.size
    ids = {
        word: after.tokenizer.id_of(word) for word in ("aspirin", "hepatitis", "patient", "[MASK]")
    }
    for word in ("aspirin", "hepatitis"):
        pieces = before.tokenizer.encode([word])[0][0]
        assert len(pieces) > 1
        assert torch.allclose(new[ids[word]], old[pieces].mean(dim=0))
    for word in ("patient", "[MASK]"):
        assert torch.equal(new[ids[word]], old[before.tokenizer.id_of(word)])
    assert before.tokenizer.id_of("kidney") is not None
    assert after.tokenizer.id_of("kidney") is None


def test_a_text_is_read_alike_by_an_encoder_that_lost_what_it_does_not_need(
    encoder: Path, text: Path
) -> None:
    before, made = load_pretrained(str(encoder)), load_pretrained(str(encoder))
    settings = TextSettings(files=(str(text),), window=32)
    windows = read_windows(settings, before.tokenizer, seed=1).learned
    after, _ = adapt_vocabulary(made, windows, VocabularySettings(prune=True))
    assert after.tokenizer.size < before.tokenizer.size
    states = []
    for one in (before, after):
        batch = read_windows(settings, one.tokenizer, seed=1).learned.batch(range(4))
        ids, mask = torch.from_numpy(batch.ids), torch.from_numpy(batch.attention_mask)
        with torch.no_grad():
            states.append(one.encoder.eval()(ids, mask))
    assert torch.equal(states[0], states[1])


def test_a_run_with_another_vocabulary_goes_on_as_if_nothing_had_happened(
    encoder: Path, text: Path, tmp_path: Path
) -> None:
    recipe = make_recipe(encoder, text, vocabulary=ALL, training={"checkpoint_minutes": 1e-9})
    whole = finish(recipe, tmp_path / "whole")
    assert whole[-1].held_out is not None
    events = run_recipe(recipe, tmp_path / "run")
    for event in events:
        if isinstance(event, StepDone) and event.step > 7:
            break
    events.close()  # type: ignore[attr-defined]
    finish(recipe, tmp_path / "run", resume=True)
    assert metrics(tmp_path / "run") == metrics(tmp_path / "whole")
    one, other = (
        load_file(tmp_path / name / "encoder" / "model.safetensors") for name in ("run", "whole")
    )
    assert all(torch.equal(one[name], other[name]) for name in one.keys() | other.keys())
    facts = read_json(tmp_path / "run" / "run.json")
    loaded = load_pretrained(str(tmp_path / "run" / "encoder"))
    assert facts["vocabulary"]["now"] == loaded.tokenizer.size == loaded.encoder.config.vocab_size
    assert facts["vocabulary"]["added"] == 4
    assert facts["tokenizer"]["sha256"] == loaded.tokenizer.sha256
    ((ids, _),) = loaded.tokenizer.encode(["Aspirin"])
    assert ids.tolist() == [loaded.tokenizer.id_of("aspirin")]


def test_an_encoder_of_another_kind_is_refused(
    text: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = make_encoder(tmp_path)
    pieces = {
        piece: i
        for i, piece in enumerate(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz."]
        )
    }
    made = Tokenizer(models.BPE(pieces, [], unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.save(str(folder / "tokenizer.json"))
    with pytest.raises(RecipeError, match="WordPiece"):
        finish(make_recipe(folder, text, vocabulary={"prune": True}), tmp_path / "run")
