"""What rules of curation would change in texts is what a pack with the rules then changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.loading import load
from fascicle.terms.curation import CASES, Action, CurationRule, format_rules, read_rules
from fascicle.terms.pack.differences import PackChange, find_tried_changes, mention_changes
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tried import TriedPack, rule_problems, rules_by_key
from fascicle.terms.pack.why import explain_name, reason_not_found
from fascicle.verbs.tasks.index import diff
from fascicle.verbs.tasks.index_build import build_pack as build_sources
from fascicle.verbs.tasks.index_build import extend

Found = set[tuple[str, str, str, str, str]]


SOURCES = """
name = "small@1"
careful = true
curation = ["rules.tsv"]
[sources.first]
path = "first.obo"
reader = "obo"
type = "Disease"
[sources.second]
path = "second.tsv"
reader = "table"
columns = { id = "id", name = "name", kind = "kind", type = "type" }
types = { Disease = "Disease", Gene = "Gene" }
"""
FIRST = """format-version: 1.2

[Term]
id: A:1
name: lung cancer
synonym: "LC" EXACT []
synonym: "pulmonary growth" RELATED []
xref: B:1

[Term]
id: A:2
name: cancer
synonym: "growth" BROAD []
property_value: skos:exactMatch C:9

[Term]
id: A:3
name: grey fever
is_obsolete: true
replaced_by: A:2

[Term]
id: A:4
name: seizures
"""
SECOND = """id	name	kind	type
B:1	lung cancers	label	Disease
B:1	LC	abbreviation	Disease
B:2	cancer	label	Disease
B:2	Growth	exact	Disease
B:3	CAT	label	Gene
B:3	growth	exact	Gene
B:4	Cat	label	Gene
B:4	was	exact	Gene
B:5	ACE2	label	Gene
B:5	ACE 2	exact	Gene
"""
RULES = "action\tsurface\tsource\tconcept\tcase\ndrop\tgrowth\tfirst\n"
RULES += "add\tbad cough\t\tA:4\t\nner_off\tLC\t\t\t\ncase\tCAT\t\t\texact\n"


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    home = tmp_path_factory.mktemp("tried")
    for name, text in (("sources.toml", SOURCES), ("first.obo", FIRST), ("second.tsv", SECOND)):
        (home / name).write_text(text)
    (home / "rules.tsv").write_text(RULES)
    build_sources(home / "sources.toml", home / "pack")
    return Pack.open(home / "pack")


def texts_of(pack: Pack) -> list[Document]:
    """Texts that have every name, alone and beside others."""
    names = sorted(
        {term.surface for row in range(len(pack)) for term in pack.names(pack.curie(row))}
    )
    alone = [Document(id=str(at), text=f"We saw {name} here.") for at, name in enumerate(names)]
    every = ", ".join(["the quick fever", "unheard of", "lc", "cats", *names])
    return [*alone, Document(id="every", text=every), Document(id="none", text="Nothing at all.")]


def seen(folder: Path, documents: list[Document]) -> Found:
    """What ``annotate`` finds with a pack."""
    return {
        (document.id, f"{one.start}-{one.end}", one.type, *names)
        for document, patch in zip(documents, load(folder).predict(documents), strict=True)
        for one in patch.add
        for names in [(link.curie, link.name) for link in one.links] or [("", "")]
    }


def side(change: PackChange, text: str) -> tuple[str, str, str, str, str]:
    kind, _, link = text.partition("; ")
    curie, _, name = ("", "", "") if link == "not linked" else link.partition(" ")
    return change.document, change.place, kind, curie, name


def promised(
    pack: Pack, rules: list[CurationRule], documents: list[Document]
) -> tuple[Found, Found]:
    changes = list(mention_changes(pack, TriedPack(pack, rules_by_key(rules)), documents))
    gone = {side(one, one.before) for one in changes if one.before}
    return gone, {side(one, one.after) for one in changes if one.after}


def kept(pack: Pack, rules: list[CurationRule], place: Path) -> Path:
    place.mkdir()
    (place / "rules.tsv").write_text(format_rules(rules))
    extend(pack.folder, place / "rules.tsv", place / "with-rules")
    return place / "with-rules"


def built_again(pack: Pack, rules: list[CurationRule], place: Path) -> Path:
    """The pack from its vocabularies, with the rules behind its own."""
    (place / "more.tsv").write_text(format_rules(rules))
    text = SOURCES.replace('["rules.tsv"]', f'["rules.tsv", "{place / "more.tsv"}"]')
    sources = pack.folder.parent / f"{place.name}-{len(rules)}.toml"
    sources.write_text(text)
    build_sources(sources, place / "again")
    return place / "again"


def a_rule(pack: Pack, choose: random.Random) -> CurationRule:
    names = [term for row in range(len(pack)) for term in pack.names(pack.curie(row))]
    action: Action = choose.choice(["drop", "ner_off", "case", "add", "prefer", "block"])
    name, other = choose.choice(names), choose.choice(names)
    surface = choose.choice([name.surface, name.surface, "the quick fever", "unheard of"])
    concept = choose.choice([name.concept, other.concept]) if action in ("add", "prefer") else ""
    if action == "block" and choose.random() < 0.5:
        surface, concept = "", name.concept
    case = choose.choice(CASES) if action in ("case", "add") else ""
    return CurationRule(action=action, surface=surface, concept=concept, case=case)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_promised_is_what_annotate_then_finds(
    pack: Pack, tmp_path: Path, seed: int
) -> None:
    choose = random.Random(seed)
    rules = [a_rule(pack, choose) for _ in range(choose.choice([1, 1, 2, 5]))]
    documents = texts_of(pack)
    before = seen(pack.folder, documents)
    after = seen(kept(pack, rules, tmp_path / "kept"), documents)
    assert promised(pack, rules, documents) == (before - after, after - before)
    assert seen(built_again(pack, rules, tmp_path), documents) == after


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_two_hundred_rows_promise_what_annotate_then_finds(
    pack: Pack, tmp_path: Path, seed: int
) -> None:
    """Twenty rows of each seed, each row alone."""
    choose, documents = random.Random(seed), texts_of(pack)
    before = seen(pack.folder, documents)
    for number in range(20):
        rule = a_rule(pack, choose)
        after = seen(kept(pack, [rule], tmp_path / str(number)), documents)
        assert promised(pack, [rule], documents) == (before - after, after - before), rule


def test_a_label_that_is_dropped_changes_sets(pack: Pack, tmp_path: Path) -> None:
    rules = [CurationRule(action="drop", surface=pack.concept("A:1").label)]
    tried = TriedPack(pack, rules_by_key(rules))
    assert tried.everywhere
    built = Pack.open(kept(pack, rules, tmp_path / "kept"))
    assert tried.leads.column.tolist() == built.leads.column.tolist()


def test_a_change_has_its_words(pack: Pack) -> None:
    rules = [CurationRule(action="add", surface="grey mood", concept="A:1")]
    text = Document(id="a", text="She had a  grey mood\nall day.")
    tried = TriedPack(pack, rules_by_key(rules))
    (change,) = mention_changes(pack, tried, [text])
    assert (change.change, change.place) == ("added", "11-20")
    assert change.words == "She had a [grey mood] all day."
    (term,) = find_tried_changes(pack, tried)
    assert (term.change, term.surface, term.concept) == ("added", "grey mood", "A:1")


def test_rules_of_names_that_nobody_has_change_nothing(pack: Pack) -> None:
    rules = [CurationRule(action="drop", surface="no such name", place="rules.tsv, line 2")]
    tried = TriedPack(pack, rules_by_key(rules))
    assert not list(mention_changes(pack, tried, texts_of(pack)))
    (problem,) = rule_problems(pack, rules_by_key(rules))
    assert problem.problem == "dead"


def test_an_unknown_concept_is_named(pack: Pack) -> None:
    rules = rules_by_key([CurationRule(action="add", surface="grey mood", concept="A:99")])
    assert rule_problems(pack, rules)[0].problem == "unknown-concept"
    assert TriedPack(pack, rules).few is None


def test_later_rules_win_over_those_of_the_pack(pack: Pack, tmp_path: Path) -> None:
    label = pack.concept("A:4").label
    dropped = kept(pack, [CurationRule(action="drop", surface=label)], tmp_path / "first")
    again = [CurationRule(action="add", surface=label, concept="A:4")]
    documents = [Document(id="a", text=f"She had {label}.")]
    gone, new = promised(Pack.open(dropped), again, documents)
    assert not gone
    assert new
    assert {row[3] for row in new} == {row[3] for row in seen(pack.folder, documents)}
    restored = kept(Pack.open(dropped), again, tmp_path / "second")
    assert seen(restored, documents) == seen(pack.folder, documents)


def test_rules_are_compared_with_their_pack(pack: Pack, tmp_path: Path) -> None:
    table = tmp_path / "rules.tsv"
    table.write_text("action\tsurface\tconcept\nadd\tgrey mood\tA:1\nadd\tx y\tA:99\n")
    (tmp_path / "a.txt").write_text("A grey mood.")
    findings = []
    changes = diff(pack.folder, table, corpus=tmp_path / "a.txt", findings=findings)
    assert [(one.what, one.change, one.surface) for one in changes] == [
        ("term", "added", "grey mood"),
        ("mention", "added", "grey mood"),
    ]
    assert [one.problem for one in findings] == ["unknown-concept"]
    assert read_rules([str(table)])


def test_a_pack_with_composed_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text("id\tname\nX:1\tincreased blood glucose\n")
    (tmp_path / "sources.toml").write_text(
        'name = "m@1"\nqualities = true\n[sources.a]\npath = "names.tsv"\nreader = "table"\n'
        'type = "Phenotype"\ncolumns = { id = "id", name = "name" }\n'
    )
    build_sources(tmp_path / "sources.toml", tmp_path / "m")
    rules = rules_by_key([CurationRule(action="drop", surface="fever")])
    with pytest.raises(UsageError, match="composed names"):
        TriedPack(Pack.open(tmp_path / "m"), rules)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("seizures", ""),
        ("nothing", "no name of the pack is spelled like it"),
        ("grey fever", "its concept is obsolete, replaced by A:2"),
        ("LC", "a rule keeps it out of texts; it is only linked"),
        ("cats", "its case or form is not that of the names like it: CAT, Cat"),
        ("was", "it is meant with a probability of 0.005, and 0.3 is needed"),
    ],
)
def test_it_is_said_why_a_name_is_not_found(pack: Pack, name: str, reason: str) -> None:
    assert reason_not_found(explain_name(pack, name), 0.3) == reason
    assert bool(reason) is not bool(seen(pack.folder, [Document(id="a", text=name)]))
