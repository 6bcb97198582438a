"""Deduplication on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from simtool_dedup._data import path_text, paths_of
from simtool_dedup._flags import flags, joined
from simtool_dedup._options import METHOD_NAMES, refuse_old_names
from simtool_dedup._simtool import ClusterJob, checked, write_index
from simtool_dedup.spark._preflight import check_driver, check_engine, check_workers
from simtool_dedup.spark._read import TASK_BYTES
from simtool_dedup.spark._result import SparkResult
from simtool_dedup.spark._rows import Columns, written
from simtool_dedup.spark._stages import (
    DOCUMENTS,
    FOUND,
    ReadKept,
    RunJob,
    collected,
    numbered,
    on_engine,
    run_stages,
)


def dedup(
    data: Any,
    *,
    work: str | os.PathLike[str],
    spark: Any = None,
    text: str = "text",
    ids: str = "id",
    url: str | None = None,
    date: str | None = None,
    order: str | None = None,
    file_format: str | None = None,
    method: str | None = None,
    similarity: float | str | None = None,
    shingle: int | None = None,
    keep: str | Sequence[str] | None = None,
    within: str | None = None,
    keep_copies: int | None = None,
    cluster: str | None = None,
    against: Any = None,
    against_only: bool = False,
    tokenizer: str | None = None,
    stop_words: Iterable[str] | None = None,
    html: str | None = None,
    max_document: str | int | None = None,
    refused: bool = False,
    task_bytes: int = TASK_BYTES,
    most_rows: int | None = None,
    progress: Callable[[str], None] | None = None,
    **old: Any,
) -> SparkResult:
    """Find near-duplicate documents of files, or of a Spark frame.

    The result is that of :func:`simtool_dedup.dedup` for the same documents: of files, in the order of
    their paths; of a frame, in the order of its ids, or of ``order``. It does not depend on
    partitions, workers, the engine, or interruptions.

    Parameters
    ----------
    data : path, list of paths, or pyspark.sql.DataFrame
        Files, directories, patterns and addresses, as of the command, which every worker can open: the
        tasks read them. The rows of a frame are written to ``work`` first.
    work : str or path
        A directory that the driver and all workers can read and write, empty at first. What tasks
        leave for others stays there. The same call goes on after its last finished task.
    spark : pyspark.sql.SparkSession, optional
        The session, if the data are files; by default the active one.
    text, ids, url, date : str
        Fields of files; columns of a frame, where dots lead into nested ones. Ids of a frame must be
        unique. Null texts are skipped.
    order : str, optional
        A column of a frame with a value of its own in each row. Smaller ones come first where ``keep``
        does not decide; by default, the ids do.
    file_format : str, optional
        The format of all files; by default, it is recognised.
    method, similarity, shingle, keep, within, keep_copies, cluster, against_only, tokenizer, \
stop_words, html, max_document
        As of :func:`simtool_dedup.dedup`. Methods that need statistics of the collection are refused, and
        containment with ``against``. ``within="language"`` takes a column ``language`` or ``lang``, where
        there is one, and detects the language of other rows.
    against : like data, or path of an index, optional
        Also drop documents that repeat one of these, which have the same columns. An index is copied to
        ``work``, which must be on a disk, and not changed; the settings are its own.
    refused : bool, default False
        Whether refused pairs are compared and listed; they are counted in any case.
    task_bytes : int
        Bytes of text that a task reads, about. A task takes memory for a part of these.
    most_rows : int, optional
        Documents with one rare shingle that one task searches; more are divided over several.
    progress : callable, optional
        Called with a line for each finished stage.

    Raises
    ------
    ValueError
        For settings, columns, repeated ids, and a work directory of another job.
    """
    refuse_old_names("spark.dedup", old, {**METHOD_NAMES, "format": "file_format"})
    options: dict[str, Any] = {
        "method": method,
        "similarity": similarity,
        "shingle": shingle,
        "keep": joined(keep),
        "within": within,
        "keep_copies": keep_copies,
        "cluster": cluster,
        "against_only": against_only,
        "tokenizer": tokenizer,
        "html": html,
        "max_document": max_document,
        "refused": refused,
    }
    check_driver()
    work = os.fspath(work).rstrip("/")
    if "://" in work and not work.startswith(("s3://", "gs://", "az://")):
        raise ValueError(f"work {work!r}: expected a directory that all machines share, or s3://, gs:// or az://")
    paths = files_of(data)
    call = Call(work, options, stop_words, against is not None, task_bytes, most_rows)
    rows: tuple[Any, Columns] | None = None
    if paths is None:
        session = session_of(data, "data")
        columns = Columns(text, ids, url, date, order, call.facts["fields"], call.facts["optional"])
        call.check_columns(columns)
        call.check_rows(data, against, columns)
        check_engine(session)
        check_workers(session, work)
        rows = (data, columns)
        request = call.of_rows(data, against, columns)
    else:
        session = spark or active_session()
        fields = {"text": text, "id": ids, "url": url or "url", "date": date or "date"}
        check_files(against, order)
        check_engine(session)
        check_workers(session, work)
        request = call.of_files(paths, against, fields, file_format)
    job = ClusterJob(work, request)
    line = progress or (lambda _: None)
    if job.tasks() == 1 and job.next() is not None:
        collected(numbered(session, range(1), RunJob(work, request), FOUND))
        line("all: 1 task")
    run_stages(job, on_engine(session, work), line)
    first, last = job.own_tasks()
    return SparkResult(
        session,
        work,
        dict(job.summary()),
        refused,
        rows,
        lambda: numbered(session, range(first, last), ReadKept(work), DOCUMENTS),
    )


class Call:
    """The command line of a job."""

    def __init__(
        self,
        work: str,
        options: dict[str, Any],
        stop_words: Iterable[str] | None,
        has_against: bool,
        task_bytes: int,
        most_rows: int | None,
    ) -> None:
        """Settings by their names."""
        if isinstance(stop_words, str):
            raise TypeError("stop_words: expected words, not a text")
        self.work = work
        self.options = options
        self.stop_words = None if stop_words is None else list(stop_words)
        self.task_bytes = task_bytes
        self.most_rows = most_rows
        # Refuses wrong settings before anything is written.
        words = flags({**options, "against": ["others"] if has_against else None})
        self.facts: dict[str, Any] = json.loads(checked(["dedup", *words, "-o", "out", "--", "in"]))

    def check_columns(self, columns: Columns) -> None:
        """Refuse policies of columns that are not named."""
        for setting, name, column in (
            ("method url", "url", columns.url),
            ("keep shortest-url", "url", columns.url),
            ("keep newest", "date", columns.date),
            ("within site", "url", columns.url),
        ):
            if setting in self.facts["needs"] and column is None:
                raise ValueError(f"{setting}: name the column ({name}=)")
        for scope in ("source", "extension"):
            if f"within {scope}" in self.facts["needs"]:
                raise ValueError(
                    f"within {scope}: rows of a frame have no input file (add a column with it, and pass "
                    'within="field:NAME")'
                )

    def request(self, options: dict[str, Any], paths: list[str], keys: str) -> str:
        """The request of a job."""
        words = ["dedup", *flags({**self.options, **options}), "-o", f"{self.work}/out", "--", *paths]
        request = {"words": words, "task_bytes": self.task_bytes, "keys": keys}
        stop_words = None if self.stop_words is None else "\n".join(self.stop_words)
        return json.dumps({**request, "most_documents": self.most_rows, "stop_words": stop_words})

    def check_rows(self, frame: Any, against: Any, columns: Columns) -> None:
        """Refuse frames without the columns."""
        columns.check(frame, "the frame")
        indexes = files_of(against)
        if indexes is not None and not all(map(os.path.isdir, indexes)):
            raise TypeError(f"against: expected a frame of Spark, or an index, found {indexes}")
        if against is not None and indexes is None:
            session_of(against, "against")
            columns.check(against, "against")

    def of_rows(self, frame: Any, against: Any, columns: Columns) -> str:
        """A job on the rows of a frame, which are written."""
        others: list[str] = []
        indexes = files_of(against)
        if indexes is not None:
            others = copied(self.work, indexes)
            if set(others) & set(indexes):
                raise TypeError(f"against: expected a frame of Spark, or an index, found {indexes}")
        paths = written(frame, columns, self.work, "rows")
        if against is not None and indexes is None:
            others = written(against, columns, self.work, "against")
        fields = {f"{name}_field": f"#{name}" for name in ("text", "id", "url", "date")}
        options = {**fields, "format": "parquet", "against": others or None}
        return self.request(options, paths, "whole" if columns.is_whole(frame) else "text")

    def of_files(
        self, paths: list[str], against: Any, fields: dict[str, str], format: str | None
    ) -> str:
        """A job on files."""
        others = None if against is None else copied(self.work, files_of(against) or [])
        options: dict[str, Any] = {f"{name}_field": field for name, field in fields.items()}
        return self.request({**options, "format": format, "against": others}, paths, "none")


def check_files(against: Any, order: str | None) -> None:
    """Refuse parameters of a job on files."""
    if order is not None:
        raise ValueError("order: has an effect on frames only; documents of files have their order")
    if against is not None and files_of(against) is None:
        raise TypeError("against: the data are files, so expected paths")


def copied(work: str, paths: list[str]) -> list[str]:
    """The paths, but for indexes those of copies in the work directory, which all workers can read."""
    names = [f"index/{number}" for number in range(len(paths))]
    return [
        f"{work}/{name}" if write_index(work, name, path) else path
        for name, path in zip(names, paths, strict=True)
    ]


def files_of(data: Any) -> list[str] | None:
    """The paths that ``data`` is: a path, or a list of paths, also as texts."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, str) for item in data):
        return [path_text(item) for item in data]
    return paths_of(data)


def session_of(frame: Any, setting: str) -> Any:
    """The session of a frame of Spark."""
    if not hasattr(frame, "sparkSession"):
        raise TypeError(
            f"{setting}: expected a frame of Spark, or paths, found {type(frame).__name__}"
        )
    return frame.sparkSession


def active_session() -> Any:
    """The session of this process."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise ValueError("spark: there is no active session, so pass one")
    return session
