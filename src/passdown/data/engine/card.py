"""The dataset card: what is in a working folder, where it comes from, what was dropped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from passdown.data.engine.manifest import Manifest
from passdown.data.engine.shards import read_batches
from passdown.data.engine.steps import STEPS
from passdown.data.filters.split import group_named, is_drawn
from passdown.data.records import Provenance, Sample

MANY = 10
"""Repositories of a source of which some are expected on every side of the split."""


class _Run(Struct, frozen=True):
    provenance: Provenance
    predecessor: str = "agent"
    root: str = ""
    masked: dict[str, int] = field(default_factory=dict)


class _State(Struct, frozen=True):
    exact: bool = False
    real: bool = False


class _Cut(Struct, frozen=True):
    snapshot: _State | None = None


class _Samples(Struct, frozen=True):
    """Of a row of samples only what is counted: the rest is passed over unread."""

    trajectory: _Run
    cuts: tuple[_Cut, ...] = ()
    replayed: str = ""
    samples: tuple[Sample, ...] = ()


_DECODE = msgspec.json.Decoder(_Samples)


class Replays(Struct, kw_only=True):
    """How well the files at the cuts of one source are known.

    Of `cuts`, `exact` have every changed file, and no later look tells otherwise; `real` are what the recorded actions
    led to when they were run again. `stopped` tells of the trajectories how their actions ended then, by reason.
    """

    cuts: int = 0
    exact: int = 0
    real: int = 0
    stopped: dict[str, int] = field(default_factory=dict)


class Card(Struct, frozen=True, kw_only=True):
    """Counts of a finished data set. `steps` holds, for each step, rows and what it rejected by reason.

    `self_tails` is the share of supervised samples that go on with the predecessor's own tail without looking first.
    `exports` holds, for each target, what its last export wrote and what it dropped by reason. `replay` tells by
    source how well the files at the cuts are known. `sides` counts, for each source, the repositories that were drawn
    for a side of the split. `masked` counts the secrets that were taken out when trajectories were read, by kind.
    """

    schema_version: int = 1
    samples: int = 0
    trajectories: int = 0
    repositories: int = 0
    most_of_one_trajectory: int = 0
    self_tails: float | None = None
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    exports: dict[str, dict[str, Any]] = field(default_factory=dict)
    replay: dict[str, Replays] = field(default_factory=dict)
    sides: dict[str, dict[str, int]] = field(default_factory=dict)
    masked: dict[str, int] = field(default_factory=dict)


def make_card(folder: Path) -> Card:
    """Count what a working folder holds. Raises `UsageError` when no samples were built there yet."""
    counts: dict[str, Counter[str]] = {
        name: Counter()
        for name in ("kind", "view", "point", "level", "continuation", "operator", "source", "licence", "split",
                     "predecessor", "failure mode", "difficulty")
    }  # fmt: skip
    repositories: set[str] = set()
    replays: dict[str, Replays] = {}
    groups: dict[tuple[str, str], set[str]] = {}
    masked: Counter[str] = Counter()
    trajectories = most = 0
    for repo, split, held in _held(folder / "samples"):
        trajectories += 1
        most = max(most, len(held.samples))
        repositories.add(repo)
        masked.update(held.trajectory.masked)
        _drawn(groups, repo, split, held.trajectory)
        _replayed(replays.setdefault(held.trajectory.provenance.source, Replays()), held)
        for sample in held.samples:
            _count(counts, sample, held.trajectory, split)
    supervised = counts["kind"]["sft"]
    return Card(
        samples=counts["kind"].total(), trajectories=trajectories, repositories=len(repositories),
        most_of_one_trajectory=most,
        self_tails=round(counts["continuation"]["self_tail"] / supervised, 4) if supervised else None,
        counts={name: dict(sorted(counter.items())) for name, counter in counts.items() if counter},
        steps=_steps(folder), exports=_exports(folder), replay=dict(sorted(replays.items())),
        sides=_sides(groups), masked=dict(sorted(masked.items())),
    )  # fmt: skip


def _drawn(groups: dict[tuple[str, str], set[str]], repo: str, split: str, run: _Run) -> None:
    group = group_named(repo, run.root, run.provenance.source)
    if split and is_drawn(group):
        groups.setdefault((run.provenance.source, split), set()).add(group)


def _sides(groups: dict[tuple[str, str], set[str]]) -> dict[str, dict[str, int]]:
    counted: dict[str, dict[str, int]] = {}
    for (source, split), names in sorted(groups.items()):
        counted.setdefault(source, dict.fromkeys(("train", "validation", "test"), 0))[split] = len(names)
    return counted


def _replayed(count: Replays, held: _Samples) -> None:
    states = [cut.snapshot for cut in held.cuts if cut.snapshot is not None]
    count.cuts += len(states)
    count.exact += sum(state.exact for state in states)
    count.real += sum(state.real for state in states)
    if held.replayed:
        count.stopped[held.replayed] = count.stopped.get(held.replayed, 0) + 1


def _held(folder: Path) -> Iterator[tuple[str, str, _Samples]]:
    from passdown.data.engine.shards import shards_in

    for path in shards_in(folder):
        for batch in read_batches(path):
            for row in batch:
                yield row.repo, row.split, _DECODE.decode(row.record)


def _count(counts: dict[str, Counter[str]], sample: Sample, run: _Run, split: str) -> None:
    counts["kind"][sample.kind] += 1
    counts["point"][sample.point] += 1
    counts["view"][sample.view] += 1
    counts["level"][sample.level or "none"] += 1
    counts["operator"].update(sample.ops or ("none",))
    counts["source"][run.provenance.source] += 1
    counts["licence"][run.provenance.licence or "not stated"] += 1
    counts["predecessor"][run.predecessor] += 1
    counts["split"][split or "none"] += 1
    counts["failure mode"].update(sample.failure_modes or ("none",))
    if sample.kind == "sft" and sample.continuation:
        counts["continuation"][sample.continuation.kind] += 1
    if sample.difficulty is not None:
        counts["difficulty"][f"{int(sample.difficulty * 10) / 10:.1f}"] += 1


def _steps(folder: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for step in STEPS:
        manifest = Manifest(folder / step.writes)
        if manifest.entries:
            entries = manifest.entries.values()
            found[step.name] = {
                "shards": len(manifest.entries), "read": sum(entry.read for entry in entries),
                "rows": sum(entry.rows for entry in entries), "rejected": dict(sorted(manifest.totals()[1].items())),
            }  # fmt: skip
    return found


def _exports(folder: Path) -> dict[str, dict[str, Any]]:
    from passdown.data.engine.outputs import read_records

    return {
        target: {"samples": sum(made.samples.values()), "dropped": made.dropped, "shortened": made.shortened}
        for target, made in read_records(folder).items()
    }


def as_markdown(card: Card) -> str:
    """Return the card as Markdown: counts, the mix, and every reason for which rows were dropped."""
    whole = (
        f"{card.samples:,} samples of {card.trajectories:,} trajectories in {card.repositories:,} repositories, "
        f"at most {card.most_of_one_trajectory} of one trajectory."
    )
    lines = ["# Dataset card", "", whole, ""]
    if card.self_tails is not None:
        lines += [f"Self tails without inspection: {card.self_tails:.1%} of the supervised samples.", ""]
    lines += [line for one in card.sides.items() for line in _left_empty(*one)]
    if card.masked:
        lines += [f"Secrets masked when they were read: {_reasons(card.masked)}.", ""]
    for name, counts in card.counts.items():
        lines += [f"## By {name}", "", "| | samples |", "|---|---:|"]
        lines += [f"| {value} | {count:,} |" for value, count in counts.items()]
        lines.append("")
    lines += [
        "## Steps, and what was dropped",
        "",
        "| step | read | made | dropped, by reason |",
        "|---|---:|---:|---|",
    ]
    for name, step in card.steps.items():
        lines.append(f"| {name} | {step['read']:,} | {step['rows']:,} | {_reasons(step['rejected'])} |")
    if card.exports:
        lines += [
            "",
            "## Exports, and what was dropped",
            "",
            "| target | samples | shortened | dropped, by reason |",
            "|---|---:|---:|---|",
        ]
    for name, made in card.exports.items():
        lines.append(f"| {name} | {made['samples']:,} | {made['shortened']:,} | {_reasons(made['dropped'])} |")
    return "\n".join([*lines, *_known(card)]) + "\n"


def _left_empty(source: str, sides: dict[str, int]) -> list[str]:
    """Say where a source with many repositories has none on a side."""
    count = sum(sides.values())
    empty = [side for side, names in sides.items() if not names]
    if count < MANY or not empty:
        return []
    told = f"Of the {count} repositories of `{source}` none is in {' or in '.join(empty)}"
    return [f"{told}: `[split]` draws by name; another seed or larger shares hold out others.", ""]


def _known(card: Card) -> list[str]:
    if not card.replay:
        return []
    lines = [
        "",
        "## How well the files at the cuts are known",
        "",
        "| source | cuts | exact | run again | how the actions ended when run again |",
        "|---|---:|---:|---:|---|",
    ]
    for name, one in card.replay.items():
        ended = _reasons(one.stopped) if one.stopped else "not run"
        lines.append(f"| {name} | {one.cuts:,} | {one.exact:,} | {one.real:,} | {ended} |")
    return lines


def _reasons(counts: dict[str, int]) -> str:
    return "; ".join(f"{reason}: {count:,}" for reason, count in counts.items()) or "nothing"
