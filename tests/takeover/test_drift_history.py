"""Between wrap and take: what people do with commits, branches and remotes, and the right class for each claim."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

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


def graft_elsewhere(p: Any) -> None:
    p.git("replace", "HEAD", "main")


def fixup_and_autosquash(p: Any) -> None:
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.write("src/new.py", "LIMIT = 12\n")
    p.git("commit", "-q", "-a", "--fixup", "HEAD~1")
    p.git("-c", "sequence.editor=true", "rebase", "-q", "-i", "--autosquash", "main")
    p.git("stash", "pop", "-q")


def reset_the_author(p: Any) -> None:
    p.git("commit", "-q", "--amend", "--no-edit", "--reset-author", "--date=2030-01-01T00:00:00Z")


def reset_mixed_and_commit_anew(p: Any) -> None:
    p.git("reset", "-q", "HEAD~1")
    p.git("add", "-A", "--", "src/c.py", "tests")
    p.git("commit", "-q", "-m", "Say it otherwise")


def point_the_branch_elsewhere(p: Any) -> None:
    p.git("update-ref", "refs/heads/feat/limit", "main")


def empty_commit(p: Any) -> None:
    p.git("commit", "-q", "--allow-empty", "-m", "Nothing")


def clash(p: Any) -> str:
    p.commit("Finish b", "src")
    p.git("switch", "-q", "main")
    p.write("src/a.py", "def a():\n    return 9\n")
    commit: str = p.commit("Clash", "src/a.py")
    p.git("switch", "-q", "feat/limit")
    return commit


def cherry_pick_in_progress(p: Any) -> None:
    p.git("cherry-pick", clash(p), check=False)


def revert_in_progress(p: Any) -> None:
    p.commit("Finish b", "src")
    p.write("src/a.py", "def a():\n    return 7\n")
    p.git("commit", "-q", "-m", "Change a again", "--", "src/a.py")
    p.git("revert", "--no-edit", "HEAD~3", check=False)


def a_tag_of_the_same_name(p: Any) -> None:
    p.git("tag", "feat/limit", "main")
    p.git("tag", "HEAD", "main")


def a_branch_called_head(p: Any) -> None:
    p.git("update-ref", "refs/heads/HEAD", "main")


def upstream_deleted(p: Any) -> None:
    p.git("push", "-q", "origin", "--delete", "feat/limit")
    p.git("fetch", "-q", "--prune")


def remote_removed(p: Any) -> None:
    p.git("remote", "remove", "origin")


def switched_away_and_back(p: Any) -> None:
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.git("switch", "-q", "main")
    p.git("switch", "-q", "feat/limit")
    p.git("stash", "pop", "-q")


def ours_merged_over_it(p: Any) -> None:
    """The other branch is merged, and all its changes are thrown away."""
    p.git("branch", "other", "main")
    p.git("merge", "-q", "-s", "ours", "--no-edit", "--no-ff", "--allow-unrelated-histories", p.git(
        "commit-tree", "-p", "main", "-m", "Elsewhere", "main^{tree}"))  # fmt: skip


CASES: dict[str, tuple[Any, ...]] = {
    "nothing": (nothing, "ready", {"src/a.py": SAME, HEAD: SAME, "src/c.py": SAME}),
    "nothing, clean": (nothing, "ready", {"src/a.py": SAME, HEAD: SAME}, "clean"),
    "amend the message": (amend_message, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/a.py": SAME}),
    "amend the content": (amend_content, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": EDITED}),
    "a commit on top": (new_commit_elsewhere, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": SAME}),
    "the dirt committed": (commit_the_dirt, "ready_with_drift", {HEAD: ("drifted", "advanced"), "draft.py": SAME}),
    "a named file edited in a commit": (edit_committed, "ready_with_drift", {"src/a.py": EDITED}),
    "rebase": (rebase_onto_main, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/a.py": SAME, "src/b.py": SAME}),
    "rebase over an edit": (rebase_over_an_edit, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/a.py": EDITED}),
    "squash": (squash, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": SAME}),
    "reword by rebase": (reword_both, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": SAME}),
    "cherry-pick onto it": (cherry_pick_onto_it, "ready_with_drift", {HEAD: ("drifted", "advanced")}),
    "rebuilt by cherry-pick": (rebuild_by_cherry_pick, "ready_with_drift", {HEAD: ("drifted", "rewritten")}),
    "revert the last commit": (revert_last, "ready_with_drift", {"src/c.py": ("drifted", "appeared"), HEAD: ("drifted", "advanced")}),
    "revert the first commit": (revert_first, "ready_with_drift", {"src/a.py": ("contradicted", "reverted"), "src/new.py": GONE}),
    "revert a revert": (revert_a_revert, "ready_with_drift", {"src/a.py": SAME, "src/new.py": SAME}),
    "reset --hard back": (reset_hard_back, "stale", {HEAD: ("contradicted", "lost"), "src/b.py": ("contradicted", "reverted")}),
    "reset --soft back": (reset_soft_back, "stale", {HEAD: ("contradicted", "lost"), "src/new.py": SAME}),
    "reset to main": (reset_to_main, "stale", {HEAD: ("contradicted", "lost"), "src/new.py": GONE}),
    "merge": (merge_main, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": SAME}),
    "merge in progress": (merge_in_progress, "ready_with_drift", {"src/a.py": EDITED}),
    "branch renamed": (rename_branch, "ready_with_drift", {HEAD: ("drifted", "changed")}),
    "branch renamed twice": (rename_branch_twice, "ready_with_drift", {HEAD: ("drifted", "changed")}),
    "the packet committed": (commit_the_packet, "ready", {HEAD: SAME}),
    "gc": (gc, "ready", {HEAD: SAME}),
    "force-pushed over": (force_push_under_it, "stale", {HEAD: ("contradicted", "lost")}, "clean"),
    "behind the remote": (behind_the_remote, "ready", {HEAD: SAME}, "clean"),
    "fixup and autosquash": (fixup_and_autosquash, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": EDITED}),
    "author and date reset": (reset_the_author, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/new.py": SAME}),
    "reset and committed anew": (reset_mixed_and_commit_anew, "ready_with_drift", {HEAD: ("drifted", "rewritten"), "src/c.py": SAME}),
    "the branch pointed elsewhere": (point_the_branch_elsewhere, "stale", {HEAD: ("contradicted", "lost"), "src/new.py": SAME}),
    "an empty commit": (empty_commit, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": SAME}),
    "cherry-pick in progress": (cherry_pick_in_progress, "ready_with_drift", {"src/a.py": EDITED, HEAD: ("drifted", "advanced")}),
    "revert in progress": (revert_in_progress, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": EDITED}),
    "a tag of the same name": (a_tag_of_the_same_name, "ready", {HEAD: SAME, "src/a.py": SAME}),
    "a branch called HEAD": (a_branch_called_head, "ready", {HEAD: SAME, "src/a.py": SAME}),
    "upstream deleted": (upstream_deleted, "ready", {HEAD: SAME}),
    "remote removed": (remote_removed, "ready", {HEAD: SAME}),
    "away and back": (switched_away_and_back, "ready", {HEAD: SAME, "src/b.py": SAME, "src/draft.py": SAME}),
    "merged with ours": (ours_merged_over_it, "ready_with_drift", {HEAD: ("drifted", "advanced"), "src/a.py": SAME}),
    "a replace ref": (graft_elsewhere, "ready", {HEAD: SAME}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_drift_of_history(name: str, drift: Callable[..., None]) -> None:
    drift(*CASES[name])
