"""The closed set of checks, evaluated against this repository. Nothing but git is run; the unknown is never a yes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from passdown.model.brief import Change, Claim, State, Verdict
from passdown.model.command import normalize_command
from passdown.model.evidence import Check
from passdown.model.packet import Packet
from passdown.model.pattern import lazy_pattern
from passdown.takeover.claims import subjects
from passdown.takeover.ground import Ground
from passdown.takeover.history import History, former_names
from passdown.takeover.places import Places

_REF = lazy_pattern(r"refs/(?:heads|tags|remotes)/(?!.*(?:\.\.|//|@\{))[^\x00-\x20\x7f~^:?*\[\\]{1,250}(?<![/.])")
_DIGEST = lazy_pattern(r"[0-9a-f]{64}")
_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_PASSED = {"green": True, "ok": True, "red": False, "failed": False, "error": False}

_Judged = tuple[State, Change, str]

_FOREIGN: _Judged = ("cannot_tell", "unknown", "is no path of this repository, or was shortened")
_NO_OBJECT: _Judged = ("cannot_tell", "unknown", "names no object of this repository's kind")


def evaluate(claims: Sequence[Claim], packet: Packet, ground: Ground) -> list[Verdict]:
    """Judge every claim, in order. A claim without a check is `cannot_tell`; so is whatever is not understood."""
    return _Judge(claims, packet, ground).verdicts()


class _Judge:
    """One pass over the claims of one packet, with what they share read once."""

    def __init__(self, claims: Sequence[Claim], packet: Packet, ground: Ground) -> None:
        self.claims, self.packet, self.ground = claims, packet, ground
        named = [*subjects(claims, "is_ancestor"), packet.git.head or "", packet.git.base or ""]
        pointed = [c.check.expect for c in claims if c.check is not None and c.check.kind == "ref_at"]
        self.history = History(ground, [*named, *pointed], packet.git.head or "")
        self.places = Places(ground, subjects(claims, "blob_at_path", "path_exists", "path_absent", "artifact_hash"))
        self.rules: dict[str, Callable[[Check], _Judged]] = {
            "ref_at": self._ref_at,
            "is_ancestor": self._is_ancestor,
            "blob_at_path": self._blob_at_path,
            "path_exists": self._path_exists,
            "path_absent": self._path_absent,
            "stash_exists": self._stash_exists,
            "artifact_hash": self._artifact_hash,
            "tool_version": self._tool_version,
            "env_name_set": self._env_name_set,
        }
        self.content_here = False
        self.former = former_names(ground.root, ground.facts.branch) if self._elsewhere() else frozenset[str]()

    def _elsewhere(self) -> bool:
        return bool(self.ground.facts.branch) and self.packet.git.branch != self.ground.facts.branch

    def verdicts(self) -> list[Verdict]:
        """Judge the paths first: a rewritten commit is told by its content."""
        first = {at: self._judge(claim) for at, claim in enumerate(self.claims) if _about_paths(claim)}
        changed = [verdict for verdict in first.values() if verdict.claim.place == "changed_files"]
        self.content_here = bool(changed) and all(verdict.state == "holds" for verdict in changed)
        return [first[at] if at in first else self._judge(claim) for at, claim in enumerate(self.claims)]

    def _judge(self, claim: Claim) -> Verdict:
        if claim.check is None:
            return Verdict(claim=claim, state="cannot_tell", reason="nothing to check it by")
        if claim.check.kind == "test_outcome_recorded":
            judged = self._outcome(claim, claim.check)
        else:
            judged = self.rules.get(claim.check.kind, _unknown)(claim.check)
        state, change, reason = judged
        verdict = Verdict(claim=claim, state=state, change=change, reason=reason)
        if claim.place == "completed" and state == "holds" and (by := self.history.reverted.get(claim.check.subject)):
            return structs.replace(verdict, state="contradicted", change="reverted", reason=f"taken back by {by[:12]}")
        return verdict

    # --- commits and refs

    def _is_ancestor(self, check: Check) -> _Judged:
        commit, history = check.subject, self.history
        if not self.ground.is_object(commit) or check.expect != "HEAD":
            return _NO_OBJECT
        if commit in history.ancestors:
            return "holds", "same", ""
        return self._not_in_history(commit)

    def _not_in_history(self, commit: str) -> _Judged:
        history, facts = self.history, self.ground.facts
        if commit in history.rewritten:
            return "drifted", "rewritten", f"rewritten as {history.rewritten[commit][:12]}"
        if history.same_tree(commit):
            return "drifted", "rewritten", f"rewritten: {facts.effective_head[:12]} has the same content"
        if history.is_ahead(commit):
            return "contradicted", "lost", f"HEAD was moved back behind it; it is still here: git show {commit[:12]}"
        if self.content_here:
            return "drifted", "rewritten", "not in the history, but the content it left is here"
        if facts.shallow:
            return "cannot_tell", "unknown", "the clone is shallow: older history is not here"
        where = (
            f"it is still here: git show {commit[:12]}" if commit in history.present else "this clone does not have it"
        )
        return "contradicted", "lost", f"not in the history of HEAD; {where}"

    def _ref_at(self, check: Check) -> _Judged:
        if not _REF.fullmatch(check.subject) or not self.ground.is_object(check.expect):
            return _NO_OBJECT
        facts = self.ground.facts
        renamed = check.subject.removeprefix("refs/heads/") in self.former
        if check.subject != f"refs/heads/{facts.branch}" and not renamed:
            return "cannot_tell", "unknown", "another branch than the one checked out"
        if check.expect in (facts.effective_head, facts.head):
            return ("drifted", "changed", "the branch has another name now") if renamed else ("holds", "same", "")
        if check.expect in self.history.ancestors:
            count = facts.commits_total
            return (
                "drifted",
                "advanced",
                f"{count} commit{'' if count == 1 else 's'} further on" if count else "further on",
            )
        return self._not_in_history(check.expect)

    # --- paths

    def _blob_at_path(self, check: Check) -> _Judged:
        path, places = check.subject, self.places
        if places.raw(path) is None:
            return _FOREIGN
        if not self.ground.is_object(check.expect):
            return _NO_OBJECT
        if places.status(path) is None:
            return self._gone(path, check.expect)
        if places.is_plain_folder(path):
            return "drifted", "edited", "is a folder now"
        blob = places.blob(path)
        if not blob:
            return "cannot_tell", "unknown", "cannot be read here"
        if places.is_link(path):
            return "drifted", "edited", "is another kind of file than git's"
        if blob == check.expect:
            return "holds", "same", ""
        base = self.packet.git.base or ""
        if base in self.history.present and places.blobs_at(base).get(path) == blob:
            return "contradicted", "reverted", "has the content from before the work"
        return "drifted", "edited", "has other content now"

    def _gone(self, path: str, blob: str) -> _Judged:
        if not self.places.readable(path):
            return "cannot_tell", "unknown", "its folder cannot be read here"
        if self.places.is_left_out(path):
            return "cannot_tell", "unknown", "is not checked out here (sparse checkout)"
        if blob and (other := self.places.moved_to(path, blob)):
            return "drifted", "moved", f"is now at {other}"
        return "contradicted", "missing", "is not there"

    def _path_exists(self, check: Check) -> _Judged:
        if self.places.raw(check.subject) is None:
            return _FOREIGN
        return ("holds", "same", "") if self.places.status(check.subject) else self._gone(check.subject, "")

    def _path_absent(self, check: Check) -> _Judged:
        if self.places.raw(check.subject) is None:
            return _FOREIGN
        if self.places.status(check.subject) is not None:
            return "drifted", "appeared", "is there now"
        if self.places.is_left_out(check.subject):
            return "drifted", "appeared", "is in git again, though not checked out here"
        if not self.places.readable(check.subject):
            return "cannot_tell", "unknown", "its folder cannot be read here"
        return "holds", "same", ""

    def _artifact_hash(self, check: Check) -> _Judged:
        if self.places.raw(check.subject) is None:
            return _FOREIGN
        if not _DIGEST.fullmatch(check.expect):
            return "cannot_tell", "unknown", "has no hash to compare"
        if self.places.status(check.subject) is None:
            return self._gone(check.subject, "")
        found = self.places.hashes(check.subject)
        if found is None:
            return "cannot_tell", "unknown", "cannot be read here"
        if found.exact == check.expect:
            return "holds", "same", ""
        if check.expect in (found.lf, found.crlf):
            return "drifted", "edited", "only its line endings differ"
        return "drifted", "edited", "has other content now"

    # --- the machine

    def _stash_exists(self, check: Check) -> _Judged:
        if not self.ground.is_object(check.subject):
            return _NO_OBJECT
        stashes = self.ground.facts.stashes
        if any(stash.id == check.subject for stash in stashes):
            return "holds", "same", ""
        if len(stashes) >= 100:
            return "cannot_tell", "unknown", "more stashes than are listed"
        return "contradicted", "missing", "not in the stash list here (applied, dropped, or left on another machine)"

    def _tool_version(self, check: Check) -> _Judged:
        here = self.ground.environment.tools.get(check.subject)
        if here is None:
            return "cannot_tell", "unknown", "nothing here asks for it"
        if here == "":
            return "contradicted", "missing", "is not installed here"
        if "present" in (here, check.expect):
            return "cannot_tell", "unknown", "its version is not known"
        return ("holds", "same", "") if here == check.expect else ("drifted", "changed", f"is {here} here")

    def _env_name_set(self, check: Check) -> _Judged:
        if not _NAME.fullmatch(check.subject):
            return "cannot_tell", "unknown", "is no variable's name"
        if check.subject in self.ground.variables:
            return "holds", "same", ""
        return "contradicted", "missing", "is not set here"

    def _outcome(self, claim: Claim, check: Check) -> _Judged:
        """Judge a recorded outcome by the project's own feedback log. A run is never repeated here."""
        wanted, facts = _PASSED.get(check.expect), self.ground.facts
        tokens = normalize_command(check.subject)
        runs = [row for row in self.ground.feedback if tokens and normalize_command(row.command) == tokens]
        if claim.place != "failed_attempts":  # those are history; the rest is about the files as they lie here
            if here := [row for row in runs if facts.code and facts.code in row.codes()]:
                runs = here
            elif self.packet.git.tree_fingerprint != facts.tree_fingerprint:
                return "drifted", "changed", "was recorded for another tree; run it again"
            else:
                runs = [row for row in runs if not row.code]
        if wanted is None or not runs or runs[-1].exit_code is None:
            return "cannot_tell", "unknown", "the record of the run is not among this project's files"
        if (runs[-1].exit_code == 0) == wanted:
            return "holds", "same", ""
        return "contradicted", "changed", f"the last recorded run exited with {runs[-1].exit_code}"


def _about_paths(claim: Claim) -> bool:
    return claim.check is not None and claim.check.kind in (
        "blob_at_path", "path_exists", "path_absent", "artifact_hash",
    )  # fmt: skip


def _unknown(check: Check) -> _Judged:
    return "cannot_tell", "unknown", f"{check.kind} is no check of this passdown"
