"""The text of a message as a model reads it, and which part of it is its body: one chat template, as code and as Jinja.

What is trained of an assistant's message is exactly its reasoning, content, tool calls and end token.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from passdown.data.samples.messages import Message
from passdown.model.pattern import lazy_pattern

START, END = "<|im_start|>", "<|im_end|>"
_MARKER = lazy_pattern(r"<\|(im_start|im_end|endoftext)\|>")

CHAT_TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message['role'] + '\\n' }}
{%- if message['role'] == 'assistant' %}
{%- generation %}
{%- if message.get('reasoning_content') %}
{{- '<think>\\n' + message['reasoning_content'] + '\\n</think>\\n\\n' }}
{%- endif %}
{{- message.get('content') or '' }}
{%- for call in message.get('tool_calls') or [] %}
{%- set given = call['function']['arguments'] %}
{{- '\\n<tool_call>\\n{"name": ' + (call['function']['name'] | tojson) + ', "arguments": ' }}
{{- given if given is string else given | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>' }}
{%- endgeneration %}
{{- '\\n' }}
{%- else %}
{{- message['content'] }}
{%- if loop.first and message['role'] == 'system' and tools %}
{{- '\\n\\nTools:\\n' + (tools if tools is string else tools | tojson) }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
"""The same in Jinja, for a tokenizer's `chat_template`: what it renders is what `rendered_text` gives."""


class Text(NamedTuple):
    """A message as text: what stands before its body, the body, the end token, and what stands behind."""

    head: str
    body: str
    end: str = END
    tail: str = "\n"


def text_of(message: Message, tools: str = "") -> Text:
    """Return a message's text. `tools`, a JSON text, goes behind a system message's content."""
    head = f"{START}{message.role}\n"
    if message.role != "assistant":
        told = f"\n\nTools:\n{_inert(tools)}" if tools and message.role == "system" else ""
        return Text(head, _inert(message.content) + told)
    thought = f"<think>\n{_inert(message.reasoning)}\n</think>\n\n" if message.reasoning else ""
    calls = "".join(
        f'\n<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments": {_inert(call.arguments)}}}\n</tool_call>'
        for call in message.calls
    )
    return Text(head, thought + _inert(message.content) + calls)


def rendered_text(messages: list[Message], tools: str = "") -> str:
    """Return a whole conversation as text."""
    return "".join("".join(text_of(message, tools if place == 0 else "")) for place, message in enumerate(messages))


def _inert(text: str) -> str:
    """Return text in which no marker of the template stands: what a file or a person says never ends a turn."""
    return _MARKER.sub(r"<| \1|>", text)
