"""What calls say about the content of files."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.data.actions.canonical import Canonicalizer
from passdown.data.actions.edits import file_operations
from passdown.data.actions.operations import (
    Copy,
    Delete,
    Diff,
    Insert,
    Mode,
    Opaque,
    Operation,
    Replace,
    ReplaceLines,
    Restore,
    Sed,
    Undo,
    Write,
)  # fmt: skip
from passdown.model.session import ToolCall
from passdown.trajectories.tools import action_of, paths_of


def by_shell(*commands: str) -> list[Operation]:
    canonicalizer = Canonicalizer("/testbed")
    found: list[Operation] = []
    for command in commands:
        call = ToolCall(call_id="1", tool="bash", action="run", command=command, arguments={"command": command})
        for action in canonicalizer.actions(call):
            found += file_operations(call, action)
    return found


def by_tool(tool: str, arguments: dict[str, Any]) -> list[Operation]:
    action = action_of(tool, arguments)
    call = ToolCall(call_id="1", tool=tool, action=action, arguments=arguments, paths=paths_of(action, arguments))
    return [one for found in Canonicalizer("/testbed").actions(call) for one in file_operations(call, found)]


SHELL: list[tuple[str, list[Operation]]] = [
    ("cat > a.py <<'EOF'\nx = '$y'\nEOF", [Write(path="a.py", content="x = '$y'\n")]),
    ("cd src && cat >> a.py <<EOF\n\\$x\nEOF", [Write(path="src/a.py", content="$x\n", append=True)]),
    ("cat > a.py <<EOF\n$x\nEOF", [Opaque(path="a.py", reason="the shell puts values in")]),
    ("cat > a.py <<-EOF\n\tx\n\tEOF", [Write(path="a.py", content="x\n")]),
    ("echo 'x = 1' > a.py", [Write(path="a.py", content="x = 1\n")]),
    ("echo -n x >> a.py", [Write(path="a.py", content="x", append=True)]),
    ("printf 'a\\nb\\n' > a.py", [Write(path="a.py", content="a\nb\n")]),
    ("echo $x > a.py", [Opaque(path="a.py", reason="echo")]),
    ("cat <<'EOF' | tee a.py\nx\nEOF", [Write(path="a.py", content="x\n")]),
    ("> a.py", [Write(path="a.py", content="")]),
    ("touch a.py", [Write(path="a.py", content="", append=True)]),
    ("mkdir -p a", []),
    ("cp a.py b.py", [Copy(path="b.py", source="a.py")]),
    ("cat a.py > b.py", [Copy(path="b.py", source="a.py")]),
    ("mv a.py b.py", [Copy(path="b.py", source="a.py", move=True)]),
    ("git mv a.py b.py", [Copy(path="b.py", source="a.py", move=True)]),
    ("cp /tmp/a.py .", [Copy(path="a.py", source="/tmp/a.py")]),
    ("rm a.py", [Delete(path="a.py")]),
    ("rm -rf a b", [Delete(path="a"), Delete(path="b")]),
    ("git rm -q a.py", [Delete(path="a.py")]),
    ("sed -i 's/a/b/g' src/a.py", [Sed(path="src/a.py", expressions=("s/a/b/g",))]),
    ("sed -i -E -e 's/(a)/b/' -e 2d a", [Sed(path="a", expressions=("s/(a)/b/", "2d"), extended=True)]),
    ("sed -i '' 's/a/b/' a", [Sed(path="a", expressions=("s/a/b/",))]),
    ("perl -pi -e 's/a/b/' a", [Opaque(path="a", reason="perl")]),
    ("black a.py", [Opaque(path="a.py", reason="black")]),
    ("chmod +x a.sh", [Mode(path="a.sh", executable=True)]),
    ("git checkout -- a.py", [Restore(path="a.py")]),
    ("git checkout HEAD~1 -- a.py", [Restore(path="a.py", revision="HEAD~1")]),
    ("git restore a.py", [Restore(path="a.py")]),
    ("git checkout .", [Restore(path=".")]),
    ("git reset --hard", [Restore(path=".", revision="HEAD")]),
    ("git checkout main", [Opaque(path=".", reason="git checkout")]),
    ("git stash", [Opaque(path=".", reason="git stash")]),
    ("git status", []),
    ("cat a.py", []),
    ("pytest > log.txt", [Opaque(path="log.txt", reason="pytest")]),
    ("edit 3:4\n  it's\nend_of_edit", [ReplaceLines(path="", first=3, last=4, text="  it's\n")]),
    ("python -c \"open('o', 'w').write('x')\"", [Write(path="o", content="x")]),
    (
        "patch -p1 <<'EOF'\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF",
        [Diff(path="a.py", hunks="@@ -1 +1 @@\n-a\n+b\n")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), SHELL)
def test_a_command_comes_to_its_operations(command: str, expected: list[Operation]) -> None:
    assert by_shell(command) == expected


SCRIPT = """python3 - <<'PY'
from pathlib import Path
p = Path('src/a.py')
s = p.read_text()
old = "it's"
assert old in s
s = s.replace(old, 'its', 1).replace("b", "c")
p.write_text(s)
print('done')
PY"""


def test_a_script_that_replaces_plain_text_is_known() -> None:
    assert by_shell(SCRIPT) == [
        Replace(path="src/a.py", old="it's", new="its", which="first"),
        Replace(path="src/a.py", old="b", new="c", which="all"),
    ]


@pytest.mark.parametrize("line", ["for x in s: s = s.upper()", "s = re.sub('a', 'b', s)", "if s: s = 'x'", "s += 'x'"])
def test_a_script_that_does_more_is_not(line: str) -> None:
    assert by_shell(SCRIPT.replace("print('done')", "pass").replace("p.write_text", f"{line}\np.write_text")) == [
        Opaque(path="src/a.py", reason="python")
    ]


def test_the_open_file_of_swe_agent_is_edited() -> None:
    assert by_shell("open src/a.py", "edit 2:2\nx\nend_of_edit") == [
        ReplaceLines(path="src/a.py", first=2, last=2, text="x\n")
    ]


EDITOR = "str_replace_editor"
TOOLS: list[tuple[str, dict[str, Any], list[Operation]]] = [
    (
        "run_ipython",
        {"code": "edit_file_by_replace('/testbed/a.py', 'x', 'y')"},
        [Replace(path="a.py", old="x", new="y")],
    ),
    (
        "run_ipython",
        {"code": "insert_content_at_line('a.py', 1, 'y')"},
        [Insert(path="a.py", line=0, text="y")],
    ),
    (EDITOR, {"command": "create", "path": "/testbed/a", "file_text": "x"}, [Write(path="a", content="x")]),
    (EDITOR, {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}, [Replace(path="a", old="x", new="y")]),
    (EDITOR, {"command": "str_replace", "path": "a", "old_str": "x"}, [Replace(path="a", old="x", new="")]),
    (EDITOR, {"command": "insert", "path": "a", "insert_line": 2, "new_str": "x"}, [Insert(path="a", line=2, text="x\n")]),
    (EDITOR, {"command": "undo_edit", "path": "a"}, [Undo(path="a")]),
    (EDITOR, {"command": "view", "path": "a"}, []),
    ("Write", {"file_path": "/testbed/a", "content": "x"}, [Write(path="a", content="x")]),
    ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
     [Replace(path="a", old="x", new="y", which="all", lenient=False)]),
    ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "y", "new_string": "z"}]},
     [Replace(path="a", old="x", new="y"), Replace(path="a", old="y", new="z")]),
    ("edit", {"path": "a", "oldText": "x", "newText": "y"}, [Replace(path="a", old="x", new="y", lenient=True)]),
    ("delete_file", {"path": "a"}, [Delete(path="a")]),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch"}, [Write(path="n", content="x\n")]),
    ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n@@ f\n-x\n+y\n*** End Patch"},
     [Diff(path="a", hunks="@@ f\n-x\n+y", form="codex")]),
    ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch"},
     [Copy(path="b", source="a", move=True), Diff(path="b", hunks="@@\n-x\n+y", form="codex")]),
    ("Edit", {"file_path": "a"}, [Opaque(path="a", reason="Edit")]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "expected"), TOOLS)
def test_a_tool_call_comes_to_its_operations(tool: str, arguments: dict[str, Any], expected: list[Operation]) -> None:
    assert by_tool(tool, arguments) == expected
