"""A large language model behind an OpenAI-compatible address as a step.

The model is asked for names and their types, never for offsets: a name is looked for in the text,
and one that is not there is reported and not used.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from fascicle.core.document import Document, Event, Mention, Patch, unique
from fascicle.core.files.atomic import atomic_writer
from fascicle.errors import InputError, RecipeError
from fascicle.pipeline.adapters import Adapter
from fascicle.settings.base import Name, Natural, Positive, Settings
from fascicle.text.segment import sentence_parts

_LONGEST: Final = 4 << 20  # bytes of an answer
_PAUSE: Final = 30.0  # seconds between two tries, at most
# states of HTTP after which one tries again
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_TASK: Final = (
    "You find names in biomedical text. List each name in the text that is of one of these "
    "types, copied exactly as it "
    "is written, with its type. List a name once. Add nothing that is not in the text.\n\nTypes:\n"
)


class LlmSettings(Settings, frozen=True, kw_only=True):
    """Settings of the step.

    Attributes:
        address: such as ``"http://localhost:8000/v1"``; ``/chat/completions`` is added. It
            holds no key, since messages show it.
        model: its name there.
        types: type -> what it means, in words.
        key_variable: environment variable with the key; none is sent if it is empty or not set.
        instructions: added to the task.
        calls: most requests of a worker; a document beyond them goes into quarantine.
        tokens: most tokens of a worker, as the service counts them.
        cache: folder of answers, from that of the pipeline; empty for none. What is there costs no
            call.
        retries: further tries after an error, a stall, or an answer of another form.
        seconds: the seconds that a request may take.
        characters: of text in a request, at most; longer texts are cut between sentences.
        schema: whether the schema of the answer is sent; some services do not take it.
    """

    address: Annotated[str, Meta(pattern=r"^https?://[^\s@?#]+\Z", max_length=2_000)]
    model: Name
    types: Annotated[dict[Name, str], Meta(min_length=1)]
    key_variable: str = "OPENAI_API_KEY"
    instructions: str = ""
    calls: Positive = 1_000
    tokens: Positive = 1_000_000
    cache: str = ""
    retries: Natural = 2
    seconds: Annotated[float, Meta(gt=0, le=3_600)] = 30.0
    characters: Positive = 6_000
    schema: bool = True


class _Name(msgspec.Struct, frozen=True):
    text: str
    type: str


class _Names(msgspec.Struct, frozen=True):
    names: list[_Name]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would send the key to another host."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


class LlmStep(Adapter):
    """A language model as a step; see the module."""

    Settings = LlmSettings
    name = "llm"

    def __init__(self, settings: LlmSettings, *, name: str = "llm", folder: str = ".") -> None:
        """Sends nothing yet.

        Args:
            settings: see there.
            name: of the step, and the source of its mentions.
            folder: the folder that the cache begins at.

        Raises:
            RecipeError: the cache is no folder.
        """
        self._settings, self.name, self.drops = settings, name, frozenset({name})
        self.types = tuple(settings.types)
        self._cache = Path(folder, settings.cache).expanduser() if settings.cache else None
        if self._cache is not None and self._cache.exists() and not self._cache.is_dir():
            raise RecipeError(
                f"the cache {self._cache} is not a folder; name a folder, or one that can be made"
            )
        types = [
            settings.model,
            settings.types,
            settings.instructions,
            settings.characters,
            settings.schema,
        ]
        self.fingerprint = hashlib.sha256(msgspec.json.encode(types)).hexdigest()
        self._calls, self._tokens = 0, 0
        self._opener = urllib.request.build_opener(_NoRedirect())

    def run(self, documents: Sequence[Document]) -> Iterator[Patch]:
        """Yields one patch for each document.

        Raises:
            InputError: the budget is spent, or the service gives no usable answer.
        """
        for document in documents:
            mentions: list[Mention] = []
            events: list[Event] = []
            for start, end in sentence_parts(
                document.text, document.sentences or (), self._settings.characters
            ):
                for name in self._names(document.text[start:end]):
                    places = [
                        (start + first, start + last)
                        for first, last in find_name_places(
                            name.text.strip(), document.text[start:end]
                        )
                    ]
                    code = (
                        "unknown-type"
                        if name.type not in self._settings.types
                        else ""
                        if places
                        else "invented-name"
                    )
                    if code:
                        message = (
                            "the model gave a name that is not in the text, or a type that "
                            "was not asked for"
                        )
                        events.append(
                            Event(step=self.name, kind="note", code=code, message=message)
                        )
                    else:
                        mentions += [
                            Mention((place,), name.type, source=self.name) for place in places
                        ]
            yield Patch(add=unique(mentions)[0], drop=self._earlier(document), events=tuple(events))

    def _names(self, text: str) -> list[_Name]:
        """Returns what the model names, from the cache if it is there."""
        body = self._body(text)
        key = hashlib.sha256(f"{self._settings.address} ".encode() + body).hexdigest()
        place = None if self._cache is None else self._cache / f"{key}.json"
        if place is not None and place.is_file():
            return msgspec.json.decode(place.read_bytes(), type=_Names).names
        answer = self._answer(body)
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            with atomic_writer(place, overwrite=True) as stream:
                stream.write(msgspec.json.encode(answer))
        return answer.names

    def _body(self, text: str) -> bytes:
        settings = self._settings
        types = "".join(f"- {kind}: {meaning}\n" for kind, meaning in settings.types.items())
        form = 'Answer with JSON alone: {"names": [{"text": "...", "type": "..."}]}'
        value: dict[str, Any] = {
            "model": settings.model,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": f"{_TASK}{types}\n{settings.instructions}\n{form}"},
                {"role": "user", "content": text},
            ],
        }
        if settings.schema:
            schema = {"name": "names", "strict": True, "schema": _schema(list(settings.types))}
            value["response_format"] = {"type": "json_schema", "json_schema": schema}
        return msgspec.json.encode(value)

    def _answer(self, body: bytes) -> _Names:
        """Asks until an answer has the right form.

        Raises:
            InputError: the budget is spent, the service refuses, or every try failed.
        """
        why = ""
        for number in range(self._settings.retries + 1):
            if number:
                time.sleep(min(0.1 * 4**number, _PAUSE))
            self._pay()
            try:
                answer = msgspec.json.decode(self._sent(body))
                self._tokens += max(int((answer.get("usage") or {}).get("total_tokens", 0)), 0)
                return msgspec.json.decode(
                    _bare(answer["choices"][0]["message"]["content"]), type=_Names
                )
            except urllib.error.HTTPError as error:
                error.close()
                why = f"it answered with the state {error.code}"
                if error.code not in _AGAIN:
                    break
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                why = f"it cannot be reached, or stalls ({type(reason).__name__})"
            except (
                msgspec.MsgspecError,
                ValueError,
                TypeError,
                LookupError,
                AttributeError,
                RecursionError,
            ):
                why = "its answer is not JSON of the form that was asked for"
        raise InputError(
            f"the language model at {self._settings.address} gave nothing usable: {why}; start the "
            "service, correct the address or the key, and try the document again",
            code="prediction",
        )

    def _pay(self) -> None:
        """Counts a request.

        Raises:
            InputError: the budget is spent.
        """
        settings = self._settings
        if self._calls >= settings.calls or self._tokens >= settings.tokens:
            raise InputError(
                f"the budget of {settings.calls:,} calls and {settings.tokens:,} tokens is spent "
                f"({self._calls:,} calls, "
                f"{self._tokens:,} tokens); raise calls or tokens, and try the document again",
                code="prediction",
            )
        self._calls += 1

    def _sent(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "fascicle"}
        if (
            key := os.environ.get(self._settings.key_variable, "").strip()
            if self._settings.key_variable
            else ""
        ):
            headers["Authorization"] = f"Bearer {key}"
        address = f"{self._settings.address.rstrip('/')}/chat/completions"
        request = urllib.request.Request(address, data=body, headers=headers)
        with self._opener.open(request, timeout=self._settings.seconds) as response:
            deadline, parts, size = time.monotonic() + self._settings.seconds, [], 0
            while part := response.read1(1 << 16):
                parts.append(part)
                size += len(part)
                if size > _LONGEST:
                    raise ValueError(f"an answer of more than {_LONGEST:,} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError
        return b"".join(parts)


def find_name_places(name: str, text: str) -> list[tuple[int, int]]:
    """Returns every place of a name in a text where no letter or digit touches it, from the left
    without overlaps.
    """
    if not name.strip():
        return []
    before = r"(?<![^\W_])" if name[0].isalnum() else ""
    after = r"(?![^\W_])" if name[-1].isalnum() else ""
    return [match.span() for match in re.finditer(f"{before}{re.escape(name)}{after}", text)]


def _bare(content: str) -> str:
    """Returns the JSON of an answer, without the fence of Markdown that some models put around
    it.
    """
    fenced = re.fullmatch(r"\s*```(?:json)?\s*(.*?)\s*```\s*", content, flags=re.DOTALL)
    return fenced[1] if fenced else content


def _schema(types: Sequence[str]) -> dict[str, Any]:
    name = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "type": {"type": "string", "enum": list(types)}},
        "required": ["text", "type"],
        "additionalProperties": False,
    }
    names = {"type": "array", "items": name}
    return {
        "type": "object",
        "properties": {"names": names},
        "required": ["names"],
        "additionalProperties": False,
    }
