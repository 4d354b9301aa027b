"""Make session logs of a given size in the shape of Claude Code's: results of 1 to 40 KB, each written twice."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

_WORDS = ("the limit of each caller", "is kept", "in a bucket", "that refills", "once a minute", "λ 桶", "error trace")


def _text(chance: random.Random, size: int) -> str:
    line = " ".join(chance.choices(_WORDS, k=5))
    return "\n".join(f"{number:6}\t{line}" for number in range(max(1, size // (len(line) + 8))))


def made_rows(cwd: str, chance: random.Random) -> Iterator[dict[str, object]]:
    """Yield the rows of a session without end: a tool call, its result, now and then what a person says."""
    parent: str | None = None
    turn = 0
    while True:
        turn += 1
        second = f"2026-11-20T{9 + turn // 3600 % 12:02}:{turn // 60 % 60:02}:{turn % 60:02}.000Z"
        common = {"isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": "bench", "version": "2.1.218",
                  "gitBranch": "main", "timestamp": second}  # fmt: skip
        if turn % 40 == 1:
            row = {**common, "parentUuid": parent, "type": "user", "uuid": f"h{turn}", "permissionMode": "default",
                   "message": {"role": "user", "content": f"Go on with part {turn}, tests green."}}  # fmt: skip
            parent = f"h{turn}"
            yield row
        run = turn % 3 == 0
        tool, arguments = ("Bash", {"command": f"pytest -q tests/test_{turn % 9}.py"}) if run else (
            "Read", {"file_path": f"{cwd}/src/module_{turn % 50}.py"})  # fmt: skip
        usage = {"input_tokens": 12, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 40_000 + turn,
                 "output_tokens": 180}  # fmt: skip
        yield {**common, "parentUuid": parent, "type": "assistant", "uuid": f"a{turn}", "requestId": f"r{turn}",
               "message": {"id": f"m{turn}", "role": "assistant", "type": "message", "model": "claude-sonnet-4-5",
                           "content": [{"type": "tool_use", "id": f"t{turn}", "name": tool, "input": arguments}],
                           "usage": usage}}  # fmt: skip
        failed = run and turn % 21 == 0
        text = _text(chance, chance.choice((1_000, 4_000, 12_000, 40_000)))
        text = f"Exit code 1\n{text}\nFAILED tests/test_{turn % 9}.py::test_limit - AssertionError" if failed else text
        twin: object = f"Error: {text}" if failed else {"stdout": text, "stderr": "", "interrupted": False}
        block = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": text} | (
            {"is_error": True} if failed else {}
        )
        yield {**common, "parentUuid": f"a{turn}", "type": "user", "uuid": f"u{turn}",
               "message": {"role": "user", "content": [block]}, "toolUseResult": twin}  # fmt: skip
        parent = f"u{turn}"


def write_log(path: Path, size: int, cwd: str) -> int:
    """Write a log of about `size` bytes whose session worked in `cwd`; return the bytes written."""
    written = 0
    with path.open("wb") as stream:
        for row in made_rows(cwd, random.Random(7)):
            written += stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            if written >= size:
                return written
    return written


def write_long_line(path: Path, size: int, cwd: str) -> int:
    """Write a log whose third line alone is `size` bytes long."""
    rows = made_rows(cwd, random.Random(7))
    with path.open("wb") as stream:
        for _ in range(2):
            stream.write(json.dumps(next(rows)).encode() + b"\n")
        stream.write(b'{"type":"user","message":{"role":"user","content":"')
        for _ in range(size >> 20):
            stream.write(b"x" * (1 << 20))
        stream.write(b'"}}\n')
        for _ in range(6):
            stream.write(json.dumps(next(rows)).encode() + b"\n")
    return path.stat().st_size


_HEADERS = (b'"type":"session_meta"', b'"type":"session"')


_TIME = re.compile(rb'"timestamp":(?:"\d{4}-\d\d-\d\dT[^"]{8,20}"|\d{13}(?=[,}]))')
_BEGUN = 1_767_225_600  # 2026-01-01


def _moved(found: re.Match[bytes], at: int) -> bytes:
    if found.group().endswith(b'"'):
        return b'"timestamp":"' + time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at)).encode() + b'"'
    return b'"timestamp":%d' % (at * 1000)


def write_real_log(path: Path, size: int, sources: list[Path]) -> int:
    """Write the rows of real logs again and again, up to `size` bytes; only the first log keeps its header.

    Every row is two seconds later than the one before, as in one log: a clock that goes back is work of its own.
    """
    written = number = 0
    with path.open("wb") as stream:
        while written < size:
            for source in sources:
                for line in source.read_bytes().split(b"\n"):
                    if line and not (written and any(mark in line[:200] for mark in _HEADERS)):
                        number += 1
                        written += stream.write(_TIME.sub(partial(_moved, at=_BEGUN + 2 * number), line) + b"\n")
    return written
