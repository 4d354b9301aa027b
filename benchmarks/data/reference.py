"""Made trajectories of the size that recorded ones have: 60 steps, about 227 kB of JSON; the same ones every time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STEPS = 60
_WORDS = [
    "limit",
    "bucket",
    "caller",
    "token",
    "window",
    "refill",
    "request",
    "session",
    "retry",
    "header",
    "payload",
    "queue",
    "worker",
    "cursor",
    "schema",
    "field",
    "record",
    "batch",
    "shard",
    "index",
    "reader",
    "writer",
    "stream",
    "buffer",
    "handle",
    "policy",
    "backend",
    "client",
    "server",
    "route",
    "filter",
    "option",
]
_FILES = 6

Row = dict[str, Any]


class _Work:
    """A small repository that an agent works in: what is read is what lies there, so that a replay can follow."""

    def __init__(self, number: int, steps: int) -> None:
        self.chance = random.Random(number)
        self.steps = steps
        self.number = number
        self.files = {f"/testbed/pkg/{name}.py": self._module(name) for name in self._names(_FILES)}
        self.messages: list[Row] = [
            {"role": "system", "content": "You are a coding agent. You work in the repository /testbed."},
            {"role": "user", "content": self._task()},
        ]
        self.patch: list[str] = []

    def _names(self, count: int) -> list[str]:
        return self.chance.sample(_WORDS, count)

    def _sentence(self, words: int) -> str:
        return " ".join(self.chance.choices(_WORDS, k=words))

    def _task(self) -> str:
        asked = "\n".join(f"- `{name}` must keep the {self._sentence(6)}" for name in self._names(5))
        return f"Issue {self.number}: the {self._sentence(8)} is wrong.\n\n{self._sentence(120)}.\n\n{asked}\n"

    def _module(self, name: str) -> list[str]:
        lines = [f'"""The {name}."""', "", "from __future__ import annotations", ""]
        for at in range(20):
            first, second, third = self._names(3)
            lines += [
                "", f"def {first}_{second}_{at}({third}: int, {second}: int = {at}) -> int:",
                f'    """Return the {self._sentence(7)}."""', f"    if {third} > {self.chance.randrange(1000)}:",
                f"        return {third} - {second} * {self.chance.randrange(100)}  # {self._sentence(4)}",
                f"    return {third} + {second}", "",
            ]  # fmt: skip
        return lines

    def _turn(self, say: str, tool: str, arguments: Row, output: str) -> None:
        call = {
            "id": f"call_{len(self.messages)}", "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments)},
        }  # fmt: skip
        self.messages.append({"role": "assistant", "content": say, "tool_calls": [call]})
        self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})

    def _bash(self, say: str, command: str, output: str, code: int = 0) -> None:
        tail = f"\n[The command completed with exit code {code}.]\n[Current working directory: /testbed]"
        self._turn(say, "execute_bash", {"command": command}, output + tail)

    def _look(self) -> None:
        path, lines = self.chance.choice(sorted(self.files.items()))
        shown = "\n".join(f"{at:6}\t{line}" for at, line in enumerate(lines, 1))
        self._turn(
            f"Let me look at {path}. {self._sentence(20)}.", "str_replace_editor", {"command": "view", "path": path},
            f"Here's the result of running `cat -n` on {path}:\n{shown}\n",
        )  # fmt: skip

    def _search(self) -> None:
        word = self.chance.choice(_WORDS)
        found = [
            f"{path.removeprefix('/testbed/')}:{at}:{line}"
            for path, lines in sorted(self.files.items()) for at, line in enumerate(lines, 1) if word in line
        ]  # fmt: skip
        command = f"cd /testbed && grep -rn {word} pkg | head -60"
        self._bash(f"Where is {word} used?", command, "\n".join(found[:60]))

    def _edit(self) -> None:
        path, lines = self.chance.choice(sorted(self.files.items()))
        at = self.chance.choice([at for at, line in enumerate(lines) if line.startswith("    return")])
        old = "\n".join(lines[at - 2 : at + 1])
        fresh = f"    return max(0, {lines[at].removeprefix('    return ')}) + {self.chance.randrange(10_000)}"
        new = "\n".join([*lines[at - 2 : at], fresh])
        if "\n".join(lines).count(old) != 1:
            return self._look()
        self.patch += [f"--- a/{path[9:]}", f"+++ b/{path[9:]}", f"@@ -{at + 1} +{at + 1} @@", f"-{lines[at]}",
                       f"+{fresh}"]  # fmt: skip
        lines[at] = fresh
        shown = "\n".join(f"{n + 1:6}\t{lines[n]}" for n in range(max(0, at - 6), min(len(lines), at + 7)))
        self._turn(
            f"The {self._sentence(12)}, so I change it.", "str_replace_editor",
            {"command": "str_replace", "path": path, "old_str": old, "new_str": new},
            f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n{shown}\n"
            "Review the changes and make sure they are as expected.",
        )  # fmt: skip
        return None

    def _test(self) -> None:
        name = self.chance.choice(_WORDS)
        failed = self.chance.random() < 0.5
        body = [f"tests/test_{name}.py::test_{word} PASSED" for word in self._names(12)]
        if failed:
            body += [f"E       AssertionError: the {self._sentence(9)}" for _ in range(12)]
            body.append(f"FAILED tests/test_{name}.py::test_{self.chance.choice(_WORDS)} - AssertionError")
        body.append(f"{'1 failed, ' if failed else ''}12 passed in 0.{self.chance.randrange(10, 99)}s")
        command = f"cd /testbed && python -m pytest -q tests/test_{name}.py 2>&1 | tail -40"
        self._bash("Now the tests.", command, "\n".join(body), 0)

    def _shell(self) -> None:
        first, second = self._names(2)
        commands = (
            f"cd /testbed && git status --short && git diff --stat | sed -n '1,{self.chance.randrange(5, 60)}p'",
            f"ls -la pkg && wc -l pkg/*.py | sort -n | tail -{self.chance.randrange(3, 20)}",
            f"python - <<'EOF'\nfrom pkg import {first}\nprint({first}.__doc__, {self.chance.randrange(10**6)})\nEOF",
            f"export {first.upper()}={second} && python -c 'import pkg; print(pkg.__name__)' || echo failed",
        )
        self._bash(f"Check the {self._sentence(5)}.", self.chance.choice(commands), self._sentence(330))

    def row(self) -> Row:
        """Return the whole run as a row of a published set."""
        kinds = [self._look] * 5 + [self._search] * 3 + [self._edit] * 4 + [self._test] * 3 + [self._shell] * 4
        for _ in range(self.steps - 1):
            self.chance.choice(kinds)()
        self._turn("All done.", "finish", {"message": f"The {self._sentence(30)} is right now."}, "")
        return {
            "trajectory_id": f"reference-{self.number}", "instance_id": f"made__repo{self.number % 97}-{self.number}",
            "repo": f"made/repo{self.number % 97}", "trajectory": self.messages,
            "model_patch": "\n".join(self.patch) + "\n", "exit_status": "submit", "resolved": self.number % 2,
        }  # fmt: skip


def rows(count: int, steps: int = STEPS, first: int = 0) -> Iterator[bytes]:
    """Yield so many rows as JSON lines. Fewer steps give shorter rows."""
    for number in range(first, first + count):
        yield json.dumps(_Work(number, steps).row()).encode() + b"\n"


def write(path: Path, count: int, steps: int = STEPS) -> int:
    """Write a file of JSON lines; return its bytes."""
    with path.open("wb") as stream:
        return sum(stream.write(row) for row in rows(count, steps))
