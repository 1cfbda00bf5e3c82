"""Settings of what a model reads: its tokenizer, the features of units (``[inputs]``), and names
of term packs.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from fascicle.settings.base import FileName, Name, Natural, Settings, refuse_duplicates

RULE: Final = "three-casings"  # matching rule for names of a dictionary
PACK_RULE: Final = "pack"  # matching rule of a term pack, by its keys and priors
SHAPES: Final = "shapes@1"  # version of the case patterns of ``text/inputs.py``
MOST_TYPES: Final = 64  # most types of all dictionaries of a model: each takes time for every unit


class InputSettings(Settings, frozen=True, kw_only=True):
    """What the head reads of each unit beside the states of the encoder.

    A unit inside a name of a dictionary gets a learnt vector of the type and the place in the name
    (first, inner, last, whole), and each unit one of its case pattern. They are added to the state
    of the unit and start at zero.

    Attributes:
        dictionaries: files of names, ``type TAB name`` in each row, packed with gzip or not. Names
            match as they are written, in capitals and in lower case, but no English function word
            alone. Or folders of term packs, whose names match as packs find them. The model folder
            keeps a copy of what is needed to find the names.
        shape: whether the case pattern of the source text is read, such as capitals, or digits
            among letters.
        dropout: probability that a window of training is read without the dictionaries, and without
            the patterns.
        rate: learning rate of the vectors, as a multiple of that of the head. They start at zero,
            and a short training at the rate of the head hardly moves them.
    """

    dictionaries: tuple[Name, ...] = ()
    shape: bool = False
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.3
    rate: Annotated[float, Meta(gt=0.0, le=1e4)] = 20.0

    def __post_init__(self) -> None:
        """Refuses a table without content, and one dictionary twice."""
        if not self.dictionaries and not self.shape:
            raise ValueError(
                "the table names no inputs: name dictionaries, set shape = true, or remove it"
            )
        refuse_duplicates(self.dictionaries, "dictionaries")

    def files(self) -> dict[str, str]:
        """Returns the paths of the dictionaries by their keys."""
        return {f"dictionaries.{at}": path for at, path in enumerate(self.dictionaries)}


class DictionaryFacts(Settings, frozen=True, kw_only=True):
    """A dictionary in a model folder.

    Attributes:
        name: of the file that it was read from, for people; of a term pack, its name and hash.
        sha256: of that file; of a term pack, of its manifest.
        file: name of the copy in the folder, whose hash is among the files of the manifest. Of a
            term pack it is the manifest, and the names of its other files begin with it and a dot.
        names: rows of the copy.
        rule: by which its names match, see ``terms/dictionary.py``; ``"pack"`` for those of a term
            pack.
    """

    name: str
    sha256: str
    file: FileName
    names: Natural
    rule: str = RULE

    def has(self, file: str) -> bool:
        """True if a file of the model folder is part of the copy."""
        return file == self.file or (self.rule == PACK_RULE and file.startswith(f"{self.file}."))


class InputFacts(Settings, frozen=True, kw_only=True):
    """What a model reads of units, in the order of its vectors.

    Attributes:
        dictionaries: in the order of the recipe.
        types: of all of them, sorted; each has a vector for each place in a name.
        shapes: version of the case patterns; empty if none are read.
        dropout: see ``InputSettings``; of training alone.
        rate: the same.
    """

    dictionaries: tuple[DictionaryFacts, ...] = ()
    types: tuple[str, ...] = ()
    shapes: str = ""
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.0
    rate: Annotated[float, Meta(gt=0.0, le=1e4)] = 1.0

    def __post_init__(self) -> None:
        """Refuses types without a dictionary, dictionaries without a type, and facts without any
        feature.
        """
        if bool(self.types) != bool(self.dictionaries):
            raise ValueError("the types are not those of the dictionaries")
        if not self.types and not self.shapes:
            raise ValueError("the inputs are neither dictionaries nor case patterns")


class TokenizerFacts(Settings, frozen=True, kw_only=True):
    """What the reader of text relies on; checked against ``tokenizer.json`` on loading.

    Attributes:
        sha256: of the tokenizer file.
        prefix: ids of special tokens before the pieces of a window.
        suffix: ids of special tokens after them.
        pad: id that fills a batch.
    """

    sha256: str
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int


Overlaps = Literal["longest", "nested", "all"]
Hyphens = Literal["open", "before", "closed"]
Case = Literal["auto", "exact", "any"]
"""In which capitals a name of a user's own list is found. ``auto``: in any, but a symbol only as it
is written, see
`fascicle.terms.dictionary`; ``exact``: every name only as it is written; ``any``: every name in
any."""


class RecognitionSettings(Settings, frozen=True, kw_only=True):
    """How names of packs become mentions.

    Attributes:
        overlaps: ``"longest"``: of names that overlap, the longest, with one type; ``"nested"``:
            also those inside it, and all types; ``"all"``: also those that cross.
        threshold: a type whose names have a lower sum of priors at a place is no mention there.
        case: whether the case policies of names count.
        hyphens: ``"open"``: a name may begin and end at a hyphen within a word, as in ``anti-EGFR``
            and ``ALK-positive``; ``"before"``: it may only end there; ``"closed"``: neither.
        inside_words: whether a name may begin or end inside a word, as ``IL`` in ``IL2``.
        types: the types that are looked for; all of a pack by default.
        links: whether a mention is linked whose best tier of names belongs to one concept.
    """

    overlaps: Overlaps = "longest"
    threshold: float = 0.3
    case: bool = True
    hyphens: Hyphens = "open"
    inside_words: bool = False
    types: tuple[Name, ...] = ()
    links: bool = True

    def __post_init__(self) -> None:
        """Refuses a threshold that is no probability.

        Raises:
            ValueError: a threshold outside 0 to 1.
        """
        if not 0.0 <= self.threshold <= 1.0:
            raise ValueError(
                f"threshold = {self.threshold!r} is not allowed; give a probability from 0 to 1"
            )
