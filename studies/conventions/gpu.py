"""The runs of the plan on one machine with a GPU, at once: each prepares its data, and waits for its first weights.

usage: python -m studies.conventions.gpu pack FOLDER              on a machine with texts and corpora
       python -m studies.conventions.gpu unpack FOLDER            on the machine with the GPU
       python -m studies.conventions.gpu run FOLDER [--only STAGE ...] [--small]
       python -m studies.conventions.gpu stage FOLDER STAGE [--small]

FOLDER is ``benchmarks/runs/conventions``, with ``minilm14k`` (`cut.py`), ``names`` (`replaced.py`) and ``texts.jsonl``
(`texts.py`, only the texts of `texts.labels`). ``pack`` writes there what the other machine needs: the pieces of the
text to read (``windows.npz``), and the encoder with 8 bits for each weight (``packed``), which ``unpack`` restores.
``run`` starts every stage as a process. A stage writes its run folder, and its output to ``logs/STAGE``. All stages
have the pieces of ``minilm14k``. So a stage cuts its texts before its start is there, and then takes the weights. The
last weights are in ``early`` before dev is scored. ``--small`` tries it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from studies.common import ROOT

STUDY: Final = ROOT / "studies" / "conventions"
ENCODER: Final = "minilm14k"
LAYERS: Final = (2, 4, 6)
SOFT: Final = ("soft", "soft-fast")
STUDENTS: Final = tuple(f"six-student{one}" for one in ("-s1", "-refit-s1", "-refit-s2", "-refit-s3", "-shared-s1"))
FAST: Final = ("six-fast-s1", "six-fast-refit-s1")
ALONE: Final = "six-without-s1"
LEFT_OUT: Final = ("craft", "bionlp13cg")
STAGES: Final = ("read", *SOFT, *STUDENTS, *FAST, ALONE)
_PATIENCE: Final = 0.2  # seconds between two looks for a file


def main(argv: Sequence[str] | None = None) -> int:
    """Packs, runs all stages, or runs one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verb", choices=("pack", "unpack", "run", "stage"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("stage", nargs="?")
    parser.add_argument("--only", nargs="*", default=STAGES, metavar="STAGE")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args(argv)
    if args.verb == "pack":
        pack(args.folder)
        return 0
    if args.verb == "unpack":
        unpack(args.folder, ENCODER)
        return 0
    if args.verb == "stage":
        Stage(args.folder, small=args.small).run(args.stage)
        return 0
    return run_all(args.folder, args.only, small=args.small)


def run_all(folder: Path, stages: Sequence[str], *, small: bool) -> int:
    """Starts all stages, prints when each ends, and returns how many failed."""
    logs, started = folder / "logs", time.monotonic()
    logs.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "2", "PYTHONUNBUFFERED": "1"}
    running, failed = {}, 0
    for stage in stages:
        command = [sys.executable, "-m", "studies.conventions.gpu", "stage", str(folder), stage]
        log = (logs / stage).open("w")
        running[stage] = subprocess.Popen(
            [*command, *(["--small"] if small else [])], stdout=log, stderr=log, env=environment
        )
    while running:
        time.sleep(_PATIENCE)
        for stage in [one for one, process in running.items() if process.poll() is not None]:
            code = running.pop(stage).returncode
            failed += bool(code)
            line = f"{time.monotonic() - started:6.1f} {stage} {'done' if not code else f'FAILED {code}'}\n"
            with (logs / "progress").open("a") as stream:
                stream.write(line)
            (logs / f"{stage}.{'failed' if code else 'done'}").touch()
    return failed


class Stage:
    """One run of the plan, as a process of its own."""

    def __init__(self, folder: Path, *, small: bool) -> None:
        """Takes the folder of all runs."""
        self.folder = folder
        self.small = small
        self.started = time.monotonic()

    def run(self, name: str) -> None:
        """Runs a stage by its name."""
        if name == "read":
            self.read()
        elif name in SOFT:
            self.train(self.recipe_file(f"{name}.toml"), name, after="read/encoder")
        else:
            self.gold(name)

    def say(self, text: str) -> None:
        """Prints a line with the seconds since the start."""
        print(f"{time.monotonic() - self.started:6.1f} {text}", flush=True)

    def wait(self, name: str) -> Path:
        """Waits until a folder is there."""
        while not (self.folder / name).exists():
            time.sleep(_PATIENCE)
        self.say(f"goes on with {name}")
        return self.folder / name

    def read(self) -> None:
        """The encoder reads."""
        from fascicle.training.engine.run import train
        from fascicle.training.pretraining import run as pretraining

        recipe = self.recipe_file("read.toml")
        self.wait(f"{ENCODER}/config.json")
        known = json.loads((self.folder / "windows.json").read_text())
        pretraining.read_windows = partial(stored_windows, self.folder, small=self.small)
        pretraining.data_facts = lambda _: known["data"]
        if self.small:
            small = msgspec.structs.replace(recipe.training, batch_size=8, precision="fp32")
            recipe = msgspec.structs.replace(recipe, training=small)
        folder = self.folder / "read"
        self.follow(train(recipe, folder, partial(pretraining.prepare_pretraining, recipe, folder)))

    def recipe_file(self, name: str) -> Any:
        """A recipe of the study."""
        from fascicle.settings.recipes.any import read_recipe

        return read_recipe(STUDY / name)

    def gold(self, name: str) -> None:
        """A run of the grid, or the one without two corpora."""
        from fascicle.training.experiments.grid import read_grid

        runs = {one.name: one for one in read_grid(ROOT / "studies" / "grids" / "conventions.toml").runs}
        if name != ALONE:
            self.train(runs[name].resolved(), name, after="soft-fast/early" if name in FAST else "soft/early")
            return
        recipe: Any = runs["six-student-s1"].resolved()
        parts = {key: part for key, part in recipe.parts.items() if key.removesuffix("-names") not in LEFT_OUT}
        model = msgspec.structs.replace(recipe.model, start="", encoder="benchmarks/runs/conventions/read/encoder")
        recipe = msgspec.structs.replace(recipe, name="six-without", parts=parts, model=model)
        self.train(recipe, name, after="read/encoder")

    def train(self, recipe: Any, name: str, *, after: str) -> None:
        """Trains a recogniser, which takes the weights of another stage when they are there."""
        import torch

        from fascicle.models.encoder import load_pretrained
        from fascicle.training.engine.run import train
        from fascicle.training.recogniser import run as recogniser

        if self.small:
            recipe = self.smaller(recipe)
        parts = recogniser.read_data(recipe)
        if self.small:
            del parts.dev[40:]
        self.say("corpora are read")
        self.wait(f"{ENCODER}/config.json")
        pretrained = load_pretrained(str(self.folder / ENCODER))
        if name in (*FAST, SOFT[1]):
            pretrained = shallower(pretrained)
        torch.manual_seed(recipe.seed)
        prepared = recogniser.prepare(recipe, parts, pretrained)
        self.say("data are prepared")
        take_weights(prepared.model, self.wait(after), few=name == SOFT[1])

        class Early(recogniser.Recogniser):
            def judge(self, point: Any) -> Any:
                """Writes the model before it is scored."""
                place = self.folder / "making"
                place.mkdir()
                self._save(place, self.prepared.model, self._views["best"])
                place.rename(self.folder / "early")
                return super().judge(point)

        def prepare(_: object) -> Any:
            trainer = recogniser.Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)
            return Early(
                folder=folder, recipe=recipe, parts=parts, prepared=prepared, pretrained=pretrained, loop=trainer
            )

        folder = self.folder / name
        self.follow(train(recipe, folder, prepare))

    def smaller(self, recipe: Any) -> Any:
        """The same recipe for a few steps."""
        from fascicle.settings.recipes.recogniser import MixtureSettings

        training = msgspec.structs.replace(recipe.training, epochs=1, batch_size=8, precision="fp32")
        few = {"bc5cdr", "bc5cdr-names", "bc2gm", "gnormplus", "biored", "jnlpba", "texts"}
        parts = {key: part for key, part in recipe.parts.items() if key in few}
        mixture = msgspec.structs.replace(recipe.mixture or MixtureSettings(), windows=400)
        return msgspec.structs.replace(recipe, training=training, parts=parts, mixture=mixture)

    def follow(self, events: Any) -> None:
        """Runs a training, and prints now and then where it is."""
        from fascicle.training.engine.loop import StepDone

        last = 0.0
        for event in events:
            now = time.monotonic()
            if not isinstance(event, StepDone):
                self.say(str(event)[:2000])
            elif now - last > 10:
                last = now
                self.say(f"step {event.step} loss {event.loss:.4f}")


def shallower(pretrained: Any) -> Any:
    """Some layers of an encoder, for a student of three layers."""
    from fascicle.models.layers import with_layers

    return replace(pretrained, encoder=with_layers(pretrained.encoder, LAYERS))


def take_weights(model: Any, folder: Path, *, few: bool) -> None:
    """Puts the weights of an encoder or of a model with the same pieces and heads into a model.

    Args:
        model: changed in place.
        folder: of an encoder, or of a model.
        few: whether `LAYERS` of the encoder are taken.
    """
    from fascicle.models.encoder import load_pretrained
    from fascicle.models.model import load_model
    from fascicle.settings.folders.manifest import read_manifest

    if (folder / "config.json").is_file():
        found = load_pretrained(str(folder))
        found = shallower(found) if few else found
        model.encoder.network.load_state_dict(found.encoder.network.state_dict())
    else:
        model.load_state_dict(load_model(folder, read_manifest(folder)).state_dict())


def stored_windows(folder: Path, settings: Any, tokenizer: Any, *, seed: int, small: bool) -> Any:
    """The windows that ``pack`` stored, for another tokenizer with the same pieces too."""
    from fascicle.training.raw.documents import TextCounts
    from fascicle.training.raw.windows import _BEGINS, _OPENS, _PADDING, _SPECIAL, RawText, TextWindows

    del settings, seed
    stored = np.load(folder / "windows.npz")
    known = json.loads((folder / "windows.json").read_text())
    ids = np.zeros(len(known["tokens"]), dtype=np.uint32)
    for at, token in enumerate(known["tokens"]):
        own = known["special"].get(str(at))
        found = getattr(tokenizer, own[0])[0] if own in (["prefix"], ["suffix"]) else tokenizer.id_of(token)
        ids[at] = tokenizer.unknown if found is None else found
    sets = []
    for name in ("learned", "held_out"):
        shape = known["shape"][name]
        pieces = stored[f"{name}.ids"].reshape(shape)
        rows = ids[np.minimum(pieces, len(ids) - 1)]
        for flag, bit in (("begins", _BEGINS), ("special", _SPECIAL), ("opens", _OPENS)):
            marks = np.unpackbits(stored[f"{name}.{flag}"], count=pieces.size).reshape(shape).astype(bool)
            rows[marks] |= bit
        rows[pieces == 0xFFFF] = _PADDING
        sets.append(TextWindows(rows=rows[:40] if small else rows, pad=tokenizer.pad, pieces=known["pieces"][name]))
    counts = TextCounts(**{key: known["counts"][key] for key in ("learned", "held_out", "characters")})
    return RawText(learned=sets[0], held_out=sets[1], counts=counts)


def pack(folder: Path) -> None:
    """Writes the windows of the text to read, and the encoders with 8 bits for each weight."""
    from fascicle.models.encoder import load_pretrained
    from fascicle.settings.recipes.any import read_recipe
    from fascicle.training.corpus import data_facts
    from fascicle.training.raw.windows import _BEGINS, _IDS, _OPENS, _PADDING, _SPECIAL, read_windows

    recipe: Any = read_recipe(STUDY / "read.toml")
    tokenizer = load_pretrained(recipe.model.encoder).tokenizer
    text = read_windows(recipe.text, tokenizer, seed=recipe.seed)
    tokens = {at: token for token, at in tokenizer.tokens.items()}
    known: dict[str, Any] = {
        "tokens": [tokens[at] for at in range(tokenizer.size)],
        "special": {str(tokenizer.prefix[0]): ["prefix"], str(tokenizer.suffix[0]): ["suffix"]},
        "data": data_facts(recipe),
        "counts": text.counts.as_dict(),
        "shape": {},
        "pieces": {},
    }
    stored = {}
    for name, windows in (("learned", text.learned), ("held_out", text.held_out)):
        rows = np.asarray(windows.rows)
        padding = rows == _PADDING
        known["shape"][name], known["pieces"][name] = list(rows.shape), windows.pieces
        stored[f"{name}.ids"] = np.where(padding, 0xFFFF, rows & _IDS).astype(np.uint16).ravel()
        for flag, bit in (("begins", _BEGINS), ("special", _SPECIAL), ("opens", _OPENS)):
            stored[f"{name}.{flag}"] = np.packbits((rows & bit != 0).ravel())
    np.savez_compressed(folder / "windows.npz", **stored)
    (folder / "windows.json").write_text(json.dumps(known))
    pack_encoder(folder / ENCODER, folder / "packed" / ENCODER)


def pack_encoder(encoder: Path, place: Path) -> None:
    """Writes an encoder with 8 bits for each weight of a matrix, and a scale for each row."""
    from safetensors.numpy import load_file, save_file

    place.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Any] = {}
    for name, tensor in load_file(encoder / "model.safetensors").items():
        if tensor.ndim != 2 or len(tensor) < 64:
            tensors[name] = tensor
            continue
        scale = np.maximum(np.abs(tensor).max(axis=1), 1e-12) / 127
        tensors[name] = np.rint(tensor / scale[:, None]).astype(np.int8)
        tensors[f"{name}.scale"] = scale.astype(np.float32)
        print(name, float(np.abs(tensors[name] * scale[:, None] - tensor).mean() / np.abs(tensor).mean()))
    save_file(tensors, place / "weights.safetensors")
    content = (place / "weights.safetensors").read_bytes()
    (place / "weights.safetensors").unlink()
    (place / "weights.gz").write_bytes(gzip.compress(content, 6))
    for file in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(encoder / file, place / file)


def unpack(folder: Path, name: str) -> None:
    """Writes an encoder again as transformers reads it; its ``config.json`` comes last."""
    from safetensors.numpy import load, save_file

    packed, place = folder / "packed" / name, folder / name
    place.mkdir(exist_ok=True)
    tensors = load(gzip.decompress((packed / "weights.gz").read_bytes()))
    whole = {
        key: tensor if f"{key}.scale" not in tensors else tensor.astype(np.float32) * tensors[f"{key}.scale"][:, None]
        for key, tensor in tensors.items()
        if not key.endswith(".scale")
    }
    save_file(whole, place / "model.safetensors", metadata={"format": "pt"})
    for file in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        shutil.copy(packed / file, place / file)


if __name__ == "__main__":
    sys.exit(main())
