"""Frames and series of polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simtool_dedup._kinds.base import Convert, Kind, mask_of, quoted, unchanged
from simtool_dedup._simtool import PassageRows, Table


class Polars(Kind):
    """A ``DataFrame`` or ``Series``. Of a ``LazyFrame``, which is collected, ``convert`` makes one."""

    def __init__(self, data: Any, convert: Convert = unchanged) -> None:
        self.data = data
        self.convert = convert

    @property
    def names(self) -> list[Any] | None:
        """The names of the columns."""
        names: list[Any] | None = getattr(self.data, "columns", None)
        return names

    def rows(self, labels: Mapping[Any, str]) -> Table:
        """The columns that are needed, without a copy.

        Raises
        ------
        TypeError
            For columns of objects of Python.
        """
        import polars

        if self.names is None:
            return Table(self.data)
        for name, setting in labels.items():
            if self.data.schema[name] == polars.Object:
                raise TypeError(
                    f"{setting} {quoted(name)}: the column has objects of Python, which polars cannot pass "
                    f"on (make texts of them: polars.Series([str(value) for value in frame[{name!r}]]))"
                )
        return Table(self.data.select(list(labels)))

    def kept(self, mask: bytes) -> Any:
        """The rows for which ``mask`` has 1."""
        import polars

        return self.convert(self.data.filter(polars.Series(mask_of(mask), dtype=polars.Boolean)))

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> Polars:
        """The frame with another column of texts, or the series of other texts."""
        import polars

        column = polars.DataFrame(found.with_changed(Table(rows), text))[text]
        if self.names is None:
            return Polars(column.alias(self.data.name))
        return Polars(self.data.with_columns(column), self.convert)

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A frame; a lazy one, if the data is lazy."""
        import polars

        return self.convert(polars.DataFrame(table))


def kind_of(data: Any) -> Kind:
    """The kind of an object of polars."""
    if hasattr(data, "collect"):
        return Polars(data.collect(), lazy)
    if not hasattr(data, "clone"):
        raise TypeError(f"expected a frame or a series of polars, found {type(data).__name__}")
    return Polars(data.clone())


def lazy(frame: Any) -> Any:
    """A frame as a lazy one."""
    return frame.lazy()
