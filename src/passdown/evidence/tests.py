"""The state of the tests as recorded. Nothing is run here: what nobody ran is `not_run`, what changed is `stale`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from passdown.evidence.covering import covers
from passdown.evidence.identity import Identity, identify
from passdown.evidence.kinds import kind_of, program_of, words_of
from passdown.evidence.output import bare_output, clipped
from passdown.evidence.places import OUTSIDE, Places
from passdown.evidence.proving import proving_part
from passdown.evidence.reports import Report, read_report
from passdown.evidence.runs import Finished, named
from passdown.model.evidence import CommandRun, RepositoryFacts, TestFacts
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Workbench

MAX_WATCHED = 200
MAX_UNREAD = 2_000_000
"""Characters of output that wait to be read, of all test commands together."""
Colour = Literal["green", "red", "error"]

_NO_RUNNER = lazy_pattern(r"\bNo module named '?(?:pytest|unittest|nose2?|tox)'?\s*$")
_PROSE_WORD = lazy_pattern(r"[A-Za-z][a-z']*[.,;]?")
_HARMLESS_CHANGE = lazy_pattern(
    r"(?i)(?:^|/)(?:docs?|outputs|\.ai|\.passdown|\.(?:claude|agents|qwen)/skills)/|\.(?:md|mdx|rst|txt|adoc)$"
    r"|(?:^|/)(?:agent_state|task_board|feature_list|scope_contract|clean_state|feedback_record\w*)\.jsonl?(?:\.\d)?$"
    r"|(?:^|/)(?:decisions|questions|clues|overrides)\.jsonl$"
    r"|(?:^|/)(?:verification|review|init|rule|scope|coverage)_report\w*\.json$|(?:^|/)last_known_good\.json$"
    r"|(?:^|/)(?:LICENSE|CHANGELOG|AUTHORS|NOTICE)[^/]*$"
)


class Seen(Struct, frozen=True, gc=False):
    """The last run of one test command that decided something."""

    run: CommandRun
    report: Report
    colour: Colour
    clock: int
    from_session: bool


class _Unread(Struct, frozen=True, gc=False):
    """The last run of one test command, whose output is read when it turns out to matter."""

    run: CommandRun
    output: str
    unread: bool
    masking: bool
    clock: int
    from_session: bool

    def read(self) -> Seen | None:
        """Read the output; None when it says nothing about the tests."""
        run = named(self.run, self.output) if self.unread else self.run
        report = read_report(self.output if self.unread else bare_output(self.output))
        colour = _colour(run, report, masking=self.masking)
        return Seen(run, report, colour, self.clock, self.from_session) if colour is not None else None


@lru_cache(maxsize=512)
def is_relevant(path: str) -> bool:
    """Say whether a change of this path can change what the tests say: documents and workbench files cannot."""
    return not _HARMLESS_CHANGE.search(path)


def looks_like_command(text: str) -> bool:
    """Say whether an acceptance criterion is a command rather than prose."""
    words = text.split()
    if not words or len(text) > 2000:
        return False
    plain = sum(bool(_PROSE_WORD.fullmatch(word)) for word in words)
    marked = any(word.startswith(("-", "./")) or re.search(r"/|=|::|&&|\|", word) for word in words[1:])
    if len(words) >= 4 and plain == len(words):
        return False
    if words[0].startswith(("./", "../", "/")) or re.match(r"[A-Z_][A-Z0-9_]*=", words[0]):
        return True
    known = kind_of(words_of(text)) != "other" or program_of(words_of(text)) in _PROGRAMS
    known = known or words[0].rpartition("/")[2] in _PROGRAMS
    return known and (marked or len(words) <= 4 or plain * 2 <= len(words))


_PROGRAMS = frozenset({
    "python", "python3", "node", "bash", "sh", "ruby", "perl", "php", "java", "go", "cargo", "npm", "npx", "pnpm",
    "yarn", "bun", "uv", "make", "curl", "test", "git", "docker", "sqlite3", "psql", "deno", "tsx", "just", "mise",
})  # fmt: skip


class Criteria(Struct, frozen=True, gc=False):
    """The commands that prove the work, as the project declares them; `prose` says that it has criteria in words."""

    commands: tuple[str, ...] = ()
    prose: bool = False


def declared_commands(workbench: Workbench, test_command: str) -> Criteria:
    """Return the first source that names a command: configuration, contract, active item of the board, router."""
    active = {workbench.active_feature, workbench.state.active_task_id if workbench.state else ""} - {""}
    items = [
        task for task in (*workbench.features, *workbench.tasks) if task.id in active or task.status == "in_progress"
    ]
    sources: list[Iterable[str]] = [
        (test_command,),
        workbench.contract.acceptance_criteria if workbench.contract else (),
        [line for task in items for line in task.acceptance],
        (workbench.verification_command,),
    ]
    prose = False
    for source in sources:
        stated = [text.strip() for text in source if text.strip()]
        commands = [text for text in stated if text == test_command.strip() or looks_like_command(text)]
        prose = prose or len(commands) < len(stated)
        if commands:
            return Criteria(tuple(dict.fromkeys(commands)), prose)
    return Criteria((), prose)


class Tests:
    """Watches the test runs of all logs, and the changes after them."""

    def __init__(self, criteria: Criteria, places: Places) -> None:
        self._criteria = criteria
        self.tokens = {identify(command, "", places).tokens: command for command in criteria.commands}
        self._seen: dict[str, Seen | _Unread] = {}
        self._unread = 0
        self._edit_clock = 0
        self._edit_at: int | None = None

    def changed(self, clock: int, at: int | None) -> None:
        """Take note that a file the tests may depend on was changed."""
        self._edit_clock = clock
        if at is not None:
            self._edit_at = at if self._edit_at is None else max(self._edit_at, at)

    def add(self, finished: Finished, key: str, clock: int, *, from_session: bool) -> None:
        """Take note of a run when it is one of this repository's tests and says something about their state."""
        run = finished.run
        if not finished.state or not self.watches(run):
            return
        if run.result in {"rejected", "running", "interrupted"}:
            return
        masking = finished.identity.masking
        output = finished.unread or clipped(finished.output)
        unread = _Unread(run, output, bool(finished.unread), masking, clock, from_session)
        if not masking or run.result != "ok":
            self._keep(key, unread)
        elif seen := unread.read():  # it may say nothing at all; then an earlier run still decides
            self._keep(key, seen)

    def watches(self, run: CommandRun | Identity) -> bool:
        """Say whether a command is one of this repository's tests, or proves the work as the project declares."""
        tests = run.kind == "test" and not run.cwd.startswith(OUTSIDE)
        return tests or (bool(self.tokens) and run.tokens in self.tokens)

    def _keep(self, key: str, seen: Seen | _Unread) -> None:
        if (known := self._seen.get(key)) and known.from_session != seen.from_session and _at(known) > _at(seen):
            return  # the feedback log is read before the sessions, whenever its runs were
        self._drop(key)
        self._seen[key] = seen
        if isinstance(seen, _Unread):
            self._unread += len(seen.output)
        if len(self._seen) > MAX_WATCHED:
            self._drop(next(iter(self._seen)))
        if self._unread > MAX_UNREAD:
            self._read_all()

    def _drop(self, key: str) -> None:
        gone = self._seen.pop(key, None)
        if isinstance(gone, _Unread):
            self._unread -= len(gone.output)

    def _read_all(self) -> list[Seen]:
        read = {key: seen.read() if isinstance(seen, _Unread) else seen for key, seen in self._seen.items()}
        kept = {key: seen for key, seen in read.items() if seen is not None}
        self._seen, self._unread = dict(kept), 0
        return list(kept.values())

    def finish(self, repository: RepositoryFacts, accounted: dict[str, int | None]) -> TestFacts:
        """Return the state. `accounted` maps the files that sessions touched to when they last did."""
        known = self._read_all()
        declared = [seen for seen in known if seen.run.tokens in self.tokens]
        deciding = declared or _standing(known)
        commands = (
            self._criteria.commands or tuple(dict.fromkeys(proving_part(seen.run.command) for seen in deciding))[:10]
        )
        if not deciding:
            manual = self._criteria.prose and not self._criteria.commands
            return TestFacts(commands=commands, state="manual" if manual else "not_run")
        worst = max(deciding, key=lambda seen: (_RANK[seen.colour], _at(seen), seen.clock))
        fresh = all(self._is_fresh(seen, repository, accounted) for seen in deciding)
        missing = declared and len({seen.run.tokens for seen in declared}) < len(self.tokens)
        state: Literal["green", "red", "error", "stale", "not_run"] = worst.colour if fresh else "stale"
        if missing and worst.colour == "green":
            state = "not_run"
        failing = dict.fromkeys(name for seen in deciding if seen.colour != "green" for name in seen.report.failing)
        return TestFacts(
            commands=commands,
            state=state,
            last_outcome=worst.colour,
            failing=tuple(failing)[:20],
            counts=worst.report.counts,
            error_line="" if worst.colour == "green" else worst.run.error_line,
            source=worst.run.source,
            at=worst.run.at,
            none_ran=worst.report.ran == 0,
            decided_by=self.tokens.get(worst.run.tokens, worst.run.command),
        )

    def _is_fresh(self, seen: Seen, repository: RepositoryFacts, accounted: dict[str, int | None]) -> bool:
        """Say whether nothing relevant changed after the run, as far as the records tell."""
        if seen.run.codes and repository.code:
            return repository.code in seen.run.codes
        if seen.from_session:
            return seen.clock > self._edit_clock
        started = (seen.run.at or 0) - (seen.run.duration_ms or 0)
        committed = repository.head_at if repository.code_at is None else repository.code_at
        if not seen.run.at or started <= committed or (self._edit_at is not None and self._edit_at >= started):
            return False
        for change in repository.changes:
            if change.uncommitted and is_relevant(change.path):
                touched = accounted.get(change.path)
                if touched is None or touched >= started:
                    return False
        return True


def _at(seen: Seen | _Unread) -> int:
    return seen.run.at or 0


_RANK: dict[Colour, int] = {"green": 0, "error": 1, "red": 2}


def _colour(run: CommandRun, report: Report, *, masking: bool) -> Colour | None:
    """Return what a run says about the tests; None for a run that says nothing. `masking`: its exit code may lie."""
    if run.result in {"timeout", "unknown"} or (report.ran == 0 and run.kind == "test"):
        return "error"
    if run.result == "ok" and run.exit in {0, None} and not run.expected:
        if report.failed:
            return "red" if masking else "green"
        return "green" if report.ran is not None or report.passed or not masking else None
    broken = report.broken or _NO_RUNNER.search(run.error_line) is not None
    if run.exit in {126, 127} or broken or (run.exit in {2, 3, 4, 5} and program_of(run.tokens) == "pytest"):
        return "error"
    return "red"


def _standing(seen: list[Seen]) -> list[Seen]:
    """Return the last run and every earlier failure that no later, equally wide run has made good.

    A command or test runner that was not found, or a path that is not there, ran no test: any later run that did is
    worth more.
    """
    if not seen:
        return []
    mixed = len({item.from_session for item in seen}) > 1 and all(item.run.at is not None for item in seen)
    ordered = sorted(seen, key=lambda item: (_at(item) if mixed else 0, item.clock))
    kept = [ordered[-1]]
    for index, item in enumerate(ordered[:-1]):
        later = ordered[index + 1 :]
        if not _started(item) and any(map(_started, later)):
            continue
        if item.colour != "green" and not any(o.colour == "green" and covers(o.run, item.run) for o in later):
            kept.append(item)
    return kept


def _started(seen: Seen) -> bool:
    if seen.report.ran == 0 and not seen.report.failing and seen.run.exit in {None, 0, 4, 5}:
        return False  # 4 and 5 are pytest's; the code of a command behind a filter is the filter's
    return seen.run.exit not in {126, 127} and not _NO_RUNNER.search(seen.run.error_line)
