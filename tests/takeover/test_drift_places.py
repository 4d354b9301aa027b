"""Other places and states a packet may be taken in: detached, other branches, clones, worktrees, submodules, machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def refused(taken: Any, *words: str) -> None:
    """The packet is refused with a reason that holds these words, and nothing of its content is shown."""
    assert (taken.exit_code, taken.brief.verdict) == (6, "refused")
    assert taken.brief.next_step is None
    assert taken.receipt == ""
    for word in words:
        assert word in taken.brief.reasons[0]


def test_detached_head(copy_of: Any) -> None:
    place = copy_of("dirty")
    place.git("switch", "-q", "--detach")
    refused(place.take(place.packet()["packet_id"][:12]), "feat/limit", "detached")
    unnamed = place.take()
    assert (unnamed.exit_code, unnamed.cold.verdict) == (4, "cold_start")
    assert [quote.text for quote in unnamed.cold.other_packets] == ["feat/limit"]


def test_bisecting(copy_of: Any) -> None:
    place = copy_of("clean")
    keep = place.packet_file.read_bytes()
    place.git("bisect", "start", "HEAD", "main")
    file = place.write("../carried.json", keep)
    refused(place.take(str(file)), "detached")
    assert place.take().cold.operation == "bisect"


def test_rebase_in_progress(copy_of: Any) -> None:
    place = copy_of("clean")
    place.git("switch", "-q", "main")
    place.write("src/a.py", "clash\n")
    place.commit("Clash", "src/a.py")
    place.git("switch", "-q", "feat/limit")
    file = place.write("../carried.json", place.packet_file.read_bytes())
    place.git("rebase", "main", check=False)
    refused(place.take(str(file)), "detached")
    assert place.take().cold.operation == "rebase"


def test_bisect_begun_on_the_branch(copy_of: Any) -> None:
    place = copy_of("dirty")
    place.git("bisect", "start")
    taken = place.take()
    assert taken.brief.verdict == "ready_with_drift"
    assert taken.brief.settle_first[0].text == "a bisect is in progress"
    assert place.false_holds(taken) == []


def test_packet_of_another_branch(copy_of: Any) -> None:
    place = copy_of("dirty")
    name = place.packet()["packet_id"][:8]
    place.git("switch", "-q", "-c", "feat/other")
    refused(place.take(name), "feat/limit", "feat/other")
    assert place.take().exit_code == 4


def test_branch_deleted(copy_of: Any) -> None:
    place = copy_of("dirty")
    name = place.packet()["packet_id"][:8]
    place.git("switch", "-q", "-c", "feat/other")
    place.git("branch", "-q", "-D", "feat/limit")
    refused(place.take(name), "feat/limit")


def test_branch_of_the_same_name_begun_anew(copy_of: Any) -> None:
    place = copy_of("dirty")
    place.git("stash", "push", "-q", "-u", "--", "src")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat/limit")
    place.git("switch", "-q", "-c", "feat/limit")
    taken = place.take()
    assert (taken.brief.verdict, taken.exit_code) == ("stale", 6)
    assert place.verdict(taken, "refs/heads/feat/limit").state == "contradicted"
    assert place.false_holds(taken) == []


def test_another_repository(copy_of: Any, make_repository: Any, tmp_path: Path) -> None:
    place = copy_of("dirty")
    other = make_repository("elsewhere")
    other.git("switch", "-q", "-c", "feat/limit")
    carried = tmp_path / "carried.json"
    carried.write_bytes(place.packet_file.read_bytes())
    refused(type(place)(other.root).take(str(carried)), "another repository")


def test_an_older_history_merged_in_is_no_other_repository(copy_of: Any) -> None:
    place = copy_of("clean")
    place.git("switch", "-q", "--orphan", "ancient")
    place.clock = 1_000_000_000
    place.write("ancient.txt", "1\n")
    place.commit("Ancient", "ancient.txt")
    place.clock = 1_761_000_000
    place.git("switch", "-q", "feat/limit")
    place.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "ancient")
    taken = place.take()
    assert taken.brief.verdict == "ready_with_drift"
    assert place.false_holds(taken) == []


def test_other_worktree(copy_of: Any, tmp_path: Path) -> None:
    place = copy_of("clean")
    file = place.write("../carried.json", place.packet_file.read_bytes())
    place.git("worktree", "add", "-q", "-b", "feat/else", str(tmp_path / "tree"), "main")
    refused(type(place)(tmp_path / "tree").take(str(file)), "feat/else")


def test_the_branch_moved_to_another_worktree(copy_of: Any, tmp_path: Path) -> None:
    place = copy_of("dirty")
    file = place.write("../carried.json", place.packet_file.read_bytes())
    place.git("switch", "-q", "--detach")
    place.git("worktree", "add", "-q", str(tmp_path / "tree"), "feat/limit")
    there = type(place)(tmp_path / "tree")
    taken = there.take(str(file))
    assert taken.brief.verdict == "ready_with_drift"
    assert there.verdict(taken, "src/b.py", "changed").change == "reverted"
    assert there.verdict(taken, "src/draft.py", "changed").change == "missing"
    assert there.false_holds(taken) == []
    assert (place.root / ".git/passdown/receipts" / taken.receipt).is_file()


def clone(place: Any, tmp_path: Path, *arguments: str) -> Any:
    """Clone the remote the way another machine would."""
    url = (place.root.parent / "origin.git").as_uri()
    place.git("clone", "-q", "-b", "feat/limit", *arguments, url, str(tmp_path / "clone"))
    return type(place)(tmp_path / "clone", place.clock)


def test_fresh_clone(copy_of: Any, tmp_path: Path) -> None:
    there = clone(copy_of("clean"), tmp_path)
    taken = there.take()
    assert taken.brief.verdict == "ready_with_drift"
    stash = next(v for v in taken.brief.verdicts if v.claim.check and v.claim.check.kind == "stash_exists")
    assert (stash.state, stash.change) == ("contradicted", "missing")
    outcomes = [
        v.state for v in taken.brief.verdicts if v.claim.check and v.claim.check.kind == "test_outcome_recorded"
    ]
    assert set(outcomes) == {"cannot_tell"}
    assert there.false_holds(taken) == []


@pytest.mark.parametrize("depth", ["1", "2"])
def test_shallow_clone(depth: str, copy_of: Any, tmp_path: Path) -> None:
    there = clone(copy_of("clean"), tmp_path, "--depth", depth)
    taken = there.take()
    assert taken.brief.verdict in ("ready", "ready_with_drift")
    completed = next(v for v in taken.brief.verdicts if v.claim.place == "completed")
    assert completed.state in ("cannot_tell", "drifted")
    assert there.false_holds(taken) == []


def test_shallow_clone_that_lost_the_content_too(copy_of: Any, tmp_path: Path) -> None:
    there = clone(copy_of("clean"), tmp_path, "--depth", "1")
    there.write("src/a.py", "other\n")
    taken = there.take()
    assert next(v for v in taken.brief.verdicts if v.claim.place == "completed").state == "cannot_tell"
    assert there.false_holds(taken) == []


def test_partial_clone(copy_of: Any, tmp_path: Path) -> None:
    place = copy_of("clean")
    place.git("config", "uploadpack.allowFilter", "true", folder=place.root.parent / "origin.git")
    there = clone(place, tmp_path, "--filter=blob:none")
    taken = there.take()
    assert taken.brief.verdict == "ready_with_drift"
    assert there.verdict(taken, "src/new.py", "changed").state == "holds"
    assert there.false_holds(taken) == []


def with_submodule(place: Any) -> str:
    """Add a submodule to a repository and wrap; return the commit it is at."""
    library = place.root.parent / "library"
    library.mkdir()
    place.git("init", "-q", "-b", "main", folder=library)
    (library / "lib.py").write_text("1\n")
    place.git("add", "-A", folder=library)
    place.git("commit", "-q", "-m", "Library", folder=library)
    place.git("submodule", "--quiet", "add", str(library), "vendor/library")
    place.commit("Add the library", ".gitmodules", "vendor")
    place.wrap()
    return place.git("rev-parse", "HEAD", folder=place.root / "vendor/library")


def test_submodule_in_place(copy_of: Any) -> None:
    place = copy_of("clean")
    commit = with_submodule(place)
    taken = place.take()
    found = [v for v in taken.brief.verdicts if v.claim.check and v.claim.check.subject == "vendor/library"]
    assert {(v.state, v.claim.check.expect) for v in found} == {("holds", commit)}
    assert place.false_holds(taken) == []


def test_submodule_moved(copy_of: Any) -> None:
    place = copy_of("clean")
    with_submodule(place)
    inner = place.root / "vendor/library"
    place.git("commit", "-q", "--allow-empty", "-m", "On", folder=inner)
    taken = place.take()
    assert place.verdict(taken, "vendor/library").change == "edited"
    assert taken.brief.verdict == "ready_with_drift"
    assert place.false_holds(taken) == []


def test_submodule_at_another_path(copy_of: Any) -> None:
    place = copy_of("clean")
    with_submodule(place)
    place.git("mv", "vendor/library", "vendor/lib")
    place.git("commit", "-q", "-m", "Rename the library")
    taken = place.take()
    assert place.verdict(taken, "vendor/library").state in ("drifted", "contradicted")
    assert taken.brief.verdict == "ready_with_drift"
    assert place.false_holds(taken) == []


def test_submodule_removed(copy_of: Any) -> None:
    place = copy_of("clean")
    with_submodule(place)
    place.git("rm", "-q", "-f", "vendor/library")
    place.git("commit", "-q", "-m", "Do without")
    taken = place.take()
    assert place.verdict(taken, "vendor/library").change == "missing"
    assert place.false_holds(taken) == []


def test_deepened_clone(copy_of: Any, tmp_path: Path) -> None:
    there = clone(copy_of("clean"), tmp_path, "--depth", "1")
    there.git("fetch", "-q", "--unshallow")
    taken = there.take()
    assert next(v for v in taken.brief.verdicts if v.claim.place == "completed").state == "holds"
    assert there.false_holds(taken) == []


def test_the_branch_in_two_worktrees(copy_of: Any, tmp_path: Path) -> None:
    place = copy_of("dirty")
    place.git("worktree", "add", "-q", "--force", str(tmp_path / "tree"), "feat/limit")
    there = type(place)(tmp_path / "tree")
    file = place.write("../carried.json", place.packet_file.read_bytes())
    taken = there.take(str(file))
    assert taken.brief.verdict == "ready_with_drift"
    assert there.verdict(taken, "src/draft.py", "changed").change == "missing"
    assert there.false_holds(taken) == []


def test_submodule_not_checked_out(copy_of: Any) -> None:
    place = copy_of("clean")
    with_submodule(place)
    place.git("submodule", "--quiet", "deinit", "-f", "vendor/library")
    taken = place.take()
    assert place.verdict(taken, "vendor/library").state in ("drifted", "cannot_tell")
    assert place.false_holds(taken) == []


def test_sha256_repository(copy_of: Any, tmp_path: Path) -> None:
    place = copy_of("dirty")
    other = type(place)(tmp_path / "sha256")
    other.root.mkdir()
    other.git("init", "-q", "-b", "feat/limit", "--object-format=sha256")
    other.write("src/a.py", "def a():\n    return 2\n")
    other.commit("Start")
    carried = other.write("../carried.json", place.packet_file.read_bytes())
    refused(other.take(str(carried)), "another repository")


def test_no_commit_yet(copy_of: Any, tmp_path: Path) -> None:
    place = copy_of("dirty")
    other = type(place)(tmp_path / "unborn")
    other.root.mkdir()
    other.git("init", "-q", "-b", "feat/limit")
    carried = other.write("../carried.json", place.packet_file.read_bytes())
    taken = other.take(str(carried))
    assert taken.exit_code == 6
    assert other.false_holds(taken) == []


def test_wrapped_before_the_first_commit(copy_of: Any, tmp_path: Path) -> None:
    other = type(copy_of("clean"))(tmp_path / "unborn")
    other.root.mkdir()
    other.git("init", "-q", "-b", "main")
    other.write("a.py", "1\n")
    other.wrap()
    taken = other.take()
    assert taken.brief.verdict == "ready"
    assert other.false_holds(taken) == []
    other.commit("Start", "a.py")
    later = other.take()
    assert later.brief.verdict == "ready_with_drift"
    assert other.false_holds(later) == []
