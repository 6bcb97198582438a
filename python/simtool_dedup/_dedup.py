"""Deduplication of frames, lists and files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simtool_dedup._data import paths_of
from simtool_dedup._flags import joined, stop_word_file, threads_of
from simtool_dedup._progress import watching
from simtool_dedup._result import FileResult, Result
from simtool_dedup._run import called, of_files, refuse_file_settings, row_flags, warn, written
from simtool_dedup._scratch import temporary_directory
from simtool_dedup._simtool import RowResult

def dedup(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    url: str | None = None,
    date: str | None = None,
    method: str | None = None,
    similarity: float | str | None = None,
    shingle: int | None = None,
    bits: int | None = None,
    distance: int | None = None,
    features: int | None = None,
    weights: str | None = None,
    keep_stop_words: bool = False,
    recall: float | None = None,
    keep: str | Sequence[str] | None = None,
    within: str | None = None,
    keep_copies: int | None = None,
    min_sources: int | None = None,
    cluster: str | None = None,
    against: Any = None,
    against_only: bool = False,
    tokenizer: str | None = None,
    stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
    html: str | None = None,
    max_document: str | int | None = None,
    refused: bool = False,
    refuse_above: str | float | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    write: str | Sequence[str] | None = None,
    write_format: str | None = None,
    shard_size: str | int | None = None,
    shard_name: str | None = None,
    source_field: str | None = None,
    guess_language: bool = False,
    skipped: str | None = None,
    compression_level: int | None = None,
    pairs: str | Sequence[str] | None = None,
    page: bool = True,
    restart: bool = False,
    format: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    progress: bool | None = None,
) -> Any:
    """Find and remove near-duplicate texts of a frame, a list or files.

    The answer is that of the command ``simtool dedup`` for the same documents: its code does the
    work. Every duplicate was compared with the row that stays, shingle by shingle. The result does
    not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        * A table of pyarrow, polars, pandas, duckdb or ``datasets``, or any object with the Arrow
          PyCapsule interface; or a single column of one.
        * A list or an iterable of ``str``, ``bytes`` and ``None``, or of dictionaries.
        * A path or a pattern (``str``), or a path object or a list of these, for files: JSON Lines,
          WARC, WET, Parquet, text, also compressed.
    text, id, url, date : str, optional
        Columns or fields; dots lead into nested ones. By default ``text``, ``id``, ``url`` and
        ``date``, and the only column of data with one. Texts may be null.
    method : str, default "minhash"
        How candidates are found: ``NAME`` or ``NAME:parameter=value,...``; see :func:`methods`. With
        ``"url"``, alone or as in ``"url then minhash"``, the newest row of each URL stays.
    similarity : float or str, default 0.8
        Least share of shingles in common of duplicates, 0.001 to 1, with at most three decimals; or
        ``"containment:SHARE"``, of the shingles of the row with fewer.
    shingle : int, default 5
        Words in a shingle.
    bits, distance, features, weights, keep_stop_words, recall
        Parameters of the method, as the flags of the command.
    keep : str or sequence of str, default "first"
        Which copy stays: ``first``, ``longest``, ``newest``, ``shortest-url``, ``field:NAME`` or
        ``smallest:NAME``; several decide in this order. With ``none``, no copy of a repeated document
        stays.
    within : str, default "global"
        Compare only within groups: ``field:NAME``, ``site`` or ``language`` (of files also
        ``source``).
    keep_copies : int, default 1
        Copies of each document that stay.
    min_sources : int, optional
        For files only, 2 or more: a document is kept only if its cluster has documents from at
        least this number of input files.
    cluster : {"star", "components"}, default "star"
        Whether each duplicate was compared with the row that stays, or a chain connects them.
    against : like data, or the directory of an index, optional
        Also remove rows that repeat one of these.
    against_only : bool, default False
        Keep duplicates within ``data``.
    tokenizer : str, optional
        What a word is: ``auto``, ``ascii``, ``unicode``, ``chinese`` or ``chars``.
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
        most 4 GiB. It does not include ``data``. Rows are written to a temporary file, which takes
        about as much space as their texts.
    temp_dir : path, optional
        Directory of temporary files.
    output : path, optional
        Files only: the directory of the output, in which an interrupted run is resumed. By default a
        temporary one, which is removed with the result.
    write : {"none", "ids", "kept", "annotated", "text", "removed"}, optional
        Files only: what is written besides the reports; ``"removed"`` also together with another
        one, as ``("kept", "removed")``.
    write_format : {"input", "jsonl", "jsonl.gz", "jsonl.zst", "parquet"}, optional
        Files only: how documents are written: a file for each input, or one stream of records, cut
        into shards.
    shard_size, shard_name, source_field, guess_language, skipped, compression_level, pairs, page, restart, format, include, exclude
        Files only: as the flags of the command. ``page=False`` leaves out ``page.html``.
    progress : bool, optional
        Whether to show progress with tqdm; by default on a terminal, if tqdm is installed.

    Returns
    -------
    Result or FileResult
        A :class:`Result` for rows, a :class:`FileResult` for files.

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
        For data of another type.
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
    Result(3 rows, 2 kept, 1 duplicates, 1 clusters, 0 skipped)
    >>> result.kept[1], result.duplicates[0]["kept"]
    ('Something else', 0)
    """
    options: dict[str, Any] = {
        "method": method,
        "similarity": similarity,
        "shingle": shingle,
        "bits": bits,
        "distance": distance,
        "features": features,
        "weights": weights,
        "keep_stop_words": keep_stop_words,
        "recall": recall,
        "keep": joined(keep),
        "within": within,
        "keep_copies": keep_copies,
        "min_sources": min_sources,
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
    files_only: dict[str, Any] = {
        "write": joined(write),
        "write_format": write_format,
        "shard_size": shard_size,
        "shard_name": shard_name,
        "source_field": source_field,
        "guess_language": guess_language,
        "skipped": skipped,
        "compression_level": compression_level,
        "pairs": joined(pairs),
        "restart": restart,
        "format": format,
        "include": list(include),
        "exclude": list(exclude),
    }
    columns = {"text": text, "id": id, "url": url, "date": date}
    paths = paths_of(data)
    if paths is None:
        refuse_file_settings(output, files_only, page)
    result: Result | FileResult
    with temporary_directory(temp_dir) as directory:
        options["stop_words"] = stop_word_file(stop_words, directory)
        with watching(progress) as watch:
            if paths is None:
                result = of_rows(data, columns, against, options, directory, watch)
            else:
                options |= files_only
                options["no_page"] = not page
                options["temp_dir"] = temp_dir
                run = of_files("dedup", paths, columns, against, output, options, watch)
                result = FileResult(run)
    warn(result.summary)
    return result


def of_rows(
    data: Any,
    columns: Mapping[str, str | None],
    against: Any,
    options: dict[str, Any],
    directory: Path,
    watch: Any,
) -> Result:
    """Write rows to a file, and run the command on it."""
    fields = requested_fields(options)
    threads = options["threads"]
    rows, path = written(data, columns, fields, directory, "rows", threads)
    others = None
    if against is not None:
        index = paths_of(against)
        if index is not None:
            if len(index) > 1 or not Path(index[0]).is_dir():
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
            others, other_path = written(against, columns, fields, directory, "against", threads)
            options["against"] = [other_path]
    out = directory / "out"
    options |= {**row_flags(rows), "output": out, "no_page": True}
    summary = called("dedup", options, path, watch)
    found = RowResult(
        out,
        path,
        len(rows),
        rows.url is not None,
        rows.ids(),
        others.ids() if others is not None else None,
    )
    return Result(rows, others, found, summary)


def requested_fields(options: Mapping[str, Any]) -> list[str]:
    """The fields that ``keep`` and ``within`` name."""
    values = [options["keep"], options["within"]]
    named = re.compile(r"(?:^|,)\s*(?:field|smallest):([^,]+)")
    return [name.strip() for value in values if value for name in named.findall(value)]
