"""Zstandard and gzip as logs are kept in them: all that comes out is handed over, a bad end is told and not raised."""

from __future__ import annotations

import io
import os
import sys
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_GZIP = b"\x1f\x8b\x08"
_PIECE = 16 << 10
"""Compressed bytes that are handed over at a time: what comes out of one piece is lost where it turns out broken."""
_WINDOW = 25
"""Largest window that is decompressed, as a power of two: 32 MiB. Codex writes 2 MiB; a header may claim any size."""


class Decompressed(io.RawIOBase):
    """What a compressed file holds, frame by frame. `broken` is set where it ends early or goes on as something else.

    A frame of gzip has its checksum behind it: damage in one is told when all of it was handed over.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__()
        self.broken = False
        self._raw = raw
        self._frame: Any = None
        self._error: type[Exception] = Exception
        self._at = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read again from its beginning."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the compressed file."""
        return self._raw.fileno()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place counted from the beginning, reading all before it, or say where it stands."""
        if whence == io.SEEK_END or (offset and whence == io.SEEK_CUR):
            raise io.UnsupportedOperation("the end of a compressed log is not known")
        if whence == io.SEEK_SET:
            if offset < self._at or not offset:
                self._raw.seek(0)
                self._frame, self._at, self.broken = None, 0, False
            while self._at < offset and self.read(min(offset - self._at, _PIECE)):
                pass
        return self._at

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read the next bytes; 0 at the end, be it a good one or not."""
        with memoryview(buffer) as whole, whole.cast("B") as view:
            while (data := self._next(len(view))) is not None:
                if data:
                    view[: len(data)] = data
                    self._at += len(data)
                    return len(data)
        return 0

    def _next(self, size: int) -> bytes | None:
        """Return some bytes, none where more input is needed first; None at the end."""
        frame, piece = self._frame, b""
        if self.broken:
            return None
        if frame is None or frame.eof:
            piece = (frame.unused_data if frame is not None else b"") or self._raw.read(_PIECE)
            if not piece:
                return None
            self._frame, self._error = _frame(piece)
            frame = self._frame
        elif frame.needs_input and not (piece := self._raw.read(_PIECE)):
            self.broken = True
            return None
        try:
            data: bytes = frame.decompress(piece, size)
        except self._error:
            self.broken = True
            return None
        return data

    def close(self) -> None:
        """Close the compressed file as well."""
        try:
            super().close()
        finally:
            self._raw.close()


class _Member:
    """A member of a gzip file, with the manners of a Zstandard frame."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._waiting = b""
        self.needs_input = True

    @property
    def eof(self) -> bool:
        """Say whether the member has ended."""
        return bool(self._engine.eof)

    @property
    def unused_data(self) -> bytes:
        """What follows the member, but for zeros that fill up a block."""
        return bytes(self._engine.unused_data.lstrip(b"\0"))

    def decompress(self, piece: bytes, size: int) -> bytes:
        """Return at most so many bytes of what was given until now."""
        data: bytes = self._engine.decompress(self._waiting + piece, size)
        self._waiting = self._engine.unconsumed_tail
        self.needs_input = not self._waiting and len(data) < size
        return data


def _frame(begin: bytes) -> tuple[Any, type[Exception]]:
    """Return what decompresses a frame that begins so, and what it raises when the frame is broken."""
    if begin[:1] == _GZIP[:1]:
        import zlib

        return _Member(zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)), zlib.error
    zstd = _zstd()
    options = {zstd.DecompressionParameter.window_log_max: _WINDOW}
    return zstd.ZstdDecompressor(options=options), zstd.ZstdError


def _zstd() -> Any:
    # Loaded when it is first needed: most logs are plain.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def is_compressed(stream: IO[bytes]) -> bool:
    """Say whether an open file begins as Zstandard or gzip does."""
    head = os.pread(stream.fileno(), 4, 0)
    return head == _MAGIC or head.startswith(_GZIP) or (head[1:] == _SKIPPABLE and 0x50 <= head[0] <= 0x5F)
