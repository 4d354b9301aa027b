"""A model as the writer of summaries, behind any OpenAI-compatible endpoint. Nothing is sent unless one is named."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from passdown.data.views.writers import Request, WriterError
from passdown.errors import UsageError

MAX_ANSWER = 1 << 20
URL = "PASSDOWN_WRITER_URL"
KEY = "PASSDOWN_WRITER_KEY"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the host that was named, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


class ModelWriter:
    """A model behind an endpoint, asked with temperature 0. Its answers may differ from one day to the next."""

    def __init__(
        self, model: str, *, base_url: str, key: str = "", timeout: float = 60.0, tries: int = 3, pause: float = 1.0
    ) -> None:
        """`base_url` ends before `/chat/completions`. Raises `UsageError` for one that is neither https nor local."""
        self.name = f"model:{model}"
        self._model, self._key = model, key
        self._url = f"{_checked(base_url)}/chat/completions"
        self._timeout, self._tries, self._pause = timeout, max(1, tries), pause
        self._open = urllib.request.build_opener(_NoRedirect()).open

    def __call__(self, request: Request) -> str:
        """Ask, again after a pause where the server is busy or cannot be reached. Raises `WriterError`."""
        messages = [
            {"role": "system", "content": request.instructions},
            {"role": "user", "content": request.evidence},
        ]
        body = json.dumps({"model": self._model, "messages": messages, "temperature": 0, "max_tokens": 1200}).encode()
        said = ""
        for attempt in range(self._tries):
            if attempt:
                time.sleep(self._pause * 2 ** (attempt - 1))
            try:
                return self._asked(body)
            except urllib.error.HTTPError as error:
                said = f"HTTP {error.code}"
                error.close()
                if error.code not in (408, 409, 425, 429) and error.code < 500:
                    break
            except OSError as error:
                said = str(getattr(error, "reason", "") or error) or type(error).__name__
        raise WriterError(
            f"the writer {self.name} did not answer: {said}", next_step="Look at the URL, the key and the model's name."
        )

    def _asked(self, body: bytes) -> str:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # `_checked` has let nothing but http and https through.
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310
        with self._open(request, timeout=self._timeout) as response:
            data = response.read(MAX_ANSWER + 1)
        return _content(data, self.name)


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


def _content(data: bytes, name: str) -> str:
    try:
        if len(data) > MAX_ANSWER:
            raise ValueError("too long")
        content = json.loads(data)["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError("no text")
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise WriterError(f"the writer {name} answered with something that is no chat completion") from None
    return content
