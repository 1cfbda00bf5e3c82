"""Scores two systems on one gold, and prints F1 by type."""

import fascicle

EXAMPLES = "examples"
GOLD = f"{EXAMPLES}/first-model/dev.tsv"
SYSTEMS = [f"{EXAMPLES}/combine/{name}.dev.tsv" for name in ("tagger", "rules")]


def main() -> None:
    """Prints a line for each system and type, and which system has which mentions alone."""
    for row in fascicle.evaluate(GOLD, SYSTEMS).table():
        print(row["system"], row["type"], row["f1"], sep="\t")
    for row in fascicle.compare(GOLD, SYSTEMS).table():
        print(row["system"], "right alone:", row["right_alone"])


if __name__ == "__main__":
    main()
