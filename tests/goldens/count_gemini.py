"""Count a Gemini session file a second way: standard library only, the whole file in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader: here the messages are
first put together as Gemini itself does it, the last of the same id winning.
Run `python tests/goldens/count_gemini.py FILE` to print the counts.
"""

import json
import re
import sys
from pathlib import Path

EXIT = re.compile(r"^Exit Code: (-?\d+)\s*$", re.MULTILINE)
AGENTS = ("codebase_investigator", "delegate_to_agent", "generalist", "cli_help", "invoke_agent", "task", "agent")


def load(path):
    """Return the messages, those taken back included, and the ids of those that a new history brought."""
    text = Path(path).read_text("utf-8")
    try:
        return json.loads(text)["messages"], set(), 0
    except (ValueError, KeyError):
        pass
    messages, brought, replaced = {}, set(), 0
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        row = json.loads(line)
        if "id" in row:
            messages[row["id"]] = row
        elif "messages" in row.get("$set", {}):
            new = {message["id"]: message for message in row["$set"]["messages"]}
            replaced += any(old not in new for old in messages)
            brought |= {key for key in new if key not in messages}
            messages = messages | new
        assert "$rewindTo" not in row, number
    return list(messages.values()), brought, replaced


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content or [])


def is_human(message, brought):
    if message["type"] != "user" or message["id"] in brought:
        return False
    text = text_of(message.get("displayContent") or message["content"])
    text = re.sub(r"<hook_context>.*?</hook_context>", "", text, flags=re.DOTALL).strip()
    return bool(text) and not text.startswith(("/", "?", "<session_context>", "<system"))


def failed(call):
    if call["status"] in ("error", "cancelled"):
        return True
    texts = []
    for part in call.get("result") or []:
        response = part["functionResponse"]["response"]
        if "error" in response:
            return True
        texts.append(response.get("output") or "")
    codes = EXIT.findall("\n".join(texts)) if call["name"] == "run_shell_command" else []
    return bool(codes) and codes[-1] != "0"


def count(path):
    messages, brought, replaced = load(path)
    calls = {}
    for message in messages:
        for call in message.get("toolCalls") or []:
            calls[call["id"]] = call
    tokens = [message["tokens"] for message in messages if message.get("tokens")]

    def total(name):
        return sum(row.get(name) or 0 for row in tokens)

    return {
        "human_messages": sum(is_human(message, brought) for message in messages),
        "tool_calls": len(calls),
        "failures": sum(failed(call) for call in calls.values()),
        "responses": len(tokens),
        "tokens_input": total("input") + total("tool") - total("cached"),
        "tokens_cache_read": total("cached"),
        "tokens_cache_write": 0,
        "tokens_output": total("output") + total("thoughts"),
        "compactions": replaced,
        "models": sorted({message["model"] for message in messages if message.get("model")}),
        "subagents": sum(bool(call.get("agentId")) or call["name"] in AGENTS for call in calls.values()),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
