"""The programs of coding agents as a shell meets them: which words start one, and which do not. Facts only."""

from __future__ import annotations

from typing import NamedTuple

_ABOUT = ("help", "version", "update", "upgrade", "login", "logout", "auth", "mcp", "config", "doctor", "completion",
          "install", "uninstall", "plugin", "plugins", "extensions", "models", "stats", "features", "setup-token",
          "migrate-installer", "export", "import", "apply", "debug", "list")  # fmt: skip
"""First words after which no agent works."""


class AgentProgram(NamedTuple):
    """A program: the agent's id, and how it is called.

    `starts` are words or options one of which must stand there for a program whose name others share, `alone` says
    that the bare name opens it. `tasks` are words and options that hand it a task, `resumes` those that open a session
    again, the next word being its id; `newest` those that open the newest one. `valued` options take the next word.
    """

    agent: str
    starts: tuple[str, ...] = ()
    alone: bool = True
    tasks: tuple[str, ...] = ("-p", "--print", "--prompt", "exec", "e", "run", "-x", "-t", "--message", "-m")
    resumes: tuple[str, ...] = ("--resume", "-r", "--session", "resume", "--session-id", "--fork")
    newest: tuple[str, ...] = ("--continue", "-c", "--last")
    about: tuple[str, ...] = _ABOUT
    valued: tuple[str, ...] = ("--model", "-C", "--cd", "--agent", "--profile", "--sandbox", "--output-format")


PROGRAMS: dict[str, AgentProgram] = {
    "claude": AgentProgram(
        "claude_code", tasks=("-p", "--print"),
        valued=("--model", "--allowedTools", "--allowed-tools", "--disallowedTools", "--output-format", "--add-dir",
                "--append-system-prompt", "--permission-mode", "--settings", "--mcp-config", "--agents", "--max-turns"),
    ),
    "codex": AgentProgram(
        "codex", tasks=("exec", "e", "review"), resumes=("resume", "fork"), newest=("--last",),
        valued=("-m", "--model", "-c", "--config", "-C", "--cd", "-p", "--profile", "-s", "--sandbox", "-a",
                "--ask-for-approval", "-i", "--image", "--enable", "--disable"),
    ),
    "opencode": AgentProgram("opencode", tasks=("run", "--prompt"), resumes=("--session", "-s"),
                             newest=("--continue", "-c"),
                             about=(*_ABOUT, "session", "github", "serve", "web", "agent", "db")),
    "gemini": AgentProgram("gemini", tasks=("-p", "--prompt"), valued=("-m", "--model", "--approval-mode")),
    "qwen": AgentProgram("qwen", tasks=("-p", "--prompt"), valued=("-m", "--model", "--approval-mode")),
    "copilot": AgentProgram(
        "copilot", starts=("-p", "--prompt", "-i", "--interactive", "--resume", "--continue", "--allow-all-tools"),
        tasks=("-p", "--prompt", "-i"), newest=("--continue",),
    ),
    "pi": AgentProgram("pi", starts=("-p", "--print", "--session", "--continue", "-c", "--resume", "-r", "--provider"),
                       alone=False, tasks=("-p", "--print")),
    "openhands": AgentProgram("openhands", tasks=("-t", "--task", "-f", "--file"), about=(*_ABOUT, "serve")),
    "aider": AgentProgram("aider", tasks=("--message", "-m", "--message-file", "-f"), resumes=(),
                          newest=("--restore-chat-history",)),
    "cursor-agent": AgentProgram("cursor", tasks=("-p", "--print"), newest=("resume",), resumes=("--resume",),
                                 about=(*_ABOUT, "status", "ls")),
    "amp": AgentProgram("amp", starts=("-x", "--execute"), alone=False, tasks=("-x", "--execute")),
    "goose": AgentProgram("goose", starts=("run", "session"), alone=False, tasks=("run",), resumes=("--resume", "-r"),
                          newest=()),
    "droid": AgentProgram("droid", starts=("exec", "--resume", "-r"), alone=False, tasks=("exec",)),
    "crush": AgentProgram("crush", starts=("run", "--session", "--continue"), alone=False, tasks=("run",)),
    "kimi": AgentProgram("kimi", starts=("--print", "-c", "--command", "-p", "--prompt", "--continue", "--session"),
                         tasks=("--print", "-c", "--command", "-p", "--prompt"), newest=("--continue", "-C")),
    "hermes": AgentProgram("hermes", starts=("chat", "-q", "--resume", "--continue"), alone=False, tasks=("-q",)),
}  # fmt: skip

PACKAGES: dict[str, str] = {
    "@anthropic-ai/claude-code": "claude", "@openai/codex": "codex", "opencode-ai": "opencode",
    "@google/gemini-cli": "gemini", "@qwen-code/qwen-code": "qwen", "@github/copilot": "copilot",
    "@mariozechner/pi-coding-agent": "pi", "@earendil-works/pi-coding-agent": "pi", "openhands-ai": "openhands",
    "openhands": "openhands", "aider-chat": "aider", "@sourcegraph/amp": "amp", "kimi-cli": "kimi",
}  # fmt: skip
"""The packages by which `npx` and its like start them."""
