"""Development texts are none that taught the model: on such texts its scores are too good to choose by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.settings.recipes.ensemble import MEMBERS, is_ensemble
from fascicle.text.taught import TAUGHT, Cuts, sentence_hashes, unpacked


def taught_by(source: Path) -> frozenset[int] | None:
    """Hashes of what taught a model, or the members of an ensemble; ``None`` where nothing is listed."""
    if is_ensemble(source):
        members = [taught_by(place) for place in sorted((source / MEMBERS).iterdir())]
        known = [one for one in members if one is not None]
        return frozenset().union(*known) if known else None
    return unpacked((source / TAUGHT).read_bytes()) if (source / TAUGHT).is_file() else None


def check_untaught(
    documents: Sequence[Document], taught: frozenset[int] | None, *, path: str, model: str, cuts: Cuts
) -> None:
    """Refuses texts of which a sentence taught a model.

    Args:
        documents: of a file.
        taught: see `taught_by`.
        path: of the file.
        model: its name.
        cuts: cuts a text into sentences as the model does.

    Raises:
        InputError: see above.
    """
    known = [one.id for one in documents if taught and not taught.isdisjoint(sentence_hashes(one, cuts))]
    if known:
        raise InputError(
            f"{path} holds {counted(len(known), 'text')} that taught {model}, the first is {known[0]!r}; leave "
            f"{'it' if len(known) == 1 else 'them'} out, for nothing can be chosen on what was learnt",
            file=path,
        )
