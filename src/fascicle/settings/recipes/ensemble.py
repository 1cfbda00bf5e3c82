"""Description of an ensemble folder, ``ensemble.json``; its members and its filter are folders
inside it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from fascicle.errors import ModelError
from fascicle.settings.base import Natural, Settings, check_model_name
from fascicle.settings.decision import AbbreviationDecision, DocumentDecision
from fascicle.settings.folders.described import Wording, read_description, write_description

ENSEMBLE: Final = "ensemble.json"
_FORMAT: Final = 1
_WORDING: Final = Wording(
    broken="describes no ensemble",
    repair="copy or make the folder again",
    renew="make the ensemble again",
)
MEMBERS: Final = "members"
FILTER_FOLDER: Final = "filter"

RuleName = Literal["union", "majority", "kofn", "weighted", "meta"]
_INSIDE = re.compile(r"[0-9]+")


class EnsembleManifest(Settings, frozen=True, kw_only=True):
    """The content of ``ensemble.json``.

    Attributes:
        format: version of this structure.
        name: of the ensemble; becomes the source of its mentions.
        fascicle: version that wrote it.
        types: of its members, sorted.
        rule: which mentions of the members are kept; of ``"meta"``, those that the filter accepts.
        k: of ``"kofn"``, how many members must agree.
        weights: of ``"weighted"``, decimal numbers as they were given, one for each member.
        share: of ``"weighted"``, the share of the weight to exceed.
        output: ``"nested"``, all that is kept, or ``"flat"``, a choice without overlaps.
        members: numbers of the folders of the members, in order.
        described: sha256 of the file that describes each member, and last that of the filter.
        abbreviations: what short and long forms of a document change about the answer of the rule;
            unset, nothing.
        document: what a whole document says of that answer, at last; unset, nothing.
    """

    format: Annotated[int, Meta(ge=1)] = _FORMAT
    name: str
    fascicle: str
    types: tuple[str, ...]
    rule: RuleName
    k: Natural = 0
    weights: tuple[str, ...] = ()
    share: str = "0.5"
    output: Literal["nested", "flat"] = "nested"
    members: Annotated[tuple[str, ...], Meta(min_length=1)]
    described: tuple[str, ...] = ()
    abbreviations: AbbreviationDecision | UnsetType = UNSET
    document: DocumentDecision | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuses a name that no ensemble may have, and folders outside."""
        check_model_name(self.name, "an ensemble")
        if not all(_INSIDE.fullmatch(member) for member in self.members):
            raise ValueError(
                f"the members {self.members} are not numbers of folders inside the ensemble"
            )


def is_ensemble(folder: Path) -> bool:
    """True if a folder is that of an ensemble."""
    return (folder / ENSEMBLE).is_file()


def read_ensemble(folder: Path) -> EnsembleManifest:
    """Reads ``ensemble.json``.

    Raises:
        ModelError: damaged, or of another format version.
    """
    path = folder / ENSEMBLE
    manifest = read_description(path, EnsembleManifest, _WORDING, format=_FORMAT)
    folders = len(manifest.members) + (manifest.rule == "meta")
    if len(manifest.described) != folders:
        raise ModelError(
            f"{path} has {len(manifest.described)} hashes for {folders} folders; {_WORDING.repair}",
            file=str(path),
        )
    return manifest


def write_ensemble(folder: Path, manifest: EnsembleManifest) -> None:
    """Writes ``ensemble.json``."""
    write_description(folder / ENSEMBLE, manifest)
