"""A model as a pipeline, with own names beside it, from any folder."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.errors import RecipeError, UsageError
from fascicle.loading import load, open_model
from fascicle.pipeline.loading import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.pipeline import Shards

TEXT = "Aspirin at rest, and lithium."


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.tsv"
    path.write_text("Drug\taspirin\nGene\tREST\n", encoding="utf-8")
    return path


def opener(model: str, **choices: Any) -> PipelineOpener:
    return PipelineOpener(given=model, choices=Choices(link="auto", **choices))


def said(opener: PipelineOpener) -> list[tuple[str, str]]:
    with opener() as pipeline:
        (document,) = pipeline.stream([TEXT])
    return [(mention.type, mention.text) for mention in document]


def test_own_names_answer_before_the_model(own: Path) -> None:
    assert said(opener("biomed-fast", also=(str(own),))) == [
        ("Drug", "Aspirin"),
        ("Chemical", "lithium"),
    ]
    any_case = opener("biomed-fast", also=(str(own),), case="any")
    assert said(any_case) == [("Drug", "Aspirin"), ("Gene", "rest"), ("Chemical", "lithium")]
    assert any_case.shards == Shards()


def test_a_pack_beside_a_model_gives_links_where_links_are_wanted() -> None:
    def linked(links: bool) -> dict[str, bool]:
        choices = Choices(also=("basic",), links=links, link="auto" if links else ())
        with PipelineOpener(given="biomed-fast", choices=choices)() as pipeline:
            (document,) = pipeline.stream(["Aspirin helped 12 HeLa cells against asthma."])
        return {mention.source: bool(mention.links) for mention in document}

    assert linked(True) == {"basic@2": True, "biomed-fast@2": True}
    assert linked(False) == {"basic@2": False, "biomed-fast@2": False}


def test_paths_hold_in_any_folder(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.parent)
    (own.parent / "biomed").mkdir()  # the name of a shipped model stays one
    moved = opener("own.tsv", also=("own.tsv", "basic")).from_anywhere()
    assert (moved.given, moved.choices.also) == (str(own), (str(own), "basic"))
    assert PipelineOpener(given="biomed").from_anywhere().given == "biomed"
    monkeypatch.chdir("/")
    assert said(pickle.loads(pickle.dumps(moved)))[0] == ("Drug", "Aspirin")


def test_a_pipeline_names_its_names_itself(own: Path) -> None:
    (own.parent / "pipeline.toml").write_text(
        '[[steps]]\nkind = "recogniser"\nmodel = "own.tsv"\n', encoding="utf-8"
    )
    with pytest.raises(UsageError, match="into its step recogniser"):
        opener(str(own.parent), also=(str(own),)).from_anywhere()


def test_a_service_takes_own_names(own: Path) -> None:
    pytest.importorskip("uvicorn")
    from fascicle.serving.server import pipeline_openers

    opened = pipeline_openers(
        ["biomed-fast", f"mine={own}"], choices=Choices(links=False, also=(str(own),))
    )
    assert {name: said(one)[0] for name, one in opened.items()} == dict.fromkeys(
        opened, ("Drug", "Aspirin")
    )


def test_a_pipeline_that_is_not_there_is_not_taken_for_a_model(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="there is no pipeline at"):
        opener(str(tmp_path / "nowhere.toml"))()


def test_a_step_of_its_own_links_the_mentions_of_a_model(tmp_path: Path) -> None:
    load("biomed-fast", link="auto").save(tmp_path / "saved.toml")
    for given in ("biomed-fast", str(tmp_path / "saved.toml")):
        with PipelineOpener(given=given)() as pipeline:
            (linking,) = [step.name for step in pipeline.steps if step.gives == {"links"}]
            (linked,) = pipeline.of_batch([Document(id="1", text=TEXT)])
            (bare,) = pipeline.of_batch([Document(id="1", text=TEXT)], without={linking})
        assert linked.document is not None
        assert bare.document is not None
        assert any(mention.links for mention in linked.document.mentions)
        assert not any(mention.links for mention in bare.document.mentions)


def test_own_names_and_longer_names_with_links_are_settled_behind_the_links(own: Path) -> None:
    (own.parent / "parts.tsv").write_text("Organ\tlung\n", encoding="utf-8")
    choices = Choices(also=(str(own.parent / "parts.tsv"),), link="auto")
    expected = open_model("biomed-fast", choices)("Lung cancer is common. The lung is large.")
    with PipelineOpener(given="biomed-fast", choices=choices)() as pipeline:
        (document,) = pipeline.stream(["Lung cancer is common. The lung is large."])
    assert [(m.type, m.text) for m in document] == [("Disease", "Lung cancer"), ("Organ", "lung")]
    assert document.mentions == expected.mentions


def test_variants_stand_beside_the_links_and_own_names(own: Path, monkeypatch: Any) -> None:
    own.write_text("Device\tV600E\nDrug\taspirin\n", encoding="utf-8")
    choices = Choices(also=(str(own),), variants=True, link="auto")
    text = "BRAF V600E and aspirin."
    expected = open_model("biomed-fast", choices)(text)
    with PipelineOpener(given="biomed-fast", choices=choices)() as pipeline:
        (link,) = (step for step in pipeline.steps if step.name == "link")
        seen: list[str] = []
        linked = link.step.run  # type: ignore[attr-defined]

        def run(documents: list[Document]) -> Any:
            seen.extend(mention.source for one in documents for mention in one.mentions)
            return linked(documents)

        monkeypatch.setattr(link.step, "run", run)  # type: ignore[attr-defined]
        (document,) = pipeline.stream([text])
    assert set(seen) == {"biomed-fast@2", "own"}
    assert document.mentions == expected.mentions
    assert {mention.source for mention in document.mentions} == {*seen, "variants"}
