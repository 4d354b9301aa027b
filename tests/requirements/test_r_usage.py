"""R25 to R30: what a session costs and how full its context is, read from made logs whose totals are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SESSION = "bbbbbbbb-0000-4000-8000-000000000001"


class Call:
    """One answer of the model: the whole prompt, the part of it read from a cache, and the tool it calls."""

    def __init__(
        self, prompt: int, cached: int = 0, *, tool: str = "", model: str = "claude-sonnet-4-5", text: str = "out"
    ) -> None:
        self.prompt, self.cached, self.tool, self.model, self.text = prompt, cached, tool, model, text


def claude_log(path: Path, calls: list[Call], *, copies: int = 1, cwd: str = "/nowhere/project") -> Path:
    """Write a Claude Code log: cached tokens beside the input, each response on `copies` rows."""
    rows: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": "Begin."}, "permissionMode": "default"}
    ]
    for number, call in enumerate(calls):
        usage = {"input_tokens": call.prompt - call.cached, "cache_read_input_tokens": call.cached,
                 "cache_creation_input_tokens": 0, "output_tokens": 10}  # fmt: skip
        text = {"type": "text", "text": f"Answer {number}."}
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": call.tool}}
        for _ in range(copies):
            message = {"id": f"m{number}", "type": "message", "role": "assistant", "model": call.model,
                       "content": [text], "usage": usage}  # fmt: skip
            rows.append({"type": "assistant", "message": message, "requestId": f"r{number}"})
            text = {"type": "thinking", "thinking": "hm"}
        if call.tool:
            message = {"id": f"m{number}", "type": "message", "role": "assistant", "model": call.model,
                       "content": [use], "usage": usage}  # fmt: skip
            rows.append({"type": "assistant", "message": message, "requestId": f"r{number}"})
            block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": call.text}
            rows.append({"type": "user", "message": {"role": "user", "content": [block]},
                         "toolUseResult": {"stdout": call.text, "stderr": "", "interrupted": False}})  # fmt: skip
    parent = None
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        for number, row in enumerate(rows):
            stamp = f"2026-10-0{1 + number // 1400}T{number // 60 % 24:02}:{number % 60:02}:00.000Z"
            base = {"parentUuid": parent, "isSidechain": False, "cwd": cwd, "sessionId": SESSION, "version": "2.1.218",
                    "gitBranch": "main", "uuid": f"u{number}", "timestamp": stamp}  # fmt: skip
            parent = f"u{number}"
            stream.write(json.dumps(base | row) + "\n")
    return path


def codex_log(path: Path, calls: list[Call], *, copies: int = 1, cwd: str = "/nowhere/project") -> Path:
    """Write a Codex log: running totals with the cached tokens inside the input, each told `copies` times."""
    stamp = "2026-10-01T10:00:00.000Z"
    rows: list[tuple[str, dict[str, Any]]] = [
        (
            "session_meta",
            {"id": SESSION, "timestamp": stamp, "cwd": cwd, "originator": "codex_cli", "cli_version": "0.142.0"},
        ),
        ("event_msg", {"type": "user_message", "message": "Begin."}),
    ]
    total = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0}
    model = ""
    for number, call in enumerate(calls):
        if call.model != model:
            rows.append(("turn_context", {"turn_id": f"turn{number}", "cwd": cwd, "model": call.model}))
            model = call.model
        last = {"input_tokens": call.prompt, "cached_input_tokens": call.cached, "output_tokens": 10,
                "reasoning_output_tokens": 0, "total_tokens": call.prompt + 10}  # fmt: skip
        total = {name: count + last[name] for name, count in total.items()}
        info = {
            "last_token_usage": last,
            "total_token_usage": {**total, "total_tokens": 0},
            "model_context_window": 1_100_000,
        }
        rows.append(("event_msg", {"type": "agent_message", "message": f"Answer {number}."}))
        if call.tool:
            words = json.dumps({"command": ["bash", "-lc", call.tool]})
            rows.append(
                (
                    "response_item",
                    {"type": "function_call", "name": "shell", "arguments": words, "call_id": f"t{number}"},
                )
            )
        rows += [("event_msg", {"type": "token_count", "info": info})] * copies
        if call.tool:
            rows.append(
                ("response_item", {"type": "function_call_output", "call_id": f"t{number}", "output": call.text})
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) for kind, payload in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def ask(passdown: Any, tmp_path: Path) -> Run:
    """Return a function that runs a command with --json and returns its exit code and what it printed."""

    def run(*words: str, **env: str) -> tuple[int, dict[str, Any]]:
        done = passdown(*words, "--json", folder=tmp_path, **env)
        assert done.stdout, done.stderr.decode()
        return done.returncode, json.loads(done.stdout)

    return run


WINDOW = 1_000_000


@pytest.mark.parametrize(
    ("context", "band", "code"),
    [(499_900, "go_on", 0), (500_000, "prepare", 10), (700_000, "prepare", 10), (700_100, "wrap_up", 11)],
)
def test_r25_bands_at_their_boundaries(context: int, band: str, code: int, ask: Run, tmp_path: Path) -> None:
    log = claude_log(tmp_path / "log.jsonl", [Call(40_000), Call(context)])
    got, report = ask("budget", "--session", str(log), "--window", str(WINDOW))
    assert (got, report["band"], report["ratio"]) == (code, band, context / WINDOW)
    assert report["exit_code"] == code


@pytest.mark.parametrize(("context", "code"), [(99_999, 0), (100_000, 0), (100_001, 11)])
def test_r25_an_unknown_window_has_one_boundary_in_tokens(context: int, code: int, ask: Run, tmp_path: Path) -> None:
    log = claude_log(tmp_path / "log.jsonl", [Call(context, model="unheard-of-1")])
    got, report = ask("budget", "--session", str(log))
    assert (got, report["band"], report["window"], report["ratio"]) == (code, "unknown", None, None)


def test_r26_a_new_phase_asks_for_a_packet_and_work_nearly_done_does_not(ask: Run, tmp_path: Path) -> None:
    log = claude_log(tmp_path / "log.jsonl", [Call(110_000)])
    asked = ("budget", "--session", str(log))
    assert ask(*asked)[0] == 10
    code, report = ask(*asked, "--phase", "new")
    assert (code, report["ratio"], report["advice"]) == (10, 0.55, "prepare")
    code, report = ask(*asked, "--phase", "nearly-done")
    assert (code, report["ratio"], report["advice"]) == (0, 0.55, "finish")
    claude_log(log, [Call(150_000)])
    assert ask(*asked, "--phase", "nearly-done")[0] == 11
    claude_log(log, [Call(90_000)])
    assert ask(*asked, "--phase", "new")[0] == 0
