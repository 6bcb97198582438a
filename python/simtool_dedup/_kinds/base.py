"""The data of a library: what all kinds have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from simtool_dedup._simtool import PassageRows, Table


DEFAULTS = {"ids": "id"}
"""Names of columns by default, where they are not those of the settings."""


def library(data: Any) -> str:
    """The library of an object, by its name."""
    return type(data).__module__.split(".")[0]


class Column(NamedTuple):
    """A column: its label, and the path in what :meth:`Kind.rows` returns, which may lead into it."""

    label: Any
    path: str


class Kind:
    """Data of one library, with what makes objects of that library.

    Attributes
    ----------
    data
        The data, or a copy that later changes do not reach.
    names : list or None
        The labels of the columns; ``None`` if the data is a single column or a list.
    only : str
        The path of the column of data that is a single one, as :meth:`rows` has it.
    has_labels : bool
        Whether columns may have other names than a ``str``.
    has_ids : bool
        Whether :meth:`ids` has the ids; otherwise the Rust part does, in a column of Arrow.
    """

    data: Any
    only = "text"
    has_labels = False
    has_ids = False

    @property
    def names(self) -> list[Any] | None:
        """The labels of the columns."""
        raise NotImplementedError

    def column(self, setting: str, name: Any) -> Column | None:
        """The column for a setting: the one that is named, or that by default.

        ``None`` if the data has none by default.

        Raises
        ------
        ValueError
            If there is no such column, and for data without a column of texts.
        TypeError
            For a name that is no ``str``.
        """
        names = self.names
        if names is None:
            if name is not None:
                raise ValueError(f"{setting} {quoted(name)}: the data is a single column")
            return Column(None, self.only) if setting == "text" else None
        usual = DEFAULTS.get(setting, setting)
        if name is None:
            if usual not in names and setting != "text":
                return None
            name = names[0] if usual not in names and len(names) == 1 else usual
        if name in names:
            return Column(name, str(name))
        if not isinstance(name, str) and not self.has_labels:
            kind = type(name).__name__
            raise TypeError(f"{setting}: expected the name of a column, a str, found {kind}")
        outer = name.split(".")[0] if isinstance(name, str) else name
        if outer not in names:
            has = ", ".join(map(str, names)) or "none"
            raise ValueError(f"{setting} {quoted(name)}: there is no such column; the data has {has}")
        return Column(outer, name)

    def rows(self, labels: Mapping[Any, str]) -> Table | list[Any]:
        """What the Rust part reads: a list, or a table with at least the columns of these labels.

        ``labels`` has the settings that need them.
        """
        raise NotImplementedError

    def kept(self, mask: bytes) -> Any:
        """The rows for which ``mask`` has 1."""
        raise NotImplementedError

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> Kind:
        """The same data with the changed texts of a search for passages, in the column ``text``."""
        raise NotImplementedError

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A table as an object of the library. ``ids`` replaces columns of it, of kinds that have ids."""
        raise NotImplementedError

    def ids(self, column: Column | None, rows: Sequence[int]) -> list[Any]:
        """The ids of some rows as objects of Python, from a column if there is one."""
        raise NotImplementedError


def quoted(name: Any) -> str:
    """The name of a column in a message."""
    return f'"{name}"' if isinstance(name, str) else repr(name)


def mask_of(mask: bytes) -> Any:
    """A mask as an array of NumPy; as a list of booleans without NumPy."""
    try:
        import numpy
    except ImportError:
        return [flag != 0 for flag in mask]
    return numpy.frombuffer(mask, dtype=bool)


def like(old: Any, text: bytes | None) -> str | bytes:
    """A text in the type of the one that it replaces."""
    found = text or b""
    return found if isinstance(old, bytes) else found.decode(errors="replace")


Convert = Callable[[Any], Any]


def unchanged(data: Any) -> Any:
    """The conversion of kinds that need none."""
    return data
