"""Which sessions feed a packet, which one leads, and when somebody has to choose."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.errors import ConflictError, UsageError
from passdown.model.session import SessionRef
from passdown.repository.snapshot import snapshot
from passdown.sessions.select import LIVE_WINDOW_MS, Selection, select_sessions

NOW = 1_790_000_000_000
HOUR = 3_600_000


def ref(name: str, root: Any, *, ago: int = HOUR, **more: Any) -> SessionRef:
    """A session that ended `ago` milliseconds before NOW, an hour after its start."""
    known = {
        "agent": "claude_code", "path": f"/logs/{name}.jsonl", "session_id": name, "cwd": str(root), "branch": "main",
        "modified_at": NOW - ago, "started_at": NOW - ago - HOUR,
    }  # fmt: skip
    return SessionRef(**(known | more))


def choose(refs: list[SessionRef], repository: Any, **more: Any) -> Selection:
    return select_sessions(refs, snapshot(repository.root), **({"since": None, "now": NOW} | more))


def names(chosen: Selection) -> list[str]:
    return [r.session_id for r in chosen.refs]


def codes(chosen: Selection) -> list[str]:
    return [finding.code for finding in chosen.findings]


def primary(chosen: Selection) -> str:
    return chosen.primary.session_id if chosen.primary else ""


def test_nothing(repository: Any) -> None:
    assert choose([], repository) == Selection()


def test_all_since_the_base_and_the_newest_leads(repository: Any) -> None:
    refs = [
        ref("oldest", repository.root, ago=9 * HOUR),
        ref("newest", repository.root),
        ref("middle", repository.root, ago=3 * HOUR),
    ]
    chosen = choose(refs, repository, since=NOW - 5 * HOUR)
    assert names(chosen) == ["newest", "middle"]
    assert primary(chosen) == "newest"
    assert chosen.live == ()
    assert names(choose(refs, repository)) == ["newest", "middle", "oldest"]


def test_the_order_of_the_references_does_not_matter(repository: Any) -> None:
    refs = [ref(f"session-{n}", repository.root, ago=HOUR) for n in range(4)]
    assert choose(refs, repository) == choose(refs[::-1], repository)


def test_a_session_exactly_at_the_base_is_over(repository: Any) -> None:
    refs = [ref("same", repository.root, ago=HOUR)]
    assert names(choose(refs, repository, since=NOW - HOUR)) == []
    assert names(choose(refs, repository, since=NOW - HOUR - 1)) == ["same"]


def test_one_agent(repository: Any) -> None:
    refs = [ref("one", repository.root), ref("two", repository.root, agent="codex")]
    assert names(choose(refs, repository, agent="codex")) == ["two"]
    with pytest.raises(UsageError, match="no agent called"):
        choose(refs, repository, agent="nobody")


# --- branches and worktrees --------------------------------------------------------------------------------------


def test_another_branch_is_left_out_and_counted(repository: Any) -> None:
    refs = [
        ref("mine", repository.root),
        ref("a", repository.root, branch="topic"),
        ref("b", repository.root, branch="topic"),
    ]
    chosen = choose(refs, repository)
    assert names(chosen) == ["mine"]
    assert codes(chosen) == ["session.other_branch"]
    assert chosen.findings[0].severity == "info"
    assert chosen.findings[0].detail == "2 of another branch left out: topic (2)"


@pytest.mark.parametrize("branch", ["", "HEAD", "main"])
def test_an_unknown_branch_stays(repository: Any, branch: str) -> None:
    assert names(choose([ref("x", repository.root, branch=branch)], repository)) == ["x"]


def test_a_session_during_which_the_branch_was_made(repository: Any) -> None:
    repository.git("checkout", "-q", "-b", "feature")
    moved = int(repository.git("reflog", "show", "--date=unix", "--format=%gd", "-n", "1").split("{")[1][:-1]) * 1000
    during = ref("during", repository.root, branch="main", started_at=moved - HOUR, modified_at=moved + HOUR)
    before = ref("before", repository.root, branch="main", started_at=moved - 3 * HOUR, modified_at=moved - HOUR)
    after = ref("after", repository.root, branch="main", started_at=moved + HOUR, modified_at=moved + 2 * HOUR)
    chosen = choose([during, before, after], repository)
    assert names(chosen) == ["during"]
    assert codes(chosen) == ["session.other_branch"]


def test_a_renamed_branch(repository: Any) -> None:
    repository.git("checkout", "-q", "-b", "first-name")
    repository.git("branch", "-m", "second-name")
    repository.git("branch", "-m", "third-name")
    chosen = choose(
        [ref("x", repository.root, branch="first-name"), ref("y", repository.root, branch="other")], repository
    )
    assert names(chosen) == ["x"]


def test_detached_head_takes_every_branch(repository: Any) -> None:
    repository.git("checkout", "-q", "--detach")
    assert names(choose([ref("x", repository.root, branch="topic")], repository)) == ["x"]


def test_another_worktree_is_left_out_and_counted(repository: Any, tmp_path: Any) -> None:
    repository.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "feature")
    refs = [
        ref("here", repository.root / "src"),
        ref("there", tmp_path / "other", branch="feature"),
        ref("gone", "/gone/project"),
    ]
    chosen = choose(refs, repository)
    assert sorted(names(chosen)) == ["gone", "here"]
    assert codes(chosen) == ["session.other_worktree"]


def test_a_hostile_branch_name_is_made_plain(repository: Any) -> None:
    chosen = choose([ref("x", repository.root, branch="to\x1b[31mpic\n# heading")], repository)
    assert chosen.findings[0].detail.endswith("topic # heading (1)")


# --- subagents ---------------------------------------------------------------------------------------------------


def test_subagents_follow_their_parent_and_never_lead(repository: Any) -> None:
    parent = ref("parent", repository.root, ago=2 * HOUR)
    child = ref("child", repository.root, ago=HOUR, parent_id="parent", parent_kind="subagent", branch="elsewhere")
    grandchild = ref("grandchild", repository.root, parent_id="child", parent_kind="subagent")
    other = ref("other", repository.root, ago=3 * HOUR)
    chosen = choose([grandchild, child, other, parent], repository)
    assert names(chosen) == ["parent", "grandchild", "child", "other"]
    assert primary(chosen) == "parent"
    assert chosen.findings == ()


def test_subagents_of_a_session_that_is_left_out(repository: Any) -> None:
    parent = ref("parent", repository.root, branch="topic")
    child = ref("child", repository.root, parent_id="parent", parent_kind="subagent")
    assert names(choose([parent, child], repository)) == []


def test_a_subagent_without_its_parent_leads_only_alone(repository: Any) -> None:
    orphan = ref("orphan", repository.root, parent_id="lost", parent_kind="subagent")
    assert primary(choose([orphan], repository)) == "orphan"
    older = ref("older", repository.root, ago=5 * HOUR)
    chosen = choose([orphan, older], repository)
    assert names(chosen) == ["orphan", "older"]
    assert primary(chosen) == "older"


def test_forks_and_continuations_are_sessions_of_their_own(repository: Any) -> None:
    first = ref("first", repository.root, ago=3 * HOUR)
    fork = ref("fork", repository.root, ago=2 * HOUR, parent_id="first", parent_kind="fork")
    unknown = ref("unknown", repository.root, ago=HOUR, parent_id="first")
    chosen = choose([first, fork, unknown], repository)
    assert names(chosen) == ["unknown", "fork", "first"]


def test_parents_in_a_circle(repository: Any) -> None:
    one = ref("one", repository.root, parent_id="two", parent_kind="subagent")
    two = ref("two", repository.root, parent_id="one", parent_kind="subagent")
    own = ref("own", repository.root, parent_id="own", parent_kind="subagent")
    chosen = choose([one, two, own], repository)
    assert "own" in names(chosen)


def test_several_files_of_one_session_count_once(repository: Any) -> None:
    old = ref("same", repository.root, ago=5 * HOUR, path="/logs/old.jsonl")
    new = ref("same", repository.root, ago=HOUR, path="/logs/new.jsonl")
    assert [r.path for r in choose([old, new], repository).refs] == ["/logs/new.jsonl"]


# --- live ones ---------------------------------------------------------------------------------------------------


def test_one_live_session_leads(repository: Any) -> None:
    chosen = choose([ref("live", repository.root, ago=1000), ref("done", repository.root)], repository)
    assert primary(chosen) == "live"
    assert [r.session_id for r in chosen.live] == ["live"]


def test_two_live_sessions_need_a_choice(repository: Any) -> None:
    refs = [
        ref("aaaaaaaa-1", repository.root, ago=1000),
        ref("bbbbbbbb-2", repository.root, ago=LIVE_WINDOW_MS, agent="codex", title="Fix the parser"),
        ref("cccccccc-3", repository.root),
    ]
    with pytest.raises(ConflictError) as caught:
        choose(refs, repository)
    assert "claude_code aaaaaaaa-1" in caught.value.what
    assert "codex bbbbbbbb-2 ('Fix the parser')" in caught.value.what
    assert "--session" in caught.value.next_step
    chosen = choose(refs, repository, session="bbbbbb")
    assert names(chosen) == ["bbbbbbbb-2"]
    assert [r.session_id for r in chosen.live] == ["bbbbbbbb-2"]


def test_just_outside_the_window(repository: Any) -> None:
    refs = [ref("one", repository.root, ago=1000), ref("two", repository.root, ago=LIVE_WINDOW_MS + 1)]
    assert names(choose(refs, repository)) == ["one", "two"]
    with pytest.raises(ConflictError):
        choose(refs, repository, live_window_ms=2 * LIVE_WINDOW_MS)


def test_a_live_one_elsewhere_is_no_conflict(repository: Any) -> None:
    refs = [ref("one", repository.root, ago=1000), ref("two", repository.root, ago=1000, branch="topic")]
    assert primary(choose(refs, repository)) == "one"


def test_a_live_subagent_is_no_conflict_and_keeps_its_parent_live(repository: Any) -> None:
    parent = ref("parent", repository.root, ago=HOUR)
    child = ref("child", repository.root, ago=1000, parent_id="parent", parent_kind="subagent")
    assert [r.session_id for r in choose([parent, child], repository).live] == ["parent"]
    other = ref("other", repository.root, ago=1000)
    with pytest.raises(ConflictError):
        choose([parent, child, other], repository)


# --- naming one --------------------------------------------------------------------------------------------------


def test_named_by_id_prefix_or_file(repository: Any, tmp_path: Any) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("{}\n")
    refs = [
        ref("abcdef12-x", repository.root, branch="topic", path=str(log)),
        ref("child", repository.root, parent_id="abcdef12-x", parent_kind="subagent"),
        ref("abcdzz34-y", repository.root),
    ]
    (tmp_path / "link.jsonl").symlink_to(log)
    for session in ("abcdef12-x", "abcdef", str(log), str(tmp_path / "link.jsonl")):
        chosen = choose(refs, repository, session=session, since=NOW)
        assert names(chosen) == ["abcdef12-x", "child"]
        assert primary(chosen) == "abcdef12-x"


def test_an_exact_id_wins_over_a_longer_one(repository: Any) -> None:
    refs = [ref("session", repository.root), ref("session-2", repository.root)]
    assert names(choose(refs, repository, session="session")) == ["session"]


@pytest.mark.parametrize(
    ("session", "message"),
    [
        ("abc", "no session of this repository is called 'abc' (an id's beginning needs 6 characters)"),
        ("nothing-like-it", "no session of this repository is called 'nothing-like-it'"),
        ("abcdef", "2 sessions answer to 'abcdef': claude_code abcdef-1, claude_code abcdef-2"),
        ("../../etc/passwd", "no session of this repository is called '../../etc/passwd'"),
        ("a\0b/c.jsonl", "no session of this repository is called 'ab/c.jsonl'"),
    ],
)
def test_named_wrongly(repository: Any, session: str, message: str) -> None:
    refs = [ref("abcdef-1", repository.root), ref("abcdef-2", repository.root)]
    with pytest.raises(UsageError) as caught:
        choose(refs, repository, session=session)
    assert caught.value.what == message
