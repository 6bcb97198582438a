"""Deduplication of frames, lists and files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as Directory
from typing import TYPE_CHECKING, Any, overload

from simtool_dedup._data import paths_of
from simtool_dedup._file_result import FileResult
from simtool_dedup._flags import joined, stop_word_file, threads_of
from simtool_dedup._options import (
    FILE_NAMES,
    METHOD_NAMES,
    DedupOptions,
    FileOptions,
    Size,
    StopWords,
    file_options,
    refuse_old_names,
)
from simtool_dedup._progress import watching
from simtool_dedup._rows_result import RowsResult
from simtool_dedup._run import called, given, of_files, row_flags, warn
from simtool_dedup._scratch import temporary_directory
from simtool_dedup._simtool import RowResult
from simtool_dedup._typing import (
    ArrowObject,
    ColumnName,
    Data,
    Dicts,
    Frame,
    Item,
    Items,
    Path,
    Paths,
    Report,
    SeriesLike,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def dedup(  # type: ignore[overload-overlap]
    data: Paths, *, files: FileOptions | None = None, **options: Unpack[DedupOptions]
) -> FileResult: ...
@overload
def dedup(
    data: SeriesLike[Data, Report], **options: Unpack[DedupOptions]
) -> RowsResult[Data, Report]: ...
@overload
def dedup(
    data: Frame, **options: Unpack[DedupOptions]
) -> RowsResult[Frame, Frame]: ...
@overload
def dedup(  # type: ignore[overload-overlap]
    data: Items, **options: Unpack[DedupOptions]
) -> RowsResult[Items, Dicts]: ...
@overload
def dedup(
    data: ArrowObject, **options: Unpack[DedupOptions]
) -> RowsResult[Any, Any]: ...
@overload
def dedup(
    data: Iterable[Item], **options: Unpack[DedupOptions]
) -> RowsResult[list[Item], Dicts]: ...
def dedup(
    data: Any,
    *,
    text: ColumnName | None = None,
    ids: ColumnName | None = None,
    url: ColumnName | None = None,
    date: ColumnName | None = None,
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
    stop_words: StopWords | None = None,
    html: str | None = None,
    max_document: Size | None = None,
    refused: bool = False,
    refuse_above: Size | float | None = None,
    threads: int | None = None,
    memory: Size | None = None,
    temp_dir: Path | None = None,
    files: FileOptions | None = None,
    progress: bool | None = None,
    **old: Any,
) -> Any:
    """Find and remove near-duplicate texts of a frame, a list or files.

    The answer is that of the command ``simtool dedup`` for the same documents: its code does the
    work. Every duplicate was compared with the kept row, shingle by shingle. The result does
    not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        * A table of pyarrow, polars, pandas, duckdb, Daft or ``datasets``, or any object with the Arrow
          PyCapsule interface; or a single column of one.
        * A list, a tuple, an array of NumPy or an iterable of ``str``, ``bytes`` and ``None``, or of
          dictionaries.
        * A path or a pattern (``str``), or a path object or a list of these, for files: JSON Lines,
          WARC, WET, Parquet, text, also compressed.
    text, ids, url, date : str, optional
        Columns or fields; dots lead into nested ones. By default ``text``, ``id``, ``url`` and
        ``date``, and the only column of data with one. Texts may be null. Of pandas, labels of columns
        may be numbers, and ids a level of the index.
    method : str, default "minhash"
        How candidates are found: ``NAME`` or ``NAME:parameter=value,...``, as
        ``"simhash:bits=128,distance=8"`` or ``"minhash:recall=0.95"``; see :func:`methods`. With
        ``"url"``, alone or as in ``"url then minhash"``, the newest row of each URL is kept.
    similarity : float or str, default 0.8
        Least share of shingles in common of duplicates, 0.001 to 1, with at most three decimals; or
        ``"containment:SHARE"``, of the shingles of the row with fewer.
    shingle : int, default 5
        Words in a shingle.
    keep : str or sequence of str, default "first"
        Which copy is kept: ``first``, ``longest``, ``most-shingles``, ``newest``, ``shortest-url``,
        ``field:NAME`` (the largest value) or ``smallest:NAME``; several decide in this order. With
        ``none``, no copy of a repeated document is kept. For type checkers, a choice with a name is
        ``Choice("field:NAME")``.
    within : str, default "global"
        Compare only within groups: ``field:NAME``, ``site`` or ``language`` (of files also
        ``source`` and ``extension``).
    keep_copies : int, default 1
        Copies of each document that are kept.
    cluster : {"star", "components"}, default "star"
        Whether each duplicate was compared with the kept row, or a chain connects them.
    against : like data, or the directory of an index, optional
        Also remove rows that repeat one of these.
    against_only : bool, default False
        Keep duplicates within ``data``.
    tokenizer : str, optional
        What a word is: ``auto``, ``ascii``, ``unicode``, ``chars``, ``code`` or
        ``code-and-comments``.
    stop_words : path or iterable of str, optional
        Words that methods leave out; by default the common words of nine languages.
    html : {"main", "visible", "markup"}, optional
        The part of texts that are HTML pages.
    max_document : int or str, default "16M"
        Longer documents are skipped.
    refused : bool, default False
        Whether refused pairs are listed. Not with components and rows in ``against``, as both rows of
        a pair may be of ``against`` then.
    refuse_above : float or str, optional
        Fail if a larger share would be dropped.
    threads : int, optional
        Threads; one for each processor by default.
    memory : int or str, optional
        Bound on the memory of the run, such as ``"8G"``; by default half of what is available, at
        most 4 GiB. It does not include ``data``. A list is written to a temporary file, which takes
        about as much space as its texts.
    temp_dir : path, optional
        Directory of temporary files.
    files : FileOptions, optional
        Of paths: what is written, and how files are read.
    progress : bool, optional
        Whether to show progress with tqdm; by default in a notebook and on a terminal, if tqdm is
        installed.

    Returns
    -------
    RowsResult or FileResult
        A :class:`RowsResult` for rows, a :class:`FileResult` for files: each a :class:`Result`.

    Warns
    -----
    UserWarning
        For settings without effect, and for documents without a text.

    Raises
    ------
    ValueError
        For settings that are unknown, contradictory or out of range, for columns that do not exist,
        and for a ``str`` with surrogates.
    TypeError
        For data of another type, for values that are no texts, and for arguments that do not exist.
    OSError
        For files that cannot be read or written.
    Error
        For damaged files and too little memory.
    KeyboardInterrupt
        After Ctrl-C, usually within a tenth of a second. Files: the same call resumes the run.

    Notes
    -----
    Pairs of texts whose sketches the method does not propose are missed; ``method="minhash"`` finds
    ``recall`` of them. Texts of fewer words than a shingle (five) are duplicates only if they have the same
    words in the same order.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> text = "A cat sat on the mat while a dog slept in the sun behind the house"
    >>> result = simtool.dedup([text, "Something else", text.upper()])
    >>> result
    RowsResult(3 rows, 2 kept, 1 duplicates, 1 clusters, 0 skipped)
    >>> result.kept[1], result.duplicates[0]["kept"]
    ('Something else', 0)
    """
    refuse_old_names("dedup", old, {**METHOD_NAMES, **FILE_NAMES})
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
        "refuse_above": refuse_above,
        "threads": threads_of(threads),
        "memory": memory,
    }
    columns = {"text": text, "ids": ids, "url": url, "date": date}
    paths = paths_of(data)
    written_files = file_options(files, paths is not None)
    result: RowsResult[Any, Any] | FileResult
    with temporary_directory(temp_dir) as directory:
        options["stop_words"] = stop_word_file(stop_words, directory)
        with watching(progress) as watch:
            if paths is None:
                result = of_rows(data, columns, against, options, directory, watch)
            else:
                options |= written_files.options("dedup")
                options["temp_dir"] = temp_dir
                output = written_files.output
                run = of_files("dedup", paths, columns, against, output, options, watch)
                result = FileResult(run)
    warn(result.summary)
    return result


def of_rows(
    data: Any,
    columns: Mapping[str, ColumnName | None],
    against: Any,
    options: dict[str, Any],
    directory: Directory,
    watch: Any,
) -> RowsResult[Any, Any]:
    """Run the command on rows."""
    fields = requested_fields(options)
    threads = options["threads"]
    rows, own = given(data, columns, fields, directory, "rows", threads)
    others, tables = None, [own.table]
    if against is not None:
        index = paths_of(against)
        if index is not None:
            if len(index) > 1 or not Directory(index[0]).is_dir():
                raise ValueError(
                    "against: the data are rows, so expected rows or the directory of an index"
                )
            options["against"] = index
        elif options["refused"] and options["cluster"] == "components":
            raise ValueError(
                "refused: with cluster='components', both rows of a pair may be of against, which the "
                "result cannot show (the command lists such pairs of files)"
            )
        else:
            others, other = given(against, columns, fields, directory, "against", threads)
            tables.append(other.table)
            options["against"] = [other.name]
    out = directory / "out"
    options |= {**row_flags(rows), "output": out, "no_page": True}
    in_memory = [table for table in tables if table is not None]
    summary = called("dedup", options, own.name, watch, in_memory)
    found = RowResult(
        out,
        own.name,
        len(rows),
        rows.url is not None,
        rows.id_column(),
        others.id_column() if others is not None else None,
    )
    return RowsResult(rows, others, found, summary)


def requested_fields(options: Mapping[str, Any]) -> list[str]:
    """The fields that ``keep`` and ``within`` name."""
    values = [options["keep"], options["within"]]
    named = re.compile(r"(?:^|,)\s*(?:field|smallest):([^,]+)")
    return [name.strip() for value in values if value for name in named.findall(value)]
