"""Which licence a repository states: by the words of its licence file, as an SPDX id."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern

FILES = (
    "LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING", "COPYING.txt",
    "LICENSE.rst", "license", "license.txt", "UNLICENSE",
)  # fmt: skip
"""Where a licence is looked for, in this order."""
_SPDX = lazy_pattern(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+-]{1,60})")
_SPACE = lazy_pattern(r"\s+")
_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("EPL-2.0", ("eclipse public license", "2.0")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("CC-BY-SA-4.0", ("attribution-sharealike 4.0",)),
    ("CC-BY-4.0", ("attribution 4.0 international",)),
    ("Unlicense", ("free and unencumbered software released into the public domain",)),
    ("MIT", ("permission is hereby granted, free of charge", "the software is provided \"as is\"")),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms", "this list of conditions")),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software for any purpose",)),
    ("0BSD", ("permission to use, copy, modify, and/or distribute", "with or without fee is hereby granted.")),
    ("Zlib", ("this software is provided 'as-is', without any express or implied warranty",)),
)  # fmt: skip


def licence_in(text: str) -> str:
    """Return the SPDX id of a licence's text, empty when it is none of the common ones."""
    if (match := _SPDX.search(text[:5000])) is not None:
        return match[1]
    plain = _SPACE.sub(" ", text[:40_000].lower())
    return next((name for name, words in _WORDS if all(word in plain for word in words)), "")
