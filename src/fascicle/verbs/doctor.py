"""Command ``fascicle doctor``: looks at the installation, in ten lines for a report. It looks at no
corpus.

Corpora are looked at by ``fascicle corpus check``, whose checks are in
`fascicle.evaluation.doctor`.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import time
from importlib import metadata
from pathlib import Path
from typing import Final

from fascicle.core.machine import usable_cores
from fascicle.errors import UsageError
from fascicle.loading import DEFAULT_MODEL, load
from fascicle.plugins import plugins
from fascicle.settings.folders.shipped import shipped_models
from fascicle.settings.folders.vocabularies import shipped_linkers, shipped_packs
from fascicle.verbs.messages import emit
from fascicle.verbs.options import option, reads
from fascicle.version import VERSION

_TEXT: Final = (
    "Lithium caused tremor and nephrogenic diabetes insipidus in two patients with a mutation of "
    "BRCA1. " * 40
)
_REQUIREMENT: Final = re.compile(r"""^([\w.-]+).*?(?:extra\s*==\s*['"]([\w-]+)['"].*)?$""")
_FOR_DEVELOPERS: Final = ("all", "dev", "docs")  # extras
# instructions for 8-bit numbers
_FAST: Final = ("amx_int8", "avx512_vnni", "avx_vnni", "i8mm", "asimddp")
# beginnings of names that change something
_VARIABLES: Final = ("FASCICLE_", "OMP_", "ORT_", "RAYON_", "HF_")


class Options:
    """Options of ``fascicle doctor``.

    In Python: ``fascicle.verbs.doctor.examine_installation()``

    Attributes:
        files: give no file; fascicle corpus check examines corpora.
        json: print the lines as JSON.
    """

    files: list[str] = option("NONE *", reads)
    json: bool = option("--json")


def run(args: Options) -> int:
    """Prints what is installed; returns the exit code."""
    if args.files:
        raise UsageError(
            f"doctor looks at the installation, and {args.files[0]} was given; look at a corpus "
            f"with fascicle corpus check {shlex.quote(args.files[0])}"
        )
    facts = examine_installation()
    width = max(map(len, facts))
    return emit(
        facts, (f"{name:<{width}}  {value}" for name, value in facts.items()), as_json=args.json
    )


def examine_installation() -> dict[str, str]:
    """Returns facts about this installation, by subject; opens the default model, and measures
    it.
    """
    base, extras = _packages()
    variables = [name for name in sorted(os.environ) if name.startswith(_VARIABLES)]
    packs = [f"pack {name}" for name in shipped_packs()] + [
        f"linker {name}" for name in shipped_linkers()
    ]
    return {
        "fascicle": f"{VERSION} in {Path(__file__).parents[1]}",
        "python": f"{platform.python_version()} ({platform.python_implementation()}), "
        f"{platform.platform()}",
        "packages": ", ".join(f"{name} {_version(name) or 'is missing'}" for name in base)
        or "not known",
        "extras": "; ".join(_extra(name, needed) for name, needed in sorted(extras.items()))
        or "not known",
        "plug-ins": ", ".join(f"{name.name} of {name.package}" for name in plugins({})) or "none",
        "processor": f"{platform.machine()}, {usable_cores()} of {os.cpu_count()} cores may be "
        "used",
        "8-bit models": _eight_bits(),
        "shipped": ", ".join((*shipped_models(), *packs)) or "no model",
        "speed": _speed(),
        "environment": ", ".join(variables) or "no variable that changes anything",
    }


def _packages() -> tuple[list[str], dict[str, list[str]]]:
    """Returns the packages of the base install, and those of each extra."""
    base: list[str] = []
    extras: dict[str, list[str]] = {}
    try:
        required = metadata.requires("fascicle") or []
    except metadata.PackageNotFoundError:  # it runs from its sources
        return base, extras
    for requirement in required:
        name, extra = _REQUIREMENT.sub(r"\1 \2", requirement).split(" ")
        if name != "fascicle" and extra not in _FOR_DEVELOPERS:
            (extras.setdefault(extra, []) if extra else base).append(name)
    return base, extras


def _extra(name: str, needed: list[str]) -> str:
    missing = [name for name in needed if not _version(name)]
    versions = [f"{name} {_version(name)}" for name in needed]
    return (
        f"{name} no, without {' and '.join(missing)}"
        if missing
        else f"{name} yes ({', '.join(versions)})"
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _eight_bits() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "this system does not say whether the processor has instructions for them"
    flags = {
        flag
        for line in lines
        if line.lower().startswith(("flags", "features"))
        for flag in line.split()
    }
    fast = [flag for flag in _FAST if flag in flags]
    return (
        f"fast here: the processor has {', '.join(fast)}"
        if fast
        else "the processor has no instructions for them"
    )


def _speed() -> str:
    """Measures the default model on this machine: its start, and then text."""
    if not shipped_models():
        return "no model to measure"
    begun = time.perf_counter()
    model = load(DEFAULT_MODEL, link=())
    model("Lithium.")
    opened = time.perf_counter()
    model(_TEXT)
    rate = len(_TEXT) / (time.perf_counter() - opened)
    return (
        f"{model.name} opens in {opened - begun:.2f} s, then does {rate:,.0f} characters a second"
    )
