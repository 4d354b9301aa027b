"""Files touched, and the edit that was cut short."""

from __future__ import annotations

from passdown.evidence.collect import collect_evidence
from passdown.evidence.touches import MAX_TOUCHES
from passdown.model.evidence import RepositoryFacts, Worktree
from passdown.model.session import ToolCall, ToolResult


def test_touches_are_relative_and_merged(log) -> None:
    log.edit("/srv/project/src/a.py", action="write")
    log.edit("src/a.py")
    log.edit("b.py", cwd="/srv/project/src")
    log.edit("/srv/project/gone.py", action="delete")
    log.edit("/etc/hosts")
    log.edit("/srv/project/other.py", outcome="failed")
    log.edit("/srv/project/no.py", outcome="rejected")
    log.edit("/srv/project/back.py", active=False)
    log.edit("/srv/project/copied.py", copied=True)
    evidence = log.evidence()
    found = [(t.path, t.action, t.times, t.failed) for t in evidence.touches]
    assert found == [
        ("src/a.py", "edit", 2, False),
        ("src/b.py", "edit", 1, False),
        ("gone.py", "delete", 1, False),
        ("other.py", "edit", 1, True),
    ]
    assert evidence.omitted["touches_outside"] == 1


def test_touches_of_results_other_machines_and_worktrees(make_log) -> None:
    log = make_log(cwd="/Users/dev/code/project/packages/web")
    log.add(ToolCall, call_id="p", tool="apply_patch", action="edit", paths=("a.ts",))
    log.add(ToolResult, call_id="p", outcome="ok", paths=("/Users/dev/code/project/packages/web/b.ts",))
    log.edit("/srv/project-wt/src/c.py")
    log.edit("C:\\code\\project\\d.py")
    repository = RepositoryFacts(root="/srv/project", worktrees=(Worktree(path="/srv/project-wt", name="project-wt"),))
    evidence = log.evidence(repository=repository)
    assert [touch.path for touch in evidence.touches] == ["packages/web/a.ts", "packages/web/b.ts", "src/c.py"]


def test_touches_agree_with_git(repository, make_log) -> None:
    log = make_log(cwd=str(repository.root))
    for path, action in (("src/new.py", "write"), ("README.md", "edit")):
        repository.write(path, "changed\n")
        log.edit(str(repository.root / path), action=action)
    evidence = log.evidence(repository=RepositoryFacts(root=str(repository.root)))
    listed = repository.git("status", "--porcelain", "-uall").splitlines()
    assert sorted(touch.path for touch in evidence.touches) == sorted(line[2:].strip() for line in listed)


def test_the_number_of_files_is_bounded(log) -> None:
    for number in range(MAX_TOUCHES + 5):
        log.edit(f"/srv/project/f{number}.py")
    evidence = log.evidence()
    assert (len(evidence.touches), evidence.omitted["touches"]) == (MAX_TOUCHES, 5)


def test_an_edit_without_a_result_is_interrupted(log) -> None:
    log.edit("/srv/project/a.py")
    assert log.evidence().interrupted_edit is None
    log.edit("/srv/project/b.py", outcome=None)
    cut = log.evidence().interrupted_edit
    assert cut is not None
    assert (cut.path, cut.tool) == ("b.py", "edit")
    log.edit("/srv/project/c.py")
    assert log.evidence().interrupted_edit is None
    log.edit("/srv/project/d.py", outcome="interrupted")
    assert log.evidence().interrupted_edit is not None


def test_rejected_failed_and_rewound_edits_leave_nothing_half_done(log) -> None:
    for outcome in ("rejected", "failed"):
        log.edit("/srv/project/a.py", outcome=outcome)
        assert log.evidence().interrupted_edit is None
    log.edit("/srv/project/a.py", outcome=None, active=False)
    assert log.evidence().interrupted_edit is None


def test_a_later_session_settles_the_edit(log, make_log) -> None:
    log.edit("/srv/project/a.py", outcome=None)
    later = make_log("s2", start=log.clock + 1000)
    later.edit("/srv/project/a.py")
    logs = [(log.ref, log.events), (later.ref, later.events)]
    assert collect_evidence(RepositoryFacts(root="/srv/project"), sessions=logs).interrupted_edit is None
