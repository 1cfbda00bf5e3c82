"""Recipes for free corpora: each trains on a stand-in in the layout in which its corpus is published,
under the names of its files.

The stand-ins are written by hand, after the descriptions of the corpora: columns and tags, keys of
JSON, kinds of offsets. Corpora with a licence are in ``test_paper_parts``.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from fascicle.formats import read
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.typer import TyperRecipe
from studies.combining.genia_resplit import FILES, resplit
from studies.common import write_parts
from studies.tests.test_paper_parts import CORPORA, FOLDER, short

COUNT = 8  # sentences of a part
BORROWED = ("ace", "cadec")  # beside those of `CORPORA`
MADE = ("anercorp", "harem", "litbank", "msra")  # files that a study makes of the published ones
RECOGNISERS = sorted(
    path
    for path in FOLDER.glob("*.toml")
    if not path.stem.startswith(("typing", "tinybern2"))
    and not any(f"-{name}" in path.stem for name in (*CORPORA, *BORROWED))
)
TYPERS = sorted(
    path for path in FOLDER.glob("typing-*.toml") if not path.stem.endswith((*MADE, *BORROWED))
)


def put(path: Path, text: str) -> None:
    """Writes a file, compressed if its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def columns(kinds: Sequence[str], *, sep: str = "\t", middle: str = "", blank: str = "") -> str:
    """Sentences of two columns (or more, with ``middle``) in IOB2: a mention of two words of each
    type.
    """
    lines = ["the O"]
    for kind in kinds:
        lines += [f"lung B-{kind}", f"cancer I-{kind}", "and O"]
    sentence = "\n".join(
        sep.join([*line.split(" ", 1)[:1], *middle.split(), line.split(" ")[1]]) for line in lines
    )
    return f"{sentence}\n{blank}\n" * COUNT


def tagged(folder: Path, names: Sequence[str], kinds: Sequence[str], blank: str = "") -> None:
    for name in names:
        put(folder / name, columns(kinds, blank=blank))


def conll04(folder: Path) -> None:
    """A JSON list; tags of BILOU, which joins the type with a hyphen."""
    kinds = ("Peop", "Loc", "Org", "Other")
    tokens = ["the"] + [word for _ in kinds for word in ("lung", "cancer", "and")]
    tags = ["O"] + [tag for kind in kinds for tag in (f"B-{kind}", f"L-{kind}", "O")]
    one = {"tokens": tokens, "tags": tags, "relations": [{"head": 0, "tail": 1, "type": "Kill"}]}
    for part in ("train", "dev", "test"):
        rows = [{**one, "orig_id": at} for at in range(COUNT)]
        put(folder / f"conll04_{part}.json", json.dumps(rows))


def scierc(folder: Path) -> None:
    """A line of JSON a document: tokens of each sentence, and mentions by first and last token of
    the document.
    """
    kinds = ("Task", "Method", "Metric", "Material", "OtherScientificTerm", "Generic")
    words = [word for _ in kinds for word in ("the", "lung", "cancer")]
    for part in ("train", "dev", "test"):
        documents = [
            {
                "clusters": [],
                "sentences": [words, words],
                "ner": [
                    [[at + 3 * n + 1, at + 3 * n + 2, kind] for n, kind in enumerate(kinds)]
                    for at in (0, len(words))
                ],
                "relations": [[], []],
                "doc_key": f"ICCV_{number}_abs",
            }
            for number in range(COUNT)
        ]
        put(folder / f"{part}.json", "".join(f"{json.dumps(one)}\n" for one in documents))


def genia(folder: Path) -> None:
    """A line of JSON a sentence: tokens, and mentions by first token and the one after the last; one
    lies in another.
    """
    kinds = ("protein", "DNA", "RNA", "cell_line", "cell_type")
    tokens = [word for _ in kinds for word in ("the", "lung", "cancer")]
    entities = [
        {"start": 3 * n + 1, "end": 3 * n + 3, "type": kind} for n, kind in enumerate(kinds)
    ]
    inner = {"start": 1, "end": 2, "type": "DNA"}
    row = json.dumps({"tokens": tokens, "entities": [*entities, inner]})
    for name in FILES:
        put(folder / name, f"{row}\n" * COUNT)


def bc5cdr(folder: Path) -> None:
    """PubTator: title and abstract, mentions with offsets over both, relations of two concepts."""
    title, text = "Aspirin and pain.", "The patient took aspirin for pain in the heart."
    start = len(title) + 1
    for part in ("Training", "Development", "Test"):
        blocks = [
            f"{at}|t|{title}\n{at}|a|{text}\n"
            f"{at}\t0\t7\tAspirin\tChemical\tD001241\n{at}\t12\t16\tpain\tDisease\tD010146\n"
            f"{at}\t{start + 17}\t{start + 24}\taspirin\tChemical\tD001241\n"
            f"{at}\t{start + 29}\t{start + 33}\tpain\tDisease\tD010146\n"
            f"{at}\tCID\tD001241\tD010146\n\n"
            for at in range(100, 100 + COUNT)
        ]
        put(folder / f"pubtator/CDR_{part}Set.PubTator.txt", "".join(blocks))
    for name, kinds in (
        ("iob", ("Chemical", "Disease")),
        ("iob-chem", ("Chemical",)),
        ("iob-disease", ("Disease",)),
    ):
        tagged(folder / name, ("train.tsv", "devel.tsv", "test.tsv"), kinds)


def nerel(folder: Path) -> None:
    """A zip of brat folders, with annotations of concepts beside the mentions."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "nerel-v1.1.zip", "w") as archive:
        for part in ("train", "dev", "test"):
            for at in range(COUNT):
                archive.writestr(f"{part}/{at}_text.txt", "aspirin and pain\n")
                archive.writestr(
                    f"{part}/{at}_text.ann",
                    "T1\tPERSON 0 7\taspirin\nT2\tCITY 12 16\tpain\nN1\tReference T1 Wikidata:Q76\t"
                    "aspirin\nR1\tLIVES_IN Arg1:T1 Arg2:T2\n",
                )


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the corpora."""
    place = tmp_path_factory.mktemp("free")
    names = ("train.tsv", "devel.tsv", "test.tsv")
    molecules = ("protein", "DNA", "RNA", "cell_line", "cell_type")
    tagged(place / "ncbi-disease" / "iob", names, ("Disease",))
    tagged(place / "bc2gm" / "iob", ("train.tsv.gz", *names[1:]), ("GENE",))
    tagged(place / "jnlpba" / "iob2", ("train.iob2.gz", "devel.iob2", "test.iob2"), molecules)
    tweets = ("person", "location", "corporation", "group", "product", "creative-work")
    tagged(place / "wnut17", ("wnut17train.conll",), tweets, blank="\t")
    tagged(place / "wnut17", ("emerging.dev.conll", "emerging.test.annotated"), tweets)
    ten = ("geo-loc", "other", "person", "facility", "company", "product", "musicartist", "movie")
    tagged(
        place / "wnut16", ("train.conll", "dev.conll", "test.conll"), (*ten, "sportsteam", "tvshow")
    )
    news = columns(("PER", "ORG", "LOC", "MISC"), sep=" ", middle="NN I-NP")
    for name in ("conllpp_train.txt.gz", "conllpp_dev.txt", "conllpp_test.txt"):
        put(place / "conllpp" / name, f"-DOCSTART- -X- -X- O\n\n{news}" * 2)
    for name in ("germ.train.iob2.gz", "germ.dev.iob2", "germ.test.iob2"):
        layered = "lung\tB-ORG\tB-LOC\ncancer\tI-ORG\tO\nand\tO\tO\npain\tB-PERderiv\tO\n\n"
        put(place / "germeval14-de" / name, layered * COUNT)
    conll04(place / "conll04")
    scierc(place / "scierc" / "json")
    genia(place / "genia")
    bc5cdr(place / "bc5cdr")
    nerel(place / "nerel-ru")
    put(place / "dict-autoner-bc5cdr" / "dict_core.txt", "Chemical\taspirin\nDisease\tpain\n")
    sentences = [one for name in FILES for one in read(place / "genia" / name)]
    write_parts(place / "genia-resplit", resplit(sentences))
    return place


@pytest.fixture(autouse=True)
def data(free: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", str(free))
    monkeypatch.setenv("FASCICLE_GENIA", str(free / "genia-resplit"))
    monkeypatch.setenv("FASCICLE_TYPING", str(free))


@pytest.mark.parametrize("path", RECOGNISERS, ids=lambda path: path.stem)
def test_a_recipe_trains_on_a_stand_in_in_the_published_layout(
    path: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    from fascicle.training.run import run_recipe

    recipe = read_recipe(path)
    assert isinstance(recipe, Recipe)
    *_, last = run_recipe(short(recipe, tiny_encoder), tmp_path / "run")
    assert last.answer.epoch == 1
    facts = json.loads((tmp_path / "run" / "run.json").read_text())["data"]
    assert all(facts[part]["mentions"] >= COUNT for part in ("dev", "test"))


@pytest.mark.parametrize("path", TYPERS, ids=lambda path: path.stem)
def test_a_recipe_of_the_typer_trains_on_a_stand_in_in_the_published_layout(
    path: Path, tmp_path: Path
) -> None:
    from fascicle.training.run import run_recipe

    recipe, replace = read_recipe(path), msgspec.structs.replace
    assert isinstance(recipe, TyperRecipe)
    numbers = " ".join(["0.5"] * 299)
    put(
        tmp_path / "toy.vec",
        "".join(f"{word} {at} {numbers}\n" for at, word in enumerate(("lung", "<unk>"))),
    )
    toy = replace(
        recipe,
        vectors=replace(recipe.vectors, path=str(tmp_path / "toy.vec")),
        typer=replace(recipe.typer, updates=1),
    )
    *_, last = run_recipe(toy, tmp_path / "run")
    assert last.parts["test"].typing.mentions >= 2 * COUNT


def test_every_recipe_of_a_paper_has_a_stand_in_or_files_that_a_study_makes() -> None:
    elsewhere = [p for p in FOLDER.glob("*.toml") if p not in {*RECOGNISERS, *TYPERS}]
    assert {path.stem for path in elsewhere if path.stem.startswith("typing")} == {
        *(f"typing-{name}" for name in MADE),
        "typing-cadec",
    }
    assert all(
        path.stem.startswith(("typing", "tinybern2"))
        or any(f"-{name}" in path.stem for name in CORPORA)
        for path in elsewhere
    )
