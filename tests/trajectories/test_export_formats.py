"""`passdown sessions export`: ATIF and chat messages, with what did not survive, for people and for programs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from atif import Trajectory

from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)
from passdown.sessions.read import read_session
from passdown.trajectories.chat_writer import write_chat

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
Run = Callable[..., subprocess.CompletedProcess[bytes]]


def test_atif_on_standard_output(passdown: Run) -> None:
    done = passdown("sessions", "export", str(FIXTURES / "mini_swe_agent/second.traj.json"), "--to", "atif")
    assert done.returncode == 0, done.stderr
    document = Trajectory.model_validate_json(done.stdout)
    assert document.agent.name == "mini-swe-agent"
    assert document.schema_version == "ATIF-v1.8"
    assert done.stderr == b""


def test_what_is_lost_is_told_on_standard_error(passdown: Run, tmp_path: Path) -> None:
    file = str(FIXTURES / "mini_swe_agent/second.traj.json")
    done = passdown("sessions", "export", file, "--to", "chat", "-o", str(tmp_path / "chat.json"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"lost   usage 4\n" in done.stderr
    assert json.loads((tmp_path / "chat.json").read_bytes())["messages"][0]["role"] == "user"


def test_what_is_lost_for_programs(passdown: Run, tmp_path: Path) -> None:
    file, out = str(FIXTURES / "atif/run.json"), tmp_path / "chat.json"
    done = passdown("sessions", "export", file, "--to", "chat", "--json", "-o", str(out))
    report = json.loads(done.stdout)
    assert (report["schema_version"], report["format"], report["bytes"]) == (1, "chat", out.stat().st_size)
    assert report["lost"]["subagent_event"] == 3
    assert report["lost"]["compaction"] == 1
    assert report["lost"]["image"] == 1
    piped = passdown("sessions", "export", file, "--to", "chat", "--json")
    assert json.loads(piped.stderr)["lost"] == report["lost"]
    assert piped.stdout == out.read_bytes()


def test_one_of_several_rows(passdown: Run) -> None:
    file = str(FIXTURES / "chat/rows.jsonl")
    unnamed = passdown("sessions", "show", file)
    assert unnamed.returncode == 2
    assert b"rows.jsonl#frames__frames-1" in unnamed.stderr
    shown = passdown("sessions", "show", f"{file}#2", "--json")
    assert json.loads(shown.stdout)["session_id"] == "frames__frames-2"


def test_a_format_can_be_named(passdown: Run) -> None:
    file = str(FIXTURES / "chat/openai.json")
    assert (
        json.loads(passdown("sessions", "show", file, "--agent", "mini-swe-agent", "--json").stdout)["agent"]
        == "mini_swe_agent"
    )
    wrong = passdown("sessions", "show", file, "--agent", "mystery")
    assert wrong.returncode == 2
    assert b"atif, swe_agent, mini_swe_agent, chat" in wrong.stderr


def test_a_secret_does_not_leave(passdown: Run, tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps([{"role": "user", "content": f"Use {secret} for it."}, {"role": "assistant", "content": "ok"}])
    )
    for form in ("atif", "chat", "json"):
        done = passdown("sessions", "export", str(path), "--to", form)
        assert done.returncode == 0
        assert secret.encode() not in done.stdout, form


def test_wrap_reads_a_trajectory(passdown: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    who = ["-c", "user.name=D", "-c", "user.email=d@example.com"]
    subprocess.run(["git", "-C", str(tmp_path), *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    file = f"{FIXTURES}/chat/rows.jsonl#1"
    done = passdown("-C", str(tmp_path), "wrap", "--session", file, "--dry-run")
    assert b"Index has no freq." in done.stdout, done.stderr
    assert b"python reproduce.py" in done.stdout


def test_chat_messages() -> None:
    events: list[AnyEvent] = [
        SessionStart(session_id="s", agent="codex", cwd="/w"), UserMessage(text="env", origin="injected"),
        UserMessage(text="Go.", at=1), UserMessage(text="later", origin="queued"),
        AssistantMessage(text="hm", reasoning=True, response_id="r", model="m"),
        AssistantMessage(text="I run it.", response_id="r", model="m"),
        ToolCall(call_id="1", tool="shell", arguments={"command": "ls"}, response_id="r"),
        ToolCall(call_id="2", tool="shell", arguments={"command": "no"}, response_id="r"), Usage(input=3, response_id="r"),
        ToolResult(call_id="1", outcome="ok", exit_code=0, text="a"), ToolResult(call_id="2", outcome="rejected", reason="No."),
        ToolResult(call_id="9", outcome="ok"), UserMessage(text="taken back", active=False),
        AssistantMessage(text="Done.", response_id="q", model="n"), Unknown(record="x"), SessionEnd(),
    ]  # fmt: skip
    exported = write_chat(iter(events))
    row = json.loads(exported.data)
    assert row["model"] == "m"
    assert row["messages"] == [
        {"role": "user", "content": "env"}, {"role": "user", "content": "Go."},
        {"role": "assistant", "reasoning_content": "hm", "content": "I run it.", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "shell", "arguments": '{"command":"ls"}'}},
            {"id": "2", "type": "function", "function": {"name": "shell", "arguments": '{"command":"no"}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": "a"}, {"role": "tool", "tool_call_id": "2", "content": ""},
        {"role": "assistant", "content": "Done."},
    ]  # fmt: skip
    assert exported.lost == {
        "exit_code": 1, "model_of_message": 1, "origin": 1, "outcome": 1, "place": 1, "queued_message": 1, "reason": 1,
        "record_not_understood": 1, "result_without_call": 1, "rewound_event": 1, "time": 1, "usage": 1,
    }  # fmt: skip


def test_chat_written_is_chat_read(tmp_path: Path) -> None:
    for name in ("chat/openai.json", "mini_swe_agent/second.traj.json", "swe_agent/tools.traj"):
        before = list(read_session(FIXTURES / name))
        path = tmp_path / "chat.json"
        path.write_bytes(write_chat(iter(before)).data)
        after = list(read_session(path))
        for kind in (AssistantMessage, ToolCall):
            texts = [[(e.text if isinstance(e, AssistantMessage) else (e.tool, e.arguments, e.call_id))
                      for e in events if isinstance(e, kind)] for events in (before, after)]  # fmt: skip
            assert texts[0] == texts[1], name


def test_what_was_handed_in_is_no_next_step(passdown: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    who = ["-c", "user.name=D", "-c", "user.email=d@example.com"]
    subprocess.run(["git", "-C", str(tmp_path), *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    path = tmp_path / ".git" / "rows.jsonl"
    for call in ("<function=submit>\n</function>", "<function=bash>\n<parameter=command>ls</parameter>\n</function>"):
        messages = [
            {"role": "user", "content": "Mend the clock."},
            {"role": "assistant", "content": f"Now let's submit it.\n\n{call}"},
        ]
        path.write_text(json.dumps({"messages": messages, "instance_id": "a"}) + "\n")
        done = passdown("-C", str(tmp_path), "wrap", "--session", str(path), "--dry-run", "--json")
        action = json.loads(done.stdout)["next_action"]["text"]
        assert ("Now let's submit" in action) == ("ls" in call), action


def test_a_limit_is_no_persons_interruption(passdown: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    who = ["-c", "user.name=D", "-c", "user.email=d@example.com"]
    subprocess.run(["git", "-C", str(tmp_path), *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    for name in ("mini_swe_agent/first.traj.json", "swe_agent/tools.traj", "openhands/results.jsonl#1"):
        done = passdown("-C", str(tmp_path), "wrap", "--session", f"{FIXTURES}/{name}", "--dry-run")
        assert b"## Next step" in done.stdout, done.stderr
        assert b"the human interrupted" not in done.stdout, name
