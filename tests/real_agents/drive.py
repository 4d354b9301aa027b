"""Let each real agent work in a small repository against a scripted model, then wrap and judge the packet.

Run by `.ci/real-agents`; everything talks to 127.0.0.1 only, in a network namespace of its own where that is allowed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

VERSIONS = {"claude_code": "2.1.332", "codex": "0.171.0", "pi": "0.73.1", "opencode": "1.18.33"}
PORT = 8089
URL = f"http://127.0.0.1:{PORT}"
PROMPT = "Fix the two helpers in src/slug.py so that the tests pass. Do not change the tests."
LAST = (
    "slugify is fixed and its test passes. test_truncate still fails: truncate() keeps n characters and then adds the "
    "ellipsis. Next: cut to n-1 in src/slug.py."
)
SLUG = '''def slugify(text):
    """Lower-case, words joined by single dashes."""
    return text.replace(" ", "-")


def truncate(text, n):
    """At most n characters, the last one an ellipsis if cut."""
    return text[:n] + "…" if len(text) > n else text
'''
TEST = """import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "src"))
from slug import slugify, truncate


class SlugTest(unittest.TestCase):
    def test_slugify(self):
        self.assertEqual(slugify("  Hello   World "), "hello-world")

    def test_truncate(self):
        self.assertEqual(truncate("abcdef", 4), "abc…")
"""
OLD, NEW = '    return text.replace(" ", "-")', '    return "-".join(text.lower().split())'
RUN = "python3 -m unittest -v tests/test_slug.py"


def make_project(root: Path) -> None:
    """Make a repository with two bugs and their tests."""
    for name, text in {"src/slug.py": SLUG, "tests/test_slug.py": TEST, ".gitignore": "__pycache__/\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Two helpers and their tests"]):
        subprocess.run([*git, *words], cwd=root, check=True)


def steps(agent: str, root: Path) -> list[dict[str, Any]]:
    """Return what the scripted model does: read, fix one bug, run the tests (red), stop."""
    path = str(root / "src/slug.py")
    tools: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "claude_code": [("Read", {"file_path": path}), ("Edit", {"file_path": path, "old_string": OLD, "new_string": NEW}),
                        ("Bash", {"command": RUN, "description": "Run the tests"})],
        "codex": [("exec_command", {"cmd": "cat src/slug.py"}),
                  ("exec_command", {"cmd": "sed -i 's/return text.replace.*/return \"-\".join(text.lower().split())/' src/slug.py"}),
                  ("exec_command", {"cmd": RUN})],
        "pi": [("read", {"path": "src/slug.py"}), ("edit", {"path": "src/slug.py", "edits": [{"oldText": OLD, "newText": NEW}]}),
               ("bash", {"command": RUN})],
        "opencode": [("read", {"filePath": path}), ("edit", {"filePath": path, "oldString": OLD, "newString": NEW}),
                     ("bash", {"command": RUN, "description": "Run the tests"})],
    }  # fmt: skip
    says = ("I'll read the helper first.", "slugify never lower-cases. Fixing that one first.", "Running the tests.")
    rows: list[dict[str, Any]] = [
        {"text": text, "tool": {"name": name, "args": args}}
        for text, (name, args) in zip(says, tools[agent], strict=True)
    ]
    return [*rows, {"text": LAST}]


def configure(agent: str, home: Path) -> dict[str, str]:
    """Write the agent's configuration into its home; return its environment variables."""

    def write(name: str, text: str) -> None:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")

    dummy = "-".join(("sk", "dummy"))
    if agent == "claude_code":
        return {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": dummy, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1"}  # fmt: skip
    if agent == "codex":
        write(".codex/config.toml",
              'model = "mock-model"\nmodel_provider = "mock"\ncheck_for_update_on_startup = false\n[model_providers.mock]\n'
              f'name = "mock"\nbase_url = "{URL}/v1"\nenv_key = "MOCK_API_KEY"\nwire_api = "responses"\n'
              '[analytics]\nenabled = false\n[otel]\nexporter = "none"\n')  # fmt: skip
        (home / "tmp").mkdir()
        return {"MOCK_API_KEY": dummy, "TMPDIR": str(home / "tmp")}
    if agent == "pi":
        model = {"id": "mock-model", "contextWindow": 200000, "maxTokens": 8000}
        provider = {"baseUrl": f"{URL}/v1", "api": "openai-completions", "apiKey": dummy, "models": [model]}
        write(".pi/agent/models.json", json.dumps({"providers": {"mock": provider}}))
        return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
    models = {
        name: {"name": name, "limit": {"context": 200000, "output": 8000}} for name in ("mock-model", "mock-small")
    }
    write(".config/opencode/opencode.json", json.dumps({
        "autoupdate": False, "share": "disabled", "model": "mock/mock-model", "small_model": "mock/mock-small",
        "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
        "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "Mock",
                              "options": {"baseURL": f"{URL}/v1", "apiKey": dummy}, "models": models}},
    }))  # fmt: skip
    return {
        f"OPENCODE_DISABLE_{what}": "1" for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    }


def command(agent: str, cache: Path) -> list[str]:
    """Return the agent's command line."""
    binary = {"claude_code": "claude", "codex": "codex", "pi": "pi", "opencode": "opencode"}[agent]
    program = str(cache / agent / VERSIONS[agent] / "node_modules/.bin" / binary)
    return {
        "claude_code": [program, "-p", PROMPT, "--output-format", "json", "--dangerously-skip-permissions"],
        "codex": [program, "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
        "pi": [program, "-p", "--provider", "mock", "--model", "mock-model", PROMPT],
        "opencode": [program, "run", "--format", "json", PROMPT],
    }[agent]


def wait_for_server() -> None:
    """Wait until the scripted model answers."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("the scripted model did not start")


def work(agent: str, place: Path, cache: Path, lab: Path) -> None:
    """Run one agent in `place` (inside the namespace): server up, agent through, server down."""
    root, home = place / "project", place / "home"
    env = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8", "TZ": "UTC",
           "SHELL": "/bin/bash", "NO_PROXY": "127.0.0.1,localhost", **configure(agent, home)}  # fmt: skip
    script = place / "script.json"
    script.write_text(json.dumps({"models": ["mock-model", "claude-mock"], "side": "Fix slug helpers",
                                  "steps": steps(agent, root)}))  # fmt: skip
    log = (place / "model.log").open("wb")
    server = subprocess.Popen([sys.executable, str(lab / "mock/server.py"), "--port", str(PORT), "--script", str(script),
                               "--log", str(place / "requests.jsonl")], stdout=log, stderr=log)  # fmt: skip
    try:
        wait_for_server()
        with (place / "agent.log").open("wb") as out:
            done = subprocess.run(command(agent, cache), cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=out, timeout=240, check=False)  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"{agent} exited {done.returncode}:\n{(place / 'agent.log').read_text(errors='replace')[-2000:]}")
    finally:
        server.terminate()
        server.wait(10)


def said(text: str) -> str:
    """Undo the quotes that `opencode run` itself puts round a prompt with spaces before it stores it."""
    return text.removeprefix('"').removesuffix('"')


def judge(agent: str, place: Path) -> list[str]:
    """Wrap what the agent left; return what is wrong with the packet."""
    env = {"HOME": str(place / "home"), "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    wrap = [sys.executable, "-m", "passdown", "-C", str(place / "project"), "wrap", "--interim"]
    first = subprocess.run([*wrap, "--json"], env=env, capture_output=True, check=False)
    if first.returncode != 0:
        return [first.stderr.decode()]
    report = json.loads(first.stdout)
    packet = json.loads((place / "project" / next(p for p in report["paths"] if p.endswith(".json"))).read_text())
    again = json.loads(subprocess.run([*wrap, "--json"], env=env, capture_output=True, check=True).stdout)
    failed = [item for item in packet["failed_attempts"] if "unittest" in item["what"]]
    expected = {
        "the session is this agent's": [s["agent"] for s in packet["sessions"]] == [agent],
        "no record was unknown": all(s.get("unknown", 0) == 0 for s in packet["sessions"]),
        "the human's words are there verbatim": [said(d["text"]) for d in packet["directives"]] == [PROMPT],
        "git's change is there": [c["path"] for c in packet["changed_files"]] == ["src/slug.py"],
        "the red test run is a failed attempt": len(failed) == 1 and failed[0].get("exit") == 1,
        "its error line is there": bool(failed) and "test_truncate" in json.dumps(packet["tests"]) + failed[0]["why"],
        "the tests are red": packet["tests"]["state"] == "red",
        "the next step leans on the failing test": "unittest" in json.dumps(packet["next_action"]),
        "the agent's last word is kept": "n-1" in json.dumps(packet["next_action"], ensure_ascii=False),
        "wrapping again changes nothing": again["changed"] == [],
    }
    return [what for what, holds in expected.items() if not holds]


def main() -> None:
    """Run the agents one after the other; exit non-zero when a packet is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--lab", type=Path, required=True)
    parser.add_argument("--agents", default=",".join(VERSIONS))
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help="keep what the agents leave here")
    arguments = parser.parse_args()
    if arguments.inside:
        agent, place = arguments.inside.split("=", 1)
        work(agent, Path(place), arguments.cache.resolve(), arguments.lab.resolve())
        return
    probe = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    namespace = (
        ["unshare", "-n", "--", "sh", "-c", 'ip link set lo up; exec "$0" "$@"'] if probe.returncode == 0 else []
    )
    wrong = 0
    for agent in arguments.agents.split(","):
        place = Path(tempfile.mkdtemp(prefix=f"passdown-{agent}-"))
        (place / "home").mkdir()
        make_project(place / "project")
        started = time.monotonic()
        inner = [sys.executable, __file__, "--cache", str(arguments.cache), "--lab", str(arguments.lab),
                 "--inside", f"{agent}={place}"]  # fmt: skip
        ran = subprocess.run([*namespace, *inner], check=False)
        problems = [f"did not run (exit {ran.returncode})"] if ran.returncode else judge(agent, place)
        wrong += bool(problems)
        print(
            f"{agent} {VERSIONS[agent]}: {'; '.join(problems) or 'ok'} ({time.monotonic() - started:.0f} s)", flush=True
        )
        if arguments.keep:
            shutil.copytree(place, arguments.keep / agent, dirs_exist_ok=True)
        shutil.rmtree(place, ignore_errors=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
