"""Steps of ATIF files in the wild, into events: whose words they hold and what calls do is worked out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec import structs

from passdown.io.log import BAD
from passdown.model.session import AnyEvent, Compaction, SubagentStart, ToolResult, Usage
from passdown.trajectories.atif_records import Step
from passdown.trajectories.conversation import Conversation, moment_of, record_in, text_of, usage_of
from passdown.trajectories.said_calls import said_calls
from passdown.trajectories.tools import arguments_of

_OF_AGENTS = ("tool_calls", "metrics", "reasoning_content", "model_name", "llm_call_count")
_SUMMARISED = ("summarization", "summarisation", "compaction", "condensation")
_EARLY = 1000


class Steps:
    """Turns the steps of one agent into events. `cached_apart`: prompt tokens hold no cached ones (before 1.2)."""

    def __init__(self, agent_id: str = "", *, model: str = "", cached_apart: bool = False) -> None:
        self._agent_id, self._cached_apart = agent_id, cached_apart
        self._talk = Conversation(model=model)
        self._events: list[AnyEvent] = []
        self._place: dict[str, Any] = {}
        self._early: dict[str, tuple[str, bool | None, dict[str, Any]]] = {}
        self._called: set[str] = set()
        self._handed_over = False
        self._checks = 0

    @property
    def ignored(self) -> Counter[str]:
        """What was passed over, by kind."""
        return self._talk.ignored

    def add(self, step: Step, place: dict[str, Any]) -> list[AnyEvent] | None:
        """Return the events of a step, None when it cannot be told whose it is."""
        source = step.source if isinstance(step.source, str) else ""
        if source not in ("user", "system", "agent"):
            if not any(getattr(step, name) is not None for name in _OF_AGENTS):
                return None
            source = "agent"
        self._place = place | {
            "at": moment_of(step.timestamp), "agent_id": self._agent_id, "copied": step.is_copied_context is True,
        }  # fmt: skip
        self._talk.begin(self._place)
        self._events = self._talk.taken()
        if source == "agent":
            self._agent(step)
        elif source == "user":
            self._user(step)
        else:
            self._system(step)
        return self._events

    def rest(self) -> list[AnyEvent]:
        """Return the results whose calls never came."""
        self._talk.begin({})
        for identifier, (text, failed, place) in self._early.items():
            outcome: Any = "unknown" if failed is None else "failed" if failed else "ok"
            self._talk.taken().append(ToolResult(call_id=identifier, outcome=outcome, text=text, **place))
        return self._talk.taken()

    def _user(self, step: Step) -> None:
        text = text_of(step.message)
        blocks = step.message if isinstance(step.message, list) else ()
        images = sum(isinstance(block, dict) and block.get("type") == "image" for block in blocks)
        first, self._talk.asked = not self._talk.asked, self._talk.asked
        if self._agent_id and first:
            self._talk.asked = True
            self._talk.user(text, images=images, origin="subagent")
        elif self._handed_over:
            self._talk.user(text, images=images, origin="injected")
        else:
            self._talk.user(text, images=images)
        self._handed_over = False

    def _system(self, step: Step) -> None:
        text = text_of(step.message)
        self._handed_over = any(word in text.lower() for word in _SUMMARISED) and len(text) < 500
        if self._handed_over:
            self._events.append(Compaction(opaque=True, **self._place))
        else:
            self._talk.ignored["system"] += 1
        observation = step.observation if isinstance(step.observation, dict) else {}
        if observation.get("type") == "tool_result":
            self._early_result(text, observation)
            return
        results = observation.get("results")
        for result in results if isinstance(results, list) else ():
            if isinstance(result, dict):
                self._result_of_none(result)

    def _early_result(self, text: str, observation: dict[str, Any]) -> None:
        """Keep a result that stands before its call; the message names the call."""
        identifier = text.rpartition(" ")[2]
        said = observation.get("result")
        success = said.get("success") if isinstance(said, dict) else None
        failed = not success if isinstance(success, bool) else None
        if identifier in self._called or len(self._early) >= _EARLY:
            self._talk.result(identifier, text_of(observation.get("content")), failed=failed)
        elif identifier:
            self._early[identifier] = (text_of(observation.get("content")), failed, dict(self._place))

    def _result_of_none(self, result: dict[str, Any]) -> None:
        """Tell of a system's own result: a check that it ran, a subagent, or what came of a call."""
        self._subagents(result, str(result.get("source_call_id") or ""))
        content = result.get("content")
        if isinstance(content, dict) and isinstance(content.get("command"), str):
            self._checks += 1
            identifier = f"check-{self._checks}"
            self._talk.call("run", {"command": content["command"]}, identifier=identifier)
            passed = content.get("passed")
            failed = not passed if isinstance(passed, bool) else None
            self._finish(identifier, text_of(content.get("output")), failed)
        elif result.get("source_call_id"):
            self._finish(str(result["source_call_id"]), text_of(content), None)

    def _finish(self, identifier: str, text: str, failed: bool | None, extra: Any = None) -> None:
        self._talk.result(identifier, text, failed=failed, extra=extra)
        last = self._events[-1] if self._events else None
        if failed is False and isinstance(last, ToolResult) and last.outcome == "unknown":
            self._events[-1] = structs.replace(last, outcome="ok")

    def _agent(self, step: Step) -> None:
        model = step.model_name if isinstance(step.model_name, str) else ""
        _, model = self._talk.spent(None, None, model)
        if (usage := self._usage(step.metrics, model)) is not None:
            self._events.append(usage)
        if isinstance(step.reasoning_content, str):
            self._talk.say(step.reasoning_content, model, reasoning=True)
        calls = (
            [call for call in step.tool_calls if isinstance(call, dict)] if isinstance(step.tool_calls, list) else []
        )
        text = text_of(step.message)
        said = said_calls(text) if not calls else None
        if said is not None and not said.calls and (typed := _typed(text)) is not None:
            text, keys = typed
            made = [({"keystrokes": key}, "bash_command") for key in keys]
        else:
            made = [(call.arguments, call.tool) for call in said.calls] if said is not None else []
            text = said.text if said is not None else text
        self._talk.say(text, model)
        before = len(self._events)
        for call in calls:
            self._call(call)
        for arguments, tool in made:
            self._talk.call(tool, arguments)
        open_now = [event.call_id for event in self._events[before:] if hasattr(event, "call_id")]
        self._observed(step.observation, open_now)

    def _call(self, call: dict[str, Any]) -> None:
        identifier = call.get("tool_call_id") or call.get("id")
        name = call.get("function_name") or call.get("name")
        identifier = identifier if isinstance(identifier, str) else ""
        arguments = arguments_of(call.get("arguments", call.get("input")))
        self._talk.call(name if isinstance(name, str) else "", arguments, identifier=identifier)
        self._called.add(identifier)
        if identifier in self._early:
            text, failed, _ = self._early.pop(identifier)
            self._finish(identifier, text, failed)

    def _observed(self, observation: Any, open_now: list[str]) -> None:
        results = observation.get("results") if isinstance(observation, dict) else None
        waiting = list(open_now)
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, dict):
                continue
            identifier = result.get("source_call_id")
            if not isinstance(identifier, str) or not identifier:
                identifier = waiting[-1] if waiting else ""
            self._subagents(result, identifier)
            text = text_of(result.get("content"))
            if not identifier:
                if text.strip():
                    self._talk.user(text, origin="injected")
                continue
            if identifier in waiting:
                waiting.remove(identifier)
            extra = record_in(result, "extra")
            failed = extra.get("is_error")
            code = {"returncode": extra.get("exit_code")}
            self._finish(identifier, text, failed if isinstance(failed, bool) else None, code)

    def _subagents(self, result: dict[str, Any], call_id: str) -> None:
        refs = result.get("subagent_trajectory_ref")
        for ref in refs if isinstance(refs, list) else [refs] if isinstance(refs, dict) else ():
            if not isinstance(ref, dict):
                continue
            names = (ref.get("trajectory_id"), ref.get("session_id"), ref.get("trajectory_path"))
            child = next((name for name in names if isinstance(name, str) and name), "")
            extra = record_in(ref, "extra")
            name = extra.get("summary") or extra.get("name")
            self._events.append(
                SubagentStart(
                    child_id=child[:200], name=name[:200] if isinstance(name, str) else "", call_id=call_id,
                    **self._place,
                )
            )  # fmt: skip

    def _usage(self, metrics: Any, model: str) -> Usage | None:
        if not isinstance(metrics, dict) or not {"prompt_tokens", "completion_tokens"} & metrics.keys():
            return None
        extra = record_in(metrics, "extra")
        counted = dict(extra) | {name: metrics.get(name) for name in ("prompt_tokens", "completion_tokens")}
        cached = metrics.get("cached_tokens")
        counted["prompt_tokens_details"] = {"cached_tokens": cached}
        if "reasoning_tokens" in extra:
            counted["completion_tokens_details"] = {"reasoning_tokens": extra["reasoning_tokens"]}
        usage = usage_of(counted, model, "", self._place)
        if self._cached_apart:
            usage = structs.replace(usage, input=usage.context, context=usage.context + usage.cache_read)
        return usage


def _typed(text: str) -> tuple[str, list[str]] | None:
    """Return what Terminus says and the keys it presses, where its whole answer is a JSON object of both."""
    if not text.lstrip().startswith("{") or '"commands"' not in text:
        return None
    try:
        answer = msgspec.json.decode(text)
    except BAD:
        return None
    commands = answer.get("commands") if isinstance(answer, dict) else None
    if not isinstance(commands, list):
        return None
    keys = [command.get("keystrokes") for command in commands if isinstance(command, dict)]
    words = [answer.get("analysis"), answer.get("plan")]
    said = "\n".join(word for word in words if isinstance(word, str) and word)
    return said, [key for key in keys if isinstance(key, str)]
