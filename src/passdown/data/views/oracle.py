"""The upper bound: the structured view with what only the rest of the run shows. Never for training."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from passdown.data.prefix import cut
from passdown.data.records import Trajectory, View
from passdown.data.views import structured
from passdown.data.views.continuation import NONE
from passdown.data.views.material import material_of
from passdown.data.views.options import Options
from passdown.errors import UsageError
from passdown.packet.escape import code
from passdown.packet.tokens import estimate_tokens

_KINDS = ("EDIT", "CREATE", "DELETE", "TEST", "INSTALL")
_MOST = 30


def build_oracle(trajectory: Trajectory, k: int, *, budget: int | None = None) -> View:
    """Return the structured view and what the run did afterwards: files, tests, and the actions that mattered.

    Raises `UsageError` for a trajectory of the training split, and for one that is in no split yet.
    """
    if trajectory.split not in ("validation", "test"):
        raise UsageError(
            "a view made with the future is only for validation and test"
            + (": this trajectory is for training" if trajectory.split == "train" else ": this one is in no split"),
            where=trajectory.trajectory_id,
            next_step="Assign the split first, or build the structured view.",
        )
    material = material_of(cut(trajectory, k))
    view = structured.build(material, Options(budget=budget))
    clean = material.shared.notes.clean
    text = view.text + "\n" + "\n".join(_later(trajectory, k, clean)) + "\n"
    return View(
        name="oracle_structured", trajectory_id=trajectory.trajectory_id, k=k, text=text, facts=view.facts,
        tokens=estimate_tokens(text), writer="passdown", elided=view.elided,
    )  # fmt: skip


def _later(trajectory: Trajectory, k: int, clean: Callable[[str], str]) -> Iterator[str]:
    outcome = trajectory.outcome
    files = [line[6:] for line in outcome.patch.splitlines() if line.startswith("+++ b/")]
    actions = [action for step in trajectory.steps[k:] for action in step.actions if action.kind in _KINDS]
    steps = dict.fromkeys(f"{action.kind.lower()} {code(clean(action.target), 160)}" for action in actions)
    yield "## Known only afterwards"
    yield f"- Files of the final change: {', '.join(code(clean(path), 160) for path in files[:_MOST]) or NONE}"
    tests = [code(clean(name), 160) for name in outcome.fail_to_pass[:_MOST]]
    yield f"- Tests that must pass: {', '.join(tests) or NONE}"
    yield f"- Still done by the run, in order: {'; '.join(list(steps)[:_MOST]) or NONE}"
    ended = {True: "solved", False: "not solved", None: "unknown"}[outcome.resolved]
    yield f"- How the run ended: {ended}"
