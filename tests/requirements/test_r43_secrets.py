"""R43: secrets of many shapes in every input string; none of them in any output, and their number told."""

from __future__ import annotations

import json
import random
import re
import string
from typing import Any

import pytest

RANDOM = random.Random(43)


def chars(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Characters that no two runs of a scanner would call ordinary, made here so that none stands in this file."""
    return "".join(RANDOM.choice(alphabet) for _ in range(length))


def jwt() -> str:
    return ".".join(("ey" + "J" + chars(28), "ey" + "J" + chars(36), chars(43)))


SECRETS = {
    "github": "gh" + "p_" + chars(36),
    "github fine-grained": "github" + "_pat_" + chars(22) + "_" + chars(59),
    "gitlab": "gl" + "pat-" + chars(20),
    "aws key id": "AK" + "IA" + chars(16, string.ascii_uppercase + "234567"),
    "anthropic": "sk-" + "ant-api03-" + chars(93) + "AA",
    "openai": "sk-" + "proj-" + chars(48),
    "slack": "xo" + "xb-" + chars(12, string.digits) + "-" + chars(12, string.digits) + "-" + chars(24),
    "google": "AI" + "za" + chars(35),
    "stripe": "sk_" + "live_" + chars(24),
    "npm": "np" + "m_" + chars(36),
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + chars(70),
    "hugging face": "h" + "f_" + chars(34, string.ascii_letters),
    "jwt": jwt(),
    "sendgrid": "S" + "G." + chars(22) + "." + chars(43),
}
"""A token of each shape: none may be seen in an output, nor its last half."""

BEHIND = {
    "url": ("postgres://app:{}@db.example.com/app", chars(20)),
    "assignment": ("DB_PASSWORD='{}'", chars(22)),
    "header": ("Authorization: Bearer {}", chars(40)),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", chars(64)),
}
"""A text and the secret in it, which its surroundings give away."""

KNOWN = "correct horse battery " + chars(6)

ALL = SECRETS | {name: text.format(secret) for name, (text, secret) in BEHIND.items()} | {"environment": KNOWN}
LEAKS = SECRETS | {name: secret for name, (_, secret) in BEHIND.items()} | {"environment": KNOWN}


def planted(value: Any, secret: str, *, key: str = "") -> Any:
    """Put the secret behind every string of an artifact, but for the words of closed sets."""
    if isinstance(value, str):
        fixed = key in ("status", "severity", "verdict", "owner", "by", "kind", "state", "id", "task_id", "active_task_id", "active",
                        "head_commit", "command_id", "parent_command_id")  # fmt: skip
        return value if fixed else f"{value} {secret}"
    if isinstance(value, dict):
        return {name: planted(item, secret, key=name) for name, item in value.items()}
    if isinstance(value, list):
        return [planted(item, secret, key=key) for item in value]
    return value


def plant_in_session(session: Any, secret: str) -> None:
    """A session with the secret in all that a person, an agent, a tool and a harness can say."""
    session.branch = "feat/export-limit"
    session.human(f"Limit the exports. Use {secret} for it.")
    session.human(f"never use {secret} again, must be rotated")
    session.calls("TodoWrite", {"todos": [
        {"content": f"Rotate {secret}", "status": "in_progress", "activeForm": f"Rotating {secret}"},
        {"content": f"Done with {secret}", "status": "completed", "activeForm": secret}]}, f"ok {secret}")  # fmt: skip
    session.calls(
        "Edit",
        {"file_path": str(session.cwd / f"src/{secret[:60]}.py"), "old_string": secret, "new_string": secret},
        secret,
    )
    session.calls("Write", {"file_path": str(session.cwd / "src/limits.py"), "content": secret}, f"wrote {secret}")
    session.calls("WebFetch", {"url": f"https://example.com/?q={secret}", "prompt": secret}, f"page {secret}")
    session.runs(f"curl -H 'X-Api: {secret}' https://example.com", f"HTTP 401 {secret}\n{secret}", 1)
    session.runs(f"deploy --token {secret}", f"Error: bad {secret}", 2)
    session.runs(
        "pytest -q", f"FAILED tests/test_x.py::test_y[{secret}] - AssertionError: {secret}\n1 failed in 0.1s", 1
    )
    session.calls("Bash", {"command": f"sleep {secret}", "description": secret}, f"rejected {secret}", error=True)
    session.row("summary", summary=f"We used {secret}", leafUuid="x")
    session.row("ai-title", aiTitle=f"Rotating {secret}")
    session.row("system", subtype="compact_boundary", content=f"Compacted {secret}", level="info")
    session.row(
        "user",
        message={"role": "user", "content": f"This session is being continued. Summary: {secret}"},
        isCompactSummary=True,
    )
    session.says(f"Next: rotate {secret} in src/limits.py.")


@pytest.mark.parametrize("name", ALL)
def test_r43_no_secret_leaves(name: str, make_bench: Any, claude_session: Any, workbench_files: dict[str, Any]) -> None:
    bench, secret = make_bench(), ALL[name]
    leak = LEAKS[name]
    plant_in_session(claude_session(bench.root), secret)
    bench.put({path: planted(value, secret) for path, value in workbench_files.items()})
    bench.put({"HANDOVER.md": f"# Handover\n{secret}\n", "last_known_good.json": {"commit": secret, "written_at": 1.0}})
    one_line = " ".join(secret.split())
    bench.repository.git("add", "agent_state.json")
    bench.repository.git("stash", "push", "-q", "-m", f"redis spike {one_line}", "--", "agent_state.json")
    bench.put({"agent_state.json": planted(workbench_files["agent_state.json"], secret)})
    bench.repository.git("commit", "-q", "--allow-empty", "-m", f"Rotate {one_line}")
    if name in SECRETS:
        bench.repository.git("switch", "-q", "-c", f"feat/{secret}")
        bench.repository.git("worktree", "add", "-q", "-b", f"side/{secret}", str(bench.root.parent / f"side-{secret}"))
        bench.repository.write(f"src/{secret}.py", "x = 1\n")
    env = {"DEPLOY_PASSWORD": KNOWN}
    outputs = []
    for words in (["wrap", "--interim"], ["wrap", "--interim"], ["wrap", "--interim", "--json"], ["wrap", "--dry-run", "--json"], ["wrap", "--dry-run"], ["show"], ["show", "--json"],
                  ["export", "--lesson"], ["wrap", "--dry-run", "--next", f"continue {secret}"[:290]], ["show", "--clue", "K-1"]):  # fmt: skip
        done = bench.run("-C", str(bench.root), *words, **env)
        assert done.returncode in ((0, 5) if "--next" in words else (0,)), (words, done.stderr)
        outputs += [done.stdout.decode(), done.stderr.decode()]
    files = [*bench.root.glob("outputs/handoff/*/*"), bench.root / ".ai/HANDOFF.md"]
    assert len(files) == 3 if name in SECRETS else len(files) >= 3
    outputs += [path.read_text("utf-8") + str(path.relative_to(bench.root)) for path in files]
    for text in outputs:
        assert leak not in text
        assert leak[-16:] not in text
        assert leak not in text.replace("\\", "").replace("\n", "")
    packet = json.loads(next(bench.root.glob("outputs/handoff/*/handoff.json")).read_text("utf-8"))
    assert sum(packet["redactions"].values()) == len(re.findall(r"\[redacted:[a-z0-9_]+\]", json.dumps(packet)))
    assert sum(packet["redactions"].values()) > 20
    markdown = (bench.root / ".ai/HANDOFF.md").read_text("utf-8")
    assert "Secrets masked" in markdown


def test_r43_several_secrets_are_counted_by_kind(bench: Any) -> None:
    rows = [
        {"id": f"D-{at}", "choice": f"Use {secret} here", "by": "human"}
        for at, secret in enumerate(list(SECRETS.values())[:4])
    ]
    bench.put({"decisions.jsonl": rows})
    packet = bench.wrap()
    assert sum(packet["redactions"].values()) == 4
    assert len(packet["redactions"]) >= 3


def test_r43_a_secret_in_quotes_within_quotes(bench: Any) -> None:
    secret = BEHIND["assignment"][1]
    argv = ["bash", "-c", f"DB_PASSWORD='{secret}' make migrate"]
    row = {
        "command": argv,
        "exit_code": 1,
        "started_at": 1760009100.0,
        "stderr_tail": f"+ DB_PASSWORD='\\''{secret}'\\'' make",
    }
    bench.put({"feedback_record.jsonl": [row]})
    packet = bench.wrap()
    assert secret not in json.dumps(packet) + bench.markdown()
    assert packet["failed_attempts"][0]["what"].count("[redacted:password]") == 1
