"""Count a Cursor transcript a second way: standard library only, the whole file in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_cursor.py FILE` to print the counts.
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
    human = calls = failures = subagents = 0
    for row in load(path):
        for block in row["message"]["content"]:
            if block["type"] == "text" and row["role"] == "user":
                human += "<user_query>" in block["text"] or not block["text"].startswith("<")
            elif block["type"] == "tool_use":
                calls += 1
                subagents += block["name"] in ("Task", "Subagent")
            elif block["type"] == "tool_result":
                failures += bool(block.get("is_error"))
    return {
        "human_messages": human,
        "tool_calls": calls,
        "failures": failures,
        "responses": 0,  # a transcript holds no tokens
        "tokens_input": 0,
        "tokens_cache_read": 0,
        "tokens_cache_write": 0,
        "tokens_output": 0,
        "compactions": 0,
        "models": [],
        "subagents": subagents,
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
