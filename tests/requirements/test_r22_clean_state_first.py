"""R22 and R23: the clean-state check comes before the packet, and wrapping up changes nothing but passdown's own files."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest


def contents(root: Path) -> dict[str, str]:
    """Every file of the repository and of git's own folder, by hash; what git itself may refresh is left out."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith((".git/index", ".git/objects/")):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def packets(root: Path) -> dict[str, str]:
    """The files of the shelf and the mirror."""
    return {name: value for name, value in contents(root).items() if name.startswith(("outputs/", ".ai/"))}


@pytest.fixture
def work(repository: Any, claude_session: Any) -> Any:
    """A branch with one commit of work, and the session that did it with its tests green."""
    repository.git("switch", "-q", "-c", "feat/limit")
    session = claude_session(repository.root)
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call of an export.")
    session.edits("src/limits.py")
    repository.write("src/limits.py", "LIMIT = 10\n")
    repository.write("tests/test_limits.py", "def test_limit():\n    assert True\n")
    repository.commit("Limit the exports")
    session.runs("pytest -q", "1 passed in 0.1s")
    return repository


def test_r22_nothing_blocks_and_the_packet_is_final(work: Any, passdown: Any) -> None:
    done = passdown("wrap", "--json", folder=work.root)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kind"] == "final"
    packet = json.loads((work.root / report["paths"][1]).read_text("utf-8"))
    assert packet["clean_state"]["checked"]
    assert packet["clean_state"].get("blocking", []) == []
    assert "clean_state.not_checked" not in packet["unknowns"]
    assert jsonschema_rs.is_valid(json.loads(passdown("schema").stdout), packet)
    assert json.loads(passdown("wrap", "--json", folder=work.root).stdout)["changed"] == []
    work.git("add", "-f", "outputs")
    work.git("commit", "-q", "-m", "Hand over")
    assert json.loads(passdown("wrap", "--json", folder=work.root).stdout)["changed"] == []


def test_r22_what_blocks_leaves_every_packet_as_it_was(work: Any, passdown: Any) -> None:
    assert passdown("wrap", folder=work.root).returncode == 0
    before = packets(work.root)
    work.write("src/limits.py", "LIMIT = 11\nbreakpoint()\n")
    done = passdown("wrap", folder=work.root)
    assert (done.returncode, done.stdout) == (3, b"")
    told = done.stderr.decode()
    assert "tree.uncommitted" in told
    assert "git add -- src/limits.py && git commit" in told
    assert "src/limits.py:2  breakpoint()" in told, "one pass lists everything"
    assert "wrap --interim" in told
    assert packets(work.root) == before
    refused = passdown("wrap", "--json", folder=work.root)
    value = json.loads(refused.stdout)
    assert refused.returncode == 3
    assert set(value["refused"]) >= {"temp.debug_print", "tree.uncommitted"}
    assert value["clean_state"]["clean"] is False
    assert packets(work.root) == before


def test_r22_a_stale_check_is_made_again(work: Any, passdown: Any) -> None:
    assert passdown("check", folder=work.root).returncode == 0
    kept = work.root / ".git/passdown/clean_state.json"
    before = json.loads(kept.read_text())["tree_fingerprint"]
    work.write("src/limits.py", "LIMIT = 11\n")
    assert passdown("wrap", folder=work.root).returncode == 3, "what was clean once says nothing of this tree"
    now = json.loads(kept.read_text())
    assert now["tree_fingerprint"] != before
    assert "tree.uncommitted" in now["blocking"]


def test_r22_interim_leads_with_what_to_settle(work: Any, passdown: Any) -> None:
    work.write("src/limits.py", "LIMIT = 11\n")
    done = passdown("wrap", "--interim", "--json", folder=work.root)
    report = json.loads(done.stdout)
    assert (done.returncode, report["kind"]) == (0, "interim")
    packet = json.loads((work.root / report["paths"][1]).read_text("utf-8"))
    assert [point["code"] for point in packet["settle_first"]][:1] == ["tree.uncommitted"]
    assert "tree.uncommitted" in packet["clean_state"]["blocking"]
    assert packet["next_action"]["text"].startswith("Go on with the last request: “Refuse the eleventh call")
    brief = passdown("take", folder=work.root).stdout.decode()
    assert "git add -- src/limits.py" in brief


def test_r22_a_person_lets_it_pass_and_the_packet_says_so(work: Any, passdown: Any) -> None:
    work.write("src/limits.py", "LIMIT = 11\n")
    allow = []
    for code in ("tree.uncommitted", "tests.stale"):
        allow += ["--allow", code]
    done = passdown("wrap", "--json", *allow, "--reason", "the review needs it open", folder=work.root)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    packet = json.loads((work.root / report["paths"][1]).read_text("utf-8"))
    assert packet["kind"] == "final"
    assert {line["code"] for line in packet["overrides"]} >= {"tree.uncommitted"}
    assert {line["reason"] for line in packet["overrides"]} == {"the review needs it open"}
    before = packets(work.root)
    by_agent = passdown("wrap", *allow, "--reason", "fine", folder=work.root, CLAUDECODE="1")
    assert by_agent.returncode == 8
    assert packets(work.root) == before


def test_r22_a_project_with_a_board_needs_a_verdict(work: Any, passdown: Any) -> None:
    work.write("task_board.json", json.dumps({"tasks": [{"id": "T-001", "goal": "Limit exports", "status": "todo"}]}))
    work.commit("Keep a board")
    done = passdown("wrap", folder=work.root)
    assert done.returncode == 4, done.stderr
    assert b"verification report" in done.stderr
    assert packets(work.root) == {}
    work.write("task_board.json", "")
    work.git("rm", "-q", "-f", "task_board.json")
    work.write("passdown.toml", "require-verdict = true\n")
    work.commit("Ask for a verdict")
    assert passdown("wrap", folder=work.root).returncode == 4
    interim = passdown("wrap", "--interim", "--json", folder=work.root)
    assert json.loads(interim.stdout)["kind"] == "interim"


def test_wrapping_a_repository_where_nothing_happened_says_so(repository: Any, passdown: Any) -> None:
    for words in (["wrap"], ["wrap", "--interim"]):
        done = passdown(*words, folder=repository.root)
        assert (done.returncode, done.stdout) == (4, b"")
        assert b"nothing to hand over" in done.stderr
    assert packets(repository.root) == {}


def test_r23_wrapping_up_touches_only_what_is_passdowns_own(work: Any, isolated_home: Path) -> None:
    work.write("src/limits.py", "LIMIT = 11\n")
    work.write("notes.txt", "not committed\n")
    work.write("src/staged.py", "x = 1\n")
    work.git("add", "src/staged.py")
    before, status, stashes = contents(work.root), work.git("status", "--porcelain"), work.git("stash", "list")
    environment = {"PATH": os.environ["PATH"], "HOME": str(isolated_home), "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["wrap"], ["wrap", "--interim"], ["wrap", "--interim", "--next", "Read src/limits.py line 1"]):
        command = [sys.executable, "-m", "passdown", *words]
        subprocess.run(command, cwd=work.root, env=environment, capture_output=True, check=False)
    after = contents(work.root)
    own = ("outputs/handoff/", ".ai/", ".git/passdown/", ".git/info/")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed
    assert {name for name in changed if not name.startswith(own)} == set()
    assert [line for line in work.git("status", "--porcelain").splitlines() if "outputs/" not in line] == [
        line for line in status.splitlines() if "outputs/" not in line
    ]
    assert work.git("stash", "list") == stashes


def test_wrap_commits_the_packet_alone_when_asked(work: Any, passdown: Any) -> None:
    assert passdown("wrap", "--local", "--commit", folder=work.root).returncode == 2
    local = json.loads(passdown("wrap", "--local", "--json", folder=work.root).stdout)
    assert (local["shelf"], work.git("status", "--porcelain")) == ("local", "")
    assert packets(work.root).keys() <= {".ai/HANDOFF.md"}
    work.write("src/staged.py", "x = 1\n")
    work.git("add", "src/staged.py")
    person = {
        f"GIT_{role}_{part}": f"dev{sign}" for role in ("AUTHOR", "COMMITTER")
        for part, sign in (("NAME", ""), ("EMAIL", "@example.com"))
    }  # fmt: skip
    done = passdown("wrap", "--interim", "--commit", "--json", folder=work.root, **person)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["commit"] == work.git("rev-parse", "HEAD")
    assert set(work.git("show", "--name-only", "--format=", "HEAD").split()) == set(report["paths"][:2])
    assert work.git("status", "--porcelain") == "A  src/staged.py", "what was staged stays staged"
    again = json.loads(passdown("wrap", "--interim", "--commit", "--json", folder=work.root, **person).stdout)
    assert (again["changed"], again["commit"]) == ([], "")
