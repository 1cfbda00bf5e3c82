"""Finds the mentions of the models that ship, once, and keeps them; see ``plan.md``.

python -m studies.concepts.mentions FOLDER [--models biomed biomed-fast] [--parts test dev aside]
[--again]

A folder below FOLDER for each state of a model, so that a new model is read anew. ``--again`` is
needed where the rules of the decision changed and the model did not.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final, get_args

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.errors import InputError
from fascicle.formats import read, write
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from studies.concepts.corpora import SOURCES, Part, documents

MODELS: Final = ("biomed", "biomed-fast")
_TOGETHER: Final = 64


def main(argv: Sequence[str] | None = None) -> int:
    """Finds what is not kept yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--parts", nargs="+", choices=get_args(Part), default=["test", "dev"])
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args(argv)
    for name in args.models:
        model = load_single(name, threads=1)
        for part in args.parts:
            for corpus in SOURCES:
                path = place(args.folder, model, corpus, part)
                gold = documents(corpus, part) if args.again or not path.exists() else []
                if gold:
                    _find(model, gold, path)
                    print(name, corpus, part, flush=True)
    return 0


def found(folder: Path, name: str, corpus: str, part: Part) -> list[Document]:
    """The documents of a part with the mentions of a model, of the types of the corpus.

    Raises:
        InputError: they were not found yet with this state of the model.
    """
    types = SOURCES[corpus].types
    path = place(folder, load_single(name, threads=1), corpus, part)
    if path.exists():
        return [_of_types(one, types) for one in read(path)]
    if documents(corpus, part):
        raise InputError(
            f"{path} is not there: the model {name} was not run over {corpus} as it is now; run "
            f"python -m studies.concepts.mentions {folder} --models {name} --parts {part}"
        )
    return []


def place(folder: Path, model: ModelPredictor, corpus: str, part: Part) -> Path:
    """Where the mentions are kept."""
    return folder / f"{model.manifest.name}-{model.fingerprint[:12]}" / f"{corpus}-{part}.jsonl"


def _find(model: ModelPredictor, gold: Sequence[Document], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    bare = [Document(id=one.id, text=one.text) for one in gold]
    said: list[Document] = []
    for start in range(0, len(bare), _TOGETHER):
        part = bare[start : start + _TOGETHER]
        said += [apply(one, patch) for one, patch in zip(part, model.predict(part), strict=True)]
    write(
        path,
        (msgspec.structs.replace(one, events=()) for one in said),
        format="native",
        overwrite=True,
    )


def _of_types(document: Document, types: Sequence[str]) -> Document:
    """As the linker gets it: mentions without links, of some types."""
    kept: tuple[Mention, ...] = tuple(one for one in document.mentions if one.type in types)
    return msgspec.structs.replace(document, mentions=kept)


if __name__ == "__main__":
    raise SystemExit(main())
