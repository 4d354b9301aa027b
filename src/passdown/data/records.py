"""The records of HANDOFF-DATA (`hd.v1`): what every stage takes and gives. Frozen, plain, written as JSON by msgspec.

A trajectory keeps the canonical events of `passdown.model.session` grouped into steps, so that a packet built from a
prefix is made from the same records as the packet of a live session.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Literal

from msgspec import Struct, field

from passdown.model.session import AnyEvent

SCHEMA = "hd.v1"

ActionKind = Literal[
    "READ", "SEARCH", "EDIT", "CREATE", "DELETE", "TEST", "BUILD", "RUN", "INSTALL", "VCS", "PLAN", "NOTE", "SUBMIT",
    "OTHER",
]  # fmt: skip
PointKind = Literal["milestone", "mid", "error", "review", "delegation", "turn"]
ViewName = Literal["repo", "trace", "summary", "structured", "oracle_structured"]
FactType = Literal[
    "file_changed", "test_result", "decision", "request", "review", "risk", "todo", "cmd", "env", "goal", "next_action"
]
FactStatus = Literal["observed", "stated", "inferred"]
SubtaskStatus = Literal["done", "in_progress", "todo", "unknown"]


class Provenance(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a trajectory comes from and what may be done with it.

    `licence` is an SPDX name, empty when nobody said one. `file` is a name, never a path of this machine; `row` its
    place in the file.
    """

    source: str
    source_version: str = ""
    licence: str = ""
    file: str = ""
    row: int = 0


class Action(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One atomic thing that an agent did, in canonical form. A compound shell line gives several.

    `target` is the canonical object (a workspace-relative path, `path[0:50]` for a range of lines, a test selector, a
    package, a git subcommand), `digest` a hash of the normalised argument, `detail` the normalised text (capped).
    `reads` and `writes` are workspace-relative paths; `ok` is None when nobody reported how it ended. `part` tells
    which of the simple commands of the call's text it is.
    """

    call_id: str
    tool: str
    kind: ActionKind
    target: str = ""
    digest: str = ""
    detail: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    ok: bool | None = None
    part: int = 0


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn: what a person (or the harness) said, or one response of the agent with all its observations.

    `role` is whose turn it was. A step is complete: the results of its calls are in it.
    """

    idx: int
    role: Literal["user", "agent"]
    events: tuple[AnyEvent, ...]
    actions: tuple[Action, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the whole trajectory ended, as its source says. None and empty mean that it does not say.

    `patch` is the final diff; `fail_to_pass` and `pass_to_pass` are the ids of the tests that judge it.
    """

    resolved: bool | None = None
    exit: str = ""
    patch: str = ""
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()


class Trajectory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole recorded run. `predecessor` tells an agent's run from the commit series of a person.

    `root` is the workspace's absolute folder as the run itself names it. `tools` and `extras` are JSON texts.
    `content_hash` covers the steps, not where they came from. `masked` counts the secrets that were taken out when the
    trajectory was read, by kind.
    """

    trajectory_id: str
    provenance: Provenance
    steps: tuple[Step, ...]
    instance_id: str = ""
    repo: str = ""
    base_commit: str = ""
    task_text: str = ""
    scaffold: str = ""
    model: str = ""
    root: str = ""
    predecessor: Literal["agent", "human"] = "agent"
    tools: str = ""
    outcome: Outcome = Outcome()
    split: Literal["", "train", "validation", "test"] = ""
    content_hash: str = ""
    extras: str = ""
    masked: dict[str, int] = field(default_factory=dict)


class Prefix(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first `k` steps of a trajectory and nothing of what came after: all that a view builder ever receives."""

    trajectory_id: str
    k: int
    steps: tuple[Step, ...]
    provenance: Provenance
    repo: str = ""
    base_commit: str = ""
    task_text: str = ""
    scaffold: str = ""
    model: str = ""
    root: str = ""
    predecessor: Literal["agent", "human"] = "agent"
    tools: str = ""


class FileState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of a snapshot: git's mode and the sha256 of its bytes in the blob store; `blob` is empty when deleted."""

    path: str
    mode: str = "100644"
    blob: str = ""


class Volatile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """State that no file of the tree holds (`git` is what stands in git's own folder), and how it is known."""

    kind: Literal["cwd", "env", "package", "process", "tmp_file", "git"]
    key: str
    value: str = ""
    provenance: Literal["observed", "inferred", "unknown"] = "observed"
    step: int = 0


class Snapshot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The files at one cut: a base commit and what differs from it. `snapshot_id` hashes path, mode and blob.

    `exact` when later observations agree with every content; `dirty` names files whose content is not known. `real`
    when the recorded actions were run again and led here.
    """

    snapshot_id: str
    base_commit: str = ""
    delta: tuple[FileState, ...] = ()
    volatile: tuple[Volatile, ...] = ()
    dirty: tuple[str, ...] = ()
    exact: bool = False
    real: bool = False


class Subtask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One node of a subtask graph: `edit:path`, `test:id`, `install:package`, `todo:n`, `repro`, `verify`, `submit`."""

    id: str
    kind: Literal["edit", "test", "install", "todo", "repro", "verify", "submit"]
    subject: str = ""
    hunk: int | None = None


class Edge(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`before` has to be done before `after`; `weak` edges only tell an order somebody stated."""

    before: str
    after: str
    weak: bool = False


class Graph(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The subtasks of a trajectory. `statuses[k]` are the labels after k complete steps, in the order of `nodes`."""

    nodes: tuple[Subtask, ...] = ()
    edges: tuple[Edge, ...] = ()
    statuses: tuple[tuple[SubtaskStatus, ...], ...] = ()
    provenance: Literal["rule", "llm"] = "rule"


class Mark(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One detector's finding at a cut: its name, its kind, the steps that show it.

    `oracle_select` says that the future was looked at to find it; never what a view holds.
    """

    detector: str
    kind: PointKind
    steps: tuple[int, ...] = ()
    detail: str = ""
    oracle_select: bool = False


class Point(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place to cut: after `k` complete steps. `kind` is the primary one (error before milestone before mid)."""

    trajectory_id: str
    k: int
    kind: PointKind
    marks: tuple[Mark, ...] = ()
    oracle_select: bool = False


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a view states, with the step (an index before the cut) that shows it."""

    type: FactType
    key: str
    value: str = ""
    step: int = 0
    status: FactStatus = "observed"


class View(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a successor is given at a cut. `tokens` is an estimate; `elided` counts what was left out, by reason."""

    name: ViewName
    trajectory_id: str
    k: int
    text: str
    facts: tuple[Fact, ...] = ()
    tokens: int = 0
    writer: str = ""
    elided: dict[str, int] = field(default_factory=dict)


class Truth(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a perturbation really did: the answer key. `verifier` says how a solution is judged.

    `acceptable` lists every completion that counts (`clarify` where asking is one).
    """

    op: str
    family: Literal["decay", "inconsistency", "ambiguity"]
    strength: float = 0.0
    params: dict[str, str] = field(default_factory=dict)
    touched: tuple[str, ...] = ()
    facts_now_false: tuple[Fact, ...] = ()
    facts_removed: tuple[Fact, ...] = ()
    must_detect: bool = False
    acceptable: tuple[str, ...] = ()
    still_solvable: bool | None = None
    verifier: str = ""


class Perturbed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A view and a snapshot with operators applied in order, and the answer key of each. `level` names a preset.

    Where a packet in the view was changed, `packet_id` is the id it has now, and `derived_from` that of the packet that
    was really written.
    """

    ops: tuple[str, ...]
    view: View
    snapshot: Snapshot | None = None
    truths: tuple[Truth, ...] = ()
    level: str = ""
    seed: int = 0
    packet_id: str = ""
    derived_from: str = ""


class Cut(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One chosen point with everything made for it. A `trace` view keeps no text: export makes it again."""

    point: Point
    snapshot: Snapshot | None = None
    views: tuple[View, ...] = ()
    perturbed: tuple[Perturbed, ...] = ()


class Continuation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the successor does in a sample: steps `start` to `stop` (exclusive) of the trajectory `trajectory_id`.

    `inspection` are steps of real reads put before them, `masked` steps that stay in the context without loss.
    """

    kind: Literal["self_tail", "self_tail_inspected", "rollout", "shortest_verified", "human_tail"]
    trajectory_id: str
    start: int
    stop: int
    inspection: tuple[int, ...] = ()
    masked: tuple[int, ...] = ()


SampleKind = Literal["sft", "rl", "reconstruction", "echo", "plain"]


class Sample(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sample by reference: which cut, view and operators, which continuation. Texts are made at export.

    `variant` is the index of the perturbed view in its cut, None for the plain view. `difficulty` is in 0..1;
    `information_gap` in nats a token, None until it is scored; `failure_modes` name what the sample trains against.
    `admitted`: hidden tests were run, fail on the perturbed state and pass with the known fix; None where nothing was
    perturbed or nobody has them. `group_key` is shared by all rollouts of one state, view, perturbation and task.
    """

    sample_id: str
    kind: SampleKind
    trajectory_id: str
    k: int
    point: PointKind
    view: ViewName
    variant: int | None = None
    ops: tuple[str, ...] = ()
    level: str = ""
    continuation: Continuation | None = None
    group_key: str = ""
    difficulty: float | None = None
    information_gap: float | None = None
    failure_modes: tuple[str, ...] = ()
    tokens: int = 0
    admitted: bool | None = None


class Cuts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One trajectory and what the stages have made of it so far: subtasks, cuts with views, samples.

    `replayed` says how far its actions could be run again: `whole`, or why they stopped; empty when nobody tried.
    `successors` are whole runs that went on from its cuts.
    """

    trajectory: Trajectory
    graph: Graph = Graph()
    cuts: tuple[Cut, ...] = ()
    samples: tuple[Sample, ...] = ()
    replayed: str = ""
    successors: tuple[Trajectory, ...] = ()


class Reject(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row that went no further: which stage dropped it and why. Counted in the card, never silent."""

    stage: str
    reason: str
    trajectory_id: str = ""
    detail: str = ""
    provenance: Provenance | None = None
