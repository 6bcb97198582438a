"""Documents of files as a frame, parsed in the tasks by the code of the command."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from simtool_dedup._simtool import planned
from simtool_dedup.spark._stages import DOCUMENTS, ReadTasks, numbered

TASK_BYTES = 128 << 20
"""Bytes of text of a task."""


def read(
    spark: Any,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    file_format: str | None = None,
    text: str = "text",
    ids: str = "id",
    url: str = "url",
    date: str = "date",
    html: str | None = None,
) -> Any:
    """Read documents of files as a frame.

    To deduplicate files, give their paths to :func:`dedup`: their texts stay in the tasks then.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session.
    paths : path or sequence of paths
        Files, directories, patterns and addresses, as of the command, which every worker can open.
    file_format : str, optional
        The format of all files; by default, it is recognised.
    text, ids, url, date : str
        Fields of documents.
    html : {"main", "visible", "markup"}, optional
        The part of HTML pages that is their text.

    Returns
    -------
    pyspark.sql.DataFrame
        ``id`` (without one, the file and the place), ``url``, ``date``, ``text`` (null if a record
        could not be read), ``skipped`` (why), ``file`` (the path) and ``language`` (what a header or
        field says).
    """
    single = isinstance(paths, (str, os.PathLike))
    names = [os.fspath(paths)] if single else [os.fspath(path) for path in paths]  # type: ignore[arg-type, union-attr]
    fields: dict[str, str | None] = {"text-field": text, "id-field": ids, "url-field": url, "date-field": date}
    fields |= {"format": file_format, "html": html}
    words = [f"--{name}={value}" for name, value in fields.items() if value is not None]
    request = json.dumps({"words": ["dedup", *words, "-o", "out", "--", *names], "task_bytes": TASK_BYTES})
    tasks, plan = planned(request)
    return numbered(spark, range(tasks), ReadTasks(request, plan), DOCUMENTS)
