"""Settings of corpora: paths of annotated documents, their reading, and the use of their gold; one
corpus or several.

Settings of raw text: files, selection of documents, and their windows.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from fascicle.settings.base import (
    LARGEST,
    Name,
    Names,
    Natural,
    Positive,
    Settings,
    Share,
    refuse_duplicates,
)

_Files = Name | Names


class CorpusTypes(Settings, frozen=True, kw_only=True):
    """Which types of a corpus are used, and under which names, in train, dev and test.

    All labels are those of the files. A label that no gold mention of the corpus has is refused.

    Attributes:
        keep: labels whose mentions are gold; empty for all.
        drop: labels whose mentions are left out; give at most one of ``keep`` and ``drop``.
        rename: label -> new name of its mentions. Several labels may get one name.
    """

    keep: tuple[Name, ...] = ()
    drop: tuple[Name, ...] = ()
    rename: dict[Name, Name] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses lists that exclude each other, labels given twice, and names for labels left
        out.
        """
        if self.keep and self.drop:
            raise ValueError(
                "keep and drop exclude each other: name the labels to keep, or those to leave out"
            )
        if not (self.keep or self.drop or self.rename):
            raise ValueError("the table is empty: set keep, drop or rename, or remove it")
        refuse_duplicates(self.keep, "keep")
        refuse_duplicates(self.drop, "drop")
        unused = sorted(label for label in self.rename if not self.keeps(label))
        if unused:
            raise ValueError(
                f"rename names {unused[0]!r}, whose mentions are left out: remove one of the two"
            )

    def keeps(self, label: str) -> bool:
        """True if the mentions of a label are gold."""
        return label not in self.drop and (not self.keep or label in self.keep)


class ReadingOfCorpus(Settings, frozen=True, kw_only=True):
    """How the files of a corpus are read, and which of their gold is used.

    Attributes:
        format: name of a format, or ``"auto"``.
        documents: what a document of a column file is: ``"sentence"``, ``"docstart"``, ``"file"``
            (all sentences in one document, so that neighbours can be packed) or ``"auto"``.
        where: ``field=value`` keeps only the records of a JSON Lines file with that value;
            ``{part}`` in it becomes ``train``, ``dev`` or ``test``; empty for all.
        columns: columns of a column file, from 0, the token first, then the tags: ``"0,3"``,
            ``"0,1,2"`` (layers), ``"0,all"``; empty for the first and the last.
        shape: shape of JSON records, a name of ``formats/shapes.py`` or ``"auto"``.
        fields: changes to that shape, each ``"NAME=VALUE"``.
        encoding: encoding of the files.
        labels: names of tags of JSON records that are numbers, in their order: ``"O,B-PER,I-PER"``,
            or a ``.json`` file that tells them; by default the file ``dataset_info.json`` beside
            the records.
        bare_tags: whether tags are types without a prefix (``person``, ``O``).
        exclude: exclusion list of ``fascicle corpus check``. Training leaves out the documents of
            train that it names.
        types: which types are used, and under which names; without this table all, with their own
            names.
    """

    format: Name = "auto"
    documents: Literal["auto", "sentence", "docstart", "file"] = "auto"
    where: str = ""
    columns: str = ""
    shape: Name = "auto"
    fields: tuple[str, ...] = ()
    encoding: Name = "utf-8"
    labels: Name | UnsetType = UNSET  # not written if unset, as before these keys existed
    bare_tags: bool | UnsetType = UNSET
    exclude: Name | UnsetType = UNSET
    types: CorpusTypes | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Normalises values that mean the default."""
        if self.bare_tags is False:
            msgspec.structs.force_setattr(self, "bare_tags", UNSET)

    def read_beside(self) -> dict[str, str]:
        """Returns the paths of additional files that are read with the documents, by their keys."""
        paths = {"exclude": self.exclude or ""}
        if self.labels and self.labels.lower().endswith(".json"):
            paths["labels"] = self.labels
        return {key: path for key, path in paths.items() if path}


class CorpusSettings(ReadingOfCorpus, frozen=True, kw_only=True):
    """Where the documents are and how to read them.

    Attributes:
        train: file or folder of training documents; ``$NAME`` is an environment variable.
        dev: file or folder of development documents, on which every choice is made.
        test: file or folder of test documents, scored once at the end; empty for none.
    """

    train: Name
    dev: Name
    test: str = ""

    def files(self) -> dict[str, str]:
        """Returns the paths of its data, each by its key in a recipe, e.g. ``"corpus.train"``."""
        paths = {f"corpus.{part}": getattr(self, part) for part in ("train", "dev", "test")}
        paths |= {f"corpus.{key}": path for key, path in self.read_beside().items()}
        return {key: path for key, path in paths.items() if path}


class PartSettings(ReadingOfCorpus, frozen=True, kw_only=True):
    """One of several corpora that a model is trained on together, each with types of its own.

    Attributes:
        train: file or folder of training documents, or a list of them; ``$NAME`` is an environment
            variable.
        weak_labels: file of ``fascicle label`` with what a teacher says of ``train``, in place of
            gold; the types of the file are the labels that ``types`` is about. ``dev`` has gold all
            the same.
        soft: teach the probabilities of the teacher, not only its answers; for the family
            ``multilabel``.
        dev: file or folder of development documents; empty: this corpus has no say in what is
            chosen.
        annotates: types that people marked in this corpus, under the names of the model. Of all
            other types of the model nothing is known in its text, so they take no part in the loss
            and in its scores.
        weight: how often its sentences are drawn, beside what its size says; see ``power`` of
            ``[mixture]``.
    """

    train: _Files
    weak_labels: Name | UnsetType = UNSET  # not written if unset, see above
    soft: bool | UnsetType = UNSET  # the same
    dev: str = ""
    annotates: Names
    weight: Annotated[float, Meta(gt=0.0, le=1e3)] = 1.0

    def __post_init__(self) -> None:
        """Checks the settings of a corpus; refuses duplicates, and probabilities without a
        teacher.
        """
        super().__post_init__()
        if self.soft is False:
            msgspec.structs.force_setattr(self, "soft", UNSET)
        if self.soft and not self.weak_labels:
            raise ValueError(
                "soft = true is about the probabilities of a teacher: name their file as "
                "weak_labels"
            )
        refuse_duplicates(self.trains, "train")
        refuse_duplicates(self.annotates, "annotates")

    @property
    def trains(self) -> tuple[str, ...]:
        """Paths of the training files."""
        return (self.train,) if isinstance(self.train, str) else self.train

    @property
    def label_file(self) -> str:
        """Path of the file of labels; empty for a part with gold."""
        return self.weak_labels or ""

    def files(self, place: str) -> dict[str, str]:
        """Returns the paths of its data, each by its key in a recipe, e.g. ``"parts.NAME.train"``.

        Args:
            place: key of its table.
        """
        trains = {f"{place}.train.{number}": path for number, path in enumerate(self.trains)}
        trains = {f"{place}.train": self.train} if isinstance(self.train, str) else trains
        paths = trains | {f"{place}.weak_labels": self.label_file, f"{place}.dev": self.dev}
        paths |= {f"{place}.{key}": path for key, path in self.read_beside().items()}
        return {key: path for key, path in paths.items() if path}


class MixtureSettings(Settings, frozen=True, kw_only=True):
    """How several corpora are trained together.

    Attributes:
        power: a corpus of n windows is drawn in proportion to its weight times n to this power: 1
            by size, 0 all equally often.
        windows: windows in an epoch: sentences, unless several are packed or one is too long; 0 for
            as many as all corpora have.
        unannotated: labels of types that a corpus does not annotate are ``"unknown"``. ``"absent"``
            teaches that its text mentions none, which is wrong and for comparison only.
        guideline: whether a learned vector tells the network in training whose guideline a text
            follows. At inference there is none.
        guideline_dropout: share of the windows that are trained without this vector, as inference
            reads.
    """

    power: Share = 1.0
    windows: Natural = 0
    unannotated: Literal["unknown", "absent"] = "unknown"
    guideline: bool = False
    guideline_dropout: Annotated[float, Meta(gt=0.0, lt=1.0)] = 0.5


class TextSettings(Settings, frozen=True, kw_only=True):
    """Raw text to learn from.

    Attributes:
        files: files in any format that holds texts, packed with gzip or not, and folders of
            ``*.txt`` files; ``$NAME`` is an environment variable.
        format: name of a format, or ``"auto"``.
        encoding: encoding of the files, or ``"auto"``.
        shape: shape of JSON records, a name of ``formats/shapes.py`` or ``"auto"``.
        fields: changes to that shape, each ``"NAME=VALUE"``.
        keep: only documents with these facts are read: a field of their records and the values that
            are allowed, with ``*``, ``?`` and ``[...]`` as in names of files, e.g. ``{license =
            ["CC0", "CC BY [0-9]*"]}``.
        exclude: exclusion list of ``fascicle corpus check``: its documents are left out.
        pieces: pieces to read at most; 0 for all. A sample of the documents, drawn by the seed, has
            no more than this.
        window: pieces in a window, special tokens included. Windows are packed: the next document
            follows in the same window, after a separator, and no word is cut.
        held_out: share of the documents that nothing is learned from, chosen by the hash of their
            ids.
        held_out_pieces: pieces of them that are used at most.
    """

    files: Names
    format: Name = "auto"
    encoding: Name = "auto"
    shape: Name = "auto"
    fields: tuple[str, ...] = ()
    keep: dict[str, tuple[Name, ...]] = msgspec.field(default_factory=dict)
    exclude: str = ""
    pieces: Natural = 0
    window: Annotated[int, Meta(ge=8, le=LARGEST)] = 128
    held_out: Share = 0.01
    held_out_pieces: Positive = 50_000

    def __post_init__(self) -> None:
        """Refuses duplicate files, and a fact without a value."""
        refuse_duplicates(self.files, "files")
        bare = [name for name, values in self.keep.items() if not values]
        if bare:
            raise ValueError(f"keep.{bare[0]} allows no value: give one, or leave it out")

    def paths(self) -> dict[str, str]:
        """Returns the paths of its data, each by its key in a recipe, e.g. ``"text.files.0"``."""
        paths = {f"text.files.{at}": path for at, path in enumerate(self.files)}
        return paths | ({"text.exclude": self.exclude} if self.exclude else {})
