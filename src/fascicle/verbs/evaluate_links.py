"""Command ``fascicle evaluate --links``: scores links of predictions, and of a linker for the
gold mentions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.document import GOLD, Document, Link
from fascicle.core.files.atomic import open_output
from fascicle.core.results import TableRow, Tabular, list_first
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.link_report import LinkSystem, links_report
from fascicle.evaluation.link_scores import COMPARED, KnowsConcepts, LinkCase, score_links
from fascicle.evaluation.reports.links import links_markdown, links_text
from fascicle.evaluation.systems.alignment import align_to_documents
from fascicle.evaluation.systems.predictions import (
    PredictionRequest,
    Predictions,
)
from fascicle.formats.account import EventCounts
from fascicle.formats.requests import parse_pairs
from fascicle.linking.gold import to_curies, with_pack_types
from fascicle.linking.opening import Places, as_places, find
from fascicle.runtime.combination.type_names import TypeMap
from fascicle.settings.base import Natural, Positive
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import replacements
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say_notes
from fascicle.verbs.options import call, first_given
from fascicle.verbs.shared import read_request, type_mapping
from fascicle.verbs.systems import check_report, prediction_requests
from fascicle.verbs.tasks import evaluate as scoring
from fascicle.verbs.tasks.link_cases import (
    Reference,
    TrainingNames,
    cases_of_linker,
    cases_of_predictions,
    linked,
)
from fascicle.verbs.tasks.scored import ScoredNames, Types, scored_types

_File = AnyPath
_Spelling = Callable[[Iterable[Document]], list[Document]]


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """Settings of the scores of links.

    Attributes:
        train: the training corpus of the systems, for scores of seen and unseen names; ``None`` for
            none.
        prefixes: type -> prefix of the identifiers that have none, such as ``{"Disease": "MESH"}``.
            With a pack, the default is the prefix of the vocabulary that has most of them.
        types: the types of the gold that are scored, or type of the gold -> its name in the
            systems; by default all that have links in the gold.
        allow_missing: gold documents that a system does not list count as without predictions.
        resamples: draws of the bootstrap, and shuffles.
        examples: of each class of errors in reports.
    """

    train: _File | PredictionRequest | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    types: Types = ()
    allow_missing: bool = False
    resamples: Positive = 1000
    examples: Natural = 5


@dataclass(frozen=True, kw_only=True, repr=False)
class LinkEvaluation(Tabular):
    """Scores of the links of some systems on one gold.

    Attributes:
        gold: documents with links.
        systems: each with its cases.
        concepts: of the pack, if there is one.
        settings: of the scores.
        notes: sentences for the reader of the scores.
    """

    gold: scoring.Gold
    systems: tuple[LinkSystem, ...]
    concepts: KnowsConcepts = field(repr=False)
    settings: LinkSettings
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Returns the number of documents and the systems in one line."""
        names = list_first([system.name for system in self.systems])
        return f"<LinkEvaluation of {plural(len(self.gold.documents), 'document')}: {names}>"

    def table(self) -> list[TableRow]:
        """Returns the figures of each system, as shares."""
        documents = [document.id for document in self.gold.documents]
        scores = {
            system.name: score_links(system.cases, documents, self.concepts)
            for system in self.systems
        }
        names = ("precision", "recall", *COMPARED)
        return [
            {"system": system, **{name: figures.value(name) for name in names}}
            for system, figures in scores.items()
        ]

    def report(self) -> dict[str, Any]:
        """Returns all numbers with their uncertainty; see `evaluation.link_report.links_report`."""
        return links_report(
            self.systems,
            documents=[document.id for document in self.gold.documents],
            concepts=self.concepts,
            is_trained=self.settings.train is not None,
            examples=self.settings.examples,
            resamples=self.settings.resamples,
        )


@validate_arguments
def evaluate_links(
    gold: scoring.SystemInput,
    predictions: scoring.SystemInput | Iterable[scoring.SystemInput] = (),
    *,
    linker: Places | None = None,
    pack: Paths = (),
    ontology: str = "",
    settings: LinkSettings | None = None,
    events: EventCounts | None = None,
) -> LinkEvaluation:
    """Scores links of one or several systems against gold.

    Args:
        gold: a corpus in any format whose mentions have links, or documents.
        predictions: of each system its file (predictions, or a corpus in any format), or its
            documents.
        linker: folder that ``fascicle linker fit`` wrote, the name of a shipped linker, or several,
            see `fascicle.link`: it links the mentions of the gold, as one more system.
        pack: folder of the vocabulary, or several: those of the linker, where they are not found
            automatically; for predictions alone, the vocabulary of the concepts that can be found,
            which also explains errors.
        ontology: prefix of the only vocabulary in which the linker gives links.
        settings: of the scores.
        events: counts the events of documents.

    Raises:
        UsageError: nothing to score, a pack that the linker does not use, or standard input twice.
        InputError: a file cannot be read, the gold has no link, predictions were made on other
            texts, or identifiers that cannot be compared.
        PackError: the linker or the pack cannot be opened, or were not built for each other.
    """
    events, options = events or EventCounts(), settings or LinkSettings()
    files = scoring.as_list(predictions)
    scoring.refuse_stdin_twice(gold, *files)
    places, linkers = to_path_list(pack, name="pack"), () if linker is None else as_places(linker)
    _check_systems(files, linkers, ontology)
    linker_packs = find(linkers, places, ontology=ontology) if linkers else None
    packs = (
        tuple(map(Pack.open, places))
        if linker_packs is None
        else tuple(part.pack for part in linker_packs.parts)
    )
    merged = Counter[str]()
    spelling = partial(_spelt, packs=packs, prefixes=options.prefixes, merged=merged)
    gold_links = _gold(gold, options, spelling, events=events)
    notes = [*_merged_note(merged)]
    reference = Reference(
        documents=gold_links.documents,
        packs=packs,
        seen=_training_names(options, spelling, events=events),
    )
    predicted = [
        _predicted_links(file, gold_links, options, spelling, events=events) for file in files
    ]
    notes += chain.from_iterable(answers.notes for answers in predicted)
    systems = list(_systems_of(files, predicted, reference))
    if linker_packs is not None:
        cases = tuple(cases_of_linker(reference, linker_packs.opened()))
        systems.append(
            LinkSystem(name=_name_of(linkers, systems), cases=cases, has_candidates=True)
        )
    notes += _notes(gold_links, packs)
    return LinkEvaluation(
        gold=gold_links,
        systems=tuple(systems),
        concepts=reference.concepts,
        settings=options,
        notes=tuple(notes),
    )


def _check_systems(files: Sequence[object], linkers: Sequence[_File], ontology: str) -> None:
    if not files and not linkers:
        raise UsageError(
            "nothing was given whose links could be scored; give predictions, or a linker"
        )
    if ontology and not linkers:
        raise UsageError(
            f"links in {ontology} need a linker; give one, or leave out the argument ontology"
        )


def _systems_of(
    files: Sequence[scoring.SystemInput], predicted: Sequence[Predictions], reference: Reference
) -> Iterator[LinkSystem]:
    names = scoring.system_names([scoring.input_path(file) for file in files])
    for name, answers in zip(names, predicted, strict=True):
        cases = tuple(cases_of_predictions(reference, answers.mentions))
        _check_identifiers(name, cases)
        yield LinkSystem(name=name, cases=cases)


def _spelt(
    documents: Iterable[Document],
    *,
    packs: Sequence[Pack],
    prefixes: Mapping[str, str],
    merged: Counter[str],
) -> list[Document]:
    """Returns documents in the spelling of types and identifiers in which they are compared.

    An identifier that exactly one concept of a pack replaced is that concept's; ``merged`` counts
    these.
    """
    spelt = list(documents)
    for pack in packs:
        spelt = _current(with_pack_types(spelt, pack, prefixes=prefixes), pack, merged)
    return spelt if packs else [to_curies(document, prefixes) for document in spelt]


def _current(documents: Sequence[Document], pack: Pack, merged: Counter[str]) -> list[Document]:
    links = (
        link.curie
        for document in documents
        for mention in document.mentions
        for link in mention.links
    )
    curies, current = sorted(set(filter(None, links))), replacements(pack)
    rows = zip(curies, pack.concept_rows(curies).tolist(), strict=True)
    now = {curie: pack.curie(current[row]) for curie, row in rows if row in current}

    def replaced(link: Link) -> Link:
        if (curie := now.get(link.curie)) is None:
            return link
        merged[link.curie] += 1
        ontology, _, local = curie.partition(":")
        return msgspec.structs.replace(link, id=local, ontology=ontology, curie=curie)

    return [_relinked(document, replaced) if now else document for document in documents]


def _relinked(document: Document, change: Callable[[Link], Link]) -> Document:
    mentions = (
        msgspec.structs.replace(mention, links=tuple(map(change, mention.links)))
        if mention.links
        else mention
        for mention in document.mentions
    )
    return msgspec.structs.replace(document, mentions=tuple(mentions))


def _merged_note(merged: Counter[str]) -> Iterator[str]:
    if merged:
        what = (
            f"{plural(merged.total(), 'link')} of the gold to {plural(len(merged), 'identifier')}"
        )
        counts = "counts" if merged.total() == 1 else "count"
        yield f"{what} that one concept of the pack replaced {counts} as links to it"


def _gold(
    path: scoring.SystemInput, settings: LinkSettings, spelling: _Spelling, *, events: EventCounts
) -> scoring.Gold:
    """Returns the gold with types and links in the compared spelling.

    Raises:
        InputError: no mention of it has a link.
    """
    reference = scoring.open_gold(path, events=events)
    types = scored_types(settings.types).of_gold(reference.documents, path=reference.path)
    documents = spelling(types)
    if not any(linked(document) for document in documents):
        raise InputError(
            f"{reference.path} has no mention with an identifier of a concept, so that links "
            "cannot be scored; give a corpus whose mentions are linked"
        )
    return replace(reference, documents=documents)


def _training_names(
    settings: LinkSettings, spelling: _Spelling, *, events: EventCounts
) -> TrainingNames:
    if settings.train is None:
        return TrainingNames()
    documents = scoring.open_gold(settings.train, events=events).documents
    names = ScoredNames(map=TypeMap(), types=scored_types(settings.types), facts=False)
    return TrainingNames.of(spelling(names.of_training(documents)))


def _predicted_links(
    path: scoring.SystemInput,
    gold: scoring.Gold,
    settings: LinkSettings,
    spelling: _Spelling,
    *,
    events: EventCounts,
) -> Predictions:
    """Returns the mentions of a system on the documents of the gold, in the compared spelling.

    Raises:
        InputError: other texts, or a document of the gold is not among them.
    """
    predictions = align_to_documents(
        gold.predictions(), scoring.open_predictions(path, events=events)
    )
    predictions = scored_types(settings.types).of_predictions(predictions)
    predictions.check(gold.documents)
    missing = [
        document.id for document in gold.documents if document.id not in predictions.mentions
    ]
    if len(missing) == len(gold.documents):
        raise InputError(
            f"{predictions.path} has no document of {gold.path}; give predictions for the "
            "documents of the gold"
        )
    if missing and predictions.lists_all and not settings.allow_missing:
        raise InputError(
            f"{predictions.path} lacks {plural(len(missing), 'document')} of the gold, the first "
            f"is {missing[0]!r}; give predictions for all, or allow_missing=True to count these as "
            "without predictions"
        )
    documents = [
        msgspec.structs.replace(
            document, mentions=_as_gold(predictions.mentions.get(document.id, ()))
        )
        for document in gold.documents
    ]
    return replace(
        predictions, mentions={document.id: document.mentions for document in spelling(documents)}
    )


def _as_gold(mentions: Iterable[Any]) -> tuple[Any, ...]:
    """Returns each mention once, with gold as its source."""
    mentions_of = {
        (mention.type, mention.spans): msgspec.structs.replace(mention, source=GOLD)
        for mention in mentions
    }
    return tuple(mentions_of.values())


def _check_identifiers(name: str, cases: Sequence[LinkCase]) -> None:
    """Refuses identifiers that have prefixes on only one side.

    Raises:
        InputError: for one type, no two identifiers can be equal.
    """
    first: dict[tuple[str, str], dict[bool, str]] = {}
    for case in cases:
        for side, curies in (("the gold", case.gold), (name, case.answer)):
            for curie in sorted(curies):
                first.setdefault((case.type, side), {}).setdefault(":" in curie, curie)
    for kind in sorted({case.type for case in cases}):
        gold, answer = first.get((kind, "the gold"), {}), first.get((kind, name), {})
        if len(gold) == len(answer) == 1 and gold.keys() != answer.keys():
            bare, full = (
                (gold[False], answer[True]) if False in gold else (answer[False], gold[True])
            )
            sides = ("the gold", name) if False in gold else (name, "the gold")
            raise InputError(
                f"identifiers of {kind} are like {bare!r} in {sides[0]} and like {full!r} in "
                f"{sides[1]}; say of which vocabulary bare ones are by prefixes=VALUE, as "
                f"{kind}={full.partition(':')[0]}, or give a pack"
            )


def _name_of(linkers: Sequence[_File], systems: Sequence[LinkSystem]) -> str:
    name = " and ".join(Path(system).name for system in linkers)
    return f"{name} (linker)" if name in {system.name for system in systems} else name


def _notes(gold: scoring.Gold, packs: Sequence[Pack]) -> Iterator[str]:
    bare = sum(not mention.links for document in gold.documents for mention in document.layer(GOLD))
    if bare:
        yield (
            f"{plural(bare, 'mention')} of the gold without any link "
            f"{'is' if bare == 1 else 'are'} left out"
        )
    if not packs:
        yield (
            "no pack was given, so that concepts which no vocabulary has, and species, are not "
            "told apart"
        )


_NO_MEANING: Final = (
    *(
        "model",
        "pipeline",
        "distributions",
        "threads",
        "device",
        "unreachable_for",
        "gold_column",
        "pred_column",
        "interval",
        "map",
    ),
    "at_least",
)


def run_links(args: Any) -> int:
    """Scores the links; returns the exit code."""
    if option := first_given(args, _NO_MEANING):
        raise UsageError(f"{option} has no meaning with --links; leave one of the two out")
    if args.report is not None:
        check_report(args.report, overwrite=args.overwrite)
    tally = Tally()
    scores = evaluate_links(
        PredictionRequest(path=args.gold, reading=read_request(args, role="gold")),
        prediction_requests(args),
        linker=args.linker or None,
        pack=args.pack,
        ontology=args.ontology,
        settings=_settings_of(args),
        events=tally.account.events,
    )
    tally.say(verbose=args.verbose)
    say_notes(scores.notes)
    report = scores.report()
    if args.report is not None:
        with open_output(args.report, overwrite=args.overwrite) as stream:
            stream.write(_file(report, Path(args.report).suffix).encode())
    emit(report, links_text(report), as_json=args.json, allow_nan=False)
    return tally.exit_code(strict=args.strict)


def _settings_of(args: Any) -> LinkSettings:
    train = None
    if args.train:
        where = parse_pairs(
            args.train_where, key="--train-where FIELD=VALUE", example="split=train"
        )
        train = PredictionRequest(
            path=args.train, reading=replace(read_request(args, role="train"), where=where)
        )
    elif args.train_where:
        raise UsageError("--train-where is about the training corpus; give --train PATH too")
    prefixes = dict(parse_pairs(args.prefix, key="--prefix", example="Disease=MESH"))
    return call(LinkSettings, args, train=train, prefixes=prefixes, types=type_mapping(args))


def _file(report: Mapping[str, Any], suffix: str) -> str:
    """Returns the content of a report."""
    if suffix == ".json":
        return _json(report)
    if suffix == ".md":
        return links_markdown(report)
    # imported here, because numbers alone need no page
    from fascicle.evaluation.reports.page.page import links_page

    return links_page(report)


def _json(report: Mapping[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, allow_nan=False) + "\n"
