"""Repeated passages, and parts of evaluation sets, of frames, lists and files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simtool_dedup._data import Rows, paths_of
from simtool_dedup._flags import joined, threads_of
from simtool_dedup._passage_result import PassageFiles, PassageResult
from simtool_dedup._progress import watching
from simtool_dedup._run import (
    called,
    of_files,
    others_setting,
    refuse_file_settings,
    row_flags,
    warn,
    written,
)
from simtool_dedup._scratch import temporary_directory
from simtool_dedup._simtool import PassageRows

COMMON = (
    "tokenizer",
    "action",
    "min_words",
    "min_sentences",
    "list",
    "html",
    "max_document",
    "memory",
)
"""Settings that every command has, besides the number of threads."""
FILES_ONLY = (
    "write_format",
    "shard_size",
    "shard_name",
    "source_field",
    "guess_language",
    "skipped",
    "compression_level",
    "restart",
    "format",
)
"""Settings that have an effect on files only, besides patterns."""
DIRECTORIES = {"cut": "cut", "mask": "masked"}
"""The directories of the texts that an action changes."""


def lines(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    url: str | None = None,
    unit: str | None = None,
    normalize: str | Sequence[str] | None = None,
    above: int | None = None,
    in_documents: int | None = None,
    within: str | None = None,
    keep: str | None = None,
    against: Any = None,
    remove_listed: Any = None,
    action: str = "mark",
    min_words: int | None = None,
    min_sentences: int | None = None,
    tokenizer: str | None = None,
    list: int | None = None,
    html: str | None = None,
    max_document: str | int | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    write_format: str | None = None,
    shard_size: str | int | None = None,
    shard_name: str | None = None,
    source_field: str | None = None,
    guess_language: bool = False,
    skipped: str | None = None,
    compression_level: int | None = None,
    page: bool = True,
    restart: bool = False,
    format: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    progress: bool | None = None,
) -> Any:
    """Find boilerplate, repeated lines, paragraphs or runs of sentences, and remove them on request.

    The answer is that of the command ``simtool lines`` for the same documents. Units are counted
    exactly. The result does not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`.
    text, id, url : str, optional
        Columns or fields, as for :func:`dedup`. Texts may be null.
    unit : str, default "run:30"
        What is counted: ``run:N``, runs of lines with at least N words, ``line``, ``paragraph`` or
        ``sentences:N``, every run of N sentences.
    normalize : str or sequence of str, default "form,spaces"
        Differences that do not count: ``form`` (of characters), ``case``, ``digits``, ``spaces``,
        or ``none``.
    above : int, default 1, but for ``run:N``
        Units that occur more often than this are removed.
    in_documents : int, default 5 for ``run:N``
        Units that occur in at least this number of documents are removed. Not with ``above``.
    within : str, default "global"
        Count only within groups: ``global`` (all documents), ``site``, ``N-documents``, and of files
        ``source``.
    keep : {"first", "none"}, default "first"
        Which occurrence of a removed unit stays.
    against : like data, optional
        Also count the units of these texts, which come first and do not change.
    remove_listed : path, iterable of str, or a table with a column ``text``, optional
        Remove these units wherever they occur, and no others: a ``boilerplate.jsonl``, or
        :attr:`PassageResult.repeated` of an earlier result, perhaps with fewer rows.
    action : str, default "mark"
        ``mark`` only reports, ``cut`` removes, ``mask`` replaces characters by blanks of as many
        bytes, ``drop-document:SHARE`` drops rows with at least this share of repeated text.
    min_words, min_sentences : int, optional
        Drop rows of which fewer remain after a cut.
    tokenizer : str, optional
        What a word is, for ``run:N`` and ``min_words``.
    list : int, default 1000
        The most units in :attr:`PassageResult.repeated`.
    html, max_document, threads, memory, temp_dir, output, progress
        As for :func:`dedup`.
    write_format : {"input", "jsonl", "jsonl.gz", "jsonl.zst", "parquet"}, optional
        Files only: how documents are written: a file for each input, or one stream of records, cut
        into shards.
    shard_size, shard_name, source_field, guess_language, skipped, compression_level, page, restart, format, include, exclude
        Files only: as the flags of the command. ``page=False`` leaves out ``page.html``.

    Returns
    -------
    PassageResult or PassageFiles
        A :class:`PassageResult` for rows, a :class:`PassageFiles` for files.

    Warns
    -----
    UserWarning
        For settings without effect, and for documents without a text.

    Raises
    ------
    ValueError, TypeError, OSError, Error, KeyboardInterrupt
        As :func:`dedup`.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> found = simtool.lines(
    ...     ["Home | About\\nA day", "Home | About\\nA night"], unit="line", action="cut"
    ... )
    >>> found.kept
    ['Home | About\\nA day', 'A night']
    """
    own = {
        "unit": unit,
        "normalize": joined(normalize),
        "above": above,
        "in_documents": in_documents,
        "within": within,
        "keep": keep,
        "remove_listed": remove_listed,
    }
    result = run("lines", own, locals())
    warn(result.summary)
    return result


def spans(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    url: str | None = None,
    min: str | int | None = None,
    tokenizer: str | None = None,
    keep: str | None = None,
    snap: str | None = None,
    against: Any = None,
    action: str = "mark",
    min_words: int | None = None,
    min_sentences: int | None = None,
    list: int | None = None,
    html: str | None = None,
    max_document: str | int | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    write_format: str | None = None,
    shard_size: str | int | None = None,
    shard_name: str | None = None,
    source_field: str | None = None,
    guess_language: bool = False,
    skipped: str | None = None,
    compression_level: int | None = None,
    page: bool = True,
    restart: bool = False,
    format: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    progress: bool | None = None,
) -> Any:
    """Find all stretches of text that occur earlier, and remove them on request.

    A position is repeated if it is in a stretch of at least ``min`` units that occurs earlier, in an
    earlier row or in the same one. All of them are found. The answer is that of the command ``simtool
    spans`` for the same documents. It does not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`.
    text, id, url : str, optional
        Columns or fields, as for :func:`dedup`. Texts may be null.
    min : str or int, default "50w"
        The least length of a stretch: of words (``"50w"`` or ``50``), without regard to case and to
        what is between them, or of bytes (``"500b"``).
    tokenizer : str, default "auto"
        What a word is: ``auto``, ``ascii``, ``unicode``, ``chinese`` or ``chars``.
    keep : {"first", "none"}, default "first"
        Which copy of a stretch stays.
    snap : {"word", "sentence", "line", "none"}, default "word"
        Shrink what is removed to whole words, sentences or lines.
    against : like data, optional
        These texts come first and do not change.
    action, min_words, min_sentences
        As for :func:`lines`.
    list : int, default 1000
        The most passages in :attr:`PassageResult.repeated`.
    html, max_document, threads, memory, temp_dir, output, progress
        As for :func:`dedup`.
    write_format : {"input", "jsonl", "jsonl.gz", "jsonl.zst", "parquet"}, optional
        Files only: how documents are written: a file for each input, or one stream of records, cut
        into shards.
    shard_size, shard_name, source_field, guess_language, skipped, compression_level, page, restart, format, include, exclude
        Files only: as the flags of the command. ``page=False`` leaves out ``page.html``.

    Returns
    -------
    PassageResult or PassageFiles
        A :class:`PassageResult` for rows, a :class:`PassageFiles` for files.

    Warns
    -----
    UserWarning
        For settings without effect, and for documents without a text.

    Raises
    ------
    ValueError, TypeError, OSError, Error, KeyboardInterrupt
        As :func:`dedup`.

    References
    ----------
    Schleimer, Wilkerson and Aiken, "Winnowing", SIGMOD 2003.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> texts = ["a cat sat on the mat", "Yesterday a cat sat on the mat again"]
    >>> found = simtool.spans(texts, min=5)
    >>> start, end = found.ranges[0]["char_start"], found.ranges[0]["char_end"]
    >>> texts[1][start:end]
    'a cat sat on the mat'
    """
    own = {
        "min": f"{min}w" if isinstance(min, int) and not isinstance(min, bool) else min,
        "keep": keep,
        "snap": snap,
    }
    result = run("spans", own, locals())
    warn(result.summary)
    return result


def decontaminate(
    data: Any,
    reference: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    url: str | None = None,
    reference_text: str | Sequence[str] | None = None,
    reference_id: str | None = None,
    profile: str | None = None,
    min: str | int | None = None,
    min_item: str | int | None = None,
    edited: float | str | None = None,
    min_share: float | None = None,
    max_gap: int | None = None,
    answer_field: str | None = None,
    answer_within: str | int | None = None,
    tokenizer: str | None = None,
    max_documents: int | None = None,
    around: int | None = None,
    min_piece: int | None = None,
    max_pieces: int | None = None,
    action: str = "mark",
    min_words: int | None = None,
    min_sentences: int | None = None,
    html: str | None = None,
    max_document: str | int | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    write_format: str | None = None,
    shard_size: str | int | None = None,
    shard_name: str | None = None,
    source_field: str | None = None,
    guess_language: bool = False,
    skipped: str | None = None,
    compression_level: int | None = None,
    page: bool = True,
    restart: bool = False,
    format: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    progress: bool | None = None,
) -> Any:
    """Find parts of evaluation sets in texts, and remove them on request.

    A stretch of a text is contaminated if runs of ``min`` words cover it that an item of the
    reference has, too, or if it is an edited item. All of them are found. The answer is that of the command ``simtool
    decontaminate`` for the same documents. It does not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`.
    reference : frame, list or iterable; for files, paths
        The evaluation sets, an item in each row.
    text, id, url : str, optional
        Columns or fields of the data and, unless ``reference_text`` is given, of the reference. Texts
        may be null.
    reference_text : str or, for files, sequence of str, optional
        The column, or the fields in their order, with the text of an item.
    reference_id : str, optional
        Files only: the field with the id of an item, by default that of ``id``.
    profile : {"gpt3", "lm-eval", "olmo"}, optional
        Defaults of the following settings.
    min : str or int, default "13w"
        The words of a run, without regard to case and to what is between them.
    min_item : str or int, default "8w"
        Look for a shorter item as a whole, if it has at least this many words.
    edited : float or "none", default 0.5
        Also find edited items: of at least 13 words, of which a text has at least this share of the
        runs of 5 words near each other, weighted by how few items have them. The default is "none" with
        another ``min``, and with ``profile``, ``min_share`` or ``max_documents``.
    min_share : float, optional
        Only clusters with at least this share of an item count: its runs, weighted by how few items
        have them.
    max_gap : int, default 10
        The most places without a run of the item between those of a cluster.
    answer_field : str, optional
        The column with the answer of an item: where an item has one, clusters count only if it is near.
    answer_within : str or int, default "50w"
        The words before and after a cluster that count as near.
    tokenizer : str, default "auto"
        What a word is: ``auto``, ``ascii``, ``unicode``, ``chinese`` or ``chars``.
    max_documents : int, optional
        Ignore runs that are in more texts than this.
    around : int, default 0
        Characters before and after each stretch that go with it.
    min_piece : int, default 0
        Pieces with fewer characters between stretches go, too.
    max_pieces : int, optional
        Drop texts that a cut would divide into more pieces than this.
    action, min_words, min_sentences
        As for :func:`lines`.
    html, max_document, threads, memory, temp_dir, output, progress
        As for :func:`dedup`.
    write_format : {"input", "jsonl", "jsonl.gz", "jsonl.zst", "parquet"}, optional
        Files only: how documents are written: a file for each input, or one stream of records, cut
        into shards.
    shard_size, shard_name, source_field, guess_language, skipped, compression_level, page, restart, format, include, exclude
        Files only: as the flags of the command. ``page=False`` leaves out ``page.html``.

    Returns
    -------
    PassageResult or PassageFiles
        A :class:`PassageResult` for rows, a :class:`PassageFiles` for files. Their ``items`` have a
        row for each item of the reference.

    Warns
    -----
    UserWarning
        For settings without effect, for documents without a text, and for items that are too short.

    Raises
    ------
    ValueError, TypeError, OSError, Error, KeyboardInterrupt
        As :func:`dedup`.

    References
    ----------
    Brown et al., "Language models are few-shot learners", 2020, appendix C.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> item = "A train leaves the town at noon and drives sixty miles an hour for two hours"
    >>> found = simtool.decontaminate(["Exercise 7: " + item, "Nothing"], [item])
    >>> found.ranges[0]["char_start"], found.items[0]["share"]
    (12, 1.0)
    """

    def words(length: str | int | None) -> str | None:
        return f"{length}w" if isinstance(length, int) else length

    own = {
        "profile": profile,
        "min": words(min),
        "min_item": words(min_item),
        "edited": edited,
        "min_share": min_share,
        "max_gap": max_gap,
        "answer_field": answer_field,
        "answer_within": words(answer_within),
        "max_documents": max_documents,
        "around": around,
        "min_piece": min_piece,
        "max_pieces": max_pieces,
    }
    given = {**locals(), "list": None, "against": reference}
    result = run("decontaminate", own, given, reference_text, reference_id)
    warn(result.summary)
    return result


def run(
    command: str,
    own: dict[str, Any],
    given: Mapping[str, Any],
    reference_text: str | Sequence[str] | None = None,
    reference_id: str | None = None,
) -> PassageResult | PassageFiles:
    """Run a command on files or on rows, with its own settings and those that all of them have."""
    options = own | {name: given[name] for name in COMMON}
    options["threads"] = threads_of(given["threads"])
    columns = {name: given[name] for name in ("text", "id", "url")}
    files_only = {name: given[name] for name in FILES_ONLY}
    files_only |= {name: [*given[name]] for name in ("include", "exclude")}
    data, output, page, temp_dir = (given[name] for name in ("data", "output", "page", "temp_dir"))
    others = given["against"]
    paths = paths_of(data)
    with temporary_directory(temp_dir) as directory, watching(given["progress"]) as watch:
        if "remove_listed" in options:
            options["remove_listed"] = list_file(options["remove_listed"], directory)
        if paths is not None:
            options |= {**files_only, "no_page": not page, "temp_dir": temp_dir}
            options["reference_field"] = as_list(reference_text)
            options["reference_id_field"] = reference_id
            found = of_files(command, paths, columns, others, output, options, watch)
            return PassageFiles(found, command)
        refuse_file_settings(output, {**files_only, "reference_id": reference_id}, page)
        if reference_text is not None and not isinstance(reference_text, str):
            raise ValueError(
                "reference_text: the data are rows, so expected one column (join several in the frame)"
            )
        of_others = {**columns, "text": reference_text or columns["text"]}
        if command == "decontaminate":
            # The id and the URL of an item are not those of a text.
            of_others |= {"id": None, "url": None}
        return of_rows(command, (data, columns), (others, of_others), options, directory, watch)


def as_list(texts: str | Sequence[str] | None) -> Sequence[str] | None:
    """A text or several as a list."""
    return [texts] if isinstance(texts, str) else texts


def of_rows(
    command: str,
    data: tuple[Any, Mapping[str, str | None]],
    others: tuple[Any, Mapping[str, str | None]],
    options: dict[str, Any],
    directory: Path,
    watch: Any,
) -> PassageResult:
    """Write rows, and those to compare with, to files, and run a command on them.

    ``data`` and ``others`` have rows and the names of their columns.
    """
    threads = options["threads"]
    changed = DIRECTORIES.get(str(options["action"]))
    rows, path = written(*data, (), directory, "rows", threads)
    if changed is not None:
        rows.check_replaceable(options["action"])
    other_rows, other_path = None, None
    name = others_setting(command)
    if others[0] is not None:
        if paths_of(others[0]) is not None:
            raise ValueError(f"{name}: the data are rows, so expected rows (read the file as a frame)")
        fields = [options["answer_field"]] if options.get("answer_field") else []
        other_rows, other_path = written(*others, fields, directory, name, threads)
        options[name] = [other_path]
    out = directory / "out"
    options |= {**row_flags(rows), "date_field": None, "output": out, "no_page": True}
    summary = called(command, options, path, watch)
    found = PassageRows(
        command,
        out,
        path,
        len(rows),
        other_path,
        # Nothing is written for a file without rows.
        None if changed is None else next((out / changed).rglob("rows.jsonl"), None),
        options["html"],
        rows.ids(),
        other_rows.ids() if other_rows is not None else None,
    )
    return PassageResult(rows, other_rows, found, summary)


def list_file(listed: Any, directory: Path) -> str | None:
    """The path of a list of units; those of an object are written to a file."""
    paths = None if listed is None else paths_of(listed)
    if listed is None or paths is not None:
        if paths is not None and len(paths) > 1:
            raise ValueError("remove_listed: expected a single list")
        return paths[0] if paths else None
    rows = Rows(listed, None, None, None, None)
    path = directory / "listed.jsonl"
    with path.open("x", encoding="utf-8") as file:
        for row in range(len(rows)):
            unit = rows.text_of(row)
            if isinstance(unit, bytes):
                unit = unit.decode(errors="replace")
            file.write(json.dumps({"text": unit}) + "\n")
    return str(path)
