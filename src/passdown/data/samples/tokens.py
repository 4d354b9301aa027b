"""Samples as tokens: ids, labels, a role for every token, and windows that lose no target."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from passdown.data.samples.encoders import Encode
from passdown.data.samples.messages import Message, Role
from passdown.data.samples.template import text_of
from passdown.data.samples.volatile import volatile_spans

IGNORED = -100
OBSERVED = 512
"""Tokens of one observation's body that may be predicted, at most; all of them count in the divisor."""
_KEPT = 128
"""Messages whose tokens are kept: the samples of a trajectory have most of theirs in common."""
_TRAINED = frozenset({Role.ACTION, Role.RECONSTRUCTION})


class Observation(NamedTuple):
    """Where the body of one observation stands among the tokens, and a digest of its text."""

    start: int
    stop: int
    digest: str


class Tokens(NamedTuple):
    """A sample as tokens. The lists are of one length.

    `env_mask` is 1 on what may be predicted of observations: neither volatile, nor behind the first 512 tokens of a
    body, nor said before in this sample. `env_tokens` counts every token of every body: the divisor of that loss.
    `left_out` counts the tokens of the sample's prompt and observations for which no window has room.
    """

    input_ids: list[int]
    labels: list[int]
    token_roles: list[int]
    env_mask: list[int]
    env_tokens: int
    observations: tuple[Observation, ...] = ()
    left_out: int = 0

    @property
    def targets(self) -> int:
        """Return how many tokens have a label."""
        return sum(label != IGNORED for label in self.labels)


class _Piece(NamedTuple):
    """One message's tokens, of which `head` stand before its body and `foot` behind it.

    One that `continues` is a part of a turn that did not fit: it has the head again, and what stood before as context.
    """

    ids: list[int]
    roles: list[int]
    predictable: list[int]
    digest: str = ""
    head: int = 0
    foot: int = 0
    continues: bool = False


def tokenise(
    prompt: Sequence[Message],
    completion: Sequence[Message],
    encode: Encode,
    *,
    tools: str = "",
    observations: bool = False,
    actions: bool = True,
    most: int | None = None,
) -> list[Tokens]:
    """Return a sample as tokens, in as many windows of at most `most` as hold all its targets; often that is one.

    `observations` labels what the environment answered as well, `actions` what the successor does. An empty list
    means that nothing of it would be trained on.
    """  # fmt: skip
    given = _given(prompt, encode, tools)
    follows = [_piece(message, encode, "") for message in completion]
    trained = {int(role) for role in _TRAINED} if actions else {int(Role.RECONSTRUCTION)}
    left_out, windows = _windows(given, follows, most)
    made = [_joined(pieces, trained, observations=observations) for pieces in windows]
    return [tokens._replace(left_out=left_out) for tokens in made if tokens.targets]


def _given(prompt: Sequence[Message], encode: Encode, tools: str) -> list[_Piece]:
    return [_copied(_piece(message, encode, tools if place == 0 else "")) for place, message in enumerate(prompt)]


@lru_cache(_KEPT)
def _piece(message: Message, encode: Encode, tools: str) -> _Piece:
    head, body, end, tail = text_of(message, tools)
    if message.role == "assistant":
        # The head is what a model is given before it writes, so that its own tokens begin with the body.
        parts = [(head, Role.OTHER), (body, message.part), (end, message.part), (tail, Role.OTHER)]
        ids: list[int] = []
        roles: list[int] = []
        for text, role in parts:
            found = encode(text).ids if text else []
            ids += found
            roles += [int(role)] * len(found)
        heading, footing = len(encode(head).ids), len(encode(end + tail).ids)
        return _Piece(ids, roles, [0] * len(ids), head=heading, foot=footing)
    ids, offsets = encode(f"{head}{body}{end}{tail}")
    first, last = len(head), len(head) + len(body)
    inside = [first <= start and stop <= last and start < stop for start, stop in offsets]
    roles = [int(message.part) if within else int(Role.OTHER) for within in inside]
    made = _Piece(
        ids, roles, [0] * len(ids), head=sum(stop <= first for _, stop in offsets),
        foot=sum(start >= last for start, _ in offsets),
    )  # fmt: skip
    if message.part != Role.ENV:
        return made
    digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return made._replace(predictable=_predictable(body, first, offsets, inside), digest=digest)


def _predictable(body: str, first: int, offsets: Sequence[tuple[int, int]], inside: Sequence[bool]) -> list[int]:
    """Return 1 for tokens of a body that can be foretold: among its first ones, and not volatile."""
    spans = volatile_spans(body)
    chosen: list[int] = []
    counted = place = 0
    for (start, stop), within in zip(offsets, inside, strict=True):
        counted += within
        while place < len(spans) and spans[place][1] + first <= start:
            place += 1
        volatile = place < len(spans) and spans[place][0] + first < stop
        chosen.append(int(within and counted <= OBSERVED and not volatile))
    return chosen


def _copied(piece: _Piece) -> _Piece:
    """Return a message as context: never a target, whatever it holds."""
    roles = [int(Role.OTHER) if role == Role.OTHER else int(Role.COPIED) for role in piece.roles]
    return piece._replace(roles=roles, predictable=[0] * len(piece.ids), digest="")


def _windows(given: list[_Piece], follows: list[_Piece], most: int | None) -> tuple[int, Iterable[list[_Piece]]]:
    """Return how many tokens no window holds, and windows: the prompt with a run of messages each, so that every token
    of a turn is a target once.

    A window begins with what stood before it, as context, up to half its room. A prompt longer than half a window
    keeps its end, where the task and the view's last lines stand. A turn that no window holds is taken apart; of what
    is no turn, and longer, the beginning is kept.
    """
    whole = _size(given) + _size(follows)
    if most is None or whole <= most:
        return 0, [[*given, *follows]]
    head = _shortened(given, most // 2)
    room = most - _size(head)
    parts = [list(_fitting(piece, room)) for piece in follows]
    left_out = _size(given) - _size(head)
    left_out += sum(len(piece.ids) - _size(own) for piece, own in zip(follows, parts, strict=True) if len(own) == 1)
    return left_out, _filled(head, [part for own in parts for part in own], room)


def _size(pieces: Iterable[_Piece]) -> int:
    return sum(len(piece.ids) for piece in pieces)


def _filled(head: list[_Piece], fitting: list[_Piece], room: int) -> Iterator[list[_Piece]]:
    start = 0
    while start < len(fitting):
        apart = fitting[start].continues
        before = [] if apart else _before(fitting[:start], min(room // 2, room - len(fitting[start].ids)))
        left = room - _size(before)
        stop = start
        while stop < len(fitting) and len(fitting[stop].ids) <= left and (stop == start or not fitting[stop].continues):
            left -= len(fitting[stop].ids)
            stop += 1
        yield [*head, *before, *fitting[start:stop]]
        start = stop


def _shortened(pieces: list[_Piece], most: int) -> list[_Piece]:
    """Keep the first message (the system's) where it fits, and the end of the others."""
    if not pieces or _size(pieces) <= most:
        return pieces
    first, *others = pieces
    kept = [first] if len(first.ids) <= most // 2 else []
    return [*kept, *_ends(others or pieces, most - _size(kept))]


def _before(pieces: list[_Piece], room: int) -> list[_Piece]:
    return [_copied(piece) for piece in _ends(pieces, room)]


def _ends(pieces: list[_Piece], room: int) -> list[_Piece]:
    """Return the last messages, the first of them without the beginning of its body where it does not fit."""
    found: list[_Piece] = []
    for piece in reversed(pieces):
        if len(piece.ids) > room:
            if room > piece.head + piece.foot:
                found.insert(0, _without(piece, piece.head, len(piece.ids) - room + piece.head))
            break
        found.insert(0, piece)
        room -= len(piece.ids)
        if piece.continues:
            break
    return found


def _fitting(piece: _Piece, room: int) -> Iterator[_Piece]:
    """Yield a message in parts that fit: a turn in several, of others the beginning of the body alone, with room left
    for the call that it answers.
    """
    size = len(piece.ids)
    if size <= room:
        yield piece
    elif _TRAINED.isdisjoint(piece.roles):
        kept = 3 * room // 4
        yield _without(piece, max(0, kept - piece.foot), size - min(kept, piece.foot))
    else:
        head = piece.head if piece.head <= room // 4 else 0
        width, again = max(1, room // 2), room // 4
        yield _without(piece, width, size)
        for start in range(width, size, width):
            part = _without(piece, min(size, start + width), size)
            given = _copied(_without(part, head, max(head, start - again)))
            new = _without(part, 0, start)
            count = len(given.ids) - len(new.ids)
            yield part._replace(
                ids=[*given.ids[:count], *new.ids], roles=[*given.roles[:count], *new.roles],
                predictable=[0] * len(given.ids), continues=True,
            )  # fmt: skip


def _without(piece: _Piece, start: int, stop: int) -> _Piece:
    """Return a message without some of its tokens."""
    ids, roles, predictable = ([*each[:start], *each[stop:]] for each in (piece.ids, piece.roles, piece.predictable))
    return piece._replace(ids=ids, roles=roles, predictable=predictable)


def _joined(pieces: Iterable[_Piece], trained: set[int], *, observations: bool) -> Tokens:
    made = Tokens([], [], [], [], 0)
    bodies: list[Observation] = []
    seen: set[str] = set()
    for piece in pieces:
        place = len(made.input_ids)
        mask = [0] * len(piece.ids) if piece.digest in seen else piece.predictable
        wanted = [role in trained or (observations and one == 1) for role, one in zip(piece.roles, mask, strict=True)]
        made.input_ids.extend(piece.ids)
        made.token_roles.extend(piece.roles)
        made.env_mask.extend(mask)
        made.labels.extend(one if take else IGNORED for one, take in zip(piece.ids, wanted, strict=True))
        if piece.digest:
            body = [place + index for index, role in enumerate(piece.roles) if role == Role.ENV]
            if body:
                bodies.append(Observation(body[0], body[-1] + 1, piece.digest))
            seen.add(piece.digest)
    count = sum(one.stop - one.start for one in bodies)
    return made._replace(env_tokens=count, observations=tuple(bodies))


def observation_weights(rows: Sequence[Tokens]) -> list[list[float]]:
    """Return the weight of every token in the loss over observations, for the rows of one batch.

    A body that stands in several rows weighs as much as one: its copies share it. A row's weights already hold the
    divisor `env_tokens`; what is left is to sum them up and to divide by the number of rows.
    """
    copies: dict[str, int] = {}
    for row in rows:
        for digest in {one.digest for one in row.observations}:
            copies[digest] = copies.get(digest, 0) + 1
    weights: list[list[float]] = []
    for row in rows:
        own = [0.0] * len(row.input_ids)
        for one in row.observations:
            for place in range(one.start, one.stop):
                own[place] = row.env_mask[place] / (row.env_tokens * copies[one.digest])
        weights.append(own)
    return weights
