"""Fascicle trains, bundles, combines and ships named entity recognisers, and runs them over any
amount of text.

Importing it loads no model, no torch and no runtime; each name brings what it needs when it is
used.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from fascicle import errors
from fascicle.version import VERSION

if TYPE_CHECKING:
    from fascicle.core.document import Document, Event, Link, Mention, Patch, Section, TextMention
    from fascicle.core.patches import apply
    from fascicle.evaluation.scoring.inputs import layers
    from fascicle.evaluation.scoring.scores import Scores, score
    from fascicle.formats.files import read
    from fascicle.formats.outputs import write
    from fascicle.formats.parquet import to_arrow
    from fascicle.loading import load
    from fascicle.serving.client.clients import AsyncClient, Client
    from fascicle.terms.abbreviations.finder import find_abbreviations
    from fascicle.training.run import train_recipe as train
    from fascicle.verbs.combine import combine
    from fascicle.verbs.compare import compare
    from fascicle.verbs.corpus_check import check
    from fascicle.verbs.evaluate_links import evaluate_links
    from fascicle.verbs.export import export
    from fascicle.verbs.link import link
    from fascicle.verbs.tasks.annotate import annotate
    from fascicle.verbs.tasks.calibrate import calibrate
    from fascicle.verbs.tasks.evaluate import evaluate

__version__ = VERSION

__all__ = [
    "AsyncClient",
    "Client",
    "Document",
    "Event",
    "Link",
    "Mention",
    "Patch",
    "Scores",
    "Section",
    "TextMention",
    "__version__",
    "annotate",
    "apply",
    "calibrate",
    "check",
    "combine",
    "compare",
    "errors",
    "evaluate",
    "evaluate_links",
    "export",
    "find_abbreviations",
    "layers",
    "link",
    "load",
    "read",
    "score",
    "to_arrow",
    "train",
    "write",
]

# The module of each name, where it has the same name; `train` is called otherwise there.
_LATE: Final = MappingProxyType(
    {
        **dict.fromkeys(
            ("Document", "Event", "Link", "Mention", "Patch", "Section", "TextMention"),
            "core.document",
        ),
        **{verb: f"verbs.tasks.{verb}" for verb in ("annotate", "calibrate", "evaluate")},
        **{
            verb: f"verbs.{verb}"
            for verb in ("combine", "compare", "evaluate_links", "export", "link")
        },
        **{
            "check": "verbs.corpus_check",
            "apply": "core.patches",
            "load": "loading",
            "train": "training.run",
        },
        **{"read": "formats.files", "write": "formats.outputs", "to_arrow": "formats.parquet"},
        **dict.fromkeys(("AsyncClient", "Client"), "serving.client.clients"),
        **dict.fromkeys(("Scores", "score"), "evaluation.scoring.scores"),
        **{
            "layers": "evaluation.scoring.inputs",
            "find_abbreviations": "terms.abbreviations.finder",
        },
    }
)


def __getattr__(name: str) -> object:
    """Imports a name when it is first used."""
    if name not in _LATE:
        raise AttributeError(f"module 'fascicle' has no attribute {name!r}")
    try:
        return getattr(
            import_module(f"fascicle.{_LATE[name]}"), "train_recipe" if name == "train" else name
        )
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "fascicle":
            raise
        extra = "client" if name.endswith("Client") else "train"
        raise errors.MissingExtraError(extra, error.name or name) from None


def __dir__() -> list[str]:
    """The public names alone, also those that are not imported yet."""
    return list(__all__)
