"""The real agents: which version, where in the cache, how each is set up, started, and what its tools are called."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

VERSIONS = {"claude_code": "2.1.332", "codex": "0.171.0", "pi": "0.73.1", "copilot": "1.0.102", "opencode": "1.18.33",
            "gemini": "0.61.0", "qwen": "0.24.4", "openhands": "1.58.2"}  # fmt: skip
BINARIES = {"claude_code": "claude", "codex": "codex", "pi": "pi", "copilot": "copilot", "opencode": "opencode",
            "gemini": "gemini"}  # fmt: skip
MODELS = ["mock-model", "claude-mock", "gpt-4.1", "gemini-2.5-pro"]
PROMPT = "Fix the two helpers in src/slug.py so that the tests pass. Do not change the tests."
LAST = (
    "slugify is fixed and its test passes. test_truncate still fails: truncate() keeps n characters and then adds the "
    "ellipsis. Next: cut to n-1 in src/slug.py."
)
OLD, NEW = '    return text.replace(" ", "-")', '    return "-".join(text.lower().split())'
RUN = "python3 -m unittest -v tests/test_slug.py"
DUMMY = "-".join(("sk", "dummy"))
Steps = list[dict[str, Any]]


def _free_port() -> int:
    for port in range(8089, 8189):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port from 8089 to 8188")


PORT = int(os.environ.setdefault("PASSDOWN_MODEL_PORT", str(_free_port())))
"""Where the scripted model listens: the same for a script and the processes it starts, for agents' settings name it."""

URL = f"http://127.0.0.1:{PORT}"


def is_here(agent: str, cache: Path) -> bool:
    """Say whether the cache holds an agent."""
    return (cache / agent / VERSIONS[agent] / ".done").exists()


def base_env(home: Path) -> dict[str, str]:
    """Return the environment that every process in a home has, whatever the one around it."""
    return {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8", "TZ": "UTC",
            "SHELL": "/bin/bash", "NO_PROXY": "127.0.0.1,localhost"}  # fmt: skip


def configure(agent: str, home: Path) -> dict[str, str]:
    """Write an agent's settings into its home; return its environment variables."""

    def write(name: str, value: Any) -> None:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")

    match agent:
        case "claude_code":
            off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER",
                   "DISABLE_ERROR_REPORTING", "IS_SANDBOX")  # fmt: skip
            return {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": DUMMY, **dict.fromkeys(off, "1")}
        case "codex":
            write(".codex/config.toml", _CODEX)
            (home / "tmp").mkdir(exist_ok=True)
            return {"MOCK_API_KEY": DUMMY, "TMPDIR": str(home / "tmp")}
        case "pi":
            model = {"id": "mock-model", "contextWindow": 200000, "maxTokens": 8000}
            provider = {"baseUrl": f"{URL}/v1", "api": "openai-completions", "apiKey": DUMMY, "models": [model]}
            write(".pi/agent/models.json", {"providers": {"mock": provider}})
            return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
        case "copilot":
            return {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "gpt-4.1",
                    "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1", "COPILOT_PROVIDER_API_KEY": DUMMY}  # fmt: skip
        case "gemini":
            quiet = {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}
            write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": quiet,
                                            "telemetry": {"enabled": False}})  # fmt: skip
            return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_CLI_TRUST_WORKSPACE": "true",
                    "GEMINI_TELEMETRY_ENABLED": "false"}  # fmt: skip
        case "qwen":
            write(".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}, "$version": 4,
                                          "telemetry": {"enabled": False}})  # fmt: skip
            return {"OPENAI_API_KEY": DUMMY, "OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_MODEL": "mock-model",
                    "QWEN_TELEMETRY_ENABLED": "false"}  # fmt: skip
        case "openhands":
            return {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_TELEMETRY": "False",
                    "SCRIPTED_URL": f"{URL}/v1", "SCRIPTED_KEY": DUMMY}  # fmt: skip
        case _:
            write(".config/opencode/opencode.json", _opencode())
            _have_plugin_module(home / ".config/opencode")
            return {f"OPENCODE_DISABLE_{what}": "1"
                    for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")}  # fmt: skip


def command(agent: str, cache: Path) -> list[str]:
    """Return an agent's command line with the task as its prompt."""
    place = cache / agent / VERSIONS[agent]
    modules = place / "node_modules"
    program = str(modules / ".bin" / BINARIES.get(agent, ""))
    match agent:
        case "claude_code":
            return [program, "-p", PROMPT, "--output-format", "json", "--dangerously-skip-permissions"]
        case "codex":
            return [program, "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", PROMPT]
        case "pi":
            return [program, "-p", "--provider", "mock", "--model", "mock-model", PROMPT]
        case "copilot":
            return [program, "-p", PROMPT, "--allow-all-tools", "--allow-all-paths"]
        case "gemini":
            return [program, "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-o", "json", "-p", PROMPT]
        case "qwen":  # which needs a newer Node than many machines have; npm's package `node` brings one
            node, entry = modules / "node/bin/node", modules / "@qwen-code/qwen-code/cli-entry.js"
            return [str(node), str(entry), "-m", "mock-model", "--approval-mode", "yolo", "-o", "json", "-p", PROMPT]
        case "openhands":
            return [str(place / "venv/bin/python"), str(Path(__file__).with_name("openhands_run.py")), PROMPT]
        case _:
            return [program, "run", "--format", "json", PROMPT]


def steps(agent: str, root: Path) -> Steps:
    """Return what the scripted model does: read, fix one bug, run the tests (red), stop."""
    path = str(root / "src/slug.py")
    tests = {"command": RUN, "description": "Run the tests"}
    swap = {"old_string": OLD, "new_string": NEW}
    tools: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "claude_code": [("Read", {"file_path": path}), ("Edit", {"file_path": path, **swap}), ("Bash", tests)],
        "codex": [("exec_command", {"cmd": "cat src/slug.py"}),
                  ("exec_command", {"cmd": "sed -i 's/return text.replace.*/return \"-\".join(text.lower().split())/' src/slug.py"}),
                  ("exec_command", {"cmd": RUN})],
        "pi": [("read", {"path": "src/slug.py"}), ("edit", {"path": "src/slug.py", "edits": [{"oldText": OLD, "newText": NEW}]}),
               ("bash", {"command": RUN})],
        "copilot": [("view", {"path": path}), ("edit", {"path": path, "old_str": OLD, "new_str": NEW}), ("bash", tests)],
        "opencode": [("read", {"filePath": path}), ("edit", {"filePath": path, "oldString": OLD, "newString": NEW}),
                     ("bash", tests)],
        "gemini": [("read_file", {"file_path": path}),
                   ("replace", {"file_path": path, "instruction": "Lower-case and join the words", **swap}),
                   ("run_shell_command", tests)],
        "qwen": [("read_file", {"file_path": path}), ("edit", {"file_path": path, **swap}),
                 ("run_shell_command", {**tests, "is_background": False})],
        "openhands": [("file_editor", {"command": "view", "path": path, "security_risk": "LOW", "summary": "Read"}),
                      ("file_editor", {"command": "str_replace", "path": path, "old_str": OLD, "new_str": NEW,
                                       "security_risk": "LOW", "summary": "Mend slugify"}),
                      ("terminal", {"command": RUN, "security_risk": "LOW", "summary": "Run the tests"})],
    }  # fmt: skip
    says = ("I'll read the helper first.", "slugify never lower-cases. Fixing that one first.", "Running the tests.")
    rows: Steps = [{"text": text, "tool": {"name": name, "args": args}}
                   for text, (name, args) in zip(says, tools[agent], strict=True)]  # fmt: skip
    return [*rows, {"text": LAST}]


def again(agent: str, words: list[str]) -> list[str]:
    """Return the command line that goes on with the session; what was the prompt comes last in it."""
    words = [word for word in words if word not in (PROMPT, "-p")]
    if agent == "codex":
        return [words[0], "exec", "resume", "--last", *words[2:], "Go on."]
    if agent == "opencode":
        return [*words, "-c", "Go on."]
    if agent == "openhands":
        return [*words, "--continue", "Go on."]
    flags = {"pi": ["-c"], "gemini": ["--resume", "latest"]}.get(agent, ["--continue"])
    return [*words, *flags, "-p", "Go on."]


def compacting(agent: str, words: list[str], script: Steps) -> dict[str, Any] | None:
    """Return a run in which the agent compacts, None for one that has no way to it without a terminal."""
    onward = again(agent, words)
    if agent == "claude_code":
        return {"command": [*onward[:-1], "/compact keep the names"], "steps": script}
    if agent == "pi":
        rest = [word for word in onward if word not in ("-p", "Go on.")]
        orders = [
            ({"type": "compact"}, '"command":"compact"'),
            ({"type": "prompt", "message": "Go on."}, '"agent_end"'),
        ]
        return {"command": [*rest, "--mode", "rpc"], "steps": script, "orders": orders}
    if agent in ("codex", "opencode"):
        full = [{**step, "usage_in": 260_000 if agent == "codex" else 199_000} if at == 1 else step
                for at, step in enumerate(script)]  # fmt: skip
        limits = ["-c", "model_context_window=272000", "-c", "model_auto_compact_token_limit=200000"]
        return {
            "command": [*words[:-1], *(limits if agent == "codex" else []), words[-1]],
            "steps": full,
            "mode": "sequence",
        }
    return None


_CODEX = f"""\
model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "{URL}/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
[otel]
exporter = "none"
"""


def _opencode() -> dict[str, Any]:
    limit = {"context": 200000, "output": 8000}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Mock", "options": {"baseURL": f"{URL}/v1", "apiKey": DUMMY},
                "models": {name: {"name": name, "limit": limit} for name in ("mock-model", "mock-small")}}  # fmt: skip
    return {"autoupdate": False, "share": "disabled", "model": "mock/mock-model", "small_model": "mock/mock-small",
            "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"}, "provider": {"mock": provider}}  # fmt: skip


def _have_plugin_module(folder: Path) -> None:
    """Let OpenCode find its plugin package installed, as npm leaves it; ours does not import it, offline it waits a minute."""
    name, version = "@opencode-ai/plugin", VERSIONS["opencode"]
    wanted = {"dependencies": {name: version}}
    lock = {"lockfileVersion": 3, "packages": {"": wanted, f"node_modules/{name}": {"version": version}}}
    files = {"package.json": wanted, "package-lock.json": lock,
             f"node_modules/{name}/package.json": {"name": name, "version": version}}  # fmt: skip
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(content))
