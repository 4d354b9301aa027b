"""Rows for TRL: `input_ids` and `labels` with the messages beside them, prompts for GRPO, role masks for ECHO.

A folder of one shard and split: `sft.parquet` (supervised, uninterrupted and reconstruction samples),
`prompts.parquet` (one row a group, for `GRPOTrainer`), `echo.parquet` (roles and observations).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from passdown.data.arrow import arrow
from passdown.data.export.parquet import row_of, schema
from passdown.data.export.verifier import REWARD, verifier
from passdown.data.export.written import PLAIN, How, Written, tables
from passdown.data.samples.encoders import Encode, encoder, load_tokenizer
from passdown.data.samples.messages import Role
from passdown.data.samples.render import Rendered
from passdown.data.samples.tokens import Tokens, tokenise

_META = (
    "sample_id", "kind", "trajectory_id", "repo", "split", "source", "licence", "k", "point", "view", "level", "ops",
    "continuation", "group_key", "difficulty", "information_gap", "failure_modes", "admitted",
)  # fmt: skip
MASKED = "nothing of it is trained on"
NO_TOKENS = "no tokenizer was named, and its roles are of tokens"
MASKED_TURNS = "no tokenizer was named, and some of the assistant's turns are not to be learned"


def schemas(*, tokens: bool = True) -> dict[str, Any]:
    """Return the columns of every table. Supervised rows have no others without tokens: TRL takes `input_ids`, even
    empty ones, for a sign that nothing is to be tokenised.
    """
    pa = arrow()
    meta = [schema().field(name) for name in _META]
    ints = pa.list_(pa.int32())
    messages = [schema().field(name) for name in ("messages", "tools")]
    ids = [pa.field(name, ints) for name in ("input_ids", "labels")]
    roles = [pa.field(name, pa.list_(pa.int8())) for name in ("token_roles", "env_mask")]
    counts = [pa.field(name, pa.int32()) for name in ("env_tokens", "left_out", "window", "windows")]
    prompt = pa.field("prompt", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])))
    texts = [pa.field(name, pa.string()) for name in ("tools", "verifier", "reward", "snapshot_id")]
    rows = [*ids, *roles, *counts] if tokens else []
    return {
        "sft": pa.schema([*rows, *messages, *meta]),
        "echo": pa.schema([*rows, *messages, *meta]),
        "prompts": pa.schema([prompt, *texts, pa.field("exact", pa.bool_()), *meta]),
    }


def write_trl(samples: Iterable[Rendered], path: Path, how: How = PLAIN) -> Written:
    """Write the tables of one shard and split into the folder `path`.

    Without a tokenizer the supervised rows hold messages alone, those of samples in which every turn of the assistant
    is to be learned, and there are no rows for ECHO.
    """
    encode = encoder(load_tokenizer(how.tokenizer)) if how.tokenizer else None
    dropped: Counter[str] = Counter()
    count = shortened = 0
    with tables(path, schemas(tokens=encode is not None)) as made:
        for rendered in samples:
            table = {"rl": "prompts", "echo": "echo"}.get(rendered.sample.kind, "sft")
            if encode is None and (reason := _needs_tokens(rendered, table)):
                dropped[reason] += 1
                continue
            rows = list(_rows(rendered, table, encode, how))
            if not rows:
                dropped[MASKED] += 1
                continue
            count += 1
            shortened += bool(rows[0].get("left_out"))
            for row in rows:
                made[table].add(row)
    return Written(count, dict(dropped), shortened)


def _needs_tokens(rendered: Rendered, table: str) -> str:
    """Return why a sample cannot be told by its messages alone, empty where it can."""
    if table == "echo":
        return NO_TOKENS
    turns = (message for message in rendered.completion if message.role == "assistant")
    return MASKED_TURNS if any(message.part == Role.OTHER for message in turns) else ""


def _rows(rendered: Rendered, table: str, encode: Encode | None, how: How) -> Iterator[dict[str, Any]]:
    row = row_of(rendered)
    meta = {name: row[name] for name in _META}
    if table == "prompts":
        yield prompt_row(rendered) | meta
        return
    meta |= {"messages": row["messages"], "tools": row["tools"] or None}  # TRL decodes any text
    tools = rendered.trajectory.tools
    if encode is None:
        yield meta
        return
    echo = table == "echo"
    made = tokenise(
        rendered.prompt, rendered.completion, encode, tools=tools, observations=how.observations or echo,
        actions=not echo, most=how.most,
    )  # fmt: skip
    for window, tokens in enumerate(made):
        yield _columns(tokens) | meta | {"window": window, "windows": len(made)}


def _columns(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_ids": tokens.input_ids, "labels": tokens.labels, "token_roles": tokens.token_roles,
        "env_mask": tokens.env_mask, "env_tokens": tokens.env_tokens, "left_out": tokens.left_out,
    }  # fmt: skip


def prompt_row(rendered: Rendered) -> dict[str, Any]:
    """Return what a rollout begins with, and how it is judged: one row a group, whose repeats are the trainer's."""
    snapshot = rendered.snapshot
    return {
        "prompt": [{"role": message.role, "content": message.content} for message in rendered.prompt],
        "tools": rendered.trajectory.tools or None,
        "verifier": msgspec.json.encode(verifier(rendered.trajectory)).decode(),
        "reward": msgspec.json.encode(REWARD).decode(),
        "snapshot_id": snapshot.snapshot_id if snapshot else "", "exact": rendered.exact,
    }  # fmt: skip
