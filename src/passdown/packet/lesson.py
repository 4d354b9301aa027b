"""The packet in the shape of the course's lesson 40: seven fields, the task, and the trimmed log."""

from __future__ import annotations

from typing import Any

from passdown.model.packet import Packet


def export_lesson(packet: Packet) -> dict[str, Any]:
    """Return the seven fields with their names and shapes of lesson 40, plus `task_id` and `feedback_tail`.

    Objects are flattened to what that lesson's readers expect; nothing is added that the packet does not say.
    """
    pointer = packet.verdict_pointer
    return {
        "task_id": packet.task_id,
        "summary": packet.summary,
        "changed_files": [file.path for file in packet.changed_files if file.status != "="],
        "commands_run": [command.cmd for command in packet.commands_run],
        "failed_attempts": [f"{attempt.what} -> {_exit(attempt.exit)}" for attempt in packet.failed_attempts],
        "open_risks": [{"severity": risk.severity, "detail": risk.detail} for risk in packet.open_risks],
        "next_action": packet.next_action.text,
        "verdict_pointer": {
            "verdict": pointer.verification.path if pointer.verification else None,
            "review": pointer.review.path if pointer.review else None,
        },
        "feedback_tail": [
            {
                "command": entry.cmd,
                "exit_code": entry.exit,
                "duration_ms": entry.duration_ms,
                "stdout_tail": entry.out,
                "stderr_tail": entry.err,
                "agent_note": entry.note,
            }
            for entry in packet.feedback_tail
        ],
    }


def _exit(code: int | None) -> str:
    return "no result" if code is None else f"exit {code}"
