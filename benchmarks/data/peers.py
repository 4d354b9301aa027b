"""The same files through datatrove and through passdown, in the same run."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import reference
from passdown.data.engine.ingest import find_inputs, ingest_stage, list_files
from passdown.data.engine.pipeline import FilterTable
from passdown.data.engine.run import run_stage
from passdown.data.engine.stages import quality_stage
from passdown.data.filters.minhash import signature
from passdown.data.filters.shingles import GRAM, grams, np, words_of

Row = dict[str, Any]
PEER = Path(__file__).with_name("peer.py")
_TEXT = 20_000


def against_peer(folder: Path, count: int, python: str) -> Iterator[Row]:
    """Read, filter and write `count` trajectories, and sign their texts, both ways.

    `python` is an interpreter whose environment has datatrove; where it has not, its columns say so.
    """
    folder.mkdir()
    rows, texts = folder / "rows.jsonl", folder / "texts.jsonl"
    reference.write(rows, count)
    listed = [_text(line) for line in rows.read_bytes().splitlines()]
    texts.write_text("".join(json.dumps(text) + "\n" for text in listed), "utf-8")
    theirs = _peer(python, rows, texts, folder)
    ours = {"copied": count / _copied(rows, folder), "signed": count / _signed(listed)}
    for name, what, note in (
        ("copied", "read JSON lines, filter, write Parquet", "passdown makes canonical actions as well"),
        ("signed", f"MinHash signature of {_TEXT:,} characters, 128 hashes of 5-grams", ""),
    ):
        line: Row = {"what": what, "measured": round(ours[name], 1), "unit": "trajectories/s"}
        if theirs is None:
            yield line | {"datatrove": "not installed"}
            continue
        rate = next(value for key, value in theirs[name].items() if key != "seconds") / theirs[name]["seconds"]
        yield line | {"datatrove": round(rate, 1), "goal": round(rate, 1) if name == "signed" else None,
                      "ratio": round(ours[name] / rate, 2), "version": theirs["version"], "note": note}  # fmt: skip


def _text(line: bytes) -> str:
    return "\n".join(str(message["content"]) for message in json.loads(line)["trajectory"])[:_TEXT]


def _peer(python: str, rows: Path, texts: Path, folder: Path) -> Row | None:
    probe = subprocess.run([python, "-c", "import datatrove, orjson, regex"], capture_output=True, check=False)
    if probe.returncode:
        return None
    done = subprocess.run([python, str(PEER), str(rows), str(texts), str(folder / "peer")], capture_output=True,
                          text=True, check=False)  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the peer failed: {done.stderr[-1000:]}")
    told: Row = json.loads(done.stdout.splitlines()[-1])
    return told


def _copied(rows: Path, folder: Path) -> float:
    """Seconds of processor time for the steps `read` and `quality`, which write Parquet twice; the best of two."""
    best = 0.0
    for turn in range(3):
        work = folder / f"work-{turn}"
        began = time.process_time()
        list_files(find_inputs([rows]), work / "files")
        run_stage(ingest_stage(), work / "files", work / "read")
        ran = run_stage(quality_stage(FilterTable()), work / "read", work / "quality")
        spent = time.process_time() - began
        if not ran.rows:
            raise RuntimeError("nothing was read")
        best = spent if turn == 1 else min(best or spent, spent)
    return best


def _signed(texts: list[str]) -> float:
    best = 0.0
    for turn in range(3):
        began = time.process_time()
        for text in texts:
            signature(np.unique(grams(words_of(text), GRAM)))
        spent = time.process_time() - began
        best = spent if turn == 1 else min(best or spent, spent)
    return best
