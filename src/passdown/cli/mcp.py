"""`passdown mcp`: serve this repository to an agent over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli.output import at_terminal, print_json


@click.command()
@click.option("--config", "agent", default="", metavar="AGENT", help="Print what goes into this agent's settings.")
@click.option("--json", "as_json", is_flag=True, help="With --config: print it as JSON, with the files it goes into.")
@click.pass_obj
def mcp(folder: str, agent: str, as_json: bool) -> None:
    """Serve this repository to an agent over the Model Context Protocol, on standard input and output.

    An agent starts it by itself; `--config AGENT` prints the lines that tell it to. Agents: claude_code, codex,
    gemini, qwen, opencode, copilot, openhands. Pi has no MCP.

    Tools: take, status, note, check, wrap. Resources: passdown://packet/active (Markdown; .json for the packet
    itself), passdown://packet/ID, passdown://brief, passdown://schema/packet. The repository is the one around the
    folder it is started in, or -C DIR; nothing that an agent says changes that. No tool runs a test or a command, and
    what is a person's word (an override, `take --ack`) is not offered.
    """
    if as_json and not agent:
        raise click.UsageError("--json goes with --config")
    if agent:
        _print_config(agent, as_json=as_json)
        return
    from passdown.mcp.server import serve

    if at_terminal("stdin"):
        click.echo(
            "passdown mcp waits for an agent's messages; `passdown mcp --help` says how one starts it.", err=True
        )
    serve(Path(folder))


def _print_config(agent: str, *, as_json: bool) -> None:
    from passdown.mcp.clients import snippet_for

    client, text = snippet_for(agent)
    if as_json:
        print_json(
            {"schema_version": 1, "agent": client.agent, "user": client.user, "project": client.project, "text": text}
        )
        return
    click.echo(text, nl=False)
    where = f"{client.user} (yours)" + (f" or {client.project} (this project's)" if client.project else "")
    click.echo(f"goes into {where}, beside what is there", err=True)
