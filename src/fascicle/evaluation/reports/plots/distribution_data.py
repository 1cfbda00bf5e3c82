"""Numbers behind the pictures of a distributions file: principal components, densities, ratios."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.formats.distributions import Header, read

Flags = Bools
_FLOOR: Final = 1e-12  # smaller probabilities count as this in ratios
_BINS: Final = 1000  # of a density over [0, 1]
_BANDWIDTH: Final = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class Distributions:
    """The mentions of a distributions file that have probabilities.

    Attributes:
        path: of the file.
        header: model, types and what the numbers mean.
        numbers: of none, then of each type, ``[m, 1 + K]``.
        gold: index of the gold type of each mention, ``[m]``.
        found: whether the model returned the mention, ``[m]``.
        unreachable: mentions without probabilities, by reason.
    """

    path: str
    header: Header
    numbers: Floats
    gold: Ints
    found: Flags
    unreachable: Counter[str]

    @property
    def has_none(self) -> bool:
        """True if none is among the classes; a span typer, which gives every mention a type, always has a 0 there."""
        return bool(self.numbers[:, 0].any())

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes that a mention can have, ``[C]``."""
        return ("none", *self.header.types) if self.has_none else self.header.types

    @property
    def of_classes(self) -> Floats:
        """The probabilities of these, ``[m, C]``."""
        return self.numbers if self.has_none else self.numbers[:, 1:]

    @property
    def of_gold(self) -> Floats:
        """The probability of the gold type, ``[m]``."""
        return self.numbers[np.arange(len(self.gold)), 1 + self.gold]

    @property
    def note(self) -> str:
        """Describes in a sentence what of the file is not drawn; empty if all is."""
        if not self.unreachable:
            return ""
        listed = ", ".join(f"{reason} {count:,}" for reason, count in self.unreachable.most_common())
        total = self.unreachable.total()
        return (
            f"{total:,} of {counted(total + len(self.gold), 'mention')} of {self.path} have no probability ({listed})"
        )


def load_distributions(path: str) -> Distributions:
    """Reads a distributions file.

    Raises:
        InputError: it cannot be read, is of another kind, or holds no mention with probabilities.
    """
    header, entries = read(path)
    index = {name: number for number, name in enumerate(header.types)}
    rows, gold, found, unreachable = [], [], [], Counter[str]()
    for entry in entries:
        if entry.unreachable:
            unreachable[entry.unreachable] += 1
            continue
        rows.append(entry.probabilities)
        gold.append(index[entry.type])
        found.append(entry.found)
    if not rows:
        what = (
            f"none of its {counted(unreachable.total(), 'mention')} has probabilities"
            if unreachable
            else "it has no mention"
        )
        raise InputError(f"{path} holds nothing to draw: {what}; score the model on a gold with mentions it can reach")
    return Distributions(
        path=path,
        header=header,
        numbers=np.array(rows, dtype=np.float64),
        gold=np.array(gold, dtype=np.int64),
        found=np.array(found, dtype=np.bool_),
        unreachable=unreachable,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Components:
    """The two directions in which vectors differ most (*span-level-strategy* §3.3).

    Attributes:
        points: of the vectors, ``[m, 2]``.
        corners: of the vectors that are 1 for one class and 0 for the others, ``[C, 2]``.
        explained: share of the variance along each, ``[2]``.
    """

    points: Floats
    corners: Floats
    explained: Floats


def components(vectors: Floats) -> Components:
    """Computes principal components of vectors, by the singular values of the centred matrix.

    Each direction points to where its largest weight is positive, so that the same vectors give the same picture.

    Args:
        vectors: ``[m, C]``.

    Raises:
        InputError: they do not differ in two directions.
    """
    centre = vectors.mean(axis=0)
    _, sizes, directions = np.linalg.svd(vectors - centre, full_matrices=False)
    if len(sizes) < 2 or sizes[1] <= 1e-9 * max(1.0, sizes[0]):
        raise InputError(
            f"the probabilities of {len(vectors):,} mentions do not differ in two directions, so there are no two "
            "principal components to draw; choose the kind violin, or a file of more mentions or types"
        )
    axes = directions[:2].T
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return Components(
        points=(vectors - centre) @ axes,
        corners=(np.eye(vectors.shape[1]) - centre) @ axes,
        explained=sizes[:2] ** 2 / (sizes**2).sum(),
    )


def density(values: Floats, at: Floats, *, bandwidth: float = _BANDWIDTH) -> Floats:
    """Computes the density of values between 0 and 1 at some places: a Gaussian kernel, reflected at 0 and 1.

    Without the reflection, values at the border, where sure probabilities are, would lose half of their mass. Values
    are first counted in a thousand bins, so that their number costs nothing.

    Args:
        values: from 0 to 1, ``[m]``, at least one.
        at: places, ``[n]``.
        bandwidth: standard deviation of the kernel.

    Returns:
        ``[n]``; the integral over [0, 1] is 1.
    """
    counts, edges = np.histogram(values, bins=_BINS, range=(0.0, 1.0))
    middles = (edges[:-1] + edges[1:]) / 2
    images = np.concatenate([middles, -middles, 2 - middles])
    kernel = np.exp(-0.5 * ((at[:, None] - images) / bandwidth) ** 2)
    found: Floats = kernel @ np.tile(counts, 3) / (len(values) * bandwidth * np.sqrt(2 * np.pi))
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratios:
    """Points of a volcano plot (*span-level-strategy* §3.5), one for each mention and each class but its gold type.

    Attributes:
        ratio: log2 of the probability of the class over that of the gold type, ``[m * (C - 1)]``.
        spread: variance of the mention's probabilities over that of its gold type, ``[m * (C - 1)]``.
        rival: index of the class, ``[m * (C - 1)]``.
        gold: index of the gold type among the classes, ``[m * (C - 1)]``.
    """

    ratio: Floats
    spread: Floats
    rival: Ints
    gold: Ints


def ratios(numbers: Floats, gold: Ints) -> Ratios:
    """Compares every other class with the gold type.

    Args:
        numbers: of each class, ``[m, C]``; below ``_FLOOR`` they count as that, in ratios.
        gold: index of the gold type among the classes, ``[m]``.
    """
    count, classes = numbers.shape
    others = np.arange(classes) != gold[:, None]
    rival = np.nonzero(others)[1]
    right = np.maximum(numbers[np.arange(count), gold], _FLOOR)
    repeated = np.repeat(right, classes - 1)
    return Ratios(
        ratio=np.log2(np.maximum(numbers[others], _FLOOR) / repeated),
        spread=np.repeat(numbers.var(axis=1) / right, classes - 1),
        rival=rival.astype(np.int64),
        gold=np.repeat(gold, classes - 1),
    )
