"""What OpenHands writes: the events of its SDK (`kind`), and those of before it (`action` or `observation`).

The shapes are those of `OpenHands/software-agent-sdk` (`openhands/sdk/event`), of `All-Hands-AI/OpenHands`
(`openhands/core/schema`) and of real files. Only the fields that are used are named, all with defaults.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from passdown.io.log import Number


class Text(Struct, gc=False):
    """One block of content."""

    type: str | None = None
    text: str | None = None


Blocks = str | list[Text] | None


class Message(Struct, gc=False):
    """A message as the model's interface has it."""

    role: str | None = None
    content: Blocks = None


class Called(Struct, gc=False):
    """A call as the model wrote it: `arguments` is JSON in a string."""

    id: str | None = None
    name: str | None = None
    arguments: Any = None


class CallMetadata(Struct, gc=False):
    """The call behind an older action, with the whole answer it was part of."""

    tool_call_id: str | None = None
    function_name: str | None = None
    model_response: Any = None


class Event(Struct, gc=False):
    """One event, of either generation."""

    kind: str = ""
    id: Any = None
    timestamp: str | int | float | None = None
    source: str | None = None
    llm_message: Message | None = None
    extended_content: list[Text] | None = None
    thought: Any = None
    reasoning_content: str | None = None
    action: Any = None
    observation: Any = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_call: Called | None = None
    llm_response_id: str | None = None
    error: Any = None
    rejection_reason: str | None = None
    rejection_source: str | None = None
    summary: str | None = None
    code: Any = None
    detail: str | None = None
    key: str | None = None
    value: Raw = Raw()
    additional_context: str | None = None
    title: str | None = None
    status: str | None = None
    raw_input: Any = None
    content: Any = None
    is_error: bool | None = None
    message: Any = None
    cause: Any = None
    args: Any = None
    extras: Any = None
    tool_call_metadata: CallMetadata | None = None
    event: Raw = Raw()
    """An event inside another record, as it is written where a folder was joined to lines."""


class Tokens(Struct, gc=False):
    """Token counts, of one response or in all; the prompt's hold what the cache gave and took."""

    model: str | None = None
    prompt_tokens: Number = None
    completion_tokens: Number = None
    cache_read_tokens: Number = None
    cache_write_tokens: Number = None
    reasoning_tokens: Number = None
    context_window: Number = None
    response_id: str | None = None


class Metrics(Struct, gc=False):
    """What one use of a model has cost."""

    model_name: str | None = None
    accumulated_token_usage: Tokens | None = None
    token_usages: list[Tokens] | None = None


class Stats(Struct, gc=False):
    """What all uses have cost, by use (`agent`, `condenser`, …)."""

    usage_to_metrics: dict[str, Metrics] = field(default_factory=dict)


class Llm(Struct, gc=False):
    """The model that was chosen."""

    model: str | None = None


class Agent(Struct, gc=False):
    """The agent's settings, as far as they are used."""

    llm: Llm | None = None


class Workspace(Struct, gc=False):
    """Where the conversation works."""

    working_dir: str | None = None


class State(Struct, gc=False):
    """`base_state.json`."""

    id: str | None = None
    agent: Agent | None = None
    workspace: Workspace | None = None
    stats: Stats | None = None
    title: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    conversation_id: str | None = None


EVENT = msgspec.json.Decoder(Event)
STATE = msgspec.json.Decoder(State)
STATS = msgspec.json.Decoder(Stats)


def decode(data: bytes) -> Event:
    """Return an event, taken out of the record around it. Raises what msgspec does when it is none."""
    event = EVENT.decode(data)
    inner = bytes(event.event)
    return EVENT.decode(inner) if inner.startswith(b"{") and not event.kind and event.source is None else event


def text_of(blocks: Any) -> str:
    """Return the text of content in any of its forms."""
    if isinstance(blocks, str):
        return blocks
    texts = []
    for block in blocks if isinstance(blocks, list) else ():
        text = block.text if isinstance(block, Text) else block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str) and text:
            texts.append(text)
    return "\n".join(texts)
