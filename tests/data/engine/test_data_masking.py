"""No secret of a trajectory is written down: not in a shard of any step, not among the rejects, not in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from passdown.data.engine.card import as_markdown, make_card
from passdown.data.engine.ingest import find_inputs, ingest_stage, list_files, trajectory_row
from passdown.data.engine.pipeline import Pipeline, PointsTable, SourceTable, SplitTable
from passdown.data.engine.run import run_stage
from passdown.data.engine.shards import read_batches, set_hash
from passdown.data.engine.stages import cuts_in
from passdown.data.engine.steps import STEPS, list_sources, run_steps
from passdown.data.records import Trajectory
from passdown.data.sources.masking import mask_secrets
from passdown.data.sources.table import read_source

TOKEN = "ghp_" + "a9Kd72LsQw0ZxY4mNbV8" + "cR1tPf6HgJ3uE5iO"
PASSWORD = "hunter" + "2Vq9!x"


def _turns(token: str, password: str) -> list[dict[str, Any]]:
    """A run that writes a secret into a file, looks at it, and edits the lines around it."""
    made: list[dict[str, Any]] = [{"role": "user", "content": f"Mend src/push.py. The token is {token}, thanks."}]
    text = f'import os\n\nTOKEN = "{token}"\nRETRIES = 1\n'

    def runs(name: str, arguments: dict[str, Any], output: str) -> None:
        call = {"id": f"c{len(made)}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)}}  # fmt: skip
        made.append({"role": "assistant", "content": "Next.", "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": call["id"], "content": output})

    runs("execute_bash", {"command": f"cat > src/push.py <<'EOF'\n{text}EOF"}, "")
    runs("execute_bash", {"command": "cat src/push.py"}, text)
    runs("str_replace_editor", {
        "command": "str_replace", "path": "src/push.py", "old_str": f'TOKEN = "{token}"\nRETRIES = 1',
        "new_str": f'TOKEN = "{token}"\nRETRIES = 3',
    }, "The file src/push.py has been edited.")  # fmt: skip
    runs("execute_bash", {"command": "cat src/push.py"}, text.replace("RETRIES = 1", "RETRIES = 3"))
    runs("execute_bash", {"command": f"curl -u admin:{password} https://example.org/x"}, "ok")
    runs("execute_bash", {"command": "python -m pytest -q"}, "1 failed in 0.10s")
    runs("execute_bash", {"command": "sed -i s/3/5/ src/push.py && python -m pytest -q"}, "1 passed in 0.10s")
    return [*made, {"role": "assistant", "content": "Done."}]


def _row(token: str, password: str) -> dict[str, Any]:
    patch = f'--- /dev/null\n+++ b/src/push.py\n@@ -0,0 +1,2 @@\n+TOKEN = "{token}"\n+RETRIES = 5\n'
    return {"trajectory_id": "t1", "instance_id": "own__repo-1", "repo": "own/repo", "exit_status": "submit",
            "trajectory": _turns(token, password), "model_patch": patch, "resolved": 1}  # fmt: skip


def _worked(folder: Path, token: str, password: str) -> Path:
    folder.mkdir()
    (folder / "rows.jsonl").write_text(json.dumps(_row(token, password)) + "\n" + json.dumps({"broken": token}) + "\n")
    pipeline = Pipeline(
        source=[SourceTable(path="rows.jsonl", format="nebius_openhands")], split=SplitTable(validation=0, test=0),
        points=PointsTable(per_trajectory=8),
    )  # fmt: skip
    list_sources(pipeline, folder, folder / "work")
    run_steps([step.name for step in STEPS], pipeline, folder / "work")
    return folder / "work"


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every step done for a run with secrets in its request, its edits, its output and its patch."""
    return _worked(tmp_path_factory.mktemp("masked") / "in", TOKEN, PASSWORD)


def _everything(folder: Path) -> bytes:
    """Return all that lies in a working folder, with the shards unpacked."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            found += [msgspec.json.encode(row) + row.record for batch in read_batches(path) for row in batch]
        elif path.is_file():
            found.append(path.read_bytes())
    return b"\n".join(found)


def test_no_secret_lies_anywhere_in_the_working_folder(worked: Path) -> None:
    held = _everything(worked)
    assert held.count(b"RETRIES = 3") > 5  # what stands beside it is there, in the store too
    assert TOKEN.encode() not in held
    assert PASSWORD.encode() not in held
    card = make_card(worked)
    assert card.masked.keys() == {"github_token", "curl_user"}
    assert "Secrets masked when they were read: curl_user: 1; github_token: " in as_markdown(card)


def test_edits_fit_as_they_did_and_states_are_as_exact(worked: Path, tmp_path: Path) -> None:
    plain = _worked(tmp_path / "plain", "none", "none")

    def states(folder: Path) -> list[tuple[int, bool, int]]:
        rows = [row for path in (folder / "points").glob("*.parquet") for batch in read_batches(path) for row in batch]
        return [
            (cut.point.k, cut.snapshot.exact, len(cut.snapshot.delta))
            for row in rows for cut in cuts_in(row).cuts if cut.snapshot is not None
        ]  # fmt: skip

    assert states(worked) == states(plain)
    assert sum(exact for _, exact, _ in states(worked)) > 3


def test_the_same_file_gives_the_same_rows_and_a_run_without_secrets_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(_row(TOKEN, PASSWORD)) + "\n")
    hashes = set()
    for name in ("one", "two"):
        list_files(find_inputs([tmp_path / "in.jsonl"]), tmp_path / name / "files")
        run_stage(ingest_stage(), tmp_path / name / "files", tmp_path / name / "read")
        hashes.add(set_hash([tmp_path / name / "read"]))
    assert len(hashes) == 1
    (tmp_path / "in.jsonl").write_text(json.dumps(_row("none", "none")) + "\n")
    [plain] = read_source(tmp_path / "in.jsonl")
    assert isinstance(plain, Trajectory)
    assert mask_secrets(plain) is plain
    (tmp_path / "in.jsonl").write_text(json.dumps(_row(TOKEN, PASSWORD)) + "\n")
    [held] = read_source(tmp_path / "in.jsonl")
    assert isinstance(held, Trajectory)
    masked = mask_secrets(held)
    assert mask_secrets(masked) is masked
    assert masked.content_hash != held.content_hash
    assert [step.actions == was.actions for step, was in zip(masked.steps, held.steps, strict=True)].count(False) == 3
    assert TOKEN.encode() not in trajectory_row(masked).record


def test_nobody_else_may_read_what_was_recorded(worked: Path) -> None:
    files = [path for path in worked.rglob("*") if path.suffix == ".parquet" or "blobs" in path.parts]
    assert {path.stat().st_mode & 0o077 for path in files if path.is_file()} == {0}
    assert {path.stat().st_mode & 0o077 for path in {file.parent for file in files if file.suffix}} == {0}
