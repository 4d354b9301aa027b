"""A folder that `datasets.load_dataset` loads by its name alone: Parquet files by split and kind, and a dataset card.

Each kind of sample is a configuration: `load_dataset("FOLDER", "sft", split="train")`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from passdown.data.arrow import arrow
from passdown.data.export.parquet import row_of, schema
from passdown.data.export.written import PLAIN, How, Written, tables
from passdown.data.records import SampleKind
from passdown.data.samples.render import Rendered
from passdown.io.files import write_files

if TYPE_CHECKING:
    from passdown.data.engine.outputs import Exported

KINDS: tuple[SampleKind, ...] = get_args(SampleKind)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_HUB = frozenset({
    "apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "isc", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0",
    "odc-by-1.0", "gpl-3.0", "lgpl-3.0", "agpl-3.0", "mpl-2.0",
})  # fmt: skip
_COLUMNS = """\
`messages` is the conversation, of which the first `prompt` are given; `parts` has a role in training for each message:
0 context, 1 the successor's own turn, 2 what the environment answered, 3 the harness, 4 a state to be told, 5 copied
context. Only roles 1 and 4 are meant to be learned, and of `echo` samples only role 2: their turns are anybody's, good
or bad. `trajectory_id`, `k`, `point`, `view`, `level` and `ops` say which
cut of which run it is, and what was done to it; `group_key` is shared by the samples of one state."""


def write_hf(samples: Iterable[Rendered], path: Path, _how: How = PLAIN) -> Written:
    """Write the samples of one shard and split into the folder `path`, a file a kind."""
    count = 0
    with tables(path, dict.fromkeys(KINDS, schema())) as made:
        for rendered in samples:
            count += 1
            made[rendered.sample.kind].add(row_of(rendered))
    return Written(count, {})


def finish_hf(out: Path, made: Exported) -> None:
    """Write the dataset card, whose first lines tell the loader which files are which."""
    counts = _counts(out, made.files)
    lines = [*_front(counts, _digests(out, made.files)), *_body(counts, made)]
    write_files([(out / "README.md", "\n".join(lines).encode())])


def _digests(out: Path, files: list[str]) -> dict[str, str]:
    """Return a hash of every kind's files.

    `datasets` knows a folder again by its last name and by what these lines say, not by what lies in it: without a
    hash in them it would give what was loaded of an earlier export.
    """
    found = {str(kind): hashlib.sha256() for kind in KINDS}
    for name in files:
        for path in sorted((out / name).glob("*.parquet")):
            with path.open("rb") as stream:
                found[path.stem].update(hashlib.file_digest(stream, "sha256").digest())
    return {kind: made.hexdigest()[:32] for kind, made in found.items()}


def _counts(out: Path, files: list[str]) -> dict[str, Counter[str]]:
    """Count the rows that were written, by kind and split, licence and source."""
    found: dict[str, Counter[str]] = {"file": Counter(), "licence": Counter(), "source": Counter()}
    read = arrow().parquet.read_table
    for name in files:
        split = Path(name).name.rpartition("-")[0]
        for path in sorted((out / name).glob("*.parquet")):
            rows = read(path, columns=["licence", "source"]).to_pydict()
            found["file"][f"{path.stem}/{split}"] += len(rows["source"])
            found["licence"].update(licence or "not stated" for licence in rows["licence"])
            found["source"].update(rows["source"])
    return found


def _front(counts: dict[str, Counter[str]], digests: dict[str, str]) -> list[str]:
    total = counts["file"].total()
    lines = ["---", "pretty_name: Handoffs of coding agents", "language: [en, code]", "license:"]
    lines += [f"- {name}" for name in sorted({_hub_licence(name) for name in counts["licence"]})] or ["- unknown"]
    lines += ["task_categories: [text-generation]", "tags: [agent-traces, handoff, passdown]", "size_categories:"]
    lines += [f"- {next((name for most, name in _SIZES if total < most), '1M<n<10M')}", "configs:"]
    kinds = [kind for kind in KINDS if any(name.startswith(f"{kind}/") for name in counts["file"])]
    for place, kind in enumerate(kinds):
        lines += [f"- config_name: {kind}", *(["  default: true"] if not place else [])]
        lines += [f"  description: sha256 {digests[kind]}", "  data_files:"]
        for name in sorted(counts["file"]):
            of, _, split = name.partition("/")
            if of == kind:
                lines += [f"  - split: {split}", f"    path: data/{split}-*/{kind}.parquet"]
    return [*lines, "---", ""]


def _hub_licence(licence: str) -> str:
    """Return a licence as the hub names it: `other` for what it has no name for, `unknown` for what nobody stated."""
    name = licence.lower().removesuffix("-only").removesuffix("-or-later")
    known = name.removesuffix("-1.0") if name == "odc-by-1.0" else name
    return known if name in _HUB else "unknown" if licence == "not stated" else "other"


def _body(counts: dict[str, Counter[str]], made: Exported) -> list[str]:
    lines = ["# Handoffs of coding agents", "", "Samples in which one session ends and another goes on.", ""]
    lines += ["| kind | split | samples |", "|---|---|---:|"]
    lines += [f"| {' | '.join(name.split('/'))} | {count:,} |" for name, count in sorted(counts["file"].items())]
    lines += ["", _COLUMNS, "", "## Licences", "", "As the sources state them; check them at the origin.", ""]
    lines += ["| licence | samples |", "|---|---:|"]
    lines += [f"| {_cell(name)} | {count:,} |" for name, count in sorted(counts["licence"].items())]
    lines += ["", "| source | samples |", "|---|---:|"]
    lines += [f"| {_cell(name)} | {count:,} |" for name, count in sorted(counts["source"].items())]
    lines += ["", "## What was dropped at export", ""]
    return [*lines, *([f"- {reason}: {count:,}" for reason, count in made.dropped.items()] or ["Nothing."]), ""]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:100]
