"""What a shell's completion offers where a command takes an id. Nothing is loaded before it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from passdown.handoff.offered import Offer


def packet_or_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer packets; files where no packet's id begins so."""
    from click.shell_completion import CompletionItem

    return packet(ctx, param, incomplete) or [CompletionItem(incomplete, type="file")]


def packet(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer packets."""
    from passdown.handoff.offered import offer_packets

    del param
    return _items(ctx, lambda folder: offer_packets(folder, incomplete))


def packet_to_archive(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the packets that are not archived, with `--undo` those that are."""
    from passdown.handoff.offered import offer_packets

    del param
    undo = bool(ctx.params.get("undo"))
    return _items(ctx, lambda folder: offer_packets(folder, incomplete, "only" if undo else "without"))


def note(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer notes."""
    from passdown.handoff.offered import offer_notes

    del param
    return _items(ctx, lambda folder: offer_notes(folder, incomplete))


def open_question(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the questions that nobody has answered."""
    from passdown.handoff.offered import offer_notes

    del param
    return _items(ctx, lambda folder: offer_notes(folder, incomplete, "question", open_only=True))


def assumption(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer assumptions."""
    from passdown.handoff.offered import offer_notes

    del param
    return _items(ctx, lambda folder: offer_notes(folder, incomplete, "assumption"))


def _items(ctx: click.Context, find: Callable[[Path], list[Offer]]) -> list[CompletionItem]:
    """Return what was found in the folder that the command line names; nothing where something is wrong there."""
    from click.shell_completion import CompletionItem

    from passdown.errors import PassdownError

    folder = ctx.find_root().params.get("folder") or "."
    try:
        return [CompletionItem(offer.name, help=offer.about) for offer in find(Path(folder))]
    except (PassdownError, OSError):  # a line that is being typed is no place for messages
        return []
