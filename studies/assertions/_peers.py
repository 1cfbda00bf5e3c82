"""Facts by ConText of medspaCy and by negspaCy, in an environment of their own.

usage: PYTHON studies/assertions/_peers.py MENTIONS.jsonl ANSWERS.json

``MENTIONS.jsonl`` is from ``studies.assertions.measure``: a text and the spans of mentions in each
line. ``ANSWERS.json`` gets, for each system, the facts of each mention and the seconds of processor
time, after the pipeline is made. It needs the packages of ``requirements-peers.txt``, and nothing
of Fascicle. Mentions that overlap are given in copies of the text.
"""

import json
import sys
import time
from pathlib import Path

import medspacy.context  # noqa: F401 - names a component
import spacy
from negspacy.negation import Negex  # noqa: F401 - names a component
from negspacy.termsets import termset
from spacy.util import filter_spans

FACTS = {
    "is_negated": "negated",
    "is_uncertain": "uncertain",
    "is_hypothetical": "hypothetical",
    "is_historical": "historical",
    "is_family": "other-person",
    "negex": "negated",
}


def pipelines():
    """Yields the name of each system and its pipeline."""
    context = spacy.blank("en")
    context.add_pipe("sentencizer")
    context.add_pipe("medspacy_context")
    yield "ConText", context
    negex = spacy.blank("en")
    negex.add_pipe("sentencizer")
    terms = termset("en_clinical").get_patterns()
    negex.add_pipe("negex", config={"neg_termset": terms})
    yield "negspaCy", negex


def answer(nlp, text, spans):
    """Returns the facts of each span of a text."""
    first, *rest = nlp.pipe_names
    facts = {}
    left = list(range(len(spans)))
    while left:
        doc = nlp.get_pipe(first)(nlp.make_doc(text))
        places = {}
        for number in left:
            span = doc.char_span(*spans[number], label="X", alignment_mode="expand")
            places.setdefault((span.start, span.end), (span, []))[1].append(number)
        chosen = filter_spans([span for span, _ in places.values()])
        doc.ents = chosen
        for name in rest:
            doc = nlp.get_pipe(name)(doc)
        for span in doc.ents:
            found = [
                fact
                for name, fact in FACTS.items()
                if span._.has(name) and getattr(span._, name) is True
            ]
            for number in places[span.start, span.end][1]:
                facts[number] = found
        left = [number for number in left if number not in facts]
    return [facts[number] for number in range(len(spans))]


def main():
    """Answers and writes."""
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    told = {}
    for name, nlp in pipelines():
        answer(nlp, *rows[0])
        start = time.process_time()
        facts = [answer(nlp, text, spans) for text, spans in rows]
        told[name] = {"facts": facts, "seconds": time.process_time() - start}
    Path(sys.argv[2]).write_text(json.dumps(told))


if __name__ == "__main__":
    main()
