"""Error states: something is wrong, and whoever takes over has to find out what."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.actions.keys import key
from passdown.data.points.run import Found, Run
from passdown.data.points.signals import Edit, Signals, commits
from passdown.data.records import Action, Mark, PointKind

WINDOW = 6
TIMES = 3
_KIND: PointKind = "error"
_NO_LOOP = frozenset(("PLAN", "NOTE", "SUBMIT"))
_BY_CONTENT = frozenset(("EDIT", "CREATE", "DELETE", "OTHER", "VCS"))
"""Kinds whose repeats are repeats only when they say the same, unless they fail."""


def marks(run: Run) -> Iterator[Found]:
    """Yield the error states of a run."""
    yield from _checks(run)
    yield from _regressions(run)
    yield from _loops(run)
    yield from _reverted(run)
    yield from _wrong_files(run)


def _checks(run: Run) -> Iterator[Found]:
    """Find what stays red: the last check of changed work, the last build or test; and the first repair."""
    worked, sources = False, False
    failed_check, failed_build, failed_once = -1, -1, -1
    repaired = False
    for at, signals in enumerate(run.signals):
        if failed_once >= 0 and not repaired and signals.sources:
            repaired = True
            yield Found(at + 1, _mark("post_failed_repair_edit", failed_once, at))
        worked = worked or any(edit.sort in ("source", "test") for edit in signals.edits)
        sources = sources or bool(signals.sources)
        for check in signals.checks:
            if check.ok is None:
                continue  # nobody knows how it ended: what was red is red until something says otherwise
            if check.built:
                failed_build = -1 if check.ok else at
            if worked:
                failed_check = -1 if check.ok else at
            if not check.ok and sources and failed_once < 0:
                failed_once = at
        if failed_check >= 0:
            yield Found(at + 1, _mark("validation_failed", failed_check))
        if failed_build >= 0:
            yield Found(at + 1, _mark("check_failed", failed_build))


def _mark(name: str, *steps: int, detail: str = "", oracle: bool = False) -> Mark:
    return Mark(detector=name, kind=_KIND, steps=steps, detail=detail[:200], oracle_select=oracle)


def _regressions(run: Run) -> Iterator[Found]:
    known: dict[str, bool] = {}
    for at, found in enumerate(run.tests):
        if not found:
            continue
        broken = [name for name, ok in found.items() if not ok and known.get(name)]
        if broken:
            yield Found(at + 1, _mark("regression", at, detail=broken[0]))
        known.update(found)


def _loops(run: Run) -> Iterator[Found]:
    keys = [_keys(signals) for signals in run.signals]
    for at in range(len(keys)):
        for name, failed in keys[at].items():
            steps = _repeats(run, keys, at, name, failed)
            if len(steps) >= TIMES:
                yield Found(at + 1, _mark("loop", *steps, detail=name))
                break


def _keys(signals: Signals) -> dict[str, bool]:
    """Return what a step did that could be a loop, and whether it failed."""
    found: dict[str, bool] = {}
    for action in signals.done:
        name = _name(action)
        if name:
            found[name] = found.get(name, False) or action.ok is False
    return found


def _name(action: Action) -> str:
    if action.kind in _NO_LOOP or action.target.startswith("env:") or action.target.startswith("agent:"):
        return ""
    if action.kind == "VCS" and action.ok is not False:
        return ""
    return key(action, 2 if action.kind in _BY_CONTENT and action.ok is not False else 1)


def _repeats(run: Run, keys: list[dict[str, bool]], at: int, name: str, failed: bool) -> tuple[int, ...]:
    """Return the steps of a repeat, the last one first found. One after a change is none, unless it failed again."""
    steps = [at]
    edits = name.partition(" ")[0] in ("EDIT", "CREATE", "DELETE")
    changed = run.signals[at].changed and not edits
    for earlier in range(at - 1, max(-1, at - WINDOW), -1):
        again = keys[earlier].get(name)
        if again is not None:
            if changed and not failed:
                break
            steps.append(earlier)
            changed, failed = False, again
        changed = changed or (run.signals[earlier].changed and not edits)
    return tuple(reversed(steps))


def _reverted(run: Run) -> Iterator[Found]:
    committed = [at for at, signals in enumerate(run.signals) if commits(signals)]
    for path, steps in run.edits.items():
        waiting: list[int] = []
        reverted: set[int] = set()
        for at in steps:
            if waiting and any(waiting[-1] <= commit < at for commit in committed):
                waiting = []  # what was committed is not taken back by restoring files
            edits = [edit for edit in run.signals[at].edits if edit.path == path]
            if any(edit.restored for edit in edits):
                reverted.update(waiting)
                waiting = []
            if not edits[-1].restored and edits[0].sort == "source" and not edits[-1].deleted:
                waiting.append(at)
        sources = [at for at in steps if any(e.path == path and e.sort == "source" for e in run.signals[at].edits)]
        if len(sources) > 1:
            reverted.update(_undone(run, path, sources))
        for at in sorted(reverted):
            yield Found(at + 1, _mark("reverted_edit", at, detail=path, oracle=True))


def _undone(run: Run, path: str, steps: list[int]) -> Iterator[int]:
    """Find edits after which a later one brings the content back to what it was before them."""
    contents = [run.replay.content(steps[0], path), *(run.replay.content(at + 1, path) for at in steps)]
    for place, at in enumerate(steps):
        before, after = contents[place], contents[place + 1]
        if before is not None and after != before and before in contents[place + 2 :]:
            yield at


def _wrong_files(run: Run) -> Iterator[Found]:
    """Find changes of source files that the final diff does not hold; files that were moved on are in it elsewhere."""
    if not run.final:
        return
    for path, steps in run.edits.items():
        if path in run.final or path in run.moved:
            continue
        for at in steps:
            if any(edit.path == path and _is_wrong(edit) for edit in run.signals[at].edits):
                yield Found(at + 1, _mark("wrong_file", at, detail=path, oracle=True))


def _is_wrong(edit: Edit) -> bool:
    """Say whether a change is one of the project's source: no new script at the top, and nothing put back."""
    aside = edit.new and "/" not in edit.path
    return edit.sort == "source" and not aside and not edit.restored and not edit.deleted
