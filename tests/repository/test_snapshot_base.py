"""The rules that choose the base."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.errors import PassdownError
from passdown.repository.snapshot import snapshot


def codes(facts: Any) -> list[str]:
    return [finding.code for finding in facts.findings]


def test_explicit_wins_over_hints(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit("second", a="1")
    repository.commit("third", a="2")
    facts = snapshot(repository.root, base="HEAD~2", base_hints=[("receipt", second)])
    assert (facts.base, facts.base_rule, facts.commits_total) == (first, "explicit", 2)


@pytest.mark.parametrize("name", ["nowhere", "--all", "HEAD:README.md", "", "a\0b", "\ud800"])
def test_an_explicit_base_must_be_a_commit(repository: Any, name: str) -> None:
    if not name:
        assert snapshot(repository.root, base=name).base_rule == "head"
        return
    with pytest.raises(PassdownError, match=r"no commit here|could not start"):
        snapshot(repository.root, base=name)


def test_hints_are_tried_in_order(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.commit("second", a="1")
    facts = snapshot(
        repository.root,
        base_hints=[("receipt", ""), ("packet", "0" * 40), ("state", "HEAD; rm"), ("last_known_good", first)],
    )
    assert (facts.base, facts.base_rule) == (first, "last_known_good")
    assert codes(facts) == ["base.missing", "base.missing"]


def test_the_merge_base_on_a_topic_branch(repository: Any) -> None:
    fork = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("work", a="1")
    repository.git("checkout", "-q", "main")
    repository.commit("elsewhere", b="1")
    repository.git("checkout", "-q", "topic")
    facts = snapshot(repository.root)
    assert (facts.base, facts.base_rule, facts.integration_branch) == (fork, "merge_base", "main")
    assert [change.path for change in facts.changes] == ["a"]


def test_a_configured_integration_branch(repository: Any) -> None:
    repository.git("checkout", "-q", "-b", "develop")
    fork = repository.commit("develop", d="1")
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("work", a="1")
    facts = snapshot(repository.root, integration_branch="develop")
    assert (facts.base, facts.integration_branch, facts.base_rule) == (fork, "develop", "merge_base")
    missing = snapshot(repository.root, integration_branch="production")
    assert (missing.integration_branch, codes(missing)) == ("main", ["base.integration_missing"])


def test_a_stale_local_integration_branch_does_not_pull_in_others_work(repository: Any, make_repository: Any) -> None:
    remote = make_repository("remote")
    repository.git("remote", "add", "origin", str(remote.root))
    repository.git("fetch", "-q", "origin")
    repository.git("reset", "-q", "--hard", "origin/main")
    fork = remote.commit("by others", **{"others.py": "x\n"})
    repository.git("fetch", "-q", "origin")
    repository.git("checkout", "-q", "-b", "topic", "--no-track", "origin/main")
    repository.commit("mine", **{"mine.py": "x\n"})
    facts = snapshot(repository.root)
    assert (facts.base, [change.path for change in facts.changes]) == (fork, ["mine.py"])


def test_unpushed_commits_on_the_integration_branch_itself(repository: Any, tmp_path: Any) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    repository.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repository.git("push", "-q", "-u", "origin", "main")
    pushed = repository.git("rev-parse", "HEAD")
    assert snapshot(repository.root).base_rule == "head"
    repository.commit("local", a="1")
    facts = snapshot(repository.root)
    assert (facts.base, facts.base_rule, facts.commits_total) == (pushed, "upstream", 1)
    repository.git("branch", "--unset-upstream")
    assert snapshot(repository.root).base == pushed


def test_an_amended_base_is_replaced_by_the_merge_base(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    before = repository.commit("work", a="1")
    repository.git("commit", "-q", "--amend", "-m", "work, said better")
    facts = snapshot(repository.root, base_hints=[("packet", before)])
    assert (facts.base, facts.base_rule, codes(facts)) == (first, "packet", ["base.rewritten"])
    assert snapshot(repository.root, base=before).base == first


def test_a_hint_without_common_history_is_passed_over(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "--orphan", "other")
    foreign = repository.commit("foreign", f="1")
    repository.git("checkout", "-q", "main")
    repository.commit("work", a="1")
    facts = snapshot(repository.root, base_hints=[("receipt", foreign), ("packet", first)])
    assert (facts.base, facts.base_rule, codes(facts)) == (first, "packet", ["base.unrelated"])


def test_a_hint_that_is_passdowns_own_commit_means_the_one_below(repository: Any) -> None:
    work = repository.commit("work", a="1")
    own = repository.commit("packet", **{"outputs/handoff/s/handoff.json": "{}"})
    for hint in (own, work):
        facts = snapshot(repository.root, base_hints=[("packet", hint)], own_paths=["outputs/handoff"])
        assert (facts.base, facts.base_rule, codes(facts)) == (work, "packet", [])


def test_a_branch_of_its_own_name_is_its_own_integration_branch(repository: Any) -> None:
    repository.git("branch", "-m", "something")
    facts = snapshot(repository.root)
    assert (facts.base_rule, facts.integration_branch, facts.base) == ("head", "", facts.head)


def test_origin_head_names_the_integration_branch(repository: Any, tmp_path: Any) -> None:
    repository.git("branch", "-m", "develop")
    repository.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = type(repository)(tmp_path / "clone")
    clone.git("checkout", "-q", "-b", "topic")
    clone.git("branch", "-q", "-D", "develop")
    clone.commit("work", a="1")
    facts = snapshot(clone.root)
    assert (facts.integration_branch, facts.base_rule, facts.commits_total) == ("develop", "merge_base", 1)
