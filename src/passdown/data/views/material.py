"""What a prefix shows, worked out once and shared by all views of it: changes, evidence, packet, facts."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct, structs

from passdown.data.records import Fact, Prefix, Step
from passdown.data.views.changes import Ledger, ledger_of
from passdown.data.views.continuation import Continuation, continuation_of
from passdown.data.views.shared import Shared
from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import Evidence
from passdown.model.packet import Packet
from passdown.model.session import AnyEvent, SessionRef, SessionStart
from passdown.packet.build import build_packet, topic_slug


class Material(Struct, frozen=True, kw_only=True, dict=True):
    """A prefix, and on first use all that is made of it. `events` are its events with their step for a line."""

    prefix: Prefix
    events: tuple[AnyEvent, ...]
    shared: Shared
    ledger: Ledger

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence of the prefix, by the pass that `wrap` makes. A source's line is the step plus one."""
        start = next((event for event in self.events if isinstance(event, SessionStart)), None)
        ref = SessionRef(
            agent=start.agent if start else "", path="", session_id=start.session_id if start else "predecessor",
            cwd=start.cwd if start else self.prefix.root,
        )  # fmt: skip
        found = collect_evidence(self.ledger.facts(self.prefix), None, [(ref, self.events)])
        if self.prefix.predecessor == "human":  # the message of a commit is no agent's word on what comes next
            return structs.replace(found, last_step=None)
        return found

    @cached_property
    def packet(self) -> Packet:
        """The packet that `wrap` would have written here, without the state of any machine."""
        notes = self.shared.notes
        name = self.prefix.repo or self.prefix.root.rstrip("/").rpartition("/")[2] or "work"
        return build_packet(self.evidence, topic=topic_slug(name, notes.text), redactor=notes)

    @cached_property
    def continuation(self) -> Continuation:
        """The state in which the work was left, by rule."""
        return continuation_of(self.prefix, self.ledger, self.evidence, self.shared.notes.clean)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Everything that the prefix shows, as facts with the steps that show it."""
        from passdown.data.views.facts import list_facts

        return list_facts(self)

    @property
    def task(self) -> str:
        """The task as it was given, without secrets."""
        return self.shared.trace.clean(self.prefix.task_text)


def material_of(prefix: Prefix, shared: Shared | None = None) -> Material:
    """Return the material of a prefix. `shared` may be that of another prefix of the same trajectory."""
    return Material(
        prefix=prefix,
        events=numbered(prefix.steps),
        shared=shared or Shared(prefix.root),
        ledger=ledger_of(prefix.steps),
    )


def numbered(steps: tuple[Step, ...]) -> tuple[AnyEvent, ...]:
    """Return the events of steps, each with its step (counted from one) as its line: what evidence cites."""
    return tuple(
        structs.replace(event, line=step.idx + 1, offset=0) for step in steps for event in step.events
    )  # fmt: skip
