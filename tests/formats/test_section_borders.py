"""Tests that sections end sentences in files with words."""

from __future__ import annotations

from pathlib import Path

from fascicle.cli import main

TEXT = "1|t|Role of IL-2\n1|a|The gene helps. It works.\n"


def test_title_and_abstract_are_two_sentences_in_conll(tmp_path: Path) -> None:
    source, target = tmp_path / "a.pubtator", tmp_path / "a.conll"
    source.write_text(TEXT, encoding="utf-8")
    assert main(["corpus", "convert", str(source), "-o", str(target)]) == 0
    blocks = target.read_text(encoding="utf-8").strip().split("\n\n")
    assert [
        "".join(line.split()[0] for line in block.splitlines())
        for block in blocks
        if "DOCSTART" not in block
    ] == [
        "RoleofIL-2",
        "Thegenehelps.",
        "Itworks.",
    ]


def test_title_and_abstract_are_two_sentences_in_spacy(tmp_path: Path) -> None:
    source, target, again = tmp_path / "a.pubtator", tmp_path / "a.spacy", tmp_path / "b.conll"
    source.write_text(TEXT, encoding="utf-8")
    assert main(["corpus", "convert", str(source), "-o", str(target)]) == 0
    assert main(["corpus", "convert", str(target), "-o", str(again)]) == 0
    assert again.read_text(encoding="utf-8").strip().count("\n\n") >= 2
