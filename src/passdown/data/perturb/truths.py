"""The answer key of an operator, filled in the same way by all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from passdown.data.perturb.scene import Applied, Scene
from passdown.data.records import Fact, Truth

HIDDEN_TESTS = "hidden_tests"
ASKS = "clarify"


def decay(
    scene: Scene, op: str, strength: float, params: Mapping[str, str], *, removed: Iterable[Fact] = (),
    false: Iterable[Fact] = (), touched: Iterable[str] = (), acceptable: Iterable[str] = ("find_out_again",),
) -> Applied:  # fmt: skip
    """What is gone can be found out again, or done again; a statement that no longer holds has to be noticed."""
    wrong = tuple(false)
    return Applied(
        scene,
        Truth(
            op=op, family="decay", strength=strength, params=dict(params), touched=tuple(touched),
            facts_removed=tuple(removed), facts_now_false=wrong, must_detect=bool(wrong),
            acceptable=tuple(acceptable), verifier=HIDDEN_TESTS,
        ),
    )  # fmt: skip


def inconsistency(
    scene: Scene, op: str, strength: float, params: Mapping[str, str], *, acceptable: Iterable[str],
    false: Iterable[Fact] = (), removed: Iterable[Fact] = (), touched: Iterable[str] = (), must_detect: bool = True,
) -> Applied:  # fmt: skip
    """Notes and tree disagree: what has to be noticed, and each way to settle it."""
    return Applied(
        scene,
        Truth(
            op=op, family="inconsistency", strength=strength, params=dict(params), touched=tuple(touched),
            facts_now_false=tuple(false), facts_removed=tuple(removed), must_detect=must_detect,
            acceptable=tuple(acceptable), verifier=HIDDEN_TESTS,
        ),
    )  # fmt: skip


def ambiguity(
    scene: Scene, op: str, strength: float, params: Mapping[str, str], *, acceptable: Iterable[str],
    removed: Iterable[Fact] = (), touched: Iterable[str] = (), must_detect: bool = False,
) -> Applied:  # fmt: skip
    """More than one reading: every completion that counts; asking counts always."""
    return Applied(
        scene,
        Truth(
            op=op, family="ambiguity", strength=strength, params=dict(params), touched=tuple(touched),
            facts_removed=tuple(removed), must_detect=must_detect,
            acceptable=tuple(dict.fromkeys((*acceptable, ASKS))), verifier=f"{HIDDEN_TESTS}_or_{ASKS}",
        ),
    )  # fmt: skip
