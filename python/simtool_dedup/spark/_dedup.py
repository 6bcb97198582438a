"""The job: its stages, and its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyspark.sql import functions as F

from simtool_dedup import _simtool
from simtool_dedup.spark._candidates import verified
from simtool_dedup.spark._components import Components
from simtool_dedup.spark._documents import MAX_ROWS, Documents
from simtool_dedup.spark._engine import Engine
from simtool_dedup.spark._job import (
    Columns,
    copies_of,
    check_same,
    described,
    input_identity,
    method_text,
    task_settings,
)
from simtool_dedup.spark._refusals import refusals
from simtool_dedup.spark._reports import Reports
from simtool_dedup.spark._stars import ONE_TASK, Stars


class Result:
    """The result of a job: frames, which are computed from the tables of its work directory.

    Attributes
    ----------
    counts : dict of str to int
        Counts, by the names of ``summary.json`` of the command.
    """

    def __init__(self, reports: Reports, frame: Any, refused: Any, summary: dict[str, int]) -> None:
        """A finished job."""
        self._reports = reports
        self._frame = frame
        self._refused = refused
        self.counts = summary

    @property
    def kept(self) -> Any:
        """The rows of the input without duplicates, with all their columns; skipped ones stay."""
        return self._reports.kept(self._frame)

    @property
    def duplicates(self) -> Any:
        """A row for each dropped document: its id, that of the kept one, and the evidence."""
        return self._reports.duplicates()

    @property
    def clusters(self) -> Any:
        """A row for each document of a cluster, which the id of its kept document names."""
        return self._reports.clusters()

    @property
    def refused(self) -> Any:
        """The pairs that the method proposed and verification refused, at most 20 of a document."""
        if self._refused is None:
            raise ValueError("refused: pass refused=True to dedup (without it, the pairs are only counted)")
        return self._reports.refused(self._refused)

    @property
    def summary(self) -> Any:
        """A frame with one row of counts."""
        names = list(self.counts)
        schema = ", ".join(f"{name} long" for name in names)
        spark = self._reports.engine.spark
        return spark.createDataFrame([tuple(self.counts[name] for name in names)], schema)

    def write(self, name: str, table: Any, path: str) -> None:
        """Write a frame as Parquet to a directory that is not there yet.

        An interrupted call is repeated: its incomplete directory is replaced, and a complete one stays.
        """
        engine = self._reports.engine
        if f"written-{name}" in engine.done:
            return
        mode = "overwrite" if f"writing-{name}" in engine.done else "errorifexists"
        if mode == "errorifexists":
            engine.refuse_existing(path)
            engine.finish(f"writing-{name}", path)
        table.write.mode(mode).parquet(path)
        engine.finish(f"written-{name}", path)

    def __repr__(self) -> str:
        """The counts."""
        names = ("seen", "kept", "dropped", "skipped", "clusters", "refused")
        return "Result(" + ", ".join(f"{self.counts[name]} {name}" for name in names) + ")"


def dedup(
    frame: Any,
    *,
    work: str | os.PathLike[str],
    text: str = "text",
    id: str = "id",
    url: str | None = None,
    date: str | None = None,
    order: str | None = None,
    method: str | None = None,
    similarity: float | None = None,
    shingle: int | None = None,
    bits: int | None = None,
    distance: int | None = None,
    features: int | None = None,
    weights: str | None = None,
    keep_stop_words: bool = False,
    recall: float | None = None,
    keep: str | Sequence[str] | None = None,
    within: str | None = None,
    keep_copies: int = 1,
    cluster: str | None = None,
    against: Any = None,
    against_only: bool = False,
    tokenizer: str | None = None,
    stop_words: Iterable[str] | None = None,
    html: str | None = None,
    max_document: int | None = None,
    refused: bool = False,
    sort: str | None = None,
    one_task: int = ONE_TASK,
    most_rows: int = MAX_ROWS,
    progress: Callable[[str], None] | None = None,
) -> Result:
    """Find near-duplicate documents of a Spark frame.

    The result is that of :func:`simtool_dedup.dedup` for the same documents in the order of their
    ids, or of ``order``. It does not depend on partitions, workers, the engine, or interruptions.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The documents. It is read twice, and must have the same rows both times.
    work : str or path
        A directory that all workers can write, empty at first. Tables between the stages stay there.
        The same call goes on after its last finished stage.
    text, id, url, date : str
        Columns; dots lead into nested ones. Ids must be unique. Null texts are skipped.
    order : str, optional
        A column with a value of its own in each row. Smaller ones come first where ``keep`` does not
        decide; by default, the ids do. Frames of :func:`read` have ``position``.
    method, similarity, shingle, bits, distance, features, weights, keep_stop_words, recall, keep, \
within, keep_copies, cluster, against_only, tokenizer, html
        As of :func:`simtool_dedup.dedup`. Methods that need statistics of the collection, containment,
        and ``url`` are refused, and so is ``within="source"``. ``within="language"`` takes a column
        ``language`` or ``lang``, where there is one, and detects the language of other rows.
    against : pyspark.sql.DataFrame, optional
        Also drop documents that repeat one of these, which has the same columns.
    stop_words : iterable of str, optional
        Words that methods leave out; by default the common words of nine languages.
    max_document : int, default 16 MiB
        Bytes; longer texts are skipped.
    refused : bool, default False
        Whether refused pairs are compared and listed; they are counted in any case.
    sort : {"engine", "task"}, optional
        Who sorts the rows of a partition. An engine that does not keep their order (Sail) needs
        ``"task"``, which holds a partition in memory. By default, this is recognised.
    one_task : int
        Undecided pairs that one task may settle; more are settled in rounds.
    most_rows : int
        Documents with one rare shingle that one task searches; more are divided over several.
    progress : callable, optional
        Called with a line for each finished stage.

    Raises
    ------
    ValueError
        For settings, columns, repeated ids, and a work directory of another job.
    """
    settings = task_settings(
        method=method_text(method, bits, distance, features, weights, keep_stop_words, recall),
        similarity=similarity,
        shingle=shingle,
        keep=None if keep == "none" else keep,
        within=within,
        cluster=cluster,
        against_only=against_only,
        tokenizer=tokenizer,
        stop_words=stop_words,
        html=html,
        max_document=max_document,
    )
    if against is not None and not hasattr(against, "sparkSession"):
        raise TypeError(
            f"against: expected a frame of Spark, found {type(against).__name__} (the command compares "
            "with an index; on a cluster, read the documents that were kept before as a frame)"
        )
    copies = copies_of(keep_copies, keep, against is not None)
    description = described(settings)
    if against_only and against is None:
        raise ValueError("against_only: has an effect only with against")
    if sort not in (None, "engine", "task"):
        raise ValueError(f"sort {sort!r}: expected engine or task")
    by_equality = description["by_equality"]
    if by_equality:
        given = {"similarity": similarity, "shingle": shingle, "cluster": cluster}
        named = [name for name, value in given.items() if value is not None]
        if named:
            raise ValueError(
                f"{named[0]} has no effect with method {method}: it drops equal documents only"
            )
    columns = Columns(text, id, url, date, order, description)
    for setting, is_needed, name, column in (
        ("keep shortest-url", description["needs_url"], "url", url),
        ("keep newest", description["needs_date"], "date", date),
        ("within site", description["groups_by_site"], "url", url),
    ):
        if is_needed and column is None:
            raise ValueError(f"{setting}: name the column ({name}=)")
    columns.check(frame, "the frame")
    if against is not None:
        columns.check(against, "against")
    spark = frame.sparkSession
    sorts_in_tasks = sort == "task" if sort is not None else is_sail(spark)
    engine = Engine(spark, os.fspath(work), settings, sorts_in_tasks, progress or (lambda _: None))
    job = {
        "simtool": _simtool.__version__,
        "settings": settings,
        # Defaults may change from one build to the next.
        "sketches": description["parameters"],
        "copies": copies,
        "columns": {
            "text": text, "id": id, "url": url, "date": date, "order": order,
        },
        "input": input_identity(frame),
        "against": None if against is None else input_identity(against),
    }
    check_same(engine, job)
    documents = Documents(engine, frame, against, columns, description, most_rows)
    documents.rows()
    documents.equal()
    decisions, pairs = None, None
    if not by_equality:
        if cluster == "components":
            components = Components(documents, against_only, one_task)
            decisions = components.decisions()
            labels = components.firsts().select("rank", F.col("first").alias("label"))
        else:
            decisions = Stars(documents, one_task).decisions()
            labels = decisions.select(F.col("member").alias("rank"), F.col("earlier").alias("label"))
        pairs = refusals(documents, labels)
    reports = Reports(documents, decisions, against_only, copies)
    reports.dropped()
    count = 0 if pairs is None else engine.rows("refusals")
    summary = engine.value("summary", lambda: reports.summary(count))
    listed = None
    if refused and pairs is not None:
        listed = engine.stage(
            "refused", lambda: verified(engine, documents.sets(), pairs, any=True)
        )
    return Result(reports, frame, listed, summary)


def is_sail(spark: Any) -> bool:
    """Whether the engine is Sail, which does not keep the order of sorted partitions."""
    # Of Spark, a version and a revision.
    return " " not in spark.sql("SELECT version() AS v").collect()[0][0]
