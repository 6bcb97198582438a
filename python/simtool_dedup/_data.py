"""Data of other libraries: rows for the Rust part, and results in the type that came in.

No library is imported unless an object of it came in.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simtool_dedup._simtool import PassageRows, Table

ID = "#id"
"""The id of a row that stands for its number."""


def paths_of(data: Any) -> list[str] | None:
    """The paths that ``data`` is: a ``str``, a path object, or a list of path objects."""
    if isinstance(data, (str, os.PathLike)):
        return [path_text(data)]
    if isinstance(data, (list, tuple)) and data:
        if all(isinstance(item, os.PathLike) for item in data):
            return [path_text(item) for item in data]
        if any(isinstance(item, os.PathLike) for item in data):
            raise TypeError("a list of paths has something that is no path")
    return None


def path_text(path: str | os.PathLike[str]) -> str:
    """A path as text. A path object has lost a slash of the address of a server."""
    text = os.fspath(path)
    if not isinstance(path, str) and re.match(r"(s3|gs|az|hf|https?):/[^/]", text):
        raise ValueError(f"{text}: path objects have no addresses of servers; give it as a str")
    return text


def is_address(path: str | os.PathLike[str]) -> bool:
    """Whether a path is on a server, such as ``s3://bucket/name``."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", os.fspath(path)) is not None


def library(data: Any) -> str:
    """The library of an object, by its name."""
    return type(data).__module__.split(".")[0]


class Rows:
    """Rows with their columns, as the Rust part takes them.

    Attributes
    ----------
    rows : Table or list
        The rows; a list has ``str``, ``bytes``, ``None`` or ``dict``.
    text, id, url, date : str or None
        Paths of columns. ``id`` is ``None`` if the rows have none.
    """

    def __init__(
        self,
        data: Any,
        text: str | None,
        id: str | None,
        url: str | None,
        date: str | None,
        fields: Sequence[str] = (),
    ) -> None:
        given = {"text": text, "id": id, "url": url, "date": date}
        for name, column in given.items():
            if column is not None and not isinstance(column, str):
                kind = type(column).__name__
                raise TypeError(f"{name}: expected the name of a column, a str, found {kind}")
        self.fields = list(fields)
        self.is_relation = library(data) in ("duckdb", "_duckdb")
        self.original = snapshot(data)
        wanted = [text or "text", id or "id", url or "url", date or "date", *fields]
        self.rows = converted(self.original, wanted)
        if isinstance(self.rows, Table):
            names = set(self.rows.column_names)
            first = self.rows.column_names
            self.text = text or (first[0] if len(first) == 1 else "text")
            if id is not None:
                self.rows.check("id", id)
        else:
            names = set()
            for row in self.rows:
                if isinstance(row, dict):
                    names.update(row)
            self.text = text or "text"
        self.id = id or ("id" if "id" in names else None)
        self.url = url or ("url" if "url" in names else None)
        self.date = date or ("date" if "date" in names else None)
        if isinstance(self.rows, list) and id is not None and not names and self.rows:
            raise ValueError(f"id {id!r}: the data has texts only, without fields")

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self, id: str | None) -> dict[str, Any]:
        """The columns that are written, with another id."""
        fields = dict.fromkeys(field.split(".")[0] for field in self.fields)
        return {
            "text": self.text,
            "id": id,
            "url": self.url,
            "date": self.date,
            "fields": list(fields),
        }

    def ids(self) -> tuple[Table, str] | None:
        """The table and the path of the ids, for the Rust part."""
        if isinstance(self.rows, Table) and self.id is not None:
            return self.rows, self.id
        return None

    def text_of(self, row: int) -> str | bytes:
        """The text of a row; empty if there is none."""
        if isinstance(self.rows, Table):
            return self.rows.text(self.text, row) or ""
        item = self.rows[row]
        text = value_at(item, self.text) if isinstance(item, Mapping) else item
        return text if isinstance(text, (str, bytes)) else ""

    def id_of(self, row: int) -> Any:
        """The id of a row; its number if the rows have none."""
        if self.id is None:
            return row
        if isinstance(self.rows, Table):
            return self.rows.value(self.id, row)
        item = self.rows[row]
        return value_at(item, self.id) if isinstance(item, Mapping) else None

    def kept(self, mask: bytes) -> Any:
        """The rows of the original for which ``mask`` has 1."""
        found = filtered(self.original, mask)
        return as_relation(found) if self.is_relation else found

    def check_replaceable(self, action: str) -> None:
        """Refuse an action that changes the texts of a nested column."""
        if isinstance(self.rows, Table) and self.text not in self.rows.column_names:
            raise ValueError(
                f"action {action!r}: the texts of a nested column, {self.text!r}, cannot be changed "
                "(make it a column of the frame, or use action='mark' and the places in ranges)"
            )

    def changed(self, found: PassageRows) -> Any:
        """The rows of the original that stay, with the texts that ``found`` has changed."""
        rows = found.changed_rows()
        data = replaced(self.original, self, found, rows) if rows else self.original
        kept = filtered(data, found.mask())
        return as_relation(kept) if self.is_relation else kept

    def back(self, table: Table) -> Any:
        """A table in the type of the original; a list of dictionaries for a list."""
        found = converted_back(self.original, table)
        return as_relation(found) if self.is_relation else found


def as_relation(table: Table) -> Any:
    """``table`` as a relation of DuckDB; unchanged without pyarrow."""
    try:
        import duckdb
        import pyarrow
    except ImportError:
        return table
    return duckdb.from_arrow(pyarrow.table(table))


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value at a path of nested dictionaries, or ``None``."""
    if path in row:
        return row[path]
    found: Any = row
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def snapshot(data: Any) -> Any:
    """Data that can be read more than once, and that later changes of ``data`` do not reach.

    What Arrow holds is immutable and shared. Frames share what they copy on write. Lists and
    dictionaries are copied, other values in them are not.
    """
    kind = library(data)
    if kind == "polars" and hasattr(data, "clone"):
        return data.collect() if hasattr(data, "collect") else data.clone()
    if kind == "pyarrow" and hasattr(data, "read_all"):
        return data.read_all()
    if kind == "numpy" and hasattr(data, "ndim"):
        if data.ndim != 1:
            raise TypeError(f"expected an array with one dimension, found {data.ndim}")
        return list(map(copied, data.tolist()))
    if kind == "pandas":
        return data.copy(deep=not copies_on_write())
    if kind == "datasets":
        # Its own copy, which shares the tables of Arrow.
        return copy.deepcopy(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data if kind == "pyarrow" else Table(data)
    if isinstance(data, (Mapping, bytes, bytearray)) or not isinstance(data, Iterable):
        name = type(data).__name__
        raise TypeError(f"expected a table, a list of texts or dictionaries, or a path, found {name}")
    return list(map(copied, data))


def copied(row: Any) -> Any:
    """A row of a list, without the dictionaries of the caller."""
    if type(row) is dict:
        row = row.copy()
        if dict in map(type, row.values()):
            row.update((name, copied(value)) for name, value in row.items() if type(value) is dict)
        return row
    if isinstance(row, (str, bytes)):
        return row
    return copy.copy(row) if isinstance(row, Mapping) else row


def copies_on_write() -> bool:
    """Whether frames of pandas share memory until one of them is changed."""
    import pandas

    if int(pandas.__version__.split(".")[0]) >= 3:
        return True
    return pandas.get_option("mode.copy_on_write") is True


def converted(data: Any, wanted: Sequence[str]) -> Table | list[Any]:
    """Rows of ``data``, with at least its columns among ``wanted``, without copies if possible."""
    if isinstance(data, (Table, list)):
        return data
    outer = {path.split(".")[0] for path in wanted} | set(wanted)
    if library(data) == "pandas":
        return pandas_rows(data, outer)
    if library(data) == "datasets":
        # A selection or a shuffled order is applied to the columns that are needed only.
        names = wanted_names(data.column_names, outer)
        data = data.select_columns(names).with_format("arrow")[:]
    return Table(data)


def wanted_names(names: list[Any], outer: set[str]) -> list[Any]:
    """The columns that are read: those among ``outer``, or the only one."""
    found = names if len(names) == 1 else [name for name in names if name in outer]
    if not found:
        all = ", ".join(map(str, names))
        raise ValueError(f"text: there is no such column; the data has {all}")
    return found


def pandas_rows(data: Any, outer: set[str]) -> Table | list[Any]:
    """Rows of a pandas object; without pyarrow, a list."""
    if data.ndim == 2:
        data = data[wanted_names(list(data.columns), outer)]
    else:
        data = data.to_frame("text")
    try:
        import pyarrow
    except ImportError:
        plain = data.astype(object).where(data.notna(), None)
        return list(plain.to_dict("records"))
    return Table(pyarrow.Table.from_pandas(data, preserve_index=False))


def mask_of(mask: bytes) -> Any:
    """A mask as an array of NumPy; as a list of booleans without NumPy."""
    try:
        import numpy
    except ImportError:
        return [flag != 0 for flag in mask]
    return numpy.frombuffer(mask, dtype=bool)


def filtered(data: Any, mask: bytes) -> Any:
    """The rows of ``data`` for which ``mask`` has 1, in the type of ``data``."""
    if isinstance(data, Table):
        return data.filter(mask)
    if isinstance(data, list):
        return [copied(row) for row, flag in zip(data, mask) if flag]
    flags = mask_of(mask)
    if library(data) == "polars":
        import polars

        return data.filter(polars.Series(flags, dtype=polars.Boolean))
    if library(data) == "pandas":
        return data[flags]
    if library(data) == "datasets":
        return data.select([row for row, flag in enumerate(mask) if flag])
    import pyarrow

    try:
        return data.filter(pyarrow.array(flags, type=pyarrow.bool_()))
    except pyarrow.ArrowNotImplementedError:
        # Types such as string_view, which pyarrow cannot filter.
        found = pyarrow.table(Table(data).filter(mask))
        return found if hasattr(data, "schema") else found.column(0)


def replaced(data: Any, rows: Rows, found: PassageRows, numbers: list[int]) -> Any:
    """``data`` with the changed texts of the rows ``numbers``, in its type; ``data`` stays."""
    if isinstance(data, list):
        data = list(data)
        for number in numbers:
            data[number] = with_text(data[number], rows.text, found.changed(number))
        return data
    if library(data) == "pandas":
        column = data.copy() if data.ndim == 1 else data[rows.text].copy()
        if column.dtype == "category":
            column = column.astype(object)
        column.iloc[numbers] = [
            like(column.iloc[number], found.changed(number)) for number in numbers
        ]
        return column if data.ndim == 1 else data.assign(**{rows.text: column})
    table = found.with_changed(Table(rows.rows), rows.text)
    if library(data) == "polars":
        import polars

        column = polars.DataFrame(table)[rows.text]
        return data.with_columns(column) if hasattr(data, "columns") else column.alias(data.name)
    if library(data) == "pyarrow":
        import pyarrow

        whole = pyarrow.table(table)
        if not hasattr(data, "schema"):
            return whole.column(0)
        place = data.column_names.index(rows.text)
        return data.set_column(place, whole.field(rows.text), whole.column(rows.text))
    if library(data) == "datasets":
        order = data.column_names
        column = table.column(rows.text)
        return data.remove_columns(rows.text).add_column(rows.text, column).select_columns(order)
    return table


def like(old: Any, text: bytes | None) -> str | bytes:
    """A text in the type of the one that it replaces."""
    found = text or b""
    return found if isinstance(old, bytes) else found.decode(errors="replace")


def with_text(row: Any, path: str, text: bytes | None) -> Any:
    """A row of a list with another text."""
    if not isinstance(row, Mapping):
        return like(row, text)
    if path in row or "." not in path:
        return {**row, path: like(row.get(path), text)}
    outer, inner = path.split(".", 1)
    return {**row, outer: with_text(row[outer], inner, text)}


def converted_back(data: Any, table: Table) -> Any:
    """``table`` in the library of ``data``."""
    if isinstance(data, list):
        return table.to_pylist()
    if library(data) == "polars":
        import polars

        return polars.DataFrame(table)
    if library(data) == "pandas":
        return to_pandas(table)
    if library(data) == "pyarrow":
        import pyarrow

        return pyarrow.table(table)
    if library(data) == "datasets":
        import datasets
        import pyarrow

        return datasets.Dataset(pyarrow.table(table))
    return table


def to_pandas(table: Table) -> Any:
    """``table`` as a frame of pandas. Counts that may be missing are of its type ``UInt64``."""
    import pandas

    try:
        import pyarrow
    except ImportError:
        frame = pandas.DataFrame(table.to_pylist(), columns=table.column_names)
    else:
        frame = pyarrow.table(table).to_pandas()
    names = ("shared", "shingles", "cluster_size", "cluster_sites", "distance")
    counts = [name for name in names if name in frame]
    return frame.astype(dict.fromkeys(counts, "UInt64"))
