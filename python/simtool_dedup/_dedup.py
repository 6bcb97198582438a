"""Deduplication of frames, lists and files."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from simtool_dedup import _simtool
from simtool_dedup._data import ID, Rows, paths_of, write_path
from simtool_dedup._flags import flags, joined, stop_word_file, threads_of
from simtool_dedup._progress import watching
from simtool_dedup._result import FileResult, Result
from simtool_dedup._scratch import new_directory, removed_on_error, temporary_directory
from simtool_dedup._simtool import RowResult



def row_flags(rows: Rows) -> dict[str, Any]:
    """The flags that name the fields in a file of rows."""
    return {
        "text_field": "#text",
        "id_field": ID,
        "url_field": rows.url and "#url",
        "date_field": rows.date and "#date",
        "format": "jsonl",
    }


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
    compare_scopes: str | Sequence[str] | None = None,
    keep_copies: int | None = None,
    drop_all: bool = False,
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
    write: str | None = None,
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
        ``smallest:NAME``; several decide in this order.
    within : str, default "global"
        Compare only within groups: ``field:NAME``, ``site`` or ``language`` (of files also
        ``source``).
    compare_scopes : str or sequence of str, optional
        Scopes whose counts are in the summary besides.
    keep_copies : int, default 1
        Copies of each document that stay.
    drop_all : bool, default False
        Whether no copy of a repeated document stays.
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
    html : {"main", "article", "visible", "markup"}, optional
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
    write : {"none", "ids", "kept", "annotated"}, optional
        Files only: what is written besides the reports.
    skipped, compression_level, pairs, page, restart, format, include, exclude
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
        "compare_scopes": joined(compare_scopes),
        "keep_copies": keep_copies,
        "drop_all": drop_all,
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
        "write": write,
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
        given = [name for name, value in files_only.items() if value]
        if output is not None or given or not page:
            name = "output" if output is not None else (given or ["page"])[0]
            raise ValueError(f"{name}: has an effect on files only, and the data are rows")
    with temporary_directory(temp_dir) as directory:
        options["stop_words"] = stop_word_file(stop_words, directory)
        with watching(progress) as watch:
            if paths is not None:
                options |= files_only
                options["no_page"] = not page
                options["temp_dir"] = temp_dir
                return of_files(paths, columns, against, output, options, watch)
            return of_rows(data, columns, against, options, directory, watch)


def of_files(
    paths: list[str],
    columns: Mapping[str, str | None],
    against: Any,
    output: str | os.PathLike[str] | None,
    options: dict[str, Any],
    watch: Any,
) -> FileResult:
    """Run the command on files."""
    others = paths_of(against)
    if against is not None and others is None:
        raise TypeError("against: the data are files, so expected paths or an index")
    for setting, value in columns.items():
        options[setting + "_field"] = value
    options["against"] = others
    temporary = None
    if output is None:
        temporary = new_directory(options["temp_dir"])
        output = Path(temporary.name) / "out"
    words = ["dedup", "--quiet", *flags({**options, "output": output}), "--", *paths]
    with nullcontext() if temporary is None else removed_on_error(temporary):
        summary = json.loads(_simtool.call(words, watch))
        warn(summary)
    return FileResult(Path(output), temporary, summary)


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
    rows = Rows(data, **columns, fields=fields)
    threads = options["threads"]
    path = write_path(directory, "rows")
    _simtool.write_rows(rows.rows, path, rows.columns(ID), threads)
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
            others = Rows(against, **columns, fields=fields)
            options["against"] = [write_path(directory, "against")]
            _simtool.write_rows(others.rows, options["against"][0], others.columns(ID), threads)
    out = directory / "out"
    words = flags({**options, **row_flags(rows), "output": out, "no_page": True, "quiet": True})
    try:
        summary = json.loads(_simtool.call(["dedup", *words, "--", path], watch))
    except (ValueError, OSError, _simtool.Error) as error:
        raise without_path(error, path) from None
    warn(summary)
    found = RowResult(
        out,
        path,
        len(rows),
        rows.ids(),
        others.ids() if others is not None else None,
        bool(options["refused"]),
    )
    return Result(rows, others, found, summary)


def requested_fields(options: Mapping[str, Any]) -> list[str]:
    """The fields that ``keep``, ``within`` and ``compare_scopes`` name."""
    values = [options["keep"], options["within"], options["compare_scopes"]]
    named = re.compile(r"(?:^|,)\s*(?:field|smallest):([^,]+)")
    return [name.strip() for value in values if value for name in named.findall(value)]


def without_path(error: Exception, path: str) -> Exception:
    """The same exception without the name of the temporary file."""
    text = str(error).replace(f"{path}: ", "").replace(path, "the rows")
    return type(error)(text)


def warn(summary: Mapping[str, Any]) -> None:
    """Issue the warnings of a run, of which each names its setting."""
    for warning in summary["warnings"]:
        message = warning["message"].replace('text_field "#text"', "text")
        warnings.warn(message, UserWarning, stacklevel=4)
