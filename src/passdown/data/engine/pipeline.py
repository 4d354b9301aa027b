"""A pipeline file: what is read, filtered, cut, viewed, perturbed, built and exported, in one TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from passdown.data.filters.split import check_shares
from passdown.data.records import SampleKind
from passdown.errors import FormatError

Share = float


class SourceTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[source]]`: files or folders, relative to the pipeline file, what they are, and under which licence.

    `licences` is a table (TSV or CSV) of the licences of single files; what it does not name has `licence`.
    Instead of a path, `runs` names runs that passdown makes itself, as a list of the format `worlds` does.
    Raises `ValueError` for a source with both or neither.
    """

    path: str = ""
    format: str = "auto"
    licence: str = ""
    licences: str = ""
    runs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse a source that names nothing, or two things."""
        if bool(self.path) == bool(self.runs):
            raise ValueError("a source needs either `path` or `runs`")
        if self.runs and self.format not in ("auto", "worlds"):
            raise ValueError('`runs` are of the format "worlds"')


class FilterTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[filter]`: quality gates, duplicates, a list of evaluation instances to keep out, licences."""

    min_steps: int = 3
    max_steps: int = 2000
    near_duplicates: Share = 0.8
    evaluation: str = ""
    licences: Literal["any", "permissive"] = "any"


class SplitTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[split]`: the shares of all repositories that are held out, and the seed by which their names are drawn.

    The pipeline's own `seed` changes no side. Raises `ValueError` for shares that leave nothing to train on.
    """

    seed: int = 0
    validation: Share = 0.05
    test: Share = 0.05

    def __post_init__(self) -> None:
        """Refuse shares that make no split."""
        check_shares(self.validation, self.test)


class ReplayTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[replay]`: a folder of git repositories that hold base trees; whether actions are run again in a sandbox, and
    the virtual environment that is lent there."""

    base: str = ""
    sandbox: bool = False
    tools: str = ""


class PointsTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[points]`: how many cuts a trajectory gives at most."""

    per_trajectory: int = 4


class ViewsTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[views]`: which, in how many tokens at most, and whether the repository's status stands in the repo view.

    `model` writes the summaries, at the endpoint that the environment names; without one they are extracted by rule.
    """

    names: list[str] = field(default_factory=lambda: ["repo", "trace", "summary", "structured"])
    budget: int | None = None
    git_status: bool = False
    model: str = ""


class PerturbTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[perturb]`: levels of the curriculum (`grid`: every operator alone), variants of a cut at most; 0 for none."""

    levels: list[str] = field(default_factory=lambda: ["L2", "L3", "L4", "grid"])
    per_cut: int = 4


class SamplesTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[samples]`: kinds, the cap of variants for one trajectory, the share of self tails without inspection.

    `successors` are scripted ones that really go on, in worlds of our own, from the cuts of a run that did not solve
    its task: `careful`, `shortest`. From a tree that operators changed only the first one goes on.
    """

    kinds: list[str] = field(default_factory=lambda: ["sft", "rl", "reconstruction", "echo", "plain"])
    per_trajectory: int = 48
    self_tails: Share = 0.3
    successors: list[str] = field(default_factory=lambda: ["careful", "shortest"])


class ExportTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[export]`: where samples go to, which of them, and with a tokenizer how they are cut into rows of tokens.

    Empty lists keep all; `max_tokens` 0 sets no limit. `tokenizer` is relative to the file, or `bytes`.
    """

    targets: list[str] = field(default_factory=lambda: ["parquet"])
    kinds: list[SampleKind] = field(default_factory=list)
    licences: list[str] = field(default_factory=list)
    tokenizer: str = ""
    max_tokens: int = 0
    observations: bool = False


class Pipeline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of a pipeline file. `out` is relative to the file."""

    source: list[SourceTable]
    out: str = "handoff-data"
    seed: int = 0
    filter: FilterTable = FilterTable()
    split: SplitTable = SplitTable()
    replay: ReplayTable = ReplayTable()
    points: PointsTable = PointsTable()
    views: ViewsTable = ViewsTable()
    perturb: PerturbTable = PerturbTable()
    samples: SamplesTable = SamplesTable()
    export: ExportTable = ExportTable()


def read_pipeline(path: Path) -> Pipeline:
    """Read a pipeline file. Raises `FormatError` that names the key which is wrong."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Pipeline)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise FormatError(
            f"this pipeline file cannot be used: {error}",
            where=path.name,
            next_step="`passdown data pipeline --example` prints one that can.",
        ) from error
