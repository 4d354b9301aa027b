"""Which actions check the work, and how they ended."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.data.records import Action
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult

_SCRIPT = lazy_pattern(
    r"(?i)(?:^|[\s/_.-])(?:repro|reproduce\w*|check\w*|verify\w*|validate\w*|test\w*)\S*\.(?:py|sh|js|ts|rb|pl|ps1)\b"
)
_INLINE = lazy_pattern(
    r"\bunittest\b|\bpytest\b|\bdoctest\b|\bimport test_|\btest_\w+\(|Invoke-Pester"
    r"|\bast\.parse\(\s*open\(|\bpy_compile\b|^\s*assert\b|;\s*assert\b"
)
_NO_CHECK = lazy_pattern(
    r"(?i)(?:^|[\s:/_-])(?:fmt|format\w*|gofmt|goimports|rustfmt|prettier|isort|clean|install|setup|bootstrap|gen|gen-\S+"
    r"|generate\w*|docs?|changelog|deploy|release|publish|dev|start|serve|watch|up|down|login|push|pull)(?=$|[\s:;&|])"
    r"|(?:^|\s)(?:-n|--dry-run|--just-print|--help|--version)(?=$|\s)"
)
"""Tasks of build tools that make or change something, and say nothing of whether it is right."""


def is_check(action: Action) -> bool:
    """Say whether an action checks the work: tests, a build, a linter, a script that reproduces or verifies."""
    if action.kind == "TEST":
        return True
    if action.kind == "BUILD":
        return not action.writes and _NO_CHECK.search(action.detail) is None
    if action.kind != "RUN":
        return False
    if "#" in action.target:
        return _INLINE.search(action.detail) is not None
    return _SCRIPT.search(action.target or action.detail) is not None


def is_build_or_test(action: Action) -> bool:
    """Say whether an action that checks is a build or a run of tests, not just a script of the agent's own."""
    return action.kind != "RUN" or "#" in action.target


_NEVER_BEGAN = lazy_pattern(
    r"(?m)^(?:ERROR: (?:file or directory )?not found|\S*python\S*: No module named "
    r"|(?:\(eval\):\d+: |\S*sh: ).{0,200}not found)"
)
_BEGINNINGS = ("ERROR: ", "No module named ", "not found")
_ERROR = lazy_pattern(r"(?:\w+\.)*\w*(?:Error|Exception)\b: ")


def ended(action: Action, results: Sequence[ToolResult] | None) -> bool | None:
    """Return how a check ended. Words decide where an exit code is not the check's own: that nothing could be run, or,
    where nobody reported an end, that the last line is an error.
    """
    if action.ok is False or not results:
        return action.ok
    text, reported = results[-1].text, results[-1].exit_code is not None
    if any(word in text for word in _BEGINNINGS) and _NEVER_BEGAN.search(text):
        return False
    last = text.rstrip()[-400:].rpartition("\n")[2].strip()
    return False if not reported and _ERROR.match(last) else action.ok
