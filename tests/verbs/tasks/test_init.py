"""``fascicle init``: a recipe that fits what is in the files, and that trains."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.cli import main
from fascicle.core.document import Document, Mention
from fascicle.formats import read, write
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.recogniser.parts import read_parts
from fascicle.verbs.init import ENGLISH, INSTALLED, MULTILINGUAL


def made(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def corpus(folder: Path, *documents: Document, parts: tuple[str, ...] = ("train", "dev")) -> Path:
    folder.mkdir(parents=True)
    for part in parts:
        write(folder / f"{part}.jsonl", documents, format="native")
    return folder


def flat(text: str, *mentions: tuple[int, int]) -> Document:
    return Document(id="1", text=text, mentions=tuple(Mention((span,), "X") for span in mentions))


def test_a_recipe_for_files_trains(toy_corpus: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    output = tmp_path / "deep" / "my recipe.toml"
    output.parent.mkdir()
    options = [
        "--dev",
        str(toy_corpus),
        "--test",
        str(toy_corpus),
        "--encoder",
        str(tiny_encoder),
        "-o",
        str(output),
    ]
    assert main(["init", str(toy_corpus), *options]) == 0
    recipe = read_recipe(output)
    assert [
        Path(recipe.corpus.files()[f"corpus.{part}"]).resolve() for part in ("train", "dev", "test")
    ] == [toy_corpus] * 3
    assert isinstance(recipe, Recipe)
    assert recipe.model.head.family == "crf"
    text = output.read_text(encoding="utf-8")
    assert "10 documents, 18 mentions" in text
    assert "Disease 10" in text or "Disease 11" in text
    run = tmp_path / "run"
    changes = (
        "training.epochs=1",
        "reading.max_length=32",
        "reading.overlap=4",
        'training.precision="fp32"',
    )
    assert (
        main(
            [
                "train",
                str(output),
                "-o",
                str(run),
                *(word for one in changes for word in ("--set", one)),
            ]
        )
        == 0
    )
    assert json.loads((run / "best" / "model.json").read_text())["types"] == ["Chemical", "Disease"]


def test_the_parts_of_a_folder_are_told_by_their_names(tmp_path: Path) -> None:
    folder = corpus(
        tmp_path / "My corpus!",
        flat("a b", (0, 3)),
        parts=("abc-train", "abc_devel", "TEST.v2", "contest"),
    )
    assert main(["init", str(folder), "-o", str(tmp_path / "r.toml")]) == 0
    recipe = made(tmp_path / "r.toml")
    assert recipe["name"] == "My-corpus"
    assert {part: Path(recipe["corpus"][part]).name for part in ("train", "dev", "test")} == {
        "train": "abc-train.jsonl",
        "dev": "abc_devel.jsonl",
        "test": "TEST.v2.jsonl",
    }


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            flat("one two three.", (0, 7)),
            {"family": "crf", "unit": "sentence", "encoder": INSTALLED},
        ),
        (flat("one two three.", (0, 7), (4, 7)), {"family": "span", "decoding": "nested"}),
        (
            Document(
                id="1", text="one two", words=((0, 3), (4, 7)), mentions=(Mention(((0, 3),), "X"),)
            ),
            {"family": "softmax"},
        ),
        (flat("It ends here. And It begins.", (8, 17)), {"unit": "packed"}),
        (flat("Москва и Köln", (0, 6)), {"encoder": MULTILINGUAL}),
    ],
)
def test_family_unit_and_encoder_fit_the_annotation(
    tmp_path: Path, document: Document, expected: dict[str, str]
) -> None:
    assert (
        main(["init", str(corpus(tmp_path / "c", document)), "-o", str(tmp_path / "r.toml")]) == 0
    )
    recipe = made(tmp_path / "r.toml")
    assert expected.items() <= {**recipe["reading"], **recipe["model"]}.items()


def test_an_encoder_of_the_hub_is_proposed_where_none_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fascicle.verbs.init.find_spec", lambda name: None)
    given = str(corpus(tmp_path / "c", flat("one two three.", (0, 7))))
    assert main(["init", given, "-o", str(tmp_path / "r.toml")]) == 0
    assert made(tmp_path / "r.toml")["model"]["encoder"] == ENGLISH


def test_names_that_are_no_plain_words_are_written_as_they_are(tmp_path: Path) -> None:
    kind = 'a "b"\\ \n# x = 1'
    document = Document(id="1", text="one two", mentions=(Mention(((0, 3),), kind),))
    folder = corpus(tmp_path / 'qu"ote\\d', document)
    output = tmp_path / "r.toml"
    assert main(["init", str(folder), "-o", str(output)]) == 0
    assert Path(read_recipe(output).corpus.train).is_file()


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["init", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_without_a_part_dev_every_fifth_document_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brat = tmp_path / "my notes"
    brat.mkdir()
    for number in range(11):
        (brat / f"{number:02}.txt").write_bytes("Aspirin \U0001f600 helps TP53.\r\n".encode())
        (brat / f"{number:02}.ann").write_text(
            "T1\tDrug 0 7\tAspirin\nT2\tGene 16 20\tTP53\n", encoding="utf-8"
        )
    output = tmp_path / "r.toml"
    assert main(["init", str(brat), "-o", str(output)]) == 0
    assert "every fifth document is in r.dev.jsonl" in capsys.readouterr().out
    recipe = read_recipe(output)
    parts = {part: list(read(recipe.corpus.files()[f"corpus.{part}"])) for part in ("train", "dev")}
    assert [one.id for one in parts["dev"]] == ["04", "09"]
    assert sorted((*parts["train"], *parts["dev"]), key=lambda one: one.id) == list(read(brat))
    assert (recipe.name, recipe.corpus.test) == ("my-notes", "")
    assert isinstance(recipe, Recipe)
    assert recipe.training.learning_rate == (2e-4 if recipe.model.encoder == INSTALLED else 3e-5)
    assert "r.train.jsonl" in refusal(
        capsys, tmp_path / "r.train.jsonl", "-o", output, "--overwrite"
    )
    output.unlink()
    assert "r.train.jsonl exists" in refusal(capsys, brat, "-o", output)
    assert not output.exists()


def test_what_cannot_be_trained_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = corpus(tmp_path / "c", flat("a b", (0, 1)), parts=("train",))
    output = tmp_path / "r.toml"
    assert "no part dev" in refusal(capsys, folder, "-o", output)
    assert "no part dev" in refusal(capsys, folder / "train.jsonl", "-o", output)
    brat = folder / "brat"
    brat.mkdir()
    (brat / "a.txt").write_text("Aspirin helps.", encoding="utf-8")
    (brat / "a.ann").write_text("T1\tDrug 0 7\tAspirin\n", encoding="utf-8")
    said = refusal(capsys, brat, "-o", output)
    assert "no part dev" in said
    assert "--dev" in said
    assert "there is no dev part" in refusal(
        capsys, folder / "train.jsonl", "--dev", tmp_path / "x", "-o", output
    )
    two = corpus(tmp_path / "d", flat("a b", (0, 1)), parts=("train", "train-2", "dev"))
    assert "several" in refusal(capsys, two, "-o", output)
    bare = corpus(tmp_path / "e", flat("a b"))
    assert "no mention" in refusal(capsys, bare, "-o", output)
    assert not output.exists()
    output.write_text("mine")
    good = corpus(tmp_path / "f", flat("a b", (0, 1)))
    assert "overwrite" in refusal(capsys, good, "-o", output)
    assert output.read_text() == "mine"
    assert main(["init", str(good), "-o", str(output), "--overwrite"]) == 0


def test_a_folder_of_brat_is_one_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("all", "held"):
        documents = [
            msgspec.structs.replace(flat("one two.", (0, 3)), id=f"train-{at}") for at in range(2)
        ]
        write(tmp_path / folder, documents, format="brat")
    output = tmp_path / "r.toml"
    assert main(["init", str(tmp_path / "all"), "-o", str(output)]) == 2
    assert "--dev PATH" in capsys.readouterr().err
    assert (
        main(["init", str(tmp_path / "all"), "--dev", str(tmp_path / "held"), "-o", str(output)])
        == 0
    )
    assert (made(output)["corpus"]["train"], made(output)["corpus"]["dev"]) == ("all", "held")


def test_texts_of_train_in_other_parts_are_said(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", flat("a b", (0, 1)), parts=("train", "dev", "test"))
    output = tmp_path / "recipe.toml"
    assert main(["init", str(folder), "-o", str(output)]) == 0
    text = output.read_text(encoding="utf-8")
    assert "# 1 of 1 texts of dev are in train too, so scores on dev are too high." in text
    assert "# 1 of 1 texts of test are in train too" in text


def test_files_of_several_encodings_are_read_as_init_read_them(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", flat("naïve cells of a mouse", (0, 5)))
    text = (folder / "dev.jsonl").read_text(encoding="utf-8")
    (folder / "dev.jsonl").write_text(text, encoding="utf-16")
    output = tmp_path / "recipe.toml"
    assert main(["init", str(folder), "-o", str(output)]) == 0
    assert made(output)["corpus"]["encoding"] == "auto"
    recipe = read_recipe(output)
    assert isinstance(recipe, Recipe)
    assert [document.text[:5] for document in read_parts(recipe.corpus).dev] == ["naïve"]


def test_a_folder_with_files_of_two_encodings_is_read_as_init_read_it(tmp_path: Path) -> None:
    for part in ("train", "dev"):
        (tmp_path / "c" / part).mkdir(parents=True)
        for name, encoding in (("a", "utf-8"), ("b", "utf-16")):
            place = tmp_path / "c" / part / f"{name}.txt"
            place.write_text("naïve cells of a mouse", encoding=encoding)
            place.with_suffix(".ann").write_text("T1\tX 0 5\tnaïve\n", encoding=encoding)
    output = tmp_path / "recipe.toml"
    assert main(["init", str(tmp_path / "c"), "-o", str(output)]) == 0
    assert made(output)["corpus"]["encoding"] == "auto"
