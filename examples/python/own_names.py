"""Finds the names of an own list beside those of a model, and writes a table of all mentions."""

from pathlib import Path

import fascicle

NAMES = "type\tname\tid\nDisease\tour syndrome\tOWN:1\n"


def main() -> None:
    """Writes ``mentions.csv`` and prints the mentions with identifiers."""
    Path("own.tsv").write_text(NAMES, encoding="utf-8")
    model = fascicle.load("biomed-fast", also="own.tsv")
    document = model("Aspirin was given in a case of our syndrome.")
    for mention in document:
        print(mention.type, mention.text, *(link.curie for link in mention.links))
    fascicle.write("mentions.csv", [document], overwrite=True)


if __name__ == "__main__":
    main()
