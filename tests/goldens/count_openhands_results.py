"""Count the rows of an OpenHands evaluation a second way: standard library only, all in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_openhands_results.py FILE` to print the counts of each row.
"""

import json
import sys
from pathlib import Path

CALLS = ("run", "run_ipython", "edit", "write", "read", "browse")


def code(event):
    extras = event.get("extras") or event
    return extras.get("exit_code", (extras.get("metadata") or {}).get("exit_code"))


def one(row):
    events = [event for item in row["history"] for event in (item if isinstance(item, list) else [item])]
    usages = row["metrics"].get("token_usages") or []
    answers = [(event.get("tool_call_metadata") or {}).get("model_response") or {} for event in events]
    models = {answer["model"] for answer in answers if answer} or {usage["model"] for usage in usages}
    seen = [event for event in events if event.get("observation")]
    refused = [e for e in seen if e["observation"] in ("edit", "read", "write") and e["content"].startswith("ERROR:")]
    return {
        "human_messages": 1,  # the instruction; the harness itself answers afterwards
        "tool_calls": sum(event.get("action") in CALLS for event in events),
        "failures": sum(code(event) not in (None, 0, -1) for event in seen) + len(refused),
        "responses": len(usages),
        "tokens_input": sum(u["prompt_tokens"] - u["cache_read_tokens"] - u["cache_write_tokens"] for u in usages),
        "tokens_cache_read": sum(usage["cache_read_tokens"] for usage in usages),
        "tokens_cache_write": sum(usage["cache_write_tokens"] for usage in usages),
        "tokens_output": sum(usage["completion_tokens"] for usage in usages),
        "compactions": 0,
        "models": sorted(models),
        "subagents": 0,
    }


def count(path):
    rows = [json.loads(line) for line in Path(path).read_text("utf-8").split("\n") if line.strip()]
    return {row.get("instance_id") or str(number): one(row) for number, row in enumerate(rows, 1)}


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
