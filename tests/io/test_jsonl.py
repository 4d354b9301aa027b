"""Lines of a log: whole, torn, glued, broken and enormous."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.errors import UnsafeError
from passdown.io import jsonl
from passdown.io.jsonl import Line, open_log, read_file_lines, read_lines, salvage

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECT = st.dictionaries(st.text(), JSON, max_size=4)


class Dripping(io.RawIOBase):
    """A stream that gives at most `size` bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.inner, self.size = io.BytesIO(data), size

    def read(self, size: int = -1) -> bytes:
        return self.inner.read(min(self.size, size) if size >= 0 else self.size)


def lines_of(data: bytes, size: int = 1 << 20, **options: int) -> list[Line]:
    return list(read_lines(Dripping(data, size), **options))  # type: ignore[arg-type]


@given(
    st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")), max_size=8),
    st.integers(1, 40),
    st.booleans(),
)
@settings(deadline=None)
def test_lines_come_back_with_their_offsets(parts: list[bytes], size: int, closed: bool) -> None:
    data = b"\n".join(parts) + (b"\n" if closed and parts else b"")
    lines = lines_of(data, size)
    assert b"".join((line.data or b"") + (b"\n" if line.complete else b"") for line in lines) == data
    for number, line in enumerate(lines, 1):
        assert line.number == number
        assert data[line.offset : line.offset + line.length] == line.data
    assert all(line.complete for line in lines[:-1])


@given(st.binary(max_size=200), st.integers(1, 20), st.integers(0, 20))
@example(b"12345\n123456\n1234567", 3, 5)
@settings(deadline=None)
def test_long_lines_are_skipped_and_measured(data: bytes, size: int, cap: int) -> None:
    full = lines_of(data)
    capped = lines_of(data, size, max_line=cap)
    assert [structs.replace(line, data=None) for line in capped] == [structs.replace(line, data=None) for line in full]
    for line, whole in zip(capped, full, strict=True):
        assert line.data == (whole.data if whole.length <= cap else None)


@given(st.binary(max_size=100), st.integers(0, 120), st.integers(1, 20))
@settings(deadline=None)
def test_a_limit_reads_no_further(data: bytes, limit: int, size: int) -> None:
    assert lines_of(data, size, limit=limit) == lines_of(data[:limit])


def test_a_record_is_not_split_at_unicode_line_separators() -> None:
    record = json.dumps({"text": "a\u2028b\u2029c\u0085d\x1e"}, ensure_ascii=False).encode()
    assert [line.data for line in lines_of(record + b"\r\n" + record)] == [record + b"\r", record]


def test_what_is_appended_while_reading_waits_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\ntwo\n")
    seen = []
    for line in read_file_lines(path):
        seen.append(line.data)
        with path.open("ab") as stream:
            stream.write(b"more\n")
    assert seen == [b"one", b"two"]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "device"])
def test_only_regular_files_are_logs(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log.jsonl"
    if kind == "link":
        (tmp_path / "real").write_bytes(b"{}\n")
        path.symlink_to(tmp_path / "real")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/zero")
    with pytest.raises(UnsafeError):
        open_log(path)


def test_a_missing_log(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_log(tmp_path / "none.jsonl")


def test_compressed_logs(tmp_path: Path) -> None:
    data = b"".join(b'{"n": %d}\n' % number for number in range(100_000))
    path = tmp_path / "log.jsonl.zst"
    half = len(data) // 2
    path.write_bytes(zstd.compress(data[:half]) + zstd.compress(data[half:]))  # two frames, as an appended log has
    lines = list(read_file_lines(path))
    assert len(lines) == 100_000
    assert b"".join(line.data + b"\n" for line in lines if line.data) == data
    stream = open_log(path)
    descriptor = stream.fileno()
    stream.read(10)
    stream.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_a_line_of_100_megabytes_costs_no_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log.jsonl{suffix}"
    if suffix:
        with zstd.open(path, "wb", level=1) as packed:
            for block in (b"{}\n", *[b"x" * (1 << 20)] * 100, b"\n{}\n"):
                packed.write(block)
    else:
        with path.open("wb") as stream:
            for block in (b"{}\n", *[b"x" * (1 << 20)] * 100, b"\n{}\n"):
                stream.write(block)
    program = """
        import resource, sys
        from pathlib import Path
        from passdown.io.jsonl import open_log, read_file_lines
        open_log(Path(sys.argv[1])).close()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        lines = [(line.data, line.length) for line in read_file_lines(Path(sys.argv[1]))]
        assert lines == [(b"{}", 2), (None, 100 << 20), (b"{}", 2)], lines
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # Up to the cap a line may still turn out short enough: its parts are kept until then.
    assert int(done.stdout) < (jsonl.MAX_LINE + (12 << 20)) // 1024


def test_a_line_within_the_cap_is_held_once_when_it_is_handed_over() -> None:
    program = """
        import io, tracemalloc
        from passdown.io.jsonl import read_lines
        data = b"x" * (12 << 20) + b"\\n"
        stream = io.BytesIO(data)
        tracemalloc.start()
        for line in read_lines(stream):
            print(tracemalloc.get_traced_memory()[0])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert int(done.stdout) < 15 << 20


# --- salvage -----------------------------------------------------------------------------------------------------

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            b'{"a":1}', b'{"a":"', b'"}', b"\\ud83d", b"\\ude00", b"\\ud83d\\ude00", b"\\\\", b"\\", b'"', b"NaN", b"-Infinity",
            b"Infinity", b":", b",", b"{", b"}", b"[", b"]", b"\x00", b"\xef\xbb\xbf", b"\xff", b" ", b"1e999", b"9" * 400,
            b"\\u0000", b"\\uD8", b"true", b"\xed\xa0\x80", b"\n", b"\x1f",
        ]
    ),
    max_size=14,
).map(b"".join)  # fmt: skip


def check(data: bytes) -> list[bytes]:
    documents = salvage(data)
    for document in documents:
        assert isinstance(msgspec.json.decode(document), dict | list)
        json.loads(document).__repr__().encode()
    return documents


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_salvage_never_raises_on_bytes(data: bytes) -> None:
    check(data)


@given(FRAGMENTS)
@example(b'{"a":"\\\\ud83d\\ude00"}')
@example(b'{"a":1e999}')
@example(b"NaN")
@settings(deadline=None, max_examples=500)
def test_salvage_never_raises_on_almost_json(data: bytes) -> None:
    check(data)


@given(st.lists(OBJECT, min_size=1, max_size=4), st.sampled_from([b"", b" ", b"\x00\x00", b"\r"]), st.booleans())
@settings(deadline=None)
def test_glued_records_are_pulled_apart(records: list[dict[str, object]], between: bytes, ascii_only: bool) -> None:
    glued = between.join(json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "replace") for record in records)
    expected = [json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")) for record in records]
    if ascii_only and "\\ud" in glued.decode():
        check(glued)
        return
    assert [json.loads(document) for document in check(glued)] == expected


@given(OBJECT, st.integers(0, 400))
@settings(deadline=None)
def test_a_torn_record_gives_nothing_or_itself(record: dict[str, object], cut: int) -> None:
    data = json.dumps(record).encode()
    assert len(check(data[:cut])) == (cut >= len(data))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'\xef\xbb\xbf{"a": 1}', [{"a": 1}]),
        (b'\x00\x00{"a": 1}\x00\x00', [{"a": 1}]),
        (b'{"a": "x\\ud83d"}', [{"a": "x\ufffd"}]),
        (b'{"a": "\\ud83d\\ude00"}', [{"a": "😀"}]),
        (b'{"a": "\\ud83d\\ud83d\\ude00\\ude00"}', [{"a": "\ufffd😀\ufffd"}]),
        (b'{"a": "\\\\ud83d"}', [{"a": "\\ud83d"}]),
        (b'{"a": "\\\\ud83d\\ude00"}', [{"a": "\\ud83d\ufffd"}]),
        (b'{"a": NaN, "b": -Infinity, "c": [Infinity]}', [{"a": None, "b": None, "c": [None]}]),
        (b'{"a": NaN, "b": "is NaN, or Infinity"}', [{"a": None, "b": "is NaN, or Infinity"}]),
        (b'{"a": "\xff\xfe"}', [{"a": "\ufffd\ufffd"}]),
        (b'{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        (b'{"a": 1}{"b": ', [{"a": 1}]),
        (b'{"a": "half', []),
        (b'5, "b": 1}', []),
        (b"", []),
        (b"not json", []),
        (b"[" * 100_000, []),
        (b'{"a": ' + b"9" * 5000 + b"}", []),
    ],
)
def test_salvage_examples(data: bytes, expected: list[object]) -> None:
    assert [json.loads(document) for document in check(data)] == expected


@pytest.mark.parametrize(
    "data", [b'"' * 400_000, b"\\" * 400_000 + b"\\ud800", b'{"a":"' + b'\\"' * 200_000 + b"NaN", b"\\ud83d" * 60_000]
)
def test_salvage_takes_no_longer_than_the_line_is_long(data: bytes) -> None:
    program = f"import sys; from passdown.io.jsonl import salvage; salvage(bytes.fromhex({data[:20].hex()!r}) + sys.stdin.buffer.read())"
    subprocess.run([sys.executable, "-c", program], input=data[20:], check=True, timeout=20)
