"""A Claude Code log read once: the same events as by two looks, or word that it may not be straight."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest
from claude_code_log import OWN, Log, events_of

from passdown.agents.claude_code.sessions import read, read_sparing
from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import Evidence, RepositoryFacts
from passdown.model.session import AnyEvent, SessionRef, TakenBackError
from passdown.sessions.read import read_ref


def once(path: Path) -> list[AnyEvent]:
    return list(read_sparing(SessionRef(agent="claude_code", path=str(path), session_id=""), lambda _: True))


def write(log: Log, folder: Path, *more: bytes) -> Path:
    path = folder / f"{OWN}.jsonl"
    path.write_bytes(log.bytes() + b"".join(more))
    return path


def evidence(path: Path, *, sparing: bool) -> Evidence:
    ref = SessionRef(agent="claude_code", path=str(path), session_id=path.stem)
    return collect_evidence(RepositoryFacts(root="/w"), sessions=[(ref, partial(read_ref, ref) if sparing else read(ref))])  # fmt: skip


def test_a_straight_log_is_read_once(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    first = log.call("Read", "t1", {})
    log.add("progress", parentUuid=first, data={"type": "hook_progress", "hookEvent": "PostToolUse"})
    log.result("t1", "a", parentUuid=first)
    log.prompt("[Request interrupted by user]", parentUuid=None)
    hook = log.add("progress", data={"type": "hook_progress", "hookEvent": "Stop"})
    log.prompt("More.", parentUuid=hook)
    path = write(log, tmp_path, b'{"type":"user","uuid":"torn","message":{"con')
    assert once(path) == events_of(path)


def test_an_edited_prompt_is_noticed_and_then_told(log: Log, tmp_path: Path) -> None:
    log.prompt("First.")
    tip = log.say("Done.")
    log.prompt("Wrong turn.")
    log.call("Bash", "t1", {"command": "rm x"}, "msg_2")
    log.result("t1", "")
    log.prompt("Right turn.", parentUuid=tip)
    path = write(log, tmp_path)
    with pytest.raises(TakenBackError):
        once(path)
    spared = evidence(path, sparing=True)
    assert spared == evidence(path, sparing=False)
    assert [directive.text for directive in spared.directives] == ["First.", "Right turn."]


@pytest.mark.parametrize("late", [False, True])
def test_a_second_beginning_is_noticed(log: Log, tmp_path: Path, late: bool) -> None:
    first = log.prompt("First try.")
    log.say("Hm.", parentUuid=None if late else first)
    log.prompt("Second try.", parentUuid=None)
    log.add("progress", parentUuid=first, data={"type": "hook_progress"})
    with pytest.raises(TakenBackError):
        once(write(log, tmp_path))


def test_a_prompt_in_a_row_of_a_wrong_shape_is_noticed(log: Log, tmp_path: Path) -> None:
    log.prompt("First.")
    log.prompt("Second.", version=7)
    with pytest.raises(TakenBackError):
        once(write(log, tmp_path))


def test_logs_of_any_shape(tmp_path: Path) -> None:
    dice = random.Random(5)
    straight = bent = 0
    for _ in range(250):
        log, ids = Log(), [None]
        wild = dice.choice([0.0, 0.1, 0.9])
        for number in range(dice.randint(4, 14)):
            parent = dice.choice([*ids, "lost"]) if dice.random() < wild else ids[-1]
            match dice.choice(["prompt", "say", "tick", "command", "result", "side"]):
                case "prompt":
                    ids.append(log.prompt(f"Do {number}.", parentUuid=parent))
                case "command":
                    ids.append(log.prompt("<command-name>/x</command-name>", parentUuid=parent))
                case "tick":
                    ids.append(log.add("progress", parentUuid=parent, data={"type": "bash_progress"}))
                case "result":
                    ids.append(log.result(f"t{number}", "x", parentUuid=parent))
                case "side":
                    log.prompt("Inner.", isSidechain=True, agentId="a", parentUuid=parent)
                case _:
                    ids.append(log.say("Yes.", f"m{number}", parentUuid=parent))
        path = write(log, tmp_path)
        whole = events_of(path)
        try:
            events = once(path)
        except TakenBackError:
            bent += 1
            continue
        assert events == whole
        assert all(event.active for event in whole)
        straight += 1
    assert straight > 100
    assert bent > 40


def test_evidence_of_real_sessions_is_the_same(corpus: Path) -> None:
    bent = 0
    for path in sorted((corpus / "claude-code").glob("*.jsonl")):
        assert evidence(path, sparing=True) == evidence(path, sparing=False), path.name
        try:
            once(path)
        except TakenBackError:
            bent += 1
    assert bent < 3
