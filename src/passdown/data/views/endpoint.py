"""A model as the writer of summaries, behind any OpenAI-compatible endpoint. Nothing is sent unless one is named."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from passdown.data.views.writers import Request, WriterError
from passdown.errors import UsageError

MAX_ANSWER = 1 << 20
LONGEST_PAUSE = 30.0
PATIENCE = 3
"""Questions in a row that are put several times before they are given up."""
URL = "PASSDOWN_WRITER_URL"
KEY = "PASSDOWN_WRITER_KEY"
_BUSY = frozenset({408, 409, 425, 429})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the host that was named, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


class EndpointError(WriterError):
    """An endpoint gave no answer: it `refused` the question, is `unreachable`, or was busy all the time."""

    def __init__(
        self, what: str, *, where: str = "", next_step: str = "", refused: bool = False, unreachable: bool = False
    ) -> None:
        super().__init__(what, where=where, next_step=next_step)
        self.refused = refused
        self.unreachable = unreachable


class ModelWriter:
    """A model behind an endpoint, asked with temperature 0. Its answers may differ from one day to the next.

    A question is put `tries` times, with pauses that double and are as long as the server asks for, up to 30 seconds.
    After three questions without an answer each further one is put once, until one is answered.
    """

    def __init__(
        self, model: str, *, base_url: str, key: str = "", timeout: float = 60.0, tries: int = 4, pause: float = 1.0
    ) -> None:
        """`base_url` ends before `/chat/completions`. Raises `UsageError` for one that is neither https nor local."""
        self.name = f"model:{model}"
        self._model, self._key = model, key
        self._url = f"{_checked(base_url)}/chat/completions"
        self._timeout, self._tries, self._pause = timeout, max(1, tries), pause
        self._open = urllib.request.build_opener(_NoRedirect()).open
        self._unanswered = 0

    def __call__(self, request: Request) -> str:
        """Ask, again after a pause where the server is busy or cannot be reached. Raises `EndpointError`."""
        messages = [
            {"role": "system", "content": request.instructions},
            {"role": "user", "content": request.evidence},
        ]
        try:
            answer = self._answer(messages, self._tries if self._unanswered < PATIENCE else 1)
        except EndpointError:
            self._unanswered += 1
            raise
        self._unanswered = 0
        return answer

    def check(self) -> None:
        """Put a question that nobody has a reason to refuse. Raises `EndpointError` where the settings are wrong.

        One that is merely busy is none of the settings' fault.
        """
        try:
            self._answer([{"role": "user", "content": "Answer with the word yes."}], min(2, self._tries))
        except EndpointError as error:
            if error.refused or error.unreachable:
                raise

    def _answer(self, messages: list[dict[str, str]], tries: int) -> str:
        body = json.dumps({"model": self._model, "messages": messages, "temperature": 0, "max_tokens": 1200}).encode()
        for attempt in range(tries):
            wait, last = self._pause * 2**attempt, attempt + 1 == tries
            try:
                return self._asked(body)
            except urllib.error.HTTPError as error:
                refused = error.code not in _BUSY and error.code < 500
                failed = self._failed(f"did not answer: HTTP {error.code}", refused=refused)
                wait = max(wait, _seconds(error.headers.get("Retry-After")))
                last = refused or last
                error.close()
            except (OSError, HTTPException) as error:
                said = str(getattr(error, "reason", "") or error) or type(error).__name__
                failed = self._failed(f"did not answer: {said}", unreachable=True)
            except ValueError:  # broken off on the way, perhaps
                failed = self._failed("answered with something that is no chat completion", refused=True)
            if last:
                break
            time.sleep(min(wait, LONGEST_PAUSE))
        raise failed

    def _asked(self, body: bytes) -> str:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # `_checked` has let nothing but http and https through.
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310
        with self._open(request, timeout=self._timeout) as response:
            return _content(response.read(MAX_ANSWER + 1))

    def _failed(self, how: str, *, refused: bool = False, unreachable: bool = False) -> EndpointError:
        return EndpointError(
            f"the writer {self.name} {how}", where=urlsplit(self._url).netloc,
            next_step=f"Look at {URL} (it ends before /chat/completions), {KEY} and the model's name.",
            refused=refused, unreachable=unreachable,
        )  # fmt: skip


def model_writer(model: str, environ: Mapping[str, str] | None = None, *, timeout: float = 60.0) -> ModelWriter:
    """Return the writer for a model whose endpoint `PASSDOWN_WRITER_URL` names, with the key `PASSDOWN_WRITER_KEY`.

    Nothing is assumed: raises `UsageError` where no URL is set.
    """
    environ = os.environ if environ is None else environ
    url = environ.get(URL, "")
    if not url:
        raise UsageError("no endpoint is named for the writer", next_step=f"Set {URL}, and {KEY} where it needs a key.")
    return ModelWriter(model, base_url=url, key=environ.get(KEY, ""), timeout=timeout)


def _checked(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
    except ValueError:
        raise UsageError("the writer's URL is none", next_step="Give one such as https://host/v1.") from None
    local = host in ("localhost", "127.0.0.1", "::1")
    if (
        not host
        or parts.query
        or parts.fragment
        or parts.username
        or not (parts.scheme == "https" or (parts.scheme == "http" and local))
    ):
        raise UsageError(
            "the writer's URL must be https (or http on this machine), without a name, query or fragment",
            next_step="Give one such as https://host/v1.",
        )
    return base_url.rstrip("/")


def _content(data: bytes) -> str:
    """Return what the model said. Raises `ValueError` for what is no chat completion."""
    try:
        if len(data) > MAX_ANSWER:
            raise ValueError("too long")
        content = json.loads(data)["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError("no text")
    except (KeyError, IndexError, TypeError, RecursionError) as error:
        raise ValueError("no chat completion") from error
    return content


def _seconds(header: str | None) -> float:
    """Return how long a server asks to be left alone; 0 where it gives no number (it may be a date)."""
    return float(header) if header is not None and header.isascii() and header.isdigit() and len(header) < 9 else 0.0
