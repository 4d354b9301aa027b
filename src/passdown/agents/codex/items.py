"""Response items of a rollout, typed: what the model was sent and what it answered."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

from msgspec import Struct, field


class Text(Struct, gc=False):
    """One part of a message: text, or an image (its data is skipped)."""

    type: str = ""
    text: str | None = None


class Marks(Struct, gc=False):
    """Where the parts of a message come from (`user.text`, `hooks.additional_context`, …), told since about 0.150."""

    content_item_kinds: list[str] | None = None


class Message(Struct, gc=False, tag_field="type", tag="message"):
    """A message of any role. `content` is a list of parts, or plain text in hand-made files."""

    role: str = ""
    content: list[Text] | str | None = None
    marks: Marks | None = field(default=None, name="internal_chat_message_metadata_passthrough")


class Reasoning(Struct, gc=False, tag_field="type", tag="reasoning"):
    """Thinking: its visible summary, seldom its text; the encrypted form is skipped."""

    summary: list[Text] | None = None
    content: list[Text] | None = None


class FunctionCall(Struct, gc=False, tag_field="type", tag="function_call"):
    """A call whose arguments are a JSON text."""

    name: str = ""
    call_id: str = ""
    arguments: Any = None
    namespace: str | None = None


class CustomCall(Struct, gc=False, tag_field="type", tag="custom_tool_call"):
    """A call whose input is free text: a patch, or JavaScript in code mode."""

    name: str = ""
    call_id: str = ""
    input: Any = None
    namespace: str | None = None


class FunctionOutput(Struct, gc=False, tag_field="type", tag="function_call_output"):
    """What a call gave back: text, a list of parts, or an object."""

    call_id: str = ""
    output: Any = None


class CustomOutput(Struct, gc=False, tag_field="type", tag="custom_tool_call_output"):
    """What a custom call gave back."""

    call_id: str = ""
    output: Any = None


class ShellAction(Struct, gc=False):
    """What a `local_shell_call` runs."""

    command: list[str] | None = None
    working_directory: str | None = None


class ShellCall(Struct, gc=False, tag_field="type", tag="local_shell_call"):
    """A shell call in the form the Responses API has for it."""

    call_id: str | None = None
    id: str | None = None
    action: ShellAction | None = None


class WebAction(Struct, gc=False):
    """A search, or a page that was opened."""

    type: str = ""
    query: str | None = None
    url: str | None = None


class WebSearch(Struct, gc=False, tag_field="type", tag="web_search_call"):
    """A search the provider ran; there is no output row."""

    id: str | None = None
    status: str | None = None
    action: WebAction | None = None


class ImageCall(Struct, gc=False, tag_field="type", tag="image_generation_call"):
    """A picture the provider made; there is no output row."""

    id: str | None = None
    status: str | None = None


class ToolSearch(Struct, gc=False, tag_field="type", tag="tool_search_call"):
    """A look-up of tools that are loaded on demand."""

    call_id: str | None = None
    arguments: Any = None


class ToolSearchOutput(Struct, gc=False, tag_field="type", tag="tool_search_output"):
    """The answer to `tool_search_call`; the schemas are skipped."""

    call_id: str | None = None
    status: str | None = None


class AgentLetter(Struct, gc=False, tag_field="type", tag="agent_message"):
    """A message between agents; its text may be encrypted."""

    author: str | None = None
    content: list[Text] | None = None


class OpaqueCompaction(Struct, gc=False, tag_field="type", tag="compaction"):
    """A summary only the provider can read."""


class ContextCompaction(Struct, gc=False, tag_field="type", tag="context_compaction"):
    """The same, under its other name."""


class AdditionalTools(Struct, gc=False, tag_field="type", tag="additional_tools"):
    """Tool schemas."""


class GhostSnapshot(Struct, gc=False, tag_field="type", tag="ghost_snapshot"):
    """A commit made for undo."""


ResponseItem = (
    Message
    | Reasoning
    | FunctionCall
    | CustomCall
    | FunctionOutput
    | CustomOutput
    | ShellCall
    | WebSearch
    | ImageCall
    | ToolSearch
    | ToolSearchOutput
    | AgentLetter
    | OpaqueCompaction
    | ContextCompaction
    | AdditionalTools
    | GhostSnapshot
)
