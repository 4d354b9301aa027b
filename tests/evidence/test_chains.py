"""Command chains: identity, outcome, regressions, links, bounds."""

from __future__ import annotations

import pytest

from passdown.evidence.chains import MAX_CHAINS, MAX_WAITING
from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import RepositoryFacts
from passdown.model.session import ToolCall, ToolResult
from passdown.model.workbench import Contract


def test_one_chain_whatever_hides_the_output(log) -> None:
    log.run("cd /srv/project && npm run check 2>&1 | tail -5", 0, "ok")
    log.run("npm run check", 1, "src/a.ts(1,2): error TS2304: Cannot find name 'x'.")
    log.run("CI=1 npm run check 2>/dev/null || true", 0, "fine")
    (chain,) = log.evidence().chains
    assert (chain.total, chain.failures, chain.final, chain.kind) == (3, 1, "ok", "lint")


def test_two_directories_are_two_chains(log) -> None:
    log.run("cd packages/a && pytest", 1, "1 failed in 0.1s")
    log.run("cd packages/b && pytest", 0, "1 passed in 0.1s")
    log.run("pytest", 0, "2 passed in 0.1s", cwd="/srv/project/packages/a")
    found = {chain.cwd: chain for chain in log.evidence().chains}
    assert set(found) == {"packages/a", "packages/b"}
    assert found["packages/a"].final == "ok"
    assert found["packages/a"].total == 2


def test_success_then_failure_is_a_regression(log) -> None:
    log.run("make build", 0)
    log.run("make build", 2, "make: *** [all] Error 2")
    chain = log.chain("make build")
    assert (chain.final, chain.failures, chain.total) == ("failed", 1, 2)
    assert [run.result for run in chain.runs] == ["ok", "failed"]


def test_identical_failures_merge_into_counts_and_four_runs(log) -> None:
    log.run("pytest", 0, "1 passed in 0.1s")
    for number in range(200):
        log.run("pytest", 1, f"E   assert {number} == 0\n1 failed in 0.1s")
    chain = log.chain("pytest")
    assert (chain.total, chain.failures) == (201, 200)
    assert [run.result for run in chain.runs] == ["ok", "failed", "failed"]
    assert [run.error_line for run in chain.runs[1:]] == ["E assert 0 == 0", "E assert 199 == 0"]
    assert log.evidence().omitted["runs"] == 198


def test_tails_are_kept_for_failures_only(log) -> None:
    log.run("pytest", 1, "x" * 50_000 + "\n1 failed in 0.1s")
    log.run("pytest", 0, "y" * 50_000)
    failed, passed = log.chain("pytest").runs
    assert 0 < len(failed.stdout_tail) <= 2000
    assert passed.stdout_tail == ""


def test_failures_are_named_however_much_they_printed(log) -> None:
    size = MAX_WAITING // 6
    for number in range(20):
        log.run(f"make part{number % 10}", 2, "x" * size + f"\nerror: number {number} is not there")
    runs = [run for chain in log.evidence().chains for run in chain.runs]
    assert [run.error_line for run in runs] == [
        f"error: number {number} is not there" for part in range(10) for number in (part, part + 10)
    ]
    assert all(0 < len(run.stdout_tail) <= 2000 for run in runs)


def test_a_failure_that_was_expected_is_named_without_its_output(log) -> None:
    log.run("grep -rn limit src nowhere", 2, "grep: nowhere: No such file or directory\nsrc/a.py:1:limit = 1")
    (run,) = log.chain("grep -rn limit src nowhere").runs
    assert (run.expected, run.error_line, run.stdout_tail) == (True, "grep: nowhere: No such file or directory", "")


def test_tried_after_lists_edits_and_commands_once(log) -> None:
    log.run("pytest", 1, "1 failed in 0.1s")
    log.edit("/srv/project/src/x.py")
    log.edit("/srv/project/src/x.py")
    log.run("ls src")
    log.run("pip install foo")
    log.edit("/elsewhere/y.py")
    log.run("pytest", 0, "1 passed in 0.1s")
    log.edit("/srv/project/src/later.py")
    assert log.chain("pytest").tried_after == ("edit src/x.py", "run pip install foo")


@pytest.mark.parametrize(
    ("command", "ended"),
    [("sed -i s/a/b/ a.py && mkdir -p out", "ok"), ("python mend.py", "unknown"), ("pytest -q", "unknown")],
)
def test_an_answer_without_a_word_is_success_of_what_has_none_to_say(log, command, ended) -> None:
    log.run(command, exit_code=None, outcome="unknown")
    assert log.chain(command).final == ended


def test_no_result_is_unknown_and_a_failure(log) -> None:
    log.begin("pytest -k slow")
    chain = log.chain("pytest -k slow")
    assert (chain.final, chain.failures, chain.runs[0].exit) == ("unknown", 1, None)


def test_interrupted_and_rejected_are_no_failures(log) -> None:
    log.run("pytest", None, outcome="interrupted")
    log.run("rm -rf build", None, outcome="rejected")
    for chain in log.evidence().chains:
        assert chain.failures == 0
        assert chain.final == "unknown"


def test_background_command_ends_when_its_poll_says_so(log) -> None:
    log.run("npm run build", None, "Process running with session ID 77\nOutput:\n", outcome="running")
    call = "poll"
    log.add(
        ToolCall, call_id=call, tool="write_stdin", action="run", command="npm run build", arguments={"session_id": 77}
    )
    log.add(
        ToolResult, call_id=call, outcome="failed", exit_code=1, text="Process exited with code 1\nOutput:\nerror: bad"
    )
    chain = log.chain("npm run build")
    assert (chain.total, chain.failures, chain.final) == (1, 1, "failed")
    assert chain.runs[0].error_line == "error: bad"


def test_still_running_is_neither(log) -> None:
    log.run("npm run dev", None, "Command running in background with ID: b1", outcome="running")
    (chain,) = log.evidence().chains
    assert (chain.failures, chain.final, chain.runs[0].result) == (0, "unknown", "running")


def test_a_late_result_finds_its_command_by_the_call_too(log) -> None:
    call = log.begin("make docs")
    log.add(
        ToolResult, call_id=call, outcome="running", text="Command running in background with ID: b52e. Output: /x/b52e"
    )
    log.add(
        ToolResult, call_id=call, outcome="ok", exit_code=0, text='Background command "docs" completed (exit code 0)'
    )
    (chain,) = log.evidence().chains
    assert (chain.final, chain.runs[0].exit) == ("ok", 0)


def test_rewound_commands_are_attempts_but_no_state(log) -> None:
    log.run("pytest", 1, "1 failed in 0.1s")
    log.run("pytest", 0, "1 passed in 0.1s", active=False)
    log.run("make", 2, "make: *** [all] Error 2", active=False)
    found = {chain.command: chain for chain in log.evidence().chains}
    assert found["pytest"].final == "failed"
    assert (found["make"].failures, found["make"].final) == (1, "unknown")


def test_copied_history_is_not_evidence_and_subagents_are(log) -> None:
    log.run("make", 2, "make: *** [all] Error 2", copied=True)
    log.run("cargo build", 101, "error: could not compile `x`", agent_id="sub")
    assert [chain.command for chain in log.evidence().chains] == ["cargo build"]


def test_own_commands_leave_no_trace(log) -> None:
    log.run("make", 0)
    before = log.evidence()
    log.say("Now the handover.")
    log.run("cd /srv/project && uv run passdown wrap", 3, "blocked")
    log.run("python -m passdown status", 0)
    log.run("uvx passdown take", 0)
    after = log.evidence()
    assert after.chains == before.chains
    assert after.as_of == before.as_of
    assert after.omitted == before.omitted
    assert after.last_step == before.last_step


def test_since_leaves_older_runs_out(log) -> None:
    log.run("make old", 2, "make: *** [old] Error 2")
    since = log.clock
    log.run("make new", 0)
    assert [chain.command for chain in log.evidence(since=since).chains] == ["make new"]


def test_the_later_log_decides(make_log) -> None:
    first, second = make_log("s1"), make_log("s2", start=1_760_001_000_000)
    first.run("pytest", 1, "1 failed in 0.1s")
    second.run("pytest", 0, "1 passed in 0.1s")
    logs = [(second.ref, second.events), (first.ref, first.events)]
    evidence = collect_evidence(RepositoryFacts(root="/srv/project"), sessions=logs)
    (chain,) = evidence.chains
    assert chain.final == "ok"
    assert [run.source.path for run in chain.runs] == ["s1", "s2"]
    assert [use.primary for use in evidence.sessions] == [False, True]


def test_number_of_chains_is_bounded_and_failures_stay(log) -> None:
    log.run("make broken", 2, "make: *** [broken] Error 2")
    for number in range(MAX_CHAINS + 10):
        log.run(f"echo {number} > f{number}", 0)
    evidence = log.evidence()
    assert len(evidence.chains) <= MAX_CHAINS
    assert any(chain.command == "make broken" for chain in evidence.chains)
    assert len(evidence.chains) + evidence.omitted["chains"] == MAX_CHAINS + 11


# --- the feedback log ---------------------------------------------------------------------------------------------


def test_parent_links_make_one_chain_of_different_commands(feedback) -> None:
    evidence = feedback(
        {"command": "pytest tests", "command_id": "a", "exit_code": 1, "stderr_tail": "E   assert 1 == 2"},
        {"command": "pytest tests -x", "command_id": "b", "parent_command_id": "a", "exit_code": 0},
    )
    (chain,) = evidence.chains
    assert (chain.total, chain.failures, chain.final, chain.truncated_chain) == (2, 1, "ok", False)
    assert chain.command == "pytest tests -x"
    assert evidence.log_lines == 2


def test_cyclic_parents_are_cut(feedback) -> None:
    evidence = feedback(
        {"command": "make a", "command_id": "a", "parent_command_id": "b", "exit_code": 1},
        {"command": "make b", "command_id": "b", "parent_command_id": "a", "exit_code": 0},
        {"command": "make c", "command_id": "c", "parent_command_id": "c", "exit_code": 1},
    )
    assert [(chain.total, chain.final, chain.truncated_chain) for chain in evidence.chains] == [
        (2, "ok", False),
        (1, "failed", False),
    ]


def test_parent_rotated_away_is_marked(feedback) -> None:
    (chain,) = feedback({"command": "make", "command_id": "b", "parent_command_id": "gone", "exit_code": 1}).chains
    assert chain.truncated_chain


def test_null_exits_are_never_a_success(feedback) -> None:
    evidence = feedback(
        {"command": "pytest", "exit_code": None, "error": "timeout after 60 s"},
        {"command": "nosuch", "exit_code": None, "error": "missing binary"},
    )
    timed_out, missing = evidence.chains
    assert (timed_out.final, timed_out.failures, timed_out.runs[0].result) == ("unknown", 1, "timeout")
    assert (missing.final, missing.failures, missing.runs[0].error_line) == ("unknown", 1, "missing binary")


@pytest.mark.parametrize("code", [130, 137, 143])
def test_signals_are_failures(feedback, code: int) -> None:
    (chain,) = feedback({"command": "make", "exit_code": code}).chains
    assert (chain.final, chain.failures) == ("failed", 1)


def test_argv_and_text_are_the_same_command(feedback) -> None:
    evidence = feedback(
        {"command": "pytest 'a b'", "argv": ("pytest", "a b"), "exit_code": 1},
        {"command": "pytest 'a b'", "exit_code": 1},
        {
            "command": "pytest 'a b'",
            "argv": ("bash", "-lc", "pytest 'a b' | tail"),
            "exit_code": 0,
            "stdout_tail": "1 passed in 1s",
        },
    )
    (chain,) = evidence.chains
    assert chain.total == 3


def test_acceptance_chains_are_marked(feedback) -> None:
    evidence = feedback(
        {"command": "uv run pytest -x", "exit_code": 0},
        {"command": "make", "exit_code": 0},
        artifacts={"contract": Contract(acceptance_criteria=("pytest -x",))},
    )
    assert [chain.acceptance for chain in evidence.chains] == [True, False]


def test_passdowns_own_rows_are_dropped(feedback) -> None:
    assert feedback({"command": "passdown wrap", "exit_code": 3}).chains == ()
