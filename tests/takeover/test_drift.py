"""Between wrap and take: what people and git do to a repository, and the right class for each claim. No false "holds"."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

Mutation = Callable[[Any], object]


class Case(NamedTuple):
    """What is done, the verdict, and the class of the claims it is about, by the end of their subject."""

    do: Mutation
    verdict: str
    classes: Mapping[str, tuple[str, str]]
    template: str = "dirty"


HEAD = "refs/heads/feat/limit"
GONE = ("contradicted", "missing")
EDITED = ("drifted", "edited")
SAME = ("holds", "same")


def nothing(p: Any) -> None:
    del p


def amend_message(p: Any) -> None:
    p.git("commit", "-q", "--amend", "-m", "Say it better")


def amend_content(p: Any) -> None:
    p.write("src/new.py", "LIMIT = 12\n")
    p.git("add", "src/new.py")
    p.git("commit", "-q", "--amend", "--no-edit")


def new_commit_elsewhere(p: Any) -> None:
    p.write("docs/x.md", "x\n")
    p.git("add", "docs")
    p.git("commit", "-q", "-m", "Write docs")


def commit_the_dirt(p: Any) -> None:
    p.commit("Finish b", "src")


def edit_committed(p: Any) -> None:
    p.write("src/a.py", "def a():\n    return 22\n")
    p.git("commit", "-q", "-m", "Change a", "--", "src/a.py")


def rebase_onto_main(p: Any) -> None:
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.git("switch", "-q", "main")
    p.write("README.md", "hello\n")
    p.commit("Greet", "README.md")
    p.git("switch", "-q", "feat/limit")
    p.git("rebase", "-q", "main")
    p.git("stash", "pop", "-q")


def rebase_over_an_edit(p: Any) -> None:
    p.git("reset", "-q", "--hard")
    p.git("switch", "-q", "main")
    p.write("src/a.py", "# header\n\n\n\ndef a():\n    return 1\n")
    p.commit("Head a", "src/a.py")
    p.git("switch", "-q", "feat/limit")
    p.git("rebase", "-q", "main")


def squash(p: Any) -> None:
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-q", "-m", "All in one")


def reword_both(p: Any) -> None:
    p.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-i", "--autostash", "main", check=False)
    while (p.root / ".git/rebase-merge").exists():
        p.git("commit", "-q", "--amend", "-m", "Another name")
        p.git("rebase", "--continue", check=False)


def cherry_pick_onto_it(p: Any) -> None:
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.git("switch", "-q", "-c", "other", "main")
    p.write("other.py", "x = 1\n")
    commit = p.commit("Other work", "other.py")
    p.git("switch", "-q", "feat/limit")
    p.git("cherry-pick", commit)
    p.git("stash", "pop", "-q")


def rebuild_by_cherry_pick(p: Any) -> None:
    commits = p.git("rev-list", "--reverse", "main..HEAD").split()
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.git("reset", "-q", "--hard", "main")
    p.write("README.md", "hello\n")
    p.commit("Greet", "README.md")
    p.git("cherry-pick", *commits)
    p.git("stash", "pop", "-q")


def revert_last(p: Any) -> None:
    p.git("revert", "--no-edit", "HEAD")


def revert_first(p: Any) -> None:
    p.git("revert", "--no-edit", "HEAD~1")


def revert_a_revert(p: Any) -> None:
    p.git("revert", "--no-edit", "HEAD~1")
    p.git("revert", "--no-edit", "HEAD")


def reset_hard_back(p: Any) -> None:
    p.git("reset", "-q", "--hard", "HEAD~1")


def reset_soft_back(p: Any) -> None:
    p.git("reset", "-q", "--soft", "HEAD~1")


def reset_to_main(p: Any) -> None:
    p.git("reset", "-q", "--hard", "main")


def discard_the_dirt(p: Any) -> None:
    p.git("checkout", "-q", "--", ".")
    p.git("clean", "-qfd", "src")


def clean_untracked(p: Any) -> None:
    p.git("clean", "-qfd", "src")


def stage_the_dirt(p: Any) -> None:
    p.git("add", "-A", "src")


def edit_dirty(p: Any) -> None:
    p.write("src/b.py", "def b():\n    return 4\n")


def edit_untracked(p: Any) -> None:
    p.write("src/draft.py", "DRAFT = False\n")


def same_size_same_time(p: Any) -> None:
    """An edit that the stat data alone would miss."""
    import os

    path = p.root / "src/new.py"
    before = path.stat()
    path.write_bytes(b"LIMIT = 99\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def hidden_from_status(p: Any) -> None:
    p.git("update-index", "--assume-unchanged", "src/new.py")
    p.write("src/new.py", "LIMIT = 99\n")


def skip_worktree(p: Any) -> None:
    p.git("update-index", "--skip-worktree", "src/a.py")
    p.write("src/a.py", "hidden\n")


def delete_file(p: Any) -> None:
    (p.root / "src/new.py").unlink()


def delete_and_commit(p: Any) -> None:
    p.git("rm", "-q", "src/new.py")
    p.git("commit", "-q", "-m", "Drop new")


def move_file(p: Any) -> None:
    p.git("mv", "src/new.py", "src/limits.py")


def move_and_commit(p: Any) -> None:
    p.git("mv", "src/new.py", "src/limits.py")
    p.git("commit", "-q", "-m", "Rename new")


def case_only_rename(p: Any) -> None:
    p.git("mv", "src/new.py", "src/New.py")
    p.git("commit", "-q", "-m", "Capitalise")


def change_mode(p: Any) -> None:
    (p.root / "src/new.py").chmod(0o755)


def file_to_folder(p: Any) -> None:
    (p.root / "src/new.py").unlink()
    p.write("src/new.py/inner.py", "LIMIT = 10\n")


def file_to_link(p: Any) -> None:
    (p.root / "src/new.py").unlink()
    (p.root / "src/new.py").symlink_to("a.py")


def link_with_the_same_blob(p: Any) -> None:
    """A symlink whose target text is the very content the file had."""
    (p.root / "src/new.py").unlink()
    (p.root / "src/new.py").symlink_to("LIMIT = 10\n")


def file_to_link_outside(p: Any) -> None:
    outside = p.root.parent / "outside.py"
    outside.write_text("LIMIT = 10\n")
    (p.root / "src/new.py").unlink()
    (p.root / "src/new.py").symlink_to(outside)


def folder_to_link_outside(p: Any) -> None:
    outside = p.root.parent / "outside"
    shutil.move(str(p.root / "src"), str(outside))
    (p.root / "src").symlink_to(outside)


def deleted_comes_back(p: Any) -> None:
    p.git("checkout", "-q", "main", "--", "src/c.py")


def put_back_the_old(p: Any) -> None:
    p.git("checkout", "-q", "main", "--", "src/a.py")


def crlf(p: Any) -> None:
    p.write("src/new.py", "LIMIT = 10\r\n")
    p.write("AGENTS.md", "# Rules\r\n\r\nBe kind.\r\n")


def crlf_as_git_allows(p: Any) -> None:
    p.git("config", "core.autocrlf", "true")
    p.write("src/new.py", "LIMIT = 10\r\n")
    p.write("AGENTS.md", "# Rules\r\n\r\nBe kind.\r\n")


def stash_pop(p: Any) -> None:
    p.git("stash", "pop", "-q", check=False)


def stash_drop(p: Any) -> None:
    p.git("stash", "drop", "-q")


def stash_another(p: Any) -> None:
    p.git("stash", "push", "-q", "-m", "the dirt, set aside for a moment")


def merge_main(p: Any) -> None:
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.git("switch", "-q", "main")
    p.write("README.md", "hello\n")
    p.commit("Greet", "README.md")
    p.git("switch", "-q", "feat/limit")
    p.git("merge", "-q", "--no-edit", "main")
    p.git("stash", "pop", "-q")


def merge_in_progress(p: Any) -> None:
    p.commit("Finish b", "src")
    p.git("switch", "-q", "main")
    p.write("src/a.py", "def a():\n    return 9\n")
    p.commit("Clash", "src/a.py")
    p.git("switch", "-q", "feat/limit")
    p.git("merge", "main", check=False)


def edit_contract(p: Any) -> None:
    p.write("feature_list.json", json.dumps({"project": "exporter", "active": "docs", "features": []}))


def delete_router(p: Any) -> None:
    (p.root / "AGENTS.md").unlink()


def router_to_outside(p: Any) -> None:
    outside = p.root.parent / "rules.md"
    outside.write_text("# Rules\n\nBe kind.\n")
    (p.root / "AGENTS.md").unlink()
    (p.root / "AGENTS.md").symlink_to(outside)


def edit_next_file(p: Any) -> None:
    p.write("tests/test_a.py", "def test_a():\n    assert 1 + 1 == 3\n")


def rename_branch(p: Any) -> None:
    p.git("branch", "-m", "feat/burst")


def rename_branch_twice(p: Any) -> None:
    p.git("branch", "-m", "feat/burst")
    p.git("branch", "-m", "feat/final")


def commit_the_packet(p: Any) -> None:
    p.git("add", "-f", "outputs")
    p.git("commit", "-q", "-m", "Hand over", "--", "outputs")


def gc(p: Any) -> None:
    p.git("gc", "-q", "--prune=now")


def force_push_under_it(p: Any) -> None:
    """Somebody else rewrote the branch; this clone follows. The packet came by another road."""
    shutil.copytree(p.root / "outputs", p.root.parent / "kept")
    other = p.root.parent / "other"
    p.git("clone", "-q", "-b", "feat/limit", str(p.root.parent / "origin.git"), str(other))
    p.git("reset", "-q", "--hard", "origin/main", folder=other)
    (other / "zero.py").write_text("0\n")
    p.git("add", "zero.py", folder=other)
    p.git("commit", "-q", "-m", "Start over", folder=other)
    p.git("push", "-q", "--force", folder=other)
    p.git("fetch", "-q")
    p.git("reset", "-q", "--hard", "origin/feat/limit")
    shutil.copytree(p.root.parent / "kept", p.root / "outputs")


def behind_the_remote(p: Any) -> None:
    other = p.root.parent / "other"
    p.git("clone", "-q", "-b", "feat/limit", str(p.root.parent / "origin.git"), str(other))
    (other / "more.py").write_text("1\n")
    p.git("add", "more.py", folder=other)
    p.git("commit", "-q", "-m", "More", folder=other)
    p.git("push", "-q", folder=other)
    p.git("fetch", "-q")


def red_to_green(p: Any) -> None:
    row = {"command": "pytest -q tests/test_a.py", "exit_code": 0, "started_at": "2026-11-20T11:00:00Z"}
    with (p.root / "feedback_record.jsonl").open("a") as stream:
        stream.write(json.dumps(row) + "\n")


def no_record(p: Any) -> None:
    (p.root / "feedback_record.jsonl").unlink()


def graft_elsewhere(p: Any) -> None:
    p.git("replace", "HEAD", "main")


CASES: dict[str, Case] = {
    "nothing": Case(nothing, "ready", {"src/a.py": SAME, HEAD: SAME, "src/c.py": SAME}),
    "nothing, clean": Case(nothing, "ready", {"src/a.py": SAME, HEAD: SAME}, "clean"),
    "amend the message": Case(amend_message, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/a.py": SAME}),
    "amend the content": Case(amend_content, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": EDITED}),
    "a commit on top": Case(new_commit_elsewhere, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": SAME}),
    "the dirt committed": Case(commit_the_dirt, "ready_with_drift", {HEAD: ("drifted", "advanced"), "draft.py": SAME}),
    "a named file edited in a commit": Case(edit_committed, "ready_with_drift", {"src/a.py": EDITED}),
    "rebase": Case(rebase_onto_main, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/a.py": SAME, "src/b.py": SAME}),
    "rebase over an edit": Case(rebase_over_an_edit, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/a.py": EDITED}),
    "squash": Case(squash, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": SAME}),
    "reword by rebase": Case(reword_both, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": SAME}),
    "cherry-pick onto it": Case(cherry_pick_onto_it, "ready_with_drift", {HEAD: ("drifted", "advanced")}),
    "rebuilt by cherry-pick": Case(rebuild_by_cherry_pick, "ready_with_drift", {HEAD: ("drifted", "rewritten")}),
    "revert the last commit": Case(revert_last, "ready_with_drift", {"src/c.py": ("drifted", "appeared"), HEAD: ("drifted", "advanced")}),
    "revert the first commit": Case(revert_first, "ready_with_drift", {"src/a.py": ("contradicted", "reverted"), "src/new.py": GONE}),
    "revert a revert": Case(revert_a_revert, "ready_with_drift", {"src/a.py": SAME, "src/new.py": SAME}),
    "reset --hard back": Case(reset_hard_back, "stale", {HEAD: ("contradicted", "lost"), "src/b.py": ("contradicted", "reverted")}),
    "reset --soft back": Case(reset_soft_back, "stale", {HEAD: ("contradicted", "lost"), "src/new.py": SAME}),
    "reset to main": Case(reset_to_main, "stale", {HEAD: ("contradicted", "lost"), "src/new.py": GONE}),
    "the dirt discarded": Case(discard_the_dirt, "ready_with_drift", {"src/b.py": ("contradicted", "reverted"), "src/draft.py": GONE}),
    "git clean": Case(clean_untracked, "ready_with_drift", {"src/draft.py": GONE, "src/b.py": SAME}),
    "the dirt staged": Case(stage_the_dirt, "ready", {"src/b.py": SAME, "src/draft.py": SAME}),
    "dirty file edited": Case(edit_dirty, "ready_with_drift", {"src/b.py": EDITED}),
    "untracked file edited": Case(edit_untracked, "ready_with_drift", {"src/draft.py": EDITED}),
    "edited, same size and time": Case(same_size_same_time, "ready_with_drift", {"src/new.py": EDITED}),
    "edited, assumed unchanged": Case(hidden_from_status, "ready_with_drift", {"src/new.py": EDITED}),
    "edited, skip-worktree": Case(skip_worktree, "ready_with_drift", {"src/a.py": EDITED}),
    "file deleted": Case(delete_file, "ready_with_drift", {"src/new.py": GONE}),
    "file deleted in a commit": Case(delete_and_commit, "ready_with_drift", {"src/new.py": GONE}),
    "file moved": Case(move_file, "ready_with_drift", {"src/new.py": ("drifted", "moved")}),
    "file moved in a commit": Case(move_and_commit, "ready_with_drift", {"src/new.py": ("drifted", "moved")}),
    "case-only rename": Case(case_only_rename, "ready_with_drift", {"src/new.py": ("drifted", "moved")}),
    "mode changed": Case(change_mode, "ready_with_drift", {"src/new.py": SAME}),
    "file became a folder": Case(file_to_folder, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a link": Case(file_to_link, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a link of the same blob": Case(link_with_the_same_blob, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a link outside": Case(file_to_link_outside, "ready_with_drift", {"src/new.py": EDITED}),
    "folder became a link outside": Case(folder_to_link_outside, "ready_with_drift", {"src/new.py": ("cannot_tell", "unknown")}),
    "a deleted file is back": Case(deleted_comes_back, "ready_with_drift", {"src/c.py": ("drifted", "appeared")}),
    "a file has its old content": Case(put_back_the_old, "ready_with_drift", {"src/a.py": ("contradicted", "reverted")}),
    "CRLF": Case(crlf, "ready_with_drift", {"src/new.py": EDITED, "AGENTS.md": EDITED}),
    "CRLF that git allows": Case(crlf_as_git_allows, "ready_with_drift", {"src/new.py": SAME, "AGENTS.md": EDITED}),
    "stash popped": Case(stash_pop, "ready_with_drift", {}),
    "stash dropped": Case(stash_drop, "ready_with_drift", {}),
    "one more stash": Case(stash_another, "ready_with_drift", {"src/b.py": ("contradicted", "reverted")}),
    "merge": Case(merge_main, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": SAME}),
    "merge in progress": Case(merge_in_progress, "ready_with_drift", {"src/a.py": EDITED}),
    "board edited": Case(edit_contract, "ready_with_drift", {"feature_list.json": EDITED}),
    "router deleted": Case(delete_router, "stale", {"AGENTS.md": GONE}),
    "router became a link outside": Case(router_to_outside, "ready_with_drift", {"AGENTS.md": ("cannot_tell", "unknown")}),
    "branch renamed": Case(rename_branch, "ready_with_drift", {HEAD: ("drifted", "changed")}),
    "branch renamed twice": Case(rename_branch_twice, "ready_with_drift", {HEAD: ("drifted", "changed")}),
    "the packet committed": Case(commit_the_packet, "ready", {HEAD: SAME}),
    "gc": Case(gc, "ready", {HEAD: SAME}),
    "force-pushed over": Case(force_push_under_it, "stale", {HEAD: ("contradicted", "lost")}, "clean"),
    "behind the remote": Case(behind_the_remote, "ready", {HEAD: SAME}, "clean"),
    "tests run again, green": Case(red_to_green, "ready_with_drift", {}, "clean"),
    "record of the run gone": Case(no_record, "ready", {}, "clean"),
    "a replace ref": Case(graft_elsewhere, "ready", {HEAD: SAME}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_drift(name: str, copy_of: Any) -> None:
    case = CASES[name]
    place = copy_of(case.template)
    case.do(place)
    taken = place.take(receipt=False)
    assert taken.brief is not None
    lines = [f"{v.state} {v.change} {v.claim.place} {v.claim.check} {v.reason}" for v in taken.brief.verdicts]
    assert place.false_holds(taken) == []
    for subject, expected in case.classes.items():
        fields = (
            "git" if subject == HEAD else "next_session" if subject in ("AGENTS.md", "feature_list.json") else "changed"
        )
        verdict = place.verdict(taken, subject, fields)
        assert (verdict.state, verdict.change) == expected, "\n".join(lines)
    assert taken.brief.verdict == case.verdict, "\n".join([*taken.brief.reasons, *lines])
    assert taken.exit_code == (0 if case.verdict.startswith("ready") else 6)
    if case.verdict == "ready_with_drift":
        assert taken.brief.since
