"""Types of data, for type checkers. Libraries are recognised by what their objects have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

Data = TypeVar("Data", covariant=True)
"""What came in, and what is kept of it."""
Report = TypeVar("Report", covariant=True)
"""The tables of a result."""


class HasColumns(Protocol):
    """A frame of pandas, polars or Daft, a table of pyarrow, or a relation of DuckDB."""

    @property
    def columns(self) -> Any:
        """The columns."""


class HasColumnNames(Protocol):
    """A ``datasets.Dataset``, or a :class:`Table` of this package."""

    @property
    def column_names(self) -> Any:
        """The names of the columns."""


class SeriesLike(Protocol[Data, Report]):
    """A series of pandas or polars, whose tables are frames."""

    def head(self, n: int = ..., /) -> Data:
        """Its first values."""
        ...

    def to_frame(self) -> Report:
        """The series as a frame."""
        ...


class ArrayLike(Protocol):
    """An array of NumPy."""

    @property
    def dtype(self) -> Any:
        """The type of the values."""

    def tolist(self) -> Any:
        """The values as a list."""


class HasArrowStream(Protocol):
    """A table of another library, by the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = ...) -> Any:
        """The table as a stream."""


class HasArrowArray(Protocol):
    """An array of another library, by the Arrow PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: Any = ...) -> Any:
        """The array and its type."""


Frame = TypeVar("Frame", bound=HasColumns | HasColumnNames)
Items = TypeVar("Items", bound=list[Any] | tuple[Any, ...] | ArrayLike)
Item = TypeVar("Item")

Dicts: TypeAlias = list[dict[str, Any]]
Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = str | os.PathLike[str] | Sequence[os.PathLike[str]]
ArrowObject: TypeAlias = HasArrowStream | HasArrowArray
ColumnName: TypeAlias = str | int
"""The name of a column or field; a number is a label of pandas."""

if TYPE_CHECKING:
    import numpy

    Array: TypeAlias = numpy.ndarray[Any, Any]
else:
    Array = Any
