"""The recipes for clusters in the documentation: they can be parsed, and so can the commands in
them.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.pages import blocks

from fascicle.cli import build_parser
from fascicle.verbs.parsing import parse

PAGE = (Path(__file__).parents[3] / "docs" / "how-to-run-on-many-machines.md").read_text(
    encoding="utf-8"
)


def command_in(text: str) -> list[str]:
    """The words of ``fascicle run`` in a script, with a number and an address for what a shell
    would put there.
    """
    (found,) = re.findall(r"fascicle (run .*?--resume)", text.replace("\\\n", " "), re.DOTALL)
    return shlex.split(re.sub(r"\$\(\(.*?\)\)", "8", found).replace("$head", "head"))


def test_the_job_for_kubernetes_is_whole_and_its_command_parses() -> None:
    yaml = pytest.importorskip("yaml")
    (text,) = blocks(PAGE, "yaml")
    job = yaml.safe_load(text)
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    given = parse(build_parser(), command_in(job["spec"]["entrypoint"]))
    assert (given.ray, given.resume) == ("auto", True)
    (workers,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    (container,) = workers["template"]["spec"]["containers"]
    assert given.workers == workers["replicas"] * int(container["resources"]["limits"]["cpu"])


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_script_for_slurm_is_one_and_its_command_parses() -> None:
    (text,) = blocks(PAGE, "bash")
    subprocess.run(["bash", "-n"], input=text.encode(), check=True)
    given = parse(build_parser(), command_in(text))
    assert (given.ray, given.workers, given.resume) == ("head:6379", 8, True)
