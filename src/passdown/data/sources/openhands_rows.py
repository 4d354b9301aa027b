"""Rows of runs of OpenHands with function calls: nebius' SWE-rebench set, and the sampled set of SWE-Gym.

nebius: `trajectory_id, instance_id, repo, trajectory, tools, model_patch, exit_status, resolved, gen_tests_correct,
pred_passes_gen_tests`. SWE-Gym: `instance_id, run_id, resolved, messages, tools, test_result`. A call's arguments are
JSON in a string.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Raw, Struct

from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.conversing import acted, converse
from passdown.data.sources.origin import Origin, decided, extras_of, json_text, loaded, named_tests, task_of, text_in
from passdown.data.trajectory import assemble
from passdown.trajectories.conversation import Conversation
from passdown.trajectories.document import Row, decoded

_REBENCH_VERSION = "0.54.0"


class Columns(Struct, gc=False):
    """A row of either set, as far as it is used."""

    trajectory: Raw = Raw()
    messages: Raw = Raw()
    trajectory_id: Any = None
    run_id: Any = None
    instance_id: Any = None
    repo: Any = None
    tools: Any = None
    model_patch: Any = None
    exit_status: Any = None
    resolved: Any = None
    gen_tests_correct: Any = None
    pred_passes_gen_tests: Any = None
    test_result: Any = None


_COLUMNS = msgspec.json.Decoder(Columns)


def read_row(row: Row, origin: Origin) -> Trajectory | Reject:
    """Return the trajectory of a row, or why it is none."""
    columns = decoded(row.data or b"", _COLUMNS)
    if columns is None:
        return origin.reject("unreadable", row.line, "not a row of this set")
    rebench = bool(columns.trajectory_id)
    identifier = text_in(columns.trajectory_id) or text_in(columns.run_id)
    model = "" if rebench else identifier.partition("_maxiter_")[0].replace("/", "-")
    events = converse(
        columns.trajectory if bytes(columns.trajectory)[:1] in (b"[", b'"') else columns.messages, row,
        agent="openhands", session_id=identifier, version=_REBENCH_VERSION if rebench else "",
        conversation=Conversation(model=model), exit_status=columns.exit_status,
    )  # fmt: skip
    if not acted(events):
        return origin.reject("empty", row.line)
    task = task_of(columns.instance_id)
    return assemble(
        events, origin.at(row.line), instance_id=task.instance_id, repo=text_in(columns.repo) or task.repo,
        base_commit=task.base_commit, tools=json_text(columns.tools), outcome=_outcome(columns),
        extras=extras_of(
            source_id=identifier, gen_tests_correct=columns.gen_tests_correct,
            pred_passes_gen_tests=columns.pred_passes_gen_tests,
        ),
    )  # fmt: skip


def _outcome(columns: Columns) -> Outcome:
    result = loaded(columns.test_result)
    result = result if isinstance(result, dict) else {}
    return Outcome(
        resolved=decided(columns.resolved), exit=text_in(columns.exit_status),
        patch=text_in(columns.model_patch) or text_in(result.get("git_patch")),
        fail_to_pass=named_tests(result.get("FAIL_TO_PASS")), pass_to_pass=named_tests(result.get("PASS_TO_PASS")),
    )  # fmt: skip
