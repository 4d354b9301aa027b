"""A rollout read for what was done alone: outputs that nobody reads are left out, and nothing that is known changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from codex_rows import Row, call, event, item, meta, of, prompt, row, said, shell, tokens

from passdown.agents.codex.sessions import read, read_sparing
from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import Evidence, RepositoryFacts
from passdown.model.session import SessionEnd, SessionRef, SessionStart, TakenBackError, ToolResult, Unknown, Usage
from passdown.sessions.read import read_ref

FINE = "Chunk ID: 1a2b\nWall time: 0.2500 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\n"
PASSED_ON = {"internal_chat_message_metadata_passthrough": {"turn_id": "019e-1"}}
OLD = "Exit code: 0\nWall time: 0.25 seconds\nOutput:\n"
Write = Callable[..., SessionRef]


def line(of_row: Row) -> bytes:
    return json.dumps(of_row, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes rows as Codex does, and raw lines, to a rollout."""

    def rollout(*rows: Any) -> SessionRef:
        path = tmp_path / "rollout.jsonl"
        path.write_bytes(b"".join((part if isinstance(part, bytes) else line(part)) + b"\n" for part in rows))
        return SessionRef(agent="codex", path=str(path), session_id="s")

    return rollout


def evidence(ref: SessionRef, *, sparing: bool, test_command: str = "") -> Evidence:
    events = partial(read_ref, ref) if sparing else read(ref)
    return collect_evidence(RepositoryFacts(root="/w"), sessions=[(ref, events)], test_command=test_command)


def results(ref: SessionRef, unread: Callable[[str], bool] = lambda _: True) -> list[ToolResult]:
    found: list[ToolResult] = of(list(read_sparing(ref, unread)), ToolResult)
    return found


@pytest.mark.parametrize("head", [FINE, OLD])
def test_a_fine_output_is_left_out_where_nobody_reads_it(write: Write, head: str) -> None:
    text = head + 'a "quoted" \\ line\nü\n'
    ref = write(meta(), *shell("c", "ls", text))
    [spared], [whole] = results(ref), results(ref, lambda _: False)
    assert (spared.text, whole.text) == ("", text)
    assert (spared.outcome, spared.exit_code, spared.duration_ms) == ("ok", 0, 250)
    assert (whole.outcome, whole.exit_code, whole.duration_ms) == ("ok", 0, 250)
    assert (spared.at, spared.line, spared.offset) == (whole.at, whole.line, whole.offset)


def test_an_output_that_says_its_turn_is_left_out_as_well(write: Write) -> None:
    started, ended = shell("c", "ls", FINE + "a\n")
    ended["payload"] |= PASSED_ON
    [spared], [whole] = results(write(meta(), started, ended)), results(write(meta(), started, ended), lambda _: False)
    assert (spared.text, whole.text) == ("", FINE + "a\n")
    assert (spared.outcome, spared.exit_code, spared.duration_ms) == (whole.outcome, 0, 250)
    ended["payload"] |= {"later": ["x"]}
    [known] = results(write(meta(), started, ended))
    assert known.text


@pytest.mark.parametrize(
    "output",
    [
        FINE.replace("code 0", "code 1") + "no such thing",
        FINE.replace("Process exited with code 0", "Process running with session ID 7"),
        "Exit code: 124\nWall time: 9 seconds\nOutput:\ncommand timed out after 9000 milliseconds\n",
        "exec command rejected by user: not that one",
        [{"type": "input_text", "text": FINE}],
        {"content": FINE, "success": True},
    ],
)
def test_every_other_output_is_read_whole(write: Write, output: Any) -> None:
    ref = write(meta(), *shell("c", "make", output))
    assert results(ref) == of(list(read(ref)), ToolResult)
    assert results(ref)[0].text


def test_what_the_events_say_wins(write: Write) -> None:
    def ended(code: int, status: str) -> list[Row]:
        started, output = shell("c", "make", FINE + "x")
        return [started, event("exec_command_end", call_id="c", exit_code=code, status=status), output]

    [failed] = results(write(meta(), *ended(3, "failed")))
    assert (failed.outcome, failed.exit_code, failed.text) == ("failed", 3, FINE + "x")
    [fine] = results(write(meta(), *ended(0, "completed")))
    assert (fine.outcome, fine.exit_code, fine.text) == ("ok", 0, "")


def test_an_edit_and_what_is_typed_into_a_program_are_read_whole(write: Write) -> None:
    typed = [call("w", "write_stdin", {"session_id": 7, "chars": "x"}), item("function_call_output", call_id="w", output=FINE)]  # fmt: skip
    listed = [call("l", "list_dir", {"dir_path": "/w"}), item("function_call_output", call_id="l", output=OLD)]
    assert [result.text for result in results(write(meta(), *typed, *listed))] == [FINE, OLD]


def test_a_row_that_another_was_glued_to_loses_nothing(write: Write) -> None:
    started, output = shell("c", "ls", FINE + "torn here")
    torn = line(output)[:-9] + line(said("user", "Mind the gap."))
    ref = write(meta(), started, torn)
    spared, whole = list(read_sparing(ref, lambda _: True)), list(read(ref))
    assert of(spared, Unknown) == of(whole, Unknown) != []
    assert spared == whole


def test_a_log_that_lost_its_beginning_starts_with_its_start(write: Write) -> None:
    ref = write(tokens(100, 100), tokens(200, 100), *shell("c", "ls", FINE))
    spared, whole = [list(events) for events in (read_sparing(ref, lambda _: True), read(ref))]
    assert isinstance(spared[0], SessionStart)
    assert spared[0] == whole[0]


def test_copies_of_answers_are_counted(write: Write) -> None:
    answers = [part for n in range(4) for part in (event("agent_message", message=f"{n}"), said("assistant", f"{n}"))]
    torn = line(event("agent_message", message="torn"))[:-5] + line(said("user", "Mind the gap."))
    ref = write(meta(), *prompt("Go."), *answers, torn)
    assert list(read_sparing(ref, lambda _: True)) == list(read(ref))


SEALED: dict[str, Any] = {"summary": [], "encrypted_content": "gAAAA_-=="}


@pytest.mark.parametrize(
    "thought",
    [
        SEALED,
        {"summary": [], "content": None, "encrypted_content": "gAAAA"},
        {"id": "rs_1", **SEALED, **PASSED_ON},
        {"summary": [{"type": "summary_text", "text": "So be it."}], "encrypted_content": "gAAAA"},
        {"summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}], "encrypted_content": "gAAAA"},
        {"summary": [], "encrypted_content": 'g"AAAA'},
        {"summary": []},
    ],
)
def test_a_thought_says_as_much_as_when_it_is_read(write: Write, thought: dict[str, Any]) -> None:
    rows = [meta(), *prompt("Go."), item("reasoning", **thought), said("user", "Mind the gap.")]
    torn = line(item("reasoning", **thought))[:-2] + line(said("user", "Mind that, too."))
    ref = write(*rows, item("reasoning", **thought), said("assistant", "Done."), torn)
    assert list(read_sparing(ref, lambda _: True)) == list(read(ref))


def test_tokens_are_told_together(write: Write) -> None:
    turn = row("turn_context", {"cwd": "/w", "model": "gpt-5.2"})
    rows = [meta(), turn, *prompt("Go."), *(tokens(100 * n, 100) for n in range(1, 6)), said("assistant", "Done.")]
    ref = write(*rows)
    spared, whole = [list(events) for events in (read_sparing(ref, lambda _: True), read(ref))]
    assert len(of(whole, Usage)) == 5
    first, last = of(spared, Usage)
    assert first == of(whole, Usage)[0]
    assert (last.model, last.at, last.line) == ("gpt-5.2", of(whole, Usage)[-1].at, of(whole, Usage)[-1].line)
    assert first.input + last.input == sum(usage.input for usage in of(whole, Usage)) == 500
    assert of(spared, SessionEnd) == of(whole, SessionEnd)


def test_evidence_is_the_same(write: Write) -> None:
    ref = write(
        meta(), row("turn_context", {"cwd": "/w", "model": "gpt-5.2"}), *prompt("Make the tests pass."),
        *shell("a", "cat setup.py", FINE + "error: not an error"), tokens(100, 100),
        *shell("b", "pytest -q", FINE + "3 passed in 0.1s"), tokens(300, 200),
        *shell("c", "npm test | tail -3", OLD + "1 failed, 2 passed"),
        *shell("d", "./prove", FINE + "2 failed"), *shell("e", "make lint", FINE.replace("code 0", "code 2") + "E1"),
        said("assistant", "The lint is left."), tokens(400, 100),
    )  # fmt: skip
    for command in ("", "./prove"):
        whole = evidence(ref, sparing=False, test_command=command)
        assert evidence(ref, sparing=True, test_command=command) == whole
        assert whole.tests.last_outcome is not None
    assert whole.tests.decided_by == "./prove"
    assert len(whole.chains) == 5


def test_evidence_is_the_same_where_prompts_were_taken_back(write: Write) -> None:
    ref = write(
        meta(), *prompt("Keep this."), *shell("a", "make one", FINE), *prompt("Forget this."),
        *shell("b", "make two", FINE), event("thread_rolled_back", num_turns=1), *prompt("Now that."),
        *shell("c", "make three", FINE),
    )  # fmt: skip
    with pytest.raises(TakenBackError):
        results(ref)
    spared = evidence(ref, sparing=True)
    assert spared == evidence(ref, sparing=False)
    assert [directive.text for directive in spared.directives] == ["Keep this.", "Now that."]
    assert spared.chains[1].final == "unknown"


def test_evidence_of_real_sessions_is_the_same(corpus: Path) -> None:
    left = rewound = 0
    for path in sorted((corpus / "codex").glob("*.jsonl")):
        ref = SessionRef(agent="codex", path=str(path), session_id=path.stem)
        spared = evidence(ref, sparing=True)
        assert spared == evidence(ref, sparing=False), path.name
        try:
            left += sum(result.outcome == "ok" and not result.text for result in results(ref))
        except TakenBackError:
            rewound += 1
    assert left > 500
    assert rewound < 3
