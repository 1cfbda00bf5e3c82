"""What finders of relations find, in tables, from ``studies/results/relations.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from studies.common import result
from studies.tables.grids import MISSING, markdown

_RESULT: Final = "relations"
_STARTS: Final = {"six": "`biomed`", "fast": "`biomed-fast`"}
_CORPORA: Final = {"bc5cdr-cid": "CID", "biored": "BioRED"}


def gold(name: str = _RESULT) -> str:
    """Relations between gold mentions: strictly and by ends alone, with cost."""
    body = []
    for run, row in sorted(_rows(name).items()):
        corpus, start, seed = _parts(run)
        ends = _percent(row["related"]["f1"]) if corpus == "BioRED" else "–"
        strict = row["strict"]
        rates = [f"{100 * strict[key]:.1f}" for key in ("precision", "recall")]
        export = row.get("export")
        cells = [
            corpus,
            start,
            seed,
            f"{100 * row['dev']:.1f}",
            *rates,
            _percent(strict["f1"]),
            ends,
        ]
        memory = row.get("peak_rss_bytes")
        cells += [f"{row['seconds'] / 60:.0f}", f"{memory / 1e9:.1f}" if memory else MISSING]
        cells += [_percent(export["strict"]["f1"]) if export else MISSING]
        cells += [f"{export['bytes'] / 1e6:.1f}" if export else MISSING]
        body.append(cells)
    head = "corpus|start|seed|dev|precision|recall|F1|related or not|minutes|GB|8 bits: F1|MB"
    return markdown(head.split("|"), body) if body else MISSING


def raw() -> str:
    """Relations between mentions and links of raw text, beside those between gold mentions."""
    body = []
    for name, row in sorted(_rows().items()):
        if found := row.get("raw"):
            of_gold = row.get("export", row)
            cells = [*_parts(name), _percent(of_gold["strict"]["f1"])]
            cells += [_percent(found["strict"]["f1"]), _percent(found["ends"]["f1"])]
            body.append([*cells, f"{100 * found['reachable']:.1f}"])
    head = "corpus|start|seed|F1, gold mentions|F1, raw text|related or not|both concepts linked"
    return markdown(head.split("|"), body) if body else MISSING


def times() -> str:
    """Seconds of the step beside those of the recogniser."""
    body = []
    for name, row in sorted(_rows().items()):
        if (export := row.get("export")) and "relate" in export:
            before, step = export["recognise"], export["relate"]
            share = before / (before + step)
            body.append([*_parts(name), f"{before:.1f}", f"{step:.1f}", f"{share:.2f}"])
    head = "corpus|start|seed|`biomed-fast`, s|step, s|throughput with the step"
    return markdown(head.split("|"), body) if body else MISSING


def marked() -> str:
    """Relations that the marked form finds, a pass of the network for each pair."""
    return gold("relations-marked")


def earlier() -> str:
    """The same of networks that were changed."""
    return gold(f"{_RESULT}-first")


def _rows(name: str = _RESULT) -> Mapping[str, Any]:
    rows: Mapping[str, Any] = result(name).get("rows", {})
    return rows


def _parts(name: str) -> list[str]:
    """Corpus, start and seed of a run."""
    stem, _, seed = name.rpartition("-s")
    corpus, _, last = stem.rpartition("-")
    start = _STARTS.get(last)
    return [_CORPORA[corpus if start else stem], start or "MiniLM", seed]


def _percent(interval: Mapping[str, float]) -> str:
    low, high = (100 * interval[end] for end in ("low", "high"))
    return f"**{100 * interval['estimate']:.1f}** ({low:.1f} to {high:.1f})"
