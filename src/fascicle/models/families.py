"""Every family of heads: add one by a file beside this one and a line here."""

from __future__ import annotations

from fascicle.models.tagger import CrfTagger, SoftmaxTagger

FAMILIES: dict[str, type[SoftmaxTagger]] = {
    "crf": CrfTagger,
    "softmax": SoftmaxTagger,
}
