"""Samples: which continuations are allowed, how many of which kind, and what is trained on in their messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from passdown.data.records import (
    Cut,
    Cuts,
    Fact,
    FileState,
    Graph,
    Outcome,
    Perturbed,
    Point,
    Snapshot,
    Subtask,
    Trajectory,
    Truth,
    View,
    Volatile,
)  # fmt: skip
from passdown.data.replay.snapshot import state_id
from passdown.data.samples.build import build_samples
from passdown.data.samples.continuations import continuations, inspection, masked_steps
from passdown.data.samples.messages import Role, continued, step_messages
from passdown.data.samples.reconstruction import contradicts, question, target
from passdown.data.samples.render import Rendered, render
from passdown.data.views.preamble import whole
from passdown.data.views.table import build_views
from passdown.model.session import ToolCall, ToolResult


@pytest.fixture
def solved(script: Any) -> Trajectory:
    """A run that reads two files, edits one badly and then well, goes in a circle, and ends with a green test."""
    return (
        script()
        .asks("Give one dash, not two.")
        .runs("cat src/slug.py", "def slug(text): ...\n")
        .runs("cat src/other.py", "x = 1\n")
        .runs("python -m unittest", "FAILED (failures=1)\n", 1)
        .uses("str_replace_editor", {"command": "str_replace", "path": "/testbed/src/other.py", "old_str": "no",
                                     "new_str": "x"}, "No replacement was performed", "failed")
        .uses("str_replace_editor", {"command": "str_replace", "path": "/testbed/src/slug.py", "old_str": "...",
                                     "new_str": "return 1"}, "edited")
        .runs("python -m unittest", "OK\n").runs("python -m unittest", "OK\n").runs("python -m unittest", "OK\n")
        .says("Done.")
        .trajectory(outcome=Outcome(resolved=True, fail_to_pass=("t.test_one",)))
    )  # fmt: skip


def _cuts(run: Trajectory, ks: tuple[int, ...] = (4,), perturbed: int = 0) -> Cuts:
    from passdown.data.prefix import cut

    made = []
    for k in ks:
        views = tuple(replace(view, text="") if view.name == "trace" else view for view in build_views(cut(run, k)))
        truth = Truth(op="blur", family="decay", strength=0.5, still_solvable=True)
        others = tuple(
            Perturbed(ops=("blur",), view=replace(views[0], text=f"{views[0].text}\n{number}"), truths=(truth,))
            for number in range(perturbed)
        )
        point = Point(trajectory_id=run.trajectory_id, k=k, kind="mid")
        made.append(Cut(point=point, views=views, perturbed=others, snapshot=Snapshot(snapshot_id=f"s{k}")))
    return Cuts(trajectory=run, cuts=tuple(made))


def test_a_tail_is_a_continuation_only_where_the_task_was_solved(solved: Trajectory) -> None:
    cut = Cut(point=Point(trajectory_id=solved.trajectory_id, k=4, kind="mid"))
    assert [one.kind for one in continuations(solved, cut)] == ["self_tail_inspected", "self_tail"]
    for resolved in (False, None):
        unsolved = replace(solved, outcome=Outcome(resolved=resolved))
        assert continuations(unsolved, cut) == []
    assert [one.kind for one in continuations(replace(solved, predecessor="human"), cut)] == ["human_tail"]


def test_another_run_counts_where_it_says_that_it_goes_on_here_and_solved(solved: Trajectory) -> None:
    cut = Cut(point=Point(trajectory_id=solved.trajectory_id, k=4, kind="mid"))
    said = json.dumps({"continues": solved.trajectory_id, "k": 4})
    run = replace(solved, trajectory_id="next", extras=said)
    assert continuations(solved, cut, [run])[0].kind == "rollout"
    shortest = replace(run, extras=json.dumps({"continues": solved.trajectory_id, "k": 4, "shortest": True}))
    assert continuations(solved, cut, [shortest])[0].kind == "shortest_verified"
    elsewhere = replace(run, extras=json.dumps({"continues": solved.trajectory_id, "k": 3}))
    failed = replace(run, outcome=Outcome(resolved=False))
    broken = replace(run, extras='{"continues": 1')
    assert len(continuations(solved, cut, [elsewhere, failed, broken])) == 2


def test_a_tail_fits_only_the_tree_that_it_began_with(solved: Trajectory) -> None:
    own, other = Snapshot(snapshot_id="own"), Snapshot(snapshot_id="other")
    cut = Cut(point=Point(trajectory_id=solved.trajectory_id, k=4, kind="mid"), snapshot=own)

    def run(state: str) -> Trajectory:
        said = json.dumps({"continues": solved.trajectory_id, "k": 4, "state": state})
        return replace(solved, trajectory_id=f"from-{state}", extras=said)

    runs = [run("own"), run("other"), run("third"), run("")]
    names = [one.trajectory_id for one in continuations(solved, cut, runs)]
    assert names == ["from-own", "from-", solved.trajectory_id, solved.trajectory_id]
    assert [one.trajectory_id for one in continuations(solved, cut, runs, other)] == ["from-other"]
    assert continuations(solved, cut, (), other) == []
    assert continuations(solved, cut, (), own) == continuations(solved, cut)
    assert continuations(solved, cut, runs)[0].start == 1, "the task is in the view"


def test_nothing_goes_on_where_git_or_what_is_beside_the_files_is_another(solved: Trajectory) -> None:
    own = Snapshot(snapshot_id="own", volatile=(Volatile(kind="tmp_file", key="/tmp/notes"),))
    staged = replace(own, volatile=(*own.volatile, Volatile(kind="git", key="index:slug.py", value="0" * 64)))
    cleared = replace(own, volatile=())
    cut = Cut(point=Point(trajectory_id=solved.trajectory_id, k=4, kind="mid"), snapshot=own)
    said = json.dumps({"continues": solved.trajectory_id, "k": 4, "state": "own"})
    run = replace(solved, trajectory_id="rollout", extras=said)
    assert [one.trajectory_id for one in continuations(solved, cut, [run], cleared)] == ["rollout"]
    assert continuations(solved, cut, [run], staged) == [], "its `git diff` would have answered something else"
    there = replace(run, extras=json.dumps({"continues": solved.trajectory_id, "k": 4, "state": state_id(staged)}))
    assert [one.trajectory_id for one in continuations(solved, cut, [run, there], staged)] == ["rollout"]
    assert continuations(solved, cut, [there]) == continuations(solved, cut)


def test_the_environments_answers_are_told_only_of_the_state_they_were_given_in(solved: Trajectory) -> None:
    one = _cuts(solved, perturbed=2)
    (cut,) = one.cuts
    view = next(view for view in cut.views if view.name == "structured")
    untouched, moved = (replace(given, view=view) for given in cut.perturbed)
    untouched, moved = replace(untouched, snapshot=cut.snapshot), replace(moved, snapshot=Snapshot(snapshot_id="other"))
    cut = replace(cut, perturbed=(untouched, moved))
    echoes = [sample for sample in build_samples(replace(one, cuts=(cut,))) if sample.kind == "echo"]
    assert sorted((sample.view, sample.variant) for sample in echoes if sample.variant is not None) == [
        ("structured", 0)
    ]
    assert {sample.view for sample in echoes if sample.variant is None} == {"repo", "structured"}


def test_an_inspection_is_a_real_read_of_what_will_change_and_stood_still(solved: Trajectory) -> None:
    assert inspection(solved.steps, 4) == (1,), "the read of slug.py; other.py is not written by the tail that worked"
    assert inspection(solved.steps, 7) == (), "slug.py changed after it was read, and nothing is written any more"


def test_failed_edits_and_circles_are_masked_and_a_red_test_is_not(solved: Trajectory) -> None:
    masked = masked_steps(solved.steps)
    assert 4 in masked, "the edit that failed"
    assert 3 not in masked, "to see the test fail was right"
    assert 8 in masked, "the third time the same test"
    assert 6 not in masked


def test_only_the_successors_turns_are_trained_on(solved: Trajectory) -> None:
    tail = continuations(solved, Cut(point=Point(trajectory_id=solved.trajectory_id, k=3, kind="mid")))[0]
    messages = list(continued(solved, tail))
    roles = {message.role: set() for message in messages}
    for message in messages:
        roles[message.role].add(message.part)
    assert roles["tool"] == {Role.ENV}
    assert roles["assistant"] == {Role.ACTION, Role.OTHER}, "masked turns are context"
    assert messages[0].calls[0].arguments == '{"command":"cat src/slug.py"}', "it looks first"


def test_a_prompt_holds_nothing_of_the_tail(solved: Trajectory) -> None:
    samples = build_samples(_cuts(solved))
    for made in render(replace(_cuts(solved), samples=samples)):
        assert isinstance(made, Rendered)
        assert all(message.part == Role.OTHER for message in made.prompt)
        assert "return 1" not in "".join(message.content for message in made.prompt)


def test_traces_are_made_again_at_export(solved: Trajectory) -> None:
    cuts = _cuts(solved)
    samples = tuple(one for one in build_samples(cuts) if one.view == "trace")
    texts = {made.view.text for made in render(replace(cuts, samples=samples)) if isinstance(made, Rendered)}
    assert len(texts) == 1
    assert "def slug(text)" in texts.pop()


@settings(deadline=None, max_examples=25)
@given(most=st.integers(1, 60), share=st.floats(0, 1), perturbed=st.integers(0, 4), seed=st.integers(0, 3))
def test_caps_and_shares_hold_for_every_trajectory(
    solved_cuts: Cuts, most: int, share: float, perturbed: int, seed: int
) -> None:
    del perturbed
    samples = build_samples(solved_cuts, per_trajectory=most, self_tails=share, seed=seed)
    assert len(samples) <= most
    assert len({sample.sample_id for sample in samples}) == len(samples)
    supervised = [one for one in samples if one.kind == "sft" and one.continuation]
    tails = [one for one in supervised if one.continuation and one.continuation.kind == "self_tail"]
    assert len(tails) <= share * len(supervised) + 1e-9
    assert samples == build_samples(solved_cuts, per_trajectory=most, self_tails=share, seed=seed)


@pytest.fixture(scope="module")
def solved_cuts() -> Cuts:
    """Two cuts with three perturbed views each, of a run made without the function's fixtures."""
    from passdown.data.records import Provenance
    from passdown.data.trajectory import assemble
    from passdown.model.session import SessionStart, ToolCall, ToolResult, UserMessage

    events: list[Any] = [SessionStart(session_id="s", agent="chat", cwd="/testbed"), UserMessage(text="Do it.")]
    for number, command in enumerate(("cat a.py", "cat b.py", "sed -i s/a/b/ a.py", "pytest -q", "sed -i s/b/c/ a.py")):
        events.append(
            ToolCall(call_id=f"c{number}", tool="bash", action="run", command=command, arguments={"command": command})
        )
        events.append(ToolResult(call_id=f"c{number}", outcome="ok", exit_code=0, text="x"))
    run = assemble(events, Provenance(source="made"), repo="o/r", outcome=Outcome(resolved=True, fail_to_pass=("t",)))
    return _cuts(run, (3, 4), perturbed=3)


def test_a_state_has_one_group_and_every_perturbation_another(solved_cuts: Cuts) -> None:
    samples = build_samples(solved_cuts, kinds=("rl",), per_trajectory=1000)
    assert len({sample.group_key for sample in samples}) == len(samples) == 2 * (4 + 3)
    assert {sample.difficulty for sample in samples if sample.variant is not None} == {0.2 + 0.25 + 0.15}


def test_an_unsolvable_state_is_no_task(solved_cuts: Cuts) -> None:
    spoiled = tuple(
        replace(cut, perturbed=tuple(
            replace(one, truths=tuple(replace(truth, still_solvable=None) for truth in one.truths)) for one in cut.perturbed
        ))
        for cut in solved_cuts.cuts
    )  # fmt: skip
    samples = build_samples(replace(solved_cuts, cuts=spoiled), kinds=("rl",), per_trajectory=1000)
    assert len(samples) == 2 * 4


def test_the_oracle_is_kept_from_training(solved_cuts: Cuts) -> None:
    def with_oracle(split: Any) -> Cuts:
        view = View(name="oracle_structured", trajectory_id="t", k=3, text="what comes")
        cuts = tuple(replace(cut, views=(*cut.views, view)) for cut in solved_cuts.cuts)
        return replace(solved_cuts, cuts=cuts, trajectory=replace(solved_cuts.trajectory, split=split))

    held = {
        split: {one.view for one in build_samples(with_oracle(split), per_trajectory=1000)}
        for split in ("train", "test")
    }
    assert "oracle_structured" not in held["train"]
    assert "oracle_structured" in held["test"]


def test_the_state_to_be_told_holds_only_what_was_observed(solved: Trajectory) -> None:
    graph = Graph(
        nodes=(
            Subtask(id="edit:src/slug.py", kind="edit", subject="src/slug.py"), Subtask(id="test:t.a", kind="test"),
            Subtask(id="test:t.b", kind="test"), Subtask(id="todo:1", kind="todo"),
        ),
        statuses=(("todo",) * 4, ("done", "done", "todo", "in_progress")),
    )  # fmt: skip
    volatile = (
        Volatile(kind="cwd", key="/testbed/src"), Volatile(kind="process", key="server", provenance="inferred"),
    )  # fmt: skip
    snapshot = Snapshot(snapshot_id="s", volatile=volatile, dirty=("b.py",))
    cut = Cut(point=Point(trajectory_id=solved.trajectory_id, k=1, kind="mid"), snapshot=snapshot)
    assert json.loads(target(cut, graph)) == {
        "done": ["test:t.a"], "in_progress": ["todo:1"], "todo": [], "changed_files": ["b.py"], "cwd": "/testbed/src",
        "last_test_status": "unknown", "packages_delta": "unknown", "processes": "unknown", "tmp_files": "unknown",
    }  # fmt: skip


def test_the_state_is_the_one_that_the_operators_left_and_a_look_shows_it(solved: Trajectory) -> None:
    there = FileState(path="src/a.py", blob="0" * 64)
    before = Snapshot(
        snapshot_id="s",
        delta=(there, FileState(path="/tmp/x.sed", blob="1" * 64), FileState(path="C:/Users/ann/x.md", blob="2" * 64)),
        dirty=("b.py",),
    )
    after = replace(before, delta=(FileState(path="src/a.py"),))
    cut = Cut(point=Point(trajectory_id=solved.trajectory_id, k=1, kind="mid"), snapshot=before)
    nodes = (
        Subtask(id="todo:0", kind="todo", subject="Say why"), Subtask(id="install:x", kind="install", subject="x"),
    )  # fmt: skip
    graph = Graph(nodes=nodes, statuses=((), ("done", "done")))  # nobody saw how the installation of x ended
    assert json.loads(target(cut, graph))["changed_files"] == ["b.py", "src/a.py"]
    assert json.loads(target(cut, graph))["done"] == ["Say why"]
    assert json.loads(target(cut, graph, after))["changed_files"] == ["b.py", "src/a.py"]
    bare = json.loads(target(cut, graph, after, View(name="repo", trajectory_id="t", k=1, text=whole("Do it."))))
    assert {name for name, value in bare.items() if value != "unknown"} == {"changed_files"}
    assert "?\tb.py\n?\tsrc/a.py\n" in question(before)
    assert "?\tb.py\nD\tsrc/a.py\n" in question(after)
    assert question(None) in question(after)


def test_the_state_to_be_told_is_what_the_notes_tell() -> None:
    def noted(notes: str, *facts: Fact) -> View:
        return View(name="summary", trajectory_id="t", k=1, text=whole("Mend `slug`.", notes), facts=facts)

    passed = Fact(type="test_result", key="pytest", value="passed: 2 passed")
    item = Fact(type="todo", key="Say why", value="completed", status="stated")
    plain = noted("- Last validation: pytest passed (2 passed)\n- Plan: Say why (completed)", passed, item)
    graph = Graph(
        nodes=(Subtask(id="todo:0", kind="todo", subject="Say why"), Subtask(id="test:t.a", kind="test", subject="t.a")),
        statuses=((), ("done", "done")),
    )  # fmt: skip
    snapshot = Snapshot(snapshot_id="s", volatile=(Volatile(kind="cwd", key="cwd", value="/elsewhere"),))
    cut = Cut(point=Point(trajectory_id="t", k=1, kind="mid"), snapshot=snapshot, views=(plain,))
    told = json.loads(target(cut, graph, None, plain))
    assert (told["done"], told["last_test_status"], told["cwd"]) == (["Say why"], "passed: 2 passed", "unknown")
    fewer = json.loads(target(cut, graph, None, noted("- Last validation: pytest passed", passed)))
    assert (fewer["done"], fewer["last_test_status"]) == ("unknown", "passed")
    assert json.loads(target(cut, graph, None, noted("- Open errors: none")))["last_test_status"] == "unknown"
    assert not contradicts(plain, cut, graph)
    assert not contradicts(noted("- Open errors: none"), cut, graph)
    assert contradicts(noted("- pytest failed", replace(passed, value="failed")), cut, graph)
    assert contradicts(noted("- Plan: Say why (pending)", replace(item, value="pending")), cut, graph)
    ended = Truth(op="truncate_trace", family="decay", facts_removed=(item,))
    assert contradicts(noted("- Open errors: none"), cut, graph, (ended,))
    assert not contradicts(noted("- Open errors: none"), cut, graph, (replace(ended, op="drop_fact"),))


def test_a_process_is_called_as_the_notes_call_it() -> None:
    def asked(notes: str) -> object:
        view = View(name="summary", trajectory_id="t", k=1, text=whole("Serve it.", notes))
        running = Volatile(kind="process", key="cd /srv/app && python3 -m http.server", value="running")
        cut = Cut(
            point=Point(trajectory_id="t", k=1, kind="mid"), snapshot=Snapshot(snapshot_id="s", volatile=(running,))
        )
        return json.loads(target(cut, Graph(), None, view))["processes"]

    assert asked("- Results of the last commands: python3 -m http.server (running)") == [
        "python3 -m http.server running"
    ]
    assert asked("- Results of the last commands: ls (exit 0)") == "unknown"


def test_few_samples_ask_for_no_more_than_the_question_shows(script: Any) -> None:
    run = script().asks("Mend it.").runs("sed -i s/a/b/ src/a.py").runs("pytest -q", "1 passed").runs("ls").trajectory()
    untouched = _cuts(run, (2, 3))
    asked = build_samples(untouched, kinds=("reconstruction",), per_trajectory=1000)
    assert {one.k for one in asked} == {3}, "where nothing was changed and nothing is told there is nothing to tell"
    there = (FileState(path="src/a.py", blob="0" * 64),)
    cuts = replace(
        untouched, cuts=tuple(replace(one, snapshot=Snapshot(snapshot_id="s", delta=there)) for one in untouched.cuts)
    )
    made = build_samples(cuts, kinds=("reconstruction",), per_trajectory=1000)
    views = {k: sorted(one.view for one in made if one.k == k) for k in (2, 3)}
    assert len(views[2]) == 1, "nothing is told yet but what a look shows"
    assert {"structured", "summary", "trace"} <= set(views[3])
    assert len(views[3]) == 4


def test_secrets_of_a_tail_do_not_leave(script: Any) -> None:
    token = "ghp_" + "a1B2" * 9
    run = (
        script().asks("Go on.").runs("cat a.py", "x").runs(f"export GH_TOKEN={token}", f"token {token}")
        .runs("sed -i s/a/b/ a.py").says("Done.").trajectory(outcome=Outcome(resolved=True))
    )  # fmt: skip
    cuts = _cuts(run, (2,))
    made = [one for one in render(replace(cuts, samples=build_samples(cuts))) if isinstance(one, Rendered)]
    assert made
    assert token not in "".join(
        message.content + "".join(call.arguments for call in message.calls)
        for one in made for message in (*one.prompt, *one.completion)
    )  # fmt: skip


def test_what_a_harness_says_is_no_observation(script: Any) -> None:
    from passdown.model.session import ToolResult, UserMessage

    run = script().asks("Go on.").runs("ls", "a").trajectory()
    step = replace(run.steps[1], events=(*run.steps[1].events, UserMessage(text="format!", origin="injected")))
    parts = {message.content: message.part for message in step_messages(step, Role.ACTION)}
    assert parts["a"] == Role.ENV
    assert parts["format!"] == Role.HARNESS
    refused = ToolResult(call_id="call-1", outcome="rejected", text="no, not this one")
    step = replace(run.steps[1], events=(*run.steps[1].events, refused))
    assert {message.content: message.part for message in step_messages(step, Role.ACTION)}[refused.text] == Role.HARNESS


@pytest.mark.parametrize(("tool", "action"), [("AskUserQuestion", "ask"), ("ExitPlanMode", "plan"), ("Bash", "run")])
def test_what_a_person_answered_is_no_answer_of_the_environment(solved: Trajectory, tool: str, action: Any) -> None:
    asked = ToolCall(call_id="q", tool=tool, action=action)
    said = ToolResult(call_id="q", outcome="ok", text="User has approved your plan.")
    *_, message = step_messages(replace(solved.steps[1], events=(asked, said)), Role.ACTION)
    assert (message.content, message.part) == (said.text, Role.ENV if action == "run" else Role.HARNESS)


def test_a_persons_folder_is_named_in_no_message(script: Any) -> None:
    path = "/Users/maria/code/a.py"
    run = script(cwd="/Users/maria/code").asks(f"Mend {path}.").runs(f"cat {path}", f"{path}: x").runs(f"rm {path}")
    cuts = _cuts(run.says("Done.").trajectory(outcome=Outcome(resolved=True)), (2,))
    made = [one for one in render(replace(cuts, samples=build_samples(cuts))) if isinstance(one, Rendered)]
    told = "".join(
        message.content + "".join(call.arguments for call in message.calls)
        for one in made for message in (*one.prompt, *one.completion)
    )  # fmt: skip
    assert "rm ~/code/a.py" in told
    assert "maria" not in told


def test_a_packet_after_a_milestone_is_the_first_level(solved_cuts: Cuts) -> None:
    at = [replace(cut, point=replace(cut.point, kind="milestone")) for cut in solved_cuts.cuts]
    samples = build_samples(replace(solved_cuts, cuts=(*solved_cuts.cuts, *at)), per_trajectory=1000)
    first = {(one.point, one.view) for one in samples if one.level == "L1"}
    untouched = {(one.point, one.view) for one in samples if not one.ops and one.kind != "plain"}
    assert first == untouched & {("milestone", "structured")}
    assert first
