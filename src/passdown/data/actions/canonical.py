"""Every tool call as canonical actions: the same deed has the same form, whatever agent or shell it came from."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

from passdown.data.actions.draft import MARK, Draft
from passdown.data.actions.places import Places, workspace_root
from passdown.data.actions.shell import Doing, Line, line_of
from passdown.data.actions.swe_agent import OPEN_FILE
from passdown.data.actions.tools import drafts_of, shell_text
from passdown.data.records import Action
from passdown.evidence.classify import judge
from passdown.evidence.shell import split_shell
from passdown.model.session import ToolCall, ToolResult

MAX_DETAIL = 400
MAX_TARGET = 600
MAX_FILES_KNOWN = 20_000
_CACHED = 2000
_FORGETS = frozenset({"mini_swe_agent", "codex", "gemini", "qwen", "opencode", "pi", "kimi", "droid", "crush", "amp",
                      "goose", "cursor", "aider"})  # fmt: skip
"""Agents whose every command begins in the workspace again."""
_OPENERS = frozenset({"open", "create"})
_REFUSED = (
    "Your proposed edit has introduced new syntax error", "[Your proposed edit has introduced new syntax error",
    "[No exact match found", "No replacement was performed", "ERROR:", "Invalid `",
    "Text not found", "No file open",
)  # fmt: skip

__all__ = ["Canonicalizer", "workspace_root"]


class _Known(NamedTuple):
    """An action without its call; whether exit code 0 means that it went well, and another that it did not."""

    draft: Draft
    digest: str
    good: bool
    bad: bool


class _Resolved(NamedTuple):
    actions: tuple[_Known, ...]
    cwd: str


class Canonicalizer:
    """Gives the canonical actions of a run's calls, which have to come in order: a shell may stay where it was left.

    `root` is the workspace's absolute folder, `agent` the program that ran (it tells whether its shell lives on).
    """

    def __init__(self, root: str, agent: str = "") -> None:
        self.places = _places(root)
        self.persists = agent not in _FORGETS
        self.cwd = self.places.root
        self._open = ""
        self._seen: set[str] = set()

    def moved(self, cwd: str) -> None:
        """Take note that the run itself says where it now is."""
        if cwd:
            self.cwd = self.places.absolute(cwd, self.cwd)

    def actions(self, call: ToolCall, result: ToolResult | None = None) -> tuple[Action, ...]:
        """Return what a call did, in order: several actions for a compound command, none for a mere `cd`."""
        cwd = self.places.absolute(call.cwd, self.cwd) if call.cwd else self.cwd
        text = shell_text(call)
        if text:
            resolve = _shell if len(text) <= _CACHED else _shell_of
            found = resolve(text, "powershell" in call.tool.lower(), cwd, self.places)
            if self.persists and (result is None or result.outcome != "failed" or len(found.actions) > 0):
                self.cwd = found.cwd
        else:
            answer = result.text[:200] if result is not None else ""
            drafts = drafts_of(call, answer)
            whole = len(drafts) == 1 or call.action == "edit"  # a patch is applied to all of its files, or to none
            found = _Resolved(tuple(_known(draft, cwd, self.places, True, whole) for draft in drafts), cwd)
        if call.paths and call.tool in _OPENERS:
            self._open = self.places.resolve(call.paths[0], cwd)
        elif (
            text
            and text[:5] in ("open ", "creat")
            and found.actions
            and found.actions[0].draft.writes + found.actions[0].draft.reads
        ):
            self._open = (found.actions[0].draft.writes or found.actions[0].draft.reads)[0]
        return tuple(self._finished(known, call, result) for known in found.actions)

    def _finished(self, known: _Known, call: ToolCall, result: ToolResult | None) -> Action:
        draft = known.draft
        if OPEN_FILE in draft.target:
            draft = self._opened(draft, call)
        ok = _ok(known, call, result)
        kind = draft.kind
        if kind == "CREATE" and draft.writes and draft.target in self._seen:
            kind = "EDIT"
        if ok is not False:
            self._see(draft)
        return Action(
            call_id=call.call_id, tool=call.tool, kind=kind, target=draft.target[:MAX_TARGET], digest=known.digest,
            detail=draft.detail[:MAX_DETAIL], reads=draft.reads, writes=draft.writes, ok=ok, part=draft.part,
        )  # fmt: skip

    def _opened(self, draft: Draft, call: ToolCall) -> Draft:
        name = self.places.resolve(call.paths[0], self.cwd) if call.paths else self._open

        def named(paths: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name if path == OPEN_FILE else path for path in paths if path != OPEN_FILE or name)

        return draft._replace(
            target=draft.target.replace(OPEN_FILE, name), detail=draft.detail.replace(OPEN_FILE, name),
            reads=named(draft.reads), writes=named(draft.writes),
        )  # fmt: skip

    def _see(self, draft: Draft) -> None:
        if draft.kind == "DELETE":
            self._seen.difference_update(draft.writes)
        elif draft.kind in ("READ", "EDIT", "CREATE") and len(self._seen) < MAX_FILES_KNOWN:
            self._seen.update(draft.reads)
            self._seen.update(draft.writes)


@lru_cache(maxsize=64)
def _places(root: str) -> Places:
    return Places(root)


def _shell_of(text: str, powershell: bool, cwd: str, places: Places) -> _Resolved:
    line = line_of(text, powershell)
    if not line.lexed:
        return _Resolved((_known(Draft("OTHER", "", text), cwd, places, True, True),), cwd)
    good, bad = _ends(line, "pipefail" in text)
    found: list[_Known] = []
    stack: list[str] = []
    previous = cwd
    for at, doing in enumerate(line.doings):
        if doing.scope > 0:
            stack.append(cwd)
        elif doing.scope < 0:
            cwd = stack.pop() if stack else cwd
        found += [_known(draft, cwd, places, at in good, at == bad) for draft in doing.drafts]
        if doing.move == "-":
            cwd, previous = previous, cwd
        elif doing.move is not None and doing.move[:1] not in ("$", "-", "~", "`"):
            cwd, previous = places.absolute(doing.move, cwd), cwd
    return _Resolved(tuple(found), cwd)


_shell = lru_cache(maxsize=2048)(_shell_of)


def _ends(line: Line, pipefail: bool) -> tuple[frozenset[int], int]:
    """Return which doings exit code 0 speaks for, and the one that another exit code speaks for (-1: none)."""
    chain: list[int] = []
    for at in range(len(line.doings) - 1, -1, -1):
        doing = line.doings[at]
        if doing.scope or doing.before == "$":
            continue
        if doing.drafts or not chain:
            chain.append(at)
        if doing.before != "&&" and not (at and _same_pipeline(line.doings, at)):
            break
    shown = [at for at in chain if pipefail or not line.doings[at].hidden]
    acting = [at for at in chain if line.doings[at].drafts]
    bad = acting[0] if len(acting) == 1 and acting[0] in shown and line.doings[chain[-1]].before != "||" else -1
    return frozenset(shown), bad


def _same_pipeline(doings: tuple[Doing, ...], at: int) -> bool:
    return doings[at - 1].hidden and not doings[at - 1].scope and doings[at].before == doings[at - 1].before == "&&"


def _known(draft: Draft, cwd: str, places: Places, good: bool, bad: bool) -> _Known:
    target, detail = _placed(draft.target, cwd, places), _placed(draft.detail, cwd, places)
    if draft.kind in ("TEST", "BUILD") and cwd != places.root and places.root and MARK not in draft.target:
        where = f" @ {places.resolve('.', cwd)}"  # the same words mean other tests in another folder
        target, detail = target + where, detail + where
    digest = hashlib.blake2b(detail.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    reads, writes = _inside(draft.reads, cwd, places), _inside(draft.writes, cwd, places)
    return _Known(Draft(draft.kind, target, detail[:MAX_DETAIL], reads, writes, draft.part), digest, good, bad)


def _placed(text: str, cwd: str, places: Places) -> str:
    if MARK not in text:
        return text
    pieces = text.split(MARK)
    for at in range(1, len(pieces), 2):
        if pieces[at] != OPEN_FILE:
            pieces[at] = places.resolve(pieces[at], cwd)
    return "".join(pieces)


def _inside(paths: tuple[str, ...], cwd: str, places: Places) -> tuple[str, ...]:
    """Return the paths that lie in the workspace, relative to it."""
    if not paths:
        return ()
    found = [path if path == OPEN_FILE else places.resolve(path, cwd) for path in paths]
    return tuple(dict.fromkeys(path for path in found if places.inside(path)))


def _ok(known: _Known, call: ToolCall, result: ToolResult | None) -> bool | None:
    """Return how an action ended, as far as its call's result speaks for it."""
    if result is None or result.outcome in ("interrupted", "running"):
        return None
    if result.outcome == "rejected":
        return False
    kind = known.draft.kind
    if kind in ("TEST", "BUILD") and call.command:
        return _judged(known, call, result)
    if kind in ("EDIT", "CREATE") and result.text.startswith(_REFUSED):
        return False
    if result.outcome == "ok":
        return True if known.good else None
    if result.outcome in ("failed", "timeout"):
        return False if known.bad else None
    return None


def _judged(known: _Known, call: ToolCall, result: ToolResult) -> bool | None:
    """Return how a check ended: by the exit code where it is its own, else by what it printed."""
    if result.outcome == "ok" and known.good and result.exit_code == 0:
        return True
    if result.outcome == "timeout" or (result.outcome == "failed" and known.bad):
        return False
    verdict = judge(split_shell(call.command[:_CACHED]), result.exit_code, result.outcome, result.text)
    return {"ok": True, "failed": False, "timeout": False}.get(verdict.result)
