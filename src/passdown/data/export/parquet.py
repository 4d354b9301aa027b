"""Samples as Parquet with real columns: what `datasets.load_dataset("parquet", …)` and any engine reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passdown.data.arrow import arrow
from passdown.data.export.written import PLAIN, How, Written, tables, write_lines
from passdown.data.records import SCHEMA
from passdown.data.samples.render import Rendered

if TYPE_CHECKING:
    import pyarrow as pa


def schema() -> pa.Schema:
    """Return the columns. `prompt` counts the messages that are given; `parts` has a role of training for each message.

    The roles are those of `passdown.data.samples.messages.Role`. `tools` is a JSON text, as trainers take it.
    """
    pa = arrow()
    text, texts = pa.string(), pa.list_(pa.string())
    call = pa.struct([
        ("id", text), ("type", text), ("function", pa.struct([("name", text), ("arguments", text)])),
    ])  # fmt: skip
    message = pa.struct([
        ("role", text), ("content", text), ("reasoning_content", text), ("tool_calls", pa.list_(call)),
        ("tool_call_id", text),
    ])  # fmt: skip
    return pa.schema([
        ("sample_id", text), ("kind", text), ("messages", pa.list_(message)), ("parts", pa.list_(pa.int8())),
        ("prompt", pa.int32()), ("tools", text), ("trajectory_id", text), ("repo", text), ("split", text),
        ("source", text), ("licence", text), ("k", pa.int32()), ("point", text), ("view", text), ("level", text),
        ("ops", texts), ("continuation", text), ("group_key", text), ("verifier", texts),
        ("difficulty", pa.float32()), ("information_gap", pa.float32()), ("failure_modes", texts),
        ("view_tokens", pa.int32()), ("admitted", pa.bool_()),
    ], metadata={"passdown": SCHEMA})  # fmt: skip


def row_of(rendered: Rendered) -> dict[str, Any]:
    """Return one sample as a row."""
    sample, run = rendered.sample, rendered.trajectory
    messages = [*rendered.prompt, *rendered.completion]
    return {
        "sample_id": sample.sample_id, "kind": sample.kind, "messages": [message.plain() for message in messages],
        "parts": [int(message.part) for message in messages], "prompt": len(rendered.prompt), "tools": run.tools,
        "trajectory_id": sample.trajectory_id, "repo": run.repo, "split": run.split,
        "source": run.provenance.source, "licence": run.provenance.licence, "k": sample.k, "point": sample.point,
        "view": sample.view, "level": sample.level, "ops": list(sample.ops),
        "continuation": sample.continuation.kind if sample.continuation else "", "group_key": sample.group_key,
        "verifier": list(run.outcome.fail_to_pass) if sample.kind == "rl" else [],
        "difficulty": sample.difficulty, "information_gap": sample.information_gap,
        "failure_modes": list(sample.failure_modes), "view_tokens": sample.tokens,
        "admitted": sample.admitted,
    }  # fmt: skip


def write_parquet(samples: Iterable[Rendered], path: Path, _how: How = PLAIN) -> Written:
    """Write one file, a row group at a time; it appears when it is whole, and only if it has rows."""
    with tables(path.parent, {path.stem: schema()}) as made:
        for rendered in samples:
            made[path.stem].add(row_of(rendered))
    return Written(made[path.stem].count, {})


def write_jsonl(samples: Iterable[Rendered], path: Path, _how: How = PLAIN) -> Written:
    """Write one JSON Lines file of the same rows."""
    return Written(write_lines(path, (row_of(rendered) for rendered in samples)), {})
