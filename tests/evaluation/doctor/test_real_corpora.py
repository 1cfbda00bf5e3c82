"""The defects and leaks of real corpora, as the list that comes with them has measured them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fascicle.evaluation.doctor.examine import Examination, examine
from fascicle.evaluation.doctor.parts import CheckedPart, GivenPart
from fascicle.formats import ConllOptions, JsonlOptions, ReadReport, read

pytestmark = pytest.mark.slow

Counts = dict[str, int]
LAYERS = ConllOptions(tag_columns=None)
SENTENCES = ConllOptions(documents="sentence")
IOB = ("iob/train.tsv", "iob/devel.tsv", "iob/test.tsv")
PACKED = ("iob/train.tsv.gz", "iob/devel.tsv", "iob/test.tsv")


@dataclass(frozen=True)
class Corpus:
    """A corpus and what is known about it.

    Attributes:
        files: of train, dev and test, below the folder; empty where there is none.
        columns: how column files are read.
        expected: code -> part or parts -> cases; a finding may have more parts than these.
        leaked: sentences of test of eight tokens or more that are in train too, to the character.
        longest: words of the longest sentence.
        seen: share of the mentions of test whose strings are those of mentions of train.
        without: codes of which there is no case.
    """

    files: tuple[str, str, str]
    columns: ConllOptions | None = None
    expected: dict[str, Counts] = field(default_factory=dict)
    leaked: int | None = None
    longest: int | None = None
    seen: str = ""
    without: tuple[str, ...] = ()


def split(**counts: int) -> Counts:
    return counts


CORPORA = {
    "ncbi-disease": Corpus(
        IOB,
        leaked=1,
        seen="62.3 %",
        expected={"touching-mentions": split(train=14)},
        without=("tag-without-begin", "type-in-some-parts", "long-sentence"),
    ),
    "bc5cdr": Corpus(
        IOB,
        leaked=0,
        seen="62.2 %",
        expected={
            "touching-mentions": split(train=21),
            "long-sentence": split(train=5, dev=9, test=1),  # 15
            # two mentions more than in PubTator: "St ." is cut from "Anthony's fire"
            "mention-at-break": split(dev=2),
        },
        without=("tag-without-begin",),
    ),
    "bc2gm": Corpus(
        PACKED,
        leaked=12,
        expected={"long-sentence": split(train=13, dev=4, test=6)},  # 23
        without=("tag-without-begin",),
    ),
    "linnaeus": Corpus(
        PACKED,
        leaked=19,
        longest=324,
        expected={
            "long-sentence": split(train=15, test=17),  # 32
            "short-sentence": split(train=1345, dev=367, test=836),  # 2,548
            "open-sentence": split(train=2068),  # 17 % of 11,935
        },
        without=("tag-without-begin",),
    ),
    "craft": Corpus(
        ("iob/train.tsv.gz", "iob/devel.tsv", "iob/test.tsv.gz"),
        leaked=24,
        longest=426,
        expected={
            "long-sentence": split(train=16, dev=7, test=6),  # 29
            "short-sentence": split(train=727, dev=262, test=460),  # 1,449
            "open-sentence": split(train=1436),  # 13 % of 10,875
        },
        without=("tag-without-begin",),
    ),
    "jnlpba": Corpus(
        ("iob2/train.iob2.gz", "iob2/devel.iob2", "iob2/test.iob2"),
        leaked=35,
        longest=350,
        expected={"long-sentence": split(train=10, test=1)},  # 11
        without=("tag-without-begin",),
    ),
    "genia": Corpus(
        ("nested.train.jsonl.gz", "nested.dev.jsonl", "nested.test.jsonl"),
        leaked=6,
        expected={
            "nested-mention": split(train=1907, dev=373, test=591),
            "nested-in-own-type": split(dev=183, test=291),  # none in train
            "kind-not-in-train": split(dev=183, test=291),
        },
    ),
    "bionlp13cg": Corpus(IOB, leaked=0, without=("tag-without-begin",)),
    "conllpp": Corpus(
        ("conllpp_train.txt.gz", "conllpp_dev.txt", "conllpp_test.txt"),
        columns=SENTENCES,
        leaked=16,
        without=("tag-without-begin",),
    ),
    "wnut16": Corpus(
        ("train.conll", "dev.conll", "test.conll"), leaked=0, without=("tag-without-begin",)
    ),
    "wnut17": Corpus(
        ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"),
        leaked=0,
        without=("tag-without-begin",),
    ),
    "lener-br": Corpus(
        ("train.conll.gz", "dev.conll", "test.conll"),
        leaked=22,
        longest=755,
        expected={"long-sentence": split(train=120, dev=26, test=29)},  # 175
        without=("tag-without-begin",),
    ),
    "chilean-waiting-list-es": Corpus(
        ("wl.train.iob2.gz", "wl.dev.iob2", "wl.test.iob2"),
        columns=LAYERS,
        leaked=7,
        expected={"tag-without-begin": split(train=5, dev=1, test=2)},  # not in the list
    ),
    "weibo-ner-zh": Corpus(
        ("weiboNER_2nd_conll.train", "weiboNER_2nd_conll.dev", "weiboNER_2nd_conll.test"),
        expected={"tag-without-begin": split(train=10, test=4)},  # 14
    ),
    "livingner-es": Corpus(
        ("", "species_valid.iob2", "species_test.iob2.gz"),
        expected={"tag-without-begin": split(dev=4, test=3)},
    ),
    "anercorp": Corpus(
        ("ANERCorp.gz", "", ""),
        expected={
            "tag-without-begin": split(train=57),
            "no-sentence-breaks": split(train=1),
            "uneven-columns": split(train=1),
        },
    ),
    # IOB1
    "scierc": Corpus(
        ("iob/train.txt", "iob/dev.txt", "iob/test.txt"), without=("tag-without-begin",)
    ),
    "msra-zh": Corpus(("", "", "msra_test_bio.txt"), longest=2427, without=("tag-without-begin",)),
    "nlm-gene": Corpus(
        ("Train.PubTator", "", "Test.PubTator"),
        expected={"text-mismatch": split(train=11), "nested-mention": split(train=86, test=18)},
    ),
    "nlm-chem": Corpus(
        ("", "", "Test.PubTator.gz"),
        expected={"duplicate-id": split(test=3428 - 50)},
        without=("text-mismatch", "nested-mention", "crossing-mentions"),
    ),
    "gnormplus-bc2gn": Corpus(
        ("Train.PubTator", "", "Test.PubTator"),
        expected={
            # 33 more are in three documents whose offsets count bytes
            "text-mismatch": split(train=2, test=4),
            "changed-in-reading": split(train=1),
            "nested-mention": split(test=2),
        },
    ),
    "bioid": Corpus(
        ("Train_revision.PubTator.gz", "", "Test_revision.PubTator.gz"),
        expected={"text-mismatch": split(train=1)},
        without=("nested-mention", "crossing-mentions"),
    ),
    "nerel-ru": Corpus(
        ("nerel-v1.1.zip/train", "nerel-v1.1.zip/dev", "nerel-v1.1.zip/test"),
        expected={
            "discontinuous": split(train=127, dev=7, test=17),
            "duplicate-mention": split(train=3),
        },
    ),
    "nerel-bio": Corpus(
        ("nerel-bio-v1.0.zip/train", "nerel-bio-v1.0.zip/dev", "nerel-bio-v1.0.zip/test"),
        expected={
            "discontinuous": split(train=423, dev=52, test=40),
            "duplicate-mention": split(train=6),
        },
    ),
    "ct-ebm-sp-es": Corpus(
        ("ct-ebm-sp-brat.zip/train", "ct-ebm-sp-brat.zip/dev", "ct-ebm-sp-brat.zip/test"),
        expected={"nested-mention": split(train=3909, dev=1365, test=1243)},
        without=("discontinuous", "crossing-mentions"),
    ),
    "litbank": Corpus(
        ("litbank-entities.zip", "", ""),
        expected={"nested-mention": split(train=2143)},
        without=("crossing-mentions",),
    ),
    "bionlp13gro": Corpus(
        ("standoff.zip/train", "standoff.zip/devel", "standoff.zip/test"),
        expected={"discontinuous": split(train=7, test=33)},
    ),
}


def given(
    path: Path, part: CheckedPart, options: ConllOptions | JsonlOptions | None = None
) -> GivenPart:
    report = ReadReport()
    return GivenPart(
        part=part,
        path=str(path),
        documents=lambda: read(path, options=options, report=report),
        report=report,
        columns=options if isinstance(options, ConllOptions) else ConllOptions(),
    )


def examined(
    folder: Path,
    files: Sequence[str],
    against: Sequence[Path] = (),
    columns: ConllOptions | None = None,
) -> Examination:
    names = ("train", "dev", "test")
    places = [
        given(folder / file, CheckedPart(name=name, role=name), columns)
        for name, file in zip(names, files, strict=True)
        if file
    ]
    others = [
        given(path, CheckedPart(name=path.name, role="against", order=i))
        for i, path in enumerate(against)
    ]
    return examine(places, against=others)


def by_part(found: Examination, code: str) -> Counts:
    return next((finding.by_part for finding in found.report.findings if finding.code == code), {})


def copied(
    found: Examination, kinds: Sequence[str], *, part: str, other: Callable[[str], bool]
) -> set[int]:
    """Documents of a part that have copies in another."""
    return {
        item.number
        for group in found.corpus.copies.groups
        for item in group.originals
        if group.kind in kinds
        and group.relation != "in-part"
        and item.part.name == part
        and other(group.copies[0].part.name)
    }


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus(fascicle_data: Path, name: str) -> None:
    corpus = CORPORA[name]
    found = examined(fascicle_data / name, corpus.files, columns=corpus.columns)
    for code, expected in corpus.expected.items():
        counted = by_part(found, code)
        assert {part: counted.get(part) for part in expected} == expected, code
    assert set(corpus.without) <= set(found.report.without)
    if corpus.leaked is not None:
        same = {
            item.number
            for group in found.corpus.copies.groups
            for item in group.originals
            if group.kind == "duplicate" and group.where == "test in train" and len(item.words) >= 8
            if item.sha256 in {other.sha256 for other in group.copies}
        }
        assert len(same) == corpus.leaked
    if corpus.longest is not None:
        (details,) = (f.details for f in found.report.findings if f.code == "long-sentence")
        assert details == (f"The longest sentence has {corpus.longest:,} words.",)
    if corpus.seen:
        (details,) = (f.details for f in found.report.findings if f.code == "seen-mention")
        assert f"({corpus.seen})" in next(told for told in details if told.startswith("test: "))


def test_documents_of_ncbi_disease(fascicle_data: Path) -> None:
    parts = ("train.PubTator.txt", "dev.PubTator.txt", "test.PubTator.txt")
    found = examined(fascicle_data / "ncbi-disease/pubtator", parts)
    assert by_part(found, "duplicate-id") == {"train": 1}
    assert by_part(found, "text-mismatch") == {"train": 1}
    assert {"shared-id", "duplicate-across-parts"} <= set(found.report.without)
    (finding,) = (f for f in found.report.findings if f.code == "duplicate-id")
    assert finding.examples[0].document == "8528200#2"


def test_nesting_of_whole_abstracts(fascicle_data: Path) -> None:
    found = examined(fascicle_data / "genia", ("event-docs.jsonl.gz", "", ""))
    assert by_part(found, "nested-mention") == {"train": 4260 + 458 + 658}
    assert by_part(found, "nested-in-own-type") == {"train": 2590 + 302 + 418}
    assert "crossing-mentions" in found.report.without


def test_bc5cdr_and_its_neighbours(fascicle_data: Path) -> None:
    """82 test abstracts are in biored, 53 of them in its train; none is in ncbi-disease."""
    parts = (
        "CDR_TrainingSet.PubTator.txt",
        "CDR_DevelopmentSet.PubTator.txt",
        "CDR_TestSet.PubTator.txt",
    )
    biored = [
        fascicle_data / "biored" / name
        for name in ("Train.PubTator.gz", "Dev.PubTator", "Test.PubTator")
    ]
    ncbi = [
        fascicle_data / "ncbi-disease/pubtator" / f"{name}.PubTator.txt"
        for name in ("train", "dev", "test")
    ]
    found = examined(fascicle_data / "bc5cdr/pubtator", parts, [*biored, *ncbi])
    in_biored = {path.name for path in biored}
    assert len(copied(found, ["duplicate"], part="test", other=in_biored.__contains__)) == 82
    assert by_part(found, "duplicate-across-corpora")["test in Train.PubTator.gz"] == 53
    shared = by_part(found, "shared-id")
    assert shared["test in Train.PubTator.gz"] == 53
    assert not any(where.rpartition(" ")[2] in {path.name for path in ncbi} for where in shared)
    left_out = [row for row in found.exclusions if row.part == "against" and row.of_part == "test"]
    assert len(left_out) == 82 + 1  # the last one shares a sentence


def test_nlm_gene_and_biored(fascicle_data: Path) -> None:
    found = examined(
        fascicle_data / "nlm-gene",
        ("", "", "Test.PubTator"),
        [fascicle_data / "biored/Train.PubTator.gz"],
    )
    assert by_part(found, "duplicate-across-corpora") == {"test in Train.PubTator.gz": 16}


def test_genia_and_jnlpba(fascicle_data: Path) -> None:
    """1,851 of 1,854 test sentences are in train and devel; the other three nearly are."""
    others = [fascicle_data / "jnlpba/iob2" / name for name in ("train.iob2.gz", "devel.iob2")]
    found = examined(fascicle_data / "genia", ("", "", "nested.test.jsonl"), others)
    kinds = ["duplicate", "short-duplicate"]
    assert len(copied(found, kinds, part="test", other=lambda _: True)) == 1851
    assert len(copied(found, [*kinds, "near-duplicate"], part="test", other=lambda _: True)) == 1854


def test_genia_and_its_abstracts(fascicle_data: Path) -> None:
    """832 of the test and of the dev sentences stand in half of the abstracts; of train 7,697,
    27 of them short.
    """
    found = examined(
        fascicle_data / "genia",
        ("nested.train.jsonl.gz", "nested.dev.jsonl", "nested.test.jsonl"),
        [fascicle_data / "genia/event-docs.jsonl.gz"],
    )
    assert by_part(found, "shared-sentence-across-corpora") == {
        "train in event-docs.jsonl.gz": 7697 - 27,
        "dev in event-docs.jsonl.gz": 832,
        "test in event-docs.jsonl.gz": 832,
    }


def test_raw_text_with_a_test_part(fascicle_data: Path) -> None:
    """4,681 of 4,682 test sentences of eight tokens or more; six of them have fewer than 24
    letters.
    """
    found = examined(
        fascicle_data / "bc5cdr/iob",
        ("", "", "test.tsv"),
        [fascicle_data / "dict-autoner-bc5cdr/raw_text.txt.gz"],
    )
    assert sum(len(item.words) >= 8 for item in found.corpus.items) == 4682
    assert by_part(found, "shared-sentence-across-corpora") == {"test in raw_text.txt.gz": 4681 - 6}
    assert [row.reason for row in found.exclusions if row.part == "against"] == ["shared-sentence"]


def test_abstracts_for_pretraining(fascicle_data: Path) -> None:
    """The test part was kept out of them; 5 documents of train and 3 of dev have the PMID of an
    abstract.
    """
    folder = fascicle_data / "bc5cdr/pubtator"
    files = {"train": "CDR_TrainingSet", "dev": "CDR_DevelopmentSet", "test": "CDR_TestSet"}
    places = [
        given(folder / f"{file}.PubTator.txt", CheckedPart(name=name, role=name))
        for name, file in files.items()
    ]
    fields = JsonlOptions(fields=(("text", "abstract"), ("id", "pmid")))
    other = given(
        fascicle_data / "text-abstracts/abstracts.jsonl.gz",
        CheckedPart(name="pubmed", role="against"),
        fields,
    )
    found = examine(places, against=[other])
    expected = {"train in pubmed": 5, "dev in pubmed": 3}
    assert (
        by_part(found, "shared-id") == by_part(found, "near-duplicate-across-corpora") == expected
    )
    assert "duplicate-across-corpora" in found.report.without  # the abstracts have no titles
