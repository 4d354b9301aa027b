"""What the next session must load or satisfy before acting. Not a reading list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import structs

from passdown.model.evidence import Check
from passdown.model.packet import NextAction, PrereqArtifact, PrereqCondition, Prereqs, Question, Tests
from passdown.model.workbench import Role
from passdown.packet.caps import LISTS, PATH
from passdown.packet.context import Context
from passdown.packet.paths import artifacts_of, is_relative, mentioned_paths
from passdown.packet.runs import is_unresolved

_LARGE = 65_536
_MOST_TOKENS = 8_000
_ROLES: tuple[tuple[Role, str, bool], ...] = (
    ("router", "how to work here", True), ("rules", "the rules", True), ("state", "the state", True),
    ("contract", "the scope of the task", True), ("board", "the board", True), ("features", "the features", True),
    ("verification", "the verdict", False), ("review", "the review", False),
)  # fmt: skip


def list_prereqs(
    context: Context, action: NextAction, tests: Tests, questions: list[Question]
) -> tuple[Prereqs, dict[str, int]]:
    """Return what to load and what must hold, and how much of each is left out."""
    found: dict[str, PrereqArtifact] = {}
    for artifact in _candidates(context, action):
        if len(artifact.path) <= PATH.cap:
            found.setdefault(artifact.path, artifact)
    artifacts = _demote(list(found.values()))
    conditions = list(_conditions(context, action, tests, questions))
    caps = LISTS["Prereqs.artifacts"], LISTS["Prereqs.conditions"]
    kept = sorted(sorted(range(len(artifacts)), key=lambda at: (not artifacts[at].required, at))[: caps[0]])
    return Prereqs(artifacts=[artifacts[at] for at in kept], conditions=conditions[: caps[1]]), {
        "next_session_prereqs.artifacts": len(artifacts) - len(kept),
        "next_session_prereqs.conditions": max(0, len(conditions) - caps[1]),
    }


def unportable(artifacts: list[PrereqArtifact]) -> list[str]:
    """Return the required artifacts that git does not track: another device will not have them."""
    return [artifact.path for artifact in artifacts if artifact.required and not artifact.tracked]


def _candidates(context: Context, action: NextAction) -> Iterator[PrereqArtifact]:
    read = artifacts_of(context.evidence)
    for role, why, required in _ROLES:
        for artifact in read:
            if artifact.role == role:
                yield _item(
                    artifact.path, artifact.sha256, artifact.bytes, why, required=required, tracked=artifact.tracked
                )
    for path in action.paths:
        yield from _known(context, path, "the next action names it", required=True)
    changed = {change.path for change in context.evidence.repository.changes if change.status != "D"}
    for chain in context.chains:
        if is_unresolved(chain):
            lines = " ".join(run.error_line for run in chain.runs[-1:])
            for path in mentioned_paths(lines, context.look):
                if path in changed:
                    yield from _known(context, path, "an unresolved failure names it")
    loose = [c.path for c in context.evidence.repository.changes if c.uncommitted and c.status != "D" and not c.binary]
    for path in loose[:5]:
        yield from _known(context, path, "uncommitted change")


def _known(context: Context, path: str, why: str, *, required: bool = False) -> Iterator[PrereqArtifact]:
    fact = context.look(path)
    if fact is None or not fact.exists or fact.outside or not is_relative(path):
        return
    target = fact.target if fact.target and is_relative(fact.target) else path
    item = _item(target, fact.sha256, fact.bytes, why, required=required, tracked=fact.tracked)
    blob = next((c.blob for c in context.evidence.repository.changes if c.path == target and c.blob), "")
    if not fact.sha256 and blob:
        item = structs.replace(item, check=Check(kind="blob_at_path", expect=blob))
    yield item


def _item(path: str, sha256: str, size: int, why: str, *, required: bool, tracked: bool) -> PrereqArtifact:
    check = Check(kind="artifact_hash") if sha256 else Check(kind="path_exists")
    mode: Literal["full", "range"] = "range" if size > _LARGE else "full"
    return PrereqArtifact(
        path=path, sha256=sha256, bytes=size, why=why, mode=mode, required=required, tracked=tracked, check=check
    )  # fmt: skip


def _demote(artifacts: list[PrereqArtifact]) -> list[PrereqArtifact]:
    """Load the largest that are not required only on demand, until the rest costs at most 8,000 tokens."""
    total = sum(a.bytes // 4 for a in artifacts if a.mode == "full")
    demoted: set[str] = set()
    for artifact in sorted(artifacts, key=lambda a: (-a.bytes, a.path)):
        if total <= _MOST_TOKENS:
            break
        if not artifact.required and artifact.mode == "full":
            demoted.add(artifact.path)
            total -= artifact.bytes // 4
    return [structs.replace(a, mode="on_demand") if a.path in demoted else a for a in artifacts]


def _conditions(
    context: Context, action: NextAction, tests: Tests, questions: list[Question]
) -> Iterator[PrereqCondition]:
    repository = context.evidence.repository
    head = repository.effective_head or repository.head
    if repository.branch:
        yield PrereqCondition(kind="branch", expect=repository.branch)
    if head:
        check = Check(kind="is_ancestor", subject=head, expect="HEAD")
        yield PrereqCondition(kind="head", expect=head, check=check)
    for question in questions:
        if question.severity == "block":
            yield PrereqCondition(kind="question_answered", expect=question.id, basis="declared")
    if tests.commands and tests.state in ("green", "red", "error"):
        command = tests.check.subject if tests.check else tests.commands[0]
        check = Check(kind="test_outcome_recorded", subject=command, expect=tests.state)
        yield PrereqCondition(kind="baseline_test", expect=f"{tests.state}: {command}", check=check)
    for submodule in repository.submodules:
        yield PrereqCondition(kind="submodule", expect=f"{submodule.path} at {submodule.commit}")
    for stash in repository.stashes:
        if stash.noted:
            yield PrereqCondition(kind="stash", expect=stash.id, check=Check(kind="stash_exists", subject=stash.id))
    for path in action.paths:
        fact = context.look(path)
        if fact is not None and not fact.exists:
            yield PrereqCondition(kind="may_create", expect=path, check=Check(kind="path_absent", subject=path))
