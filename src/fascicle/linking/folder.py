"""Folder of a linker: ``linker.json``, the memory of annotated names, and the index of its pack."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.errors import PackError
from fascicle.linking.dense import MANIFEST as DENSE
from fascicle.linking.features import FEATURES, OF_DENSE
from fascicle.linking.gold import NAMES
from fascicle.settings.base import Settings, Share
from fascicle.settings.folders.described import Wording, read_description, write_description
from fascicle.settings.folders.vocabularies import LINKER, find_pack
from fascicle.terms.pack.layout import FileFacts, pack_error
from fascicle.terms.pack.pack import Pack

_EDGE: Final = 1e-6  # probabilities nearer to 0 and 1 count as this
_STEPS: Final = 50
_PENALTY: Final = 1.0  # on the squared distance from no correction
_LEAST: Final = 0.01  # scale; it must keep the order
_DONE: Final = 1e-9  # size of a step
_FARTHEST: Final = 500.0  # odds whose exponential is finite
_NONE: Final = np.array([1.0, 0.0, 0.0])
_SURE: Final = 0.01  # scores of mentions nearer to 0 and 1 count as this


class Calibration(NamedTuple):
    """Linear correction of the logarithm of odds, so that probabilities mean what they say.

    A ranker is too sure where its features depend on one another, and not sure enough elsewhere. Of
    the first candidate, the logarithm of its odds is scaled and shifted (Platt, "Probabilistic
    outputs for support vector machines", 1999). Both numbers are fitted to documents that the
    ranker has not seen. A mention that a recogniser found may be none, or have wrong ends; such
    mentions have a correction of their own, which adds their score.

    Attributes:
        scale: the number by which the value is multiplied; above 0.
        shift: the number that is added.
        mention: the weight of the logarithm of the odds of the mention's score, which is added; not
            below 0.
    """

    scale: float = 1.0
    shift: float = 0.0
    mention: float = 0.0

    def __call__(self, scores: Floats, mentions: Floats | None = None) -> Floats:
        """Returns the calibrated probabilities; mentions with equal scores keep their order.

        Args:
            scores: probabilities of answers, ``[n]``.
            mentions: scores of their mentions, ``[n]``; without them, nothing is added for these.
        """
        added = 0.0 if mentions is None else self.mention * _odds(mentions, _SURE)
        calibrated: Floats = _share(self.scale * _odds(scores) + added + self.shift)
        return calibrated


def fit_calibration(scores: Floats, right: Bools, mentions: Floats | None = None) -> Calibration:
    """Fits the calibration by penalised maximum likelihood, with Newton's method.

    Args:
        scores: probabilities of answers, each by a ranker that was fitted without its document,
            ``[n]``.
        right: whether each is right, ``[n]``.
        mentions: scores of the mentions, ``[n]``, if they were found; one by which worse mentions
            have better links is left out.
    """
    columns = [
        _odds(scores),
        np.ones(len(scores)),
        *([] if mentions is None else [_odds(mentions, _SURE)]),
    ]
    scale, shift, *mention = _weights(np.stack(columns, axis=1), right).tolist()
    if mention and mention[0] < 0:
        return fit_calibration(scores, right)
    return Calibration(
        round(max(scale, _LEAST), 6), round(shift, 6), round(mention[0], 6) if mention else 0.0
    )


def _weights(values: Floats, right: Bools) -> Floats:
    weights = _NONE[: values.shape[1]]
    loss, slope, curvature = _loss(values, right, weights)
    for _ in range(_STEPS):
        step = np.linalg.solve(curvature, slope)
        while (tried := _loss(values, right, weights - step))[0] > loss and np.abs(
            step
        ).max() > _DONE:
            step = step / 2
        if np.abs(step).max() <= _DONE:
            break
        weights = weights - step
        loss, slope, curvature = tried
    return weights


def _loss(values: Floats, right: Bools, weights: Floats) -> tuple[float, Floats, Floats]:
    """Returns the penalised negative log-likelihood, its gradient and its curvature."""
    odds, distance = values @ weights, weights - _NONE[: len(weights)]
    shares = _share(odds)
    loss = (
        np.logaddexp(0.0, np.where(right, -odds, odds)).sum() + 0.5 * _PENALTY * distance @ distance
    )
    slope = values.T @ (shares - right) + _PENALTY * distance
    curvature = (values * (shares * (1 - shares))[:, None]).T @ values + _PENALTY * np.eye(
        len(weights)
    )
    return float(loss), slope, curvature


def correct_probabilities(
    scores: Floats, nil: Floats, owners: Ints, calibration: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Corrects the probability of the first candidate of each unit; the others and NIL share the
    rest as before.

    Args:
        scores: of candidates, ``[n]``.
        nil: of units, ``[units]``.
        owners: number of the unit of each candidate, ``[n]``; of candidates that are equally
            probable, the one that stands before the others is the first.
        calibration: the correction: the probability of the first candidate of each unit,
            ``[units]``, to another.

    Returns:
        New ``scores`` and ``nil``; those of a unit sum up to 1 as they did.
    """
    best = np.zeros(len(nil))
    np.maximum.at(best, owners, scores)
    some = np.bincount(owners, minlength=len(nil)) > 0
    corrected = np.where(some, calibration(best), 0.0)
    rest = (1.0 - corrected) / np.maximum(1.0 - best, _EDGE)
    order = np.lexsort((-scores, owners))
    first = order[np.flatnonzero(np.diff(owners[order], prepend=-1))]
    new_scores = scores * rest[owners]
    new_scores[first] = corrected[owners[first]]
    return new_scores, nil * rest


def _odds(scores: Floats, edge: float = _EDGE) -> Floats:
    inside = np.clip(scores, edge, 1 - edge)
    odds: Floats = np.log(inside / (1 - inside))
    return odds


def _share(odds: Floats) -> Floats:
    share: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -_FARTHEST, _FARTHEST)))
    return share


_FORMAT: Final = 1
KIND: Final = "linker"  # of the folder
WORDING: Final = Wording(
    broken="is not a linker",
    repair="copy the linker again, or make it with fascicle linker fit",
    renew="make it again with fascicle linker fit",
    version="linker format",
    error=PackError,
)


class TierFacts(Settings, frozen=True, kw_only=True):
    """Accuracy of the links of a tier on the annotated texts.

    Attributes:
        right: of the mentions that got concepts by it, those that got exactly those of gold.
        answered: how many got concepts by it.
    """

    right: Annotated[int, Meta(ge=0)]
    answered: Annotated[int, Meta(ge=0)]


class Correction(Settings, frozen=True, kw_only=True):
    """Calibration of the probabilities of links of found mentions, see `Calibration`.

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


_Weight = Annotated[float, Meta(ge=-1e6, le=1e6)]


class Ranker(Settings, frozen=True, kw_only=True):
    """Fitted ranker of one type.

    Attributes:
        vocabularies: prefixes of the concepts that are answered, with all of their sets; all of the
            pack if empty.
        weights: by the name of the feature.
        threshold: below this probability the answer is NIL.
        scale: the number by which the logarithm of the odds of the first candidate is multiplied,
            see `Calibration`.
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
        if not set(self.weights) <= set(feature_names(dense=True)):
            raise ValueError("the features are not those of this release")

    def correction(self, mention_scores: Floats) -> Callable[[Floats], Floats]:
        """Returns a function that calibrates the probabilities of first candidates.

        Args:
            mention_scores: scores of their mentions, not a number where they have none.
        """
        plain = Calibration(self.scale, self.shift)
        if not self.found:
            return lambda scores: plain(scores)
        recognised = Calibration(self.found.scale, self.found.shift, self.found.mention)
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


def feature_names(*, dense: bool) -> tuple[str, ...]:
    """Returns the names of the features of a ranker, in order; ``dense``: whether the linker has
    vectors.
    """
    return (*FEATURES, *(OF_DENSE if dense else ()))


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
        files={
            name: FileFacts.of(folder / name)
            for name in (NAMES, DENSE)
            if (folder / name).is_file()
        },
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
        message = f"there is no linker at {folder}; give a folder that fascicle linker fit wrote"
        raise pack_error(folder, message, "not-found")
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
        if (
            name not in (NAMES, DENSE)
            or not (folder / name).is_file()
            or FileFacts.of(folder / name) != facts
        ):
            raise pack_error(
                folder, f"{folder / name} is missing or was changed; copy the linker again"
            )
