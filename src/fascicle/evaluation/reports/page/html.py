"""Parts of the page of an evaluation: figures, tables and vocabularies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.marks import Html, escape, isolated_name, join, tag
from fascicle.core.page.template import PageTable
from fascicle.evaluation.reports.markdown_table import UNDEFINED, percent

_NOTHING: Final = Html("")


def points(value: float) -> str:
    """Formats a difference of shares in points, with its sign; no difference has none."""
    text = f"{100 * value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "\u2212")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Content of the place of a picture.

    Attributes:
        svg: the picture, an ``<svg>`` element; empty if there is none.
        missing: why there is none.
        notes: what else is to be said about it, a sentence each.
    """

    svg: str = ""
    missing: str = ""
    notes: tuple[str, ...] = ()


Pictures = Mapping[str, Picture]


def figure(pictures: Pictures, name: str, *, caption: str) -> Html:
    """Returns a picture with a caption, or the reason why there is none; nothing if it is not known
    at all.

    Args:
        pictures: by name.
        name: which; also what keeps the ids inside it apart from those of the other pictures.
        caption: what it shows, and how to read it; `Html` or text.
    """
    picture = pictures.get(name)
    if picture is None:
        return _NOTHING
    if not picture.svg:
        return tag("p", f"No picture: {picture.missing}.", class_="nothing")
    notes = [join(" ", note) for note in picture.notes]
    return tag(
        "figure",
        tag("div", Html(_alone(picture.svg, name)), class_="drawing"),
        tag("figcaption", caption, *notes),
        class_="picture",
    )


def _alone(svg: str, name: str) -> str:
    """Returns an element whose ids and styles cannot touch other pictures of the page."""
    svg = re.sub(
        r"<!--.*?-->|<style[^>]*>.*?</style>|\sxmlns(?::\w+)?=\"[^\"]*\"", "", svg, flags=re.DOTALL
    )
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    cleaned = re.sub(
        r'\sid="([^"]+)"', lambda f: f' id="{name}-{f[1]}"' if f[1] in used else "", svg
    )
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", cleaned)


class ScoreTable(PageTable):
    """Table with notes below it on what its columns mean and why cells are undefined."""

    def __init__(
        self, *header: str, texts: int = 1, groups: Iterable[tuple[str, int]] = ()
    ) -> None:
        """Begins with the header; see `PageTable`."""
        super().__init__(*header, texts=texts, groups=groups)
        self._reasons: dict[str, None] = {}

    def name(self, text: str) -> Html:
        """Formats a name, whatever the direction of its script."""
        return isolated_name(text)

    def share(self, row: Mapping[str, Any], name: str, *, best: float | None = None) -> Html:
        """Formats a share in percent, strong if it is the best; if undefined, the reason is kept
        for the notes.
        """
        value = row[name]
        if value is None:
            reasons = row.get("undefined", {})
            return self.because(reasons if isinstance(reasons, str) else reasons.get(name, ""))
        return tag("strong", percent(value)) if value == best else escape(percent(value))

    def because(self, reason: str) -> Html:
        """Returns an undefined cell."""
        if reason:
            self._reasons[reason] = None
        return tag("abbr", UNDEFINED, title=f"undefined: {reason}" if reason else "undefined")

    def notes(self) -> str:
        """Returns the reasons."""
        return f"{UNDEFINED} is undefined: {'; '.join(self._reasons)}." if self._reasons else ""


MENTION: Final = (
    ("mention", "a piece of a text that names something, such as a disease, with its type"),
    ("gold", "the mentions that people marked in these documents, taken for the truth"),
    ("predicted", "the mentions that a system found in them"),
    (
        "F1",
        "one number for how good a system is, from 0 (nothing right) to 100 (all found, nothing "
        "in error)",
    ),
)
SCORES: Final = MappingProxyType(
    {
        "TP": "true positives, predicted mentions that are right",
        "FP": "false positives, predicted mentions that are not in the gold",
        "FN": "false negatives, gold mentions that were not found",
        "P": "precision, the share of the predicted mentions that are right: TP / (TP + FP)",
        "R": "recall, the share of the gold mentions that were found: TP / (TP + FN)",
        "F1": "the harmonic mean of both: 2 TP / (2 TP + FP + FN)",
        "macro F1": "the mean of the F1 of the types, so that rare types count as much as "
        "frequent ones",
        "small numbers": "where the number above fell in 95 of 100 draws of documents "
        "(bootstrap): the narrower, the "
        "surer",
    }
)
RULES_MEAN: Final = MappingProxyType(
    {
        "strict": "the same type and the same characters; all other numbers of this page are "
        "strict",
        "start": "the same type and the same first character",
        "end": "the same type and the same last character",
        "loose": "the same type, and at least one character in common",
        "span": "the same characters, whatever the types",
        "type": "the same type, wherever they stand in the document",
    }
)
SUBSETS: Final = MappingProxyType(
    {
        "seen": (
            "seen in training",
            "the training corpus has a mention with the same words and type",
        ),
        "unseen": ("not seen in training", "it has none"),
        "outermost": ("outermost", "not inside another mention"),
        "inner": ("inside another", "all its characters belong to another mention that has more"),
        "nested": ("nested", "inside another, or with another inside"),
        "same_span": ("same span", "there is a mention of another type over the same characters"),
        "continuous": ("continuous", "of one piece"),
        "discontinuous": (
            "discontinuous",
            "of several pieces, as “left … ventricle” in “left and right ventricle”",
        ),
    }
)
CLASSES: Final = MappingProxyType(
    {
        "type": ("wrong type", "the right characters, but another type"),
        "merged": ("merged", "one prediction over several gold mentions of its type"),
        "split": ("split", "several predictions inside one gold mention of their type"),
        "boundary-left": (
            "wrong left boundary",
            "the right type, but it begins too early or too late",
        ),
        "boundary-right": (
            "wrong right boundary",
            "the right type, but it ends too early or too late",
        ),
        "boundary-both": (
            "both boundaries wrong",
            "the right type, but it begins and ends at other places",
        ),
        "boundary-inside": (
            "wrong pieces",
            "begins and ends right, but the pieces between are others",
        ),
        "boundary-and-type": (
            "wrong boundary and type",
            "touches a mention of another type at other characters",
        ),
        "spurious": ("spurious", "predicted where the gold has no mention at all"),
        "missed": ("missed", "in the gold where the system predicted nothing at all"),
    }
)
RATES: Final = (
    ("errors", "FP and FN together"),
    ("type errors", "FP with the characters of a gold mention of another type"),
    ("TE-Rate", "their share of the errors"),
    ("boundary errors", "other FP that touch a gold mention"),
    ("BE-Rate", "their share of the errors"),
    ("BE-Rate, same type", "if only gold mentions of the same type count"),
)
CALIBRATION: Final = (
    ("scores", "predicted mentions, each with its score from 0 to 1"),
    (
        "calibration error",
        "mean distance between how sure a score is and how often it is right; 0 is best",
    ),
    ("Brier score", "mean squared distance of score and truth (1 right, 0 wrong); 0 is best"),
    ("average precision", "area under the precision-recall curve; 100 is best"),
    ("temperature", "above 1: the scores are too sure of themselves; below 1: not sure enough"),
)
