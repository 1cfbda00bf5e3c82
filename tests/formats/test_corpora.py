"""The counts of real corpora, read as a user would; needs the folder of them in ``FASCICLE_DATA``.

Numbers are documents, sentences, mentions and, for PubTator, mentions whose text is not that at
their offsets. They are the measured counts of the corpus list, with these differences, all by rule:
``gnormplus-bc2gn`` train has one mention line twice (5,793 lines, 5,792 mentions), and so have
``nerel-bio`` train (6 lines) and ``nerel-ru`` train (3); ``anercorp`` does not mark sentences;
fragments with only white space between them are joined, which makes mentions of ``bionlp13gro`` and
``nerel-bio`` continuous, and two lines of the latter those of another mention; in ``dimb-re`` one
line of a trigger type is the trigger of no event, and so is a mention (14,450 and 1)."""

from __future__ import annotations

import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.formats import ConllOptions, JsonlOptions, ReadReport, read
from fascicle.formats.brat import BratOptions
from fascicle.formats.pubtator import RAW_ID
from fascicle.formats.stats import CorpusStats, corpus_stats

DATA = Path(os.environ.get("FASCICLE_DATA") or "/nonexistent")
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="FASCICLE_DATA is not set to a folder of corpora"
)

LAYERS = ConllOptions(tag_columns=None)

# folder, (train, dev, test) files, options, (sentences of each), (mentions of each)
FLAT = [
    ("ncbi-disease/iob", "train.tsv devel.tsv test.tsv", (5424, 923, 940), (5134, 787, 960)),
    ("bc5cdr/iob", "train.tsv devel.tsv test.tsv", (4560, 4581, 4797), (9385, 9593, 9809)),
    ("bc5cdr/iob-chem", "train.tsv devel.tsv test.tsv", (4560, 4581, 4797), (5203, 5347, 5385)),
    ("bc5cdr/iob-disease", "train.tsv devel.tsv test.tsv", (4560, 4581, 4797), (4182, 4246, 4424)),
    ("bc2gm/iob", "train.tsv.gz devel.tsv test.tsv", (12574, 2519, 5038), (15197, 3061, 6325)),
    ("linnaeus/iob", "train.tsv.gz devel.tsv test.tsv", (11935, 4078, 7142), (2119, 711, 1433)),
    ("bionlp13cg/iob", "train.tsv devel.tsv test.tsv", (3033, 1003, 1906), (10826, 3616, 6881)),
    ("bionlp13pc/iob", "train.tsv devel.tsv test.tsv", (2499, 857, 1695), (7853, 2734, 5306)),
    ("bionlp13ge/iob", "train.tsv devel.tsv test.tsv", (2449, 2737, 3391), (3566, 4132, 4359)),
    ("bionlp11id/iob", "train.tsv devel.tsv test.tsv", (2496, 721, 1961), (5674, 1598, 3810)),
    ("craft/iob", "train.tsv.gz devel.tsv test.tsv.gz", (10875, 3730, 7425), (29026, 9727, 18881)),
    ("jnlpba/iob2", "train.iob2.gz devel.iob2 test.iob2", (16807, 1739, 3856), (46738, 4551, 8662)),
    (
        "wnut17",
        "wnut17train.conll emerging.dev.conll emerging.test.annotated",
        (3394, 1009, 1287),
        (1975, 836, 1079),
    ),
    (
        "wnut16",
        "train.conll dev.conll test.conll dev_2015.conll",
        (2394, 1000, 3850, 420),
        (1496, 661, 3473, 272),
    ),
    ("lener-br", "train.conll.gz dev.conll test.conll", (7827, 1176, 1389), (8894, 1818, 1536)),
    (
        "weibo-ner-zh",
        "weiboNER_2nd_conll.train weiboNER_2nd_conll.dev weiboNER_2nd_conll.test",
        (1350, 270, 270),
        (1895, 389, 418),
    ),
    ("msra-zh", "msra_test_bio.txt", (3442,), (6190,)),
    ("livingner-es", "species_valid.iob2 species_test.iob2.gz", (7953, 7953), (4292, 4524)),
]
NESTED = [
    ("genia/layered", "genia.dev.iob2 genia.test.iob2", (1669, 1854), (4337, 5474)),
    (
        "germeval14-de",
        "germ.train.iob2.gz germ.dev.iob2 germ.test.iob2",
        (24000, 2200, 5100),
        (31545, 2886, 6693),
    ),
    (
        "chilean-waiting-list-es",
        "wl.train.iob2.gz wl.dev.iob2 wl.test.iob2",
        (8014, 890, 990),
        (35480, 3971, 4289),
    ),
]
# folder, files, documents, mentions, text mismatches
PUBTATOR = [
    ("ncbi-disease/pubtator/train.PubTator.txt", 593, 5145, 1),
    ("ncbi-disease/pubtator/dev.PubTator.txt", 100, 787, 0),
    ("ncbi-disease/pubtator/test.PubTator.txt", 100, 960, 0),
    ("bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt", 500, 9385, 0),
    ("bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt", 500, 9591, 0),
    ("bc5cdr/pubtator/CDR_TestSet.PubTator.txt", 500, 9809, 0),
    ("biored/Train.PubTator.gz", 400, 13351, 0),
    ("biored/Dev.PubTator", 100, 3533, 0),
    ("biored/Test.PubTator", 100, 3535, 0),
    ("nlm-gene/Train.PubTator", 450, 13797, 11),
    ("nlm-gene/Test.PubTator", 100, 3053, 0),
    ("nlm-chem/Test.PubTator.gz", 3428, 12411, 0),
    ("gnormplus-bc2gn/Train.PubTator", 432, 5792, 2),  # three documents count bytes
    ("gnormplus-bc2gn/Test.PubTator", 262, 4849, 4),
    ("linnaeus/pubtator/Train.PubTator.gz", 80, 2321, 0),
    ("linnaeus/pubtator/Test.PubTator", 20, 576, 0),
    ("bioid/Train_revision.PubTator.gz", 9704, 4137, 1),
    ("bioid/Test_revision.PubTator.gz", 3993, 1453, 0),
    ("drugprot/DrugProt_Test.PubTator.gz", 750, 18339, 0),
]
# file, shape, documents, sentences, mentions, nested, nested in one of the same type
JSON = [
    ("genia/nested.train.jsonl.gz", "tokens-entities", 15023, 15023, 43769, 1907, 0),
    ("genia/nested.dev.jsonl", "tokens-entities", 1669, 1669, 4337, 373, 183),
    ("genia/nested.test.jsonl", "tokens-entities", 1854, 1854, 5474, 591, 291),
    ("genia/docsplit/dev.jsonlines", "tokens-mentions", 199, 1765, 4714, None, None),
    ("genia/docsplit/test.jsonlines", "tokens-mentions", 199, 1732, 5119, None, None),
    ("conll04/conll04_train.json", "tokens-tags", 922, 922, 3377, 0, 0),
    ("conll04/conll04_dev.json", "tokens-tags", 231, 231, 893, 0, 0),
    ("conll04/conll04_test.json", "tokens-tags", 288, 288, 1079, 0, 0),
    ("scierc/json/train.json", "dygie", 350, 1861, 5598, None, None),
    ("scierc/json/dev.json", "dygie", 50, 275, 811, None, None),
    ("scierc/json/test.json", "dygie", 100, 551, 1685, None, None),
]
# Published: 2,048 relations in CoNLL04 (Roth and Yih 2004), 4,648 in SciERC as DyGIE has it (Luan
# et al. 2018 count 4,716), 3,116 in BC5CDR (Li et al. 2016), 6,503 in BioRED (Luo et al. 2022).
RELATIONS = {
    "conll04/conll04_{}.json train dev test": 2048,
    "scierc/json/{}.json train dev test": 4648,
    "bc5cdr/pubtator/CDR_{}Set.PubTator.txt Training Development Test": 3116,
    "biored/{} Train.PubTator.gz Dev.PubTator Test.PubTator": 6503,
}
# DyGIE has chains of coreference.
BESIDE = {
    "scierc/json/train.json": {"loss coreferences-left-out": 328},
    "scierc/json/dev.json": {"loss coreferences-left-out": 45},
    "scierc/json/test.json": {"loss coreferences-left-out": 91},
}
# place, documents, mentions, discontinuous, events
BRAT: list[tuple[str, int, int, int, dict[str, int]]] = [
    ("litbank/litbank-entities.zip", 100, 13912, 0, {}),
    ("cellfinder/cellfinder1-brat.zip", 10, 5898, 0, {}),
    ("cellfinder/cellfinder1-brat-sections.zip", 53, 5898, 0, {}),
    (
        "nerel-bio/nerel-bio-v1.0.zip/train",
        612,
        54210 - 6,
        423,
        {
            "repair duplicate-mention": 6,
            "repair fragments-joined": 17,
            "repair fragments-sorted": 19,
        },
    ),
    (
        "nerel-bio/nerel-bio-v1.0.zip/dev",
        77,
        6435,
        52,
        {"repair fragments-joined": 1, "repair fragments-sorted": 1},
    ),
    ("nerel-bio/nerel-bio-v1.0.zip/test", 77, 6173, 40, {"repair fragments-sorted": 2}),
    (  # one line begins with "sT1", and a note refers to that T1
        "ct-ebm-sp-es/ct-ebm-sp-brat.zip/train",
        720,
        28100,
        0,
        {"loss malformed-line": 1, "loss dangling-reference": 1},
    ),
    ("ct-ebm-sp-es/ct-ebm-sp-brat.zip/dev", 240, 9629, 0, {}),
    ("ct-ebm-sp-es/ct-ebm-sp-brat.zip/test", 240, 8969, 0, {}),
    (
        "bionlp11id/standoff.zip/train",
        152,
        6525,
        0,
        {
            "loss attributes-left-out": 47,
            "loss events-left-out": 144,
            "loss suffix-left-out": 11,
            "loss triggers-left-out": 144,
        },
    ),
    ("bionlp11id/standoff.zip/test", 118, 4239, 0, {}),
    ("bionlp13cg/standoff.zip/test", 200, 6955, 0, {}),
    ("bionlp13pc/standoff.zip/test", 175, 5312, 0, {}),
    # every text has CRLF line ends; two of the three names whose fragments are joined have no other
    # fragment
    (
        "bionlp13gro/standoff.zip/test",
        100,
        4007,
        33,
        {"repair fragments-joined": 3, "repair fragments-sorted": 2},
    ),
    ("jnlpba/jnlpba-standoff.zip/test", 404, 8662, 0, {}),
    ("jnlpba/jnlpba-standoff.zip/train", 2000, 51301, 0, {}),
    ("pharmaconer-es/pharmaconer-brat.zip/train", 500, 3822, 0, {"repair text-mismatch": 5}),
    ("pharmaconer-es/pharmaconer-brat.zip/dev", 250, 1926, 0, {}),
    ("pharmaconer-es/pharmaconer-brat.zip/test", 250, 1876, 0, {}),
    (
        "nerel-ru/nerel-v1.1.zip/test",
        93,
        5827,
        17,
        {"loss dangling-reference": 1},
    ),
]


def _stats(
    path: str, options: ConllOptions | JsonlOptions | None = None
) -> tuple[CorpusStats, ReadReport]:
    report = ReadReport()
    return corpus_stats(read(DATA / path, options=options, report=report), report), report


def _iob_cases() -> list[object]:
    cases = []
    for table, options in ((FLAT, None), (NESTED, LAYERS)):
        for folder, files, sentences, mentions in table:
            for name, n_sentences, n_mentions in zip(
                files.split(), sentences, mentions, strict=True
            ):
                marks = [pytest.mark.slow] if n_sentences > 5000 or "craft" in folder else []
                case = (f"{folder}/{name}", options, n_sentences, n_mentions)
                cases.append(pytest.param(*case, marks=marks, id=case[0]))
    return cases


@pytest.mark.parametrize(("path", "options", "sentences", "mentions"), _iob_cases())
def test_sentence_files(
    path: str, options: ConllOptions | None, sentences: int, mentions: int
) -> None:
    stats, report = _stats(path, options)
    assert set(report.formats.values()) == {"conll"}
    assert (stats.documents, stats.sentences, stats.mentions) == (sentences, sentences, mentions)
    assert stats.events == {}
    if options is None and stats.schemes[str(DATA / path)] != "IOB2":
        pytest.fail(f"read as {stats.schemes}")


@pytest.mark.parametrize(
    ("path", "documents", "sentences", "mentions", "scheme"),
    [
        pytest.param(
            "conllpp/conllpp_train.txt.gz", 946, 14041, 23499, "IOB2", marks=pytest.mark.slow
        ),
        ("conllpp/conllpp_dev.txt", 216, 3250, 5942, "IOB2"),
        ("conllpp/conllpp_test.txt", 231, 3453, 5702, "IOB2"),
        ("scierc/iob/train.txt", 350, 1861, 5572, "IOB1"),
        # no two mentions touch, so IOB1 and IO look the same
        ("scierc/iob/dev.txt", 50, 275, 808, "IO"),
        ("scierc/iob/test.txt", 100, 551, 1683, "IOB1"),
    ],
)
def test_files_with_document_marks(
    path: str, documents: int, sentences: int, mentions: int, scheme: str
) -> None:
    stats, _ = _stats(path)
    assert (stats.documents, stats.sentences, stats.mentions) == (documents, sentences, mentions)
    assert set(stats.schemes.values()) == {scheme}


@pytest.mark.parametrize(
    ("path", "repairs"),
    [
        ("weibo-ner-zh/weiboNER_2nd_conll.train", 10),
        ("weibo-ner-zh/weiboNER_2nd_conll.test", 4),
        ("livingner-es/species_valid.iob2", 4),
        ("livingner-es/species_test.iob2.gz", 3),
        ("ncbi-disease/iob/test.tsv", 0),
    ],
)
def test_invalid_sequences_are_counted(path: str, repairs: int) -> None:
    stats, _ = _stats(path)
    assert stats.repairs == repairs


def test_one_stream_of_tokens() -> None:
    stats, _ = _stats("anercorp/ANERCorp.gz")
    assert (stats.documents, stats.sentences, stats.words, stats.mentions) == (1, 0, 150313, 11233)
    assert stats.repairs == 57
    # Two rows hold two words each: ". Oالإصابة O" and "الصالحية ونايفة O".
    assert stats.events == {
        "note no-sentence-breaks": 1,
        "repair missing-token": 1,
        "loss uneven-columns": 1,
    }


@pytest.mark.parametrize(
    ("path", "shape", "documents", "sentences", "mentions", "nested", "same"), JSON
)
def test_json_files(
    path: str,
    shape: str,
    documents: int,
    sentences: int,
    mentions: int,
    nested: int | None,
    same: int | None,
) -> None:
    stats, report = _stats(path)
    assert set(report.shapes.values()) == {shape}
    assert (stats.documents, stats.sentences, stats.mentions) == (documents, sentences, mentions)
    assert nested is None or (stats.nested, stats.inner_same_type) == (nested, same)
    assert stats.events == BESIDE.get(path, {})


@pytest.mark.parametrize("corpus", RELATIONS)
def test_all_published_relations_are_read(corpus: str) -> None:
    path, *parts = corpus.split()
    counts = [_stats(path.format(part))[0].relations.total() for part in parts]
    assert sum(counts) == RELATIONS[corpus]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("train", (803, 7542, 29288, 4260, 2590, 0)),
        ("dev", (88, 785, 2902, 458, 302, 0)),
        ("test", (109, 1045, 4005, 658, 418, 0)),
    ],
)
def test_whole_abstracts_with_nesting(part: str, expected: tuple[int, ...]) -> None:
    stats, _ = _stats("genia/event-docs.jsonl.gz", JsonlOptions(where=(("part", part),)))
    found = (
        stats.documents,
        stats.sentences,
        stats.mentions,
        stats.nested,
        stats.inner_same_type,
        stats.crossing,
    )
    assert found == expected


def test_labels_with_inclusive_ends() -> None:
    stats, _ = _stats("msra-zh/test.json", JsonlOptions(fields=(("inclusive", "true"),)))
    assert (stats.mentions, dict(stats.events)) == (6181, {})
    # without that, the texts given beside the offsets betray it
    wrong, _ = _stats("msra-zh/test.json")
    assert wrong.events["repair text-mismatch"] > 5000


@pytest.mark.parametrize(
    ("path", "without", "composite"),
    [
        ("ncbi-disease/pubtator/train.PubTator.txt", 0, 115),
        ("ncbi-disease/pubtator/dev.PubTator.txt", 0, 30),
        ("ncbi-disease/pubtator/test.PubTator.txt", 0, 15),
        ("bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt", 76, 98),
        ("bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt", 59, 100),
        ("bc5cdr/pubtator/CDR_TestSet.PubTator.txt", 91, 75),
        ("biored/Train.PubTator.gz", 31, 730),
        ("biored/Dev.PubTator", 20, 200),
        ("biored/Test.PubTator", 12, 197),
        ("nlm-gene/Train.PubTator", 1226, 1486),
        ("nlm-gene/Test.PubTator", 337, 335),
        ("nlm-chem/Test.PubTator.gz", 682, 512),
        ("gnormplus-bc2gn/Train.PubTator", 1559, 100),
        ("gnormplus-bc2gn/Test.PubTator", 1607, 60),
    ],
)
def test_concept_ids(path: str, without: int, composite: int) -> None:
    mentions = [mention for document in read(DATA / path) for mention in document.mentions]
    assert sum(not mention.links for mention in mentions) == without
    joined = "|".join
    raw = [dict(m.attributes).get(RAW_ID, joined(link.id for link in m.links)) for m in mentions]
    assert sum(any(sign in column for sign in "|,;+") for column in raw) == composite


@pytest.mark.parametrize(("path", "documents", "mentions", "mismatches"), PUBTATOR)
def test_pubtator_files(path: str, documents: int, mentions: int, mismatches: int) -> None:
    stats, report = _stats(path)
    assert set(report.formats.values()) == {"pubtator"}
    assert (stats.documents, stats.mentions) == (documents, mentions)
    assert stats.events["repair text-mismatch"] == mismatches
    duplicates = {"nlm-chem/Test.PubTator.gz": 3378, "ncbi-disease/pubtator/train.PubTator.txt": 1}
    assert stats.events["repair duplicate-id"] == duplicates.get(path, 0)
    # The one mention that is there twice has another concept the second time.
    assert stats.events["loss duplicate-mention-differs"] == (
        path == "gnormplus-bc2gn/Train.PubTator"
    )
    assert stats.events["repair duplicate-mention"] == 0
    assert stats.events["loss offset-outside"] == 0


def _brat_cases() -> list[object]:
    slow = ("nerel", "jnlpba", "train", "litbank")
    marks = [[pytest.mark.slow] if any(word in case[0] for word in slow) else [] for case in BRAT]
    return [
        pytest.param(*case, marks=mark, id=case[0]) for case, mark in zip(BRAT, marks, strict=True)
    ]


@pytest.mark.parametrize(
    ("path", "documents", "mentions", "discontinuous", "events"), _brat_cases()
)
def test_brat(
    path: str, documents: int, mentions: int, discontinuous: int, events: dict[str, int]
) -> None:
    stats, report = _stats(path)
    assert set(report.formats.values()) == {"brat"}
    assert (stats.documents, stats.mentions, stats.discontinuous) == (
        documents,
        mentions,
        discontinuous,
    )
    assert stats.events == events


@pytest.mark.parametrize(
    ("path", "suffix"),
    [
        ("cellfinder/cellfinder1-brat.zip", ".ann"),
        ("ct-ebm-sp-es/ct-ebm-sp-brat.zip", ".ann"),
        ("bionlp11id/standoff.zip", ".a1"),
        ("bionlp13gro/standoff.zip", ".a1"),
        pytest.param("nerel-bio/nerel-bio-v1.0.zip", ".ann", marks=pytest.mark.slow),
    ],
)
def test_brat_against_the_lines_themselves(path: str, suffix: str) -> None:
    expected: Counter[tuple[str, str, str]] = Counter()
    with zipfile.ZipFile(DATA / path) as archive:
        for name in archive.namelist():
            lines = archive.read(name).decode().split("\n") if name.endswith(suffix) else []
            rows = {_hull(*line.split("\t")[1:]) for line in lines if line.startswith("T")}
            expected.update((Path(name).stem, kind, quote) for kind, quote, *_ in rows)
    found: Counter[tuple[str, str, str]] = Counter()
    for document in read(DATA / path):
        assert document.text == document.text.removeprefix("\ufeff")
        texts = ((m.type, m.text_in(document.text).rstrip()) for m in document.mentions)
        found.update((document.id.rpartition("/")[2], *pair) for pair in texts)
    # The order of fragments is that of the line there, and that of the text here.
    assert {(*key[:2], *sorted(key[2].split())) for key in expected} == {
        (*key[:2], *sorted(key[2].split())) for key in found
    }
    assert expected.total() == found.total()


def _hull(stated: str, quote: str) -> tuple[str, str, int, int]:
    """A mention of a T line; the same whether it is one range or fragments with only white space
    between them.
    """
    kind, *offsets = re.split("[ ;]", stated)
    return kind, quote.rstrip(), min(map(int, offsets)), max(map(int, offsets))


def _begun_inside(documents: Iterable[Document]) -> int:
    """Mentions that begin before an earlier one has ended."""
    count = 0
    for document in documents:
        reached = 0
        for start, end in sorted((mention.start, mention.end) for mention in document.mentions):
            count += start < reached
            reached = max(reached, end)
    return count


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("cellfinder/cellfinder1-brat.zip", 1242),
        ("ct-ebm-sp-es/ct-ebm-sp-brat.zip/dev", 1365),
        ("ct-ebm-sp-es/ct-ebm-sp-brat.zip/test", 1243),
        pytest.param("ct-ebm-sp-es/ct-ebm-sp-brat.zip/train", 3909, marks=pytest.mark.slow),
        pytest.param("litbank/litbank-entities.zip", 2143, marks=pytest.mark.slow),
    ],
)
def test_brat_mentions_that_overlap(path: str, expected: int) -> None:
    assert _begun_inside(read(DATA / path)) == expected


@pytest.mark.parametrize(
    ("path", "mentions", "overlapping"),
    [
        ("bionlp11id/standoff.zip/devel", 1976, 677),
        ("bionlp11id/standoff.zip/test", 4239, 870),
        ("bionlp13cg/standoff.zip/devel", 3634, 42),
        ("bionlp13cg/standoff.zip/test", 6955, 165),
        pytest.param("bionlp11id/standoff.zip/train", 6525, 1647, marks=pytest.mark.slow),
        pytest.param("bionlp13cg/standoff.zip/train", 10935, 253, marks=pytest.mark.slow),
    ],
)
def test_shared_tasks_in_brat(path: str, mentions: int, overlapping: int) -> None:
    """The corpus list counts both mentions of a pair here, and one of them in other corpora."""
    stats, _ = _stats(path)
    assert (stats.mentions, stats.overlapping) == (mentions, overlapping)


def test_what_the_second_file_of_a_shared_task_holds() -> None:
    path = DATA / "bionlp13cg/standoff.zip/devel"

    def types(options: BratOptions) -> Counter[str]:
        return Counter(
            m.type for document in read(path, options=options) for m in document.mentions
        )

    entities, both = types(BratOptions()), types(BratOptions(suffixes=(".a1", ".a2")))
    assert sum(entities.values()) == 3634
    assert set(both) - set(entities) == {"DNA_domain_or_region", "Protein_domain_or_region"}
    assert sum(both.values()) == 3634 + 31
    assert types(BratOptions(suffixes=(".a1", ".a2"), triggers=True)).total() == 3634 + 2451


@pytest.mark.slow
def test_links_in_brat() -> None:
    """N lines: 30,831 in the list; one is cut off, and the three mentions that are there twice
    say the same twice.
    """
    stats, _ = _stats("nerel-ru/nerel-v1.1.zip/train")
    assert (stats.documents, stats.mentions, stats.discontinuous) == (746, 44867 - 3, 127)
    assert stats.events == {
        "repair duplicate-mention": 3,
        "repair fragments-sorted": 8,
        "loss malformed-line": 3,  # the third is a line of text
    }
    kinds: Counter[str] = Counter()
    for document in read(DATA / "nerel-ru/nerel-v1.1.zip/train"):
        for mention in document.mentions:
            kinds["links"] += len(mention.links)
            kinds["no entry"] += sum(name == "Reference" for name, _ in mention.attributes)
            assert all(link.ontology == "Wikidata" for link in mention.links)
    assert kinds["links"] + kinds["no entry"] == 30831 - 1 - 3
    assert kinds["no entry"] == 4655 + 1 - 2  # NULL, null once, and two of those three


@pytest.mark.slow
def test_links_of_another_form() -> None:
    documents = list(read(DATA / "dimb-re/brat.zip"))
    mentions = [mention for document in documents for mention in document.mentions]
    assert (len(documents), len(mentions)) == (195, 14450 + 1)
    assert sum(len(mention.links) for mention in mentions) == 9793
    assert sum(mention.type.isupper() for mention in mentions) == 1
    events = Counter(event.code for document in documents for event in document.events)
    left_out = {"attributes-left-out": 190, "events-left-out": 190, "triggers-left-out": 190}
    assert events == {**left_out, "fragments-sorted": 3}


@pytest.mark.slow
def test_notes_in_brat() -> None:
    mentions = [m for d in read(DATA / "ct-ebm-sp-es/ct-ebm-sp-brat.zip/train") for m in d.mentions]
    notes = [value for m in mentions for name, value in m.attributes if name == "AnnotatorNotes"]
    assert len(notes) == 20034 - 1
    assert sum(value.startswith("C") for value in notes) > 15000  # concepts of the UMLS


@pytest.mark.parametrize(
    ("part", "texts", "mentions"), [("training", 5000, 15173), ("validation", 2500, 4252)]
)
def test_socialdisner(part: str, texts: int, mentions: int) -> None:
    report = ReadReport()
    stats = corpus_stats(
        read(
            DATA / "socialdisner-es/tweets-train-valid.zip" / part, format="offsets", report=report
        )
    )
    assert (stats.documents, stats.mentions) == (texts, mentions)
    assert report.events["loss", "offset-outside"] == 0
