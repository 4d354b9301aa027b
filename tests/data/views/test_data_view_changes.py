"""What actions did to the files, step by step: made, changed, put back, stashed, committed, removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from passdown.data.prefix import cut
from passdown.data.views.changes import FileChange, ledger_of, status_lines

Script = Callable[..., Any]


def after(script: Script, *commands: str, output: str = "") -> dict[str, str]:
    """Return the state of each changed file after these commands."""
    run = script().asks("Mend it.").runs("cat src/a.py README.md", "x")
    for command in commands:
        run.runs(command, output)
    return {path: known.status for path, known in ledger_of(run.trajectory().steps).files.items()}


MADE = "cat > new.py <<'EOF'\nx\nEOF"
EDITED = "sed -i s/a/b/ src/a.py"


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([MADE], {"new.py": "A"}),
        ([EDITED], {"src/a.py": "M"}),
        (["mkdir -p src/new", "mkdir src/new/sub/"], {}),
        ([MADE, "sed -i s/a/b/ new.py"], {"new.py": "A"}),
        (["cat > src/a.py <<'EOF'\nx\nEOF"], {"src/a.py": "M"}),
        ([MADE, "rm new.py"], {}),
        ([MADE, "rm -f new.py"], {}),
        (["rm src/a.py"], {"src/a.py": "D"}),
        (["rm -rf build"], {}),
        (["rm src/a.py", "cat > src/a.py <<'EOF'\nx\nEOF"], {"src/a.py": "M"}),
        (["mv src/a.py src/b.py"], {"src/a.py": "D", "src/b.py": "A"}),
        ([MADE, "mv new.py newer.py"], {"newer.py": "A"}),
        ([EDITED, "git checkout -- src/a.py"], {}),
        ([EDITED, "git checkout src/a.py"], {}),
        ([EDITED, "git restore src/a.py"], {}),
        ([EDITED, MADE, "git checkout ."], {"new.py": "A"}),
        ([EDITED, MADE, "git reset --hard"], {"new.py": "A"}),
        ([EDITED, MADE, "git clean -fd"], {"src/a.py": "M"}),
        ([EDITED, "git checkout main"], {"src/a.py": "M"}),
        ([EDITED, "git checkout -b topic"], {"src/a.py": "M"}),
        ([EDITED, "git stash"], {}),
        ([EDITED, "git stash", "git stash list"], {}),
        ([EDITED, "git stash", "git stash pop"], {"src/a.py": "M"}),
        ([EDITED, "git diff", "git status", "git log"], {"src/a.py": "M"}),
        (["python -m pytest", "ls", "grep -rn x src"], {}),
    ],
)
def test_files_after_commands(script: Script, commands: list[str], expected: dict[str, str]) -> None:
    assert after(script, *commands) == expected


def test_what_failed_changed_nothing(script: Script) -> None:
    trajectory = script().asks("Mend it.").runs(EDITED, "sed: can't read src/a.py", 2).trajectory()
    assert ledger_of(trajectory.steps).files == {}


def test_a_commit_is_told_with_what_it_took(script: Script) -> None:
    trajectory = (
        script().asks("Mend it.").runs("cat src/a.py src/b.py").runs(EDITED).runs("sed -i s/a/b/ src/b.py").runs(MADE)
        .runs("git add src/a.py && git commit -m 'Mend a'", "[main 1a2b3c4] Mend a\n 1 file changed")
        .trajectory()
    )  # fmt: skip
    ledger = ledger_of(trajectory.steps)
    facts = ledger.facts(cut(trajectory, len(trajectory.steps)))
    assert [(commit.id, commit.subject) for commit in facts.commits] == [("1a2b3c4", "Mend a")]
    assert (facts.branch, facts.head) == ("main", "")
    loose = {change.path: (change.uncommitted, change.untracked) for change in facts.changes}
    assert loose == {"new.py": (True, True), "src/a.py": (False, False), "src/b.py": (True, False)}
    assert list(status_lines(ledger)) == ["?? new.py", " M src/b.py"]


def test_a_commit_without_a_branch_is_one(script: Script) -> None:
    made = (
        script()
        .asks("Mend it.")
        .runs(EDITED)
        .runs("git commit -am 'Mend a'", "[detached HEAD 1a2b3c4] Mend a\n 1 file")
    )
    run = made.trajectory()
    facts = ledger_of(run.steps).facts(cut(run, len(run.steps)))
    assert ([commit.id for commit in facts.commits], facts.branch) == (["1a2b3c4"], "")


def test_a_copy_stays_as_it_was(script: Script) -> None:
    trajectory = script().asks("Mend it.").runs(MADE).runs("rm new.py").trajectory()
    ledger = ledger_of(trajectory.steps[:2])
    kept = ledger.copy()
    ledger.take(trajectory.steps[2])
    assert (list(kept.files), list(ledger.files)) == (["new.py"], [])


@pytest.mark.parametrize(
    ("path", "new", "scratch", "test"),
    [
        ("reproduce.py", True, True, False),
        ("repro_issue.py", False, True, False),
        ("src/thing.py.bak", True, True, False),
        ("check_it.py", True, True, False),
        ("setup.py", False, False, False),
        ("src/app.py", True, False, False),
        ("tests/test_app.py", True, False, True),
        ("src/app_test.go", False, False, True),
        ("pkg/integration_test/hooks.go", False, False, True),
        ("src/contest.py", False, False, False),
        ("src/debugger/core.py", False, False, False),
    ],
)
def test_by_products_and_tests_are_told_from_sources(path: str, new: bool, scratch: bool, test: bool) -> None:
    known = FileChange(path=path, status="A" if new else "M", step=1, new=new)
    assert (known.scratch, known.test) == (scratch, test)
