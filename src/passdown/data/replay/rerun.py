"""Real replay: the recorded actions run again in a sandbox, for as long as what they print is what was recorded."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from passdown.data.actions import swe_agent
from passdown.data.actions.canonical import Canonicalizer
from passdown.data.actions.edits import file_operations
from passdown.data.actions.operations import AnyOperation, Copy, Delete, Mode, Opaque, Restore, Undo
from passdown.data.actions.tools import shell_text
from passdown.data.records import Action, ActionKind, Snapshot, Trajectory
from passdown.data.replay.apply import applied
from passdown.data.replay.base import Base
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.contents import GONE, Content, Gone, Whole, seen
from passdown.data.replay.likeness import ALIKE, likeness, same_tests
from passdown.data.replay.sandbox import File, Limits, Sandbox, Wall
from passdown.data.replay.showing import shown
from passdown.data.replay.snapshot import EXECUTABLE, PLAIN, snapshot_of
from passdown.errors import UnsafeError
from passdown.model.session import SessionStart, ToolCall, ToolResult, WorkspaceChange

PREPARE = "git init -q -b main . && git add -A && git commit -q -m 'Start of the repository'"
"""What makes the base tree a repository: one commit, whatever history there was."""

_HISTORY = "passdown-history"
PREPARE_PAST = f"git init -q -b main && git fast-import --quiet < {_HISTORY} && rm {_HISTORY} && git reset -q"
"""The same where the past is known."""

_BATCH = 16 << 20
_PLAIN_SHELL = frozenset({"scripted"})
"""Agents that hand their commands to `sh`; it words its errors in another way than `bash`."""
_NOT_MADE = frozenset({"rejected", "interrupted"})
_NO_EFFECT = frozenset({"PLAN", "NOTE", "SUBMIT", "SEARCH", "OTHER"})


class Divergence(NamedTuple):
    """Where a replay stopped: in the step that would have led to `k`, and why. `likeness` is None when it was not
    about what was printed."""

    k: int
    reason: str
    likeness: float | None = None
    recorded: str = ""
    now: str = ""


class Rerun:
    """A run that was run again. Up to `reached` steps its files are the real ones; `divergence` says why not further.

    `compared` counts observations that were held against the record, `skipped` calls that were not run, by kind.
    """

    def __init__(self, trajectory: Trajectory, base: Base) -> None:
        self.trajectory = trajectory
        first = {path: File(content, base.modes.get(path, PLAIN)) for path, content in base.whole().items()}
        self.trees: list[dict[str, File]] = [first]
        self.divergence: Divergence | None = None
        self.compared = 0
        self.skipped: Counter[str] = Counter()

    @property
    def reached(self) -> int:
        """Return up to how many complete steps the files are known."""
        return len(self.trees) - 1

    def changed(self, k: int) -> dict[str, str]:
        """Return the files that differ from the base after `k` steps: path → sha256 of the content, '' when gone."""
        tree, first = self.trees[k], self.trees[0]
        found = {path: "" for path in first if path not in tree}
        for path, file in tree.items():
            if path not in first or first[path].content != file.content:
                found[path] = hashlib.sha256(file.content).hexdigest()
        return dict(sorted(found.items()))

    def modes(self, k: int) -> dict[str, bool]:
        """Return the files whose executable bit differs from the beginning."""
        first = self.trees[0]
        return {
            path: file.mode == EXECUTABLE for path, file in self.trees[k].items()
            if (file.mode == EXECUTABLE) != (path in first and first[path].mode == EXECUTABLE)
        }  # fmt: skip

    def content(self, k: int, path: str) -> bytes | None:
        """Return a file's bytes after `k` steps, None when there is no such file."""
        file = self.trees[k].get(path)
        return None if file is None else file.content

    def exact(self, k: int) -> bool:
        """Say whether the replay came so far."""
        return 0 <= k <= self.reached

    def snapshot(self, k: int, blobs: BlobStore | None = None) -> Snapshot:
        """Return the state after `k` steps; contents are kept in `blobs` when it is given."""
        return msgspec.structs.replace(snapshot_of(self, k, blobs), real=True)

    def told(self) -> str:
        """Return `whole`, or why the replay stopped."""
        return "whole" if self.divergence is None else self.divergence.reason


def rerun(
    trajectory: Trajectory,
    base: Base,
    *,
    limits: Limits | None = None,
    wall: Wall | None = None,
    tools: Path | None = None,
) -> Rerun:
    """Run a trajectory's actions again from its beginning, and stop at the first divergence.

    `tools` is a virtual environment with what the run had installed.
    Raises `UnsafeError` where no sandbox can be made. What goes wrong in a sandbox is a divergence.
    """
    found = Rerun(trajectory, base)
    with Sandbox(trajectory.root, limits, wall, tools) as box:
        try:
            found.divergence = _Play(found, box).run(base.history)
        except UnsafeError as error:
            found.divergence = Divergence(found.reached + 1, f"{error.args[0]}")
    return found


class _Play:
    """One replay while it goes on."""

    def __init__(self, found: Rerun, box: Sandbox) -> None:
        self.found, self.box = found, box
        agent = _agent(found.trajectory)
        self.run_in = Canonicalizer(found.trajectory.root, agent)
        self.shell = "/bin/bash" if Path("/bin/bash").is_file() and agent not in _PLAIN_SHELL else "/bin/sh"

    def run(self, history: bytes) -> Divergence | None:
        """Replay every step."""
        if refused := self._begin(history):
            return Divergence(1, refused)
        for step in self.found.trajectory.steps:
            results = {event.call_id: event for event in step.events if isinstance(event, ToolResult)}
            for event in step.events:
                if isinstance(event, WorkspaceChange):
                    self.run_in.moved(event.cwd)
                elif isinstance(event, ToolCall):
                    wrong = self._call(event, results.get(event.call_id), step.actions, step.idx + 1)
                    if wrong is not None:
                        return wrong
            if self.box.untold:
                return Divergence(step.idx + 1, "a file is too large to be read back, or its name is no text")
            last = self.found.trees[-1]
            self.found.trees.append(last if last == self.box.files else dict(self.box.files))
        return None

    def _begin(self, history: bytes) -> str:
        """Put the base tree there, as a repository; return why that cannot be."""
        first = self.found.trees[0]
        if not first:
            return "the base tree is too large to be taken as a whole"
        for batch in _batches(first):
            if error := self.box.put(batch):
                return f"the base tree cannot be written: {error}"
        if history and self.box.put({_HISTORY: history}):
            return "the past cannot be written"
        if self.box.run(PREPARE_PAST if history else PREPARE).code != 0 or self.box.untold:
            return "the base tree is too large for the sandbox"
        return "" if self.box.files == first else "the base tree is not what was put there"

    def _call(
        self, call: ToolCall, result: ToolResult | None, actions: tuple[Action, ...], k: int
    ) -> Divergence | None:
        cwd = self.run_in.cwd if not call.cwd else self.run_in.places.absolute(call.cwd, self.run_in.cwd)
        self.run_in.actions(call, result)
        own = [action for action in actions if action.call_id == call.call_id]
        text = shell_text(call)
        if result is not None and result.outcome in _NOT_MADE:
            self.found.skipped[result.outcome] += 1
            return None
        submits = bool(own) and all(action.kind == "SUBMIT" for action in own)
        if text and call.tool not in swe_agent.COMMANDS and not submits:
            return self._command(text, self._placed(cwd), result, k, {action.kind for action in own})
        if not own or all(action.kind in _NO_EFFECT for action in own):
            self.found.skipped[own[0].kind if own else "nothing"] += 1
            return None
        for action in own:
            if wrong := self._tool(call, result, action, k):
                return wrong
        return None

    def _placed(self, cwd: str) -> str:
        """Return a folder as it is called inside."""
        root = self.found.trajectory.root
        return f"{self.box.root}{cwd[len(root) :]}" if root and (cwd == root or cwd.startswith(f"{root}/")) else cwd

    # --- commands ----------------------------------------------------------------------------------------------------

    def _command(
        self, text: str, cwd: str, result: ToolResult | None, k: int, kinds: set[ActionKind]
    ) -> Divergence | None:
        if result is None or result.outcome == "running":
            return Divergence(k, "nobody recorded what a command printed")
        ended = self.box.run(text, cwd=cwd, shell=self.shell)
        if ended.stopped:
            return Divergence(k, f"a command was stopped: it took too much {ended.stopped}", now=ended.text[-400:])
        self.found.compared += 1
        went_well = {"ok": True, "failed": False}.get(result.outcome)
        same = result.exit_code == ended.code if result.exit_code is not None else went_well in (None, ended.code == 0)
        alike = likeness(result.text, ended.text, ordered="SEARCH" not in kinds)
        if not same:
            return Divergence(k, f"a command ended with {ended.code}", alike, result.text[:400], ended.text[:400])
        if alike < ALIKE:
            return Divergence(k, "a command printed something else", alike, result.text[:400], ended.text[:400])
        if "TEST" in kinds and not same_tests(result.text, ended.text):
            return Divergence(k, "tests came out otherwise", alike, result.text[-400:], ended.text[-400:])
        return None

    # --- tools of an agent's own -------------------------------------------------------------------------------------

    def _tool(self, call: ToolCall, result: ToolResult | None, action: Action, k: int) -> Divergence | None:
        if action.kind == "READ":
            return self._read(call, result, action, k)
        if action.ok is False or (result is not None and result.outcome == "failed"):
            self.found.skipped["failed"] += 1
            return None
        if action.kind not in ("EDIT", "CREATE", "DELETE"):
            self.found.skipped[action.kind] += 1
            return None
        for operation in file_operations(call, action):
            if isinstance(operation, Opaque | Undo | Restore | Copy | Mode):
                return Divergence(k, f"an edit cannot be made again: {operation.__struct_config__.tag}")
            after = GONE if isinstance(operation, Delete) else self._after(cast("AnyOperation", operation))
            if after is None:
                return Divergence(k, f"an edit does not fit {operation.path[:80]}")
            before = self.box.files.get(operation.path)
            file = None if isinstance(after, Gone) else File(_bytes(after), before.mode if before else "100644")
            if error := self.box.put({operation.path: file}):
                return Divergence(k, f"an edit cannot be made again: {error}")
        return None

    def _after(self, operation: AnyOperation) -> Whole | None:
        after = applied(operation, self._content(operation.path))
        return after if isinstance(after, Whole) else None

    def _content(self, path: str) -> Content:
        file = self.box.files.get(path)
        return GONE if file is None else Whole(file.content.decode("utf-8", "surrogateescape"))

    def _read(self, call: ToolCall, result: ToolResult | None, action: Action, k: int) -> Divergence | None:
        path = action.reads[0] if len(action.reads) == 1 else ""
        found = shown(call, result, action, path) if path and result is not None else None
        if found is None or action.ok is False:
            self.found.skipped["READ"] += 1
            return None
        self.found.compared += 1
        _, agrees = seen(self._content(path), found.lines, whole=found.whole)
        return None if agrees is not False else Divergence(k, f"{path[:80]} holds something else")


def _agent(trajectory: Trajectory) -> str:
    events = (event for step in trajectory.steps for event in step.events)
    return next((event.agent for event in events if isinstance(event, SessionStart)), "")


def _bytes(content: Whole) -> bytes:
    return content.text.encode("utf-8", "surrogateescape")


def _batches(files: Mapping[str, File]) -> Iterator[dict[str, File]]:
    batch: dict[str, File] = {}
    size = 0
    for path, file in files.items():
        if batch and size + len(file.content) > _BATCH:
            yield batch
            batch, size = {}, 0
        batch[path] = file
        size += len(file.content)
    if batch:
        yield batch
