"""Command ``fascicle label-studio``: brings documents into a project of Label Studio, and what
it has of them back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import Any, Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats import label_studio, label_studio_write
from fascicle.formats.handlers import write_each
from fascicle.formats.label_studio_regions import OURS, PARTS
from fascicle.formats.outputs import STDOUT, write_documents
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import parse_pairs
from fascicle.verbs.console import Tally, explain_missing_extra
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, Strict, option, reads, writes
from fascicle.verbs.shared import (
    ReadingOptions,
    StrictWriting,
    counted_documents,
    output_format,
    read_request,
    write_request,
)

_KEY: Final = "LABEL_STUDIO_API_KEY"  # environment variable
_LOCAL: Final = "http://localhost:8080"
_AT_ONCE: Final = 8 << 20  # bytes of tasks in a request
_CLIENT: Final = (
    "client in Python: with fascicle.verbs.label_studio.connect_label_studio(URL) as client"
)
_LONGEST: Final = 300  # characters of what Label Studio says


@contextmanager
def connect_label_studio(url: str = _LOCAL) -> Iterator[Any]:
    """Yields a client of Label Studio, whose errors become one sentence; its token is in
    ``LABEL_STUDIO_API_KEY``.

    Raises:
        MissingExtraError: label-studio-sdk is not installed.
        UsageError: there is no token.
        InputError: it cannot be reached, or refuses something.
    """
    with explain_missing_extra("label-studio"):
        import httpx
        from label_studio_sdk import LabelStudio
        from label_studio_sdk.core.api_error import ApiError
    if not (key := os.environ.get(_KEY, "")):
        raise UsageError(
            f"there is no token; set {_KEY} to the one on the page of your account in Label Studio"
        )
    try:
        yield LabelStudio(base_url=url, api_key=key)
    except ApiError as error:
        body = error.body if isinstance(error.body, dict) else {}
        message = " ".join(
            str(body.get("validation_errors") or body.get("detail") or "no reason given").split()
        )
        raise InputError(
            f"the Label Studio at {url} refuses this ({error.status_code}: {message[:_LONGEST]}); "
            f"correct it, or the token in {_KEY}{_notes(error)}"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise InputError(
            f"the Label Studio at {url} cannot be reached ({type(error).__name__}); start it, or "
            f"give url=URL{_notes(error)}"
        ) from None


def _notes(error: Exception) -> str:
    return "".join(
        f"; {note}: delete them before you push again" for note in getattr(error, "__notes__", ())
    )


def push(
    documents: Iterable[Document],
    project: str,
    *,
    client: Any,
    types: Iterable[str] = (),
    add: bool = False,
    report: WriteReport | None = None,
) -> int:
    """Brings documents into a project: gold as annotations, each other layer as predictions.

    Args:
        documents: all are read before anything is sent.
        project: its title.
        client: see `connect_label_studio`.
        types: labels of a new project, beside those of the mentions.
        add: add the documents to an existing project; by default a new one is made. A push that
            fails is undone.
        report: where to count what tasks cannot hold.

    Returns:
        How many tasks were made.

    Raises:
        UsageError: there is such a project, and ``add`` is off; or there is none, or several, and
            it is on.
        InputError: there is no document.
    """
    labels, tasks = dict.fromkeys(types), list[bytes]()
    kinds = dict[str, None]()
    report = WriteReport() if report is None else report
    write_each(
        _with_types(documents, labels, kinds),
        label_studio_write.encode,
        tasks.append,
        holds=label_studio_write.HOLDS,
        report=report,
    )
    if not tasks:
        raise InputError("there is no document, so nothing was sent; give files with documents")
    if add:
        _add(tasks, _number(project, client), client)
        return len(tasks)
    if _titled(project, client):
        raise UsageError(
            f"there is a project {project!r}; give another title, or add=True to add to it"
        )
    project_id = client.projects.create(title=project, label_config=_view(labels, kinds)).id
    try:
        for portion in _portions(tasks):
            client.projects.import_tasks(project_id, request=portion)
    except BaseException:
        client.projects.delete(project_id)
        raise
    return len(tasks)


def pull(
    project: str, *, client: Any, fields: Iterable[tuple[str, str]] = ()
) -> Iterator[Document]:
    """Yields a document for each task of a project.

    Args:
        project: its title.
        client: see `connect_label_studio`.
        fields: ``("annotator", NAME)``, ``("text", FIELD)`` and ``("to_name", NAME)``, as for an
            exported file.

    Raises:
        UsageError: there is no such project, or several; or another field.
        FormatError: a task without a text, or with several annotations of which none is marked as
            ground truth.
    """
    names_of = dict(fields)
    if unknown := sorted(names_of.keys() - {"annotator", "text", "to_name"}):
        raise UsageError(
            f"a task has no part {unknown[0]!r}; name a field for annotator, text or to_name"
        )
    annotator, field, part = (names_of.get(name, "") for name in ("annotator", "text", "to_name"))
    for task in client.tasks.list(project=_number(project, client)):
        try:
            yield label_studio.from_task(
                task.dict(), str(task.id), field=field, annotator=annotator, part=part
            )
        except (ValueError, msgspec.ValidationError) as error:
            raise FormatError(f"{error}", at=f"task {task.id} of {project}") from None


def _titled(project: str, client: Any) -> list[int]:
    return [
        project_entry.id
        for project_entry in client.projects.list()
        if project_entry.title == project
    ]


def _number(project: str, client: Any) -> int:
    numbers = _titled(project, client)
    if len(numbers) != 1:
        raise UsageError(
            f"there {'are several projects' if numbers else 'is no project'} {project!r}; give a "
            "title of one"
        )
    return numbers[0]


def _add(tasks: Iterable[bytes], project: int, client: Any) -> None:
    """Adds tasks to a project; if it fails, deletes those that were made, and a note says what
    may be left.
    """
    ids, unsure, names = list[int](), list[str](), list[str]()
    try:
        for portion in _portions(tasks):
            unsure += (names := [entry["meta"][OURS]["id"] for entry in portion])
            reply = client.projects.import_tasks(project, request=portion, return_task_ids=True)
            if numbers := getattr(reply, "task_ids", None):  # some editions do not tell them
                ids += numbers
                del unsure[-len(names) :]
    except BaseException as error:
        _delete(ids, client)
        if ids:
            error.add_note(
                f"{plural(len(ids), 'task')} could not be deleted, ids {ids[0]} to {ids[-1]}"
            )
        # else they may have come, and the answer be lost
        if 400 <= (getattr(error, "status_code", None) or 0) < 500:
            del unsure[-len(names) :]
        if unsure:
            error.add_note(
                f"tasks of the documents {unsure[0]!r} to {unsure[-1]!r} may be in the project"
            )
        raise


def _delete(ids: list[int], client: Any) -> None:
    """Deletes tasks, and takes them out of the list; stops where it fails."""
    with suppress(Exception):
        while ids:
            client.tasks.delete(str(ids[-1]))
            ids.pop()


def _portions(tasks: Iterable[bytes]) -> Iterator[list[Any]]:
    portion, size = list[Any](), 0
    for task in tasks:
        if portion and size + len(task) > _AT_ONCE:
            yield portion
            portion, size = [], 0
        portion.append(msgspec.json.decode(task))
        size += len(task)
    yield portion


def _with_types(
    documents: Iterable[Document], labels: dict[str, None], kinds: dict[str, None]
) -> Iterator[Document]:
    """Yields documents, and adds the types of their mentions and relations to the keys."""
    for document in documents:
        labels.update(dict.fromkeys(mention.type for mention in document.mentions))
        kinds.update(dict.fromkeys(relation.type for relation in document.relations))
        yield document


def _view(labels: Iterable[str], relations: Iterable[str]) -> str:
    """Returns the labelling configuration, with the names that the format of tasks has."""
    labels_xml = "".join(f'<Label value="{escape(name)}"/>' for name in labels)
    names = dict.fromkeys((PARTS, *filter(None, relations)))
    kinds = "".join(f'<Relation value="{escape(name)}"/>' for name in names)
    return (
        f"<View><Relations>{kinds}</Relations>"
        f'<Labels name="label" toName="text">{labels_xml}</Labels><Text name="text" '
        'value="$text"/></View>'
    )


class Push(Strict, ReadingOptions):
    """Send documents to a new project: gold as annotations, other layers as predictions.

    In Python: ``fascicle.verbs.label_studio.push(fascicle.read("corpus.jsonl"), "my project",
    client=client)``

    Attributes:
        project: title of the project.
        files: files, folders, zips; - for standard input.
        url: address of Label Studio; default: http://localhost:8080; your key is read from
            LABEL_STUDIO_API_KEY.
        types: further labels of the new project, separated by commas.
        add: add the documents to an existing project.
    """

    epilog = _CLIENT
    project: str = option("PROJECT")
    files: list[str] = option("FILE +", reads)
    url: str = option("--url URL", default=_LOCAL)
    types: str = option("--types TYPE,TYPE,...", default="")
    add: bool = option("--add")


class Pull(Overwrite, StrictWriting):
    """Write the annotations and predictions of a project as documents.

    In Python: ``fascicle.verbs.label_studio.pull("my project", client=client)``

    Attributes:
        project: title of the project.
        output: the file to write (for brat: a folder, or a .zip); default: standard output.
        url: address of Label Studio; default: http://localhost:8080; your key is read from
            LABEL_STUDIO_API_KEY.
        field: annotator=NAME: if tasks have several annotators, take the annotations of this one as
            gold; annotator=all: keep each annotator as a source; text=FIELD: the field of tasks
            with the text.
    """

    epilog = _CLIENT
    project: str = option("PROJECT")
    output: str = option("-o --output OUTPUT", writes, default=STDOUT)
    format: str | None = output_format("by the suffix of the output, else jsonl")
    url: str = option("--url URL", default=_LOCAL)
    field: list[str] = option("--field NAME=VALUE ...")


def _run_push(args: Push) -> int:
    """Brings documents into a project; returns the exit code."""
    tally, types = Tally(), [name for name in args.types.split(",") if name]
    report = tally.account.open_report()
    documents = counted_documents(args.files, read_request(args), tally.account)
    with connect_label_studio(args.url) as client:
        count = push(
            documents, args.project, client=client, types=types, add=args.add, report=report
        )
    tally.account.add(report)
    tally.say(verbose=args.verbose)
    say(f"made {plural(count, 'task')} in the project {args.project!r}")
    return 3 if args.strict and tally.account.losses else tally.exit_code(strict=args.strict)


def _run_pull(args: Pull) -> int:
    """Writes the documents of a project; returns the exit code."""
    fields = parse_pairs(args.field, key="--field", example="annotator=all")
    writing, tally = write_request(args), Tally()
    writing.check()
    report = tally.account.open_report()

    with connect_label_studio(args.url) as client:
        documents = tally.account.counted(pull(args.project, client=client, fields=fields))
        write_documents(tally.account.passing(documents, report), writing, report=report)
    tally.account.add(report)
    tally.say(verbose=args.verbose)
    tally.close(writing.path)
    return tally.exit_code(strict=args.strict)


COMMANDS = {
    "push": (Push, _run_push),
    "pull": (Pull, _run_pull),
}
