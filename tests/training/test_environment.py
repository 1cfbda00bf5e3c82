"""What is written down of software and machine, and how two such records are compared."""

from __future__ import annotations

import json

import pytest
import torch

from fascicle.training.engine.folder import describe_environment, differences, sources_sha256
from fascicle.training.experiments.results import other_conditions


def test_what_decides_the_last_digits_is_written_down() -> None:
    told = describe_environment()
    assert told["threads"] == torch.get_num_threads()
    assert told["interop_threads"] == torch.get_num_interop_threads()
    assert told["packages"]["torch"] == torch.__version__
    assert told["sources"] == sources_sha256()[:16]
    assert told["torch_instructions"] == torch.backends.cpu.get_cpu_capability()
    assert json.loads(json.dumps(told)) == told
    assert differences(told, describe_environment()) == []


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("sources", "0" * 16, "code"),
        ("threads", 99, "threads: "),
        ("packages", {"torch": "9.9"}, "torch 9.9"),
        ("instructions", ["avx9000"], "avx9000"),
        ("processor_model", "1-2-3", "1-2-3"),
        ("variables", {"DNNL_MAX_CPU_ISA": "AVX2"}, "DNNL_MAX_CPU_ISA AVX2"),
        ("precision", "bf16", "bf16"),
    ],
)
def test_a_difference_is_named(key: str, value: object, named: str) -> None:
    own = describe_environment() | {"precision": "fp32"}
    (told,) = differences(own, own | {key: value})
    assert named in told


@pytest.mark.parametrize("key", ["cores", "python", "system"])
def test_what_decides_nothing_is_no_difference(key: str) -> None:
    assert differences(describe_environment(), describe_environment() | {key: "other"}) == []


def test_earlier_releases_wrote_less() -> None:
    old = {"threads": 1, "processor": "x"}
    assert differences(old, old | {"sources": "a", "processor_model": "b"}) == []
    assert differences(old, {"threads": 2})


def test_runs_of_one_recipe_are_compared() -> None:
    values = [
        {"facts": {"environment": {"threads": 1, "sources": name}, "precision": precision}}
        for name, precision in (("a", "bf16"), ("a", "bf16"), ("b", "bf16"), ("c", "fp32"))
    ]
    assert other_conditions(values[:2]) == []
    assert len(other_conditions(values[:3])) == 1
    assert len(other_conditions(values)) == 2
    assert other_conditions([]) == []
