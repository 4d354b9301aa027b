"""Acceptance criteria: which of them are commands, and which of those ran."""

from __future__ import annotations

import re

from passdown.model.command import normalize_command
from passdown.packet.context import Context
from passdown.packet.runs import chain_tokens

_RUNNER_NAMES = """
pytest python python3 py.test tox nox make just task npm pnpm yarn npx node bun deno cargo go mvn gradle ./gradlew
./mvnw dotnet mix bundle rspec rake ruby ctest cmake bash sh uv poetry pipenv hatch ruff mypy tsc eslint jest vitest
phpunit composer swift xcodebuild docker git bazel buck2 sbt lein stack cabal zig dart flutter terraform
"""
_RUNNERS = frozenset(_RUNNER_NAMES.split())


def is_command(context: Context, text: str) -> bool:
    """Say whether a criterion can be run, by its first word; prose can only be checked by hand."""
    if text in context.evidence.tests.commands:
        return True
    words = re.sub(r"^(?:[A-Za-z_]\w*=\S*\s+)+", "", text.strip()).split(" ", 1)
    return words[0] in _RUNNERS or (words[0].startswith("./") and len(words[0]) > 2)


def never_run(context: Context) -> list[str]:
    """Return the acceptance commands of which no run is recorded."""
    ran = {chain_tokens(chain) for chain in context.accepted}
    commands = [text for text in context.acceptance if is_command(context, text)]
    return [text for text in commands if normalize_command(text) not in ran]
