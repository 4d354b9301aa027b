"""Count a Codex rollout a second way: standard library only, the whole file in memory, simple loops.

Written from the format's documentation and on purpose without looking at passdown's own reader. Copied history is not
told apart here: it is for sessions that copied none.
Run `python tests/goldens/count_codex.py FILE` to print the counts.
"""

import json
import sys
from pathlib import Path

INJECTED = ("<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<turn_aborted>", "<skill")
CALLS = (
    "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
    "image_generation_call",
)  # fmt: skip
MODEL_ROWS = (*CALLS, "function_call_output", "custom_tool_call_output", "tool_search_output", "reasoning")
INNER = ("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "WebSearch", "Extension", "ImageView")
PLAIN_FAILURES = ("apply_patch verification failed", "unsupported call", "failed to parse", "Failed to ")
REFUSED = ("exec command rejected by user", "patch rejected by user", "aborted by user")


def load(path):
    return [json.loads(line) for line in Path(path).read_bytes().split(b"\n") if line.strip()]


def typed(rows, outer, inner=None):
    found = [row["payload"] for row in rows if row.get("type") == outer and isinstance(row.get("payload"), dict)]
    return found if inner is None else [p for p in found if p.get("type") == inner]


def items(rows):
    return [p["item"] for p in typed(rows, "event_msg", "item_completed")]


def text_of(output):
    if isinstance(output, list):
        return "".join(part.get("text") or "" for part in output)
    return output if isinstance(output, str) else (output or {}).get("text", "")


def exit_of(text):
    """The exit code that the lines before `Output:` tell; "?" when they tell none."""
    if text.startswith("{"):
        try:
            wrapped = json.loads(text)
        except ValueError:
            return "?"
        return wrapped["metadata"]["exit_code"] if "metadata" in wrapped else "?"
    for line in text.split("\n")[:8]:
        if line == "Output:":
            break
        for start in ("Process exited with code ", "Exit code: "):
            if line.startswith(start):
                return int(line[len(start) :])
    return "?"


def output_failed(text):
    code = exit_of(text)
    if code != "?":
        return code != 0
    head = text.split("Output:\n")[0]
    return text.startswith(PLAIN_FAILURES + REFUSED) or "Script failed" in head or "aborted by user" in head


def failures(rows):
    bad = {}
    for item in typed(rows, "response_item"):
        if item.get("type") in ("function_call_output", "custom_tool_call_output"):
            bad[id(item)] = (item["call_id"], output_failed(text_of(item["output"])))
    for event in typed(rows, "event_msg"):
        kind, failed = event.get("type"), None
        if kind == "exec_command_end":
            failed = event["exit_code"] != 0
        elif kind == "patch_apply_end":
            failed = not event["success"]
        elif kind == "mcp_tool_call_end":
            failed = "Err" in event["result"] or bool(event["result"]["Ok"].get("isError"))
        for key, (call_id, _) in list(bad.items()):
            if failed is not None and call_id == event["call_id"] and not running(rows, call_id):
                bad[key] = (call_id, failed)
    return sum(failed for _, failed in bad.values()) + sum(inner_failed(item) for item in inner_items(rows))


def running(rows, call_id):
    """Whether the call's own output says that the command still runs: then its end is told by a later poll."""
    for item in typed(rows, "response_item"):
        if item.get("call_id") == call_id and str(item.get("type")).endswith("_output"):
            return "Process running with session ID" in text_of(item["output"])[:300]
    return False


def inner_items(rows):
    """Items of tools that have no call of their own: what scripts ran."""
    known = {
        item.get("call_id") or item.get("id") for item in typed(rows, "response_item") if item.get("type") in CALLS
    }
    return [item for item in items(rows) if item["type"] in INNER and item["id"] not in known]


def inner_failed(item):
    return item.get("exit_code", 0) != 0 or item.get("status") in ("failed", "declined")


def prompts(rows):
    said = typed(rows, "event_msg", "user_message")
    said = [p for p in said if p.get("kind") not in ("user_instructions", "environment_context")]
    count = len(said) + sum(item["type"] == "UserMessage" for item in items(rows))
    if count:
        return count
    mine = [p for p in typed(rows, "response_item") if p.get("role") == "user"]
    return sum(not text_of(p["content"]).startswith(INJECTED) for p in mine)


def tokens(rows):
    """Responses, and the last running total: it is the sum of all."""
    infos = [p["info"] for p in typed(rows, "event_msg", "token_count") if p.get("info")]
    totals = [info["total_token_usage"] for info in infos if "total_token_usage" in info]
    records = typed(rows, "token_usage_record")
    steps = {json.dumps(total, sort_keys=True) for total in totals if total["input_tokens"] or total["output_tokens"]}
    responses = len({record["response_id"] for record in records}) if records else len(steps)
    turns = [p["usage"] for p in typed(rows, "event_msg", "turn.completed") if p.get("usage")]
    sums = {}
    for name in ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"):
        sums[name] = max((total.get(name, 0) for total in totals), default=0)
        sums[name] += sum(turn.get(name, 0) for turn in turns)
    return responses + len(turns), sums


def compactions(rows):
    found, counted = 0, False
    for row in rows:
        payload = row.get("payload") or {}
        kind = payload.get("type")
        item = payload["item"]["type"] if kind == "item_completed" else ""
        if row.get("type") == "compacted" or kind == "context_compacted" or item == "ContextCompaction":
            found += not counted
            counted = True
        elif row.get("type") == "response_item" and (kind in MODEL_ROWS or payload.get("role") == "assistant"):
            counted = False
    return found


def subagents(rows):
    started = {p["new_thread_id"] for p in typed(rows, "event_msg", "collab_agent_spawn_end")}
    for item in items(rows):
        if item["type"] == "SubAgentActivity" and item.get("kind") == "started":
            started.add(item["agent_thread_id"])
    return len(started)


def count(path):
    rows = load(path)
    calls = sum(p.get("type") in CALLS for p in typed(rows, "response_item"))
    responses, sums = tokens(rows)
    cached, written = sums["cached_input_tokens"], sums["cache_write_input_tokens"]
    return {
        "human_messages": prompts(rows),
        "tool_calls": calls + len(inner_items(rows)),
        "failures": failures(rows),
        "responses": responses,
        "tokens_input": sums["input_tokens"] - cached - written,
        "tokens_cache_read": cached,
        "tokens_cache_write": written,
        "tokens_output": sums["output_tokens"],
        "compactions": compactions(rows),
        "models": sorted({p["model"] for p in typed(rows, "turn_context") if p.get("model")}),
        "subagents": subagents(rows),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
