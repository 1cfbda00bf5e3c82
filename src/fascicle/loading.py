"""``load``: opens a predictor from a name, a folder or a dictionary.

Only this module knows both the runtime and, through lazy imports, torch models.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import fascicle.plugins as plugins
from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.files.intact import check_files
from fascicle.errors import ModelError, RecipeError, UsageError
from fascicle.networks import load_filter as load_filter
from fascicle.networks import load_relations as load_relations
from fascicle.networks import load_typer as load_typer
from fascicle.networks import needs_torch
from fascicle.runtime.places import (
    find_model,
    from_anywhere,
    is_plugin,
    pack_folders,
    split_zero_shot,
    types_argument,
    types_file,
)
from fascicle.settings.base import Positive, Share
from fascicle.settings.choices import Choices, Composition, Opening
from fascicle.settings.decision import Ends
from fascicle.settings.folders.best import description_file, is_checkpoint
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.folders.manifest import check_open_types, read_manifest
from fascicle.settings.folders.vocabularies import AUTO, is_dictionary, is_pack, pack_types
from fascicle.settings.inputs import Case, RecognitionSettings
from fascicle.settings.recipes.ensemble import (
    ENSEMBLE,
    FILTER_FOLDER,
    MEMBERS,
    is_ensemble,
    read_ensemble,
)
from fascicle.settings.types import read_types

if TYPE_CHECKING:
    from fascicle.runtime.composing import HeldLinks
    from fascicle.runtime.ensemble import EnsemblePredictor
    from fascicle.runtime.filter import MentionFilter
    from fascicle.runtime.predictor import ModelPredictor
    from fascicle.text.annotator import Annotator

DEFAULT_MODEL = "biomed"
_ModelSource = AnyPath | Sequence[AnyPath]
_TypesFile = AnyPath | None
TOGETHER = 1 << 30  # bytes of files up to which ensembles keep all members in memory


@validate_arguments
def load(  # noqa: PLR0913 - what users may say, each on its own
    model: _ModelSource = DEFAULT_MODEL,
    *,
    also: _ModelSource | None = None,
    case: Case = "auto",
    threads: Positive | None = None,
    types: _ModelSource | None = None,
    device: str | None = None,
    recognition: RecognitionSettings | None = None,
    link: _ModelSource | None = AUTO,
    ontology: str = "",
    ends: Ends | None = None,
    careful: str | Sequence[str] = (),
    only: str | Sequence[str] = (),
    threshold: Share | Mapping[str, Share] = 0.0,
    variants: bool = False,
    assertions: bool | AnyPath = False,
    relations: AnyPath | None = None,
    nested: bool = False,
    links: bool = True,
) -> Annotator:
    """Loads a model, an ensemble of models, a dictionary, or term packs.

    Args:
        model: the name of a shipped model, with or without version (the newest is taken), a folder
            of ``fascicle export`` or ``fascicle ensemble``, or a run folder of ``fascicle train``,
            which stands for the model that the run kept (extra ``train``). Or a dictionary: a
            ``.tsv`` or ``.txt`` file (also ``.gz``) with a type, a TAB and a name in each row. Or
            one or several term packs of ``fascicle index build``. Or the name or folder of a
            checkpoint of Hugging Face (extra ``train``), or a predictor of another package
            (plug-in). Or a zero-shot model: ``gliner:NAME`` or ``gliner2:NAME``, a folder or a name
            of the hub, with types in words (extras ``gliner``, ``gliner2``).
        also: own names: a dictionary, a term pack, or several. Each name in a text is a mention,
            and mentions of the model that overlap it are left out; of several lists the first
            answers.
        case: ``"auto"``: capitals do not count in names of a dictionary, except in symbols such as
            ``REST``; ``"exact"``: all as they are written; ``"any"``: in any capitals,
            also names of term packs.
        threads: CPU threads of the network; all usable cores by default. ``RAYON_NUM_THREADS``
            limits the tokenizer.
        types: a TOML file of types to look for, in place of those that a ``binder`` was trained on.
            For a zero-shot model also the words for them, each also as ``WORDS=TYPE``.
        device: ``"cpu"`` (the default), ``"cuda"`` (exports need ``onnxruntime-gpu``), or
            ``"auto"``: a GPU for torch.
        recognition: how names of term packs become mentions.
        link: linkers: ``"basic"``, folders of linkers or packs, or ``"auto"``: the shipped one if
            it covers a type; ``None`` is ``links=False``.
        ontology: prefix of the only vocabulary in which links are given, such as ``"MONDO"``; those
            of own lists and of variants stay.
        ends: ``"bare"`` cuts off what few guidelines count to a name; ``"corpus"`` keeps it,
            and also gives the types that the model keeps apart.
        careful: types whose mentions stay only if ``biomed-fast`` (for ``biomed-fast`` itself:
            ``biomed``) has a mention of the same type there; it takes time of its own.
        only: types of mentions to give out; by default all that the model does not keep apart
            (``decision.apart``).
        threshold: mentions with a lower score are left out; one number, or one for each of some
            types; by default 0, and 0.5 for a zero-shot model.
        variants: also find sequence variants, by rules.
        assertions: also find which mentions are negated, uncertain and so on; true, or a TOML file
            of own cues.
        relations: folder of a finder of relations, which reads the mentions.
        nested: for term packs: also find names inside others, and all types of a name.
        links: false leaves out all links, also those that term packs give by themselves.

    Returns:
        A predictor: ``model(text)`` and ``model(texts)`` annotate texts, ``stream`` and ``predict``
        documents.

    Raises:
        ModelError, PackError: there is no such model, pack or linker, or it is damaged, foreign, or
            of another version.
        MissingExtraError: a torch model, but torch is not installed.
        PluginError: a plug-in that cannot be loaded.
        UsageError: an argument that a model cannot take; several models, not all packs; own names
            that are neither.
        RecipeError: the file of types or of cues cannot be read, or the model cannot read it.
        InputError: a dictionary that cannot be read or holds no name.
    """
    choices = to_choices(
        also=also,
        case=case,
        types=types,
        careful=careful,
        only=only,
        threshold=threshold,
        ends=ends,
        nested=nested,
        links=links,
        link=link,
        ontology=ontology,
        variants=variants,
        assertions=assertions,
        relations=relations,
    )
    return open_model(model, choices, threads=threads, device=device, recognition=recognition)


def to_choices(  # noqa: PLR0913
    *,
    also: Paths | None,
    types: _ModelSource | None,
    link: Paths | None,
    careful: str | Sequence[str],
    only: str | Sequence[str],
    threshold: float | Mapping[str, float],
    assertions: bool | AnyPath,
    relations: AnyPath | None,
    links: bool = True,
    **others: Any,
) -> Choices:
    """Returns the choices that arguments of `load` make, in which paths are objects too.

    Raises:
        UsageError: choices that exclude each other.
    """
    return Choices(
        also=to_path_list(also or (), name="also"),
        types=types_argument(types),
        link=AUTO if link == AUTO else to_path_list(link or (), name="link"),
        links=links and link is not None,
        careful=to_path_list(careful, name="careful"),
        only=to_path_list(only, name="only"),
        threshold=dict(threshold) if isinstance(threshold, Mapping) else threshold,
        assertions=assertions if isinstance(assertions, bool) else os.fspath(assertions),
        relations="" if relations is None else os.fspath(relations),
        **others,
    )


def open_model(
    model: _ModelSource,
    choices: Choices,
    *,
    threads: int | None = None,
    device: str | None = None,
    recognition: RecognitionSettings | None = None,
    held: HeldLinks | None = None,
    note: Callable[[str], None] = lambda sentence: None,
) -> Annotator:
    """Opens a model with the choices of a user: what `load`, all commands and the step
    ``recogniser`` do.

    Args:
        model: see `load`.
        choices: about its mentions.
        threads: see `load`.
        device: see `load`.
        recognition: see `load`; by default that of the choices, for term packs.
        held: what the output holds of links; all by default.
        note: called with each sentence for the user about own names.

    Raises:
        FascicleError: see `load`.
    """
    from fascicle.runtime.composing import ALL_LINKS, compose

    stated = recognition
    if recognition and not recognition.links and choices.link == AUTO:
        choices = msgspec.structs.replace(choices, link=())
    recognition, remaining = _choices_of_packs(model, choices, recognition)
    predictor = load_all_types(
        model,
        threads=threads,
        types=choices.types or None,
        device=device,
        recognition=recognition,
        case=choices.case,
        threshold=choices.threshold,
    )
    links = choices.links and (recognition is None or recognition.links)
    names = open_own_names(choices.also, case=choices.case, links=links)
    open_second = partial(load_all_types, threads=threads, device=device)
    composed = compose(
        predictor,
        remaining,
        names=names,
        open_second=open_second,
        open_relations=partial(load_relations, threads=threads, device=device),
        output=held or ALL_LINKS,
    )
    composed.own_lists = tuple(zip(choices.also, names, strict=True))
    for path, recogniser in composed.own_lists:
        if summary := getattr(recogniser, "summary", ""):
            note(f"{path}: {summary}")
    composed.made_of = Composition(
        model=tuple(map(from_anywhere, to_path_list(model, name="model"))),
        choices=choices.with_places(from_anywhere),
        device=device,
    )
    _remember(composed, composed.made_of, threads=threads, recognition=stated)
    return composed


def _remember(
    model: Annotator,
    composition: Composition,
    *,
    threads: int | None,
    recognition: RecognitionSettings | None,
) -> None:
    """Writes down how another process can open a model, see `reopen`."""
    opening = Opening(
        composition=composition,
        threads=threads,
        recognition=recognition,
        fingerprint=model.fingerprint,
    )
    model.reopening = reopen, (msgspec.json.encode(opening),)


@lru_cache(maxsize=1)  # a worker gets the same model with each task
def reopen(opening: bytes) -> Annotator:
    """Opens a model that another process sent, by what `open_model` wrote down of it.

    Args:
        opening: an `Opening` as JSON.

    Raises:
        ModelError: the files are those of another model now.
    """
    wanted = msgspec.json.decode(opening, type=Opening)
    model = open_model(
        wanted.composition.model,
        wanted.composition.choices,
        threads=wanted.threads,
        device=wanted.composition.device,
        recognition=wanted.recognition,
    )
    if model.fingerprint != wanted.fingerprint:
        raise ModelError(
            f"{wanted.composition.model[0]} is another model here than in the process that sent "
            "it; give both the same files"
        )
    return model


def _choices_of_packs(
    model: _ModelSource, choices: Choices, recognition: RecognitionSettings | None
) -> tuple[RecognitionSettings | None, Choices]:
    """Returns how packs look for their names, and the choices that are left for their mentions;
    for other models, and where it is stated, as it was.

    A pack that looks for fewer types finds other names than one whose mentions are filtered.
    """
    packs = pack_folders(model)
    if choices.nested and not packs:
        name = to_path_list(model, name="model")[0]
        raise UsageError(f"the argument nested is for term packs, and {name} is none; leave it out")
    if not packs or recognition is not None:
        return recognition, choices
    if choices.ends:
        raise UsageError(
            f"the argument ends is for models, and {packs[0]} is a term pack; leave it out"
        )
    beside = bool(choices.also) or choices.variants
    types_of_packs = {kind for pack in packs for kind in pack_types(pack)}
    types = tuple(kind for kind in choices.only if kind in types_of_packs or not beside)
    recognition = RecognitionSettings(types=types, links=choices.links)
    if choices.nested:
        recognition = msgspec.structs.replace(recognition, overlaps="nested")
    if choices.threshold and not isinstance(choices.threshold, dict):
        recognition = msgspec.structs.replace(recognition, threshold=choices.threshold)
    if beside:
        return recognition, choices
    least = choices.threshold if isinstance(choices.threshold, dict) else 0.0
    return recognition, msgspec.structs.replace(choices, only=(), threshold=least)


def open_own_names(
    also: _ModelSource | None, *, case: Case = "auto", links: bool = True
) -> list[Annotator]:
    """Opens a user's own lists and packs.

    Args:
        also: see `load`.
        case: see `load`.
        links: whether packs link their mentions.

    Raises:
        UsageError: something else than a dictionary or a term pack.
    """
    names = to_path_list(also or (), name="also")
    _check_own_names(names)
    bare = RecognitionSettings(links=False)
    return [
        load_all_types(
            name, case=case, recognition=bare if pack_folders(name) and not links else None
        )
        for name in names
    ]


def _check_own_names(names: Sequence[str]) -> None:
    for name in names:
        if not (is_dictionary(name) or pack_folders(name)):
            where = "" if Path(name).expanduser().exists() else " (there is no such file)"
            raise UsageError(
                f"{name}{where} is not a list of names (.tsv, .csv or .txt) or a term pack; save "
                "it as CSV with the columns type and name, or join models with fascicle ensemble",
                file=name,
            )


def load_all_types(
    model: _ModelSource,
    *,
    threads: int | None = None,
    types: _ModelSource | None = None,
    device: str | None = None,
    recognition: RecognitionSettings | None = None,
    case: Case = "auto",
    threshold: float | Mapping[str, float] = 0.0,
) -> Annotator:
    """Loads like `load`, with all types, also those kept apart: for calibration and for
    teachers.

    Only a zero-shot model applies the threshold itself.
    """
    if packs := pack_folders(model):
        from fascicle.terms.finding import open_packs

        _refuse(
            f"{packs[0]} is a term pack, which names its types and has no network",
            types=types,
            device=device,
        )
        return open_packs(packs, _in_case(packs[0], case, recognition))
    name = model if isinstance(model, str | os.PathLike) else model[0]
    if recognition is not None:
        raise UsageError(
            f"{name} is not a term pack, and these are settings of packs; leave them out"
        )
    if is_dictionary(name):
        from fascicle.terms.finding import open_dictionary

        _refuse(
            f"{name} is a dictionary, which names its types and has no network",
            types=types,
            device=device,
        )
        return open_dictionary(Path(name).expanduser(), case=case)
    if split_zero_shot(name):
        from fascicle.runtime.zero_shot import open_zero_shot

        return open_zero_shot(name, types, threshold=threshold, device=device)
    return _loaded(name, threads, types_file(types, model=name), device)


def _in_case(
    pack: Path, case: Case, recognition: RecognitionSettings | None
) -> RecognitionSettings | None:
    """Returns the settings of packs, whose names know themselves in which capitals they are
    found.
    """
    if case == "exact":
        raise UsageError(
            f'case="exact" is for lists of names, and {pack} is a term pack; leave it out'
        )
    if case == "auto":
        return recognition
    return msgspec.structs.replace(recognition or RecognitionSettings(), case=False)


def _loaded(
    model: AnyPath,
    threads: int | None,
    types: _TypesFile,
    device: str | None,
) -> Annotator:
    """Loads a predictor that is no term pack and no dictionary."""
    if is_plugin(model):
        _refuse(
            f"{model} is a plug-in, which chooses its types and its device itself",
            types=types,
            device=device,
        )
        from fascicle.runtime.wrapped import PluggedPredictor

        name = str(model)
        return PluggedPredictor(
            plugins.load_plugin("predictors", name),
            package=plugins.plugin_package("predictors", name),
        )
    if is_checkpoint(model):
        _refuse(f"{model} is a checkpoint of another tool, whose types are labels", types=types)
        with needs_torch(threads):
            from fascicle.models.model import find_device
            from fascicle.models.token_classifier import load_token_classifier
        place = Path(model).expanduser()
        return load_token_classifier(
            os.fspath(place) if place.is_dir() else str(model), device=find_device(device)
        )
    folder = find_model(model)
    if is_ensemble(folder):
        _refuse(f"{folder} is an ensemble, which looks for the types of its members", types=types)
        return _ensemble(folder, threads, device)
    return _model(folder, threads, types, device=device)


def _refuse(reason: str, *, types: object = None, device: str | None = None) -> None:
    """Raises an error if other types, or a device other than the processor, were requested."""
    if types is not None:
        raise UsageError(f"{reason}; leave out the types")
    if device not in (None, "cpu", "auto"):
        raise UsageError(f"{reason}; leave out the device {device!r}")


def load_single(
    model: AnyPath, *, threads: int | None = None, device: str | None = None
) -> ModelPredictor:
    """Loads a model that is no ensemble, for functions that need a single model; see `load`.

    Raises:
        ModelError, MissingExtraError: see `load`.
        UsageError: an ensemble, a dictionary, or a term pack.
    """
    if is_dictionary(model) or pack_folders(model):
        raise UsageError(
            f"{model} is a dictionary or term pack, and this needs a model; give the folder of one"
        )
    folder = find_model(model)
    if is_ensemble(folder):
        message = (
            f"{folder} is an ensemble, and this needs a single model; give one of those in "
            f"{folder / MEMBERS}"
        )
        raise UsageError(message, file=str(folder))
    return _model(folder, threads, None, device=device)


def _model(
    folder: Path,
    threads: int | None,
    types: _TypesFile,
    *,
    device: str | None = None,
) -> ModelPredictor:
    from fascicle.runtime.opening import open_export, open_typed, read_tokenizer

    manifest = read_manifest(folder)
    if manifest.runtime == "onnx" and types is None and not manifest.types_graph:
        return open_export(folder, manifest, threads, device=device)
    from fascicle.runtime.inputs import make_reader
    from fascicle.runtime.predictor import ModelPredictor

    check_files(folder, manifest)
    tokenizer = read_tokenizer(folder, manifest.tokenizer)
    if types is not None:
        check_open_types(folder, manifest)
    if manifest.runtime == "onnx":
        return open_typed(folder, manifest, tokenizer, types, threads, device=device)
    described = None if types is None else read_types(types)
    with needs_torch(threads):
        from fascicle.models.model import TorchScorer, find_device, load_model, with_types
    model = load_model(folder, manifest).to(find_device(device))
    if described is not None:
        with _at(types):
            manifest = with_types(model, manifest, types=described, tokenizer=tokenizer)
    scorer = TorchScorer(model=model)
    return ModelPredictor(manifest, tokenizer, scorer, read=make_reader(folder, manifest))


@contextmanager
def _at(types: _TypesFile) -> Iterator[None]:
    """Names the file of types in errors."""
    try:
        yield
    except RecipeError as error:
        raise RecipeError(str(error), at=str(types)) from None


def _ensemble(folder: Path, threads: int | None, device: str | None) -> EnsemblePredictor:
    """Opens the ensemble of a folder; small members are kept in memory, large ones opened anew
    for each call.
    """
    from fascicle.runtime.ensemble import EnsemblePredictor, check_members

    manifest = read_ensemble(folder)
    places = [folder / MEMBERS / name for name in manifest.members]
    judged = [folder / FILTER_FOLDER] if manifest.rule == "meta" else []
    _check_described([*places, *judged], manifest.described, folder)
    check_members(folder, device)
    size = sum(map(_bytes_in, [*places, *judged]))
    members: list[Callable[[], Annotator]] = [
        partial(load, place, threads=threads, device=None if is_pack(place) else device, link=())
        for place in places
    ]
    judges: list[Callable[[], MentionFilter]] = [
        partial(load_filter, place, threads=threads, device=device) for place in judged
    ]
    if size <= TOGETHER:
        members, judges = [cache(member) for member in members], [cache(judge) for judge in judges]
    return EnsemblePredictor(manifest, members, judge=judges[0] if judges else None)


def _check_described(places: Sequence[Path], hashes: Sequence[str], folder: Path) -> None:
    for place, expected in zip(places, hashes, strict=True):
        described = description_file(place)
        if not described.is_file() or file_sha256(described) != expected:
            raise ModelError(
                f"{place} is not what {ENSEMBLE} of {folder} describes; copy or make the ensemble "
                "again"
            )


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
