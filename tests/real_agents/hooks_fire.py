"""Install our hooks into each real agent, run it once against the scripted model, see what fired, uninstall, compare.

What fires is a stand-in for the entry that records its calls and, at a session's start, prints a mark as the entry
would print a brief; the mark must reach the model. Everything talks to 127.0.0.1 only.

    python tests/real_agents/hooks_fire.py --cache DIR --lab DIR [--agents claude_code,codex,…]

The cache holds `<agent>/<version>/node_modules`; an agent that is not in it is passed over and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import drive

VERSIONS = {**drive.VERSIONS, "copilot": "1.0.102", "gemini": "0.61.0", "qwen": "0.24.4"}
MARK = "PASSDOWN-MARK-7f3a: the handoff of the last session, as data."
EXPECTED = {
    "claude_code": ["start", "stop", "end"],
    "codex": ["start", "stop", "end"],
    "pi": ["start", "stop", "end"],
    "opencode": ["start", "stop", "end"],
    "copilot": ["start", "stop", "end"],
    "gemini": ["start", "stop", "end"],
    "qwen": ["start", "stop"],  # with -p it tells of no end
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


def extra(agent: str, cache: Path, home: Path) -> tuple[dict[str, str], list[str], list[dict[str, Any]]]:
    """Return environment, command line and script for the agents that `drive` does not know."""
    del home
    dummy = "-".join(("sk", "dummy"))
    modules = cache / agent / VERSIONS[agent] / "node_modules"
    shell = {"copilot": "bash"}.get(agent, "run_shell_command")
    steps = [{"text": "Running the tests.", "tool": {"name": shell, "args": {"command": drive.RUN, "description": "Run"}}},
             {"text": drive.LAST}]  # fmt: skip
    if agent == "copilot":
        env = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "gpt-4.1",
               "COPILOT_PROVIDER_BASE_URL": f"{drive.URL}/v1", "COPILOT_PROVIDER_API_KEY": dummy}  # fmt: skip
        return env, [str(modules / ".bin/copilot"), "-p", drive.PROMPT, "--allow-all-tools", "--allow-all-paths"], steps
    if agent == "gemini":
        env = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": drive.URL, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        words = ["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-o", "json", "-p", drive.PROMPT]
        return env, [str(modules / ".bin/gemini"), *words], steps
    env = {"OPENAI_API_KEY": dummy, "OPENAI_BASE_URL": f"{drive.URL}/v1", "OPENAI_MODEL": "mock-model"}
    node = next(iter(sorted(modules.glob("node/bin/node"))), Path("node"))
    program = [str(node), str(modules / "@qwen-code/qwen-code/cli-entry.js")]
    return env, [*program, "-m", "mock-model", "--approval-mode", "yolo", "-o", "json", "-p", drive.PROMPT], steps


def again(agent: str, command: list[str]) -> list[str]:
    """Return the command line that goes on with the session; what was the prompt comes last in it."""
    words = [word for word in command if word not in (drive.PROMPT, "-p")]
    if agent == "codex":
        return [words[0], "exec", "resume", "--last", *words[2:], "Go on."]
    if agent == "opencode":
        return [*words, "-c", "Go on."]
    flags = {"pi": ["-c"], "gemini": ["--resume", "latest"]}.get(agent, ["--continue"])
    return [*words, *flags, "-p", "Go on."]


def compacting(agent: str, command: list[str], steps: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return a run in which the agent compacts, None for one that has no way to it without a terminal."""
    onward = again(agent, command)
    if agent == "claude_code":
        return {"command": [*onward[:-1], "/compact keep the names"], "steps": steps}
    if agent == "pi":
        words = [word for word in onward if word not in ("-p", "Go on.")]
        orders = [
            ({"type": "compact"}, '"command":"compact"'),
            ({"type": "prompt", "message": "Go on."}, '"agent_end"'),
        ]
        return {"command": [*words, "--mode", "rpc"], "steps": steps, "orders": orders}
    if agent in ("codex", "opencode"):
        full = [{**step, "usage_in": 260_000 if agent == "codex" else 199_000} if at == 1 else step
                for at, step in enumerate(steps)]  # fmt: skip
        limits = ["-c", "model_context_window=272000", "-c", "model_auto_compact_token_limit=200000"]
        words = [*command[:-1], *(limits if agent == "codex" else []), command[-1]]
        return {"command": words, "steps": full, "mode": "sequence"}
    return None


def run_agent(agent: str, name: str, place: Path, lab: Path) -> None:
    """Do one of an agent's runs in `place` (inside the namespace) against the scripted model."""
    known = json.loads((place / "agent.json").read_text())
    run = known["runs"][name]
    env = {"HOME": str(place / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8",
           "TZ": "UTC", "SHELL": "/bin/bash", "NO_PROXY": "127.0.0.1,localhost", **known["env"]}  # fmt: skip
    script = {"models": ["mock-model", "claude-mock", "gpt-4.1", "gemini-2.5-pro"], "side": "Fix slug helpers", **run}
    (place / "script.json").write_text(json.dumps(script))
    with (place / "model.log").open("ab") as log, (place / "agent.log").open("ab") as out:
        words = ["--script", str(place / "script.json"), "--log", str(place / "requests.jsonl")]
        server = subprocess.Popen([sys.executable, str(lab / "mock/server.py"), "--port", str(drive.PORT), *words],
                                  stdout=log, stderr=log)  # fmt: skip
        try:
            drive.wait_for_server()
            code = obey(run, place / "project", env, out)
        finally:
            server.terminate()
            server.wait(10)
    if code != 0:
        sys.exit(f"{agent} exited {code}:\n{(place / 'agent.log').read_text(errors='replace')[-2000:]}")


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
        return agent.wait(240)


def prepare(agent: str, place: Path, cache: Path) -> None:
    """Make project, home, the user's own settings and the stand-in entry."""
    home = place / "home"
    home.mkdir()
    drive.make_project(place / "project")
    if agent in drive.VERSIONS:
        env, command, steps = (
            drive.configure(agent, home),
            drive.command(agent, cache),
            drive.steps(agent, place / "project"),
        )
        if agent == "opencode":  # offline it would wait for its download for over a minute
            have_plugin_module(home / ".config/opencode")
    else:
        env, command, steps = extra(agent, cache, home)
    if agent in SETTINGS:
        name, text = SETTINGS[agent]
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    if agent == "pi":  # it keeps the last 20,000 tokens as they are; here that is all there is
        (home / ".pi/agent/settings.json").write_text('{"compaction": {"keepRecentTokens": 1}}')
    runs = {"first": {"command": command, "steps": steps}, "again": {"command": again(agent, command), "steps": steps}}
    if run := compacting(agent, command, steps):
        runs["compact"] = run
    (place / "agent.json").write_text(json.dumps({"env": env, "runs": runs}))


def have_plugin_module(folder: Path) -> None:
    """Let OpenCode find its plugin package installed, as npm leaves it; our plugin does not import it."""
    name, version = "@opencode-ai/plugin", VERSIONS["opencode"]
    wanted = {"dependencies": {name: version}}
    lock = {"lockfileVersion": 3, "packages": {"": wanted, f"node_modules/{name}": {"version": version}}}
    files = {
        "package.json": wanted,
        "package-lock.json": lock,
        f"node_modules/{name}/package.json": {"name": name, "version": version},
    }
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(content))


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
    print(f"{agent}: {', '.join(sources)}")
    wrong += [] if MARK in (place / "requests.jsonl").read_text() else ["what start printed did not reach the model"]
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


def main() -> None:
    """Run the agents one after the other; exit non-zero when one is not as expected."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--lab", type=Path, required=True)
    parser.add_argument("--agents", default=",".join(VERSIONS))
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help="keep what the agents leave here")
    arguments = parser.parse_args()
    cache, lab = arguments.cache.resolve(), arguments.lab.resolve()
    if arguments.inside:
        agent, name, place = arguments.inside.split("=", 2)
        run_agent(agent, name, Path(place), lab)
        return
    probe = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    apart = ["unshare", "-n", "--", "sh", "-c", 'ip link set lo up; exec "$0" "$@"'] if probe.returncode == 0 else []
    failed = 0
    for agent in arguments.agents.split(","):
        if not (cache / agent / VERSIONS[agent] / "node_modules").is_dir():
            print(f"{agent} {VERSIONS[agent]}: not in the cache, not run", flush=True)
            continue
        place = Path(tempfile.mkdtemp(prefix=f"passdown-hooks-{agent}-"))
        prepare(agent, place, cache)
        for name in [name for name in os.environ if name.startswith(("XDG_", "CLAUDE_", "CODEX_", "PI_", "QWEN_"))]:
            del os.environ[name]
        os.environ["HOME"] = str(place / "home")
        inner = [*apart, sys.executable, __file__, "--cache", str(cache), "--lab", str(lab), "--inside"]

        def go(name: str, agent: str = agent, place: Path = place, inner: list[str] = inner) -> None:
            subprocess.run([*inner, f"{agent}={name}={place}"], check=True, timeout=300)

        started = time.monotonic()
        fired, wrong = judge(agent, place, go)
        failed += bool(wrong)
        took = time.monotonic() - started
        print(
            f"{agent} {VERSIONS[agent]}: fired {', '.join(fired)}: {'; '.join(wrong) or 'ok'} ({took:.0f} s)",
            flush=True,
        )
        if arguments.keep:
            shutil.copytree(place, arguments.keep / agent, dirs_exist_ok=True, symlinks=True)
        shutil.rmtree(place, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
