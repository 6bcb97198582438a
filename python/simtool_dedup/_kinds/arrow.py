"""Tables and columns of pyarrow, and of libraries that give and take them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from simtool_dedup._kinds.base import Convert, Kind, mask_of, unchanged
from simtool_dedup._simtool import PassageRows, Table


class Arrow(Kind):
    """A table or a column of an object with the Arrow PyCapsule interface.

    Tables, and the data itself, come back as a :class:`Table`, which ``convert`` makes an object of a
    library.
    """

    def __init__(self, data: Any, convert: Convert = unchanged) -> None:
        self.data: Any = Table(data)
        self.convert = convert

    @property
    def names(self) -> list[Any] | None:
        """The names of the columns."""
        names: list[Any] = self.data.column_names
        return names

    def rows(self, labels: Mapping[Any, str]) -> Table:
        """The table."""
        return Table(self.data)

    def kept(self, mask: bytes) -> Any:
        """The rows for which ``mask`` has 1."""
        return self.convert(self.data.filter(mask))

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> Arrow:
        """The table with another column of texts."""
        other = copy.copy(self)
        other.data = found.with_changed(Table(self.data), text)
        return other

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A table of the library."""
        return self.convert(table)


class PyArrow(Arrow):
    """A ``Table`` or ``RecordBatch``, which comes back as one."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def rows(self, labels: Mapping[Any, str]) -> Table:
        """The columns that are needed."""
        return Table(self.data.select(list(labels)))

    @property
    def names(self) -> list[Any] | None:
        """The names of the columns."""
        names: list[Any] = self.data.schema.names
        return names

    def kept(self, mask: bytes) -> Any:
        """The rows for which ``mask`` has 1."""
        return self.like(filtered(self.data, mask))

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> PyArrow:
        """The table with another column of texts, in its place."""
        changed = pyarrow_table(found.with_changed(Table(rows), text))
        place = self.data.schema.names.index(text)
        return PyArrow(self.data.set_column(place, changed.field(text), self.texts(changed, text)))

    def texts(self, table: Any, name: str) -> Any:
        """A column for ``set_column``: of a batch, one array."""
        found = table.column(name)
        return found if hasattr(self.data, "combine_chunks") else found.combine_chunks()

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A table; a batch, if the data is one."""
        return self.like(pyarrow_table(table))

    def like(self, table: Any) -> Any:
        """A table as a batch, if the data is one."""
        import pyarrow

        if isinstance(self.data, pyarrow.Table) or isinstance(table, pyarrow.RecordBatch):
            return table
        columns = [column.combine_chunks() for column in table.columns]
        return pyarrow.RecordBatch.from_arrays(columns, schema=table.schema)


class PyArrowColumn(Kind):
    """An ``Array``, which comes back as one, or a ``ChunkedArray``."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def names(self) -> list[Any] | None:
        """None: it is a single column."""
        return None

    def rows(self, labels: Mapping[Any, str]) -> Table:
        """The column as a table."""
        return Table(self.data)

    def kept(self, mask: bytes) -> Any:
        """The values for which ``mask`` has 1."""
        return self.like(filtered(self.data, mask))

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> PyArrowColumn:
        """The column with other texts."""
        changed = pyarrow_table(found.with_changed(Table(rows), text)).column(0)
        return PyArrowColumn(self.like(changed))

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A table of pyarrow."""
        return pyarrow_table(table)

    def like(self, column: Any) -> Any:
        """A column as a single array, if the data is one."""
        import pyarrow

        is_chunked = isinstance(self.data, pyarrow.ChunkedArray)
        if is_chunked or not isinstance(column, pyarrow.ChunkedArray):
            return column
        return column.combine_chunks()


def kind_of(data: Any) -> Kind:
    """The kind of an object of pyarrow; a ``RecordBatchReader`` is read, and a table comes back."""
    if hasattr(data, "read_all"):
        return PyArrow(data.read_all())
    return PyArrow(data) if hasattr(data, "schema") else PyArrowColumn(data)


def filtered(data: Any, mask: bytes) -> Any:
    """The rows of an object of pyarrow for which ``mask`` has 1; a table or a column for some types."""
    import pyarrow

    try:
        return data.filter(pyarrow.array(mask_of(mask), type=pyarrow.bool_()))
    except pyarrow.ArrowNotImplementedError:
        # Types such as string_view, which pyarrow cannot filter.
        found = pyarrow.table(Table(data).filter(mask))
        return found if hasattr(data, "schema") else found.column(0)


def pyarrow_table(table: Table) -> Any:
    """``table`` as one of pyarrow."""
    import pyarrow

    return pyarrow.table(table)


def relation(data: Any) -> Kind:
    """A relation of DuckDB, which is computed now."""
    return Arrow(data, as_relation)


def as_relation(table: Table) -> Any:
    """``table`` as a relation of DuckDB; unchanged without pyarrow."""
    try:
        import duckdb

        return duckdb.from_arrow(pyarrow_table(table))
    except ImportError:
        return table


def daft_frame(data: Any) -> Kind:
    """A frame of Daft, which is computed now."""
    return Arrow(data, as_daft)


def as_daft(table: Table) -> Any:
    """``table`` as a frame of Daft."""
    import daft

    return daft.from_arrow(pyarrow_table(table))
