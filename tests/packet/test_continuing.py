"""What a person who continues the work needs: the right next step, real failures, commands in short."""

from __future__ import annotations

import pytest
from msgspec import structs

from passdown.model.evidence import CommandRun, Directive, FileTouch, PlanFact, Rejection, Source, Statement, TestFacts
from passdown.model.session import PlanItem
from passdown.packet.brief import brief
from passdown.packet.build import build_packet
from passdown.packet.looking import looks_around
from passdown.packet.render import render_markdown
from passdown.packet.stated import says_what_next
from passdown.packet.vague import is_filler, is_rounding_off


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("npm test", "npm test"),
        ("git add a && git commit -m \"$(cat <<'EOF'\nfix: x\n\nbody\nEOF\n)\"", 'git add a && git commit -m "…'),
        ("python3 - <<'PY'\nimport os\nPY", "python3 - <<'PY' …"),
        ("go build ./... && \\\n  go vet ./...", "go build ./... && go vet ./..."),
        ("echo " + "x" * 300, "echo " + "x" * 154 + "…"),
    ],
)
def test_brief(command: str, shown: str) -> None:
    assert brief(command) == shown


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src | head -3",
        "cd a && git log --oneline",
        "sed -n 1,9p x",
        "which node",
        "Get-ChildItem -Recurse | Where-Object Name -like x | Select-Object FullName",
    ],
)
def test_looking_around(command: str) -> None:
    assert looks_around(command)


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "git push",
        "cat x && rm x",
        "sed -i s/a/b/ x",
        "curl -f localhost:80",
        "Get-ChildItem x | Remove-Item",
    ],
)
def test_more_than_looking_around(command: str) -> None:
    assert not looks_around(command)


@pytest.mark.parametrize(
    "text",
    [
        "I’m making a commit first, then I’ll rebase onto main and push.",
        "The tags are still stale until the publish workflow runs again.",
        "Ready for `/plan 14` whenever you want to continue.",
    ],
)
def test_announcements(text: str) -> None:
    assert says_what_next(text)


@pytest.mark.parametrize(
    "text",
    [
        'Updated the "Next steps" section to mention `tmux`.',
        "Which one should I do next?",
        "I’ll look at the files first.",
    ],
)
def test_no_announcements(text: str) -> None:
    assert not says_what_next(text)


@pytest.mark.parametrize("text", ["ok", "yes please", "continue", "继续", "go on", "That looks right"])
def test_fillers_ask_for_nothing(text: str) -> None:
    assert is_filler(text)


@pytest.mark.parametrize("text", ["please push", "commit it", "推送", "1"])
def test_short_requests_are_requests(text: str) -> None:
    assert not is_filler(text)


@pytest.mark.parametrize("text", ["Commit the changes", "nice, commit and push", "after that commit push", "推送"])
def test_rounding_off_is_not_the_work(text: str) -> None:
    assert is_rounding_off(text)


@pytest.mark.parametrize("text", ["commit the parser fix and add a test", "push src/a.py", "remove the active view"])
def test_the_work_is_not_rounding_off(text: str) -> None:
    assert not is_rounding_off(text)


PLAN = (PlanItem(text="Load the sessions by path", status="in_progress"), PlanItem(text="Run the tests and lint"))


def test_a_plan_left_behind_is_no_next_step(make_evidence) -> None:  # type: ignore[no-untyped-def]
    later = Directive(text="Remove the active view", at=200)
    fields = {"plan": PlanFact(items=PLAN, at=100), "tests": TestFacts()}
    standing = build_packet(make_evidence(**fields, directives=(structs.replace(later, text="why is it slow?"),)))
    assert standing.next_action.text == PLAN[0].text
    left = build_packet(make_evidence(**fields, directives=(later,), statements=(Statement(text="Gone.", at=300),)))
    assert left.next_action.source == "derived:last_request"
    assert [item.text for item in left.remaining] == [item.text for item in PLAN]
    assert "not touched since" in left.remaining[0].source


def test_a_green_run_fulfils_an_item_that_asks_for_it(make_evidence) -> None:  # type: ignore[no-untyped-def]
    tests = TestFacts(commands=("npm test",), state="green", last_outcome="green", at=200)
    packet = build_packet(make_evidence(plan=PlanFact(items=PLAN, at=100), tests=tests))
    assert [item.text for item in packet.remaining] == [PLAN[0].text]
    assert PLAN[1].text in [item.text for item in packet.completed]


def test_the_goal_of_a_plan_is_its_title_and_nobody_said_it(make_evidence) -> None:  # type: ignore[no-untyped-def]
    plan = Directive(text="Implement the following plan:\n\n# Plan: Limit the export\n\n## Context", origin="plan")
    packet = build_packet(make_evidence(directives=(plan, Directive(text="on another branch"))))
    assert packet.goal == "Limit the export"
    assert [line.text for line in packet.directives] == ["on another branch"]


def test_the_last_word_yields_to_a_request_after_it(make_evidence) -> None:  # type: ignore[no-untyped-def]
    step = Statement(text="Next, I will wire the parser into the loader.", at=100)
    packet = build_packet(make_evidence(last_step=step, directives=(Directive(text="no, undo the parser", at=200),)))
    assert packet.next_action.text == "Take up the last request: “no, undo the parser”"


def test_a_request_under_review_waits_for_nobody(make_evidence) -> None:  # type: ignore[no-untyped-def]
    said = Statement(text="Done.", at=300)
    packet = build_packet(
        make_evidence(directives=(Directive(text="git push --force it", at=200),), statements=(said,))
    )
    if packet.next_action.text.startswith("Review"):
        assert not packet.next_action.requires_human


def test_changes_that_git_does_not_show_are_looked_for(make_evidence, make_repository_facts) -> None:  # type: ignore[no-untyped-def]
    packet = build_packet(
        make_evidence(
            repository=make_repository_facts(changes=(), commits=()),
            directives=(Directive(text="wire the parser in", at=200),),
            statements=(Statement(text="Wired.", at=300),),
            touches=(FileTouch(path="src/load.py", action="edit"),),
        )
    )
    assert packet.next_action.text == "Find out where the session's changes went: git shows none of src/load.py"


def test_failures_that_tell_nothing_are_left_away(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    look = make_chain("cat missing.txt", make_run(3, 1), kind="search")
    never = make_chain("sleep 9; make", make_run(4, 1, error_line="<tool_use_error>Blocked: sleep"), kind="build")
    stopped = make_chain("make serve", make_run(5, None, result="interrupted"), kind="build", failures=0)
    real = make_chain("make lint", make_run(6, 2), kind="lint")
    packet = build_packet(make_evidence(chains=(look, never, stopped, real)))
    assert [attempt.what for attempt in packet.failed_attempts] == ["make lint"]


def test_a_later_list_makes_a_failure_good(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    failed = make_chain("npm run build", make_run(3, 1), kind="build")
    green = make_chain("npm ci && npm run build", make_run(9, 0), kind="build")
    (attempt,) = build_packet(make_evidence(chains=(failed, green))).failed_attempts
    assert attempt.resolved
    early = make_chain("npm ci && npm run build", make_run(2, 0), kind="build")
    (attempt,) = build_packet(make_evidence(chains=(failed, early))).failed_attempts
    assert not attempt.resolved


def test_a_log_that_ends_in_a_command_asks_whether_it_finished(make_evidence, make_chain) -> None:  # type: ignore[no-untyped-def]
    def begun(command: str, result: str, at: int):  # type: ignore[no-untyped-def]
        run = CommandRun(command=command, result=result, at=at, source=Source(kind="session", path="s1", line=3))  # type: ignore[arg-type]
        return make_chain(command, run, kind="other", final="unknown")

    request, said = Directive(text="Release 0.2 of the parser", at=5), Statement(text="I am at it.", at=6)
    known = {"directives": (request,), "cut_off": True, "statements": (said,)}
    asked = "Find out whether `make release` finished, then go on with the last request: “Release 0.2 of the parser”"
    chains = (begun("make docs", "ok", 6), begun("make release", "unknown", 7))
    assert build_packet(make_evidence(chains=chains, **known)).next_action.text.startswith(asked)
    for rest in ((begun("git status", "unknown", 8),), (begun("make docs", "ok", 8),)):
        text = build_packet(make_evidence(chains=rest, **known)).next_action.text
        assert text.startswith("Go on with the last request: “Release 0.2 of the parser”")
    known["directives"] = (Directive(text="pick up where we left off", at=5),)
    packet = build_packet(make_evidence(chains=chains, **known))
    assert packet.next_action.text == "Find out whether `make release` finished; the session ended in the middle of it"


def test_how_a_run_without_exit_code_ended(make_evidence, make_chain) -> None:  # type: ignore[no-untyped-def]
    def run(result: str) -> CommandRun:
        return CommandRun(command="x", result=result, source=Source(kind="session", path="s1", line=3))  # type: ignore[arg-type]

    hidden = make_chain("tsgo --noEmit", run("failed"), kind="lint", final="failed", failures=1)
    fine = make_chain("make docs", run("ok"), kind="build", final="ok", failures=0)
    markdown = render_markdown(build_packet(make_evidence(chains=(hidden, fine))))
    assert "`tsgo --noEmit` — failed, exit code hidden" in markdown
    assert "`make docs` — ok, exit code not recorded" in markdown


def test_an_interruption_is_told_with_the_next_words(make_evidence) -> None:  # type: ignore[no-untyped-def]
    stopped = Rejection(what="make deploy", kind="interrupted", source=Source(kind="session", path="s1", line=5))
    words = Directive(text="build it first", source=Source(kind="session", path="s1", line=7))
    (decision,) = build_packet(make_evidence(rejections=(stopped,), directives=(words,))).decisions
    assert decision.why == "reason not recorded; then said: “build it first”"


def test_words_that_came_much_later_are_not_the_next_ones(make_evidence) -> None:  # type: ignore[no-untyped-def]
    at = [1, 2, 3, 4, 5, 300, 310]
    words = tuple(Directive(text=f"word {line}", source=Source(kind="session", path="s1", line=line)) for line in at)
    for line, why in ((100, ""), (4, "; then said: “word 5”"), (305, "; then said: “word 310”")):
        stopped = Rejection(what="make", kind="interrupted", source=Source(kind="session", path="s1", line=line))
        known = {"rejections": (stopped,), "directives": words, "omitted": {"directives": 40}}
        (decision,) = build_packet(make_evidence(**known)).decisions
        assert decision.why == f"reason not recorded{why}"


def test_in_a_document_of_one_line_the_time_says_which_words_came_next(make_evidence) -> None:  # type: ignore[no-untyped-def]
    source = Source(kind="session", path="s1", line=1)
    stopped = Rejection(what="make deploy", kind="interrupted", source=source, at=5)
    words = (Directive(text="deploy it", source=source, at=4), Directive(text="build it first", source=source, at=6))
    (decision,) = build_packet(make_evidence(rejections=(stopped,), directives=words)).decisions
    assert decision.why == "reason not recorded; then said: “build it first”"


@pytest.mark.parametrize(
    ("said", "done", "source"),
    [
        ("The parser is in. Now let me run the tests:", True, "derived:last_request"),
        ("Now I'll wire the parser into the loader.", True, "derived:last_request"),
        ("I’m staging src/load.py and creating one commit", True, "derived:last_request"),
        ("The parser is in. Now let me run the tests:", False, "derived:last_step"),
        ("Next: wire the parser into the loader", True, "derived:last_step"),
        ("I'll wire the parser into the loader, then measure it", True, "derived:last_step"),
    ],
)
def test_what_was_done_at_once_is_no_next_step(make_evidence, said, done, source) -> None:  # type: ignore[no-untyped-def]
    evidence = make_evidence(
        last_step=Statement(text=said, done=done), plan=None, cut_off=True,
        directives=(Directive(text="Give the loader a parser for quotes"),),
    )  # fmt: skip
    action = build_packet(evidence).next_action
    assert action.source == source
    assert source == "derived:last_step" or action.agents_view == said
