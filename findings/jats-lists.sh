#!/bin/sh
# Items of a list within a paragraph are run together into one word, and a list beside paragraphs is left out.
#
# Version:  jats 0.2.2, jats convert; beside litdown 0.7.0
# Input:    an article in JATS with a list of two drugs in a paragraph, and a list of two diseases behind it
# Expected: four names, as from litdown
# Observed: 'aspirinlithium', and neither gout nor anaemia
# Source:   https://jats.nlm.nih.gov/archiving/tag-library/1.3/element/list.html: a list may stand in p and in sec
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check jats==0.2.2 litdown==0.7.0
cd "$folder"
cat > article.xml <<'END'
<article><front><article-meta><title-group><article-title>Lists</article-title></title-group></article-meta></front>
<body><sec><title>Methods</title><p>We gave <list><list-item><p>aspirin</p></list-item><list-item><p>lithium</p></list-item></list> daily.</p>
<list><list-item><p>gout</p></list-item><list-item><p>anaemia</p></list-item></list></sec></body></article>
END
env/bin/jats convert article.xml > jats.md
env/bin/litdown article.xml > litdown.md
cat jats.md
for name in aspirin lithium gout anaemia; do grep -qw "$name" litdown.md || { echo "litdown has changed"; exit 1; }; done
grep -q "aspirinlithium" jats.md || { echo "jats has changed"; exit 1; }
! grep -qE "gout|anaemia" jats.md || { echo "jats has changed"; exit 1; }
