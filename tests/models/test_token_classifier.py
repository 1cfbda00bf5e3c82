"""Checkpoints for token classification of other tools: the mentions that their own library
finds, and no truncation.
"""

from __future__ import annotations

import json
import random
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fascicle.core.document import Document
from fascicle.core.tags import decode_tags
from fascicle.errors import ModelError, UsageError
from fascicle.loading import load
from fascicle.models.token_classifier import tags_of_labels

transformers = pytest.importorskip("transformers")
import torch  # noqa: E402 - only where transformers is

from fascicle.models.token_classifier import load_token_classifier  # noqa: E402

BIO = ("O", "B-Disease", "I-Disease", "B-Chemical", "I-Chemical")
_SAID = """the patient had lung cancer pain fever aspirin ibuprofen caffeine hepatitis liver heart failure a of in
5 mg . , ( ) - xyzzy Lung CANCER IL-2 aspirin-like (pain) fever, caffeine; hepatitis/liver é 日本"""
WORDS = _SAID.split()
Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Writes a random checkpoint with these labels."""

    def made(
        labels: Sequence[str],
        *,
        seed: int = 3,
        bias: Sequence[float] = (),
        name: str = "tagger",
        size: int = 0,
    ) -> Path:
        folder = tmp_path_factory.mktemp("checkpoint") / name
        shutil.copytree(tiny_encoder, folder)
        for weights in (*folder.glob("*.safetensors"), folder / "config.json"):
            weights.unlink()
        config = transformers.AutoConfig.from_pretrained(tiny_encoder)
        config.vocab_size = size or config.vocab_size
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: at for at, label in enumerate(labels)}
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = transformers.BertForTokenClassification(config)
            with torch.no_grad():
                for table in network.bert.embeddings.word_embeddings.parameters():
                    table.normal_(0, 1)
                network.classifier.weight.normal_(0, 1)
                network.classifier.bias.copy_(torch.tensor(bias or [0.0] * len(labels)))
        network.save_pretrained(folder)
        return folder

    return made


def texts(count: int, *, longest: int = 20) -> list[str]:
    chance = random.Random(5)
    return [
        chance.choice(("", " ", "\n"))
        + chance.choice((" ", " ", "\n")).join(chance.choices(WORDS, k=chance.randint(1, longest)))
        for _ in range(count)
    ]


def found(document: Document) -> list[tuple[int, int, str]]:
    return [(m.start, m.end, m.type) for m in document.mentions]


def test_mentions_are_those_of_the_pipeline_of_its_library(make: Make) -> None:
    folder = make(BIO)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = transformers.pipeline(
            "token-classification", model=str(folder), aggregation_strategy="first", device="cpu"
        )
        given = texts(300)
        expected = [
            [
                (int(one["start"]), int(one["end"]), one["entity_group"])
                for one in pipeline(text)
                if one["entity_group"] != "O"
            ]
            if text.strip()
            else []
            for text in given
        ]
    documents = load(folder).annotate(given)
    assert sum(map(len, expected)) > 300
    assert {kind for one in expected for _, _, kind in one} == {"Disease", "Chemical"}
    assert [found(one) for one in documents] == [sorted(one) for one in expected]
    assert {m.source for one in documents for m in one.mentions} == {"tagger"}


def logits(folder: Path, text: str) -> tuple[Any, list[tuple[int, int]]]:
    """The logits of the first piece of each word, and the words, one text at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    encoded = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    offsets, words = encoded.pop("offset_mapping")[0].tolist(), encoded.word_ids()
    with torch.inference_mode():
        table = network(**encoded).logits[0].numpy()
    first = [at for at, word in enumerate(words) if word is not None and word != words[at - 1]]
    ends = {word: end for word, (_, end) in zip(words, offsets, strict=True) if word is not None}
    return table[first], [(offsets[at][0], ends[words[at]]) for at in first]


@pytest.mark.parametrize(
    "labels",
    [
        BIO,
        ("O", "Disease", "Chemical"),
        ("I-Disease", "O", "I-Chemical"),
        ("O", "B-Disease", "I-Disease", "E-Disease", "S-Disease"),
        ("U-A", "B-A", "L-A", "I-A", "O", "X", "[CLS]"),
    ],
)
def test_every_scheme_is_read_by_its_labels(make: Make, labels: tuple[str, ...]) -> None:
    folder = make(labels)
    tags = tags_of_labels(labels)
    for document in load(folder).annotate(texts(12)):
        table, words = logits(folder, document.text)
        best = table.argmax(axis=1)
        logs = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
        expected = [
            (
                words[a][0],
                words[b - 1][1],
                kind,
                float(np.exp(np.mean([logs[at, best[at]] for at in range(a, b)]))),
            )
            for a, b, kind in decode_tags([tags[at] for at in best])
        ]
        assert [one[:3] for one in expected] == found(document)
        scores = [m.score for m in document.mentions]
        assert scores == pytest.approx([score for *_, score in expected], abs=1e-4)


@pytest.mark.parametrize(
    "device", ["cpu", "auto", *(["cuda"] if torch.cuda.is_available() else [])]
)
def test_the_network_computes_on_the_device(make: Make, device: str) -> None:
    folder = make(BIO)
    expected = [found(one) for one in load(folder).annotate(texts(20))]
    assert [found(one) for one in load(folder, device=device).annotate(texts(20))] == expected
    with pytest.raises((NotImplementedError, RuntimeError), match="meta"):
        load(folder, device="meta").annotate(texts(1))  # this device of torch computes shapes alone
    with pytest.raises(UsageError, match="device"):
        load(folder, device="none")


def test_nothing_of_a_long_text_is_left_out(make: Make) -> None:
    model = load(make(BIO, bias=(-90.0, 90.0, -90.0, -90.0, -90.0)))
    text = " ".join(random.Random(2).choices(["lung", "cancer", "pain", "aspirin"], k=2_000))
    (document,) = model.annotate([text])
    assert [text[a:b] for a, b, _ in found(document)] == text.split(" ")
    assert not [event for event in document.events if event.kind == "loss"]


def test_words_of_a_document_have_one_label_each(make: Make) -> None:
    model = load(make(BIO, bias=(-90.0, 90.0, -90.0, -90.0, -90.0)))
    document = Document(
        id="1",
        text="IL-2 (pain) xyzzy",
        words=((0, 4), (5, 11), (12, 17)),
        sentences=((0, 11), (12, 17)),
    )
    (annotated,) = model.stream([document])
    assert found(annotated) == [(0, 4, "Disease"), (5, 11, "Disease"), (12, 17, "Disease")]
    assert annotated.words == document.words


@pytest.mark.parametrize(
    "labels", [("LABEL_0", "LABEL_1"), ("O", "B-X", "Y"), ("O",), ("B-X", "I-X")]
)
def test_labels_that_are_no_tags_are_refused(make: Make, labels: tuple[str, ...]) -> None:
    with pytest.raises(ModelError, match="labels"):
        load(make(labels))


def test_a_checkpoint_that_is_not_whole_is_refused(
    make: Make, tiny_encoder: Path, tmp_path: Path
) -> None:
    folder = make(BIO)
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="could not be loaded"):
        load(folder)
    weights.unlink()
    torch.save({}, folder / "pytorch_model.bin")  # a pickle is never read
    with pytest.raises(ModelError, match="could not be loaded"):
        load(folder)
    headless = Path(shutil.copytree(tiny_encoder, tmp_path / "headless"))
    config = json.loads((headless / "config.json").read_text())
    labels = {"id2label": {"0": "O", "1": "B-X"}, "label2id": {"O": 0, "B-X": 1}}
    (headless / "config.json").write_text(
        json.dumps({**config, **labels, "architectures": ["BertForTokenClassification"]})
    )
    with pytest.raises(ModelError, match="classifier"):
        load(headless)
    with pytest.raises(ModelError, match="holds no model"):
        load(tiny_encoder)


def test_its_types_are_fixed_and_equal_folders_answer_equally(
    make: Make, tmp_path: Path, toy_types: Path
) -> None:
    folder = make(BIO)
    with pytest.raises(UsageError, match="types"):
        load(folder, types=toy_types)
    again = Path(shutil.copytree(folder, tmp_path / "tagger"))
    assert load(folder).fingerprint != load(make(BIO, seed=4)).fingerprint
    assert load(folder).types == load(again).types == ("Disease", "Chemical")
    with pytest.raises(UsageError, match="probabilities"):
        list(load_token_classifier(str(folder)).probe([Document(id="1", text="pain")]))


def test_a_tokenizer_that_counts_blanks_gives_words_without_them(make: Make) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folders = [make(BIO, bias=(-90.0, 90.0, -90.0, -90.0, -90.0), size=size) for size in (300, 100)]
    letters = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(
        models.BPE({piece: at for at, piece in enumerate(letters)}, [], unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>")
    for folder in folders:
        fast.save_pretrained(folder)
    with pytest.raises(ModelError, match="belong together"):
        load(folders[1])
    texts = ["  IL-2  and\n日本 β ½.", "", " \n", "one"]
    for document in load(folders[0]).annotate(texts):
        words = [document.text[a:b] for a, b, _ in found(document)]
        assert "".join(words) == "".join(document.text.split())
        assert all(word == word.strip() for word in words)


def test_a_name_of_the_hub_without_a_network_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match="neither a folder nor among the models downloaded"
    ) as caught:
        load("nobody-at-all/no-such-model")
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="there is no model"):
        load(tmp_path / "no-such-folder")


def test_the_command_takes_it(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    from fascicle.cli import main

    folder = make(BIO, bias=(-90.0, 90.0, -90.0, -90.0, -90.0), name="mine")
    assert (
        main(["annotate", "--model", str(folder), "--text", "lung pain", "--format", "jsonl"]) == 0
    )
    (line,) = capsys.readouterr().out.splitlines()
    assert [(m["type"], m["text"], m["source"]) for m in json.loads(line)["mentions"]] == [
        ("Disease", "lung", "mine"),
        ("Disease", "pain", "mine"),
    ]
