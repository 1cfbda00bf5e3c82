"""Fetches public corpora from repositories (``fascicle corpus fetch``), as
`fascicle.verbs.tasks.index_fetch` fetches vocabularies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fascicle.core.arguments import AnyPath, validate_arguments
from fascicle.errors import UsageError
from fascicle.formats import catalogue
from fascicle.settings.base import Name, Settings
from fascicle.settings.recipes.strict import convert_values, read_toml
from fascicle.verbs.tasks.index_fetch import Fetched, FetchLimits, PublicFile, fetch_file, row_of

PUBLIC: Final = Path(catalogue.__file__).with_name("corpora.toml")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # it becomes that of a folder


class PublicCorpus(Settings, frozen=True, kw_only=True):
    """A public corpus.

    Attributes:
        title: of it.
        page: of the repository, with the addresses.
        licence: of its annotations, and the terms of its texts.
        parts: name of a part, such as ``train`` -> the address of its file.
    """

    title: Name
    page: Name
    licence: Name
    parts: dict[str, str]

    def files(self) -> Mapping[str, PublicFile]:
        """Returns the file of each part."""
        return {
            part: PublicFile(
                title=f"{self.title}, {part}", page=self.page, url=url, licence=self.licence
            )
            for part, url in self.parts.items()
        }


def corpora(table: AnyPath = PUBLIC) -> dict[str, PublicCorpus]:
    """Returns the corpora of a table by their names: those that Fascicle knows, or those of a TOML
    file.

    Raises:
        RecipeError: no such file, or a row that is not as `PublicCorpus`.
        UsageError: an address that is not allowed, or two files of one name.
    """
    rows = {}
    for name, values in read_toml(Path(table), what="table of corpora").items():
        row = rows[name] = convert_values(values, PublicCorpus, origin=str(table), place=name)
        files = row.files().values()
        for file in files:
            file.check()
        if not _NAME.fullmatch(name) or len({file.file for file in files}) < max(1, len(files)):
            raise UsageError(
                f"{table}: {name!r} is not allowed; name it with letters, digits, dots and "
                "hyphens, and give parts whose files have different names"
            )
    return rows


@validate_arguments
def fetch(
    name: str,
    folder: AnyPath | None = None,
    *,
    table: AnyPath = PUBLIC,
    limits: FetchLimits = FetchLimits(),  # noqa: B008 - frozen
    overwrite: bool = False,
    told: Callable[[str], None] = lambda sentence: None,
) -> tuple[Fetched, ...]:
    """Fetches the files of a corpus into a folder of its name; without a folder, only says what
    would be fetched, and how large it is.

    Args:
        name: of the corpus.
        folder: of the folders of corpora; made if it is missing, when the repository has answered.
        table: see `corpora`.
        limits: of each file.
        overwrite: take other files than those that were fetched before, or that are there.
        told: called with what is fetched before it is.

    Returns:
        The files, in the order of the parts; none without a folder.

    Raises:
        UsageError: there is no such corpus.
        InputError, OutputError: see `fascicle.verbs.tasks.index_fetch.fetch`.
    """
    row = row_of(name, corpora(table), kind="corpus")
    place = None if folder is None else Path(folder) / name
    files = (
        fetch_file(part, file, place, limits=limits, overwrite=overwrite, told=told)
        for part, file in row.files().items()
    )
    return tuple(file for file in files if file is not None)
