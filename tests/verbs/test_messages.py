"""What an error advises can be typed as it stands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core import codec

Cli = Callable[..., Any]
Refused = Callable[..., str]
COLUMN = "Free text note"


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_a_table_with_columns_of_its_own_names_is_read_as_the_errors_advise(
    cli: Cli, refused: Refused, model: Path, tmp_path: Path, suffix: str, separator: str
) -> None:
    path = tmp_path / f"odd.{suffix}"
    path.write_text(
        f"Patient{separator}{COLUMN}\nA1{separator}aspirin caused pain\n", encoding="utf-8"
    )
    command = ["annotate", "--model", model, path]
    (advised,) = re.findall(
        r"read it with --input-format table and (--field .*?); else", refused(*command)
    )
    assert codec.decode(
        cli(*command, "--input-format", "table", *shlex.split(advised)).out
    ).mentions
    command += ["--input-format", "table"]
    (advised,) = re.findall(r"name the one with (--field .*)", refused(*command))
    document = codec.decode(cli(*command, *shlex.split(advised)).out)
    assert document.text == "aspirin caused pain"
    assert len(document.mentions) == 2


def test_a_file_that_is_no_table_gets_no_advice_about_tables(
    refused: Refused, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "odd.data"
    path.write_text("something else", encoding="utf-8")
    assert "--field" not in refused("annotate", "--model", model, path)
