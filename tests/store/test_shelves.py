"""Two shelves, one store: publishing locally, promoting, worktrees, and what may lie there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import UnsafeError
from passdown.handoff.shelves import place_of
from passdown.store.archive import last_turn, marker


def local_files(root: Path) -> list[Path]:
    """Return the files of the local shelf."""
    return sorted(path for path in (root / ".git/passdown/packets").rglob("*") if path.is_file())


def test_a_local_packet_leaves_no_trace_in_the_tree(desk: Any) -> None:
    before = desk.git("status", "--porcelain", "--ignored")
    wrapped = desk.wrap(local=True)
    assert desk.git("status", "--porcelain", "--ignored") == before
    assert (wrapped.shelf, wrapped.packet.status) == ("local", "active")
    assert desk.active() == [wrapped.packet.packet_id]
    files = local_files(desk.root)
    assert [path.name for path in files] == ["handoff.json", "handoff.md"]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (files[0].parent, files[0].parent.parent)} == {0o700}
    again = desk.wrap(local=True)
    assert (again.changed, again.packet.packet_id) == ((), wrapped.packet.packet_id)


def test_wrapping_what_a_local_packet_says_promotes_it(desk: Any) -> None:
    first = desk.wrap(local=True)
    promoted = desk.wrap()
    assert promoted.packet.packet_id == first.packet.packet_id
    assert promoted.shelf == "project"
    assert all(path.startswith(("outputs/", ".ai/")) for path in promoted.changed)
    [stored] = desk.store().packets
    assert stored.shelf == "project"
    assert stored.path.read_bytes() == stored.copies[0].read_bytes()
    assert desk.wrap().changed == ()
    assert desk.wrap(local=True).changed == (), "what is in the project need not be said locally"


def test_a_local_packet_never_rewrites_a_file_of_the_project(desk: Any) -> None:
    first = desk.wrap()
    before = desk.files()
    local = desk.wrap("more", local=True)
    assert local.packet.supersedes == first.packet.packet_id
    assert desk.files() == before
    assert desk.active() == [local.packet.packet_id]
    # Promoting marks what is superseded, through a packet that only lies here, too.
    third = desk.wrap("still more")
    assert third.packet.supersedes == local.packet.packet_id
    states = {json.loads(data)["packet_id"]: json.loads(data)["status"] for name, data in desk.files().items()
              if name.endswith(".json")}  # fmt: skip
    assert states == {first.packet.packet_id: "superseded", third.packet.packet_id: "active"}


def test_another_device_sees_one_packet_after_a_local_one_came_between(make_desk: Any) -> None:
    desk = make_desk("here")
    desk.wrap()
    desk.wrap("more", local=True)
    last = desk.wrap("still more")
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "hand over")
    desk.git("clone", "-q", "-b", "feat/x", str(desk.root), str(desk.root.parent / "there"))
    there = type(desk)(type("R", (), {"root": desk.root.parent / "there", "git": None})())
    assert there.active() == [last.packet.packet_id]


def test_worktrees_share_the_local_shelf_and_not_the_project_s(desk: Any) -> None:
    desk.git("worktree", "add", "-q", "-b", "feat/y", str(desk.root.parent / "tree"))
    project = desk.wrap()
    other = type(desk)(type("R", (), {"root": desk.root.parent / "tree", "git": None})())
    assert other.store().packets == ()
    local = desk.wrap("more", local=True)
    assert [p.packet_id for p in other.store().packets] == [local.packet.packet_id]
    assert other.active() == [], "it is of another branch"
    assert place_of(other.root).shelves.lock == place_of(desk.root).shelves.lock
    assert {p.packet_id for p in desk.store().packets} == {project.packet.packet_id, local.packet.packet_id}


def test_a_local_packet_is_mirrored_only_where_a_mirror_is(desk: Any) -> None:
    local = desk.wrap(local=True)
    assert not (desk.root / ".ai").exists()
    desk.wrap()
    second = desk.wrap("more", local=True)
    assert second.packet.packet_id in desk.mirror()
    assert local.packet.packet_id not in desk.mirror()
    desk.git("add", "-f", ".ai/HANDOFF.md")
    desk.git("commit", "-q", "-m", "Track the mirror")
    tracked = desk.mirror()
    assert second.packet.packet_id in tracked
    desk.wrap("still more", local=True)
    assert desk.mirror() == tracked, "what is only here is not written into a file that travels"


@pytest.mark.parametrize("link", ["passdown", "passdown/packets"])
def test_a_local_shelf_that_is_a_link_is_refused(link: str, desk: Any, tmp_path: Path) -> None:
    place = desk.root / ".git" / link
    place.parent.mkdir(exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeError):
        desk.wrap(local=True)
    with pytest.raises(UnsafeError):
        desk.store()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_folders_and_files_that_are_links_are_named_and_not_followed(desk: Any, tmp_path: Path) -> None:
    wrapped = desk.wrap()
    [stored] = desk.store().packets
    (desk.root / "outputs/handoff/linked").symlink_to(stored.path.parent)
    inner = desk.root / "outputs/handoff/inner"
    inner.mkdir()
    (inner / "handoff.json").symlink_to(stored.path)
    (desk.root / "outputs/handoff/circle").symlink_to(desk.root / "outputs/handoff/circle")
    store = desk.store()
    assert [packet.packet_id for packet in store.packets] == [wrapped.packet.packet_id]
    assert sorted(finding.where for finding in store.findings) == ["inner/handoff.json", "linked/handoff.json"]


def test_a_returning_content_is_a_packet_of_its_own(desk: Any) -> None:
    """An edit is made, wrapped, taken back and wrapped: the old id is taken, and history has no circle."""
    first = desk.wrap("one")
    second = desk.wrap("two")
    third = desk.wrap("one")
    assert third.packet.packet_id not in (first.packet.packet_id, second.packet.packet_id)
    assert third.packet.supersedes == second.packet.packet_id
    lineage = {"of": first.packet.packet_id, "over": [second.packet.packet_id], "as_of": second.packet.as_of}
    assert third.packet.ext == {"x-passdown-lineage": lineage}
    assert desk.active() == [third.packet.packet_id]
    assert desk.wrap().changed == (), "and wrapping it again says nothing new"
    fourth, fifth = desk.wrap("two"), desk.wrap("one")
    assert len({w.packet.packet_id for w in (first, second, third, fourth, fifth)}) == 5
    assert desk.active() == [fifth.packet.packet_id]


def test_the_same_packet_made_on_two_devices_lies_in_two_folders_unless_it_is_the_same_file(desk: Any) -> None:
    """What is not hashed (a tool's version, the system) may differ: git must not have to merge two such files."""
    desk.wrap()
    [stored] = desk.store().packets
    plain = json.loads(stored.path.read_bytes())
    plain["environment"]["os"] = "another"
    twin = stored.path.parent.with_name("twin")
    twin.mkdir()
    (twin / "handoff.json").write_text(json.dumps(plain))
    [both] = desk.store().packets
    assert len(both.copies) == 1
    desk.wrap("more")
    statuses = sorted(json.loads(path.read_bytes())["status"] for path in desk.root.glob("outputs/handoff/*/*.json"))
    assert statuses == ["active", "superseded", "superseded"]


def test_marks_count_only_for_the_packet_they_name() -> None:
    first, second = marker("a" * 64, 1)[0], marker("a" * 64, 2)[0]
    assert last_turn("a" * 64, [first]) == 1
    assert last_turn("a" * 64, [first, second, "archive-9-0123456789abcdef.json", "archive-0-x.json"]) == 2
    assert last_turn("b" * 64, [first, second]) == 0, "marks of another packet"
    assert marker("a" * 64, 1) == marker("a" * 64, 1)
    assert marker("a" * 64, 1)[1] != marker("a" * 64, 3)[1]


def test_an_ignored_shelf_is_named(desk: Any) -> None:
    desk.repository.write(".gitignore", "outputs/\n")
    wrapped = desk.wrap()
    assert [finding.code for finding in wrapped.findings] == ["store.ignored"]
    assert desk.wrap("more", local=True).findings == ()
