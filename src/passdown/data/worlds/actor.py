"""What a scripted agent does its work with: every call really happens at the desk, and is written down."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from passdown.data.worlds.build import replaced
from passdown.data.worlds.desk import Answer, Desk
from passdown.data.worlds.model import Part, Swap, World
from passdown.data.worlds.words import WORDS
from passdown.model.session import (
    Action,
    AnyEvent,
    AssistantMessage,
    Outcome,
    PlanItem,
    PlanStatus,
    PlanUpdate,
    SessionStart,
    ToolCall,
    ToolResult,
    UserMessage,
)  # fmt: skip

AGENT = "scripted"
_BEGAN = 1_709_542_800_000
_TURN = 7_000
_TESTS = "python -m unittest"
ALL_TESTS = f"{_TESTS} discover -s tests -t ."


class Actor:
    """One agent at one desk. `trees[k]` are the files after `k` complete steps."""

    def __init__(self, world: World, place: Desk, *, skill: str, seed: int, commit: str, task: str = "") -> None:
        self.world, self.place, self.seed = world, place, seed
        self.model = f"{AGENT}-{skill}"
        self.trees: list[Mapping[str, bytes]] = [place.tree()] * 2
        self._turn = self._calls = self._picks = 0
        name = hashlib.sha256(f"{world.id} {skill} {seed} {task}".encode()).hexdigest()[:16]
        self.events: list[AnyEvent] = [
            SessionStart(session_id=name, agent=AGENT, agent_version="1", cwd=place.root, branch="main", commit=commit,
                         at=_BEGAN),
            UserMessage(text=task or world.task, **self._where()),
        ]  # fmt: skip

    # --- what an agent says

    def pick(self, kind: str, **values: str) -> str:
        """Return one of the phrases of a kind, chosen by the seed."""
        self._picks += 1
        digest = hashlib.sha256(f"{self.world.id} {self.model} {self.seed} {self._picks}".encode()).digest()
        phrases = WORDS[kind]
        return phrases[digest[0] % len(phrases)].format(**values)

    def say(self, text: str) -> None:
        """Say something in a turn of its own."""
        self._begin(text)
        self._end()

    def hear(self, text: str) -> None:
        """Be told something by the person whose task this is."""
        self._turn += 1
        self.events.append(UserMessage(text=text, **self._where()))
        self.trees.append(self.trees[-1])

    def plan(self, statuses: Mapping[str, PlanStatus]) -> None:
        """Write down the list of what is to do, with the subtasks' statuses (pending where none is given)."""
        items = tuple(
            PlanItem(text=part.title, status=statuses.get(part.id, "pending")) for part in self.world.subtasks
        )
        todos = [{"content": item.text, "status": item.status} for item in items]
        call = self._call("TodoWrite", "plan", self.pick("plan"), arguments={"todos": todos})
        self.events.append(PlanUpdate(items=items, **self._where()))
        self._result(call, Answer(0, "The list is written down."), code=False)

    # --- what an agent does

    def bash(self, command: str, why: str = "") -> Answer:
        """Run a line of shell."""
        call = self._call("Bash", "run", why, command=command, arguments={"command": command})
        only_looks = command.startswith(_TESTS)
        answer = self.place.tests(command) if only_looks else self.place.run(command)
        self._result(call, answer)
        return answer

    def read(self, path: str, why: str = "") -> str:
        """Read a file whole, with line numbers."""
        call = self._call("Read", "read", why, path=path, arguments={"file_path": self._at(path)})
        target = self.place.folder / path
        text = target.read_text("utf-8") if target.is_file() else ""
        shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.splitlines(), 1))
        if not target.is_file():
            shown = f"{self._at(path)} does not exist."
        self._result(call, Answer(0 if target.is_file() else 1, shown), False)
        return text

    def edit(self, path: str, old: str, new: str, why: str = "") -> bool:
        """Replace the one place in a file where `old` stands; False when there is none, or more than one."""
        arguments = {"file_path": self._at(path), "old_string": old, "new_string": new}
        call = self._call("Edit", "edit", why, path=path, arguments=arguments)
        target = self.place.folder / path
        try:
            target.write_text(replaced(target.read_text("utf-8"), old, new), "utf-8")
        except (ValueError, FileNotFoundError):
            self._result(call, Answer(1, f"old_string was not found exactly once in {self._at(path)}."), False)
            return False
        self._result(call, Answer(0, f"The file {self._at(path)} has been updated."), False)
        return True

    def write(self, path: str, text: str, why: str = "") -> None:
        """Write a whole file."""
        arguments = {"file_path": self._at(path), "content": text}
        call = self._call("Write", "write", why, path=path, arguments=arguments)
        target = self.place.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        self._result(call, Answer(0, f"The file {self._at(path)} has been written."), False)

    # --- what most of them do in the same way

    def mend(self, part: Part, swaps: Sequence[Swap] | None = None) -> bool:
        """Make the edits of a subtask (or the given ones) one by one; True when all of them took."""
        done = True
        for swap in part.swaps if swaps is None else swaps:
            why = self.pick("edit", what=part.title)
            if swap.bad:
                done = self.edit(swap.path, swap.bad, swap.good, why) and done
            else:
                self.write(swap.path, swap.good, why)
        return done

    def test(self, what: str = "", why: str = "") -> Answer:
        """Run all tests, or one module of them."""
        return self.bash(f"{_TESTS} -v {what}" if what else ALL_TESTS, why or self.pick("test"))

    # --- how it is written down

    def _at(self, path: str) -> str:
        return f"{self.place.root}/{path}"

    def _where(self) -> dict[str, Any]:
        line = len(self.events) + 1 if hasattr(self, "events") else 2
        return {"at": _BEGAN + _TURN * (self._turn + 1), "offset": line - 1, "line": line}

    def _begin(self, text: str) -> str:
        self._turn += 1
        response = f"r{self._turn}"
        if text:
            self.events.append(
                AssistantMessage(text=text, model=self.model, response_id=response, **self._where())
            )  # fmt: skip
        return response

    def _end(self) -> None:
        tree = self.place.tree()
        self.trees.append(self.trees[-1] if tree == self.trees[-1] else tree)

    def _call(
        self, tool: str, action: Action, why: str, *, arguments: dict[str, Any], command: str = "", path: str = ""
    ) -> str:
        response = self._begin(why)
        self._calls += 1
        name = f"call_{self._calls:03}"
        self.events.append(
            ToolCall(call_id=name, tool=tool, action=action, command=command, cwd=self.place.root,
                     paths=(self._at(path),) if path else (), arguments=arguments, response_id=response,
                     **self._where())
        )  # fmt: skip
        return name

    def _result(self, call: str, answer: Answer, code: bool = True) -> None:
        outcome: Outcome = "ok" if answer.code == 0 else "failed"
        self.events.append(
            ToolResult(call_id=call, outcome=outcome, exit_code=answer.code if code else None, text=answer.text,
                       **self._where())
        )  # fmt: skip
        self._end()
