"""Count a Qwen session file a second way: standard library only, the whole file in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_qwen.py FILE` to print the counts.
"""

import json
import sys
from pathlib import Path

AGENTS = ("task", "agent")
PROGRAM = ("notification", "cron", "background_task_completed", "agent_launch_prompt", "agent_bootstrap")


def load(path):
    return [json.loads(line) for line in Path(path).read_bytes().split(b"\n") if line.strip()]


def parts(row):
    return (row.get("message") or {}).get("parts") or []


def is_human(row):
    if row["type"] != "user" or row.get("isSidechain") or row.get("subtype") in PROGRAM:
        return False
    if row.get("provenance", "real_user") != "real_user":
        return False
    shown = (row.get("systemPayload") or {}).get("displayText")
    text = shown or "".join(part.get("text") or "" for part in parts(row) if "<qwen:" not in (part.get("text") or ""))
    return bool(text.strip()) and not text.startswith("/")


def failed(row):
    result = row.get("toolCallResult") or {}
    if result.get("status") in ("error", "cancelled"):
        return True
    display = result.get("resultDisplay")
    if isinstance(display, dict) and display.get("exitCode"):
        return True
    return any("error" in part["functionResponse"]["response"] for part in parts(row) if "functionResponse" in part)


def count(path):
    rows = load(path)
    answers = [row for row in rows if row["type"] == "assistant"]
    calls = [part["functionCall"] for row in answers for part in parts(row) if "functionCall" in part]
    usage = {row["uuid"]: row["usageMetadata"] for row in answers if any((row.get("usageMetadata") or {}).values())}
    fresh = read = out = 0
    for tokens in usage.values():
        prompt, answer = tokens["promptTokenCount"], tokens["candidatesTokenCount"]
        cached, thoughts = tokens.get("cachedContentTokenCount") or 0, tokens.get("thoughtsTokenCount") or 0
        fresh, read = fresh + prompt - cached, read + cached
        beside = tokens.get("totalTokenCount") == prompt + answer + thoughts
        out += answer + (thoughts if beside else 0)
    return {
        "human_messages": sum(map(is_human, rows)),
        "tool_calls": len(calls),
        "failures": sum(failed(row) for row in rows if row["type"] == "tool_result"),
        "responses": len(usage),
        "tokens_input": fresh,
        "tokens_cache_read": read,
        "tokens_cache_write": 0,
        "tokens_output": out,
        "compactions": sum(row.get("subtype") == "chat_compression" for row in rows),
        "models": sorted({row["model"] for row in answers if row.get("model")}),
        "subagents": sum(call["name"] in AGENTS for call in calls),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
