"""Where Codex keeps its rollouts: finding, recognising, compressed files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from backports import zstd
from codex_rows import FIXTURES, OWN, PARENT, Row, event, meta, of, prompt, said

from passdown.agents.codex.sessions import find, read, recognise
from passdown.errors import UnsafeError
from passdown.model.session import SessionEnd, SessionRef, SessionStart, Unknown, UserMessage
from passdown.sessions.summary import summarize


def store(home: Path, name: str, *rows: Row, compressed: bool = False, folder: str = "sessions/2026/03/01") -> Path:
    path = home / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(json.dumps(one).encode() + b"\n" for one in rows)
    path.write_bytes(zstd.compress(data) if compressed else data)
    return path


def test_find(tmp_path: Path) -> None:
    identifiers = [f"01a228c2-2194-7b00-8ff1-{number:012}" for number in range(5)]
    names = [f"rollout-2026-03-01T10-00-00-{identifier}.jsonl" for identifier in identifiers]
    long = {"text": "x" * (100 << 10)}
    plain = store(tmp_path, names[0], meta(identifiers[0], git={"branch": "main"}, timestamp="2026-03-01T10:00:00.000Z"),
                  *[said("assistant", "x" * 999)] * 200, event("thread_name_updated", thread_name="Late name"))  # fmt: skip
    store(tmp_path, names[0] + ".zst", meta("wrong-copy-0"), compressed=True)
    packed = store(tmp_path, names[1] + ".zst", meta(identifiers[1]), compressed=True)
    archived = store(tmp_path, names[2], meta(identifiers[2], base_instructions=long), folder="archived_sessions")
    broken = store(tmp_path, names[3] + ".zst", meta(identifiers[3]), compressed=True)
    broken.write_bytes(broken.read_bytes()[:40])
    (tmp_path / "sessions/2026/03/01" / names[4]).symlink_to(plain)
    (tmp_path / "sessions" / "notes.jsonl").write_text("{}")
    for age, path in enumerate([plain, packed, archived, broken]):
        os.utime(path, (1_000_000_000 - age, 1_000_000_000 - age))
    refs = list(find(tmp_path))
    assert [ref.path for ref in refs] == [str(plain), str(packed), str(archived), str(broken)]
    assert [ref.session_id for ref in refs] == identifiers[:4]
    first = refs[0]
    assert (first.title, first.branch, first.cwd, first.started_at) == ("Late name", "main", "/w", 1772359200000)
    assert (first.bytes, first.modified_at) == (plain.stat().st_size, 1_000_000_000_000)
    assert refs[2].cwd == "/w"
    assert [read(ref).__next__().session_id for ref in refs] == identifiers[:4]
    assert list(find(tmp_path / "nowhere")) == []


def test_a_rollout_compressed_meanwhile_is_found(tmp_path: Path) -> None:
    plain = store(tmp_path, f"rollout-2026-03-01T10-00-00-{OWN}.jsonl", meta(), *prompt("Hi"))
    [ref] = find(tmp_path)
    plain.with_name(plain.name + ".zst").write_bytes(zstd.compress(plain.read_bytes()))
    expected = list(read(ref))
    plain.unlink()
    assert list(read(ref)) == expected
    plain.with_name(plain.name + ".zst").unlink()
    with pytest.raises(FileNotFoundError):
        list(read(ref))


def test_compressed_and_rolled_back(tmp_path: Path) -> None:
    rows = [meta(), *prompt("One"), event("thread_rolled_back", num_turns=1)]
    path = store(tmp_path, "a.jsonl.zst", *rows, compressed=True)
    found = list(read(SessionRef(agent="codex", path=str(path), session_id="")))
    assert [one.active for one in of(found, UserMessage)] == [False]


def test_a_compressed_file_cut_short(tmp_path: Path) -> None:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in [meta(), *prompt("Hi") * 5000])
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstd.compress(data)[:-40])
    found = list(read(SessionRef(agent="codex", path=str(path), session_id="")))
    assert isinstance(found[0], SessionStart)
    assert of(found, Unknown)[-1].reason == "torn_line"
    path.write_bytes(b"no such thing")
    assert [type(one) for one in read(SessionRef(agent="codex", path=str(path), session_id="x"))] == [
        SessionStart, Unknown, SessionEnd,
    ]  # fmt: skip


def test_links_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path, "a.jsonl", meta())
    (tmp_path / "link.jsonl").symlink_to(path)
    with pytest.raises(UnsafeError):
        list(read(SessionRef(agent="codex", path=str(tmp_path / "link.jsonl"), session_id="")))


def test_recognise() -> None:
    def line(one: Row) -> bytes:
        return json.dumps(one).encode() + b"\n"

    assert recognise(line(meta()), "anything.txt")
    assert recognise(b"\xef\xbb\xbf" + line(meta()), "")
    assert recognise(line(meta(base_instructions="x" * (70 << 10)))[: 64 << 10], "")
    assert recognise(b"not json\n" + line(said("user", "x")), "")
    assert not recognise(
        line({"type": "user", "sessionId": "x", "message": {"role": "user", "content": "x"}}), "rollout-x.jsonl"
    )
    assert not recognise(line({"type": "session", "id": "x", "cwd": "/w"}), "")
    assert not recognise(b"", "rollout.jsonl")


def test_the_fixtures_lie_in_a_store_as_codex_keeps_them(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "29"
    folder.mkdir(parents=True)
    for name, identifier in (("parent", PARENT), ("child", OWN)):
        shutil.copyfile(FIXTURES / f"real-0.171-code-mode-{name}.jsonl", folder / f"rollout-2026-11-29T19-22-20-{identifier}.jsonl")  # fmt: skip
    refs = {ref.session_id: ref for ref in find(tmp_path)}
    assert refs[OWN].parent_id == PARENT
    assert summarize(read(refs[OWN])).tool_calls == 1
