"""State that no file holds: the folder the shell is in, packages that were installed, servers left running."""

from __future__ import annotations

from passdown.data.records import Trajectory, Volatile
from passdown.model.session import ToolCall, ToolResult, WorkspaceChange


def volatile_at(trajectory: Trajectory, k: int) -> tuple[Volatile, ...]:
    """Return what the first `k` steps show of it, the newest value of each; sorted. What nobody saw is not there."""
    found: dict[tuple[str, str], Volatile] = {}
    for step in trajectory.steps[:k]:
        running = {
            event.call_id for event in step.events if isinstance(event, ToolResult) and event.outcome == "running"
        }
        for event in step.events:
            cwd = event.cwd if isinstance(event, ToolCall | WorkspaceChange) else ""
            if cwd:
                found["cwd", ""] = Volatile(kind="cwd", key="cwd", value=_inside(cwd, trajectory.root), step=step.idx)
            if isinstance(event, ToolCall) and event.call_id in running:
                command = event.command.strip()[:200]
                found["process", command] = Volatile(kind="process", key=command, value="running", step=step.idx)
        for action in step.actions:
            if action.kind == "INSTALL" and action.ok and action.target:
                package = Volatile(kind="package", key=action.target, value="installed", step=step.idx)
                found["package", action.target] = package
            for path in action.writes:
                if path.startswith("/tmp/"):  # noqa: S108 - a path as the run names it
                    found["tmp_file", path] = Volatile(kind="tmp_file", key=path, value="written", step=step.idx)
    return tuple(found[name] for name in sorted(found))


def _inside(cwd: str, root: str) -> str:
    if root[1:3] == ":/":
        cwd = cwd.replace("\\", "/")
    if not root or cwd == root:
        return "." if cwd == root else cwd
    return cwd.removeprefix(f"{root.rstrip('/')}/")
