"""Discovery: the sessions of a repository, across all agents, without reading any of them whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath

from msgspec import Struct, structs

from passdown.agents.table import AGENTS, home_of, project_homes
from passdown.errors import PassdownError
from passdown.io.git import try_git
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionRef, SessionStart
from passdown.redact.neutralise import one_line
from passdown.sessions.place import Places
from passdown.sessions.read import agent_called, read_ref

_COMMIT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REASONS = {
    "commit": "name a commit of this repository",
    "remote": "name this repository's remote",
    "name": "worked in a folder of this one's name, which no other repository claims",
}


class Discovery(Struct, frozen=True, kw_only=True):
    """The sessions found, newest first; what should be known about them; how many were looked at in all."""

    refs: tuple[SessionRef, ...] = ()
    findings: tuple[Finding, ...] = ()
    scanned: int = 0


def all_sessions(*, homes: Mapping[str, Path] | None = None, agents: Collection[str] | None = None) -> Discovery:
    """Return every session of every agent, or of those named. `homes` moves an agent's folder (agent id → path).

    Raises `UsageError` for an agent that is not in the table.
    """
    from passdown.sessions.index.known import find_known  # not loaded where a session's file is named
    from passdown.sessions.missing import missing

    wanted = {agent_called(name).id for name in agents} if agents is not None else {row.id for row in AGENTS}
    refs: dict[tuple[str, str, str], SessionRef] = {}
    findings: list[Finding] = []
    for row in AGENTS:
        if row.id not in wanted:
            continue
        home = homes[row.id] if homes is not None and row.id in homes else home_of(row)
        try:
            if home.is_dir():
                found = {(ref.agent, ref.path, ref.inner): ref for ref in find_known(row, home)}
                findings += missing(row, home, {ref.path for ref in found.values()})
                refs |= found
        except OSError as error:
            reason = one_line(str(error.strerror or error), 120)
            detail = f"{row.title}'s folder cannot be read: {reason}"
            findings.append(Finding(code="session.unreadable_folder", severity="warn", detail=detail))
    return Discovery(refs=tuple(sorted(refs.values(), key=_age)), findings=tuple(findings), scanned=len(refs))


def find_sessions(
    repository: RepositoryFacts,
    *,
    homes: Mapping[str, Path] | None = None,
    agents: Collection[str] | None = None,
) -> Discovery:
    """Return the sessions that worked in this repository: in its root, a subfolder, or any of its worktrees.

    A session whose folder is gone is taken when it names this repository's commit or remote, or when its folder had
    this repository's name and nothing else claims it; a finding says so. Raises `UsageError` for an unknown agent.
    """
    found = all_sessions(homes={**project_homes(repository.root), **(homes or {})}, agents=agents)
    kept, findings = sessions_in(found.refs, repository)
    return Discovery(refs=kept, findings=(*found.findings, *findings), scanned=found.scanned)


def sessions_in(
    refs: Collection[SessionRef], repository: RepositoryFacts
) -> tuple[tuple[SessionRef, ...], tuple[Finding, ...]]:
    """Return those of `refs` that belong to the repository, in their order, and the findings about them."""
    places = Places(repository)
    where = [places.of(ref.cwd) for ref in refs]
    moved = _moved([ref for ref, place in zip(refs, where, strict=True) if place == "gone"], repository, places)
    kept = []
    for ref, place in zip(refs, where, strict=True):
        if place in ("here", "worktree") or (place == "gone" and ref.cwd in moved and _key(ref) in moved[ref.cwd]):
            kept.append(_with_kinship(ref))
    return tuple(kept), tuple(_findings(moved, where.count("unknown")))


_Key = tuple[str, str, str]


def _key(ref: SessionRef) -> _Key:
    return ref.agent, ref.path, ref.inner


def _age(ref: SessionRef) -> tuple[int, str, str, str]:
    return -(ref.modified_at or ref.started_at or 0), ref.agent, ref.session_id, ref.path


def _moved(refs: list[SessionRef], repository: RepositoryFacts, places: Places) -> dict[str, dict[_Key, str]]:
    """Tell which sessions of folders that are gone are this repository's: folder → session → why."""
    if not refs:
        return {}
    root = Path(repository.root)
    commits = _commits_here(root, {ref.commit for ref in refs})
    remotes = _remotes(root) if any(ref.remote for ref in refs) else set()
    claimed: set[str] = set()
    moved: dict[str, dict[_Key, str]] = {}
    nameless: list[SessionRef] = []
    for ref in refs:
        reason = "commit" if ref.commit in commits else "remote" if plain_remote(ref.remote) in remotes else ""
        if reason:
            moved.setdefault(ref.cwd, {})[_key(ref)] = reason
        elif _claimed_elsewhere(ref, repository, remotes):
            claimed.add(ref.cwd)
        else:
            nameless.append(ref)
    name = PurePosixPath(places.root).name
    for ref in nameless:
        known = ref.cwd in moved
        if ref.cwd not in claimed and (known or PurePosixPath(ref.cwd.replace("\\", "/")).name == name):
            reason = next(iter(moved[ref.cwd].values())) if known else "name"
            moved.setdefault(ref.cwd, {})[_key(ref)] = reason
    return moved


def _claimed_elsewhere(ref: SessionRef, repository: RepositoryFacts, remotes: set[str]) -> bool:
    """Say whether the session names another repository: a commit that is not here, or a remote that is not ours."""
    if ref.commit and not repository.shallow and _COMMIT.fullmatch(ref.commit):
        return True
    return bool(ref.remote and remotes)


def _commits_here(root: Path, commits: set[str]) -> set[str]:
    asked = sorted(commit for commit in commits if _COMMIT.fullmatch(commit))
    if not asked:
        return set()
    code, output, _ = try_git(root, "cat-file", "--batch-check", stdin="\n".join(asked).encode() + b"\n")
    lines = output.decode("ascii", "replace").splitlines() if code == 0 else []
    return {parts[0] for parts in (line.split() for line in lines) if len(parts) == 3 and parts[1] == "commit"}


def _remotes(root: Path) -> set[str]:
    code, output, _ = try_git(root, "config", "-z", "--get-regexp", r"^remote\..*\.url$")
    urls = (
        [record.partition(b"\n")[2].decode("utf-8", "replace") for record in output.split(b"\0")] if code == 0 else []
    )
    return {plain_remote(url) for url in urls} - {""}


def plain_remote(url: str) -> str:
    """Return a remote's host and path, the same for its https, ssh and `host:path` forms; no user, no password."""
    from urllib.parse import urlsplit

    url = url.strip()[:2048]
    if "://" not in url:
        host, colon, path = url.partition(":")
        url = f"ssh://{host}/{path}" if colon and "/" not in host else f"file://{url}"
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return ""
    path = parts.path.strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if path.strip("./") else ""


def _with_kinship(ref: SessionRef) -> SessionRef:
    """Fill in what kind of parent the session has; its first event says so."""
    if not ref.parent_id or ref.parent_kind:
        return ref
    try:
        first = next(islice(read_ref(ref), 1), None)
    except (OSError, PassdownError):
        return ref
    return structs.replace(ref, parent_kind=first.parent_kind) if isinstance(first, SessionStart) else ref


def _findings(moved: dict[str, dict[_Key, str]], unknown: int) -> Iterator[Finding]:
    for folder, sessions in sorted(moved.items()):
        name = one_line(PurePosixPath(folder.replace("\\", "/")).name, 80)
        for reason, count in sorted(Counter(sessions.values()).items()):
            yield Finding(
                code="session.renamed_folder",
                severity="info",
                detail=f"{_sessions(count)} of the folder {name!r}, which is gone, taken: they {_REASONS[reason]}",
            )
    if unknown:
        detail = f"{_sessions(unknown)} without a folder in the log, not taken"
        yield Finding(code="session.folder_unknown", severity="info", detail=detail)


def _sessions(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"
