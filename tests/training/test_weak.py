"""Training on label files beside gold: what is taught, and what is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import FascicleError, InputError, RecipeError
from fascicle.formats.files import read
from fascicle.formats.weak_labels import read_header, read_labels
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.heads.contract import IGNORED
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.strict import merge_tables
from fascicle.training.recogniser.parts import read_data
from fascicle.training.recogniser.prepare import Prepared, prepare
from fascicle.training.run import run_recipe
from fascicle.verbs.tasks.label import LabelRequest, label_files

Maker = Callable[..., Recipe]
TEXTS = (
    "the patient had lung cancer and fever .",
    "aspirin and ibuprofen caused pain in the liver",
    "no hepatitis , no pain . a doctor gave aspirin",
    "chronic heart failure with fever",
)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.jsonl"
    path.write_bytes(
        b"".join(
            codec.encode(Document(id=f"r{n}", text=text)) + b"\n" for n, text in enumerate(TEXTS)
        )
    )
    return path


@pytest.fixture
def labels(tiny_run: Path, raw: Path, tmp_path: Path) -> Path:
    """What the model of the tiny run says of the raw texts."""
    out = tmp_path / "weak.labels"
    label_files(LabelRequest(model=str(tiny_run), files=(str(raw),), output=str(out)))
    return out


@pytest.fixture
def make(tiny_encoder: Path, toy_corpus: Path, raw: Path, labels: Path) -> Maker:
    """Makes recipes with a part of gold and one of weak labels; changes are merged, ``None``
    takes out.
    """
    kinds = ["Chemical", "Disease"]
    values: dict[str, Any] = {
        "name": "student",
        "parts": {
            "gold": {
                "train": str(toy_corpus),
                "dev": str(toy_corpus),
                "documents": "sentence",
                "annotates": kinds,
            },
            "weak": {
                "train": str(raw),
                "weak_labels": str(labels),
                "soft": True,
                "annotates": kinds,
            },
        },
        "reading": {"max_length": 32, "overlap": 4},
        "model": {"encoder": str(tiny_encoder), "family": "multilabel"},
        "training": {"epochs": 2, "learning_rate": 1e-2, "batch_size": 4, "precision": "fp32"},
    }

    def without_none(table: dict[str, Any]) -> dict[str, Any]:
        return {
            k: without_none(v) if isinstance(v, dict) else v
            for k, v in table.items()
            if v is not None
        }

    def made(**changes: Any) -> Recipe:
        return parse_recipe(without_none(merge_tables(values, changes)), origin="student.toml")

    return made


def prepared(recipe: Recipe) -> Prepared:
    torch.manual_seed(recipe.seed)
    return prepare(recipe, read_data(recipe), load_pretrained(recipe.model.encoder))


def expected_soft(labels: Path, raw: Path) -> list[np.ndarray]:  # type: ignore[type-arg]
    """O and the tags of each word of each text, by hand."""
    found = []
    for one in read_labels(labels, read(raw)):
        rows = [[1 - max(row), *row] for row in one.probabilities.tolist()]
        found.append(np.array(rows, dtype=np.float32))
    return found


def test_probabilities_are_the_targets_of_each_word(make: Maker, labels: Path, raw: Path) -> None:
    data = prepared(make()).data
    gold = data.gold["multilabel"]
    assert len(gold) == 10 + len(TEXTS)
    for target in gold[:10]:
        assert set(np.unique(target)) <= {0.0, 1.0}
    for target, expected in zip(gold[10:], expected_soft(labels, raw), strict=True):
        np.testing.assert_allclose(target, expected, atol=1e-6)
    assert any(((target > 0) & (target < 1)).any() for target in gold[10:])


def test_answers_are_the_targets_of_other_parts(
    make: Maker, labels: Path, raw: Path, tiny_run: Path
) -> None:
    data = prepared(make(parts={"weak": {"soft": None}})).data
    for target, one in zip(
        data.gold["multilabel"][10:], read_labels(labels, read(raw)), strict=True
    ):
        np.testing.assert_array_equal(target[:, 1:], one.tags)
    crf = prepared(make(parts={"weak": {"soft": False}}, model={"family": "crf"}))
    said = [m for patch in load(tiny_run, links=False).predict(list(read(raw))) for m in patch.add]
    taught = [m for document in read_data(make()).several[1].train for m in document.layer("gold")]
    assert [(m.spans, m.type) for m in taught] == [(m.spans, m.type) for m in said]
    assert len(said) > 5
    assert crf.data.mentions == 18 + len(said)


def test_types_have_other_names_and_those_that_nobody_asked_for_are_unknown(
    make: Maker, labels: Path, raw: Path
) -> None:
    weak = {"types": {"keep": ["Disease"], "rename": {"Disease": "Ill"}}, "annotates": ["Ill"]}
    data = prepared(make(parts={"weak": weak})).data
    # The types of the model are Chemical, Disease and Ill.
    for target, expected in zip(
        data.gold["multilabel"][10:], expected_soft(labels, raw), strict=True
    ):
        assert (target[:, 1:5] == IGNORED).all()
        np.testing.assert_allclose(target[:, 5:], expected[:, 3:], atol=1e-6)
        certain = (expected[:, 3:] == 1).any(axis=1)
        assert (target[~certain, 0] == IGNORED).all()


def test_pieces_of_a_word_continue_it(make: Maker, labels: Path, raw: Path) -> None:
    data = prepared(make(model={"level": "piece"})).data
    at = next(i for i, text in enumerate(TEXTS) if "hepatitis" in text)
    target, pieces = data.gold["multilabel"][10 + at], data.views["piece"].pieces[10 + at]
    words = expected_soft(labels, raw)[at]
    text = TEXTS[at]
    first, second = (
        i for i, (a, b) in enumerate(pieces.units.tolist()) if text[a:b] in ("hepat", "itis")
    )
    word = text[: text.index("hepatitis")].count(" ")
    np.testing.assert_allclose(target[first], words[word], atol=1e-6)
    inside = np.minimum(1, words[word, [1, 3]] + words[word, [2, 4]])
    np.testing.assert_allclose(target[second, 1:], [0, inside[0], 0, inside[1]], atol=1e-6)


def test_io_learns_from_bio(make: Maker, labels: Path, raw: Path) -> None:
    data = prepared(make(model={"scheme": "IO"})).data
    for target, expected in zip(
        data.gold["multilabel"][10:], expected_soft(labels, raw), strict=True
    ):
        np.testing.assert_allclose(
            target[:, 1:], np.minimum(1, expected[:, [1, 3]] + expected[:, [2, 4]]), atol=1e-6
        )


def test_texts_without_labels_are_not_learnt_from(
    make: Maker, tiny_run: Path, raw: Path, tmp_path: Path
) -> None:
    some = tmp_path / "some.labels"
    protected = tmp_path / "test.jsonl"
    protected.write_bytes(codec.encode(Document(id="r2", text="x")) + b"\n")
    label_files(
        LabelRequest(
            model=str(tiny_run), files=(str(raw),), output=str(some), against=(str(protected),)
        )
    )
    parts = read_data(make(parts={"weak": {"weak_labels": str(some)}})).several
    assert [document.id for document in parts[1].train] == ["weak/r0", "weak/r1", "weak/r3"]


def test_a_student_is_trained_and_its_folder_names_the_teacher(
    make: Maker, labels: Path, tmp_path: Path, toy_corpus: Path
) -> None:
    for _ in run_recipe(make(training={"epochs": 1}), tmp_path / "run"):
        pass
    manifest = read_manifest(tmp_path / "run" / "best")
    header = read_header(labels)
    assert manifest.corpora
    assert manifest.corpora["weak"].labelled_by == f"{header.model} {header.sha256}"
    assert manifest.corpora["gold"].labelled_by is msgspec.UNSET
    facts = msgspec.json.decode((tmp_path / "run" / "run.json").read_bytes())
    assert "parts.weak.weak_labels" in facts["data"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": {"family": "crf"}}, "soft"),
        ({"parts": {"weak": {"weak_labels": None}}}, "labels"),
        ({"parts": {"weak": {"annotates": ["Chemical"]}}}, "'Disease'"),
        ({"parts": {"weak": {"annotates": ["Chemical", "Disease", "Gene"]}}}, "'Gene'"),
        ({"parts": {"weak": {"types": {"drop": ["Gene"]}}}}, "'Gene'"),
        ({"parts": {"weak": {"types": {"rename": {"Chemical": "Disease"}}}}}, "'Disease'"),
    ],
)
def test_what_does_not_go_together_is_refused(
    make: Maker, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(RecipeError, match=said):
        prepared(make(**changes))


@pytest.mark.parametrize("soft", [True, None])
def test_a_teacher_that_says_nothing_of_a_type_is_refused(
    make: Maker, tmp_path: Path, soft: bool | None
) -> None:
    """A span model finds nothing at first, and says nothing of what it does not find."""
    header, *lines = gzip.decompress(
        Path(make().corpora()["weak"].label_file).read_bytes()
    ).splitlines()
    silent = [json.loads(line) for line in lines]
    for entry in silent[:-1]:  # what was said of Chemical, the columns 0 and 1, is taken out
        words = np.cumsum(entry[5])
        kept = [i for i, tag in enumerate(entry[6]) if tag > 1]
        entry[5:] = (
            np.diff(words[kept], prepend=0).tolist(),
            *([column[i] for i in kept] for column in entry[6:]),
        )
    out = tmp_path / "silent.labels"
    out.write_bytes(
        gzip.compress(b"\n".join([header, *(json.dumps(one).encode() for one in silent)]))
    )
    with pytest.raises(RecipeError, match=r"parts\.weak .* 'Chemical'"):
        read_data(make(parts={"weak": {"weak_labels": str(out), "soft": soft}}))
    drop = {"types": {"drop": ["Chemical"]}, "annotates": ["Disease"]}
    read_data(make(parts={"weak": {"weak_labels": str(out), "soft": soft, **drop}}))


def test_a_student_may_learn_from_labels_alone_and_be_chosen_on_gold(
    make: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    for _ in run_recipe(
        make(parts={"gold": None, "weak": {"dev": str(toy_corpus)}}), tmp_path / "run"
    ):
        pass
    scores = msgspec.json.decode((tmp_path / "run" / "scores.json").read_bytes())
    assert scores["dev"]["types"]["weak/Disease"]["support"] == 11
    dropped = {"dev": str(toy_corpus), "types": {"drop": ["Chemical"]}, "annotates": ["Disease"]}
    (one,) = read_data(make(parts={"gold": None, "weak": dropped})).several
    assert {m.type for document in (*one.train, *one.dev) for m in document.layer("gold")} == {
        "Disease"
    }


def test_gold_of_dev_that_is_not_declared_is_refused(
    make: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text(
        toy_corpus.read_text(encoding="utf-8").replace("Chemical", "Drug"), encoding="utf-8"
    )
    with pytest.raises(RecipeError, match="'Drug'"):
        prepared(make(parts={"weak": {"dev": str(dev)}}))


def test_what_says_the_same_is_the_same_recipe(make: Maker) -> None:
    parts = [
        make(parts={"weak": change}).corpora()["weak"]
        for change in ({"soft": None}, {"soft": False})
    ]
    parts += [make(parts={"weak": {"soft": None, "bare_tags": False}}).corpora()["weak"]]
    assert all(msgspec.json.encode(part) == msgspec.json.encode(parts[0]) for part in parts)


def test_labels_for_other_text_are_refused(make: Maker, raw: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(raw.read_bytes().replace(b"fever", b"rashy"))
    with pytest.raises(InputError, match="other text"):
        prepared(make(parts={"weak": {"train": str(other)}}))


def test_a_dictionary_teaches_answers_and_no_probabilities(
    make: Maker, raw: Path, tmp_path: Path
) -> None:
    names, out = tmp_path / "names.tsv", tmp_path / "names.labels"
    names.write_text("Chemical\taspirin\nDisease\tlung cancer\n", encoding="utf-8")
    label_files(LabelRequest(model=str(names), files=(str(raw),), output=str(out)))
    with pytest.raises(FascicleError, match="probabilities"):
        prepared(make(parts={"weak": {"weak_labels": str(out)}}))
    data = prepared(make(parts={"weak": {"weak_labels": str(out), "soft": False}})).data
    assert data.mentions == 18 + 3


def test_a_type_that_the_teacher_never_found_is_not_taught_by_its_answers(
    make: Maker, raw: Path, tmp_path: Path
) -> None:
    names, out = tmp_path / "names.tsv", tmp_path / "names.labels"
    names.write_text("Chemical\taspirin\nDisease\tgout\n", encoding="utf-8")
    label_files(LabelRequest(model=str(names), files=(str(raw),), output=str(out)))
    with pytest.raises(RecipeError, match="'Disease'"):
        prepared(make(parts={"weak": {"weak_labels": str(out), "soft": False}}))


def test_labels_in_io_do_not_teach_where_mentions_begin(
    make: Maker, raw: Path, tmp_path: Path
) -> None:
    for _ in run_recipe(
        make(parts={"weak": None}, model={"scheme": "IO"}, training={"epochs": 4}), tmp_path / "io"
    ):
        pass
    out = tmp_path / "io.labels"
    label_files(LabelRequest(model=str(tmp_path / "io"), files=(str(raw),), output=str(out)))
    assert read_header(out).scheme == "IO"
    with pytest.raises(RecipeError, match="IO"):
        prepared(make(parts={"weak": {"weak_labels": str(out)}}))
    assert prepared(
        make(parts={"weak": {"weak_labels": str(out)}}, model={"scheme": "IO"})
    ).data.windows
