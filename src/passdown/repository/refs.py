"""The few refs that matter: the stash, the integration branch here and at its remote."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.io.git import require_git

DEFAULT_BRANCHES = ("main", "master", "trunk")


KEPT = 2000
"""Most local branches that are listed."""

_FEW = 20
"""Room for the other refs in one list with the branches."""

_FORM = "--format=%(objectname)%00%(refname)%00%(symref)%00%(upstream)%00%(HEAD)"


class Ref(Struct, frozen=True):
    """A ref's full name and object, where a symbolic one leads, and whether a branch has an upstream or HEAD on it."""

    name: bytes
    id: str
    target: bytes = b""
    upstream: bool = False
    current: bool = False


class Refs(Struct, frozen=True):
    """Ids by full ref name, and where symbolic refs lead."""

    ids: dict[str, str]
    targets: dict[str, str]


class Integration(Struct, frozen=True):
    """The branch that work is merged into: its plain name, the refs that hold it (local, remote), and their commits."""

    name: str
    local: str = ""
    remote: str = ""
    at: dict[str, str] = {}


def read_refs(root: Path, integration_branch: str) -> Refs:
    """Read the stash, `origin/HEAD` and every ref that may be the integration branch."""
    found = list_refs(root, integration_branch)
    if len(found) >= KEPT + _FEW:  # so many branches that others may be cut off
        found = _list(
            root, *_others(integration_branch), *(f"refs/heads/{name}" for name in _names(integration_branch))
        )
    ids = {_text(ref.name): ref.id for ref in found}
    return Refs(ids, {_text(ref.name): _text(ref.target) for ref in found if ref.target})


def list_refs(root: Path, integration_branch: str) -> list[Ref]:
    """List the local branches by name, then the other refs that `read_refs` reads, in one call for both.

    At most 2,020 in all, so that a longer list than that is no reason to fear for memory.
    """
    return _list(root, f"--count={KEPT + _FEW}", "refs/heads", *_others(integration_branch))


def _list(root: Path, *arguments: str) -> list[Ref]:
    rows = [line.split(b"\0") for line in require_git(root, "for-each-ref", _FORM, *arguments).split(b"\n") if line]
    return [Ref(name, this.decode(), to, bool(up), head == b"*") for this, name, to, up, head in rows]


def find_integration(refs: Refs, configured: str) -> Integration | None:
    """Choose the integration branch: the configured one, else `origin/HEAD`, else main, master or trunk."""
    default = refs.targets.get("refs/remotes/origin/HEAD", "").removeprefix("refs/remotes/origin/")
    for name in (configured, default, *DEFAULT_BRANCHES):
        if not name:
            continue
        local = f"refs/heads/{name}"
        remote = next((ref for ref in (f"refs/remotes/origin/{name}", f"refs/remotes/{name}") if ref in refs.ids), "")
        if name == default and not remote:
            remote = "refs/remotes/origin/HEAD" if "refs/remotes/origin/HEAD" in refs.ids else ""
        if local in refs.ids or remote:
            plain = name.partition("/")[2] if remote == f"refs/remotes/{name}" else name
            here = local if local in refs.ids else ""
            return Integration(plain, here, remote, {ref: refs.ids[ref] for ref in (here, remote) if ref})
    return None


def _names(integration_branch: str) -> tuple[str, ...]:
    return tuple(name for name in (integration_branch, *DEFAULT_BRANCHES) if name)


def _others(integration_branch: str) -> list[str]:
    places = ("refs/remotes/origin/", "refs/remotes/")
    named = [place + name for name in _names(integration_branch) for place in places]
    return ["refs/stash", "refs/remotes/origin/HEAD", *named]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
