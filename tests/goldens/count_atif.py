"""Count an ATIF trajectory a second way: standard library only, the whole document in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_atif.py FILE` to print the counts.
"""

import json
import sys
from pathlib import Path


def text(value):
    if isinstance(value, list):
        return "\n".join(part.get("text") or "" for part in value)
    return value or ""


def all_steps(document):
    yield from ((step, document, True) for step in document["steps"])
    for child in document.get("subagent_trajectories") or []:
        yield from ((step, owner, False) for step, owner, _ in all_steps(child))


def results(step):
    observation = step.get("observation") or {}
    if observation.get("type") == "tool_result":  # one wild producer
        yield {"content": observation["content"], "bad": not observation["result"]["success"]}
    yield from observation.get("results") or []


def failed(result, step):
    content = result.get("content")
    if "bad" in result:
        return result["bad"]
    if isinstance(content, dict):
        return content.get("passed") is False
    extra = result.get("extra") or {}
    if extra.get("exit_code") is not None:
        return extra["exit_code"] != 0
    return bool(extra.get("is_error")) or ("timed out after" in text(content) and bool(step.get("tool_calls")))


def typed_calls(step):
    """Calls in the message, where there are no others: as XML, or as keys to press in a JSON object."""
    message = text(step.get("message"))
    if step.get("tool_calls") or step["source"] != "agent":
        return 0
    if "<function=" in message:
        return message.count("<function=")
    try:
        return len(json.loads(message).get("commands", []))
    except (ValueError, AttributeError):
        return 0


def count(path):
    document = json.loads(Path(path).read_text("utf-8"))
    own = [(step, owner, main) for step, owner, main in all_steps(document) if not step.get("is_copied_context")]
    metrics = [step["metrics"] for step, _, _ in own if "prompt_tokens" in (step.get("metrics") or {})]
    checks = [r for step, _, _ in own for r in results(step) if isinstance(r.get("content"), dict)]
    refs = [ref for step, _, _ in own for r in results(step) for ref in r.get("subagent_trajectory_ref") or []]
    cached = sum(m.get("cached_tokens") or 0 for m in metrics)
    written = sum((m.get("extra") or {}).get("cache_creation_input_tokens") or 0 for m in metrics)
    users = [text(step["message"]) for step, _, main in own if step["source"] == "user" and main]
    models = set()
    for step, owner, _ in own:
        if step["source"] == "agent":
            agent = owner["agent"]
            models.add(step.get("model_name") or agent.get("model_name") or agent.get("model"))
    return {
        "human_messages": sum(not message.startswith("Here are the answers") for message in users),
        "tool_calls": sum(len(step.get("tool_calls") or []) + typed_calls(step) for step, _, _ in own) + len(checks),
        "failures": sum(failed(result, step) for step, _, _ in own for result in results(step)),
        "responses": len(metrics),
        "tokens_input": sum(m["prompt_tokens"] for m in metrics) - cached - written,
        "tokens_cache_read": cached,
        "tokens_cache_write": written,
        "tokens_output": sum(m["completion_tokens"] for m in metrics),
        "compactions": sum(s["source"] == "system" and "summarization" in text(s["message"]) for s, _, _ in own),
        "models": sorted(model for model in models if model),
        "subagents": len(refs),
    }


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
