"""UIMA CAS in XMI or JSON, as INCEpTION exports it.

Needs the package dkpro-cassis (extra ``cas``), which counts offsets in code points.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.effects import event_of
from fascicle.core.files.elements import refuse_entities
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, MissingExtraError
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import Reader
from fascicle.formats.packages import content_of, reading
from fascicle.formats.report import ReadReport
from fascicle.formats.webanno import add_mention, is_of_mentions

STEP: Final = "cas"
TYPES: Final = "TypeSystem.xml"


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the title that it states, else the name of the file.

    Mentions are those of `fascicle.formats.webanno`.

    Args:
        source: the file; beside XMI stands ``TypeSystem.xml``.
        options: none.
        report: not used.

    Raises:
        FormatError: no CAS, one that is damaged, or XMI without its types.
        MissingExtraError: dkpro-cassis is not installed.
    """
    with reading(source):
        cas = _cas(source)
        collector, relations, identifier = MentionCollector(cas.sofa_string or "", step=STEP), 0, source.name
        for one in cas.select_all_annotations():
            names = [feature.name for feature in one.type.all_features]
            if one.type.name.endswith(".DocumentMetaData"):
                identifier = getattr(one, "documentTitle", None) or identifier
            elif "Governor" in names:
                relations += is_of_mentions(one.type.name)
            elif is_of_mentions(one.type.name):
                facts = {name: value for name in names if isinstance(value := getattr(one, name), str) and value}
                add_mention(collector, one.type.name, (one.begin, one.end), facts=facts)
        message = f"relations are not read ({relations:,})"
        events = (event_of("relations-left-out", step=STEP, message=message),) if relations else ()
        text, mentions = cas.sofa_string or "", collector.mentions
        yield Document(id=identifier, text=text, mentions=mentions, events=(*collector.events, *events))


def _cas(source: Source) -> Any:
    try:
        import cassis
    except ImportError:
        raise MissingExtraError("cas", "dkpro-cassis") from None
    content = content_of(source)
    if content.getvalue().lstrip()[:1] == b"{":
        return cassis.load_cas_from_json(content)
    refuse_entities(content.getvalue(), source)
    beside = Path(source.path).with_name(TYPES)
    if not beside.is_file():
        raise FormatError(f"XMI needs the file {TYPES} of its export in the same folder; put it there", at=source.path)
    refuse_entities(beside.read_bytes(), source)
    return cassis.load_cas_from_xmi(content, typesystem=cassis.load_typesystem(beside))


READER: Final = Reader(read=read)
