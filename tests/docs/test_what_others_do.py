"""The page about other libraries is that of the table, and each row has its test and its pinned
version.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REALITY = ROOT / "tests/reality"
spec = importlib.util.spec_from_file_location(
    "others_table", ROOT / "docs/_scripts/others_table.py"
)
assert spec is not None
assert spec.loader is not None
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def test_the_page_is_made_from_the_table() -> None:
    assert (ROOT / "docs/what-others-do.md").read_text(encoding="utf-8") == script.page(
        script.rows()
    )


def test_each_row_has_a_test_and_the_pinned_version() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in REALITY.rglob("test_*.py"))
    tests = set(re.findall(r"^def (test_\w+)", code, re.M))
    pinned = {
        line.strip()
        for path in REALITY.glob("requirements-*.txt")
        for line in path.read_text("utf-8").splitlines()
    }
    for row in script.rows():
        assert row["test"] in tests
        assert f"{row['library']}=={row['version']}" in pinned


def test_findings_have_their_form() -> None:
    scripts = sorted((ROOT / "findings").glob("*.sh"))
    assert scripts
    for path in scripts:
        content = path.read_text(encoding="utf-8")
        assert [
            name
            for name in ("Version", "Input", "Expected", "Observed", "Source")
            if f"# {name}: " not in content
        ] == []
        pinned = r"pip install [^\n]*==|npm install [^\n]*[a-z]@\d|apt-get [^\n]*download [^\n]*=\d"
        assert re.search(pinned, content)
        assert "fascicle" not in content.lower()
        assert subprocess.run(["sh", "-n", path], check=False).returncode == 0
