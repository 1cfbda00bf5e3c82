"""A model that looks units up, through every command that makes or reads a model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.errors import OutputError, RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.loading import load
from fascicle.runtime.inputs import make_reader
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.terms.pack.pack import Pack
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.engine.events import Note
from fascicle.training.experiments.hashes import data_hashes, recipe_hash
from fascicle.training.recogniser import prepare as inputs_of_recipe
from fascicle.training.recogniser.prepare import read_inputs
from fascicle.training.run import run_recipe
from fascicle.verbs.tasks.index_build import build_pack

TEXTS = ["Aspirin caused PAIN", "lung cancer and fever .", "the doctor was in the liver"]
DOCUMENTS = [Document(id=str(at), text=text) for at, text in enumerate(TEXTS)]
Cli = Callable[..., Any]


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dictionary") / "names.tsv"
    path.write_text(
        "type\tname\nChemical\taspirin\nDisease\tlung cancer\nDisease\tfever\n", encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def recipe(tiny_recipe: Callable[..., Recipe], dictionary: Path) -> Recipe:
    return tiny_recipe(inputs={"dictionaries": [str(dictionary)], "shape": True, "dropout": 0.2})


@pytest.fixture(scope="module")
def run(recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("looking-up") / "run"
    for _ in run_recipe(recipe, folder):
        pass
    return folder


def said(folder: Path) -> list[list[Any]]:
    return [[(m.type, m.spans) for m in patch.add] for patch in load(folder).predict(DOCUMENTS)]


def test_a_run_says_what_it_read(run: Path, dictionary: Path) -> None:
    facts = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert facts["data"]["inputs.dictionaries.0"]["sha256"]
    inputs = read_manifest(run / "best").inputs
    assert inputs
    assert [(one.name, one.names) for one in inputs.dictionaries] == [(dictionary.name, 3)]
    assert inputs.dictionaries[0].sha256 == facts["data"]["inputs.dictionaries.0"]["sha256"]
    assert json.loads((run / "scores.json").read_text(encoding="utf-8"))["dev"]["micro"]["f1"] > 0.9


def test_models_made_of_it(cli: Cli, run: Path, toy_corpus: Path, tmp_path: Path) -> None:
    best = said(run)
    assert any(best)
    dev = ("--documents", "sentence", "--method", "isotonic")
    assert cli("calibrate", run, toy_corpus, "-o", tmp_path / "calibrated", *dev).code == 0
    assert cli("export", run, "-o", tmp_path / "onnx").code == 0
    assert (
        cli(
            "ensemble", "union", tmp_path / "calibrated", tmp_path / "onnx", "-o", tmp_path / "both"
        ).code
        == 0
    )
    for name in ("calibrated", "onnx", "both"):
        assert said((tmp_path / name).rename(tmp_path / f"{name}-moved")) == best, name


def test_what_is_said_of_words_and_in_files(cli: Cli, run: Path, tmp_path: Path) -> None:
    (tmp_path / "raw.jsonl").write_text(
        "".join(json.dumps({"id": d.id, "text": d.text}) + "\n" for d in DOCUMENTS),
        encoding="utf-8",
    )
    assert cli("label", run, tmp_path / "raw.jsonl", "-o", tmp_path / "x.labels").code == 0
    result = cli("annotate", "--model", run, tmp_path / "raw.jsonl", "-o", tmp_path / "out.jsonl")
    assert result.code == 0
    rows = [
        json.loads(line)
        for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [len(row.get("mentions", ())) for row in rows] == [len(keys) for keys in said(run)]


def test_a_run_does_not_go_on_with_another_dictionary(
    recipe: Recipe, run: Path, dictionary: Path, tmp_path: Path
) -> None:
    events = run_recipe(recipe, tmp_path / "run")
    for _ in range(10):
        next(events)
    events.close()  # type: ignore[attr-defined]
    content = dictionary.read_bytes()
    try:
        dictionary.write_bytes(content + b"Disease\tpain\n")
        with pytest.raises(OutputError, match="has changed since the run"):
            list(run_recipe(recipe, tmp_path / "run", resume=True))
    finally:
        dictionary.write_bytes(content)
    list(run_recipe(recipe, tmp_path / "run", resume=True))
    names = [f"best/{path.name}" for path in (run / "best").iterdir()]
    assert "best/dictionary-1.tsv.gz" in names
    assert all(
        (tmp_path / "run" / name).read_bytes() == (run / name).read_bytes() for name in names
    )


def test_labels_and_inputs_of_one_dictionary_are_noted(
    tiny_recipe: Callable[..., Recipe], toy_dictionary: dict[str, str], tmp_path: Path
) -> None:
    recipe = tiny_recipe(distant=toy_dictionary, inputs={"dictionaries": [toy_dictionary["core"]]})
    events = run_recipe(recipe, tmp_path / "run")
    notes = [next(events).text for _ in range(8)]  # type: ignore[union-attr]
    events.close()  # type: ignore[attr-defined]
    assert any("made the labels and is an input too" in note for note in notes)


def test_teachers_and_students(
    run: Path, dictionary: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    recipe = parse_any(
        {
            "name": "small",
            "teacher": {"model": str(run)},
            "student": {"layers": [2]},
            "corpus": {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"},
            "inputs": {"dictionaries": [str(dictionary)]},
            "reading": {"max_length": 32, "overlap": 4},
            "prediction": {},
            "training": {"epochs": 8, "learning_rate": 1e-2, "batch_size": 4, "precision": "fp32"},
        },
        origin="small.toml",
    )
    for _ in run_recipe(recipe, tmp_path / "run"):
        pass
    shutil.move(tmp_path / "run" / "best", tmp_path / "moved")
    inputs = read_manifest(tmp_path / "moved").inputs
    assert inputs
    assert inputs.shapes == ""
    assert said(tmp_path / "moved")


@pytest.fixture(scope="module")
def pack(dictionary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A term pack of the same names."""
    place = tmp_path_factory.mktemp("packs")
    rows = [line.split("\t") for line in dictionary.read_text(encoding="utf-8").splitlines()[1:]]
    names = [
        *(f"toy:{at}\t{kind}\t{name}\n" for at, (kind, name) in enumerate(rows)),
        "toy:9\tDisease\theadaches\n",
    ]
    (place / "names.tsv").write_text("id\ttype\tname\n" + "".join(names), encoding="utf-8")
    (place / "sources.toml").write_text(
        'name = "toy@1"\n[sources.own]\npath = "names.tsv"\nreader = "table"\n'
        'columns = { id = "id", name = "name", type = "type" }\n'
        'types = { Disease = "Disease", Chemical = "Chemical" }\n',
        encoding="utf-8",
    )
    build_pack(place / "sources.toml", place / "pack")
    return place / "pack"


def test_a_pack_as_an_input(
    cli: Cli,
    tiny_recipe: Callable[..., Recipe],
    pack: Path,
    dictionary: Path,
    toy_corpus: Path,
    tmp_path: Path,
) -> None:
    recipe = tiny_recipe(
        inputs={"dictionaries": [str(dictionary), str(pack)]}, training={"epochs": 3}
    )
    for _ in run_recipe(recipe, tmp_path / "run"):
        pass
    best = tmp_path / "run" / "best"
    inputs = read_manifest(best).inputs
    assert inputs
    assert [(one.rule, one.names) for one in inputs.dictionaries] == [
        ("three-casings", 3),
        ("pack", 4),
    ]
    assert inputs.dictionaries[1].name == Pack.open(pack).full_name
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert inputs.dictionaries[1].sha256 == facts["data"]["inputs.dictionaries.1"]["sha256"]
    expected = said(best)
    manifest = read_manifest(best)
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    document = Document(id="d", text="Headache and fevers")  # in no form of the table
    read = make_reader(best, manifest)(
        [document], tokenizer, reading=manifest.reading, level="word"
    )
    looked_up = read.pieces[0].inputs
    assert looked_up
    assert looked_up.matches.tolist() == [[0, 8, 1], [13, 19, 1]]
    assert cli("export", best, "-o", tmp_path / "onnx").code == 0
    dev = ("--documents", "sentence", "--method", "isotonic")
    assert cli("calibrate", best, toy_corpus, "-o", tmp_path / "calibrated", *dev).code == 0
    for name in ("onnx", "calibrated"):
        assert said((tmp_path / name).rename(tmp_path / f"{name}-moved")) == expected, name


def test_a_pack_that_is_too_large_and_a_folder_that_is_none(
    tiny_recipe: Callable[..., Recipe], pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RecipeError, match="term pack"):
        read_inputs(tiny_recipe(inputs={"dictionaries": [str(tmp_path)]}))
    monkeypatch.setattr(inputs_of_recipe, "MOST_CARRIED", 100)
    with pytest.raises(RecipeError, match="fewer names"):
        read_inputs(tiny_recipe(inputs={"dictionaries": [str(pack)]}))


def test_a_recipe_with_a_pack_has_a_hash_of_its_content(
    tiny_recipe: Callable[..., Recipe], pack: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(pack, tmp_path / "elsewhere")
    hashes = []
    for place in (pack, copy):
        for table in (
            {"inputs": {"dictionaries": [str(place)]}},
            {"distant": {"core": str(place)}},
        ):
            recipe = tiny_recipe(**table)
            hashes.append(recipe_hash(recipe, data_hashes(recipe)))
    assert hashes[:2] == hashes[2:]
    assert hashes[0] != hashes[1]


def test_a_run_on_the_labels_of_a_pack(
    tiny_recipe: Callable[..., Recipe], pack: Path, tmp_path: Path
) -> None:
    recipe = tiny_recipe(
        distant={"core": str(pack)}, inputs={"dictionaries": [str(pack)]}, training={"epochs": 1}
    )
    notes = [
        event.text for event in run_recipe(recipe, tmp_path / "run") if isinstance(event, Note)
    ]
    assert any("made the labels and is an input too" in note for note in notes)
    assert any(Pack.open(pack).full_name in note for note in notes)
    assert read_manifest(tmp_path / "run" / "best").types == ("Chemical", "Disease")
    data = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["data"]
    assert (
        data["distant.core"]
        == data["inputs.dictionaries.0"]
        == {"sha256": source_sha256(str(pack))}
    )
