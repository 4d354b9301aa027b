"""Count an OpenHands conversation a second way: standard library only, all events in memory, simple loops.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_openhands.py FILE` to print the counts; an event file stands for its folder.
"""

import json
import sys
from pathlib import Path

CALLS = ("run", "run_ipython", "edit", "write", "read", "browse", "browse_interactive", "delegate", "task_tracking")


def load(path):
    path = Path(path)
    if path.name.startswith("event-"):
        return [json.loads(file.read_bytes()) for file in sorted(path.parent.glob("event-*.json"))]
    text = path.read_text("utf-8")
    if text.lstrip().startswith("["):
        return json.loads(text)
    rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    return [row.get("event", row) for row in rows]


def newer_failure(event):
    if event["kind"] in ("AgentErrorEvent", "UserRejectObservation"):
        return True
    if event["kind"] != "ObservationEvent":
        return False
    observation = event["observation"]
    code = observation.get("exit_code")
    if code is None:
        code = (observation.get("metadata") or {}).get("exit_code")
    return bool(observation.get("is_error")) if code in (None, -1) else code != 0


def newer(events):
    totals, responses, sums, models = {}, 0, [0, 0, 0, 0], set()
    for event in events:
        if event["kind"] == "ConversationStateUpdateEvent" and event["key"] == "stats":
            for use, metrics in event["value"]["usage_to_metrics"].items():
                usage = metrics["accumulated_token_usage"]
                names = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens")
                now = [usage[name] for name in names]
                grown = [new - old for new, old in zip(now, totals.get(use, [0] * 4), strict=True)]
                totals[use] = now
                if any(grown):
                    responses += 1
                    models.add(metrics["model_name"])
                    sums = [one + more for one, more in zip(sums, grown, strict=True)]
    actions = [event for event in events if event["kind"] == "ActionEvent"]
    return {
        # "The task appears incomplete …" is what the command line's critic sends in the user's name.
        "human_messages": sum(
            e["kind"] == "MessageEvent"
            and e["source"] == "user"
            and "The task appears incomplete (" not in json.dumps(e)
            for e in events
        ),
        "tool_calls": len(actions),
        "failures": sum(map(newer_failure, events)),
        "responses": responses,
        "tokens_input": sums[0] - sums[1] - sums[2],
        "tokens_cache_read": sums[1],
        "tokens_cache_write": sums[2],
        "tokens_output": sums[3],
        "compactions": sum(event["kind"] == "Condensation" for event in events),
        "models": sorted(models),
        "subagents": sum(event["tool_name"] in ("task", "delegate") for event in actions),
    }


def older(events):
    answers = {}
    for event in events:
        answer = (event.get("tool_call_metadata") or {}).get("model_response") or {}
        if event.get("action") and answer.get("usage"):
            answers[answer["id"]] = answer
    usages = [answer["usage"] for answer in answers.values()]

    def total(*names):
        return sum(usage.get(name) or 0 for usage in usages for name in names)

    read = sum((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0 for usage in usages)
    written = total("cache_creation_input_tokens")
    codes = [((event.get("extras") or {}).get("metadata") or {}).get("exit_code") for event in events]
    said = [e for e in events if e.get("action") == "message" and e["source"] == "user"]
    return {
        "human_messages": len(said),
        "tool_calls": sum(event.get("action") in CALLS and event["source"] == "agent" for event in events),
        "failures": sum(code not in (None, 0, -1) for code in codes),
        "responses": len(usages),
        "tokens_input": total("prompt_tokens") - read - written,
        "tokens_cache_read": read,
        "tokens_cache_write": written,
        "tokens_output": total("completion_tokens"),
        "compactions": sum(event.get("action") == "condensation" for event in events),
        "models": sorted({answer["model"] for answer in answers.values()}),
        "subagents": sum(event.get("action") == "delegate" for event in events),
    }


def count(path):
    events = load(path)
    return newer(events) if "kind" in events[0] else older(events)


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1]), indent=1))
