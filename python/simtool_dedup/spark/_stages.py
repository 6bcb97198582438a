"""Stages of a job on an engine: the tasks, and the documents of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from simtool_dedup._simtool import ClusterJob, Error, TaskDocuments, cluster_task

FOUND = "task long, found string"
"""What a task returns."""

DOCUMENTS = (
    "id string, url string, date string, text string, skipped string, file string, language string"
)
"""The columns of documents of files."""


class RunTasks:
    """Runs tasks of a stage: an object of a class, so that workers find it in their own package."""

    def __init__(self, work: str, stage: str) -> None:
        """Tasks of a stage of the job in a directory."""
        self.work = work
        self.stage = stage

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What the tasks found, whose numbers are the column ``id``."""
        import pyarrow

        for batch in batches:
            numbers = batch.column("id").to_pylist()
            found = [cluster_task(self.work, self.stage, number) for number in numbers]
            yield pyarrow.RecordBatch.from_pydict({"task": numbers, "found": found})


class RunJob:
    """Runs all stages of a job with a single task, one after another."""

    def __init__(self, work: str, request: str) -> None:
        """The job of a request in a directory."""
        self.work = work
        self.request = request

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What the tasks found."""
        import pyarrow

        for _ in batches:
            job = ClusterJob(self.work, self.request)
            run_stages(job, lambda stage, tasks: [cluster_task(self.work, stage, n) for n in range(tasks)])
            yield pyarrow.RecordBatch.from_pydict({"task": [0], "found": [""]})


class ReadTasks:
    """Reads documents of files."""

    def __init__(self, request: str, plan: str) -> None:
        """The files of a request, as they are divided into tasks."""
        self.request = request
        self.plan = plan

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The documents of the tasks whose numbers are the column ``id``."""
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from taken(TaskDocuments(self.request, self.plan, number))


class ReadKept:
    """Reads the documents that stay."""

    def __init__(self, work: str) -> None:
        """Those of the finished job in a directory."""
        self.work = work

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The documents of the tasks whose numbers are the column ``id``."""
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from taken(TaskDocuments.kept(self.work, number))


def taken(documents: Any) -> Iterator[Any]:
    """The batches of documents."""
    import pyarrow

    while (table := documents.take()) is not None:
        yield from pyarrow.table(table).to_batches()


def numbered(spark: Any, tasks: range, run: Any, schema: str, of_engine: int = 1) -> Any:
    """The rows that a function makes of the numbers of tasks, some for each task of the engine.

    Spark takes about 0.12 processor seconds for each of its tasks in Python, more than most tasks of
    a job. So each gets ``of_engine`` of these, unless fewer than there are processors would be left.
    """
    least = min(len(tasks), processors(spark))
    parts = max(least, -(-len(tasks) // of_engine))
    return spark.range(tasks.start, tasks.stop, 1, parts).mapInArrow(run, schema)


def processors(spark: Any) -> int:
    """The processors of the engine, as far as it tells."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # A session of Spark Connect has no context.
        return USUAL_PROCESSORS


READERS = ("read", "sets", "divide", "sort")
"""Stages whose tasks handle all texts or documents."""
USUAL_PROCESSORS = 8
READING, OTHERS = 2, 8
"""Tasks of such stages, and of others, for each task of the engine."""


ERRORS: dict[str, type[Exception]] = {
    "ValueError": ValueError,
    "OSError": OSError,
    "FileNotFoundError": FileNotFoundError,
    "PermissionError": PermissionError,
    "MemoryError": MemoryError,
    "simtool_dedup.Error": Error,
}
"""Errors of tasks that are raised again in the driver."""


def collected(rows: Any) -> list[Any]:
    """The rows of a frame; an error of a task is raised without the trace of the engine."""
    try:
        found: list[Any] = rows.collect()
    except Exception as error:  # The classes of exceptions differ between engines.
        named = re.findall(r"^\s*([\w.]*(?:Error)): (.*)$", str(error), re.MULTILINE)
        for name, message in reversed(named):
            if name in ERRORS:
                raise ERRORS[name](message) from error
        raise
    return found


def run_stages(
    job: ClusterJob,
    run: Callable[[str, int], list[str]],
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Run what is left of a job: ``run`` runs the tasks of a stage, and gives what they found."""
    while (stage := job.next()) is not None:
        name, tasks = stage
        before = job.finish(name, run(name, tasks))
        again = f", of which {before} were finished before" if before else ""
        progress(f"{name}: {tasks} tasks{again}")


def on_engine(spark: Any, work: str) -> Callable[[str, int], list[str]]:
    """Runs the tasks of a stage on a cluster."""

    def run(stage: str, tasks: int) -> list[str]:
        of_engine = READING if stage in READERS else OTHERS
        rows = collected(numbered(spark, range(tasks), RunTasks(work, stage), FOUND, of_engine))
        return [row["found"] for row in sorted(rows, key=lambda row: int(row["task"]))]

    return run
