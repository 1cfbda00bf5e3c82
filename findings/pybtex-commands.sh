#!/bin/sh
# Plain text from a title in LaTeX loses the braces of a command and keeps its name, so that a word is added.
#
# Version:  pybtex 0.26.1, pybtex.richtext.Text.from_latex
# Input:    Growth of \textit{E. coli} with {IL-2}, $\beta$-catenin and T$_{H}$17 cells
# Expected: Growth of E. coli with IL-2, β-catenin and TH17 cells
# Observed: Growth of \textit E. coli with IL-2, β-catenin and T$_H$17 cells
# Source:   https://docs.pybtex.org/api/styles.html: from_latex converts LaTeX to rich text, and emphasis to a tag
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pybtex==0.26.1
cd "$folder"
env/bin/python - <<'END'
from pybtex.richtext import Text

title = r"Growth of \textit{E. coli} with {IL-2}, $\beta$-catenin and T$_{H}$17 cells"
text = str(Text.from_latex(title))
print(text)
assert text == "Growth of \\textit E. coli with IL-2, \u03b2-catenin and T$_H$17 cells", "pybtex has changed"
END
