"""Fascicle trains, bundles, combines and ships named entity recognisers, and runs them over any amount of text.

Importing it loads no model, no torch and no runtime; ``load`` brings what a model needs.
"""

from __future__ import annotations

from fascicle import errors
from fascicle.core.document import Document, Event, Link, Mention, Patch, Section
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats.files import read, write
from fascicle.loading import load

__version__ = "0.1.0"

__all__ = [
    "Document",
    "Event",
    "Link",
    "Mention",
    "Patch",
    "Scores",
    "Section",
    "__version__",
    "errors",
    "layers",
    "load",
    "read",
    "score",
    "write",
]
