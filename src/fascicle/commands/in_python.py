"""The Python that does what a command does, shown at the end of its help."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CALLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "annotate": 'fascicle.annotate("texts/", "mentions.tsv", model="biomed")',
        "label": 'fascicle.tasks.label.label("texts/", "weak.labels", model="biomed")',
        "train": 'fascicle.train("recipe.toml", "runs/mine")',
        "pretrain": 'fascicle.train("pretraining.toml", "runs/encoder")',
        "distill": 'fascicle.train("recipe.toml", "runs/student")',
        "evaluate": 'fascicle.evaluate("gold.tsv", ["one.jsonl", "two.jsonl"])',
        "combine": 'fascicle.combine(["one.jsonl", "two.jsonl", "three.jsonl"], "majority")',
        "compare": 'fascicle.compare("gold.tsv", ["one.jsonl", "two.jsonl"])',
        "calibrate": 'fascicle.calibrate("runs/mine", "dev.tsv", "calibrated")',
        "ensemble": 'fascicle.tasks.ensemble.ensemble(["runs/mine", "biomed"], "both", "union")',
        "export": 'fascicle.export("runs/mine", "mine", int8=True)',
        "init": 'fascicle.tasks.init.init("train.tsv", "recipe.toml", dev="dev.tsv")',
        "bench": 'fascicle.tasks.bench.bench("grid.toml")',
        "plot": 'fascicle.tasks.plot.plot("learning", "runs/mine", "learning.svg")',
        "vectors": 'fascicle.tasks.vectors.train_vectors("train.tsv", "vectors.txt")',
        "corpus stats": 'fascicle.formats.stats.corpus_stats(fascicle.read("corpus.tsv"))',
        "corpus convert": 'fascicle.write("corpus.jsonl", fascicle.read("corpus.tsv"))',
        "corpus check": 'fascicle.check("train.tsv", dev="dev.tsv", test="test.tsv")',
        "index build": 'fascicle.tasks.index_build.build_pack("sources.toml", "pack")',
        "index extend": 'fascicle.tasks.index_extend.extend("pack", "own.tsv", "mine", kind="Disease")',
        "index sets": 'fascicle.tasks.index.sets("pack")',
        "index stats": 'fascicle.tasks.index.stats("pack")',
        "index verify": 'fascicle.tasks.index.verify("pack")',
        "index why": 'fascicle.tasks.index.why("pack", "cancer")',
        "index diff": 'fascicle.tasks.index.diff("before", "pack")',
        "index export": 'fascicle.tasks.index.export("pack", "names.tsv")',
        "index curate": 'fascicle.tasks.index_curate.curate("pack", "rules.tsv", corpus="train.tsv", texts="texts/")',
        "typer train": 'fascicle.train("typer.toml", "runs/typer")',
        "typer predict": 'fascicle.tasks.typing.type_spans("runs/typer", "texts/")',
        "typer score": 'fascicle.tasks.typing.score_types("runs/typer", "gold.tsv", "train.tsv")',
        "linker fit": 'fascicle.tasks.linker_fit.fit_folder("pack", "linker", documents=fascicle.read("links.jsonl"))',
        "link": 'fascicle.link(fascicle.read("found.jsonl"), linker="linker", pack="pack")',
        "pipeline show": 'fascicle.tasks.pipeline.show("pipeline.toml")',
        "pipeline check": 'fascicle.tasks.pipeline.check("pipeline.toml")',
        "run": 'fascicle.tasks.run.run("texts/", "annotated", pipeline="pipeline.toml", workers=2)',
        "serve": 'fascicle.tasks.serve.app("pipeline.toml")',
        "quarantine ls": 'fascicle.tasks.run.quarantined("annotated")',
        "quarantine show": 'fascicle.tasks.run.shown("annotated", "a")',
        "quarantine retry": 'fascicle.tasks.run.retry("annotated")',
        "models": "fascicle.loading.places.shipped_models()",
        "settings": "fascicle.settings.recipes.reference.tables()",
    }
)
# What a command does with an option that makes it another verb.
WITH_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"evaluate --links": 'fascicle.evaluate_links("gold.jsonl", "found.jsonl", linker="linker")'}
)


def shown(command: str) -> str:
    """The end of the help of a command, or the empty string.

    Args:
        command: its name, such as ``"corpus check"``.
    """
    call = CALLS.get(command)
    if not call:
        return ""
    others = "".join(f"  {one}  # {name}\n" for name, one in WITH_OPTIONS.items() if name.startswith(f"{command} --"))
    return f"\nin Python:\n  import {_module(call)}\n{others}  {call}\n"


def _module(call: str) -> str:
    """What must be imported for a call: the module of its function, or the package for its public names."""
    return call[: call.index("(")].rpartition(".")[0]
