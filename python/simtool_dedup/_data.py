"""Rows for the Rust part, with the columns that settings name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from simtool_dedup._kinds import Kind, kind_of
from simtool_dedup._kinds.items import value_at
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


class Rows:
    """Rows with their columns, as the Rust part takes them.

    Parameters
    ----------
    data
        What :func:`kind_of` takes.
    text, ids, url, date : str, int or None
        Columns or fields, where they are named.
    fields : sequence of str
        Further ones.
    writes_ids : bool
        Whether the ids are written themselves, in the place of the numbers of the rows.

    Attributes
    ----------
    kind : Kind
        The data.
    rows : Table or list
        The rows; a list has ``str``, ``bytes``, ``None`` or ``dict``.
    text, ids, url, date : str or None
        Paths of columns of ``rows``, or of the fields of its dictionaries.
    """

    def __init__(
        self,
        data: Any,
        text: Any = None,
        ids: Any = None,
        url: Any = None,
        date: Any = None,
        fields: Sequence[str] = (),
        writes_ids: bool = False,
    ) -> None:
        given = {"text": text, "ids": ids, "url": url, "date": date}
        self.kind: Kind = kind_of(data)
        self.fields = list(fields)
        found = {setting: self.kind.column(setting, name) for setting, name in given.items()}
        paths = {setting: column and column.path for setting, column in found.items()}
        _, self.ids, self.url, self.date = paths.values()
        self.text = paths["text"] or "text"
        self._id_column = found["ids"]
        if self.kind.has_ids and not writes_ids:
            del found["ids"]
        columns = [*found.items(), *(("field", self.kind.column("field", name)) for name in fields)]
        self._labels: dict[Any, str] = {}
        """The columns of ``rows``, with the settings that need them."""
        for setting, column in columns:
            if column is not None and column.label is not None:
                self._labels.setdefault(column.label, setting)
        self.rows = self.kind.rows(self._labels)
        if isinstance(self.rows, Table):
            for setting, column in columns:
                if column is not None:
                    self.rows.check(setting, column.path)

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is made of the data again."""
        return {name: value for name, value in self.__dict__.items() if name != "rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.rows = self.kind.rows(self._labels)

    def columns(self, ids: str | None) -> dict[str, Any]:
        """The columns that are written, with other ids."""
        fields = dict.fromkeys(field.split(".")[0] for field in self.fields)
        return {
            "text": self.text,
            "id": ids,
            "url": self.url,
            "date": self.date,
            "fields": list(fields),
        }

    def id_column(self) -> tuple[Table, str] | None:
        """The table and the path of the ids, for the Rust part."""
        if self.kind.has_ids or self.ids is None or not isinstance(self.rows, Table):
            return None
        return self.rows, self.ids

    def text_of(self, row: int) -> str | bytes:
        """The text of a row; empty if there is none."""
        if isinstance(self.rows, Table):
            return self.rows.text(self.text, row) or ""
        item = self.rows[row]
        text = value_at(item, self.text) if isinstance(item, Mapping) else item
        return text if isinstance(text, (str, bytes)) else ""

    def ids_of(self, rows: Sequence[int]) -> Sequence[Any]:
        """The ids of some rows; numbers of rows, if they have none."""
        if self.kind.has_ids:
            return self.kind.ids(self._id_column, rows)
        column = self.id_column()
        return rows if column is None else [column[0].value(column[1], row) for row in rows]

    def id_of(self, row: int) -> Any:
        """The id of a row."""
        return self.ids_of([row])[0]

    def kept(self, mask: bytes) -> Any:
        """The rows of the data for which ``mask`` has 1."""
        return self.kind.kept(mask)

    def check_replaceable(self, action: str) -> None:
        """Refuse an action that changes the texts of a nested column."""
        if isinstance(self.rows, Table) and self.text not in self.rows.column_names:
            raise ValueError(
                f"action {action!r}: the texts of a nested column, {self.text!r}, cannot be changed "
                "(make it a column of the frame, or use action='mark' and the places in ranges)"
            )

    def changed(self, found: PassageRows) -> Any:
        """The rows of the data that are kept, with the texts that ``found`` has changed."""
        is_changed = bool(found.changed_rows())
        kind = self.kind.replaced(found, self.text, self.rows) if is_changed else self.kind
        return kind.kept(found.mask())

    def report(
        self, table: Table, flags: Mapping[str, bytes], others: Rows | None = None
    ) -> Any:
        """A table in the kind of the data, with the ids of rows.

        ``flags`` has for each column of ids whether its rows are those of ``others``.
        """
        if not self.kind.has_ids:
            return self.kind.report(table, {})
        ids = {}
        for name, are_others in flags.items():
            numbers = table.column("row" if name == "id" else name + "_row")
            ids[name] = self._named(numbers, are_others, table.column(name), others or self)
        return self.kind.report(table, ids)

    def _named(
        self, numbers: Sequence[Any], flags: bytes, known: Sequence[Any], others: Rows
    ) -> list[Any]:
        """The ids of the rows ``numbers``, for which ``flags`` has 1 of ``others``; else those ``known``."""
        pairs = [(number, flag) for number, flag in zip(numbers, flags) if number is not None]
        sides = [
            iter(rows.ids_of([number for number, flag in pairs if (flag != 0) == is_other]))
            for rows, is_other in ((self, False), (others, True))
        ]
        return [
            id if number is None else next(sides[flag != 0])
            for number, flag, id in zip(numbers, flags, known)
        ]
