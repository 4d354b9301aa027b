"""Views as a successor gets them: what each one holds, under budgets, and always the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from passdown.data.prefix import cut
from passdown.data.records import Trajectory
from passdown.data.views.material import material_of
from passdown.data.views.options import Options
from passdown.data.views.oracle import build_oracle
from passdown.data.views.preamble import PREAMBLE, parts, whole
from passdown.data.views.table import NAMES, VIEWS, build_view, build_views, views_at
from passdown.errors import UsageError
from passdown.model.session import ToolResult
from passdown.packet.render import render_markdown
from passdown.packet.tokens import estimate_tokens

Begins = Callable[..., Any]


def at(trajectory: Trajectory, text: str) -> int:
    """Return the cut behind the step that runs a command with this text."""
    return next(
        step.idx + 1 for step in trajectory.steps for event in step.events if text in getattr(event, "command", "")
    )


def test_every_view_begins_with_preamble_and_task(rich: Trajectory) -> None:
    for view in build_views(cut(rich, 6)):
        assert view.text.startswith(PREAMBLE)
        assert parts(view.text).task == rich.task_text
        assert view.tokens == estimate_tokens(view.text)
        assert (view.k, view.trajectory_id) == (6, rich.trajectory_id)


def test_parts_undoes_whole() -> None:
    assert parts(whole("Do it.\n", "- one\n- two\n")) == (PREAMBLE, "Do it.", "- one\n- two")
    assert parts(whole("Do it.")) == (PREAMBLE, "Do it.", "")


def test_the_repository_view_has_no_notes_unless_git_status_is_asked_for(rich: Trajectory) -> None:
    prefix = cut(rich, at(rich, "limit = 10\\n"))
    plain = build_view("repo", prefix)
    assert (parts(plain.text).notes, plain.facts) == ("", ())
    status = build_view("repo", prefix, git_status=True)
    assert re.findall(r"(?m)^.. \S+$", parts(status.text).notes) == ["?? reproduce.py", " M src/bucket.py"]
    assert {fact.key for fact in status.facts} == {"reproduce.py", "src/bucket.py"}


def test_the_structured_view_is_the_packet_of_the_prefix_and_the_state_by_rule(rich: Trajectory) -> None:
    prefix = cut(rich, at(rich, "limit = 10\\n"))
    view = build_view("structured", prefix)
    assert render_markdown(material_of(prefix).packet).strip() in view.text
    assert "- Source changes present: yes\n- Changed source files: `src/bucket.py`" in view.text
    assert "- By-products: `reproduce.py`" in view.text
    assert (
        "- Validation after the latest edit: none\n- Last validation: `python -m pytest -q tests/test_bucket.py`"
        in (view.text)
    )
    assert "- State: changed, not validated since the latest edit" in view.text
    assert "- Done:\n  - Reproduce the missing refill" in view.text
    assert "- In progress:\n  - Refill in take()" in view.text
    assert "- To do:\n  - Cover it with a test" in view.text
    assert "- Environment:\n  - freezegun" in view.text
    assert "instead of starting a timer thread" in view.text


@pytest.mark.parametrize(
    ("after", "validation", "state"),
    [
        ("cat src/bucket.py", "none", "nothing changed yet"),
        ("cat > reproduce.py", "none", "only by-products and files outside of the workspace so far, no source changed"),
        ("limit = 10\\n", "none", "changed, not validated since the latest edit"),
        ("test_refill_is_capped", "passed", "changed, and the last validation after it passed"),
    ],
)
def test_the_state_follows_the_work(rich: Trajectory, after: str, validation: str, state: str) -> None:
    text = build_view("structured", cut(rich, at(rich, after))).text
    assert f"- Validation after the latest edit: {validation}\n" in text
    assert f"- State: {state}\n" in text


def test_a_failed_validation_after_an_edit_is_told_with_its_line(rich: Trajectory) -> None:
    second = [
        step.idx + 1
        for step in rich.steps
        for e in step.events
        if "-q tests/test_bucket.py" in getattr(e, "command", "")
    ][1]
    text = build_view("structured", cut(rich, second)).text
    assert "- Validation after the latest edit: failed\n" in text
    assert "- What it said: E assert 9 == 10\n" in text
    assert "- State: changed, and the last validation after it failed\n" in text


def test_what_nobody_saw_is_none_observed(script: Begins) -> None:
    trajectory = script().asks("What does this do?").runs("ls", "README").trajectory()
    text = build_view("structured", cut(trajectory, 2)).text
    for title in (
        "Changed source files",
        "Changed tests",
        "By-products",
        "Last validation",
        "Done",
        "Decisions",
        "Risks",
    ):
        assert f"- {title}: NONE OBSERVED" in text
    assert "- Source changes present: no" in text
    assert "git was not read" in text


def test_a_script_of_its_own_leaves_the_state_open(script: Begins) -> None:
    trajectory = (
        script().asks("Mend it.").runs("cat > apply_fix.py <<'EOF'\nimport x\nEOF").runs("python apply_fix.py", "done")
        .trajectory()
    )  # fmt: skip
    text = build_view("structured", cut(trajectory, 3)).text
    assert "- Source changes present: unknown" in text
    assert "whatever they changed: `apply_fix.py`" in text


def test_files_outside_of_the_workspace_are_named_and_are_no_changes(script: Begins) -> None:
    trajectory = script().asks("Mend it.").runs("echo x > /tmp/answer.txt").trajectory()
    view = build_view("structured", cut(trajectory, 2))
    assert "- Written outside of the workspace: `/tmp/answer.txt`" in view.text
    assert not [fact for fact in view.facts if fact.type == "file_changed"]


def test_facts_cite_steps_before_the_cut_and_say_how_they_are_known(rich: Trajectory) -> None:
    for k in range(1, len(rich.steps) + 1):
        for view in build_views(cut(rich, k)):
            assert all(0 <= fact.step < k for fact in view.facts)
    facts = {(fact.type, fact.key): fact for fact in build_view("structured", cut(rich, len(rich.steps) - 1)).facts}
    changed = facts["file_changed", "src/bucket.py"]
    assert (changed.value, changed.status) == ("modified", "observed")
    assert rich.steps[changed.step].actions[0].writes == ("src/bucket.py",)
    assert facts["todo", "Cover it with a test"].status == "stated"
    assert facts["env", "freezegun"].value == "installed"
    assert facts["test_result", "python -m pytest -q tests/test_bucket.py"].value.startswith("failed")
    decided = [fact for fact in facts.values() if fact.type == "decision"]
    assert [fact.status for fact in decided] == ["stated"]


def test_a_look_that_is_announced_and_a_guess_choose_nothing(script: Any) -> None:
    told = (
        "I'm checking the tests now so we can fix the source rather than derive it later.",
        "I bet the terminal shows the dark cyan instead of the bright one that we set.",
        "Both should now look the same since we use plain values instead of the palette.",
        "We keep the cache in a file instead of a database.",
    )
    run = script().asks("Mend the colours.")
    for words in told:
        run = run.says(words).runs("ls")
    facts = build_view("structured", cut(run.trajectory(), 5)).facts
    assert [fact.key for fact in facts if fact.type == "decision"] == [told[3]]


def test_the_summary_is_short_and_tells_the_state(rich: Trajectory) -> None:
    view = build_view("summary", cut(rich, at(rich, "limit = 10\\n") + 1))
    notes = parts(view.text).notes
    assert len(notes.split()) <= 500
    assert "- Files changed: reproduce.py (added); src/bucket.py (modified)" in notes
    assert "since the latest edit: failed" in notes
    assert "- Plan, still open: Refill in take() (in_progress); Cover it with a test (pending)" in notes
    assert view.writer == "extractive"


def test_a_summary_keeps_to_its_budget(rich: Trajectory) -> None:
    prefix = cut(rich, len(rich.steps))
    room = estimate_tokens(whole(rich.task_text, "x")) + 120
    view = build_view("summary", prefix, budget=room)
    assert view.tokens <= room
    assert view.elided["lines"] > 0
    assert "- Goal: " in view.text


def test_a_structured_view_drops_its_index_before_its_packet(rich: Trajectory) -> None:
    prefix = cut(rich, len(rich.steps))
    full = build_view("structured", prefix)
    small = build_view("structured", prefix, budget=full.tokens - 150)
    assert small.tokens <= full.tokens - 150
    assert small.elided["facts"] > full.elided.get("facts", 0)
    assert render_markdown(material_of(prefix).packet).strip() in small.text


def test_an_index_says_how_much_of_it_is_not_shown(script: Any) -> None:
    run = script().asks("Write them.")
    for number in range(9):
        run.uses("str_replace_editor", {"command": "create", "path": f"/testbed/f{number}.py", "file_text": "x"})
    made = run.trajectory()
    text = build_view("structured", cut(made, len(made.steps))).text
    assert "- Changed:\n  - … 3 more\n  - f3.py" in text


def entries(text: str) -> list[tuple[int, str, str]]:
    """Return the headers of a trace."""
    return [(int(a), b, c) for a, b, c in re.findall(r"(?m)^\[(\d+) \| (\S+) \| ([\w ]+)\]$", text)]


def test_the_trace_holds_every_event_in_the_paper_s_form(rich: Trajectory) -> None:
    view = build_view("trace", cut(rich, 3))
    assert entries(view.text)[0] == (0, "user", "message")
    assert "(the task, as it stands above)" in view.text
    assert (2, "environment", "observation") in entries(view.text)
    assert "[2 | environment | observation]\nSuccessfully installed freezegun-1.5.1" in view.text
    assert view.elided == {}
    assert "reproduce.py" not in view.text


def test_a_failed_command_s_exit_code_is_in_the_trace(rich: Trajectory) -> None:
    assert "1 failed, 3 passed in 0.10s\n(exit 1)" in build_view("trace", cut(rich, 9)).text


@pytest.fixture
def long_run(script: Begins) -> Trajectory:
    """A run of forty steps with long observations."""
    run = script().asks("Find the fault.")
    for number in range(40):
        run.runs(f"cat src/part{number}.py", f"begin {number}\n" + f"line of part {number}\n" * 400 + f"end {number}\n")
    made: Trajectory = run.trajectory()
    return made


@pytest.mark.parametrize("policy", ["tail", "head_tail", "elide", None])
@pytest.mark.parametrize("budget", [700, 3_000, 20_000])
def test_a_trace_keeps_to_its_budget_and_says_what_it_left_out(
    long_run: Trajectory, policy: str | None, budget: int
) -> None:
    view = build_view("trace", cut(long_run, 41), budget=budget, policy=policy)  # type: ignore[arg-type]
    assert view.tokens <= budget
    assert view.elided
    assert "…" in view.text
    shown = entries(view.text)
    assert shown[-1][0] == 40
    if policy == "head_tail":
        assert shown[0] == (0, "user", "message")
    if policy == "tail":
        gone = int(re.findall(r"\[… (\d+) entries of steps", view.text)[0])
        assert gone == view.elided["entries"]
    if policy in ("elide", None) and budget == 20_000:
        assert len(shown) == 81
        assert view.elided == {"observations": 40, "characters": view.elided["characters"]}
        assert "begin 3\n" in view.text
        assert "end 3\n" in view.text


def test_without_policy_and_budget_nothing_is_left_out(long_run: Trajectory) -> None:
    view = build_view("trace", cut(long_run, 41), policy="none", budget=10)
    assert view.elided == {}
    assert view.tokens > 10


def test_a_trace_can_be_measured_without_being_kept(rich: Trajectory) -> None:
    full = build_view("trace", cut(rich, 7))
    bare = build_view("trace", cut(rich, 7), keep_text=False)
    assert bare == structs.replace(full, text="")


@pytest.mark.parametrize("name", NAMES)
def test_a_view_is_the_same_each_time(rich: Trajectory, name: str) -> None:
    prefix = cut(rich, 9)
    assert build_view(name, prefix) == build_view(name, prefix)


def test_cuts_made_together_are_those_made_alone(rich: Trajectory, small_trajectory: Trajectory) -> None:
    for trajectory in (rich, small_trajectory):
        ks = [7, 2, len(trajectory.steps), 5, 2]
        for options in (Options(), Options(budget=900, git_status=True, keep_text=False)):
            together = list(views_at(trajectory, ks, options=options))
            alone = [build_views(cut(trajectory, k), options=options) for k in ks]
            assert together == alone


def test_paths_of_a_person_s_machine_are_not_told(script: Begins) -> None:
    trajectory = (
        script(cwd="/home/nobody17/work/thing").asks("Mend it.")
        .runs("cat /home/nobody17/.config/tool.ini", "x = 1")
        .runs("sed -i s/a/b/ /home/nobody17/work/thing/src/a.py").trajectory()
    )  # fmt: skip
    for view in build_views(cut(trajectory, 3)):
        assert "nobody17" not in view.text
    assert "`src/a.py`" in build_view("structured", cut(trajectory, 3)).text


@pytest.mark.parametrize(
    "spelt", ["C:\\Users\\nobody17", "c:/Users/nobody17", "/c/Users/nobody17", "/mnt/c/Users/nobody17"]
)
def test_a_person_s_folder_on_windows_is_not_told(script: Begins, spelt: str) -> None:
    trajectory = (
        script(cwd="C:\\Users\\nobody17\\git\\thing").asks("Mend it.").runs("ls", f"{spelt}/x.log").trajectory()
    )
    for view in build_views(cut(trajectory, 2)):
        assert "nobody17" not in view.text
    assert "~" in build_view("trace", cut(trajectory, 2)).text


def test_secrets_are_scrubbed_from_every_view(script: Begins) -> None:
    secret = "ghp_" + "".join("aB3dE5fG7h"[(7 * i) % 10] + str(i % 10) for i in range(18))
    trajectory = (
        script().asks(f"Use the token {secret} and mend it.").runs(f"export T={secret} && make", f"T={secret}", 2)
        .says(f"I'll use {secret} instead of asking.").runs("ls").trajectory()
    )  # fmt: skip
    for view in build_views(cut(trajectory, len(trajectory.steps))):
        assert secret not in view.text
        assert not [fact for fact in view.facts if secret in fact.key + fact.value]


def test_the_oracle_refuses_the_training_split_and_no_split(rich: Trajectory) -> None:
    for split in ("train", ""):
        with pytest.raises(UsageError, match=r"only for validation and test"):
            build_oracle(structs.replace(rich, split=split), 5)
    view = build_oracle(structs.replace(rich, split="validation"), 5)
    assert view.text.startswith(build_view("structured", cut(rich, 5)).text)
    assert "`tests/test_bucket.py::test_refill_is_capped`" in view.text
    assert "- Files of the final change: `src/bucket.py`" in view.text


def test_a_name_that_is_no_view_is_refused(rich: Trajectory) -> None:
    with pytest.raises(UsageError, match="is no view"):
        build_view("oracle_structured", cut(rich, 5))
    assert [row.name for row in VIEWS] == ["repo", "trace", "summary", "structured"]


def test_the_message_of_a_persons_commit_is_no_agents_word(rich: Trajectory) -> None:
    k = at(rich, "tokens = 10") - 1
    assert "The agent's last word" in build_view("structured", cut(rich, k)).text
    person = structs.replace(rich, predecessor="human")
    assert "The agent's last word" not in build_view("structured", cut(person, k)).text


@pytest.mark.parametrize(("said", "value"), [("Error: no server", "gave no result"), ("All tests passed!", "passed")])
def test_a_run_without_an_exit_code_passed_only_by_its_words(script: Any, said: str, value: str) -> None:
    failed = script().asks("Mend it.").runs("python test_b.py", "AssertionError: 1 is not 2", None)
    run = failed.runs("python test_a.py | tail -3", said, None).trajectory()
    steps = [
        structs.replace(
            step,
            events=tuple(
                structs.replace(event, outcome="ok") if isinstance(event, ToolResult) else event
                for event in step.events
            ),
        )
        for step in run.steps
    ]
    prefix = cut(structs.replace(run, steps=tuple(steps)), 3)
    results = {fact.key: fact.value for fact in material_of(prefix).facts if fact.type == "test_result"}
    assert results["python test_a.py"] == value
