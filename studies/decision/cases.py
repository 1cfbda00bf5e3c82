"""How well a shipped model reads development texts in lower case, in capitals and in Title Case.

usage: python -m studies.decision.cases FOLDER [MODEL ...]

FOLDER is that of ``studies.decision.development``. Of each abstract corpus the 100 texts with the
lowest hashes are read in each case, and in lower case also without reading texts without capitals
in capitals. The shipped models learnt from these texts as they are written, so the level is too
high; the differences are what counts. Writes ``results/decision-cases.json``.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.scoring.scores import score
from fascicle.formats import read
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.decision import PLAIN
from studies.common import result, write_result
from studies.conventions.cased import same_length

FILES: Final = ("biored", "bc5cdr", "ncbi-disease", "bionlp13cg", "jnlpba")
CASES: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {"as written": str, "lower case": str.lower, "capitals": str.upper, "Title Case": str.title}
)
_TEXTS: Final = 100


def main(argv: Sequence[str] | None = None) -> None:
    """Reads, scores, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*", default=["biomed", "biomed-fast"])
    parser.add_argument(
        "--only", nargs="*", default=list(CASES), metavar="CASE", help="other rows stay"
    )
    args = parser.parse_args(argv)
    files = {name: _drawn(args.folder / f"{name}.jsonl") for name in FILES}
    rows: dict[str, dict[str, float]] = dict(result("decision-cases").get("rows", {}))
    for name in args.models:
        model = load_single(name, threads=1)
        plain = model.ruled(characters=PLAIN)
        for case, change in ((case, CASES[case]) for case in args.only):
            rows[f"{model.name}: {case}"] = _scored(model, files, change)
            print(model.name, case, rows[f"{model.name}: {case}"], flush=True)
        if "lower case" in args.only:
            rows[f"{model.name}: lower case, not in capitals"] = _scored(plain, files, str.lower)
        write_result("decision-cases", {"texts": _TEXTS, "files": FILES, "rows": rows})


def _drawn(path: Path) -> list[Document]:
    return sorted(read(path), key=lambda one: hashlib.sha256(one.id.encode()).digest())[:_TEXTS]


def _scored(
    model: ModelPredictor, files: Mapping[str, Sequence[Document]], change: Callable[[str], str]
) -> dict[str, float]:
    """Strict F1 of each type over all files that annotate it."""
    gold: dict[str, dict[str, tuple[Mention, ...]]] = {}
    found: dict[str, dict[str, tuple[Mention, ...]]] = {}
    for name, documents in files.items():
        shown = [Document(id=one.id, text=same_length(one.text, change)) for one in documents]
        patches = model.predict(shown)
        for kind in sorted({mention.type for one in documents for mention in one.layer(GOLD)}):
            for one, patch in zip(documents, patches, strict=True):
                key = f"{name} {one.id}"
                gold.setdefault(kind, {})[key] = _of_type(one.layer(GOLD), kind)
                found.setdefault(kind, {})[key] = _of_type(patch.add, kind)
    return {kind: score(truth, found[kind]).micro.f1 for kind, truth in gold.items()}


def _of_type(mentions: Sequence[Mention], kind: str) -> tuple[Mention, ...]:
    return tuple(
        msgspec.structs.replace(one, score=None, source="") for one in mentions if one.type == kind
    )


if __name__ == "__main__":
    main()
