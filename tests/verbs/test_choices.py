"""The same choices give the same mentions, whatever the way in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.verbs.conftest import Result

import fascicle
from fascicle.core.document import Document, Mention
from fascicle.errors import OutputError, RecipeError, UsageError
from fascicle.evaluation.systems.model import ModelRequest, predict
from fascicle.formats.account import EventCounts
from fascicle.loading import open_model
from fascicle.pipeline.loading import PipelineOpener, open_pipeline
from fascicle.settings.choices import LINKED_MODEL, PATHS, Choices
from fascicle.settings.pipeline import read_pipeline
from fascicle.settings.steps import RecogniserStep
from fascicle.verbs.tasks.run import run

TEXTS = (
    "Aspirin did not cause tremor in 12 mice with BRAF V600E.",
    "Lung cancer (LC) was treated with FROB-1. LC cells lacked p53, and REST was low.",
    "Possible asthma after lithium, in patients with type 2 diabetes and their mothers.",
)
Cli = Callable[..., Result]
MODEL = "biomed-fast"

# 18 sets of choices; OWN stands for a dictionary, NESTED for a pack.
OWN = "own.tsv"
SETS: tuple[dict[str, Any], ...] = (
    {},
    {"link": "auto"},
    {"links": False},
    {"link": ("basic",)},
    {"link": ("basic",), "ontology": "MESH"},
    {"also": (OWN,)},
    {"also": (OWN,), "case": "any"},
    {"also": (OWN, "basic"), "links": False},
    {"also": ("basic",), "link": "auto"},
    {"careful": ("Disease",)},
    {"only": ("Disease",)},
    {"only": ("Disease", "SequenceVariant"), "variants": True},
    {"threshold": 0.9},
    {"threshold": {"Disease": 0.9, "Chemical": 0.5}, "link": "auto"},
    {"ends": "bare"},
    {"ends": "corpus", "link": "auto"},
    {"variants": True, "assertions": True, "link": "auto"},
    {"also": (OWN,), "only": ("Disease", "Drug"), "threshold": 0.3, "assertions": True},
)
SETS_OF_PACKS: tuple[dict[str, Any], ...] = (
    {},
    {"nested": True},
    {"links": False, "threshold": 0.9},
    {"only": ("Disease",), "threshold": 0.1},
    {"also": (OWN,), "only": ("Disease", "Drug"), "variants": True},
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / OWN).write_text("Drug\tFROB-1\nDisease\tLC\nGene\tREST\n", encoding="utf-8")
    for number, text in enumerate(TEXTS):
        (tmp_path / f"text-{number}.txt").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    fascicle.write("texts.jsonl", documents())
    return tmp_path


def facts(documents: list[Document]) -> list[list[tuple[Any, ...]]]:
    """Everything of the mentions of each document but their order."""
    return [
        sorted(
            ((m.spans, m.type, m.source, m.score, m.links, m.attributes) for m in d.mentions),
            key=repr,
        )
        for d in documents
    ]


def documents() -> list[Document]:
    return [Document(id=f"text-{number}", text=text) for number, text in enumerate(TEXTS)]


def options(choices: Choices) -> list[str]:
    """The choices as options of a command."""
    words: list[str] = []
    for name, value in choices.changed.items():
        if name == "links":
            words.append("--no-link")
        elif name == "threshold" and isinstance(value, dict):
            words += ["--threshold", ",".join(f"{kind}={x}" for kind, x in value.items())]
        elif name in {"careful", "only"}:
            words += [f"--{name}", ",".join(value)]
        elif isinstance(value, tuple):
            words += [f"--{name}={one}" for one in value]
        elif value is True:
            words.append(f"--{name}")
        elif value != "auto":
            words += [f"--{name}", str(value)]
    return words


def by_load(model: str, choices: Choices) -> list[Document]:
    return fascicle.load(model, **{"link": (), **choices.changed})(documents())


def by_saved_pipeline(model: str, choices: Choices) -> list[Document]:
    open_model(model, choices).save("saved.toml", overwrite=True)
    with open_pipeline("saved.toml") as pipeline:
        return list(pipeline.stream(documents()))


def by_opener(model: str, choices: Choices) -> list[Document]:
    with PipelineOpener(given=model, choices=choices).from_anywhere()() as pipeline:
        return list(pipeline.stream(documents()))


def by_evaluate(model: str, choices: Choices) -> list[Document]:
    request = ModelRequest(model=model, choices=choices)
    predictions = predict(request, documents(), events=EventCounts())
    return [d.having(mentions=tuple(predictions.mentions[d.id])) for d in documents()]


WAYS: tuple[Callable[[str, Choices], list[Document]], ...] = (
    by_load,
    by_saved_pipeline,
    by_opener,
    by_evaluate,
)


@pytest.mark.parametrize("chosen", SETS, ids=repr)
def test_models_answer_alike_by_every_way(chosen: dict[str, Any]) -> None:
    choices = Choices(**chosen)
    expected = facts(open_model(MODEL, choices)(documents()))
    for way in WAYS:
        assert facts(way(MODEL, choices)) == expected, way.__name__


@pytest.mark.parametrize("chosen", SETS_OF_PACKS, ids=repr)
def test_packs_answer_alike_by_every_way(chosen: dict[str, Any]) -> None:
    choices = Choices(**chosen)
    expected = facts(open_model("basic", choices)(documents()))
    for way in WAYS:
        assert facts(way("basic", choices)) == expected, way.__name__


@pytest.mark.parametrize(
    ("model", "chosen"),
    [(MODEL, each) for each in SETS] + [("basic", each) for each in SETS_OF_PACKS],
    ids=repr,
)
def test_annotate_in_python_takes_every_choice(model: str, chosen: dict[str, Any]) -> None:
    linked = chosen.get("links", True)
    expected = facts(open_model(model, Choices(**({"link": "auto"} | chosen)))(documents()))
    arguments = {name: value for name, value in chosen.items() if name != "links"}
    arguments |= {} if linked else {"link": None}
    fascicle.annotate("texts.jsonl", "annotated.jsonl", model=model, **arguments)
    assert facts(list(fascicle.read("annotated.jsonl"))) == expected
    assert facts(fascicle.load(model, **arguments)(documents())) == expected


def test_every_way_in_links_unless_it_is_refused(cli: Cli) -> None:
    def linked(found: list[Document]) -> list[list[str]]:
        return [[link.curie for m in d.mentions for link in m.links] for d in found]

    expected = linked(open_model(MODEL, LINKED_MODEL)(documents()))
    assert all(expected)
    assert linked(fascicle.load(MODEL)(documents())) == expected
    fascicle.annotate("texts.jsonl", "python.jsonl", model=MODEL)
    cli("annotate", "texts.jsonl", "--model", MODEL, "-o", "command.jsonl")
    run(["texts.jsonl"], "run", pipeline=MODEL)
    for path in ("python.jsonl", "command.jsonl", "run/part-00000.jsonl"):
        assert linked(list(fascicle.read(path))) == expected, path
    for refused in ({"link": None}, {"links": False}):
        assert linked(fascicle.load(MODEL, **refused)(documents())) == [[], [], []]
    assert not any(m.links for m in fascicle.load("basic", link=None)(documents()[0]))


@pytest.mark.parametrize("chosen", [SETS[1], *SETS[5:]], ids=repr)
def test_the_commands_answer_alike(cli: Cli, chosen: dict[str, Any], folder: Path) -> None:
    choices = Choices(**({"link": "auto"} | chosen if chosen.get("links", True) else chosen))
    expected = facts(open_model(MODEL, choices)(documents()))
    texts = sorted(path.name for path in folder.glob("text-*.txt"))
    saving = ["--save-pipeline", "saved.toml"]
    cli("annotate", *texts, "--model", MODEL, *options(choices), *saving, "-o", "one.jsonl")
    assert facts(list(fascicle.read("one.jsonl"))) == expected
    cli("annotate", *texts, "--model", MODEL, *options(choices), "-o", "again.jsonl")
    assert (folder / "again.jsonl").read_bytes() == (folder / "one.jsonl").read_bytes()
    run(texts, "run", pipeline="saved.toml")
    assert facts(list(fascicle.read("run/part-00000.jsonl"))) == expected


def test_a_saved_pipeline_has_only_what_was_chosen_with_whole_paths(folder: Path) -> None:
    fascicle.load(MODEL, also=OWN, only=["Disease"]).save("saved.toml")
    assert (folder / "saved.toml").read_text(encoding="utf-8") == (
        'name = "biomed-fast"\nsegmenter = "rules@1"\n\n[[steps]]\nkind = "recogniser"\n'
        f'model = "biomed-fast"\nalso = ["{folder / OWN}"]\nonly = ["Disease"]\nlink = "auto"\n'
    )
    with pytest.raises(OutputError, match="exists"):
        fascicle.load(MODEL).save("saved.toml")
    with pytest.raises(UsageError, match=r"\.toml file"):
        fascicle.load(MODEL).save("saved.json")


def test_a_saved_pipeline_keeps_the_device(folder: Path) -> None:
    fascicle.load(MODEL, device="auto").save("saved.toml")
    ((_, settings),) = read_pipeline("saved.toml").steps
    assert isinstance(settings, RecogniserStep)
    assert settings.device == "auto"


def test_choices_beside_a_pipeline_are_refused(refused: Callable[..., str], folder: Path) -> None:
    fascicle.load(MODEL).save("saved.toml")
    for command in (
        ("run", "text-0.txt", "--pipeline", "saved.toml", "-o", "out", "--only", "Disease"),
        ("label", "saved.toml", "text-0.txt", "-o", "out.labels", "--variants"),
        ("serve", "saved.toml", "--threshold", "0.5"),
    ):
        assert "into its step recogniser" in refused(*command)
    assert not (folder / "out").exists()


def test_an_older_name_of_the_threshold_is_read(folder: Path) -> None:
    step = '[[steps]]\nkind = "recogniser"\nmodel = "biomed-fast"\nmin_score = 0.9\n'
    (folder / "old.toml").write_text(step, encoding="utf-8")
    ((_, settings),) = read_pipeline("old.toml").steps
    assert isinstance(settings, RecogniserStep)
    assert settings.choices == Choices(threshold=0.9)
    (folder / "both.toml").write_text(f"{step}threshold = 0.8\n", encoding="utf-8")
    with pytest.raises(RecipeError, match="older name"):
        read_pipeline("both.toml")


def test_paths_are_those_fields_that_a_file_may_stand_in() -> None:
    assert set(PATHS) <= set(Choices.__struct_fields__)
    choices = Choices(also=("a.tsv",), types="t.toml", assertions="c.toml", link=("l",))
    assert choices.with_places(lambda path: f"/x/{path}").paths == (
        "/x/a.tsv",
        "/x/t.toml",
        "/x/l",
        "/x/c.toml",
    )


@pytest.mark.parametrize("link", ["auto", ["auto"]])
def test_auto_is_the_shipped_linker_in_every_way_in(cli: Cli, link: Any) -> None:
    assert Choices(link=tuple(link) if isinstance(link, list) else link) == Choices(link="auto")
    (mention,) = fascicle.load(MODEL, link=link)("No heartburn.").mentions
    assert [one.curie for one in mention.links] == ["MESH:D006356"]
    out = cli("annotate", "--text", "No heartburn.", "--model", MODEL, "--link", "auto").out
    assert "MESH:D006356" in out


def test_a_trace_names_the_part_and_the_reason(cli: Cli) -> None:
    model = fascicle.load(
        MODEL, also=OWN, only=["Disease", "Drug"], threshold=0.3, link="auto", assertions=True
    )
    assert str(model).startswith("<biomed-fast@2: recognise, own names own, keep Disease, Drug")
    trace = model.trace("Aspirin (FROB-1) caused no tremor.")
    changes = {(change.part.split()[0], change.what, change.text) for change in trace.changes}
    assert ("recognise", "added", "tremor") in changes
    assert ("own", "added", "FROB-1") in changes
    assert ("keep", "dropped", "Aspirin") in changes
    assert ("link", "changed", "tremor") in changes
    assert ("assertions", "changed", "tremor") in changes
    reason = next(
        change.reason
        for change in trace.changes
        if change.text == "Aspirin" and change.what == "dropped"
    )
    assert reason == "the type Chemical was not chosen"
    said = cli("annotate", "--text", "Aspirin and tremor.", "--model", MODEL, "--trace").out
    assert "recognise: added 'Aspirin' Chemical 0-7: score " in said


def test_what_load_did_not_open_cannot_be_saved(tmp_path: Path) -> None:
    from fascicle.runtime.asserted import add_assertions

    wrapped = add_assertions(fascicle.load(OWN), True)
    with pytest.raises(UsageError, match=r"fascicle\.load"):
        wrapped.save(os.fspath(tmp_path / "x.toml"))


def test_links_beside_no_links_are_refused_in_one_sentence(folder: Path) -> None:
    with pytest.raises(UsageError, match="leave out link and ontology"):
        fascicle.load(MODEL, links=False, link="basic")
    with pytest.raises(UsageError, match="leave out link and ontology"):
        fascicle.annotate("text-0.txt", "out.jsonl", model=MODEL, link=None, ontology="MESH")
    assert not (folder / "out.jsonl").exists()


def test_a_trace_writes_no_documents_and_saves_the_pipeline(
    cli: Cli, refused: Callable[..., str], folder: Path
) -> None:
    asked = ("annotate", "text-0.txt", "--model", MODEL, "--trace")
    for given in (("-o", "out.jsonl"), ("--json",), ("--segments",)):
        assert f"leave out {given[0].replace('-o', '--output')}" in refused(*asked, *given)
    assert not (folder / "out.jsonl").exists()
    assert cli(*asked, "--save-pipeline", "saved.toml").code == 0
    assert read_pipeline("saved.toml").name == "biomed-fast"


def test_probabilities_of_gold_are_those_of_the_model_alone(
    refused: Callable[..., str], folder: Path
) -> None:
    gold = Document(id="1", text="gout", mentions=(Mention(((0, 4),), "Disease"),))
    fascicle.write("gold.jsonl", [gold])
    asked = ("evaluate", "gold.jsonl", "--model", MODEL, "--distributions", "d.jsonl")
    assert "--only" in refused(*asked, "--only", "Disease")
    assert not (folder / "d.jsonl").exists()


IDS = "ids.tsv"


@pytest.mark.parametrize(
    "chosen",
    [
        {"variants": True, "ontology": "MESH", "link": "auto"},
        {"variants": True, "ontology": "MESH", "link": "auto", "only": ("Gene",)},
        {"also": (IDS,), "ontology": "MESH", "link": "auto"},
        {"also": (IDS,), "variants": True, "assertions": True, "link": "auto"},
        {"also": (IDS,), "variants": True, "link": "auto", "links": False},
    ],
    ids=repr,
)
def test_links_of_lists_and_variants_answer_alike_by_every_way(
    chosen: dict[str, Any], folder: Path
) -> None:
    rows = "type\tname\tid\nDrug\taspirin\tMINE:1\nDevice\tV600E\tMINE:2\nDrug\tlithium\t\n"
    (folder / IDS).write_text(rows, encoding="utf-8")
    choices = Choices(**chosen)
    expected = open_model(MODEL, choices)(documents())
    for way in WAYS:
        assert facts(way(MODEL, choices)) == facts(expected), way.__name__
    curies = {
        (mention.type, mention.text): [link.curie or link.ontology for link in mention.links]
        for document in expected
        for mention in document
    }
    if choices.variants:  # a variant stands beside an own name
        variant = ("SequenceVariant", "V600E")
        assert curies.pop(variant) == (["HGVS:p.Val600Glu"] if choices.links else [])
    if choices.also:
        assert curies.pop(("Drug", "Aspirin")) == ["MINE:1"]
        assert curies.pop(("Device", "V600E")) == ["MINE:2"]
    if choices.ontology:
        assert {curie.partition(":")[0] for each in curies.values() for curie in each} == {"MESH"}


def test_what_makes_links_beside_an_ontology_is_named(folder: Path, refused: Any) -> None:
    for model, also, culprit in (
        ("basic", (), "basic@2"),
        (MODEL, ("basic",), "basic@2"),
    ):
        choices = Choices(also=also, ontology="MESH", link="auto", variants=True)
        with pytest.raises(UsageError, match=f"^{culprit} makes its own links"):
            open_model(model, choices)
        with pytest.raises(UsageError, match=f"^{culprit} makes its own links"):
            PipelineOpener(given=model, choices=choices)()
    given = ("text-0.txt", "--also", "basic", "--variants", "--ontology", "MESH")
    assert "basic@2 makes its own links" in refused("annotate", *given)
    assert "basic@2 makes its own links" in refused("run", *given, "-o", "out")
    assert not (folder / "out").exists()


def test_a_pipeline_is_refused_as_a_linker(folder: Path, refused: Any) -> None:
    open_model(MODEL, Choices(link="auto")).save("saved.toml")
    for command in ("link", "annotate"):
        option = "--linker" if command == "link" else "--link"
        message = refused(command, "texts.jsonl", option, "saved.toml", "-o", "out.jsonl")
        assert "saved.toml is a pipeline" in message
        assert "fascicle run" in message
    assert not (folder / "out.jsonl").exists()
