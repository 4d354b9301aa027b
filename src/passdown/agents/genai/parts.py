"""A message as Google's client library has it: parts, each text, a call, a result or a file."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

from msgspec import Raw, Struct


class FunctionResponse(Struct, gc=False):
    """The result of a call, as the model gets it."""

    id: str | None = None
    name: str | None = None
    response: Any = None


class FunctionCall(Struct, gc=False):
    """A call, as the model writes it."""

    id: str | None = None
    name: str | None = None
    args: Any = None


class Part(Struct, rename="camel", gc=False):
    """One part of a message."""

    text: str | None = None
    thought: bool | str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Raw = Raw()
    file_data: Raw = Raw()

    @property
    def attached(self) -> bool:
        """Whether the part is an image or another file."""
        return bytes(self.inline_data).startswith(b"{") or bytes(self.file_data).startswith(b"{")


Parts = str | list[Part | str] | Part | None


def text_of(parts: Parts) -> str:
    """Return the text of a message or a part."""
    return "".join(part.text or "" for part in listed(parts) if part.function_response is None and not part.thought)


def listed(parts: Parts) -> list[Part]:
    """Return the parts of a message, whichever of the ways to write them was used."""
    if parts is None:
        return []
    if isinstance(parts, str):
        return [Part(text=parts)]
    if isinstance(parts, Part):
        return [parts]
    return [Part(text=part) if isinstance(part, str) else part for part in parts]
