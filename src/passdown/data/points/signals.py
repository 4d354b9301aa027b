"""What each step of a run did, as detectors need it. A step's signals depend on it and earlier ones, never on later.

Only edits that a look soon after shows to have changed nothing are left out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import NamedTuple

from passdown.data.actions.running import written_by
from passdown.data.points.checks import ended, is_build_or_test, is_check
from passdown.data.points.files import sort_of
from passdown.data.records import Action, Step, Trajectory
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall, ToolResult

_MOST_SCRIPTS = 200
_MOST_IMPORTS = 40
_COPY = lazy_pattern(r"""\bshutil\.copy(?:2|file)?\(\s*r?(['"])([^'"\n]{1,300})\1\s*,\s*r?(['"])([^'"\n]{1,300})\3""")
_IMPORT = lazy_pattern(r"(?m)(?:^|;)\s*(?:from\s+([\w.]+)\s+import\b\s*([\w, ]*)|import\s+([\w.]+))")
_SCRIPTS = (".py", ".js", ".mjs", ".ts")
_LINES = 2
_SOON = 3
_LOOKS = 6
"""Looks at a file that are kept; how soon after an edit one has to follow, and how many lines it has to show."""
_NOTHING = lazy_pattern(r"nothing to commit|nothing added to commit|no changes added to commit|(?m:^(?:fatal|error): )")
_IDLE = frozenset(("READ", "SEARCH", "PLAN", "NOTE", "SUBMIT", "OTHER"))
_NO_CONTENT = ("mkdir ", "chmod ", "chown ", "chgrp ")
"""Commands that make folders, or change what may be done with a file and nothing in it."""
_NEVER = ("rejected", "interrupted")


Content = Callable[[int, str], bytes | None]
"""The bytes of a file after so many steps, as far as a replay knows them."""


class Edit(NamedTuple):
    """A change of a file, or its being put back as it was."""

    path: str
    sort: str
    call_id: str
    digest: str = ""
    restored: bool = False
    deleted: bool = False
    new: bool = False


class Check(NamedTuple):
    """A check: how it ended, whether code was changed since the one before, whether it is a build or a test run.

    `tests` is the selector of a run of tests, `*` for all, empty for another check.
    """

    ok: bool | None
    news: bool
    built: bool
    tests: str = ""


class Void(NamedTuple):
    """An edit of an earlier step that changed nothing, and whether code was unchecked before it."""

    step: int
    path: str
    unchecked: bool


class Signals(NamedTuple):
    """What one step did. `done` are its actions, without those that a person refused.

    `void` are earlier edits that it shows to have changed nothing; `delegated` the calls of subagents.
    """

    step: Step
    done: tuple[Action, ...]
    results: dict[str, list[ToolResult]]
    edits: tuple[Edit, ...]
    checks: tuple[Check, ...]
    unchecked: bool
    changed: bool
    void: tuple[Void, ...] = ()
    delegated: tuple[ToolCall, ...] = ()

    @property
    def sources(self) -> list[str]:
        """The source files that the step changed; not those it put back."""
        return [edit.path for edit in self.edits if edit.sort == "source" and not edit.restored]


class _Script(NamedTuple):
    """A script that the agent wrote: the files it will write, and what it will copy where."""

    writes: tuple[str, ...]
    copies: tuple[tuple[str, str], ...]


class Reader:
    """Reads steps one after another."""

    def __init__(self, root: str, content: Content | None = None) -> None:
        self._root = root.rstrip("/")
        self._content = content
        self._shown: dict[str, list[str]] = {}
        self._doubtful: dict[str, tuple[int, bool]] = {}
        self._made: set[str] = set()
        self._dirty: dict[str, None] = {}
        self._scripts: dict[str, _Script] = {}
        self._code: set[str] = set()
        self._copies: dict[str, str] = {}
        self._unchecked = False

    def read(self, step: Step) -> Signals:
        """Return the signals of the next step."""
        results, delegated, done = _sorted(step)
        edits: list[Edit] = []
        checks: list[Check] = []
        changed = False
        void: list[Void] = []
        for action in done:
            if action.kind in _IDLE:
                if action.kind == "READ" and len(action.reads) == 1:
                    void += self._look(step, action, results.get(action.call_id))
                continue
            unchecked = self._unchecked
            found = list(self._edits(step, action))
            edits += found
            for edit in found:
                self._doubt(step, action, edit.path, unchecked)
            self._dirty |= dict.fromkeys(edit.path for edit in found)
            if action.kind == "VCS" and action.target == "commit" and action.ok is not False:
                self._dirty = {}
            changed = changed or bool(found) or (action.kind == "INSTALL" and action.ok is not False)
            if code := {edit.path for edit in found if edit.sort in ("source", "test")}:
                self._unchecked = True
                self._code |= code
            own = self._runs_changed(action)
            if (own or is_check(action)) and not _running(results.get(action.call_id)):
                ok = ended(action, results.get(action.call_id))
                tests = (action.target or "*") if action.kind == "TEST" else ""
                checks.append(Check(ok, self._unchecked, own or is_build_or_test(action), tests))
                self._unchecked = False
                self._doubtful = {}
        return Signals(
            step, done, results, tuple(edits), tuple(checks), self._unchecked, changed, tuple(void), delegated
        )

    def _edits(self, step: Step, action: Action) -> Iterator[Edit]:
        if action.ok is False:
            return
        if action.kind in ("EDIT", "CREATE", "DELETE"):
            yield from self._written(step, action)
        elif action.kind == "VCS" and _puts_back(action):
            for path in self._dirty if "." in action.writes else action.writes:
                sort = sort_of(path, new=path in self._made)
                yield Edit(path, sort, action.call_id, action.digest, restored=True, new=path in self._made)
        elif action.kind in ("RUN", "TEST") and action.target in self._scripts:
            yield from self._by_script(step, action, self._scripts[action.target])

    def _by_script(self, step: Step, action: Action, script: _Script) -> Iterator[Edit]:
        """Yield what a script does when it is run: files are put back from copies, then written."""
        for source, path in script.copies:
            if self._copies.get(source) == path:
                sort = sort_of(path, new=path in self._made)
                yield Edit(path, sort, action.call_id, f"{step.idx}", restored=True, new=path in self._made)
            elif source not in self._copies:
                self._copies[path] = source
        for path in script.writes:
            sort = sort_of(path, new=path in self._made)
            if sort in ("source", "test") and not self._in_vain(step, path):
                yield Edit(path, sort, action.call_id, f"{step.idx}", new=path in self._made)

    def _runs_changed(self, action: Action) -> bool:
        """Say whether an action runs code that was changed: the file itself, or inline code that imports it."""
        if action.kind != "RUN" or not self._code:
            return False
        if "#" not in action.target:
            program = action.target.partition(" ")[0]
            return program in self._code and program not in self._scripts
        names: set[str] = set()
        for package, parts, module in _IMPORT.findall(action.detail)[:_MOST_IMPORTS]:
            names |= {package or module, *(f"{package}.{part.split()[0]}" for part in parts.split(",") if part.strip())}
        return bool(names) and any(_is_imported(path, names) for path in self._code)

    def _written(self, step: Step, action: Action) -> Iterator[Edit]:
        if action.detail.startswith(_NO_CONTENT):
            return
        if action.kind == "CREATE":
            self._made.update(set(action.writes).difference(action.reads))
        for path in action.writes:
            if path.endswith(_SCRIPTS) and action.kind != "DELETE":
                self._note_script(step, action, path)
            if action.detail.startswith("sed ") and self._in_vain(step, path):
                continue
            source = next((read for read in action.reads if read != path), "")
            restored = bool(source) and self._copies.get(source) == path
            if source and not restored and len(action.reads) == 1 and action.kind == "CREATE":
                self._copies[path] = source
            restored = restored or action.detail.startswith("undo_edit")
            sort = sort_of(path, new=path in self._made)
            yield Edit(
                path, sort, action.call_id, action.digest,
                restored=restored, deleted=action.kind == "DELETE", new=path in self._made,
            )  # fmt: skip

    def _doubt(self, step: Step, action: Action, path: str, unchecked: bool) -> None:
        """Remember edits by scripts and `sed` until somebody looks; after any other, what was shown no longer holds."""
        if action.kind in ("RUN", "TEST") or action.detail.startswith("sed "):
            self._doubtful.setdefault(path, (step.idx, unchecked))
        else:
            self._doubtful.pop(path, None)
            self._shown.pop(path, None)

    def _look(self, step: Step, action: Action, results: list[ToolResult] | None) -> list[Void]:
        """Take a look at a file. Returns a doubtful edit just before it, when it shows what was there before."""
        path = action.reads[0]
        alone = sum(other.call_id == action.call_id for other in step.actions) == 1
        text = results[-1].text.strip() if results and alone and action.ok else ""
        if text.count("\n") < _LINES:
            return []
        before = self._shown.setdefault(path, [])
        at, unchecked = self._doubtful.pop(path, (-_SOON, False))
        if step.idx - at < _SOON:
            if any(text in shown for shown in before):
                self._unchecked = unchecked
                return [Void(at, path, unchecked)]
            before.clear()
        before.append(text)
        del before[:-_LOOKS]
        return []

    def _in_vain(self, step: Step, path: str) -> bool:
        """Say whether a file is known to be the same after a step: scripts and `sed` often find nothing to change."""
        before = self._content(step.idx, path) if self._content else None
        return before is not None and self._content is not None and before == self._content(step.idx + 1, path)

    def _note_script(self, step: Step, action: Action, path: str) -> None:
        """Remember which files a script that the agent wrote will write, for when it is run."""
        if len(self._scripts) >= _MOST_SCRIPTS:
            return
        for event in step.events:
            if isinstance(event, ToolCall) and event.call_id == action.call_id:
                values = [event.command] if event.command else event.arguments.values()
                text = "\n".join(value for value in values if isinstance(value, str))
                writes = tuple(self._relative(name) for name, _ in written_by(text))
                writes = tuple(name for name in writes if name and name != path)
                copies = tuple((self._relative(one[1]), self._relative(one[3])) for one in _COPY.findall(text))
                if writes or copies:
                    self._scripts[path] = _Script(writes, copies)
                else:
                    self._scripts.pop(path, None)

    def _relative(self, path: str) -> str:
        if self._root and path.startswith(f"{self._root}/"):
            path = path[len(self._root) + 1 :]
        path = posixpath.normpath(path)
        return "" if path.startswith(("/", "..")) else path


def _is_imported(path: str, names: set[str]) -> bool:
    """Say whether a Python file is one of these modules, or lies in one of these packages below the top."""
    stem, _, suffix = path.rpartition(".")
    if suffix != "py":
        return False
    module = stem.removesuffix("/__init__").replace("/", ".")
    module = module.removeprefix("src.").removeprefix("lib.")
    package = module.rpartition(".")[0]
    return module in names or ("." in package and package in names)


def _sorted(step: Step) -> tuple[dict[str, list[ToolResult]], tuple[ToolCall, ...], tuple[Action, ...]]:
    """Return the results by call, the calls of subagents, and the actions that nobody refused."""
    results: dict[str, list[ToolResult]] = {}
    delegated: list[ToolCall] = []
    never = False
    for event in step.events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call_id, []).append(event)
            never = never or event.outcome in _NEVER
        elif isinstance(event, ToolCall) and event.action == "delegate":
            delegated.append(event)
    done = step.actions
    if never:
        done = tuple(action for action in done if not _never(results.get(action.call_id)))
    return results, tuple(delegated), done


def _never(results: list[ToolResult] | None) -> bool:
    return results is not None and all(result.outcome in _NEVER for result in results)


def _running(results: list[ToolResult] | None) -> bool:
    return results is not None and results[-1].outcome == "running"


def _puts_back(action: Action) -> bool:
    """Say whether a git command puts files back; a switch of branches does not."""
    sub = action.target.partition(" ")[0]
    if sub == "reset":
        return "--hard" in action.detail
    return sub == "restore" or (sub == "checkout" and ("." not in action.writes or action.detail.endswith(" .")))


def commits(signals: Signals) -> bool:
    """Say whether a step made a commit."""
    for action in signals.done:
        if action.kind != "VCS" or action.target not in ("commit", "jj commit", "hg commit") or action.ok is False:
            continue
        results = signals.results.get(action.call_id)
        if action.ok or (
            results and results[0].outcome in ("ok", "unknown") and not _NOTHING.search(results[0].text[:4000])
        ):
            return True
    return False


def read_signals(trajectory: Trajectory, content: Content | None = None) -> list[Signals]:
    """Return the signals of every step. With `content`, edits that are known to have changed nothing are left out.

    So are those that a look shortly after shows to have changed nothing: the files were the same all the while.
    """
    reader = Reader(trajectory.root, content)
    found = [reader.read(step) for step in trajectory.steps]
    for at, signals in enumerate(found):
        for void in signals.void:
            _leave_out(found, void, at)
    return found


def _leave_out(found: list[Signals], void: Void, until: int) -> None:
    for at in range(void.step, until):
        edits = found[at].edits
        if at == void.step:
            edits = tuple(edit for edit in edits if edit.path != void.path or edit.restored)
        if any(edit.sort in ("source", "test") for edit in edits):
            found[at] = found[at]._replace(edits=edits)
            return
        found[at] = found[at]._replace(edits=edits, unchecked=void.unchecked and found[at].unchecked)
