"""Base class of all settings, their number types, and the descriptions of their patterns and
attributes.

Error messages describe a pattern in words, and never show a regular expression.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from msgspec import Meta

# Pattern -> its description. Every pattern of the package is listed here, which a test checks.
WORDS: Final = MappingProxyType(
    {
        r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z": "of letters, digits, '.', '_' and '-', with a letter "
        "or digit first",
        r"^([A-Za-z0-9][A-Za-z0-9._-]*)?\Z": "of letters, digits, '.', '_' and '-', with a "
        "letter or digit first",
        r"^[A-Za-z0-9][A-Za-z0-9._@-]*\Z": "of letters, digits, '.', '_', '@' and '-', with a "
        "letter or digit first",
        r"^[A-Za-z0-9][A-Za-z0-9_-]*\Z": "of letters, digits, '_' and '-', with a letter or "
        "digit first",
        "^[A-Za-z0-9_-]+$": "of letters, digits, '_' and '-'",
        r"^[a-z0-9_]*\Z": "of small letters, digits and '_'",
        r"^[a-z]{2,3}\Z": "of two or three small letters, such as 'en'",
        r"^\S+\Z": "without white space, and not empty",
        r"^(\d{4}(-\d{2}(-\d{2})?)?)?\Z": "of a year, a month or a day, such as 2026, 2026-05 or "
        "2026-05-31",
        r"^([0-9a-f]{64})?\Z": "of 64 digits of 0 to 9 and a to f",
        r"^[0-9a-f]{32}$": "of 32 digits of 0 to 9 and a to f",
        "^.+/[^/]+$": "of words, a '/' and a type, as in WORDS/TYPE",
        r"^https?://[^\s@?#]+\Z": "of an address that begins with http:// or https://, without "
        "'@', '?' and '#'",
        r"^[^\x00-\x1f\x7f]+(?![\s\S])": "on one line, without control characters",
    }
)


def in_words(message: str) -> str:
    """Replaces the pattern in a validation error by words.

    Args:
        message: message of msgspec.
    """
    before, separator, after = message.partition(" matching regex ")
    if not separator:
        return message
    for pattern, words in WORDS.items():
        description = repr(pattern)
        if after.startswith(description):
            return f"{before.replace('`str`', 'text')} {words}{after[len(description) :]}"
    return message


# largest integer in a recipe: tensors and random generators treat larger ones differently
LARGEST = 2**31 - 1
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
Natural = Annotated[int, Meta(ge=0, le=LARGEST)]
Rate = Annotated[float, Meta(gt=0.0, le=1.0)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
NotNegative = Annotated[float, Meta(ge=0.0, le=1e6)]
Name = Annotated[str, Meta(min_length=1)]
Names = Annotated[tuple[Name, ...], Meta(min_length=1)]
# For names of files and folders. The end is \Z, since $ allows a line break after it.
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z")]
PackName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*\Z")]


# the source of human annotation, as in `core.mention`, which settings may not import
_GOLD = "gold"
_AT = re.compile(r"^(?P<what>.*?)(?: - at (?P<name>`key` in )?`\$\.?(?P<key>[^`]*)`)?$", re.DOTALL)


def locate_error(error: msgspec.ValidationError) -> tuple[str, str]:
    """Returns the message of a validation error, and the path of the wrong value; empty for the
    whole.
    """
    match = _AT.match(str(error))
    if match is None:
        return in_words(str(error)), ""
    return ("a name in it is not allowed: " if match["name"] else "") + in_words(
        match["what"]
    ), match["key"] or ""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all settings: frozen, by name only, unknown names refused."""

    def _refuse_changed(self, key: str, *names: str) -> None:
        """Refuses settings without effect, unless they have their defaults."""
        defaults = {field.name: field.default for field in msgspec.structs.fields(self)}
        for name in names:
            if getattr(self, name) != defaults[name]:
                raise ValueError(
                    f"{name} = {getattr(self, name)!r} has no effect with {key}: leave it out"
                )


def refuse_duplicates(names: Sequence[str], key: str) -> None:
    """Raises an error if a name is in a list twice.

    Raises:
        ValueError: it names the first such name, and the key of the list.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{key} names {twice[0]!r} twice: name it once")


def check_model_name(name: str, what: str = "a model") -> None:
    """Raises an error for a name that looks like human annotation, or that breaks the lines it is
    printed in.

    Args:
        name: the name, which becomes the source of mentions.
        what: kind of object with this name, for messages.

    Raises:
        ValueError: the name is not allowed.
    """
    if name == _GOLD:
        raise ValueError(
            f'{what} cannot be named "{_GOLD}", which is human annotation; give it another name'
        )
    if not name.isprintable():
        raise ValueError(
            f"{what} cannot be named {name!r}, which has control characters; give it another name"
        )


class RecipeBase(Settings, frozen=True, kw_only=True):
    """Everything that decides the result of a training run, apart from the data and the versions of
    software.

    Attributes:
        name: name of what is trained, which becomes the source of its mentions.
        seed: seed of all random choices.
    """

    name: FileName
    seed: Natural = 1

    def __post_init__(self) -> None:
        """Checks the name."""
        check_model_name(self.name)

    def files(self) -> dict[str, str]:
        """Returns the paths of all data that determine a run, each by its key in the recipe, as
        ``"corpus.train"``.
        """
        raise NotImplementedError

    def places(self) -> dict[str, str]:
        """Returns the paths of ``files``, and those without influence on the result, such as
        that of a copy.
        """
        return self.files()


def attribute_descriptions(kind: type) -> dict[str, str]:
    """Returns the description of each attribute; those of the class replace those of its bases."""
    descriptions: dict[str, str] = {}
    for ancestor in kind.__mro__:
        section = inspect.cleandoc(ancestor.__dict__.get("__doc__") or "").partition(
            "Attributes:\n"
        )[2]
        section = re.split(r"^\S", section, maxsplit=1, flags=re.MULTILINE)[0]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE):
            descriptions.setdefault(name, " ".join(text.split()))
    return descriptions
