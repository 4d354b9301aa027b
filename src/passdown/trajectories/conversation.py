"""From chat messages (of OpenAI's or Anthropic's shape, or of a harness's own) to events, in their order."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections import Counter, OrderedDict
from typing import Any

import msgspec
from msgspec import Struct

from passdown.io.log import count, milliseconds
from passdown.model.session import (
    Action,
    AnyEvent,
    AssistantMessage,
    ModelChange,
    Origin,
    PlanUpdate,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.trajectories.endings import bare, ending, is_wrapped, unwrapped
from passdown.trajectories.prompts import is_nudge, place_in, split_prompt
from passdown.trajectories.said_calls import said_calls
from passdown.trajectories.tools import SUBMITS, action_of, arguments_of, command_of, paths_of, plan_of

_OPEN = 512
SYSTEM = frozenset({"system", "developer"})
USER = frozenset({"user", "human"})
ASSISTANT = frozenset({"assistant", "ai", "model", "gpt"})
TOOL = frozenset({"tool", "function", "ipython", "observation"})
ROLES = SYSTEM | USER | ASSISTANT | TOOL
"""Every role that is known."""


class Message(Struct, gc=False):
    """A chat message, of any of the shapes that are read. Only what is used is named."""

    role: Any = None
    content: Any = None
    text: Any = None
    tool_calls: Any = None
    function_call: Any = None
    tool_call_id: Any = None
    tool_call_ids: Any = None
    name: Any = None
    is_error: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thought: Any = None
    action: Any = None
    is_demo: Any = None
    message_type: Any = None
    agent: Any = None
    extra: Any = None
    timestamp: Any = None
    usage: Any = None
    model: Any = None
    id: Any = None
    object: Any = None
    output: Any = None
    type: Any = None
    call_id: Any = None


MESSAGE = msgspec.json.Decoder(Message)


class Call:
    """A call that has no result yet."""

    __slots__ = ("action", "command", "name", "said")

    def __init__(self, action: Action, name: str, command: str, *, said: bool) -> None:
        self.action, self.name, self.command, self.said = action, name, command, said


class Conversation:
    """Turns messages into events. `task` is the first request where the file says it; `cwd` where commands run.

    With `blocks`, a block of shell code in an answer is a call. `open_file` is what an edit that names no file changes.
    """

    def __init__(self, *, task: str = "", model: str = "", cwd: str = "", blocks: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self.cwd = cwd
        self.open_file = ""
        self.asked = False
        self.task, self._model, self._blocks = task, model, blocks
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._open: OrderedDict[str, Call] = OrderedDict()
        self._counted: set[str] = set()
        self._made = 0
        self._spoke = False

    def begin(self, place: dict[str, Any]) -> None:
        """Begin a record: what is told from now on stands at this place."""
        self._events, self._base = [], place

    def taken(self) -> list[AnyEvent]:
        """Return the events told since `begin`."""
        return self._events

    def add(self, message: Message, place: dict[str, Any]) -> list[AnyEvent] | None:
        """Return the events that a message becomes, None when its role is not known."""
        self.begin(place)
        role = message.role if isinstance(message.role, str) else ""
        if role in SYSTEM:
            self.ignored["system"] += 1
        elif role in USER:
            self._user(message)
        elif role in ASSISTANT:
            self._assistant(message)
        elif role in TOOL:
            self._tool(message)
        else:
            return None
        return self._events

    def _user(self, message: Message) -> None:
        content = message.content if message.content is not None else message.text
        results = [block for block in content if _is_result(block)] if isinstance(content, list) else []
        for block in results:
            failed = block.get("is_error")
            self.result(str(block.get("tool_use_id") or ""), text_of(block.get("content")), failed=failed is True)
        text, images = text_of(content), _images(content)
        if results and not text.strip():
            return
        if message.is_demo is True:
            self.ignored["demonstration"] += 1
        elif not results and self._awaits() and not (self.asked and is_nudge(text) and not is_wrapped(text)):
            self.result("", unwrapped(text), extra=message.extra)
        else:
            self.user(text, images=images)

    def user(self, text: str, *, images: int = 0, origin: Origin | None = None) -> None:
        """Tell what stands in the user's role; the first such message is the task, with a template around it."""
        if origin is None and self.asked:
            origin = "injected" if is_nudge(text) or is_wrapped(text) else "human"
        if origin is not None:
            self._events.append(UserMessage(text=text, origin=origin, images=images, **self._base))
            return
        prompt = split_prompt(text, self.task)
        self.asked = True
        if not self.cwd and (place := place_in(prompt.template)):
            self.cwd = place
            self._events.append(WorkspaceChange(cwd=place, **self._base))
        self._events.append(UserMessage(text=prompt.task, images=images, **self._base))
        if prompt.template:
            self._events.append(UserMessage(text=prompt.template, origin="injected", **self._base))

    def _awaits(self) -> bool:
        return any(call.said for call in self._open.values())

    def _assistant(self, message: Message) -> None:
        response, model = self.spent(message.extra, message.usage, message.model, message.id)
        content = message.content if message.content is not None else message.text
        for thought in (message.reasoning_content, message.reasoning, _thinking(content)):
            if isinstance(thought, str) and thought.strip():
                self.say(thought, model, response, reasoning=True)
                break
        text, calls = text_of(content), _calls_of(message, content)
        said = said_calls(text, blocks=self._blocks) if not calls else None
        self.say(said.text if said is not None else text, model, response)
        for identifier, name, arguments in calls:
            self.call(name, arguments, identifier=identifier, response=response)
        for call in said.calls if said is not None else ():
            self.call(call.tool, call.arguments, response=response, said=True)

    def say(self, text: str, model: str = "", response: str = "", *, reasoning: bool = False) -> None:
        """Tell what the model said."""
        if text.strip():
            told = AssistantMessage(
                text=text, model=model or self._model, response_id=response, reasoning=reasoning, **self._base
            )
            self._events.append(told)

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        identifier: str = "",
        response: str = "",
        said: bool = False,
        paths: tuple[str, ...] = (),
    ) -> None:
        """Tell of a tool call. `said` is one in the text, whose result is the next message of the user's role."""
        self._made += 1
        identifier = identifier or f"call-{self._made}"
        action = action_of(tool, arguments)
        command = command_of(action, arguments)
        self._open[identifier] = Call(action, tool, command, said=said)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        self._events.append(
            ToolCall(
                call_id=identifier, tool=tool, action=action, command=command, cwd=self.cwd if action == "run" else "",
                paths=paths or paths_of(action, arguments) or self._opened(action), arguments=arguments,
                response_id=response, **self._base,
            )
        )  # fmt: skip
        if plan := plan_of(action, arguments):
            self._events.append(PlanUpdate(items=plan, **self._base))

    def _opened(self, action: Action) -> tuple[str, ...]:
        return (self.open_file,) if action == "edit" and self.open_file else ()

    def _tool(self, message: Message) -> None:
        identifier = message.tool_call_id or message.call_id
        if identifier is None and isinstance(message.tool_call_ids, list) and message.tool_call_ids:
            identifier = message.tool_call_ids[0]
        if identifier is None and isinstance(message.name, str):
            identifier = next((key for key, call in self._open.items() if call.name == message.name), None)
        text = text_of(message.content if message.content is not None else message.text)
        failed = message.is_error if isinstance(message.is_error, bool) else None
        self.result(str(identifier or ""), unwrapped(text), failed=failed, extra=message.extra)

    def result(
        self, identifier: str, text: str, *, failed: bool | None = None, extra: Any = None, took: int | None = None
    ) -> None:
        """Tell how a call ended; without an identifier, the oldest that has no result."""
        if identifier not in self._open and not identifier:
            identifier = next(iter(self._open), "")
        call = self._open.pop(identifier, None)
        if not identifier:
            self.ignored["result"] += 1
            return
        action = call.action if call is not None else "other"
        code, cut = _reported(extra)
        end = ending(action, text, failed=failed or None, code=code)
        outcome = cut or end.outcome
        if outcome == "unknown" and call is not None and SUBMITS in call.command:
            outcome = "ok"
        self._events.append(
            ToolResult(
                call_id=identifier, outcome=outcome, exit_code=end.exit_code if not cut else None, text=bare(end.text),
                duration_ms=took, **self._base,
            )
        )  # fmt: skip

    def left_open(self) -> list[str]:
        """Return the calls that have no result."""
        return list(self._open)

    def spent(self, extra: Any, usage: Any = None, model: Any = None, identifier: Any = None) -> tuple[str, str]:
        """Count what an answer cost, once, and return its id and the model that gave it."""
        answer = extra.get("response") if isinstance(extra, dict) else None
        if isinstance(answer, dict):
            usage, model, identifier = answer.get("usage"), answer.get("model"), answer.get("id")
        name = model if isinstance(model, str) else ""
        response = identifier if isinstance(identifier, str) else ""
        if name and name != self._model:
            if self._model and self._spoke:
                self._events.append(ModelChange(model=name, previous=self._model, **self._base))
            self._model = name
        self._spoke = self._spoke or bool(name)
        if isinstance(usage, dict) and (not response or response not in self._counted):
            self._counted.add(response)
            self._events.append(usage_of(usage, name or self._model, response, self._base))
        return response, name or self._model


def usage_of(usage: dict[str, Any], model: str, response: str, base: dict[str, Any]) -> Usage:
    """Return the tokens of an answer, as OpenAI or Anthropic count them."""
    anthropic = "input_tokens" in usage and "prompt_tokens" not in usage
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    read = _number(details, "cached_tokens") or _number(usage, "cache_read_input_tokens", "prompt_cache_hit_tokens")
    written = _number(usage, "cache_creation_input_tokens")
    prompt = _number(usage, "prompt_tokens", "input_tokens")
    if anthropic and "cache_read_input_tokens" in usage:
        prompt += read + written
    spent = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    return Usage(
        response_id=response, model=model, input=max(0, prompt - read - written), cache_read=read, cache_write=written,
        output=_number(usage, "completion_tokens", "output_tokens"), context=prompt,
        reasoning=_number(spent, "reasoning_tokens"), **base,
    )  # fmt: skip


def _number(record: Any, *names: str) -> int:
    for name in names:
        value = record.get(name) if isinstance(record, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return count(value)
    return 0


def moment_of(stamp: Any) -> int | None:
    """Return a time in milliseconds: ISO 8601, or a number of seconds or milliseconds."""
    if isinstance(stamp, str):
        return milliseconds(stamp)
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool):
        return milliseconds(stamp * 1000 if 0 < stamp < 1e11 else stamp)
    return None


def text_of(content: Any) -> str:
    """Return the text of content: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    texts = []
    for block in content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str) and text:
            texts.append(text)
    return "\n".join(texts)


def _images(content: Any) -> int:
    blocks = content if isinstance(content, list) else ()
    return sum(isinstance(block, dict) and str(block.get("type")).endswith(("image", "image_url")) for block in blocks)


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _thinking(content: Any) -> str:
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block.get("thinking") for block in blocks if block.get("type") == "thinking"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _calls_of(message: Message, content: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the calls of an answer: their ids, tools and arguments."""
    found = []
    for call in message.tool_calls if isinstance(message.tool_calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        function = function if isinstance(function, dict) else call if isinstance(call, dict) else {}
        name = function.get("name")
        if isinstance(name, str):
            found.append((_identifier(call), name, arguments_of(function.get("arguments", function.get("input")))))
    function = message.function_call
    if isinstance(function, dict) and isinstance(function.get("name"), str) and not found:
        found.append(("", function["name"], arguments_of(function.get("arguments"))))
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    used = [block for block in blocks if block.get("type") == "tool_use" and isinstance(block.get("name"), str)]
    return found + [(_identifier(block), block["name"], arguments_of(block.get("input"))) for block in used]


def record_in(record: Any, name: str) -> dict[str, Any]:
    """Return an object within an object, empty where there is none."""
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, dict) else {}


def _identifier(record: Any) -> str:
    value = record.get("id") if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def _reported(extra: Any) -> tuple[int | None, Any]:
    """Return the exit code that the harness wrote down, and how a command was cut off."""
    if not isinstance(extra, dict):
        return None, None
    code = extra.get("returncode")
    said = extra.get("exception_info")
    if isinstance(said, str) and said.strip():
        return None, "timeout" if "timed out" in said.lower() or "timeout" in said.lower() else "failed"
    return (code if isinstance(code, int) and not isinstance(code, bool) and code >= 0 else None), None
