"""feedback_record.jsonl: variants of its rows, rotation, torn lines, bounds."""

from __future__ import annotations

import json
import shlex
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.workbench.feedback import MAX_ROWS, MAX_TEXT, _command

LOG = "feedback_record.jsonl"


def test_a_row_of_lesson_37(bench: Any) -> None:
    bench.rows(
        LOG,
        {
            "command_id": "0123456789ab",
            "parent_command_id": "ba9876543210",
            "command": ["pytest", "-k", "a or b"],
            "stdout_tail": "out",
            "stderr_tail": "err",
            "exit_code": 1,
            "duration_ms": 12,
            "started_at": 1760000000.123,
            "agent_note": "expect red",
            "error": None,
            "truncations": {"stdout": 0, "stderr": 0},
            "redactions": {"stdout": 0, "stderr": 0},
        },
    )
    (row,) = bench.load().feedback
    assert (row.command, row.argv) == ("pytest -k 'a or b'", ("pytest", "-k", "a or b"))
    assert (row.command_id, row.parent_command_id) == ("0123456789ab", "ba9876543210")
    assert (row.exit_code, row.duration_ms, row.started_at) == (1, 12, 1760000000123)
    assert (row.stdout_tail, row.stderr_tail, row.agent_note, row.error) == ("out", "err", "expect red", "")
    assert (row.line, row.path) == (1, LOG)


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        ({"exit_code": None}, "exit_code", None),
        ({"exit_code": 0.0}, "exit_code", 0),
        ({"exit_code": -9}, "exit_code", -9),
        ({"returncode": 3}, "exit_code", 3),
        ({"exit": 4}, "exit_code", 4),
        ({"status": 5}, "exit_code", 5),
        ({"status": "ok"}, "exit_code", None),
        ({}, "exit_code", None),
        ({"ts": 1760000000}, "started_at", 1_760_000_000_000),
        ({"timestamp": 1760000000000}, "started_at", 1_760_000_000_000),
        ({"started_at": "2025-10-09T08:53:20Z"}, "started_at", 1_760_000_000_000),
        ({"started_at": "2025-10-09T10:53:20.5+02:00"}, "started_at", 1_760_000_000_500),
        ({"started_at": "2025-10-09 08:53:20"}, "started_at", 1_760_000_000_000),
        ({"started_at": "1760000000.25"}, "started_at", 1_760_000_000_250),
        ({"started_at": "yesterday"}, "started_at", None),
        ({"started_at": True}, "started_at", None),
        ({"started_at": -5}, "started_at", None),
        ({"started_at": 1e300}, "started_at", None),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, "started_at", None),
        ({"duration_ms": -1}, "duration_ms", None),
        ({"cwd": "src/./a"}, "cwd", "src/a"),
        ({"cwd": "."}, "cwd", ""),
        ({"cwd": 7}, "cwd", ""),
        ({"unknown": {"deep": []}, "task_id": "T-1"}, "task_id", "T-1"),
        ({"session_id": "s"}, "session_id", "s"),
        ({"stdout_tail": ["no text"]}, "stdout_tail", ""),
    ],
)
def test_variants_of_a_row(bench: Any, given: dict[str, Any], name: str, expected: Any) -> None:
    bench.rows(LOG, {"command": "make"} | given)
    loaded = bench.load()
    assert getattr(loaded.feedback[0], name) == expected and loaded.findings == ()


@pytest.mark.parametrize("exit_code", [True, "1", 1.5, 2**40, [0]])
def test_an_exit_code_that_is_none_is_no_success_and_reported(bench: Any, exit_code: Any) -> None:
    bench.rows(LOG, {"command": "make", "exit_code": exit_code})
    loaded = bench.load()
    assert loaded.feedback[0].exit_code is None
    assert [finding.code for finding in loaded.findings] == ["feedback.bad_exit"]
    assert loaded.feedback_skipped == 0


def test_an_absolute_folder_becomes_relative_and_a_foreign_one_is_left_out(bench: Any) -> None:
    rows = [
        {"command": "make", "cwd": cwd} for cwd in (str(bench.root), f"{bench.root}/sub/", "/somewhere/else", "../up")
    ]
    bench.rows(LOG, *rows)
    loaded = bench.load()
    assert [row.cwd for row in loaded.feedback] == ["", "sub", "", ""]
    assert [(finding.code, finding.severity) for finding in loaded.findings] == [("feedback.foreign_cwd", "info")]
    assert loaded.feedback_skipped == 0


@pytest.mark.parametrize("command", [None, "", "  ", [], {}, 5, [["nested"]]])
def test_a_row_without_a_command_is_left_out_and_counted(bench: Any, command: Any) -> None:
    bench.rows(LOG, {"command": command, "exit_code": 0}, {"command": "make", "exit_code": 0})
    loaded = bench.load()
    assert [row.line for row in loaded.feedback] == [2] and loaded.feedback_skipped == 1
    assert [finding.code for finding in loaded.findings] == ["feedback.no_command"]


def test_rotated_files_are_one_log_oldest_first(bench: Any) -> None:
    for name, count in ((f"{LOG}.5", 2), (f"{LOG}.3", 1), (f"{LOG}.1", 1), (LOG, 2), (f"{LOG}.6", 9)):
        bench.rows(name, *({"command": f"{name} {number}"} for number in range(count)))
    loaded = bench.load()
    assert [(row.line, row.command) for row in loaded.feedback] == [
        (1, f"{LOG}.5 0"),
        (2, f"{LOG}.5 1"),
        (3, f"{LOG}.3 0"),
        (4, f"{LOG}.1 0"),
        (5, f"{LOG} 0"),
        (6, f"{LOG} 1"),
    ]
    assert loaded.feedback[0].path == f"{LOG}.5"
    assert [item.path for item in loaded.artifacts] == [LOG, f"{LOG}.1", f"{LOG}.3", f"{LOG}.5"]


def test_a_rotated_log_without_a_live_one_is_read(bench: Any) -> None:
    bench.rows(f"{LOG}.1", {"command": "make"})
    assert len(bench.load().feedback) == 1


def test_a_torn_line_inside_a_rotated_file_still_counts_as_a_line(bench: Any) -> None:
    bench.put(f"{LOG}.1", '{"command": "a"}\n\n{"command": "b')
    bench.put(LOG, '{"command": "c"}\n{"command": "d"}')
    loaded = bench.load()
    assert [(row.line, row.command) for row in loaded.feedback] == [(1, "a"), (4, "c"), (5, "d")]
    assert loaded.feedback_skipped == 1
    (finding,) = loaded.findings
    assert (finding.code, finding.where, finding.offset) == ("feedback.torn_line", f"{LOG}.1", 18)


def test_an_empty_log_is_not_an_absent_one(bench: Any) -> None:
    assert bench.load().feedback is None
    bench.put(LOG, "")
    assert bench.load().feedback == ()


def test_separators_inside_strings_do_not_split_a_row(bench: Any) -> None:
    bench.put(LOG, json.dumps({"command": "a\u2028b\u0085c", "exit_code": 0}, ensure_ascii=False) + "\n")
    assert bench.load().feedback[0].command == "a\u2028b\u0085c"


def test_a_row_with_bad_bytes_is_repaired_and_reported(bench: Any) -> None:
    bench.put(LOG, b'{"command": "echo \xff \\ud800", "exit_code": NaN}\r\n{"command": "a"}{"command": "b"}\n')
    loaded = bench.load()
    assert [row.command for row in loaded.feedback] == ["echo \ufffd \ufffd", "a", "b"]
    assert [(finding.code, finding.severity) for finding in loaded.findings] == [("feedback.repaired_line", "info")]


def test_only_the_newest_rows_are_kept_and_the_rest_counted(bench: Any) -> None:
    total = MAX_ROWS + 123
    bench.put(LOG, b"".join(b'{"command": "run %d", "exit_code": 0}\n' % number for number in range(1, total + 1)))
    loaded = bench.load()
    assert len(loaded.feedback) == MAX_ROWS
    assert (loaded.feedback[0].line, loaded.feedback[-1].line) == (124, total)
    assert loaded.feedback[0].command == "run 124"
    assert loaded.extra == {"feedback.older_rows": "123"}


def test_memory_is_bounded_whatever_the_output_held(bench: Any) -> None:
    row = {"command": "make", "stdout_tail": "x" * 500_000, "stderr_tail": "y" * 400_000}
    bench.rows(LOG, *([row] * 60))
    tracemalloc.start()
    loaded = bench.load()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(len(item.stdout_tail) + len(item.stderr_tail) for item in loaded.feedback)
    assert kept <= MAX_TEXT and peak < 48 << 20
    assert int(loaded.extra["feedback.older_rows"]) + len(loaded.feedback) == 60
    assert loaded.feedback[-1].line == 60


def test_two_logs_in_two_places_are_ambiguous(bench: Any) -> None:
    bench.rows(LOG, {"command": "a"})
    bench.rows(f"workdir/{LOG}", {"command": "b"})
    loaded = bench.load()
    assert [row.command for row in loaded.feedback] == ["a"]
    assert [finding.code for finding in loaded.findings] == ["artifact.ambiguous"]


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1, max_size=6))
@settings(deadline=None)
def test_an_argv_list_survives_as_text_that_splits_back(argv: list[str]) -> None:
    text, kept = _command(argv)
    assert list(kept) == argv and shlex.split(text) == argv
