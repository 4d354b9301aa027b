"""Count an OpenCode session a second way: standard library only, everything in memory, simple loops.

Written from the format's documentation and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_opencode.py FILE` (an export or a database) to print the counts.
"""

import json
import sqlite3
import sys
from pathlib import Path


def sessions(path):
    """Return {session id: (parent id, [(message, [part])])} of an export, a message file or a database."""
    data = Path(path).read_bytes()
    if not data.startswith(b"SQLite format 3"):
        document = json.loads(data)
        if "messages" not in document:
            return {document["sessionID"]: (None, [(document, [])])}
        info = document["info"]
        return {info["id"]: (info.get("parentID"), [(m["info"], m["parts"]) for m in document["messages"]])}
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    found = {}
    for session, parent in connection.execute("select id, parent_id from session").fetchall():
        found[session] = (parent, [])
    parts = {}
    for message, text in connection.execute("select message_id, data from part order by message_id, id"):
        parts.setdefault(message, []).append(json.loads(text))
    for message, session, text in connection.execute(
        "select id, session_id, data from message order by time_created, id"
    ):
        found[session][1].append((json.loads(text), parts.get(message, [])))
    connection.close()
    return found


def numbers(tokens):
    cache = tokens.get("cache") or {}
    fresh, read, written = tokens.get("input", 0), cache.get("read", 0), cache.get("write", 0)
    output, reasoning = tokens.get("output", 0), tokens.get("reasoning", 0)
    if reasoning and tokens.get("total") == fresh + read + written + output + reasoning:
        output += reasoning
    return [fresh, read, written, output]


def failed(part):
    state = part["state"]
    if state["status"] == "error" or (state["status"] == "completed" and part["tool"] == "invalid"):
        return True
    if state["status"] != "completed":
        return False
    code = (state.get("metadata") or {}).get("exit")
    timeout = part["tool"] == "bash" and code is None and "exceeding timeout" in state["output"][-600:]
    return bool(code) or timeout


def count_session(parent, messages):
    human = calls = failures = compactions = subagents = 0
    pruned = set()
    billed, models = [], set()
    for info, parts in messages:
        if info["role"] == "user":
            own = [p for p in parts if p["type"] == "text" and not p.get("synthetic") and not p.get("ignored")]
            human += bool(own) and not parent
            continue
        tools = [p for p in parts if p["type"] == "tool"]
        calls += len(tools)
        failures += sum(failed(p) for p in tools)
        subagents += sum(p["tool"] == "task" for p in tools)
        compactions += info.get("summary") is True
        pruned |= {p["id"] for p in tools if (p["state"].get("time") or {}).get("compacted")}
        # One answer is one response; its tokens stand on the message, and again on its only step.
        tokens = info.get("tokens") or {}
        if any(numbers(tokens)):
            billed.append(numbers(tokens))
            models.add(info["modelID"])
        elif any(p["type"] in ("text", "tool", "reasoning") for p in parts):
            models.add(info["modelID"])
    assert not pruned, "no file of the corpus has pruned output; decide how to count it here first"
    sums = [sum(column) for column in zip(*billed, strict=True)] or [0, 0, 0, 0]
    return {
        "human_messages": human,
        "tool_calls": calls,
        "failures": failures,
        "responses": len(billed),
        "tokens_input": sums[0],
        "tokens_cache_read": sums[1],
        "tokens_cache_write": sums[2],
        "tokens_output": sums[3],
        "compactions": compactions,
        "micro_compactions": 0,
        "models": sorted(models),
        "subagents": subagents,
    }


def count(path):
    """Return the counts of a file's session; of a database, those of every session by its id."""
    counted = {session: count_session(*content) for session, content in sessions(path).items()}
    return counted if str(path).endswith(".db") else next(iter(counted.values()))


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
