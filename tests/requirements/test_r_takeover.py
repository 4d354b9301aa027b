"""R13 to R17, R31, R35, R36 and R41: what the reader's side owes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.packet.identity import packet_id
from passdown.packet.irreversible import needs_a_human


def reseal(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a packet as an honest writer would: its id is right again."""
    plain = json.loads(path.read_text("utf-8"))
    change(plain)
    plain["packet_id"] = packet_id(plain)
    path.write_text(json.dumps(plain), "utf-8")


@pytest.fixture
def handed(bench: Any) -> Any:
    """A branch that is committed, pushed and wrapped: nothing is left on this machine alone."""
    repository = bench.repository
    repository.write("AGENTS.md", "# Rules\n")
    repository.commit("Finish the bucket")
    repository.git("init", "-q", "--bare", str(bench.root.parent / "origin.git"))
    repository.git("remote", "add", "origin", str(bench.root.parent / "origin.git"))
    repository.git("push", "-q", "-u", "origin", "feat/export-limit")
    bench.wrap("--interim")
    repository.git("add", "-f", "outputs")
    repository.git("commit", "-q", "-m", "Hand over", "--", "outputs")
    repository.git("push", "-q")
    return bench


def packet_file(bench: Any) -> Path:
    found: Path = next(bench.root.glob("outputs/handoff/*/handoff.json"))
    return found


def take(bench: Any, *words: str, code: int = 0, **env: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(bench.passdown("take", "--json", *words, code=code, **env))
    return report


def test_r13_git_over_json_over_markdown(handed: Any) -> None:
    markdown, mirror = packet_file(handed).with_name("handoff.md"), handed.root / ".ai/HANDOFF.md"
    for path in (markdown, mirror):
        path.write_text(path.read_text("utf-8").replace("src/limits.py", "src/elsewhere.py"), "utf-8")
    said_by_json = take(handed, "--no-receipt")
    assert "src/limits.py" in [quote["text"] for quote in said_by_json["changed"]]
    assert "src/elsewhere.py" not in json.dumps(said_by_json)
    assert {f["code"] for f in said_by_json["findings"]} == {"packet.markdown_edited", "packet.mirror_edited"}
    handed.repository.write("src/limits.py", "LIMIT = 12\n")
    commit = handed.repository.commit("Raise it")
    said_by_git = take(handed, "--no-receipt")
    assert said_by_git["verdict"] == "ready_with_drift"
    assert said_by_git["head_now"] != said_by_git["head"]
    assert any(commit[:7] in line for line in said_by_git["since"])
    assert any(line.startswith("src/limits.py has other content") for line in said_by_git["since"])


def test_r14_markdown_is_derived_and_nothing_else(handed: Any) -> None:
    markdown, canonical = packet_file(handed).with_name("handoff.md"), packet_file(handed)
    before, json_before = markdown.read_bytes(), canonical.read_bytes()
    handed.passdown("show", "--check")
    markdown.unlink()
    handed.passdown("show", "--check", code=6)
    handed.passdown("show", "--render")
    assert markdown.read_bytes() == before
    markdown.write_bytes(before + b"\nAlso do this.\n")
    handed.passdown("show", "--check", code=6)
    assert canonical.read_bytes() == json_before
    handed.passdown("show", "--render")
    assert (markdown.read_bytes(), canonical.read_bytes()) == (before, json_before)
    report = json.loads(handed.passdown("show", "--check", "--json"))
    assert [one["state"] for one in report["files"]] == ["same", "same"]
    handed.passdown("show", "--check", "--render", code=2)


def amend(repository: Any) -> None:
    repository.write("src/limits.py", "LIMIT = 1\n")
    repository.git("commit", "-q", "-a", "--amend", "--no-edit")


def revert_file(repository: Any) -> None:
    repository.git("checkout", "-q", "main", "--", "src/limits.py")


def edit_contract(repository: Any) -> None:
    repository.write("AGENTS.md", "# Other rules\n")


def rename(repository: Any) -> None:
    repository.git("branch", "-m", "feat/limits")


def extra(repository: Any) -> None:
    repository.write("docs/api.md", "# API\n\nMore.\n")
    repository.git("commit", "-q", "-m", "More", "--", "docs")


@pytest.mark.parametrize(
    ("do", "change", "verdict"),
    [(extra, "advanced", "ready_with_drift"), (amend, "edited", "ready_with_drift"), (revert_file, "reverted", None),
     (edit_contract, "edited", "ready_with_drift"), (rename, "changed", "ready_with_drift")],
)  # fmt: skip
def test_r15_drift(do: Any, change: str, verdict: str | None, handed: Any) -> None:
    do(handed.repository)
    done = handed.run("-C", str(handed.root), "take", "--json", "--no-receipt")
    taken = json.loads(done.stdout)
    assert change in {one["change"] for one in taken["verdicts"] if one["state"] != "holds" and "change" in one}
    if verdict is not None:
        assert taken["verdict"] == verdict


def test_r15_a_missing_stash_and_a_deleted_branch(handed: Any) -> None:
    repository = handed.repository
    repository.write("src/limits.py", "LIMIT = 99\n")
    repository.git("stash", "push", "-q", "-m", "keep this spike")
    repository.write("src/more.py", "1\n")
    repository.commit("More")
    name = handed.wrap("--interim")["packet_id"][:12]
    repository.git("stash", "drop", "-q")
    found = take(handed, "--no-receipt")["verdicts"]
    stash = [v for v in found if v["claim"].get("check", {}).get("kind") == "stash_exists"]
    assert [(v["state"], v["change"]) for v in stash] == [("contradicted", "missing")]
    repository.git("switch", "-q", "-c", "feat/other")
    repository.git("branch", "-q", "-D", "feat/export-limit")
    assert take(handed, name, code=6)["verdict"] in ("refused", "stale")


def test_r16_a_clone_without_a_home(handed: Any, tmp_path: Path) -> None:
    clone, home = tmp_path / "clone", tmp_path / "nobody"
    home.mkdir()
    url = (handed.root.parent / "origin.git").as_uri()
    handed.repository.git("clone", "-q", "-b", "feat/export-limit", url, str(clone))
    shutil.rmtree(handed.root)
    done = handed.run("-C", str(clone), "take", "--json", HOME=str(home))
    taken = json.loads(done.stdout)
    assert (done.returncode, taken["verdict"]) == (0, "ready")
    for quote in taken["load_first"]:
        assert (clone / quote["text"]).exists()
        assert quote.get("note") != "missing"
    assert (clone / taken["canonical"]).is_file()
    assert str(tmp_path) not in done.stdout.decode()


def test_r17_the_packet_is_gone(full: Any) -> None:
    full.wrap("--interim")
    shutil.rmtree(full.root / "outputs/handoff")
    report = take(full, code=4)
    assert report["verdict"] == "cold_start"
    assert any("Rate-limit" in quote["text"] for quote in report["board"])
    assert next(quote["note"] for quote in report["commits"]) == "Add token bucket"
    assert "task_board.json" in [quote["text"] for quote in report["dirty"]] or report["dirty_total"] > 12


def test_r31_one_main_agent(handed: Any) -> None:
    take(handed, CODEX_THREAD_ID="01a22855-7004-79f3")
    refused = handed.run("-C", str(handed.root), "take", CLAUDECODE="1")
    assert refused.returncode == 7
    assert b"codex (session 01a22855-700) took it" in refused.stderr
    assert b" s ago" in refused.stderr


def test_r35_another_version_and_a_missing_tool(handed: Any) -> None:
    handed.repository.write("passdown.toml", 'tools = ["git", "no-such-tool"]\n')
    reseal(packet_file(handed), lambda p: p["environment"].update(tools={"git": "1.0.0"}))
    taken = take(handed, "--no-receipt")
    assert taken["verdict"] == "ready_with_drift"
    found = [f for f in taken["findings"] if f["code"] == "env.drift"]
    assert [(f["severity"], "git" in f["detail"]) for f in found] == [("warn", True)]

    def need(packet: dict[str, Any]) -> None:
        packet["environment"]["tools"] = {"no-such-tool": "3.1"}
        packet["next_action"] |= {"command": "no-such-tool build", "text": "Make the build pass"}

    reseal(packet_file(handed), need)
    blocked = take(handed, code=6)
    assert (blocked["verdict"], "no-such-tool" in blocked["reasons"][0]) == ("blocked", True)


def leave_a_stash(bench: Any) -> None:
    bench.repository.write("src/limits.py", "LIMIT = 99\n")
    bench.repository.git("stash", "push", "-q", "-m", "redis spike")


def leave_a_commit(bench: Any) -> None:
    bench.repository.write("src/more.py", "1\n")
    bench.repository.commit("Not pushed")


def leave_an_edit(bench: Any) -> None:
    bench.repository.write("src/limits.py", "LIMIT = 99\n")


def leave_an_artifact(bench: Any) -> None:
    bench.repository.write(".git/info/exclude", "decisions.jsonl\n/.ai/\n")
    bench.repository.write("decisions.jsonl", '{"choice": "In process, not Redis", "by": "agent"}\n')


def leave_a_worktree(bench: Any) -> None:
    tree = bench.root.parent / "tree"
    bench.repository.git("worktree", "add", "-q", "-b", "feat/else", str(tree), "main")
    (tree / "loose.py").write_text("1\n")


@pytest.mark.parametrize(
    ("leave", "word"),
    [(leave_a_stash, "redis spike"), (leave_a_commit, "git push"), (leave_an_edit, "src/limits.py"),
     (leave_an_artifact, "decisions.jsonl"), (leave_a_worktree, "worktree tree")],
)  # fmt: skip
def test_r36_what_only_this_machine_has(leave: Any, word: str, handed: Any) -> None:
    assert take(handed, "--portable", "--no-receipt")["verdict"] == "ready"
    leave(handed)
    handed.wrap("--interim")
    handed.repository.git("add", "-f", "outputs")
    handed.repository.git("commit", "-q", "-m", "Hand over", "--", "outputs")
    if leave is not leave_a_commit:
        handed.repository.git("push", "-q")
    blocked = take(handed, "--portable", code=6)
    assert blocked["verdict"] == "blocked"
    assert blocked["receipt"] == ""
    assert [word in reason for reason in blocked["reasons"]] == [True], blocked["reasons"]
    assert take(handed, "--no-receipt")["verdict"].startswith("ready")


STEPS = {
    "git push origin main": True, "git push --force-with-lease": True, "npm publish": True, "cargo publish": True,
    "twine upload dist/*": True, "docker push registry/app": True, "kubectl apply -f prod.yaml": True,
    "terraform destroy": True, "rm -rf build": True, "git reset --hard origin/main": True, "git clean -fdx": True,
    "alembic upgrade head": True, "python manage.py migrate": True, "gh release create v1": True,
    "Deploy to production": True, "Delete the old bucket": True, "Rotate the signing key": True,
    "Pay the invoice": True, "pytest -q": False, "Run the tests": False, "make build": False, "git status": False,
    "git commit -m 'Fix'": False, "npm test": False, "Fix tests/test_publish.py": False, "cargo check": False,
    "Make `test_delete_user` pass": False, "Review the diff": False, "git push --dry-run": False, "git log": False,
}  # fmt: skip


def test_r41_thirty_steps() -> None:
    assert len(STEPS) == 30
    assert {step: needs_a_human(step) for step in STEPS} == STEPS


def test_r41_not_ready_until_a_human_says_yes(handed: Any) -> None:
    step = {
        "text": "Publish it",
        "command": "npm publish",
        "kind": "command",
        "requires_human": False,
        "basis": "derived",
    }
    reseal(packet_file(handed), lambda p: p.update(next_action=step))
    for words in ((), ("--portable",), ("--no-receipt",)):
        blocked = take(handed, *words, code=8)
        assert (blocked["verdict"], blocked["next_step"]["needs_human"], blocked["receipt"]) == ("blocked", True, "")
    handed.passdown("take", "--ack", code=8, CLAUDECODE="1")
    assert take(handed, "--ack")["next_step"]["acknowledged"] is True
