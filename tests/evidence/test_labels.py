"""The classifier against 478 hand-labelled results: rules were tuned on the `tune` half, the bar is on `hold` alone.

A failed attempt is a result labelled `failed` or `null`. The classifier says so when a run is failed, timed out or
without a result, and not expected. `interrupted`, `expected` and `ok` are not failed attempts.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from passdown.evidence.chains import is_failure, is_success
from passdown.evidence.reading import Reading
from passdown.evidence.runs import Finished
from passdown.evidence.stages import Stages
from passdown.model.evidence import CommandRun, RepositoryFacts
from passdown.model.workbench import Workbench
from passdown.sessions.read import read_ref, refer_to

LABELS = Path(__file__).parents[1] / "labels" / "command_results.tsv"
ELSEWHERE = RepositoryFacts(root="/nowhere/project")


class Label(NamedTuple):
    file: str
    locator: str
    label: str
    half: str
    later_passed: str
    why: str


class Recorder(Stages):
    """Stages that also keep every single run, which evidence does not."""

    def __init__(self) -> None:
        super().__init__(ELSEWHERE, Workbench(), None, "")
        self.runs: dict[str, CommandRun] = {}
        self.keys: dict[str, str] = {}

    def add_run(self, finished: Finished, log: int, *, key: str = "", truncated: bool = False) -> str:
        self.runs.setdefault(finished.run.command_id, finished.run)
        key = super().add_run(finished, log, key=key, truncated=truncated)
        self.keys.setdefault(finished.run.command_id, key)
        return key


def labels() -> list[Label]:
    rows = [line.split("\t") for line in LABELS.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert rows[0] == list(Label._fields)
    return [Label(*row) for row in rows[1:]]


@pytest.fixture(scope="module")
def by_file() -> dict[str, list[Label]]:
    found: dict[str, list[Label]] = {}
    for label in labels():
        found.setdefault(label.file, []).append(label)
    return found


def record(path: Path) -> Recorder:
    recorder = Recorder()
    ref = refer_to(path)
    reading = Reading(recorder, ref, 1)
    for event in read_ref(ref):
        reading.take(event)
    reading.finish()
    return recorder


def test_labels_are_well_formed() -> None:
    rows = labels()
    assert len(rows) >= 320
    assert len({(row.file, row.locator) for row in rows}) == len(rows)
    assert {row.label for row in rows} == {"ok", "failed", "expected", "interrupted", "null"}
    for row in rows:
        half = "hold" if sha256((row.file + row.locator).encode()).digest()[0] % 2 else "tune"
        assert row.half == half, row
        assert (row.later_passed == "na") == (row.label not in {"failed", "null"}), row


def test_recall_and_precision_of_failed_attempts(corpus: Path, by_file: dict[str, list[Label]]) -> None:
    hits: dict[str, Counter[str]] = {"tune": Counter(), "hold": Counter()}
    missing = []
    for file, rows in sorted(by_file.items()):
        runs = record(corpus / file).runs
        for row in rows:
            run = runs.get(row.locator)
            if run is None:
                missing.append(row)
                continue
            said, true = is_failure(run), row.label in {"failed", "null"}
            hits[row.half]["true" if said and true else "false" if said else "missed" if true else "right"] += 1
            if said != true:
                print(row.half, row.label, run.result, run.expected, row.file, row.locator, row.why)
    assert not missing
    for half, count in hits.items():
        recall = count["true"] / (count["true"] + count["missed"])
        precision = count["true"] / (count["true"] + count["false"])
        print(f"{half}: recall {recall:.3f} precision {precision:.3f} of {sum(count.values())} ({dict(count)})")
    count = hits["hold"]
    assert count["true"] >= 0.95 * (count["true"] + count["missed"])
    assert count["true"] >= 0.95 * (count["true"] + count["false"])


def test_a_later_success_of_the_same_command_is_seen(corpus: Path, by_file: dict[str, list[Label]]) -> None:
    agreed: Counter[str] = Counter()
    for file, rows in sorted(by_file.items()):
        recorder = record(corpus / file)
        chains = {chain.key: chain for chain in recorder.chains.finish()}
        for row in rows:
            run = recorder.runs[row.locator]
            if row.later_passed == "na" or run.source is None:
                continue
            later = [other for other in chains[recorder.keys[row.locator]].runs if is_success(other) and other.source]
            passed = any(other.source and other.source.line > run.source.line for other in later)
            agreed["yes" if passed == (row.later_passed == "yes") else "no"] += 1
            if passed != (row.later_passed == "yes"):
                print(row.half, row.later_passed, passed, run.command[:80], row.file, row.locator)
    print(f"later success: {agreed['yes']} of {sum(agreed.values())} as labelled")
    assert agreed["yes"] >= 0.85 * sum(agreed.values())
