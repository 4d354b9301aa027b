"""The three checkpoints of the Handoff Debt paper (arXiv 2606.02875), with the rules of its published code.

They are kept as they are published, with their peculiarities, so that numbers can be compared: any terminal output
that looks like a result counts as one, whatever was run, and `git diff` shows no files that are not tracked. Our own
detectors of the same names judge by what was run and how it ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from passdown.data.points.signals import Edit, Signals, read_signals
from passdown.data.records import Action, Mark, Point, PointKind, Trajectory
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, ToolCall, ToolResult, UserMessage

FIRST_MODIFICATION = "first_meaningful_modification"
FIRST_RESULT = "post_first_validation_result"
REPAIR_EDIT = "post_failed_repair_edit"
KINDS: dict[str, PointKind] = {FIRST_MODIFICATION: "mid", FIRST_RESULT: "milestone", REPAIR_EDIT: "error"}

_SUFFIXES = frozenset(
    (".c", ".cc", ".cpp", ".cs", ".go", ".h", ".hpp", ".java", ".js", ".jsx", ".kt", ".php", ".py", ".rb", ".rs",
     ".scala", ".ts", ".tsx")
)  # fmt: skip
_SCRATCH = ("repro", "scratch", "tmp", "debug")
_TEST_PATH = lazy_pattern(r"(?:^|/)(?:tests?|testing|specs?)[/_]|_(?:test|spec)\.")
_VALIDATES = lazy_pattern(
    r"(?i)\b(?:pytest|tox|nox|unittest|python\s+-m\s+(?:pytest|unittest)|ruff|mypy|(?:p?npm|yarn)\s+test"
    r"|(?:cargo|go|make|gradle|mvn)\s+test|python3?\s+\S*(?:repro|check|verify|validate|test)\S*\.py)\b"
)
_PASSES = lazy_pattern(
    r"(?i)\b(?:all tests pass(?:ed)?|tests? passed|pass:\s*true|passed\s+\d+|\d+\s+passed|ok|successfully fixed"
    r"|verified)\b"
)
_FAILS = lazy_pattern(
    r"(?i)\b(?:assertionerror|traceback|failed|fail:\s*true|pass:\s*false|\d+\s+failed|error:|exception)\b"
)
_GIT_STATE = lazy_pattern(r"(?i)\bgit\s+(?:stash|restore|checkout|reset|clean)\b")
_TERMINAL = "terminal"
_ALL = lazy_pattern(r"(?:^|\s)(?:-A|--all|-u|--update|\.)(?:\s|$)|^git commit\b.*\s-[a-z]*a")


class Event(NamedTuple):
    """One event of the paper's log. `diffs` is the tree after it: a hash of each file's part of `git diff`."""

    step: int
    text: str
    diffs: Mapping[str, str]
    command: str = ""
    terminal: bool = False
    environment: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether it is of the terminal: by its tool, or by how its text begins."""
        return self.terminal or self.text.startswith(_TERMINAL)


class Checkpoint(NamedTuple):
    """A checkpoint: its kind, the step of its event, the changed source files so far, the last check before it."""

    kind: str
    step: int
    files: tuple[str, ...]
    command: str = ""


def is_source(path: str) -> bool:
    """Say whether the paper takes a path for source code."""
    slashed = path.replace("\\", "/")
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if not stem or f"{dot}{suffix}".lower() not in _SUFFIXES:
        return False
    if "/" not in slashed and stem.lower().startswith(_SCRATCH):
        return False
    return _TEST_PATH.search(slashed) is None


def validation_command(event: Event) -> str:
    """Return the line that checks something, in the command of a terminal event or else anywhere in its text."""
    if event.is_terminal:
        for text in (event.command, event.text):
            if found := _VALIDATES.search(text):
                return next((line for line in text.splitlines() if found[0] in line), text).strip()
    return ""


def validation_result(event: Event) -> bool | None:
    """Return what a terminal's output says; words of failure win. None when it says neither."""
    if not event.environment or not event.is_terminal:
        return None
    return False if _FAILS.search(event.text) else True if _PASSES.search(event.text) else None


def lifecycle(events: Iterable[Event]) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of a log, at most one of a kind, in the order of the kinds."""
    found: dict[str, Checkpoint] = {}
    files: set[str] = set()
    before: Mapping[str, str] = {}
    last, pending, failed = "", False, -1
    for event in events:
        changed = [path for path in event.diffs if is_source(path) and before.get(path) != event.diffs[path]]
        before = event.diffs
        if changed:
            files.update(changed)
            found.setdefault(FIRST_MODIFICATION, Checkpoint(FIRST_MODIFICATION, event.step, tuple(sorted(files))))
            if 0 <= failed < event.step and REPAIR_EDIT not in found and not _manages_git(event):
                found[REPAIR_EDIT] = Checkpoint(REPAIR_EDIT, event.step, tuple(sorted(files)), last)
        if FIRST_MODIFICATION not in found:
            continue
        if command := validation_command(event):
            last, pending = command, True
        result = validation_result(event)
        if event.environment and event.is_terminal and (pending or result is not None):
            found.setdefault(FIRST_RESULT, Checkpoint(FIRST_RESULT, event.step, tuple(sorted(files)), last))
            pending = False
        if result is False and failed < 0:
            failed = event.step
    return tuple(found[kind] for kind in KINDS if kind in found)


def _manages_git(event: Event) -> bool:
    return event.is_terminal and _GIT_STATE.search(event.command or event.text) is not None


def paper_points(trajectory: Trajectory) -> tuple[Point, ...]:
    """Return the paper's checkpoints of a trajectory as points, in the order of its kinds.

    Its logs hold a git snapshot an event; here the snapshots follow from the recorded edits and git commands.
    """
    events = list(events_of(trajectory))
    steps = {number: step for number, (step, _) in enumerate(events)}
    points: list[Point] = []
    for checkpoint in lifecycle(event for _, event in events):
        step = steps[checkpoint.step]
        mark = Mark(
            detector=checkpoint.kind, kind=KINDS[checkpoint.kind], steps=(step,), detail=checkpoint.command[:200]
        )  # fmt: skip
        points.append(Point(trajectory_id=trajectory.trajectory_id, k=step + 1, kind=mark.kind, marks=(mark,)))
    return tuple(points)


def events_of(trajectory: Trajectory) -> Iterator[tuple[int, Event]]:
    """Yield the paper's events, numbered from 0, each with the index of the step that it is in."""
    tree = _Tree()
    number = 0
    for at, signals in enumerate(read_signals(trajectory)):
        thoughts: list[str] = []
        calls: dict[str, ToolCall] = {}
        for event in signals.step.events:
            made: Event | None = None
            if isinstance(event, AssistantMessage):
                thoughts.append(event.text)
            elif isinstance(event, UserMessage):
                made = Event(number, event.text, tree.diffs)
            elif isinstance(event, ToolCall):
                calls[event.call_id] = event
                text = "\n".join([*thoughts, event.command])
                made = Event(number, text, tree.diffs, event.command, terminal=event.action == "run")
                thoughts = []
            elif isinstance(event, ToolResult):
                call = calls.get(event.call_id)
                tree.take(signals, event.call_id)
                command = call.command if call is not None else ""
                terminal = call is not None and call.action == "run"
                text = f"{event.text}\n{command}" if command else event.text
                made = Event(number, text, tree.diffs, command, terminal=terminal, environment=True)
            if made is not None:
                yield at, made
                number += 1
        if thoughts:
            yield at, Event(number, "\n".join(thoughts), tree.diffs)
            number += 1


class _Tree:
    """What `git diff` would show, as far as the recorded edits and git commands tell."""

    def __init__(self) -> None:
        self.diffs: dict[str, str] = {}
        self._untracked: set[str] = set()
        self._added: set[str] = set()
        self._stashed: dict[str, str] = {}

    def take(self, signals: Signals, call_id: str) -> None:
        """Follow one call."""
        now = dict(self.diffs)
        for edit in signals.edits:
            if edit.call_id == call_id:
                self._edit(now, edit)
        for action in signals.done:
            if action.call_id == call_id and action.kind == "VCS" and action.ok is not False:
                self._git(now, action)
        if now != self.diffs:
            self.diffs = now

    def _edit(self, now: dict[str, str], edit: Edit) -> None:
        if edit.restored:
            for path in list(now) if edit.path in (".", "*") else [edit.path]:
                now.pop(path, None)
        elif edit.new and edit.path not in self._added:
            self._untracked.add(edit.path)
        elif edit.path not in self._untracked:
            chained = f"{now.get(edit.path, '')}\x1f{edit.digest}"
            now[edit.path] = hashlib.blake2b(chained.encode(), digest_size=8).hexdigest()

    def _git(self, now: dict[str, str], action: Action) -> None:
        sub = action.target
        if sub in ("stash pop", "stash apply"):
            now.update(self._stashed)
            self._stashed = {}
        elif sub in ("stash", "stash push", "stash save"):
            self._stashed = dict(now)
            now.clear()
        elif sub == "reset" and "--hard" in action.detail:
            now.clear()
        elif sub in ("add", "commit"):
            everything = _ALL.search(action.detail) is not None
            for path in [path for path in now if everything or path in action.detail]:
                now.pop(path)
            self._added |= {path for path in self._untracked if everything or path in action.detail}
            self._untracked -= self._added
