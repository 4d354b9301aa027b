"""The hook's hot path: what it takes out of a payload, what it writes, and that it never fails its agent."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.table import TABLE
from passdown.hooks.entry import AGENTS, EVENTS, scan, string_end

ENTRY = Path(__file__).resolve().parents[2] / "src/passdown/hooks/entry.py"
ID = "0f289a5d-3622-4fa0-9103-b9d894f99208"
SECRET = "sk-ant-" + "api03-" + "Zq8" * 12


def claude(event: str, **fields: Any) -> dict[str, Any]:
    """A payload in Claude Code's shape, which is also Codex's, Gemini's and Qwen's."""
    return {"session_id": ID, "transcript_path": f"/home/dev/.claude/projects/-home-dev-slug/{ID}.jsonl",
            "cwd": "/home/dev/slug", "prompt_id": "x", "hook_event_name": event, **fields}  # fmt: skip


PAYLOADS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (claude("SessionStart", source="startup"), {"session": ID, "source": "startup", "cwd": "/home/dev/slug"}),
    (claude("SessionEnd", reason="other"), {"session": ID, "source": "other"}),
    (claude("PreCompact", trigger="manual", custom_instructions="keep"), {"session": ID, "source": "manual"}),
    (claude("Stop", last_assistant_message='done: {"session_id": "other", "cwd": "/evil"}', effort={"cwd": "/evil"}),
     {"session": ID, "cwd": "/home/dev/slug"}),
    ({"sessionId": ID, "timestamp": 1795972633655, "cwd": "/home/dev/slug", "transcriptPath": "/x/events.jsonl",
      "stopReason": "end_turn", "stop_hook_active": False}, {"session": ID, "path": "/x/events.jsonl"}),
    ({"event_type": "Stop", "tool_name": None, "tool_input": None, "message": None, "session_id": ID,
      "working_dir": "/home/dev/slug", "metadata": {"session_id": "other"}}, {"session": ID, "cwd": "/home/dev/slug"}),
    ({"type": "session_shutdown", "reason": "quit", "sessionFile": "/s.jsonl", "sessionId": ID, "cwd": "/p"},
     {"session": ID, "path": "/s.jsonl", "source": "quit", "cwd": "/p"}),
    ({"sessionID": "ses_dd7a40ea6ffevw6xvNFAfC4xi5", "directory": "/home/dev/slug"},
     {"session": "ses_dd7a40ea6ffevw6xvNFAfC4xi5", "cwd": "/home/dev/slug"}),
    ({"thread-id": ID, "turn-id": "t", "cwd": "/home/dev/slug"}, {"session": ID}),
]  # fmt: skip


@pytest.mark.parametrize(("payload", "expected"), PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.parametrize("indent", [None, 2])
def test_ids_and_paths_are_taken_from_the_top_of_every_agents_payload(
    payload: dict[str, Any], expected: dict[str, str], indent: int | None
) -> None:
    found = scan(json.dumps(payload, indent=indent).encode())
    assert expected.items() <= found.items()
    assert set(found) <= {"session", "path", "cwd", "source"}


def test_payloads_recorded_from_real_agents() -> None:
    shared = Path(os.environ.get("PASSDOWN_SHARED", ENTRY.parents[4] / "shared")) / "agent-lab/real-sessions"
    for path in shared.glob("*/*.hooks.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            payload = json.loads(line).get("payload")
            if not isinstance(payload, dict):
                continue
            found = scan(json.dumps(payload).encode())
            for field, names in (
                ("session", ("session_id", "sessionId", "sessionID")),
                ("cwd", ("cwd", "working_dir", "directory")),
            ):
                wanted = next((payload[name] for name in names if isinstance(payload.get(name), str)), None)
                assert found.get(field) == wanted, (path.name, line[:200])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("session_id", "../../etc/passwd"), ("session_id", ".hidden"), ("session_id", "-rf"), ("session_id", "a" * 129),
        ("session_id", "a b"), ("session_id", ""), ("session_id", "a\u0000b"), ("cwd", "relative/path"), ("cwd", "/a\u0000b"),
        ("cwd", "/" + "x" * 5000), ("source", "Please fix the bug"), ("reason", "the password is " + "hunter2"),
        ("transcript_path", "~/x"), ("session_id", 7), ("cwd", ["/x"]), ("cwd", None),
    ],
)  # fmt: skip
def test_what_is_no_id_and_no_path_is_dropped(field: str, value: Any) -> None:
    assert scan(json.dumps({field: value, "hook_event_name": "Stop"}).encode()) == {}


def test_escapes_in_a_path_are_resolved() -> None:
    assert scan(b'{"cwd": "\\/home\\/d\\u00e9v\\/a \\"b\\""}') == {"cwd": '/home/dév/a "b"'}


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=200)
def test_any_bytes_are_survived(data: bytes) -> None:
    found = scan(b'{"session_id": "abc", ' + data)
    assert found.get("session", "abc") == "abc" or b'"' in data


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("cwd"), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.booleans())
@settings(deadline=None, max_examples=200)
def test_nothing_below_the_top_is_taken_for_the_top(others: dict[str, Any], ascii_only: bool) -> None:
    names = {"session_id", "sessionId", "sessionID", "thread-id", "cwd", "working_dir", "directory", "transcript_path",
             "transcriptPath", "sessionFile", "source", "reason", "trigger"}  # fmt: skip
    payload = {key: value for key, value in others.items() if key not in names} | {"cwd": "/here"}
    assert scan(json.dumps(payload, ensure_ascii=ascii_only).encode("utf-8", "replace")) == {"cwd": "/here"}


@given(st.text())
@settings(deadline=None)
def test_a_string_ends_where_json_says(text: str) -> None:
    data = json.dumps(text).encode()
    assert string_end(data + b'"', 0) == len(data) - 1


def test_the_entry_knows_every_agent_with_hooks() -> None:
    assert {row.id for row in TABLE if row.hooks} == set(AGENTS)


# --- in a process of its own ---------------------------------------------------------------------------------------


@pytest.fixture
def hook(isolated_home: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Return a function that runs the hook as an agent does."""

    def run(
        event: str, payload: Any = None, *, agent: str = "claude_code", home: Path | None = None, **how: Any
    ) -> Any:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload or {}).encode()
        env = {
            "HOME": str(home or isolated_home),
            "PATH": os.environ["PATH"],
            "ANTHROPIC_API_KEY": SECRET,
            **how.pop("env", {}),
        }
        return subprocess.run(
            [sys.executable, "-I", "-S", str(ENTRY), agent, event],
            input=raw,
            check=False,
            env=env,
            capture_output=True,
            timeout=60,
            **how,
        )

    return run


def spooled(home: Path) -> list[dict[str, Any]]:
    folder = home / ".local/state/passdown/spool"
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def outcomes(home: Path) -> list[str]:
    return [line.split("\t")[4] for line in (home / ".local/state/passdown/hooks.log").read_text("utf-8").splitlines()]


def quiet(done: subprocess.CompletedProcess[bytes]) -> None:
    """The agent sees nothing and goes on."""
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_one_small_private_record_and_nothing_of_the_message_or_the_environment(hook: Any, isolated_home: Path) -> None:
    payload = claude("PostCompact", trigger="auto", compact_summary=f"the key is {SECRET}")
    quiet(hook("compacted", payload, cwd="/"))
    (record,) = spooled(isolated_home)
    assert record.pop("at") > 1_700_000_000_000
    assert record == {"v": 1, "agent": "claude_code", "event": "compacted", "session": ID, "source": "auto",
                      "path": payload["transcript_path"], "cwd": "/home/dev/slug"}  # fmt: skip
    state = isolated_home / ".local/state/passdown"
    for path in [state, *state.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "payload",
    [b"", b"not json", b"\xff\xfe\x00\x01" * 50, b"[" * 100_000, b'"' * 4000, b'{"cwd": "/nowhere/at/all"}', b"null"],
)
def test_whatever_comes_in_the_hook_ends_well(
    event: str, payload: bytes, hook: Any, isolated_home: Path, tmp_path: Path
) -> None:
    quiet(hook(event, payload, cwd=tmp_path))
    assert not [text for text in outcomes(isolated_home) if "Error" in text]


def test_a_payload_of_fifty_megabytes_is_read_to_its_end(hook: Any, isolated_home: Path) -> None:
    raw = json.dumps(claude("PostCompact")).encode()[:-1] + b', "compact_summary": "' + b"x" * (50 << 20) + b'"}'
    quiet(hook("compacted", raw))
    assert spooled(isolated_home)[0]["session"] == ID


def test_a_closed_standard_input_and_one_that_never_ends(hook: Any, isolated_home: Path, tmp_path: Path) -> None:
    env = {"HOME": str(isolated_home), "PATH": os.environ["PATH"]}
    line = f'exec "{sys.executable}" -I -S "{ENTRY}" codex compacted'
    quiet(
        subprocess.run(["sh", "-c", f"{line} <&-"], env=env, capture_output=True, cwd=tmp_path, timeout=60, check=False)
    )
    reading, writing = os.pipe()
    quiet(
        subprocess.run(
            ["sh", "-c", line], env=env, capture_output=True, cwd=tmp_path, stdin=reading, timeout=60, check=False
        )
    )
    os.close(reading)
    os.close(writing)
    endless = subprocess.Popen(["yes", '"cwd": "/evil"'], stdout=subprocess.PIPE)
    quiet(
        subprocess.run(
            ["sh", "-c", line],
            env=env,
            capture_output=True,
            cwd=tmp_path,
            stdin=endless.stdout,
            timeout=60,
            check=False,
        )
    )
    endless.kill()
    endless.wait()
    assert endless.stdout is not None
    endless.stdout.close()
    assert [record["cwd"] for record in spooled(isolated_home)] == [str(tmp_path)] * 3


def test_a_full_disk_leaves_no_half_record(hook: Any, isolated_home: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    quiet(hook("compacted", claude("PostCompact"), preexec_fn=no_room))
    assert spooled(isolated_home) == []
    assert list((isolated_home / ".local/state/passdown/spool").iterdir()) == []


def test_a_home_that_cannot_be_written_and_none_at_all(hook: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".local").write_text("a file where a folder belongs")
    quiet(hook("compacted", claude("PostCompact"), home=home))
    quiet(hook("compacted", claude("PostCompact"), env={"HOME": ""}))
    assert [path.name for path in home.rglob("*")] == [".local"]


@pytest.mark.parametrize(("agent", "event"), [("nobody", "stop"), ("codex", "nothing"), ("", ""), ("../x", "stop")])
def test_an_unknown_agent_or_event_is_refused_in_the_log_alone(
    agent: str, event: str, hook: Any, isolated_home: Path
) -> None:
    quiet(hook(event, claude("Stop"), agent=agent))
    assert outcomes(isolated_home)[0].startswith("refused: ")
    assert spooled(isolated_home) == []


def test_a_folder_that_is_gone_while_the_hook_runs_in_it(hook: Any, isolated_home: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'rmdir "{gone}"; exec "{sys.executable}" -I -S "{ENTRY}" codex compacted'
    env = {"HOME": str(isolated_home), "PATH": os.environ["PATH"]}
    quiet(
        subprocess.run(["sh", "-c", line], env=env, capture_output=True, cwd=gone, input=b"{}", timeout=60, check=False)
    )
    assert outcomes(isolated_home)[0].startswith("FileNotFoundError")


def test_the_log_keeps_one_predecessor_and_tells_nothing_twice(hook: Any, isolated_home: Path) -> None:
    log = isolated_home / ".local/state/passdown/hooks.log"
    log.parent.mkdir(parents=True)
    log.write_text("x" * (256 << 10) + "\n")
    quiet(hook("compacted", claude("PostCompact")))
    assert not log.exists()
    assert log.with_name("hooks.log.1").read_text("utf-8").endswith("spooled\n")
    quiet(hook("compacted", claude("PostCompact")))
    assert len(log.read_text("utf-8").splitlines()) == 1


def test_nothing_but_the_standard_library_is_loaded_and_hardly_that(isolated_home: Path) -> None:
    code = (
        "import sys, posix\nsys.argv = ['x', 'codex', 'compacted']\n"
        "posix._exit = lambda code: print(*sorted(sys.modules))\n"
        f"space = {{'__name__': '__main__', '__file__': {str(ENTRY)!r}}}\n"
        f"exec(compile(open({str(ENTRY)!r}).read(), 'entry', 'exec'), space)"
    )
    env = {"HOME": str(isolated_home), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], env=env, capture_output=True, input=b"{}", check=True
    )
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import sys; print(*sorted(sys.modules))"], capture_output=True, check=True
    )
    assert set(done.stdout.decode().split()) - set(bare.stdout.decode().split()) <= {"select"}
