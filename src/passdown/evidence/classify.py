"""How a command really ended: failed or not, an answer or a failure, and the line that says why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from passdown.evidence.answers import is_answer, search_paths
from passdown.evidence.kinds import Look, look_at
from passdown.evidence.masking import is_masking
from passdown.evidence.output import any_line, bare_output, clipped, compiled, error_line
from passdown.evidence.shell import Part
from passdown.model.session import Outcome

Result = Literal["ok", "failed", "interrupted", "rejected", "timeout", "running", "unknown"]


class Verdict(Struct, frozen=True, gc=False):
    """How a run ended. `masked` says that a failure hid behind exit 0, `output` is what may name it, taken out bare."""

    result: Result
    expected: bool = False
    error_line: str = ""
    masked: bool = False
    output: str = ""


OK = Verdict("ok")

_CANCELLED = r"(?:<tool_use_error>)?\s*(?:Sibling tool call errored|Cancelled: parallel tool call)"
_REFUSED = r"<tool_use_error>"
"""What Claude Code puts before its own no to a call (blocked, not valid): the command was not run."""
_ABORTED = r"(?i)(?:^|\n)\s*(?:Command aborted|User aborted the command|\[Request interrupted by user)"
_TIMED_OUT = r"(?im)^\W*(?:command|process|execution|shell tool)?\b.{0,40}\btimed? ?out (?:after|in)\b"

_ANNOUNCED = r"""(?ix)
    \b(?:should|must|will|ought\ to|going\ to|expect(?:ed|ing)?(?:\ [\w`']+){0,4}\ to|supposed\ to)\s+
      (?:now\s+|still\s+|initially\s+|first\s+|all\s+|currently\s+)?
      (?:fail|be\ red|error|be\ rejected|be\ refused|exit\ (?:with\ )?non-?zero|return\ (?:an?\ )?(?:error|[45]\d\d))\b
    | \b(?:confirm|verify|watch|make\ sure|ensure|prove)(?:\ that)?\s+
      (?:(?!why\b|whether\b|if\b|how\b|what\b)[\w`'()./-]+\s+){0,5}?
      (?:fails?|is\ red|are\ red|is\ rejected|are\ rejected|is\ refused)\b
    | \bfailing\ tests?\ first\b | \bRED\ (?:phase|step|state)\b | \bred\ first\b
    | \bexpect(?:ing)?\ (?:an?\ |the\ )?(?:[\w`']+\ ){0,2}(?:failures?|red)\b
    """

_ANNOUNCED_WORDS = ("fail", "red", "error", "reject", "refus", "zero", "return")

_FAILURE = r"""(?mx)
    ^npm\ (?:error|ERR!)\ (?:code|command|Lifecycle|Test\ failed)
    | \berror\ TS\d+: | ^error\[E\d+\]: | ^error:\ could\ not\ compile
    | ^(?:---\ FAIL:|FAIL\b|\(fail\)\ |not\ ok\ |FAILED\b|✗\ |✖\ [1-9]|❌\ )
    | \b[1-9]\d*\ (?:tests?\ |specs?\ |examples?,\ )?(?:failed|failures?|failing)\b
    | \bTests:\s+[1-9]\d*\ failed | \b(?:fail|failed|failures|errors):?\ +[1-9]\d*\s*$ | \btest\ result:\ FAILED
    | \b(?:Found|generated)\ [1-9]\d*\ errors? | \b[1-9]\d*\ errors?\b(?!\ (?:handl|messag)) | ^[1-9]\d*\ issues?:
    | \bBUILD\ FAIL(?:ED|URE)\b | \bERROR\ task\ failed | \bELIFECYCLE\b | ^make(?:\[\d+\])?:\ \*\*\*
    | ^Traceback\ \(most\ recent\ call\ last\) | ^panic:\ | ^thread\ '.*'\ panicked | \[build\ failed\]
    """
"""Lines that a checking command prints only when it fails."""
_FAILURE_WORDS = (
    "error", "fail", "FAIL", "ERR!", "not ok ", "✗ ", "✖ ", "❌ ", " issue", "ELIFECYCLE", ": ***", "Traceback (most",
    "panic",
)  # fmt: skip

_GIT_FAILURE = r"(?m)^(?:fatal|error): |^ ! \[(?:remote )?rejected\]|^CONFLICT "
_GIT_WORDS = ("fatal: ", "error: ", "rejected]", "CONFLICT ")
_NOT_FOUND = (
    r"(?m)^(?:\(eval\):\d+: |(?:/\S*/)?(?:ba|z|da)?sh: (?:line )?\d*:? ?)"
    r"(?:command not found: \S+|\S+: (?:command )?not found)"
)
_SHELL_COMPLAINT = r"(?:fatal|error): |\S+: .*(?:No such file or directory|[Pp]ermission denied)\s*\Z"
_READ_ERROR_WORDS = ("No such file", "s a directory", "denied")
_READ_ERROR = r"^(?:cat|sed|head|tail|[ef]?grep|rg|awk|wc|nl|less): .*(?:No such file|[Ii]s a directory|denied)"


def judge(
    parts: Sequence[Part], exit_code: int | None, outcome: Outcome, text: str, said: str = "", errors: str = ""
) -> Verdict:
    """Return how a run ended, from its exit code, its output and what the agent said right before it.

    `errors` is standard error where it was recorded apart from `text`.
    """
    verdict = weigh(parts, exit_code, outcome, text, said, errors)
    line = error_line(errors) if errors and not verdict.masked and verdict.output else ""
    return structs.replace(verdict, error_line=line or error_line(verdict.output)) if verdict.output else verdict


def weigh(
    parts: Sequence[Part], exit_code: int | None, outcome: Outcome, text: str, said: str = "", errors: str = ""
) -> Verdict:
    """Return what `judge` does without the line that names a failure, which takes most of the time."""
    if exit_code in (None, 0) and outcome == "ok":
        signs = _signs(tuple(parts))
        hiding = _hidden_failure(signs, text, errors) if signs is not None else ""
        return Verdict("failed", masked=True, output=hiding) if hiding else OK
    if outcome in {"rejected", "running"}:
        return Verdict(outcome)
    output = bare_output(text)
    cancelled = compiled(_CANCELLED).match(output)
    if outcome == "interrupted" or cancelled or (exit_code is None and compiled(_ABORTED).search(output[-400:])):
        return Verdict("interrupted", output=output)
    if exit_code is None and output.lstrip().startswith(_REFUSED):
        return Verdict("rejected")
    if exit_code is None and outcome == "unknown":
        return _unreported(parts, output)
    late = exit_code in {None, 124} and compiled(_TIMED_OUT).search(output[:400] + "\n" + output[-400:])
    if outcome == "timeout" or late:
        return Verdict("timeout", output=output)
    expected = is_answer(parts, exit_code, _both(output, errors)) or is_announced(said)
    return Verdict("failed", expected, output=output)


def is_announced(said: str) -> bool:
    """Say whether an agent's words, right before a run, say that it must fail."""
    said = said[-400:]
    return _holds(_ANNOUNCED_WORDS, said.lower()) and compiled(_ANNOUNCED).search(said) is not None


def is_silent(parts: Sequence[Part]) -> bool:
    """Say whether a shell text has nothing to say when all goes well: it changes files or looks, and runs no code."""
    looks = [look_at(part.text) for part in parts]
    return bool(looks) and all(look.kind in {"edit", "search", "vcs"} or look.reader for look in looks)


def _unreported(parts: Sequence[Part], output: str) -> Verdict:
    """Judge a run whose ending nobody reported: by its output when there is any, else it has no result."""
    if not output.strip():
        return Verdict("unknown")
    if _says_failure(output) or _says_not_found(output) or compiled(_SHELL_COMPLAINT).match(output):
        return Verdict("failed", is_answer(parts, None, output), output=output)
    return OK


def _says_failure(output: str) -> bool:
    return any_line(compiled(_FAILURE), _FAILURE_WORDS, output)


def _says_not_found(output: str) -> bool:
    return any_line(compiled(_NOT_FOUND), ("not found",), output)


def _both(output: str, errors: str) -> str:
    return f"{output}\n{errors}" if errors else output


class _Signs(Struct, frozen=True, gc=False):
    """What tells that a shell text which masks its exit code failed: `words` are texts of which its output holds one.

    `heads` are the commands whose exit code could count, `checks` those of them whose output is their own verdict.
    """

    heads: tuple[Look, ...]
    checks: tuple[Look, ...]
    words: tuple[str, ...]


@lru_cache(maxsize=512)
def _signs(parts: tuple[Part, ...]) -> _Signs | None:
    """Return the signs of a hidden failure; None for parts that do not mask the exit code."""
    if not is_masking(parts):
        return None
    heads = tuple(look_at(part.text) for part in parts if part.before != "|")
    checks = tuple(look for look in heads if not look.reader and not _is_query(look))
    if not checks:
        return _Signs(heads, checks, _READ_ERROR_WORDS)
    words = ["not found"]
    for look in checks:
        words += _GIT_WORDS if look.program in {"git", "gh"} else _FAILURE_WORDS if _counts(look) else ()
    return _Signs(heads, checks, tuple(dict.fromkeys(words)))


def _hidden_failure(signs: _Signs, text: str, errors: str) -> str:
    """Return the bare output of a command whose exit 0 hides a failure: it holds a failure's own words; else nothing.

    Only for parts that mask the exit code.
    """
    text = clipped(text)
    if "\x1b" not in text and not _holds(signs.words, text) and not (errors and _holds(signs.words, errors)):
        return ""  # quicker than taking the wrapping off
    output = _both(bare_output(text), errors)
    return output if output and not output.isspace() and _complains(signs.heads, signs.checks, output) else ""


def _holds(words: tuple[str, ...], text: str) -> bool:
    for word in words:  # noqa: SIM110  # a generator for each of thousands of outputs takes longer than looking
        if word in text:
            return True
    return False


def _complains(heads: Sequence[Look], checks: Sequence[Look], output: str) -> bool:
    if checks and _says_not_found(output):
        return True
    for look in checks:
        if look.program in {"git", "gh"}:
            if any_line(compiled(_GIT_FAILURE), _GIT_WORDS, output):
                return True
        elif _counts(look) and _says_failure(output):
            return True
    return bool(heads) and not checks and _read_nothing(heads, output)


def _counts(look: Look) -> bool:
    """Say whether the failure words in a command's output are its own."""
    return look.kind != "other" or _runs_code(look.program)


def _is_query(look: Look) -> bool:
    return look.program in {"npm", "pnpm", "yarn", "pip"} and any(
        word in {"view", "info", "show", "search", "outdated", "ls", "list"} for word in look.words[1:2]
    )


def _runs_code(program: str) -> bool:
    return program in _CODE or program.startswith("python")


_CODE = frozenset({
    "npm", "pnpm", "yarn", "npx", "node", "bun", "deno", "tsx", "mise", "just", "task", "cargo", "go", "mix",
    "ruby", "php", "java", "uv", "poetry", "hatch", "dotnet", "swift", "bash", "sh", "gradlew", "mvnw",
})  # fmt: skip


def _read_nothing(heads: Sequence[Look], output: str) -> bool:
    """Say whether all that came of reading is the complaint that the one thing to read is not there."""
    complaint = compiled(_READ_ERROR)
    if not complaint.match(output.lstrip()):
        return False
    lines = [line for line in output.split("\n") if line.strip()]
    if not all(complaint.match(line) for line in lines):
        return False
    last = heads[-1]
    return last.program not in {"grep", "egrep", "fgrep", "rg"} or len(search_paths(last.words)) <= len(lines)
