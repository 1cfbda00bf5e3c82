"""Pictures of a report as files of their own: each kind of picture for the systems that are
wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, cast

import msgspec

from fascicle.core.files.source import file_bytes
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.evaluation.breakdown.errors import CLASSES
from fascicle.evaluation.report_parts import (
    SCHEMA,
    CalibrationPart,
    Errors,
    Report,
    ScoresPart,
    SystemPart,
)
from fascicle.evaluation.reports.plots.canvas import (
    MOST_SERIES,
    Drawing,
    PictureLabels,
    make_labels,
    side_by_side,
)
from fascicle.evaluation.reports.plots.f1_pictures import f1_by_type
from fascicle.evaluation.reports.plots.matrices import draw_confusion, heat_maps
from fascicle.evaluation.reports.plots.report_pictures import (
    FEW,
    precision_recall,
    reliability,
)

_REMEDY = "fascicle evaluate GOLD PRED --report FILE.json writes one"


def _check(report: Report) -> None:
    """Refuses parts that do not go together.

    Raises:
        ValueError: says which.
    """
    for system in report["systems"]:
        _check_scores(system["scores"])
        _check_errors(system["errors"], system["scores"]["rules"]["strict"]["types"])
        _check_calibration(system["calibration"])
        for name, attribute in report["attributes"].items():
            intervals = [bucket["interval"] for bucket in system["buckets"].get(name, [])]
            if "undefined" not in attribute and (
                intervals != attribute.get("intervals") or not intervals
            ):
                raise ValueError(
                    f"the buckets of {name!r} of {system['name']!r} are not those of the report"
                )


def _check_scores(scores: ScoresPart) -> None:
    if "strict" not in scores["rules"]:
        raise ValueError("the strict scores are missing")
    micro = scores["rules"]["strict"]["micro"]
    if micro["f1"] is None and "f1" not in micro.get("undefined", {}):
        raise ValueError("the F1 is null without a reason")
    if (scores["micro_f1_interval"] is None) != (
        "micro_f1_interval" in scores.get("undefined", {})
    ):
        raise ValueError("either micro_f1_interval or the reason that there is none is wanted")


def _check_errors(errors: Errors, types: Collection[str]) -> None:
    if missing := [name for name in CLASSES if name not in errors["classes"]]:
        raise ValueError(f"the class of errors {missing[0]!r} is missing")
    for row in errors["confusions"]:
        if row["gold"] not in types or row["predicted"] not in types:
            raise ValueError(
                f"{row['gold']!r} or {row['predicted']!r} is confused, but no type of the scores"
            )


def _check_calibration(value: CalibrationPart) -> None:
    reasons = value.get("undefined", {})
    if isinstance(reasons, str):
        return
    if "reliability" not in value or "precision_recall" not in value:
        raise ValueError("the calibration has no curves, and no reason for it")
    if any(
        row["count"] and None in (row["mean_score"], row["precision"])
        for row in value["reliability"]
    ):
        raise ValueError("a bin with mentions has no mean score or no precision")
    if "average_precision" not in reasons and any(
        row["recall"] is None for row in value["precision_recall"]
    ):
        raise ValueError("a recall is null without a reason")


def load_report(path: str) -> Report:
    """Reads a report.

    Returns:
        The value of ``fascicle.evaluation.report.build_report``, as far as pictures need it
        checked.

    Raises:
        InputError: it cannot be read.
        FormatError: another kind of file, another version, or one that lacks parts.
    """
    content = file_bytes(path)
    try:
        value = msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(
            f"{path} is not a report as JSON ({error}); {_REMEDY}", file=path
        ) from None
    if not isinstance(value, Mapping) or "fascicle_report" not in value:
        raise FormatError(
            f"{path} is not a report as JSON (it has no key fascicle_report); {_REMEDY}", file=path
        )
    if value["fascicle_report"] != SCHEMA:
        raise FormatError(
            f"{path} is a report of version {value['fascicle_report']!r}; this release reads "
            f"version {SCHEMA}, and {_REMEDY}",
            file=path,
            code="version",
        )
    try:
        _check(msgspec.convert(value, type=Report))
    except (msgspec.MsgspecError, ValueError) as error:
        raise FormatError(
            f"the report {path} is incomplete or was changed ({error}); {_REMEDY}"
        ) from None
    return cast(Report, value)


_MOST_PANELS: Final = 12
_Named = Sequence[tuple[str, Drawing]]


@dataclass(frozen=True, kw_only=True)
class _ReportPlot:
    """One kind of picture of a report.

    Attributes:
        means: what it shows, for the help.
        draw: a report and the names of its systems -> pictures, each with its name.
        key: how to read them; stands in the picture.
        remedy: what to do where there is nothing to draw.
    """

    means: str
    draw: Callable[[Report, PictureLabels], _Named]
    key: str
    remedy: str


def _of_all(
    draw: Callable[[Sequence[SystemPart], PictureLabels], Drawing],
) -> Callable[..., _Named]:
    """Returns all systems in one picture, which names them itself if there are several."""

    def drawn(report: Report, names: PictureLabels) -> _Named:
        systems = report["systems"]
        return [("" if len(systems) > 1 else names.names[0], draw(systems, names))]

    return drawn


def _of_each(draw: Callable[[SystemPart], Drawing]) -> Callable[..., _Named]:
    """Returns a picture of each system."""
    return lambda report, names: [
        (name, draw(system)) for name, system in zip(names.names, report["systems"], strict=True)
    ]


def _heat(report: Report, names: PictureLabels) -> _Named:
    first, *rest = names.names
    if not rest:
        return [
            ("", Drawing(missing=f"a heat map is between two systems, and only {first} was given"))
        ]
    maps = heat_maps(report, names).values()
    return [
        (f"F1 of {name} less F1 of {first}", drawing)
        for name, drawing in zip(rest, maps, strict=True)
    ]


REPORT_PLOTS: Final = MappingProxyType(
    {
        "scores": _ReportPlot(
            means="F1 of every system with its interval, over all types and by type",
            draw=_of_all(f1_by_type),
            key="Lines: 95 % interval, from drawing documents. Where two overlap, a paired test "
            "can still tell the "
            "systems apart.",
            remedy="give predictions, or gold, with a mention",
        ),
        "heat": _ReportPlot(
            means="differences of F1 between systems in every bucket",
            draw=_heat,
            key="Points of F1 in each bucket, and below them its interval. Blue: better. Orange, "
            "bold, with a hatched "
            "edge: worse. –: undefined.",
            remedy="name two prediction files for fascicle evaluate GOLD PRED PRED2 --report "
            "FILE.json",
        ),
        "confusion": _ReportPlot(
            means="gold types by predicted types",
            draw=_of_each(draw_confusion),
            key="Every prediction by its type and by what the gold has there. Diagonal: right, "
            "and after + of the "
            "right type at other characters. Last column: gold where nothing was predicted. "
            "Darker: more of the row.",
            remedy="give predictions, or gold, with a mention",
        ),
        "reliability": _ReportPlot(
            means="precision over the score",
            draw=_of_each(lambda system: reliability(system["calibration"])),
            key="On the dashed line scores tell the truth; below it the system is too sure. "
            f"Open marks: fewer than {FEW} mentions. Bars: mentions with such scores.",
            remedy="evaluate predictions that have a score for every mention",
        ),
        "precision-recall": _ReportPlot(
            means="precision and recall over the score",
            draw=_of_all(precision_recall),
            key="If only the mentions above a score were kept, for every score; at the left few "
            "are, and precision "
            "jumps. A curve ends where the predictions end.",
            remedy="evaluate predictions that have a score for every mention",
        ),
    }
)


def load_drawing(kind: str, path: str, *, systems: Sequence[str] = ()) -> Drawing:
    """Loads a picture of a report.

    Args:
        kind: a name of `REPORT_PLOTS`.
        path: of the report as JSON.
        systems: the names of those to draw, in this order; of all where empty.

    Raises:
        InputError: no report, or nothing to draw in it.
        UsageError: a system that the report does not have, or more systems than one picture can
            hold.
        MissingExtraError: Matplotlib is not installed.
    """
    report = load_report(path)
    selected = _select_systems(report["systems"], systems, path=path)
    plot = REPORT_PLOTS[kind]
    names = make_labels([system["name"] for system in selected], kind="system")
    panels = plot.draw(report | {"systems": selected}, names)
    if len(panels) > _MOST_PANELS or len(selected) > MOST_SERIES:
        raise UsageError(
            f"{len(selected)} systems of {path} were asked for, which {kind} cannot show in one "
            f"picture; choose up to {_MOST_PANELS} with systems=NAMES"
        )
    drawing = side_by_side(panels, key=plot.key)
    if drawing.draw is None:
        raise InputError(f"there is no picture {kind} of {path}: {drawing.missing}; {plot.remedy}")
    return drawing


def _select_systems(
    systems: Sequence[SystemPart], names: Sequence[str], *, path: str
) -> list[SystemPart]:
    by_name = {system["name"]: system for system in systems}
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"the system {name!r} was asked for; {path} has {', '.join(map(repr, by_name))}"
            )
    return [by_name[name] for name in dict.fromkeys(names)] if names else list(systems)
