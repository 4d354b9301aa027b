"""A session in another format, and what that has no place for."""

from msgspec import Struct, field


class Exported(Struct, frozen=True, kw_only=True):
    """A session in another format. `lost` counts what it has no place for, by kind."""

    data: bytes
    lost: dict[str, int] = field(default_factory=dict)
