"""Compressed logs, whole and damaged: what comes out is kept, and a bad end is told once."""

from __future__ import annotations

import gzip
import json
import random
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from passdown.io.compressed import Decompressed
from passdown.io.files import open_regular
from passdown.io.jsonl import Line, open_log, pull_apart, read_file_lines

CHANCE = random.Random(7)
ROWS = [json.dumps({"n": number, "text": CHANCE.randbytes(150).hex()}).encode() for number in range(3000)]
TEXT = b"".join(row + b"\n" for row in ROWS)
SKIPPABLE = struct.pack("<II", 0x184D2A53, 6) + b"a note"


def lines_of(path: Path, data: bytes) -> tuple[list[bytes], list[Line]]:
    """Write the bytes and return the lines that are whole, and those that are not."""
    path.write_bytes(data)
    lines = list(read_file_lines(path))
    return [line.data or b"" for line in lines if line.complete], [line for line in lines if not line.complete]


def is_torn(lines: list[Line]) -> bool:
    """Say whether one line is left, and no decoder takes it for whole."""
    [line] = lines
    return pull_apart(line.data or b"")[1]


@pytest.mark.parametrize(
    "data",
    [
        zstd.compress(TEXT),
        zstd.compress(TEXT[:999]) + zstd.compress(TEXT[999:]),
        SKIPPABLE + zstd.compress(TEXT[:999]) + SKIPPABLE + zstd.compress(TEXT[999:]) + SKIPPABLE,
        zstd.compress(b"") + zstd.compress(TEXT),
        gzip.compress(TEXT),
        gzip.compress(TEXT[:999]) + gzip.compress(b"") + gzip.compress(TEXT[999:]) + bytes(700),
        gzip.compress(TEXT, compresslevel=0),
        gzip.compress(TEXT[:999]) + zstd.compress(TEXT[999:]),
    ],
    ids=["one", "two", "skippable", "empty", "gzip", "members", "stored", "both"],
)
@pytest.mark.parametrize("name", ["log.jsonl.zst", "log.jsonl", "log"])
def test_frames_follow_each_other_whatever_the_name(tmp_path: Path, name: str, data: bytes) -> None:
    assert lines_of(tmp_path / name, data) == (ROWS, [])


def test_plain_lines_under_the_other_name(tmp_path: Path) -> None:
    assert lines_of(tmp_path / "log.jsonl.zst", TEXT) == (ROWS, [])
    assert lines_of(tmp_path / "log.jsonl.zst", b"") == ([], [])


def test_what_follows_the_last_frame_costs_nothing_before_it(tmp_path: Path) -> None:
    for behind in (b"garbage", b"\x00" * 4096, TEXT[:500], b"\x28"):
        whole, rest = lines_of(tmp_path / "log.jsonl.zst", zstd.compress(TEXT) + behind)
        assert whole == ROWS
        assert is_torn(rest)


@pytest.mark.parametrize("compress", [zstd.compress, gzip.compress])
def test_a_cut_costs_no_more_than_a_block(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = compress(TEXT)
    for share in (0.2, 0.5, 0.999):
        whole, rest = lines_of(tmp_path / "log.jsonl.zst", data[: int(len(data) * share)])
        assert whole == ROWS[: len(whole)]
        assert sum(map(len, whole)) >= share * len(TEXT) - (256 << 10)
        assert is_torn(rest)


def test_a_cut_between_two_lines_is_told_as_well(tmp_path: Path) -> None:
    packer = zstd.ZstdCompressor()
    block = packer.compress(TEXT, mode=zstd.ZstdCompressor.FLUSH_BLOCK)
    whole, rest = lines_of(tmp_path / "log.jsonl.zst", block)
    assert whole == ROWS
    assert is_torn(rest)
    block = zstd.ZstdCompressor().compress(TEXT[:-1], mode=zstd.ZstdCompressor.FLUSH_BLOCK)
    whole, rest = lines_of(tmp_path / "log.jsonl.zst", block)
    assert whole == ROWS[:-1]
    assert pull_apart(rest[0].data or b"") == ([ROWS[-1]], True)


def test_bytes_that_were_changed_never_raise(tmp_path: Path) -> None:
    data = zstd.compress(TEXT, options={zstd.CompressionParameter.checksum_flag: 1})
    for seed in range(40):
        chance = random.Random(seed)
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        whole, _ = lines_of(tmp_path / "log.jsonl.zst", bytes(broken))
        assert len(whole) <= len(ROWS) + 10


def test_a_changed_byte_of_gzip_is_told_at_the_end(tmp_path: Path) -> None:
    data = gzip.compress(TEXT)
    for seed in range(20):
        chance = random.Random(seed)
        broken = bytearray(data)
        broken[chance.randrange(10, len(data))] ^= 1 << chance.randrange(8)
        _, rest = lines_of(tmp_path / "log.jsonl.gz", bytes(broken))
        assert is_torn(rest)


def test_a_header_that_claims_a_huge_window_gets_no_memory(tmp_path: Path) -> None:
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    path = tmp_path / "log.jsonl.zst"
    path.write_bytes(packer.compress(TEXT) + packer.flush())
    assert is_torn(list(read_file_lines(path)))


def test_a_small_file_that_holds_very_much_is_read_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(bytes(64 << 20)))
    tracemalloc.start()
    try:
        [line] = read_file_lines(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (line.data, line.length) == (None, 64 << 20)
    assert peak < 24 << 20  # the longest line that is read, and what is on its way


@pytest.mark.parametrize("compress", [zstd.compress, gzip.compress])
def test_the_stream_itself(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log.zst"
    path.write_bytes(compress(TEXT))
    with open_log(path) as stream:
        assert stream.read(10) == TEXT[:10]
        assert stream.tell() == 10
        stream.seek(0)
        assert stream.read() == TEXT
        for place in (300_000, 7, 400_000, 0):
            stream.seek(place)
            assert stream.read(20) == TEXT[place : place + 20]
        with pytest.raises(OSError, match="end of a compressed log"):
            stream.seek(0, 2)
    raw = open_regular(path)
    packed = Decompressed(raw)
    assert packed.fileno() == raw.fileno()
    packed.close()
    assert raw.closed
