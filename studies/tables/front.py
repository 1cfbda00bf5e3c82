"""Tables of the front pages: the goals of the first release, the shipped model, speed,
calibration, machines.
"""

from __future__ import annotations

import json
from typing import Any

from studies.common import RESULTS, result
from studies.tables.grids import MISSING, markdown

FAST: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    (
        "throughput against the Hugging Face pipeline",
        "throughput",
        ("ratio", "pipeline"),
        "{:.1f}x",
    ),
    (
        "throughput against a length-sorted fp32 torch loop",
        "throughput",
        ("ratio", "torch_loop"),
        "{:.1f}x",
    ),
    ("sentences a second, 2 cores", "throughput", ("sentences_per_second", "fascicle"), "{:.0f}"),
    (
        "`fascicle annotate --text`, whole process, against `import torch, transformers`",
        "resources",
        ("start_ratio",),
        "{:.2f}",
    ),
    ("peak memory, 20,000 sentences", "resources", ("peak_mb", "20000_sentences"), "{:.0f} MB"),
    (
        "peak memory, a document of 400,000 characters",
        "resources",
        ("peak_mb", "document_of_400000_characters"),
        "{:.0f} MB",
    ),
)


def fast() -> str:
    """How fast the shipped model is, and how much memory it takes."""
    rows = []
    for what, name, path, form in FAST:
        value: Any = result(name)
        for key in path:
            value = value[key] if value else None
        rows.append([what, form.format(value) if value else MISSING])
    return markdown(["what", "measured"], rows)


def environment() -> str:
    """The machines that the results come from."""
    seen: dict[str, list[str]] = {}
    for path in sorted(RESULTS.rglob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        facts = (
            value.get("environment")
            or value.get("facts", {}).get("environment")
            or value.get("machine")
        )
        if not facts or "processor" not in facts:
            continue
        cores = facts.get("cores", facts.get("cpu_count"))
        torch = facts.get("packages", facts)["torch"]
        beside = f", {facts['accelerator']}" if facts.get("accelerator") else ""
        name = f"{facts['processor']}, {cores} cores{beside}, torch {torch}"
        seen.setdefault(name, []).append(value["date"])
    return "\n".join(
        f"- {name}: results of {min(dates)} to {max(dates)}" for name, dates in sorted(seen.items())
    )
