"""What makes two actions the same action, at three levels."""

from __future__ import annotations

from passdown.data.records import Action


def key(action: Action, level: int = 1) -> str:
    """Return the key of an action: level 0 its kind, 1 (the usual one) kind and target, 2 with the digest as well."""
    if level <= 0:
        return action.kind
    if level == 1:
        return f"{action.kind} {action.target}".rstrip()
    return f"{action.kind} {action.target}".rstrip() + f" #{action.digest}"
