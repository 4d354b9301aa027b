"""What each detector finds, and what it must not take for it."""

from __future__ import annotations

import pytest

from passdown.data.points.table import DETECTORS, FAMILIES, family
from passdown.data.records import Outcome
from passdown.model.session import PlanItem, PlanUpdate

EDITOR = "str_replace_editor"


def swap(path, old, new):
    return {"command": "str_replace", "path": f"/testbed/{path}", "old_str": old, "new_str": new}


def plan(run, **items):
    run.events.append(PlanUpdate(items=tuple(PlanItem(text=text, status=status) for text, status in items.items())))
    return run


def begun(script):
    """A run that has looked around: cuts from the second step on are possible."""
    return script().asks("Mend it.").runs("cat src/a.py", "x = 1\n")


def test_the_table_names_what_is_there(script, marks_of):
    assert {detector.kind for detector in DETECTORS} == set(FAMILIES)
    assert all(callable(family(name)) for name in FAMILIES)
    assert len({detector.name for detector in DETECTORS}) == len(DETECTORS)


# --- milestones ------------------------------------------------------------------------------------------------------


def test_a_transition_needs_a_test_that_failed(script, marks_of):
    run = begun(script).runs("pytest -q", "FAILED t.py::test_a - x\n1 failed, 1 passed in 0.1s", 1)
    run.uses(EDITOR, swap("src/a.py", "1", "2")).runs("pytest -q", "2 passed in 0.1s").runs(
        "pytest -q t2.py", "1 passed"
    )
    assert marks_of(run.trajectory())["test_transition"] == [5]


def test_no_transition_while_another_test_breaks(script, marks_of):
    run = begun(script).runs(
        "pytest -rA t.py", "FAILED t.py::test_a - x\nPASSED t.py::test_b\n1 failed, 1 passed in 1s", 1
    )
    run.runs("pytest -rA t.py", "PASSED t.py::test_a\nFAILED t.py::test_b - x\n1 failed, 1 passed in 1s", 1)
    found = marks_of(run.trajectory())
    assert found["test_transition"] == []
    assert found["regression"] == [4]


def test_a_file_is_complete_with_its_last_change(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).uses(EDITOR, swap("src/a.py", "2", "3"))
    run.uses(EDITOR, {"command": "create", "path": "/testbed/reproduce.py", "file_text": "print(1)"})
    found = marks_of(run.says("Done.").trajectory())
    assert found["file_complete"] == [4]
    assert found["open_subtask"] == [3]
    assert marks_of(run.trajectory(outcome=Outcome(resolved=False)))["file_complete"] == []


def test_a_commit_is_one_that_went_through(script, marks_of):
    run = begun(script).runs("git commit -m 'x'", "nothing to commit, working tree clean", 1)
    run.runs("git add -A && git commit -qm 'y'").runs("git commit --dry-run", "nothing to commit", None)
    run.runs("git log --oneline", "abc y").runs("echo git commit")
    assert marks_of(run.trajectory())["commit"] == [4]


def test_an_item_is_ticked_that_was_open(script, marks_of):
    run = plan(begun(script).runs("ls", "src"), a="completed", b="in_progress")
    run = plan(run.runs("cat src/b.py", "y"), a="completed", b="completed")
    run = plan(run.runs("cat src/c.py", "z"), a="completed", b="completed", c="cancelled")
    assert marks_of(run.trajectory())["todo_ticked"] == [4]


def test_a_result_validates_what_was_changed_since(script, marks_of):
    run = begun(script).runs("pytest", "1 passed").uses(EDITOR, swap("src/a.py", "1", "2"))
    run.runs("ruff format .").runs("pytest", "1 passed").runs("pytest", "1 passed")
    run.uses(EDITOR, swap("README.md", "1", "2")).runs("pytest", "1 passed")
    run.uses(EDITOR, swap("tests/test_a.py", "1", "2")).runs("python -m mypy src", "Success: no issues found")
    assert marks_of(run.trajectory())["validation_result"] == [6, 11]


# --- mid-states ------------------------------------------------------------------------------------------------------


def test_the_first_modification_is_of_source(script, marks_of):
    run = begun(script).uses(EDITOR, {"command": "create", "path": "/testbed/reproduce_bug.py", "file_text": "1"})
    run.uses(EDITOR, swap("tests/test_a.py", "1", "2")).uses(EDITOR, swap("docs/a.md", "1", "2"))
    run.uses(EDITOR, swap("src/a.py", "9", "2"), "no match", "failed").uses(EDITOR, swap("src/a.py", "1", "2"))
    run.uses(EDITOR, swap("src/b.py", "1", "2"))
    assert marks_of(run.trajectory())["first_meaningful_modification"] == [7]


def test_an_edit_by_a_script_counts_when_it_is_run(script, marks_of):
    code = "text = open('src/a.py').read()\nopen('./src/a.py', 'w').write(text.replace('1', '2'))"
    run = begun(script).runs(f"cat > fix_a.py <<'EOF'\n{code}\nEOF").runs("python fix_a.py", "Fixed")
    run.runs("cat src/a.py", "x = 2\n")
    found = marks_of(run.trajectory())
    assert found["first_meaningful_modification"] == [4]
    assert found["unvalidated_edit"] == [4, 5]


def test_a_script_that_changed_nothing_is_no_edit_once_somebody_looks(script, marks_of):
    before = "\n".join(f"x{n} = {n}" for n in range(9))
    code = "text = open('src/c.py').read()\nopen('src/c.py', 'w').write(text.replace('77', '2'))"
    run = script().asks("Mend it.").runs("cat src/c.py", before)
    run.runs(f"cat > fix_c.py <<'EOF'\n{code}\nEOF").runs("python fix_c.py", "Fixed")
    run.runs("sed -n 2,5p src/c.py", "\n".join(before.split("\n")[1:5])).runs("ls", "src")
    run.uses(EDITOR, swap("src/c.py", "x1 = 1", "x1 = 2")).says("There.")
    found = marks_of(run.trajectory())
    assert found["unvalidated_edit"] == [7, 8]
    assert (found["edit_burst"], found["open_subtask"]) == ([], [])


def test_an_edit_in_vain_hides_no_other(script, marks_of):
    before = "\n".join(f"x{n} = {n}" for n in range(9))
    run = script().asks("Mend it.").runs("cat src/c.py", before).runs("sed -i s/77/2/ src/c.py")
    run.uses(EDITOR, swap("src/b.py", "1", "2")).runs("sed -n 2,5p src/c.py", "\n".join(before.split("\n")[1:5]))
    found = marks_of(run.says("There.").trajectory())
    assert (found["unvalidated_edit"], found["first_meaningful_modification"]) == ([4, 5, 6], [4])


@pytest.mark.parametrize(
    ("command", "is_check"),
    [
        ("python src/pkg/a.py", True),
        ("./src/pkg/a.py --verbose x", True),
        ("python -c 'from pkg.a import f; print(f(1))'", True),
        ("python -c 'import os; from pkg import b, a as c'", True),
        ("python -c 'from pkg import b'", False),
        ("python -c 'import os; print(os.getcwd())'", False),
        ("python src/pkg/b.py", False),
    ],
)
def test_running_what_was_changed_is_a_check(command, is_check, script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/pkg/a.py", "1", "2")).runs(command, "Traceback", 1)
    found = marks_of(run.trajectory())
    assert found["validation_failed"] == found["check_failed"] == ([4] if is_check else [])
    assert found["unvalidated_edit"] == ([3] if is_check else [3, 4])


def test_a_sed_that_finds_nothing_to_change_is_no_edit(script, marks_of):
    run = begun(script).runs("sed -i 's/7/2/' src/a.py").runs("sed -i 's/1/2/' src/a.py").says("There.")
    assert marks_of(run.trajectory())["unvalidated_edit"] == [4, 5]


def test_an_item_in_progress_is_open_once_something_is_changed_for_it(script, marks_of):
    run = plan(begun(script).runs("ls", "src"), a="in_progress", b="pending")
    run.runs("cat src/b.py", "y").uses(EDITOR, swap("src/b.py", "y", "z")).runs("pytest", "1 passed")
    run = plan(run.says("Ticked."), a="completed", b="in_progress").runs("ls", "src")
    assert marks_of(run.trajectory())["open_subtask"] == [5, 6]


def test_a_burst_ends_with_a_check_or_with_time(script, marks_of):
    run = (
        begun(script)
        .uses(EDITOR, swap("src/a.py", "1", "2"))
        .runs("ls", "src")
        .uses(EDITOR, swap("src/a.py", "2", "3"))
    )
    run.runs("pytest", "1 passed").uses(EDITOR, swap("src/a.py", "3", "4"))
    run.runs("ls", "src").runs("ls src", "a.py").runs("ls tests", "t").uses(EDITOR, swap("src/a.py", "4", "5"))
    found = marks_of(run.trajectory())
    assert found["edit_burst"] == [5]
    assert found["unvalidated_edit"] == [3, 4, 5, 7, 8, 9, 10, 11]


def test_shares_of_a_context(script, marks_of):
    run = begun(script).runs("cat big.txt", "word " * 400).runs("cat more.txt", "word " * 400).runs("cat x", "y")
    assert marks_of(run.trajectory(), budget=1_400)["context_cut"] == [3, 4]
    assert marks_of(run.trajectory())["context_cut"] == []


# --- error states ----------------------------------------------------------------------------------------------------


def test_a_failure_before_any_work_is_none_of_the_works(script, marks_of):
    run = begun(script).runs("pytest", "1 failed, 1 passed in 0.1s", 1).uses(EDITOR, swap("src/a.py", "1", "2"))
    run.runs("pytest", "1 failed, 1 passed in 0.1s", 1).runs("cat src/b.py", "y").runs("pytest", "2 passed in 0.1s")
    found = marks_of(run.trajectory())
    assert found["check_failed"] == [3, 4, 5, 6]
    assert found["validation_failed"] == [5, 6]


def test_what_nobody_knows_leaves_red_what_was_red(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).runs("make", "error: boom", 2)
    run.runs("python check_it.py", "hm", None).runs("make fmt").runs("make", "")
    assert marks_of(run.trajectory())["validation_failed"] == [4, 5, 6]


@pytest.mark.parametrize("told", ["bash: pytest: command not found", "python: No module named pytest"])
def test_a_check_that_never_began_is_red(told, script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).runs("python -m pytest | tail -3", told)
    assert marks_of(run.trajectory())["validation_failed"] == [4]


def test_an_edit_that_is_taken_back(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).runs("git checkout -- src/a.py")
    run.uses(EDITOR, swap("src/a.py", "1", "3")).runs("git checkout main").says("Done.")
    assert marks_of(run.trajectory())["reverted_edit"] == [3]


@pytest.mark.parametrize(
    "command", ["git restore src/a.py", "git checkout .", "git reset --hard", "git checkout HEAD~1 -- src/a.py"]
)
def test_every_way_to_put_back(command, script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).runs(command).says("Gone.")
    found = marks_of(run.trajectory())
    assert (found["reverted_edit"], found["file_complete"], found["wrong_file"]) == ([3], [], [])


def test_what_was_committed_is_not_taken_back(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).runs("git commit -qam x")
    run.uses(EDITOR, swap("src/b.py", "1", "2")).runs("git checkout .").says("Done.")
    found = marks_of(run.trajectory())
    assert (found["reverted_edit"], found["wrong_file"]) == ([5], [5])


def test_an_edit_that_is_undone_by_another(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).uses(EDITOR, swap("src/a.py", "2", "1"))
    run.uses(EDITOR, swap("src/a.py", "1", "3")).says("Done.")
    assert marks_of(run.trajectory())["reverted_edit"] == [3]


def test_a_copy_put_back_takes_an_edit_back(script, marks_of):
    run = begun(script).runs("cp src/a.py src/a.py.bak").runs("sed -i s/1/2/ src/a.py").runs("cp src/a.py.bak src/a.py")
    run.runs("sed -i s/1/3/ src/a.py").says("Done.")
    assert marks_of(run.trajectory())["reverted_edit"] == [4]


def test_a_script_that_puts_a_copy_back_takes_an_edit_back(script, marks_of):
    def edits(*lines):
        code = "\n".join(("import shutil", *lines, "open('src/a.py', 'w').write('x')"))
        return f"cat > fix_it.py <<'EOF'\n{code}\nEOF\npython fix_it.py"

    run = begun(script).runs(edits("shutil.copy('src/a.py', 'src/a.py.backup')"), "Done")
    run.runs("ls", "src").runs(edits("shutil.copy('src/a.py.backup', 'src/a.py')"), "Done").says("There.")
    found = marks_of(run.trajectory())
    assert (found["reverted_edit"], found["file_complete"], found["wrong_file"]) == ([3], [5], [])


def test_a_loop_is_the_same_to_no_effect(script, marks_of):
    run = begun(script).runs("cat src/b.py", "y").runs("cat src/b.py", "y").runs("cat src/b.py", "y")
    assert marks_of(run.trajectory())["loop"] == [5]
    run = begun(script).runs("pytest", "1 failed", 1)
    run.uses(EDITOR, swap("src/a.py", "1", "2")).runs("pytest", "1 failed", 1)
    run.uses(EDITOR, swap("src/a.py", "2", "3")).runs("pytest", "1 failed", 1)
    assert marks_of(run.trajectory())["loop"] == [7]


def test_work_that_goes_on_is_no_loop(script, marks_of):
    run = begun(script)
    for number in range(4):
        run.uses(EDITOR, swap("src/a.py", str(number), str(number + 1))).runs("pytest -q", f"{number + 1} passed")
        run.runs("git status --short", " M src/a.py")
    assert marks_of(run.trajectory())["loop"] == []


def test_edits_that_fail_are_a_loop_whatever_they_say(script, marks_of):
    run = begun(script)
    for old in ("7", "8", "9"):
        run.uses(EDITOR, swap("src/a.py", old, "2"), "No replacement was performed", "failed")
    assert marks_of(run.trajectory())["loop"] == [5]


def test_a_wrong_file_is_not_in_the_final_diff(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/b.py", "1", "2")).uses(EDITOR, swap("src/a.py", "1", "2"))
    run.uses(EDITOR, {"command": "create", "path": "/testbed/repro.py", "file_text": "1"}).says("Done.")
    patch = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    assert marks_of(run.trajectory(outcome=Outcome(patch=patch)))["wrong_file"] == [3]
    assert marks_of(run.trajectory())["wrong_file"] == []


def test_a_file_that_was_moved_or_put_aside_is_no_wrong_one(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2")).runs("git mv src/a.py src/b.py")
    run.runs("cat > careful_plan.py <<'EOF'\nprint(1)\nEOF").runs("rm careful_plan.py").says("Done.")
    found = marks_of(run.trajectory())
    assert found["wrong_file"] == []
    assert found["file_complete"] == [4]


def test_a_file_that_was_made_and_taken_away_is_a_wrong_one(script, marks_of):
    run = begun(script).uses(EDITOR, {"command": "create", "path": "/testbed/src/n.py", "file_text": "1"})
    run.runs("rm src/n.py").uses(EDITOR, swap("src/a.py", "1", "2")).says("Done.")
    assert marks_of(run.trajectory())["wrong_file"] == [3]


def test_the_first_repair_after_a_failed_check(script, marks_of):
    run = begun(script).runs("pytest", "1 failed", 1).uses(EDITOR, swap("src/a.py", "1", "2"))
    run.runs("pytest", "1 failed", 1).uses(EDITOR, swap("tests/test_a.py", "1", "2"))
    run.runs("git checkout -- src/a.py").uses(EDITOR, swap("src/a.py", "1", "3")).uses(
        EDITOR, swap("src/a.py", "3", "4")
    )
    assert marks_of(run.trajectory())["post_failed_repair_edit"] == [8]


@pytest.mark.parametrize("command", ["mkdir -p notes", "chmod +x src/a.py", "git rm --cached src/a.py"])
def test_what_changes_no_content_is_no_edit(command, script, marks_of):
    found = marks_of(begun(script).runs(command).says("There.").trajectory())
    assert [found[name] for name in ("file_complete", "edit_burst", "unvalidated_edit", "wrong_file")] == [[]] * 4


def test_a_patch_that_fails_changes_none_of_its_files(script, marks_of):
    patch = "*** Begin Patch\n" + "".join(f"*** Update File: src/{one}.py\n@@\n-1\n+2\n" for one in "ab")
    run = begun(script).uses("apply_patch", {"input": f"{patch}*** End Patch"}, "verification failed", "failed")
    assert marks_of(run.says("Hm.").trajectory())["unvalidated_edit"] == []


def test_a_look_whether_a_file_can_be_parsed_is_a_check(script, marks_of):
    run = begun(script).uses(EDITOR, swap("src/a.py", "1", "2"))
    run.runs("python3 -c \"import ast; ast.parse(open('src/a.py').read())\"", "SyntaxError: invalid syntax", 1)
    assert marks_of(run.trajectory())["validation_failed"] == [4]


def test_cuts_that_are_left_out(script, points_of):
    run = (
        script()
        .asks("Mend it.")
        .says("I will.")
        .runs("cat src/a.py", "x = 1\n")
        .uses(EDITOR, swap("src/a.py", "1", "2"))
    )
    run.uses("submit", {})
    assert [point.k for point in points_of(run.trajectory())] == [3]
    again = run.runs("rm reproduce.py").uses(EDITOR, swap("src/a.py", "2", "3")).uses("submit", {})
    assert [point.k for point in points_of(again.trajectory())] == [3, 5, 6]
    assert points_of(script().asks("Hello").says("Hello").trajectory()) == ()


def test_a_point_keeps_all_marks_and_one_kind(script, points_of):
    run = (
        begun(script).runs("pytest", "1 passed").uses(EDITOR, swap("src/a.py", "1", "2")).runs("pytest", "1 failed", 1)
    )
    last = points_of(run.trajectory())[-1]
    assert last.kind == "error"
    assert {mark.kind for mark in last.marks} >= {"milestone", "error"}
    assert not last.oracle_select


def test_a_kind_that_only_the_future_shows_is_said_to_be_so(script, points_of):
    run = (
        begun(script).uses(EDITOR, {"command": "create", "path": "/testbed/notes/a.md", "file_text": "1"}).says("Done.")
    )
    first = points_of(run.trajectory())[0]
    assert (first.k, first.kind, first.oracle_select) == (3, "milestone", True)
