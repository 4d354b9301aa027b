"""Exercise 2: the asymmetric trimming of the command log, with every stated edge case."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.model.evidence import Evidence, RepositoryFacts, SessionUse, Source, TestFacts
from passdown.model.workbench import Contract, Verification, Workbench
from passdown.packet.build import build_packet
from passdown.packet.tokens import estimate_tokens


def passed(make_evidence, chains, **fields):  # type: ignore[no-untyped-def]
    return build_packet(make_evidence(chains=tuple(chains), tests=TestFacts(state="green"), **fields))


def failed(make_evidence, chains, **fields):  # type: ignore[no-untyped-def]
    return build_packet(make_evidence(chains=tuple(chains), **fields))


def shape(packet):  # type: ignore[no-untyped-def]
    return [(entry.line, entry.kind, entry.count) for entry in packet.feedback_tail]


def test_passed_run_is_a_receipt(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain(f"ls {i}", make_run(i, 0, stdout_tail="out", note="expected")) for i in range(1, 8)]
    chains.append(make_chain("pytest -x", make_run(2, 1, error_line="E"), make_run(3, 0), acceptance=True))
    packet = passed(make_evidence, chains)
    assert packet.outcome == "passed"
    assert shape(packet) == [(2, "resolved", 1), (3, "receipt", 1), (5, "tail", 1), (6, "tail", 1), (7, "tail", 1)]
    assert not any(entry.out or entry.err for entry in packet.feedback_tail)
    assert packet.feedback_tail[0].note == "1 failed of 2 runs; passes now"
    assert packet.omitted["feedback_tail"] == 4


def test_failed_run_keeps_the_work(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    failing = [
        make_run(line, 1, error_line=f"E at line {line}", stderr_tail="x\nboom", note="green") for line in (5, 6, 9)
    ]
    chains = [make_chain(f"ls {i}", make_run(i + 20, 0)) for i in range(10)]
    chains.append(make_chain("pytest -x", make_run(1, 0), *failing, acceptance=True))
    packet = failed(make_evidence, chains)
    assert shape(packet)[:2] == [(1, "anchor", 1), (9, "failure", 3)], "equal failures count as one, numbers masked"
    assert [entry.kind for entry in packet.feedback_tail[2:]] == ["tail"] * 8
    assert (packet.feedback_tail[1].err, packet.feedback_tail[1].note) == ("x\nboom", "green")


def test_first_and_last_of_a_chain(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    words = ["apple", "pear", "plum", "fig", "fig"]
    runs = [make_run(line, 1, error_line=word) for line, word in enumerate(words, start=1)]
    packet = failed(make_evidence, [make_chain("pytest", *runs)])
    assert shape(packet) == [(1, "failure", 1), (5, "failure", 4)]


def test_no_result_is_a_failure(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    packet = failed(make_evidence, [make_chain("make", make_run(1, None), make_run(2, None))])
    assert shape(packet) == [(2, "failure", 2)]
    assert packet.failed_attempts[0].exit is None


def test_regression_is_unresolved(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    packet = failed(
        make_evidence, [make_chain("pytest", make_run(1, 1, error_line="a"), make_run(2, 0), make_run(3, 1))]
    )
    assert [entry.kind for entry in packet.feedback_tail] == ["failure", "anchor", "failure"]
    assert not packet.failed_attempts[0].resolved


def test_expected_exits_are_answers(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    packet = failed(make_evidence, [make_chain("rg x", make_run(1, 1, expected=True), final="ok", failures=0)])
    assert packet.failed_attempts == []
    assert shape(packet) == [(1, "tail", 1)]


def test_two_directories_are_two_chains(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain("make", make_run(i, i % 2), cwd=cwd, key=f"{cwd}\nmake") for i, cwd in ((1, "a"), (2, "b"))]
    packet = failed(make_evidence, chains)
    assert [(c.cwd, c.last_exit) for c in packet.commands_run] == [("a", 1), ("b", 0)]


def test_signals_are_named(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain(f"sleep {code}", make_run(code, code)) for code in (130, 137, 143)]
    labels = [entry.label for entry in failed(make_evidence, chains).feedback_tail]
    assert labels == ["interrupted", "killed", "terminated"]


def test_truncated_chain_is_said(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    packet = failed(make_evidence, [make_chain("make", make_run(1, 1), truncated_chain=True, total=9, failures=8)])
    assert packet.feedback_tail[0].truncated_chain
    assert shape(packet) == [(1, "failure", 8)]
    assert packet.omitted["feedback_tail"] == 1


def test_own_commands_do_not_count(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain("uv run passdown wrap", make_run(1, 3)), make_chain("/usr/bin/passdown check", make_run(2, 1))]
    packet = failed(make_evidence, chains)
    assert (packet.feedback_tail, packet.commands_run, packet.failed_attempts) == ([], [], [])


def test_empty_log_with_acceptance_is_a_risk(make_evidence) -> None:  # type: ignore[no-untyped-def]
    bench = Workbench(
        contract=Contract(goal="g", acceptance_criteria=("pytest",)), verification=Verification(passed=True)
    )
    packet = build_packet(make_evidence(workbench=bench))
    assert packet.feedback_tail == []
    assert ("feedback.missing", "block") in [(risk.code, risk.severity) for risk in packet.open_risks]
    assert packet.outcome == "unknown"


def test_file_order_not_time(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain("b", make_run(2, 1, at=5)), make_chain("a", make_run(1, 1, at=9))]
    assert [entry.cmd for entry in failed(make_evidence, chains).feedback_tail] == ["a", "b"]


def test_logs_follow_their_sessions(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    sessions = tuple(SessionUse(agent="pi", session_id=name, started_at=at) for name, at in (("s2", 20), ("s1", 10)))
    later = make_run(1, 1, source=Source(kind="session", path="s2", line=1))
    packet = failed(make_evidence, [make_chain("b", later), make_chain("a", make_run(99, 1))], sessions=sessions)
    assert [entry.cmd for entry in packet.feedback_tail] == ["a", "b"]


def test_cap_drops_resolved_then_tail_then_others_failures(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain(f"make {i}", make_run(i, 1), kind="build") for i in range(1, 40)]
    chains += [make_chain(f"lint {i}", make_run(50 + i, 1), make_run(100 + i, 0), kind="lint") for i in range(10)]
    chains.append(make_chain("pytest", make_run(45, 1), acceptance=True))
    packet = failed(make_evidence, chains)
    kinds = [entry.kind for entry in packet.feedback_tail]
    assert len(kinds) == 30
    assert set(kinds) == {"failure"}
    assert packet.feedback_tail[-1].cmd == "pytest"
    assert packet.feedback_tail[0].cmd == "make 11"
    assert sum(entry.count for entry in packet.feedback_tail) + packet.omitted["feedback_tail"] == 60


def test_output_is_bounded(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    noise = "\n".join(f"line {i} " + "é" * 300 for i in range(100))
    chains = [make_chain(f"make {i}", make_run(i, 1, stdout_tail=noise, stderr_tail=noise)) for i in range(1, 12)]
    packet = failed(make_evidence, chains)
    for entry in packet.feedback_tail:
        assert len(entry.err.encode()) <= 2048
        assert len(entry.out.splitlines()) <= 10
    cost = sum(estimate_tokens(t) for e in packet.feedback_tail for t in (e.cmd, e.note, e.out, e.err))
    assert cost <= 1600


RUNS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 0, 1, 2, None])), max_size=60)


@settings(max_examples=60, deadline=None)
@given(RUNS, st.booleans())
def test_every_failure_is_represented_and_counts_are_exact(log: list[tuple[int, int | None]], green: bool) -> None:
    from passdown.model.evidence import CommandChain, CommandRun

    runs: dict[int, list[CommandRun]] = {}
    for line, (command, code) in enumerate(log, start=1):
        source = Source(kind="session", path="s1", line=line)
        runs.setdefault(command, []).append(
            CommandRun(command=f"c{command}", exit=code, source=source, error_line=f"e{line % 3}")
        )
    chains = tuple(
        CommandChain(
            key=f"c{name}", command=f"c{name}", runs=tuple(items), total=len(items), kind="other",
            failures=sum(r.exit != 0 for r in items), final="ok" if items[-1].exit == 0 else "failed",
        )
        for name, items in runs.items()
    )  # fmt: skip
    tests = TestFacts(state="green" if green else "not_run")
    packet = build_packet(Evidence(repository=RepositoryFacts(root="/x"), chains=chains, tests=tests))
    assert sum(e.count for e in packet.feedback_tail) + packet.omitted.get("feedback_tail", 0) == len(log)
    failures = sum(code != 0 for _, code in log)
    assert sum(e.count for e in packet.feedback_tail if e.kind in ("failure", "resolved")) == failures
    lines = [entry.line for entry in packet.feedback_tail]
    assert lines == sorted(lines)


def test_shuffled_chains_give_the_same_packet(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    chains = [make_chain(f"make {i}", make_run(i, i % 3)) for i in range(1, 20)]
    one = failed(make_evidence, chains)
    assert failed(make_evidence, reversed(chains)) == one
    assert structs.replace(one) == one
