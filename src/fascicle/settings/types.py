"""Descriptions of entity types, from which a bi-encoder makes type vectors; one TOML file per
corpus.

Each type is a table ``[[type]]`` with these keys:

* ``name``: the label, exactly as the corpus has it.
* ``description``: one or two sentences that say what belongs to the type.
* ``keyword``: a short phrase; may be left out.
* ``examples``: sentences with one mention each, in double square brackets; may be left out.
* ``source``: what the wording rests on; may be left out.

The variants of the paper (*binder* Table 5) are all taken from it: atomic labels are
``TypeDescriptions.names``, keywords and annotation guidelines ``TypeDescriptions.texts``,
prototypical instances ``TypeDescriptions.instances``. What a variant needs and a file lacks is an
error, never replaced by something else.
"""

from __future__ import annotations

import difflib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from fascicle.errors import RecipeError
from fascicle.settings.base import Settings, locate_error

MAX_WORDS: Mapping[str, int] = MappingProxyType({"description": 100, "keyword": 10, "example": 60})
MAX_CHARACTERS: Mapping[str, int] = MappingProxyType(
    {"description": 1000, "keyword": 100, "example": 600}
)
OPENING, CLOSING = "[[", "]]"

_TextKind = Literal["keyword", "guideline"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONG = 60  # characters of a name in a sentence
_SHOWN = 10  # names in a message


class Instance(Settings, frozen=True, kw_only=True):
    """A sentence with one mention of a type.

    Attributes:
        text: the sentence, without marks.
        start: first code point of the mention.
        end: the one after its last.
    """

    text: str
    start: int
    end: int

    def __post_init__(self) -> None:
        """Refuses a mention that is empty, outside the text, or begins or ends with white space."""
        if not 0 <= self.start < self.end <= len(self.text):
            raise ValueError(
                f"the mention {self.start}..{self.end} is not inside the {len(self.text)} "
                "characters"
            )
        if self.surface != self.surface.strip():
            raise ValueError(f"the mention {self.surface!r} begins or ends with white space")

    @property
    def surface(self) -> str:
        """Text of the mention."""
        return self.text[self.start : self.end]

    def marked(self, opening: str, closing: str) -> str:
        """Returns the sentence with marks around the mention.

        Args:
            opening: mark before it; its state is the vector of the type (*binder* §4, Table 5).
            closing: mark after it.
        """
        return f"{self.text[: self.start]}{opening}{self.surface}{closing}{self.text[self.end :]}"


def parse_instance(source: str) -> Instance:
    """Reads a sentence such as ``"Both had [[coeliac disease]] as children."``.

    Raises:
        ValueError: not exactly one mention in double square brackets, or an empty one, or one with
            outer white space.
    """
    if (
        source.count(OPENING) != 1
        or source.count(CLOSING) != 1
        or source.find(OPENING) > source.rfind(CLOSING)
    ):
        raise ValueError(
            f"{source!r} does not have exactly one mention between {OPENING} and {CLOSING}"
        )
    # A bracket may touch the marks from inside: [[[3H]thymidine]].
    start, end = source.find(OPENING), source.rfind(CLOSING)
    surface = source[start + len(OPENING) : end]
    if not surface or surface != surface.strip():
        raise ValueError(f"{source!r} has an empty mention, or white space inside the brackets")
    text = source[:start] + surface + source[end + len(CLOSING) :]
    return Instance(text=text, start=start, end=start + len(surface))


class TypeDescription(Settings, frozen=True, kw_only=True):
    """One type.

    Attributes:
        name: the label in the corpus and in the output of the model.
        description: what belongs to the type: at most ``MAX_WORDS`` words and ``MAX_CHARACTERS``
            characters.
        keyword: a short phrase for it; empty for none.
        examples: sentences as ``parse_instance`` reads them; ours, not from a corpus.
        source: where the meaning of the type was learnt; empty if not said.
    """

    name: str
    description: str
    keyword: str = ""
    examples: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        """Refuses a type without name or description, texts that are too long, and examples
        without a mention.
        """
        if not _says_something(self.name):
            hint = f" with a letter or digit, but {self.name[:_LONG]!r}" if self.name else ""
            raise ValueError(f"a type has no name{hint}: give the label that the corpus uses")
        if self.name != self.name.strip() or _CONTROL.search(self.name):
            raise ValueError(
                f"the name {self.name!r} has white space around it or a control character in it"
            )
        if not _says_something(self.description):
            raise ValueError(
                f"the type {self.name!r} has no description: say in one or two sentences what "
                "belongs to it"
            )
        if self.keyword and not _says_something(self.keyword):
            raise ValueError(
                f"the keyword of {self.name!r} has no word: give a short phrase, or leave it out"
            )
        self._check_texts()

    def _check_texts(self) -> None:
        texts = [("description", self.description), ("keyword", self.keyword)]
        for kind, text in (*texts, *(("example", text) for text in self.examples)):
            what = (
                f"the {kind} of {self.name!r}"
                if kind != "example"
                else f"an example of {self.name!r}"
            )
            for unit, size, limit in (
                ("words", len(text.split()), MAX_WORDS[kind]),
                ("characters", len(text), MAX_CHARACTERS[kind]),
            ):
                if size > limit:
                    raise ValueError(
                        f"{what} has {size} {unit}, at most {limit} are allowed: shorten it"
                    )
            if _CONTROL.search(" ".join(text.split())):
                raise ValueError(f"{what} has a control character in it: remove it")
        for text in self.examples:
            try:
                parse_instance(text)
            except ValueError as error:
                raise ValueError(f"an example of {self.name!r} cannot be used: {error}") from None


class TypeDescriptions(Settings, frozen=True, kw_only=True):
    """The types of a corpus, or of whatever a user looks for.

    Attributes:
        types: at least one, ordered by name (code points), as the types of a model are.
    """

    types: tuple[TypeDescription, ...]

    def __post_init__(self) -> None:
        """Refuses an empty list, unsorted types, and types that are not distinct."""
        if not self.types:
            raise ValueError("no type is described")
        _refuse_twins(self.types)
        if list(self.names) != sorted(self.names):
            raise ValueError("the types are not ordered by name")

    @property
    def names(self) -> tuple[str, ...]:
        """Labels: the only text about types in the variant *atomic labels*."""
        return tuple(described.name for described in self.types)

    def texts(self, kind: _TextKind) -> tuple[str, ...]:
        """Returns one text per type, in the order of ``names``.

        Args:
            kind: ``"keyword"`` or ``"guideline"``, the description.

        Raises:
            RecipeError: a type has no keyword.
        """
        if kind == "guideline":
            return tuple(described.description for described in self.types)
        self._require(
            "keyword", [described.name for described in self.types if not described.keyword]
        )
        return tuple(described.keyword for described in self.types)

    def instances(self, number: int) -> tuple[tuple[Instance, ...], ...]:
        """Returns the first ``number`` examples of each type, in the order of ``names``.

        Args:
            number: number of examples; the paper uses three at test time (*binder* §4, Table 5).

        Raises:
            ValueError: ``number`` is not positive.
            RecipeError: a type has fewer examples.
        """
        if number < 1:
            raise ValueError(f"number = {number} is not positive")
        lacking = [described.name for described in self.types if len(described.examples) < number]
        self._require("example" if number == 1 else f"{number} examples", lacking)
        return tuple(
            tuple(map(parse_instance, described.examples[:number])) for described in self.types
        )

    def select(self, names: Iterable[str]) -> TypeDescriptions:
        """Returns the descriptions of some types, for a model that is to learn or find only these.

        Raises:
            RecipeError: no names, or one that is not described.
        """
        selected = set(names)
        unknown = selected - set(self.names)
        if unknown or not selected:
            raise RecipeError(
                f"no description of {_join_names(unknown or {'any type'})}: described are "
                f"{_join_names(self.names)}"
            )
        return TypeDescriptions(
            types=tuple(described for described in self.types if described.name in selected)
        )

    @staticmethod
    def _require(what: str, lacking: Sequence[str]) -> None:
        if lacking:
            raise RecipeError(
                f"no {what} for {_join_names(lacking)}: every type needs what the model is to "
                "read, so add it to the file"
            )


def read_types(path: str | os.PathLike[str]) -> TypeDescriptions:
    """Reads the descriptions of types, ordered by name; runs of white space in their texts become
    one blank.

    Raises:
        RecipeError: no such file, a folder, not TOML, no type, an unknown key (the nearest valid
            one is named), a wrong type of value, a type without name or description, a text that is
            too long (it is never cut), an example without exactly one mention, two types with one
            name, description or keyword.
    """
    from fascicle.settings.recipes.strict import toml_values

    path = Path(path)
    advice = (
        "begin each type with a line [[type]], write texts in quotes, and save the file as UTF-8"
    )
    values = toml_values(
        path, missing=f"there are no descriptions of types at {path}", advice=advice
    )
    return parse_types(values, origin=str(path))


def parse_types(values: Mapping[str, Any], *, origin: str) -> TypeDescriptions:
    """Converts plain values to ``TypeDescriptions``.

    Args:
        values: values of a TOML file.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_types``.
    """
    for key in values:
        if key != "type":
            raise RecipeError(
                f"unknown key {key}; each type begins with a line [[type]] and has its label as "
                "name",
                at=origin,
                key=key,
                code="unknown-key",
            )
    tables = values.get("type", [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise RecipeError(
            "type is not a list of tables; begin each type with a line [[type]]", at=origin
        )
    if not tables:
        raise RecipeError("no type is described; begin each type with a line [[type]]", at=origin)
    try:
        types = [_described(table, number) for number, table in enumerate(tables, 1)]
        return TypeDescriptions(types=tuple(sorted(types, key=lambda described: described.name)))
    except ValueError as error:
        raise RecipeError(str(error), at=origin) from None


def check_types(
    descriptions: TypeDescriptions, types: Iterable[str], *, origin: str = "the type descriptions"
) -> None:
    """Raises an error unless descriptions are those of exactly the given types.

    Args:
        descriptions: the descriptions.
        types: labels of the model, or of its training corpus.
        origin: name of the file, for messages.

    Raises:
        RecipeError: types without description, or descriptions of other types; all are named.
    """
    expected, described = set(types), set(descriptions.names)
    missing, extra = sorted(expected - described), sorted(described - expected)
    if not missing and not extra:
        return
    differences = [f"no description of {_join_names(missing)}"] if missing else []
    differences += (
        [f"a description of {_join_names(extra)}, which is not among the types"] if extra else []
    )
    raise RecipeError(
        f"{' and '.join(differences)}; describe exactly {_join_names(expected)}", at=origin
    )


def _described(table: Mapping[str, Any], number: int) -> TypeDescription:
    """Converts the table of one type.

    Raises:
        ValueError: it names the wrong type and the reason.
    """
    name = table.get("name")
    place = (
        f"the type {name!r}" if isinstance(name, str) and name else f"the type in table {number}"
    )
    fields = TypeDescription.__struct_fields__
    for key in table:
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1)
            advice = (
                f"did you mean {near[0]}?" if near else f"allowed are {', '.join(sorted(fields))}"
            )
            raise ValueError(f"{place}: unknown key {key}; {advice}")
    filled = {"name": "", "description": ""} | {
        key: _collapsed(key, value) for key, value in table.items()
    }
    try:
        return msgspec.convert(filled, TypeDescription)
    except msgspec.ValidationError as error:
        what, inside = locate_error(error)
        key = re.split(r"\W", inside, maxsplit=1)[0]  # a field, of which an item may be wrong
        if not key:  # an error of the class itself names the type, if it has a name
            raise ValueError(what if name else f"{place}: {what}") from None
        raise ValueError(
            f"{place}: {key} = {table[key]!r} is not allowed: {what[0].lower() + what[1:]}"
        ) from None


def _collapsed(key: str, value: Any) -> Any:
    """Collapses white space in texts; the name stays unchanged, since it must match a label."""
    if isinstance(value, list):
        return [_collapsed(key, part) for part in value]
    return " ".join(value.split()) if isinstance(value, str) and key != "name" else value


def _refuse_twins(types: Sequence[TypeDescription]) -> None:
    """Raises an error for two types with the same text, which would get the same vector."""
    twice = [
        name for name, count in Counter(described.name for described in types).items() if count > 1
    ]
    if twice:
        raise ValueError(
            f"more than one description of {_join_names(twice)}: a label stands for one type"
        )
    for kind in ("description", "keyword"):
        names: dict[str, str] = {}
        for described in types:
            text = " ".join(
                unicodedata.normalize("NFKC", getattr(described, kind)).casefold().split()
            )
            other = names.setdefault(text, described.name)
            if text and other != described.name:
                raise ValueError(
                    f"the types {other!r} and {described.name!r} have the same {kind}: no model "
                    "could tell them apart; say what belongs to each in other words"
                )


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _join_names(names: Iterable[str]) -> str:
    """Returns names for a message, shortened if there are many."""
    ordered = sorted(names)
    text = ", ".join(map(repr, ordered[:_SHOWN]))
    return f"{text} and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else text
