"""Load the whole workbench: find each artifact, read it, and keep what was wrong as findings."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from passdown.config import Config
from passdown.model.finding import Finding
from passdown.model.workbench import Artifact, Contract, Review, Role, Task, Verification, Workbench
from passdown.workbench.board import read_board
from passdown.workbench.coverage import read_coverage
from passdown.workbench.document import MalformedError, Notes, decode_json, decode_text, quoted
from passdown.workbench.features import read_features
from passdown.workbench.feedback import Feedback, log_paths, read_feedback
from passdown.workbench.handoff_import import imported_packets
from passdown.workbench.locate import (
    CLOSED,
    File,
    candidates,
    existing,
    exists,
    listing,
    own_output,
    read_file,
    task_files,
    unknown_roles,
)
from passdown.workbench.router import read_router, router_text, rules_paths, verification_command
from passdown.workbench.verification import read_verification

T = TypeVar("T")
Reader = Callable[[bytes, Notes], T]

VERSION_FILE = ".workbench-version"
"""Where an installed workbench pack (lesson 42) writes its version."""


def load_workbench(root: Path, config: Config, *, tracked: frozenset[str] = frozenset()) -> Workbench:
    """Read every artifact under `root`; never raises for what the files hold.

    An artifact that cannot be read is left out and named in `findings`. `tracked` holds the repository-relative paths
    that git knows. Artifacts are in path order, findings in the order in which the files were read.
    """
    loader = _Loader(root, config, tracked)
    return loader.load()


def _late(module: str, name: str) -> Callable[..., Any]:
    """Return a reader that is loaded when there is something to read: hardly a project has every artifact."""

    def read(*given: Any) -> Any:
        return getattr(import_module(f"passdown.workbench.{module}"), name)(*given)

    return read


read_clues = _late("clues", "read_clues")
read_contract = _late("contract", "read_contract")
read_diff_summary = _late("diff_summary", "read_diff_summary")
read_fingerprint = _late("init_report", "read_fingerprint")
read_init_report = _late("init_report", "read_init_report")
read_last_known_good = _late("last_known_good", "read_last_known_good")
read_log = _late("notes", "read_log")
read_overrides = _late("overrides", "read_overrides")
read_questions = _late("questions", "read_questions")
read_review = _late("review", "read_review")
read_rule_report = _late("rules", "read_rule_report")
read_rules = _late("rules", "read_rules")
read_scope_report = _late("scope_report", "read_scope_report")
read_state = _late("state", "read_state")


def _from_json(read: Callable[[Any, Notes], T]) -> Reader[T]:
    return lambda data, notes: read(decode_json(data), notes)


class _Loader:
    """One pass over a repository: artifacts and findings gather here."""

    def __init__(self, root: Path, config: Config, tracked: frozenset[str]) -> None:
        self.root = root
        self.config = config
        self.tracked = tracked
        self.artifacts: dict[str, Artifact] = {}
        self.findings: list[Finding] = []
        self.extra: dict[str, str] = {}
        self.task_id = ""

    def load(self) -> Workbench:
        for role in unknown_roles(self.config):
            self._note("", "config.unknown_role", f"artifacts names {role[:40]!a}, which is no artifact")
        fields = self._work() | self._reports() | self._notes_of_people() | self._router()
        self._coverage()
        self._version()
        return Workbench(
            **fields,
            imported_packets=self._imported(),
            extra=self.extra,
            artifacts=tuple(self.artifacts[path] for path in sorted(self.artifacts)),
            findings=tuple(dict.fromkeys(self.findings)),
        )

    def _work(self) -> dict[str, Any]:
        """What is to be done. Says which task is active, on which the names of reports depend."""
        state = self._read("state", _from_json(lambda value, notes: read_state(value, notes, self.root)))
        tasks = self._read("board", read_board) or ()
        features, active_feature = self._read("features", _from_json(read_features)) or ((), "")
        self.task_id = (state.active_task_id if state else "") or active_feature or _only_active(tasks, features)
        contract = self._read_scope("contract", "contract", _from_json(read_contract))
        self.task_id = self.task_id or (contract.task_id if contract else "")
        return {
            "state": state,
            "tasks": tasks,
            "features": features,
            "active_feature": active_feature,
            "contract": contract,
            "closed_contracts": self._closed_contracts(),
        }

    def _reports(self) -> dict[str, Any]:
        """What was done and how it was judged."""
        root = self.root
        verification = self._read("verification", _from_json(read_verification))
        review = self._read("review", _from_json(read_review))
        self._compare_tasks(verification, review)
        feedback = self._feedback()
        return {
            "verification": verification,
            "verified_commits": self._verified_commits(verification),
            "review": review,
            "feedback": feedback.rows if feedback else None,
            "feedback_skipped": feedback.skipped if feedback else 0,
            "scope_report": self._read_scope(
                "scope_report", "report", _from_json(lambda value, notes: read_scope_report(value, notes, root))
            ),
            "rule_results": self._read("rule_report", _from_json(read_rule_report)),
            "probes": self._read("init_report", _from_json(read_init_report)),
            "last_known_good": self._read("last_known_good", _from_json(read_last_known_good)) or "",
            "diff_summary": self._read(
                "diff_summary", _from_json(lambda value, notes: read_diff_summary(value, notes, root))
            ),
        }

    def _notes_of_people(self) -> dict[str, Any]:
        """The append-only logs in which people and agents note what must not get lost."""
        overrides = self._read("overrides", read_overrides) or ()
        log = self._read("decisions", read_log)
        return {
            "overrides": overrides,
            "decisions": log.decisions if log else (),
            "notes": log.notes if log else (),
            "questions": self._read("questions", read_questions) or (),
            "clues": self._read("clues", read_clues) or (),
        }

    def _verified_commits(self, active: Verification | None) -> tuple[str, ...]:
        """Return the commits that passed verification reports judged, the active task's first, then the other tasks'.

        A report of another task that cannot be read says nothing about this one and is passed over.
        """
        passed = [active] if active else []
        for path in task_files(self.root, "verification"):
            if active and path == active.path:
                continue
            try:
                file = read_file(self.root, path)
                report = read_verification(decode_json(file.data), Notes(path))
            except MalformedError:
                continue
            if report.passed and report.head_commit:
                self._keep(file, "other")
                passed.append(report)
        commits = (report.head_commit.lower() for report in passed if report.passed and report.head_commit)
        return tuple(dict.fromkeys(commits))

    # --- one artifact ------------------------------------------------------------------------------------------

    def _note(self, path: str, code: str, detail: str) -> None:
        notes = Notes(path)
        notes.warn(code, detail)
        self.findings += notes.findings

    def _keep(self, file: File, role: Role) -> None:
        self._keep_parts(file.path, role, file.sha256, len(file.data))

    def _keep_parts(self, path: str, role: Role, sha256: str, size: int) -> None:
        tracked = path in self.tracked
        self.artifacts.setdefault(path, Artifact(path=path, role=role, sha256=sha256, bytes=size, tracked=tracked))

    def _existing(self, role: Role) -> tuple[list[str], bool]:
        """Return the places of a role's file, and whether the best one counts (else it must be the only one)."""
        notes = Notes()
        hits = existing(self.root, role, self.config, self.task_id, notes)
        self.findings += notes.findings
        return (hits, True) if hits else (task_files(self.root, role), False)

    def _open(self, path: str) -> File | None:
        try:
            return read_file(self.root, path)
        except MalformedError as error:
            self._refuse(path, error)
            return None

    def _refuse(self, path: str, error: MalformedError) -> None:
        notes = Notes(path)
        notes.refuse(error)
        self.findings += notes.findings

    def _read(self, role: Role, read: Reader[T]) -> T | None:
        """Read the first hit of a role; others with different content are a finding."""
        hits, certain = self._existing(role)
        if not self._decided(role, hits, certain):
            return None
        file = self._open(hits[0]) if hits else None
        if file is None:
            return None
        self._compare_hits(role, file, hits[1:])
        return self._parse(file, role, read)

    def _read_scope(self, role: Role, wanted: str, read: Reader[T]) -> T | None:
        """Read a contract or a scope report: under `closed/` the same path holds either, told apart by the keys."""
        hits, certain = self._existing(role)
        files: list[File] = []
        for path in hits:
            file = self._open(path)
            shape = self._scope_shape(file) if file else ""
            if file and shape == wanted:
                files.append(file)
            elif shape and (shape == "neither" or "closed/" not in path):
                self._refuse(path, MalformedError("artifact.bad_shape", f"is no {wanted}: its keys do not say so"))
        if not files or not self._decided(role, [file.path for file in files], certain):
            return None
        self._compare_hits(role, files[0], [file.path for file in files[1:]])
        return self._parse(files[0], role, read)

    def _scope_shape(self, file: File) -> str:
        try:
            value = decode_json(file.data)
        except MalformedError as error:
            self._refuse(file.path, error)
            return ""
        from passdown.workbench.contract import is_contract
        from passdown.workbench.scope_report import is_scope_report

        return "contract" if is_contract(value) else "report" if is_scope_report(value) else "neither"

    def _decided(self, role: Role, hits: list[str], certain: bool) -> bool:
        if certain or len(hits) < 2:
            return True
        names = ", ".join(hits[:3])
        self._note(
            "", "artifact.ambiguous", f"{len(hits)} files could be the {role}, no active task says which: {names}"
        )
        return False

    def _parse(self, file: File, role: Role, read: Reader[T]) -> T | None:
        notes = Notes(file.path)
        try:
            result = read(file.data, notes)
        except MalformedError as error:
            self._refuse(file.path, error)
            return None
        self.findings += notes.findings
        self._keep(file, role)
        return result

    def _compare_hits(self, role: Role, file: File, others: list[str]) -> None:
        for path in others:
            try:
                other = read_file(self.root, path)
            except MalformedError:
                other = None
            if other is None or other.sha256 != file.sha256:
                self._note(path, "artifact.ambiguous", f"is another {role} than {file.path}, which is used")

    # --- artifacts with rules of their own ---------------------------------------------------------------------

    def _compare_tasks(self, *reports: Verification | Review | None) -> None:
        for report in reports:
            if report and report.task_id and self.task_id and report.task_id != self.task_id:
                detail = f"is about the task {quoted(report.task_id)}; the active one is {quoted(self.task_id)}"
                self._note(report.path, "artifact.other_task", detail)

    def _coverage(self) -> None:
        pair = self._read("coverage", _from_json(read_coverage)) or (None, None)
        for name, value in zip(("current", "previous"), pair, strict=True):
            if value is not None:
                self.extra[f"coverage.{name}"] = str(value)
        fingerprint = self._read("prereqs_lock", _from_json(read_fingerprint))
        if fingerprint:
            self.extra["prereqs.fingerprint"] = fingerprint[:64]

    def _version(self) -> None:
        """Note the version of an installed workbench pack, and list the audit of lesson 31."""
        if exists(self.root, VERSION_FILE) and (file := self._open(VERSION_FILE)):
            version = self._parse(file, "other", lambda data, _: decode_text(data).strip())
            if version:
                self.extra["workbench.version"] = version.splitlines()[0][:40]
        self._read("audit", _from_json(lambda value, _: isinstance(value, dict)))

    def _closed_contracts(self) -> tuple[Contract, ...]:
        contracts: list[Contract] = []
        for name in listing(self.root, CLOSED.rstrip("/")):
            if not name.endswith(".json") or name.endswith(".report.json"):
                continue
            file = self._open(f"{CLOSED}{name}")
            if file and self._scope_shape(file) == "contract":
                contract = self._parse(file, "contract", _from_json(read_contract))
                contracts += [contract] if contract else []
        return tuple(contracts)

    def _feedback(self) -> Feedback | None:
        notes = Notes()
        if (configured := self.config.artifacts.get("feedback")) and not log_paths(self.root, configured):
            notes.warn("artifact.missing", f"{configured} is configured as feedback but does not exist")
        places = [path for path in candidates("feedback", self.config) if not own_output(path, self.config)]
        logs = [found for path in places if (found := log_paths(self.root, path))]
        if not logs:
            self.findings += notes.findings
            return None
        feedback = read_feedback(self.root, logs[0], notes)
        self.findings += notes.findings
        for file in feedback.files:
            self._keep_parts(file.path, "feedback", file.sha256, file.bytes)
        if feedback.older:
            self.extra["feedback.older_rows"] = str(feedback.older)
        for other in logs[1:]:
            self._note(other[-1], "artifact.ambiguous", f"is another feedback than {logs[0][-1]}, which is used")
        return feedback if feedback.files else None

    def _router(self) -> dict[str, Any]:
        notes = Notes()
        file = read_router(self.root, self.config, notes)
        self.findings += notes.findings
        text = self._parse(file, "router", lambda _, __: router_text(file)) if file else None
        linked: list[str] = []
        if file and text:
            linked = rules_paths(text, file.path.rpartition("/")[0], self.root, self.config)
        main = [path for path in candidates("rules", self.config) if exists(self.root, path)][:1]
        slugs: list[str] = []
        rules: list[str] = []
        for path in dict.fromkeys([*main, *linked]):
            found = self._open(path)
            read = self._parse(found, "rules", read_rules) if found else None
            if read is not None:
                rules.append(path)
                slugs += read
        return {
            "router": file.path if file and text is not None else "",
            "rules_files": tuple(rules),
            "rule_slugs": tuple(dict.fromkeys(slugs)),
            "verification_command": verification_command(text) if text else "",
        }

    def _imported(self) -> tuple[str, ...]:
        notes = Notes()
        files = imported_packets(self.root, self.config, notes)
        self.findings += notes.findings
        for file in files:
            self._keep(file, "handoff")
        return tuple(file.path for file in files)


def _only_active(tasks: tuple[Task, ...], features: tuple[Task, ...]) -> str:
    active = {task.id for task in (*tasks, *features) if task.status == "in_progress"}
    return active.pop() if len(active) == 1 else ""
