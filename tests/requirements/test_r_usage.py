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


INPUT, CACHED, CALLS = 19_860_000, 18_020_000, 53


def essay_calls() -> list[Call]:
    """53 answers and 52 tool calls that come to 19.86M of input, 18.02M of it cached; the context goes 35K, 490K, 1.02M."""
    contexts = [35_000] * 20 + [490_000] * 24 + [1_020_000] * 7 + [20_000]
    contexts.append(INPUT - sum(contexts))
    assert len(contexts) == CALLS and 0 < contexts[-1] < 1_020_000
    tools = {19: "git log -p --all", 43: "codex resume 0199"}
    calls, left = [], CACHED
    for number, context in enumerate(contexts):
        cached = min(context * 95 // 100, left) if number < CALLS - 1 else left
        left -= cached
        tool = tools.get(number, "ls") if number < CALLS - 1 else ""
        calls.append(Call(context, cached, tool=tool, model="somebody-1", text="x" * (9000 if number in tools else 10)))
    assert all(0 <= call.cached <= call.prompt for call in calls)
    return calls


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("log", [claude_log, codex_log])
def test_r27_the_essays_totals_whatever_the_convention_and_the_copies(
    log: Any, copies: int, ask: Run, tmp_path: Path, passdown: Any
) -> None:
    path = log(tmp_path / "log.jsonl", essay_calls(), copies=copies)
    code, report = ask("usage", "--session", str(path))
    totals = report["totals"]
    assert (code, report["turns"], report["tool_calls"]) == (0, 53, 52)
    assert (totals["all_input"], totals["cache_read"], totals["input"]) == (INPUT, CACHED, INPUT - CACHED)
    assert totals["hit_rate"] == round(CACHED / INPUT, 4)
    assert report["convention"].startswith("read from cache / all input")
    shown = passdown("usage", "--session", str(path), folder=tmp_path).stdout.decode()
    for text in ("53 turns", "52 tool calls", "19.86M", "18.02M", "90.7 %", "1.84M fresh"):
        assert text in shown


def test_r27_more_cached_than_input_is_refused_with_the_reason(passdown: Any, tmp_path: Path) -> None:
    path = codex_log(tmp_path / "log.jsonl", [Call(20_000, 10_000), Call(5_000, 60_000)])
    done = passdown("usage", "--session", str(path), folder=tmp_path)
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"60,000 cached tokens in 5,000 of input" in done.stderr


def test_r28_the_growth_names_its_jumps_and_the_tool_calls_before_them(ask: Run, tmp_path: Path) -> None:
    for log in (claude_log, codex_log):
        _, report = ask("usage", "--session", str(log(tmp_path / f"{log.__name__}.jsonl", essay_calls())))
        growth = report["growth"]
        found = [(jump["call"], jump["before"], jump["after"], jump["step"]["words"]) for jump in growth["jumps"][:2]]
        assert found == [(21, 35_000, 490_000, "git log -p --all"), (45, 490_000, 1_020_000, "codex resume 0199")]
        assert (growth["first"], growth["largest"]) == (35_000, 1_020_000)
        assert growth["break_even"]["after_call"] == 21
        assert growth["break_even"]["saved"] > 10_000_000


@pytest.mark.parametrize(
    ("command", "context", "warned"),
    [("make", 120_000, True), ("passdown wrap --interim", 120_000, False), ("make", 90_000, False)],
)
def test_r30_another_model_is_for_a_sessions_boundary(
    command: str, context: int, warned: bool, ask: Run, tmp_path: Path
) -> None:
    first = Call(context, context - 1_000, tool=command, model="claude-sonnet-4-5")
    calls = [first, Call(context + 500, 2_000, model="claude-opus-4-5")]
    _, report = ask("usage", "--session", str(claude_log(tmp_path / "log.jsonl", calls)))
    (switch,) = report["switches"]
    assert (switch["before"], switch["after"], switch["uncached"]) == (
        "claude-sonnet-4-5", "claude-opus-4-5", context - 1_500
    )  # fmt: skip
    codes = [finding["code"] for finding in report["findings"]]
    assert codes == (["model.switched"] if warned else [])
    if warned:
        assert "118,500 of them in no cache" in report["findings"][0]["detail"]


def nested(ask: Run, tmp_path: Path, isolated_home: Path, log: Any, command: str) -> dict[str, Any]:
    """A session that runs a command for a while; the other agent's session goes on at the same time."""
    calls = [Call(50_000, 40_000, tool=command), Call(51_000, 50_000)]
    _, report = ask("usage", "--session", str(log(tmp_path / "own.jsonl", calls)))
    return report


FOREIGN = "0199c0de-7e57-7000-8000-00000000beef"


def test_r29_a_foreign_session_resumed_through_a_shell_is_warned_of_with_its_share(
    ask: Run, tmp_path: Path, isolated_home: Path
) -> None:
    other = isolated_home / ".claude/projects/-nowhere-project" / f"{FOREIGN}.jsonl"
    claude_log(other, [Call(999_000, 0), Call(1_000_000, 900_000)])
    other.write_text(other.read_text().replace(SESSION, FOREIGN).replace("2026-10-01T00:", "2026-10-01T11:"))
    report = nested(ask, tmp_path, isolated_home, codex_log, f"claude --resume {FOREIGN} -p 'go on'")
    (finding,) = report["findings"]
    assert (finding["code"], finding["severity"]) == ("agent.nested", "warn")
    assert "resumed another session with claude" in finding["detail"]
    assert "passdown wrap" in finding["fix"] and "passdown take" in finding["fix"]
    own, others = 101_000 + 20, 1_999_000 + 20
    assert report["nested"]["sessions"] == [FOREIGN]
    assert report["nested"]["share"] == round(others / (own + others), 4)
    assert report["totals"]["all_input"] == 101_000


@pytest.mark.parametrize(
    ("log", "command"),
    [(claude_log, f"claude --resume {SESSION}"), (codex_log, f"codex resume {SESSION}"), (claude_log, "./claude --resume x"),
     (claude_log, "pytest tests/claude"), (claude_log, "cat claude"), (codex_log, "claude --version")],
)  # fmt: skip
def test_r29_an_own_resume_after_a_crash_and_a_file_called_claude_are_none(
    log: Any, command: str, ask: Run, tmp_path: Path, isolated_home: Path
) -> None:
    report = nested(ask, tmp_path, isolated_home, log, command)
    assert report["findings"] == []
    assert "nested" not in report


def test_r29_an_agent_inside_another_one_shows_by_its_environment(ask: Run, tmp_path: Path) -> None:
    log = claude_log(tmp_path / "log.jsonl", [Call(50_000)])
    _, report = ask("budget", "--session", str(log), CLAUDECODE="1", CODEX_THREAD_ID="0199")
    assert [finding["code"] for finding in report["findings"]] == ["agent.nested"]
    assert "claude_code, codex" in report["findings"][0]["detail"]
    for alone in (
        {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"},
        {"CODEX_SANDBOX": "seatbelt", "AGENT": "1"},
        {},
    ):
        assert ask("budget", "--session", str(log), **alone)[1]["findings"] == []


def test_r29_an_agent_whose_session_is_not_here_is_named_without_a_number(
    ask: Run, tmp_path: Path, isolated_home: Path, passdown: Any
) -> None:
    report = nested(ask, tmp_path, isolated_home, claude_log, "codex exec 'the same work again'")
    assert [one["kind"] for one in report["nested"]["started"]] == ["launch"]
    assert (report["nested"]["share"], report["nested"]["totals"]) == (None, None)
    shown = passdown("usage", "--session", str(tmp_path / "own.jsonl"), folder=tmp_path)
    assert b"their sessions not found here" in shown.stdout
    assert b"agent.nested" in shown.stderr
