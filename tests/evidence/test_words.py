"""What people and agents said: verbatim, bounded, and nothing made up."""

from __future__ import annotations

import pytest

from passdown.evidence.said import next_step
from passdown.evidence.words import GAP, MAX_DIRECTIVE, MAX_SUMMARY
from passdown.model.session import Compaction, Interruption, PlanItem, PlanUpdate, ToolCall, ToolResult, UserMessage
from passdown.packet.build import build_packet


def test_directives_are_verbatim(log) -> None:
    text = "Keep the API.\n  Don't touch `x`; 不要改 y — and *never* push."
    log.human(text)
    (directive,) = log.evidence().directives
    assert (directive.text, directive.cut) == (text, 0)
    assert directive.source is not None
    assert (directive.source.path, directive.source.line) == ("s1", 2)


def test_a_long_directive_says_how_much_is_missing(log) -> None:
    log.human("a" * 500 + "b" * 5000 + "c" * 500)
    (directive,) = log.evidence().directives
    assert len(directive.text) == MAX_DIRECTIVE
    assert directive.text.startswith("aaa")
    assert directive.text.endswith("ccc")
    assert len(directive.text) - len(GAP) + directive.cut == 6000


def test_first_and_newest_directives_are_kept(log) -> None:
    for number in range(100):
        log.human(f"wish {number}")
    evidence = log.evidence()
    kept = [directive.text for directive in evidence.directives]
    assert kept == [f"wish {n}" for n in (*range(5), *range(65, 100))]
    assert evidence.omitted["directives"] == 60


def test_only_a_person_of_the_main_agent_gives_directives(log) -> None:
    log.human("real")
    for origin in ("queued", "command", "shell", "subagent", "hook", "injected"):
        log.human("not a request", origin=origin)
    log.human("/compact keep the list of files", origin="command")
    log.human("to the subagent", agent_id="sub")
    log.human("old", copied=True)
    log.human("taken back", active=False)
    log.human("  \n ")
    evidence = log.evidence()
    assert [directive.text for directive in evidence.directives] == ["real"]
    assert evidence.omitted == {"directives_queued": 1, "directives_rewound": 1}


def test_the_request_of_a_slash_command_is_the_persons(log) -> None:
    log.human("find out how the export is limited today", origin="command")
    log.human("14", origin="command")
    log.human("/model fast", origin="command")
    log.human("/plan:phase 14", origin="command")
    said = [directive.text for directive in log.evidence().directives]
    assert said == ["find out how the export is limited today", "/plan:phase 14"]


def test_what_a_subagent_was_told_is_the_goal_of_its_own_session_alone(log, make_log) -> None:
    told = make_log("sub")
    context = "<git-context>\nRemote: none\n</git-context>\n\n"
    told.add(UserMessage, text=f"{context}Review the export for lost rows.", origin="subagent")
    told.say("No row is lost.")
    packet = build_packet(told.evidence())
    assert (packet.goal, packet.goal_basis, packet.directives) == ("Review the export for lost rows.", "declared", [])
    log.human("Mend the export.")
    log.add(UserMessage, text="Look for lost rows.", origin="subagent", agent_id="a1")
    assert build_packet(log.evidence()).goal == "Mend the export."


def test_a_plan_a_session_began_with_is_no_ones_words(log) -> None:
    log.human("Implement the following plan:\n\n# Limit the export", origin="plan")
    log.human("and keep it small")
    assert [directive.origin for directive in log.evidence().directives] == ["plan", "human"]


def test_a_message_stopped_and_sent_again_in_other_words_counts_once(log) -> None:
    log.human("Push it. Read the template, then open a request")
    log.say("I will look")
    log.add(Interruption)
    log.human("Push it. Read the template, tick every box, then open a request")
    log.human("Push it. Read the template, then open an issue")
    assert [directive.text for directive in log.evidence().directives] == [
        "Push it. Read the template, tick every box, then open a request",
        "Push it. Read the template, then open an issue",
    ]


def test_since_leaves_out_older_directives(log) -> None:
    log.human("before")
    since = log.clock
    log.human("after")
    log.human("without a time", at=None)
    assert [directive.text for directive in log.evidence(since=since).directives] == ["after", "without a time"]


def test_rejections_with_and_without_a_reason(log) -> None:
    log.add(ToolCall, call_id="a", tool="bash", action="run", command="git push --force")
    log.add(ToolResult, call_id="a", outcome="rejected", reason="not on a Friday")
    log.add(ToolCall, call_id="b", tool="edit", action="edit", paths=("src/a.py",))
    log.add(ToolResult, call_id="b", outcome="rejected")
    found = [(r.what, r.kind, r.reason) for r in log.evidence().rejections]
    assert found == [("git push --force", "rejected", "not on a Friday"), ("edit src/a.py", "rejected", "")]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("<think>Let me chain these properly.</think>", "I will wire it in."),
        ("<think>\nHm.\n</think>\n\nI will test it now.", "I will test it now."),
        ("I reason without a beginning.\n</think>\nI will test it now.", "I will test it now."),
        ("<think>cut off", "I will wire it in."),
    ],
)
def test_what_an_agent_only_thought_it_did_not_say(log, text: str, step: str) -> None:
    log.say("I will wire it in.")
    log.run("make")
    log.say(text)
    last = log.evidence().last_step
    assert last.text == step


def test_padding_goes_before_words_do(log) -> None:
    log.human("why do I get" + " " * 700 + "┃ denied by a hook" + " " * 80 + "\n\nand fix it")
    (directive,) = log.evidence().directives
    assert directive.text.split() == ["why", "do", "I", "get", "┃", "denied", "by", "a", "hook", "and", "fix", "it"]
    assert directive.cut == 0


def test_an_interruption_is_told_once(log) -> None:
    log.add(ToolCall, call_id="a", tool="bash", action="run", command="sleep 100")
    log.add(ToolResult, call_id="a", outcome="interrupted")
    log.add(Interruption, during_tool=True)
    log.say("Working on it")
    log.add(Interruption)
    found = [(r.what, r.kind, r.reason) for r in log.evidence().rejections]
    assert found == [("sleep 100", "interrupted", ""), ("the agent's answer", "interrupted", "")]


def test_a_call_that_ends_after_the_interruption_is_what_was_interrupted(log) -> None:
    log.add(Interruption)
    log.add(ToolCall, call_id="a", tool="bash", action="run", command="git add .")
    log.add(ToolResult, call_id="a", outcome="interrupted")
    log.human("Not yet")
    log.add(ToolCall, call_id="b", tool="bash", action="run", command="git push")
    log.add(ToolResult, call_id="b", outcome="interrupted")
    assert [r.what for r in log.evidence().rejections] == ["git add .", "git push"]


def test_harness_summaries_keep_both_ends(log) -> None:
    log.add(Compaction, summary="head " + "x" * 9000 + " tail")
    log.add(Compaction, opaque=True)
    log.add(Compaction, micro=True)
    evidence = log.evidence()
    (summary,) = evidence.harness_summaries
    assert (summary.by, len(summary.text)) == ("harness", MAX_SUMMARY)
    assert summary.text.startswith("head")
    assert summary.text.endswith("tail")
    assert evidence.omitted["harness_summaries_opaque"] == 1
    assert evidence.sessions[0].compactions == 2


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("All green. Next, I will wire the command into the CLI.", "Next, I will wire the command into the CLI."),
        ("Fixed it.\n\n## Next steps\n\n1. Run the migration\n2. Deploy", "Next steps: Run the migration"),
        ("The parser works. Now let me add the tests for it.", "Now let me add the tests for it."),
        ("I'm running the suite now.", "I'm running the suite now."),
        ("Done with a.\n\nThe cache is still cold on start. It costs a second.", "The cache is still cold on start."),
        ("Remaining: the Windows paths.\n```\nlet me not be found\n```", "Remaining: the Windows paths."),
        ("Done.", ""),
        (
            "Committed as `1a2b`. Ready for `/plan 14` whenever you want to continue.",
            "Ready for `/plan 14` whenever you want to continue.",
        ),
        ("The cache is warm now.\n\nIf you'd rather keep it cold, say so and I'll stop.", "The cache is warm now."),
        (
            "Both loaders pass now. Here is what changed:\n\n- `a.py` gains a cache\n- `b.py` loses one",
            "Both loaders pass now.",
        ),
        (
            "All three files are updated.\n\n`★ Insight ────────────`\nA rule.\n`────────────────────`",
            "All three files are updated.",
        ),
        ("I added the check.\n\nWhich would you like next?", "I added the check."),
        ("Created:\n\n| a | b |\n", ""),
        ("", ""),
        ("接下来我会补上测试。", "接下来我会补上测试。"),
        (
            "slugify passes. I stopped here; next: cut to n-1 in src/slug.py.",
            "I stopped here; next: cut to n-1 in src/slug.py.",
        ),
        ("Yes — exactly. Updated the plan and pushed it.", "Updated the plan and pushed it."),
        (
            "The app is complete:\n\n1. Todo list features:\n   - View all todos\n\nIt needs no server.",
            "It needs no server.",
        ),
        ("To do:\n- Write the docs for it", "To do: Write the docs for it"),
        ("The greeting is answered.\n\nI'm standing by and ready to help with any task.", "The greeting is answered."),
        ("There is no task yet. Once you share the details, I'll be happy to start.", "There is no task yet."),
        ("All done! What's next on the agenda?", ""),
        ("Done. You were right to ask for it. The docs name the command now.", "The docs name the command now."),
        (
            "Pushed and run.\n\nOnly a warning came of it; it stopped nothing. The branch still needs to be merged into main.",
            "The branch still needs to be merged into main.",
        ),
        (
            "All cases work. Let's go through it again:\n\n1. Dates are read as objects\n\nThis lets dates be written.",
            "All cases work.",
        ),
        ("The dates are read. Let me run the tests:", "Let me run the tests:"),
        ("1. **`main()`**: the place where it begins", "`main()`: the place where it begins"),
        ("It takes `a**b` and **kwargs as they come.", "It takes `a**b` and **kwargs as they come."),
    ],
)
def test_next_step(text: str, step: str) -> None:
    assert next_step(text)[0] == step


def test_last_step_is_the_main_agents_last_word(log) -> None:
    log.say("I will fix the parser.")
    log.say("thinking", reasoning=True)
    log.say("I will search the code.", agent_id="sub")
    log.say("I will go back.", active=False)
    step = log.evidence().last_step
    assert step is not None
    assert (step.text, step.by) == ("I will fix the parser.", "agent")


def test_the_last_word_is_done_once_the_call_beside_it_has_ended(make_log) -> None:
    def done(act) -> bool:
        log = make_log()
        log.human("Mend the parser.")
        log.run("make docs")
        log.say("Now I will run the tests:")
        act(log)
        step = log.evidence().last_step
        assert step is not None
        return step.done

    assert done(lambda log: log.run("pytest -q"))
    assert done(lambda log: log.run("pytest -q", 1)), "it ran, whatever came of it"
    assert done(lambda log: (log.edit("src/a.py"), log.run("make lint", 1)))
    assert not done(lambda log: None)
    assert not done(lambda log: log.begin("pytest -q"))
    assert not done(lambda log: log.run("pytest -q", None, outcome="rejected"))
    assert not done(lambda log: log.edit("src/a.py", outcome="failed"))
    assert not done(lambda log: (log.run("pytest -q"), log.say("The tests pass. Next I will cut a release.")))


def test_a_nod_leaves_the_last_word_standing(log) -> None:
    log.human("What did I just run?")
    log.say("You ran ls, which lists the folder.")
    log.human("ok")
    log.say("👍")
    evidence = log.evidence()
    assert evidence.last_step is not None
    assert evidence.last_step.text == "You ran ls, which lists the folder."
    assert (evidence.turn_closed, evidence.cut_off) == (True, False)


def test_closing_words_of_a_turn_are_statements(log) -> None:
    log.human("do it")
    log.say("Let me look.")
    log.run("ls src")
    log.say("It is done: the parser reads both forms.")
    log.human("and now?")
    log.say("I will add tests.")
    assert [s.text for s in log.evidence().statements] == [
        "It is done: the parser reads both forms.",
        "I will add tests.",
    ]


def test_the_last_plan_of_the_newest_session(log, make_log) -> None:
    from passdown.evidence.collect import collect_evidence
    from passdown.model.evidence import RepositoryFacts

    later, latest = make_log("s2", start=log.clock + 10_000), make_log("s3", start=log.clock + 20_000)
    log.add(PlanUpdate, items=(PlanItem(text="old"),))
    later.add(PlanUpdate, items=(PlanItem(text="a", status="completed"), PlanItem(text="b", status="in_progress")))
    later.add(PlanUpdate, items=(PlanItem(text="sub"),), agent_id="sub")
    logs = [(one.ref, one.events) for one in (latest, log, later)]
    plan = collect_evidence(RepositoryFacts(root="/srv/project"), sessions=logs).plan
    assert plan is not None
    assert [item.text for item in plan.items] == ["a", "b"]
    assert plan.source is not None
    assert plan.source.path == "s2"
    later.add(PlanUpdate, items=())
    assert collect_evidence(RepositoryFacts(root="/srv/project"), sessions=logs).plan is None


@pytest.mark.parametrize(
    ("said", "view"),
    [
        ("The cut is right, truncate() still fails. Next: take n-1.\n\nNow I'll submit:", "Next: take n-1."),
        ("The parser reads both forms now. Let me submit the final patch.", "The parser reads both forms now."),
        ("Now I'll submit the final output:", None),
        ("The fix should work and I will now submit.", None),
        (
            "rm prints nothing, so that worked. With that done, we should submit our changes.",
            "rm prints nothing, so that worked.",
        ),
        ("Now let's check the other case as well:\n```sh\ntrue\n```", None),
    ],
    ids=["step", "report", "announcement", "in one breath", "we should", "only a call"],
)
def test_what_is_said_when_the_work_is_handed_in_is_the_last_word(log, said: str, view: str | None) -> None:
    log.human("Mend truncate().")
    log.say("Let me look at it first.")
    log.run("cat src/slug.py")
    log.say(said)
    log.run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    evidence = log.evidence()
    assert (evidence.last_step.text if evidence.last_step else None) == view
    assert evidence.turn_closed


@pytest.mark.parametrize(
    ("said", "arguments", "view"),
    [
        ("Analysis: The file holds the greeting.\nPlan: Task is complete.", {}, "The file holds the greeting."),
        ("Analysis: Yes, confirming task completion.\nPlan: Final confirmation.", {}, None),
        ("All done! What's next on the agenda?", {"message": "Task complete. The greeting is in hello.txt."},
         "The greeting is in hello.txt."),
        ("Marking it complete.", {"verdict": "PASS", "summary": "The greeting was read back."}, "The greeting was read back."),
    ],
)  # fmt: skip
def test_a_call_that_says_so_hands_the_work_in(log, said: str, arguments: dict, view: str | None) -> None:
    log.human("Write a greeting.")
    log.run("echo hello > hello.txt")
    log.say(said)
    tool = "finish" if arguments else "mark_task_complete"
    log.add(ToolCall, call_id="z", tool=tool, arguments=arguments)
    evidence = log.evidence()
    assert (evidence.last_step.text if evidence.last_step else None) == view
    assert (evidence.turn_closed, evidence.cut_off) == (True, False)


def test_what_was_said_when_the_work_was_first_handed_in_stands_when_it_is_again(log) -> None:
    log.human("Mend truncate().")
    log.say("truncate() cuts to n now; the old callers still pass n + 1.")
    log.run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    log.say("Let me remove the scratch files and submit again:")
    log.run("rm probe.py")
    log.run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    step = log.evidence().last_step
    assert step is not None
    assert step.text == "truncate() cuts to n now; the old callers still pass n + 1."
