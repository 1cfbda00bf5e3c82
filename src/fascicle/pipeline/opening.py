"""Opening of a pipeline, or of a model as one, in any process."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from fascicle.errors import UsageError
from fascicle.linking.opening import Linking, find
from fascicle.pipeline.pipeline import Pipeline
from fascicle.runtime.places import is_shipped
from fascicle.settings.folders.vocabularies import AUTO, DEFAULT_LINKER, shipped_linkers
from fascicle.settings.pipeline import Limits, Shards, is_pipeline, read_pipeline
from fascicle.settings.recognition import Case, RecognitionSettings
from fascicle.terms.abbreviations.finder import AbbreviationFinder
from fascicle.text.annotator import Annotator


def _from_anywhere(given: str) -> str:
    """Returns what opens the same from any folder: a whole path, or the name of what is shipped or a plug-in."""
    there = Path(given).expanduser()
    return str(there.resolve()) if there.exists() and not is_shipped(given) else given


@dataclass(frozen=True, kw_only=True)
class PipelineOpener:
    """Opener of a pipeline, callable in any process.

    Attributes:
        given: a pipeline, or what `fascicle.load` takes.
        link: linker of a model, as `fascicle.load` takes it.
        also: names beside a model, as `fascicle.load` takes them.
        case: in which capitals names are found, as `fascicle.load` takes it.
    """

    given: str
    link: str | None = AUTO
    also: tuple[str, ...] = ()
    case: Case = "auto"

    def from_anywhere(self) -> PipelineOpener:
        """Returns the same opener, with paths that hold in any folder; see `refuse_names` too."""
        self.refuse_names()
        return replace(self, given=_from_anywhere(self.given), also=tuple(map(_from_anywhere, self.also)))

    def refuse_names(self) -> None:
        """Refuses own names beside a pipeline.

        Raises:
            UsageError: see above.
        """
        if self.also and self.is_pipeline:
            raise UsageError(
                f"the argument also is for models, and {self.given} is a pipeline; give a model such as "
                f"biomed, or write also = {json.dumps(self.also)} into the step recogniser of a pipeline of your own"
            )

    @property
    def is_pipeline(self) -> bool:
        """True if this is a pipeline, false if it is a model."""
        return is_pipeline(self.given)

    @property
    def limits(self) -> Limits:
        """Limits for a batch and a worker."""
        return read_pipeline(self.given).limits if self.is_pipeline else Limits()

    @property
    def shards(self) -> Shards:
        """Limits for a shard of a run."""
        return read_pipeline(self.given).shards if self.is_pipeline else Shards()

    @property
    def examples(self) -> tuple[str, ...]:
        """Example texts: those of the pipeline with known answers."""
        return tuple(one.text for one in read_pipeline(self.given).answers) if self.is_pipeline else ()

    def __call__(self) -> Pipeline:
        """Opens the pipeline.

        Raises:
            FascicleError: it cannot be opened.
        """
        if self.is_pipeline:
            from fascicle.pipeline.loading import open_pipeline

            return open_pipeline(self.given)
        from fascicle.loading import given_out, load_whole, own_names
        from fascicle.pipeline.steps import LINKED, MENTIONS, Own, Recognise
        from fascicle.runtime.places import packs_of

        bare = self.link is None and packs_of((self.given,))
        recognition = RecognitionSettings(links=False) if bare else None
        names = own_names(self.also, case=self.case, links=self.link is not None)
        model = given_out(load_whole(self.given, threads=1, recognition=recognition, case=self.case), also=names)
        gives = LINKED if "links" in model.gives else MENTIONS
        step = Recognise(name=model.name, predictor=model, gives=gives, fingerprint=model.fingerprint)
        linker = self._linker(model)
        steps = [] if linker is None else [Own(AbbreviationFinder(), name="abbreviations"), Own(linker, name="link")]
        return Pipeline([step, *steps], name=self.name, segmenter=model.segmenter)

    def _linker(self, model: Annotator) -> Linking | None:
        """Returns the linker for the mentions of a model, or ``None``."""
        is_asked = self.link is not None and self.link != AUTO
        if self.link is None or (not is_asked and (model.links or not shipped_linkers())):
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
        """Name under which the pipeline is served."""
        if self.is_pipeline:
            return read_pipeline(self.given).name
        return Path(self.given).expanduser().name if os.sep in self.given else self.given
