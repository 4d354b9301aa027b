"""Hooks go into settings as text and come out again to the byte, however the settings are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.hook_command import HookCommand, read_line
from passdown.agents.json_text import parse_text
from passdown.agents.table import TABLE, hooks_of
from passdown.errors import ConflictError, FormatError

COMMAND = HookCommand("/usr/bin/python3", "/opt/passdown/hooks/entry.py")
MOVED = HookCommand("/home/dev/my env/bin/python", "/home/dev/my env/lib/passdown/hooks/entry.py")
ROWS = {row.id: row for row in TABLE if row.hooks}
SETTINGS = ["claude_code", "codex", "gemini", "qwen", "copilot", "openhands"]
THEIRS = '{"hooks": [{"type": "command", "command": "echo theirs"}]}'

VARIANTS = {
    "nothing": "",
    "a line end": "\n",
    "a byte order mark": "\ufeff",
    "only a comment": "// later",
    "only a comment and a line end": "/* later */\n",
    "an empty object": "{}",
    "a spaced empty object": "{ }\n",
    "an open empty object": "{\n}\n",
    "an empty object with a comment": "{\n  // nothing yet\n}\n",
    "one line": '{"a": 1}',
    "one line with a trailing comma": '{"a": 1, }',
    "two spaces": '{\n  "a": 1\n}\n',
    "tabs, no final line end": '{\n\t"a": 1,\n\t"b": [\n\t\t1\n\t]\n}',
    "four spaces and CRLF": '{\r\n    "a": 1,\r\n    "hooks": {}\r\n}\r\n',
    "a comment behind the last item": '{\n  "a": 1 // one\n}\n',
    "comments behind a trailing comma": '{\n  "a": 1, // one\n  /* two */\n  // three\n}\n',
    "a comment at every place": '/*0*/{/*1*/"a"/*2*/:/*3*/1/*4*/,/*5*/"b"/*6*/:/*7*/[/*8*/]/*9*/}/*10*/\n// 11',
    "odd indentation": '{\n"a":1,\n      "b":2\n , "c":3 }',
    "leading commas": '{\n  "a": 1\n, "b": 2\n}',
    "empty hooks": '{"hooks":{}}',
    "open empty hooks": '{\n  "hooks": {\n  },\n  "z": 0\n}\n',
    "hooks with a comment": '{"hooks": { // mine\n }}',
    "an empty list of hooks": '{"hooks": {"Stop": [], "SessionStart": [ ], "SessionEnd": [\n]}}',
    "a list with a comment": '{"hooks": {"Stop": [ /* none */ ]}}',
    "others' hooks": '{"hooks": {"Stop": [' + THEIRS + "]}}",
    "others' hooks with trailing commas": '{\n  "hooks": {\n    "Stop": [\n      ' + THEIRS + ",\n    ],\n  },\n}\n",
    "others' hooks of other events": '{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": []}]}, "a": {}}',
    "unicode escapes, in a key, too": '{"h\\u006foks": {"Stop": []}, "name": "\\u00e9\\ud83d\\ude00 é"}',
    "hooks twice": '{"hooks": {}, "hooks": {"Stop": []}}',
    "a byte order mark and CRLF": '\ufeff{\r\n\t"a": true,\r\n}\r\n',
    "comment signs in strings": '{"a": "// no /* comment", "b": "\\"//\\\\"}',
    "blank lines everywhere": '\n\n{\n\n\n  "a": [\n\n 1\n ]\n\n\n}\n\n\n',
    "events at the top": '{"stop": [' + THEIRS + '], "session_end": []}',
}


def round_trip(agent: str, text: str) -> str:
    hooks = hooks_of(ROWS[agent])
    installed = hooks.install(text, COMMAND)
    assert {line.event for line in hooks.installed(installed)} == set(hooks.EVENTS.values())
    assert hooks.install(installed, COMMAND) == installed
    moved = hooks.install(installed, MOVED)
    assert all(line.command == MOVED for line in hooks.installed(moved))
    whole = parse_text(text).root is None
    assert hooks.uninstall(moved, whole=whole) == text
    return hooks.uninstall(installed, whole=whole)


@pytest.mark.parametrize("agent", SETTINGS)
@pytest.mark.parametrize("name", VARIANTS)
def test_uninstalling_restores_every_byte(agent: str, name: str) -> None:
    assert round_trip(agent, VARIANTS[name]) == VARIANTS[name]


@pytest.mark.parametrize("name", VARIANTS)
def test_installing_keeps_what_the_settings_say(name: str) -> None:
    before = parse_text(VARIANTS[name]).root
    hooks = hooks_of(ROWS["claude_code"])
    after = parse_text(hooks.install(VARIANTS[name], COMMAND)).root
    assert after is not None
    told, was = after.plain(), before.plain() if before else {}
    for key, value in was.items():
        if key != "hooks":
            assert told[key] == value
    for event, groups in was.get("hooks", {}).items():
        assert told["hooks"][event][: len(groups)] == groups


def test_each_line_of_the_text_stays_but_for_a_comma() -> None:
    before = '{\n\t"model": "x", // mine\n\t"env": {"A": "b"} // last\n}\n'
    after = hooks_of(ROWS["claude_code"]).install(before, COMMAND)
    lines = after.splitlines()
    assert lines[:3] == ["{", '\t"model": "x", // mine', '\t"env": {"A": "b"}, // last']
    assert lines[3] == '\t"hooks": {'
    assert lines[4] == '\t\t"SessionStart": ['


@pytest.mark.parametrize("agent", list(ROWS))
def test_a_file_made_for_the_hooks_holds_nothing_afterwards(agent: str) -> None:
    hooks = hooks_of(ROWS[agent])
    made = hooks.install(None, COMMAND)
    assert made.endswith("\n")
    assert hooks.install(made, COMMAND) == made
    assert {line.event for line in hooks.installed(made)} == set(hooks.EVENTS.values())
    assert hooks.uninstall(made).strip() == ""
    assert hooks.uninstall(hooks.install(made, MOVED)).strip() == ""


@pytest.mark.parametrize("agent", SETTINGS)
def test_what_is_made_is_plain_json(agent: str) -> None:
    json.loads(hooks_of(ROWS[agent]).install(None, MOVED))


def test_only_our_entries_go_when_somebody_edited_meanwhile() -> None:
    hooks = hooks_of(ROWS["claude_code"])
    installed = hooks.install('{\n  "a": 1\n}\n', COMMAND)
    edited = installed.replace('"a": 1', '"a": 2').replace('"Stop": [\n', '"Stop": [\n      ' + THEIRS + ",\n")
    left = parse_text(hooks.uninstall(edited)).root
    assert left is not None
    assert left.plain() == {"a": 2, "hooks": {"Stop": [json.loads(THEIRS)]}}


def test_a_reformatted_file_loses_our_entries_alone() -> None:
    hooks = hooks_of(ROWS["claude_code"])
    told = json.loads(hooks.install('{"a": 1, "hooks": {"Stop": [' + THEIRS + "]}}", COMMAND))
    for indent in (None, 1, 4, "\t"):
        left = json.loads(hooks.uninstall(json.dumps(told, indent=indent)))
        assert left == {"a": 1, "hooks": {"Stop": [json.loads(THEIRS)]}}


def test_a_hook_somebody_put_into_our_group_stays() -> None:
    hooks = hooks_of(ROWS["claude_code"])
    told = json.loads(hooks.install(None, COMMAND))
    told["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "echo theirs"})
    left = json.loads(hooks.uninstall(json.dumps(told)))
    assert left["hooks"] == {"Stop": [json.loads(THEIRS)]}


def test_our_groups_stand_behind_the_others_for_codex_trusts_by_place() -> None:
    told = json.loads(hooks_of(ROWS["codex"]).install('{"hooks": {"Stop": [' + THEIRS + "]}}", COMMAND))
    assert told["hooks"]["Stop"][0] == json.loads(THEIRS)
    assert len(told["hooks"]["Stop"]) == 2


def test_an_event_no_longer_wanted_and_a_double_go() -> None:
    hooks = hooks_of(ROWS["codex"])
    told = json.loads(hooks.install(None, COMMAND))
    told["hooks"]["PreToolUse"] = told["hooks"]["Stop"]
    told["hooks"]["Stop"] = told["hooks"]["Stop"] * 2
    again = json.loads(hooks.install(json.dumps(told), COMMAND))
    assert "PreToolUse" not in again["hooks"]
    assert len(again["hooks"]["Stop"]) == 1


def test_openhands_is_read_with_its_other_names() -> None:
    hooks = hooks_of(ROWS["openhands"])
    told = json.loads(hooks.install('{"hooks": {"Stop": [' + THEIRS + "]}}", COMMAND))
    assert set(told) == {"hooks"}
    assert set(told["hooks"]) == {"Stop", "session_start", "user_prompt_submit", "session_end"}
    assert len(told["hooks"]["Stop"]) == 2


BROKEN = {
    '{"a": 1': "1:8",
    '{"a": 1}}': "1:9",
    "{'a': 1}": "1:2",
    '{\n  "a": 1\n  "b": 2\n}': "3:3",
    "[]": "1:1",
    '"text"': "1:1",
    '{"hooks": []}': "1:11",
    '{"hooks": null}': "1:11",
    '{"hooks": {"Stop": {}}}': "1:20",
    '{"a": tru}': "1:7",
    '{"a": "\n"}': "1:7",
    '{"a": 01}': "1:8",
    '{"a": 1,, "b": 2}': "1:9",
    "{/* a": "1:2",
    "[" * 100: "1:65",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_does_not_parse_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        hooks_of(ROWS["claude_code"]).install(text, COMMAND, "settings.json")
    assert caught.value.where == f"settings.json:{BROKEN[text]}"


@pytest.mark.parametrize("agent", ["pi", "opencode"])
def test_a_script_of_somebody_else_or_an_edited_one_is_left_alone(agent: str) -> None:
    hooks = hooks_of(ROWS[agent])
    with pytest.raises(ConflictError):
        hooks.install("export default 1;\n", COMMAND)
    assert hooks.uninstall("export default 1;\n") == "export default 1;\n"
    edited = hooks.install(None, COMMAND) + "// mine\n"
    for act in (lambda: hooks.install(edited, MOVED), lambda: hooks.uninstall(edited)):
        with pytest.raises(ConflictError):
            act()


@given(st.text(max_size=40), st.sampled_from(["start", "stop", "end"]))
@settings(deadline=None)
def test_a_command_line_is_known_again_whatever_the_paths(folder: str, event: str) -> None:
    command = HookCommand(f"/x/{folder}/python", f"/y/{folder}/passdown/hooks/entry.py")
    if any(sign in folder for sign in "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x00"):
        return
    own = read_line(command.line("codex", event))
    assert own is not None
    assert (own.command, own.agent, own.event) == (command, "codex", event)
    assert read_line(f"sh -c 'x; {command.line('codex', event)}'") is None


scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
space = st.text(alphabet=" \t\n", max_size=3) | st.sampled_from(["/* c */", " // c\n", "\r\n", "\n    "])
events = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "PreToolUse"]),
    st.lists(st.just({"hooks": [{"type": "command", "command": "echo theirs"}]}), max_size=2),
    max_size=3,
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A JSON value with whatever may stand between its parts."""

    def gap() -> str:
        return draw(space)

    if isinstance(value, dict):
        parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{draw(written(part))}{gap()}" for key, part in value.items()]
    elif isinstance(value, list):
        parts = [f"{gap()}{draw(written(part))}{gap()}" for part in value]
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    trailing = "," if parts and draw(st.booleans()) else ""
    return opened + ",".join(parts) + trailing + gap() + closed


@st.composite
def documents(draw: st.DrawFn) -> str:
    content = draw(st.dictionaries(st.text(max_size=4).filter(lambda key: key != "hooks"), values, max_size=3))
    if draw(st.booleans()):
        content["hooks"] = draw(events)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + draw(space) + draw(written(content)) + draw(space)


@given(documents(), st.sampled_from(["claude_code", "gemini"]))
@settings(deadline=None, max_examples=100)
def test_any_settings_are_restored_to_the_byte(text: str, agent: str) -> None:
    assert round_trip(agent, text) == text


@given(st.text(alphabet='{}[]":,/*\n abtruefalsn0\\', max_size=40))
@settings(deadline=None, max_examples=200)
def test_any_text_is_refused_or_restored(text: str) -> None:
    try:
        restored = round_trip("claude_code", text)
    except FormatError:
        return
    assert restored == text
