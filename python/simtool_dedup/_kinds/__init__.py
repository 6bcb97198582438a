"""Data of other libraries: what is read of it, and results in its kind.

No library is imported unless an object of it came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simtool_dedup._kinds import arrow, datasets, items, pandas, polars
from simtool_dedup._kinds.base import Kind, library

__all__ = ["Kind", "kind_of"]

LIBRARIES = {
    "_duckdb": arrow.relation,
    "daft": arrow.daft_frame,
    "datasets": datasets.kind_of,
    "duckdb": arrow.relation,
    "numpy": items.array,
    "pandas": pandas.Pandas,
    "polars": polars.kind_of,
    "pyarrow": arrow.kind_of,
}
"""The kinds by the modules of their classes."""


def kind_of(data: Any) -> Kind:
    """The kind of data; it holds what later changes of ``data`` do not reach.

    What Arrow holds is immutable and shared. Frames share what they copy on write. Lists and
    dictionaries are copied, other values in them are not.

    Raises
    ------
    TypeError
        For what is no table, no column and no iterable of texts or dictionaries.
    """
    kind = LIBRARIES.get(library(data))
    if kind is not None and not isinstance(data, (str, bytes)):
        return kind(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return arrow.Arrow(data)
    if isinstance(data, (Mapping, str, bytes, bytearray)) or not isinstance(data, Iterable):
        name = type(data).__name__
        raise TypeError(f"expected a table, a list of texts or dictionaries, or a path, found {name}")
    return items.Items(data, tuple if type(data) is tuple else list)
