"""The skill: a folder with SKILL.md and two schemas, made for this project, that says of itself what passdown wrote."""

from __future__ import annotations

import hashlib
import json
import shlex

import msgspec

from passdown import __version__
from passdown.handoff.writing.layout import Layout
from passdown.handoff.writing.rows import EXAMPLES, STEP, rows_schema
from passdown.handoff.writing.words import (
    COMMIT,
    DATA,
    SECRETS,
    bullets,
    folded,
    plan_words,
    row_text,
    rule_words,
    run_words,
    test_words,
)
from passdown.model.pattern import lazy_pattern
from passdown.packet.schema import packet_schema

NAME = "passdown"
"""The skill's name, which is its folder's."""

MAIN = "SKILL.md"
ROWS = "references/rows.schema.json"
PACKET = "references/handoff-v1.schema.json"

DESCRIPTION = (
    "Continue another session's work in this repository and leave yours so that the next one can. Use it at the start "
    "of a session, before changing anything; when you decide something, ask a person something, give an approach up or "
    "find out what was hard to find; when you run tests; and before you stop, hand over or end the session."
)

_MARK = lazy_pattern(r"<!-- passdown:skill ([0-9a-f]{16}(?: [0-9a-f]{16})*) -->\n?")


def skill_files(layout: Layout) -> dict[str, bytes]:
    """Return the files of the skill by their path in its folder, SKILL.md, which vouches for the others, last."""
    references = {ROWS: _json(rows_schema()), PACKET: _json(packet_schema())}
    text = skill_text(layout)
    marks = " ".join(digest(data) for data in (text.encode(), *references.values()))
    return {**references, MAIN: f"{text}<!-- passdown:skill {marks} -->\n".encode()}


def own_digests(main: bytes) -> list[str] | None:
    """Return the digests of the files that passdown wrote, as a SKILL.md names them.

    None when the file is not passdown's; an empty list when somebody edited it since.
    """
    text = main.decode("utf-8", "replace").replace("\r\n", "\n")
    match = None
    for match in _MARK.finditer(text):  # noqa: B007 the last one counts
        pass
    if match is None:
        return None
    marks: list[str] = match[1].split()
    untouched = match.end() == len(text) and marks[0] == digest(text[: match.start()].encode())
    return marks if untouched else []


def digest(data: bytes) -> str:
    """Return by what a file is known again, whatever its line ends became."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()[:16]


def skill_text(layout: Layout) -> str:
    """Return SKILL.md without its last line."""
    front = f'---\nname: {NAME}\ndescription: "{DESCRIPTION}"\nmetadata:\n  generator: passdown {__version__}\n---\n'
    return "\n".join((front, _start(layout), _during(layout), _end(layout), _by_hand(layout)))


def _start(layout: Layout) -> str:
    mirror = f" Without passdown, read `{layout.mirror}` when it is there." if layout.mirror else ""
    after = (
        f"{DATA} Exit code 4: nobody handed anything over; it prints what it found instead. If a brief was put into "
        f"this session already, you have it.{mirror}"
    )
    return f"""# Handing work over

Another session, maybe of another agent, goes on with this work from a packet. passdown makes it from what you leave
behind: git, the runs of tests, your plan, and a few lines that only you can write. You never write the packet itself.

## Start

Before you change anything, read what the last session left:

```sh
passdown take
```

{folded(after)}
"""


def _during(layout: Layout) -> str:
    rules = (rule_words(layout),) if rule_words(layout) else ()
    alone = f"Note as it happens what only you know, one line each; not what git shows anyway. {SECRETS}"
    notes = "\n".join(f"passdown note {one.words}" for one in EXAMPLES if one is not STEP)
    kept = ", ".join(f"`{path}`" for path in dict.fromkeys((layout.decisions, layout.questions, layout.clues)))
    runs = f"`{layout.feedback}`" if layout.recorded else "git's own folder"
    after = (
        f"Notes are rows of {kept}; runs are recorded in {runs}. The same note twice is one row. "
        "`passdown note undo ID` takes one back. A person's question is answered by a person."
    )
    return f"""## During the work

{bullets((plan_words(layout), *rules, run_words(), alone))}

```sh
{notes}
passdown run -- {test_words(layout)}
```

{folded(after)}
"""


def _end(layout: Layout) -> str:
    return f"""## Before you stop

{bullets((COMMIT, "Name the next step, then have passdown judge whether the work is safe to leave:"))}

```sh
passdown note {STEP.words}
passdown check
```

- Exit code 3: settle what it lists with the commands it names, and check again. Do not dress anything up: a red test
  that you named may stay red.
- Write the packet, and answer with the path it prints:

```sh
passdown wrap
```

- Exit code 3 or 5, and you cannot settle it now: `passdown wrap --interim` writes an interim packet with the reasons.
- The packet goes to `{layout.output}/`; do not edit it.
"""


def _by_hand(layout: Layout) -> str:
    lines = "\n".join(_append(row_text(one), layout.logs[one.log]) for one in EXAMPLES)
    run = json.dumps({"command": test_words(layout), "exit_code": 1, "stderr_tail": "<its last lines>"})
    notes = (layout.decisions, layout.questions, layout.clues)
    after = (
        '`"by": "human"` is for a person\'s own words only. A later row with the same `id` amends an earlier one, and '
        f'`"state": "withdrawn"` takes it back. Every field is in [rows.schema.json]({ROWS}); the packet that passdown '
        f"writes, when you read a `handoff.json`, in [handoff-v1.schema.json]({PACKET})."
    )
    return f"""## Without passdown

When `passdown` is not installed, append the same rows yourself: one JSON object a line, never rewriting a line, and
only where you have something to say. passdown reads them wherever the work goes on.

```sh
{_folders(notes)}{lines}
```

Where the agent you run in keeps no log of its commands, record test runs as they ended, never one that did not happen:

```sh
{_folders((layout.feedback,))}{_append(run, layout.feedback)}
```

{folded(after)}
"""


def _folders(paths: tuple[str, ...]) -> str:
    folders = sorted({path.rpartition("/")[0] for path in paths if "/" in path})
    return f"mkdir -p {shlex.join(folders)}\n" if folders else ""


def _append(row: str, path: str) -> str:
    return f"printf '%s\\n' {_quoted(row)} >> {shlex.quote(path)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2) + b"\n"
