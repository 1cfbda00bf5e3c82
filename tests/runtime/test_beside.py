"""Two predictors as one: what each says alone, with its own source."""

from __future__ import annotations

from pathlib import Path

import fascicle
from fascicle.core.document import Document
from fascicle.terms.variant_recogniser import VariantRecogniser

TEXTS = ["Aspirin helps carriers of V600E.", "", "V600E", "Aspirin."]


def test_both_say_what_they_say_alone(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text("Chemical\tAspirin\n", encoding="utf-8")
    names, variants = fascicle.load(tmp_path / "names.tsv"), VariantRecogniser()
    both = fascicle.load(tmp_path / "names.tsv", variants=True)
    documents = [Document(id=str(at), text=text) for at, text in enumerate(TEXTS)]
    for joined, first, second in zip(
        *(one.predict(documents) for one in (both, names, variants)), strict=True
    ):
        assert joined.add == (*first.add, *second.add)
    assert both.sources == ("names", "variants")
    assert both.types == ("Chemical", "SequenceVariant")
    assert both.gives == {"mentions", "links"}
    assert both.fingerprint not in (names.fingerprint, variants.fingerprint)


def test_a_second_pass_replaces_the_mentions_of_both(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text("Chemical\tAspirin\n", encoding="utf-8")
    both = fascicle.load(tmp_path / "names.tsv", variants=True)
    once = both(TEXTS[0])
    assert both(once).mentions == once.mentions
    assert len(once.mentions) == 2
