"""The encoder that a linker finds names with, ready to be copied into its folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fascicle.errors import MissingExtraError, UsageError
from fascicle.knowledge.linking.dense import DenseSettings, Exported, check_size, planned
from fascicle.knowledge.linking.encoding import LONGEST
from fascicle.knowledge.linking.fitting import FitSettings
from fascicle.knowledge.pack.pack import Pack


@contextmanager
def exported(settings: FitSettings, packs: Sequence[Pack], place: Path) -> Iterator[Exported | None]:
    """The encoder of the settings as files that last for the block; ``None`` without one.

    Nothing else is done before it is sure that the vectors of all packs have room.

    Args:
        settings: of the fit.
        packs: open.
        place: folder in which the linker will be.

    Raises:
        UsageError: no index, no pack with a type, or no room.
        ModelError: there is no such encoder, or it cannot be exported.
        MissingExtraError: PyTorch is not installed.
    """
    if settings.dense is None:
        yield None
        return
    _check(settings.dense, packs, indexed=settings.indexed)
    try:
        from fascicle.models.export.names import export_names
    except ModuleNotFoundError as error:
        raise MissingExtraError("train", error.name or "torch") from None
    with tempfile.TemporaryDirectory() as name:
        graph, tokenizer = Path(name) / "encoder.onnx", Path(name) / "tokenizer.json"
        pad = export_names(settings.dense.encoder, graph, tokenizer, longest=LONGEST)
        found = Exported(graph, tokenizer, pad)
        names = sum(len(planned(pack, settings.dense.types).surfaces) for pack in packs)
        check_size(names, found.opened().width, _existing(place), gigabytes=settings.dense.gigabytes)
        yield found


def _check(dense: DenseSettings, packs: Sequence[Pack], *, indexed: bool) -> None:
    if not indexed:
        raise UsageError(
            "vectors of names belong to an index: ask for a linker that is not small, or for one without vectors"
        )
    known = {kind for pack in packs for kind in pack.types}
    if unknown := sorted(set(dense.types) - known):
        raise UsageError(f"no pack has the type {unknown[0]!r}; the types are {', '.join(sorted(known))}")


def _existing(place: Path) -> Path:
    """The folder itself, or the nearest above it that is there."""
    return next(one for one in (place, *place.parents) if one.is_dir())
