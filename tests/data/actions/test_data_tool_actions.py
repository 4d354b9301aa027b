"""Agents' own tools and the actions that their calls come to."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.data.actions.canonical import Canonicalizer, workspace_root
from passdown.data.actions.keys import key
from passdown.model.session import Action, SessionStart, ToolCall, ToolResult
from passdown.trajectories.tools import action_of, paths_of

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("str_replace_editor", {"command": "view", "path": "/testbed/a.py"}, "READ a.py"),
    ("str_replace_editor", {"command": "view", "path": "/testbed/a.py", "view_range": [51, 90]}, "READ a.py[50:100]"),
    ("str_replace_editor", {"command": "view", "path": "/testbed/a.py", "view_range": "[1, -1]"}, "READ a.py"),
    ("str_replace_editor", {"command": "create", "path": "/testbed/a.py", "file_text": "x"}, "CREATE a.py"),
    ("str_replace_editor", {"command": "str_replace", "path": "/testbed/a.py", "old_str": "x"}, "EDIT a.py"),
    (
        "str_replace_editor",
        {"command": "insert", "path": "/testbed/a.py", "insert_line": 1, "new_str": "x"},
        "EDIT a.py",
    ),
    ("str_replace_editor", {"command": "undo_edit", "path": "/testbed/a.py"}, "EDIT a.py"),
    ("Read", {"file_path": "/testbed/a.py", "offset": 101, "limit": 20}, "READ a.py[100:150]"),
    ("Edit", {"file_path": "/testbed/a.py", "old_string": "x", "new_string": "y"}, "EDIT a.py"),
    ("MultiEdit", {"file_path": "/testbed/a.py", "edits": []}, "EDIT a.py"),
    ("Write", {"file_path": "/testbed/a.py", "content": "x"}, "CREATE a.py"),
    ("Glob", {"pattern": "**/*.py"}, "SEARCH **/*.py @ ."),
    ("Grep", {"pattern": "foo", "path": "/testbed/src"}, "SEARCH foo @ src"),
    ("TodoWrite", {"todos": [{"content": "x"}]}, "PLAN"),
    ("Task", {"subagent_type": "explore", "prompt": "x"}, "RUN agent:explore"),
    ("WebSearch", {"query": "how"}, "SEARCH how @ web"),
    ("WebFetch", {"url": "https://x.org"}, "READ url:https://x.org"),
    ("AskUserQuestion", {"questions": []}, "NOTE ask"),
    ("BashOutput", {"bash_id": "1"}, "READ env:process"),
    ("KillBash", {"shell_id": "1"}, "RUN kill"),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: n.py\n+x\n*** End Patch"}, "CREATE n.py"),
    ("read_file", {"path": "a.py", "start_line": 1, "end_line": 60}, "READ a.py[0:100]"),
    ("replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "EDIT a.py"),
    ("write_file", {"file_path": "a.py", "content": "y"}, "CREATE a.py"),
    ("list_directory", {"path": "/testbed/src"}, "SEARCH src"),
    ("open", {"path": "a.py", "line_number": 100}, "READ a.py[0:150]"),
    ("find_file", {"file_name": "a.py", "dir": "src"}, "SEARCH a.py @ src"),
    ("search_dir", {"search_term": "foo"}, "SEARCH foo @ ."),
    ("submit", {}, "SUBMIT"),
    ("finish", {"message": "done"}, "SUBMIT"),
    ("mark_task_complete", {}, "SUBMIT"),
    ("think", {"thought": "x"}, "NOTE think"),
    ("run_ipython", {"code": "open_file('/testbed/a.py', 100)"}, "READ a.py[0:150]"),
    ("run_ipython", {"code": "edit_file_by_replace('/testbed/a.py', 'x', new_content='y')"}, "EDIT a.py"),
    ("run_ipython", {"code": "create_file('a.py')"}, "CREATE a.py"),
    ("run_ipython", {"code": "search_dir('foo', 'src')"}, "SEARCH foo @ src"),
    ("delete_file", {"path": "a.py"}, "DELETE a.py"),
    ("mcp__linear__create_issue", {}, "RUN tool:mcp__linear__create_issue"),
    ("mcp__linear__get_issue", {}, "READ tool:mcp__linear__get_issue"),
    ("run_ipython", {"code": "open_file('/testbed/a.py', line_number=200)"}, "READ a.py[100:250]"),
    ("run_ipython", {"code": "edit_file_by_replace('a.py', to_replace='x', new_content='y')"}, "EDIT a.py"),
    ("run_ipython", {"code": "append_file(file_name='a.py', content='y')"}, "EDIT a.py"),
    ("run_ipython", {"code": "create_file('a.py')"}, "CREATE a.py"),
    ("run_ipython", {"code": "search_dir('foo', './src')"}, "SEARCH foo @ src"),
    ("run_ipython", {"code": "find_file('a.py', '/testbed/src')"}, "SEARCH a.py @ src"),
    ("run_ipython", {"code": "scroll_down()"}, "READ env:viewer"),
    ("run_ipython", {"code": "name = 'a.py'\nopen_file(name)"}, "RUN python#c45ea64c"),
    ("[trimmed]", {}, "OTHER"),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), CALLS)
def test_a_tool_call_comes_to_its_action(tool: str, arguments: dict[str, Any], expected: str) -> None:
    action: Action = action_of(tool, arguments)
    call = ToolCall(call_id="1", tool=tool, action=action, arguments=arguments, paths=paths_of(action, arguments))
    assert [key(one) for one in Canonicalizer("/testbed").actions(call)] == [expected]


def test_a_folder_that_is_viewed_is_listed() -> None:
    call = ToolCall(
        call_id="1", tool="view", action="read", paths=("/testbed/src",), arguments={"path": "/testbed/src"}
    )
    answer = ToolResult(call_id="1", outcome="ok", text="Here's the files and directories up to 2 levels deep in …")
    assert [key(one) for one in Canonicalizer("/testbed").actions(call, answer)] == ["SEARCH src"]


def test_code_of_a_notebook_is_no_shell_text() -> None:
    call = ToolCall(
        call_id="1", tool="execute_ipython_cell", action="run", command="for x in [1]:\n    print('a' if x else \"b\")"
    )
    (action,) = Canonicalizer("/testbed").actions(call)
    assert action.kind == "RUN"
    assert action.target.startswith("python#")


@pytest.mark.parametrize(
    ("command", "code", "text", "expected"),
    [
        ("pytest", 0, "1 passed", [True]),
        ("pytest", 1, "1 failed", [False]),
        ("pytest | tail -3", 0, "1 failed, 2 passed in 0.1s", [False]),
        ("pytest | tail -3", 0, "3 passed in 0.1s", [True]),
        ("cd src && python x.py", 1, "", [False]),
        ("python x.py && python y.py", 1, "", [None, None]),
        ("python x.py && python y.py", 0, "", [True, True]),
        ("python x.py; python y.py", 0, "", [None, True]),
        ("python x.py; python y.py", 1, "", [None, False]),
        ("python x.py || true", 0, "", [None]),
        ("python x.py | head", 0, "", [None]),
        ("set -o pipefail; python x.py | head", 0, "", [True]),
    ],
)
def test_an_exit_code_speaks_for_what_it_is_the_code_of(
    command: str, code: int, text: str, expected: list[bool]
) -> None:
    call = ToolCall(call_id="1", tool="bash", action="run", command=command)
    answer = ToolResult(call_id="1", outcome="ok" if code == 0 else "failed", exit_code=code, text=text)
    assert [one.ok for one in Canonicalizer("/testbed").actions(call, answer)] == expected


def test_an_edit_that_the_tool_refused_did_not_go_well() -> None:
    call = ToolCall(call_id="1", tool="edit", action="edit", paths=("a.py",), arguments={"search": "x", "replace": "y"})
    answer = ToolResult(call_id="1", outcome="unknown", text="Your proposed edit has introduced new syntax error(s).")
    assert [one.ok for one in Canonicalizer("/testbed").actions(call, answer)] == [False]


def test_the_root_is_what_the_session_says_or_what_its_calls_name() -> None:
    def ran(*commands: str) -> list[ToolCall]:
        return [ToolCall(call_id="1", tool="bash", action="run", command=command) for command in commands]

    assert (
        workspace_root([SessionStart(session_id="s", agent="a", cwd="/home/u/p"), *ran("cd /testbed && ls")])
        == "/home/u/p"
    )
    assert workspace_root(ran("cd /testbed && ls", "cd /testbed && pytest", "cd /tmp && ls")) == "/testbed"
    assert workspace_root(ran("cd /workspace/django__django__3.2 && ls")) == "/workspace/django__django__3.2"
    start = SessionStart(session_id="s", agent="a", cwd="/workspace")
    assert workspace_root([start, *ran("cd /workspace/x && ls", "cd /workspace/x && pwd")]) == "/workspace/x"
    assert workspace_root(ran("ls", "cat /etc/passwd")) == ""


def test_paths_outside_of_the_workspace_stay_absolute() -> None:
    call = ToolCall(call_id="1", tool="bash", action="run", command="cat /tmp/x ../y /testbedding/z a/../../testbed/w")
    found = Canonicalizer("/testbed").actions(call)
    assert [one.target for one in found] == ["/tmp/x", "/y", "/testbedding/z", "w"]
    assert [one.reads for one in found] == [(), (), (), ("w",)]
