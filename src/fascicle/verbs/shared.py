"""Options that several commands have, and the requests that are built from them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import suffix
from fascicle.core.owners import gold_test
from fascicle.errors import UsageError
from fascicle.formats.account import Account
from fascicle.formats.catalogue import ANNOTATED, EARLIER, FORMATS, READABLE, format_of_output
from fascicle.formats.conll import DOCUMENTS
from fascicle.formats.losses import LENIENT, LOSSES, LossPolicy, loss_names
from fascicle.formats.outputs import STDOUT, WriteRequest
from fascicle.formats.requests import ReadRequest, parse_pairs, read_all_documents
from fascicle.formats.shapes import SHAPES
from fascicle.formats.textview import ViewOptions
from fascicle.settings.choices import Choices
from fascicle.settings.decision import Ends
from fascicle.settings.folders.vocabularies import AUTO as AUTO_LINK
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.settings.inputs import Case, RecognitionSettings
from fascicle.verbs.options import (
    Declared,
    FormatNames,
    StoreOnce,
    call,
    first_given,
    number,
    option,
    reads,
)

if TYPE_CHECKING:
    from fascicle.formats.tables import TableOptions

INPUT_FORMATS: Final = FormatNames(("auto", *READABLE, *EARLIER), group="readers")
# Suffix of the output or value of --format -> the format of predictions.
_PREDICTING: Final = MappingProxyType(
    {"tsv": "tsv", "csv": "csv", "predictions": "predictions", "jsonl": "predictions"}
)
_TABLES: Final = ("csv", "tsv", "xlsx")
BESIDE: Final = ("context", "meta")
_OUTPUTS: Final = FormatNames((*ANNOTATED, *EARLIER), group="writers")


def input_format(usage: str, *, choices: Sequence[str] = INPUT_FORMATS, group: str = "") -> Any:
    """Declares an option for the format of the input."""
    return option(usage, choices=choices, default="auto", group=group)


class ReadingDetails(Declared):
    """Options for readers of column files and JSON records.

    Attributes:
        encoding: encoding of the input files; default: auto, which is UTF-8, or else the only
            encoding that fits the file; a note then names it.
        documents: what counts as a document in a column file; default: auto.
        columns: columns of the token and of the tags in a column file, counted from 0, e.g. 0,3;
            default: the first and the last.
        shape: shape of the JSON records; default: auto.
        field: another name for a field of the JSON records, e.g. text=body, type=label; may be
            repeated.
        labels: names of the tags in the order of their numbers, for records with numbers as tags;
            or the file dataset_info.json that lists the names.
        bare_tags: the tags of the input are types without the prefixes B- and I-, e.g. person.
        where: read only the JSON records whose field has this value; may be repeated.
    """

    group = "reading"
    encoding: str = option("--encoding ENCODING", default=AUTO)
    documents: str | None = option("--documents", choices=DOCUMENTS)
    columns: str | None = option("--columns T,L")
    shape: str | None = option("--shape", choices=("auto", *SHAPES))
    field: list[str] = option("--field NAME=VALUE ...")
    labels: str | None = option("--labels O,B-PER,...", reads)
    bare_tags: bool = option("--bare-tags")
    where: list[str] = option("--where FIELD=VALUE ...")


class ReadingOptions(ReadingDetails):
    """Options for reading files.

    Attributes:
        input_format: format of the input; default: auto; the name of a plug-in is also allowed.
    """

    group = "reading"
    input_format: str = input_format("--input-format")


class ReadingAs(ReadingDetails):
    """Options for reading, for commands that write no documents; the format is that of the input.

    Attributes:
        input_format: format of the input; default: auto; the name of a plug-in is also allowed.
    """

    group = "reading"
    input_format: str = input_format("--input-format --format")


class GraphForm(Declared):
    """Options of commands that write a graph.

    Attributes:
        json_lines: write the graph as nodes.jsonl and edges.jsonl.
        prefix: of the ids of documents in the graph, such as PMID; default: document.
    """

    json_lines: bool = option("--json-lines")
    prefix: str | None = option("--prefix PREFIX")


class Colour:
    """Option of commands that may write a view for people.

    Attributes:
        color: colours in the format text; default: auto: on a terminal, unless NO_COLOR is set.
    """

    color: str = option("--color", choices=("auto", "always", "never"), default="auto")


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class Beside:
    """Options of commands that write tables of mentions.

    Attributes:
        context: in the tables csv, tsv and xlsx, also the words around each mention, its sentence
            and its section.
        meta: in these tables, also a column for facts of the document with these names, such as
            year,journal, which may be columns of the input.
    """

    context: bool = option("--context")
    meta: list[str] = option("--meta NAME,...", _split, action="extend", default=[])


def _losses(text: str) -> frozenset[str]:
    return loss_names(name for name in text.split(",") if name)


class StrictWriting(Declared):
    """Options of commands that write documents.

    Attributes:
        strict: stop with exit code 2 if the output format would lose a part of a document; end with
            exit code 3 if anything was lost in reading.
    """

    strict: bool = option("--strict")
    allow_loss: frozenset[str] = option(
        "--allow-loss NAME,NAME,...",
        _losses,
        default=frozenset(),
        help=f"with --strict: losses that are permitted; any of {', '.join(LOSSES)}",
    )


def output_format(default: str) -> Any:
    """Declares the option ``--format``, with a short help text for each format.

    Args:
        default: description of the default.
    """
    descriptions = "; ".join(
        f"{name}: {item.means}" for name, item in FORMATS.items() if item.annotated
    )
    usage = f"format of the output; default: {default}; {descriptions}; or a plug-in"
    return option("--format FORMAT", choices=_OUTPUTS, help=usage)


ONTOLOGY: Final[Any] = option("--ontology PREFIX", action=StoreOnce, default="")
_share = number("from 0 to 1", lambda value: 0 <= value <= 1)


def _names(text: str) -> list[str]:
    names = _split(text)
    if not names:
        raise argparse.ArgumentTypeError(
            "no type was given; name at least one, or leave out the option"
        )
    return names


def _threshold(text: str) -> float | dict[str, float]:
    """Parses a number, or one for each of some types, for ``type=``."""
    if "=" not in text:
        return _share(text)
    by_type: dict[str, float] = {}
    for pair in text.split(","):
        name, _, value = pair.rpartition("=")
        if not name.strip():
            raise argparse.ArgumentTypeError(
                f"{pair!r} names no type; give one number for all types, or TYPE=X for some"
            )
        if name.strip() in by_type:
            raise argparse.ArgumentTypeError(
                f"the type {name.strip()!r} is given twice; give one number for each type"
            )
        by_type[name.strip()] = _share(value)
    return by_type


_ALSO = (
    "your own names: a dictionary or term pack that is added to the model; its mentions replace "
    "overlapping mentions of the model, but longer ones that have a link stay; if several overlap, "
    "the first has precedence"
)
_CASE = (
    "how upper and lower case are compared for names of a dictionary: auto: ignored, except for "
    "short names in capitals, such as REST; exact: compared for all names; any: ignored for all "
    "names; default: auto"
)
_SCORE = (
    "leave out mentions with a score below X; TYPE=X,... gives a number for each of some types; "
    "mentions of dictionaries have no score and stay; default: 0, for term packs "
    f"{RecognitionSettings().threshold:g}"
)
_ENDS = (
    "for a model with a decision for documents: bare removes words that only some guidelines "
    'include in a name, such as " gene" and " cells"; corpus keeps them; default: for each '
    "type what scored better on development texts"
)
_LINK = (
    "link mentions to concepts with the shipped linker, a folder of fascicle linker fit, or the "
    "names of a pack; if there are several, the first with a concept for a mention answers; "
    f"default: {DEFAULT_LINKER}, if it covers a type of the model, and the format holds links"
)


class ModelChoices:
    """Options for the mentions of a model, the same for every command that runs one.

    Attributes:
        described: search for the types that this file describes (for a trained model of the family
            binder); for gliner:NAME and gliner2:NAME also TYPE,... or WORDS=TYPE,...
        careful: leave out mentions of these types that a second model does not have: biomed-fast,
            or biomed if the model is biomed-fast; fewer mentions are wrong, and fewer are found;
            the second model takes time of its own.
        only: only mentions of these types.
        nested: for term packs: also find names inside others, and all types of a name.
        variants: also find sequence variants, such as c.1799T>A, Val600Glu and rs113488022, with
            their names in HGVS.
    """

    group = "model"
    also: list[str] = option("--also NAMES ...", reads, help=_ALSO)
    case: Case = option("--case", choices=get_args(Case), default="auto", help=_CASE)
    described: str | None = option("--types TYPES.toml", reads)
    careful: list[str] = option("--careful TYPE,...", _names, action="extend", default=[])
    only: list[str] = option("--only TYPE,...", _names, action="extend", default=[])
    threshold: float | dict[str, float] | None = option(
        "--threshold --min-score X", _threshold, help=_SCORE
    )
    ends: Ends | None = option("--ends", choices=get_args(Ends), help=_ENDS)
    nested: bool = option("--nested")
    variants: bool = option("--variants")


class LinkChoices:
    """Options for the links of mentions.

    Attributes:
        no_link: no links.
        ontology: give links only in this vocabulary of the pack; those of own lists and of variants
            stay.
    """

    group = "model"
    link: list[str] = option(
        "--link LINKER ?", reads, action="append", const=DEFAULT_LINKER, default=[], help=_LINK
    )
    no_link: bool = option("--no-link")
    ontology: str = ONTOLOGY


class Assertions:
    """Options for what a text says of its mentions.

    Attributes:
        assertions: also write which mentions are negated, uncertain, hypothetical, historical, or
            of another person.
        cues: with --assertions: a TOML file of your own cues, in place of those for English, or
            beside them if it extends these.
    """

    group = "model"
    assertions: bool = option("--assertions")
    cues: str | None = option("--cues FILE", reads)


class Relations:
    """Options for relations between mentions.

    Attributes:
        relations: also find relations, with this finder.
    """

    group = "model"
    relations: str | None = option("--relations FOLDER", reads)


class AllChoices(ModelChoices, LinkChoices, Assertions, Relations):
    """All options for the mentions of a model."""


def choices_of(args: Any, *, link: str | tuple[str, ...] = AUTO_LINK) -> Choices:
    """Returns the choices that the options of a command make.

    Args:
        args: of a command with `ModelChoices`, and perhaps more of `AllChoices`.
        link: the linker if no option chooses one.

    Raises:
        UsageError: options that exclude each other.
    """
    linkers, no_link = getattr(args, "link", []), getattr(args, "no_link", False)
    cues = getattr(args, "cues", None)
    if no_link and linkers:
        raise UsageError("--link and --no-link were given; choose one of the two")
    if no_link and args.ontology:
        raise UsageError("--ontology and --no-link were given; choose one of the two")
    if cues and not args.assertions:
        raise UsageError(f"--cues {cues} is for --assertions; give both, or leave it out")
    return Choices(
        also=tuple(args.also),
        case=args.case,
        types=_types_of(args.described or ""),
        careful=tuple(args.careful),
        only=tuple(args.only),
        threshold=args.threshold or 0.0,
        ends=args.ends,
        nested=args.nested,
        links=not no_link,
        link=() if no_link else tuple(linkers) or link,
        ontology=getattr(args, "ontology", "") if hasattr(args, "link") else "",
        variants=args.variants,
        assertions=cues or getattr(args, "assertions", False),
        relations=getattr(args, "relations", None) or "",
    )


def _types_of(text: str) -> str | tuple[str, ...]:
    """Returns words for types, or the path of a file of types."""
    is_path = not text or text.endswith(".toml") or Path(text).exists()
    return text if is_path else tuple(_split(text))


TYPES: Final[Any] = option(
    "--type TYPE[=NAME] ...",
    help="score only this type of the gold; NAME is its name in the predictions; other types do "
    "not count; "
    "may be repeated; default: all types",
)


def type_mapping(args: Any) -> dict[str, str]:
    """Returns type of the gold -> its name in the systems.

    Raises:
        UsageError: a type that was given two names.
    """
    mapping: dict[str, str] = {}
    for text in args.types:
        name, sign, other = text.partition("=")
        if mapping.setdefault(name, other if sign else name) != (other if sign else name):
            raise UsageError(
                f"--type {text} gives {name!r} another name than before; give each type once"
            )
    return mapping


def read_request(args: ReadingDetails, *, role: str = "input") -> ReadRequest:
    """Builds the read request from the options of reading.

    Args:
        args: of a command.
        role: prefix of the option of the format: ``"gold"`` for ``--gold-format``.

    Raises:
        UsageError: ``--field`` or ``--where`` without a name and a value.
    """
    return call(
        ReadRequest,
        args,
        format=getattr(args, f"{role}_format"),
        fields=parse_pairs(args.field, key="--field", example="text=body"),
        where=parse_pairs(args.where, key="--where FIELD=VALUE", example="split=test"),
        asked_by=f"--{role}-format",
    )


def counted_documents(
    files: Sequence[str], request: ReadRequest, account: Account
) -> Iterator[Document]:
    """Yields documents with only the parts that are used, and counts them.

    Args:
        files: as given.
        request: format and options of the files.
        account: receives the counts.

    Raises:
        InputError: a file cannot be read, or every document was set aside.
    """
    yield from account.counted(read_all_documents(files, request, report=account.reading))
    if not account.read:
        account.refuse_nothing()


def _strictness_of(args: StrictWriting, *, whole: str = "jsonl") -> LossPolicy:
    """Returns the strictness of ``--strict`` and ``--allow-loss``.

    Args:
        args: of a command.
        whole: the format in which the command can write everything.

    Raises:
        UsageError: ``--allow-loss`` without ``--strict``.
    """
    if args.allow_loss and not args.strict:
        raise UsageError(
            "--allow-loss says what --strict may pass, but --strict was not given; give both, or "
            "neither"
        )
    advice = f"write --format {whole}, which holds it, or pass it with --allow-loss {{codes}}"
    return LossPolicy(refuse=args.strict, allowed=args.allow_loss, advice=advice)


def write_request(args: Any) -> WriteRequest:
    """Builds the write request from ``-o``, ``--format``, ``--overwrite`` and the options of
    `StrictWriting`.

    Args:
        args: of a command; ``--source``, ``--resume`` and ``--color`` are used if it has them.

    Raises:
        UsageError: ``--allow-loss`` without ``--strict``.
    """
    path = args.output or STDOUT
    options: Any = ViewOptions(colour=_wants_colour(getattr(args, "color", "never"), path))
    if "meta" in args:
        options = table_columns(args, args.format or format_of_output(path)) or options
    return call(
        WriteRequest,
        args,
        path=path,
        format=args.format or "auto",
        strictness=_strictness_of(args),
        options=options,
    )


def table_columns(args: Beside, format_name: str) -> TableOptions | None:
    """Returns the columns that the options of `Beside` ask for; ``None`` if none is given.

    Args:
        args: of a command.
        format_name: format of the output.

    Raises:
        UsageError: the format is no table, or a column would be there twice.
    """
    flag = first_given(args, BESIDE)
    if not flag:
        return None
    if format_name not in _TABLES:
        raise UsageError(f"{flag} is for the formats {', '.join(_TABLES)}, not for {format_name}")
    from fascicle.formats.tables import TableOptions

    return TableOptions(with_context=args.context, meta=tuple(args.meta))


def _wants_colour(choice: str, path: str) -> bool:
    """True if a view written to a path is coloured."""
    if choice != "auto":
        return choice == "always"
    return path == STDOUT and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def select_source(documents: Iterable[Document], source: str | None) -> Iterator[Document]:
    """Yields the documents with the mentions of one source alone, and its relations between
    concepts; ``None`` for all.
    """
    for document in documents:
        yield document if source is None else _of_source(document, source)


def _of_source(document: Document, source: str) -> Document:
    is_of_gold = gold_test(document)
    relations = tuple(
        relation
        for relation in document.relations
        if relation.arguments or is_of_gold(relation) == (source == GOLD)
    )
    return msgspec.structs.replace(document, mentions=document.layer(source), relations=relations)


def predictions_request(args: Any) -> WriteRequest:
    """Builds the write request of a command that writes predictions, for which JSON Lines have
    their own format.

    Raises:
        UsageError: the name of the output has no suffix of a prediction file.
    """
    path = args.output or STDOUT
    name = getattr(args, "format", None) or (
        format_of_output(path) if suffix(path) else "predictions"
    )
    if name not in _PREDICTING:
        raise UsageError(f"{path} is not a name of a prediction file; name it .tsv, .csv or .jsonl")
    strictness = _strictness_of(args, whole="predictions") if "allow_loss" in args else LENIENT
    return WriteRequest(
        path=path, format=_PREDICTING[name], overwrite=args.overwrite, strictness=strictness
    )
