"""HEAD and branches: each situation in a real repository, with the command that mends it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest


def commit(repo: Any, path: str, text: str = "A = 1\n") -> str:
    """Commit a file and return the commit."""
    repo.write(path, text)
    this: str = repo.commit(f"add {path}")
    return this


@pytest.mark.situation("branch.detached", "block")
def detached_at_a_tip(repo: Any) -> None:
    repo.git("switch", "-q", "--detach")


@pytest.mark.situation("branch.detached", "block")
def detached_in_history(repo: Any) -> None:
    commit(repo, "src/a.py")
    repo.git("switch", "-q", "--detach", "HEAD~1")


@pytest.mark.situation("branch.detached", "block")
def detached_with_commits_of_its_own(repo: Any) -> None:
    repo.git("switch", "-q", "--detach")
    commit(repo, "src/a.py")


@pytest.mark.situation("branch.detached_ci", "warn", kind="", environ={"CI": "true", "GITHUB_HEAD_REF": "feat/x"})
def detached_in_ci(repo: Any) -> None:
    repo.git("switch", "-q", "--detach")


@pytest.mark.situation("branch.detached", "block", environ={"CI": "true", "GITHUB_HEAD_REF": "other"})
def detached_in_ci_elsewhere(repo: Any) -> None:
    repo.git("branch", "other")
    commit(repo, "src/a.py")
    commit(repo, "src/b.py")
    repo.git("switch", "-q", "--detach")


@pytest.mark.situation(
    "branch.detached_ci", "warn", kind="", environ={"CI": "true", "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1"}
)
def detached_at_a_tag_in_ci(repo: Any) -> None:
    repo.git("tag", "v1")
    repo.git("switch", "-q", "--detach")


@pytest.mark.situation("branch.unexpected", "block")
def configured_branch(repo: Any) -> None:
    repo.write("passdown.toml", 'branch = "feat/limit"\n')
    repo.commit("configure")


@pytest.mark.situation("branch.unexpected", "block")
def branch_of_the_state(repo: Any) -> None:
    repo.write("agent_state.json", '{"active_task_id": "T-1", "branch": "feat/limit"}')
    repo.commit("state")
    repo.git("branch", "feat/limit")


@pytest.mark.situation("branch.unexpected", "block")
def branch_pattern(repo: Any) -> None:
    repo.write("passdown.toml", 'branch-pattern = "feat/{task}-*"\n')
    repo.write("agent_state.json", '{"active_task_id": "T-1"}')
    repo.commit("configure")


@pytest.mark.situation("branch.protected", "warn", base="HEAD~1")
def on_the_integration_branch(repo: Any) -> None:
    repo.write("passdown.toml", 'topic-branches = "warn"\n')
    repo.commit("configure")
    commit(repo, "src/a.py")


@pytest.mark.situation("branch.protected", "block", base="HEAD~1")
def on_a_release_branch(repo: Any) -> None:
    repo.write("passdown.toml", 'topic-branches = "block"\n')
    repo.commit("configure")
    repo.git("switch", "-qc", "release/1.0")
    commit(repo, "src/a.py")


@pytest.mark.situation("branch.unborn", "block")
def orphan_under_way(repo: Any) -> None:
    repo.git("switch", "-q", "--orphan", "fresh")


@pytest.mark.situation("branch.unrelated", "block")
def unrelated_history(repo: Any) -> None:
    repo.git("switch", "-q", "--orphan", "fresh")
    commit(repo, "src/a.py")


@pytest.mark.situation("branch.unrelated", "block", base="HEAD~1")
def unrelated_branch_of_this_session(repo: Any) -> None:
    commit(repo, "src/a.py")
    repo.git("switch", "-q", "--orphan", "fresh")
    commit(repo, "src/b.py")
    repo.git("switch", "-q", "main")


@pytest.mark.situation("branch.stray", "block", base="HEAD")
def stray(repo: Any) -> None:
    repo.git("switch", "-qc", "spike")
    commit(repo, "src/spike.py")
    repo.git("switch", "-q", "main")


@pytest.mark.situation("branch.stray", "block", base="HEAD")
def stray_that_can_be_pushed(repo: Any) -> None:
    remote(repo)
    stray(repo)


@pytest.mark.situation("branch.merged", "warn", base="HEAD")
def merged(repo: Any) -> None:
    repo.git("branch", "spike")


@pytest.mark.situation("branch.lost_commits", "block", base="HEAD")
def lost_by_reset(repo: Any) -> None:
    commit(repo, "src/a.py")
    repo.git("reset", "-q", "--hard", "HEAD~1")


@pytest.mark.situation("branch.lost_commits", "block", base="HEAD")
def lost_with_a_branch(repo: Any) -> None:
    repo.git("switch", "-qc", "spike")
    commit(repo, "src/spike.py")
    repo.git("switch", "-q", "main")
    repo.git("branch", "-qD", "spike")


@pytest.mark.situation("branch.case_clash", "warn", base="HEAD")
def case_clash(repo: Any) -> None:
    repo.git("switch", "-qc", "Feat")
    repo.git("update-ref", "refs/heads/feat", "HEAD")


def remote(repo: Any) -> Path:
    """A bare remote that has everything."""
    folder = repo.root.parent / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    repo.git("remote", "add", "origin", str(folder))
    repo.git("push", "-q", "-u", "origin", "main")
    return folder


@pytest.mark.situation("branch.unpushed", "warn")
def ahead(repo: Any) -> None:
    remote(repo)
    commit(repo, "src/a.py")


@pytest.mark.situation("branch.unpushed", "block", portable=True)
def ahead_portable(repo: Any) -> None:
    ahead(repo)


@pytest.mark.situation("branch.unpushed", "warn")
def never_pushed(repo: Any) -> None:
    remote(repo)
    repo.git("switch", "-qc", "feat/x")
    commit(repo, "src/a.py")


def give_it_an_address(repo: Any) -> None:
    remote(repo)


@pytest.mark.situation("branch.unpushed", "block", kind="choice", by=give_it_an_address, portable=True)
def no_remote_portable(repo: Any) -> None:
    commit(repo, "src/a.py")


def pushed_elsewhere(repo: Any) -> None:
    """Somebody else pushed to main, and it was fetched."""
    folder = remote(repo)
    other = repo.root.parent / "other"
    repo.git("clone", "-q", str(folder), str(other))
    (other / "src").mkdir()
    (other / "src/other.py").write_text("A = 1\n")
    repo.git("-C", str(other), "add", "-A")
    repo.git("-C", str(other), "commit", "-q", "-m", "theirs")
    repo.git("-C", str(other), "push", "-q")
    repo.git("fetch", "-q")


@pytest.mark.situation("branch.behind", "warn")
def behind(repo: Any) -> None:
    pushed_elsewhere(repo)


@pytest.mark.situation("branch.diverged", "warn")
def diverged(repo: Any) -> None:
    pushed_elsewhere(repo)
    commit(repo, "src/a.py")


@pytest.mark.situation("branch.upstream_gone", "warn")
def upstream_gone(repo: Any) -> None:
    remote(repo)
    repo.git("switch", "-qc", "feat/x")
    commit(repo, "src/a.py")
    repo.git("push", "-q", "-u", "origin", "feat/x")
    repo.git("update-ref", "-d", "refs/remotes/origin/feat/x")


def test_situation(situation: Any, settle: Any) -> None:
    settle(situation)


def test_a_stray_branch_that_the_packet_lists_does_not_block(repository: Any, judge: Any, mend: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    stray(repository)
    mend(repository.root, "passdown note risk 'the branches spike-2 and a/spike are kept'")
    assert "branch.stray" in judge(repository.root, base=base).blocking
    mend(repository.root, "passdown note risk 'Branch spike: kept for the clock fix.'")
    assert "branch.stray" not in judge(repository.root, base=base).blocking
    assert "branch.stray" in judge(repository.root, base=base, portable=True).blocking, "another device lacks it"


QUIET = {
    "amended": ("commit -q --amend -m again",),
    "rebased": ("rebase -q --root --exec true",),
    "squashed by a reset": ("reset -q --soft HEAD~2", "commit -q -m both"),
    "moved to another branch": ("branch keep", "reset -q --hard HEAD~1", "switch -q keep"),
    "picked elsewhere": ("switch -qc other HEAD~1", "cherry-pick main", "switch -q main", "reset -q --hard other"),
}


@pytest.mark.parametrize("name", QUIET)
def test_what_lives_on_is_not_lost(name: str, repository: Any, findings: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    commit(repository, "src/a.py")
    commit(repository, "src/b.py")
    for command in QUIET[name]:
        repository.git(*command.split())
    assert "branch.lost_commits" not in {f.code for f in findings(repository.root, base=base)}


def test_a_rebase_is_told_once(repository: Any, findings: Any) -> None:
    commit(repository, "src/a.py")
    repository.git("bisect", "start")
    repository.git("switch", "-q", "--detach", check=False)
    codes = [f.code for f in findings(repository.root)]
    assert codes.count("tree.operation_in_progress") == 1
    assert "branch.detached" not in codes


def test_a_base_that_was_rewritten(repository: Any, findings: Any) -> None:
    first = commit(repository, "src/a.py")
    repository.git("commit", "-q", "--amend", "-m", "again")
    assert ("base.rewritten", "warn") in {(f.code, f.severity) for f in findings(repository.root, base=first)}


def test_allowed_unrelated_names(repository: Any, findings: Any) -> None:
    repository.git("switch", "-q", "--orphan", "gh-pages")
    commit(repository, "index.html", "<p>")
    repository.git("switch", "-q", "main")
    assert "branch.unrelated" not in {f.code for f in findings(repository.root)}


def test_a_clone_without_reflog_is_unknown_and_strict_blocks(repository: Any, judge: Any) -> None:
    (repository.root / ".git/logs/HEAD").unlink()
    state = judge(repository.root)
    assert state.clean
    assert state.checks[0].status == "unknown"
    assert judge(repository.root, strict=True).blocking == ("branch.history_unknown",)


def test_a_shallow_clone_is_unknown(repository: Any, judge: Any) -> None:
    commit(repository, "src/a.py")
    clone = repository.root.parent / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository.root}", str(clone)], check=True)
    subprocess.run(["git", "branch", "x"], cwd=clone, check=True)
    state = judge(clone)
    assert "branch.history_unknown" in {f.code for f in state.checks[0].findings}


def packet_elsewhere(repo: Any, passdown: Any, *options: str) -> None:
    """A packet of the topic was written on a branch that has a commit of its own; then HEAD went back."""
    repo.write("agent_state.json", '{"active_task_id": "T-1"}')
    repo.commit("state")
    repo.git("switch", "-qc", "feat/limit")
    commit(repo, "src/a.py")
    done = passdown("wrap", *options, "--next", "Limit the export in src/a.py", folder=repo.root)
    assert done.returncode == 0, done.stderr
    repo.git("switch", "-q", "main")


@pytest.mark.parametrize("options", [(), ("--local",)], ids=["project", "local"])
def test_the_branch_of_the_topics_packet(
    options: tuple[str, ...], repository: Any, passdown: Any, judge: Any, printed: Any, mend: Any
) -> None:  # fmt: skip
    packet_elsewhere(repository, passdown, *options)
    state = judge(repository.root)
    assert "branch.unexpected" in state.blocking
    assert printed(state, "branch.unexpected") == ["git switch -q feat/limit"]
    mend(repository.root, "git switch -q feat/limit")
    assert "branch.unexpected" not in judge(repository.root).blocking
    mend(repository.root, "git switch -q main && git merge -q feat/limit")
    assert "branch.unexpected" not in judge(repository.root).blocking


def test_a_packet_of_another_topic_does_not_matter(repository: Any, passdown: Any, judge: Any) -> None:
    packet_elsewhere(repository, passdown)
    repository.write("agent_state.json", '{"active_task_id": "T-2"}')
    repository.commit("the next task")
    assert "branch.unexpected" not in judge(repository.root).blocking


def test_inside_a_submodule_head_is_detached_as_it_should_be(repository: Any, findings: Any) -> None:
    library = repository.root.parent / "library"
    subprocess.run(["git", "clone", "-q", str(repository.root), str(library)], check=True)
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    repository.git("-C", "lib", "switch", "-q", "--detach")
    found = {f.code: f.severity for f in findings(repository.root / "lib")}
    assert found["branch.detached"] == "warn"


def test_no_repository(tmp_path: Path, judge: Any, mend: Any) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    state = judge(folder)
    assert state.blocking == ("git.absent",)
    mend(folder, state.checks[0].findings[0].fix)
    assert "git.absent" not in judge(folder).blocking
