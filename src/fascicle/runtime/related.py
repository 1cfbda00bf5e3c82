"""A predictor whose mentions have relations."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fascicle.core.document import Document, Patch, in_order
from fascicle.errors import UsageError
from fascicle.runtime.relations import RelationFinder
from fascicle.runtime.wrapped import WrappedPredictor
from fascicle.text.annotator import Annotator


class RelatedPredictor(WrappedPredictor):
    """Predictor that also finds relations between its mentions, or between their concepts."""

    def __init__(self, predictor: Annotator, finder: RelationFinder) -> None:
        """Takes the predictor and the finder.

        Raises:
            UsageError: the predictor has none of the types that the finder pairs, or no links for
                relations between concepts.
        """
        super().__init__(predictor)
        pairs, name = finder.manifest.pairs, predictor.name
        if not pairs.are_in(predictor.types):
            types = ", ".join(" and ".join(pair) for pair in pairs.types)
            raise UsageError(
                f"{finder.name} finds relations between {types}, and {name} finds "
                f"{', '.join(predictor.types)}; give a finder for these types"
            )
        if pairs.between == "concepts" and "links" not in predictor.gives:
            raise UsageError(
                f"{finder.name} finds relations between concepts, and {name} gives no links; give "
                "a linker too"
            )
        self.gives = predictor.gives | {"relations"}
        self._finder = finder

    @property
    def part(self) -> str:
        """That it finds relations, and the finder."""
        return f"relations {self._finder.name}"

    @property
    def fingerprint(self) -> str:
        """Fingerprints of the predictor and of the finder."""
        return f"{self._predictor.fingerprint} related {self._finder.manifest.files}"

    def explain_relations(self, document: Document) -> Sequence[str]:
        """Names the pair of mentions that counts most for each relation."""
        (patch,) = self._predictor.predict([document])
        return self._finder.explain(document, in_order(patch.add))

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions, relations and events for each document; see `Annotator.predict`."""
        documents = list(documents)
        patches = self._predictor.predict(documents)
        related = self._finder.relate(documents, [in_order(patch.add) for patch in patches])
        return [
            replace(
                patch,
                relations=more.relations,
                drop_relations=more.drop_relations,
                events=(*patch.events, *more.events),
            )
            for patch, more in zip(patches, related, strict=True)
        ]
