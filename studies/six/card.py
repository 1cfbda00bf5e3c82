"""The card of a shipped model of six types; every number comes from its results."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fascicle.settings.folders.manifest import Manifest
from studies.common import result
from studies.decision import tables as decision_tables
from studies.six.corpora import BESIDE, EVERY, TABLE_2, ScoredRow

Value = Mapping[str, Any]
_EXAMPLE: Final = "Lithium may cause nephrogenic diabetes insipidus in mice that lack AQP2."

GUIDELINES: Final = Path(__file__).parent.parent / "conventions" / "guidelines.md"
NAMES: Final = "-names"  # ends the name of a part with documents of a corpus under other names
UNTAUGHT: Final = ("cellfinder", "drugprot", "nlm-chem")
_MPNET: Final = "The teacher is `sentence-transformers/all-mpnet-base-v2` (Apache-2.0)"
# Whether guidelines are kept apart -> what the teacher of open texts knows.
_TAUGHT: Final[Mapping[bool, str]] = MappingProxyType(
    {
        False: f"diseases and chemicals. {_MPNET}, which learnt from the train parts of two of "
        "the corpora below, "
        "NCBI disease and BC5CDR",
        True: f"all types. {_MPNET}, cut to 8 layers, which learnt from the train parts of the "
        "corpora below",
    }
)
# Part of the recipe -> what it is, and its licence as its source states it (data/README.md of the
# corpora).
SOURCES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "bc2gm": (
            "BioCreative II gene mention (Smith et al. 2008), IOB form of MTL-Bioinformatics-2016",
            "CC BY 4.0",
        ),
        "bc5cdr": (
            "BioCreative V chemical disease relation (Li et al. 2016), same form",
            "CC BY 4.0",
        ),
        "bioid": ("BioID captions, cell lines, as in AIONER (Luo et al. 2023)", "MIT"),
        "biored": (
            "BioRED (Luo et al. 2022)",
            "none stated at its source; the work of the National Library of Medicine",
        ),
        "bionlp11id": (
            "BioNLP 2011 infectious diseases (Pyysalo et al. 2012), IOB form as above",
            "CC BY 4.0",
        ),
        "bionlp13cg": (
            "BioNLP 2013 cancer genetics (Pyysalo et al. 2013), IOB form as above",
            "CC BY 4.0",
        ),
        "bionlp13pc": (
            "BioNLP 2013 pathway curation (Ohta et al. 2013), IOB form as above",
            "CC BY 4.0",
        ),
        "craft": ("CRAFT (Bada et al. 2012), IOB form as above", "CC BY 3.0"),
        "gnormplus": ("GNormPlus and BC2GN (Wei et al. 2015), as in AIONER", "MIT"),
        "jnlpba": ("JNLPBA (Kim et al. 2004), from GENIA", "CC BY 3.0 (GENIA Project licence)"),
        "linnaeus": ("LINNAEUS (Gerner et al. 2010), IOB form as above", "CC BY 4.0"),
        "ncbi-disease": ("NCBI disease (Doğan et al. 2014), IOB form as above", "CC BY 4.0"),
        "nlm-gene": ("NLM-Gene (Islamaj et al. 2021), as in AIONER", "MIT"),
    }
)


def card(manifest: Manifest, result: Value) -> str:
    """The card.

    Args:
        manifest: of the model.
        result: of ``results/shipped-NAME.json``.
    """
    makers = (
        _opening(manifest),
        _guidelines(manifest),
        _what(manifest, result),
        _documents(manifest),
        _scores(manifest, result),
        _limits(result),
        _data(result),
    )
    return (
        "\n".join([*(line for lines in makers for line in lines), *_again(manifest, result)]) + "\n"
    )


def _told(text: str) -> Iterator[str]:
    """A paragraph, or an item of a list, in lines."""
    yield from textwrap.wrap(
        text, 118, break_on_hyphens=False, subsequent_indent="  " if text.startswith("- ") else ""
    )


def _opening(manifest: Manifest) -> Iterator[str]:
    yield from (f"# {manifest.name}", "")
    yield from _told(
        "Finds mentions of cell lines, cell types, chemicals, diseases, genes and species in "
        "English biomedical text, "
        "nested across types. It ships with Fascicle and runs without torch, network or GPU."
    )
    name = manifest.name.partition("@")[0]
    call = f'fascicle.load("{name}").annotate(\n    "{_EXAMPLE}"\n)'
    yield from ("", "```python", "import fascicle", "", call, "```", "")


def _guidelines(manifest: Manifest) -> Iterator[str]:
    """What the types mean, of a model that keeps guidelines apart."""
    if manifest.decision.apart:
        yield from (*GUIDELINES.read_text(encoding="utf-8").splitlines(), "")


def _what(manifest: Manifest, result: Value) -> Iterator[str]:
    head, reading, decision = manifest.answering, manifest.reading, result["decision"]
    rules = decision["abbreviations"]
    on = [f"spread {rules['spread']}"] * (rules["spread"] != "no") + [
        one for one in ("drop", "one_type") if rules[one]
    ]
    yield from ("## What it is", "")
    yield (
        f"- head: {head.family} over words ({head.pooling}); weights in 8 bits; "
        f"{result['size_bytes'] / 1e6:.1f} MB."
    )
    yield from _told(
        f"- reads sentences of at most {reading.max_length} pieces; longer ones through windows "
        "that overlap by "
        f"{reading.overlap}; segmenter `{reading.segmenter}`."
    )
    if manifest.inputs and manifest.inputs.shapes:
        yield "- reads the case pattern of each word beside its pieces, for the encoder is uncased."
    yield "- one threshold for each type, chosen on dev by the same training with dev kept from it."
    yield (
        f"- short forms follow their long forms: {', '.join(on) or 'no rule was better than none'}."
    )
    yield from _told(
        f"- scores are probabilities, calibrated by a temperature on dev{_error(decision)}."
    )
    if other := result.get("mean_with"):
        yield from _told(
            f"- its weights are the mean of those of its training and of `{other}`, one half each."
        )
    yield ""


def _error(decision: Value) -> str:
    """The calibration error on dev before and after, where the runs were measured."""
    if not (stages := decision.get("calibration")):
        return ""
    before, after = (100 * one["expected_calibration_error"] for one in stages)
    return f": expected error {before:.1f} points before, {after:.1f} after"


def _documents(manifest: Manifest) -> Iterator[str]:
    """The decision of documents, and what it gives on texts that taught nothing."""
    document = manifest.decision.document
    if not document:
        return
    yield from ("## How good it is on texts that taught nothing", "")
    yield from _told(
        "Strict F1 in percent on raw text, without and with the decision of documents: edges of "
        "names in order, "
        "thresholds by type, lower ones for names that mean one type alone in the term pack, and "
        "names that are marked "
        "wherever they stand in an abstract. *By overlap* counts a "
        "mention with one character in common. *ECE* is the expected calibration error of the "
        "scores. DNorm and HUNER "
        "are other tools, on the same texts with the same scorer. AIMed, BioInfer and Ex-PTM are "
        "without sentences "
        "that occur in texts that taught. The train and dev texts of BioNLP13CG taught genes, "
        "chemicals and species, "
        "but no diseases. Rules for cell lines and cell types were written with CellFinder in view."
    )
    yield from ("", decision_tables.foreign(manifest.name), "")
    yield from _told(_fitted_on(manifest))
    head = (
        "type",
        "kept from",
        "known names",
        "in one sentence",
        "marked throughout from",
        "ends",
        "in one sentence",
    )
    yield from ("", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
    for name, rule in document.types.items():
        numbers = " | ".join(f"{one:.2f}" for one in (rule.low, rule.known, rule.alone, rule.high))
        yield f"| {name} | {numbers} | {rule.ends} | {rule.ends_alone} |"
    yield ""
    yield from _told(
        "With `--ends` a user chooses whether words such as ` gene` and ` cells` belong to a name:"
    )
    yield from ("", decision_tables.ends(manifest.name), "")
    yield from ("## How good it is on test parts of corpora that taught", "")
    yield from (decision_tables.corpora(manifest.name), "")


def _fitted_on(manifest: Manifest) -> str:
    """The texts that the decision of documents was fitted on."""
    untaught = result(f"decision-fit-{manifest.name}")["document"].get("untaught")
    twin = (
        f"by the list of its folder none of their {untaught:,} texts taught it."
        if untaught
        else "it had started from a model that had learnt dev. Species are decided as in that model."
    )
    return (
        "The values were fitted on dev parts of BioRED, NCBI disease, BC5CDR, BC2GM, JNLPBA, "
        "LINNAEUS, BioNLP11ID, "
        "13CG, 13GE and 13PC, on 18 articles of CRAFT, and on a tenth of the train parts of "
        "NLM-Gene, GNormPlus "
        "and BioID, which was set aside before anything learnt; abstracts count as a whole, and "
        "sentence by "
        f"sentence. They were fitted with the same training with dev kept from it; {twin}"
    )


def _scores(manifest: Manifest, result: Value) -> Iterator[str]:
    without = bool(manifest.decision.document) and not result.get("mean_with")
    yield from ("## Without the decision of documents" if without else "## At its release", "")
    yield from _told(
        "Strict F1 in percent on the official test part of each corpus (same type, same "
        "characters), with 95 % "
        "bootstrap intervals over documents, or over sentences where a corpus does not mark "
        "documents. *Words given* "
        "is with the sentences and words of the corpus, *raw text* as `fascicle annotate` sees "
        "it. *seqeval* is its "
        "default score, which Table 2 of *tinybern2-kazu* has. *32 bits* is how much higher the "
        "model with 32-bit weights scores, on raw text where it is at hand."
    )
    yield from (
        "",
        "| test part, label | type | words given | raw text | seqeval | 32 bits |",
        "|---|---|---|---|---|---|",
    )
    yield from (_row(row, result) for row in EVERY if row.name in result["rows"])
    checked = result["company"]
    yield ""
    yield from _told(
        f"{checked['documents'] - checked['changed']} of {checked['documents']} abstracts "
        f"({checked['mentions']:,} "
        "mentions) get the same answers together as one by one."
    )
    yield ""


def _row(row: ScoredRow, result: Value) -> str:
    forms = result["rows"][row.name]
    best = forms.get("given") or forms["raw"]
    full = result["fp32"].get(row.name, {}).get("raw" if "raw" in forms else "given")
    unseen = " (for testing alone)" if row.row.corpus in UNTAUGHT else ""
    cells = [f"{row.name}{unseen}", row.row.type, _f1(forms.get("given")), _f1(forms.get("raw"))]
    cells += [f"{100 * best['seqeval']['f1']:.1f}"]
    cells += [f"{100 * full['less_first']['estimate']:+.2f}" if full else ""]
    return f"| {' | '.join(cells)} |"


def _f1(found: Value | None) -> str:
    if not found:
        return ""
    strict = found["strict"]
    within = strict["f1_interval"]
    return (
        f"{100 * strict['micro']['f1']:.1f} ({100 * within['low']:.1f} to "
        f"{100 * within['high']:.1f})"
    )


def _limits(result: Value) -> Iterator[str]:
    scored = {
        row.name: 100 * (forms.get("raw") or forms["given"])["strict"]["micro"]["f1"]
        for row in (*TABLE_2, *BESIDE)
        if (forms := result["rows"][row.name])
    }
    worst = sorted(scored, key=lambda name: scored[name])[:5]
    yield from ("## Limits", "")
    yield from _told(
        f"- It is worst on {', '.join(f'{name} ({scored[name]:.0f})' for name in worst)}."
    )
    yield from _told(
        "- Corpora mean different things by one type: whether `protein` or `receptor` belongs to "
        "the name of a gene, "
        "whether families count, whether patients are a species. It follows none of them exactly."
    )
    yield "- Mentions of one type that nest, and mentions in several pieces, are not found."
    yield from _told(
        "- It learnt from abstracts, some full papers and captions, in English: clinical notes, "
        "patents and social "
        "media are read with more errors."
    )
    yield from ("- Not for clinical decisions.", "")


def _data(result: Value) -> Iterator[str]:
    yield from ("## Data and licences", "")
    taught = (
        "Train and dev parts taught:"
        if _refitted(result)
        else "Train parts taught, and dev decided:"
    )
    yield from _told(f"{_start(result['runs'])} The corpora are not part of Fascicle. {taught}")
    yield from (
        "",
        "| corpus | types | documents or sentences | left out as copies | licence |",
        "|---|---|---|---|---|",
    )
    for name, one in result["runs"][0]["parts"].items():
        if name.endswith(NAMES):
            continue
        source, licence = SOURCES[name]
        counts = f"{one['train']['documents']:,} | {one['train']['excluded']:,}"
        yield f"| {source} | {', '.join(one['annotates'])} | {counts} | {licence} |"
    yield ""
    yield from _told(
        "Left out of the weights: DDI2013 (CC BY-NC). For testing alone: CellFinder, NLM-Chem, "
        "DrugProt. Documents "
        "that repeat a text of a test part, as a whole, nearly, or in a sentence, taught "
        "nothing: the list is "
        "`studies/grids/six-exclude.tsv`. The model is under the licence of Fascicle, Apache-2.0."
    )
    yield ""


def _start(runs: Sequence[Value]) -> str:
    """What the weights had learnt before they learnt from the corpora."""
    pieces = max(one["pieces"] for one in runs)
    read = f", which then read {pieces / 1e6:.0f} million pieces of open biomedical text"
    said = (
        "Weights derived from `sentence-transformers/all-MiniLM-L6-v2` "
        f"(Apache-2.0){read if pieces else ''}."
    )
    weak = [part for one in runs for part in one["parts"].values() if part.get("weak")]
    if not weak:
        return said
    documents = sum(part["train"]["documents"] for part in weak)
    return (
        f"{said} After that it learnt the probabilities that a teacher gives to {documents:,} "
        "texts of open "
        f"licences (CC0, CC BY): {_TAUGHT[_of_conventions(runs)]}."
    )


def _again(manifest: Manifest, result: Value) -> Iterator[str]:
    name, runs = manifest.name, result["runs"]
    refit, twin, *others = runs
    also = f" --also {' '.join(map(_folder, others))}" if others else ""
    trained = dict.fromkeys(one["name"] for one in (twin, refit))
    yield from ("## How to make it again", "")
    yield from _told(" ".join(_spent(runs)))
    study, place = ("conventions", "conventions/grid") if _of_conventions(runs) else ("six", "six")
    yield from (
        "",
        "```",
        f"export FASCICLE_DATA=...   # see studies/{study}/plan.md, also for the steps before",
    )
    yield (
        f"fascicle bench studies/grids/{study}.toml --only {' '.join(trained)} --runs "
        f"benchmarks/runs/{place}"
    )
    if other := result.get("mean_with"):
        fitted, model = (
            f"decision-fit-{name}",
            f"python -m studies.conventions.mean {_folder(refit)} {other}",
        )
        yield f"{model} {fitted} --keep Species -o INT8"
        yield f"python -m studies.conventions.ship_mean INT8 {_folder(refit)} {fitted}"
    else:
        yield f"python -m studies.six.thresholds {_folder(twin)}"
        yield f"python -m studies.ship_six {_folder(refit)} {_folder(twin)} --name {name}{also}"
    yield from ("```", "")
    yield (
        "This card was written by the last command; its numbers stand in "
        f"`studies/results/shipped-{name}.json`."
    )


def _spent(runs: Sequence[Value]) -> Iterator[str]:
    """The time of each run, by what it ran on."""
    on_gpu = {one["name"]: one["hours"] for one in runs if one.get("accelerator")}
    on_core = {one["name"]: one["hours"] for one in runs if one["name"] not in on_gpu}
    if on_core:
        hours = ", ".join(f"`{name}` {hours:.1f}" for name, hours in on_core.items())
        yield f"Hours of one core, on a busy machine: {hours}."
    if on_gpu:
        minutes = ", ".join(f"`{name}` {60 * hours:.1f}" for name, hours in on_gpu.items())
        yield (
            f"Minutes of one GPU ({runs[0]['accelerator']}), which several runs shared: {minutes}."
        )


def _of_conventions(runs: Sequence[Value]) -> bool:
    """Whether the study that keeps guidelines apart made the first of some runs."""
    return bool(runs[0]["folder"].startswith("conventions/"))


def _refitted(result: Value) -> bool:
    """Whether what ships learnt from dev too."""
    refit, twin, *_ = result["runs"]
    return bool(refit["name"] != twin["name"])


def _folder(run: Value) -> str:
    """Of a run of the grid, or of an encoder."""
    return f"benchmarks/runs/{run['folder']}"
