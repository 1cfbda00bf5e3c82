"""Tables of ``studies/docs/speed.md``: where the time goes, what was tried, and peers; from
``studies/results/``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

from fascicle.core.wording import plural
from studies.common import result
from studies.tables.grids import MISSING, markdown

_STAGES = (
    "read",
    "sentences",
    "tokenise",
    "words",
    "windows",
    "collate",
    "network",
    "decode and the rest",
    "answer",
    "write",
)


def core() -> str:
    """What one core does in each arithmetic, by the shapes of the products."""
    found = result("roofline")
    if not found:
        return MISSING
    most = found["core"]["giga_operations_per_second"]
    shapes = found["core"]["by_shape"]
    head = ("billions of operations a second, one core", *shapes, "all, weighed")
    names = {
        "fp32": "fp32",
        "bf16": "bf16",
        "int8": "8 bits",
        "int8_to_float": "8 bits, scaled to fp32",
    }
    body = [
        [what, *(f"{own[key]:.0f}" for own in shapes.values()), f"{most[key]:.0f}"]
        for key, what in names.items()
    ]
    return f"{markdown(head, body)}\n\n{_beside(found)}"


def stages() -> str:
    """CPU time of each stage for each kind of text."""
    found = result("roofline")
    if not found:
        return MISSING
    kinds = found["kinds"]
    body = []
    for stage in _STAGES:
        body.append(
            [
                stage,
                *(f"{kind['stages_ms_per_sentence'].get(stage, 0):.2f}" for kind in kinds.values()),
            ]
        )
    rows: Mapping[str, Callable[[Any], str]] = {
        "**all, ms a sentence**": lambda kind: f"{kind['cpu_ms_per_sentence']:.2f}",
        "pieces a sentence": lambda kind: f"{kind['pieces'] / kind['sentences']:.0f}",
        "padding": lambda kind: f"{100 * kind['padding']:.1f} %",
        "of the 8-bit limit, network": lambda kind: f"{100 * kind['share_of_int8_network']:.0f} %",
        "of the 8-bit limit, all": lambda kind: f"{100 * kind['share_of_int8']:.0f} %",
    }
    body += [[what, *(show(kind) for kind in kinds.values())] for what, show in rows.items()]
    return markdown(("CPU ms a sentence, one thread", *kinds), body)


def operators() -> str:
    """Shares of the operators of the network."""
    found = result("roofline").get("operators")
    if not found:
        return MISSING
    names = dict.fromkeys(name for shares in found.values() for name in shares)
    body = [
        [
            f"`{name}`" if name != "others" else name,
            *(_share(shares.get(name)) for shares in found.values()),
        ]
        for name in sorted(names, key=lambda name: (name == "others", -found["bulk"].get(name, 0)))
    ]
    return markdown(("share of the time of the network", *found), body)


def threads() -> str:
    """Ways to use several cores."""
    found = result("roofline").get("threads")
    if not found:
        return MISSING
    one = found["wall_seconds"]["one caller, one core"]
    body = []
    for name, seconds in found["wall_seconds"].items():
        ratios = sorted(b / a for a, b in zip(seconds, one, strict=True))
        body.append(
            [name, f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"]
        )
    return markdown(
        (f"the networks of 300 sentences, {found['cores']} cores", "times as fast as one core"),
        body,
    )


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


def fast_levers() -> str:
    """What each change gains alone, for the small model."""
    return levers("levers-biomed-fast@1")


def levers(name: str = "levers") -> str:
    """What each change gains alone."""
    found = result(name)
    if not found:
        return MISSING
    kinds = found["kinds"]
    body = []
    for part, before in (("graphs", ""), ("batches", "batches of at most so many pieces: ")):
        for name in next(iter(kinds.values()))[part]:
            cells = []
            for kind in kinds.values():
                one = kind[part][name]
                low, high = one["quartiles"]
                cells.append(f"{one['ratio']:.2f} ({low:.2f} to {high:.2f})")
            body.append([f"{before}{name}", *cells])
    return f"{markdown(('CPU time of the network, times the first', *kinds), body)}\n\n{_beside(found)}"


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


def vocabularies() -> str:
    """What reading a large vocabulary takes."""
    found = result("vocabularies")
    if not found:
        return MISSING
    named = {"owl": "RDF/XML", "ttl": "Turtle", "umls": "UMLS: MRCONSO and MRSTY"}
    body = [
        [
            f"{named[name]}, {one['rows']:,} rows" if "rows" in one else named[name],
            *(
                f"{one[what]:,}"
                for what in ("megabytes", "concepts", "seconds", "cpu_seconds", "peak_mib")
            ),
        ]
        for name, one in found["rows"].items()
    ]
    head = ("source", "MB", "concepts", "seconds", "CPU seconds", "peak memory, MiB")
    return f"{markdown(head, body)}\n\n{_beside(found)}"


def duplicates() -> str:
    """How much of real text a network reads again."""
    found = result("duplicates")
    if not found:
        return MISSING
    body = []
    for name, source in found["sources"].items():
        shares = [
            f"{100 * source['again'][where]['pieces'] / source['pieces']:.2f} %"
            for where in source["again"]
        ]
        body.append(
            [
                name,
                f"{source['windows']:,}",
                *shares,
                f"{source['looking_microseconds_per_window']:.1f}",
            ]
        )
    head = (
        "text",
        "windows",
        "read again, scored together",
        "read again, in all",
        "µs to look, a window",
    )
    return markdown(head, body)


def openvino() -> str:
    """OpenVINO in the place of ONNX Runtime."""
    found = result("openvino")
    if not found:
        return MISSING
    rows = {
        "CPU time in bulk, shapes new": "bulk_ratio",
        "CPU time in bulk, shapes known": "bulk_again_ratio",
        "a sentence alone": "alone_ratio",
        "opening": "opening_ratio",
        "peak memory (with OpenVINO, both are open)": "peak_mb_ratio",
    }
    body = []
    for what, key in rows.items():
        ratios = [one[key] for one in found["measured"].values()]
        body.append(
            [what, *(f"{middle:.2f} ({low:.2f} to {high:.2f})" for middle, low, high in ratios)]
        )
    for corpus, systems in found["found"].items():
        others = (f"{one['other']} of {one['mentions']:,}" for one in systems.values())
        body.append([f"{corpus}: mentions that differ", *others])
        body.append([f"{corpus}: F1", *(f"{one['f1']:.2f}" for one in systems.values())])
    return f"{markdown(('times ONNX Runtime, one thread', *found['measured']), body)}\n\n{_beside(found)}"


def gate() -> str:
    """What a gate in front of the network would save, and lose."""
    found = result("gate")
    if not found:
        return MISSING
    body = []
    for name, source in found["sources"].items():
        cells = [
            f"{100 * one['pieces_saved']:.1f} %, {100 * one['mentions_lost']:.2f} %"
            for one in source["gates"].values()
        ]
        body.append(
            [name, f"{source['sentences']:,}", f"{100 * source['pieces_of_empty']:.0f} %", *cells]
        )
    losses = (
        f"fitted to lose {100 * float(most):.1f} %"
        for most in next(iter(found["sources"].values()))["gates"]
    )
    return markdown(
        ("pieces saved, mentions lost", "sentences", "a perfect gate saves", *losses), body
    )


TABLES: Mapping[str, Callable[[], str]] = {
    "speed-core": core,
    "speed-stages": stages,
    "speed-operators": operators,
    "speed-threads": threads,
    "speed-citations": citations,
    "speed-pubmed": pubmed,
    "speed-scale": scale,
    "speed-levers": levers,
    "speed-levers-fast": fast_levers,
    "speed-peers": peers,
    "speed-vocabularies": vocabularies,
    "speed-peers-ratios": peers_ratios,
    "speed-ratios": ratios,
    "speed-duplicates": duplicates,
    "speed-gate": gate,
    "speed-openvino": openvino,
}


def _share(value: float | None) -> str:
    return "below 1 %" if value is None else f"{100 * value:.1f} %"


def _beside(found: Mapping[str, Any]) -> str:
    """What else ran."""
    return f"Measured on {found['date']}; beside it ran: {found['beside']}."
