"""Count a Kimi Code log a second way: standard library only, the whole file in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_kimi.py FILE` to print the counts.
"""

import json
import sys
from pathlib import Path


def load(path):
    rows = []
    for line in Path(path).read_bytes().split(b"\n"):
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def count(path):
    rows = load(path)
    loop = [row["event"] for row in rows if row.get("type") == "context.append_loop_event"]
    messages = [row["message"] for row in rows if row.get("type") == "context.append_message"]
    calls = [event for event in loop if event["type"] == "tool.call"]
    results = [event["result"] for event in loop if event["type"] == "tool.result"]
    steps = [event["usage"] for event in loop if event["type"] == "step.end" and "usage" in event]
    records = [row for row in rows if row.get("type") == "usage.record"]
    # Each step's tokens stand there again as a record; records are of compactions as well.
    spent = [row["usage"] for row in records]
    left = list(spent)
    for usage in steps:
        if usage in left:
            left.remove(usage)
        else:
            spent.append(usage)
    human = [m for m in messages if m["role"] == "user" and (m.get("origin") or {}).get("kind") == "user"]
    return {
        "human_messages": len(human),
        "tool_calls": len(calls),
        "failures": sum(bool(result.get("isError")) for result in results),
        "responses": len(spent),
        "tokens_input": sum(usage["inputOther"] for usage in spent),
        "tokens_cache_read": sum(usage["inputCacheRead"] for usage in spent),
        "tokens_cache_write": sum(usage["inputCacheCreation"] for usage in spent),
        "tokens_output": sum(usage["output"] for usage in spent),
        "compactions": sum(row.get("type") == "context.apply_compaction" for row in rows),
        "models": sorted({row["model"] for row in records}),
        "subagents": sum(call["name"] == "Agent" for call in calls),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
