"""Count a SWE-agent trajectory a second way: standard library only, the steps instead of the history, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_swe_agent.py FILE` to print the counts. The format has no tokens of single answers and no
exit codes: what counts as failed is what the interface itself refused.
"""

import json
import sys
from pathlib import Path

REFUSED = ("Your proposed edit has introduced new syntax error", "No replacement was performed", "Usage: ", "ERROR:")
TOO_LONG = ("was cancelled because it took more than", "EXECUTION TIMED OUT")


def text(message):
    content = message["content"] or ""
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def observations(document):
    if document.get("trajectory"):
        return [step["observation"] for step in document["trajectory"]]
    return [text(message) for message in document["history"] if message["role"] == "tool"]


def count(path):
    document = json.loads(Path(path).read_text("utf-8"))
    history = document["history"]
    steps = document.get("trajectory") or [m for m in history if m["role"] == "assistant"]
    seen = observations(document)
    replay = document.get("replay_config") or {}
    replay = json.loads(replay) if isinstance(replay, str) else replay
    model = ((replay.get("agent") or {}).get("model") or {}).get("name")
    first = [m for m in history if m["role"] == "user" and not m.get("is_demo")][:1]
    return {
        "human_messages": len(first),
        "tool_calls": sum(bool(step["action"].strip()) for step in steps),
        "failures": sum(any(o.startswith(REFUSED) or end in o[-600:] for end in TOO_LONG) for o in seen),
        "responses": 0,
        "tokens_input": 0,
        "tokens_cache_read": 0,
        "tokens_cache_write": 0,
        "tokens_output": 0,
        "compactions": 0,
        "models": [model] if model else [],
        "subagents": 0,
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
