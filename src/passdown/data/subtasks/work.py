"""What a run did, as the subtask rules see it: which files are its work, when each changed, what it ran and checked."""

from __future__ import annotations

from typing import NamedTuple

from passdown.data.records import Action, Trajectory
from passdown.data.replay.virtual import Replay
from passdown.data.subtasks.tests import Ran, results_over, runs_of, texts_of, went_well
from passdown.model.pattern import lazy_pattern

NEVER = 1 << 30
_REPRO = lazy_pattern(r"(?i)(?:.*[/_])?(?:repro\w*|reproduce\w*)(?:[._-][^/]*)?")
_SCRATCH = lazy_pattern(r"(?i)(?:repro|reproduce|scratch|tmp|debug)[^/]*")
_PATCHED = lazy_pattern(r"(?m)^--- (?:a/)?([^\t\r\n]+)[^\n]*\n\+\+\+ (?:b/)?([^\t\r\n]+)")
_NO_PACKAGE = frozenset(
    {"apt-get", "apt", "pip", "npm", "yarn", "pnpm", "brew", "apk", "dnf", "yum", "conda", "uv", ""}
)
_NO_CHECK = lazy_pattern(r"\b(?:clean|-n)\b")


class Check(NamedTuple):
    """One run of something that tells whether the work holds: after `step`, at the place `action` in it."""

    step: int
    action: int
    well: bool


class Work:
    """The facts of one trajectory that nodes, edges and states are made of."""

    def __init__(self, trajectory: Trajectory, replay: Replay) -> None:
        self.trajectory = trajectory
        self.replay = replay
        self.final = replay.changed(len(trajectory.steps))
        self.written: dict[str, int] = {}
        self.acted: dict[str, list[tuple[int, int]]] = {}
        for step in trajectory.steps:
            for place, action in enumerate(step.actions):
                for path in action.writes if action.ok is not False else ():
                    self.written.setdefault(path, step.idx)
                    self.acted.setdefault(path, []).append((step.idx, place))
        self.edited = self._edited()
        self.touched = {path: self._touches(path) for path in self.edited}
        self.first = min((touches[0] for touches in self.touched.values() if touches), default=NEVER)
        self.last = max((self._last(path) for path in self.edited), default=(-1, -1))
        self.scratch = frozenset(self.written) - set(self.edited)
        self.texts = [texts_of(step) for step in trajectory.steps]
        self.repro = self._reproduction()
        self.installs = self._installed()
        self.submits = [step.idx for step in trajectory.steps if any(a.kind == "SUBMIT" for a in step.actions)]
        runs = [runs_of(step) for step in trajectory.steps]
        self.tests = self._results(runs)
        self.checks = self._checked(runs)

    # --- files -------------------------------------------------------------------------------------------------------

    def _edited(self) -> tuple[str, ...]:
        """Return the files whose change is the work: of the final patch, else what was left changed."""
        patch = self.trajectory.outcome.patch
        if patch:
            names = {old if new == "/dev/null" else new for old, new in _PATCHED.findall(patch)}
            return tuple(sorted(names - {"/dev/null"}))
        return tuple(path for path in self.final if self._is_work(path))

    def _is_work(self, path: str) -> bool:
        outside = path[:1] in ("/", "~", "$", "") or path.startswith("..")
        return not outside and not _SCRATCH.fullmatch(path) and not any(mark in path for mark in "*?[{")

    def _touches(self, path: str) -> list[int]:
        """Return the indices of the steps that changed a file, by what was recorded or by what was seen of it."""
        return sorted({k - 1 for k in self.replay.changes(path)} | {step for step, _ in self.acted.get(path, ())})

    def _last(self, path: str) -> tuple[int, int]:
        last = self.replay.last_change(path)
        if last is None:
            last = max(self.touched.get(path, ()), default=-1)
        places = [place for step, place in self.acted.get(path, ()) if step == last]
        return (last, max(places, default=NEVER)) if last >= 0 else (-1, -1)

    def is_last_change(self, path: str, k: int) -> bool:
        """Say whether a file does not change any more after `k` steps, and did before."""
        last = self.replay.last_change(path)
        return last is not None and last < k

    # --- what was run ------------------------------------------------------------------------------------------------

    def script(self, action: Action) -> str:
        """Return the file that an action runs, when the run wrote that file; else nothing."""
        if action.kind not in ("RUN", "TEST", "BUILD"):
            return ""
        return next((path for path in (*action.reads, action.target) if path in self.written), "")

    def _reproduction(self) -> tuple[int, int]:
        """Return when the problem was reproduced, and when the script for it was written; NEVER when it was not.

        A script of the run's own that ran before the first change is one, and any that is called so.
        """
        for step in self.trajectory.steps:
            for action in step.actions:
                script = self.script(action)
                named = script or (action.target if action.kind == "RUN" else "")
                if named and named not in self.edited and _REPRO.fullmatch(named.split(" ")[0]):
                    return step.idx, self.written.get(named, step.idx)
                if script and script not in self.edited and step.idx < self.first < NEVER:
                    return step.idx, self.written[script]
        return NEVER, NEVER

    def _installed(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for step in self.trajectory.steps:
            for action in step.actions:
                package = action.target if action.kind == "INSTALL" else ""
                if package not in _NO_PACKAGE and self._well(step.idx, action):
                    found.setdefault(package, step.idx)
        return found

    def _is_scratch_test(self, ran: Ran) -> bool:
        return ran.target.split(" ")[0].split("::")[0] in self.scratch

    def _results(self, runs: list[tuple[Ran, ...]]) -> list[dict[str, bool]]:
        """Return what each step tells of the tests of the work; those of the run's own scratch files are none."""
        known: dict[str, bool] = {}
        found: list[dict[str, bool]] = []
        for ran in runs:
            told = results_over((one for one in ran if not self._is_scratch_test(one)), known)
            told = {name: well for name, well in told.items() if name.split("::")[0] not in self.scratch}
            known.update(told)
            found.append(told)
        return found

    def _checked(self, runs: list[tuple[Ran, ...]]) -> list[Check]:
        """Return what tells whether the work holds: tests, builds, and from the first change on scripts of the run."""
        found: list[Check] = []
        for step in self.trajectory.steps:
            tests = {ran.action: ran for ran in runs[step.idx]}
            for place, action in enumerate(step.actions):
                if (ran := tests.get(place)) is not None:
                    scratch = self._is_scratch_test(ran)
                    if (ran.began and not scratch) or (scratch and step.idx >= self.first):
                        found.append(Check(step.idx, place, ran.well))
                elif self._is_check(step.idx, action):
                    found.append(Check(step.idx, place, self._well(step.idx, action)))
        return found

    def _is_check(self, step: int, action: Action) -> bool:
        if action.kind == "BUILD":
            return not action.writes and not _NO_CHECK.search(action.detail)
        own = action.kind == "RUN" and step >= self.first and self.script(action) != ""
        return own and not self._changes_work(step)

    def _well(self, step: int, action: Action) -> bool:
        return went_well(action, self.texts[step].get(action.call_id, ""))

    def _changes_work(self, step: int) -> bool:
        """Say whether a step changed the work other than by an edit of its own: by a script that it ran."""
        for path in self.edited:
            if step + 1 in self.replay.changes(path) and all(at != step for at, _ in self.acted.get(path, ())):
                return True
        return False
