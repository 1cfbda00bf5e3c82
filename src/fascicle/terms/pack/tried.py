"""Packs with further rules of curation that are only tried.

Rules change names with the keys of their surfaces, and no others. So only these names are built
again, which takes a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import UsageError
from fascicle.terms.curation import (
    Curation,
    CurationRule,
    NameRow,
)
from fascicle.terms.keys.key import NORMALISER, KeyReader, TokenArrays, key
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import ConceptSets, Strings
from fascicle.terms.pack.builder import BuildSettings, Components, NameRules, build
from fascicle.terms.pack.export import KeptRules, NamesOfKeys, pack_sources
from fascicle.terms.pack.layout import Names
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import label_keys, make_sets
from fascicle.terms.rule_problems import RuleProblem, find_rule_problems
from fascicle.terms.scanning.building import build_table
from fascicle.terms.scanning.table import Hits, NameTable, join_hits

TryOn = Callable[[Pack, tuple[CurationRule, ...]], Pack]  # see `try_on_pack`
_NAME: Final = "tried"
_MEMORY: Final = 64  # MiB for sorting a few names
_LONGEST: Final = 100_000  # characters of a name; those of the pack stay


def real_parts(curation: NameRules | None) -> Components:
    """Returns the components of every real build."""
    return Components(normaliser=NORMALISER, keys=KeyReader(), table=build_table, curation=curation)


def build_settings(pack: Pack, *, name: str, memory: int) -> BuildSettings:
    """Returns the settings of a build from a pack, with the choices of that pack."""
    return BuildSettings(
        name=name,
        memory=memory,
        longest=_LONGEST,
        careful=pack.manifest.careful is not False,
        vocabularies=pack.manifest.vocabularies or (),
        qualities=layout.QUALITIES in pack.manifest.files,
    )


def rules_by_key(rules: Sequence[CurationRule]) -> Curation:
    """Returns rules whose surfaces are compared as in packs."""
    return Curation(rules, key=lambda surface: key(surface, 2))


def rule_problems(pack: Pack, rules: Curation) -> list[RuleProblem]:
    """Returns the problems of further rules for a pack; see `find_rule_problems`."""
    names = _names_of_keys(pack, rules, rule_keys(pack, rules))
    terms = [pack.term(pack.active, row) for row in names.active.tolist()]
    terms += [pack.term(pack.silent, row) for row in names.silent.tolist()]
    rows = [
        NameRow(term.surface, source, term.concept) for term in terms for source in term.sources
    ]
    return find_rule_problems(
        [row for row in rows if not pack.concept(row.concept).obsolete],
        rules,
        is_concept=lambda curie: pack.concept_rows([curie])[0] >= 0,
        sources=[facts.name for facts in pack.manifest.sources],
    )


class TriedPack(Pack):
    """Pack as it would be with further rules, for finding names in texts, and for nothing else.

    Attributes:
        keys: of all names that the rules can change.
        few: pack of the names that would have these keys; ``None`` if there are none.
        everywhere: whether the rules change sets of concepts, and so links of other names.
    """

    def __init__(self, pack: Pack, rules: Curation) -> None:
        """Builds the names that the rules can change.

        Args:
            pack: the pack that is open.
            rules: that follow those of the pack.

        Raises:
            UsageError: a pack with composed names.
        """
        if layout.QUALITIES in pack.manifest.files:
            raise UsageError(
                f"rules cannot be tried on {pack.full_name}, which has composed names (qualities "
                "= true); build a pack with the rules, and compare both with fascicle index diff"
            )
        self.__dict__.update(pack.__dict__)
        self.keys = rule_keys(pack, rules)
        self.few: Pack | None = None
        self.everywhere = False
        rows = pack.active.keys.find(self.keys)
        self._replaced = rows[rows >= 0]
        self._base = NameTable.open(pack.table)
        self._more: NameTable | None = None
        only = _names_of_keys(pack, rules, self.keys)
        if len(only.concepts):
            self._build(pack, rules, only)

    def _build(self, pack: Pack, rules: Curation, only: NamesOfKeys) -> None:
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:
            build(
                pack_sources(pack, rules, only=only),
                build_settings(pack, name=_NAME, memory=_MEMORY),
                Path(place) / _NAME,
                parts=real_parts(KeptRules(pack, rules)),
            )
            self.few = few = Pack.open(Path(place) / _NAME)
            self._more = NameTable.open(few.table)
        concepts = pack.concept_rows(few.curies.strings.take(np.arange(len(few))))
        self.active = _JoinedNames(pack.active, few.active, concepts)
        self._set_labels(pack, few, concepts)

    def _set_labels(self, pack: Pack, few: Pack, concepts: Ints) -> None:
        """Sets the labels of concepts without one, and the sets if a label comes or goes."""
        new = few.label_rows < layout.LIMIT
        new &= pack.label_rows[concepts] == layout.NONE
        self.label_rows = pack.label_rows.copy()
        self.label_rows[concepts[new]] = few.label_rows[new] + len(pack.active.surfaces)
        before = label_keys(pack)
        after = before.copy()
        labels = self.labels_at(concepts)
        keys = set(self.keys)
        for row, label, at in zip(concepts.tolist(), labels, KeyReader()(labels), strict=True):
            if at in keys:
                after[row] = self._key_row(pack, few, label, at, row)
        if not np.array_equal(after < 0, before < 0):
            self.everywhere = True
            self.leads = ConceptSets(make_sets(pack, after).leads.astype(np.uint32))

    def _key_row(self, pack: Pack, few: Pack, label: str, at: str, row: int) -> int:
        """Returns the row of the key of a label, or -1 if it is kept out now."""
        names = few.names(pack.curie(row))
        if not any(name.surface == label and not name.silent for name in names):
            return -1
        return len(pack.active.starts) - 1 + int(few.active.keys.find([at])[0])

    def open_table(self) -> NameTable:
        """Returns the table by which texts are scanned for the names."""
        return (
            self._base
            if self._more is None
            else _JoinedTable(self._base, self._more, self._replaced)
        )

    def touched(self, tokens: TokenArrays, *, inside_words: bool = False) -> Ints:
        """Returns the first characters of the names that the rules can change, before and after
        them.
        """
        before = self._base.find(tokens, inside_words=inside_words)
        first = before.first[np.isin(before.rows, self._replaced)]
        if self._more is not None:
            first = np.append(first, self._more.find(tokens, inside_words=inside_words).first)
        places: Ints = np.sort(tokens.starts[first])
        return places


def try_on_pack(pack: Pack, rules: tuple[CurationRule, ...]) -> Pack:
    """Returns the pack as it would be with further rules; without rules, itself."""
    return TriedPack(pack, rules_by_key(rules)) if rules else pack


def rule_keys(pack: Pack, rules: Curation) -> list[str]:
    """Returns the keys of all names that rules can change, each once."""

    def surfaces() -> Iterator[str]:
        for rule in rules.rules:
            if rule.surface:
                yield rule.surface
            elif pack.concept_rows([rule.concept])[0] >= 0:
                yield from (term.surface for term in pack.names(rule.concept))

    return sorted({*KeyReader()(list(dict.fromkeys(surfaces())))} - {""})


def _names_of_keys(pack: Pack, rules: Curation, keys: Sequence[str]) -> NamesOfKeys:
    active, silent = pack.active.of_keys(keys)[1], pack.silent.of_keys(keys)[1]
    rule_concepts = pack.concept_rows([rule.concept for rule in rules.rules if rule.concept])
    concepts = [
        pack.active.concept[active],
        pack.silent.concept[silent],
        rule_concepts[rule_concepts >= 0],
    ]
    return NamesOfKeys(np.unique(np.concatenate(concepts)).astype(np.int64), active, silent)


class _JoinedNames(Names):
    """Names of a pack, with more names behind them; it has what finding names needs."""

    def __init__(self, names: Names, more: Names, concepts: Ints) -> None:
        self.__dict__.update(names.__dict__)
        surfaces, further = names.surfaces, more.surfaces
        content = np.append(surfaces.content, further.content)
        offsets = further.offsets[1:].astype(np.int64) + len(surfaces.content)
        self.surfaces = Strings(content, np.append(surfaces.offsets, offsets))
        self.starts = np.append(names.starts, more.starts[1:].astype(np.int64) + len(names))
        self.surface = np.append(names.surface, more.surface.astype(np.int64) + len(surfaces))
        self.concept = np.append(names.concept, concepts[more.concept])
        self.flags, self.prior = (
            np.append(names.flags, more.flags),
            np.append(names.prior, more.prior),
        )


class _JoinedTable(NameTable):
    """Table of names without some of them, with those of another table behind them."""

    def __init__(self, names: NameTable, more: NameTable, replaced: Ints) -> None:
        self.__dict__.update(names.__dict__)
        self._names, self._more, self._replaced = names, more, replaced

    def find(self, tokens: TokenArrays, *, inside_words: bool = False) -> Hits:
        """Returns every place of a name; see `NameTable.find`."""
        hits = self._names.find(tokens, inside_words=inside_words)
        more = self._more.find(tokens, inside_words=inside_words)
        stays = ~np.isin(hits.rows, self._replaced)
        staying = Hits(*(column[stays] for column in hits))
        return join_hits([staying, more._replace(rows=more.rows + len(self._names))])
