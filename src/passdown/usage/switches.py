"""Another model in the midst of a session: what is in no cache of its is paid for in full."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from passdown.agents.windows import window_of
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line
from passdown.usage.bands import Bands
from passdown.usage.calls import Account, Call

CODE = "model.switched"

_NO_MODEL = frozenset({"", "<synthetic>"})
_OWN = lazy_pattern(r"(?:^|[;&|(\n]\s*|/)passdown\s+(?:-C\s+\S+\s+)?(\w[\w-]*)")


class Switch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of the main agent's model between two calls. `uncached` are the input tokens no cache gave it.

    `long` says that the context was beyond half of the window then, `at_boundary` that a packet had just been made.
    """

    call: int
    before: str
    after: str
    context: int
    uncached: int
    window: int | None = None
    at: int | None = None
    long: bool = False
    at_boundary: bool = False


def find_switches(account: Account, packets_at: Sequence[int] = (), bands: Bands | None = None) -> list[Switch]:
    """Return the changes of the main agent's model. `packets_at` are moments (milliseconds) at which packets were made.

    Just after a packet is where no other work was done since; passdown's own commands are no such work.
    """
    bands = bands or Bands()
    switches: list[Switch] = []
    model, wrapped, before = "", False, None
    for call in account.main:
        if before is not None:
            wrapped = _wrapped(before, call, packets_at, already=wrapped)
        if call.model not in _NO_MODEL:
            if model and call.model != model:
                switches.append(_switch(call, model, bands, at_boundary=wrapped))
            model = call.model
        before = call
    return switches


def _switch(call: Call, model: str, bands: Bands, *, at_boundary: bool) -> Switch:
    window = call.window or window_of(call.model, seen=call.context)
    long = call.context > (bands.tokens if window is None else bands.prepare * window)
    return Switch(
        call=call.number, before=model, after=call.model, context=call.context, uncached=call.input + call.cache_write,
        window=window, at=call.at, long=long, at_boundary=at_boundary,
    )  # fmt: skip


def _wrapped(before: Call, call: Call, packets_at: Sequence[int], *, already: bool) -> bool:
    """Say whether nothing was done since a packet was made, as of a call, given how that was at the one before."""
    if any((before.at or 0) <= moment <= (call.at or -1) for moment in packets_at):
        return True
    for step in before.steps:
        own = _OWN.search(step.words) if step.action == "run" else None
        already = own is not None and (own[1] == "wrap" or already)
    return already


def switch_findings(switches: Sequence[Switch], session: str = "") -> list[Finding]:
    """Return a warning for each switch in a long context that no packet went before."""
    return [
        Finding(
            code=CODE, severity="warn", where=session,
            detail=f"{one_line(switch.before, 60)} → {one_line(switch.after, 60)} at call {switch.call}, in a context "
                   f"of {switch.context:,} tokens: {switch.uncached:,} of them in no cache",
            fix="change the model at a session's boundary: `passdown wrap`, then a fresh session",
        )
        for switch in switches
        if switch.long and not switch.at_boundary
    ]  # fmt: skip
