"""The result of a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from simtool_dedup._result import Result
from simtool_dedup._simtool import read_work, write_work
from simtool_dedup.spark._rows import Columns

PAIRS = (
    "id string, kept string, cluster_size long, method string, distance long, estimate double, "
    "similarity double, shared long, shingles long, kept_against boolean, newest string, key string, "
    "kept_key string"
)
CLUSTERS = "cluster string, size long, id string, kept boolean, key string"


SKIPPED = "id string, reason string, detail string, key string"


class SparkResult(Result[Any, Any]):
    """The result of a job: frames, which are computed from the tables of its work directory.

    Attributes
    ----------
    summary : dict of str to int
        Counts, by the names of ``summary.json`` of the command.
    """

    def __init__(
        self,
        spark: Any,
        work: str,
        summary: dict[str, int],
        refused: bool,
        rows: tuple[Any, Columns] | None,
        documents: Callable[[], Any],
    ) -> None:
        """A finished job: on the rows of a frame with its columns, or on ``documents`` of files."""
        self._spark = spark
        self._work = work
        self._rows = rows
        self._documents = documents
        self._has_refused = refused
        self.summary: dict[str, Any] = dict(summary)

    def _table(self, name: str, schema: str) -> Any:
        table = self._spark.read.schema(schema).parquet(f"{self._work}/tables/{name}")
        keys = [column for column in ("key", "kept_key") if column in table.columns]
        if self._rows is None:
            return table.drop(*keys)
        frame, columns = self._rows
        kind = frame.select(columns.key(frame).alias("key")).schema["key"].dataType
        return table.withColumns({key: F.col(key).cast(kind) for key in keys})

    @property
    def kept(self) -> Any:
        """The rows of the input without duplicates, with all their columns; skipped ones stay.

        Of files, their documents, with the columns of :func:`read`.
        """
        if self._rows is None:
            return self._documents()
        frame, columns = self._rows
        name = "simtool_key"
        gone = self._table("duplicates", PAIRS).select(F.col("key").alias(name))
        keyed = frame.withColumn(name, columns.key(frame))
        return keyed.join(gone, name, "left_anti").drop(name)

    @property
    def duplicates(self) -> Any:
        """A row for each dropped document: its id, that of the kept one, and the evidence."""
        return self._table("duplicates", PAIRS)

    @property
    def clusters(self) -> Any:
        """A row for each document of a cluster, which the id of its kept document names."""
        return self._table("clusters", CLUSTERS)

    @property
    def refused(self) -> Any:
        """The pairs that the method proposed and verification refused, at most 20 of a document.

        ``None`` unless they were asked for; they are counted in any case.
        """
        return self._table("refused", PAIRS).drop("cluster_size") if self._has_refused else None

    @property
    def skipped(self) -> Any:
        """A row for each document, also of ``against``, that was not read: its id, the reason, a description."""
        return self._table("skipped", SKIPPED)

    def _counts(self) -> list[tuple[str, int]]:
        names = ("seen", "kept", "dropped", "skipped", "clusters", "refused")
        return [(name, self.summary[name]) for name in names]

    def write(self, name: str, table: Any, path: str) -> None:
        """Write a frame as Parquet to a directory that is not there yet.

        After an interruption, the same call replaces the incomplete directory. A complete one is not written again.
        """
        record = f"written/{name}"
        begun, complete = (f"{state} {path}".encode() for state in ("begun", "complete"))
        found = read_work(self._work, record)
        if found == complete:
            return
        if found != begun:
            if Path(path).exists():
                raise FileExistsError(f"{path}: is there already, and this job did not write it: move it away")
            write_work(self._work, record, begun)
        table.write.mode("overwrite").parquet(path)
        write_work(self._work, record, complete)
