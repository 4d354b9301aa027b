"""What Cursor writes: rows `{role, message: {content}}` in a transcript, messages `{role, content}` in `store.db`."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Struct

from passdown.io.log import Number


class Inner(Struct, gc=False):
    """The message of a transcript's row."""

    content: Any = None


class Record(Struct, gc=False):
    """A row of a transcript (with `message`), or a message of the store (with `content`)."""

    role: str | None = None
    message: Inner | None = None
    content: Any = None
    id: Any = None
    type: str | None = None
    provider_options: Any = msgspec.field(default=None, name="providerOptions")


class Meta(Struct, rename="camel", gc=False):
    """What `store.db` says of its session, as JSON in hexadecimal."""

    agent_id: str | None = None
    name: str | None = None
    created_at: Number = None
    last_used_model: str | None = None
    latest_root_blob_id: str | None = None


RECORD = msgspec.json.Decoder(Record)
META = msgspec.json.Decoder(Meta)


def decode(line: bytes) -> Record:
    """Return the row on a line. Raises what msgspec does when it is none."""
    return RECORD.decode(line)


def blocks_of(record: Record) -> list[dict[str, Any]]:
    """Return the blocks of a row or message; a mere string is one of text."""
    content = record.message.content if record.message is not None else record.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content[:10_000] if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(content: Any) -> str:
    """Return the text of a result, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    found = (
        [block.get("text") for block in content[:1000] if isinstance(block, dict)] if isinstance(content, list) else []
    )
    return "\n".join(text for text in found if isinstance(text, str))
