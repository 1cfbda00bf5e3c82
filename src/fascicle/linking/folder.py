"""Folder of a linker: ``linker.json``, the memory of annotated names, and the index of its pack."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from fascicle.core.arrays import Floats
from fascicle.errors import PackError
from fascicle.linking.calibration import LinkCalibration
from fascicle.linking.features import FEATURES
from fascicle.linking.gold import NAMES
from fascicle.settings.base import Settings, Share
from fascicle.settings.folders.described import Wording, read_description, write_description
from fascicle.settings.folders.vocabularies import LINKER, find_pack
from fascicle.terms.pack.layout import FileFacts, pack_error
from fascicle.terms.pack.pack import Pack

_FORMAT: Final = 1
KIND: Final = "linker"  # of the folder
_DENSE: Final = "dense.json"  # in linkers of older releases
WORDING: Final = Wording(
    broken="is not a linker",
    repair="copy the linker again, or make it with fascicle linker fit",
    renew="make it again with fascicle linker fit",
    version="linker format",
    error=PackError,
)
_Weight = Annotated[float, Meta(ge=-1e6, le=1e6)]


class TierFacts(Settings, frozen=True, kw_only=True):
    """Accuracy of the links of a tier on the annotated texts.

    Attributes:
        right: of the mentions that got concepts by it, those that got exactly those of gold.
        answered: how many got concepts by it.
    """

    right: Annotated[int, Meta(ge=0)]
    answered: Annotated[int, Meta(ge=0)]


class Correction(Settings, frozen=True, kw_only=True):
    """Calibration of the probabilities of links of found mentions, see `LinkCalibration`.

    Attributes:
        scale: the number by which the logarithm of the odds of the first candidate is multiplied.
        shift: the number that is added to it.
        mention: the weight of the logarithm of the odds of the mention's score, which is added.
        threshold: below this probability the answer is NIL.
        mentions: number of mentions that it was fitted on.
        right: how many of them got a concept of their document.
    """

    scale: Annotated[float, Meta(gt=0.0, le=1e6)]
    shift: Annotated[float, Meta(ge=-1e6, le=1e6)]
    mention: Annotated[float, Meta(ge=0.0, le=1e6)] = 0.0
    threshold: Share = 0.0
    mentions: Annotated[int, Meta(ge=0)] = 0
    right: Annotated[int, Meta(ge=0)] = 0


class Ranker(Settings, frozen=True, kw_only=True):
    """Fitted ranker of one type.

    Attributes:
        vocabularies: prefixes of the concepts that are answered, with all of their sets; all of the
            pack if empty.
        weights: by the name of the feature.
        threshold: below this probability the answer is NIL.
        scale: the number by which the logarithm of the odds of the first candidate is multiplied,
            see `LinkCalibration`.
        shift: the number that is added to it.
        found: the same for mentions with a score, which a recogniser found; as for the others where
            it is missing.
        mentions: number of mentions that it was fitted on.
        tiers: measured by folds of documents, each by a ranker that was fitted on the others.
    """

    vocabularies: tuple[str, ...] = ()
    weights: dict[str, _Weight]
    threshold: Share = 0.0
    scale: Annotated[float, Meta(gt=0.0, le=1e6)] = 1.0
    shift: Annotated[float, Meta(ge=-1e6, le=1e6)] = 0.0
    found: Correction | UnsetType = UNSET
    mentions: Annotated[int, Meta(ge=0)] = 0
    tiers: dict[str, TierFacts] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises an error for weights of unknown features; a feature without a weight has 0.

        Raises:
            ValueError: a weight is of an unknown feature.
        """
        if not set(self.weights) <= set(FEATURES):
            raise ValueError("the features are not those of this release")

    def parts(self, features: Mapping[str, float]) -> dict[str, float]:
        """Returns what each feature of a candidate adds to its score."""
        return {name: value * self.weights.get(name, 0.0) for name, value in features.items()}

    def correction(self, mention_scores: Floats) -> Callable[[Floats], Floats]:
        """Returns a function that calibrates the probabilities of first candidates.

        Args:
            mention_scores: scores of their mentions, not a number where they have none.
        """
        plain = LinkCalibration(self.scale, self.shift)
        if not self.found:
            return lambda scores: plain(scores)
        recognised = LinkCalibration(self.found.scale, self.found.shift, self.found.mention)
        return lambda scores: np.where(
            np.isnan(mention_scores),
            plain(scores),
            recognised(scores, np.nan_to_num(mention_scores)),
        )

    def thresholds(self, mention_scores: Floats) -> Floats:
        """Returns the probabilities below which answers are NIL; see `correction`."""
        recognised = self.found.threshold if self.found else self.threshold
        return np.where(np.isnan(mention_scores), self.threshold, recognised)


class LinkerManifest(Settings, frozen=True, kw_only=True):
    """Manifest of a linker.

    Attributes:
        format: version of the files.
        pack: full name of the pack, which has the hash of its content.
        place: of the pack: its path from this folder, or the name of a shipped pack; empty if
            unknown.
        indexed: whether the index of the pack is in the folder; without it, only names with equal
            keys are found.
        rankers: by type; without one, fixed weights decide, and links have no probability.
        files: size and hash of the other files.
        order: prefixes of vocabularies, the one that is answered first; by default those of the
            pack in their order.
        few: types whose mentions were too few for a ranker, and how many they were; missing if
            there are none.
        hash: the fingerprint, so that damage is found; linkers of older releases lack it.
    """

    format: int = _FORMAT
    pack: str
    place: str = ""
    indexed: bool = True
    rankers: dict[str, Ranker] = msgspec.field(default_factory=dict)
    files: dict[str, FileFacts] = msgspec.field(default_factory=dict)
    order: tuple[str, ...] | UnsetType = UNSET
    few: dict[str, int] | UnsetType = UNSET
    hash: str | UnsetType = UNSET

    @property
    def fingerprint(self) -> str:
        """Hash that decides, with the release, all links: it covers the hashes of the pack and
        of the memory.
        """
        decisive = msgspec.structs.replace(self, place="", few=UNSET, hash=UNSET)
        return hashlib.sha256(msgspec.json.encode(decisive, order="deterministic")).hexdigest()


def write_linker(
    folder: Path,
    pack: Pack,
    rankers: Mapping[str, Ranker],
    *,
    place: str = "",
    indexed: bool = True,
    order: Sequence[str] = (),
    few: Mapping[str, int] = MappingProxyType({}),
) -> LinkerManifest:
    """Writes the manifest of a linker, beside its memory."""
    manifest = LinkerManifest(
        pack=pack.full_name,
        place=place,
        indexed=indexed,
        rankers=dict(sorted(rankers.items())),
        files={NAMES: FileFacts.of(folder / NAMES)} if (folder / NAMES).is_file() else {},
        order=tuple(order) or UNSET,
        few=dict(sorted(few.items())) or UNSET,
    )
    return write_description(
        folder / LINKER, msgspec.structs.replace(manifest, hash=manifest.fingerprint)
    )


def pack_place(pack: Pack, folder: Path) -> str:
    """Returns the place of a pack as the manifest of a linker names it.

    Args:
        pack: open.
        folder: where the linker will be.
    """
    name = pack.manifest.name
    if find_pack(name) == pack.folder:
        return name
    return os.path.relpath(pack.folder.resolve(), folder.resolve())


def read_manifest(folder: Path) -> LinkerManifest:
    """Reads the manifest of a linker, whatever its pack.

    Raises:
        PackError: no linker, or a damaged one.
    """
    place = folder / LINKER
    if not place.is_file():
        # imported here, since a text that is annotated needs no recipes
        from fascicle.settings.pipeline import is_pipeline

        message = f"there is no linker at {folder}; give a folder that fascicle linker fit wrote"
        if is_pipeline(folder):
            message = (
                f"{folder} is a pipeline, and a linker is a folder that fascicle linker fit wrote, "
                "a term pack, or the name of a shipped one; give one of these, or use the whole "
                "pipeline with fascicle run --pipeline"
            )
        raise pack_error(folder, message, "not-found")
    if (folder / _DENSE).is_file():
        message = f"{folder} finds names by vectors, which this release does not; {WORDING.renew}"
        raise pack_error(folder, message, "version")
    manifest = read_description(place, LinkerManifest, WORDING, format=_FORMAT)
    if manifest.hash is not UNSET and manifest.hash != manifest.fingerprint:
        raise pack_error(place, f"{place} was changed; {WORDING.repair}")
    return manifest


def check_linker(folder: Path, manifest: LinkerManifest, pack: Pack) -> None:
    """Raises an error for a linker that does not fit to a pack, or that lost a file.

    Args:
        folder: of the linker.
        manifest: its manifest.
        pack: open.

    Raises:
        PackError: a linker of another pack, or a damaged one.
    """
    if manifest.pack != pack.full_name:
        raise pack_error(
            folder,
            f"the linker {folder} was fitted with the pack {manifest.pack}, and {pack.folder} is "
            f"{pack.full_name}; give "
            "the pack that it was fitted with, or fit it again with fascicle linker fit",
            "version",
        )
    for name, facts in manifest.files.items():
        if name != NAMES or not (folder / name).is_file() or FileFacts.of(folder / name) != facts:
            raise pack_error(
                folder, f"{folder / name} is missing or was changed; copy the linker again"
            )
