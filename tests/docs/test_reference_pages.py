"""The pages that the site makes from the code hold every key, every command and every public
name.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

pytest.importorskip("sphinx")

import fascicle
from fascicle.cli import build_parser
from fascicle.evaluation.doctor.examine import checks
from fascicle.settings.heads import HEADS

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "_extensions" / "reference_pages.py"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_pages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def sections(text: str, mark: str) -> dict[str, str]:
    """The parts of a page by their headings of one level; a heading that comes again is
    numbered.
    """
    found: dict[str, str] = {}
    for part in f"\n{text}".split(f"\n{mark} ")[1:]:
        name, _, body = part.partition("\n")
        found[
            name
            if name not in found
            else f"{name} {sum(key.startswith(name) for key in found) + 1}"
        ] = body
    return found


def test_every_key_has_its_default_and_its_meaning(made: ModuleType) -> None:
    parts = sections(made.settings(), "##")
    tables: tuple[tuple[str, Mapping[str, type[msgspec.Struct]]], ...] = (
        ("A recogniser", made.RECOGNISER),
        ("A learned filter", made.FILTER),
        ("A span typer", made.TYPER),
        ("A pretraining", made.PRETRAINING),
        ("A distillation", made.DISTILLATION),
        ("A finder of relations", made.RELATIONS),
        ("Families of heads", {f'family = "{name}"': kind for name, kind in HEADS.items()}),
    )
    named = {part for _, kinds in tables for name in kinds for part in name.split(".")} | {
        "types",
        "head",
    }
    for title, kinds in tables:
        own = sections(parts[title], "###")
        for name, kind in kinds.items():
            shown = own[
                "Top of the file" if not name else f"`{name}`" if "=" in name else f"`[{name}]`"
            ]
            for field in msgspec.structs.fields(kind):
                if field.name in named and not isinstance(field.default, str):
                    continue
                line = next(
                    line for line in shown.splitlines() if line.startswith(f"- **`{field.name}`**")
                )
                assert "): " in line, f"{title}, {name}: {field.name} has no line in the docstring"
                if isinstance(field.default, bool | int | float | str):
                    assert f"default `{json.dumps(field.default)}`" in line


def test_every_key_of_a_pipeline_and_of_a_pack_has_its_meaning(made: ModuleType) -> None:
    parts = sections(made.pipelines(), "##")
    for title, kinds in (
        ("A pipeline", made._PIPELINE),
        ("The sources of a term pack", made._PACK),
    ):
        own = sections(parts[title], "###")
        for name, kind in kinds.items():
            shown = own[f"`{name}`" if name else "Top of the file"]
            for field in msgspec.structs.fields(kind):
                lines = [
                    line for line in shown.splitlines() if line.startswith(f"- **`{field.name}`**")
                ]
                assert len(lines) == (field.name != "name" or "kind = " not in name), (
                    f"{title}, {name}: {field.name}"
                )
                assert all("): " in line and not line.endswith("): ") for line in lines), (
                    f"{name}: {field.name}"
                )


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield parser
    for action in inner:
        for command in action.choices.values():
            yield from leaves(command)


def test_every_command_has_its_options(made: ModuleType) -> None:
    shown = made.commands()
    parts = {**sections(shown, "##"), **sections(shown, "###")}
    commands = list(leaves(build_parser()))
    assert len(commands) > 15
    for command in commands:
        part = parts[f"`{command.prog}`"]
        for action in command._actions:
            for option in set(action.option_strings) - {"-h", "--help"}:
                assert option in part, f"{command.prog} {option}"


def test_every_public_name_is_there(made: ModuleType) -> None:
    assert list(sections(made.api(), "##")) == [f"`{name}`" for name in fascicle.__all__]


def test_every_task_is_there(made: ModuleType) -> None:
    source = SCRIPT.parents[2] / "src" / "fascicle"
    modules = {
        f"`fascicle.{room.replace('/', '.')}.{path.stem}`"
        for room in ("verbs/tasks", "evaluation/systems")
        for path in (source / room).glob("*.py")
        if path.stem != "__init__"
    }
    listed = set(sections(made.tasks(), "##"))
    assert modules < listed
    assert {"`fascicle.verbs.link.link`", "`fascicle.verbs.serve.app`"} <= listed - modules
    assert len(modules) > 10


def test_every_finding_of_the_corpus_doctor_is_there(made: ModuleType) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in made.findings().splitlines()[2:]
    ]
    assert rows == [
        [f"`{check.code}`", check.severity, check.means, check.remedy]
        for check in checks().values()
    ]


def test_links_out_of_the_documentation_become_text(made: ModuleType, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("docs/a.md", "docs/b.md", "README.md"):
        (tmp_path / name).write_text("", encoding="utf-8")
    text = (
        "[a](b.md) [b](b.md#c) [c](../README.md) [d](..) [e](gone.md) "
        "[f](https://example.org) ![g](gone.png)\n"
    )
    fenced = "```\n[h](../README.md)\n```\n"
    shown, dead = made.without_outside_links(text + fenced, docs / "a.md", docs)
    assert shown == (
        "[a](b.md) [b](b.md#c) c d [e](gone.md) [f](https://example.org) ![g](gone.png)\n" + fenced
    )
    assert dead == ["gone.md"]
