"""What ``import fascicle`` does not do; each check runs in an interpreter of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src"
BASE = [
    "core",
    "files",
    "settings",
    "text",
    "decoding",
    "formats",
    "combination",
    "evaluation",
    "doctor",
    "errors",
    "loading",
    "cli",
]


def run(code: str) -> str:
    """Runs code in a fresh interpreter without site customisation of warnings, and returns what
    it printed.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            f"import sys; sys.path.insert(0, {str(SOURCES)!r})\n{code}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def modules(*rooms: str) -> list[str]:
    """The modules of some rooms, as far as they exist."""
    found = []
    for room in rooms:
        paths = [
            SOURCES / "fascicle" / f"{room}.py",
            *sorted((SOURCES / "fascicle" / room).rglob("*.py")),
        ]
        parts = (path.relative_to(SOURCES).with_suffix("").parts for path in paths if path.exists())
        found += [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts]
    return found


@pytest.mark.parametrize(
    "heavy", ["torch", "transformers", "onnxruntime", "accelerate", "onnx", "matplotlib"]
)
def test_importing_loads_nothing_heavy(heavy: str) -> None:
    assert run(f"import fascicle; print({heavy!r} in sys.modules)") == "False"


def test_the_base_rooms_work_without_torch() -> None:
    names = modules(*BASE, "runtime")
    code = (
        "import importlib\n"
        "for name in ('torch', 'transformers', 'accelerate', 'safetensors', 'onnx'): "
        "sys.modules[name] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "print('done')"
    )
    assert run(code) == "done"


def test_a_model_without_dictionaries_starts_without_what_finds_names() -> None:
    loaded = run(
        "import fascicle\nfascicle.load('biomed', links=False)\n"
        "print([one for one in sys.modules if one.startswith(('fascicle.terms.pack', "
        "'fascicle.terms.keys'))])"
    )
    assert loaded == "[]"


def test_a_text_is_annotated_without_what_reads_folders_recipes_and_mark_up() -> None:
    others = [
        "formats.brat_lines",
        "formats.extraction",
        "formats.offset_tables",
        "settings.recipes.strict",
        "text.marked",
    ]
    said = run(
        "from fascicle.cli import main\n"
        "code = main(['annotate', '--text', 'Lithium may cause nausea.', '--json'])\n"
        f"print(code, [one for one in {others!r} if f'fascicle.{{one}}' in sys.modules])"
    )
    assert said.splitlines()[-1] == "0 []"


def test_links_of_a_text_are_found_without_masked_arrays() -> None:
    """Nobody masks an array here, and the module takes a while to import."""
    said = run(
        "import fascicle\nmodel = fascicle.load('biomed', link='basic')\n"
        "links = [one.links for one in model('Lithium may cause nephrogenic diabetes "
        "insipidus.').mentions]\n"
        "print(any(links), 'numpy.ma' in sys.modules)"
    )
    assert said == "True False"


def test_importing_opens_no_socket() -> None:
    code = (
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(event) if "
        "event.startswith('socket.') else None)\n"
        "import fascicle\n"
        "print(opened)"
    )
    assert run(code) == "[]"


def test_tests_reach_no_network() -> None:
    """So what no test could do is not done: every other way out of this machine ends the test
    that takes it.
    """
    with pytest.raises(AssertionError, match="no network"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(AssertionError, match="no network"):
        socket.getaddrinfo("example.org", 80)


def test_importing_changes_nothing_global() -> None:
    code = (
        "import logging, os, random, signal, warnings\n"
        "def state():\n"
        "    loggers = sorted(n for n, l in logging.root.manager.loggerDict.items() if "
        "getattr(l, 'handlers', None))\n"
        "    return (dict(os.environ), os.getcwd(), list(logging.root.handlers), "
        "logging.root.level, loggers,\n"
        "            list(warnings.filters), random.getstate(), signal.getsignal(signal.SIGINT), "
        "sys.excepthook)\n"
        "import msgspec, numpy  # these add filters of their own\n"
        "before = state()\n"
        "import fascicle\n"
        "print(before == state())"
    )
    assert run(code) == "True"


def test_the_public_names_are_sorted_and_exist() -> None:
    code = (
        "import fascicle\n"
        "names = list(getattr(fascicle, '__all__', []))\n"
        "assert names == sorted(names), names\n"
        "assert set(names) <= set(dir(fascicle)), set(names) - set(dir(fascicle))\n"
        "print('done')"
    )
    assert run(code) == "done"


def test_the_package_is_typed() -> None:
    assert (SOURCES / "fascicle" / "py.typed").exists()
