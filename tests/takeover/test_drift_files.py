"""Between wrap and take: what people do to files, stashes and records, and the right class for each claim."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest

GONE = ("contradicted", "missing")
EDITED = ("drifted", "edited")
SAME = ("holds", "same")


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


def edit_contract(p: Any) -> None:
    p.write("feature_list.json", json.dumps({"project": "exporter", "active": "docs", "features": []}))


def delete_router(p: Any) -> None:
    (p.root / "AGENTS.md").unlink()


def router_to_outside(p: Any) -> None:
    outside = p.root.parent / "rules.md"
    outside.write_text("# Rules\n\nBe kind.\n")
    (p.root / "AGENTS.md").unlink()
    (p.root / "AGENTS.md").symlink_to(outside)


def red_to_green(p: Any) -> None:
    row = {"command": "pytest -q tests/test_a.py", "exit_code": 0, "started_at": "2026-11-20T11:00:00Z"}
    with (p.root / "feedback_record.jsonl").open("a") as stream:
        stream.write(json.dumps(row) + "\n")


def no_record(p: Any) -> None:
    (p.root / "feedback_record.jsonl").unlink()


def file_emptied(p: Any) -> None:
    p.write("src/new.py", "")


def file_to_pipe(p: Any) -> None:
    (p.root / "src/new.py").unlink()
    os.mkfifo(p.root / "src/new.py")


def file_to_repository(p: Any) -> None:
    (p.root / "src/new.py").unlink()
    (p.root / "src/new.py").mkdir()
    p.git("init", "-q", folder=p.root / "src/new.py")


def sparse_checkout(p: Any) -> None:
    p.git("update-index", "-q", "--refresh")
    p.git("sparse-checkout", "set", "tests", "outputs")
    assert not (p.root / "src").exists()


def back_but_sparse(p: Any) -> None:
    deleted_comes_back(p)
    p.git("commit", "-q", "-m", "Bring c back")
    sparse_checkout(p)


def attributes_for_line_ends(p: Any) -> None:
    """New attributes: the same content counts as the same, whatever its line ends are on disk."""
    p.write(".gitattributes", "*.py text eol=crlf\n")
    p.write("src/new.py", "LIMIT = 10\r\n")


def filter_of_the_reader(p: Any) -> None:
    """A filter of the reader's own that makes any content what it was: to git it is unchanged, and git is believed."""
    p.git("config", "filter.lie.clean", "printf 'LIMIT = 10\\n'")
    p.write(".gitattributes", "src/new.py filter=lie\n")
    p.write("src/new.py", "LIMIT = 99\n")


def index_thrown_away(p: Any) -> None:
    (p.root / ".git/index").unlink()


def only_in_the_index(p: Any) -> None:
    """The content was staged, and then gone from the disk."""
    p.git("add", "src/draft.py")
    (p.root / "src/draft.py").unlink()


def swapped(p: Any) -> None:
    one, two = (p.root / name for name in ("src/new.py", "src/b.py"))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def stash_cleared_and_made_anew(p: Any) -> None:
    p.git("stash", "clear")
    p.write("src/a.py", "import redis\n")
    p.git("stash", "push", "-q", "-m", "redis spike, keep until it is decided", "--", "src/a.py")


def stash_branch(p: Any) -> None:
    p.git("stash", "push", "-q", "-u", "-m", "dirt of the moment")
    p.git("stash", "drop", "-q", "stash@{1}")
    p.git("stash", "pop", "-q")


CASES: dict[str, tuple[Any, ...]] = {
    "the dirt discarded": (discard_the_dirt, "ready_with_drift", {"src/b.py": ("contradicted", "reverted"), "src/draft.py": GONE}),
    "git clean": (clean_untracked, "ready_with_drift", {"src/draft.py": GONE, "src/b.py": SAME}),
    "the dirt staged": (stage_the_dirt, "ready", {"src/b.py": SAME, "src/draft.py": SAME}),
    "dirty file edited": (edit_dirty, "ready_with_drift", {"src/b.py": EDITED}),
    "untracked file edited": (edit_untracked, "ready_with_drift", {"src/draft.py": EDITED}),
    "edited, same size and time": (same_size_same_time, "ready_with_drift", {"src/new.py": EDITED}),
    "edited, assumed unchanged": (hidden_from_status, "ready_with_drift", {"src/new.py": EDITED}),
    "edited, skip-worktree": (skip_worktree, "ready_with_drift", {"src/a.py": EDITED}),
    "file deleted": (delete_file, "ready_with_drift", {"src/new.py": GONE}),
    "file deleted in a commit": (delete_and_commit, "ready_with_drift", {"src/new.py": GONE}),
    "file moved": (move_file, "ready_with_drift", {"src/new.py": ("drifted", "moved")}),
    "file moved in a commit": (move_and_commit, "ready_with_drift", {"src/new.py": ("drifted", "moved")}),
    "case-only rename": (case_only_rename, "ready_with_drift", {"src/new.py": ("drifted", "moved")}),
    "mode changed": (change_mode, "ready_with_drift", {"src/new.py": SAME}),
    "file became a folder": (file_to_folder, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a link": (file_to_link, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a link of the same blob": (link_with_the_same_blob, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a link outside": (file_to_link_outside, "ready_with_drift", {"src/new.py": EDITED}),
    "folder became a link outside": (folder_to_link_outside, "ready_with_drift", {"src/new.py": ("cannot_tell", "unknown")}),
    "a deleted file is back": (deleted_comes_back, "ready_with_drift", {"src/c.py": ("drifted", "appeared")}),
    "a file has its old content": (put_back_the_old, "ready_with_drift", {"src/a.py": ("contradicted", "reverted")}),
    "CRLF": (crlf, "ready_with_drift", {"src/new.py": EDITED, "AGENTS.md": EDITED}),
    "CRLF that git allows": (crlf_as_git_allows, "ready_with_drift", {"src/new.py": SAME, "AGENTS.md": EDITED}),
    "stash popped": (stash_pop, "ready_with_drift", {}),
    "stash dropped": (stash_drop, "ready_with_drift", {}),
    "one more stash": (stash_another, "ready_with_drift", {"src/b.py": ("contradicted", "reverted")}),
    "file emptied": (file_emptied, "ready_with_drift", {"src/new.py": EDITED}),
    "file became a pipe": (file_to_pipe, "ready_with_drift", {"src/new.py": ("cannot_tell", "unknown")}),
    "file became a repository": (file_to_repository, "ready_with_drift", {"src/new.py": ("cannot_tell", "unknown")}),
    "sparse checkout": (sparse_checkout, "ready", {"src/new.py": ("cannot_tell", "unknown"), "tests/test_a.py": SAME}, "clean"),
    "back, but not checked out": (back_but_sparse, "ready_with_drift", {"src/c.py": ("drifted", "appeared")}, "clean"),
    "attributes for line ends": (attributes_for_line_ends, "ready_with_drift", {"src/new.py": SAME}),
    "a filter of the reader": (filter_of_the_reader, "ready_with_drift", {"src/new.py": SAME}),
    "index thrown away": (index_thrown_away, "ready_with_drift", {"src/new.py": SAME, "src/draft.py": SAME}),
    "only in the index": (only_in_the_index, "ready_with_drift", {"src/draft.py": GONE}),
    "two files swapped": (swapped, "ready_with_drift", {"src/new.py": EDITED, "src/b.py": EDITED}),
    "stashes made anew": (stash_cleared_and_made_anew, "ready_with_drift", {}),
    "one stash of two dropped": (stash_branch, "ready_with_drift", {"src/b.py": SAME}),
    "board edited": (edit_contract, "ready_with_drift", {"feature_list.json": EDITED}),
    "router deleted": (delete_router, "stale", {"AGENTS.md": GONE}),
    "router became a link outside": (router_to_outside, "ready_with_drift", {"AGENTS.md": ("cannot_tell", "unknown")}),
    "tests run again, green": (red_to_green, "ready_with_drift", {}, "clean"),
    "record of the run gone": (no_record, "ready", {}, "clean"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_drift_of_files(name: str, drift: Callable[..., None]) -> None:
    drift(*CASES[name])
