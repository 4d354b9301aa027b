"""Count a Copilot session file a second way: standard library only, the whole file in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_copilot.py FILE` to print the counts.
"""

import json
import re
import sys
from pathlib import Path

SHELLS = ("bash", "powershell", "shell", "local_shell")
EXIT = re.compile(r"with exit code (-?\d+)>\s*$")


def load(path):
    rows = []
    for line in Path(path).read_bytes().split(b"\n"):
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def exit_code(data):
    shell = data.get("shellExecution") or {}
    if shell.get("exitCode") is not None:
        return int(shell["exitCode"])
    metrics = (data.get("toolTelemetry") or {}).get("metrics") or {}
    if metrics.get("exit_code") is not None:
        return int(metrics["exit_code"])
    content = (data.get("result") or {}).get("content")
    match = EXIT.search(content) if isinstance(content, str) else None
    return int(match.group(1)) if match else None


def is_human(row):
    data = row["data"]
    return not row.get("agentId") and not data.get("source") and not data.get("isAutopilotContinuation")


def ran(row, names):
    name = names.get(row["data"]["toolCallId"], "")
    return name in SHELLS or (name.startswith(("read_", "write_")) and name.split("_")[1] in ("bash", "powershell"))


def count(path):
    rows = load(path)
    of = {}
    for row in rows:
        of.setdefault(row.get("type"), []).append(row)

    names, calls = {}, set()
    for row in of.get("assistant.message", []):
        for request in row["data"].get("toolRequests") or []:
            names[request["toolCallId"]] = request["name"]
            calls.add(request["toolCallId"])
    for row in of.get("tool.execution_start", []):
        names[row["data"]["toolCallId"]] = row["data"]["toolName"]
        calls.add(row["data"]["toolCallId"])

    failures = 0
    for row in of.get("tool.execution_complete", []):
        data = row["data"]
        failures += not data["success"] or bool(ran(row, names) and exit_code(data))
    for row in of.get("system.notification", []):
        kind = row["data"].get("kind") or {}
        failures += kind.get("type") == "shell_completed" and bool(kind.get("exitCode"))

    records = [row["data"]["usage"] for row in of.get("session.usage_record", [])]
    compactions = [row["data"] for row in of.get("session.compaction_complete", [])]
    spent = [(u["inputTokens"], u["cacheReadTokens"], u["cacheWriteTokens"], u["outputTokens"]) for u in records]
    if not records:
        # Before usage was recorded an answer said only what it put out, and nothing where it says nothing.
        answers = {}
        for row in of.get("assistant.message", []):
            data = row["data"]
            if data.get("outputTokens") is not None:
                answers.setdefault(data.get("apiCallId") or data.get("requestId") or data["messageId"], data)
        spent = [(0, 0, 0, data["outputTokens"]) for data in answers.values()]
        for data in compactions:
            used = data["compactionTokensUsed"]
            spent.append((used["inputTokens"], used["cacheReadTokens"], used["cacheWriteTokens"], used["outputTokens"]))

    models, chosen = set(), None
    for row in rows:
        data = row.get("data") or {}
        if row.get("type") in ("session.start", "session.resume"):
            chosen = data.get("selectedModel") or chosen
        elif row.get("type") == "session.model_change":
            chosen = data.get("newModel") or chosen
        elif row.get("type") == "tool.execution_complete" and not row.get("agentId"):
            chosen = data.get("model") or chosen
        elif row.get("type") == "assistant.message":
            models.add(data.get("model") or chosen)
    models |= {data["compactionTokensUsed"].get("model") for data in compactions}
    return {
        "human_messages": sum(is_human(row) for row in of.get("user.message", [])),
        "tool_calls": len(calls),
        "failures": failures,
        "responses": len(spent),
        "tokens_input": sum(whole - read - written for whole, read, written, _ in spent),
        "tokens_cache_read": sum(read for _, read, _, _ in spent),
        "tokens_cache_write": sum(written for _, _, written, _ in spent),
        "tokens_output": sum(out for _, _, _, out in spent),
        "compactions": len(compactions),
        "models": sorted(model for model in models if model),
        "subagents": len(of.get("subagent.started", [])),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
