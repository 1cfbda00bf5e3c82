"""What does a bi-encoder find of a type that it was not trained on, once the type is described?

usage: python -m studies.binder.unseen_types RUN [RUN ...]

A RUN is the folder of a complete training run whose recipe leaves types out (``corpus.types.drop``
or ``keep``) and whose file of descriptions describes them, as those of
``studies/grids/unseen.toml``. For each type that was left out, the test part is read by the trained
model as ``fascicle annotate --types`` does it: once with that type alone described, and once with
all types of the file, which compete where mentions must not overlap. Scores are those of the
mentions of the type, strict, with an interval over documents. Nothing is tuned. To tell whether
order or threshold is at fault, the type alone is looked for once more with the threshold far down:
the best F1 of all cutoffs of the score is what hindsight would give. A run that leaves nothing out
is the model that was trained on all: its scores of every type stand beside the others, and what it
finds once each type is described in other words.

Writes ``results/unseen_types.json``, in which the runs that are not named stay.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from msgspec import UNSET

from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.loading import load
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.heads import BinderSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.types import TypeDescriptions, read_types
from fascicle.training.corpus import read_part
from fascicle.training.experiments.hashes import read_run_recipe
from studies import common
from studies.common import row, write_result

# of a threshold: to a score of 6e-6, which leaves room for an order among what is below it
LOWER = 12.0


def described(recipe: Recipe, folder: Path) -> TypeDescriptions:
    """All types that the file of a run describes.

    Raises:
        InputError: the run reads no file of descriptions.
    """
    head = recipe.heads()[recipe.answer()]
    if not isinstance(head, BinderSettings) or not head.types:
        raise InputError(
            f"the run in {folder} reads no descriptions of types; give one of the family "
            "'binder' that does"
        )
    return read_types(head.types)


def of_type(documents: Sequence[Document], found: Sequence[Sequence[Mention]], name: str) -> Scores:
    """Scores of the mentions of one type."""
    gold = {d.id: tuple(m for m in d.layer(GOLD) if m.type == name) for d in documents}
    said = {
        key: tuple(m for m in ms if m.type == name) for key, ms in by_id(documents, found).items()
    }
    return score(gold, said)


def by_id(
    documents: Sequence[Document], found: Sequence[Sequence[Mention]]
) -> dict[str, Sequence[Mention]]:
    """What was found, by document."""
    return {d.id: ms for d, ms in zip(documents, found, strict=True)}


def predicted(
    folder: Path, types: TypeDescriptions, documents: Sequence[Document], *, lower: float = 0.0
) -> list[tuple[Mention, ...]]:
    """What the model of a run finds of some types.

    Args:
        folder: of the run.
        types: to look for.
        documents: to read.
        lower: how far every threshold is put down, in units of the score of a span.
    """
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "types.toml"
        file.write_text(as_toml(types), encoding="utf-8")
        model = load(folder / "best", threads=1, types=file, links=False)
    assert isinstance(model, ModelPredictor)  # an ensemble takes no types
    lowered = model.with_nothing(model.manifest.decision.nothing - lower)
    return [patch.add for patch in lowered.predict(documents)]


def in_hindsight(
    documents: Sequence[Document], found: Sequence[Sequence[Mention]], name: str
) -> dict[str, float]:
    """The cutoff of the scores of a type at which its F1 is best, chosen on these very documents.

    Mentions of flat decoding do not overlap, the better one stays, so those above a cutoff are what
    would be found with it.

    Args:
        documents: with gold.
        found: mentions of each document.
        name: of the type.

    Returns:
        Precision, recall and F1 at the cutoff, and ``"found"``, how many mentions reach it.
    """
    gold = {(d.id, m.spans) for d in documents for m in d.layer(GOLD) if m.type == name}
    said = [
        (m.score or 0.0, (d.id, m.spans) in gold)
        for d, ms in zip(documents, found, strict=True)
        for m in ms
    ]
    said.sort(key=lambda one: -one[0])
    best, right = (0.0, 0, 0), 0
    for number, (cutoff, is_right) in enumerate(said, start=1):
        right += is_right
        if number == len(said) or said[number][0] < cutoff:  # the last of those that are equal
            best = max(
                best, (2 * right / (number + len(gold)), right, number), key=lambda one: one[0]
            )
    f1, right, number = best
    return {
        "precision": right / max(number, 1),
        "recall": right / max(len(gold), 1),
        "f1": f1,
        "found": number,
    }


def in_other_words(types: TypeDescriptions, way: str) -> TypeDescriptions:
    """Types that are described by their keyword, or by their name, alone."""
    texts = (
        types.texts("keyword")
        if way == "keyword"
        else [name.replace("_", " ") for name in types.names]
    )
    told = [
        msgspec.structs.replace(t, description=text)
        for t, text in zip(types.types, texts, strict=True)
    ]
    return msgspec.structs.replace(types, types=tuple(told))


def as_toml(types: TypeDescriptions) -> str:
    """A file that describes types; every JSON string is one of TOML too."""
    parts = []
    for one in types.types:
        fields = msgspec.to_builtins(one)
        parts.append(
            "[[type]]\n"
            + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
        )
    return "\n".join(parts)


def measured(folder: Path) -> dict[str, Any]:
    """Everything about one run.

    Raises:
        InputError: no complete run, no descriptions, no test part, or a type that was left out is
            not described.
    """
    if not (folder / "scores.json").exists():
        raise InputError(f"{folder} holds no complete run; give the folder of a training run")
    recipe = read_run_recipe(folder)
    whole = msgspec.structs.replace(recipe.corpus, types=UNSET)
    documents, types = read_part(whole, "test"), described(recipe, folder)
    if not documents:
        raise InputError(f"the recipe of {folder} names no test part to look for types in")
    wanted = recipe.corpus.types
    out = [name for name in types.names if wanted and not wanted.keeps(name)]
    value: dict[str, Any] = {"recipe": recipe.name, "seed": recipe.seed, "left_out": out}
    if not out:
        found = predicted(folder, types, documents)
        value["trained"] = {name: row(of_type(documents, found, name)) for name in types.names}
        gold = layers(documents)
        value["all"] = {"description": row(score(gold, by_id(documents, found)))}
        for way in ("keyword", "name"):
            found = predicted(folder, in_other_words(types, way), documents)
            value["all"][way] = row(score(gold, by_id(documents, found)))
        return value
    together = predicted(folder, types, documents)
    value["types"] = {}
    for name in out:
        alone, far = (
            predicted(folder, types.select([name]), documents, lower=lower)
            for lower in (0.0, LOWER)
        )
        value["types"][name] = {
            "alone": row(of_type(documents, alone, name)),
            "together": row(of_type(documents, together, name)),
            "in_hindsight": in_hindsight(documents, far, name),
        }
    return value


def main() -> None:
    """Parses, measures, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    path = common.RESULTS / "unseen_types.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else {}
    for folder in args.runs:
        rows[folder.name] = measured(folder)
        print(folder.name, json.dumps(rows[folder.name]), flush=True)
    write_result("unseen_types", {"runs": rows})


if __name__ == "__main__":
    main()
