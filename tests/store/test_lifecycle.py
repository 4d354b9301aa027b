"""Archive, restore, resolve and commit, through the library, on a real repository."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.config import load_config
from passdown.errors import ConflictError, FormatError, NoEvidenceError, PassdownError, UsageError
from passdown.handoff.archive import archive
from passdown.handoff.candidate import find_candidate, open_shelf
from passdown.handoff.commit import commit_packet
from passdown.handoff.resolve import resolve
from passdown.handoff.restore import restore
from passdown.handoff.shelves import place_of, writing


def test_archive_and_back(desk: Any) -> None:
    wrapped = desk.wrap()
    packet_files = desk.files()
    done = archive(desk.root, ["active"])
    assert [packet.packet_id for packet in done.packets] == [wrapped.packet.packet_id]
    assert desk.active() == []
    assert desk.mirror().startswith("# No handoff packet is active")
    assert {name: desk.files()[name] for name in packet_files} == packet_files, "nothing is rewritten"
    name = wrapped.packet.packet_id[:6]
    again = archive(desk.root, [name, name])
    assert (again.packets, again.changed, len(again.already)) == ((), (), 1)
    archive(desk.root, [name], undo=True)
    assert desk.active() == [wrapped.packet.packet_id]
    assert desk.mirror().startswith("# Handoff:")
    archive(desk.root, [name])
    assert desk.active() == []
    assert len(desk.files()) == len(packet_files) + 3, "files are only added"


def test_archived_packets_are_not_built_on_and_come_back_by_restoring(desk: Any) -> None:
    first = desk.wrap()
    archive(desk.root, ["active"])
    second = desk.wrap("more")
    assert second.packet.supersedes is None
    short = first.packet.packet_id[:8]
    with pytest.raises(ConflictError, match="would be active beside"):
        archive(desk.root, [short], undo=True)
    assert desk.active() == [second.packet.packet_id]
    restored = restore(desk.root, short)
    assert desk.active() == [restored.packet.packet_id]
    archive(desk.root, [short], undo=True)
    assert desk.active() == [restored.packet.packet_id]


def test_wrapping_an_archived_state_again_is_a_new_packet(desk: Any) -> None:
    first = desk.wrap()
    archive(desk.root, ["active"])
    second = desk.wrap()
    assert second.packet.packet_id != first.packet.packet_id
    archive(desk.root, ["active"])
    third = desk.wrap()
    assert len({first.packet.packet_id, second.packet.packet_id, third.packet.packet_id}) == 3
    assert desk.active() == [third.packet.packet_id]


def test_archive_all_superseded(desk: Any) -> None:
    ids = [desk.wrap(text).packet.packet_id for text in ("one", "two", "three")]
    done = archive(desk.root, all_superseded=True)
    assert sorted(packet.packet_id for packet in done.packets) == sorted(ids[:2])
    assert desk.active() == ids[2:]
    assert archive(desk.root, all_superseded=True).packets == ()
    assert len(archive(desk.root, all_superseded=True, undo=True).packets) == 2
    local = desk.wrap("four", local=True)
    done = archive(desk.root, all_superseded=True)
    assert ids[2] not in {packet.packet_id for packet in done.packets}, "elsewhere it is the active one"
    assert desk.active() == [local.packet.packet_id]


def test_restore_repeats_and_supersedes(desk: Any) -> None:
    first, second = desk.wrap("one"), desk.wrap("two")
    done = restore(desk.root, first.packet.packet_id[:8])
    assert desk.active() == [done.packet.packet_id]
    assert done.over == (second.packet.packet_id,)
    plain, old = (
        json.loads(path.read_bytes())
        for path in (done.packet.path, next(p.path for p in desk.store().packets if p.packet_id == done.of.packet_id))
    )
    differ = {key for key in plain if plain[key] != old[key]}
    assert differ == {"packet_id", "status", "supersedes", "ext"}
    assert done.packet.packet_id in desk.mirror()
    assert restore(desk.root, first.packet.packet_id[:8]).changed == (), "it is active already"
    back = restore(desk.root, second.packet.packet_id[:8])
    forth = restore(desk.root, first.packet.packet_id[:8])
    assert len({done.packet.packet_id, back.packet.packet_id, forth.packet.packet_id}) == 3
    assert desk.active() == [forth.packet.packet_id]


def test_restore_of_another_branch_leaves_this_one_alone(desk: Any) -> None:
    old, new = desk.wrap("one"), desk.wrap("two")
    desk.git("switch", "-q", "-c", "feat/other")
    here = desk.wrap("three")
    done = restore(desk.root, old.packet.packet_id[:8])
    assert desk.active() == [here.packet.packet_id]
    assert here.packet.packet_id in desk.mirror()
    assert done.over == (new.packet.packet_id,)


def test_restore_refuses_what_was_changed(desk: Any) -> None:
    old = desk.wrap("one")
    desk.wrap("two")
    path = desk.root / old.paths[1]
    path.write_text(path.read_text().replace('"topic": "feat-x"', '"topic": "feat-y"'))
    before = desk.files()
    with pytest.raises(FormatError, match="changed after"):
        restore(desk.root, old.packet.packet_id[:8])
    assert desk.files() == before


@pytest.mark.parametrize("name", ["zz", "abc", "../x", "outputs/handoff/x/handoff.json", "", "ffffffffffff"])
def test_names_that_are_none_are_refused_with_what_is_here(name: str, desk: Any) -> None:
    wrapped = desk.wrap()
    with pytest.raises(UsageError) as caught:
        restore(desk.root, name)
    assert wrapped.packet.packet_id[:12] in str(caught.value) or "handoff.json" in str(caught.value)


def test_a_name_may_be_a_session_and_stands_for_its_active_packet(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSDOWN_SESSION_ID", "mine")
    first = desk.wrap("one")
    second = desk.wrap("two")
    assert len({path.parent for path in desk.root.glob("outputs/handoff/mine-*/*")}) == 2
    [done] = archive(desk.root, ["mine"]).packets
    assert done.packet_id == second.packet.packet_id
    with pytest.raises(UsageError, match="several") as caught:
        restore(desk.root, "mine")
    assert first.packet.packet_id[:12] in caught.value.next_step


def test_without_a_packet_each_command_says_so(desk: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: archive(desk.root, ["active"]),
        lambda: archive(desk.root, all_superseded=True),
        lambda: restore(desk.root, "abcd"),
    ]
    for call in calls:
        with pytest.raises(NoEvidenceError, match="no packet"):
            call()
    assert resolve(desk.root).conflicts == ()
    with pytest.raises(UsageError, match="no conflict"):
        resolve(desk.root, keep="abcd")
    assert not (desk.root / "outputs").exists()


def fork(desk: Any) -> tuple[str, str]:
    """Make a conflict as two devices would: two packets over the same one. Return their ids."""
    desk.wrap("one")
    left = desk.wrap("left")
    for path in desk.root.glob("outputs/handoff/*/*"):
        path.write_bytes(path.read_bytes().replace(b'"status": "superseded"', b'"status": "active"'))
    kept = {path: path.read_bytes() for path in (desk.root / left.paths[1]).parent.iterdir()}
    for path in kept:
        path.unlink()
    right = desk.wrap("right")
    for path, data in kept.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return left.packet.packet_id, right.packet.packet_id


def test_resolve_shows_both_sides_and_settles(desk: Any) -> None:
    left, right = fork(desk)
    assert desk.active() == sorted([left, right])
    with pytest.raises(ConflictError) as caught:
        find_candidate(open_shelf(desk.root, load_config(desk.root)))
    assert all(name[:12] in str(caught.value) for name in (left, right))
    assert "passdown resolve" in str(caught.value)
    before = desk.files()
    [sides] = resolve(desk.root).conflicts
    assert sorted(side.packet_id for side in sides) == sorted([left, right])
    assert desk.files() == before, "looking changes nothing"
    done = resolve(desk.root, keep=left[:8])
    assert desk.active() == [done.packet_id]
    assert (done.kept, done.over) == (left, tuple(sorted([left, right])))
    assert done.packet_id in desk.mirror()
    states = {p.packet_id: p.head.status for p in desk.store().packets}
    assert (states[left], states[right], states[done.packet_id]) == ("superseded", "superseded", "active")
    assert resolve(desk.root).conflicts == ()


def test_wrapping_in_a_conflict_says_so_and_keeps_it(desk: Any) -> None:
    fork(desk)
    wrapped = desk.wrap("third")
    assert [finding.code for finding in wrapped.findings] == ["packet.several_active"]
    assert len(desk.active()) == 2
    assert desk.mirror().startswith("# 2 handoff packets are active")
    with pytest.raises(ConflictError, match="are active"):
        restore(desk.root, wrapped.packet.packet_id[:12])


def test_two_topics_are_no_conflict_but_one_must_be_named(desk: Any) -> None:
    one, two = desk.wrap(topic="api"), desk.wrap(topic="docs")
    assert resolve(desk.root).conflicts == ()
    with pytest.raises(ConflictError, match="2 packets") as caught:
        find_candidate(open_shelf(desk.root, load_config(desk.root)))
    assert "topic of its own" in caught.value.next_step
    assert two.packet.packet_id in desk.mirror()
    archive(desk.root, [two.packet.packet_id[:8]])
    assert one.packet.packet_id in desk.mirror()


def test_commit_takes_the_packet_and_nothing_else(desk: Any) -> None:
    desk.repository.write("staged.py", "s = 1\n")
    desk.git("add", "staged.py")
    desk.repository.write("src/x.py", "x = 9\n")
    hook = desk.repository.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch hooked\nexit 1\n")
    hook.chmod(0o755)
    desk.git("config", "commit.gpgSign", "true")
    status = desk.git("status", "--porcelain")
    first = desk.wrap()
    done = commit_packet(desk.root, first.packet)
    assert desk.git("rev-parse", "HEAD") == done.commit
    assert desk.git("show", "--name-only", "--format=", "HEAD").splitlines() == sorted(first.paths[:2])
    assert desk.git("status", "--porcelain") == status
    assert not (desk.root / "hooked").exists()
    assert desk.wrap().changed == (), "committing the packet changes nothing that it says"
    assert commit_packet(desk.root, first.packet).commit == ""
    second = desk.wrap("more")
    done = commit_packet(desk.root, second.packet)
    assert desk.git("show", "--name-only", "--format=", "HEAD").splitlines() == sorted(
        [*first.paths[:2], *second.paths[:2]]
    )
    archive(desk.root, all_superseded=True)
    done = commit_packet(desk.root, second.packet)
    [mark] = desk.git("show", "--name-only", "--format=", done.commit).splitlines()
    assert Path(mark).name.startswith("archive-1-")
    assert "staged.py" in desk.git("diff", "--cached", "--name-only")


def test_the_first_commit_of_a_repository_may_be_a_packet(make_repository: Any) -> None:
    repository = make_repository("unborn", empty=True)
    repository.git("config", "user.name", "Dev")
    repository.git("config", "user.email", "dev@example.com")
    repository.write("x.py", "1\n")
    repository.git("add", "x.py")
    desk = __import__("types").SimpleNamespace(root=repository.root)
    from passdown.handoff.draft import draft
    from passdown.handoff.options import Options
    from passdown.handoff.publish import publish

    wrapped = publish(draft(desk.root, Options(interim=True)))
    commit_packet(desk.root, wrapped.packet)
    assert repository.git("ls-files").splitlines() == sorted([*wrapped.paths[:2], "x.py"])
    assert repository.git("ls-tree", "-r", "--name-only", "HEAD").splitlines() == sorted(wrapped.paths[:2])


def test_commit_refuses_what_it_cannot_do(desk: Any) -> None:
    local = desk.wrap(local=True)
    with pytest.raises(UsageError, match="only a packet of the project"):
        commit_packet(desk.root, local.packet)
    desk.repository.write(".gitignore", "outputs/\n")
    wrapped = desk.wrap()
    head = desk.git("rev-parse", "HEAD")
    with pytest.raises(UsageError, match="ignores"):
        commit_packet(desk.root, wrapped.packet)
    (desk.root / ".gitignore").unlink()
    lock = desk.root / ".git/index.lock"
    lock.write_text("")
    with pytest.raises(PassdownError, match=r"index\.lock"):
        commit_packet(desk.root, wrapped.packet)
    lock.unlink()
    (desk.root / ".git/MERGE_HEAD").write_text(head + "\n")
    with pytest.raises(ConflictError, match="merge"):
        commit_packet(desk.root, wrapped.packet)
    assert desk.git("rev-parse", "HEAD") == head


def test_a_writer_waits_and_then_says_who_writes(desk: Any) -> None:
    desk.wrap()
    code = (
        "import sys, time; from pathlib import Path; from passdown.io.files import lock\n"
        "with lock(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(float(sys.argv[2]))"
    )
    lock = str(place_of(desk.root).shelves.lock)
    for seconds, waits in (("60", 0.2), ("0.4", 30.0)):
        holder = subprocess.Popen([sys.executable, "-c", code, lock, seconds], stdout=subprocess.PIPE)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        if waits < 1:
            with (
                pytest.raises(ConflictError, match=rf"process {holder.pid}, for \d+ s"),
                writing(place_of(desk.root), waits),
            ):
                raise AssertionError("two writers at once")
            holder.kill()  # it is gone without having let go of anything
        else:
            with writing(place_of(desk.root), waits) as store:
                assert len(store.packets) == 1
        holder.wait()
        holder.stdout.close()
        with writing(place_of(desk.root), 30.0) as store:
            assert len(store.packets) == 1, "a dead process blocks nobody"
