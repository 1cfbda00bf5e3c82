"""Numbers of the BINDER paper as printed, in percent (Zhang et al. 2023, Tables 1 to 8 and 10).

The encoders are its own: PubMedBERT, BioBERT and BERT, base unless something else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PRF = tuple[float, float, float]  # precision, recall, F1
ALL = ("precision", "recall", "f1")
EMPTY: PRF | None = None

# Tables 1, 2, 3 (supervised) and 10: corpus, as it is called in the grids here -> F1 of BINDER, the
# system that it is compared with there, F1 of that, and what to know.
SUPERVISED: Mapping[str, tuple[float, str, float, str]] = MappingProxyType(
    {
        "ncbi-disease": (90.9, "LSTM-CRF on PubMedBERT (Gu et al.)", 87.8, "Table 2"),
        "bc5cdr": (91.9, "Wang et al.", 90.9, "Table 3"),
        "bc5cdr-chem": (95.0, "LSTM-CRF on PubMedBERT (Gu et al.)", 93.3, "Table 2"),
        "bc5cdr-disease": (88.0, "LSTM-CRF on PubMedBERT (Gu et al.)", 85.6, "Table 2"),
        "bc2gm": (84.6, "LSTM-CRF on PubMedBERT (Gu et al.)", 84.5, "Table 2"),
        "jnlpba-one": (80.3, "LSTM-CRF on PubMedBERT (Gu et al.)", 79.1, "Table 2"),
        "genia": (
            80.5,
            "biaffine, BERT-large and BioBERT (Yu et al.)",
            80.5,
            "Table 1, BioBERT; with the large one 80.8",
        ),
        "conllpp": (93.33, "Template BART (Cui et al.)", 92.55, "Table 10, on CoNLL-2003"),
    }
)

# Table 3: distantly supervised BC5CDR.
DISTANT: Mapping[str, PRF] = MappingProxyType(
    {
        "dictionary matching": (86.4, 51.2, 64.3),
        "AutoNER (Shang et al.)": (82.6, 77.5, 80.0),
        "BNPU (Peng et al.)": (48.1, 77.1, 59.2),
        "BERT-ES (Liang et al.)": (80.4, 67.9, 73.7),
        "Conf-MPU (Zhou et al.)": (76.6, 83.8, 80.1),
        "BINDER": (87.6, 76.3, 81.6),
    }
)

# Tables 4, 5 and 6, on ACE2005: variant, as it is called in the grid, -> name there, numbers. The
# empty name is the full model: annotation guidelines and dynamic thresholds.
TABLES: Mapping[int, Mapping[str, tuple[str, PRF | None]]] = MappingProxyType(
    {
        4: {
            "": ("full model", (89.1, 89.8, 89.5)),
            "shared": ("shared linear layers", (89.3, 89.3, 89.3)),
            "joint": ("joint position-span inference", (89.4, 89.2, 89.3)),
            "no-positions": ("no position-based objectives", (88.7, 89.9, 89.3)),
            "own": ("an encoder of its own for the types", EMPTY),
            "mentions": ("no windows without mentions", EMPTY),
        },
        5: {
            "atomic": ("atomic labels", (88.9, 89.6, 89.2)),
            "names": ("names of the types", EMPTY),
            "keywords": ("keywords", (88.7, 89.8, 89.2)),
            "drawn": ("prototypical instances, from train", (88.7, 90.1, 89.4)),
            "instances": ("prototypical instances, from a file", EMPTY),
            "": ("annotation guidelines", (89.1, 89.8, 89.5)),
        },
        6: {
            "": ("dynamic thresholds", (89.1, 89.8, 89.5)),
            "global": ("learned global thresholds", (88.2, 89.0, 88.6)),
            "dev": ("global thresholds tuned on dev, one number", (86.3, 88.7, 87.5)),
            "dev-by-type": ("global thresholds tuned on dev, one for each type", EMPTY),
        },
    }
)

# Table 7, words a second in training and at inference, on a GPU.
SPEED: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "per_type": (147, 1110),
        "biaffine": (1548, 3634),
        "crf": (2273, 8596),
        "binder_own": (2571, 8886),
    }
)

# Table 8, F1 of all types: whole spans, starts, ends, any overlap.
BREAKDOWN: Mapping[str, tuple[float, float, float, float]] = MappingProxyType(
    {"ACE2005": (89.5, 89.9, 90.3, 90.8), "GENIA": (80.5, 83.2, 85.8, 89.9)}
)
