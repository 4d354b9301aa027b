"""The branch a CI system builds, out of its variables: its checkouts are detached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

_HEADS = (
    "GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CHANGE_BRANCH", "SYSTEM_PULLREQUEST_SOURCEBRANCH",
    "TRAVIS_PULL_REQUEST_BRANCH", "DRONE_SOURCE_BRANCH", "BITBUCKET_BRANCH", "CI_COMMIT_BRANCH", "CIRCLE_BRANCH",
    "BUILDKITE_BRANCH", "BUILD_SOURCEBRANCH", "TRAVIS_BRANCH", "DRONE_BRANCH", "BRANCH_NAME", "APPVEYOR_REPO_BRANCH",
)  # fmt: skip
_TAGS = ("CI_COMMIT_TAG", "CIRCLE_TAG", "BUILDKITE_TAG", "TRAVIS_TAG", "BITBUCKET_TAG", "TAG_NAME")


class CiBranch(Struct, frozen=True, gc=False):
    """What is built. `kind` tells a branch from a tag and from a pull request's own ref."""

    name: str = ""
    kind: Literal["branch", "tag", "ref"] = "branch"

    @property
    def found(self) -> bool:
        """Whether a CI system says what it builds."""
        return bool(self.name)


def ci_branch(environ: Mapping[str, str]) -> CiBranch:
    """Return what the CI system says it builds; nothing outside of one."""
    if environ.get("CI", "").lower() not in ("true", "1", "yes") and not environ.get("GITHUB_ACTIONS"):
        return CiBranch()
    tag = next((environ[name] for name in _TAGS if environ.get(name)), "")
    ref = environ.get("GITHUB_REF_NAME", "")
    if tag or environ.get("GITHUB_REF_TYPE") == "tag":
        return CiBranch(_plain(tag or ref), "tag")
    named = next((environ[name] for name in _HEADS if environ.get(name)), "") or ref
    if named.startswith("refs/pull/") or (named == ref and ref.endswith("/merge")):
        return CiBranch(_plain(named), "ref")
    return CiBranch(_plain(named.removeprefix("refs/heads/")))


def _plain(name: str) -> str:
    return name[:200] if name.isprintable() and not name.startswith("-") else ""
