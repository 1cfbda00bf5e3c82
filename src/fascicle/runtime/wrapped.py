"""A predictor around another one, which it is like in all that it does not change.

A predictor of another package as one of ours: with streams, and held to its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Self

from msgspec.structs import replace

from fascicle.core.arguments import validate_documents
from fascicle.core.contracts import Predictor
from fascicle.core.document import Document, Link, Mention, Patch, unique
from fascicle.core.lazy import cached_property
from fascicle.core.mention import are_tuples
from fascicle.core.type_names import read_vocabulary
from fascicle.core.wording import plural
from fascicle.errors import FascicleError, InputError, PluginError, UsageError
from fascicle.runtime.settling import settle
from fascicle.settings.folders.vocabularies import (
    AUTO,
    DEFAULT_LINKER,
    find_pack,
    pack_types,
    shipped_linkers,
)
from fascicle.text.annotator import Annotator, Tagged, TagSpace

if TYPE_CHECKING:
    from fascicle.linking.opening import LinkerWithPacks, Linking, Places


class WrappedPredictor(Annotator):
    """Predictor around another one, whose properties it has.

    Attributes:
        is_behind_links: whether it works on mentions that have their links; see
            `fascicle.runtime.composing`.
    """

    is_behind_links: bool = False

    def __init__(self, predictor: Annotator) -> None:
        """Takes the predictor."""
        self._predictor = predictor
        self.gives = predictor.gives

    @property
    def links(self) -> bool:
        """True if the predictor links what it finds itself."""
        return self._predictor.links

    @property
    def free_linker(self) -> str:
        """That of the predictor."""
        return self._predictor.free_linker

    @property
    def name(self) -> str:
        """Name of the predictor."""
        return self._predictor.name

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of the predictor."""
        return self._predictor.sources

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the predictor."""
        return self._predictor.types

    @property
    def kind(self) -> str:
        """Kind of the predictor."""
        return self._predictor.kind

    @property
    def parts(self) -> tuple[Annotator, ...]:
        """The parts of the predictor, and itself."""
        return (*self._predictor.parts, self)

    @property
    def segmenter(self) -> str:
        """Segmenter of the predictor."""
        return self._predictor.segmenter

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor."""
        return self._predictor.fingerprint

    @property
    def tag_space(self) -> TagSpace:
        """Tag space of the predictor."""
        return self._predictor.tag_space

    @property
    def own(self) -> tuple[str, ...]:
        """Sources of a user's own names, see `OwnNamesPredictor`."""
        inner = self._predictor
        return inner.own if isinstance(inner, WrappedPredictor) else ()

    def before_links(self) -> Self:
        """Returns the same predictor with longer mentions beside own names, until links decide
        between them.
        """
        if not self.own:
            return self
        other = copy(self)
        if isinstance(self._predictor, WrappedPredictor):
            other._predictor = self._predictor.before_links()
        return other

    @property
    def manifest(self) -> Any:
        """Manifest of the model or ensemble inside; a predictor without one has no such
        attribute.
        """
        return self._predictor.manifest  # type: ignore[attr-defined]


class PluggedPredictor(Annotator):
    """Passes documents on, and checks the answers."""

    def __init__(self, predictor: Predictor, *, package: str) -> None:
        """Wraps a predictor.

        Args:
            predictor: does the work.
            package: name and version of its package.
        """
        self._predictor = predictor
        self._package = package

    @property
    def name(self) -> str:
        """The source of its mentions."""
        return self._predictor.name

    @property
    def types(self) -> tuple[str, ...]:
        """Types that the predictor looks for."""
        return tuple(self._predictor.types)

    @property
    def kind(self) -> str:
        """The package that it is from."""
        return f"a plug-in of {self._package}"

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor, if it has one, with its package."""
        return f"{self._package} {getattr(self._predictor, 'fingerprint', super().fingerprint)}"

    def close(self) -> None:
        """Ends what the predictor holds, if it has a method for that."""
        if hasattr(self._predictor, "close"):
            self._predictor.close()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `fascicle.core.contracts.Predictor`.

        Raises:
            PluginError: it does not answer each document by a patch of mentions, or gives mentions
                of another source.
            InputError: it fails at a document, or finds mentions outside of its text.
        """
        documents = list(validate_documents(documents))
        patches = self._run(documents)
        if not isinstance(patches, Sequence):
            self._refuse(
                f"gave {_kind(patches)} in place of a list of patches; return one patch for each "
                "document"
            )
        if len(patches) != len(documents):
            count = plural(len(patches), "patch", "patches")
            self._refuse(
                f"gave {count} for {plural(len(documents), 'document')}; return one for each, in "
                "their order"
            )
        for document, patch in zip(documents, patches, strict=True):
            self._check(patch, document)
        return list(patches)

    def _run(self, documents: list[Document]) -> list[Patch]:
        """Runs the predictor; an exception from its own code is raised as an `InputError`."""
        try:
            return self._predictor.predict(documents)
        except (FascicleError, OSError):
            raise
        except Exception as error:
            which = (
                f"document {documents[0].id!r}"
                if len(documents) == 1
                else plural(len(documents), "document")
            )
            why = f"failed at {which} ({type(error).__name__}: {error})"
            raise InputError(
                f"{self.name}, {self.kind}, {why}", key=self.name, code="prediction"
            ) from error

    def _check(self, patch: Patch, document: Document) -> None:
        if not isinstance(patch, Patch):
            self._refuse(
                f"gave {_kind(patch)} in place of a patch; make a Patch(add=(...)) for each "
                "document"
            )
        if not isinstance(patch.add, tuple | list):
            self._refuse(
                f"made a Patch with {_kind(patch.add)} as its add; give it a tuple of mentions"
            )
        for mention in patch.add:
            if not isinstance(mention, Mention):
                self._refuse(
                    f"gave {_kind(mention)} in place of a mention; make a Mention(((start, "
                    "end),), type)"
                )
            if not are_tuples(mention.spans):
                self._refuse(
                    f"gave a mention with the spans {mention.spans!r}; make them a tuple of "
                    "tuples (start, end)"
                )
            if mention.source != self.name:
                self._refuse(
                    f"gave a mention of the source {mention.source!r}; make its mentions with "
                    f"source={self.name!r}"
                )

            if mention.end > len(document.text):
                raise InputError(
                    f"{self.name}, {self.kind}, gave a mention that ends at {mention.end} for "
                    "document "
                    f"{document.id!r}, which has {plural(len(document.text), 'character')}",
                    key=self.name,
                    code="prediction",
                )

    def _refuse(self, what: str) -> NoReturn:
        raise PluginError(f"{self.name}, {self.kind}, {what}", key=self.name)


def _kind(value: object) -> str:
    return f"an object of the type {type(value).__name__}"


ChooseLinks = Callable[[tuple[Link, ...]], tuple[Link, ...]]


def keep_all_links(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Links as they are."""
    return links


def keep_no_links(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """No link, whatever they are."""
    return ()


def add_links(
    predictor: Annotator,
    linker: Places | None,
    *,
    ontology: str = "",
    keep: ChooseLinks = keep_all_links,
) -> Annotator:
    """Returns a predictor with links.

    Args:
        predictor: finds the mentions; links that it gives stay.
        linker: the name of a shipped linker, a folder, or several, see `find`; ``"auto"``: the
            shipped one, if its pack has a type of the predictor, which gives no links itself, or if
            an ontology is given; else the predictor as it is. ``None`` goes with no ontology.
        ontology: prefix of the only vocabulary in which links are given; by default the linker
            chooses.
        keep: what is kept of the links of a mention.

    Raises:
        PackError: there is no such linker, it is damaged, or its pack is not where it was.
        UsageError: the packs of the linker have none of the types, or no concept of the ontology,
            which a model or a pack with links of its own cannot give either.
    """
    opener = find_linker(predictor, linker, ontology=ontology)
    return predictor if opener is None else LinkedPredictor(predictor, opener, keep=keep)


def find_linker(
    predictor: Annotator, linker: Places | None, *, ontology: str = ""
) -> LinkerWithPacks | None:
    """Returns the linker of `add_links`; ``None`` if ``"auto"`` is none."""
    if (
        linker == AUTO
        and not ontology
        and (predictor.links or not _covered_by_default(predictor.types))
    ):
        return None
    if linker is None:
        raise UsageError(
            f"nothing gives links in {ontology}; give a linker too, or leave out the argument "
            "ontology"
        )
    if ontology and (maker := predictor.free_linker):
        raise UsageError(
            f"{maker} makes its own links, which are not only in {ontology}; leave out "
            "the argument ontology"
        )
    from fascicle.linking.opening import as_places, find

    opener = find(DEFAULT_LINKER if linker == AUTO else linker, ontology=ontology)
    if not opener.covered(predictor.types):
        covered = ", ".join(sorted({kind for part in opener.parts for kind in part.pack.types}))
        linkers = ", ".join(map(str, as_places(linker)))
        raise UsageError(
            f"{predictor.name} finds {', '.join(predictor.types)}, and the packs of the linker "
            f"{linkers} only have concepts of {covered}; leave the linker out, or give another one"
        )
    return opener


def _covered_by_default(types: Sequence[str]) -> bool:
    """True if a shipped linker exists and covers a type; the linker is not opened."""
    if not shipped_linkers():
        return False
    covered = pack_types(find_pack(DEFAULT_LINKER))
    names = read_vocabulary()
    return any(names.among(kind, covered) in covered for kind in types)


class LinkedPredictor(WrappedPredictor):
    """Links what a predictor finds."""

    def __init__(
        self, predictor: Annotator, opener: LinkerWithPacks, *, keep: ChooseLinks = keep_all_links
    ) -> None:
        """Takes the predictor, a linker that is not opened yet, and what is kept of the links of
        a mention.
        """
        super().__init__(
            predictor.before_links() if isinstance(predictor, WrappedPredictor) else predictor
        )
        self._found, self._keep = opener, keep
        self.gives = predictor.gives | {"links"}

    @property
    def links(self) -> bool:
        """True."""
        return True

    @property
    def part(self) -> str:
        """That it links, and the linker."""
        packs = ", ".join(part.pack.full_name for part in self._found.parts)
        return f"link {packs}" + (f" in {self._found.ontology}" if self._found.ontology else "")

    @cached_property
    def linker(self) -> Linking:
        """The open linker."""
        return self._found.opened()

    @cached_property
    def _covered(self) -> frozenset[str]:
        return frozenset(self._found.covered(self.types))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor and of the linker."""
        return f"{self._predictor.fingerprint} {self._found.fingerprint}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions with links, and events for each document; see `Annotator.predict`."""
        return self._linked(documents, self._predictor.predict(documents))

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """Tags as the predictor does, with links."""
        tagged = self._predictor.tag(documents)
        patches = self._linked(documents, [answer.patch for answer in tagged])
        return [replace(answer, patch=patch) for answer, patch in zip(tagged, patches, strict=True)]

    def _linked(self, documents: Sequence[Document], patches: list[Patch]) -> list[Patch]:
        numbers = [
            at
            for at, patch in enumerate(patches)
            if any(mention.type in self._covered for mention in patch.add)
        ]
        if numbers:
            targets = list(
                self._targets([documents[at] for at in numbers], [patches[at] for at in numbers])
            )
            for at, answer in zip(numbers, self.linker.predict(targets), strict=True):
                patches[at] = self._with_links(patches[at], answer)
        if not (own := self.own):
            return patches
        return [
            settle(patch, step=self.name, is_own=lambda mention: mention.source in own)
            for patch in patches
        ]

    def _targets(
        self, documents: Sequence[Document], patches: Sequence[Patch]
    ) -> Iterator[Document]:
        """Yields the documents with the mentions to link, and those that have links."""
        for document, patch in zip(documents, patches, strict=True):
            linked = [
                mention
                for mention in document.mentions
                if mention.links and mention.source not in self.sources
            ]
            mentions, _ = unique((*patch.add, *linked))
            yield replace(document, mentions=mentions)

    def _with_links(self, patch: Patch, links_patch: Patch) -> Patch:
        """Returns a patch whose mentions have the links of another one."""
        links = {key: self._keep(several) for key, several in links_patch.links}
        mentions = tuple(
            replace(mention, links=links[mention.key]) if mention.key in links else mention
            for mention in patch.add
        )
        return replace(patch, add=mentions, events=(*patch.events, *links_patch.events))


class JoinedPredictor(WrappedPredictor):
    """Mentions of two predictors; each mention keeps its source."""

    is_behind_links = True

    def __init__(
        self, predictor: Annotator, other: Annotator, *, keep: ChooseLinks = keep_all_links
    ) -> None:
        """Takes the predictor, which gives the name, the one beside it, and what is kept of the
        links of that one.
        """
        super().__init__(predictor)
        self._other, self._keep = other, keep
        self.gives = predictor.gives | other.gives

    @property
    def free_linker(self) -> str:
        """That of the predictor, or of the other one unless its links stay."""
        inner = self._predictor.free_linker
        return inner or ("" if self._other.keeps_links else self._other.free_linker)

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of both."""
        return tuple(dict.fromkeys((*self._predictor.sources, *self._other.sources)))

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the predictor, and then those that the other one alone has."""
        return tuple(dict.fromkeys((*self._predictor.types, *self._other.types)))

    @property
    def apart(self) -> tuple[str, ...]:
        """Types that the predictor keeps apart, but for those of the other one."""
        return tuple(kind for kind in self._predictor.apart if kind not in self._other.types)

    @property
    def part(self) -> str:
        """The sources of the other one."""
        return ", ".join(self._other.sources)

    @property
    def kind(self) -> str:
        """Kind of the predictor, and the sources of the other one."""
        return f"{self._predictor.kind}, beside {', '.join(self._other.sources)}"

    @property
    def fingerprint(self) -> str:
        """Fingerprints of both."""
        return f"{self._predictor.fingerprint} also {self._other.fingerprint}"

    @property
    def tag_space(self) -> TagSpace:
        """The scores of mentions: the other one has no probabilities of tags."""
        return TagSpace()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events of both for each document; see `Annotator.predict`."""
        documents = list(documents)
        pairs = zip(self._predictor.predict(documents), self._other.predict(documents), strict=True)
        return [self.join(first, second) for first, second in pairs]

    def join(self, first: Patch, second: Patch) -> Patch:
        """Joins what the predictor and the other one found in a document."""
        added = (replace(mention, links=self._keep(mention.links)) for mention in second.add)
        return replace(first, add=(*first.add, *added), events=(*first.events, *second.events))


class OwnNamesPredictor(JoinedPredictor):
    """Predictor with a user's own names beside it: a list or term packs.

    Every name that a text contains is a mention, unless a longer mention of the predictor has a
    link. Other mentions of the predictor that overlap one are left out; an event counts those with
    another type or other ends. Names of a list have no score, those of a pack that of their
    meaning.
    """

    _waits = False
    is_behind_links = False

    @property
    def part(self) -> str:
        """The sources of the names."""
        return f"own names {', '.join(self._other.sources)}"

    def reason_to_drop(self, mention: Mention, mentions: Sequence[Mention]) -> str:
        """Names the mentions that overlap."""
        rivals = [rival for rival in mentions if rival.start < mention.end > 0 < rival.end]
        rivals = [rival for rival in rivals if mention.start < rival.end]
        names = ", ".join(
            f"{rival.type} {rival.start}-{rival.end} of {rival.source}" for rival in rivals
        )
        return f"it overlaps {names}" if names else ""

    @property
    def own(self) -> tuple[str, ...]:
        """Sources of the names, and of those inside."""
        return (*super().own, *self._other.sources)

    def before_links(self) -> Self:
        """See `WrappedPredictor.before_links`."""
        other = super().before_links()
        other._waits = True
        return other

    def join(self, first: Patch, second: Patch) -> Patch:
        """Joins what the predictor found with the names in a document."""
        mine = {mention.key for mention in second.add}
        rest = tuple(mention for mention in first.add if mention.key not in mine)
        patch = replace(first, add=(*second.add, *rest), events=(*first.events, *second.events))
        inner = super().own
        return settle(
            patch,
            step=self._other.name,
            is_own=lambda mention: mention.key in mine,
            yields=lambda mention: mention.source in inner,
            waits=self._waits,
        )
