"""Environment of a run, on which its numbers depend beside recipe, seed and data: software and processor.

One thread alone does not make two runs equal to the bit. The order in which a sum is taken decides its last digits, and
that follows from the code, from the versions of the libraries, from the vector instructions that they choose on a
processor, from the number of threads, and from the arithmetic (bf16 or fp32).
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from importlib import metadata, resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

_PACKAGES: Final = ("fascicle", "accelerate", "numpy", "onnxruntime", "tokenizers", "torch", "transformers")
_FLAGS: Final = ("avx", "avx2", "fma", "avx512", "amx", "avx_vnni", "bf16", "asimd", "sve")  # beginnings, and "bf16"
_VARIABLES: Final = (
    "ATEN_CPU_CAPABILITY",
    "CUBLAS_WORKSPACE_CONFIG",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "PYTORCH_CUDA_ALLOC_CONF",
)
_DECIDING: Final = MappingProxyType(
    {
        "packages": "versions of packages",
        "sources": "code of Fascicle",
        "processor": "processor",
        "processor_model": "processor model",
        "instructions": "vector instructions",
        "torch_instructions": "vector instructions that torch uses",
        "threads": "threads",
        "accelerator": "accelerator",
        "precision": "arithmetic",
        "variables": "environment variables",
    }
)


def describe_environment() -> dict[str, Any]:
    """Returns versions of the libraries, the machine, and the settings that determine the order of sums."""
    import torch

    cpuinfo = _cpuinfo()
    flags = (cpuinfo.get("flags") or cpuinfo.get("Features") or "").split()
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "sources": sources_sha256()[:16],
        "system": platform.system(),
        "processor": cpuinfo.get("model name", "") or platform.processor() or platform.machine(),
        "processor_model": "-".join(cpuinfo.get(key, "?") for key in ("cpu family", "model", "stepping")),
        "instructions": sorted(flag for flag in flags if flag.startswith(_FLAGS)),
        "torch_instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Lists differences between two environments that may change the last digits of a result.

    Args:
        one: of ``describe_environment``, with ``precision``; a key that it lacks is not compared, as earlier releases
            wrote fewer.
        other: the same.

    Returns:
        Each difference in a few words; none means that one recipe with one seed gives the same bits in both.
    """
    found = []
    for key, name in _DECIDING.items():
        if None not in (one.get(key), other.get(key)) and one[key] != other[key]:
            found.append(f"{name}: {_shown(one[key], other[key])} and {_shown(other[key], one[key])}")
    return found


def _shown(value: object, other: object) -> str:
    """Formats a value; for a table or a list only the entries that the other one lacks."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return ", ".join(f"{key} {of}" for key, of in value.items() if other.get(key) != of) or "none"
    if isinstance(value, list) and isinstance(other, list):
        return ", ".join(str(one) for one in value if one not in other) or "no more"
    return str(value)


def sources_sha256() -> str:
    """Returns the hash of the code of this package: the version number does not identify a checkout."""
    root = Path(str(resources.files("fascicle")))
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def use_threads(count: int | None) -> None:
    """Limits the CPU threads of all later computations of torch; ``None`` changes nothing."""
    import torch

    if count is not None:
        torch.set_num_threads(count)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _cpuinfo() -> dict[str, str]:
    """Returns the facts that Linux gives about the first processor."""
    info, found = Path("/proc/cpuinfo"), dict[str, str]()
    if info.exists():
        first = info.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
        for line in first.splitlines():
            name, _, value = line.partition(":")
            found[name.strip()] = value.strip()
    return found
