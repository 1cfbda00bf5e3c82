"""spaCy and medspaCy as steps: with a pipeline that is trained here, and with ConText."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Span

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.errors import RecipeError
from fascicle.formats.weak_labels import read_entries
from fascicle.pipeline.adapters.spacy_step import SpacySettings, SpacyStep
from fascicle.pipeline.loading import open_pipeline
from fascicle.verbs.tasks.label import label

TEXT = "There is no 𝛽-thalassemia. She has asthma."


@pytest.fixture
def ruler(tmp_path: Path) -> Path:
    """A pipeline on disk with sentences and an entity ruler."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    patterns: list[dict[str, Any]] = [
        {"label": "DIS", "pattern": "asthma", "id": "D1"},
        {"label": "DIS", "pattern": "thalassemia"},
        {"label": "WHO", "pattern": "She"},
    ]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "ruler")
    return tmp_path


def found(step: SpacyStep, document: Document) -> Document:
    (patch,) = step.run([document])
    return apply(document, patch, step=step.name, drops=step.drops)


def test_entities_and_sentences_have_our_offsets(ruler: Path) -> None:
    settings = SpacySettings(pipeline="ruler", types={"DIS": "Disease"}, sentences=True)
    answer = found(SpacyStep(settings, folder=str(ruler)), Document(id="a", text=TEXT))
    # 𝛽-thalassemia is one token
    assert [(one.text, one.type) for one in answer] == [("asthma", "Disease")]
    assert [TEXT[start:end] for start, end in answer.sentences or ()] == [
        "There is no 𝛽-thalassemia.",
        "She has asthma.",
    ]


def test_every_label_is_a_type_by_default_and_is_known_early(ruler: Path) -> None:
    step = SpacyStep(SpacySettings(pipeline="ruler"), folder=str(ruler))
    assert set(step.types) == {"DIS", "WHO"}
    assert {(one.text, one.type) for one in found(step, Document(id="a", text=TEXT))} == {
        ("She", "WHO"),
        ("asthma", "DIS"),
    }


def test_links_and_extensions_come_along(ruler: Path) -> None:
    Span.set_extension("shouts", getter=lambda span: span.text.isupper(), force=True)
    nlp = spacy.load(ruler / "ruler")
    step = SpacyStep(SpacySettings(pipeline="ruler", attributes=("shouts",)), folder=str(ruler))
    doc = nlp("asthma")
    doc.ents = [Span(doc, 0, 1, label="DIS", kb_id="MESH:D001249")]
    assert [one.curie for one in step._mention(doc.ents[0], "Disease").links] == ["MESH:D001249"]
    assert found(step, Document(id="a", text="asthma")).mentions[0].attributes == (
        ("shouts", "false"),
    )


def test_our_own_mentions_get_attributes_also_where_they_overlap() -> None:
    Span.set_extension("length", getter=lambda span: len(span), force=True)
    mentions = (
        Mention(((0, 13),), "Disease", source="ours", attributes=(("before", "1"),)),
        Mention(((5, 13),), "Disease", source="ours"),
        Mention(((17, 22),), "Disease", source="other"),
    )
    document = Document(id="a", text="lung adenomas and colds", mentions=mentions)
    step = SpacyStep(
        SpacySettings(pipeline="blank:en", mentions_of=("ours",), attributes=("length",))
    )
    told = {one.spans: dict(one.attributes) for one in found(step, document).mentions}
    assert told == {
        ((0, 13),): {"before": "1", "length": "2"},
        ((5, 13),): {"length": "1"},
        ((17, 22),): {},
    }


def test_mentions_that_share_a_token_and_do_not_overlap_get_attributes() -> None:
    Span.set_extension("length", getter=lambda span: len(span), force=True)
    text = "no IL2_IL4 seen"
    places = [(0, 6), (3, 6), (7, 10), (7, 15)]
    mentions = tuple(Mention((place,), "Gene", source="ours") for place in places)
    step = SpacyStep(
        SpacySettings(pipeline="blank:en", mentions_of=("ours",), attributes=("length",))
    )
    for given in (mentions, mentions[::-1]):
        answer = found(step, Document(id="a", text=text, mentions=given))
        told = {one.spans[0]: dict(one.attributes) for one in answer.mentions}
        assert told == {place: {"length": size} for place, size in zip(places, "2112", strict=True)}


def test_an_answer_of_no_concept_is_no_concept(ruler: Path) -> None:
    step, doc = (
        SpacyStep(SpacySettings(pipeline="ruler"), folder=str(ruler)),
        spacy.blank("en")("asthma"),
    )
    doc.ents = [Span(doc, 0, 1, label="DIS", kb_id="NIL")]
    assert [(one.nil, one.id) for one in step._mention(doc.ents[0], "Disease").links] == [
        (True, "")
    ]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (SpacySettings(pipeline="no_such_pipeline"), "no_such_pipeline"),
        (SpacySettings(pipeline="blank:en", add=("no_such_component",)), "no_such_component"),
        (SpacySettings(pipeline="blank:en", imports=("no_such_module",)), "no_such_module"),
        (
            SpacySettings(pipeline="blank:en", attributes=("no_such_extension",)),
            "no_such_extension",
        ),
    ],
)
def test_what_is_not_there_is_one_sentence(settings: SpacySettings, says: str) -> None:
    with pytest.raises(RecipeError, match=says) as caught:
        SpacyStep(settings)
    assert "\n" not in str(caught.value)


TEACHER = """
[[steps]]
kind = "plugin"
plugin = "spacy"
options = { pipeline = "ruler", types = { DIS = "Disease" } }
"""


def test_it_is_a_teacher(ruler: Path, entry_points: dict[str, str]) -> None:
    (ruler / "pipeline.toml").write_text(TEACHER, encoding="utf-8")
    (ruler / "one.txt").write_text("She has asthma.\n", encoding="utf-8")
    label(ruler / "one.txt", ruler / "weak.labels", model=ruler)
    header, entries = read_entries(ruler / "weak.labels")
    assert header.types == ("Disease",)
    labelled = next(iter(entries))
    assert (labelled.words, len(labelled.at)) == (4, 1)  # type: ignore[union-attr]


CONTEXT = """
name = "negation"

[[steps]]
kind = "recogniser"
name = "names"
model = "names.tsv"

[[steps]]
kind = "plugin"
plugin = "spacy"
name = "context"

[steps.options]
pipeline = "blank:en"
imports = ["medspacy.context"]
add = ["sentencizer", "medspacy_context"]
mentions_of = ["names"]
attributes = ["is_negated", "is_family"]
"""


def test_negation_by_context(tmp_path: Path, entry_points: dict[str, str]) -> None:
    pytest.importorskip("medspacy")
    (tmp_path / "names.tsv").write_text(
        "Disease\tpneumonia\nDisease\tasthma\nDisease\tgout\n", encoding="utf-8"
    )
    (tmp_path / "pipeline.toml").write_text(CONTEXT, encoding="utf-8")
    text = "There is no evidence of pneumonia. She has asthma. Her mother had gout."
    with open_pipeline(tmp_path) as pipeline:
        (document,) = pipeline.stream([text])
    told = {one.text_in(text): dict(one.attributes) for one in document.mentions}
    assert {name: one["is_negated"] for name, one in told.items()} == {
        "pneumonia": "true",
        "asthma": "false",
        "gout": "false",
    }
    assert told["gout"]["is_family"] == "true"
