"""Count a Claude Code log without passdown: the whole file at once, `json` only, one plain loop for each number.

Written from the description of the format, to check the reader. Run it to print the counts of files, or with
`--write FOLDER` to keep them as goldens.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission to use",
    "User rejected tool use",
)
MACHINE = (
    "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<command-name>", "<command-message>",
    "<task-notification>", "<system-reminder>", '{"task_id":', "Caveat: The messages below", "Operation stopped by hook",
    "Stop hook feedback", "Implement the following plan:", "This session is being continued", "[Request interrupted",
)  # fmt: skip


def load(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file, two of them where a line holds two."""
    records = []
    decoder = json.JSONDecoder()
    for line in path.read_bytes().decode("utf-8", "replace").split("\n"):
        rest = line.strip()
        while rest:
            try:
                record, end = decoder.raw_decode(rest)
            except ValueError:
                break
            if isinstance(record, dict):
                records.append(record)
            rest = rest[end:].strip()
    return records


def blocks(record: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = (record.get("message") or {}).get("content")
    return [b for b in content if b.get("type") == kind] if isinstance(content, list) else []


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(b.get("text") or "" for b in content or [] if isinstance(b, dict))


def human(record: dict[str, Any]) -> bool:
    """Say whether a main user record is something a person typed."""
    if record.get("isMeta") or record.get("isCompactSummary") or record.get("repeatsCompactSummary"):
        return False
    if (record.get("origin") or {}).get("kind", "human") != "human" or record.get("promptSource") == "system":
        return False
    content = (record.get("message") or {}).get("content")
    if isinstance(content, str):
        return bool(content.strip()) and not content.startswith(MACHINE)
    texts = [b["text"] for b in blocks(record, "text")]
    typed = [t for t in texts if t.strip() and not t.startswith(MACHINE)]
    images = blocks(record, "image")
    return bool(typed) or (bool(images) and not texts)


def ended(block: dict[str, Any], record: dict[str, Any]) -> str:
    """Say how a tool call ended, by the words of its result."""
    text, twin = text_of(block.get("content")), record.get("toolUseResult")
    if not block.get("is_error"):
        twin = twin if isinstance(twin, dict) else {}
        if twin.get("interrupted"):
            return "interrupted"
        if twin.get("backgroundTaskId") or twin.get("isAsync"):
            return "running"
        return "failed" if twin.get("returnCodeInterpretation") else "ok"
    if text.startswith(REJECTED) or "haven't granted it yet" in text:
        return "rejected"
    if "Sibling tool call errored" in text[:60] or text.startswith("[Request interrupted"):
        return "interrupted"
    return "timeout" if "Command timed out after" in text[:300] else "failed"


def count(path: Path) -> dict[str, Any]:
    """Return the counts of a session, its subagents' own files included."""
    main = load(path)
    folder = path.with_suffix("") / "subagents"
    files = [f for f in sorted(folder.glob("agent-*.jsonl")) if "acompact" not in f.name]
    beside = {f.stem.removeprefix("agent-") for f in files}
    own = [r["sessionId"] for r in main if r.get("sessionId")][-1]
    main = [r for r in main if r.get("sessionId") in (None, own)]
    inner = []
    for record in main:
        data = record.get("data") or {}
        if record.get("type") == "progress" and data.get("type") == "agent_progress" and data["agentId"] not in beside:
            inner.append(data["message"])
    side = inner + [r for f in files for r in load(f)]
    every = main + side

    people = sum(1 for r in main if r.get("type") == "user" and not r.get("isSidechain") and human(r))
    # a prompt that was queued and left the queue in the middle of a turn stands in no other row (before 2.1.96)
    users = {text_of((r.get("message") or {}).get("content")) for r in main if r.get("type") == "user"}
    attached = [r["attachment"] for r in main if r.get("type") == "attachment"]
    shown = [text_of(a["prompt"]) for a in attached if a.get("type") == "queued_command"]
    people += sum(1 for text in shown if not text.startswith(MACHINE))
    people += sum(
        1
        for r in main
        if r.get("type") == "queue-operation"
        and r["operation"] == "enqueue"
        and not r["content"].startswith(MACHINE)
        and not re.match(r"/[a-z]", r["content"])
        and r["content"] not in users
        and r["content"] not in shown
    )

    responses: dict[Any, dict[str, int]] = {}
    models = set()
    for number, record in enumerate(every):
        message = record.get("message") or {}
        if record.get("type") != "assistant" or message.get("model") == "<synthetic>" or not message.get("usage"):
            continue
        models.add(message["model"])
        key = (message.get("id"), record.get("requestId")) if message.get("id") else number
        if key not in responses or message["usage"]["output_tokens"] > responses[key]["output_tokens"]:
            responses[key] = message["usage"]

    results = [ended(b, r) for r in every if r.get("type") == "user" for b in blocks(r, "tool_result")]
    calls = [b for r in every if r.get("type") == "assistant" for b in blocks(r, "tool_use")]
    verdicts = {
        b["tool_use_id"]: ended(b, r) for r in every if r.get("type") == "user" for b in blocks(r, "tool_result")
    }
    asked = [b for b in calls if b["name"] in ("Task", "Agent")]
    boundaries = [r.get("subtype") for r in main if r.get("type") == "system"]
    return {
        "human_messages": people,
        "tool_calls": len(calls),
        "failures": sum(1 for end in results if end in ("failed", "timeout", "interrupted", "rejected")),
        "responses": len(responses),
        "tokens_input": sum(u["input_tokens"] for u in responses.values()),
        "tokens_cache_read": sum(u.get("cache_read_input_tokens") or 0 for u in responses.values()),
        "tokens_cache_write": sum(u.get("cache_creation_input_tokens") or 0 for u in responses.values()),
        "tokens_output": sum(u["output_tokens"] for u in responses.values()),
        "compactions": boundaries.count("compact_boundary"),
        "micro_compactions": boundaries.count("microcompact_boundary"),
        "models": sorted(models),
        "subagents": sum(1 for b in asked if verdicts.get(b["id"]) not in ("failed", "rejected")),
    }


def main(arguments: list[str]) -> None:
    folder = Path(arguments[1]) if arguments[:1] == ["--write"] else None
    for name in arguments[2:] if folder else arguments:
        counts = json.dumps(count(Path(name)), indent=1)
        if folder:
            (folder / f"{Path(name).stem}.json").write_text(counts + "\n")
        else:
            print(name, counts)


if __name__ == "__main__":
    main(sys.argv[1:])
