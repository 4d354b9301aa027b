"""Failed or not, expected or not, and the line that says why."""

from __future__ import annotations

import pytest

from passdown.evidence.classify import is_announced, judge
from passdown.evidence.kinds import look_at
from passdown.evidence.output import bare_output, error_line
from passdown.evidence.shell import split_shell

GEMINI = (
    "<untrusted_context>\nOutput: it broke\nExit Code: 1\nProcess Group PGID: 2493\n</untrusted_context>\n\n"
    "<hook_context>tests failed</hook_context>"
)
QWEN = (
    "Command: make\nDirectory: (root)\nOutput: it broke\nError: (none)\nExit Code: 1\nSignal: (none)\n"
    "Process Group PGID: (none)"
)
MISSING = "ls: cannot access 'x': No such file or directory"


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("grep -n needle hay.py", 1, ""),
        ("cd src && rg needle", 1, ""),
        ("find . -name '*.py' | xargs grep -l needle 2>/dev/null", 123, ""),
        ("git grep needle", 1, ""),
        ("rg needle src docs", 2, "src/a.py:1:needle\nrg: docs: No such file or directory (os error 2)"),
        ("rg needle src docs", 2, "rg: docs: No such file or directory (os error 2)"),
        ("nl -ba a.py | sed -n '1,9p' && rg needle a.py", 1, "1\timport os"),
        ("ls x", 2, MISSING),
        ("echo one; ls -la x 2>&1", 2, f"one\n{MISSING}"),
        ("test -f pyproject.toml", 1, ""),
        ("[ -d build ]", 1, ""),
        ("diff a b", 1, "1c1\n< a\n---\n> b"),
        ("git diff --exit-code", 1, "diff --git a/x b/x"),
        ("git config --get user.name", 1, ""),
        ("git rev-parse --verify topic", 128, "fatal: Needed a single revision"),
        ("git check-ignore -q x", 1, ""),
        ("git cat-file -e abc 2>&1", 128, "fatal: Not a valid object name abc"),
        ("which node", 1, ""),
        ("command -v node", 1, ""),
        ("pgrep -f server", 1, ""),
        ("npm view left-pad@9 version", 1, "npm error code E404"),
        ("pip show nothing", 1, "WARNING: Package(s) not found: nothing"),
        ("tool --help", 1, "usage: tool COMMAND"),
    ],
)
def test_an_answer_is_expected(command: str, code: int, text: str) -> None:
    verdict = judge(split_shell(command), code, "failed", text)
    assert (verdict.result, verdict.expected) == ("failed", True)


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("grep needle nosuch.py", 2, "grep: nosuch.py: No such file or directory"),
        ("rg '(' src", 2, "regex parse error:\n    (\nerror: unclosed group"),
        ("cat nosuch.txt", 1, "cat: nosuch.txt: No such file or directory"),
        (
            "sed -n 1,9p a.py && sed -n 1,9p nosuch.py",
            2,
            "import os\nsed: can't read nosuch.py: No such file or directory",
        ),
        ("make build && grep -q ok out.txt", 2, "make: *** [build] Error 2"),
        ("diff a nosuch", 2, "diff: nosuch: No such file or directory"),
        ("git push", 1, "error: failed to push some refs"),
        ("git rev-parse HEAD topic", 128, "fatal: ambiguous argument 'topic'"),
        ("git diff --check", 2, "a.py:1: trailing whitespace."),
        ("pytest", 1, "1 failed in 0.2s"),
        ("nosuchtool", 127, "bash: nosuchtool: command not found"),
        ("set -o pipefail; pytest | grep passed", 1, "1 failed in 0.1s"),
        ("curl -f http://127.0.0.1:1", 7, "curl: (7) Failed to connect"),
    ],
)
def test_a_failure_is_a_failure(command: str, code: int, text: str) -> None:
    verdict = judge(split_shell(command), code, "failed", text)
    assert (verdict.result, verdict.expected) == ("failed", False)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest 2>&1 | tail -3", "FAILED tests/test_a.py::test_a - assert 0\n1 failed, 3 passed in 0.12s"),
        ("npx tsc --noEmit 2>&1 | head -20", "src/a.ts(1,2): error TS2304: Cannot find name 'x'."),
        ("npm run check 2>&1 | tail -5", "npm error code 2\nnpm error command failed"),
        ("go test ./... | grep -A3 FAIL", "--- FAIL: TestA (0.00s)"),
        ("cargo test || true", "test result: FAILED. 3 passed; 1 failed; 0 ignored"),
        ("npm install; echo done", "npm error code ERESOLVE\ndone"),
        ("python -m pyright src | tail -20", "(eval):1: command not found: python"),
        ("git push origin main 2>&1 | tail -2", " ! [rejected]        main -> main (fetch first)"),
        ("grep -n needle nosuch.py | head", "grep: nosuch.py: No such file or directory"),
    ],
)
def test_a_failure_hidden_by_the_shell_is_found(command: str, text: str) -> None:
    verdict = judge(split_shell(command), 0, "ok", text)
    assert (verdict.result, verdict.masked) == ("failed", True)
    assert verdict.error_line


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("cat build.log | tail -5", "npm error code 2\n1 failed in 0.1s"),
        ("git log --oneline | head", "abc fix: FAILED tests\ndef error: could not compile"),
        ("git diff | grep error", "+error TS2304: x"),
        ("rg 'error TS' docs | head", "docs/a.md:error TS2304: x"),
        ("pytest | tail -1", "12 passed, 0 failed in 0.1s"),
        ("npm view left-pad@9 || true", "npm error code E404"),
        ("pytest", "tests/test_a.py: prints 1 failed on purpose"),
        ("set -o pipefail; pytest | tail -3", "1 failed in a name"),
        ("npm test 2>&1 | tail -4", "# pass 9\n# fail 0"),
        ("sed -n 1,9p a.ts || true", "throw new Error('1 error TS1: ')"),
    ],
)
def test_failure_words_in_content_are_no_failure(command: str, text: str) -> None:
    assert judge(split_shell(command), 0, "ok", text).result == "ok"


@pytest.mark.parametrize(
    "said",
    [
        "Now run it; the new test should fail.",
        "I expect the tests to fail at this point.",
        "Let me confirm that the test fails before the fix.",
        "Writing the failing test first (RED phase).",
        "The request must return a 403 here.",
        "Verify it fails without the change:",
    ],
)
def test_an_announced_failure_is_expected(said: str) -> None:
    verdict = judge(split_shell("pytest -k new"), 1, "failed", "1 failed in 0.1s", said)
    assert (verdict.result, verdict.expected) == ("failed", True)


@pytest.mark.parametrize(
    "said",
    [
        "This should not fail any more.",
        "Let me see why the test fails.",
        "Let me check whether it still fails.",
        "Run the failing test again.",
        "The tests must pass now.",
    ],
)
def test_other_words_announce_nothing(said: str) -> None:
    assert not is_announced(said)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: \'x\'\n', "KeyError: 'x'"),
        ("noise\nsrc/a.ts(1,2): error TS1: bad\nnpm error code 2", "src/a.ts(1,2): error TS1: bad"),
        ("=== FAILURES ===\nE       assert 1 == 2\n=== short ===\nFAILED t.py::test_a - assert 1 == 2\n1 failed",
         "FAILED t.py::test_a - assert 1 == 2"),
        ("--- FAIL: TestA (0.01s)\n    a_test.go:3: boom\nFAIL", "--- FAIL: TestA (0.01s)"),
        ("warning: x\nerror[E0425]: cannot find value `y`\n --> src/main.rs:1:2", "error[E0425]: cannot find value `y`"),
        ("\x1b[31mfatal: not a git repository\x1b[0m", "fatal: not a git repository"),
        ("Chunk ID: ab\nWall time: 1.0 seconds\nProcess exited with code 1\nOriginal token count: 3\nOutput:\nnope", "nope"),
        ("Exit code 2\ngcc: no input files", "gcc: no input files"),
        ("npm warn old\nsomething broke here\n\nCommand exited with code 2", "something broke here"),
        ("it broke\n<shellId: 133 completed with exit code 1>", "it broke"),
        ("it broke\n<exited with exit code 1>", "it broke"),
        (GEMINI, "it broke"),
        (QWEN, "it broke"),
        ("", ""),
        ("> Build error occurred\n[TypeError: generate is not a function]\n\n> app@1.0.0 build\n> next build",
         "[TypeError: generate is not a function]"),
        ("Uncaught RangeError: too far", "Uncaught RangeError: too far"),
        ('$ tsc --noEmit\nerror: script "typecheck" was terminated by signal SIGKILL (Forced quit)\n',
         'error: script "typecheck" was terminated by signal SIGKILL (Forced quit)'),
    ],
)  # fmt: skip
def test_error_line(text: str, line: str) -> None:
    assert error_line(bare_output(text)) == line


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ('bash -lc "pytest -q"', "test"),
        ("sh -c 'cd api && go test ./... ; echo $?'", "test"),
        ('pwsh -NoProfile -Command "Invoke-Pester -Path ./tests -Output Minimal"', "test"),
        ('powershell -c "Get-ChildItem"', "other"),
        ('bash -c "rm -r build"', "edit"),
        ('bash -c ""', "other"),
        ("bash -c", "other"),
        ("bash run_tests.sh", "test"),
        ("bash -c \"bash -c 'bash -c pytest'\"", "test"),
    ],
)
def test_a_shell_that_is_given_a_command_is_that_command(command: str, kind: str) -> None:
    assert look_at(command).kind == kind


def test_outcomes_that_are_not_failures_stay_what_they_are() -> None:
    for outcome in ("rejected", "interrupted", "running"):
        assert judge(split_shell("make"), None, outcome, "words").result == outcome
    assert judge(split_shell("make"), None, "unknown", "").result == "unknown"
    assert judge(split_shell("ls"), None, "unknown", "a.txt").result == "ok"
    assert judge(split_shell("make"), 124, "failed", "command timed out after 1000 milliseconds").result == "timeout"
    assert judge(split_shell("make"), None, "failed", "Command aborted").result == "interrupted"
    for refusal in ("Blocked: sleep 45 followed by: make", "InputValidationError: Bash failed"):
        text = f"<tool_use_error>{refusal}</tool_use_error>"
        assert judge(split_shell("make"), None, "failed", text).result == "rejected"
    assert judge(split_shell("make"), 1, "failed", "<tool_use_error>is what it printed").result == "failed"
