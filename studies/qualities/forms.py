"""Other forms of names of HPO in abstracts, from the words for qualities alone.

usage: FASCICLE_DATA=... python -m studies.qualities.forms LIST.jsonl

For each name of HPO that begins or ends with a word for a quality, the list has the places of its
entity beside another word of the class, in the forms "elevated X", "increase in the X",
"X was raised" and "X rose". It knows nothing of packs. The script writes ``qualities-forms.json``
with the counts; it makes the list itself again from the data.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fascicle.core.lexicon import either, lexicon
from studies.common import write_result

_NAME = re.compile(r'^(?:name: (.+)|synonym: "([^"]+)")')
_MEASURES = frozenset({"level", "levels", "concentration", "concentrations", "value", "values"})
_OPTIONAL = _MEASURES | frozenset(
    {"of", "in", "the", "a", "mean", "serum", "plasma", "total", "his", "her", "their"}
)
_MEASURE = rf"(?: (?:{'|'.join(sorted(_MEASURES))}))?"
_WORD = re.compile(r"\w+(?:[-']\w+)*|[^\w\s]")
_ADJECTIVE = re.compile(r".+(?:ac|al|ar|atory|ic|ive|ous)")  # "cognitive" is no entity
_LEAST = 4  # characters of an entity
_LONGEST = 6  # words of an entity


class Form(NamedTuple):
    """Other form of a name in an abstract.

    Attributes:
        document: identifier of the abstract.
        quality: span of the word for the quality.
        entity: span of the entity.
        concepts: identifiers that have such a name.
        words: the text from the first to the last character.
    """

    document: str
    quality: tuple[int, int]
    entity: tuple[int, int]
    concepts: tuple[str, ...]
    words: str


def names_of_hpo(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the identifier and each name of concepts that are not obsolete."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        stanzas = stream.read().split("\n\n")
    for stanza in stanzas:
        lines = stanza.splitlines()
        if lines[:1] == ["[Term]"] and "is_obsolete: true" not in lines:
            curie = next(line[4:] for line in lines if line.startswith("id: "))
            for line in lines:
                if match := _NAME.match(line):
                    yield curie, (match[1] or match[2]).lower()


def entities(names: Iterator[tuple[str, str]]) -> Mapping[str, dict[str, set[str]]]:
    """Returns class -> entity -> concepts of which a name is a quality of this class and it."""
    words = lexicon("qualities")
    result: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    patterns = {}
    for name, lists in words["classes"].items():
        before = either({*lists["adjectives"], *lists["nouns"]})
        patterns[name] = re.compile(
            rf"(?:{before}) (?:(?:of|in) )?(?:the )?(.+?){_MEASURE}"
            rf"|(.+?){_MEASURE} (?:{before})"
        )
    for curie, name in names:
        for kind, pattern in patterns.items():
            entity = (match[1] or match[2]) if (match := pattern.fullmatch(name)) else ""
            is_plain = len(entity) >= _LEAST and re.fullmatch(r"[\w -]+", entity)
            if is_plain and not _ADJECTIVE.fullmatch(entity):
                result[kind][entity].add(curie)
    return result


class _Words(NamedTuple):
    """Words for the qualities of a class.

    Attributes:
        adjectives: stand before the entity, or behind it and "was".
        nouns: stand before "of" or "in" and the entity, or right behind it.
        verbs: stand behind the entity.
        entities: of the names of the class, with their concepts.
    """

    adjectives: frozenset[str]
    nouns: frozenset[str]
    verbs: frozenset[str]
    entities: Mapping[str, set[str]]

    def before(self, words: list[str], at: int) -> tuple[int, int] | None:
        """Returns first and last word of the entity behind a quality, if there is one."""
        start = at + 1
        has_preposition = words[start : start + 1] in (["of"], ["in"])
        if words[at] not in self.adjectives and not has_preposition:
            return None
        for first in range(start, start + 4):
            if span := self._longest(words, range(first + _LONGEST, first, -1), first):
                return span
            if words[first : first + 1] == [] or words[first] not in _OPTIONAL:
                return None
        return None

    def _longest(self, words: list[str], ends: range, first: int) -> tuple[int, int] | None:
        return next(
            ((first, end) for end in ends if " ".join(words[first:end]) in self.entities), None
        )

    def behind(self, words: list[str], at: int, linking: frozenset[str]) -> tuple[int, int] | None:
        """Returns first and last word of the entity before a quality, if there is one."""
        end, adverb = at, at and (words[at - 1].endswith("ly") or words[at - 1] in ("also", "not"))
        end -= bool(adverb)
        if end and words[end - 1] in linking and words[at] in self.adjectives:
            end -= 1
        elif words[at] not in self.verbs and (words[at] not in self.nouns or adverb):
            return None
        if end and words[end - 1] in _MEASURES:
            end -= 1
        starts = range(max(0, end - _LONGEST), end)
        return next(
            ((first, end) for first in starts if " ".join(words[first:end]) in self.entities), None
        )


def find_forms(
    document: str, text: str, classes: Iterable[_Words], names: frozenset[str]
) -> Iterator[Form]:
    """Yields the other forms in a text."""
    places = [match.span() for match in _WORD.finditer(text.lower())]
    words = [text[start:end].lower() for start, end in places]
    linking = frozenset(lexicon("qualities")["words"]["linking"])
    for kind in classes:
        for at, word in enumerate(words):
            if word not in kind.adjectives and word not in kind.nouns and word not in kind.verbs:
                continue
            behind = kind.behind(words, at, linking)
            span = behind or (
                kind.before(words, at)
                if word not in kind.verbs - kind.adjectives - kind.nouns
                else None
            )
            if span and " ".join(words[min(at, span[0]) : max(at + 1, span[1])]) not in names:
                concepts = tuple(sorted(kind.entities[" ".join(words[slice(*span)])]))
                entity = (places[span[0]][0], places[span[1] - 1][1])
                whole = text[min(places[at][0], entity[0]) : max(places[at][1], entity[1])]
                yield Form(document, places[at], entity, concepts, whole)


def all_forms(data: Path) -> list[Form]:
    """Returns the list from the folder of the data."""
    rows = list(names_of_hpo(data / "onto-hpo" / "hp.obo.gz"))
    heads = entities(iter(rows))
    names = frozenset(name for _, name in rows)
    classes = [
        _Words(*(frozenset(lists[key]) for key in ("adjectives", "nouns", "verbs")), heads[name])
        for name, lists in lexicon("qualities")["classes"].items()
    ]
    result = []
    with gzip.open(data / "text-abstracts" / "abstracts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            result += find_forms(row["id"], row["abstract"], classes, names)
    return result


def main() -> None:
    """Writes the list and its counts."""
    forms = all_forms(Path(os.environ["FASCICLE_DATA"]))
    text = "".join(json.dumps(form._asdict()) + "\n" for form in forms)
    Path(sys.argv[1]).write_text(text, encoding="utf-8")
    counts = Counter(form.words.lower() for form in forms)
    write_result(
        "qualities-forms",
        {
            "forms": len(forms),
            "abstracts": len({form.document for form in forms}),
            "most frequent": dict(counts.most_common(20)),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        },
    )


if __name__ == "__main__":
    main()
