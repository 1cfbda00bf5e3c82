"""Every family of heads: add one by its settings in ``recipe/heads.py``, a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Callable

from fascicle.models.binder import BinderHead
from fascicle.models.head import Head
from fascicle.models.spans import BiaffineSpans, LinearSpans
from fascicle.models.tagger import CrfTagger, SoftmaxTagger

FAMILIES: dict[str, Callable[..., Head]] = {
    "biaffine": BiaffineSpans,
    "binder": BinderHead,
    "crf": CrfTagger,
    "softmax": SoftmaxTagger,
    "span": LinearSpans,
}
