"""Which sessions are a repository's: real repositories, real session files, the agents' own readers."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from passdown.errors import UsageError
from passdown.model.evidence import RepositoryFacts
from passdown.model.session import SessionRef
from passdown.repository.snapshot import snapshot
from passdown.sessions.discover import Discovery, all_sessions, find_sessions, plain_remote, sessions_in

AT = 1_760_000_000


class Homes:
    """The agents' folders, filled with hand-written session files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = AT
        self.map = {name: root / name for name in ("claude_code", "codex", "opencode", "pi")}

    def save(self, path: Path, rows: list[dict[str, Any]]) -> Path:
        self.clock += 10
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(path, (self.clock, self.clock))
        return path

    def claude(self, session_id: str, cwd: str, branch: str = "main") -> Path:
        base = {
            "sessionId": session_id,
            "cwd": cwd,
            "gitBranch": branch,
            "version": "2.1.0",
            "timestamp": "2025-10-09T08:53:20.000Z",
        }
        rows = [
            base | {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "please"}},
            base | {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {"role": "assistant", "id": "m1", "model": "m", "content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 1, "output_tokens": 1}}},
        ]  # fmt: skip
        slug = "".join(c if c.isalnum() else "-" for c in cwd)[:80]
        return self.save(self.map["claude_code"] / "projects" / slug / f"{session_id}.jsonl", rows)

    def codex(self, session_id: str, cwd: str, git: dict[str, str] | None = None, **more: Any) -> Path:
        payload = {"id": session_id, "timestamp": "2025-10-09T08:53:20.000Z", "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.120.0", "source": "cli"} | more  # fmt: skip
        rows: list[dict[str, Any]] = [
            {"timestamp": "2025-10-09T08:53:20.000Z", "type": "session_meta", "payload": payload | ({"git": git} if git else {})},
            {"timestamp": "2025-10-09T08:53:21.000Z", "type": "event_msg", "payload": {"type": "user_message", "message": "please"}},
        ]  # fmt: skip
        folder = self.map["codex"] / "sessions/2025/10/09"
        return self.save(folder / f"rollout-2025-10-09T08-53-20-{session_id}.jsonl", rows)

    def pi(self, session_id: str, cwd: str) -> Path:
        rows: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": session_id, "timestamp": "2025-10-09T08:53:20.000Z", "cwd": cwd},
            {"type": "message", "id": "a1", "parentId": None, "timestamp": "2025-10-09T08:53:21.000Z", "message": {"role": "user", "content": "please"}},
        ]  # fmt: skip
        slug = "--" + cwd.strip("/").replace("/", "-")[:80] + "--"
        return self.save(self.map["pi"] / "sessions" / slug / f"2025-10-09T08-53-20-000Z_{session_id}.jsonl", rows)


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "homes")


def uid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def ids(found: Discovery) -> list[int]:
    return [int(ref.session_id[:8], 16) for ref in found.refs]


def codes(found: Discovery) -> list[str]:
    return [finding.code for finding in found.findings]


def facts(root: Path) -> RepositoryFacts:
    return snapshot(root)


def ref(cwd: str, **more: Any) -> SessionRef:
    return SessionRef(**({"agent": "pi", "path": f"/x/{cwd}", "session_id": "s", "cwd": cwd} | more))


def test_root_subfolder_and_nothing_else(repository: Any, homes: Homes, tmp_path: Path) -> None:
    repository.write("src/a.py", "x")
    (tmp_path / "project2").mkdir()
    homes.claude(uid(1), str(repository.root))
    homes.codex(uid(2), str(repository.root / "src"))
    homes.pi(uid(3), str(repository.root))
    homes.claude(uid(4), str(tmp_path / "project2"))
    homes.claude(uid(5), str(tmp_path))
    homes.pi(uid(6), "/")
    found = find_sessions(facts(repository.root), homes=homes.map)
    assert ids(found) == [3, 2, 1]
    assert found.scanned == 6
    assert found.findings == ()
    assert [r.agent for r in found.refs] == ["pi", "codex", "claude_code"]


def test_one_agent_only(repository: Any, homes: Homes) -> None:
    homes.claude(uid(1), str(repository.root))
    homes.pi(uid(2), str(repository.root))
    assert ids(find_sessions(facts(repository.root), homes=homes.map, agents={"pi"})) == [2]
    assert ids(find_sessions(facts(repository.root), homes=homes.map, agents={"claude-code"})) == [1]
    with pytest.raises(UsageError, match="no agent called 'nobody'"):
        find_sessions(facts(repository.root), homes=homes.map, agents={"nobody"})


def test_every_session_of_every_folder(repository: Any, homes: Homes) -> None:
    homes.claude(uid(1), "/somewhere/else")
    homes.pi(uid(2), str(repository.root))
    found = all_sessions(homes=homes.map)
    assert ids(found) == [2, 1]
    assert found.scanned == 2


def test_no_homes_at_all(repository: Any, isolated_home: Path) -> None:
    assert find_sessions(facts(repository.root)) == Discovery()


def test_default_homes(repository: Any, isolated_home: Path) -> None:
    homes = Homes(isolated_home)
    homes.map["claude_code"] = isolated_home / ".claude"
    homes.claude(uid(1), str(repository.root))
    assert ids(find_sessions(facts(repository.root))) == [1]


def test_through_a_symlink(repository: Any, homes: Homes, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(repository.root)
    homes.claude(uid(1), str(link))
    homes.pi(uid(2), str(link / "sub"))
    assert ids(find_sessions(facts(repository.root), homes=homes.map)) == [2, 1]
    assert ids(find_sessions(facts(link), homes=homes.map)) == [2, 1]


def test_worktrees_of_the_same_repository(repository: Any, homes: Homes, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "feature")
    repository.git("worktree", "add", "-q", str(repository.root / ".claude/worktrees/inner"), "-b", "inner")
    homes.claude(uid(1), str(repository.root))
    homes.claude(uid(2), str(tmp_path / "other" / "deep"))
    homes.claude(uid(3), str(repository.root / ".claude/worktrees/inner"))
    for root in (repository.root, tmp_path / "other", repository.root / ".claude/worktrees/inner"):
        assert ids(find_sessions(facts(root), homes=homes.map)) == [3, 2, 1]


def test_a_repository_inside_is_another_one(make_repository: Callable[..., Any], homes: Homes) -> None:
    outer, _ = make_repository("outer"), make_repository("outer/vendor/inner")
    homes.claude(uid(1), str(outer.root / "vendor/inner/src"))
    homes.claude(uid(2), str(outer.root / "vendor"))
    assert ids(find_sessions(facts(outer.root), homes=homes.map)) == [2]
    assert ids(find_sessions(facts(outer.root / "vendor/inner"), homes=homes.map)) == [1]


def test_a_worktree_list_that_lies(repository: Any, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    listed = structs.replace(
        facts(repository.root),
        worktrees=(*facts(repository.root).worktrees, _worktree(victim), _worktree(tmp_path)),
    )
    assert sessions_in([ref(str(victim)), ref(str(tmp_path / "x"))], listed) == ((), ())


def _worktree(path: Path) -> Any:
    from passdown.model.evidence import Worktree

    return Worktree(path=str(path), name=path.name)


# --- folders that are gone ---------------------------------------------------------------------------------------


def test_a_renamed_folder_by_commit(repository: Any, homes: Homes, tmp_path: Path) -> None:
    head = repository.git("rev-parse", "HEAD")
    homes.codex(uid(1), str(tmp_path / "former-name"), {"commit_hash": head, "branch": "main"})
    homes.codex(uid(2), str(tmp_path / "stranger"), {"commit_hash": "1" * 40, "branch": "main"})
    found = find_sessions(facts(repository.root), homes=homes.map)
    assert ids(found) == [1]
    assert codes(found) == ["session.renamed_folder"]
    assert "'former-name'" in found.findings[0].detail
    assert "commit" in found.findings[0].detail
    assert found.findings[0].severity == "info"
    assert str(tmp_path) not in found.findings[0].detail


def test_a_renamed_folder_by_remote(repository: Any, homes: Homes) -> None:
    repository.git("remote", "add", "origin", "git@example.org:team/project.git")
    homes.codex(uid(1), "/gone/one", {"repository_url": "https://example.org/team/project"})
    homes.codex(uid(2), "/gone/project", {"repository_url": "https://example.org/team/another"})
    found = find_sessions(facts(repository.root), homes=homes.map)
    assert ids(found) == [1]
    assert "remote" in found.findings[0].detail


def test_a_moved_folder_by_its_name(repository: Any, homes: Homes) -> None:
    homes.claude(uid(1), "/gone/elsewhere/project")
    homes.claude(uid(2), "/gone/elsewhere/other")
    homes.pi(uid(3), "C:\\work\\project")
    found = find_sessions(facts(repository.root), homes=homes.map)
    assert ids(found) == [3, 1]
    assert codes(found) == ["session.renamed_folder"] * 2
    assert all("name" in finding.detail for finding in found.findings)


def test_the_same_name_claimed_by_another_commit(repository: Any, homes: Homes) -> None:
    homes.claude(uid(1), "/gone/project")
    homes.codex(uid(2), "/gone/project", {"commit_hash": "2" * 40})
    assert ids(find_sessions(facts(repository.root), homes=homes.map)) == []


def test_sessions_without_a_commit_follow_those_with_one(repository: Any, homes: Homes) -> None:
    head = repository.git("rev-parse", "HEAD")
    homes.codex(uid(1), "/gone/former", {"commit_hash": head})
    homes.claude(uid(2), "/gone/former")
    assert ids(find_sessions(facts(repository.root), homes=homes.map)) == [2, 1]


def test_an_existing_folder_is_never_taken(make_repository: Callable[..., Any], homes: Homes, tmp_path: Path) -> None:
    mine, clone = make_repository("mine"), tmp_path / "clone" / "mine"
    shutil.copytree(mine.root, clone)
    plain = tmp_path / "plain" / "mine"
    plain.mkdir(parents=True)
    head = mine.git("rev-parse", "HEAD")
    homes.codex(uid(1), str(clone), {"commit_hash": head})
    homes.codex(uid(2), str(plain), {"commit_hash": head})
    homes.claude(uid(3), str(clone / "deleted" / "mine"))
    found = find_sessions(facts(mine.root), homes=homes.map)
    assert ids(found) == []
    assert found.findings == ()


def test_really_renaming_the_folder(repository: Any, homes: Homes, tmp_path: Path) -> None:
    homes.codex(uid(1), str(repository.root), {"commit_hash": repository.git("rev-parse", "HEAD")})
    homes.claude(uid(2), str(repository.root))
    repository.root.rename(tmp_path / "renamed")
    assert ids(find_sessions(facts(tmp_path / "renamed"), homes=homes.map)) == [2, 1]


# --- damage and size ---------------------------------------------------------------------------------------------


def test_strange_folders(repository: Any) -> None:
    strange = ["", "relative/path", "/a\0b", "/" + "x" * 5000, "/\ud800", "~", "file:///x", "/gone/\x1b[31mproject"]
    kept, findings = sessions_in([ref(cwd) for cwd in strange], facts(repository.root))
    assert kept == ()
    assert [finding.code for finding in findings] == ["session.folder_unknown"]


def test_the_kind_of_parent_is_filled_in(repository: Any, homes: Homes) -> None:
    homes.codex(uid(1), str(repository.root))
    source = {"subagent": {"thread_spawn": {"parent_thread_id": uid(1), "depth": 1}}}
    homes.codex(uid(2), str(repository.root), source=source)
    homes.codex(uid(3), str(repository.root), forked_from_id=uid(1))
    kinds = [r.parent_kind for r in find_sessions(facts(repository.root), homes=homes.map).refs]
    assert kinds == ["fork", "subagent", ""]


def test_a_session_file_that_is_a_link_or_closed(repository: Any, homes: Homes, tmp_path: Path) -> None:
    real = homes.claude(uid(1), str(repository.root))
    (real.parent / f"{uid(2)}.jsonl").symlink_to(real)
    (real.parent / f"{uid(3)}.jsonl").write_bytes(b"\xff\x00 nonsense")
    assert ids(find_sessions(facts(repository.root), homes=homes.map)) == [1]


def test_ten_thousand_references(repository: Any, tmp_path: Path) -> None:
    refs = [
        ref(str(repository.root / f"d{n % 50}") if n % 3 == 0 else f"/gone/{n % 400}/x", path=f"/s/{n}", session_id=str(n))
        for n in range(10_000)
    ]  # fmt: skip
    start = time.process_time()
    kept, _ = sessions_in(refs, facts(repository.root))
    assert len(kept) == 3334
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://github.com/a/b.git", "github.com/a/b"),
        ("https://user:x@GitHub.com/a/b/", "github.com/a/b"),
        ("git@github.com:a/b.git", "github.com/a/b"),
        ("ssh://git@github.com:22/a/b", "github.com/a/b"),
        ("/srv/git/b.git", "/srv/git/b"),
        ("", ""),
        ("https://[broken", ""),
        ("https://github.com/..git", ""),
    ],
)
def test_remotes_compare_by_host_and_path(url: str, plain: str) -> None:
    assert plain_remote(url) == plain
