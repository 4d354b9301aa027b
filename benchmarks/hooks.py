"""What a hook costs the agent that waits for it, against a Python that does nothing, in the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.large import make_large
from benchmarks.measure import best
from passdown.hooks import entry, ground

FILES = 5_000
START_GOAL = 0.12

_SESSION = "aaaaaaaa-0000-4000-8000-0000000000"


def hook_costs(folder: Path, env: dict[str, str]) -> Iterator[dict[str, object]]:
    """Time each kind of hook, and the start of a session in a repository of 5,000 files whose brief is prepared."""
    bare = best([sys.executable, "-I", "-S", "-c", "pass"], 15, env=env)
    payload = folder / "payload.json"
    for event in ("stop", "end"):
        _write(payload, folder, "01", last_assistant_message="done. " * 400)
        cost = best([sys.executable, "-I", "-S", entry.__file__, "claude_code", event], 15, env=env, stdin=payload)
        yield {"what": f"hook: {event}", "cpu_s": round(cost.cpu, 4), "bare_cpu_s": round(bare.cpu, 4),
               "wall_s": round(cost.wall, 4), "bare_wall_s": round(bare.wall, 4),
               "times_bare": round(cost.cpu / bare.cpu, 2), "goal_times_bare": 2}  # fmt: skip
    yield _start(folder, env, payload)


def _start(folder: Path, env: dict[str, str], payload: Path) -> dict[str, object]:
    root = folder / "five_thousand"
    make_large(root, FILES)
    (root / "pkg000/mod0/file_00000.py").write_text("changed = True\n")
    _write_session(Path(env["HOME"]), root)
    subprocess.run([sys.executable, "-P", "-E", "-m", "passdown.hooks.drain", str(root)], env=env, check=True)
    assert Path(ground.brief_path(str(root / ".git"), "main")).is_file()
    git = best(["git", "status", "--porcelain=v2"], 9, folder=root, env=env | {"GIT_OPTIONAL_LOCKS": "0"})
    costs = []
    for number in range(10, 19):  # a session is told once, so each run is a session of its own
        _write(payload, root, str(number), source="startup")
        argv = [sys.executable, "-I", "-S", entry.__file__, "claude_code", "start"]
        costs.append(best(argv, 1, env=env, stdin=payload))
    last = (Path(env["HOME"]) / ".local/state/passdown/hooks.log").read_text("utf-8").splitlines()[-1]
    assert "prepared: told" in last, last
    cpu = min(cost.cpu for cost in costs)
    return {"what": f"hook: start, prepared brief, {FILES} files", "cpu_s": round(cpu, 4),
            "wall_s": round(min(cost.wall for cost in costs), 4), "git_status_cpu_s": round(git.cpu, 4),
            "goal_s": START_GOAL, "ratio": round(cpu / START_GOAL, 2)}  # fmt: skip


def _write(payload: Path, cwd: Path, number: str, **fields: str) -> None:
    plain = {"session_id": _SESSION + number, "transcript_path": f"/none/{number}.jsonl", "cwd": str(cwd), **fields}
    payload.write_text(json.dumps(plain))


def _write_session(home: Path, root: Path) -> None:
    """Write a short Claude Code session, of which the brief is made."""
    name = "bbbbbbbb-0000-4000-8000-000000000001"
    slug = "".join(c if c.isalnum() or c == "-" else "-" for c in str(root))
    place = home / ".claude/projects" / slug
    place.mkdir(parents=True)
    row = {"sessionId": name, "cwd": str(root), "type": "user", "uuid": "u1", "version": "2.1.218", "gitBranch": "main",
           "timestamp": "2026-11-20T08:00:00.000Z", "isSidechain": False, "parentUuid": None,
           "message": {"role": "user", "content": "Make the first file change."}}  # fmt: skip
    (place / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
