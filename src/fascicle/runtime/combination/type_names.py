"""Names of types in files of different tools: renaming them, and finding those that can never
agree.

A vote is for the exact name of a type, so ``Chemical`` of one tool and ``CHEMICAL`` of another are
never one mention.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import msgspec

from fascicle.core.document import Mention
from fascicle.core.wording import fold_name, name_similarity, near_hint, near_names
from fascicle.errors import InputError
from fascicle.runtime.combination.align import System

_SHOWN: Final = 5


@dataclass(frozen=True, kw_only=True)
class TypeMap:
    """Other names for types; a type that gets an empty name is left out.

    Attributes:
        everywhere: name -> name, for all systems.
        systems: name of a system -> the same for it alone; goes before ``everywhere``.
    """

    everywhere: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, system: str) -> dict[str, str]:
        """Returns the names of the types of one system."""
        return {**self.everywhere, **self.systems.get(system, {})}


def parse_map(values: Mapping[str, Any], *, origin: str) -> TypeMap:
    """Turns plain values into a `TypeMap`.

    Args:
        values: what a TOML file holds: ``other = "name"`` for all systems, and tables named after
            systems.
        origin: name of the file, for messages.

    Raises:
        InputError: a value that is neither a name nor a table of names, or nothing at all.
    """
    everywhere: dict[str, str] = {}
    systems: dict[str, dict[str, str]] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            systems[key] = {
                name: _name(new, f"{key}.{name}", origin) for name, new in value.items()
            }
        else:
            everywhere[key] = _name(value, key, origin)
    if not everywhere and not any(systems.values()):
        raise InputError(f'{origin} renames nothing; give lines such as "CHEMICAL" = "Chemical"')
    return TypeMap(everywhere=everywhere, systems=systems)


def rename(systems: Sequence[System], names: TypeMap) -> tuple[list[System], list[str]]:
    """Renames the types of systems.

    Args:
        systems: as they were read.
        names: new names.

    Returns:
        The systems with new names; and sentences about lines of the map that are about nothing
        here, for they may be misspelt, and about mentions that were left out.
    """
    types_of = {system.name: system.types() for system in systems}
    remarks = [
        f"the map has a table for {name!r}, which is none of the systems{near_hint(name, types_of)}"
        for name in sorted(names.systems.keys() - types_of.keys())
    ]
    tables = [(names.everywhere, set().union(*types_of.values()))]
    tables += [(table, types_of[name]) for name, table in names.systems.items() if name in types_of]
    remarks += [
        f"the map renames {name!r}, which is none of the types{near_hint(name, types)}"
        for table, types in tables
        for name in sorted(table.keys() - types)
    ]
    renamed = [rename_system(system, names.of(system.name)) for system in systems]
    left_out = _count(systems) - _count(renamed)
    if left_out:
        remarks.append(f"mentions left out, for the map gives their types no name: {left_out:,}")
    return renamed, remarks


def check_types(types: Mapping[str, Collection[str]], *, agree: bool = True) -> list[str]:
    """Refuses names of types that keep systems from ever agreeing.

    Args:
        types: system -> the types that it uses.
        agree: whether systems must agree on anything, as in a vote; a union may join systems of
            different types.

    Returns:
        Sentences about types that one system alone has, and about systems that share no type with
        any other, which is allowed unless they must agree.

    Raises:
        InputError: two systems use names that differ only in case or punctuation, or a system
            shares no type with any other and they must agree, or have similar names.
    """
    used = {system: set(names) for system, names in types.items() if names}
    _check_spelling(used)
    remarks = []
    # names of later systems are held against those of earlier ones
    for system, names in reversed(used.items()):
        rivals = set().union(*(theirs for other, theirs in used.items() if other != system))
        if not rivals or names <= rivals:
            continue
        if names & rivals:
            remarks.append(_unshared(system, names - rivals, used.keys() - {system}))
            continue
        pairs = [(name, near) for name in sorted(names) for near in near_names(name, rivals)[:1]]
        sentence = (
            f"{system} has the types {_enumerate(names)}, and no other system has any of them"
        )
        if pairs:
            raise InputError(
                f"{sentence}; {_how_to_map(*max(pairs, key=lambda pair: name_similarity(*pair)))}"
            )
        if agree:
            raise InputError(
                f"{sentence} (they have {_enumerate(rivals)}), so none of its mentions can agree "
                "with others; rename types with map=FILE, or leave it out"
            )
        remarks.append(sentence)
    return remarks


def check_filter_types(predicted: Collection[str], learnt: Collection[str]) -> list[str]:
    """Refuses names of types that a filter never learnt: the name is what it reads before the text.

    Args:
        predicted: types of what the filter is to judge.
        learnt: types that it learnt.

    Returns:
        Sentences about types that one side alone has, if any was predicted that the filter does not
        know.

    Raises:
        InputError: a name that differs from one that it knows only in case or punctuation, or none
            that it knows.
    """
    if set(predicted) <= set(learnt):
        return []
    return check_types({"the filter": learnt, "what it is to judge": predicted})


def _unshared(system: str, names: Collection[str], rivals: Collection[str]) -> str:
    who = f"{next(iter(rivals))} has not" if len(rivals) == 1 else "no other system has"
    what = "type" if len(names) == 1 else "types"
    return (
        f"{system} has the {what} {_enumerate(names)}, which {who}; if another name is meant, "
        "rename with map=FILE"
    )


def _check_spelling(used: Mapping[str, set[str]]) -> None:
    """Names that are one but for case and punctuation; where one system has both, they are two."""
    spelt: dict[str, dict[str, list[str]]] = {}  # folded -> name -> systems that have it
    for system, names in used.items():
        for name in sorted(names):
            spelt.setdefault(fold_name(name), {}).setdefault(name, []).append(system)
    for variants in spelt.values():
        for (name, systems), (other, theirs) in combinations(variants.items(), 2):
            if set(systems).isdisjoint(theirs):
                raise InputError(
                    f"{systems[0]} has the type {name!r} and {theirs[0]} has {other!r}, which "
                    "differ only in case or "
                    f"punctuation and never agree; {_how_to_map(other, name)}"
                )


def _how_to_map(name: str, other: str) -> str:
    return (
        f"if they are one, rename with map=FILE that has the line {_quoted(name)} = "
        f"{_quoted(other)}; if not, say distinct_types=True"
    )


def rename_system(system: System, names: Mapping[str, str]) -> System:
    """Renames the types of one system, see `rename_mentions`."""
    if not names.keys() & system.types():
        return system
    mentions = {
        identifier: rename_mentions(mentions, names)
        for identifier, mentions in system.mentions.items()
    }
    return replace(system, mentions=mentions)


def rename_mentions(mentions: Iterable[Mention], names: Mapping[str, str]) -> tuple[Mention, ...]:
    """Returns mentions under the new names of their types, without those whose name is empty.

    Args:
        mentions: in any order, which stays.
        names: type -> new name; other types keep their names.
    """
    return tuple(_typed(mention, names) for mention in mentions if names.get(mention.type, "-"))


def _typed(mention: Mention, names: Mapping[str, str]) -> Mention:
    name = names.get(mention.type, mention.type)
    return mention if name == mention.type else msgspec.structs.replace(mention, type=name)


def _count(systems: Sequence[System]) -> int:
    return sum(len(mentions) for system in systems for mentions in system.mentions.values())


def _name(value: object, key: str, origin: str) -> str:
    if not isinstance(value, str):
        raise InputError(
            f'{origin}: {key} = {value!r} is not allowed; give the new name in quotes, or "" to '
            "leave the type out"
        )
    return value


def _enumerate(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(map(repr, ordered[:_SHOWN])) + (", ..." if len(ordered) > _SHOWN else "")


def _quoted(name: str) -> str:
    """Quotes a string as a key or value of TOML, whose basic strings are escaped as those of
    JSON.
    """
    return json.dumps(name, ensure_ascii=False)
