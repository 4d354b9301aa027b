"""Count a mini-swe-agent trajectory a second way: standard library only, all messages in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_mini_swe_agent.py FILE` to print the counts.
"""

import json
import re
import sys
from pathlib import Path


def text(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def calls(message):
    if message.get("role") != "assistant":
        return sum(item["type"] == "function_call" for item in message.get("output") or [] if "call_id" in item)
    if message.get("tool_calls"):
        return len(message["tool_calls"])
    return len(re.findall(r"```(?:mswea_bash_command|bash)\n", text(message))) == 1


def failed(message):
    extra = message.get("extra") or {}
    if extra.get("exception_info"):
        return True
    code = extra.get("returncode")
    if code is None:
        found = re.match(r"<returncode>(-?\d+)</returncode>", text(message))
        code = int(found[1]) if found else 0
    return code != 0 or "timed out and has been killed" in text(message)


def count(path):
    document = json.loads(Path(path).read_text("utf-8"))
    messages = document if isinstance(document, list) else document["messages"]
    info = {} if isinstance(document, list) else document["info"]
    answers = [
        m.get("extra", {}).get("response") or m for m in messages if m.get("role") == "assistant" or "output" in m
    ]
    answers = {
        answer.get("id") or number: answer for number, answer in enumerate(answers) if "usage" in answer
    }.values()
    usages = [answer["usage"] for answer in answers]
    cached = 0
    for usage in usages:
        details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
        cached += details.get("cached_tokens") or 0
    taken = sum(usage.get("prompt_tokens", usage.get("input_tokens")) for usage in usages)
    models = {answer["model"] for answer in answers}
    configured = ((info.get("config") or {}).get("model") or {}).get("model_name")
    return {
        "human_messages": 1,  # the task; all that follows in this role is the harness's
        "tool_calls": sum(calls(message) for message in messages),
        "failures": sum(failed(m) for m in messages if m.get("role") in ("tool", "user") or m.get("type")),
        "responses": len(usages),
        "tokens_input": taken - cached,
        "tokens_cache_read": cached,
        "tokens_cache_write": 0,
        "tokens_output": sum(usage.get("completion_tokens", usage.get("output_tokens")) for usage in usages),
        "compactions": 0,
        "models": sorted(models or {configured} - {None}),
        "subagents": 0,
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
