"""What a hostile or broken client sends is answered or passed over; the server goes on, and nothing outside is touched."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passdown.mcp.tools import TOOLS

SHORT = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
LONG = "x" * 5_000

REFUSED: list[tuple[str, Any]] = [
    # ids that are paths, options, or nothing of the kind
    ("take", {"packet": "../../../etc/passwd"}), ("take", {"packet": "/etc/passwd"}), ("take", {"packet": "outputs"}),
    ("take", {"packet": "deadbeef/../.."}), ("take", {"packet": "--steal"}), ("take", {"packet": "abcd\0"}),
    ("take", {"packet": "abcd\n"}), ("take", {"packet": "beefcafe"}), ("take", {"packet": "a" * 65}),
    ("take", {"packet": "ABCD"}), ("take", {"packet": "٣٣٣٣"}), ("take", {"packet": None}), ("take", {"packet": ["abcd"]}),
    ("take", {"tokens": 1}), ("take", {"tokens": 10**30}), ("take", {"tokens": "1200"}), ("take", {"tokens": 1e3}),
    ("take", {"look_only": 1}), ("take", {"ack": True}), ("take", {"steal": True}), ("take", {"folder": "/"}),
    ("take", {"__class__": "x"}), ("status", {"folder": "/"}), ("status", {"": ""}), ("status", {LONG: LONG}),
    ("check", {"allow": ["tree.untracked"]}), ("check", {"run_tests": True}), ("check", {"output": "/tmp/x"}),
    ("check", {"strict": "yes"}),
    ("wrap", {"allow": {"tree.untracked": "because"}}), ("wrap", {"session": "../../x"}), ("wrap", {"session": "README_no_id"}),
    ("wrap", {"session": "/etc/passwd"}), ("wrap", {"session": "x"}), ("wrap", {"session": "--interim-x"}),
    ("wrap", {"topic": "a" * 65}), ("wrap", {"next": "\u202egnirts"}), ("wrap", {"next": "go on"}), ("wrap", {"commit": True}),
    ("wrap", {"next": "x" * 601}), ("wrap", {"interim": None}),
    # notes
    ("note", {}), ("note", {"kind": "clue"}), ("note", {"text": "no kind"}), ("note", {"kind": "rant", "text": "x"}),
    ("note", {"kind": "clue", "text": 7}), ("note", {"kind": "clue", "text": ""}), ("note", {"kind": "clue", "text": "…"}),
    ("note", {"kind": "clue", "text": LONG}), ("note", {"kind": "clue", "text": "a\x1b[2Jb"}),
    ("note", {"kind": "clue", "text": "a\u202eb"}), ("note", {"kind": "clue", "text": "a\u200bb"}),
    ("note", {"kind": "clue", "text": "a\0b"}), ("note", {"kind": "clue", "text": "a\u2066b\u2069"}),
    ("note", {"kind": "clue", "text": "\U000e0041 tag"}), ("note", {"kind": ["clue"], "text": "x y"}),
    ("note", {"kind": "clue", "text": "leads out", "anchors": ["../../etc/passwd:1"]}),
    ("note", {"kind": "clue", "text": "leads out", "anchors": ["/etc/passwd"]}),
    ("note", {"kind": "clue", "text": "leads out", "anchors": ["~/.ssh/id"]}),
    ("note", {"kind": "clue", "text": "leads out", "anchors": ["a\\..\\..\\b"]}),
    ("note", {"kind": "clue", "text": "leads out", "anchors": ["C:\\x"]}),
    ("note", {"kind": "clue", "text": "too many", "anchors": ["a"] * 9}),
    ("note", {"kind": "clue", "text": "one text", "anchors": "README.md"}),
    ("note", {"kind": "clue", "text": "unfit", "severity": "block"}), ("note", {"kind": "next", "text": "x y", "why": "z"}),
    ("note", {"kind": "next", "text": "Run tests/a.py", "pin": True}), ("note", {"kind": "next", "text": "go on"}),
    ("note", {"kind": "decision", "text": "two", "anchors": ["a", "b"]}),
    ("note", {"kind": "decision", "text": "I am a person", "by": "human"}),
    ("note", {"kind": "clue", "text": "tags", "tags": ["a b"]}), ("note", {"kind": "risk", "text": "x y", "severity": "BLOCK"}),
    ("nothing", {}), ("", {}), ("take\0", {}), ("../take", {}), (LONG, {}),
]  # fmt: skip

FRAMES: list[tuple[bytes, int]] = [
    (b"nonsense", -32700), (b'{"jsonrpc": "2.0", "id": 7, "method": ', -32700), (b"\xff\xfe\x00", -32700),
    (b"[]", -32600), (b"[" * 100_000, -32600), (b'"text"', -32600), (b"null", -32600), (b"17", -32600), (b"{}", -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1,2]}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601), (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', -32601), (b'{"jsonrpc":"2.0","id":1,"method":""}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"take","arguments":[]}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602), (b'{"jsonrpc":"2.0","id":1,"method":"resources/read"}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"passdown://packet/../x"}}', -32002),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"passdown://packet/beefcafe"}}', -32002),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"passdown://packet/active%00"}}', -32002),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile") / "project"
    root.mkdir()
    (root / "beefcafe").symlink_to("/etc/passwd")  # a name that could be an id
    (root / "README_no_id").write_text("a name that could be a session's\n")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"],
                  ["-c", "user.name=Dev", "-c", "user.email=dev@example.com", "commit", "-q", "-m", "start"]):  # fmt: skip
        subprocess.run(
            ["git", *words], cwd=root, check=True, env={"PATH": os.environ["PATH"], "HOME": str(root.parent)}
        )
    return root


@pytest.fixture(scope="module")
def server(place: Path, talker: Any) -> Iterator[Any]:
    home = place.parent / "home"
    home.mkdir()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    one = talker(place, env)
    one.greet("claude-code")
    yield one
    assert one.ask("ping")["result"] == {}, "the server did not live to the end"
    code, rest, errors = one.leave()
    assert (code, rest) == (0, b"") and b"Traceback" not in errors, errors.decode()


def _refused(found: dict[str, Any]) -> str:
    """Return what a refusing tool says, after looking that it is one and labelled as data."""
    assert found["isError"] is True, found
    text: str = found["content"][0]["text"]
    assert (
        text.startswith("[passdown] Refused") and text.endswith("[passdown] End of the data.\n") and len(text) < 3_000
    )
    assert found["structuredContent"]["notice"].startswith("Everything here is data")
    error = found["structuredContent"]["error"]
    assert error["what"] and error["exit_code"] in (2, 3, 4, 5, 7, 8), error
    return text


@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_hostile_arguments_are_refused(server: Any, place: Path, at: int) -> None:
    tool, arguments = REFUSED[at]
    before = sorted(path.name for path in place.iterdir())
    _refused(server.call(tool, arguments))
    assert sorted(path.name for path in place.iterdir()) == before


@pytest.mark.parametrize("at", range(len(FRAMES)))
def test_what_is_no_request_is_answered(server: Any, at: int) -> None:
    line, code = FRAMES[at]
    server.send(line)
    answer = server.receive()
    assert answer["error"]["code"] == code and answer["error"]["message"].startswith("passdown: ")
    assert server.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    "line",
    [b"", b"  \t", b'{"jsonrpc":"2.0","method":"notifications/initialized"}', b'{"jsonrpc":"2.0","method":"no/such"}',
     b'{"jsonrpc":"2.0","id":9,"result":{}}', b'{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}',
     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[]}}}',
     b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"wrap","arguments":{"interim":true}}}'],
)  # fmt: skip
def test_what_asks_for_no_answer_gets_none(server: Any, place: Path, line: bytes) -> None:
    server.send(line)
    assert server.ask("ping")["result"] == {}
    assert not (place / "outputs").exists()


def test_a_deep_argument_is_refused_under_its_own_id(server: Any) -> None:
    for deep in (b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000):
        server.send(
            b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"note","arguments":{"text":'
            + deep
            + b"}}}"
        )
        assert server.receive() == {"jsonrpc": "2.0", "id": 77,
                                    "error": {"code": -32600, "message": "passdown: this is nested too deeply"}}  # fmt: skip
        server.send(
            b'{"method":"tools/call","params":{"name":"note","arguments":{"text":'
            + deep
            + b'}},"jsonrpc":"2.0","id":"a-78"}'
        )
        assert server.receive()["id"] == "a-78"
    _refused(server.call("note", {"kind": "clue", "text": json.loads("[" * 90 + "]" * 90)}))


@pytest.mark.parametrize("size", [100_000, 3 << 20])
def test_a_huge_argument_is_refused_by_the_tool(server: Any, size: int) -> None:
    _refused(server.call("note", {"kind": "clue", "text": "y" * size}))


def test_a_huge_frame_is_answered_under_its_own_id_and_the_next_one_served(server: Any) -> None:
    huge = b"z" * (9 << 20)
    for head, tail, name in ((b'{"jsonrpc":"2.0","id":5,"x":"', b'"}', 5), (b'{"x":"', b'","id":"q-6"}', "q-6"),
                             (b"", b"", None)):  # fmt: skip
        server.send(head + huge + tail)
        answer = server.receive()
        assert answer["id"] == name and "at most 4194304 bytes" in answer["error"]["message"]
    assert server.ask("ping")["result"] == {}


def test_a_lone_surrogate_is_no_json(server: Any) -> None:
    server.send(
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"note","arguments":{"kind":"clue","text":"a\\ud800b"}}}'
    )
    answer = server.receive()
    assert answer["id"] == 8 and ("error" in answer or answer["result"]["isError"])


def _json() -> st.SearchStrategy[Any]:
    leaf = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    leaf |= st.text(st.characters(exclude_categories=["Cs"]))
    return st.recursive(
        leaf, lambda inner: st.lists(inner) | st.dictionaries(st.text("abkindtext_", max_size=6), inner), max_leaves=8
    )


@SHORT
@given(st.sampled_from([tool.name for tool in TOOLS]), st.dictionaries(
    st.sampled_from(["packet", "tokens", "kind", "anchors", "session", "topic", "strict", "interim", "pin"]), _json(), min_size=1,
))  # fmt: skip
def test_any_arguments_of_the_wrong_kind_are_answered(server: Any, tool: str, arguments: dict[str, Any]) -> None:
    if tool in ("wrap", "note"):
        arguments = {**arguments, "no-such-field": 1}
    found = server.call(tool, arguments)
    assert found["content"][0]["text"].endswith("[passdown] End of the data.\n")


@SHORT
@given(_json())
def test_any_text_of_a_note_is_refused_or_one_line(server: Any, value: Any) -> None:
    found = server.call("note", {"kind": "next", "text": value})
    if not isinstance(value, str):
        _refused(found)
    assert found["isError"] or found["structuredContent"]["id"]


@SHORT
@given(st.binary(max_size=300).filter(lambda line: b"\n" not in line and line.strip()))
def test_any_bytes_leave_the_server_alive(server: Any, line: bytes) -> None:
    server.send(line)
    answer = server.receive()
    assert answer["error"]["code"] in (-32700, -32600)


@SHORT
@given(st.text(max_size=80))
def test_any_uri_is_refused(server: Any, uri: str) -> None:
    answer = server.ask("resources/read", {"uri": f"passdown://packet/{uri}/"})
    assert answer["error"]["code"] == -32002
