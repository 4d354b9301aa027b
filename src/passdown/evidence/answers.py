"""Commands whose non-zero exit is an answer: a search without a match, a probe of something that may be missing."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.evidence.kinds import look_at, program_of
from passdown.evidence.output import compiled
from passdown.evidence.shell import Part, has_pipefail

_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep"})
_LISTINGS = frozenset({"ls", "stat", "tree", "find", "fd", "lsd", "exa", "eza", "du", "file"})
_PROBES: dict[str, frozenset[int]] = {
    "diff": frozenset({1}), "cmp": frozenset({1}), "colordiff": frozenset({1}), "test": frozenset({1}),
    "[": frozenset({1}), "[[": frozenset({1}), "which": frozenset({1}), "command": frozenset({1, 127}),
    "type": frozenset({1}), "hash": frozenset({1}), "pgrep": frozenset({1}), "pidof": frozenset({1}),
    "lsof": frozenset({1}), "kill": frozenset({1}), "printenv": frozenset({1}), "expr": frozenset({1}),
    "pg_isready": frozenset({1, 2, 3}), "nc": frozenset({1}), "false": frozenset({1}), "tty": frozenset({1}),
    "dpkg": frozenset({1}), "dpkg-query": frozenset({1}), "mountpoint": frozenset({1, 32}),
}  # fmt: skip
_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "npm": frozenset({"view", "info", "show", "outdated", "ls", "list"}),
    "pnpm": frozenset({"view", "outdated"}), "yarn": frozenset({"outdated", "info"}),
    "pip": frozenset({"show"}), "pip3": frozenset({"show"}), "brew": frozenset({"list"}),
    "systemctl": frozenset({"is-active", "is-enabled", "status"}), "tmux": frozenset({"has-session"}),
}  # fmt: skip
_GIT = {
    "config": {1}, "check-ignore": {1}, "merge-base": {1}, "show-ref": {1}, "ls-remote": {2}, "symbolic-ref": {1},
    "grep": {1}, "cat-file": {1, 128}, "ls-files": {1},
}  # fmt: skip
_SHELL_ERROR = (
    r"^(?:\(eval\):\d+: |(?:/\S*/)?(?:ba|z|da)?sh: ?(?:line )?\d*:? ?)?"
    r"(?P<tool>rg|[ef]?grep|ag|ack|ls|cat|sed|head|tail|find|fatal|error|usage|zsh|bash|sh|jq|awk|wc|stat|tree|lsd):"
)
_MISSING = (
    r"(?:(?P<quoted>['‘\"][^'’\"]+['’\"])|(?P<bare>[^\s:'\"]+))"
    r"(?:: No such file or directory|: IO error for operation on| \(os error 2\))"
)
_NOT_THERE = r"No such file or directory|no matches found|[Nn]ot a directory|os error 2"
_VALUED = r"-(?:g|e|f|A|B|C|m|t|T|-glob|-type|-regexp|-include|-exclude|-exclude-dir|-max-count|-after-context)$"


def is_answer(parts: Sequence[Part], exit_code: int | None, text: str) -> bool:
    """Say whether a non-zero exit of this shell text, with this output, is an answer rather than a failure."""
    deciding = _deciding(parts)
    if not deciding:
        return False
    stages = [look_at(part.text) for part in deciding]
    last = [
        look
        for index, look in enumerate(stages)
        if index + 1 == len(deciding) or deciding[index + 1].before != "|" or has_pipefail(parts)
    ]
    if not all(look.reader or _probe(look.words) for look in last[:-1]):
        return False
    candidates = [look.words for look in last if _probe(look.words) or _asks_usage(look.words)]
    if not candidates:
        return False
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    errors = [line for line in lines if compiled(_SHELL_ERROR).match(line)]
    return any(_answers(words, exit_code, lines, errors) for words in reversed(candidates)) and not any(
        _fails(look.words, lines, errors) for look in last
    )


def _deciding(parts: Sequence[Part]) -> list[Part]:
    """Return the parts after the last `;`: the exit code is theirs."""
    start = max((index for index, part in enumerate(parts) if part.before == ";"), default=0)
    return list(parts[start:])


def _probe(words: Sequence[str]) -> bool:
    program = program_of(words)
    return (
        program in _SEARCHES
        or program in _LISTINGS
        or program in _PROBES
        or (program == "git" and bool(_git_exits(words)))
        or any(word in _SUBCOMMANDS.get(program, ()) for word in words[1:3])
    )


def _asks_usage(words: Sequence[str]) -> bool:
    return len(words) == 1 or (len(words) == 2 and words[1] in {"-h", "--help", "help"})


def _answers(words: Sequence[str], exit_code: int | None, lines: list[str], errors: list[str]) -> bool:
    program = program_of(words)
    exit_code = 1 if exit_code is None else exit_code
    if program in _SEARCHES:
        if exit_code in {1, 123}:
            return not errors or all(compiled(_NOT_THERE).search(line) for line in errors)
        return bool(errors) and _partly_missing(words, lines, errors)
    if program in _LISTINGS:
        return not errors or all(compiled(_NOT_THERE).search(line) for line in errors)
    if program == "git":
        return exit_code in _git_exits(words)
    if program in _SUBCOMMANDS and any(word in _SUBCOMMANDS[program] for word in words[1:3]):
        return True
    if program in _PROBES:
        return exit_code in _PROBES[program]
    return bool(lines) and lines[0].lstrip().lower().startswith("usage:")


def _fails(words: Sequence[str], lines: list[str], errors: list[str]) -> bool:
    """Say whether a reader among the commands complains about the very thing it was to read."""
    program = program_of(words)
    own = [line for line in errors if (match := compiled(_SHELL_ERROR).match(line)) and match["tool"] == program]
    if program in _LISTINGS:
        return False
    if program in _SEARCHES:
        return bool(own) and not _partly_missing(words, lines, own)
    return bool(own)


def _partly_missing(words: Sequence[str], lines: list[str], errors: list[str]) -> bool:
    """Say whether a search only missed some of the paths it was given, or found matches all the same."""
    if not all(compiled(_NOT_THERE).search(line) for line in errors):
        return False
    if len(lines) > len(errors):
        return True
    given = search_paths(words)
    missing = {
        (match["quoted"] or match["bare"]).strip("'‘’\"")
        for line in errors
        if (match := compiled(_MISSING).search(line))
    }
    return bool([path for path in given if path not in missing]) and bool(missing)


def search_paths(words: Sequence[str]) -> list[str]:
    """Return the paths a search was given: what is neither an option, an option's value, nor the pattern."""
    rest: list[str] = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            skip = bool(compiled(_VALUED).match(word))
        else:
            rest.append(word)
    return rest if any(word in {"-e", "--regexp", "--files"} for word in words) else rest[1:]


def _git_exits(words: Sequence[str]) -> set[int]:
    rest = list(words[1:])
    while len(rest) > 1 and rest[0] in {"-C", "-c"}:
        rest = rest[2:]
    if not rest:
        return set()
    name, options = rest[0], rest[1:]
    if name == "diff":
        return {1} if any(o in {"--exit-code", "--quiet", "--no-index"} for o in options) else set()
    if name == "rev-parse":
        return {1, 128} if any(o in {"--verify", "-q", "--quiet", "--is-inside-work-tree"} for o in options) else set()
    if name in {"cat-file", "ls-files"}:
        return _GIT[name] if any(o in {"-e", "-t", "--error-unmatch"} for o in options) else set()
    if name == "config":
        return {1} if sum(not o.startswith("-") for o in options) <= 1 or "--get" in options else set()
    return _GIT.get(name, set())
