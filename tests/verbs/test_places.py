"""No command changes or deletes a file that it did not write, whatever its places are called.

Commands and their options come from the parser itself, so that a new one is tested too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import copy
from cProfile import Profile
from pathlib import Path

import pytest

from fascicle.cli import build_parser, main
from fascicle.core.files.apart import Inputs
from fascicle.core.files.atomic import atomic_folder
from fascicle.errors import OutputError, UsageError
from fascicle.settings.folders.vocabularies import PACK
from fascicle.verbs.linker import fit_folder
from fascicle.verbs.options import ROLES, fills, reads, writes
from fascicle.verbs.parsing import Parser, parse
from fascicle.verbs.tasks.index_build import build_pack

SOURCES = Path(__file__).resolve().parents[2] / "src"
Snapshot = dict[str, tuple[bytes, int]]

# Options that take any text, and why it names nothing that is read or written.
NO_PLACES = {
    "host": "an address to listen at",
    "origin": "the address of a page",
    "ray": "the address of a cluster",
    "tracker": "the name of an experiment tracker",
    "note": "a sentence that is kept in the file",
    "version": "the name of a curator",
    "ontology": "the prefix of a vocabulary",
    "at_least": "a score",
    "prefix": "the prefix of a vocabulary",
    "types": "types of the gold",
    "kind": "of concepts",
    "device": "what a network runs on",
    "text": "a text itself",
    "set": "settings of a recipe, whose files are compared with the run folder when it is read",
    "encoding": "name of an encoding",
    "columns": "numbers of columns",
    "field": "names of fields",
    "where": "a field and its value",
    "train_where": "a field and its value",
    "against_field": "names of fields",
    "only": "patterns for the names of runs",
    "source": "who found a mention",
    "system": "who found a mention",
    "name": "of a model, or the id of a document",
    "names": "parts of names of settings",
    "weights": "numbers",
    "threshold": "a number",
    "title": "of a picture",
    "skip": "code of a finding",
    "segmenter": "name of a segmenter",
    "surface": "a name",
    "project": "its title in another program",
    "url": "the address of another program",
}


def parsers(
    parser: argparse.ArgumentParser, name: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command with its parser."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield name, parser
    for action in inner:
        for word, below in action.choices.items():
            yield from parsers(below, (*name, word))


COMMANDS = dict(parsers(build_parser()))


def options(command: tuple[str, ...], *roles: object) -> list[argparse.Action]:
    return [action for action in COMMANDS[command]._actions if action.type in roles]


WRITING = [command for command in COMMANDS if options(command, writes, fills)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_that_may_name_a_place_says_what_becomes_of_it(
    command: tuple[str, ...],
) -> None:
    for action in COMMANDS[command]._actions:
        takes_any_text = action.type in (None, str) and action.choices is None and action.nargs != 0
        if takes_any_text:
            assert action.dest in NO_PLACES, (
                f"{action.option_strings or action.dest}: give it a type of places.py"
            )
    outputs = [
        action
        for action in COMMANDS[command]._actions
        if action.dest in ("output", "results", "report")
    ]
    assert all(action.type in (writes, fills) for action in outputs)
    assert all(
        action.type in ROLES
        for action in COMMANDS[command]._actions
        if action.dest in ("files", "gold", "model")
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_empty_name_is_no_place(command: tuple[str, ...]) -> None:
    """It comes from an unset variable of a script, and standard output is not what the user
    meant.
    """
    for action in options(command, *ROLES):
        if action.option_strings:
            alone = Parser(prog="fascicle")
            alone._add_action(copy(action))
            with pytest.raises(
                UsageError, match=f"{action.option_strings[-1]} was given an empty name"
            ):
                parse(alone, [action.option_strings[-1], ""])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder full of a user's files, which is the working folder."""
    folder = tmp_path / "desk"
    (folder / "sub").mkdir(parents=True)
    for name in ("thesis.docx", "notes.md", ".hidden", "sub/deep.txt", "other.tsv", "model.json"):
        (folder / name).write_text(f"years of work: {name}\n", encoding="utf-8")
    for number, name in enumerate(("gold.tsv", "sub/gold.jsonl", "a.txt")):
        (folder / name).write_text(
            "aspirin\tB-Chemical\ncaused\tO\npain\tB-Disease\n", encoding="utf-8"
        )
        (folder / name).chmod((0o640, 0o600, 0o644)[number])
    monkeypatch.chdir(folder)
    return folder


def snapshot(folder: Path) -> Snapshot:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file()
    }


def unchanged(before: Snapshot, folder: Path) -> bool:
    now = snapshot(folder)
    return all(now.get(name) == content for name, content in before.items())


def linked(victim: Path) -> str:
    Path("link").symlink_to(victim.resolve())
    return "link"


def hard_linked(victim: Path) -> str:
    os.link(victim, "hard")
    return "hard"


def through_a_linked_folder(victim: Path) -> str:
    Path("way").symlink_to(victim.resolve().parent)
    return f"way/{victim.name}"


ALIASES: dict[str, Callable[[Path], str]] = {
    "the same name": str,
    "a whole path": lambda victim: str(victim.resolve()),
    "a way round": lambda victim: f"sub/../{victim}",
    "a link": linked,
    "a hard link": hard_linked,
    "a linked folder": through_a_linked_folder,
    "another case": lambda victim: str(victim).swapcase(),
    "its folder": lambda victim: str(victim.resolve().parent),
    "the folder above": lambda victim: str(victim.resolve().parent.parent),
}


def argv(command: tuple[str, ...], given: dict[str, str], *, overwrite: bool) -> list[str]:
    """A call with what is given by the names of options, and something for all else that is
    required.
    """
    positional, named = [], []
    for action in COMMANDS[command]._actions:
        if action.dest in given:
            value = given[action.dest]
        elif action.option_strings and not action.required:
            continue
        elif action.choices is not None:
            value = str(next(iter(action.choices)))
        else:
            value = "fresh.out" if action.type in (writes, fills) else "other.tsv"
        if isinstance(action, argparse._HelpAction):
            continue
        if action.option_strings:
            named += [action.option_strings[-1], value]
        else:
            positional.append(value)
    has_overwrite = any(
        "--overwrite" in action.option_strings for action in COMMANDS[command]._actions
    )
    return [
        *command,
        *positional,
        *named,
        *(["--overwrite"] if overwrite and has_overwrite else []),
    ]


GRID = [
    pytest.param(command, read, written, id=f"{' '.join(command)}-{read.dest}-{written.dest}")
    for command in WRITING
    for read in options(command, reads)
    for written in options(command, writes, fills)
]


@pytest.mark.parametrize(("command", "read", "written"), GRID)
def test_an_output_is_never_an_input(
    desk: Path, command: tuple[str, ...], read: argparse.Action, written: argparse.Action
) -> None:
    victim = Path("gold.tsv")
    for name, alias in ALIASES.items():
        place = alias(victim)
        if not Path(place).exists():
            continue  # another case is another file here
        if command == ("serve",) and Path(place).is_dir():
            continue  # a folder may be filled, so it would serve, without end
        before = snapshot(desk)
        for overwrite in (False, True):
            call = argv(command, {read.dest: str(victim), written.dest: place}, overwrite=overwrite)
            code = main(call)
            assert unchanged(before, desk), (name, call)
            assert code == 2 or written.type is fills, (name, call)
        for made in ("link", "hard", "way"):
            Path(made).unlink(missing_ok=True)


@pytest.mark.parametrize(
    "command", [c for c in WRITING if len(options(c, writes, fills)) > 1], ids=" ".join
)
def test_two_outputs_are_two_places(
    desk: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(desk)
    for one, two in (
        ("new.html", "new.html"),
        ("new.html", "./sub/../new.html"),
        ("notes.md", "notes.md"),
    ):
        first, second = options(command, writes, fills)[:2]
        call = argv(command, {first.dest: one, second.dest: two}, overwrite=True)
        assert main(call) == 2
        assert "one place" in capsys.readouterr().err
        assert snapshot(desk) == before


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_nothing_is_written_into_the_folder_of_a_model(
    desk: Path, command: tuple[str, ...]
) -> None:
    before = snapshot(desk)
    for read in options(command, reads):
        for written in options(command, writes, fills):
            assert (
                main(
                    argv(
                        command,
                        {read.dest: str(desk), written.dest: "sub/new.html"},
                        overwrite=True,
                    )
                )
                == 2
            )
            assert snapshot(desk) == before


@pytest.mark.parametrize("name", ["model.json", "filter.json", "relations.json", "typer.json"])
def test_no_text_is_written_into_a_folder_with_a_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.tsv").write_text("pain\tB-Disease\n", encoding="utf-8")
    Path("mine").mkdir()
    Path("mine", name).write_text('{"format": 1, "name": "mine"}', encoding="utf-8")
    call = ["corpus", "convert", "gold.tsv", "--input-format", "conll", "-o"]
    assert main([*call, "mine/new.jsonl"]) == 2
    assert "mine" in capsys.readouterr().err
    assert [path.name for path in Path("mine").iterdir()] == [name]
    assert main([*call, "new.jsonl"]) == 0


def test_what_lies_in_a_folder_that_is_read_is_not_replaced(desk: Path) -> None:
    (desk / "model.json").unlink()
    (desk / "elsewhere").symlink_to(desk / "sub")
    os.link(desk / "sub" / "deep.txt", desk / "hard.txt")
    (desk / "sub" / "linked.txt").symlink_to(desk / "notes.md")
    before = snapshot(desk)
    for place in ("sub/deep.txt", "elsewhere/deep.txt", "hard.txt", "notes.md"):
        assert (
            main(["corpus", "convert", "sub", "-o", place, "--format", "jsonl", "--overwrite"]) == 2
        )
        assert snapshot(desk) == before
    assert main(["corpus", "convert", "sub", "-o", "sub/new.jsonl", "--input-format", "plain"]) == 0
    assert unchanged(before, desk)


def test_a_folder_is_filled_without_its_other_files(desk: Path) -> None:
    """The names of these files come from the inputs: an existing one is replaced only if this
    command wrote it.
    """
    (desk / "model.json").unlink()
    (desk / "sub" / "a.jsonl").write_text("mine", encoding="utf-8")
    before = snapshot(desk)
    call = ["annotate", "a.txt", "--input-format", "plain", "-o", "sub/"]
    for options_ in ([], ["--overwrite"]):
        assert main([*call, *options_]) == 2
        assert snapshot(desk) == before
    (desk / "sub" / "a.jsonl").unlink()
    del before["sub/a.jsonl"]
    for options_ in ([], ["--overwrite"]):
        assert main([*call, *options_]) == 0
        assert unchanged(before, desk)
    written = desk / "sub" / "a.jsonl"
    written.write_bytes(written.read_bytes() + b"\n")  # edited by the user
    before = snapshot(desk)
    assert main([*call, "--overwrite"]) == 2
    assert snapshot(desk) == before


def test_standard_streams_are_inputs_and_outputs_too(desk: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    before = snapshot(desk)

    def run(*call: str, **streams: object) -> int:
        command = [sys.executable, "-m", "fascicle", *call]
        return subprocess.run(
            command, env=environment, stderr=subprocess.DEVNULL, check=False, **streams
        ).returncode  # type: ignore[call-overload, no-any-return]

    with Path("a.txt").open("rb") as stream:
        assert (
            run(
                "corpus",
                "convert",
                "-",
                "-o",
                "a.txt",
                "--format",
                "records",
                "--overwrite",
                stdin=stream,
            )
            == 2
        )
    with Path("gold.tsv").open("ab") as stream:
        assert run("corpus", "stats", "gold.tsv", stdout=stream) == 2
    assert snapshot(desk) == before


def test_devices_are_no_places(desk: Path) -> None:
    assert (
        main(
            [
                "corpus",
                "check",
                "gold.tsv",
                "-o",
                "/dev/null",
                "--exclude-list",
                "/dev/null",
                "--overwrite",
            ]
        )
        == 0
    )


def test_the_calls_for_inputs_and_outputs_grow_with_their_number(tmp_path: Path) -> None:
    names = [tmp_path / "texts" / f"{number}.txt" for number in range(10_000)]
    (tmp_path / "texts").mkdir()
    for name in names:
        name.touch()
    outputs = [name.with_suffix(".jsonl") for name in names]
    with Profile() as profile:
        inputs = Inputs.of(names)
        for place in outputs:
            inputs.refuse(place)
    # and not with its square
    assert sum(entry.callcount for entry in profile.getstats()) < 1_000 * len(names)
    with pytest.raises(OutputError):
        inputs.refuse(names[-1])
    with pytest.raises(OutputError):
        inputs.refuse(tmp_path)


# Folders of a user as the output of each command that writes a folder as a whole


@pytest.fixture(scope="module")
def trained(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of our own."""
    folder = tmp_path_factory.mktemp("places") / "run"
    shutil.copytree(tiny_run, folder)
    return folder


def vocabulary(corpus: Path) -> Path:
    """The sources of a small term pack, in a folder of their own."""
    place = corpus.parent / "vocabulary"
    place.mkdir(exist_ok=True)
    (place / "names.tsv").write_text(
        "id\tname\nMESH:D001241\taspirin\nMESH:D002110\tcaffeine\n", encoding="utf-8"
    )
    table = (
        'path = "names.tsv"\nreader = "table"\ntype = "Chemical"\ncolumns = { id = "id", '
        'name = "name" }\n'
    )
    (place / "sources.toml").write_text(
        f'name = "toy"\n\n[sources.names]\n{table}', encoding="utf-8"
    )
    return place / "sources.toml"


def pack(corpus: Path) -> Path:
    """That pack."""
    place = corpus.parent / "pack"
    if not place.exists():
        build_pack(vocabulary(corpus), place)
    return place


def linker(corpus: Path) -> Path:
    """A linker of that pack."""
    place = corpus.parent / "linker"
    if not place.exists():
        fit_folder(pack(corpus), place)
    return place


def linked(corpus: Path) -> Path:
    """A document whose mention has a concept."""
    place = corpus.parent / "linked.jsonl"
    mention = {"spans": [[0, 6]], "type": "Disease", "links": [{"id": "MESH:D014202"}]}
    record = {"fascicle": 2, "id": "1", "text": "Tremor.", "mentions": [mention]}
    place.write_text(json.dumps(record) + "\n")
    return place


FOLDERS: dict[tuple[str, ...], Callable[[Path, Path], list[object]]] = {
    ("annotate",): lambda run, corpus: [corpus, "--format", "brat"],
    ("corpus", "convert"): lambda run, corpus: [corpus, "--format", "brat"],
    ("export",): lambda run, corpus: [run],
    ("calibrate",): lambda run, corpus: [run / "best", corpus, "--method", "isotonic"],
    ("ensemble",): lambda run, corpus: ["union", run / "best", "biomed"],
    ("index", "build"): lambda run, corpus: [vocabulary(corpus)],
    ("index", "extend"): lambda run, corpus: [
        *(
            pack(corpus),
            vocabulary(corpus).parent / "names.tsv",
            "--type",
            "Chemical",
            "--linker",
            linker(corpus),
        )
    ],
    ("linker", "fit"): lambda run, corpus: [pack(corpus)],
    ("graph",): lambda run, corpus: [linked(corpus)],
}


@pytest.mark.parametrize("command", FOLDERS, ids=" ".join)
def test_a_folder_of_the_user_is_refused_with_three_names(
    desk: Path,
    command: tuple[str, ...],
    trained: Path,
    toy_corpus: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(desk / "sub", desk / "mine")
    for name in ("one.txt", "two.md", "three.png"):
        (desk / "mine" / name).write_text("mine", encoding="utf-8")
    with atomic_folder(desk / "written", kind="another") as folder:
        (folder / "x").write_text("of another command", encoding="utf-8")
    before = snapshot(desk)
    for place in ("mine", ".", "written", str(desk), ".."):
        call = [
            *command,
            *map(str, FOLDERS[command](trained, toy_corpus)),
            "-o",
            place,
            "--overwrite",
        ]
        capsys.readouterr()
        assert main(call) == 2, call
        said = capsys.readouterr().err
        assert snapshot(desk) == before
        if place == "mine":
            assert all(name in said for name in ("deep.txt", "gold.jsonl", "one.txt")), said
            assert "2 more" in said


@pytest.mark.parametrize("command", FOLDERS, ids=" ".join)
def test_what_a_command_wrote_it_replaces(
    desk: Path, command: tuple[str, ...], trained: Path, toy_corpus: Path
) -> None:
    before = snapshot(desk)
    call = [*command, *map(str, FOLDERS[command](trained, toy_corpus)), "-o", "new"]
    for options_, code in (([], 0), ([], 2), (["--overwrite"], 0)):
        assert main([*call, *options_]) == code
        assert unchanged(before, desk)
    (desk / "new" / "notes.txt").write_text("mine", encoding="utf-8")
    before = snapshot(desk)
    assert main([*call, "--overwrite"]) == 2
    assert snapshot(desk) == before


# Files, beside all else that a user has; of each command that writes, one call that works

FILES: dict[tuple[str, ...], Callable[[Path, Path], list[object]]] = {
    ("annotate",): lambda run, corpus: [corpus, "-o", "new.jsonl"],
    ("label",): lambda run, corpus: [run / "best", corpus, "-o", "new.labels"],
    ("corpus", "convert"): lambda run, corpus: [corpus, "-o", "new.jsonl"],
    ("corpus", "check"): lambda run, corpus: [corpus, "-o", "new.md", "--exclude-list", "new.tsv"],
    ("evaluate",): lambda run, corpus: [
        *(
            corpus,
            corpus,
            "--report",
            "new.json",
            "--model",
            run / "best",
            "--distributions",
            "new.jsonl",
        )
    ],
    ("compare",): lambda run, corpus: [
        corpus,
        "one.tsv",
        "two.tsv",
        "-o",
        "new.md",
        "--gold-format",
        "conll",
    ],
    ("concepts",): lambda run, corpus: [linked(corpus), "-o", "new.csv"],
    ("combine",): lambda run, corpus: ["union", "one.tsv", "two.tsv", "-o", "new.tsv"],
    ("vectors",): lambda run, corpus: [
        corpus,
        "-o",
        "new.vec",
        "--dimension",
        "2",
        "--passes",
        "1",
    ],
    ("plot",): lambda run, corpus: ["learning", run, "-o", "new.svg"],
    ("init",): lambda run, corpus: [corpus, "--dev", corpus, "-o", "new.toml"],
    ("index", "export"): lambda run, corpus: [pack(corpus), "-o", "new.tsv"],
    ("index", "curate"): lambda run, corpus: [pack(corpus), "--corpus", corpus, "-o", "new.tsv"],
    ("link",): lambda run, corpus: [
        *(
            corpus,
            "--pack",
            pack(corpus),
            "--linker",
            linker(corpus),
            "-o",
            "new.jsonl",
            "--input-format",
            "conll",
        )
    ],
}
# Commands whose output is no file that --overwrite replaces, and what tests them.
ELSEWHERE = {
    ("run",): "nothing is replaced: test_run.py, running/test_run.py",
    ("quarantine", "retry"): "test_run.py",
    ("curation", "repair"): "test_curation.py",
    ("tokens", "add"): "serving/test_tokens.py",
    ("tokens", "withdraw"): "serving/test_tokens.py",
    ("curation", "backup"): "test_curation.py",
    ("curation", "export"): "test_curation.py",
    ("corpus", "fetch"): "it needs a publisher: tasks/test_corpus_fetch.py",
    ("index", "fetch"): "it needs a publisher: tasks/test_index_fetch.py",
    (
        "label-studio",
        "pull",
    ): "it needs Label Studio: test_label_studio.py, interop/test_label_studio_commands.py",
    ("serve",): "folders are filled, never replaced: serving/test_jobs.py, serving/curation/",
    ("train",): "a run folder must be new: test_a_folder_of_a_run_is_new_or_its_own",
    ("pretrain",): "a run folder must be new: training/test_pretraining.py",
    ("distill",): "a run folder must be new: commands/test_distill.py",
    ("bench",): "test_bench.py",
    ("typer", "train"): "a run folder must be new: test_a_folder_of_a_run_is_new_or_its_own",
    ("typer", "predict"): "test_typer.py",
    ("typer", "score"): "test_typer.py",
}


def test_every_command_that_writes_is_run() -> None:
    assert set(WRITING) == {*FILES, *FOLDERS, *ELSEWHERE}


@pytest.mark.parametrize("command", FILES, ids=" ".join)
def test_a_command_writes_what_it_is_asked_for_and_nothing_else(
    desk: Path, command: tuple[str, ...], trained: Path, toy_corpus: Path
) -> None:
    if command == ("plot",):
        pytest.importorskip("matplotlib")
    header = "document\ttype\tstart\tend\tscore\n"
    for name, line in (
        ("one.tsv", "toy:1\tDisease\t16\t27\t\n"),
        ("two.tsv", "toy:1\tDisease\t16\t20\t\n"),
    ):
        (desk / name).write_text(header + line, encoding="utf-8")
    before, run = snapshot(desk), snapshot(trained)
    call = [*command, *map(str, FILES[command](trained, toy_corpus))]
    assert main(call) == 0
    assert unchanged(before, desk)
    made = sorted(set(snapshot(desk)) - set(before))
    assert made
    assert all(name.startswith("new.") for name in made), made
    after = snapshot(desk)
    assert main(call) == 2
    assert snapshot(desk) == after
    if command != ("annotate",):
        (desk / made[0]).chmod(0o640)
    mode = (desk / made[0]).stat().st_mode
    assert main([*call, "--overwrite"]) == 0
    assert (desk / made[0]).stat().st_mode == mode
    assert unchanged(before, desk)
    assert sorted(set(snapshot(desk)) - set(before)) == made
    assert snapshot(trained) == run


@pytest.mark.parametrize("command", [("train",), ("typer", "train")], ids=" ".join)
def test_a_folder_of_a_run_is_new_or_its_own(
    desk: Path, command: tuple[str, ...], tiny_encoder: Path, toy_corpus: Path
) -> None:
    tables = f'[corpus]\ntrain = "{toy_corpus}"\ndev = "{toy_corpus}"\n'
    model = (
        f'[model]\nencoder = "{tiny_encoder}"\n'
        if command == ("train",)
        else '[vectors]\npath = "toy.vec"\n'
    )
    (desk / "recipe.toml").write_text(f'name = "x"\n{tables}{model}', encoding="utf-8")
    before = snapshot(desk)
    for place in ("sub", ".", "..", "a.txt", "recipe.toml", str(desk)):
        for more in ([], ["--resume"]) if command == ("train",) else ([],):
            assert main([*command, "recipe.toml", "-o", place, *more]) == 2
            assert snapshot(desk) == before


@pytest.mark.parametrize("what", ["model.json", "ensemble.json", PACK])
def test_nothing_is_written_into_a_model_that_is_no_input(tmp_path: Path, what: str) -> None:
    model = tmp_path / "run" / "best"
    model.mkdir(parents=True)
    places = (model / "x.tsv", model / "a" / "b", tmp_path / "link" / "x.tsv", model / what)
    (tmp_path / "link").symlink_to(model)
    for content, is_model in (
        ("years of work", False),
        ("[]", False),
        ("{}", False),
        ('{"format": 1, "name": "x"}', True),
    ):
        (model / what).write_text(content, encoding="utf-8")
        for place in places:
            with (
                pytest.raises(OutputError, match="a model or a pack") if is_model else nullcontext()
            ):
                Inputs.of([]).refuse(place)
    for place in (model, tmp_path / "run" / "x.tsv", tmp_path / "link.tsv"):
        Inputs.of([]).refuse(place)
