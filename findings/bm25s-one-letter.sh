#!/bin/sh
# Vitamins, cells and receptors with a letter or a digit of their own are the same name for a search.
#
# Version:  bm25s 0.3.16
# Input:    the names vitamin A, vitamin E, T cell, B cell, IL-6 receptor and IL-2 receptor; three of them as queries
# Expected: the name that is equal to the query comes first
# Observed: its neighbour has the same score, so that T cell is first for B cell: words of one character are dropped
# Source:   https://github.com/xhluca/bm25s: tokenize divides texts into words, by default without English stop words
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check bm25s==0.3.16
cd "$folder"
env/bin/python - <<'END'
import bm25s

names = ["vitamin A", "vitamin E", "T cell", "B cell", "IL-6 receptor", "IL-2 receptor"]


def tokens(texts):
    return bm25s.tokenize(texts, show_progress=False)


search = bm25s.BM25(corpus=names)
search.index(tokens(names), show_progress=False)
for query in ("vitamin E", "B cell", "IL-2 receptor"):
    found, scores = search.retrieve(tokens([query]), k=2, show_progress=False)
    print(query, *found[0], *scores[0])
    assert query in found[0] and scores[0][0] == scores[0][1] > 0, "bm25s has changed"
END
