"""A bi-encoder from the command line: train, evaluate, export, annotate, and annotate with other
types.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from safetensors.numpy import load_file

import fascicle
from fascicle.errors import UsageError
from fascicle.settings.folders.manifest import read_manifest, write_manifest

Cli = Callable[..., Any]
Refused = Callable[..., str]
TEXT = "the doctor gave aspirin for lung cancer"


def write_recipe(
    path: Path, *, encoder: Path, corpus: Path, types: Any, epochs: int = 40, **model: Any
) -> Path:
    """Only what is given, beside what the toy corpus needs."""
    settings = {
        "family": "binder",
        "types": types and str(types),
        "type_view": "description",
        **model,
    }
    lines = "\n".join(
        f"{key} = {json.dumps(value)}" for key, value in settings.items() if value is not None
    )
    path.write_text(
        f"""name = "toy"
[corpus]
train = "{corpus}"
dev = "{corpus}"
test = "{corpus}"
documents = "sentence"
[reading]
max_length = 32
overlap = 4
[model]
encoder = "{encoder}"
{lines}
[training]
epochs = {epochs}
batch_size = 4
learning_rate = 1e-2
precision = "fp32"
""",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def run(
    tiny_encoder: Path, toy_corpus: Path, toy_types: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A finished run whose recipe names the descriptions by a relative path, which are gone when
    it is over.
    """
    from fascicle.cli import main

    folder = tmp_path_factory.mktemp("binder")
    shutil.copy(toy_types, folder / "mine.toml")
    types = Path("mine.toml")
    recipe = write_recipe(
        folder / "r.toml", encoder=tiny_encoder, corpus=toy_corpus, types=types, type_encoder="own"
    )
    assert main(["train", str(recipe), "-o", str(folder / "run")]) == 0
    (folder / "mine.toml").unlink()
    return folder / "run"


@pytest.fixture(scope="module")
def exported(run: Path) -> dict[str, Path]:
    pytest.importorskip("onnx")
    from fascicle.cli import main

    folders = {"fp32": run.parent / "fp32", "int8": run.parent / "int8"}
    assert main(["export", str(run), "-o", str(folders["fp32"])]) == 0
    assert main(["export", str(run), "-o", str(folders["int8"]), "--int8"]) == 0
    return folders


def found(cli: Cli, *argv: object) -> list[tuple[str, str]]:
    result = cli("annotate", *argv, "--text", TEXT)
    assert result.code == 0, result.err
    document = json.loads(result.out)
    return [(m["type"], TEXT[slice(*m["spans"][0])]) for m in document["mentions"]]


OWN = [("Chemical", "aspirin"), ("Disease", "lung cancer")]


def test_train_evaluate_export_annotate(
    cli: Cli, run: Path, exported: dict[str, Path], toy_corpus: Path
) -> None:
    scores = json.loads((run / "scores.json").read_text(encoding="utf-8"))
    assert scores["test"]["micro"]["f1"] == 1.0
    for model in (run / "best", *exported.values()):
        assert found(cli, "--model", model) == OWN
    told = run.parent / "predictions.jsonl"
    assert (
        cli(
            "annotate",
            "--model",
            exported["int8"],
            toy_corpus,
            "--format",
            "predictions",
            "-o",
            told,
        ).code
        == 0
    )
    assert "100.00" in cli("evaluate", toy_corpus, told).out


def test_an_export_holds_the_text_encoder_only(run: Path, exported: dict[str, Path]) -> None:
    import onnx

    own, plain = (read_manifest(folder) for folder in (run / "best", exported["fp32"]))
    assert own.descriptions == plain.descriptions
    assert own.descriptions["binder"].names == own.types == ("Chemical", "Disease")
    assert own.heads["binder"].types == "mine.toml"  # type: ignore[union-attr]
    graph = onnx.load(str(exported["fp32"] / "model.onnx")).graph
    assert [i.name for i in graph.input] == [
        "input_ids",
        "attention_mask",
        "first_piece",
        "last_piece",
    ]
    assert [o.name for o in graph.output] == ["spans", "span_threshold"]
    tensors = load_file(run / "best" / "model.safetensors")
    parts = ("encoder.", "heads.binder.types.", "heads.binder.scorer.", "heads.binder.vectors")
    size = {
        part: sum(t.size for name, t in tensors.items() if name.startswith(part)) for part in parts
    }
    assert sum(size.values()) == sum(t.size for t in tensors.values())
    assert size["heads.binder.types."] == size["encoder."]
    held = sum(math.prod(tensor.dims) for tensor in graph.initializer)
    assert held < size["encoder."] + size["heads.binder.scorer."] + size["heads.binder.vectors"]


def test_torch_and_onnx_answer_alike(
    run: Path, exported: dict[str, Path], toy_corpus: Path
) -> None:
    documents = list(fascicle.read(toy_corpus))
    theirs = fascicle.load(run / "best").predict(documents)
    for name, tolerance in (("fp32", 1e-4), ("int8", 0.2)):
        for patch, other in zip(
            fascicle.load(exported[name]).predict(documents), theirs, strict=True
        ):
            assert [m.key for m in patch.add] == [m.key for m in other.add]
            assert [m.score for m in patch.add] == pytest.approx(
                [m.score for m in other.add], abs=tolerance
            )
            assert all(m.score is not None and 0.5 <= m.score <= 1 for m in patch.add)


def types_file(path: Path, *types: tuple[str, str], keyword: str = "") -> Path:
    path.write_text(
        "".join(
            f'[[type]]\nname = "{name}"\ndescription = """{text}"""\n{keyword}\n'
            for name, text in types
        ),
        encoding="utf-8",
    )
    return path


CHEMICAL = "A chemical that a doctor gave : aspirin , ibuprofen , caffeine ."
DISEASE = "A disease of a patient : cancer , pain , fever , failure of the heart ."


def test_other_types_with_the_same_weights(cli: Cli, run: Path, tmp_path: Path) -> None:
    """The descriptions of training under new names, in another order, one alone, and one more."""
    model = ("--model", run / "best", "--types")
    renamed = types_file(tmp_path / "a.toml", ("Zdrug", CHEMICAL), ("Aillness", DISEASE))
    assert found(cli, *model, renamed) == [("Zdrug", "aspirin"), ("Aillness", "lung cancer")]
    assert found(cli, *model, types_file(tmp_path / "b.toml", ("X", DISEASE))) == [
        ("X", "lung cancer")
    ]
    third = types_file(
        tmp_path / "c.toml", ("C", CHEMICAL), ("D", DISEASE), ("E", "the heart and the liver")
    )
    more = found(cli, *model, third)
    assert {("C", "aspirin"), ("D", "lung cancer")} & set(more)
    assert {kind for kind, _ in more} <= {"C", "D", "E"}
    assert found(cli, "--model", run / "best") == OWN  # the folder is as it was
    with_python = fascicle.load(run / "best", types=renamed)
    assert with_python.manifest.types == ("Aillness", "Zdrug")


@pytest.fixture(scope="module")
def open_exports(run: Path) -> dict[str, Path]:
    pytest.importorskip("onnx")
    from fascicle.cli import main

    folders = {"fp32": run.parent / "open-fp32", "int8": run.parent / "open-int8"}
    assert main(["export", str(run), "-o", str(folders["fp32"]), "--types-encoder"]) == 0
    assert main(["export", str(run), "-o", str(folders["int8"]), "--types-encoder", "--int8"]) == 0
    return folders


def test_an_export_with_its_encoder_of_types_answers_as_torch_does(
    run: Path, open_exports: dict[str, Path], toy_corpus: Path, tmp_path: Path
) -> None:
    """For its own types, for one, and for more than are read at a time."""
    documents = list(fascicle.read(toy_corpus))
    words = ("aspirin", "cancer", "pain", "fever", "heart", "caffeine")
    many = [(f"T{at:02}", f"{words[at % 6]} of {words[at // 6]}") for at in range(36)]
    files: list[Path | None] = [
        None,
        types_file(tmp_path / "one.toml", ("X", DISEASE)),
        types_file(tmp_path / "many.toml", ("A", CHEMICAL), ("D", DISEASE), *many),
    ]
    for types in files:
        theirs = fascicle.load(run / "best", types=types).predict(documents)
        assert any(patch.add for patch in theirs)
        ours = fascicle.load(open_exports["fp32"], types=types).predict(documents)
        for patch, other in zip(ours, theirs, strict=True):
            assert [m.key for m in patch.add] == [m.key for m in other.add]
            assert [m.score for m in patch.add] == pytest.approx(
                [m.score for m in other.add], abs=1e-4
            )
    for types in files[:2]:
        eight = fascicle.load(open_exports["int8"], types=types).predict(documents)
        theirs = fascicle.load(run / "best", types=types).predict(documents)
        for patch, other in zip(eight, theirs, strict=True):
            assert [m.key for m in patch.add] == [m.key for m in other.add]
            assert [m.score for m in patch.add] == pytest.approx(
                [m.score for m in other.add], abs=0.2
            )


def test_an_export_looks_for_other_types_without_torch(
    open_exports: dict[str, Path], tmp_path: Path
) -> None:
    types = types_file(tmp_path / "t.toml", ("Zdrug", CHEMICAL), ("Aillness", DISEASE))
    blocked = (
        "import sys\nfor name in ('torch', 'transformers', 'safetensors'): "
        "sys.modules[name] = None\n"
    )
    argv = [str(one) for one in annotate(open_exports["fp32"], types)]
    called = f"from fascicle.cli import main\nraise SystemExit(main({argv!r}))"
    result = subprocess.run(
        [sys.executable, "-c", blocked + called], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    found = [
        (m["type"], TEXT[slice(*m["spans"][0])]) for m in json.loads(result.stdout)["mentions"]
    ]
    assert found == [("Zdrug", "aspirin"), ("Aillness", "lung cancer")]


VIEWS = [
    {"type_view": "instances"},
    {"type_view": "name", "types": None},
    {"type_pool": "mean", "inference": "joint"},
]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_types_is_exported(
    view: dict[str, Any],
    cli: Cli,
    tiny_encoder: Path,
    toy_corpus: Path,
    toy_types: Path,
    tmp_path: Path,
) -> None:
    pytest.importorskip("onnx")
    given = {"encoder": tiny_encoder, "corpus": toy_corpus, "types": toy_types, "epochs": 6, **view}
    assert (
        cli("train", write_recipe(tmp_path / "r.toml", **given), "-o", tmp_path / "run").code == 0
    )
    assert cli("export", tmp_path / "run", "-o", tmp_path / "open", "--types-encoder").code == 0
    documents = list(fascicle.read(toy_corpus))
    theirs = fascicle.load(tmp_path / "run").predict(documents)
    for patch, other in zip(
        fascicle.load(tmp_path / "open").predict(documents), theirs, strict=True
    ):
        assert [m.key for m in patch.add] == [m.key for m in other.add]
        assert [m.score for m in patch.add] == pytest.approx([m.score for m in other.add], abs=1e-4)


def test_what_cannot_be_exported_with_an_encoder_of_types(
    refused: Refused, run: Path, model: Path, open_exports: dict[str, Path], tmp_path: Path
) -> None:
    fixed = variant(run, tmp_path / "a", thresholds="dev-by-type")
    for folder, said in (
        (fixed, 'trained with thresholds = "dev-by-type"'),
        (model, "learns its types as labels"),
    ):
        assert said in refused("export", folder, "-o", tmp_path / "out", "--types-encoder")
        assert not (tmp_path / "out").exists()
    cut = tmp_path / "cut"
    shutil.copytree(open_exports["fp32"], cut)
    (cut / "types.onnx").unlink()
    assert "lacks types.onnx" in refused("annotate", "--model", cut, "--text", TEXT)


def test_other_types_need_a_model_that_reads_them(
    refused: Refused, run: Path, exported: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    types = types_file(tmp_path / "t.toml", ("X", "a drug"))
    said = "cannot look for other types: "
    for folder, reason in (
        (
            model,
            "its family is 'softmax', which learns its types as labels; only 'binder' reads "
            "about them",
        ),
        ("biomed", "its family is "),
        (
            exported["fp32"],
            "it was exported without what reads about types; export it again with ",
        ),
        (
            variant(run, tmp_path / "a", thresholds="global"),
            'it was trained with thresholds = "global"',
        ),
        (
            variant(run, tmp_path / "c", thresholds="dev"),
            'it was trained with thresholds = "dev", fitted for its own types; train with '
            '"dynamic"',
        ),
        (
            variant(run, tmp_path / "e", thresholds="dev-by-type"),
            'it was trained with thresholds = "dev-by-type", fitted for its own types; train '
            'with "dynamic"',
        ),
        (
            shifted(run, tmp_path / "d", 0.25),
            'its thresholds were shifted on dev for its own types; train with decision.tune = "no"',
        ),
        (
            variant(run, tmp_path / "b", types="", type_view="atomic", type_encoder="shared"),
            'it was trained with type_view = "atomic" and reads nothing about types; train with '
            "another view",
        ),
    ):
        assert said + reason in refused(*annotate(folder, types))


def annotate(folder: object, types: Path) -> tuple[object, ...]:
    return ("annotate", "--model", folder, "--types", types, "--text", TEXT)


def variant(run: Path, folder: Path, **head: Any) -> Path:
    """The same folder under other settings, which its tensors need not fit: it is refused before
    they are read.
    """
    import msgspec

    shutil.copytree(run / "best", folder)
    manifest = read_manifest(folder)
    changed = msgspec.structs.replace(manifest.heads["binder"], **head)
    described = manifest.descriptions if changed.types else {}  # type: ignore[union-attr]
    write_manifest(
        folder, msgspec.structs.replace(manifest, heads={"binder": changed}, descriptions=described)
    )
    return folder


def shifted(run: Path, folder: Path, nothing: float) -> Path:
    """The same folder as ``decision.tune`` leaves it."""
    import msgspec

    shutil.copytree(run / "best", folder)
    manifest = read_manifest(folder)
    decision = msgspec.structs.replace(manifest.decision, nothing=nothing)
    write_manifest(folder, msgspec.structs.replace(manifest, decision=decision))
    return folder


WRONG_TYPES = {
    "no description": ('[[type]]\nname = "X"\n', "the type 'X' has no description"),
    "an empty one": (
        '[[type]]\nname = "X"\ndescription = " "\n',
        "the type 'X' has no description",
    ),
    "twins": (
        '[[type]]\nname = "X"\ndescription = "a drug"\n[[type]]\nname = "Y"\ndescription = "A  '
        'drug"\n',
        "the types 'X' and 'Y' have the same description",
    ),
    "twins to the encoder": (
        '[[type]]\nname = "X"\ndescription = "a qqq"\n[[type]]\nname = "Y"\ndescription = "a '
        'xxx"\n',
        "the description of 'X' and the description of 'Y' are the same pieces to ",
    ),
    "nothing known to the encoder": (
        '[[type]]\nname = "X"\ndescription = "qqq xxx"\n[[type]]\nname = "Y"\ndescription = "a '
        'drug"\n',
        "the description of 'X' has no word that ",
    ),
    "2,000 words": (
        f'[[type]]\nname = "X"\ndescription = "{"drug " * 2000}"\n',
        "the description of 'X' has 2000 words, at most 100 are allowed",
    ),
    "more than the encoder reads": (
        f'[[type]]\nname = "X"\ndescription = "{"aspirin " * 63}"\n',
        "the description of 'X' has 65 pieces with special tokens, but ",
    ),
    "no type": ("", "no type is described"),
    "no TOML": ("[[type", "is not a readable TOML file"),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_wrong_types_for_a_model(refused: Refused, run: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "types.toml"
    path.write_text(WRONG_TYPES[name][0], encoding="utf-8")
    assert WRONG_TYPES[name][1] in refused(*annotate(run / "best", path))


def test_what_a_model_does_not_read_is_said(
    cli: Cli, tiny_encoder: Path, toy_corpus: Path, run: Path, tmp_path: Path
) -> None:
    given = {
        "encoder": tiny_encoder,
        "corpus": toy_corpus,
        "types": None,
        "type_view": "name",
        "epochs": 1,
    }
    assert (
        cli("train", write_recipe(tmp_path / "r.toml", **given), "-o", tmp_path / "named").code == 0
    )
    found = []
    for text in ("A drug.", "A planet."):
        path = types_file(tmp_path / "other.toml", ("Chemical", text))
        said = cli(*annotate(tmp_path / "named" / "best", path))
        assert (
            f"note: of {path} the model reads the names alone, no description: type_view = 'name'"
            in said.err
        )
        found.append(said.out)
    assert found[0] == found[1]
    assert "note: of" not in cli(*annotate(run / "best", path)).err


def test_descriptions_are_not_written_over(refused: Refused, run: Path, tmp_path: Path) -> None:
    path = types_file(tmp_path / "mine.toml", ("X", "a drug"))
    before = path.read_bytes()
    for target in (path, tmp_path / "." / "mine.toml"):
        said = refused(
            *annotate(run / "best", path), "-o", target, "--overwrite", "--format", "jsonl"
        )
        assert "mine.toml is one of the inputs" in said
        assert path.read_bytes() == before


def test_types_that_are_not_there(refused: Refused, run: Path, tmp_path: Path) -> None:
    assert "there are no descriptions of types at" in refused(
        *annotate(run / "best", tmp_path / "none.toml")
    )
    with pytest.raises(UsageError):
        fascicle.load("biomed", types=tmp_path / "none.toml")


CHEMICAL_ONLY = '[[type]]\nname = "Chemical"\ndescription = "a drug"\n'
BOTH = f'{CHEMICAL_ONLY}[[type]]\nname = "Disease"\ndescription = "pain"\n'
WRONG_IN_TRAINING: dict[str, tuple[str, dict[str, Any], str]] = {
    "one too few": (CHEMICAL_ONLY, {}, "no description of 'Disease'; describe"),
    "another": (
        BOTH.replace("Disease", "disease"),
        {},
        "no description of 'Disease' and a description of 'disease'",
    ),
    "no keyword": (BOTH, {"type_view": "keyword"}, "no keyword for 'Chemical', 'Disease'"),
    "no examples": (BOTH, {"type_view": "instances"}, "no 3 examples for 'Chemical', 'Disease'"),
    "no file": (BOTH, {"types": "none.toml"}, "none.toml, which does not exist; correct the path"),
    "a file that is not read": (BOTH, {"type_view": "name"}, "is not read with type_view"),
    "a view without file": (
        BOTH,
        {"types": None},
        'type_view = "description" needs a file of descriptions',
    ),
    **{name: (content, {}, said) for name, (content, said) in WRONG_TYPES.items()},
}


@pytest.mark.parametrize("name", WRONG_IN_TRAINING)
def test_wrong_types_are_refused_before_training(
    refused: Refused, tiny_encoder: Path, toy_corpus: Path, tmp_path: Path, name: str
) -> None:
    content, model, said = WRONG_IN_TRAINING[name]
    if "encoder" in name:  # these have the types of no corpus
        content = content.replace('"X"', '"Chemical"').replace('"Y"', '"Disease"')
        content += (
            "" if "Disease" in content else '[[type]]\nname = "Disease"\ndescription = "pain"\n'
        )
        said = said.replace("'X'", "'Chemical'").replace("'Y'", "'Disease'")
    (tmp_path / "types.toml").write_text(content, encoding="utf-8")
    options = {"types": tmp_path / "types.toml", **model}
    recipe = write_recipe(
        tmp_path / "r.toml", encoder=tiny_encoder, corpus=toy_corpus, epochs=1, **options
    )
    assert said in refused("train", recipe, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_is_resumed_with_the_descriptions_that_it_began_with(
    cli: Cli, tiny_encoder: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.toml").write_text(BOTH, encoding="utf-8")
    options = {
        "encoder": tiny_encoder,
        "corpus": toy_corpus,
        "types": tmp_path / "t.toml",
        "epochs": 1,
    }
    recipe = write_recipe(tmp_path / "r.toml", **options)
    assert cli("train", recipe, "-o", tmp_path / "run").code == 0
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["data"]
    assert facts.keys() == {"train", "dev", "test", "model.types"}
    (tmp_path / "run" / "scores.json").unlink()
    assert cli("train", recipe, "-o", tmp_path / "run", "--resume").code == 0
    (tmp_path / "run" / "scores.json").unlink()
    (tmp_path / "t.toml").write_text(BOTH.replace("a drug", "drugs"), encoding="utf-8")
    result = cli("train", recipe, "-o", tmp_path / "run", "--resume")
    assert result.code == 2
    assert "the description of the types has changed since the run in" in result.err
