"""Vocabulary of entity types for models, dictionaries and linking: canonical names and their
synonyms.

A model keeps the names that it was trained with; `Vocabulary.candidates` maps them to canonical
names. The table is ``type_names.tsv`` beside this file; a user adds to it by a TOML file or by
`Vocabulary.extended`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self

import msgspec

from fascicle.core.wording import fold_name
from fascicle.errors import RecipeError


class Meanings(msgspec.Struct, frozen=True, kw_only=True):
    """Canonical names of several type names.

    Attributes:
        known: name -> the canonical name.
        ambiguous: name -> the canonical names that it may mean.
        unknown: names that are not in the vocabulary.
    """

    known: Mapping[str, str]
    ambiguous: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]


class Vocabulary(msgspec.Struct, frozen=True, kw_only=True):
    """Canonical names of types, and their synonyms; made by `read_vocabulary`.

    Attributes:
        types: canonical names.
        names: folded name (see `fascicle.core.wording.fold_name`) -> the canonical names that it
            may mean.
    """

    types: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]

    def candidates(self, name: str) -> tuple[str, ...]:
        """Returns the canonical names for a name: one, several if it is ambiguous, none if it is
        unknown.
        """
        return self.names.get(fold_name(name), ())

    def among(self, name: str, types: Collection[str]) -> str:
        """Returns the one of some types that a name is or means; the name itself if there is no
        single such type.
        """
        candidates = [type_name for type_name in self.candidates(name) if type_name in types]
        return name if name in types or len(candidates) != 1 else candidates[0]

    def meanings(self, names: Iterable[str]) -> Meanings:
        """Returns the canonical names of several names, without errors for unknown or ambiguous
        ones.
        """
        meanings = {name: self.candidates(name) for name in names}
        return Meanings(
            known={name: several[0] for name, several in meanings.items() if len(several) == 1},
            ambiguous={name: several for name, several in meanings.items() if len(several) > 1},
            unknown=tuple(name for name, several in meanings.items() if not several),
        )

    def extended(
        self, added: Mapping[str, Iterable[str]], *, origin: str = "the type names"
    ) -> Self:
        """Returns a vocabulary with further types and names, which take precedence over the
        existing ones.

        Args:
            added: canonical name -> other names for it. A name with another meaning loses that
                meaning.
            origin: origin of the additions, for messages.

        Raises:
            RecipeError: a canonical name that differs from another only in case or punctuation, or
                a name for two types.
        """
        own = {fold_name(kind): kind for kind in self.types}
        for kind in added:
            if own.setdefault(fold_name(kind), kind) != kind:
                canonical = own[fold_name(kind)]
                raise RecipeError(
                    f"the type {kind!r} is there as {canonical!r}; write it so", at=origin, key=kind
                )
        new: dict[str, str] = {}
        for kind, synonyms in added.items():
            for name in (kind, *synonyms):
                owner = new.setdefault(fold_name(name), own.get(fold_name(name), kind))
                if owner != kind:
                    message = (
                        f"the name {name!r} stands for {owner} and {kind}; give it to one type"
                    )
                    raise RecipeError(message, at=origin, key=name)
        names = {**self.names, **{name: (kind,) for name, kind in new.items()}}
        return type(self)(types=tuple(own.values()), names=names)


def read_vocabulary(path: str | Path | None = None) -> Vocabulary:
    """Reads the vocabulary of this release, with the additions of a user.

    Args:
        path: a TOML file with lines such as ``Gene = ["GGP", "my genes"]``; an unknown type becomes
            a new one.

    Raises:
        RecipeError: the file cannot be read, or has other content; see also `Vocabulary.extended`.
    """
    vocabulary = _shipped()
    if path is None:
        return vocabulary
    from fascicle.settings.recipes.strict import toml_values

    values = toml_values(Path(path), missing=f"there is no file of type names at {path}")
    return vocabulary.extended(
        {kind: _check_list(names, kind, path) for kind, names in values.items()}, origin=str(path)
    )


@cache
def _shipped() -> Vocabulary:
    """Returns the vocabulary of this release; its file is part of the package, and read once."""
    table = Path(__file__).with_name("type_names.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    names: defaultdict[str, list[str]] = defaultdict(list)
    for kind, *synonyms in rows:
        for name in (kind, *(other for cell in synonyms for other in cell.split(", "))):
            names[fold_name(name)].append(kind)
    return Vocabulary(
        types=tuple(kind for kind, *_ in rows), names={name: tuple(k) for name, k in names.items()}
    )


def _check_list(names: Any, kind: str, path: str | Path) -> list[str]:
    if isinstance(names, list) and all(isinstance(name, str) and name for name in names):
        return names
    message = f'{kind} = {names!r} is not allowed; give a list of names, such as ["protein"]'
    raise RecipeError(message, at=str(path), key=kind)
