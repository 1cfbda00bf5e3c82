"""Annotates a folder of texts in two processes; each opens the model for itself."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import fascicle


def main() -> None:
    """Prints the number of mentions of each text."""
    model = fascicle.load("biomed-fast", threads=1)
    texts = list(fascicle.read("examples/abstracts"))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        for document in workers.map(model, texts, chunksize=4):
            print(document.id, len(document.mentions))


if __name__ == "__main__":
    main()
