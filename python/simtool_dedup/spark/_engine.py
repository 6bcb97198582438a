"""Steps of Rust on the partitions of an engine, and tables of a work directory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from simtool_dedup._simtool import SparkTask

DONE = "done"
"""The table of finished stages."""
RECORD = "stage string, value string, schema string"


class Step:
    """A step of Rust on the batches of a partition.

    An object of a class, not a closure: workers find the class in their own package.
    """

    def __init__(self, name: str, settings: str, extra: bytes, order: Sequence[str]) -> None:
        """``order``: the columns by which the task sorts its rows; none if they are sorted."""
        self.name = name
        self.settings = settings
        self.extra = extra
        self.order = list(order)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches of the result."""
        task = SparkTask(self.name, self.settings, self.extra)
        for batch in sorted_rows(batches, self.order) if self.order else batches:
            task.push(batch)
            yield from taken(task)
        task.end()
        yield from taken(task)


def taken(task: Any) -> Iterator[Any]:
    """What a step has made so far."""
    import pyarrow

    while (table := task.take()) is not None:
        yield from pyarrow.table(table).to_batches()


def sorted_rows(batches: Iterable[Any], order: Sequence[str]) -> Iterator[Any]:
    """All rows of a partition, sorted: for engines that do not keep the order of a sort."""
    import pyarrow

    rows = list(batches)
    if rows:
        table = pyarrow.Table.from_batches(rows)
        by = [(name, "ascending") for name in order]
        yield from table.sort_by(by).to_batches(max_chunksize=1 << 16)


class Engine:
    """A Spark session with the work directory of a job."""

    def __init__(
        self,
        spark: Any,
        work: str,
        settings: Mapping[str, Any],
        sorts_in_tasks: bool,
        progress: Callable[[str], None],
    ) -> None:
        """A job with these settings of the tasks."""
        self.spark = spark
        self.work = work.rstrip("/")
        self.settings = dict(settings)
        self.sorts_in_tasks = sorts_in_tasks
        self.progress = progress
        self.done: dict[str, Any] = {}
        self.schemas: dict[str, Any] = {}

    def path(self, name: str) -> str:
        """The path of a table of the work directory."""
        return f"{self.work}/{name}"

    def step(
        self,
        rows: Any,
        name: str,
        schema: str,
        extra: bytes = b"",
        order: Sequence[str] = (),
        **settings: Any,
    ) -> Any:
        """The result of a step on each partition."""
        text = json.dumps({**self.settings, **settings})
        return rows.mapInArrow(Step(name, text, extra, order), schema)

    def by(
        self, rows: Any, key: str | list[str], order: Sequence[str], name: str, schema: str, **settings: Any
    ) -> Any:
        """The result of a step on rows that are divided by a key and sorted in each partition."""
        keys = [key] if isinstance(key, str) else key
        return self.ordered(rows.repartition(*keys), order, name, schema, **settings)

    def exchanged(
        self, rows: Any, first: str, name: str, schema: str, parts: int, extra: bytes = b"", **settings: Any
    ) -> Any:
        """The result of a step on the records of an earlier step, ``first``, which travel in blobs.

        The engine moves a row for each of some ``parts``, and the tasks sort the records.
        """
        packed = self.step(rows, first, "part int, records binary", extra, parts=parts, **settings)
        return self.step(packed.repartition("part"), name, schema, **settings)

    def in_one_task(
        self, rows: Any, order: Sequence[str], name: str, schema: str, **settings: Any
    ) -> Any:
        """The result of a step on all rows, sorted."""
        return self.ordered(rows.repartition(1), order, name, schema, **settings)

    def ordered(self, rows: Any, order: Sequence[str], name: str, schema: str, **settings: Any) -> Any:
        """The result of a step on rows that are sorted in each partition."""
        if self.sorts_in_tasks:
            return self.step(rows, name, schema, order=order, **settings)
        return self.step(rows.sortWithinPartitions(*order), name, schema, **settings)

    def read(self, name: str) -> Any:
        """A finished table."""
        # An engine may write no file for an empty table, so the schema is not read from files.
        return self.spark.read.schema(self.schemas[name]).parquet(self.path(name))

    def stage(
        self, name: str, make: Callable[[], Any], measure: Callable[[Any], Any] | None = None
    ) -> Any:
        """The table of a stage, which is made unless an earlier run finished it.

        What ``measure`` finds in the table is recorded; by default, the number of rows.
        """
        if name not in self.done:
            made = make()
            self.schemas[name] = made.schema
            # Most values are different, so dictionaries would be built in vain.
            writer = made.write.mode("overwrite").option("parquet.enable.dictionary", "false")
            writer.parquet(self.path(name))
            table = self.read(name)
            value = table.count() if measure is None else measure(table)
            self.finish(name, value, made.schema.json())
        return self.read(name)

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """A value of the driver, such as counts, which is computed unless an earlier run did so."""
        if name not in self.done:
            self.finish(name, make())
        return self.done[name]

    def rows(self, name: str) -> int:
        """The number of rows of a finished table."""
        measured = self.done[name]
        return int(measured["rows"] if isinstance(measured, dict) else measured)

    def finish(self, name: str, value: Any, schema: str = "") -> None:
        """Record that a stage is finished: one file, which is there or not."""
        columns = {"stage": name, "value": json.dumps(value), "schema": schema}
        record = self.spark.range(1).select(*(F.lit(text).alias(name) for name, text in columns.items()))
        record.coalesce(1).write.mode("append").parquet(self.path(DONE))
        self.done[name] = value
        self.progress(f"{name}: {value}")

    def refuse_existing(self, path: str) -> None:
        """Refuse to replace a table that this job did not write."""
        try:
            self.spark.read.parquet(path).schema  # noqa: B018
        except Exception as error:  # As in resume().
            if is_missing(error):
                return
            raise
        raise FileExistsError(f"{path}: is there already, and this job did not write it: move it away")

    def resume(self) -> None:
        """Read which stages are finished."""
        try:
            records = self.spark.read.schema(RECORD).parquet(self.path(DONE)).collect()
        except Exception as error:  # The classes of exceptions differ between Spark and Connect.
            if not is_missing(error):
                raise
            records = []
        self.done = {stage: json.loads(value) for stage, value, _ in records}
        self.schemas = {
            stage: StructType.fromJson(json.loads(schema)) for stage, _, schema in records if schema
        }

    def small(self, rows: list[tuple[Any, ...]], schema: str) -> Any:
        """A table of some rows, which every task gets."""
        return F.broadcast(self.spark.createDataFrame(rows, schema))


MIN_PARTS = 64


def parts_of(rows: int, rows_of_part: int) -> int:
    """The parts of records of some rows: more than there are tasks, each for a part of the memory."""
    return max(MIN_PARTS, rows // rows_of_part)


def counted(**flags: Any) -> Callable[[Any], dict[str, int]]:
    """Counts the rows of a table, and those that have each of some flags."""

    def measure(table: Any) -> dict[str, int]:
        sums = [F.sum(flag.cast("long")).alias(name) for name, flag in flags.items()]
        found = table.agg(F.count(F.lit(1)).alias("rows"), *sums).collect()[0]
        return {name: found[name] or 0 for name in ("rows", *flags)}

    return measure


def is_missing(error: Exception) -> bool:
    """Whether a table does not exist yet."""
    text = str(error).lower()
    signs = ("path_not_found", "path does not exist", "no such file", "unable_to_infer_schema",
             "unable to infer schema")
    return any(sign in text for sign in signs)
