"""What holds of every text: nothing raises, order is kept, the canonical form is its own canonical form."""

from __future__ import annotations

import shlex
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.actions.canonical import Canonicalizer, workspace_root
from passdown.data.actions.draft import BUCKET, bucket
from passdown.data.actions.edits import file_operations
from passdown.data.actions.keys import key
from passdown.data.actions.lexer import lex
from passdown.model.session import ToolCall, ToolResult
from passdown.trajectories.tools import action_of, paths_of

PIECES = st.sampled_from([
    "cat", "a.py", "|", "&&", "||", ";", "\n", "(", ")", "'", '"', "$(", "`", "<<EOF", "EOF", ">", ">>", "2>&1", "for", "in",
    "do", "done", "if", "then", "fi", "case", "esac", "{", "}", "[[", "]]", "$x", "${x", "\\", "#", "sed -i", "s/a/b/", "bash -c",
    "cd", "..", "edit 1:2", "end_of_edit", "python -c", "xargs", "sudo", "timeout", "git", "apply", "*** Begin Patch", "$'", "=",
    "find . -exec", "-", "--", "\x00", "\x01", "é", " ", "((", "function", "select", "<(", "@'", "'@", "env", "-n",
])  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=25).map(" ".join), st.lists(PIECES, max_size=25).map("".join), st.text(max_size=80)
)
WORDS = st.text(string.printable + "é\u2028", min_size=1, max_size=20).filter(lambda word: word.strip())
NAMES = st.text(string.ascii_lowercase + string.digits + "_-.", min_size=1, max_size=8).filter(
    lambda name: name[0] not in "-."
)


@settings(deadline=None, max_examples=400)
@given(TEXTS, st.sampled_from(["bash", "powershell", "edit"]), st.sampled_from(["", "/testbed", "C:\\w", "/"]))
def test_no_text_raises(text: str, tool: str, root: str) -> None:
    call = ToolCall(call_id="1", tool=tool, action="run", command=text, arguments={"command": text})
    answer = ToolResult(call_id="1", outcome="ok", exit_code=0, text=text)
    for action in Canonicalizer(root).actions(call, answer):
        assert "\x01" not in action.target or "\x01" in text
        file_operations(call, action)
    assert isinstance(workspace_root([call, answer]), str)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TOOLS = st.sampled_from(["Read", "Edit", "MultiEdit", "Write", "apply_patch", "Grep", "Glob", "str_replace_editor", "open",
                         "goto", "insert", "TodoWrite", "Task", "WebFetch", "exec", "x__y", "", "delete_file"])  # fmt: skip
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "file_path", "command", "old_str", "new_str", "edits", "view_range", "offset", "limit", "pattern",
                     "content", "input", "insert_line", "url", "query", "start_line", "end_line", "line_number"]),
    VALUES | st.sampled_from(["view", "str_replace", "insert", "create", "undo_edit"]), max_size=5,
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(TOOLS, ARGUMENTS)
def test_no_arguments_raise(tool: str, arguments: dict[str, object]) -> None:
    action = action_of(tool, arguments)
    call = ToolCall(call_id="1", tool=tool, action=action, arguments=arguments, paths=paths_of(action, arguments))
    for found in Canonicalizer("/testbed").actions(call):
        file_operations(call, found)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=6))
def test_quoting_is_undone(words: list[str]) -> None:
    command = " ".join(shlex.quote(word) if word.isalnum() is False else f"'{word}'" for word in words)
    assert [simple.words for simple in lex(f"echo {command}")] == [("echo", *words)]


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, st.sampled_from([" && ", " || ", "; ", "\n", " & "])), min_size=1, max_size=8))
def test_pieces_keep_their_order(parts: list[tuple[str, str]]) -> None:
    command = "".join(f"cat {name}{operator}" for name, operator in parts) + "ls"
    call = ToolCall(call_id="1", tool="bash", action="run", command=command)
    found = Canonicalizer("/testbed").actions(call)
    assert [one.target for one in found] == [*(name for name, _ in parts), "."]
    assert [one.part for one in found] == sorted(one.part for one in found)


@settings(deadline=None)
@given(NAMES, st.sampled_from(["cat", "head -n 70", "pytest", "rm", "sed -i s/a/b/", "grep -n needle", "python"]))
def test_how_a_path_is_written_does_not_matter(name: str, program: str) -> None:
    ways = (
        f"{program} src/{name}", f"{program} ./src/{name}", f"cd src && {program} {name}",
        f"cd / && {program} /testbed/src/../src/{name}", f"bash -c '{program} \"src/{name}\"'",
    )  # fmt: skip
    keys = {
        key(Canonicalizer("/testbed").actions(ToolCall(call_id="1", tool="bash", action="run", command=way))[-1], 2)
        for way in ways
    }
    assert len(keys) == 1


@settings(deadline=None)
@given(st.integers(1, 10_000), st.integers(0, 500))
def test_a_bucket_holds_its_lines(first: int, count: int) -> None:
    text = bucket(first, first + count)
    begin, _, end = text.strip("[]").partition(":")
    assert int(begin) <= first - 1
    assert int(end) >= first + count
    assert int(begin) % BUCKET == int(end) % BUCKET == 0
    assert int(end) - int(begin) < count + 2 * BUCKET


@settings(deadline=None, max_examples=60)
@given(st.lists(TEXTS, max_size=5))
def test_the_same_calls_give_the_same_actions(texts: list[str]) -> None:
    calls = [ToolCall(call_id="1", tool="bash", action="run", command=text) for text in texts]
    first, second = Canonicalizer("/testbed"), Canonicalizer("/testbed")
    assert [first.actions(call) for call in calls] == [second.actions(call) for call in calls]
