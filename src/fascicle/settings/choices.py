"""What a user chooses about the mentions of a model, the same for every way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from fascicle.errors import UsageError
from fascicle.settings.base import Name, Settings, Share
from fascicle.settings.decision import Ends
from fascicle.settings.folders.vocabularies import AUTO
from fascicle.settings.inputs import Case, RecognitionSettings

PATHS: Final = (
    "also",
    "types",
    "link",
    "assertions",
    "relations",
)  # fields that may name files or folders


class Choices(Settings, frozen=True, kw_only=True):
    """Choices about the mentions of a model; by default the mentions stay as the model gives them.

    `fascicle.load` takes each of them as an argument, a command as an option, and a step
    ``recogniser`` of a pipeline as a key.

    Attributes:
        also: own names beside the model: dictionaries and term packs; of several the first has
            precedence.
        case: in which capitals names of dictionaries are found.
        types: a TOML file of types to look for, of a model of the family ``binder`` or a zero-shot
            model; or words for types, of the latter.
        careful: types whose mentions stay only if ``biomed-fast`` has them too; those of
            ``biomed-fast`` if ``biomed`` has them.
        only: types of mentions to keep; by default all that the model does not keep apart.
        threshold: mentions with a lower score are left out; one number, or one for each of some
            types.
        ends: ``"bare"`` or ``"corpus"``: a rule for the ends of names, of a model with a decision
            for documents.
        nested: for term packs: also find names inside others, and all types of a name.
        links: whether mentions may have links; if not, those of term packs are left out too.
        link: linkers: ``"auto"``, shipped names, or folders of linkers or packs; none by default.
        ontology: prefix of the only vocabulary in which a linker gives links; those of own lists
            and of variants stay.
        variants: also find sequence variants.
        assertions: also find which mentions are negated, uncertain and so on; true, or a TOML file
            of own cues.
        relations: folder of a finder of relations between the mentions.
    """

    also: tuple[Name, ...] = ()
    case: Case = "auto"
    types: str | tuple[Name, ...] = ""
    careful: tuple[Name, ...] = ()
    only: tuple[Name, ...] = ()
    threshold: Share | dict[Name, Share] = 0.0
    ends: Ends | None = None
    nested: bool = False
    links: bool = True
    link: Name | tuple[Name, ...] = ()
    ontology: str = ""
    variants: bool = False
    assertions: bool | str = False
    relations: str = ""

    def __post_init__(self) -> None:
        """Reads ``("auto",)`` as ``"auto"``, and refuses choices of links beside that of none.

        Raises:
            UsageError: there are some.
        """
        if self.link == (AUTO,):
            msgspec.structs.force_setattr(self, "link", AUTO)
        if not self.links and (self.ontology or self.link not in ((), AUTO)):
            raise UsageError("links = false leaves out all links; leave out link and ontology")

    @property
    def linkers(self) -> tuple[str, ...]:
        """The linkers by name; neither ``"auto"`` nor none are names."""
        if self.link == AUTO:
            return ()
        return (self.link,) if isinstance(self.link, str) else self.link

    @property
    def changed(self) -> dict[str, Any]:
        """The choices that are not the default, by their names."""
        return {name: getattr(self, name) for name in _FIELDS if self._differs(name)}

    def _differs(self, name: str) -> bool:
        return bool(getattr(self, name) != getattr(NO_CHOICES, name))

    def places(self) -> Mapping[str, str | tuple[str, ...]]:
        """Returns the choices that may name files or folders, by their names."""
        return {
            name: value
            for name in PATHS
            if (value := getattr(self, name)) and not isinstance(value, bool)
            if not (name == "types" and isinstance(value, tuple))  # words
        }

    @property
    def paths(self) -> tuple[str, ...]:
        """All values that may name files or folders."""
        groups = self.places().values()
        return tuple(
            path for group in groups for path in ((group,) if isinstance(group, str) else group)
        )

    def with_places(self, change: Callable[[str], str]) -> Choices:
        """Returns the same choices, with each path changed by a function."""
        return msgspec.structs.replace(
            self,
            **{
                name: change(value) if isinstance(value, str) else tuple(map(change, value))
                for name, value in self.places().items()
            },
        )


class Composition(Settings, frozen=True, kw_only=True):
    """What a predictor was opened from.

    Attributes:
        model: as `fascicle.load` takes it; several term packs have several names.
        choices: about its mentions.
        device: where the network computes, see `fascicle.load`; ``None`` for its default.
    """

    model: tuple[Name, ...]
    choices: Choices = Choices()
    device: str | None = None


class Opening(Settings, frozen=True, kw_only=True):
    """How another process opens a predictor.

    Attributes:
        composition: what it was opened from.
        fingerprint: of the predictor, which the files there must have too.
        threads: see `fascicle.load`, as for the rest.
        recognition: see there.
    """

    composition: Composition
    fingerprint: str
    threads: int | None = None
    recognition: RecognitionSettings | None = None


_FIELDS: Final = Choices.__struct_fields__
NO_CHOICES: Final = Choices()
LINKED_MODEL: Final = Choices(link=AUTO)  # the default of commands
