"""The table of agents: facts only. Behaviour lives in each agent's own folder, imported when it is first needed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast, runtime_checkable

from passdown.errors import UsageError
from passdown.io.files import home_folder

if TYPE_CHECKING:
    from passdown.agents.first_message import FirstMessage, Start
    from passdown.agents.hook_command import HookCommand, OwnLine
    from passdown.model.session import AnyEvent, SessionRef, Unread


class Agent(NamedTuple):
    """One row: the agent's id, its name as people write it, and where it keeps its sessions.

    `override` is the environment variable that moves `home` (a path relative to the user's home folder, which is meant
    itself where it is empty), `resume` the
    words before a session's id that open that session again, `own` the variable that names the session to its commands.
    `module` is empty where no reader of its sessions exists, `hooks` where nothing can be installed; `program` is the
    binary's name, `skills` the project's folder where it looks for skills. `takeover` is empty where passdown
    cannot start it with a brief. `markers` are the variables that it sets for the commands it runs; `packages` what its
    program is installed as, `install` the command for that. `project`: it keeps its log in each project's own folder;
    `timeless`: the log tells when a session began, and of nothing in it when it was;
    `traces`: files it leaves in a project (folders end with a slash) that are no work.
    """

    id: str
    title: str
    module: str
    override: str
    home: str
    resume: tuple[str, ...] = ()
    own: str = ""
    hooks: str = ""
    program: str = ""
    skills: str = ""
    takeover: str = ""
    markers: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    install: str = ""
    project: bool = False
    timeless: bool = False
    traces: tuple[str, ...] = ()


class Sessions(Protocol):
    """What an agent's `sessions` module offers."""

    def recognise(self, head: bytes, name: str) -> bool:
        """Say whether a file that starts with `head` (up to 1 MB) and is called `name` is this agent's."""

    def find(self, home: Path) -> Iterator[SessionRef]:
        """Yield the sessions under the agent's folder, newest first, reading only the head and tail of each file."""

    def refer(self, path: Path) -> SessionRef | None:
        """Return what a file's ends say of its session, None when they do not say it."""

    def read(self, ref: SessionRef) -> Iterator[AnyEvent]:
        """Yield the session's events in file order, first a `SessionStart`, last a `SessionEnd`."""


class Databases(Protocol):
    """What a `sessions` module offers besides when its agent keeps many sessions in one database."""

    def refusals(self, home: Path, but: Collection[str]) -> Iterator[tuple[Path, str]]:
        """Yield each database other than `but`, and why it tells no sessions (empty where it does)."""


@runtime_checkable
class SparingSessions(Protocol):
    """What the `sessions` module of an agent offers whose logs are mostly outputs that nobody reads."""

    def read_sparing(self, ref: SessionRef, unread: Unread) -> Iterator[AnyEvent]:
        """Yield what `read` does, perhaps without the text of results that nobody reads, and with tokens summed up.

        Raises `TakenBackError` for a session that took back what was read before, if that cannot be told in one pass.
        """


class Hooks(Protocol):
    """What an agent's `hooks` module offers: one file it touches, and pure functions from its text to its text."""

    EVENTS: Mapping[str, str]

    def file(self, scope: str, root: Path, home: Path) -> Path:
        """Return the file, of the user (`home` is the agent's folder) or of the project."""

    def install(self, text: str | None, command: HookCommand, where: str = "") -> str:
        """Return the file's text with our hooks; `text` is None where there is no file."""

    def uninstall(self, text: str, where: str = "", *, whole: bool = True) -> str:
        """Return the text without our hooks; nothing is left of a file made for them, unless `whole` is False."""

    def installed(self, text: str, where: str = "") -> list[OwnLine]:
        """Return the command lines of ours in the text."""

    def context_output(self, text: str, event: str) -> str:
        """Return what a hook prints so that the agent adds `text` to its context."""


class Takeover(Protocol):
    """What an agent's `takeover` module offers: how it is started with a brief. It sees nothing of the packet."""

    def start(self, message: FirstMessage, extra: tuple[str, ...]) -> Start:
        """Return the words after the program's name; `extra` are those that the user wants to be among them."""


TABLE: tuple[Agent, ...] = (
    Agent("claude_code", "Claude Code", "passdown.agents.claude_code.sessions", "CLAUDE_CONFIG_DIR", ".claude",
          ("claude", "--resume"), "CLAUDE_CODE_SESSION_ID", "passdown.agents.claude_code.hooks", "claude",
          ".claude/skills",
          "passdown.agents.claude_code.takeover", ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
          ("@anthropic-ai/claude-code", "share/claude/versions"),
          "npm install -g @anthropic-ai/claude-code"),
    Agent("codex", "Codex", "passdown.agents.codex.sessions", "CODEX_HOME", ".codex", ("codex", "resume"),
          "CODEX_THREAD_ID", "passdown.agents.codex.hooks", "codex", ".agents/skills",
          "passdown.agents.codex.takeover",
          ("CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"), ("@openai/codex",),
          "npm install -g @openai/codex"),
    Agent("opencode", "OpenCode", "passdown.agents.opencode.sessions", "", ".local/share/opencode",
          ("opencode", "--session"), "", "passdown.agents.opencode.hooks", "opencode", ".agents/skills",
          "passdown.agents.opencode.takeover", ("OPENCODE",), ("opencode-ai",),
          "npm install -g opencode-ai"),
    Agent("pi", "Pi", "passdown.agents.pi.sessions", "PI_CODING_AGENT_DIR", ".pi/agent", ("pi", "--session"), "",
          "passdown.agents.pi.hooks", "pi", ".agents/skills",
          "passdown.agents.pi.takeover", ("PI_CODING_AGENT",), ("@mariozechner/pi-coding-agent",),
          "npm install -g @mariozechner/pi-coding-agent"),
    Agent("gemini", "Gemini CLI", "passdown.agents.gemini.sessions", "", ".gemini", ("gemini", "--resume"),
          "GEMINI_SESSION_ID", "passdown.agents.gemini.hooks", "gemini", ".agents/skills",
          "passdown.agents.gemini.takeover", ("GEMINI_CLI",), ("@google/gemini-cli",),
          "npm install -g @google/gemini-cli"),
    Agent("qwen", "Qwen Code", "passdown.agents.qwen.sessions", "QWEN_HOME", ".qwen", ("qwen", "--resume"),
          "QWEN_CODE_SESSION_ID", "passdown.agents.qwen.hooks", "qwen", ".qwen/skills",
          "passdown.agents.qwen.takeover", ("QWEN_CODE",), ("@qwen-code/qwen-code",),
          "npm install -g @qwen-code/qwen-code"),
    Agent("copilot", "Copilot CLI", "passdown.agents.copilot.sessions", "COPILOT_HOME", ".copilot",
          ("copilot", "--resume"), "COPILOT_AGENT_SESSION_ID", "passdown.agents.copilot.hooks", "copilot",
          ".agents/skills",
          "passdown.agents.copilot.takeover", ("COPILOT_CLI",), ("@github/copilot",),
          "npm install -g @github/copilot"),
    Agent("openhands", "OpenHands", "passdown.agents.openhands.sessions", "OH_PERSISTENCE_DIR", ".openhands",
          ("openhands", "--resume"), "", "passdown.agents.openhands.hooks", "openhands", ".agents/skills",
          "passdown.agents.openhands.takeover", (), (),
          "uv tool install openhands --python 3.12"),
    Agent("kimi", "Kimi Code", "passdown.agents.kimi.sessions", "KIMI_CODE_HOME", ".kimi-code", ("kimi", "--session"),
          program="kimi"),
    Agent("droid", "Droid", "passdown.agents.droid.sessions", "", ".factory", ("droid", "--resume"),
          program="droid"),
    Agent("cursor", "Cursor", "passdown.agents.cursor.sessions", "", ".cursor", ("cursor-agent", "--resume"),
          program="cursor-agent", timeless=True),
    Agent("aider", "Aider", "passdown.agents.aider.sessions", "", "", program="aider", project=True,
          timeless=True,
          traces=(".aider.chat.history.md", ".aider.input.history", ".aider.llm.history", ".aider.tags.cache.v3/",
                  ".aider.tags.cache.v4/")),
    Agent("roo", "Roo Code", "passdown.agents.cline.roo", "", ""),
    Agent("kilo", "Kilo Code", "passdown.agents.cline.kilo", "", ""),
    Agent("cline", "Cline", "passdown.agents.cline.sessions", "", "", program="cline"),
    Agent("goose", "Goose", "passdown.agents.goose.sessions", "", ".local/share/goose", program="goose"),
    Agent("crush", "Crush", "passdown.agents.crush.sessions", "CRUSH_GLOBAL_DATA", ".local/share/crush",
          program="crush"),
    Agent("hermes", "Hermes", "passdown.agents.hermes.sessions", "HERMES_HOME", ".hermes", program="hermes"),
    Agent("amp", "Amp", "passdown.agents.amp.sessions", "", ".local/share/amp", program="amp"),
)  # fmt: skip
"""Every agent that passdown knows, by a reader of its sessions or by hooks."""

AGENTS: tuple[Agent, ...] = tuple(row for row in TABLE if row.module)
"""The agents whose sessions can be read."""


def row_called(name: str, rows: Iterable[Agent] = TABLE) -> Agent | None:
    """Return the row of an agent as people name it: by its id, its program or its title, whatever the case."""
    wanted = name.strip().lower().replace("-", "_").replace(" ", "_")
    return next((row for row in rows if wanted in (row.id, row.program, row.title.lower().replace(" ", "_"))), None)


def rows_called(names: Iterable[str], rows: Sequence[Agent], what: str) -> list[Agent]:
    """Return the rows of these names in the table's order, all of them when there are no names.

    Raises `UsageError` for an agent that is not among them: there is no `what` for it.
    """
    found = []
    for name in names:
        row = row_called(name, rows)
        if row is None:
            known = ", ".join(row.id for row in rows)
            raise UsageError(f"no {what} for an agent called {name[:40]!r}", next_step=f"Known: {known}.")
        found.append(row)
    return [row for row in rows if row in found] if found else list(rows)


def sessions_of(agent: Agent) -> Sessions:
    """Import and return the agent's `sessions` module."""
    return cast("Sessions", import_module(agent.module))


def databases_of(agent: Agent) -> Databases | None:
    """Return the agent's `sessions` module when it reads databases of many sessions."""
    module = import_module(agent.module)
    return cast("Databases", module) if hasattr(module, "refusals") else None


def hooks_of(agent: Agent) -> Hooks:
    """Import and return the agent's `hooks` module."""
    return cast("Hooks", import_module(agent.hooks))


def takeover_of(agent: Agent) -> Takeover:
    """Import and return the agent's `takeover` module."""
    return cast("Takeover", import_module(agent.takeover))


_DATA = ".local/share/"


def home_of(agent: Agent) -> Path:
    """Return the folder the agent keeps its data in, its own override variable first."""
    if agent.override and (moved := os.environ.get(agent.override)):
        return Path(moved).expanduser()
    if agent.id == "gemini" and (moved := os.environ.get("GEMINI_CLI_HOME")):  # stands for the user's home folder
        return Path(moved).expanduser() / ".gemini"
    if agent.id == "goose" and (moved := os.environ.get("GOOSE_PATH_ROOT")):
        return Path(moved).expanduser() / "data"
    if agent.home.startswith(_DATA) and (data := os.environ.get("XDG_DATA_HOME")):
        return Path(data).expanduser() / agent.home.removeprefix(_DATA)
    if agent.id == "droid" and (moved := os.environ.get("FACTORY_HOME_OVERRIDE")):  # stands for the user's home folder
        return Path(moved).expanduser() / ".factory"
    if agent.project:
        return project_around(Path.cwd())
    home = home_folder() / agent.home
    if agent.id == "kimi" and not home.is_dir():  # Kimi CLI, which is no longer made
        return Path(os.environ.get("KIMI_SHARE_DIR") or home_folder() / ".kimi").expanduser()
    return home


def project_around(folder: Path) -> Path:
    """Return the nearest folder from `folder` upwards that is a git repository's, else `folder` itself."""
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), folder)


def project_homes(root: str) -> dict[str, Path]:
    """Return where the agents that keep their log in a project have it in the one at `root`."""
    return {row.id: Path(root) for row in AGENTS if row.project}
