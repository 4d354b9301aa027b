"""Keep the files that were made for hooks in a project out of its commits: they name programs of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import structs

from passdown.errors import PassdownError
from passdown.hooks.change import Change, Plan, Receipt, read_settings
from passdown.repository.locate import read_layout

_OPENING = "# made by `passdown hooks install"


def plan_exclude(plan: Plan, root: Path, changes: Iterable[Change], *, wanted: bool) -> Plan:
    """Return the plan with what these files need in git's own exclude file; the plan itself without a repository."""
    try:
        path = read_layout(root).common_dir / "info" / "exclude"
    except PassdownError:
        return plan
    before = read_settings(path)
    text = before.decode("utf-8", "surrogateescape") if before is not None else ""
    for change in changes:
        if change.target.is_relative_to(root.resolve()):
            name = change.target.relative_to(root.resolve()).as_posix()
            text = with_line(text, change.agent, name) if wanted else without_line(text, change.agent, name)
    after: bytes | None = text.encode("utf-8", "surrogateescape")
    if not after and (before is None or Receipt.read().was(path) == "missing"):
        after = None
    if after == before:
        return plan
    kept = Change(agent="git", title="git", scope="project", path=path, target=path, before=before, after=after,
                  was="missing" if before is None else "", ours=_OPENING in text)  # fmt: skip
    return structs.replace(plan, changes=(*plan.changes, kept))


def with_line(text: str, agent: str, name: str) -> str:
    """Return the exclude file's text with the file named in it; it goes on to end, or not to end, with a line end."""
    block = _block(agent, name)
    if block in text:
        return text
    return text + block + "\n" if not text or text.endswith("\n") else text + "\n" + block


def without_line(text: str, agent: str, name: str) -> str:
    """Return the exclude file's text as it was before `with_line`."""
    block = _block(agent, name)
    if block + "\n" in text:
        return text.replace(block + "\n", "", 1)
    return text.removesuffix("\n" + block)


def _block(agent: str, name: str) -> str:
    return f"{_OPENING} {agent} --project`\n/{name}"
