"""What may be done with a licence, by its SPDX id, and the filter that leaves out what may not be shipped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from passdown.data.filters.result import Filtered, dropped
from passdown.data.records import Trajectory
from passdown.model.pattern import lazy_pattern

STAGE = "licence"
Terms = Literal["permissive", "attribution", "copyleft", "restricted", "unknown"]
TERMS: dict[str, Terms] = {
    "0BSD": "permissive", "Apache-2.0": "permissive", "BSD-2-Clause": "permissive", "BSD-3-Clause": "permissive",
    "BSL-1.0": "permissive", "CC0-1.0": "permissive", "ISC": "permissive", "MIT": "permissive", "MIT-0": "permissive",
    "NCSA": "permissive", "PSF-2.0": "permissive", "Python-2.0": "permissive", "Unlicense": "permissive",
    "Zlib": "permissive", "PostgreSQL": "permissive", "BSD-2-Clause-Patent": "permissive", "HPND": "permissive",
    "WTFPL": "permissive", "CDLA-Permissive-2.0": "permissive", "BlueOak-1.0.0": "permissive",
    "CC-BY-4.0": "attribution", "CC-BY-3.0": "attribution", "ODC-By-1.0": "attribution",
    "AGPL-3.0": "copyleft", "CC-BY-SA-4.0": "copyleft", "EPL-2.0": "copyleft", "EUPL-1.2": "copyleft",
    "GPL-2.0": "copyleft", "GPL-3.0": "copyleft", "LGPL-2.1": "copyleft", "LGPL-3.0": "copyleft",
    "MPL-2.0": "copyleft", "ODbL-1.0": "copyleft", "CC-BY-SA-3.0": "copyleft",
    "BUSL-1.1": "restricted", "CC-BY-NC-4.0": "restricted", "CC-BY-NC-SA-4.0": "restricted",
    "CC-BY-ND-4.0": "restricted", "CC-BY-NC-ND-4.0": "restricted", "Elastic-2.0": "restricted",
    "SSPL-1.0": "restricted", "Gemma": "restricted",
}  # fmt: skip
"""The terms of the licences that are known. `attribution` may be shipped when the source is named."""
_FOLDED = {name.lower(): terms for name, terms in TERMS.items()}
_VERSION = lazy_pattern(r"-(?:only|or-later)$")
SHIPPABLE: tuple[Terms, ...] = ("permissive", "attribution")
_OPENEST: tuple[Terms, ...] = ("permissive", "attribution", "copyleft", "restricted", "unknown")


def terms_of(licence: str) -> Terms:
    """Return the terms of an SPDX expression: of `A OR B` the freest, of `A AND B` the strictest."""
    choices = [_strictest(choice) for choice in licence.replace("(", " ").replace(")", " ").split(" OR ")]
    return min(choices, key=_OPENEST.index)


def _strictest(licence: str) -> Terms:
    parts = [part.partition(" WITH ")[0].strip() for part in licence.split(" AND ")]
    return max((_FOLDED.get(_VERSION.sub("", part.lower()), "unknown") for part in parts), key=_OPENEST.index)


def permitted(trajectories: Iterable[Trajectory], allow: tuple[Terms, ...] = SHIPPABLE) -> Filtered:
    """Yield the trajectories whose licence has one of these terms, and a reject for each other.

    A licence that nobody stated is `unknown`.
    """
    for trajectory in trajectories:
        licence = trajectory.provenance.licence
        terms = terms_of(licence)
        if terms in allow:
            yield trajectory
        else:
            yield dropped(STAGE, trajectory, f"licence_{terms}", licence or "none stated")
