"""The scripted model says what its script says, in each protocol, streamed and not, and keeps what it was asked."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).resolve().parents[1] / "real_agents/model/server.py"
CALL = {"text": "I run the tests of both helpers, one after the other.", "tool": {"name": "bash", "args": {"command": "pytest -q"}},
        "usage": {"input": 900, "cached": 800, "output": 20}}  # fmt: skip
LAST = {"text": "Done."}
TOOLS = [{"name": "bash"}]
GEMINI = "/v1beta/models/gemini-2.5-pro"


def anthropic(results: int = 0, **more: Any) -> dict[str, Any]:
    told = [{"role": "user", "content": "Mend it."}]
    told += [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": str(n), "content": "red"}]}
        for n in range(results)
    ]
    return {"model": "claude-mock", "messages": told, "tools": TOOLS, **more}


def responses(results: int = 0, **more: Any) -> dict[str, Any]:
    told: list[Any] = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mend it."}]}]
    told += [{"type": "function_call_output", "call_id": str(n), "output": "red"} for n in range(results)]
    return {"model": "mock-model", "input": told, "tools": TOOLS, **more}


def chat(results: int = 0, **more: Any) -> dict[str, Any]:
    told = [{"role": "user", "content": "Mend it."}]
    told += [{"role": "tool", "tool_call_id": str(n), "content": "red"} for n in range(results)]
    return {"model": "mock-model", "messages": told, "tools": TOOLS, **more}


def gemini(results: int = 0, **more: Any) -> dict[str, Any]:
    told: list[Any] = [{"role": "user", "parts": [{"text": "Mend it."}]}]
    told += [
        {"role": "user", "parts": [{"functionResponse": {"name": "bash", "response": {"n": n}}}]}
        for n in range(results)
    ]
    return {"contents": told, "tools": TOOLS, **more}


ALL = [
    ("/v1/messages", anthropic),
    ("/v1/responses", responses),
    ("/v1/chat/completions", chat),
    (f"{GEMINI}:generateContent", gemini),
]
every_protocol = pytest.mark.parametrize(("path", "body"), ALL, ids=["anthropic", "responses", "chat", "gemini"])


def test_anthropic_messages(model: Any) -> None:
    running = model(CALL, LAST)
    whole = running.ask("/v1/messages?beta=true", anthropic()).json
    text, call = whole["content"]
    assert (text["text"], call["name"], call["input"]) == (CALL["text"], "bash", {"command": "pytest -q"})
    assert (whole["role"], whole["stop_reason"], whole["model"]) == ("assistant", "tool_use", "claude-mock")
    usage = {"input_tokens": 100, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 0, "output_tokens": 20}
    assert usage.items() <= whole["usage"].items()
    events = running.ask("/v1/messages", anthropic(stream=True)).events
    assert all(name == data["type"] for name, data in events)
    names = [name for name, _ in events]
    assert (names[0], names[-2:]) == ("message_start", ["message_delta", "message_stop"])
    assert names.count("content_block_start") == names.count("content_block_stop") == 2
    deltas = [data["delta"] for name, data in events if name == "content_block_delta"]
    assert len(deltas) > 3
    assert "".join(delta.get("text", "") for delta in deltas) == CALL["text"]
    assert json.loads("".join(delta.get("partial_json", "") for delta in deltas)) == {"command": "pytest -q"}
    assert events[-2][1]["delta"]["stop_reason"] == "tool_use"
    assert usage.items() <= events[-2][1]["usage"].items()
    last = running.ask("/v1/messages", anthropic(1)).json
    assert (last["content"], last["stop_reason"]) == ([{"type": "text", "text": "Done."}], "end_turn")
    assert running.ask("/v1/messages/count_tokens", anthropic()).json["input_tokens"] > 10


def test_openai_responses(model: Any) -> None:
    running = model(CALL, {"tools": [{"name": "exec", "input": "await x()"}, {"name": "b", "args": {}}]})
    message, call = running.ask("/v1/responses", responses()).json["output"]
    assert message["content"][0]["text"] == CALL["text"]
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "bash", '{"command": "pytest -q"}')
    events = running.ask("/v1/responses", responses(stream=True)).events
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert all(name == data["type"] for name, data in events)
    assert (events[0][0], events[-1][0]) == ("response.created", "response.completed")
    assert "".join(data["delta"] for name, data in events if name == "response.output_text.delta") == CALL["text"]
    sent = "".join(data["delta"] for name, data in events if name == "response.function_call_arguments.delta")
    assert json.loads(sent) == {"command": "pytest -q"}
    done = [data["item"] for name, data in events if name == "response.output_item.done"]
    assert done == events[-1][1]["response"]["output"]
    usage = events[-1][1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (900, 20, 920)
    assert usage["input_tokens_details"] == {"cached_tokens": 800}
    code = responses(1, stream=True, tools=[])
    code["input"].insert(0, {"type": "additional_tools", "tools": TOOLS})
    items = running.ask("/v1/responses", code).events[-1][1]["response"]["output"]
    assert [(item["type"], item["name"]) for item in items] == [("custom_tool_call", "exec"), ("function_call", "b")]
    assert items[0]["input"] == "await x()"


def test_openai_chat(model: Any) -> None:
    running = model(CALL, LAST)
    choice = running.ask("/v1/chat/completions", chat()).json["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (CALL["text"], "tool_calls")
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "bash", "arguments": '{"command": "pytest -q"}'}
    events = [data for _, data in running.ask("/v1/chat/completions", chat(stream=True)).events]
    assert events.pop() == "[DONE]"
    usage = events.pop()
    assert usage["choices"] == []
    assert usage["usage"]["prompt_tokens_details"] == {"cached_tokens": 800}
    assert (usage["usage"]["prompt_tokens"], usage["usage"]["completion_tokens"]) == (900, 20)
    choices = [event["choices"][0] for event in events]
    assert [choice["finish_reason"] for choice in choices if choice["finish_reason"]] == ["tool_calls"]
    assert "".join(choice["delta"].get("content", "") for choice in choices) == CALL["text"]
    pieces = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
    assert [piece["id"][:5] for piece in pieces if "id" in piece] == ["call_"]
    assert json.loads("".join(piece["function"]["arguments"] for piece in pieces)) == {"command": "pytest -q"}
    assert running.ask("/v1/chat/completions", chat(1)).json["choices"][0]["finish_reason"] == "stop"


def test_gemini(model: Any) -> None:
    running = model(CALL, LAST)
    candidate = running.ask(f"{GEMINI}:generateContent", gemini()).json["candidates"][0]
    text, call = candidate["content"]["parts"]
    assert (text["text"], call["functionCall"]) == (CALL["text"], {"name": "bash", "args": {"command": "pytest -q"}})
    answers = [data for _, data in running.ask(f"{GEMINI}:streamGenerateContent?alt=sse", gemini()).events]
    reasons = [answer["candidates"][0].get("finishReason") for answer in answers]
    assert reasons == [None] * (len(answers) - 1) + ["STOP"]
    parts = [part for answer in answers for part in answer["candidates"][0]["content"]["parts"]]
    assert "".join(part.get("text", "") for part in parts) == CALL["text"]
    assert parts[-1] == {"functionCall": {"name": "bash", "args": {"command": "pytest -q"}}}
    usage = {
        "promptTokenCount": 900,
        "cachedContentTokenCount": 800,
        "candidatesTokenCount": 20,
        "totalTokenCount": 920,
    }
    assert answers[-1]["usageMetadata"] == usage
    listed = running.ask(f"{GEMINI}:streamGenerateContent", gemini(1)).json
    assert listed[-1]["candidates"][0]["content"]["parts"] == [{"text": "Done."}]
    assert running.ask(f"{GEMINI}:countTokens", gemini()).json["totalTokens"] > 10


@every_protocol
def test_the_step_is_the_one_after_the_results(path: str, body: Any, model: Any) -> None:
    running = model({"text": "zero"}, {"text": "one"}, {"text": "two"}, side="A title")
    for results, word in ((0, "zero"), (2, "two"), (1, "one"), (9, "two")):
        assert f'"{word}"' in running.ask(path, body(results)).text
    assert '"A title"' in running.ask(path, body(1, tools=[])).text
    assert [request["step"] for request in running.requests()] == [0, 2, 1, 2, "side"]


@every_protocol
def test_a_sequence_goes_on_past_a_compaction(path: str, body: Any, model: Any) -> None:
    running = model({"text": "zero"}, {"text": "one"}, mode="sequence", summary="SUMMED UP")
    asked = json.loads(
        json.dumps(body(3)).replace("Mend it.", "Your task is to create a detailed summary of the conversation so far.")
    )
    key = next(name for name in ("messages", "input", "contents") if name in asked)
    asked[key] = asked[key][::-1]
    steps = [running.ask(path, one).text for one in (body(), asked, body())]
    assert ["SUMMED UP" in text for text in steps] == [False, True, False]
    assert [request["step"] for request in running.requests()] == [0, "summary", 1]


ASKED = [
    "Your task is to create a detailed summary of the conversation so far.",
    "You are performing a CONTEXT CHECKPOINT COMPACTION.",
    "You are a context summarization assistant.",
    "Update the anchored summary below.",
    "First, reason. Then generate the <state_snapshot> XML object.",
]


@pytest.mark.parametrize("words", ASKED)
def test_agents_own_words_for_a_compaction(words: str, model: Any) -> None:
    running = model(LAST, summary="SUMMED UP", side="A title")
    asked = chat(2, tools=[])
    asked["messages"].insert(0, {"role": "system", "content": words})
    assert "SUMMED UP" in running.ask("/v1/chat/completions", asked).text
    asked["messages"][0]["content"] = "Give a short title that sums up what is asked."
    assert "A title" in running.ask("/v1/chat/completions", asked).text
    asked["messages"][0]["content"] = f"You are a coding agent. Should they say {words} do it."
    asked["tools"] = TOOLS
    assert "Done." in running.ask("/v1/chat/completions", asked).text


@every_protocol
def test_an_error_is_refused_in_the_protocols_own_form(path: str, body: Any, model: Any) -> None:
    running = model({"status": 429, "error": "rate_limit_error", "retry_after": 7})
    answer = running.ask(path, body(stream=True))
    assert (answer.status, answer.headers["retry-after"]) == (429, "7")
    error = answer.json["error"]
    assert error["message"] == "the script says so"
    assert "rate_limit_error" in error.values() or error["status"] == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize(("path", "body"), ALL[:3], ids=["anthropic", "responses", "chat"])
def test_a_stream_is_cut(path: str, body: Any, model: Any) -> None:
    running = model({**CALL, "cut": True})
    cut = running.ask(path, body(stream=True))
    assert cut.status == 200
    assert cut.events[-1][0] not in ("message_stop", "response.completed")
    assert cut.events[-1][1] != "[DONE]"


def test_a_title_that_is_wanted_as_json(model: Any) -> None:
    running = model(LAST, side="Two helpers")
    form = {"type": "json_schema", "json_schema": {"schema": {"properties": {"title": {"type": "string"}}}}}
    answer = running.ask("/v1/chat/completions", chat(tools=[], response_format=form)).json
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"title": "Two helpers"}


def test_what_was_asked_is_kept_without_a_key(model: Any) -> None:
    running = model(LAST)
    packed = gzip.compress(json.dumps(chat(marker="packed")).encode())
    assert (
        running.ask("/v1/chat/completions", data=packed, content_encoding="gzip", authorization="Bearer sk-x").status
        == 200
    )
    assert running.ask("/v1/models").json["data"][0]["id"] == "mock-model"
    assert running.ask("/v1/models/gpt-5.5").json["id"] == "gpt-5.5"
    assert running.ask("/v2/elsewhere", {"a": 1}).status == 404
    assert running.ask("/v1/responses", data=b"[1]").status == 400
    assert running.ask("/v1/responses", data=b"x", content_encoding="zstd").status == 400
    kept = running.requests()
    assert [request["path"] for request in kept][:4] == [
        "/v1/chat/completions",
        "/v1/models",
        "/v1/models/gpt-5.5",
        "/v2/elsewhere",
    ]
    assert kept[0]["body"]["marker"] == "packed"
    assert "zstd" in kept[-1]["problem"]
    assert "sk-x" not in json.dumps(kept)
    assert not [path for path in running.records.iterdir() if path.suffix != ".json"]


def test_a_body_in_chunks(model: Any) -> None:
    running = model(LAST)
    client = http.client.HTTPConnection(running.address.removeprefix("http://"), timeout=20)
    data = json.dumps(anthropic()).encode()
    client.request(
        "POST", "/v1/messages", iter([data[:40], data[40:]]), {"transfer-encoding": "chunked"}, encode_chunked=True
    )
    assert json.loads(client.getresponse().read())["content"][0]["text"] == "Done."
    client.close()


def test_it_ends_with_sigterm_while_it_is_slow_to_answer(model: Any) -> None:
    running = model({"sleep": 600, "text": "too late"})
    client = http.client.HTTPConnection(running.address.removeprefix("http://"), timeout=20)
    client.request("POST", "/v1/messages", json.dumps(anthropic()))
    while not running.requests():
        pass
    running.process.terminate()
    assert running.process.wait(20) == 0
    client.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "localhost.example"])
def test_another_address_than_the_loopbacks_is_refused(host: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"steps": [{"text": "x"}]}')
    words = ["--script", str(tmp_path / "s.json"), "--records", str(tmp_path / "r"), "--host", host]
    done = subprocess.run([sys.executable, str(SERVER), *words], capture_output=True, timeout=20, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"no scripted model: ")
