"""All runs of the plan on one machine with a GPU, at once: each waits for what it starts from, with its corpora read.

usage: python -m studies.conventions.gpu pack FOLDER              on a machine with texts and corpora
       python -m studies.conventions.gpu run FOLDER [--only STAGE ...] [--small]
       python -m studies.conventions.gpu stage FOLDER STAGE [--small]

FOLDER is ``benchmarks/runs/conventions``, with ``minilm16k``, ``mpnet16k`` (`cut.py`), ``names`` (`replaced.py`) and
``texts.jsonl`` (`texts.py`, only the texts of `texts.labels`). ``pack`` writes there what the other machine needs: the
pieces of the text to read (``windows.npz``), and the two encoders with 8 bits for each weight (``packed``). ``run``
starts every stage as a process; a stage writes its run folder, and its output to ``logs/STAGE``. ``--small`` tries it.
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
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from studies.common import ROOT

STUDY: Final = ROOT / "studies" / "conventions"
READS: Final = {"read": "minilm16k", "read-teacher": "mpnet16k"}
SOFT: Final = ("soft", "soft-fast")
SHARDS: Final = 10
LAYERS: Final = (2, 4, 6)
STUDENTS: Final = tuple(f"six-student{one}" for one in ("-s1", "-refit-s1", "-refit-s2", "-refit-s3", "-shared-s1"))
FAST: Final = ("six-fast-s1", "six-fast-refit-s1")
ALONE: Final = "six-without-s1"
LEFT_OUT: Final = ("craft", "bionlp13cg")
TEACHER: Final = "six-teacher-s1"
ANSWERS: Final = tuple(f"answers-{at}" for at in range(4))
STAGES: Final = (
    *READS,
    "read-fast",
    TEACHER,
    *(f"label-{at}" for at in range(SHARDS)),
    "join",
    *SOFT,
    *STUDENTS,
    *FAST,
    ALONE,
    *ANSWERS,
)
_PATIENCE: Final = 0.5  # seconds between two looks for a file


def main(argv: Sequence[str] | None = None) -> int:
    """Packs, runs all stages, or runs one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verb", choices=("pack", "unpack", "run", "stage"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("stage", nargs="?")
    parser.add_argument("--only", nargs="*", default=STAGES)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args(argv)
    if args.verb == "pack":
        pack(args.folder)
        return 0
    if args.verb == "unpack":
        unpack(args.folder, args.stage)
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
        if name in READS:
            self.read(name)
        elif name == "read-fast":
            self.fewer_layers()
        elif name in SOFT:
            self.wait("texts.labels")
            self.wait("read/encoder/config.json" if name == "soft" else "read-fast/encoder/config.json")
            self.train(self.recipe_file(f"{name}.toml"), name, after="texts.labels")
        elif name.startswith("label-"):
            self.label(int(name.rpartition("-")[2]))
        elif name == "join":
            self.join()
        elif name.startswith("answers-"):
            self.answers(int(name.rpartition("-")[2]))
        else:
            self.gold(name)

    def say(self, text: str) -> None:
        """Prints a line with the seconds since the start."""
        print(f"{time.monotonic() - self.started:6.1f} {text}", flush=True)

    def wait(self, *names: str) -> None:
        """Waits until files are there."""
        for name in names:
            while not (self.folder / name).exists():
                time.sleep(_PATIENCE)
        self.say(f"goes on with {' '.join(names)}")

    def read(self, name: str) -> None:
        """The encoder reads."""
        from fascicle.training.engine.run import train
        from fascicle.training.pretraining import run as pretraining

        recipe = self.recipe_file("read.toml" if name == "read" else "read-teacher.toml")
        self.wait("windows.npz", f"{READS[name]}/config.json")
        known = json.loads((self.folder / "windows.json").read_text())
        pretraining.read_windows = partial(stored_windows, self.folder, small=self.small)
        pretraining.data_facts = lambda _: known["data"]
        if self.small:
            recipe = msgspec.structs.replace(
                recipe, training=msgspec.structs.replace(recipe.training, batch_size=8, precision="fp32")
            )
        folder = self.folder / name
        self.follow(train(recipe, folder, partial(pretraining.prepare_pretraining, recipe, folder)))

    def fewer_layers(self) -> None:
        """Some layers of the encoder that read, for a student of three layers."""
        from fascicle.models.encoder import load_pretrained, save_pretrained
        from fascicle.models.layers import with_layers

        self.wait("read/encoder/config.json")
        whole = load_pretrained(str(self.folder / "read" / "encoder"))
        made = self.folder / "read-fast" / "making"
        made.mkdir(parents=True)
        save_pretrained(made, replace(whole, encoder=with_layers(whole.encoder, LAYERS)))
        made.rename(made.parent / "encoder")

    def recipe_file(self, name: str) -> Any:
        """A recipe of the study."""
        from fascicle.settings.recipes.any import read_recipe

        return read_recipe(STUDY / name)

    def gold(self, name: str) -> None:
        """A run of the grid, or the one without two corpora."""
        from fascicle.training.experiments.grid import read_grid

        runs = {one.name: one for one in read_grid(ROOT / "studies" / "grids" / "conventions.toml").runs}
        if name != ALONE:
            start = {TEACHER: "read-teacher/encoder/config.json"}.get(name, "soft/best/model.json")
            start = "soft-fast/best/model.json" if name in FAST else start
            self.train(runs[name].resolved(), name, after=start)
            return
        recipe: Any = runs["six-student-s1"].resolved()
        parts = {key: part for key, part in recipe.parts.items() if key.removesuffix("-names") not in LEFT_OUT}
        model = msgspec.structs.replace(recipe.model, start="", encoder="benchmarks/runs/conventions/read/encoder")
        recipe = msgspec.structs.replace(recipe, name="six-without", parts=parts, model=model)
        self.train(recipe, name, after="read/encoder/config.json")

    def train(self, recipe: Any, name: str, *, after: str) -> None:
        """Trains a recogniser; its corpora are read before the wait."""
        from fascicle.training.engine.run import train
        from fascicle.training.recogniser import run as recogniser

        if self.small:
            recipe = self.smaller(recipe)
        parts = recogniser.read_data(recipe)
        if self.small:
            del parts.dev[40:]
        self.say("corpora are read")
        self.wait(after)
        recogniser.read_data = lambda _: parts
        folder = self.folder / name
        self.follow(train(recipe, folder, partial(recogniser.prepare_recogniser, recipe, folder)))

    def smaller(self, recipe: Any) -> Any:
        """The same recipe for a few steps."""
        training = msgspec.structs.replace(recipe.training, epochs=1, batch_size=8, precision="fp32")
        few = {"bc5cdr", "bc5cdr-names", "bc2gm", "gnormplus", "biored", "jnlpba", "texts"}
        parts = {key: part for key, part in recipe.parts.items() if key in few}
        changed = msgspec.structs.replace(recipe, training=training, parts=parts)
        return msgspec.structs.replace(changed, mixture=msgspec.structs.replace(_mixture(recipe), windows=400))

    def follow(self, events: Any) -> None:
        """Runs a training, and prints now and then where it is."""
        from fascicle.training.engine.loop import StepDone

        last = 0.0
        for event in events:
            now = time.monotonic()
            if not isinstance(event, StepDone):
                self.say(str(event)[:400])
            elif now - last > 10:
                last = now
                self.say(f"step {event.step} loss {event.loss:.4f}")

    def label(self, at: int) -> None:
        """Labels a part of the texts."""
        from fascicle.formats import read, write
        from fascicle.verbs.tasks.label import LabelRequest, label_files

        self.wait("texts.jsonl")
        texts = list(read(self.folder / "texts.jsonl"))[at :: SHARDS if not self.small else 2000]
        write(self.folder / f"texts-{at}.jsonl", texts)
        self.wait(f"{TEACHER}/best/model.json")
        model, output = str(self.folder / TEACHER / "best"), str(self.folder / f"texts-{at}.labels")
        label_files(
            LabelRequest(
                model=model, files=(str(self.folder / f"texts-{at}.jsonl"),), output=output, device=_device(), threads=1
            )
        )
        self.say("labelled")

    def join(self) -> None:
        """Joins the labels of all parts, in the order of the texts, with the header of the first."""
        from fascicle.formats.weak_labels import End, Entry, packed

        shards = [at for at in range(SHARDS) if not self.small or at == 0]
        self.wait(*(f"texts-{at}.labels" for at in shards))
        found, ends = {}, []
        for at in shards:
            path = self.folder / f"texts-{at}.labels"
            header, entries, end = _lines(path)
            found |= {entry.id: entry for entry in entries}
            ends.append(end)
        ids = [json.loads(line)["id"] for line in (self.folder / "texts.jsonl").open(encoding="utf-8")]
        kinds = sorted({kind for end in ends for kind in end.mentions})
        whole = End(
            documents=sum(end.documents for end in ends),
            words=sum(end.words for end in ends),
            mentions={kind: sum(end.mentions.get(kind, 0) for end in ends) for kind in kinds},
            left_out={},
        )
        header = msgspec.structs.replace(header, options={"texts": "texts.jsonl"})
        lines: list[Entry] = [found[one] for one in ids if one in found]
        place = self.folder / "texts.labels.part"
        place.write_bytes(packed([header, *lines, whole]))
        shutil.copy(place, STUDY / "texts.labels")
        place.rename(self.folder / "texts.labels")

    def answers(self, at: int) -> None:
        """What the teacher finds in the texts of the rows."""
        from fascicle.core.document import Document
        from fascicle.formats import read
        from fascicle.loading import load
        from studies.six.corpora import ROWS

        forms = ("given", "raw")
        places = sorted({(form, getattr(row, form)) for row in ROWS for form in forms if getattr(row, form)})
        self.wait(f"{TEACHER}/scores.json" if not self.small else f"{TEACHER}/best/model.json")
        model = load(str(self.folder / TEACHER / "best"), device=_device(), threads=1)
        data = Path(os.environ["FASCICLE_DATA"])
        with (self.folder / f"answers-{at}.jsonl").open("w", encoding="utf-8") as stream:
            for form, path in places[at :: len(ANSWERS)]:
                documents = list(read(data / path))[: 5 if self.small else None]
                shown = [Document(id=one.id, text=one.text) for one in documents] if form == "raw" else documents
                for document, patch in zip(documents, model.predict(shown), strict=True):
                    mentions = [[one.spans, one.type, one.score] for one in patch.add]
                    stream.write(json.dumps([form, path, document.id, mentions]) + "\n")
                self.say(f"{form} {path}")


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
    for name in READS.values():
        pack_encoder(folder / name, folder / "packed" / name)


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


def _mixture(recipe: Any) -> Any:
    from fascicle.settings.recipes.recogniser import MixtureSettings

    return recipe.mixture or MixtureSettings()


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _lines(path: Path) -> tuple[Any, list[Any], Any]:
    from fascicle.formats import weak_labels

    decode: Callable[[bytes], Any] = weak_labels._LINE.decode
    header = weak_labels.read_header(path)
    lines = [decode(line) for line in gzip.decompress(path.read_bytes()).splitlines()[1:]]
    return header, lines[:-1], lines[-1]


if __name__ == "__main__":
    sys.exit(main())
