"""SHA-256 for what is short: a packet hashes a few kilobytes, and loading OpenSSL takes longer than that.

The interpreter's own implementation is slower by the byte: files of any size go to `hashlib`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:  # as Python's own `random` does it
        from _sha2 import sha256
    except ImportError:  # before Python 3.12
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["sha256"]
