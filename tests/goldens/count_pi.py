"""Count a Pi session file a second way: standard library only, the whole file in memory, simple loops.

Written from the format's documentation and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_pi.py FILE` to print the counts.
"""

import json
import sys
from pathlib import Path

DELEGATES = ("subagent", "task", "agent")


def load(path):
    rows = []
    for line in Path(path).read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def numbers(usage):
    return [int((usage or {}).get(name) or 0) for name in ("input", "cacheRead", "cacheWrite", "output")]


def is_human(message):
    content = message.get("content")
    text = content if isinstance(content, str) else "".join(b.get("text", "") for b in content or [])
    return not text.startswith("<skill name=")


def count(path):
    rows = load(path)
    messages = [row["message"] for row in rows if row.get("type") == "message"]
    answers = [m for m in messages if m["role"] == "assistant"]
    results = [m for m in messages if m["role"] == "toolResult"]
    shells = [m for m in messages if m["role"] == "bashExecution"]

    failures = 0
    for result in results:
        details = result.get("details")
        code = details.get("exitCode") if isinstance(details, dict) else None
        failures += bool(result.get("isError")) or bool(code)
    for shell in shells:
        failures += bool(shell.get("exitCode")) or bool(shell.get("cancelled"))

    # A request that was stopped or refused before anything came back has no response: its usage is all zero.
    billed = []
    for answer in answers:
        usage = answer.get("usage")
        if usage is not None and (any(numbers(usage)) or answer.get("stopReason") not in ("aborted", "error")):
            billed.append(usage)
    billed += [row["usage"] for row in rows if row.get("type") in ("compaction", "branch_summary") and "usage" in row]
    billed += [m["usage"] for m in results if any(numbers(m.get("usage")))]

    calls = [b for m in answers for b in m["content"] if b.get("type") == "toolCall"]
    sums = [sum(column) for column in zip(*(numbers(u) for u in billed), strict=True)] or [0, 0, 0, 0]
    return {
        "human_messages": sum(m["role"] == "user" and is_human(m) for m in messages),
        "tool_calls": len(calls) + len(shells),
        "failures": failures,
        "responses": len(billed),
        "tokens_input": sums[0],
        "tokens_cache_read": sums[1],
        "tokens_cache_write": sums[2],
        "tokens_output": sums[3],
        "compactions": sum(row.get("type") == "compaction" for row in rows),
        "models": sorted({m["model"] for m in answers if m["content"] or any(numbers(m.get("usage")))}),
        "subagents": sum(c.get("name") in DELEGATES for c in calls),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
