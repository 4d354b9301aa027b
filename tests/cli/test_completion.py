"""Completion of ids, driven as bash drives it: the printed script is sourced and its function called."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

_DRIVE = """
source "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { echo "ASKS $*"; }
_passdown_completion passdown
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(tmp_path: Path, isolated_home: Path, repository: Any, passdown: Any) -> Callable[..., list[str]]:
    """Return a function that presses the tab key behind the last of these words."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "passdown").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m passdown "$@"\n')
    (programs / "passdown").chmod(0o755)
    script = tmp_path / "completion.bash"
    text = passdown("completion", "bash").stdout.decode()
    script.write_text("\n".join(line for line in text.splitlines() if "_setup" not in line or "()" in line))

    def press(*words: str, folder: Path | None = None) -> list[str]:
        env = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(isolated_home), "SCRIPT": str(script),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-c", _DRIVE, "bash", "passdown", *words],
            cwd=folder or repository.root, env=env, capture_output=True, check=True,
        )  # fmt: skip
        assert done.stderr == b""
        return [line for line in done.stdout.decode().splitlines() if line]

    return press


def _wrap(passdown: Any, repository: Any, name: str) -> dict[str, Any]:
    repository.write(f"{name}.py", "x = 1\n")
    done = passdown("-C", str(repository.root), "wrap", "--interim", "--json")
    assert done.returncode == 0, done.stderr
    wrapped: dict[str, Any] = json.loads(done.stdout)
    return wrapped


def test_packets_are_offered_by_their_ids(complete: Any, passdown: Any, repository: Any, tmp_path: Path) -> None:
    first, second = (_wrap(passdown, repository, name)["packet_id"][:12] for name in ("one", "two"))
    assert sorted(complete("show", "")) == sorted([first, second])
    assert complete("show", first[:5]) == [first]
    assert complete("show", f"{first[:5]}zz") == ["ASKS -o", "default"]  # files, then
    for words in (("restore",), ("diff", first), ("take",), ("archive",), ("resolve", "--keep")):
        assert second in complete(*words, second[:4])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert complete("restore", "", folder=elsewhere) == []
    assert complete("-C", str(repository.root), "restore", first[:5], folder=elsewhere) == [first]


def test_only_what_can_be_archived_or_taken_back_is_offered(complete: Any, passdown: Any, repository: Any) -> None:
    first, second = (_wrap(passdown, repository, name)["packet_id"][:12] for name in ("one", "two"))
    assert passdown("-C", str(repository.root), "archive", first).returncode == 0
    assert complete("archive", "") == [second]
    assert complete("archive", "--undo", "") == [first]


def test_a_whole_id_goes_on_where_more_than_its_beginning_is_typed(
    complete: Any, passdown: Any, repository: Any
) -> None:
    whole = _wrap(passdown, repository, "one")["packet_id"]
    assert complete("show", whole[:14]) == [whole]


def test_notes_are_offered_to_those_they_are_for(complete: Any, passdown: Any, repository: Any) -> None:
    ids = {}
    for kind, text in (("question", "Which port?"), ("assumption", "The port is free"), ("clue", "See README.md")):
        done = passdown("-C", str(repository.root), "note", kind, text)
        assert done.returncode == 0, done.stderr
    listed = json.loads(passdown("-C", str(repository.root), "note", "list", "--json").stdout)
    ids = {note["kind"]: note["id"] for note in listed["notes"]}
    assert sorted(complete("note", "show", "")) == sorted(ids.values())
    assert complete("note", "answer", "") == [ids["question"]]
    assert complete("note", "score", "") == [ids["assumption"]]
    assert complete("note", "undo", ids["clue"]) == [ids["clue"]]
    assert (
        passdown("-C", str(repository.root), "note", "answer", ids["question"], "8080", "--by", "human").returncode == 0
    )
    assert complete("note", "answer", "") == []


def test_what_a_shell_would_act_on_is_never_offered(complete: Any, passdown: Any, repository: Any) -> None:
    wrapped = _wrap(passdown, repository, "one")
    path = repository.root / next(name for name in wrapped["paths"] if name.endswith(".json"))
    good = path.read_text("utf-8")
    for number, name in enumerate(("$(touch pwned)", "0123; rm -rf ~", "0123\nplain,x", "-rf", "../../../x", "")):
        place = repository.root / f"outputs/handoff/bad{number}/handoff.json"
        place.parent.mkdir()
        place.write_text(json.dumps(json.loads(good) | {"packet_id": name}))
    notes = repository.root / "questions.jsonl"
    row = {"id": "`id`", "question": "What?", "status": "open"}
    notes.write_text(json.dumps(row) + "\n" + json.dumps(row | {"id": "Q-1"}) + "\n")
    assert complete("show", "") == [json.loads(good)["packet_id"][:12]]
    offered = complete("note", "show", "")
    assert "Q-1" in offered
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", name) for name in offered)
    assert not (repository.root / "pwned").exists()
