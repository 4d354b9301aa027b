"""What a packet makes of results as harnesses write them: output in JSON, and tests that were looked for in vain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import RepositoryFacts
from passdown.model.packet import Packet
from passdown.model.session import AnyEvent, ToolResult
from passdown.packet.build import build_packet
from passdown.sessions.read import read_ref, refer_to

Told = Callable[..., list[AnyEvent]]
RED = "F.\nFAILED tests/test_slug.py::test_truncate - AssertionError\n1 failed, 1 passed in 0.11s\n"
GONE = "ERROR: file or directory not found: tests/test_no.py\n\n============ no tests ran in 0.01s ============\n"
GREEN = "tests/test_slug.py .. [100%]\n============ 2 passed in 0.12s ============\n"


def run(*steps: tuple[str, int, str], form: str = "json") -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "."}, {"role": "user", "content": "Mend truncate."}]
    for number, (command, code, output) in enumerate(steps):
        call = {"id": f"c{number}", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
        messages.append({"role": "assistant", "content": "I look.", "tool_calls": [call]})
        text = json.dumps({"returncode": code, "output": output}, indent=2) if form == "json" else output
        extra = {"raw_output": output, "returncode": code}
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text, "extra": extra})
    return messages


def packet(path: Path, messages: list[dict[str, Any]]) -> Packet:
    path.write_text(json.dumps({"info": {"mini_version": "2.4.6"}, "messages": messages}))
    ref = refer_to(path)
    facts = RepositoryFacts(root="/x", branch="main", head="a" * 40)
    return build_packet(collect_evidence(facts, sessions=[(ref, read_ref(ref))]))


def test_output_in_json_is_read_as_the_output(written: Told, tmp_path: Path) -> None:
    messages = run(("python3 -m pytest -q", 1, RED))
    [result] = [e for e in written({"messages": messages}, agent="mini_swe_agent") if isinstance(e, ToolResult)]
    assert (result.exit_code, result.text) == (1, RED.rstrip("\n"))
    made = packet(tmp_path / "run.traj.json", messages)
    assert made.tests.failing == ["tests/test_slug.py::test_truncate"]
    assert made.next_action.text == "Make `tests/test_slug.py::test_truncate` pass"


def test_why_a_command_did_not_run_stands_behind_its_output(written: Told) -> None:
    messages = run(("make", 0, ""))
    said = {"returncode": -1, "output": "half\n", "exception_info": "action was not executed"}
    for text, expected in (
        (json.dumps(said), "half\naction was not executed"),
        ('{"returncode": 0, "output": 7}', '{"returncode": 0, "output": 7}'),
        ('{"returncode": 0, "output": "cut', '{"returncode": 0, "output": "cut'),
    ):
        messages[-1]["content"] = text
        [result] = [e for e in written({"messages": messages}, agent="mini_swe_agent") if isinstance(e, ToolResult)]
        assert result.text == expected


def test_tests_that_were_looked_for_in_vain_are_no_failure_once_others_ran(tmp_path: Path) -> None:
    vain, ran = (
        ("python -m pytest tests/test_no.py | head -50", 0, GONE),
        ("python -m pytest tests/test_slug.py", 0, GREEN),
    )
    assert packet(tmp_path / "one.traj.json", run(vain, ran)).tests.state == "green"
    alone = packet(tmp_path / "two.traj.json", run(vain))
    assert (alone.tests.state, alone.next_action.command) == ("error", "python -m pytest tests/test_no.py")


def test_the_command_that_decided_is_the_one_to_make_pass(tmp_path: Path) -> None:
    """A failing run whose exit code a filter hides is no failed command, yet it is what has to pass."""
    other = ("python tests/check_words.py && python3 tests/test_words.py", 0, "OK\n")
    made = packet(
        tmp_path / "run.traj.json", run(("pytest tests/test_slug.py | tail -5", 0, RED.replace("FAILED ", "F ")), other)
    )
    assert made.tests.state == "red"
    assert made.next_action.command == "pytest tests/test_slug.py"


HERE = "cat > {0} << 'EOF'\nimport os\nassert os.sep\nEOF\npython {0}"


def test_a_script_written_in_the_same_call_is_no_part_of_the_command(tmp_path: Path) -> None:
    trace = "Traceback (most recent call last):\nAssertionError\n"
    made = packet(tmp_path / "one.traj.json", run((HERE.format("test_output.py"), 1, trace)))
    assert made.tests.commands == ["python test_output.py"]
    assert made.next_action.command == "python test_output.py"
    again = run((HERE.format("test_output.py"), 1, trace), (HERE.format("test_output.py").replace("os", "sys"), 0, ""))
    assert packet(tmp_path / "two.traj.json", again).tests.state == "green"


def test_of_several_failing_commands_the_one_that_decided_has_to_pass(tmp_path: Path) -> None:
    django = "python -m django test admin_scripts -v 2"
    steps = (
        (HERE.format("test_output.py"), 1, "AssertionError\n"),
        (django, 1, "Ran 10 tests in 0.013s\n\nFAILED (failures=1)\n"),
    )
    assert packet(tmp_path / "run.traj.json", run(*steps)).next_action.command == django
