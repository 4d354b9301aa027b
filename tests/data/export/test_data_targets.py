"""What leaves a working folder: every sample is written or counted with a reason, in rows that the trainers take."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from atif import Trajectory as Atif

from passdown.data.engine.card import make_card
from passdown.data.engine.outputs import TARGETS, export, read_records
from passdown.data.export.state import DONE, IN_GIT
from passdown.errors import UsageError
from passdown.sessions.read import read_session


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [row for path in sorted(folder.rglob(name)) for row in pq.read_table(path).to_pylist()]


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_sample_is_written_or_counted(worked: Path, tmp_path: Path, target: str) -> None:
    made = export(worked, target, tmp_path / "out")
    card = make_card(worked)
    assert sum(made.samples.values()) + sum(made.dropped.values()) == card.samples
    assert made.samples, made.dropped
    assert all((tmp_path / "out" / name).exists() for name in made.files)
    assert card.exports[target] == {"samples": sum(made.samples.values()), "dropped": made.dropped, "shortened": 0}
    assert read_records(worked)[target] == made


def test_an_unknown_target_names_the_known_ones(worked: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as said:
        export(worked, "floppy", tmp_path)
    assert all(name in said.value.next_step for name in TARGETS)


def test_the_hub_folder_names_its_files_by_kind_and_split(worked: Path, tmp_path: Path) -> None:
    export(worked, "hf", tmp_path)
    front = (tmp_path / "README.md").read_text().split("---\n")[1]
    kinds = make_card(worked).counts["kind"]
    told = [line.split(": ")[1] for line in front.splitlines() if line.startswith("- config_name")]
    assert sorted(told) == sorted(kinds)
    assert "license:\n- apache-2.0\n" in front
    for line in front.splitlines():
        if line.strip().startswith("path: "):
            assert list(tmp_path.glob(line.strip().removeprefix("path: "))), line
    told = re.findall("description: sha256 ([0-9a-f]{32})\n", front)
    assert len(set(told)) == len(kinds), (
        "the loader takes a folder of the same name for another when these lines change"
    )
    found = Counter(row["kind"] for row in _rows(tmp_path, "*.parquet"))
    assert found == kinds
    assert all(
        row["kind"] == path.stem for path in tmp_path.rglob("*.parquet") for row in pq.read_table(path).to_pylist()
    )


def test_verl_rows_have_what_its_documentation_names(worked: Path, tmp_path: Path) -> None:
    made = export(worked, "verl", tmp_path)
    rows = _rows(tmp_path, "rl.parquet")
    assert {tuple(sorted(row)) for row in rows} == {("ability", "data_source", "extra_info", "prompt", "reward_model")}
    for row in rows:
        assert row["data_source"] == "passdown/worlds"
        assert [message["role"] for message in row["prompt"]] == ["system", "user"]
        assert row["reward_model"]["style"] == "rule"
        judged = json.loads(row["reward_model"]["ground_truth"])
        assert judged["fail_to_pass"] and judged["command"].startswith("python -m unittest")
        assert not any(test in row["prompt"][1]["content"] for test in judged["fail_to_pass"])
    told = export(worked, "harbor", tmp_path / "tasks")
    exact = sum(row["extra_info"]["exact"] for row in rows)
    assert exact == sum(told.samples.values()) + sum(told.dropped.get(reason, 0) for reason in (DONE, IN_GIT))
    assert len({row["extra_info"]["index"] for row in rows}) == len(rows)
    talks = _rows(tmp_path, "sft.parquet")
    assert all(row["messages"][-1]["role"] in ("assistant", "tool") for row in talks)
    assert len(rows) + len(talks) == sum(made.samples.values())


def test_only_what_was_asked_for_is_written_and_the_rest_is_counted(worked: Path, tmp_path: Path) -> None:
    whole = export(worked, "jsonl", tmp_path / "whole")
    part = export(worked, "jsonl", tmp_path / "part", kinds=("rl",))
    assert sum(part.dropped.values()) + sum(part.samples.values()) == sum(whole.samples.values())
    assert set(part.dropped) == {"its kind was not asked for"}
    lines = [line for path in (tmp_path / "part").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert {json.loads(line)["kind"] for line in lines} == {"rl"}


def test_atif_documents_pass_its_models_and_mark_what_is_copied(worked: Path, tmp_path: Path) -> None:
    made = export(worked, "atif", tmp_path)
    files = sorted(tmp_path.glob("*/*.json"))
    assert len(files) == sum(made.samples.values())
    kinds = Counter()
    for path in files:
        document = json.loads(path.read_text())
        Atif.model_validate(document)
        assert document["session_id"] == document["trajectory_id"] == path.stem
        sample = document["extra"]["sample"]
        kinds[sample["kind"]] += 1
        copied = [bool(step.get("is_copied_context")) for step in document["steps"]]
        assert copied == sorted(copied, reverse=True), "what is copied stands before the rest"
        assert sum(copied) == sample["k"]
        own = document["steps"][sample["k"] :]
        assert [step["source"] for step in own[:2]] == ["system", "user"]
        assert all(step["extra"]["training"] for step in own if step["source"] == "agent")
        targets = [step for step in document["steps"] if step.get("extra", {}).get("training") == "target"]
        assert bool(targets) == (sample["kind"] not in ("rl", "echo")), "what ECHO foretells is no turn"
        assert not any(step.get("is_copied_context") for step in targets)
    assert kinds == make_card(worked).counts["kind"]
    again = [event for event in read_session(files[-1]) if event.copied]
    assert again, "our own reader knows copied context too"
