"""Pi's hooks: an extension file of our own, loaded by Pi without a build step."""

from __future__ import annotations

from pathlib import Path

from passdown.agents.hook_command import HookCommand, OwnLine
from passdown.agents.hook_script import install_script, installed_script, uninstall_script

EVENTS = {
    "session_start": "start",
    "agent_end": "stop",
    "session_before_compact": "compact",
    "session_compact": "compacted",
    "session_shutdown": "end",
}
"""The agent's name of an event → ours."""

_BODY = """\
const ENDED = { error: "error", aborted: "interrupt" };

export default function (pi) {
  let brief = "";
  let compacted = false;
  let stopping = Promise.resolve("");
  const about = (ctx, name, more) => ({
    hook_event_name: name,
    session_id: ctx.sessionManager?.getSessionId?.() ?? "",
    transcript_path: ctx.sessionManager?.getSessionFile?.() ?? "",
    cwd: ctx.cwd,
    ...more,
  });
  const isUnderWay = (ctx) => (ctx.sessionManager?.getEntries?.() ?? []).some((entry) => entry.type === "message");
  const start = (ctx, source) => tell("start", about(ctx, "session_start", { source }), 8000);

  pi.on("session_start", async (event, ctx) => {
    brief = await start(ctx, isUnderWay(ctx) ? "resume" : event.reason === "new" ? "clear" : "startup");
  });
  pi.on("before_agent_start", async (_event, ctx) => {
    if (compacted) brief = [brief, await start(ctx, "compact")].filter(Boolean).join("\\n\\n");
    compacted = false;
    const content = brief;
    brief = "";
    if (content) return { message: { customType: "passdown", content, display: false } };
  });
  pi.on("agent_end", async (event, ctx) => {
    const reason = event.messages?.at?.(-1)?.stopReason ?? "";
    stopping = tell(ENDED[reason] ?? "stop", about(ctx, "agent_end", { reason }), 3000);
    await stopping;
  });
  pi.on("session_before_compact", async (_event, ctx) => {
    await tell("compact", about(ctx, "session_before_compact", {}), 3000);
  });
  pi.on("session_compact", async (_event, ctx) => {
    compacted = true;
    await tell("compacted", about(ctx, "session_compact", {}), 3000);
  });
  pi.on("session_shutdown", async (event, ctx) => {
    await stopping; // with -p, Pi does not wait for the end of a turn
    if (event.reason !== "reload") await tell("end", about(ctx, "session_shutdown", { reason: event.reason }), 3000);
  });
}
"""


def file(scope: str, root: Path, home: Path) -> Path:
    """Return where the file goes, for the user (`home` is the agent's folder) or for the project."""
    return (home if scope == "user" else root / ".pi") / "extensions" / "passdown.ts"


def install(text: str | None, command: HookCommand, where: str = "") -> str:
    """Return the file's text. Raises `ConflictError` when one that is not ours lies there."""
    return install_script(text, "pi", _BODY, command, where)


def uninstall(text: str, where: str = "", *, whole: bool = True) -> str:
    """Return nothing for a file of ours. Raises `ConflictError` when it was edited."""
    del whole
    return uninstall_script(text, where)


def installed(text: str, where: str = "") -> list[OwnLine]:
    """Return the command lines the file runs, none when it is not ours."""
    del where
    return installed_script(text, "pi", tuple(dict.fromkeys(EVENTS.values())))


def context_output(text: str, event: str) -> str:
    """Return what the entry prints so that the file adds `text` to the context: the text itself."""
    del event
    return text
