"""Pipelines for a service by what a user names: pipelines, models, dictionaries and packs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fascicle.errors import UsageError
from fascicle.knowledge.abbreviations.finder import AbbreviationFinder
from fascicle.knowledge.linking.opening import Linking, find
from fascicle.pipeline.pipeline import Pipeline
from fascicle.settings.folders.vocabularies import AUTO, DEFAULT_LINKER, shipped_linkers
from fascicle.settings.pipeline import PIPELINE, Limits, read_pipeline
from fascicle.settings.recognition import RecognitionSettings
from fascicle.text.annotator import Annotator


@dataclass(frozen=True, kw_only=True)
class Opening:
    """Opens a pipeline, in whatever process it is called.

    Attributes:
        given: a pipeline, or what `fascicle.load` takes.
        link: linker of a model, as `fascicle.load` takes it.
    """

    given: str
    link: str | None = AUTO

    @property
    def is_pipeline(self) -> bool:
        """Whether this is a pipeline, and no model."""
        place = Path(self.given).expanduser()
        return (place / PIPELINE).is_file() or (place.is_file() and place.suffix == ".toml")

    @property
    def limits(self) -> Limits:
        """What a batch and a worker may cost."""
        return read_pipeline(self.given).limits if self.is_pipeline else Limits()

    @property
    def examples(self) -> tuple[str, ...]:
        """Texts to try it with: those with known answers."""
        return tuple(one.text for one in read_pipeline(self.given).answers) if self.is_pipeline else ()

    def __call__(self) -> Pipeline:
        """Opens it.

        Raises:
            FascicleError: it cannot be opened.
        """
        if self.is_pipeline:
            from fascicle.pipeline.loading import open_pipeline

            return open_pipeline(self.given)
        from fascicle.loading import load
        from fascicle.loading.places import packs_of
        from fascicle.pipeline.steps import LINKED, MENTIONS, Own, Recognise

        bare = self.link is None and packs_of((self.given,))
        model = load(self.given, threads=1, recognition=RecognitionSettings(links=False) if bare else None)
        gives = LINKED if "links" in model.gives else MENTIONS
        step = Recognise(name=model.name, predictor=model, gives=gives, fingerprint=model.fingerprint)
        linker = self._linker(model)
        steps = [] if linker is None else [Own(AbbreviationFinder(), name="abbreviations"), Own(linker, name="link")]
        return Pipeline([step, *steps], name=self.name, segmenter=model.segmenter)

    def _linker(self, model: Annotator) -> Linking | None:
        """What links the mentions of a model, if anything does."""
        is_asked = self.link is not None and self.link != AUTO
        if self.link is None or (not is_asked and ("links" in model.gives or not shipped_linkers())):
            return None
        name = self.link if is_asked else DEFAULT_LINKER
        found = find(name)
        if found.covered(model.types):
            return found.opened()
        if is_asked:
            raise UsageError(f"the packs of the linker {name} have no concepts of the types of {model.name}")
        return None

    @property
    def name(self) -> str:
        """Under which it is served."""
        if self.is_pipeline:
            return read_pipeline(self.given).name
        return Path(self.given).expanduser().name if os.sep in self.given else self.given


def openings(given: list[str], *, link: str | None = AUTO) -> dict[str, Opening]:
    """What opens each pipeline, by the name under which it is served.

    Args:
        given: pipelines and models; ``NAME=PATH`` gives one a name.
        link: linker of models.

    Raises:
        UsageError: two with one name, an empty name, or a pipeline without links.
        RecipeError: a pipeline that cannot be read.
    """
    found: dict[str, Opening] = {}
    for one in given:
        name, sign, path = one.partition("=")
        opening = Opening(given=path if sign else one, link=link)
        name = name if sign else opening.name
        if not name or not opening.given:
            raise UsageError(f"{one!r} has no name or no path; give PATH or NAME=PATH")
        if link is None and opening.is_pipeline:
            raise UsageError(
                f"link=None is for models, and {opening.given} is a pipeline, whose file names its steps; leave the "
                "steps that link out of it, or let each request ask for link=false"
            )
        if name in found:
            raise UsageError(f"two pipelines are called {name!r}; give one another name with NAME=PATH")
        found[name] = opening
    return found
