"""One row of a session, whatever container it came from."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Row(NamedTuple):
    """A message, a part of the message before it, the session's todo list, or a note that something is `lost`.

    `id` is the row's own id where the container keeps it outside the JSON; `data` is None when it was over the cap.
    """

    kind: Literal["message", "part", "todo", "lost"]
    id: str
    data: bytes | None
    length: int
    reason: Literal["torn_line", "bad_shape"] = "torn_line"
