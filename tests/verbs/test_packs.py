"""Term packs in the place of models: annotating, scoring, labelling, ensembles."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core.document import LINKED, Document
from fascicle.core.mention import Mention
from fascicle.errors import ModelError, PackError, UsageError
from fascicle.formats.sources import source_sha256
from fascicle.formats.weak_labels import read_header
from fascicle.loading import load
from fascicle.settings.folders.vocabularies import PACK, is_pack, shipped_packs
from fascicle.settings.inputs import RecognitionSettings
from fascicle.settings.recipes.any import parse_recipe
from fascicle.training.labelling import weak_labels
from fascicle.training.recogniser.prepare import read_inputs
from fascicle.verbs.ensemble import ensemble
from fascicle.verbs.tasks.index_build import build_pack

Cli = Callable[..., Any]
Refused = Callable[..., str]

DISEASES = (
    "id\tname\nMESH:D008175\tlarynx cancer\nMESH:D001943\tbreast cancer\nMESH:D009369\tcancer\n"
    "MESH:D010146\tneuralgia\nMESH:D009477\tHSAN\nMESH:D009478\tHSAN\n"
)
PLACES = (
    "id\tname\ttype\nUBERON:0001737\tlarynx\tAnatomy\nCHEBI:15365\taspirin\tChemical\n"
    "CHEBI:1\tlarynx cancer\tChemical\n"
)
TEXT = "Aspirin for larynx cancers, HSAN and neuralgia."


def build(place: Path, name: str, table: str, **columns: str) -> Path:
    place.mkdir()
    (place / "names.tsv").write_text(table, encoding="utf-8")
    told = ", ".join(f'{key} = "{key}"' for key in ("id", "name", *columns))
    kind = "" if columns else 'type = "Disease"\n'
    kinds = 'types = { Anatomy = "Anatomy", Chemical = "Chemical" }\n' if columns else ""
    (place / "sources.toml").write_text(
        f'name = "{name}"\n[sources.own]\npath = "names.tsv"\nreader = "table"\n{kind}columns = '
        f"{{ {told} }}\n{kinds}",
        encoding="utf-8",
    )
    build_pack(place / "sources.toml", place / "pack")
    return place / "pack"


@pytest.fixture(scope="module")
def diseases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("packs") / "diseases", "diseases@1", DISEASES)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("packs") / "others", "others@2", PLACES, type="type")


def found(document: Document) -> list[tuple[str, str, str]]:
    return [
        (mention.text_in(document.text), mention.type, mention.source)
        for mention in document.mentions
    ]


def annotated(cli: Cli, *options: object) -> list[dict[str, Any]]:
    done = cli("annotate", "--text", TEXT, "--json", *options)
    assert done.code == 0, done.err
    mentions: list[dict[str, Any]] = json.loads(done.out)["mentions"]
    return mentions


def surfaces(mentions: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(TEXT[one["spans"][0][0] : one["spans"][0][1]], one["type"]) for one in mentions]


def test_a_pack_is_a_predictor(diseases: Path) -> None:
    pack = load(diseases)
    assert (pack.name, pack.types, pack.sources) == ("diseases@1", ("Disease",), ("diseases@1",))
    document = pack(TEXT)
    assert found(document) == [
        (one, "Disease", "diseases@1") for one in ("larynx cancers", "HSAN", "neuralgia")
    ]
    links = [[link.curie for link in mention.links] for mention in document.mentions]
    assert links == [["MESH:D008175"], [], ["MESH:D010146"]]  # two concepts are called HSAN


def test_no_link_is_no_link_of_the_pack_either(diseases: Path, cli: Cli) -> None:
    assert any(one.get("links") for one in annotated(cli, "--model", diseases))
    assert not any(one.get("links") for one in annotated(cli, "--model", diseases, "--no-link"))


def test_several_packs_are_one_predictor(diseases: Path, others: Path) -> None:
    pack = load([diseases, str(others)])
    assert pack.types == ("Anatomy", "Chemical", "Disease")
    first = pack(TEXT)
    assert found(first) == [
        ("Aspirin", "Chemical", "others@2"),
        ("larynx cancers", "Chemical", "others@2"),
        ("larynx cancers", "Disease", "diseases@1"),
        ("HSAN", "Disease", "diseases@1"),
        ("neuralgia", "Disease", "diseases@1"),
    ]
    again = pack(first)  # earlier mentions of both give way
    assert again.mentions == first.mentions
    assert [event.code for event in again.events if event.code != LINKED] == [
        "replaced",
        "replaced",
    ]
    assert again.origins == first.origins
    with pytest.raises(UsageError, match="others@2"):
        load([others, others])


def test_settings(diseases: Path, others: Path) -> None:
    nested = load(others, recognition=RecognitionSettings(overlaps="nested"))
    assert ("larynx", "Anatomy", "others@2") in found(nested(TEXT))
    only = load([others], recognition=RecognitionSettings(types=("Anatomy",)))
    assert found(only(TEXT)) == [("larynx", "Anatomy", "others@2")]
    with pytest.raises(UsageError, match="Anatomy"):
        load(others, recognition=RecognitionSettings(types=("Anatomi",)))
    with pytest.raises(UsageError, match="not a term pack"):
        load("biomed", recognition=RecognitionSettings())
    for wrong in ({"types": "types.toml"}, {"device": "cuda"}):
        with pytest.raises(UsageError, match="term pack"):
            load(diseases, **wrong)  # type: ignore[arg-type]


def test_several_models_that_are_no_packs_are_refused(diseases: Path) -> None:
    with pytest.raises(UsageError, match="biomed is not a term pack"):
        load([diseases, "biomed"])
    with pytest.raises(UsageError):
        load([])
    assert load(["biomed"]).name == "biomed@3"


def test_annotate_with_packs(cli: Cli, diseases: Path, others: Path) -> None:
    (_, first, *rest) = annotated(cli, "--model", diseases, "--model", others)
    assert {first["source"]} | {one["source"] for one in rest} == {"diseases@1", "others@2"}
    assert surfaces(annotated(cli, "--model", others)) == [
        ("Aspirin", "Chemical"),
        ("larynx cancers", "Chemical"),
    ]
    assert surfaces(annotated(cli, "--model", others, "--only", "Anatomy")) == [
        ("larynx", "Anatomy")
    ]
    assert ("larynx", "Anatomy") in surfaces(annotated(cli, "--model", others, "--nested"))
    likely = annotated(cli, "--model", diseases, "--min-score", "0.9")
    assert all(one["score"] >= 0.9 for one in likely)
    assert likely
    assert len(annotated(cli, "--model", diseases, "--min-score", "0")) >= len(likely)


def test_a_format_of_one_source_has_those_of_all_packs(
    cli: Cli, diseases: Path, others: Path, tmp_path: Path
) -> None:
    gold = Document(id="d", text=TEXT, mentions=(Mention(((0, 7),), "Chemical"),))
    fascicle.write(tmp_path / "in.jsonl", [gold])
    models = ("--model", diseases, "--model", others)
    for name in ("out.tsv", "out.jsonl"):
        assert cli("annotate", tmp_path / "in.jsonl", *models, "-o", tmp_path / name).code == 0
    rows = (tmp_path / "out.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == 5
    (whole,) = fascicle.read(tmp_path / "out.jsonl")
    assert len(whole.mentions) == 6
    fascicle.annotate(tmp_path / "in.jsonl", tmp_path / "again.jsonl", model=[diseases, others])
    assert list(fascicle.read(tmp_path / "again.jsonl")) == [whole]


def test_what_is_for_packs_alone_and_what_is_not(
    cli: Cli, refused: Refused, diseases: Path, tmp_path: Path
) -> None:
    assert "--nested" in refused("annotate", "--text", "a", "--nested")
    assert "biomed" in refused("annotate", "--text", "a", "--model", "biomed", "--model", diseases)
    assert "term pack" in refused(
        "annotate", "--text", "a", "--model", diseases, "--types", "types.toml"
    )
    assert "Disease" in refused(
        "annotate", "--text", "a", "--model", diseases, "--only", "Diseases"
    )
    gold = tmp_path / "gold.jsonl"
    fascicle.write(gold, [Document(id="d", text="pain", mentions=(Mention(((0, 4),), "Disease"),))])
    asked = ("--model", diseases, "--distributions", tmp_path / "d.jsonl")
    assert "term pack" in refused("evaluate", gold, *asked)
    assert "term pack" in refused("calibrate", diseases, gold, "-o", tmp_path / "calibrated")
    assert "term pack" in refused("export", diseases, "-o", tmp_path / "exported")


def test_evaluate_a_pack(cli: Cli, diseases: Path, tmp_path: Path) -> None:
    mentions = (Mention(((12, 26),), "Disease"), Mention(((28, 32),), "Disease"))
    fascicle.write(tmp_path / "gold.jsonl", [Document(id="d", text=TEXT, mentions=mentions)])
    done = cli("evaluate", tmp_path / "gold.jsonl", "--model", diseases, "--json")
    assert done.code == 0, done.err
    (scores,) = (
        json.loads(done.out).values()
        if "micro" not in json.loads(done.out)
        else (json.loads(done.out),)
    )
    assert (scores["micro"]["precision"], scores["micro"]["recall"]) == (pytest.approx(2 / 3), 1.0)


def test_label_by_a_pack(cli: Cli, diseases: Path, tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text(TEXT, encoding="utf-8")
    assert cli("label", diseases, tmp_path / "raw.txt", "-o", tmp_path / "x.labels").code == 0
    header = read_header(str(tmp_path / "x.labels"))
    assert (header.model, header.types, header.meaning) == ("diseases@1", ("Disease",), "none")


def test_an_ensemble_of_a_pack_and_a_model(diseases: Path, model: Path, tmp_path: Path) -> None:
    saved = ensemble([model, diseases], tmp_path / "both", "union")
    both = load(saved.folder)
    text = "Aspirin caused pain and breast cancer"
    alone = {(m.type, m.spans) for one in (load(model), load(diseases)) for m in one(text)}
    assert {(m.type, m.spans) for m in both(text)} == alone
    assert any(text[a:b] == "breast cancer" for _, ((a, b),) in alone)
    (saved.folder / "members" / "02" / PACK).write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="members"):
        load(saved.folder)


def test_which_folder_is_a_pack(diseases: Path, tmp_path: Path) -> None:
    assert is_pack(diseases)
    assert source_sha256(str(diseases)) != source_sha256(str(diseases.parent / "names.tsv"))
    (tmp_path / "a.txt").write_text("pain", encoding="utf-8")
    before = source_sha256(str(tmp_path))
    (tmp_path / PACK).write_text("{}", encoding="utf-8")
    assert not is_pack(tmp_path)  # any folder may hold such a file
    assert source_sha256(str(tmp_path)) == before
    with pytest.raises(ModelError, match="model folder"):
        load(tmp_path)
    (tmp_path / "tokens.table").touch()
    with pytest.raises(PackError):
        load(tmp_path)


@pytest.mark.parametrize("content", [b"", b'{"types": [', b"[]", b'{"types": 1}', b"\xff\xfe"])
def test_a_damaged_manifest_is_refused(refused: Refused, tmp_path: Path, content: bytes) -> None:
    pack = build(tmp_path / "a", "diseases", DISEASES)
    (pack / PACK).write_bytes(content)
    own = tmp_path / "own.tsv"
    own.write_text("Drug\taspirin\n", encoding="utf-8")
    for more in ((), ("--also", own)):
        assert "is not the manifest of a term pack" in refused(
            "annotate", "--text", "x", "--model", pack, *more
        )


@pytest.mark.skipif(not shipped_packs(), reason="no pack ships with the package")
def test_a_pack_of_an_earlier_release_is_named_wherever_a_pack_is(
    refused: Refused, tmp_path: Path
) -> None:
    place = tmp_path / "in.txt"
    place.write_text("fever", encoding="utf-8")
    said = (
        f"this release ships {shipped_packs()[-1]} in place of basic@1: give basic, or a copy "
        "of the earlier folder"
    )
    assert said in refused("annotate", place, "--model", "basic@1")
    assert said in refused("annotate", place, "--model", "basic", "--link", "basic@1")
    assert said in refused("link", place, "--linker", "basic@1")
    assert said in refused("label", "basic@1", place, "-o", tmp_path / "x.labels")
    values = {"name": "a", "corpus": {"train": "x", "dev": "y"}, "model": {"encoder": "tiny"}}
    for reads, table in (
        (read_inputs, {"inputs": {"dictionaries": ["basic@1"]}}),
        (weak_labels, {"distant": {"core": "basic@1"}}),
    ):
        with pytest.raises(PackError, match=said):
            reads(parse_recipe({**values, **table}, origin="test"))
