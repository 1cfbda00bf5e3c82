"""Completion in a real shell: bash, and zsh where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.cli import COMMANDS, build_parser
from fascicle.verbs.completion import script

BASH = shutil.which("bash")
ZSH = os.environ.get("ZSH") or shutil.which("zsh")
_ASK = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fascicle; printf "%s\\n" "${COMPREPLY[@]}"'
# In place of the functions of zsh that only a line editor can call.
_ASK_ZSH = """
compdef() { }; compadd() { shift; printf "%s\\n" "$@" }; _files() { }
source "$1"; shift; words=("$@"); CURRENT=$#; _fascicle
"""


@pytest.fixture
def complete(tmp_path: Path) -> Callable[..., list[str]]:
    place = tmp_path / "completion.bash"
    place.write_text(script("bash"), encoding="utf-8")

    def ask(*words: str) -> list[str]:
        assert BASH is not None
        command = [BASH, "--norc", "-c", f'source "{place}"; {_ASK}', "bash", "fascicle", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout.split()

    return ask


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_bash_completes_commands_options_and_values(complete: Callable[..., list[str]]) -> None:
    assert complete("") == list(COMMANDS)
    assert complete("anno") == ["annotate"]
    assert {"--model", "--also", "--help", "--quiet"} <= set(complete("annotate", "--"))
    assert sorted(complete("annotate", "--al")) == ["--allow-loss", "--also"]
    assert complete("annotate", "--case", "") == ["auto", "exact", "any"]
    assert complete("annotate", "texts", "--format", "pub") == ["pubtator", "pubtator3"]
    assert sorted(complete("corpus", "")) == ["check", "convert", "stats"]
    assert complete("corpus", "check", "--te") == ["--test"]
    assert complete("completion", "") == ["bash", "zsh"]
    assert complete("annotate", "te") == []  # the names of files, which bash then gives itself
    assert complete("annotate", "--model", "") == []
    assert complete("nonsense", "--x") == []


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_every_option_of_every_command_is_there(complete: Callable[..., list[str]]) -> None:
    for name in ("annotate", "train", "serve", "evaluate"):
        told = (
            build_parser(name)
            .parse_args([name, *(["x"] if name in ("train", "evaluate") else [])])
            .parser
        )
        flags = {
            flag
            for action in told._actions
            for flag in action.option_strings
            if flag.startswith("--")
        }
        assert set(complete(name, "--")) == flags


@pytest.mark.skipif(ZSH is None, reason="zsh is not installed")
def test_zsh_completes_the_same(tmp_path: Path) -> None:
    place = tmp_path / "completion.zsh"
    place.write_text(script("zsh"), encoding="utf-8")

    def ask(*words: str) -> list[str]:
        command = [str(ZSH), "-f", "-c", _ASK_ZSH, "zsh", str(place), "fascicle", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert ask("") == list(COMMANDS)
    assert "--also" in ask("annotate", "--al")
    assert ask("annotate", "--case", "") == ["auto", "exact", "any"]
    assert sorted(ask("corpus", "")) == ["check", "convert", "stats"]
    assert "--test" in ask("corpus", "check", "--te")
    assert ask("annotate", "te") == []


def test_another_shell_is_refused(refused: Callable[..., str]) -> None:
    assert "bash, zsh" in refused("completion", "fish")


def test_the_command_prints_the_script(cli: Callable[..., Any]) -> None:
    assert cli("completion", "bash").out == script("bash")
