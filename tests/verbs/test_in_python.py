"""The Python at the end of the help of a command: it names functions that exist, with arguments
that they take.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support import citations, linking
from tests.support.pretraining import make_encoder, make_text

import fascicle
from fascicle.cli import build_parser
from fascicle.runtime.places import find_model
from fascicle.serving.curation.store import Store
from fascicle.serving.tokens import add_token
from fascicle.text.glove import GloveSettings
from fascicle.verbs.linker import fit_folder
from fascicle.verbs.parsing import Parser
from fascicle.verbs.tasks.index_build import build_pack
from fascicle.verbs.tasks.run import run
from fascicle.verbs.vectors import VectorsSettings, train_vectors

# What each call leaves in the folder; the others give what they find out.
WRITES = {
    "annotate": "mentions.tsv",
    "train": "runs/mine/best/model.json",
    "pretrain": "runs/encoder/run.json",
    "bench": "results/grid/toy-softmax-s1.json",
    "calibrate": "calibrated/model.json",
    "ensemble": "both/ensemble.json",
    "export": "mine/model.onnx",
    "init": "recipe.toml",
    "label": "weak.labels",
    "corpus convert": "corpus.jsonl",
    "index build": "pack/manifest.json",
    "index export": "names.tsv",
    "index extend": "mine/manifest.json",
    "index curate": "rules.tsv",
    "plot": "learning.svg",
    "vectors": "vectors.txt",
    "typer train": "runs/typer/model/typer.json",
    "linker fit": "linker/linker.json",
    "run": "annotated/_SUCCESS",
    "graph": "graph/nodes.tsv",
    "concepts": "concepts.csv",
    "curation repair": "mended.sqlite",
    "curation backup": "copy.sqlite",
    "tokens add": "tokens.json",
}
NEEDS = {"plot": "matplotlib", "serve": "starlette"}
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SLOW = {"bench", "export"}
# Those that ask a server, and are tried against one in tests of their own.
ASKING = {"corpus fetch", "index fetch", "label-studio push", "label-studio pull"}


def leaves(parser: Parser) -> Iterator[Parser]:
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not below:
        yield parser
    for one in below:
        for child in one.choices.values():
            yield from leaves(child)


def resolved(name: ast.expr) -> Any:
    parts = ast.unparse(name).split(".")
    found: Any = fascicle
    for number, part in enumerate(parts[1:], start=1):
        found = getattr(found, part, None) or import_module(".".join(parts[: number + 1]))
    return found


PARSERS = {parser.prog.removeprefix("fascicle "): parser for parser in leaves(build_parser())}


def test_every_command_has_its_call() -> None:
    assert [name for name, parser in PARSERS.items() if not parser.in_python] == []


def imports_and_calls(text: str) -> tuple[list[str], list[str]]:
    lines = [line.strip() for line in text.splitlines()[2:]]
    imports = [line for line in lines if line.startswith("import ")]
    return imports, lines[len(imports) :]


def calls() -> dict[str, str]:
    """The call of each command, and of each option that makes another verb of it."""
    found: dict[str, str] = {}
    for name, parser in PARSERS.items():
        _, (*others, call) = imports_and_calls(parser.in_python)
        found |= {
            name: call,
            **{other: one for one, _, other in (line.partition("  # ") for line in others)},
        }
    return found


@pytest.mark.parametrize("command", calls())
def test_the_call_can_be_made(command: str) -> None:
    found = [node for node in ast.walk(ast.parse(calls()[command])) if isinstance(node, ast.Call)]
    for call in found:
        function = resolved(call.func)
        assert callable(function)
        assert not isinstance(function, ModuleType)
        keywords = {word.arg: None for word in call.keywords if word.arg}
        inspect.signature(function).bind(*call.args, **keywords)


def test_what_asks_a_server_is_a_command() -> None:
    assert set(calls()) >= ASKING


def test_the_help_ends_with_the_call() -> None:
    for name, call in calls().items():
        verb, _, option = name.partition(" --")
        text = PARSERS[verb].format_help()
        assert f"{call}  # {name}\n" in text if option else text.endswith(f"  {call}\n")
    assert "evaluate --links" in calls()


@pytest.fixture(scope="module")
def typer_run(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typer")
    settings = VectorsSettings(glove=GloveSettings(dimension=8, passes=5), window=3)
    train_vectors(toy_corpus, folder / "toy.vec", settings)
    (folder / "typer.toml").write_text(
        f'name = "toy"\n[corpus]\ntrain = "{toy_corpus}"\ntest = "{toy_corpus}"\n[vectors]\npath '
        '= "toy.vec"\n'
        "[typer]\nnothing = true\nupdates = 40\nhidden = 8\nlearning_rate = 0.02\n",
        encoding="utf-8",
    )
    fascicle.train(folder / "typer.toml", folder / "run", threads=1)
    return folder


def make_packs(*folders: str) -> None:
    """Packs of diseases in the working folder, and the list of their sources."""
    Path("diseases.tsv").write_text("id\tname\nDOID:162\tcancer\n", encoding="utf-8")
    Path("own.tsv").write_text("id\tname\nOWN:1\tswelling\n", encoding="utf-8")
    Path("sources.toml").write_text(
        'name = "toy"\n[sources.diseases]\npath = "diseases.tsv"\nreader = "table"\ntype = '
        '"Disease"\n'
        'columns = { id = "id", name = "name" }\n',
        encoding="utf-8",
    )
    for folder in folders:
        build_pack("sources.toml", folder)


def make_linker(*folders: str) -> None:
    """A pack, texts with links to it, found mentions, and linkers."""
    linking.build_pack(Path("pack"))
    fascicle.write("links.jsonl", linking.corpus())
    for name in ("gold", "found"):
        fascicle.write(f"{name}.jsonl", linking.corpus(2))
    for folder in folders:
        fit_folder("pack", folder, documents=fascicle.read("links.jsonl"))


def make_stores(command: str) -> None:
    """Tokens, and decisions of curators."""
    if command in ("tokens withdraw", "tokens ls"):
        add_token("tokens.json", "Ada")
    if command.startswith("curation"):
        Store.open("decisions.sqlite").close()


def make_pipeline(*folders: str) -> None:
    """A pipeline of a dictionary, and runs in which a program refuses every document."""
    Path("names.tsv").write_text("Disease\tlung cancer\n", encoding="utf-8")
    steps = '[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
    Path("pipeline.toml").write_text(f'name = "mine"\n{steps}', encoding="utf-8")
    for folder in folders:
        hello = json.dumps({"fascicle_step": 1, "name": "no", "fingerprint": "1"})
        program = (
            f'print({hello!r}, flush=True)\nwhile input():\n print(\'{{"error": "no"}}\', '
            "flush=True)\n"
        )
        Path("no.py").write_text(program, encoding="utf-8")
        refuses = f'[[steps]]\nkind = "process"\ncommand = ["{sys.executable}", "no.py"]\n'
        Path("refuses.toml").write_text(f'name = "refuses"\n{steps}{refuses}', encoding="utf-8")
        run("texts", folder, pipeline="refuses.toml")


@pytest.fixture
def place(
    tiny_run: Path,
    tiny_encoder: Path,
    toy_corpus: Path,
    typer_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Path:
    """A folder with everything that the calls name, but for what the call at hand writes."""
    monkeypatch.chdir(tmp_path)
    for name in ("corpus", "gold", "train", "dev", "test"):
        shutil.copyfile(toy_corpus, f"{name}.tsv")
    for name in ("one", "two", "three"):
        fascicle.write(f"{name}.jsonl", fascicle.read("gold.tsv"))
    fascicle.write("annotated.jsonl", linking.corpus(2))
    Path("texts").mkdir()
    Path("texts", "a.txt").write_text("The patient took aspirin for lung cancer.", encoding="utf-8")
    recipe = (
        f'model.encoder = "{tiny_encoder}"\nreading = {{ max_length = 32, overlap = 4 }}\n'
        'training = { epochs = 1, learning_rate = 1e-2, batch_size = 4, precision = "fp32" }\n'
    )
    corpus = 'train = "train.tsv", dev = "dev.tsv", documents = "sentence"'
    Path("recipe.toml").write_text(
        f'name = "tiny"\ncorpus = {{ {corpus} }}\n{recipe}', encoding="utf-8"
    )
    Path("grid.toml").write_text(
        f'name = "grid"\n[recipe]\n{recipe}[corpora.toy]\ncorpus = {{ {corpus}, test = '
        '"test.tsv" }\n'
        '[systems.softmax]\n[[run]]\ncorpora = ["toy"]\nsystems = ["softmax"]\nseeds = [1]\ntier '
        '= "smoke"\n',
        encoding="utf-8",
    )
    if request.node.callspec.params["command"] == "pretrain":
        make_text(Path("text.jsonl"))
        Path("pretraining.toml").write_text(
            'name = "encoder"\n[text]\nfiles = ["text.jsonl"]\nwindow = 32\n'
            f'[model]\nencoder = "{make_encoder(Path("bare"))}"\n[training]\nbatch_size = 8\n',
            encoding="utf-8",
        )
    shutil.copyfile(typer_run / "toy.vec", "toy.vec")
    shutil.copyfile(typer_run / "typer.toml", "typer.toml")
    Path("runs").mkdir()
    Path("runs/mine").symlink_to(tiny_run)
    Path("runs/typer").symlink_to(typer_run / "run")
    command = request.node.callspec.params["command"]
    if command in ("train", "typer train"):
        Path("runs", "mine" if command == "train" else "typer").unlink()
    if command == "calibrate":  # the tiny model is always right, so that nothing can be fitted
        Path("runs/mine").unlink()
        Path("runs/mine").symlink_to(find_model("biomed"))
        shutil.copyfile(EXAMPLES / "first-model" / "dev.tsv", "dev.tsv")
    if command.startswith("index"):
        make_packs(*() if command == "index build" else ("before", "pack"))
    if command.startswith("link") or "--links" in command:
        make_linker(*() if command == "linker fit" else ("linker",))
    if "--aboutness" in command:
        Path("gold.xml").write_text(citations.in_xml(2), encoding="utf-8")
        fascicle.write("found.jsonl", map(citations.linked, ("0", "1")), overwrite=True)
    if command.startswith(("pipeline", "run", "quarantine", "serve")):
        make_pipeline(*("annotated",) if command.startswith("quarantine") else ())
    if command == "init":
        Path("recipe.toml").unlink()
    make_stores(command)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(one, marks=[pytest.mark.slow] if one in SLOW else [])
        for one in calls()
        if one not in ASKING
    ],
)
def test_the_call_does_the_work(command: str, place: Path) -> None:
    if command in NEEDS:
        pytest.importorskip(NEEDS[command])
    written = place / WRITES.get(command, "none")
    assert not written.exists()
    imports, _ = imports_and_calls(PARSERS[command.partition(" --")[0]].in_python)
    found: dict[str, Any] = {}
    exec("\n".join([*imports, f"found = {calls()[command]}"]), found)
    assert written.exists() == (command in WRITES), found["found"]
    assert found["found"] is not None
