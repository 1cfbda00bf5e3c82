"""Recipes for corpora with a licence: each trains on a stand-in in the exact layout of the
corpus.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.formats.test_ace import apf
from tests.formats.test_ace import place as write_ace

from fascicle.cli import main as fascicle
from fascicle.formats import read
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.corpora import PartSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.typer import TyperRecipe
from studies.papers import parts

FOLDER = Path(__file__).resolve().parents[2] / "recipes" / "papers"
COUNT = 12
OTHERS = {"FAC": "hospital", "LOC": "river", "ORG": "company", "VEH": "lorry", "WEA": "rifle"}
WORDS = "the patient took aspirin for pain in the heart"


def _ace(place: Path) -> Path:
    """``bn/timex2norm`` and the folders of earlier passes, as ACE 2005 has them."""
    words = "The patient took aspirin in Paris\nfor Smith . hospital river company lorry rifle\n"
    text = f"\n\n{words}\n\n"
    mentions = (
        ("PER", "Individual", "NOM", "E1", "The patient took aspirin in Paris"),
        ("GPE", "Population-Center", "NAM", "E2", "Paris"),
        ("PER", "Individual", "NAM", "E3", "Smith"),
        *((kind, "", "NOM", kind, word) for kind, word in OTHERS.items()),
    )
    sgm = f"<DOC>\n<TEXT>\n{words}</TEXT>\n</DOC>\n"
    for at in range(COUNT):
        for folder in ("adj", "timex2norm"):
            write_ace(
                place / "bn" / folder,
                name=f"CNN_{at:02}",
                sgm=sgm,
                xml=apf(text, mentions, name=f"CNN_{at:02}"),
            )
    return place


def _ontonotes(place: Path) -> Path:
    folder = place / "bn" / "abc" / "00"
    folder.mkdir(parents=True)
    for at in range(COUNT):
        (folder / f"abc_{at:04}.name").write_text(
            f'<DOC DOCNO="bn/abc/00/abc_{at:04}@{at:04}@abc@bn@en@on">\n'
            'the <ENAMEX TYPE="PERSON">patient</ENAMEX> took <ENAMEX TYPE="ORG">aspirin</ENAMEX> '
            ".\n</DOC>\n"
        )
    return place


def _cadec(place: Path) -> Path:
    for folder in ("text", "original"):
        (place / folder).mkdir(parents=True)
    for at in range(COUNT):
        (place / "text" / f"LIPITOR.{at}.txt").write_text("aspirin gave me pain and fever .\n")
        (place / "original" / f"LIPITOR.{at}.ann").write_text(
            "T1\tDrug 0 7\taspirin\nT2\tADR 16 20;25 30\tpain fever\n#1\tAnnotatorNotes T2\tx\n"
        )
    return place


def _lists(place: Path, ids: list[str]) -> Path:
    place.mkdir()
    for part, chosen in {"train": ids[:6], "dev": ids[6:9], "test": ids[9:]}.items():
        (place / f"{part}.txt").write_text("".join(f"{one}\n" for one in chosen))
    return place


@pytest.fixture(scope="module")
def licensed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the script of the parts writes from the stand-ins."""
    place = tmp_path_factory.mktemp("licensed")
    ace, ontonotes, cadec = (
        _ace(place / "ace"),
        _ontonotes(place / "ontonotes"),
        _cadec(place / "cadec-source"),
    )
    of_ace = _lists(place / "ace-lists", [f"bn/timex2norm/CNN_{at:02}" for at in range(COUNT)])
    of_names = _lists(place / "names-lists", [f"bn/abc/00/abc_{at:04}" for at in range(COUNT)])
    out = place / "out"
    for command in (
        ["ontonotes5", ontonotes, out, "--lists", of_names],
        ["ace2005", ace, out, "--lists", of_ace],
        ["ace2005", ace, out, "--lists", of_ace, "--flat"],
        ["ace2004", ace, out],
        ["ace2004", ace, out, "--flat"],
        ["cadec", cadec, out],
    ):
        assert parts.main(list(map(str, command))) == 0
    return out


def test_official_parts_are_those_of_the_lists(licensed: Path) -> None:
    for corpus, first in (
        ("ontonotes5", "bn/abc/00/abc_0000@0000@abc@bn@en@on"),
        ("ace2005", "CNN_00"),
    ):
        found = {
            part: [one.id for one in read(licensed / corpus / f"{part}.jsonl")]
            for part in parts.PARTS
        }
        assert {part: len(ids) for part, ids in found.items()} == {"train": 6, "dev": 3, "test": 3}
        assert found["train"][0] == first


def test_each_document_is_tested_in_one_fold_and_taught_in_no_part_of_it(licensed: Path) -> None:
    tested: list[str] = []
    for fold in range(1, 6):
        found = {
            part: [one.id for one in read(licensed / "ace2004" / f"fold-{fold}" / f"{part}.jsonl")]
            for part in parts.PARTS
        }
        assert (
            len({one for ids in found.values() for one in ids})
            == COUNT
            == sum(map(len, found.values()))
        )
        tested += found["test"]
    assert sorted(tested) == [f"CNN_{at:02}" for at in range(COUNT)]


def test_flat_parts_have_no_mention_that_overlaps_another(licensed: Path) -> None:
    nested, flat = (next(read(licensed / f"ace2005{end}" / "train.jsonl")) for end in ("", "-flat"))
    assert {m.text_in(flat.text) for m in flat.mentions} == {"Smith", *OTHERS.values()}
    overlapping = {"Paris", "The patient took aspirin in Paris"}
    assert {m.text_in(nested.text) for m in nested.mentions} == {
        "Smith",
        *OTHERS.values(),
        *overlapping,
    }


def test_what_is_missing_is_said_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ace = _ace(tmp_path / "ace")
    lists = _lists(tmp_path / "lists", ["CNN_99"])
    (tmp_path / "empty").mkdir()
    for command, said in (
        (["ace2005", ace, tmp_path], "name the folder of their lists with --lists"),
        (["ace2005", ace, tmp_path, "--lists", tmp_path / "none"], "there is no list"),
        (
            ["ace2005", ace, tmp_path, "--lists", lists],
            "'CNN_99', which is no document of the source",
        ),
        (["cadec", tmp_path / "empty", tmp_path], "there is no folder"),
        (["ontonotes5", tmp_path / "nowhere", tmp_path], "there is no file"),
    ):
        assert parts.main(list(map(str, command))) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def _conll2003(place: Path) -> None:
    """Four columns with IOB1 tags, and -DOCSTART- lines."""
    (place / "conll2003").mkdir(parents=True)
    tags = ["O", "I-PER", "O", "I-ORG", "O", "I-MISC", "O", "O", "I-LOC"]
    rows = "".join(f"{word} NN I-NP {tag}\n" for word, tag in zip(WORDS.split(), tags, strict=True))
    content = f"-DOCSTART- -X- O O\n\n{rows}\n{rows}\n" * 4
    for name in ("eng.train", "eng.testa", "eng.testb"):
        (place / "conll2003" / name).write_text(content)


def _livingner(place: Path) -> None:
    """Texts of each part in ``text-files``, and the table of its mentions one folder above."""
    for part in ("training", "valid", "test"):
        folder = place / "livingner" / part / "text-files"
        folder.mkdir(parents=True)
        rows = ["filename\tmark\tlabel\toff0\toff1\tspan"]
        for at in range(COUNT):
            (folder / f"caso_{at}.txt").write_text(f"{WORDS} .")
            rows += [
                f"caso_{at}\tT1\tHUMAN\t4\t11\tpatient",
                f"caso_{at}\tT2\tSPECIES\t17\t24\taspirin",
            ]
        (place / "livingner" / part / "entities.tsv").write_text("\n".join(rows) + "\n")


def _socialdisner(place: Path) -> None:
    """A zip of the tweets of two parts with one table beside it; a folder of test with its own."""
    import zipfile

    folder = place / "socialdisner-es"
    (folder / "test" / "texts").mkdir(parents=True)
    header, rows = "tweets_id\tbegin\tend\ttype\textraction\n", []
    with zipfile.ZipFile(folder / "tweets-train-valid.zip", "w") as archive:
        for at in range(2 * COUNT):
            part = "training" if at < COUNT else "validation"
            archive.writestr(f"{part}/{at}.txt", f"{WORDS} .")
            rows.append(f"{at}\t29\t33\tENFERMEDAD\tpain\n")
    (folder / "mentions.tsv").write_text(header + "".join(rows))
    for at in range(90, 90 + COUNT):
        (folder / "test" / "texts" / f"{at}.txt").write_text(f"{WORDS} .")
    tested = "".join(f"{at}\t29\t33\tENFERMEDAD\tpain\n" for at in range(90, 90 + COUNT))
    (folder / "test" / "mentions.tsv").write_text(header + tested)


LAYOUTS: dict[str, Callable[[Path], None]] = {
    "conll2003": _conll2003,
    "livingner": _livingner,
    "socialdisner": _socialdisner,
}
CORPORA = ("ontonotes5", "ace2004", "ace2005", *LAYOUTS)
RECIPES = sorted(
    path for path in FOLDER.glob("*.toml") if any(f"-{name}" in path.stem for name in CORPORA)
)


def short(recipe: Recipe, encoder: Path) -> Recipe:
    """The recipe with its own corpus, for one epoch of a small encoder."""
    replace = msgspec.structs.replace
    reading = replace(recipe.reading, max_length=64, overlap=8)
    return replace(
        recipe,
        reading=reading,
        model=replace(recipe.model, encoder=str(encoder)),
        training=replace(recipe.training, epochs=1),
    )


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_trains_on_a_stand_in_in_the_layout_of_its_corpus(
    path: Path, licensed: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fascicle.training.run import run_recipe

    for layout in LAYOUTS.values():
        layout(tmp_path / "data")
    monkeypatch.setenv("FASCICLE_LICENSED", str(licensed))
    monkeypatch.setenv("FASCICLE_DATA", str(tmp_path / "data"))
    recipe = read_recipe(path)
    assert isinstance(recipe, Recipe)
    *_, last = run_recipe(short(recipe, tiny_encoder), tmp_path / "run")
    assert last.answer.epoch == 1
    counts = json.loads((tmp_path / "run" / "scores.json").read_text())["test"]["micro"]
    assert counts["tp"] + counts["fn"] > 0


def test_the_recipe_of_cadec_trains_on_a_stand_in(
    licensed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fascicle.training.run import run_recipe

    monkeypatch.setenv("FASCICLE_LICENSED", str(licensed))
    recipe = read_recipe(FOLDER / "typing-cadec.toml")
    assert isinstance(recipe, TyperRecipe)
    vectors = tmp_path / "toy.vec"
    numbers = " ".join(["0.5"] * 299)
    vectors.write_text(
        "".join(f"{word} {at} {numbers}\n" for at, word in enumerate(("pain", "aspirin", "<unk>")))
    )
    replace = msgspec.structs.replace
    toy = replace(
        recipe,
        vectors=replace(recipe.vectors, path=str(vectors)),
        typer=replace(recipe.typer, updates=1),
    )
    *_, last = run_recipe(toy, tmp_path / "run")
    assert last.parts["test"].typing.mentions == 2 * len(
        list(read(licensed / "cadec" / "test.jsonl"))
    )


def test_the_recipes_of_tinybern2_follow_each_other(
    tiny_encoder: Path, toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A teacher of corpora, a model of its labels of raw text, an encoder of other size, and the
    student on that.
    """
    from fascicle.training.run import run_recipe

    replace = msgspec.structs.replace
    monkeypatch.setenv("FASCICLE_DATA", str(tmp_path))
    monkeypatch.setenv("FASCICLE_TINYBERN2", str(tmp_path))
    texts = tmp_path / "texts.jsonl"
    texts.write_text(
        "".join(json.dumps({"id": str(at), "text": f"{WORDS} ."}) + "\n" for at in range(COUNT))
    )
    of = {
        name: read_recipe(FOLDER / f"tinybern2-{name}.toml")
        for name in ("teacher", "ws", "general", "student")
    }

    corpus = msgspec.to_builtins(
        PartSettings(train=str(toy_corpus), dev=str(toy_corpus), annotates=("Chemical",))
    )
    gold = {
        "chemicals": msgspec.convert({**corpus, "types": {"keep": ["Chemical"]}}, PartSettings),
        "diseases": msgspec.convert(
            {**corpus, "annotates": ["Disease"], "types": {"keep": ["Disease"]}}, PartSettings
        ),
    }
    teacher = replace(short(of["teacher"], tiny_encoder), parts=gold)
    assert list(run_recipe(teacher, tmp_path / "teacher"))
    assert (
        fascicle(
            ["label", str(tmp_path / "teacher"), str(texts), "-o", str(tmp_path / "teacher.labels")]
        )
        == 0
    )

    def weak(name: str, encoder: Path) -> Path:
        (part,) = of[name].parts.values()
        taught = replace(part, dev=str(toy_corpus), annotates=("Chemical", "Disease"))
        assert list(
            run_recipe(replace(short(of[name], encoder), parts={"texts": taught}), tmp_path / name)
        )
        return tmp_path / name

    ws = weak("ws", tiny_encoder)
    assert fascicle(["label", str(ws), str(texts), "-o", str(tmp_path / "ws.labels")]) == 0
    general = of["general"]
    size = replace(general.student.size, layers=1, hidden=12, heads=2, feed_forward=16)
    small = replace(
        general,
        teacher=replace(general.teacher, encoder=str(tiny_encoder)),
        student=replace(general.student, encoder=str(tiny_encoder), size=size),
        text=replace(general.text, window=32, held_out=0.3),
        training=replace(general.training, epochs=1, batch_size=4, validate_every_steps=0),
    )
    assert list(run_recipe(small, tmp_path / "general"))
    student = weak("student", tmp_path / "general" / "encoder")
    assert (student / "best" / "model.safetensors").is_file()
