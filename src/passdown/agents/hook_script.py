"""Agents that load a script instead of running a command: a generated file that starts our entry with the payload."""

from __future__ import annotations

import hashlib
import json

from passdown.agents.hook_command import HookCommand, OwnLine, read_line
from passdown.errors import ConflictError
from passdown.model.pattern import lazy_pattern

_HEADER = lazy_pattern(r"// Written by passdown \S+ .*sha256:([0-9a-f]{64})\n")
_COMMAND = lazy_pattern(r"^const COMMAND = (\[.*\]);$", 8)  # 8: each line

SPAWN = """\
// Starts the entry, hands it the payload and returns what it prints; whatever goes wrong, the agent does not notice.
function tell(event, payload, milliseconds) {
  return new Promise((resolve) => {
    let said = "";
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), AGENT, event], { stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => { child.kill("SIGKILL"); resolve(""); }, milliseconds);
      child.on("error", () => { clearTimeout(timer); resolve(""); });
      child.on("close", () => { clearTimeout(timer); resolve(said); });
      child.stdin.on("error", () => {});
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part) => { if (said.length < 20000) said += part; });
      child.stdin.end(JSON.stringify(payload));
    } catch {
      resolve("");
    }
  });
}
"""
"""What both scripts share: plain JavaScript, which a TypeScript loader takes as well."""


def install_script(text: str | None, agent: str, body: str, command: HookCommand, where: str = "") -> str:
    """Return the file's whole text. Raises `ConflictError` when the file there is not ours, or was edited by hand."""
    if text:
        _check(text, where)
    words = json.dumps(command.words(agent, "")[:-2], ensure_ascii=False)
    script = (
        f'import {{ spawn }} from "node:child_process";\n\nconst COMMAND = {words};\n'
        f"const AGENT = {json.dumps(agent)};\n\n{SPAWN}\n{body}"
    )
    told = f"(`passdown hooks install {agent}`); `passdown hooks uninstall {agent}` removes it."
    return f"// Written by passdown {command.version or '?'} {told} sha256:{_digest(script)}\n{script}"


def uninstall_script(text: str, where: str = "") -> str:
    """Return nothing for a file of ours, the text itself for another. Raises `ConflictError` when it was edited."""
    if not _HEADER.match(text):
        return text
    _check(text, where)
    return ""


def installed_script(text: str, agent: str, events: tuple[str, ...]) -> list[OwnLine]:
    """Return the command lines the script runs, none when it is not ours."""
    match = _COMMAND.search(text) if _HEADER.match(text) else None
    try:
        words = json.loads(match[1]) if match else None
    except ValueError:
        return []
    if not isinstance(words, list) or len(words) != 4 or not all(isinstance(word, str) for word in words):
        return []
    command = HookCommand(words[0], words[3])
    return [own for event in events if (own := read_line(command.line(agent, event)))]


def _check(text: str, where: str) -> None:
    match = _HEADER.match(text)
    if match is None:
        raise ConflictError("is there and was not written by passdown", where=where, next_step="Move it away.")
    if match[1] != _digest(text[match.end() :]):
        raise ConflictError("was edited after passdown wrote it", where=where, next_step="Remove it by hand.")


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode("utf-8", "surrogateescape")).hexdigest()
