"""What a number depends on beside recipe, seed and data: software and machine."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

_PACKAGES = ("fascicle", "accelerate", "numpy", "onnxruntime", "tokenizers", "torch", "transformers")


def describe_environment() -> dict[str, object]:
    """Versions of what computes, and the machine it computes on."""
    import torch

    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "system": platform.system(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
