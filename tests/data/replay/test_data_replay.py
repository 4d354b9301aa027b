"""The virtual file system says what a real one would, or that it does not know."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.contents import UNKNOWN, Lines, Unknown, Whole, seen
from passdown.data.replay.hunks import apply_hunks
from passdown.data.replay.sed import apply_sed
from passdown.data.replay.virtual import replay
from passdown.errors import FormatError, UnsafeError

BASE = {"a.py": b"one\ntwo\nthree\n", "src/b.py": b"x = 1\ny = 2\n"}


def _edit(path: str, old: str, new: str) -> dict[str, str]:
    return {"command": "str_replace", "path": f"/testbed/{path}", "old_str": old, "new_str": new}


def test_edits_of_every_form_give_what_the_tools_would(script: Any) -> None:
    run = (
        script().asks("Go.")
        .uses("str_replace_editor", _edit("a.py", "two", "2"))
        .runs("sed -i 's/three/3/' a.py")
        .runs("cat > new.py <<'EOF'\nfirst\nEOF")
        .runs("echo second >> new.py")
        .uses("str_replace_editor", {"command": "insert", "path": "/testbed/new.py", "insert_line": 1, "new_str": "between"})
        .runs("mv src/b.py src/c.py").runs("rm a.py")
        .trajectory()
    )  # fmt: skip
    found = replay(run, BASE)
    assert found.content(2, "a.py") == b"one\n2\nthree\n"
    assert found.content(3, "a.py") == b"one\n2\n3\n"
    assert found.content(4, "new.py") == b"first\n"
    assert found.content(6, "new.py") == b"first\nbetween\nsecond\n"
    assert found.content(7, "src/c.py") == BASE["src/b.py"]
    assert found.content(7, "src/b.py") is None
    assert found.content(1, "a.py") == BASE["a.py"], "a cut before shows nothing of later"
    assert set(found.changed(8)) == {"a.py", "new.py", "src/b.py", "src/c.py"}
    assert found.changed(8)["a.py"] == ""
    assert found.exact(8)


def test_without_a_base_contents_are_learned_and_the_rest_stays_unknown(script: Any) -> None:
    run = (
        script().asks("Go.").runs("cat a.py", "one\ntwo\n").runs("sed -i s/two/2/ a.py")
        .runs("sed -i s/x/y/ never_seen.py").runs("python make.py > out.txt")
        .trajectory()
    )  # fmt: skip
    found = replay(run)
    assert found.content(3, "a.py") == b"one\n2\n"
    assert found.exact(3)
    assert found.changed(4)["never_seen.py"] == "?"
    assert not found.exact(4)
    assert "never_seen.py" in found.snapshot(4).dirty


def test_a_look_that_shows_something_else_ends_exactness(script: Any) -> None:
    run = (
        script().asks("Go.").runs("cat > a.py <<'EOF'\none\nEOF").runs("cat a.py", "one\n").runs("make format")
        .runs("cat a.py", "uno\n").runs("sed -i s/uno/dos/ a.py").trajectory()
    )  # fmt: skip
    found = replay(run, {})
    assert not found.exact(2), "a later look at this very state disagrees"
    assert found.content(6, "a.py") == b"dos\n", "what was shown counts"


def test_a_failed_edit_changes_nothing(script: Any) -> None:
    run = script().asks("Go.").uses("str_replace_editor", _edit("a.py", "two", "2"), "No match", "failed").trajectory()
    assert replay(run, BASE).changed(2) == {}


def test_git_puts_a_file_back(script: Any) -> None:
    run = (
        script().asks("Go.").runs("sed -i s/one/1/ a.py").runs("sed -i s/x/z/ src/b.py").runs("git checkout -- a.py")
        .runs("git checkout .").trajectory()
    )  # fmt: skip
    found = replay(run, BASE)
    assert list(found.changed(4)) == ["src/b.py"]
    assert found.changed(5) == {}


@pytest.mark.parametrize(
    "script_text", ["s/a/b/", "s/a/b/g", "2d", "1,2d", "$d", "/b/d", "2i new", "2a new", "2c new", "s/\\(a\\)b/\\1c/",
                    "s|a/b|c|", "s/[ab]*/X/", "s/a\\+/Y/", "2s/b/\\n/", "s/B/z/I", "s/a.b/&&/"],
)  # fmt: skip
@pytest.mark.parametrize("text", ["a\nb\nc\n", "ab\na/b\naab\n", "x\n"])
def test_sed_is_what_sed_does(script_text: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text(text)
    subprocess.run(["sed", "-i", script_text, str(file)], check=True)
    assert apply_sed(text, script_text, extended=False) == file.read_text()


@pytest.mark.parametrize(
    "script_text", ["s/\\(a*\\)*b/x/", "s/a*b*c*d*/x/", "w /etc/passwd", "e rm -rf", "s/a/b/e", "{p;d}", "s/a"]
)
def test_sed_that_is_not_simple_is_left_alone(script_text: str) -> None:
    assert apply_sed("aaaa\n", script_text, extended=False) is None


_LINES = st.lists(st.sampled_from(["a", "b", "c", "dd", "e e"]), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(before=_LINES, after=_LINES)
def test_a_diff_leads_where_patch_leads(before: list[str], after: list[str]) -> None:
    import difflib

    old, new = "\n".join(before) + "\n", "\n".join(after) + "\n"
    hunks = "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/f", "b/f"))
    assert apply_hunks(old, hunks, "unified") == new


@settings(deadline=None, max_examples=60)
@given(text=_LINES, shown=st.dictionaries(st.integers(1, 12), st.sampled_from(["a", "b", "zz"]), min_size=1))
def test_what_is_seen_agrees_or_replaces(text: list[str], shown: dict[int, str]) -> None:
    content, agrees = seen(Whole("\n".join(text) + "\n"), shown, whole=False)
    own = dict(enumerate([*text, ""], 1))
    assert agrees == all(own.get(number) == line for number, line in shown.items())
    if not agrees:
        assert content == Lines(shown)
    learned, nothing = seen(UNKNOWN, shown, whole=False)
    assert nothing is None
    assert not isinstance(learned, Unknown)


def test_equal_trees_have_equal_snapshots(script: Any) -> None:
    one = script().asks("Go.").runs("echo a > x").runs("echo b > y").trajectory()
    other = script().asks("Another.").runs("echo b > y").runs("ls").runs("echo a > x").trajectory()
    assert replay(one, {}).snapshot(3).snapshot_id == replay(other, {}).snapshot(4).snapshot_id
    assert replay(one, {}).snapshot(2).snapshot_id != replay(one, {}).snapshot(3).snapshot_id


def test_contents_are_kept_once_and_checked(tmp_path: Path, script: Any) -> None:
    store = BlobStore(tmp_path / "blobs")
    run = script().asks("Go.").runs("echo a > x").trajectory()
    state = replay(run, {}).snapshot(2, store)
    assert store.get(state.delta[0].blob) == b"a\n"
    threads = [threading.Thread(target=store.put, args=(b"same" * 1000,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 2
    path = next(path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    path.write_bytes(b"other")
    with pytest.raises(FormatError, match="changed"):
        store.get(path.name)
    with pytest.raises(FormatError, match="missing"):
        store.get("0" * 64)
    with pytest.raises(UnsafeError):
        store.get("../../etc/passwd")


def test_state_outside_of_files_is_what_was_seen(script: Any) -> None:
    run = script().asks("Go.").runs("pip install requests", "Successfully installed").runs("ls", "a").trajectory()
    kinds = {(one.kind, one.key) for one in replay(run, {}).snapshot(3).volatile}
    assert ("package", "requests") in kinds
    assert not replay(run, {}).snapshot(1).volatile or all(k != "package" for k, _ in
        {(one.kind, one.key) for one in replay(run, {}).snapshot(1).volatile})  # fmt: skip


def test_the_editors_of_a_notebook_change_files_as_they_say(script: Any) -> None:
    run = (
        script().asks("Go.").uses("run_ipython", {"code": "edit_file_by_replace('/testbed/a.py', 'two', 'zwei')"})
        .uses("run_ipython", {"code": "insert_content_at_line('/testbed/a.py', 1, 'null\\n')"})
        .uses("run_ipython", {"code": "append_file(file_name='/testbed/a.py', content='four\\n')"})
        .uses("run_ipython", {"code": "edit_file_by_replace('/testbed/a.py', 'three', 'drei')"},
              "[Your proposed edit has introduced new syntax error(s).]")
        .trajectory()
    )  # fmt: skip
    assert replay(run, BASE).content(5, "a.py") == b"null\none\nzwei\nthree\nfour\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [("Read", {"file_path": "/testbed/n.py"}, "     1\tx\n     2\ty\n     3\tz\n     4\t\n"),
     ("read", {"path": "/testbed/n.py"}, "<content>\n1: x\n2: y\n3: z\n\n(End of file - total 3 lines)\n</content>")],
)  # fmt: skip
def test_a_view_of_all_of_a_file_is_known_to_be_all(
    script: Any, tool: str, arguments: dict[str, str], text: str
) -> None:
    run = script().asks("Go.").uses(tool, arguments, text).trajectory()
    assert replay(run).content(2, "n.py") == b"x\ny\nz\n"
    part = (
        script()
        .asks("Go.")
        .uses(tool, {**arguments, "offset": "1", "limit": "3"}, text.replace("End of file", "Showing"))
        .trajectory()
    )
    assert replay(part).content(2, "n.py") is None


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "known"),
    [("read", {"path": "n.py"}, "x\ny\nz", {1: "x", 2: "y", 3: "z"}),
     ("read", {"path": "n.py", "offset": 3, "limit": 2}, "z\nw\n\n[4 more lines in file. Use offset=5 to continue]", {3: "z", 4: "w"}),
     ("read_file", {"path": "n.py"}, "x\ny\n", {1: "x", 2: "y"}),
     ("view", {"path": "n.py"}, "1. x\n2. y\n3. ", {1: "x", 2: "y"}),
     ("view", {"path": "n.py", "view_range": [7, 8]}, "7. x\n8. y", {7: "x", 8: "y"}),
     ("read_file", {"path": "n.py"}, "IMPORTANT: The file content has been truncated.\nx", {}),
     ("read_file", {"path": "n.py", "limit": None}, "x\ny\n\nz\n\nwhat a hook said", {1: "x", 2: "y", 3: "", 4: "z"}),
     ("read", {"path": "n.png"}, "Read image file [image/png]", {})],
)  # fmt: skip
def test_what_a_tool_shows_as_it_is_becomes_known(
    script: Any, tool: str, arguments: dict[str, Any], text: str, known: dict[int, str]
) -> None:
    run = script().asks("Go.").uses(tool, arguments, text).trajectory()
    assert replay(run).lines(2, arguments["path"]) == known
    assert (replay(run).content(2, arguments["path"]) is not None) == (len(arguments) == 1 and bool(known))


def test_a_codex_patch_fits_where_only_white_space_differs() -> None:
    hunks = "@@\n-\t\tone\n+\t\ttwo\n"
    assert apply_hunks("a\n    one\nb\n", hunks, "codex") == "a\n\t\ttwo\nb\n"
    assert apply_hunks("a\n    one\n one\n", hunks, "codex") is None, "two places are none"
    assert apply_hunks("a\n    one\nb\n", "@@ -2 +2 @@\n-\t\tone\n+\t\ttwo\n", "unified") is None


def test_an_ellipsis_in_a_file_is_no_cut(script: Any) -> None:
    run = script().asks("Go.").runs("cat n.py", 'print("…")\n').runs("cat m.py", "a\n… +12 lines\n").trajectory()
    assert replay(run).content(3, "n.py") == 'print("…")\n'.encode()
    assert replay(run).content(3, "m.py") is None


def test_temporary_files_are_no_part_of_a_tree(script: Any) -> None:
    run = (
        script().asks("Go.").runs("echo x > new.txt").runs("sed -i s/a/b/ /tmp/log.txt; echo y > ~/.rc")
        .runs("sed -i s/a/b/ /elsewhere/file.txt").trajectory()
    )  # fmt: skip
    found = replay(run, BASE)
    assert found.exact(3)
    assert [file.path for file in found.snapshot(3).delta] == ["new.txt"]
    assert found.snapshot(3).dirty == ()
    assert not found.exact(4), "another folder may be the work"
