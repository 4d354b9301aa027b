"""What the actions of a prefix did to the files, and what they show of git. Nothing here is read from a disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

from passdown.data.records import Action, Prefix, Step
from passdown.model.evidence import Change, Commit, RepositoryFacts
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionStart, ToolResult, WorkspaceChange

MOST = 500
"""Most files of which track is kept."""

_WRITES = ("EDIT", "CREATE", "DELETE")
_COMMITTED = lazy_pattern(
    r"(?m)^\[(?P<branch>[^\s\]]{1,200})(?: HEAD)?(?: \([^)\n]{1,40}\))? (?P<id>[0-9a-f]{7,40})\] (?P<subject>.{0,200})$"
)
_OBJECT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ALL = lazy_pattern(r"(?:^|\s)(?:-A|--all|-u|--update|\.|:/)(?:\s|$)")
_COMMIT_ALL = lazy_pattern(r"(?:^|\s)(?:-[a-z]*a[a-z]*|--all)(?:\s|$)")
_SCRATCH = lazy_pattern(r"(?i)(?:.*/)?(?:repro|reproduc\w*|scratch|tmp|temp|debug|poc|playground)[^/]*")
_SCRIPT = lazy_pattern(
    r"(?i)[^/]+\.(?:py|sh|js|mjs|cjs|ts|rb|pl|go|txt|log|out|diff|patch|bak|backup|orig|json|xml|html)"
)
_CHECKING = lazy_pattern(r"(?i)(?:^|[/_.-])(?:repro\w*|check\w*|verify\w*|tests?|debug\w*|demo\w*)(?=[/_.-])")
_QUIET = lazy_pattern(r"(?:^|\s)-[a-zA-Z]*[fr]|--force|--recursive")
"""Flags with which a removal says nothing of whether there was such a file."""
_COPIES = (".bak", ".backup", ".orig", ".rej", ".old", "~", ".swp", ".pyc", ".log")
_TEST = lazy_pattern(
    r"(?i)(?:.*/)?(?:[\w-]*[_-])?(?:tests?|testing|__tests__|specs?|e2e)/.*|(?:.*/)?(?:test_[^/]*|[^/]*[_.-](?:test|tests|spec)\.\w+|conftest\.py)"
)

Status = Literal["A", "M", "D"]


class FileChange(Struct, frozen=True, kw_only=True):
    """A file as the prefix left it: how it differs from where the work began, and the step that changed it last."""

    path: str
    status: Status
    step: int
    new: bool = False
    staged: bool = False
    committed: bool = False

    @property
    def scratch(self) -> bool:
        """Whether it is a by-product: named like one, or a script that was put at the top of the tree."""
        if _SCRATCH.fullmatch(self.path) or self.path.lower().endswith(_COPIES):
            return True
        return self.new and "/" not in self.path and _SCRIPT.fullmatch(self.path) is not None

    @property
    def test(self) -> bool:
        """Whether it is one of the project's tests."""
        return not self.scratch and _TEST.fullmatch(self.path) is not None


class Moment(NamedTuple):
    """A place in a prefix: a step, and an action in it."""

    step: int
    action: int


class Ledger:
    """The changed files as the actions go by, step after step."""

    def __init__(self) -> None:
        self.files: dict[str, FileChange] = {}
        self.omitted = 0
        self.edited: Moment | None = None
        self.ran: dict[str, Moment] = {}
        self.outside: dict[str, Moment] = {}
        self.commits: list[Commit] = []
        self.committed_at: dict[str, int] = {}
        self.branch = ""
        self.head = ""
        self._before: set[str] = set()
        self._stashed: dict[str, FileChange] = {}

    def copy(self) -> Ledger:
        """Return the ledger as it stands, to be kept while this one goes on."""
        kept = Ledger()
        kept.__dict__.update(self.__dict__)
        kept.files, kept.commits = dict(self.files), list(self.commits)
        kept.ran, kept.outside = dict(self.ran), dict(self.outside)
        kept.committed_at, kept._before = dict(self.committed_at), set(self._before)
        kept._stashed = dict(self._stashed)
        return kept

    def take(self, step: Step) -> None:
        """Take one step: what its actions wrote, and what its observations say of git."""
        for event in step.events:
            if isinstance(event, SessionStart | WorkspaceChange):
                self.branch = event.branch or self.branch
                self.head = event.commit or self.head
        results = {event.call_id: event for event in step.events if isinstance(event, ToolResult)}
        for number, action in enumerate(step.actions):
            if action.kind == "RUN":
                self._run(action, Moment(step.idx, number))
            if action.ok is not False:
                self._act(action, Moment(step.idx, number))
                if action.kind == "VCS" and action.target == "commit":
                    self._commit(action, results.get(action.call_id), step.idx)
            self._before.update(path for path in action.reads if path not in self.files)

    def _act(self, action: Action, moment: Moment) -> None:
        if action.kind == "VCS":
            self._version(action, moment)
            return
        if not action.writes and action.target.startswith(("/", "~")):
            self._outside(action, moment)
        for path in action.writes:
            if not _inside(path) or action.target == f"{path}/":  # a folder is no file that changed
                continue
            if action.kind == "DELETE":
                self._delete(path, action, moment)
            elif action.kind not in ("READ", "SEARCH"):
                self._write(path, moment, new=action.kind == "CREATE" and path == action.target)

    def _run(self, action: Action, moment: Moment) -> None:
        """A script of its own that was run may have changed any file: nothing says which."""
        words = {word.removeprefix("./") for word in f"{action.target} {action.detail}".split()}
        for path in sorted(words.intersection(self.files)):
            if self.files[path].new and not _CHECKING.search(path):
                self.ran[path] = moment

    def _outside(self, action: Action, moment: Moment) -> None:
        """Keep the name of a file that was written elsewhere on the machine: no git will show it."""
        if action.kind == "DELETE":
            self.outside.pop(action.target, None)
        elif action.kind in _WRITES and not action.target.startswith("/dev/") and len(self.outside) < MOST:
            self.outside[action.target] = moment

    def _write(self, path: str, moment: Moment, *, new: bool) -> None:
        known = self.files.get(path)
        if known is None and len(self.files) >= MOST:
            self.omitted += 1
            return
        added = known.new if known else new and path not in self._before
        self.files[path] = FileChange(path=path, status="A" if added else "M", step=moment.step, new=added)
        if not self.files[path].scratch:
            self.edited = moment

    def _delete(self, path: str, action: Action, moment: Moment) -> None:
        lost = [name for name in self.files if _covers(path, name)]
        for name in lost:
            if self.files[name].new and not self.files[name].committed:
                del self.files[name]
            else:
                self.files[name] = FileChange(path=name, status="D", step=moment.step)
        there = path in self._before or (bool(action.ok) and not _QUIET.search(action.detail))
        if not lost and there and len(self.files) < MOST:
            self.files[path] = FileChange(path=path, status="D", step=moment.step)
            self.edited = moment

    def _version(self, action: Action, moment: Moment) -> None:
        """Files that git put back are as they were; what was new stays, except where git cleans it away."""
        kind, _, how = action.target.partition(" ")
        if kind == "add":
            self._stage(action)
        elif kind == "stash" and how in ("pop", "apply"):
            self.files.update(self._stashed)
            self._stashed = {}
            self.edited = moment
        elif _puts_back(kind, how, action):
            lost = {path: known for path, known in self.files.items() if _is_lost(known, kind, action.writes)}
            for path in lost:
                del self.files[path]
            if kind == "stash":
                self._stashed |= lost
            self.edited = moment if lost else self.edited

    def _stage(self, action: Action) -> None:
        every = _ALL.search(action.detail) is not None
        for path, known in self.files.items():
            if every or path in action.detail.split():
                self.files[path] = _marked(known, staged=True)

    def _commit(self, action: Action, result: ToolResult | None, step: int) -> None:
        said = _COMMITTED.search(result.text) if result is not None else None
        if said is None and action.ok is None:
            return
        every = _COMMIT_ALL.search(action.detail) is not None
        for path, known in self.files.items():
            if known.staged or (every and not known.new):
                self.files[path] = _marked(known, committed=True)
        self.head = ""
        if said is not None:
            self.branch = said["branch"] if said["branch"] != "detached" else ""
            self.commits.insert(0, Commit(id=said["id"], subject=said["subject"].strip()))
            self.committed_at[said["id"]] = step

    def facts(self, prefix: Prefix) -> RepositoryFacts:
        """Return what is known of the repository: what the prefix shows, and nothing of this machine."""
        changes = tuple(_change(known) for _, known in sorted(self.files.items()))
        base = prefix.base_commit if _OBJECT.fullmatch(prefix.base_commit) else ""
        head = self.head if _OBJECT.fullmatch(self.head) else base if not self.commits else ""
        return RepositoryFacts(
            root=prefix.root, branch=self.branch, head=head, base=base, base_rule="recorded" if base else "not_read",
            commits=tuple(self.commits[:50]), commits_total=len(self.commits), changes=changes,
            changes_total=len(changes) + self.omitted,
        )  # fmt: skip

    def sources(self) -> list[FileChange]:
        """Return the changed files that are the project's own code, in path order."""
        return [known for _, known in sorted(self.files.items()) if not known.scratch and not known.test]

    def tests(self) -> list[FileChange]:
        """Return the changed tests, in path order."""
        return [known for _, known in sorted(self.files.items()) if known.test]

    def scratch(self) -> list[FileChange]:
        """Return the by-products that still lie there, in path order."""
        return [known for _, known in sorted(self.files.items()) if known.scratch and known.status != "D"]


def ledger_of(steps: tuple[Step, ...]) -> Ledger:
    """Return the ledger after these steps."""
    ledger = Ledger()
    for step in steps:
        ledger.take(step)
    return ledger


def status_lines(ledger: Ledger) -> Iterator[str]:
    """Yield the uncommitted changes as `git status --short` would print them."""
    for path, known in sorted(ledger.files.items()):
        if not known.committed:
            code = "A " if known.new and known.staged else "??" if known.new else f" {known.status}"
            yield f"{code} {path}"


def _puts_back(kind: str, how: str, action: Action) -> bool:
    """Say whether git took uncommitted work away; changing to another branch takes it along."""
    if kind == "stash":
        return how in ("", "push", "save")
    if kind == "reset":
        return "--hard" in action.detail
    if kind == "checkout":
        return action.writes != (".",) or action.detail.endswith((" .", " -f"))
    return kind in ("restore", "clean")


def _is_lost(known: FileChange, kind: str, written: tuple[str, ...]) -> bool:
    if known.committed or not any(_covers(name, known.path) for name in written):
        return False
    loose = known.new and not known.staged
    return loose if kind == "clean" else not loose


def _covers(name: str, path: str) -> bool:
    return name in (".", "") or path == name or path.startswith(f"{name}/")


def _marked(known: FileChange, *, staged: bool = False, committed: bool = False) -> FileChange:
    return FileChange(
        path=known.path, status=known.status, step=known.step, new=known.new, staged=known.staged or staged,
        committed=known.committed or committed,
    )  # fmt: skip


def _inside(path: str) -> bool:
    return (
        bool(path) and not path.startswith(("/", "~", "..")) and "\n" not in path and path[1:3] != ":/" and path != "."
    )


def _change(known: FileChange) -> Change:
    loose = not known.committed
    return Change(
        path=known.path, status=known.status, added=-1, deleted=-1, uncommitted=loose,
        untracked=loose and known.new and not known.staged,
    )  # fmt: skip
