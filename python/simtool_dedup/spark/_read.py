"""Documents of files, parsed in the tasks by the code of the command."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import functions as F

from simtool_dedup._simtool import read_file
from simtool_dedup.spark._engine import taken

OURS = {"warc": "warc", "wet": "warc", "arc": "arc", "jsonl": "jsonl"}
"""Formats that the tasks parse, and their names in the command."""

SCHEMA = (
    "position long, id string, url string, date string, text string, skipped string, file string, "
    "language string"
)


class FileReader:
    """Reads files: an object of a class, so that workers find it in their own package."""

    def __init__(self, settings: str, has_content: bool) -> None:
        """Rows have ``file``, ``path``, and ``content`` if the file is not on a shared disk."""
        self.settings = settings
        self.has_content = has_content

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The documents of the files."""
        for batch in batches:
            rows = batch.to_pydict()
            for row, (file, path) in enumerate(zip(rows["file"], rows["path"], strict=True)):
                if not self.has_content:
                    yield from self.documents(path, path, file)
                    continue
                suffixes = "".join(Path(path).suffixes[-3:])
                with tempfile.NamedTemporaryFile(suffix=suffixes) as copy:
                    copy.write(rows["content"][row])
                    copy.flush()
                    yield from self.documents(copy.name, path, file)

    def documents(self, path: str, name: str, file: int) -> Iterator[Any]:
        """The documents of one file."""
        yield from taken(read_file(path, name, file, self.settings))


def read(
    spark: Any,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str,
    text: str = "text",
    id: str = "id",
    url: str = "url",
    date: str = "date",
    html: str | None = None,
    **options: Any,
) -> Any:
    """Read documents as a frame.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session.
    paths : path or sequence of paths
        Files, directories, and patterns. Without a scheme, or with ``file://``, every worker opens
        them itself. Others (``s3://``, ``hdfs://``) are read by Spark, each as a whole.
    format : str
        ``"warc"``, ``"wet"``, ``"arc"`` and ``"jsonl"``, compressed or not, are read by the parsers of
        the command. Any other name is a format of Spark, such as ``"parquet"``.
    text, id, url, date : str
        Fields of JSON Lines.
    html : {"main", "visible", "markup"}, optional
        The part of HTML pages that is their text.
    options
        Options of Spark's reader, for a format of Spark.

    Returns
    -------
    pyspark.sql.DataFrame
        With a parser of the command: ``position`` (for ``dedup(..., order="position")``: the order in
        which the command reads the same paths), ``id`` (without one, the file and the place), ``url``,
        ``date``, ``text`` (null if a record could not be read), ``skipped`` (why), ``file`` (the path)
        and ``language`` (what a header or field says).
    """
    single = isinstance(paths, (str, os.PathLike))
    names = [os.fspath(paths)] if single else [os.fspath(path) for path in paths]  # type: ignore[arg-type, union-attr]
    if format not in OURS:
        return spark.read.format(format).options(**options).load(names)
    if options:
        raise TypeError(f"{next(iter(options))}: not an option of the format {format}")
    settings = {
        "format": OURS[format],
        "text_field": text,
        "id_field": id,
        "url_field": url,
        "date_field": date,
        "html": html,
    }
    remote = [urlsplit(name).scheme not in ("", "file") for name in names]
    if any(remote) != all(remote):
        raise ValueError("paths: some are local and some are not, so read them in two calls")
    if any(remote):
        content = spark.read.format("binaryFile").load(names)
        listed = sorted(row[0] for row in content.select("path").collect())
        files = spark.createDataFrame(list(enumerate(listed)), "file long, path string")
        rows = content.select("path", "content").join(F.broadcast(files), "path")
    else:
        listed = local_files([urlsplit(name).path if name.startswith("file:") else name for name in names])
        rows = spark.createDataFrame(list(enumerate(listed)), "file long, path string")
    rows = rows.repartition(max(1, len(listed)))
    return rows.mapInArrow(FileReader(json.dumps(settings), any(remote)), SCHEMA)


def local_files(names: Iterable[str]) -> list[str]:
    """The files of paths, directories and patterns, in order, each once."""
    found: dict[str, None] = {}
    for name in names:
        paths = [Path(name)] if Path(name).exists() else [Path(path) for path in sorted(glob(name))]
        if not paths:
            raise FileNotFoundError(f"{name}: there is no such file, and no file matches it")
        for path in paths:
            inner = sorted(path.rglob("*")) if path.is_dir() else [path]
            for file in inner:
                hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
                if file.is_file() and not hidden:
                    found[str(file)] = None
    return list(found)
