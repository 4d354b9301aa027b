"""`passdown demo`: a first look, in a temporary folder."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click


@click.command()
@click.option("--folder", "target", default="", metavar="DIR", help="Build it here instead of in a temporary folder.")
def demo(target: str) -> None:
    """Build a small repository with a bundled session (a failed attempt, a fix half done, a plan) and wrap it.

    Touches nothing outside the folder it names; needs no agent and no network.
    """
    import tempfile

    from passdown.errors import UsageError
    from passdown.handoff.demo import build_demo
    from passdown.handoff.draft import draft
    from passdown.handoff.gather import Options
    from passdown.handoff.publish import publish

    place = Path(target or tempfile.mkdtemp(prefix="passdown-demo-"))
    if (place / "exporter").exists():
        raise UsageError("the demo is there already", where=str(place), next_step="Name another folder.")
    if place.is_dir() and any(place.iterdir()):
        raise UsageError("is not empty", where=str(place), next_step="Name a new folder, or an empty one.")
    root, home = build_demo(place)
    wrapped = publish(draft(root, Options(homes={"claude_code": home}, interim=True)))
    click.echo(wrapped.markdown, nl=False)
    click.echo(
        f"\nThis is {root}/{wrapped.paths[0]}\n"
        f"Beside it lies handoff.json, which everything above was rendered from.\n"
        "What to do next:\n"
        f"  cd {shlex.quote(str(root))} && export CLAUDE_CONFIG_DIR={shlex.quote(str(home))}\n"
        "      go there, with the bundled session as if an agent here had left it; in this shell only\n"
        f"  {_program()} take\n"
        "      the brief that the next session begins with: the packet, checked against the repository\n"
        f"  {_program()} show --json\n"
        "      the packet with the basis and the check of every claim\n"
        f"  {_program()} wrap\n"
        "      in a repository of yours where an agent has worked (in a new shell)\n",
        err=True,
    )


def _program() -> str:
    """The command as it was called, so that the lines can be copied."""
    called = sys.argv[0]
    return shlex.quote(str(Path(called).absolute())) if "/" in called and not called.endswith(".py") else "passdown"
