"""Commit a packet's files and nothing else: the user's index, staged work and hooks are left alone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from passdown.clean.mend import quote_path
from passdown.errors import ConflictError, UsageError
from passdown.handoff.shelves import Place, place_of, writing
from passdown.io.git import run_git, try_git
from passdown.model.packet import Packet
from passdown.repository.locate import read_layout
from passdown.repository.operation import operation_in
from passdown.store.archive import markers_in
from passdown.store.chain import StoredPacket
from passdown.store.shelves import NAMES, Store


class Committed(Struct, frozen=True, kw_only=True):
    """A commit of packet files; `commit` is empty when HEAD held them already."""

    commit: str = ""
    paths: tuple[str, ...] = ()


def is_ignored(place: Place, path: Path) -> bool:
    """Say whether git ignores a file of the project shelf, so that it does not travel."""
    return try_git(place.root, "check-ignore", "--quiet", "--", place.name(path))[0] == 0


def is_uncommitted(place: Place, names: Sequence[str]) -> bool:
    """Say whether files of the project differ from what is committed, and git would take them."""
    code, output, _ = try_git(place.root, "--literal-pathspecs", "status", "--porcelain", "-z", "--", *names)
    return code == 0 and bool(output)


def commit_command(changed: Sequence[str], what: str) -> str:
    """Return the command that commits changed packet files of the project; empty when none of them lies there."""
    parts = [Path(name) for name in changed]
    inside = [path for path in parts if not path.is_absolute() and path.parts[0] not in ("..", ".git")]
    folders = sorted({path.parent.as_posix() for path in inside if path.name in NAMES or path.suffix == ".json"})
    if not folders:
        return ""
    quoted = " ".join(map(quote_path, folders))
    return f"git add -f -- {quoted} && git commit -q -m {shlex.quote(what)} -- {quoted}"


def commit_packet(folder: Path, packet: Packet) -> Committed:
    """Commit a packet of the project shelf: its files, and the marks on the committed packets before it.

    Only these paths change in the commit and in the index; what else is staged stays staged. No hook, filter or signing
    program is run. Raises `UsageError` when git ignores the shelf or the packet is not on it, `ConflictError` in the
    middle of a merge or rebase, and when HEAD moved meanwhile.
    """
    place = place_of(folder)
    layout = read_layout(place.root)
    if operation := operation_in(layout.git_dir):
        raise ConflictError(f"git is in the middle of a {operation}", next_step="Finish it, then commit the packet.")
    with writing(place) as store:
        paths = _paths(place, store, packet)
        if is_ignored(place, paths[0]):
            raise UsageError(
                "git ignores the packet's folder; it cannot be committed",
                where=place.config.output,
                next_step=f"See which rule: git check-ignore -v {place.config.output}/x",
            )
        lines = _index_lines(place, paths)
        commit = _commit(place, lines, _message(packet))
    return Committed(commit=commit, paths=tuple(place.name(path) for path in paths))


def _paths(place: Place, store: Store, packet: Packet) -> list[Path]:
    """Return the files: the packet's own, those of marked packets that git has already, and a mirror that it tracks."""
    mine = [p for p in store.packets if p.packet_id == packet.packet_id and p.shelf == "project"]
    if not mine:
        raise UsageError(
            "only a packet of the project can be committed", next_step="Run `passdown wrap`, which puts it there."
        )
    listed = run_git(place.root, "ls-files", "-z", "--", f":(top,literal){place.config.output}")
    tracked = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    marked = [p for p in store.packets if p.shelf == "project" and (p.archived or p.head.status != "active")]
    before = [p for p in marked if p.packet_id != packet.packet_id and place.name(p.path) in tracked]
    paths = [path for item in (*mine, *before) for path in _files(place, item)]
    mirror = place.root / place.config.mirror if place.config.mirror else None
    if mirror is not None and mirror.is_file() and not mirror.is_symlink():
        known = try_git(place.root, "ls-files", "--error-unmatch", "--", f":(top,literal){place.config.mirror}")
        paths += [mirror] if known[0] == 0 else []
    return paths


def _files(place: Place, packet: StoredPacket) -> list[Path]:
    folders = [p.parent for p in (packet.path, *packet.copies) if p.is_relative_to(place.shelves.project)]
    files = [folder / name for folder in folders for name in (*NAMES, *markers_in(folder))]
    return [path for path in files if path.is_file() and not path.is_symlink()]


def _index_lines(place: Place, paths: Sequence[Path]) -> bytes:
    """Write the files as blobs, byte for byte, and return the lines that put them into an index."""
    lines = []
    for path in paths:
        blob = run_git(place.root, "hash-object", "-w", "--no-filters", "--stdin", stdin=path.read_bytes()).strip()
        lines.append(b"100644 " + blob + b"\t" + os.fsencode(place.name(path)) + b"\0")
    return b"".join(lines)


def _commit(place: Place, lines: bytes, message: str) -> str:
    from tempfile import TemporaryDirectory  # here: it loads a dozen modules, and most commands commit nothing

    root = place.root
    code, output, _ = try_git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    parent = output.decode().strip() if code == 0 else ""
    with TemporaryDirectory(prefix="index-", dir=place.shelves.lock.parent) as folder:
        own = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        run_git(root, "read-tree", parent or "--empty", env=own)
        run_git(root, "update-index", "-z", "--add", "--replace", "--index-info", stdin=lines, env=own)
        tree = run_git(root, "write-tree", env=own).decode().strip()
    if parent and run_git(root, "rev-parse", f"{parent}^{{tree}}").decode().strip() == tree:
        return ""
    parents = ("-p", parent) if parent else ()
    code, output, why = try_git(
        root, "commit-tree", "--no-gpg-sign", tree, *parents, stdin=message.encode(), env=_person()
    )  # fmt: skip
    if code != 0:
        raise UsageError(
            f"the packet is written, but git did not commit it: {why}",
            next_step="Tell git who you are (git config user.name, user.email), then wrap again with --commit.",
        )
    commit = output.decode().strip()
    # The index comes first: killed between the two, the packet is staged and nothing is lost.
    run_git(root, "update-index", "-z", "--add", "--replace", "--index-info", stdin=lines)
    reason = f"commit: {message.splitlines()[0]}"
    code, _, why = try_git(root, "update-ref", "-m", reason, "HEAD", commit, parent or _nobody(commit))
    if code != 0:
        raise ConflictError(f"the branch moved meanwhile: {why}", next_step="Run `passdown wrap --commit` again.")
    return commit


def _person() -> dict[str, str]:
    """Return who commits and when, where the environment says it: git is called without its other variables."""
    names = [f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL", "DATE")]
    return {name: os.environ[name] for name in names if name in os.environ}


def _nobody(commit: str) -> str:
    return "0" * len(commit)


def _message(packet: Packet) -> str:
    return f"Hand over {packet.topic} (packet {packet.packet_id[:12]})\n"
