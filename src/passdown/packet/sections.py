"""The sections of handoff.md, each a pure function of the packet and of how much room there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from passdown.model.packet import Packet
from passdown.packet.caps import keep
from passdown.packet.escape import code, fenced, inline
from passdown.packet.noted import origin_of
from passdown.packet.vague import sets_a_rule

_ENDED = {
    "ok": "ok, exit code not recorded", "failed": "failed, exit code hidden", "interrupted": "stopped",
    "rejected": "refused", "timeout": "timed out", "running": "still running at the end",
    "unknown": "no result recorded", "": "no exit code",
}  # fmt: skip


def ended(code: int | None, how: str) -> str:
    """Return how a run ended, in a few words."""
    return _ENDED[how] if code is None else f"exit {code}"


class Room(Struct, frozen=True):
    """How much is shown: items of a list, characters of a text and of a path, lines of output; and whether sections
    that are merely useful stay.
    """

    items: int
    chars: int
    output: int
    optional: bool = True
    path: int = 512

    def least(self, cap: int) -> int:
        """Return the smaller of a text's own cap and what there is room for."""
        return min(cap, self.chars)


def basis(name: str, source: str = "") -> str:
    """Return how a thing is known, as it stands behind each claim."""
    return f"*{name}: {inline(source, 60)}*" if source else f"*{name}*"


def listed(items: Sequence[Any], room: int, left: int, show: Any) -> list[str]:
    """Return the items as bullets, pinned ones before others, and one line for those not shown or left out."""
    lines = [f"- {show(item)}" for item in keep(list(items), room)]
    hidden = len(items) - len(lines)
    if hidden or left:
        where = "in handoff.json" if not left else "left out" if not hidden else "in handoff.json or left out"
        lines.append(f"- … {hidden + left} more {where}")
    return lines


def title(packet: Packet, room: Room, word: str) -> list[str]:
    """Return the title and the line that says where the work stands."""
    git = packet.git
    name = packet.task_id or packet.topic
    what = f" {inline(packet.goal, room.least(80))}" if packet.goal and packet.task_id else ""
    branch = f"branch {code(git.branch, room.path)}" if git.branch else "detached HEAD" if git.detached else ""
    unborn = bool(branch) and (git.base_rule == "empty_tree" or not (git.base or git.base_rule == "not_read"))
    none = "no commit yet" if unborn else "git was not read"
    head = f" at {code(git.head[:12])}" if git.head else f", {none}" if branch else none
    outcome = {"passed": "passed run", "failed": "failed run", "unknown": "outcome unknown"}[packet.outcome]
    parts = [(branch + head).strip(), outcome, packet.kind, f"packet {code(packet.packet_id[:12])}"]
    if packet.as_of:
        parts.append(f"evidence up to {inline(packet.as_of, 20)}")
    return [f"# {word}: {inline(name, room.least(64))}{what} — {packet.status}", " · ".join(parts), ""]


def next_step(packet: Packet, room: Room) -> list[str]:
    """Return the one next step, how it is known, what waits for a person, and what to settle first."""
    action = packet.next_action
    known = basis(action.basis, origin_of(action))
    command = (
        f" · {code(action.command, max(room.path, 60))}" if action.command and action.command not in action.text else ""
    )
    lines = [f"{inline(action.text)}{command}  {known}"]
    if action.requires_human:
        asked = f" ({inline(action.question_id, max(24, room.least(64)))})" if action.question_id else ""
        lines.append(f"- **Waits for a human's word**{asked}.")
    if action.agents_view:
        lines.append(f'- The agent\'s last word: "{inline(action.agents_view, room.chars)}"  *declared, not checked*')
    if packet.interrupted_edit:
        edited = code(packet.interrupted_edit.path, room.path)
        known = basis(packet.interrupted_edit.basis)
        lines.append(f"- **The last edit was cut short, look at this first:** {edited}  {known}")
    points = [point for point in packet.settle_first if point.code != "edit.interrupted"]
    for point in points[: max(1, room.items // 4)]:
        fix = f" — {code(point.fix, room.chars)}" if point.fix else ""
        lines.append(f"- Settle first: {inline(point.detail, room.chars)}{fix}")
    return lines


def questions(packet: Packet, room: Room) -> list[str]:
    """Return the questions with their defaults."""

    def show(q: Any) -> str:
        options = f" Options: {', '.join(inline(o, room.least(40)) for o in q.options)}." if q.options else ""
        blocks = f" Blocks: {', '.join(inline(b, room.least(40)) for b in q.blocks[:3])}." if q.blocks else ""
        asked = inline(q.question, room.chars)
        end = "" if asked.endswith((*"?.!？。！…",)) else "."
        text = f"**{inline(q.id, max(24, room.least(64)))}** {asked}{end}{options}"
        return f"{text} If unanswered: {inline(q.default, room.least(100))}.{blocks}"

    left = packet.omitted.get("questions_for_human", 0)
    return listed(packet.questions_for_human, min(5, room.items), left, show)


def load_first(packet: Packet, room: Room) -> list[str]:
    """Return the paths to load, in order, on one line, and what must hold that is not obvious."""
    prereqs = packet.next_session_prereqs
    shown = [a for a in prereqs.artifacts if a.mode != "on_demand"][: room.items]
    if not shown:
        return []
    paths = " · ".join(
        f"{code(a.path, room.path)}{' (in part)' if a.mode == 'range' else ''}{'' if a.tracked else ' (untracked)'}"
        for a in shown
    )
    hidden = len(prereqs.artifacts) - len(shown) + packet.omitted.get("next_session_prereqs.artifacts", 0)
    return [paths + (f" · … {hidden} more in handoff.json" if hidden else "")]


def goal(packet: Packet, room: Room) -> list[str]:
    """Return the goal in the words of whoever stated it."""
    return (
        [f"{inline(packet.goal, max(room.chars, 60))}  {basis(packet.goal_basis or 'declared')}"] if packet.goal else []
    )


def directives(packet: Packet, room: Room) -> list[str]:
    """Return the human's own words: without room for all the first, those that set a rule, and the latest."""
    items = packet.directives
    ranked = sorted(
        range(len(items)),
        key=lambda at: (at > 0, at < len(items) - max(1, room.items // 2), not sets_a_rule(items[at].text), -at),
    )
    kept = [items[at] for at in sorted(ranked[: max(2, room.items)])]

    def show(d: Any) -> str:
        when = inline(d.at[11:16], 5) if d.at else ""
        when = ", ".join(filter(None, (when, "carried over" if d.from_packet else "")))
        at = f"  *({when})*" if when else ""
        return f'"{inline(d.text, room.chars)}"{at}'

    left = len(items) - len(kept) + packet.omitted.get("directives", 0)
    return listed(kept, len(kept), left, show)


def completed(packet: Packet, room: Room) -> list[str]:
    """Return what is done, one line each."""

    def show(item: Any) -> str:
        proof = item.evidence
        is_id = len(proof) in (40, 64) and " " not in proof and "/" not in proof
        evidence = f" — {code(proof[:12])}" if is_id else f" — {inline(proof, room.least(60))}" if proof else ""
        origin = "an earlier packet" if item.from_packet else ""
        return f"✓ {_named(item.id, room)}{inline(item.text, room.chars)}{evidence}  {basis(item.basis, origin)}"

    return listed(packet.completed, room.items, packet.omitted.get("completed", 0), show)


def remaining(packet: Packet, room: Room) -> list[str]:
    """Return what is open."""

    def show(item: Any) -> str:
        state = {"todo": "", "in_progress": " (in progress)", "blocked": " (**blocked**)"}[item.status]
        done = f" — done when: {inline(item.done_when, room.least(100))}" if item.done_when else ""
        origin = item.source or ("an earlier packet" if item.from_packet else "")
        return f"☐ {_named(item.id, room)}{inline(item.text, room.chars)}{state}{done}  {basis(item.basis, origin)}"

    return listed(packet.remaining, room.items, packet.omitted.get("remaining", 0), show)


def _named(name: str, room: Room) -> str:
    """Show the ids that people know; the ones computed here only serve machines."""
    return "" if name.startswith(("P-", "C-")) else f"{inline(name, room.least(40))}: "


def changed(packet: Packet, room: Room) -> list[str]:
    """Return what git says changed, the uncommitted marked, and what was only claimed."""
    real = [f for f in packet.changed_files if f.status != "="]
    lines = listed(real, room.items + 4, 0, lambda f: _file(f, room))
    claims = [code(f.path, room.path) for f in packet.changed_files if f.status == "="]
    if claims:
        more = f" and {len(claims) - 5} more" if len(claims) > 5 else ""
        lines.append(f"- claimed by the session but unchanged in git: {', '.join(claims[:5])}{more}  *declared*")
    left = packet.omitted.get("changed_files", 0)
    if left:
        folders = ", ".join(
            f"{code(name, room.path)} {count}"
            for name, count in sorted(packet.changed_elsewhere.items(), key=lambda item: (-item[1], item[0]))[:6]
        )
        lines.append(f"- … {left} more left out{': ' + folders if folders else ''}")
    return lines


def _file(file: Any, room: Room) -> str:
    known = file.added >= 0 and file.deleted >= 0
    counts = " binary" if file.binary else f" +{file.added} −{file.deleted}" if known else ""
    return f"{file.status} {code(file.path, room.path)}{counts}{' · **uncommitted**' if file.uncommitted else ''}"


def decisions(packet: Packet, room: Room) -> list[str]:
    """Return the decisions with their reasons, then the standing wishes."""

    def show(d: Any) -> str:
        rejected = f" (rejected: {', '.join(inline(r, room.least(40)) for r in d.rejected[:4])})" if d.rejected else ""
        assumed = " **assumed**" if d.state == "assumed" else ""
        origin = f"by the {d.by}" + (", carried over" if d.from_packet else "")
        why = f"{inline(d.why, room.least(120))}{assumed}  {basis(d.basis, origin)}"
        return f"{inline(d.choice, room.chars)}{rejected} — {why}"

    lines = listed(
        keep(packet.decisions, room.items, newest=True), room.items, _left(packet, "decisions", room.items), show
    )
    wish = [
        f"prefers: {inline(p.text, room.chars)}  {basis(p.basis, 'by the ' + p.by)}"
        for p in keep(packet.preferences, room.items)
    ]
    return lines + [f"- {line}" for line in wish]


def _left(packet: Packet, field: str, room: int) -> int:
    return max(0, len(getattr(packet, field)) - room) + packet.omitted.get(field, 0)


def tests(packet: Packet, room: Room) -> list[str]:
    """Return the recorded state of the tests, and the output of the failure when there is room."""
    state = packet.tests
    if state.state == "not_run" and not state.commands:
        return []
    word = {
        "green": "**green**, recorded on this tree", "red": "**red**, recorded on this tree",
        "error": "**no result** (the run did not start or end)", "not_run": "not run",
        "stale": f"stale: the tree changed since the last run ({inline(state.last_outcome or 'unknown', 20)})",
        "manual": "the criteria are prose: to be checked by hand",
    }[state.state]  # fmt: skip
    if state.from_packet:
        word = f"{inline(state.last_outcome, 20)} when a session last ran them that is not here any more"
    counts = f" ({inline(state.counts, room.least(80))})" if state.counts else ""
    commands = f" — {', '.join(code(c, room.chars) for c in state.commands[:2])}" if state.commands else ""
    lines = [f"{word}{counts}{commands}  {basis(state.basis, 'an earlier packet' if state.from_packet else '')}"]
    lines += listed(
        state.failing,
        min(5, room.items),
        packet.omitted.get("tests.failing", 0),
        lambda n: f"fails: {code(n, room.path)}",
    )
    if state.error_line:
        lines.append(f"- {inline(state.error_line, room.chars)}")
    output = _output(packet) if "red" in (state.state, state.last_outcome) or state.state == "error" else ""
    if output and room.output:
        lines += ["", *fenced("\n".join(line[:160] for line in output.splitlines()[-room.output :]))]
    return lines


def _output(packet: Packet) -> str:
    failed = [entry for entry in packet.feedback_tail if entry.kind == "failure" and (entry.err or entry.out)]
    failed.sort(key=lambda entry: entry.cmd in (*packet.tests.commands, packet.next_action.command))
    return (failed[-1].err or failed[-1].out) if failed else ""


def problems(packet: Packet, room: Room) -> list[str]:
    """Return the known problems: risks, then what was tried and failed, then assumptions nobody confirmed."""

    def risk(r: Any) -> str:
        severity = f"**{r.severity}**" if r.severity == "block" else r.severity
        return f"{severity} {code(r.code, room.least(80))} {inline(r.detail, room.chars)}{_noted(r)}"

    def attempt(a: Any) -> str:
        tries = f" ×{a.tries}" if a.tries > 1 else ""
        why = f": {inline(a.why, room.chars)}" if a.why else ""
        after = (
            f" — then tried: {'; '.join(inline(t, room.least(60)) for t in a.tried_after[-2:])}"
            if a.tried_after
            else ""
        )
        note = f' — note: "{inline(a.note, room.least(80))}"' if a.note else ""
        recorded = a.from_packet and (a.exit is not None or a.ended)
        if a.basis == "declared" and not recorded:
            return f"tried, failed: {inline(a.what, room.chars)}{why}{_noted(a)}"
        after += f"  {basis(a.basis, 'an earlier packet')}" if recorded else ""
        settled = "tried, failed, passes now" if a.resolved else "tried, failed" if a.ended != "unknown" else "begun"
        return f"{settled}: {code(a.what, room.chars)} — {ended(a.exit, a.ended)}{tries}{why}{note}{after}"

    def assumption(a: Any) -> str:
        score = "not reviewed" if a.score is None else f"scored {a.score} of 2"
        check = f" — tells: {code(a.validate_with, room.chars)}" if a.validate_with and a.by else ""
        return f"assumed: {inline(a.text, room.chars)} ({score}){check}{_noted(a)}"

    shown = [r for r in packet.open_risks if r.severity != "info" or r.code != "lkg.missing"]
    lines = listed(shown, room.items, _left(packet, "open_risks", len(packet.open_risks)), risk)
    newest = list(enumerate(packet.failed_attempts))
    newest.sort(key=lambda entry: (entry[1].resolved, entry[1].check is None, -entry[1].tries, -entry[0]))
    attempts = [entry for _, entry in newest]
    lines += listed(attempts, max(1, room.items // 2), packet.omitted.get("failed_attempts", 0), attempt)
    left = packet.omitted.get("assumptions_to_validate", 0)
    lines += listed(packet.assumptions_to_validate, max(1, room.items // 2), left, assumption)
    if packet.assumptions_unscored:
        lines.append(f"- {packet.assumptions_unscored} assumptions were scored only as a whole, none by itself")
    return lines


def _noted(item: Any) -> str:
    """Return who noted a thing, empty for what nobody did."""
    return f"  {basis(item.basis, 'by the ' + item.by)}" if item.by else ""


def verification(packet: Packet, room: Room) -> list[str]:
    """Return how to prove the whole."""
    plan = packet.verification
    if not plan.how:
        return []
    shown = [
        code(line, 2 * room.chars) if plan.by == "command" else inline(line, room.chars)
        for line in plan.how[: room.items]
    ]
    more = f" and {len(plan.how) - len(shown)} more in handoff.json" if len(plan.how) > len(shown) else ""
    joined = (" && " if plan.by == "command" else "; ").join(shown)
    return [f"{joined}{more} — expect: {inline(plan.expect, room.least(80))}"]


def commands(packet: Packet, room: Room) -> list[str]:
    """Return the last commands that did more than look around, in short."""

    def show(c: Any) -> str:
        how = ended(c.last_exit, c.ended)
        return f"{code(c.cmd, room.least(160))} — {how}{f' ×{c.runs}' if c.runs > 1 else ''}"

    kept = packet.commands_run[-max(1, room.items // 2) :]
    return listed(kept, len(kept), _left(packet, "commands_run", len(kept)), show) if kept else []


def clues(packet: Packet, room: Room) -> list[str]:
    """Return the clues with their anchors; a broken one is said to be broken."""

    def show(c: Any) -> str:
        anchors = ", ".join(code(a, room.path) + (" (leads nowhere)" if a in c.broken else "") for a in c.anchors[:3])
        pin = "**pinned** " if c.pinned else ""
        return f"{pin}{inline(c.text, room.chars)}{' — ' + anchors if anchors else ''} ({inline(c.id, room.least(40))})"

    return listed(packet.clues, room.items, packet.omitted.get("clues", 0), show)


def summaries(packet: Packet, room: Room) -> list[str]:
    """Return what the harness wrote when it compacted: its words, not checked."""
    return [
        f'- "{inline(s.text, 2 * room.chars)}"  *declared by the harness, not checked*'
        for s in packet.harness_summaries
    ]


def local_only(packet: Packet, room: Room) -> list[str]:
    """Return what another device lacks."""
    local = packet.local_only
    lines = []
    if local.unpushed:
        lines.append(f"- {local.unpushed} commit{'s' if local.unpushed > 1 else ''} not pushed")
    if local.uncommitted:
        lines.append(f"- {local.uncommitted} uncommitted file{'s' if local.uncommitted > 1 else ''}")
    lines += [f"- stash {inline(s.subject, room.chars)} ({code(s.id[:12])})" for s in local.stashes[: room.items]]
    if local.ignored_artifacts:
        names = ", ".join(code(path, room.path) for path in local.ignored_artifacts[:4])
        more = f" and {len(local.ignored_artifacts) - 4} more" if len(local.ignored_artifacts) > 4 else ""
        lines.append(f"- not in git: {names}{more}")
    for tree in local.worktrees[:3]:
        dirty = {True: ", dirty", False: "", None: ", not read"}[tree.dirty]
        lines.append(f"- worktree {code(tree.name, room.path)} on {code(tree.branch, room.path) or 'no branch'}{dirty}")
    return lines
