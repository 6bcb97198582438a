"""Lists, tuples, arrays of NumPy and other iterables of texts or dictionaries."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from simtool_dedup._kinds.base import DEFAULTS, Column, Convert, Kind, like, quoted
from simtool_dedup._simtool import PassageRows, Table


class Items(Kind):
    """Texts or dictionaries. Tables are lists of dictionaries."""

    has_ids = True

    def __init__(self, data: Iterable[Any], build: Convert = list) -> None:
        self.data = list(map(copied, data))
        self.build = build

    @property
    def names(self) -> list[Any] | None:
        """None: each dictionary has its own fields."""
        return None

    @cached_property
    def fields(self) -> list[Any]:
        """The fields of all dictionaries."""
        return list(dict.fromkeys(name for row in self.data if isinstance(row, dict) for name in row))

    def column(self, setting: str, name: Any) -> Column | None:
        """A field, which some dictionary has to have, but for texts."""
        if name is None:
            name = DEFAULTS.get(setting, setting)
            return Column(None, name) if setting == "text" or name in self.fields else None
        if not isinstance(name, str):
            kind = type(name).__name__
            raise TypeError(f"{setting}: expected the name of a column, a str, found {kind}")
        is_there = name in self.fields or name.split(".")[0] in self.fields
        if setting not in ("text", "field") and self.data and not is_there:
            has = ", ".join(map(str, self.fields))
            found = f"no row has it; the rows have {has}" if has else "the data has texts only"
            raise ValueError(f"{setting} {quoted(name)}: {found}")
        return Column(None, name)

    def rows(self, labels: Mapping[Any, str]) -> list[Any]:
        """The list."""
        items: list[Any] = self.data
        return items

    def kept(self, mask: bytes) -> Any:
        """Copies of the items that are kept, in the container that came in."""
        return self.build([copied(row) for row, flag in zip(self.data, mask) if flag])

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> Items:
        """The items, of which some have other texts."""
        other = copy.copy(self)
        other.data = list(self.data)
        for number in found.changed_rows():
            other.data[number] = with_text(self.data[number], text, found.changed(number))
        return other

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        """A list of dictionaries."""
        found = table.to_pylist()
        for name, values in ids.items():
            for row, value in zip(found, values):
                row[name] = value
        return found

    def ids(self, column: Column | None, rows: Sequence[int]) -> list[Any]:
        """The values of a field; the numbers of the rows without one."""
        if column is None:
            return list(rows)
        items = [self.data[row] for row in rows]
        return [value_at(item, column.path) if isinstance(item, Mapping) else None for item in items]


def array(data: Any) -> Items:
    """An array of NumPy, which comes back as one of the same type.

    Raises
    ------
    TypeError
        For more dimensions than one.
    """
    if not hasattr(data, "ndim"):
        return Items(data)
    if data.ndim != 1:
        raise TypeError(f"expected an array with one dimension, found {data.ndim}")
    return Items(data.tolist(), partial(array_of, data.dtype))


def array_of(dtype: Any, values: list[Any]) -> Any:
    """Items as an array of NumPy."""
    import numpy

    if dtype != object:
        return numpy.array(values, dtype=dtype)
    made: Any = numpy.empty(len(values), dtype=object)
    made[:] = values
    return made


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value at a path of nested dictionaries, or ``None``."""
    if path in row:
        return row[path]
    found: Any = row
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


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


def with_text(row: Any, path: str, text: bytes | None) -> Any:
    """A row of a list with another text."""
    if not isinstance(row, Mapping):
        return like(row, text)
    if path in row or "." not in path:
        return {**row, path: like(row.get(path), text)}
    outer, inner = path.split(".", 1)
    return {**row, outer: with_text(row[outer], inner, text)}
