"""Table 3 of the bundling paper as printed (*bundling-learning* §4.2): precision, recall, F1,
means of five seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MODELS = ("SeqNER", "BL-SeqNER", "SpanNER", "BL-SpanNER")
# points: means over seeds of P, R and F1 need not fit each other to the last digit
HARMONIC_WITHIN = 0.1


@dataclass(frozen=True, kw_only=True)
class Printed:
    """One row of the table, in percent."""

    precision: float
    recall: float
    f1: float

    @property
    def harmonic(self) -> float:
        """F1 of the printed precision and recall."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    @property
    def consistent(self) -> bool:
        """Whether the printed F1 is that of the printed precision and recall."""
        return abs(self.harmonic - self.f1) <= HARMONIC_WITHIN

    @property
    def likely(self) -> float:
        """The printed F1, or that of the printed precision and recall where it is another."""
        return self.f1 if self.consistent else self.harmonic


def table3() -> Mapping[str, Mapping[str, Printed]]:
    """Corpus, as it is called in the grids here, -> model -> what is printed.

    OntoNotes, CoNLL-2003, ACE04 and ACE05 are licensed and not in the grids; they stand here for
    what the paper's own numbers say of its Conclusion 1.
    """
    found: dict[str, dict[str, Printed]] = {}
    for line in _PRINTED.strip().splitlines():
        corpus, *numbers = line.split()
        values = iter(map(float, numbers))
        found[corpus] = {
            m: Printed(precision=next(values), recall=next(values), f1=next(values)) for m in MODELS
        }
    return found


# corpus, then P, R, F1 of SeqNER, BL-SeqNER, SpanNER, BL-SpanNER
_PRINTED = """
ontonotes     89.56 88.44 89.00  89.31 90.14 89.72  89.67 89.30 89.49  88.95 90.64 89.78
conll03       92.06 91.36 91.71  92.12 92.64 92.38  92.70 91.13 91.91  92.52 92.50 92.51
conllpp       93.41 89.92 91.63  93.60 92.81 93.20  93.89 91.33 92.59  93.80 92.79 93.29
conll04       91.45 91.20 90.62  91.69 91.01 91.35  91.88 89.92 90.89  92.42 90.87 91.64
ace04         88.03 85.64 86.82  88.45 87.38 87.91  87.12 88.15 87.63  89.23 87.96 88.59
ace05         84.45 87.94 86.16  86.98 87.06 87.02  88.96 86.94 87.94  88.78 89.26 89.02
bc5cdr        90.47 89.12 89.79  89.78 90.91 90.34  89.37 90.46 89.91  90.05 90.74 90.40
ncbi-disease  88.91 89.49 89.20  88.57 91.73 90.12  90.30 89.72 90.01  89.96 90.99 90.49
scierc        67.26 72.05 69.57  68.98 71.51 70.22  70.02 70.91 70.46  70.32 71.99 71.14
wnut16        60.23 55.06 57.53  59.57 57.78 58.66  63.26 58.23 60.64  61.43 57.37 59.86
wnut17        44.39 62.24 51.82  47.26 59.35 52.62  60.32 50.19 54.79  56.63 51.35 53.86
"""
