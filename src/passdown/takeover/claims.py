"""Every claim of a packet, with its check spelled out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from passdown.model.brief import Claim
from passdown.model.evidence import Check
from passdown.model.packet import Packet, PrereqCondition
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line

_SUBMODULE = lazy_pattern(r"(.+) at ([0-9a-f]{40}(?:[0-9a-f]{24})?)")


def list_claims(packet: Packet) -> list[Claim]:
    """Return the packet's claims in reading order; two that say the same with the same check count once."""
    seen: set[tuple[str, str, str]] = set()
    claims: list[Claim] = []
    for claim in [*_checked(packet), *_declared(packet)]:
        if claim.check is not None:
            key = (claim.check.kind, claim.check.subject, claim.check.expect)
            if key in seen:
                continue
            seen.add(key)
        claims.append(claim)
    return claims


def _checked(packet: Packet) -> Iterator[Claim]:
    yield from _git(packet)
    yield from _needed(packet)
    for item in packet.changed_files:
        if item.check is not None:
            yield _claim("changed_files", f"{item.path} is as it was left", item.basis, _filled(item.check, item.path))
        elif item.status != "=":
            yield _claim("changed_files", f"{item.path} changed", item.basis, None)
    for done in packet.completed:
        if done.check is not None:
            text = f"commit {done.evidence[:12]} is in the history: {done.text}"
            yield _claim("completed", text, done.basis, _filled(done.check, done.evidence))
    for attempt in packet.failed_attempts:
        if attempt.check is not None:
            yield _claim("failed_attempts", attempt.what, attempt.basis, _filled(attempt.check, attempt.what))
    tests = packet.tests
    if tests.check is not None:
        text = f"tests {tests.state}: {', '.join(tests.commands[:1])}"
        yield _claim("tests", text, tests.basis, _filled(tests.check, ""), required=False)
    for stash in packet.local_only.stashes:
        if stash.check is not None:
            yield _claim("local_only.stashes", f"stash {stash.id[:12]}", "observed", _filled(stash.check, stash.id))
    yield from _machine(packet)


def _git(packet: Packet) -> Iterator[Claim]:
    git = packet.git
    for check in git.check:
        what = "is in the history" if check.kind == "is_ancestor" else f"is at {check.expect[:12]}"
        yield _claim("git.head", f"{check.subject[:80]} {what}", git.basis, check, required=True)


def _needed(packet: Packet) -> Iterator[Claim]:
    for artifact in packet.next_session_prereqs.artifacts:
        check = _filled(artifact.check, artifact.path, artifact.sha256) if artifact.check is not None else None
        text = f"{artifact.path} is as it was read"
        yield _claim(
            "next_session_prereqs.artifacts", text, artifact.basis, check, required=artifact.required
        )  # fmt: skip
    for condition in packet.next_session_prereqs.conditions:
        if condition.kind == "branch":  # compared before anything else
            continue
        check = _condition(condition)
        text = f"{condition.kind.replace('_', ' ')}: {condition.expect}"
        needed = check is not None and check.kind == "is_ancestor"
        yield _claim("next_session_prereqs.conditions", text, condition.basis, check, required=needed)
    receipts = packet.verdict_pointer
    for name, receipt in (
        ("verification", receipts.verification), ("review", receipts.review), ("clean_state", receipts.clean_state),
    ):  # fmt: skip
        if receipt is not None and receipt.check is not None:
            text = f"the {name} report {receipt.path} is as it was read"
            yield _claim(f"verdict_pointer.{name}", text, "observed", _filled(
                receipt.check, receipt.path, receipt.sha256))  # fmt: skip


def _condition(condition: PrereqCondition) -> Check | None:
    if condition.check is not None:
        return condition.check
    if condition.kind == "submodule" and (found := _SUBMODULE.fullmatch(condition.expect)):
        return Check(kind="blob_at_path", subject=found[1], expect=found[2])
    return None


def _machine(packet: Packet) -> Iterator[Claim]:
    environment = packet.environment
    for tool, version in sorted(environment.tools.items())[:20]:
        if version:
            yield _claim(
                "environment.tools", f"{tool} is {version}", "observed",
                Check(kind="tool_version", subject=tool, expect=version),
            )  # fmt: skip
    for name in environment.env_names[:40]:
        yield _claim("environment.env_names", f"{name} is set", "observed", Check(kind="env_name_set", subject=name))


def _declared(packet: Packet) -> Iterator[Claim]:
    """Yield what somebody wrote and nothing can check."""
    done = (item for item in packet.completed if item.check is None)
    yield from (_claim("completed", item.text, item.basis, None) for item in done)
    yield from (_claim("remaining", item.text, item.basis, None) for item in packet.remaining)
    yield from (_claim("decisions", item.choice, item.basis, None) for item in packet.decisions)
    yield from (_claim("preferences", item.text, item.basis, None) for item in packet.preferences)
    yield from (_claim("blockers", item.text, item.basis, None) for item in packet.blockers)
    yield from (
        _claim("assumptions_to_validate", item.text, item.basis, None) for item in packet.assumptions_to_validate
    )
    yield from (_claim("clues", item.text, item.basis, None) for item in packet.clues)
    yield _claim("next_action", packet.next_action.text, packet.next_action.basis, None)


def _claim(place: str, text: str, basis: str, check: Check | None, *, required: bool = False) -> Claim:
    return Claim(place=place, text=one_line(text, 200), basis=basis, check=check, required=required)  # type: ignore[arg-type]


def _filled(check: Check, subject: str, expect: str = "") -> Check:
    """Return the check with the item's own path or id, and its own hash, where it names none."""
    return Check(kind=check.kind, subject=check.subject or subject, expect=check.expect or expect)


def subjects(claims: Iterable[Claim], *kinds: str) -> list[str]:
    """Return what the claims of these kinds are about, each once, in order."""
    found = (claim.check.subject for claim in claims if claim.check is not None and claim.check.kind in kinds)
    return list(dict.fromkeys(found))
