"""``fascicle doctor``: what it says is what is installed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
import pytest

from fascicle.settings.folders.shipped import shipped_models
from fascicle.version import VERSION


def test_ten_lines_for_a_report(cli: Callable[..., Any]) -> None:
    result = cli("doctor")
    assert (result.code, result.err, len(result.out.splitlines())) == (0, "", 10)
    said = json.loads(cli("doctor", "--json").out)
    assert list(said) == [line.partition("  ")[0].strip() for line in result.out.splitlines()]
    assert said["fascicle"].startswith(f"{VERSION} in ")
    assert f"{len(os.sched_getaffinity(0))} of" in said["processor"]
    assert set(shipped_models()) <= set(said["shipped"].split(", "))
    opened, rate = re.findall(r"([\d.,]+) (?:s|characters)", said["speed"])
    assert float(opened) > 0
    assert float(rate.replace(",", "")) > 0


def test_packages_and_extras_are_those_of_the_installation(cli: Callable[..., Any]) -> None:
    said = json.loads(cli("doctor", "--json").out)
    try:
        metadata.requires("fascicle")
    except metadata.PackageNotFoundError:
        assert said["packages"] == said["extras"] == "not known"
        return
    assert f"numpy {np.__version__}" in said["packages"]
    extras = dict(one.split(" ", 1) for one in said["extras"].split("; "))
    for extra, package in (("plots", "matplotlib"), ("parquet", "pyarrow"), ("scale", "ray")):
        try:
            there = f"{package} {metadata.version(package)}" in extras[extra]
            assert extras[extra].startswith("yes") == there
        except metadata.PackageNotFoundError:
            assert extras[extra] == f"no, without {package}"


def test_names_of_variables_and_no_values(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASCICLE_TOKEN", "very-secret")
    out = cli("doctor").out
    assert "FASCICLE_TOKEN" in out
    assert "very-secret" not in out


def test_a_corpus_is_sent_to_the_command_for_it(refused: Callable[..., str]) -> None:
    assert "fascicle corpus check 'my corpus.tsv'" in refused("doctor", "my corpus.tsv")
