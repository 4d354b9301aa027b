"""Install our hooks into each real agent, run it once against the scripted model, see what fired, uninstall, compare.

What fires is a stand-in for the entry that records its calls and, at a session's start, prints a mark as the entry
would print a brief; the mark must reach the model. Everything talks to 127.0.0.1 only.

    python tests/real_agents/hooks_fire.py [--agents claude_code,codex,…]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import clients
from model.start import requests as asked
from model.start import serving
from project import make_project
from stage import PATIENCE, run_scenes

MARK = "PASSDOWN-MARK-7f3a: the handoff of the last session, as data."
EXPECTED = {
    "claude_code": ["start", "stop", "end"],
    "codex": ["start", "stop", "end"],
    "pi": ["start", "stop", "end"],
    "opencode": ["start", "stop", "end"],
    "copilot": ["start", "stop", "end"],
    "gemini": ["start", "stop", "end"],
    "qwen": ["start", "stop"],  # with -p it tells of no end
    "openhands": ["start", "stop", "end"],
}
THEIRS = '{"hooks":[{"type":"command","command":"touch $HOME/theirs"}]}'
OFF = '"telemetry": {"enabled": false}'
SETTINGS = {  # what the user has there already, formatted by hand
    "claude_code": (
        ".claude/settings.json",
        f'{{\n\t"permissions" : {{ "allow" : [ ] }},\n\n\t"hooks": {{"Stop": [\n\t\t{THEIRS} ] }}\n}}',
    ),
    "gemini": (
        ".gemini/settings.json",
        f'{{\r\n  // mine\r\n  "security": {{"auth": {{"selectedType": "gemini-api-key"}}}},\r\n  {OFF} /* no */\r\n}}\r\n',
    ),
    "qwen": (
        ".qwen/settings.json",
        f'{{ "security": {{"auth": {{"selectedType": "openai"}}}}, // mine\n  {OFF},\n  "$version": 4 }}',
    ),
}
ENTRY = """import json, os, sys
text = {text!r}
with open({calls!r}, "a") as calls:
    calls.write(json.dumps({{"agent": sys.argv[1], "event": sys.argv[2], "payload": sys.stdin.read()}}) + "\\n")
if sys.argv[2] == "start":
    sys.stdout.write(text)
"""


def run_agent(name: str, place: Path) -> None:
    """Do one of an agent's runs in `place` against the scripted model."""
    known = json.loads((place / "agent.json").read_text())
    run = known["runs"][name]
    script = {"models": clients.MODELS, "side": "Fix slug helpers", **run}
    with serving(script, place, place / "requests", clients.PORT), (place / "agent.log").open("ab") as out:
        code = obey(run, place / "project", clients.base_env(place / "home") | known["env"], out)
    if code != 0:
        sys.exit(f"{name} run exited {code}:\n{(place / 'agent.log').read_text(errors='replace')[-2000:]}")


def obey(run: dict[str, Any], root: Path, env: dict[str, str], out: Any) -> int:
    """Start the agent, give it its orders where it takes them so, each when the one before is done; return its exit."""
    orders = run.get("orders", [])
    piped = (
        {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        if orders
        else {"stdin": subprocess.DEVNULL, "stdout": out}
    )
    with subprocess.Popen(run["command"], cwd=root, env=env, stderr=out, **piped) as agent:
        for order, done in orders:
            agent.stdin.write(json.dumps(order).encode() + b"\n")
            agent.stdin.flush()
            for line in agent.stdout:
                out.write(line)
                if done.encode() in line:
                    break
        if orders:
            agent.stdin.close()
            out.write(agent.stdout.read())
        return agent.wait(PATIENCE)


def prepare(agent: str, place: Path, cache: Path) -> None:
    """Make project, home, the user's own settings and the stand-in entry."""
    home = place / "home"
    home.mkdir()
    make_project(place / "project")
    env, command, steps = (
        clients.configure(agent, home),
        clients.command(agent, cache),
        clients.steps(agent, place / "project"),
    )
    if agent in SETTINGS:
        name, text = SETTINGS[agent]
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    if agent == "pi":  # it keeps the last 20,000 tokens as they are; here that is all there is
        (home / ".pi/agent/settings.json").write_text('{"compaction": {"keepRecentTokens": 1}}')
    runs = {"first": {"command": command, "steps": steps},
            "again": {"command": clients.again(agent, command), "steps": steps}}  # fmt: skip
    if run := clients.compacting(agent, command, steps):
        runs["compact"] = run
    (place / "agent.json").write_text(json.dumps({"env": env, "runs": runs}))


def snapshot(home: Path) -> dict[str, bytes | None]:
    """Return every file and folder of a home, but passdown's own state."""
    found = {}
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if not name.startswith(".local/state") and name != ".local":
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def calls(place: Path) -> list[dict[str, str]]:
    """Return what the stand-in recorded since it was asked last."""
    path = place / "calls.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


def judge(agent: str, place: Path, go: Any) -> tuple[list[str], list[str]]:
    """Install, run, uninstall; return the events that fired and what is wrong."""
    from passdown.agents.hook_command import HookCommand
    from passdown.agents.table import TABLE, home_of, hooks_of
    from passdown.hooks.change import apply_plan
    from passdown.hooks.install import hooked_agents, plan_install, plan_uninstall
    from passdown.hooks.status import hook_status

    home, root = place / "home", place / "project"
    row = next(row for row in TABLE if row.id == agent)
    entry = place / "passdown/hooks/entry.py"
    entry.parent.mkdir(parents=True)
    text = hooks_of(row).context_output(MARK, "start")
    entry.write_text(ENTRY.format(text=text, calls=str(place / "calls.jsonl")))
    command = HookCommand(sys.executable, str(entry))
    before = snapshot(home)
    path = hooks_of(row).file("user", root, home_of(row))
    wrong = []
    apply_plan(plan_install(hooked_agents([agent]), "user", root, command))
    if agent == "codex":
        wrong += without_trust(place, go, command)
        from passdown.agents.codex.trust import trust_entries

        states = "".join(f"\n[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(digest)}\n"
                         for key, digest in trust_entries(path.read_text(), path).items())  # fmt: skip
        with (home / ".codex/config.toml").open("a") as config:
            config.write(states)
        status = hook_status([row], None, command)[0]
        wrong += [] if status.installed[0].trusted == "trusted" else ["status does not see the trust"]
    installed = path.read_bytes()
    go("first")
    recorded = calls(place)
    fired = events(recorded)
    wrong += [f"{event} did not fire" for event in EXPECTED[agent] if event not in fired]
    go("again")
    resumed = calls(place)
    wrong += [] if told(resumed[0]) == told(recorded[0]) else ["the second run is another session"]
    fired += ["/", *events(resumed)]
    if "compact" in json.loads((place / "agent.json").read_text())["runs"]:
        go("compact")
        compacted = calls(place)
        wrong += [f"{event} did not fire" for event in ("compact", "compacted") if event not in events(compacted)]
        wrong += [] if "compact" in [source(call) for call in compacted] else ["no start after the compaction"]
        fired += ["/", *events(compacted)]
        resumed += compacted
    recorded += resumed
    sources = [f"{call['event']}={source(call)}" for call in recorded if source(call)]
    print(", ".join(sources))
    wrong += (
        []
        if MARK in json.dumps(asked(place / "requests"), ensure_ascii=False)
        else ["what start printed did not reach the model"]
    )
    wrong += [] if all(call["agent"] == agent for call in recorded) else ["another agent's name"]
    wrong += [] if all(told(call) for call in recorded) else ["a payload without the session's id"]
    if agent == "claude_code" and not (home / "theirs").exists():
        wrong.append("the user's own hook did not fire")
    if agent == "codex" and "hook" in "".join(re.findall(r'"type":"error".*', (place / "agent.log").read_text())):
        wrong.append("Codex complains of the hooks")
    rewritten = path.read_bytes() != installed
    apply_plan(plan_uninstall(hooked_agents([agent]), "user", root))
    name = path.relative_to(home).as_posix()
    if rewritten:
        print(f"{agent}: the agent itself rewrote {name}")
    elif snapshot(home).get(name) != before.get(name):
        wrong.append(f"{name} is not what it was")
    if any(b"passdown/hooks/entry.py" in (data or b"") for one, data in snapshot(home).items() if one == name):
        wrong.append("something of ours is left")
    return fired, wrong


def without_trust(place: Path, go: Any, command: Any) -> list[str]:
    """Run Codex before its user trusted anything: nothing may fire, and status must say so."""
    from passdown.agents.table import TABLE
    from passdown.hooks.status import hook_status

    row = next(row for row in TABLE if row.id == "codex")
    status = hook_status([row], None, command)[0]
    go("first")
    wrong = [] if status.installed[0].trusted == "not trusted" else [f"status says {status.installed[0].trusted}"]
    return wrong + (["a hook fired that was not trusted"] if calls(place) else [])


def events(recorded: list[dict[str, str]]) -> list[str]:
    """Return what fired, in its order."""
    return [call["event"] for call in recorded]


def told(call: dict[str, str]) -> str:
    """Return the session's id in a payload, whatever its agent calls it."""
    read = json.loads(call["payload"])
    return str(next((read[key] for key in ("session_id", "sessionId") if read.get(key)), ""))


def source(call: dict[str, str]) -> str:
    """Return why the event came, as the agent says it."""
    read = json.loads(call["payload"])
    return str(read.get("source") or read.get("reason") or "")


def play(agent: str, place: Path, cache: Path) -> list[str]:
    """Try one agent; return what is wrong."""
    prepare(agent, place, cache)
    for name in [name for name in os.environ if name.startswith(("XDG_", "CLAUDE_", "CODEX_", "PI_", "QWEN_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(place / "home")
    fired, wrong = judge(agent, place, lambda name: run_agent(name, place))
    print(f"fired {', '.join(fired)}")
    return wrong


if __name__ == "__main__":
    run_scenes(__file__, list, play, tuple(clients.VERSIONS))
