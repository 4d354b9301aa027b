"""A file that was made and taken away again by its absolute path is no claim."""

from __future__ import annotations

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import RepositoryFacts
from passdown.model.session import AnyEvent, SessionRef, SessionStart, ToolCall, ToolResult, UserMessage
from passdown.packet.build import build_packet


def test_a_file_removed_by_its_absolute_path_is_not_claimed() -> None:
    events: list[AnyEvent] = [
        SessionStart(session_id="s", agent="chat", cwd="/testbed"),
        UserMessage(text="Mend the rounding in src/limits.py."),
        ToolCall(call_id="1", tool="write", action="write", paths=("/testbed/probe.py",)),
        ToolResult(call_id="1", outcome="ok"),
        ToolCall(call_id="2", tool="bash", action="run", command="rm -f /testbed/probe.py"),
        ToolResult(call_id="2", outcome="ok", exit_code=0),
    ]
    ref = SessionRef(agent="chat", path="", session_id="s", cwd="/testbed")
    packet = build_packet(collect_evidence(RepositoryFacts(root="/testbed"), None, [(ref, events)]))
    assert packet.changed_files == []
    kept = build_packet(collect_evidence(RepositoryFacts(root="/testbed"), None, [(ref, events[:4])]))
    assert [(file.path, file.status) for file in kept.changed_files] == [("probe.py", "=")]
