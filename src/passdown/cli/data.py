"""`passdown data`: recorded trajectories become handoff-aware training and evaluation data, step by step or at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from passdown.cli.data_report import progress_shown, report, require_samples
from passdown.cli.output import print_json, print_table
from passdown.redact.neutralise import neutralise, one_line

if TYPE_CHECKING:
    from passdown.data.engine.pipeline import Pipeline
    from passdown.data.engine.run import Backend
    from passdown.data.samples.render import Rendered

_Command = TypeVar("_Command", bound=Callable[..., Any])

EXAMPLE = """\
# A pipeline of `passdown data pipeline`. Paths are relative to this file; what is left out has the value shown.
out = "handoff-data"
seed = 0

[[source]]                 # as many as you have; this one runs as it is
runs = ["units-a planner"] # a scripted agent's work in a small repository that passdown makes; ["*"]: all 468
# path = "trajectories"    # instead of it your own: a file, a folder, or with format = "commits" a git repository
format = "auto"            # the content decides; `passdown data ingest --help` lists the names
licence = ""               # SPDX; empty: what the source says of itself
licences = ""              # a TSV or CSV table with the columns file and licence

[filter]
min_steps = 3
max_steps = 2000
near_duplicates = 0.8      # Jaccard similarity within a repository, from which a trajectory is a duplicate
evaluation = ""            # a JSONL list of instances to keep out
licences = "any"           # or "permissive"

[split]
seed = 0                   # another one draws other repositories
validation = 0.05          # share of the repositories whose trajectories are held out
test = 0.05

[replay]
base = ""                  # a folder of git repositories that hold the trees which runs began with
sandbox = false            # run the recorded actions again, behind walls, where such a tree is there
tools = ""                 # a virtual environment that is lent to them

[points]
per_trajectory = 4

[views]
names = ["repo", "trace", "summary", "structured"]

[perturb]
levels = ["L2", "L3", "L4", "grid"]
per_cut = 4

[samples]
kinds = ["sft", "rl", "reconstruction", "echo", "plain"]
per_trajectory = 48
self_tails = 0.3
successors = ["careful", "shortest"]   # scripted; they go on where a run in a world of ours failed

[export]
targets = ["parquet"]      # parquet, jsonl, hf, trl, verl, atif, harbor
kinds = []                 # empty: all
licences = []
tokenizer = ""             # a tokenizer.json, or "bytes": rows of tokens for the target trl
max_tokens = 0             # of one row; 0: samples stay whole
observations = false       # true: train on what the environment answered as well
"""


_KIND = click.Choice(["sft", "rl", "reconstruction", "echo", "plain"])


def _working(command: _Command) -> _Command:
    """Add the options of whatever works on shards: where, and how it tells."""
    for option in reversed((
        click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Processes to work in."),
        click.option(
            "--backend", default="local", show_default=True, type=click.Choice(["local", "ray"]),
            help="Work in processes here, or as Ray Data's tasks on a cluster that shares the folder.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print as JSON."),
    )):  # fmt: skip
        command = option(command)
    return command


def _running(command: _Command) -> _Command:
    """Add the argument and the options of every step that works on a folder."""
    folder = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
    return folder(_working(command))


_again = click.option(
    "--again", is_flag=True, help="Ask the model again for summaries it did not give: such shards are made anew."
)


@click.group()
def data() -> None:
    """Make handoff-aware training and evaluation data of recorded trajectories.

    A working folder holds one folder of shards for each step: read, quality, signed, trajectories, points, views,
    perturbed, samples. Every step can be killed and run again: what is finished is kept, what was dropped lies in
    `rejects`.
    """


@data.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--out", "folder", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="The working folder.")  # fmt: skip
@click.option("--source", default="auto", show_default=True, metavar="NAME",
              help="What the files are: sessions (and trajectory files), commits (the branches of git repositories), "
              "worlds (lists of runs to be made), or a published set: nebius_openhands, nebius_swe_agent, swe_gym, "
              "klear_mini, swe_smith, r2e_gym, adp.")  # fmt: skip
@click.option("--licence", default="", metavar="SPDX", help="The licence, where the files do not name theirs.")
@click.option("--licences", metavar="TABLE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A TSV or CSV table with the columns file and licence.")  # fmt: skip
@click.option("--evaluation", default="", metavar="FILE", help="A JSONL list of instances to keep out.")
@click.option("--validation", default=0.05, show_default=True, type=click.FloatRange(0, 1),
              help="The share of the repositories that are held out for validation.")  # fmt: skip
@click.option(
    "--test", default=0.05, show_default=True, type=click.FloatRange(0, 1), help="The share of those for test."
)
@click.option("--split-seed", default=0, show_default=True, help="Another seed holds out other repositories.")
@_working
def ingest(
    paths: tuple[Path, ...], folder: Path, source: str, licence: str, licences: Path | None, evaluation: str,
    validation: float, test: float, split_seed: int, **how: Any,
) -> None:  # fmt: skip
    """Read trajectories, sessions, published sets or commit series; filter, remove duplicates, split by repository."""
    from passdown.data.engine.pipeline import FilterTable, Pipeline, SourceTable, SplitTable
    from passdown.data.engine.steps import list_sources

    table = str(licences.resolve()) if licences else ""
    sources = [SourceTable(path=str(path.resolve()), format=source, licence=licence, licences=table) for path in paths]
    try:
        sides = SplitTable(seed=split_seed, validation=validation, test=test)
    except ValueError as error:
        raise click.UsageError(f"{error}; give shares that are together below 1.") from error
    listed = str(Path(evaluation).resolve()) if evaluation else ""
    pipeline = Pipeline(source=sources, filter=FilterTable(evaluation=listed), split=sides)
    list_sources(pipeline, Path("/"), folder)
    _run(["read", "quality", "sign", "decide"], pipeline, folder, **how)


@data.command()
@_running
@click.option("--per-trajectory", default=4, show_default=True, type=click.IntRange(1), help="Cuts at most.")
@click.option("--replay", default="virtual", show_default=True, type=click.Choice(["virtual", "sandbox"]),
              help="Follow recorded edits only, or run recorded actions again in a sandbox.")  # fmt: skip
@click.option("--base", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Git repositories by name that hold the trees which runs began with.")  # fmt: skip
@click.option("--tools", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="A virtual environment to lend to the sandbox.")  # fmt: skip
def points(
    folder: Path,
    per_trajectory: int,
    replay: str,
    base: Path | None,
    tools: Path | None,
    **how: Any,
) -> None:
    """Find where to cut each trajectory: milestones, states half way, errors, reviews, delegations, turns."""
    from passdown.data.engine.pipeline import Pipeline, PointsTable, ReplayTable

    places = {name: str(place.resolve()) for name, place in (("base", base), ("tools", tools)) if place}
    table = ReplayTable(**places, sandbox=replay == "sandbox")
    chosen = PointsTable(per_trajectory=per_trajectory)
    _run(["points"], Pipeline(source=[], replay=table, points=chosen), folder, **how)


@data.command()
@_running
@click.option("--view", "names", multiple=True, metavar="NAME", help="repo, trace, summary, structured; all of them.")
@click.option("--budget", type=click.IntRange(100), help="Tokens of one view at most (estimated).")
@click.option("--git-status", is_flag=True, help="Let the view `repo` show the repository's status.")
@click.option("--model", default="", metavar="NAME", help="Let a model write the summaries, at PASSDOWN_WRITER_URL.")
@_again
def views(
    folder: Path, names: tuple[str, ...], budget: int | None, git_status: bool, model: str, again: bool, **how: Any
) -> None:
    """Write the views of every cut, from its prefix alone, and stop those that would leak."""
    from passdown.data.engine.pipeline import Pipeline, ViewsTable

    table = ViewsTable(names=list(names) or ViewsTable().names, budget=budget, git_status=git_status, model=model)
    _run(["views"], Pipeline(source=[], views=table), folder, again=again, **how)


@data.command()
@_running
@click.option("--level", "levels", multiple=True, metavar="NAME", help="L2, L3, L4, grid; all of them.")
@click.option("--per-cut", default=4, show_default=True, type=click.IntRange(0), help="Variants at most.")
@click.option("--seed", default=0, show_default=True, help="Another seed draws other operators.")
def perturb(folder: Path, levels: tuple[str, ...], per_cut: int, seed: int, **how: Any) -> None:
    """Spoil views and trees as real handoffs are spoilt, with an answer key: decay, inconsistency, ambiguity."""
    from passdown.data.engine.pipeline import PerturbTable, Pipeline

    table = PerturbTable(levels=list(levels) or PerturbTable().levels, per_cut=per_cut)
    _run(["perturb"], Pipeline(source=[], perturb=table, seed=seed), folder, **how)


@data.command()
@_running
@click.option("--per-trajectory", default=48, show_default=True, type=click.IntRange(1), help="Samples at most.")
@click.option("--kind", "kinds", multiple=True, type=_KIND, help="Only samples of these kinds.")
@click.option("--seed", default=0, show_default=True, help="Another seed chooses other samples.")
def build(folder: Path, per_trajectory: int, kinds: tuple[str, ...], seed: int, **how: Any) -> None:
    """Choose samples: which cut, view and continuation make one, how many of each trajectory, and of which kinds."""
    from passdown.data.engine.pipeline import Pipeline, SamplesTable

    table = SamplesTable(kinds=list(kinds) or SamplesTable().kinds, per_trajectory=per_trajectory)
    _run(["build"], Pipeline(source=[], samples=table, seed=seed), folder, **how)


@data.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--to",
    "target",
    default="parquet",
    show_default=True,
    metavar="TARGET",
    help="parquet, jsonl, hf, trl, verl, atif or harbor.",
)
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where to.")
@click.option("--kind", "kinds", multiple=True, type=_KIND, help="Only samples of these kinds.")
@click.option("--licence", "licences", multiple=True, metavar="SPDX", help="Only sources under these licences.")
@click.option("--tokenizer", default="", metavar="NAME",
              help="For `input_ids`: a tokenizer.json or its folder, a model in the hub's cache, `bytes`.")  # fmt: skip
@click.option("--max-tokens", type=click.IntRange(64), help="Tokens of one row at most; longer samples become several.")
@click.option("--observations", is_flag=True, help="Train on what the environment answered as well.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Processes to work in.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def export(
    folder: Path,
    target: str,
    out: Path,
    kinds: tuple[Any, ...],
    licences: tuple[str, ...],
    tokenizer: str,
    max_tokens: int | None,
    observations: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Write the samples, rendered, as files that `datasets` and trainers load."""  # fmt: skip
    import msgspec

    from passdown.data.engine.outputs import export as write
    from passdown.data.export.written import How

    how = How(tokenizer=tokenizer, most=max_tokens, observations=observations)
    chosen = frozenset(licences) if licences else None
    with progress_shown() as progress:
        tell = partial(progress, "export") if progress else None
        done = write(folder, target, out, kinds=kinds, licences=chosen, how=how, workers=workers, progress=tell)
    if as_json:
        print_json(msgspec.to_builtins(done))
        require_samples(done.samples)
        return
    print_table(("split", "samples"), [(split, f"{count:,}") for split, count in done.samples.items()])
    for reason, count in done.dropped.items():
        click.echo(f"dropped {count:,}: {reason}", err=True)
    if done.shortened:
        click.echo(f"shortened {done.shortened:,}: a window has no room for all of the prompt or an answer", err=True)
    require_samples(done.samples)


@data.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def card(folder: Path, as_json: bool) -> None:
    """Print the dataset card: counts, mix, licences, and what was dropped at each step, by reason."""
    import msgspec

    from passdown.data.engine.card import as_markdown, make_card

    made = make_card(folder)
    if as_json:
        print_json(msgspec.to_builtins(made))
    else:
        click.echo(as_markdown(made), nl=False)


@data.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("name", default="")
@click.option("--kind", type=_KIND, help="A sample of this kind.")
@click.option("--view", default="", metavar="NAME", help="One that sees this view.")
@click.option("--point", default="", metavar="NAME", help="One that was cut at such a point.")
@click.option("--skip", default=0, show_default=True, type=click.IntRange(0), help="Pass over so many that match.")
@click.option("--full", is_flag=True, help="Show long messages whole.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, whole.")
def inspect(folder: Path, name: str, kind: str | None, full: bool, as_json: bool, **which: Any) -> None:
    """Look at one sample: its messages, coloured by what each is in training.

    NAME is the beginning of a sample's or trajectory's id, or of a source. What is trained on is green, what the
    environment answered blue, a state to be told yellow; context has no colour.
    """
    from passdown.data.engine.inspect import look_at
    from passdown.data.export.parquet import row_of

    found = look_at(folder, name, kind=kind or "", **which)
    if as_json:
        print_json({"schema_version": 1, **row_of(found)})
        return
    _show(found, whole=full)


_COLOURS = {"ACTION": "green", "ENV": "blue", "HARNESS": "magenta", "RECONSTRUCTION": "yellow", "COPIED": "cyan"}
_SHOWN = 1200


def _packet(found: Rendered) -> str:
    """Return which packet the notes hold, where operators made another of the one that was written."""
    if found.cut is None or found.sample.variant is None:
        return ""
    made = found.cut.perturbed[found.sample.variant]
    return f"{made.packet_id[:12]}, changed from {made.derived_from[:12]}" if made.packet_id else ""


def _show(found: Rendered, *, whole: bool) -> None:
    sample, run = found.sample, found.trajectory
    facts = {
        "trajectory": sample.trajectory_id, "source": run.provenance.source, "licence": run.provenance.licence or "?",
        "cut": f"{sample.k} of {len(run.steps)} steps, {sample.point}", "view": sample.view,
        "operators": ", ".join(sample.ops), "packet": _packet(found), "level": sample.level,
        "difficulty": sample.difficulty,
        "continuation": sample.continuation and sample.continuation.kind, "stresses": ", ".join(sample.failure_modes),
    }  # fmt: skip
    click.secho(f"{sample.kind} {sample.sample_id}", bold=True)
    for name, value in facts.items():
        if value not in ("", None):
            click.echo(f"  {name:<13}{one_line(str(value), 150)}")
    for message in (*found.prompt, *found.completion):
        click.secho(f"\n[{message.role} | {message.part.name.lower()}]", bold=True)
        calls = [f"{call.name} {call.arguments}" for call in message.calls]
        text = neutralise("\n".join(filter(None, (message.reasoning, message.content, *calls))))
        if not whole and len(text) > _SHOWN:
            text = f"{text[:_SHOWN]}\n… {len(text) - _SHOWN:,} more characters (--full)"
        click.secho(text, fg=_COLOURS.get(message.part.name))


@data.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--example", is_flag=True, help="Print a pipeline file with every setting, and stop.")
@_again
@_working
def pipeline(file: Path | None, example: bool, again: bool, workers: int, backend: Backend, as_json: bool) -> None:
    """Run the whole of a pipeline file: read, filter, cut, view, build, export, card."""
    if example or file is None:
        if not example:
            raise click.UsageError("Name a pipeline file; `--example` prints one.")
        click.echo(EXAMPLE, nl=False)
        return
    from passdown.data.engine.whole import run_pipeline

    with progress_shown() as progress:
        ran = run_pipeline(file, workers=workers, backend=backend, progress=progress, again=again)
    report(ran, as_json=as_json)


def _run(names: list[str], pipeline: Pipeline, folder: Path, *, as_json: bool, **how: Any) -> None:
    from passdown.data.engine.steps import run_steps

    with progress_shown() as progress:
        ran = run_steps(names, pipeline, folder, progress=progress, **how)
    report(ran, as_json=as_json)
