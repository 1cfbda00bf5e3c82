#!/bin/sh
# Documents of a column file are divided only at one spelling of the line between them; another one becomes a document.
#
# Version:  spaCy 3.8.18, spacy convert -c ner
# Input:    two documents of two words, each behind a line -DOCSTART- with a tag in the second column; a blank line ends
#           each sentence
# Expected: two documents, since CoNLL-2003 files have -DOCSTART- with any columns behind it
# Observed: four documents: the word -DOCSTART- is the only token of two of them; with '-DOCSTART- -X- O O' there are two
# Source:   https://www.clips.uantwerpen.be/conll2003/ner/: lines -DOCSTART- mark the boundaries of documents
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check spacy==3.8.18
cd "$folder"
mkdir short long out
printf -- '-DOCSTART- O\n\nIL-2 B-Gene\nrose O\n\n-DOCSTART- O\n\nTP53 B-Gene\nfell O\n' > short/a.iob
printf -- '-DOCSTART- -X- O O\n\nIL-2 B-Gene\nrose O\n\n-DOCSTART- -X- O O\n\nTP53 B-Gene\nfell O\n' > long/a.iob
env/bin/python -m spacy convert short/a.iob out -c ner > /dev/null
mv out/a.spacy short.spacy
env/bin/python -m spacy convert long/a.iob out -c ner > /dev/null
mv out/a.spacy long.spacy
env/bin/python - <<'END'
import spacy
from spacy.tokens import DocBin

vocabulary = spacy.blank("en").vocab
texts = {
    name: [[token.text for token in document] for document in DocBin().from_disk(f"{name}.spacy").get_docs(vocabulary)]
    for name in ("short", "long")
}
print(texts)
assert texts["long"] == [["IL-2", "rose"], ["TP53", "fell"]], "spaCy has changed"
assert ["-DOCSTART-"] in texts["short"], "spaCy has changed"
END
