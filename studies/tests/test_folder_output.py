"""What is measured of folders with one file for each input; no test asserts a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.speed import folder_output as folder_output


def test_both_commands_do_the_same_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = folder_output
    (tmp_path / "names.tsv").write_text("Chemical\taspirin\n", encoding="utf-8")
    script.make_texts(tmp_path / "texts", count=30, unit="sentence")
    report = script.measure(tmp_path, model=str(tmp_path / "names.tsv"), rounds=1)
    assert report["cpu_ratio"] > 0
    assert report["first_file"] > 0
    one = (tmp_path / "one-0.jsonl").read_bytes()
    assert one == b"".join(
        file.read_bytes() for file in sorted((tmp_path / "many-0").glob("[!.]*"))
    )
    assert one.count(b"\n") == 30
