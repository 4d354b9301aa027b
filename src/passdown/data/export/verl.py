"""Rows for verl (0.9): prompts for its RL trainers, and conversations for its multi-turn supervised trainer.

A folder of one shard and split: `rl.parquet` (one row a group; the trainer repeats it) and `sft.parquet`. verl calls a
reward function by `data_source`, with `reward_model.ground_truth` and `extra_info`: name your own as
`custom_reward_function`. The ground truth is a JSON text: the tests that judge, and the command that runs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from passdown.data.arrow import arrow
from passdown.data.export.parquet import row_of, schema
from passdown.data.export.verifier import REWARD, verifier
from passdown.data.export.written import PLAIN, How, Written, tables
from passdown.data.samples.messages import Role
from passdown.data.samples.render import Rendered

ABILITY = "code"
MASKED_TURNS = "verl trains on every turn of the assistant, and some of this sample's are not to be learned"
_TEXTS = (
    "split", "sample_id", "group_key", "trajectory_id", "repo", "instance_id", "snapshot_id", "point", "view", "level",
    "licence", "tools", "reward",
)  # fmt: skip


def schemas() -> dict[str, Any]:
    """Return the columns of both tables."""
    pa = arrow()
    text = pa.string()
    source = [pa.field("data_source", text), pa.field("ability", text)]
    info = pa.struct([
        ("index", pa.int64()), *((name, text) for name in _TEXTS), ("k", pa.int32()), ("exact", pa.bool_()),
        ("ops", pa.list_(text)), ("difficulty", pa.float32()),
    ])  # fmt: skip
    return {
        "rl": pa.schema([
            *source, ("prompt", pa.list_(pa.struct([("role", text), ("content", text)]))),
            ("reward_model", pa.struct([("style", text), ("ground_truth", text)])), ("extra_info", info),
        ]),
        "sft": pa.schema([*source, schema().field("messages"), ("extra_info", info)]),
    }  # fmt: skip


def write_verl(samples: Iterable[Rendered], path: Path, _how: How = PLAIN) -> Written:
    """Write both tables of one shard and split into the folder `path`.

    A supervised sample with a turn that is context alone is dropped: verl has no mask for it.
    """
    dropped: Counter[str] = Counter()
    count = 0
    with tables(path, schemas()) as made:
        for rendered in samples:
            if rendered.sample.kind == "rl":
                made["rl"].add(rl_row(rendered))
            elif all(message.part != Role.OTHER for message in rendered.completion if message.role == "assistant"):
                made["sft"].add(_source(rendered) | {"messages": row_of(rendered)["messages"]})
            else:
                dropped[MASKED_TURNS] += 1
                continue
            count += 1
    return Written(count, dict(dropped))


def rl_row(rendered: Rendered) -> dict[str, Any]:
    """Return a state to begin from, and how what is made of it is judged."""
    truth = msgspec.json.encode(verifier(rendered.trajectory)).decode()
    return _source(rendered) | {
        "prompt": [{"role": message.role, "content": message.content} for message in rendered.prompt],
        "reward_model": {"style": "rule", "ground_truth": truth},
    }


def _source(rendered: Rendered) -> dict[str, Any]:
    sample, run, snapshot = rendered.sample, rendered.trajectory, rendered.snapshot
    return {
        "data_source": f"passdown/{run.provenance.source}",
        "ability": ABILITY,
        "extra_info": {
            "index": int(sample.sample_id.rpartition("-")[2][:12], 16), "split": run.split,
            "sample_id": sample.sample_id, "group_key": sample.group_key, "trajectory_id": sample.trajectory_id,
            "repo": run.repo, "instance_id": run.instance_id,
            "snapshot_id": snapshot.snapshot_id if snapshot else "", "exact": rendered.exact, "k": sample.k,
            "point": sample.point, "view": sample.view, "level": sample.level, "ops": list(sample.ops),
            "difficulty": sample.difficulty,
            "licence": run.provenance.licence, "tools": run.tools,
            "reward": msgspec.json.encode(REWARD).decode(),
        },
    }  # fmt: skip
