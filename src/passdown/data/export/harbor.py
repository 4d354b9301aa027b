"""Harbor task folders (schema 1.4), one an `rl` sample: the handoff, the tree that was left, hidden tests, a solution.

What an operator really did stays on the host: a line of `truth.jsonl` beside the folders, named in `task.toml`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from passdown.data.export import judge
from passdown.data.export.patch import patch_of
from passdown.data.export.state import State, state_of
from passdown.data.export.written import PLAIN, How, Written, new_folder
from passdown.data.replay.blobs import BlobStore
from passdown.data.samples.render import Rendered
from passdown.io.files import join_inside
from passdown.io.log import safe_id
from passdown.model.pattern import lazy_pattern

IMAGE = "python:3.11"
WORKDIR = "/app"
UNNAMED = "its id is no file name"
NO_PATCH = "its reference solution is no patch of text files"
NO_COMMAND = "nothing says how its hidden tests are run"
_FOLDER = lazy_pattern(r"/(?:work|workspace|testbed|repo|app|home|src)(?:/[\w.-]{1,100}){0,6}")
_DOTTED = lazy_pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_COMMIT = (
    "export GIT_AUTHOR_DATE=2024-03-04T09:00:00Z GIT_COMMITTER_DATE=2024-03-04T09:00:00Z && "
    "git init -q -b main && git add -A -f && git -c user.name=Dev -c user.email=dev@example.org "
    "commit -q --allow-empty -m 'Start of the repository'"
)
_TEST = """\
#!/bin/sh
# Judges a copy of the tree, with the hidden tests laid over it. The reward is 1 when all of them pass.
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -I "$here/judge.py" "${{PASSDOWN_TREE:-{workdir}}}" "${{PASSDOWN_LOGS:-/logs/verifier}}"
"""
_SOLVE = """\
#!/bin/sh
# Applies the reference solution to the tree as it was left.
here=$(cd "$(dirname "$0")" && pwd)
cd "${{PASSDOWN_TREE:-{workdir}}}" && exec git apply --whitespace=nowarn "$here/solution.patch"
"""


def write_harbor(samples: Iterable[Rendered], path: Path, how: How = PLAIN) -> Written:
    """Write the tasks of one shard and split into the folder `path`, each in a folder of its own."""
    dropped: Counter[str] = Counter()
    truths: list[bytes] = []
    blobs = BlobStore(how.blobs or path)
    with new_folder(path) as folder:
        for rendered in samples:
            made = task_files(rendered, blobs)
            if isinstance(made, str):
                dropped[made] += 1
                continue
            root = folder / rendered.sample.sample_id
            for name, data in made.items():
                target = join_inside(root, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                target.chmod(0o755 if name.endswith(".sh") else 0o644)
            truths.append(msgspec.json.encode(_truth(rendered)) + b"\n")
        if truths:
            (folder / "truth.jsonl").write_bytes(b"".join(truths))
    return Written(len(truths), dict(dropped))


def task_files(rendered: Rendered, blobs: BlobStore) -> dict[str, bytes] | str:
    """Return the files of a sample's task folder, or why there can be none."""
    if not safe_id(rendered.sample.sample_id):
        return UNNAMED
    state = state_of(rendered, blobs)
    if isinstance(state, str):
        return state
    tests = (*state.fail_to_pass, *state.pass_to_pass)
    if not tests or not all(_DOTTED.fullmatch(name) for name in tests):
        return NO_COMMAND
    patch = patch_of(state.tree, state.solution)
    if patch is None:
        return NO_PATCH
    root = rendered.trajectory.root
    workdir = root if _FOLDER.fullmatch(root) and ".." not in root else WORKDIR
    given = "\n\n".join(message.content for message in rendered.prompt if message.role != "system")
    expected = {"fail_to_pass": state.fail_to_pass, "pass_to_pass": state.pass_to_pass}
    texts = {
        "instruction.md": f"{given.rstrip()}\n",
        "task.toml": _toml(rendered),
        "tests/test.sh": _TEST.format(workdir=workdir),
        "tests/judge.py": Path(judge.__file__).read_text("utf-8"),
        "tests/expected.json": f"{json.dumps(expected, indent=2)}\n",
        "solution/solve.sh": _SOLVE.format(workdir=workdir),
        "solution/solution.patch": patch,
    }
    files = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    return files | environment(state, workdir) | _below("tests/hidden", state.hidden)


def environment(state: State, workdir: str) -> dict[str, bytes]:
    """Return the files of a task's `environment/`: the image, and what is copied into it."""
    files = {"environment/Dockerfile": _dockerfile(state, workdir).encode()}
    files |= _below("environment/base", state.base) | _below("environment/staged", state.staged)
    return files | _below("environment/left", _left(state))


def _below(folder: str, files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    return {f"{folder}/{path}": data for path, data in files.items() if data is not None}


def _left(state: State) -> dict[str, bytes | None]:
    """Return what is laid over the commit at last: what differs from it, and what was staged in between."""
    return {path: state.tree.get(path) for path in state.staged} | state.left


def _dockerfile(state: State, workdir: str) -> str:
    """Return the image: one commit of the base, on it the index, and what the predecessor left, not committed."""
    lines = [f"FROM {IMAGE}", f"WORKDIR {workdir}", "COPY base/ ./", f"RUN {_COMMIT}"]
    if state.staged:
        lines += ["COPY staged/ ./", f"RUN {json.dumps(['git', 'add', '-f', '--', *sorted(state.staged)])}"]
    left = _left(state)
    if there := sorted(path for path, data in left.items() if data is not None):
        # COPY keeps times: git would take a file of the same size and second for the one that it knows.
        lines += ["COPY left/ ./", f"RUN {json.dumps(['touch', '--', *there])}"]
    if gone := sorted(path for path, data in left.items() if data is None):
        lines.append(f"RUN {json.dumps(['rm', '-f', '--', *gone])}")
    if state.executable:
        lines.append(f"RUN {json.dumps(['chmod', '+x', '--', *sorted(state.executable)])}")
    return "\n".join(lines) + "\n"


def _toml(rendered: Rendered) -> str:
    sample, run = rendered.sample, rendered.trajectory
    snapshot = rendered.snapshot
    metadata: dict[str, Any] = {
        "trajectory_id": run.trajectory_id, "k": sample.k, "kind": sample.point, "view": sample.view,
        "level": sample.level, "ops": list(sample.ops), "group_key": sample.group_key, "split": run.split,
        "repo": run.repo, "source": run.provenance.source, "licence": run.provenance.licence,
        "snapshot_id": snapshot.snapshot_id if snapshot else "", "truth_ref": f"../truth.jsonl#{sample.sample_id}",
    }  # fmt: skip
    tables: list[tuple[str, dict[str, Any]]] = [
        ("task", {"name": f"passdown/{sample.sample_id}", "description": "Go on with work that somebody else began."}),
        ("metadata", metadata), ("verifier", {"timeout_sec": 2 * judge.SECONDS}), ("agent", {"timeout_sec": 1800}),
        ("environment", {"build_timeout_sec": 600, "cpus": 1, "memory_mb": 2048}),
    ]  # fmt: skip
    lines = ['schema_version = "1.4"']
    for name, values in tables:
        lines += ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Return a value as TOML has it, which agrees with JSON but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _truth(rendered: Rendered) -> dict[str, Any]:
    sample, cut = rendered.sample, rendered.cut
    told: dict[str, Any] = {"sample_id": sample.sample_id, "ops": sample.ops, "truths": ()}
    if cut is not None and sample.variant is not None:
        made = cut.perturbed[sample.variant]
        told["truths"] = made.truths
        if made.packet_id:
            told |= {"packet_id": made.packet_id, "derived_from": made.derived_from}
    return told
