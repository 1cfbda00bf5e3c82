"""Settings of a project: who curates which documents, and by which guidelines."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta, field

from fascicle.settings.base import Natural, Settings, refuse_twice
from fascicle.settings.recipes.strict import converted, read_toml

Curator = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+(?![\s\S])")]


class Project(Settings, frozen=True, kw_only=True):
    """A project of several curators; each has a version of every document that is assigned to them.

    Attributes:
        name: shown to curators.
        guidelines: type -> text that is shown beside mentions of it; that of an empty type is shown beside all.
        curators: names of their tokens.
        per_document: how many curators have each document; 0 for all of them.
        private: whether a curator sees what others decided about a document only when their own version is finished,
            which they cannot change from then on.
    """

    name: str = ""
    guidelines: dict[str, str] = field(default_factory=dict)
    curators: Annotated[tuple[Curator, ...], Meta(min_length=1)]
    per_document: Natural = 0
    private: bool = True

    def __post_init__(self) -> None:
        """Checks the curators.

        Raises:
            ValueError: one is named twice, or there are fewer than a document needs.
        """
        refuse_twice(self.curators, "curators")
        if self.per_document > len(self.curators):
            raise ValueError(
                f"per_document = {self.per_document}, and there are only {len(self.curators)} curators: name more, or "
                "give 0 for all"
            )

    def assigned(self, document: str) -> tuple[str, ...]:
        """Returns who has a document, in the order of `curators`.

        Each curator has a rank by the hash of the id with their name, so that a curator who joins or leaves changes as
        few assignments as can be.

        Args:
            document: its id.
        """
        if not self.per_document:
            return self.curators
        ranked = sorted(self.curators, key=lambda name: hashlib.sha256(f"{document}\0{name}".encode()).digest())
        return tuple(sorted(ranked[: self.per_document], key=self.curators.index))


def read_project(path: str | os.PathLike[str]) -> Project:
    """Reads the settings of a project.

    Args:
        path: of a TOML file.

    Raises:
        RecipeError: no such file, not TOML, an unknown key, a wrong type, a value that is not allowed.
    """
    place = Path(path).expanduser()
    return converted(read_toml(place, what="project"), Project, origin=str(place))
