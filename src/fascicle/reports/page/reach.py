"""Gold out of reach on the page: what no model of a kind can return exactly, whatever it learns."""

from __future__ import annotations

from typing import Final

from fascicle.core.html import join, tag, user
from fascicle.evaluation.report_parts import Report
from fascicle.reports.page.html import Section, Table, paragraphs

_MEANS: Final = (
    ("out of reach", "gold mentions that no model with these units, windows, width, decoding and types can return"),
    ("highest recall", "what is left to be found, if nothing else were missed"),
)


def reach_section(report: Report) -> Section:
    """For each model that was named, how much of the gold it cannot return, by reason."""
    table = Table("model", "gold", "out of reach", "highest recall")
    reasons = Table("model", "reason", "mentions", "what it means")
    for one in report["unreachable"]:
        counts = (f"{one[name]:,}" for name in ("gold", "unreachable"))
        table.add(user(f"{one['model']} ({one['family']})"), *counts, table.share(one, "recall_ceiling"))
        for name, row in one["reasons"].items():
            reasons.add(user(one["model"]), name, f"{row['count']:,}", row["means"])
    told = "Some gold mentions cannot be found by a model of a kind, however well it is trained. They count as missed."
    some = any(one["reasons"] for one in report["unreachable"])
    body = join(
        paragraphs(told),
        table.html(means=_MEANS, label="gold out of reach"),
        reasons.html(label="reasons") if some else tag("p", "All of the gold is in reach."),
    )
    return Section(anchor="reach", title="What can be found at all?", body=body)
