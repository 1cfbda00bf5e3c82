"""Loading of dictionaries and term packs as predictors, by path or name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fascicle.core.files.source import stem
from fascicle.errors import UsageError
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.recognition import Case, RecognitionSettings
from fascicle.terms.matching.dictionary import typed_names
from fascicle.terms.matching.matcher import Matcher
from fascicle.terms.matching.names import OWN
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser


def open_dictionary(path: Path, *, case: Case = "auto") -> Matcher:
    """Opens a table of names as a predictor, whose name is that of the file.

    Args:
        path: of the table.
        case: in which capitals a name is found.

    Raises:
        InputError: it cannot be read, or holds no name.
    """
    return Matcher(typed_names(str(path)), rule=OWN[case], name=stem(str(path)), content=file_sha256(path))


def open_packs(folders: Sequence[Path], settings: RecognitionSettings | None = None) -> PackRecogniser:
    """Opens term packs as one predictor; the source of the mentions of each is its name, such as ``mine@1``.

    Args:
        folders: of the packs.
        settings: of the recogniser.

    Raises:
        PackError: a pack cannot be opened.
        UsageError: two packs of one name, or types that no pack has.
    """
    packs: dict[str, Pack] = {}
    for folder in folders:
        pack = Pack.open(folder)
        name = pack.manifest.name
        if name in packs:
            raise UsageError(
                f"{packs[name].folder} and {folder} are both called {name!r}, and their mentions could not be told "
                "apart; give one of them, or build it again under another name"
            )
        packs[name] = pack
    return PackRecogniser(packs, settings=settings)
