"""Tables of ``studies/docs/speed.md``: where the time goes, what was tried, and peers; from
``studies/results/``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fascicle.core.wording import plural
from studies.common import MODELS, ROOT, result
from studies.tables.grids import MISSING, markdown


def citations() -> str:
    """CPU time of each stage of a run over citations, and how fast the run would be without it."""
    found = result("citations")
    if not found:
        return MISSING
    models = found["models"]
    first = next(iter(models.values()))
    body = []
    for stage in first["stages_ms"]:
        cells = []
        for one in models.values():
            cells += [
                f"{one['stages_ms'][stage]:.2f}",
                _share(one["shares"][stage]),
                f"{one['limit_without'][stage]:.1f}",
            ]
        body.append([stage, *cells])
    head = ["stage"]
    for name in models:
        head += [f"{name}: ms a citation", "share", "citations a second without it"]
    totals = (
        [
            f"{1000 / one['citations_per_second_and_core']:.2f}",
            "",
            f"{one['citations_per_second_and_core']:.1f} with all",
        ]
        for one in models.values()
    )
    body.append(["**all**", *(cell for cells in totals for cell in cells)])
    return (
        f"{markdown(head, body)}\n\n{found['citations']:,} citations in each of the rounds. "
        f"{_beside(found)}"
    )


def pubmed() -> str:
    """Hours of all of PubMed."""
    found = result("pubmed")
    if not found:
        return MISSING
    body = []
    for name, one in found["models"].items():
        low, high = one["interval"]
        rate = f"{one['citations_per_second_and_core']:.1f}"
        body.append(
            [
                name,
                rate,
                f"{one['hours']:.1f} ({low:.1f} to {high:.1f})",
                f"{one['times_too_slow']:.2f}",
            ]
        )
    hours = f"hours of {found['citations']:,} citations on {found['cores']} cores"
    head = ("model", "citations a second and core", hours, f"times {found['hours']:.0f} hours")
    note = (
        f"From the table above; a core beside others counts as {found['efficiency']:.2f} of "
        "one alone."
    )
    return f"{markdown(head, body)}\n\n{note}"


def scale() -> str:
    """What happened to runs that were killed, and on a cluster, and in an object store; and what
    grows how.
    """
    parts = result("scale").get("parts")
    if not parts:
        return MISSING
    ways: Mapping[str, tuple[str, Callable[[Any], str]]] = {
        "killed": ("killed at random", _of_killed),
        "ray": ("a cluster", lambda one: f"{one['nodes']} nodes, {one['killed']} of them killed"),
        "s3": ("an object store", lambda one: f"{one['seconds']:.0f} s, by the wall"),
        "grown": (
            "planning and finishing",
            lambda one: (
                " and ".join(f"{value:.2f}" for value in one["growth"].values()) + " (1 is linear)"
            ),
        ),
        "updated": (
            "an update",
            lambda one: (
                f"{one['changed']} changed; {one['cpu_ms_a_document']['update']:.2f} CPU ms for "
                "each document of all"
            ),
        ),
    }
    body = []
    for name, (what, shown) in ways.items():
        one = parts.get(name, {})
        if not one or "missing" in one:
            body.append([what, "", "", one.get("missing", MISSING)])
            continue
        same = {None: "", True: "yes", False: "**no**"}[one.get("same_bytes")]
        body.append([what, f"{one['documents']:,}", same, shown(one)])
    return markdown(("run with two workers", "documents", "the bytes of a calm run", ""), body)


def _of_killed(one: Any) -> str:
    most = one["memory"]["worker"]["most_mib"], one["memory"]["run"]["most_mib"]
    return f"{one['kills']} kills; a worker has {most[0]:.0f} MiB at most, the run {most[1]:.0f}"


def peers() -> str:
    """Rates of our models and of others."""
    found = result("peers")
    if not found:
        return MISSING
    kinds = found["kinds"]
    rates = {name: kind["texts_per_second"] for name, kind in kinds.items()}
    body = [
        [name, *(f"{rate[name]:,.1f}" for rate in rates.values()), f"{memory:,}"]
        for name, memory in found["peak_mib"].items()
    ]
    head = (
        plural(found["threads"], "thread"),
        *(f"{name}, a second" for name in kinds),
        "peak memory, MiB",
    )
    left_out = "; ".join(f"{name} ({why})" for name, why in found["missing"].items())
    note = f" Left out: {left_out}." if left_out else ""
    return f"{markdown(head, body)}\n\n{_beside(found)}{note}"


def peers_ratios() -> str:
    """How many times as fast as others our models are."""
    found = result("peers")
    if not found:
        return MISSING
    columns = {
        f"`{model}`, {kind}": ratios
        for model in next(iter(found["kinds"].values()))["times_as_fast"]
        for kind, ratios in (
            (name, one["times_as_fast"][model]) for name, one in found["kinds"].items()
        )
    }
    body = [
        [name, *(_range(ratios[name]["wall"]) for ratios in columns.values())]
        for name in next(iter(columns.values()))
    ]
    return markdown(("times as fast as", *columns), body)


def _range(ratio: Mapping[str, float]) -> str:
    return f"{ratio['median']:.1f} ({ratio['low']:.1f} to {ratio['high']:.1f})"


def ratios() -> str:
    """Everyday jobs beside the fastest library at each."""
    found = result("ratios")
    if not found:
        return MISSING
    body = []
    for job, one in found["jobs"].items():
        middle, low, high = one["ratio"]
        seconds = (f"{1000 * one[side]:,.0f}" for side in ("seconds", "peer_seconds"))
        body.append([job, one["peer"], *seconds, f"{middle:.2f} ({low:.2f} to {high:.2f})"])
    head = ("job", "library", "Fascicle, CPU ms", "library, CPU ms", "Fascicle over library")
    where = f"{found['rounds']} rounds in turns, one thread, on {found['environment']['processor']}"
    return f"{markdown(head, body)}\n\n{where}. {_beside(found)}"


def since() -> str:
    """This build beside another one, and the goals."""
    found = result("since")
    if not found:
        return MISSING
    goals = {
        "everything but the network in a run": ("CPU s", "0.70"),
        "a pack built": ("CPU s", "0.5"),
        "abbreviations": ("CPU s", "0.5"),
        "memory of annotate with links": ("MB", "180 MB"),
    }
    body = []
    for job, (unit, goal) in goals.items():
        one = found["jobs"][job]
        values = (f"{one[side]:.3g} {unit}" for side in ("before", "now"))
        middle, low, high = one["ratio"]
        body.append([job, *values, f"{middle:.2f} ({low:.2f} to {high:.2f})", goal])
    return f"{markdown(('what', 'before', 'now', 'ratio', 'goal'), body)}\n\n{_beside(found)}"


def peers_among() -> str:
    """How many times less CPU time our models take than the contestants that were named."""
    found = result("peers-among")
    if not found:
        return MISSING
    body = [
        [name, model, *(_range(one["cpu"]) for one in ratios.values())]
        for name, kind in found["kinds"].items()
        for model, ratios in kind["times_as_fast"].items()
    ]
    names = next(iter(next(iter(found["kinds"].values()))["times_as_fast"].values()))
    return f"{markdown(('texts', 'model', *names), body)}\n\n{_beside(found)}"


def choice() -> str:
    """Quality, speed and size of the models that ship, for who chooses one."""
    found = result("peers-among")
    rows = {name: result(f"decision-{name}").get("rows", {}) for name in MODELS}
    if not found or not all(rows.values()):
        return MISSING
    body = [
        [f"`{name.partition('@')[0]}`", *_qualities(of), *_rates(found, name), _megabytes(name)]
        for name, of in rows.items()
    ]
    count = sum(row["foreign"] for row in rows[MODELS[0]].values())
    head = (
        "model",
        f"mean F1 on {count} rows of texts that taught nothing",
        "on all rows",
        "short sentences a second",
        "abstracts a second",
        "MB",
    )
    return markdown(head, body)


def _qualities(rows: Mapping[str, Any]) -> Iterator[str]:
    """Mean strict F1 over the rows of texts that taught nothing, and over all."""
    for only in ([row for row in rows.values() if row["foreign"]], list(rows.values())):
        yield f"{100 * statistics.mean(row['after']['f1'] for row in only):.1f}"


def _rates(found: Mapping[str, Any], name: str) -> Iterator[str]:
    """Texts in a second of CPU time."""
    for kind in ("short", "abstracts"):
        of_kind = found["kinds"][kind]
        seconds = statistics.median(of_kind["cpu_seconds"][name.partition("@")[0]])
        yield f"{of_kind['texts'] / seconds:.0f}"


def _megabytes(name: str) -> str:
    folder = ROOT / "src" / "fascicle" / "assets" / name
    return f"{sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f}"


def graphs() -> str:
    """What a graph costs beside its run, and for copies of its documents."""
    value, default = result("graphs"), result("graphs-default")
    if not value or not default:
        return MISSING
    body = []
    for name, pair in (("names of the pack", value), ("the default pipeline", default)):
        for part in ("run", "graph"):
            label = f"{part}, {name}"
            ratio = f"{pair['ratio']:.2f}" if part == "graph" else ""
            body.append(_cost_row(label, pair["documents"], pair[part], ratio=ratio))
    for count, cost in value["copies"].items():
        body.append(_cost_row("graph of copies", int(count), cost, edges=f"{cost['edges']:,}"))
    head = ("what", "documents", "CPU s", "memory, MiB", "run and graph over run", "edges")
    return markdown(head, body)


def _cost_row(
    label: str, documents: int, cost: Mapping[str, float], *, ratio: str = "", edges: str = ""
) -> list[str]:
    seconds, memory = f"{cost['processor_s']:,.1f}", f"{cost['peak_mib']:.0f}"
    return [label, f"{documents:,}", seconds, memory, ratio, edges]


def names_tried() -> str:
    """How long the effect of two rows of curation on texts takes."""
    value = result("names-tried")
    if not value:
        return MISSING
    ways = {
        "diff": "`index diff --corpus`, whole process",
        "once": "as the page does, rows built once",
        "anew": "as the page does, rows built for each portion",
    }
    body = [
        [label, f"{int(count):,}", f"{cost.get('trying_s', cost['processor_s']):.1f}"]
        for way, label in ways.items()
        for count, cost in value[way].items()
    ]
    return markdown(("what", "texts", "CPU s"), body)


TABLES: Mapping[str, Callable[[], str]] = {
    "speed-graphs": graphs,
    "speed-names-tried": names_tried,
    "speed-citations": citations,
    "speed-pubmed": pubmed,
    "speed-scale": scale,
    "speed-peers": peers,
    "speed-peers-ratios": peers_ratios,
    "speed-peers-among": peers_among,
    "speed-ratios": ratios,
    "speed-since": since,
    "models-choice": choice,
}


def _share(value: float | None) -> str:
    return "below 1 %" if value is None else f"{100 * value:.1f} %"


def _beside(found: Mapping[str, Any]) -> str:
    """What else ran."""
    return f"Measured on {found['date']}; beside it ran: {found['beside']}."
