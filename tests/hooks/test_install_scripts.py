"""The generated extension and plugin, run by Node with a stand-in for the entry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.hook_command import HookCommand
from passdown.agents.table import TABLE, hooks_of

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node on this machine")

ROWS = {row.id: row for row in TABLE if row.hooks}
RECORDER = """import json, sys
payload = json.loads(sys.stdin.read())
with open({calls!r}, "a") as calls:
    calls.write(json.dumps([sys.argv[1], sys.argv[2], payload]) + "\\n")
if sys.argv[2] == "start":
    print("BRIEF " + payload["source"])
"""
PI = """
import extension from "./script.mjs";
const handlers = {};
extension({ on: (name, handler) => { handlers[name] = handler; } });
let entries = [{ type: "model_change" }];
const ctx = { cwd: "/w", sessionManager: { getSessionId: () => "s1", getSessionFile: () => "/w/s1.jsonl", getEntries: () => entries } };
const said = [];
await handlers.session_start({ reason: "startup" }, ctx);
said.push(await handlers.before_agent_start({}, ctx), await handlers.before_agent_start({}, ctx));
await handlers.agent_end({ messages: [{ stopReason: "stop" }] }, ctx);
entries = [{ type: "message" }];
await handlers.session_before_compact({}, ctx);
await handlers.session_compact({}, ctx);
said.push(await handlers.before_agent_start({}, ctx));
await handlers.agent_end({ messages: [{ stopReason: "error" }] }, ctx);
await handlers.agent_end({ messages: [{ stopReason: "aborted" }] }, ctx);
await handlers.session_shutdown({ reason: "reload" }, ctx);
await handlers.session_shutdown({ reason: "quit" }, ctx);
await handlers.session_start({ reason: "resume" }, ctx);
console.log(JSON.stringify(said.map((one) => one?.message?.content ?? null)));
"""
OPENCODE = """
import { Passdown } from "./script.mjs";
const on = await Passdown({ directory: "/w", worktree: "/w" });
const happens = (type, properties) => on.event({ event: { type, properties } });
const systemOf = async (id) => {
  const output = { system: ["theirs"] };
  await on["experimental.chat.system.transform"]({ sessionID: id }, output);
  return output.system;
};
const said = [];
await happens("session.created", { sessionID: "a", info: { id: "a" } });
await happens("session.created", { sessionID: "child", info: { id: "child", parentID: "a" } });
await on["chat.message"]({ sessionID: "a" });
await on["chat.message"]({ sessionID: "a" });
await on["chat.message"]({ sessionID: "child" });
said.push(await systemOf("a"), await systemOf("a"), await systemOf("child"));
await happens("session.idle", { sessionID: "child" });
await happens("session.idle", { sessionID: "a" });
await on["experimental.session.compacting"]({ sessionID: "a" }, {});
await happens("session.compacted", { sessionID: "a" });
said.push(await systemOf("a"));
await happens("session.error", { sessionID: "a", error: { name: "MessageAbortedError" } });
await happens("session.error", { sessionID: "a", error: { name: "APIError" } });
await happens("server.connected", {});
await on["chat.message"]({ sessionID: "b" });
await on.dispose();
console.log(JSON.stringify(said));
"""


def run(agent: str, driver: str, folder: Path, command: HookCommand) -> Any:
    (folder / "script.mjs").write_text(hooks_of(ROWS[agent]).install(None, command))
    (folder / "driver.mjs").write_text(driver)
    done = subprocess.run(["node", "driver.mjs"], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def recording(folder: Path) -> HookCommand:
    entry = folder / "entry.py"
    entry.write_text(RECORDER.format(calls=str(folder / "calls.jsonl")))
    return HookCommand(sys.executable, str(entry))


def recorded(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]


def test_pi_tells_of_each_event_and_hands_in_the_brief_once(tmp_path: Path) -> None:
    said = run("pi", PI, tmp_path, recording(tmp_path))
    assert said == ["BRIEF startup\n", None, "BRIEF compact\n"]
    calls = recorded(tmp_path)
    assert [(agent, event) for agent, event, _ in calls] == [("pi", event) for event in (
        "start", "stop", "compact", "compacted", "start", "error", "interrupt", "end", "start")]  # fmt: skip
    assert {(payload["session_id"], payload["transcript_path"], payload["cwd"]) for _, _, payload in calls} == {
        ("s1", "/w/s1.jsonl", "/w")
    }
    assert [payload["source"] for _, event, payload in calls if event == "start"] == ["startup", "compact", "resume"]


def test_opencode_tells_of_main_sessions_alone(tmp_path: Path) -> None:
    said = run("opencode", OPENCODE, tmp_path, recording(tmp_path))
    assert said == [
        ["theirs", "BRIEF startup\n"],
        ["theirs", "BRIEF startup\n"],
        ["theirs"],
        ["theirs", "BRIEF startup\n\n\nBRIEF compact\n"],
    ]
    calls = [(event, payload["session_id"]) for _, event, payload in recorded(tmp_path)]
    assert calls[:-2] == [("start", "a"), ("stop", "a"), ("compact", "a"), ("compacted", "a"), ("start", "a"),
                          ("interrupt", "a"), ("error", "a"), ("start", "b")]  # fmt: skip
    assert sorted(calls[-2:]) == [("end", "a"), ("end", "b")]


@pytest.mark.parametrize("agent", ["pi", "opencode"])
def test_an_interpreter_that_is_gone_or_ends_badly_harms_nobody(agent: str, tmp_path: Path) -> None:
    driver = {"pi": PI, "opencode": OPENCODE}[agent]
    said = run(agent, driver, tmp_path, HookCommand(str(tmp_path / "gone"), "/x/passdown/hooks/entry.py"))
    assert "BRIEF" not in json.dumps(said)
    bad = tmp_path / "bad"
    bad.write_text("#!/bin/sh\nexec 0<&-\nexit 3\n")
    bad.chmod(0o755)
    assert "BRIEF" not in json.dumps(run(agent, driver, tmp_path, HookCommand(str(bad), "/x/passdown/hooks/entry.py")))
