"""Tries an installed package in an environment of its own: ``make package`` runs it outside of the
checkout.

It needs nothing but the package, so it has no tests of pytest in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import requires, version
from pathlib import Path

import fascicle

TEXT = "Aspirin for lung cancer."
WANTED = [("Aspirin", "Chemical"), ("lung cancer", "Disease")]


def found(line: str) -> list[tuple[str, str]]:
    """The texts and types of the mentions in a line of JSON."""
    record = json.loads(line)
    return [
        (record["text"][one["spans"][0][0] : one["spans"][-1][1]], one["type"])
        for one in record["mentions"]
    ]


def main() -> None:
    """Annotates from Python and on the command line, in a folder that has no source code."""
    assert fascicle.__version__ == version("fascicle")
    assert "site-packages" in str(Path(fascicle.__file__)), (
        "the checkout was imported, not what is installed"
    )
    base = [one for one in requires("fascicle") or () if "extra ==" not in one]
    assert len(base) == 4, base
    document = fascicle.load()(TEXT)
    assert [(one.text, one.type) for one in document] == WANTED
    program = str(Path(sys.executable).with_name("fascicle"))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "annotate", "--text", TEXT, "--json"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        assert found(done.stdout) == WANTED
        page = Path(folder, "a.pdf")
        page.write_bytes(b"%PDF-1.4\n")
        refused = subprocess.run(
            [program, "annotate", str(page)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 2
        assert "fascicle[office]" in refused.stderr
    sys.stdout.write(f"fascicle {fascicle.__version__} works in {sys.prefix}\n")


if __name__ == "__main__":
    main()
