"""A first recipe for annotated files: what ``fascicle init`` does."""

from __future__ import annotations

import os
from pathlib import Path

from fascicle.core.arguments import checked
from fascicle.errors import InputError, UsageError
from fascicle.files.atomic import atomic_text_writer, check_target
from fascicle.starting import parts_in, recipe_for

_Place = str | os.PathLike[str]


@checked
def init(
    train: _Place,
    output: _Place = "recipe.toml",
    *,
    dev: _Place | None = None,
    test: _Place | None = None,
    encoder: str = "",
    name: str = "",
    overwrite: bool = False,
) -> str:
    """Looks at annotated files, and writes a commented recipe for them.

    Args:
        train: file or folder of the training part, or a folder that holds train, dev and test.
        output: the recipe.
        dev: the development part.
        test: the test part.
        encoder: a Hugging Face name or a folder; chosen by the letters of the texts by default.
        name: of the model; that of the folder of train by default.
        overwrite: replace an existing recipe.

    Returns:
        The text of the recipe, as TOML.

    Raises:
        UsageError: a part is missing.
        InputError: a part cannot be read, or holds no mention.
        OutputError: the recipe exists.
    """
    check_target(output, overwrite=overwrite)
    text = recipe_for(_parts(train, dev, test), place=Path(output), name=name, encoder=encoder)
    with atomic_text_writer(output, overwrite=overwrite) as stream:
        stream.write(text)
    return text


def _parts(train: _Place, dev: _Place | None, test: _Place | None) -> dict[str, Path]:
    given = {part: Path(one) for part, one in (("train", train), ("dev", dev), ("test", test)) if one is not None}
    for part, place in given.items():
        if not place.exists():
            raise InputError(f"there is no {part} part {place}; check the path")
    if dev is not None or not given["train"].is_dir():
        return given
    if test is not None:
        raise UsageError(
            "the argument test was given without the argument dev; give both, or a folder that holds all parts"
        )
    return parts_in(given["train"])
