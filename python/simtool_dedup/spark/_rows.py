"""Rows of a frame as files of the job: they pass through the engine once."""

from __future__ import annotations

import json
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from simtool_dedup._simtool import read_work, write_work
from simtool_dedup.spark._stages import collected

WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)


class WriteRows:
    """Writes the rows of a partition to a file of its own."""

    def __init__(self, work: str, name: str) -> None:
        """Files in a directory of that of the job."""
        self.work = work
        self.name = name

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The name of the file, if there are rows."""
        import pyarrow
        import pyarrow.parquet

        path, writer = None, None
        try:
            for batch in batches:
                if batch.column("#id").null_count:
                    raise ValueError("a row has no id, and every row needs one (or pass order=)")
                if writer is None:
                    descriptor, path = tempfile.mkstemp(dir=local_directory())
                    os.close(descriptor)
                    writer = pyarrow.parquet.ParquetWriter(
                        path, batch.schema, compression="zstd", compression_level=1, use_dictionary=False
                    )
                writer.write_batch(batch)
            if writer is not None:
                writer.close()
                name = f"{self.name}/{uuid.uuid4().hex}.parquet"
                write_work(self.work, name, source=path)
                yield pyarrow.RecordBatch.from_pydict({"name": [name]})
        finally:
            if path is not None:
                os.unlink(path)


def local_directory() -> str | None:
    """Where a worker may write: a directory that Spark names, or the usual one."""
    first = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return first if os.path.isdir(first) else None


class Columns:
    """The columns of a frame of documents."""

    def __init__(
        self,
        text: str,
        ids: str,
        url: str | None,
        date: str | None,
        order: str | None,
        fields: Sequence[str],
        optional: Sequence[str],
    ) -> None:
        """Names of columns; dots lead into nested ones."""
        self.text = text
        self.ids = ids
        self.url = url
        self.date = date
        self.order = order
        self.fields = list(fields)
        self.optional = list(optional)

    def key(self, frame: Any) -> Any:
        """The column that identifies a document, and that decides which comes first."""
        name = self.order or self.ids
        found = frame.select(F.col(name).alias("key")).schema["key"].dataType
        column = F.col(name)
        return column.cast("long") if isinstance(found, WHOLE) else column

    def is_whole(self, frame: Any) -> bool:
        """Whether the key is a whole number."""
        kind = frame.select(self.key(frame).alias("key")).schema["key"].dataType
        return isinstance(kind, T.LongType)

    def check(self, frame: Any, setting: str) -> None:
        """Refuse a frame without these columns."""
        top = set(frame.columns)
        named = [("text", self.text), ("ids", self.ids), ("url", self.url), ("date", self.date)]
        named.append(("order", self.order))
        named += [("keep or within", field) for field in self.fields if field not in self.optional]
        for what, name in named:
            if name is not None and name not in top and name.split(".")[0] not in top:
                columns = ", ".join(frame.columns)
                raise ValueError(f"{what} {name!r}: there is no such column; {setting} has {columns}")

    def identity(self, frame: Any) -> dict[str, Any]:
        """What is known of a frame without reading it, and the columns that are read."""
        try:
            files = sorted(frame.inputFiles())
        except Exception:  # Not every engine knows.
            files = []
        return {
            "schema": frame.schema.simpleString(),
            "files": [len(files), *files[:1], *files[-1:]],
            "columns": [self.text, self.ids, self.url, self.date, self.order],
        }

    def documents(self, frame: Any) -> Any:
        """The columns that the tasks read; ids begin with the key, as hexadecimal digits."""
        key = self.key(frame)
        if self.is_whole(frame):
            # With the sign inverted, so that the digits sort as the numbers do.
            digits = F.lpad(F.hex(key.bitwiseXOR(F.lit(-(2**63)))), 16, "0")
        else:
            digits = F.hex(key.cast("string").cast("binary"))
        columns = [
            F.concat(digits, F.lit(":"), F.coalesce(F.col(self.ids).cast("string"), F.lit(""))).alias("#id"),
            F.col(self.text).cast("string").alias("#text"),
        ]
        for name, column in (("#url", self.url), ("#date", self.date)):
            if column is not None:
                columns.append(F.col(column).cast("string").alias(name))
        top = [field if field in frame.columns else field.split(".")[0] for field in self.fields]
        columns += [F.col(f"`{name}`") for name in dict.fromkeys(top) if name in frame.columns]
        return frame.select(*columns)


def empty(work: str, name: str) -> str:
    """The name of a file without rows, which is written."""
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("#id", pyarrow.string()), ("#text", pyarrow.string())])
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(schema.empty_table(), sink)
    write_work(work, f"{name}/empty.parquet", sink.getvalue().to_pybytes())
    return f"{name}/empty.parquet"


def written(frame: Any, columns: Columns, work: str, name: str) -> list[str]:
    """The paths of the files with the rows of a frame, which are written unless that is done.

    Raises
    ------
    ValueError
        If the rows of another frame are there, as far as its columns and files tell.
    """
    identity = columns.identity(frame)
    record = read_work(work, f"{name}.json")
    if record is None:
        made = columns.documents(frame).mapInArrow(WriteRows(work, name), "name string")
        names = sorted(row["name"] for row in collected(made)) or [empty(work, name)]
        record = json.dumps({"frame": identity, "names": names}).encode()
        write_work(work, f"{name}.json", record)
    stored = json.loads(record)
    for what, value in identity.items():
        if stored["frame"][what] != value:
            raise ValueError(
                f"work {work!r} has another job ({name}: {what} {stored['frame'][what]!r}, now {value!r}): give "
                "the same frame and columns, or another directory"
            )
    return [f"{work}/{name}" for name in stored["names"]]
