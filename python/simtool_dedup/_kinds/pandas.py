"""Frames and series of pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simtool_dedup._kinds.base import Column, Kind, like, mask_of, quoted
from simtool_dedup._kinds.items import value_at
from simtool_dedup._simtool import PassageRows, Table

COUNTS = ("shared", "shingles", "cluster_size", "cluster_sites", "distance")
"""Columns of reports that may have missing numbers."""


class Pandas(Kind):
    """A ``DataFrame`` or ``Series``. Ids are those of a column, or the labels of the index."""

    has_labels = True
    has_ids = True

    def __init__(self, data: Any) -> None:
        self.data = data.copy(deep=not copies_on_write())

    @property
    def names(self) -> list[Any] | None:
        """The labels of the columns."""
        return list(self.data.columns) if self.data.ndim == 2 else None

    def column(self, setting: str, name: Any) -> Column | None:
        """A column; ids may be a level of the index, and are by default if the index has a name."""
        if setting == "ids":
            index = self.data.index
            if name is None and "id" not in (self.names or ()) and index.nlevels == 1:
                name = index.name
            if self._is_level(name):
                return Column(name, str(name))
        return super().column(setting, name)

    def _is_level(self, name: Any) -> bool:
        """Whether a name is that of a level of the index, and not of a column."""
        return name is not None and name not in (self.names or ()) and name in self.data.index.names

    def values(self, name: Any) -> Any:
        """The series of a column or of a level of the index; that of all labels without a name.

        Raises
        ------
        ValueError
            For a label of several columns.
        """
        if name is None:
            return self.data.index.to_series()
        if self._is_level(name):
            return self.data.index.get_level_values(name).to_series()
        found = self.data[name]
        if found.ndim != 1:
            raise ValueError(f"{quoted(name)}: the data has {found.shape[1]} columns with this name")
        return found

    def rows(self, labels: Mapping[Any, str]) -> Table | list[Any]:
        """The columns as a table; without pyarrow, as a list."""
        series = {str(label): (setting, self.values(label)) for label, setting in labels.items()}
        if len(series) < len(labels):
            raise ValueError(f"columns {', '.join(map(repr, labels))}: two of them have the same text")
        if self.names is None:
            series[self.only] = "text", self.data
        try:
            import pyarrow
        except ImportError:
            lists = [objects(values) for _, values in series.values()]
            return [dict(zip(series, row)) for row in zip(*lists)]
        arrays = {name: column_of(*column) for name, column in series.items()}
        return Table(pyarrow.table(arrays))

    def kept(self, mask: bytes) -> Any:
        """The rows for which ``mask`` has 1, with their labels."""
        return self.data[mask_of(mask)]

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> Pandas:
        """The frame or series with other texts."""
        label = next((name for name in self.names or () if str(name) == text), text)
        column = self.data.copy() if self.names is None else self.data[label].copy()
        if column.dtype == "category":
            column = column.astype(object)
        numbers = found.changed_rows()
        if numbers:
            texts = [like(column.iloc[number], found.changed(number)) for number in numbers]
            column.iloc[numbers] = texts
        if self.names is None:
            return Pandas(column)
        data = self.data.copy(deep=False)
        data[label] = column
        return Pandas(data)

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A frame. Counts that may be missing are of the type ``UInt64`` of pandas."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            frame = pandas.DataFrame(table.to_pylist(), columns=table.column_names)
        else:
            frame = pyarrow.table(table).to_pandas()
        frame = frame.astype(dict.fromkeys([name for name in COUNTS if name in frame], "UInt64"))
        for name, values in ids.items():
            # With missing ones, numbers would become decimal ones.
            has_missing = any(value is None for value in values)
            frame[name] = pandas.Series(values, dtype=object if has_missing else None)
        return frame

    def ids(self, column: Column | None, rows: Sequence[int]) -> list[Any]:
        """The values of a column or of a level of the index; the labels of the index without one."""
        label, path = column or (None, "None")
        found: list[Any] = self.values(label).iloc[list(rows)].tolist()
        if path != str(label):
            inner = path.removeprefix(f"{label}.")
            found = [value_at(value, inner) if isinstance(value, Mapping) else None for value in found]
        return found


def copies_on_write() -> bool:
    """Whether frames of pandas share memory until one of them is changed."""
    import pandas

    if int(pandas.__version__.split(".")[0]) >= 3:
        return True
    return pandas.get_option("mode.copy_on_write") is True


def objects(values: Any) -> list[Any]:
    """The values of a series, with ``None`` for missing ones."""
    found: list[Any] = values.astype(object).where(values.notna(), None).tolist()
    return found


def column_of(setting: str, values: Any) -> Any:
    """A series as an array of pyarrow. Ids of no common type are texts.

    Raises
    ------
    TypeError
        For values of different types. It names the row.
    """
    import pyarrow

    try:
        return pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        found = objects(values)
    if setting == "ids":
        return pyarrow.array([None if value is None else str(value) for value in found])
    kinds = [type(value) for value in found if value is not None]
    usual = str if setting == "text" and str in kinds else kinds[0]
    for row, value in enumerate(found):
        if value is not None and type(value) is not usual:
            kind = type(value).__name__
            raise TypeError(f"row {row}: {setting}: expected {usual.__name__}, as in other rows, found {kind}")
    raise TypeError(f"{setting}: expected texts or numbers, found {usual.__name__}")
