"""Makes the table of prefixes and addresses of vocabularies from the data of the Bioregistry, which are CC0.

usage: python -m studies.packs.prefixes bioregistry.json VERSION

The file is ``bioregistry/data/bioregistry.json`` of the package ``bioregistry``. Written:
``src/fascicle/terms/registry.tsv``.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Final

from studies.common import ROOT

TABLE: Final = ROOT / "src" / "fascicle" / "terms" / "registry.tsv"
_PROVIDERS: Final = ("miriam", "obofoundry", "ols", "prefixcommons", "uniprot", "go", "wikidata")
_SEVERAL: Final = ("identifiers.org/", "registry.identifiers.org/", "bioregistry.io/", "n2t.net/")  # of all


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("registry", type=Path)
    parser.add_argument("version")
    args = parser.parse_args()
    entries: dict[str, dict[str, Any]] = json.loads(args.registry.read_text(encoding="utf-8"))
    found = {prefix: _addresses(entry) for prefix, entry in entries.items() if prefix != "obo"}
    owners = defaultdict[str, list[str]](list)
    for prefix, several in found.items():
        for address in several:
            owners[address].append(prefix)
    spellings = Counter(one.lower() for prefix, entry in entries.items() for one in {prefix, *_others(entry)})
    lines = [
        "# Each row: the one spelling of a prefix, a TAB, others by commas, a TAB, beginnings of addresses by blanks.",
        f"# Made from the Bioregistry {args.version} (CC0-1.0, bioregistry.io): python -m studies.packs.prefixes",
    ]
    for prefix, entry in sorted(entries.items()):
        name = (entry.get("obofoundry") or {}).get("preferred_prefix") or entry.get("preferred_prefix") or prefix
        others = sorted({prefix, *(one for one in _others(entry) if spellings[one.lower()] == 1)} - {name})
        addresses = sorted(address for address in found.get(prefix, ()) if _owner(address, owners[address]) == prefix)
        lines.append("\t".join((name, ", ".join(others), " ".join(addresses))))
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _owner(address: str, prefixes: list[str]) -> str:
    """The prefix of an address; of several the one that it names, else none."""
    named = [one for one in prefixes if f"/{one}/" in address] if len(prefixes) > 1 else prefixes
    return named[0] if len(named) == 1 else ""


def _others(entry: dict[str, Any]) -> set[str]:
    preferred = (entry.get("preferred_prefix"), (entry.get("obofoundry") or {}).get("preferred_prefix"))
    return {one for one in (*(entry.get("synonyms") or ()), *preferred) if one and not set(one) & set("\t, ")}


def _addresses(entry: dict[str, Any]) -> set[str]:
    """The beginnings of addresses, without the scheme and ``www.``."""
    formats = [entry.get("uri_format"), entry.get("rdf_uri_format")]
    formats += [(entry.get(one) or {}).get("uri_format") for one in _PROVIDERS]
    formats += [one.get("uri_format") for one in entry.get("providers") or ()]
    bare = {one.partition("://")[2].removeprefix("www.") for one in formats if one and one.startswith("http")}
    return {one[:-2] for one in bare if one.endswith("$1") and "$1" not in one[:-2] and not one.startswith(_SEVERAL)}


if __name__ == "__main__":
    main()
