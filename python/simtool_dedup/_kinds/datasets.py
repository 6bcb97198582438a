"""Datasets and columns of Hugging Face ``datasets``."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from simtool_dedup._kinds.arrow import pyarrow_table
from simtool_dedup._kinds.base import Kind
from simtool_dedup._simtool import PassageRows, Table

BATCH = 1000
"""Rows of a stream that are read at a time."""


class HuggingFace(Kind):
    """A ``Dataset``, or one column of it, ``path``."""

    def __init__(self, data: Any, path: Sequence[str] = ()) -> None:
        # Its own copy, which shares the tables of Arrow.
        self.data = copy.deepcopy(data)
        self.path = path
        self.only = ".".join(path) or super().only

    @property
    def names(self) -> list[Any] | None:
        """The names of the columns."""
        return None if self.path else list(self.data.column_names)

    def rows(self, labels: Mapping[Any, str]) -> Table:
        """The columns that are needed, in the order of a selection or shuffle."""
        names = [self.path[0]] if self.path else list(labels)
        return Table(self.data.select_columns(names).with_format("arrow")[:])

    def kept(self, mask: bytes) -> Any:
        """The rows for which ``mask`` has 1."""
        found = self.data.select([row for row, flag in enumerate(mask) if flag])
        for name in self.path:
            found = found[name]
        return found

    def replaced(self, found: PassageRows, text: str, rows: Table | list[Any]) -> HuggingFace:
        """The dataset with another column of texts, in its place."""
        order = self.data.column_names
        column = found.with_changed(Table(rows), text).column(text)
        data = self.data.remove_columns(text).add_column(text, column).select_columns(order)
        return HuggingFace(data, self.path)

    def report(self, table: Table, ids: Mapping[str, Sequence[Any]]) -> Any:
        """A ``Dataset``."""
        import datasets

        return datasets.Dataset(pyarrow_table(table))


def kind_of(data: Any) -> Kind:
    """The kind of an object of ``datasets``; streams are read, and a ``Dataset`` comes back.

    Raises
    ------
    TypeError
        For a dictionary of splits.
    """
    import datasets

    if isinstance(data, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        splits = ", ".join(map(str, data))
        raise TypeError(
            f"expected a Dataset, found a {type(data).__name__} with the splits {splits}: pass one of them, "
            f"as data[{next(iter(data), 'train')!r}], or several by datasets.concatenate_datasets"
        )
    path: list[str] = []
    # Version 4 has columns, which are not read before they are needed.
    while hasattr(data, "column_name"):
        path.insert(0, data.column_name)
        data = data.source
    if isinstance(data, datasets.IterableDataset):
        data = read(data)
    if not isinstance(data, datasets.Dataset):
        raise TypeError(f"expected a Dataset or a column of one, found {type(data).__name__}")
    return HuggingFace(data, path)


def read(stream: Any) -> Any:
    """The rows of an ``IterableDataset`` in memory."""
    import datasets
    import pyarrow

    tables = list(stream.with_format("arrow").iter(batch_size=BATCH))
    if not tables:
        return datasets.Dataset.from_dict({name: [] for name in stream.column_names or ["text"]})
    # The tables name the features in their metadata.
    return datasets.Dataset(pyarrow.concat_tables(tables))
