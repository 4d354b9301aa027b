"""OpenCode's hooks: a plugin file of our own, in its configuration folder (not beside its data)."""

from __future__ import annotations

import os
from pathlib import Path

from passdown.agents.hook_command import HookCommand, OwnLine
from passdown.agents.hook_script import install_script, installed_script, uninstall_script
from passdown.io.files import home_folder

EVENTS = {
    "session.created": "start",
    "session.idle": "stop",
    "session.error": "error",
    "experimental.session.compacting": "compact",
    "session.compacted": "compacted",
    "dispose": "end",
}
"""The agent's name of an event → ours."""

_BODY = """\
export const Passdown = async ({ directory }) => {
  const briefs = new Map(); // of each session, what its system prompt gets
  const fresh = new Set();
  const nested = new Set(); // subagents' sessions
  const about = (id, name, more) => ({ hook_event_name: name, session_id: id, cwd: directory, ...more });
  const start = (id, source) => tell("start", about(id, "session.created", { source }), 8000);

  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (!id) return;
      if (event.type === "session.created") (event.properties.info?.parentID ? nested : fresh).add(id);
      if (nested.has(id)) return;
      if (event.type === "session.idle") await tell("stop", about(id, event.type, {}), 3000);
      if (event.type === "session.error") {
        const aborted = event.properties.error?.name === "MessageAbortedError";
        await tell(aborted ? "interrupt" : "error", about(id, event.type, {}), 3000);
      }
      if (event.type === "session.compacted") {
        await tell("compacted", about(id, event.type, {}), 3000);
        briefs.set(id, [briefs.get(id), await start(id, "compact")].filter(Boolean).join("\\n\\n"));
      }
    },
    "chat.message": async ({ sessionID: id }) => {
      if (!id || nested.has(id) || briefs.has(id)) return;
      briefs.set(id, "");
      briefs.set(id, await start(id, fresh.has(id) ? "startup" : "resume"));
    },
    "experimental.chat.system.transform": async ({ sessionID: id }, output) => {
      const brief = briefs.get(id);
      if (brief) output.system.push(brief);
    },
    "experimental.session.compacting": async ({ sessionID: id }) => {
      if (id && !nested.has(id)) await tell("compact", about(id, "session.compacting", {}), 3000);
    },
    dispose: async () => {
      const ids = [...briefs.keys()];
      await Promise.all(ids.map((id) => tell("end", about(id, "dispose", { reason: "dispose" }), 3000)));
    },
  };
};
"""


def file(scope: str, root: Path, home: Path) -> Path:
    """Return where the file goes, for the user (`home` is the agent's folder) or for the project."""
    del home
    return (_configuration() if scope == "user" else root / ".opencode") / "plugin" / "passdown.js"


def _configuration() -> Path:
    if moved := os.environ.get("OPENCODE_CONFIG_DIR"):
        return Path(moved).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base).expanduser() if base else home_folder() / ".config") / "opencode"


def install(text: str | None, command: HookCommand, where: str = "") -> str:
    """Return the file's text. Raises `ConflictError` when one that is not ours lies there."""
    return install_script(text, "opencode", _BODY, command, where)


def uninstall(text: str, where: str = "", *, whole: bool = True) -> str:
    """Return nothing for a file of ours. Raises `ConflictError` when it was edited."""
    del whole
    return uninstall_script(text, where)


def installed(text: str, where: str = "") -> list[OwnLine]:
    """Return the command lines the file runs, none when it is not ours."""
    del where
    return installed_script(text, "opencode", tuple(dict.fromkeys(EVENTS.values())))


def context_output(text: str, event: str) -> str:
    """Return what the entry prints so that the file adds `text` to the context: the text itself."""
    del event
    return text
