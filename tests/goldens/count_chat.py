"""Count rows of chat messages a second way: standard library only, all in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_chat.py FILE` to print the counts; of a file with several rows, those of each by its id.
"""

import json
import re
import sys
from pathlib import Path

ERRORS = ("Ran into [Errno", "Invalid `", "ERROR:", "Error:", "No replacement was performed")
RUN = ("bash", "terminal", "execute_bash", "Bash")


def text(content):
    if isinstance(content, list):
        return "\n".join(block.get("text") or "" for block in content if isinstance(block, dict))
    return content or ""


def rows(path):
    data = Path(path).read_text("utf-8")
    try:
        document = json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.split("\n") if line.strip()]
    return [{"messages": document}] if isinstance(document, list) else [document]


def bad(result, name):
    code = re.search(r"\[(?:Command finished|The command completed) with exit code (-?\d+)", result)
    if code:
        return code[1] != "0"
    return name not in RUN and result.startswith(ERRORS)


def one(row):
    messages = row.get("raw_messages") or row.get("messages") or row["trajectory"]
    messages = json.loads(messages) if isinstance(messages, str) else messages
    answer = row.get("response") or {}
    messages = messages + [choice["message"] for choice in answer.get("choices") or []]
    calls, failures, humans, waiting, names = 0, 0, 0, "", {}
    for message in messages:
        said = text(message.get("content"))
        if message["role"] == "assistant":
            for call in message.get("tool_calls") or []:
                names[call["id"]] = call["function"]["name"]
                calls += 1
            found = [] if message.get("tool_calls") else re.findall(r"<function=(\w+)>", said)
            calls, waiting = calls + len(found), (found or [""])[0]
        elif message["role"] == "user" and waiting:
            failures += bad(re.sub(r"^OBSERVATION:\n|^EXECUTION RESULT of \[\w+\]:\n", "", said), waiting)
            waiting = ""
        elif message["role"] == "user":
            humans += 1
        elif message["role"] == "tool":
            failures += bad(said, names.get(message["tool_call_id"], ""))
    usage = answer.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return {
        "human_messages": humans,
        "tool_calls": calls,
        "failures": failures,
        "responses": len([usage] if usage else []),
        "tokens_input": (usage.get("prompt_tokens") or 0) - cached,
        "tokens_cache_read": cached,
        "tokens_cache_write": 0,
        "tokens_output": usage.get("completion_tokens") or 0,
        "compactions": 0,
        "models": [answer["model"]] if answer else [],
        "subagents": 0,
    }


def count(path):
    found = rows(path)
    return one(found[0]) if len(found) == 1 else {row["instance_id"]: one(row) for row in found}


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
