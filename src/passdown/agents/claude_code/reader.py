"""Turn the rows of a Claude Code log into events: which row means what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import msgspec

from passdown.agents.claude_code.assistant import Speaker
from passdown.agents.claude_code.origins import INTERRUPTED, SUMMARY, Notice, classify, notice_of, prompt_command
from passdown.agents.claude_code.queue import PromptQueue
from passdown.agents.claude_code.records import BAD, Compacted, Row, milliseconds, text_of, whole
from passdown.model.session import (
    AnyEvent,
    Compaction,
    Interruption,
    Origin,
    Title,
    Unknown,
    UserMessage,
    WorkspaceChange,
)

IGNORED = frozenset({
    "file-history-snapshot", "file-history-delta", "last-prompt", "permission-mode", "mode", "agent-name",
    "agent-color", "agent-setting", "pr-link", "frame-link", "bridge-session", "atis-latch", "api-request",
    "api-request-blob", "api-request-shape", "tools-used", "cost-state", "started", "result", "relocated",
    "worktree-state", "tag", "speculation-accept", "content-replacement", "task-summary", "marble-origami-commit",
    "marble-origami-snapshot", "fork-context-ref",
})  # fmt: skip
"""Record types that are understood and hold nothing a session needs."""

_NAMES = 200
"""Different names kept in the count of ignored records."""

_HUMAN_SOURCES = frozenset({"typed", "queued", "sdk", "user", "suggestion_accepted"})


class Reader:
    """Rows go in, events come out in `out`. One for a session; its subagents' files go through it too."""

    def __init__(self, own: str = "", beside: frozenset[str] = frozenset()) -> None:
        self.out: list[AnyEvent] = []
        self.ignored: Counter[str] = Counter()
        self.speaker = Speaker(self.out)
        self.queue = PromptQueue()
        self.own = own
        self.beside = beside
        self.own_seen = not own
        self.cwd = self.branch = self.title = ""
        self.titled_by_person = False
        self.ours: frozenset[str] = frozenset()
        self.boundary: dict[str, Any] | None = None
        self.compacted: Compacted | None = None
        self._ticks: dict[bytes, str] = {}

    def place(self, cwd: str, branch: str) -> None:
        """Say where the session starts, so that only a change is told."""
        self.cwd, self.branch = cwd, branch

    def ignore(self, name: str) -> None:
        """Count a record that holds nothing a session needs."""
        name = name[:64]
        self.ignored[name if name in self.ignored or len(self.ignored) < _NAMES else "other"] += 1

    def tick(self, kind: bytes) -> None:
        """Count a row of progress that holds nothing else; many a log has hardly other rows."""
        if name := self._ticks.get(kind):
            self.ignored[name] += 1
            return
        name = "progress/" + kind.decode("ascii", "replace")
        self.ignore(name)
        if name in self.ignored:
            self._ticks[kind] = name

    def take(self, row: Row, where: dict[str, Any], length: int, *, sidecar: str = "") -> None:
        """Read one row. `where` holds its offset and line, `sidecar` the subagent whose own file it is from."""
        where["at"] = milliseconds(row.timestamp)
        if not sidecar and row.session_id and not self.own_seen:
            if row.session_id == self.own:
                self.own_seen = True
            else:
                where["copied"] = True
        agent = sidecar or (self.speaker.agent_of(row) if row.is_sidechain else "")
        if agent:
            where["agent_id"] = agent
        elif (row.cwd and row.cwd != self.cwd) or (row.git_branch and row.git_branch != self.branch):
            self.cwd, self.branch = row.cwd or self.cwd, row.git_branch or self.branch
            self.out.append(WorkspaceChange(cwd=self.cwd, branch=self.branch, **where))
        handler = self._HANDLERS.get(row.type)
        if handler is not None:
            handler(self, row, where)
        elif row.type in IGNORED:
            self.ignore(row.type)
        else:
            self.out.append(
                Unknown(
                    record=row.type[:64], reason="unknown_type" if row.type else "bad_shape", length=length, **where
                )
            )

    def close(self) -> None:
        """Tell what the end of the log leaves open."""
        self._settle_boundary("")
        self.out.extend(self.queue.close())
        self.speaker.close()

    def _assistant(self, row: Row, where: dict[str, Any]) -> None:
        if self.boundary is not None:
            self._settle_boundary("")
        if self.queue.leaving:
            self.out.extend(self.queue.flush())
        if row.is_api_error_message or (row.message is not None and row.message.model == "<synthetic>"):
            self.ignore("assistant/synthetic")
            return
        self.speaker.speak(row, where)

    def _user(self, row: Row, where: dict[str, Any]) -> None:
        content = row.message.content if row.message is not None else None
        if isinstance(content, str):
            self._prompt(row, [content], 0, where)
            return
        texts: list[str] = []
        images = 0
        results = False
        for block in content or ():
            if block.type == "tool_result":
                results = True
                self.speaker.hear(row, block, where)
            elif block.type == "text" and block.text is not None:
                texts.append(block.text)
            elif block.type in ("image", "document"):
                images += 1
        if texts or images or not results:
            self._prompt(row, texts, images, where)

    def _prompt(self, row: Row, texts: list[str], images: int, where: dict[str, Any]) -> None:
        text = "\n".join(texts)
        if row.is_compact_summary or (text.startswith(SUMMARY) and not where.get("agent_id")):
            if self.boundary is None:
                self.boundary = where
            self._settle_boundary(text)
            return
        if text.strip() in INTERRUPTED:
            self.speaker.flush(where.get("agent_id", ""))
            self.out.append(Interruption(during_tool=INTERRUPTED[text.strip()], **where))
            return
        if not text.strip() and not images:
            self.ignore("user/empty")
            return
        parts = [classify(part) for part in texts]
        people = [part for part in parts if part[0] in ("human", "plan")]
        origin, clean = people[0] if people else parts[0] if parts else ("human", "")
        if len(people) > 1:
            clean = "\n".join(part[1] for part in people)
        origin = self._origin(row, origin, where)
        self._message(origin, clean, images, where, prompt_command(texts[0]) if origin == "command" else "")

    def _origin(self, row: Row, origin: Origin, where: dict[str, Any]) -> Origin:
        """Refine what the text says by what the row says: its flags are surer than any wording."""
        if row.is_meta or row.repeats_compact_summary:
            return origin if origin == "hook" else "injected"
        if origin not in ("human", "plan"):
            return origin
        if where.get("agent_id"):
            return "subagent"
        kind = row.origin.get("kind") if isinstance(row.origin, dict) else None
        if row.plan_content:
            return "plan"
        if (isinstance(kind, str) and kind != "human" and row.prompt_source not in _HUMAN_SOURCES) or (
            row.prompt_source == "system"
        ):
            return "injected"
        return origin

    def _message(self, origin: Origin, text: str, images: int, where: dict[str, Any], command: str = "") -> None:
        self.speaker.flush(where.get("agent_id", ""))
        if not where.get("agent_id"):
            self.queue.delivered(text)
            notice = notice_of(text) if origin == "injected" else None
            if notice is not None:
                self._notice(notice, where)
        elif origin == "subagent":
            self.speaker.begin(where["agent_id"], text)
        self.out.append(UserMessage(text=text, origin=origin, images=images, command=command, **where))

    def _notice(self, notice: Notice, where: dict[str, Any]) -> None:
        self.speaker.settle(notice.task_id, notice.status, notice.exit_code, notice.summary, where)

    def _system(self, row: Row, where: dict[str, Any]) -> None:
        if row.subtype == "compact_boundary":
            self._settle_boundary("")
            self.boundary, self.compacted = where, row.compact_metadata
        elif row.subtype == "microcompact_boundary":
            data = row.microcompact_metadata or Compacted()
            before, saved = whole(data.pre_tokens), whole(data.tokens_saved)
            after = before - saved if before and saved is not None and before >= saved else None
            self.out.append(
                Compaction(micro=True, trigger=_trigger(data), tokens_before=before, tokens_after=after, **where)
            )
        elif row.subtype == "local_command" and isinstance(row.content, str):
            origin, text = classify(row.content)
            if origin == "command":
                self.out.append(UserMessage(text=text, origin=origin, **where))
            else:
                self.ignore("system/local_command")
        else:
            self.ignore(f"system/{row.subtype}")

    def _settle_boundary(self, summary: str) -> None:
        """Tell the compaction whose boundary was read, now that its summary came, or will not."""
        if self.boundary is None:
            return
        where, data = self.boundary, self.compacted or Compacted()
        self.boundary = self.compacted = None
        self.speaker.flush(where.get("agent_id", ""))
        self.out.append(
            Compaction(
                trigger=_trigger(data),
                tokens_before=whole(data.pre_tokens),
                tokens_after=whole(data.post_tokens),
                summary=summary,
                opaque=not summary,
                **where,
            )
        )

    def _progress(self, row: Row, where: dict[str, Any]) -> None:
        data = row.data
        inner = data.message if data is not None else None
        if data is None or data.type != "agent_progress" or inner is None or not data.agent_id:
            self.ignore(f"progress/{data.type if data is not None else ''}")
            return
        if data.agent_id in self.beside:
            self.ignore("progress/agent_progress")
            return
        self.speaker.started(row.parent_tool_use_id, data.agent_id)
        where["agent_id"] = data.agent_id
        where["at"] = milliseconds(inner.timestamp) or where["at"]
        if inner.type == "assistant":
            self.speaker.speak(inner, where)
        elif inner.type == "user":
            self._user(inner, where)
        else:
            self.ignore("progress/agent_progress")

    def _attachment(self, row: Row, where: dict[str, Any]) -> None:
        data = row.attachment
        kind = data.type if data is not None else ""
        if data is not None and kind == "queued_command":
            text = text_of(data.prompt)
            origin, clean = classify(text)
            source = data.origin.get("kind") if isinstance(data.origin, dict) else "human"
            if origin == "human" and (data.is_meta is True or source != "human"):
                origin = "injected"
            blocks = data.prompt if isinstance(data.prompt, list) else []
            images = sum(isinstance(block, dict) and block.get("type") == "image" for block in blocks)
            if clean or images:
                self._message(origin, clean, images, where)
                return
        elif data is not None and kind == "hook_additional_context":
            try:
                text = text_of(msgspec.json.decode(data.content))
            except BAD:
                text = ""
            if text:
                self.out.append(UserMessage(text=text, origin="hook", **where))
                return
        self.ignore(f"attachment/{kind}")

    def _queue(self, row: Row, where: dict[str, Any]) -> None:
        self.ignore(f"queue-operation/{row.operation}")
        self.out.extend(self.queue.operate(row.operation, text_of(row.content), where))

    def _name(self, row: Row, where: dict[str, Any]) -> None:
        person = row.type == "custom-title"
        title = row.custom_title if person else row.ai_title if row.type == "ai-title" else row.summary
        foreign = row.type == "summary" and row.leaf_uuid not in self.ours
        if (
            foreign
            or not isinstance(title, str)
            or not title
            or title == self.title
            or (self.titled_by_person and not person)
        ):
            self.ignore(row.type)
            return
        self.title, self.titled_by_person = title, person
        self.out.append(Title(title=title, **where))

    _HANDLERS: ClassVar[dict[str, Callable[[Reader, Row, dict[str, Any]], None]]] = {
        "assistant": _assistant,
        "user": _user,
        "system": _system,
        "progress": _progress,
        "attachment": _attachment,
        "queue-operation": _queue,
        "ai-title": _name,
        "custom-title": _name,
        "summary": _name,
    }


def _trigger(data: Compacted) -> Literal["", "auto", "manual"]:
    return "auto" if data.trigger == "auto" else "manual" if data.trigger == "manual" else ""
