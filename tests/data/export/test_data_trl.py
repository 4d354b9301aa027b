"""Rows for TRL: decoded labels hold the successor's own turns and nothing else, unless observations were asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from passdown.data.engine.outputs import export
from passdown.data.engine.shards import read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.engine.whole import run_pipeline
from passdown.data.export.trl import MASKED_TURNS, NO_TOKENS, write_trl
from passdown.data.export.written import How
from passdown.data.records import Trajectory
from passdown.data.samples.encoders import ByteTokenizer, load_tokenizer
from passdown.data.samples.messages import Role
from passdown.data.samples.render import Rendered, render
from passdown.data.samples.template import END, text_of
from passdown.errors import UsageError
from passdown.model.session import ToolResult, UserMessage

BYTES = ByteTokenizer()


def _rows(folder: Path, table: str = "sft") -> list[dict[str, Any]]:
    return [row for path in sorted(folder.rglob(f"{table}.parquet")) for row in pq.read_table(path).to_pylist()]


def _said(row: dict[str, Any]) -> str:
    return BYTES.decode([label for label in row["labels"] if label != -100])


@pytest.fixture(scope="module")
def rendered(worked: Path) -> dict[str, Rendered]:
    rows = [row for path in shards_in(worked / "samples") for batch in read_batches(path) for row in batch]
    made = [one for row in rows for one in render(cuts_in(row))]
    return {one.sample.sample_id: one for one in made if isinstance(one, Rendered)}


@pytest.fixture(scope="module")
def whole(worked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples as tokens, whole."""
    out = tmp_path_factory.mktemp("whole")
    export(worked, "trl", out, how=How(tokenizer="bytes"))
    return out


def _heard(run: Trajectory, start: int, stop: int) -> set[str]:
    """Lines of some length that the environment or a person said, and that no turn of the agent holds."""
    texts = [event.text for step in run.steps[start:stop] for event in step.events
             if isinstance(event, ToolResult | UserMessage)]  # fmt: skip
    own = "".join(
        str(event) for step in run.steps for event in step.events if not isinstance(event, ToolResult | UserMessage)
    )
    return {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > 25} - set(
        own.splitlines()
    )


def test_labels_are_the_successors_turns_and_nothing_else(worked: Path, whole: Path, rendered: Any) -> None:
    rows = _rows(whole)
    assert {row["kind"] for row in rows} == {"sft", "plain", "reconstruction"}
    found = [cuts_in(row) for path in shards_in(worked / "samples") for batch in read_batches(path) for row in batch]
    runs = {run.trajectory_id: run for cuts in found for run in (cuts.trajectory, *cuts.successors)}
    for row in rows:
        one: Rendered = rendered[row["sample_id"]]
        learned = [message for message in one.completion if message.part in (1, 4)]
        assert _said(row) == "".join(text_of(message).body + END for message in learned)
        assert len(row["input_ids"]) == len(row["labels"]) == len(row["token_roles"])
        before = _heard(one.trajectory, 0, one.sample.k)
        assert not any(line in _said(row) for line in before if line not in str(one.completion))
        if row["kind"] != "reconstruction":
            tail = one.sample.continuation
            run = runs[tail.trajectory_id] if tail else one.trajectory
            heard = _heard(run, tail.start if tail else one.sample.k, len(run.steps))
            assert heard
            assert not any(f"\n{line}\n" in _said(row) for line in heard)
    count = len({row["sample_id"] for row in rows}) + len(_rows(whole, "echo")) + len(_rows(whole, "prompts"))
    assert count == len(rendered)


def test_observations_are_labels_when_asked_for(worked: Path, tmp_path: Path, whole: Path) -> None:
    export(worked, "trl", tmp_path, kinds=("sft",), how=How(tokenizer="bytes", observations=True))
    plain = {row["sample_id"]: row for row in _rows(whole)}
    more = 0
    for row in _rows(tmp_path):
        base = plain[row["sample_id"]]
        assert row["input_ids"] == base["input_ids"]
        extra = [
            role for role, new, old in zip(row["token_roles"], row["labels"], base["labels"], strict=True) if new != old
        ]
        assert set(extra) <= {2}
        assert all(new == old for new, old in zip(row["labels"], base["labels"], strict=True) if old != -100)
        more += len(extra)
    assert more > 1000


def test_windows_lose_no_target(worked: Path, tmp_path: Path, whole: Path) -> None:
    made = export(worked, "trl", tmp_path, kinds=("sft", "echo"), how=How(tokenizer="bytes", most=3000))
    parts: dict[str, str] = {}
    for row in sorted(_rows(tmp_path, "echo"), key=lambda row: int(row["window"])):
        assert len(row["input_ids"]) <= 3000
        assert {role for role, label in zip(row["token_roles"], row["labels"], strict=True) if label != -100} == {2}
    for row in sorted(_rows(tmp_path), key=lambda row: int(row["window"])):
        assert len(row["input_ids"]) <= 3000
        parts[row["sample_id"]] = parts.get(row["sample_id"], "") + _said(row)
    assert parts == {row["sample_id"]: _said(row) for row in _rows(whole) if row["kind"] == "sft"}
    assert set(made.dropped) == {"its kind was not asked for"}
    cut = {row["sample_id"] for table in ("sft", "echo") for row in _rows(tmp_path, table) if row["left_out"]}
    assert 0 < made.shortened == len(cut)


def test_without_a_tokenizer_there_are_messages_and_no_echo(worked: Path, tmp_path: Path, rendered: Any) -> None:
    made = export(worked, "trl", tmp_path)
    assert not list(tmp_path.rglob("echo.parquet"))
    assert list(made.dropped) == [NO_TOKENS]
    rows = _rows(tmp_path)
    assert rows
    for row in rows:
        assert row["messages"]
        assert row["tools"] is None or json.loads(row["tools"])
        assert not {"input_ids", "labels", "window"} & row.keys()  # TRL would take them for tokens
        turns = [message for message in rendered[row["sample_id"]].completion if message.role == "assistant"]
        assert all(message.part in (1, 4) for message in turns)
    for row in _rows(tmp_path, "prompts"):
        assert json.loads(row["verifier"])["fail_to_pass"]


def test_a_turn_that_is_not_to_be_learned_needs_a_mask(rendered: Any, tmp_path: Path) -> None:
    one = next(one for one in rendered.values() if one.sample.kind == "sft")
    first = next(message for message in one.completion if message.role == "assistant")
    context = [replace(message, part=Role.OTHER) if message is first else message for message in one.completion]
    made = write_trl([one._replace(completion=context), one], tmp_path / "out")
    assert (made.rows, made.dropped) == (1, {MASKED_TURNS: 1})
    assert write_trl([one._replace(completion=context)], tmp_path / "out", How(tokenizer="bytes")).rows == 1


def test_the_pipeline_file_says_how_to_export(tmp_path: Path, worked: Path) -> None:
    (tmp_path / "worlds.txt").write_text("durations-a careful\n")
    file = tmp_path / "p.toml"
    settings = 'targets = ["trl"]\nkinds = ["plain"]\ntokenizer = "bytes"\nmax_tokens = 2048\nobservations = true\n'
    source = '[[source]]\npath = "worlds.txt"\nformat = "worlds"\n[perturb]\nper_cut = 0\n[export]\n'
    file.write_text(source + settings)
    run_pipeline(file)
    rows = _rows(tmp_path / "handoff-data/export/trl")
    assert {row["kind"] for row in rows} == {"plain"}
    assert max(len(row["input_ids"]) for row in rows) <= 2048 < sum(len(row["input_ids"]) for row in rows)
    told = json.loads((tmp_path / "handoff-data/export/trl/export.json").read_text())["settings"]
    assert (told["tokenizer"], told["max_tokens"], told["observations"]) == ("bytes", 2048, True)
    for wrong, word in (('tokenizer = "nowhere.json"\n', "tokenizer"), ('targets = ["tape"]\n', "tape")):
        file.write_text(source + wrong)
        with pytest.raises(UsageError, match=word):
            run_pipeline(file)


def test_a_model_in_the_hubs_cache_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match="no tokenizer"):
        load_tokenizer("owner/model")
    place = tmp_path / "models--owner--model/snapshots/0a1b2c"
    place.mkdir(parents=True)
    (place / "tokenizer.json").write_text("{}")
    from passdown.data.samples.encoders import tokenizer_file

    assert tokenizer_file("owner/model") == place / "tokenizer.json"
    assert tokenizer_file(str(place)) == place / "tokenizer.json"
    assert tokenizer_file("../owner") is None
