"""Count a droid log a second way: standard library only, the whole file in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_droid.py FILE` to print the counts.
"""

import json
import re
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
    human = calls = failures = subagents = 0
    for row in rows:
        if row["type"] == "message" and "message" not in row:
            human += row["role"] == "user"
        elif row["type"] == "message":
            for block in row["message"]["content"]:
                if block["type"] == "text" and row["message"]["role"] == "user":
                    human += not block["text"].lstrip().startswith("<")
                elif block["type"] == "tool_use":
                    calls += 1
                    subagents += block["name"] == "Task"
                elif block["type"] == "tool_result":
                    code = re.match(r"Error: .*\(exit code: (\d+)\)", block["content"])
                    failures += bool(block.get("is_error")) or bool(code and int(code.group(1)))
        elif row["type"] == "tool_call":
            calls += 1
        elif row["type"] == "tool_result":
            value = row.get("value")
            failures += bool(row.get("isError")) or (isinstance(value, dict) and value.get("exitCode", 0) != 0)
    return {
        "human_messages": human,
        "tool_calls": calls,
        "failures": failures,
        "responses": 0,  # droid tells the tokens of a session, beside the log, not those of a response
        "tokens_input": 0,
        "tokens_cache_read": 0,
        "tokens_cache_write": 0,
        "tokens_output": 0,
        "compactions": sum(row["type"] == "compaction_state" for row in rows),
        "models": sorted({row["model"] for row in rows if row.get("model")}),
        "subagents": subagents,
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
